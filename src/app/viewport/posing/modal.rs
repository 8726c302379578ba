//! Turning and moving joints without holding a button, as in Blender: a key starts it, the pointer or typed numbers say how far, X, Y and Z
//! choose an axis, a click or Enter ends it, and Escape or the other button takes it back.

use egui::{Event, InputState, Key, Painter, Pos2, Stroke, Vec2, vec2};

use super::super::ViewportView;
use super::super::label::label;
use super::super::screen_map::ScreenMap;
use crate::app::actions::tools::{GizmoAxes, ModalKind, Toolbox};
use crate::app::theme;
use crate::math::{Affine, Point64, Quat, Vec64, origin_of};
use crate::rig::ik::{DraggedPoint, EndRotation};
use crate::session::{PoseCommand, TurnAxes};

/// Factor on pointer movement while Shift is held.
const FINE: f32 = 0.1;
/// Longest typed number.
const MOST_TYPED: usize = 12;
/// Step of a move while Ctrl is held, as a part of the character's size.
const SNAP_PART: f64 = 0.01;
/// Half the length of the drawn axis, points.
const AXIS_LENGTH: f64 = 400.0;

/// An axis that was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ModalAxis {
    /// 0, 1 or 2.
    index: usize,
    /// Whether it is the joint's own axis instead of the world's.
    own: bool,
}

/// A change in progress.
#[derive(Debug, Clone)]
pub struct Modal {
    /// What is changed.
    pub kind: ModalKind,
    /// The active joint.
    pub joint: usize,
    joints: Vec<usize>,
    /// Place and orientation of the active joint at the start.
    pivot: Point64,
    own: Quat,
    /// The pointer: where it was last, and where it would be at its full speed.
    last: Pos2,
    virtual_pointer: Pos2,
    start: Pos2,
    /// Rotation by the pointer so far, radians, counter-clockwise on screen.
    turned: f64,
    axis: Option<ModalAxis>,
    typed: String,
    step: f64,
    pub(super) is_confirmed: bool,
    pub(super) is_changed: bool,
}

impl Modal {
    pub(super) fn start(
        kind: ModalKind,
        view: &ViewportView<'_>,
        joint: usize,
        pointer: Pos2,
        size: f64,
    ) -> Option<Self> {
        let world: &Affine = view.world_from_joint.get(joint)?;
        let joints = if view.selection.contains(&joint) {
            view.selection.to_vec()
        } else {
            vec![joint]
        };
        Some(Self {
            kind,
            joint,
            joints,
            pivot: origin_of(world),
            own: crate::rig::Trs::from_affine(world).rotation,
            last: pointer,
            virtual_pointer: pointer,
            start: pointer,
            turned: 0.0,
            axis: None,
            typed: String::new(),
            step: size * SNAP_PART,
            is_confirmed: false,
            is_changed: false,
        })
    }

    /// Takes what is typed: numbers, axes, Enter. The keys are consumed, so that they start nothing else.
    pub(super) fn read_keys(&mut self, input: &mut InputState, axes: GizmoAxes) {
        for (index, key) in [Key::X, Key::Y, Key::Z].into_iter().enumerate() {
            if input.count_and_consume_key(egui::Modifiers::NONE, key) > 0 {
                self.choose_axis(index, axes);
            }
        }
        if input.consume_key(egui::Modifiers::NONE, Key::Backspace) {
            self.typed.pop();
            self.is_changed = true;
        }
        if input.consume_key(egui::Modifiers::NONE, Key::Enter) {
            self.is_confirmed = true;
        }
        let mut typed = String::new();
        input.events.retain(|event| match event {
            Event::Text(text) => {
                typed.push_str(text);
                false
            }
            // Digits choose clips otherwise, and other keys other tools.
            Event::Key { key, pressed, .. } => !pressed || *key == Key::Escape,
            _ => true,
        });
        for sign in typed.chars() {
            self.is_changed |= self.take_sign(sign);
        }
    }

    /// An axis: first in the chosen orientation, then in the other one, then none.
    fn choose_axis(&mut self, index: usize, axes: GizmoAxes) {
        let first = axes == GizmoAxes::Own;
        self.axis = match self.axis {
            Some(known) if known.index == index && known.own == first => {
                Some(ModalAxis { index, own: !first })
            }
            Some(known) if known.index == index => None,
            _ => Some(ModalAxis { index, own: first }),
        };
        self.is_changed = true;
    }

    fn take_sign(&mut self, sign: char) -> bool {
        let is_number = sign.is_ascii_digit() || (sign == '.' && !self.typed.contains('.'));
        match sign {
            '-' if self.typed.starts_with('-') => drop(self.typed.remove(0)),
            '-' => self.typed.insert(0, '-'),
            ',' if !self.typed.contains('.') => self.typed.push('.'),
            _ if is_number && self.typed.len() < MOST_TYPED => self.typed.push(sign),
            _ => return false,
        }
        true
    }

    /// The typed number, if there is one.
    fn number(&self) -> Option<f64> {
        self.typed.parse().ok()
    }

    /// The chosen axis, world space.
    fn direction(&self) -> Option<Vec64> {
        let axis = self.axis?;
        let unit = [Vec64::x(), Vec64::y(), Vec64::z()][axis.index];
        Some(if axis.own { self.own * unit } else { unit })
    }

    /// Follows the pointer; Shift makes it slow.
    pub(super) fn follow_pointer(&mut self, map: &ScreenMap, pointer: Pos2, is_fine: bool) {
        let by = pointer - self.last;
        if by == Vec2::ZERO {
            return;
        }
        self.last = pointer;
        let before = self.virtual_pointer;
        self.virtual_pointer += by * if is_fine { FINE } else { 1.0 };
        self.is_changed = true;
        if let Some(middle) = map.project(&self.pivot) {
            let [a, b] = [before, self.virtual_pointer].map(|at| at - middle);
            // The screen's y axis points down.
            let turn = f64::from(a.y * b.x - a.x * b.y).atan2(f64::from(a.dot(b)));
            self.turned += turn;
        }
    }

    /// Angle, radians.
    fn angle(&self, map: &ScreenMap, snap: Option<f64>) -> f64 {
        if let Some(degrees) = self.number() {
            return degrees.to_radians();
        }
        // About an axis that points away from the eye, the screen turns the other way round.
        let sign = match self.direction() {
            Some(axis) if axis.dot(&map.towards_eye(&self.pivot)) < 0.0 => -1.0,
            _ => 1.0,
        };
        let angle = sign * self.turned;
        snap.map_or(angle, |step| (angle / step).round() * step)
    }

    /// Displacement, world units.
    fn shift(&self, map: &ScreenMap, snaps: bool) -> Vec64 {
        let along = |distance: f64| {
            let distance = if snaps {
                (distance / self.step).round() * self.step
            } else {
                distance
            };
            self.number().unwrap_or(distance)
        };
        let at = |pointer: Pos2, normal: &Vec64| map.ray(pointer).meet_plane(&self.pivot, normal);
        let between = |normal: &Vec64| {
            let from = at(self.start, normal)?;
            Some(at(self.virtual_pointer, normal)? - from)
        };
        if let Some(axis) = self.direction() {
            let eye = map.towards_eye(&self.pivot);
            let normal = (eye - axis * eye.dot(&axis)).try_normalize(1e-6);
            let moved = normal.and_then(|normal| between(&normal));
            return axis * along(moved.map_or(0.0, |moved| moved.dot(&axis)));
        }
        let moved = between(&map.back()).unwrap_or_else(Vec64::zeros);
        let way = moved.try_normalize(1e-12);
        // A number without an axis: where the pointer went, or to the right of the screen.
        self.number().map_or(moved, |number| {
            way.unwrap_or_else(|| map.right_and_up().0) * number
        })
    }

    /// The pose command of the present state.
    pub(super) fn command(&self, map: &ScreenMap, tools: &Toolbox, snaps: bool) -> PoseCommand {
        match self.kind {
            ModalKind::Turn => {
                let angle = self.angle(map, snaps.then(|| tools.snap_deg.to_radians()));
                let several = self.joints.len() > 1 && self.axis.is_some_and(|axis| axis.own);
                let (axis, axes) = match (self.axis, self.direction()) {
                    // Each joint about its own axis, as fingers curl.
                    (Some(chosen), _) if several => {
                        let unit = [Vec64::x(), Vec64::y(), Vec64::z()][chosen.index];
                        (unit, TurnAxes::Own)
                    }
                    (_, Some(axis)) => (axis, TurnAxes::World),
                    _ => (map.towards_eye(&self.pivot), TurnAxes::World),
                };
                PoseCommand::Turn {
                    joints: self.joints.clone(),
                    rotation: Quat::new(axis * angle),
                    axes,
                }
            }
            ModalKind::Move => PoseCommand::Reach {
                grip: DraggedPoint::of_joint(self.joint),
                target: self.pivot + self.shift(map, snaps),
                end: EndRotation::Follows,
            },
        }
    }

    /// "about its X axis", …
    fn axis_text(&self, free: &str) -> String {
        self.axis.map_or_else(
            || free.to_owned(),
            |axis| {
                let whose = if axis.own { "its" } else { "the world's" };
                format!("{whose} {} axis", ["X", "Y", "Z"][axis.index])
            },
        )
    }

    /// What is done, for the status line.
    #[must_use]
    pub fn hint(&self, name: &str) -> String {
        let what = match self.kind {
            ModalKind::Turn => format!(
                "Turning {name} about {}",
                self.axis_text("the line of sight")
            ),
            ModalKind::Move => match self.axis {
                Some(_) => format!("Moving {name} along {}", self.axis_text("")),
                None => format!("Moving {name}"),
            },
        };
        format!(
            "{what} – X, Y, Z: axis, numbers: how far, Shift: slow, Ctrl: steps; click or Enter ends, Esc takes it back"
        )
    }

    /// The number at the pointer.
    fn readout(&self, map: &ScreenMap, tools: &Toolbox, snaps: bool) -> String {
        let typed = if self.typed.is_empty() {
            String::new()
        } else {
            format!("[{}] ", self.typed)
        };
        match self.kind {
            ModalKind::Turn => {
                let angle = self.angle(map, snaps.then(|| tools.snap_deg.to_radians()));
                format!("{typed}{:.1}°", angle.to_degrees())
            }
            ModalKind::Move => format!("{typed}{:.3}", self.shift(map, snaps).norm()),
        }
    }

    /// The axis, and the line from the joint to the pointer.
    pub(super) fn draw(&self, painter: &Painter, map: &ScreenMap, tools: &Toolbox) {
        let colors = theme::colors(painter.ctx());
        let Some(middle) = map.project(&self.pivot) else {
            return;
        };
        if let (Some(axis), Some(direction)) = (self.axis, self.direction()) {
            let reach = direction * map.world_per_point(&self.pivot) * AXIS_LENGTH;
            let ends = [self.pivot - reach, self.pivot + reach].map(|end| map.project(&end));
            if let [Some(a), Some(b)] = ends {
                let color = colors.axes[axis.index];
                painter.line_segment([a, b], Stroke::new(1.2, color));
            }
        }
        painter.line_segment(
            [middle, self.last],
            Stroke::new(1.0, colors.plate_text.gamma_multiply(0.6)),
        );
        let snaps = painter.ctx().input(|input| input.modifiers.command);
        let text = self.readout(map, tools, snaps);
        label(
            painter,
            map.rect(),
            self.last + vec2(16.0, 12.0),
            &text,
            colors.plate_text,
        );
    }
}
