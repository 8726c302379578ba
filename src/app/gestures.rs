//! Keeps the phases of a fast pointer gesture in separate passes.
//!
//! egui decides once a pass what is clicked or dragged, at the pointer's last position: a press, a movement and a release
//! that arrive together are neither a click nor a drag, and a press is looked up where the pointer has gone meanwhile. On a
//! slow frame that is a whole gesture of a quick hand. [`GesturePhases`] hands over the press, the movement and the
//! release in one pass each; all other input is handed over unchanged, in order.

use egui::{Context, Event, Plugin, Pos2, RawInput};

/// The button that is down.
#[derive(Debug, Clone, Copy)]
struct Press {
    at: Pos2,
    /// Whether the pointer has moved too far for a click, which egui knows.
    far: bool,
}

/// The input hook, one for each context.
#[derive(Debug, Default)]
pub struct GesturePhases {
    held_back: Vec<Event>,
    press: Option<Press>,
}

impl GesturePhases {
    /// Adds it to a context.
    pub fn install(ctx: &Context) {
        ctx.add_plugin(Self::default());
    }

    /// How many of the events belong to this pass. `click_distance`: the movement that is still a click, points.
    fn first_phase(&mut self, events: &[Event], click_distance: f32) -> usize {
        let (mut pressed, mut moved) = (false, false);
        for (index, event) in events.iter().enumerate() {
            match event {
                Event::PointerButton {
                    pos, pressed: true, ..
                } if self.press.is_none() => {
                    self.press = Some(Press {
                        at: *pos,
                        far: false,
                    });
                    pressed = true;
                }
                Event::PointerButton { pressed: false, .. } => {
                    if moved {
                        return index;
                    }
                    self.press = None;
                }
                Event::PointerMoved(to) => {
                    let Some(press) = self.press.as_mut().filter(|press| !press.far) else {
                        continue;
                    };
                    if press.at.distance(*to) > click_distance {
                        if pressed {
                            return index;
                        }
                        (press.far, moved) = (true, true);
                    }
                }
                _ => {}
            }
        }
        events.len()
    }
}

impl Plugin for GesturePhases {
    fn debug_name(&self) -> &'static str {
        "gesture phases"
    }

    fn input_hook(&mut self, ctx: &Context, input: &mut RawInput) {
        let mut events = std::mem::take(&mut self.held_back);
        events.append(&mut input.events);
        let click_distance = ctx.options(|options| options.input_options.max_click_dist);
        let phase = self.first_phase(&events, click_distance);
        self.held_back = events.split_off(phase);
        input.events = events;
        if !self.held_back.is_empty() {
            ctx.request_repaint();
        }
    }
}

#[cfg(test)]
mod tests {
    use egui::{Modifiers, PointerButton, pos2};

    use super::*;

    fn button(x: f32, pressed: bool) -> Event {
        Event::PointerButton {
            pos: pos2(x, 0.0),
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        }
    }

    fn moved(x: f32) -> Event {
        Event::PointerMoved(pos2(x, 0.0))
    }

    /// The lengths of the phases of events that arrive together.
    fn phases(phases: &mut GesturePhases, mut events: Vec<Event>) -> Vec<usize> {
        let mut lengths = Vec::new();
        while !events.is_empty() {
            let phase = phases.first_phase(&events, 6.0);
            assert!(phase > 0, "no progress");
            events.drain(..phase);
            lengths.push(phase);
        }
        lengths
    }

    #[test]
    fn a_drag_within_a_frame_has_three_phases_and_a_click_one() {
        let mut state = GesturePhases::default();
        let drag = vec![
            moved(0.0),
            button(0.0, true),
            moved(3.0),
            moved(20.0),
            moved(40.0),
            button(40.0, false),
            moved(50.0),
        ];
        assert_eq!(phases(&mut state, drag), [3, 2, 2]);
        let click = vec![button(50.0, true), moved(52.0), button(52.0, false)];
        assert_eq!(phases(&mut state, [click.clone(), click].concat()), [6]);
        assert_eq!(phases(&mut state, vec![moved(90.0), moved(0.0)]), [2]);
    }

    #[test]
    fn a_drag_over_several_frames_is_unchanged() {
        let mut state = GesturePhases::default();
        assert_eq!(phases(&mut state, vec![button(0.0, true)]), [1]);
        assert_eq!(phases(&mut state, vec![moved(9.0), moved(30.0)]), [2]);
        let end = vec![moved(40.0), button(40.0, false)];
        assert_eq!(phases(&mut state, end), [2]);
        // The movement and the release of the next one arrive together.
        assert_eq!(phases(&mut state, vec![button(40.0, true)]), [1]);
        let end = vec![moved(80.0), button(80.0, false)];
        assert_eq!(phases(&mut state, end), [1, 1]);
    }
}
