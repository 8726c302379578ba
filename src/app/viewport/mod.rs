//! The viewport: camera, picking, and turning joints with rings or by pulling at them.
//!
//! [`Viewport::interact`] reads the pointer and pushes commands; the workbench applies them, draws the picture through a
//! [`painter::ViewportPainter`], and [`handles::draw`] paints dots, names and rings over it.

pub mod axis_gizmo;
pub mod gizmo;
pub mod handles;
pub mod legend;
pub mod navigation;
pub mod painter;
pub mod picking;
pub mod pull;
pub mod screen_map;
pub mod views;

use std::sync::Arc;

use egui::{PointerButton, Pos2, Rect, Response, Ui};

use self::axis_gizmo::AxisGizmo;
use self::gizmo::{Gizmo, Ring, RingDrag};
use self::navigation::Navigation;
use self::picking::{Target, pick_bones, pick_flesh};
use self::pull::Pull;
use self::screen_map::ScreenMap;
use self::views::Flight;
use super::actions::Actions;
use crate::math::{Affine, Point, Quat, origin_of};
use crate::mesh::Bounds;
use crate::render::{Camera, NamedView, Projection};
use crate::rig::{Skeleton, Trs};
use crate::session::{Command, Gesture, Snapshot};
use crate::skin::Subject;

/// What the viewport may read of the session.
#[derive(Debug, Clone, Copy)]
pub struct ViewportView<'a> {
    /// The skeleton; none while nothing is open.
    pub skeleton: Option<&'a Skeleton>,
    /// The joints of the pose asked for.
    pub world_from_joint: &'a [Affine],
    /// The selected joint.
    pub selected: Option<usize>,
    /// The flesh as it is.
    pub snapshot: Option<&'a Arc<Snapshot>>,
}

/// Camera and what the pointer is doing.
#[derive(Debug, Default)]
pub struct Viewport {
    /// The camera.
    pub camera: Camera,
    /// What is under the pointer.
    pub hovered: Option<Target>,
    /// The ring under the pointer.
    pub hovered_ring: Option<Ring>,
    /// A joint being turned.
    pub drag: Option<PoseDrag>,
    /// How the user likes to move about.
    pub navigation: Navigation,
    /// Whether the camera goes round the character slowly.
    pub turntable: bool,
    axis_gizmo: AxisGizmo,
    flight: Option<Flight>,
    /// The camera for the character that comes next.
    kept: Option<Camera>,
    rect: Option<Rect>,
    picked: Option<(Pos2, u64)>,
    framed: Option<Framed>,
}

/// A joint being turned by the pointer.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::large_enum_variant, reason = "there is at most one")]
pub enum PoseDrag {
    /// By a ring.
    Ring {
        /// The joint.
        joint: usize,
        /// The ring's geometry when the drag began.
        gizmo: Gizmo,
        /// How far.
        drag: RingDrag,
        /// Radians sent to the session so far.
        sent: f64,
    },
    /// By a point of the flesh or a child joint that follows the pointer.
    Pull(Pull),
}

/// The character that the camera was set up for.
#[derive(Debug, Clone, Copy)]
struct Framed {
    /// The bind pose that was framed; a character that only gets more clips keeps it.
    bind: *const Point,
    bounds: Bounds,
}

impl Viewport {
    /// The map of this frame; nothing while the viewport has no size.
    #[must_use]
    pub fn map(&self) -> Option<ScreenMap> {
        let rect = self.rect?;
        let aspect = rect.width() / rect.height().max(1.0);
        let right = self.camera.axes().0;
        ScreenMap::new(self.camera.clip_from_world(aspect).cast(), self.camera.eye().cast(), right.cast(), rect)
    }

    /// Height of the floor under the character, along what is up.
    #[must_use]
    pub fn ground_height(&self) -> f32 {
        let up = self.camera.up();
        let lowest = |bounds: &Bounds| (0..3).map(|k| (bounds.min[k] * up[k]).min(bounds.max[k] * up[k])).sum();
        self.framed.filter(|framed| !framed.bounds.is_empty()).map_or(0.0, |framed| lowest(&framed.bounds))
    }

    /// Diagonal of the character's box.
    #[must_use]
    pub fn size(&self) -> f32 {
        self.framed.map_or(1.0, |framed| framed.bounds.size()).max(1e-6)
    }

    /// Sets the camera up when another character has come.
    pub fn follow_subject(&mut self, rect: Rect, subject: Option<&Arc<Subject>>) {
        self.rect = (rect.width() >= 1.0 && rect.height() >= 1.0).then_some(rect);
        let Some(subject) = subject else { return };
        if self.framed.is_some_and(|framed| std::ptr::eq(framed.bind, subject.bind_positions.as_ptr())) {
            return;
        }
        let bounds = Bounds::of(&*subject.bind_positions);
        self.framed = Some(Framed { bind: subject.bind_positions.as_ptr(), bounds });
        (self.hovered, self.hovered_ring, self.drag, self.picked) = (None, None, None, None);
        let up = crate::session::up_axis(subject).axis;
        self.camera.set_up(&crate::math::Vec3::from(up.map(|c| c as f32)));
        if self.camera.projection == Projection::Perspective {
            self.camera.look_from(NamedView::ThreeQuarter);
        }
        self.camera.frame(&bounds, self.aspect());
        self.camera = self.kept.take().unwrap_or(self.camera);
        self.flight = None;
    }

    fn aspect(&self) -> f32 {
        self.rect.map_or(1.0, |rect| rect.width() / rect.height().max(1.0))
    }

    /// Reads the pointer: hovering, clicks, drags of joints and of the camera.
    pub fn interact(&mut self, ui: &Ui, response: &Response, view: &ViewportView<'_>, actions: &mut Actions) {
        if self.rect.is_none() {
            return;
        }
        let modifiers = ui.input(|input| input.modifiers);
        self.let_the_camera_move(ui, response);
        let Some(map) = self.map() else { return };
        if !ui.input(|input| input.pointer.any_down()) {
            // What lies behind the axes in the corner is not meant.
            self.hover(&map, response.hover_pos().filter(|_| !self.axis_gizmo.hovered), view);
        }
        if response.drag_started_by(PointerButton::Primary) && !self.navigation.preset.claims_left(modifiers) {
            let origin = ui.input(|input| input.pointer.press_origin());
            self.start_drag(&map, origin, view, actions);
        }
        if self.drag.is_some() {
            self.continue_drag(&map, response, modifiers.command, view, actions);
        } else {
            self.drag_camera(ui, response);
            if response.clicked_by(PointerButton::Primary) {
                self.click(&map, response.interact_pointer_pos(), view, actions);
            }
        }
    }

    fn hover(&mut self, map: &ScreenMap, pointer: Option<Pos2>, view: &ViewportView<'_>) {
        let (Some(pointer), Some(skeleton)) = (pointer, view.skeleton) else {
            (self.hovered, self.hovered_ring, self.picked) = (None, None, None);
            return;
        };
        let picked = Some((pointer, view.snapshot.map_or(0, |snapshot| snapshot.sequence)));
        if picked == self.picked && self.hovered.is_some() {
            return;
        }
        self.picked = picked;
        self.pick(map, pointer, skeleton, view);
    }

    fn pick(&mut self, map: &ScreenMap, pointer: Pos2, skeleton: &Skeleton, view: &ViewportView<'_>) {
        let gizmo = view.selected.and_then(|joint| gizmo_at(map, view.world_from_joint, joint));
        self.hovered_ring = gizmo.and_then(|gizmo| gizmo.hit(map, pointer));
        self.hovered = match self.hovered_ring {
            Some(_) => None,
            None => pick_bones(map, skeleton, view.world_from_joint, pointer)
                .or_else(|| view.snapshot.and_then(|snapshot| pick_flesh(&map.ray(pointer), snapshot))),
        };
    }

    fn click(&mut self, map: &ScreenMap, pointer: Option<Pos2>, view: &ViewportView<'_>, actions: &mut Actions) {
        // Not what was hovered in the last frame: a quick hand may have been elsewhere then.
        if let (Some(pointer), Some(skeleton)) = (pointer, view.skeleton) {
            self.pick(map, pointer, skeleton, view);
        }
        let joint = self.hovered.map(Target::joint);
        if self.hovered_ring.is_none() && joint != view.selected {
            actions.once(Command::SelectJoint(joint));
        }
    }

    fn start_drag(&mut self, map: &ScreenMap, origin: Option<Pos2>, view: &ViewportView<'_>, actions: &mut Actions) {
        let (Some(origin), Some(skeleton)) = (origin, view.skeleton) else { return };
        self.pick(map, origin, skeleton, view);
        if let Some((ring, joint)) = self.hovered_ring.zip(view.selected) {
            if let Some(gizmo) = gizmo_at(map, view.world_from_joint, joint) {
                let drag = RingDrag::start(&gizmo, map, ring, origin);
                self.drag = Some(PoseDrag::Ring { joint, gizmo, drag, sent: 0.0 });
            }
            return;
        }
        let pull = self.hovered.and_then(|target| Pull::start(map, skeleton, view.world_from_joint, target, origin));
        if let Some(pull) = pull {
            self.drag = Some(PoseDrag::Pull(pull));
            if view.selected != Some(pull.joint) {
                actions.once(Command::SelectJoint(Some(pull.joint)));
            }
        }
    }

    fn continue_drag(&mut self, map: &ScreenMap, response: &Response, snap: bool, view: &ViewportView<'_>, actions: &mut Actions) {
        let Some(drag) = &mut self.drag else { return };
        let ends = response.drag_stopped() || !response.dragged();
        let gesture = if ends { Gesture::Released } else { Gesture::Dragging };
        if let Some(pointer) = response.interact_pointer_pos() {
            let turned = match drag {
                PoseDrag::Ring { joint, drag, sent, .. } => {
                    drag.update(map, pointer);
                    let angle = drag.angle(snap);
                    let rotation = Quat::from_axis_angle(&nalgebra::Unit::new_normalize(drag.axis), angle - *sent);
                    *sent = angle;
                    Some((*joint, rotation))
                }
                PoseDrag::Pull(pull) => pull.update(map, view.world_from_joint, pointer).map(|rotation| (pull.joint, rotation)),
            };
            if let Some((joint, rotation)) = turned {
                actions.send(Command::RotateJoint { joint, rotation }, gesture);
            } else if ends {
                actions.send(Command::RotateJoint { joint: drag.joint(), rotation: Quat::identity() }, gesture);
            }
        } else if ends {
            actions.send(Command::RotateJoint { joint: drag.joint(), rotation: Quat::identity() }, gesture);
        }
        if ends {
            self.drag = None;
            self.picked = None;
        }
    }

    /// Takes back the drag under way. Returns whether there was one.
    pub fn cancel_drag(&mut self, actions: &mut Actions) -> bool {
        let Some(drag) = self.drag.take() else { return false };
        actions.send(Command::RotateJoint { joint: drag.joint(), rotation: drag.turned().inverse() }, Gesture::Released);
        true
    }
}

impl PoseDrag {
    /// The joint that turns.
    #[must_use]
    pub fn joint(&self) -> usize {
        match self {
            Self::Ring { joint, .. } => *joint,
            Self::Pull(pull) => pull.joint,
        }
    }

    /// By how much so far, about world axes.
    #[must_use]
    pub fn turned(&self) -> Quat {
        match self {
            Self::Ring { drag, sent, .. } => Quat::from_axis_angle(&nalgebra::Unit::new_normalize(drag.axis), *sent),
            Self::Pull(pull) => pull.turned,
        }
    }
}

/// The rings around a joint.
#[must_use]
pub fn gizmo_at(map: &ScreenMap, world_from_joint: &[Affine], joint: usize) -> Option<Gizmo> {
    let world = world_from_joint.get(joint)?;
    Gizmo::new(map, origin_of(world), &Trs::from_affine(world).rotation)
}
