//! Keeps the phases of a fast pointer gesture in separate passes.
//!
//! egui decides once a pass what is clicked or dragged, at the pointer's last position: a press, a movement and a release
//! that arrive together are neither a click nor a drag, a press is looked up where the pointer has gone meanwhile, and what
//! follows the pointer while it is down (a slider) sees nothing of a press and a release that arrive together. On a
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
    /// The time of the last pass, seconds.
    time_secs: Option<f64>,
    press: Option<Press>,
}

impl GesturePhases {
    /// Adds it to a context.
    pub fn install(ctx: &Context) {
        ctx.add_plugin(Self::default());
    }

    /// How many of the events belong to this pass. `click_distance`: the movement that is still a click, points.
    fn first_phase(&mut self, events: &[Event], click_distance: f32) -> usize {
        let (mut button, mut moved) = (false, false);
        for (index, event) in events.iter().enumerate() {
            match event {
                Event::PointerButton { .. } if button || moved => return index,
                Event::PointerButton { pos, pressed, .. } => {
                    button = true;
                    if !pressed {
                        self.press = None;
                    } else if self.press.is_none() {
                        self.press = Some(Press {
                            at: *pos,
                            far: false,
                        });
                    }
                }
                Event::PointerMoved(to) => {
                    let Some(press) = self.press.as_mut().filter(|press| !press.far) else {
                        continue;
                    };
                    if press.at.distance(*to) > click_distance {
                        if button {
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
        if !events.is_empty() {
            // They arrived with those of the last pass: however long that took, a click is no long press.
            input.time = self.time_secs.map(|time| time + 1e-3).or(input.time);
        }
        self.time_secs = input.time;
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
    fn a_drag_within_a_frame_has_three_phases_and_a_click_two() {
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
        assert_eq!(
            phases(&mut state, [click.clone(), click].concat()),
            [2, 1, 2, 1]
        );
        assert_eq!(phases(&mut state, vec![moved(90.0), moved(0.0)]), [2]);
    }

    /// A slider follows the pointer only while it is down, and a button tells clicks from long presses.
    #[test]
    fn a_click_within_a_slow_frame_moves_a_slider_and_presses_a_button() {
        let ctx = Context::default();
        GesturePhases::install(&ctx);
        let (mut value, mut clicks) = (0.0_f64, 0);
        let mut rects = [egui::Rect::NOTHING; 2];
        let mut passes = 0.0;
        let mut pass = |events: Vec<Event>, value: &mut f64, clicks: &mut usize| {
            passes += 1.0;
            let input = RawInput {
                screen_rect: Some(egui::Rect::from_min_size(
                    pos2(0.0, 0.0),
                    egui::vec2(400.0, 200.0),
                )),
                time: Some(2.0 * passes),
                events,
                ..RawInput::default()
            };
            let mut rects = [egui::Rect::NOTHING; 2];
            let _ = ctx.run_ui(input, |ui| {
                let slider = egui::Slider::new(value, 0.0..=1.0).show_value(false);
                let [slider, button] = [ui.add(slider), ui.button("Press")];
                *clicks += usize::from(button.clicked());
                rects = [slider.rect, button.rect];
            });
            rects
        };
        for _ in 0..2 {
            rects = pass(vec![], &mut value, &mut clicks);
        }
        for at in rects.map(|rect| rect.center()) {
            pass(vec![Event::PointerMoved(at)], &mut value, &mut clicks);
            let click = [true, false].map(|pressed| Event::PointerButton {
                pos: at,
                button: PointerButton::Primary,
                pressed,
                modifiers: Modifiers::NONE,
            });
            pass(click.to_vec(), &mut value, &mut clicks);
            pass(vec![], &mut value, &mut clicks);
        }
        assert!((value - 0.5).abs() < 0.05, "{value}");
        assert_eq!(clicks, 1);
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
