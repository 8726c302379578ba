//! Planted feet: bars on the rows of hands and feet, dragged at their ends, and their menu.

use std::sync::Arc;

use egui::{Button, CornerRadius, Painter, Pos2, Rect, Stroke, StrokeKind, Ui, pos2};

use super::rows::{ROW, RowLayout};
use super::{TimeAxis, TimelineState, TimelineView};
use crate::app::actions::{Actions, TimelineAction};
use crate::app::theme;
use crate::rig::{FeetRules, Keyed, KeyedClip, Plant};
use crate::session::{Command, Gesture, KeysCommand};

/// Length of a new interval where no key follows, seconds.
const NEW_SECS: f64 = 0.5;
/// Distance within which an end of a bar is caught, points.
const REACH: f32 = 5.0;
/// Margin above and below a bar, points.
const MARGIN: f32 = 3.0;

/// A drag of an end of an interval.
#[derive(Debug, Clone)]
pub(super) struct PlantDrag {
    clip: usize,
    /// The clip before the drag.
    from: Arc<KeyedClip>,
    plant: Plant,
    /// Whether the start is dragged.
    start: bool,
    sent: Option<FeetRules>,
}

impl PlantDrag {
    /// The drag that starts at a position, if the end of a bar is there.
    pub(super) fn at(
        pointer: Pos2,
        layout: &RowLayout,
        view: &TimelineView<'_>,
        state: &TimelineState,
    ) -> Option<Self> {
        let (plant, start) = end_at(pointer, layout, view, state)?;
        let (clip, take) = view.take()?;
        Some(Self {
            clip,
            from: take.clone(),
            plant,
            start,
            sent: None,
        })
    }

    /// Moves the end to a time.
    pub(super) fn move_to(&mut self, to_secs: f64, view: &TimelineView<'_>, actions: &mut Actions) {
        let frame = 1.0 / view.fps();
        let mut moved = self.plant;
        if self.start {
            moved.from_secs = to_secs.clamp(0.0, (moved.to_secs - frame).max(0.0));
        } else {
            let end = view.duration_secs().max(moved.from_secs + frame);
            moved.to_secs = to_secs.clamp(moved.from_secs + frame, end);
        }
        let rules = self.from.feet().without(&self.plant).with(moved);
        if self.sent.as_ref() == Some(&rules) || (self.sent.is_none() && moved == self.plant) {
            return;
        }
        self.send(rules.clone(), Gesture::Dragging, actions);
        self.sent = Some(rules);
    }

    /// Ends the drag.
    pub(super) fn end(&self, actions: &mut Actions) {
        if let Some(rules) = &self.sent {
            self.send(rules.clone(), Gesture::Released, actions);
        }
    }

    /// Reverts the drag.
    pub(super) fn cancel(&self, actions: &mut Actions) {
        if self.sent.is_some() {
            self.send(self.from.feet().clone(), Gesture::Released, actions);
        }
    }

    fn send(&self, rules: FeetRules, gesture: Gesture, actions: &mut Actions) {
        let command = KeysCommand::SetFeet {
            clip: self.clip,
            rules,
            from: Some(self.from.clone()),
        };
        actions.send(Command::Keys(command), gesture);
    }
}

/// The interval whose bar has an end under the pointer, and whether it is the start.
fn end_at(
    pointer: Pos2,
    layout: &RowLayout,
    view: &TimelineView<'_>,
    state: &TimelineState,
) -> Option<(Plant, bool)> {
    let ends = bars(layout, view, &state.axis).flat_map(|(_, bar, plant)| {
        [
            (bar.left(), bar, plant, true),
            (bar.right(), bar, plant, false),
        ]
    });
    let near = ends.filter(|(x, bar, ..)| {
        (x - pointer.x).abs() <= REACH && bar.y_range().expand(MARGIN).contains(pointer.y)
    });
    let nearest = near.min_by(|a, b| {
        let distance = |x: f32| (x - pointer.x).abs();
        distance(a.0).total_cmp(&distance(b.0))
    });
    nearest.map(|(_, _, plant, start)| (plant, start))
}

/// Row, rectangle and interval of every visible bar.
fn bars<'a>(
    layout: &'a RowLayout,
    view: &TimelineView<'a>,
    axis: &'a TimeAxis,
) -> impl Iterator<Item = (usize, Rect, Plant)> + 'a {
    let plants = view
        .take()
        .map_or(&[][..], |(_, take)| take.feet().plants());
    layout.seen().flat_map(move |(index, row)| {
        let own = plants
            .iter()
            .filter(|plant| row.of == Some(Keyed::Joint(plant.joint)));
        own.map(move |plant| {
            let middle = layout.y(index);
            let half = ROW / 2.0 - MARGIN;
            let bar = Rect::from_min_max(
                pos2(axis.x(plant.from_secs), middle - half),
                pos2(axis.x(plant.to_secs), middle + half),
            );
            (index, bar, *plant)
        })
    })
}

/// Draws the bars; keys are drawn over them.
pub(super) fn paint(
    painter: &Painter,
    layout: &RowLayout,
    view: &TimelineView<'_>,
    axis: &TimeAxis,
) {
    let colors = theme::colors(painter.ctx());
    let painter = painter.with_clip_rect(painter.clip_rect().intersect(layout.below_first()));
    for (_, bar, _) in bars(layout, view, axis) {
        painter.rect(
            bar,
            CornerRadius::same(3),
            colors.accent.gamma_multiply(0.28),
            Stroke::new(1.0, colors.accent.gamma_multiply(0.8)),
            StrokeKind::Inside,
        );
    }
}

/// What the pointer does at the end of a bar.
pub(super) fn hint(
    pointer: Pos2,
    layout: &RowLayout,
    view: &TimelineView<'_>,
    state: &TimelineState,
) -> Option<String> {
    let (plant, start) = end_at(pointer, layout, view, state)?;
    let frame = |secs: f64| (secs * view.fps()).round();
    let text = if start {
        format!(
            "Planted from frame {}: drag to plant it earlier or later. It keeps the place that it has here",
            frame(plant.from_secs)
        )
    } else {
        format!(
            "Planted until frame {}: drag to let it go earlier or later",
            frame(plant.to_secs)
        )
    };
    Some(text)
}

/// The hands and feet of the selected joints; without any, all feet.
fn chosen(view: &TimelineView<'_>) -> Vec<usize> {
    let (Some(rig), Some(skeleton)) = (view.ik, view.skeleton) else {
        return Vec::new();
    };
    let mut ends: Vec<usize> = view
        .selected
        .iter()
        .filter_map(|&joint| rig.end_of(skeleton, joint))
        .collect();
    if ends.is_empty() {
        let feet = rig.limbs().iter().filter(|limb| limb.is_leg);
        ends.extend(feet.map(|limb| limb.end));
    }
    ends.sort_unstable();
    ends.dedup();
    ends
}

/// The rules after hands or feet are planted at the playhead, or, if all of them are, let go there.
fn toggled(view: &TimelineView<'_>, ends: &[usize]) -> Option<FeetRules> {
    let (_, take) = view.take()?;
    let now = view.snapped(view.time_secs);
    let rules = take.feet();
    let planted = |end: usize| rules.plants_of(end).find(|plant| plant.contains(now));
    if ends.iter().all(|&end| planted(end).is_some()) {
        let mut next = rules.clone();
        for plant in ends.iter().filter_map(|&end| planted(end)) {
            next = next.without(plant);
            if now > plant.from_secs {
                next = next.with(Plant {
                    to_secs: now,
                    ..*plant
                });
            }
        }
        return Some(next);
    }
    let next_key = take
        .key_times()
        .into_iter()
        .find(|time| *time > now + 0.5 / view.fps());
    let end = next_key.unwrap_or(now + NEW_SECS);
    let end = end.min(take.duration_secs()).max(now + 1.0 / view.fps());
    let free = ends.iter().filter(|&&joint| planted(joint).is_none());
    Some(free.fold(rules.clone(), |rules, &joint| {
        rules.with(Plant {
            joint,
            from_secs: now,
            to_secs: end,
        })
    }))
}

/// Carries out an action on feet. Clips of files can't be changed: the session says so.
pub(super) fn carry_out(action: TimelineAction, view: &TimelineView<'_>, actions: &mut Actions) {
    let Some(clip) = view.clip else { return };
    let known = view
        .take()
        .map_or_else(FeetRules::default, |(_, take)| take.feet().clone());
    let rules = match action {
        TimelineAction::PlantStanding => {
            return actions.once(Command::Keys(KeysCommand::PlantStanding { clip }));
        }
        TimelineAction::AboveGround => {
            FeetRules::new(known.plants().iter().copied(), !known.above_ground)
        }
        _ => toggled(view, &chosen(view)).unwrap_or(known),
    };
    actions.once(Command::Keys(KeysCommand::SetFeet {
        clip,
        rules,
        from: None,
    }));
}

/// Menu items for feet.
pub(super) fn menu_items(ui: &mut Ui, view: &TimelineView<'_>, actions: &mut Actions) {
    let Some((_, take)) = view.take() else { return };
    let ends = chosen(view);
    let now = view.snapped(view.time_secs);
    let is_planted = |end: &usize| take.feet().plants_of(*end).any(|plant| plant.contains(now));
    let name = match (&ends[..], view.skeleton) {
        ([end], Some(skeleton)) => skeleton
            .joints()
            .get(*end)
            .map_or("the foot", |joint| joint.name.as_str()),
        _ => "feet",
    };
    let (text, tip) = if !ends.is_empty() && ends.iter().all(is_planted) {
        (
            format!("Let {name} go here"),
            "Ends the interval at the playhead",
        )
    } else {
        (
            format!("Plant {name} here"),
            "Holds it where it is at the playhead, until the next key; drag the ends of its bar to change that",
        )
    };
    let item = ui.add_enabled(!ends.is_empty(), Button::new(text));
    if item.on_hover_text(tip).clicked() {
        carry_out(TimelineAction::PlantFeet, view, actions);
    }
    if ui
        .add_enabled(!ends.is_empty(), Button::new("Plant feet where they stand"))
        .on_hover_text("Finds where feet are nearly still on the ground, and holds them there")
        .clicked()
    {
        carry_out(TimelineAction::PlantStanding, view, actions);
    }
    let above = take.feet().above_ground;
    let item = ui.add_enabled(
        !ends.is_empty(),
        Button::selectable(above, "Soles stay above the ground"),
    );
    if item
        .on_hover_text("Lifts a foot where it would sink into the ground between keys")
        .clicked()
    {
        carry_out(TimelineAction::AboveGround, view, actions);
    }
}
