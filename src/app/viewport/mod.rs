//! The viewport: camera, picking, and turning joints with rings or by pulling at them.
//!
//! [`Viewport::interact`] reads the pointer and pushes commands; the workbench applies them, draws the picture through a
//! [`painter::ViewportPainter`], and [`handles::draw`] paints dots, names and rings over it.

pub mod gizmo;
pub mod handles;
pub mod navigation;
pub mod painter;
pub mod picking;
pub mod pull;
pub mod screen_map;
pub mod tissue_overlays;

use std::sync::Arc;

use egui::{PointerButton, Pos2, Rect, Response, Ui};

use self::gizmo::{Gizmo, Ring, RingDrag};
use self::picking::{Target, pick_bones, pick_flesh};
use self::pull::Pull;
use self::screen_map::ScreenMap;
use super::actions::Actions;
use crate::math::{Affine, Point, Quat, origin_of};
use crate::mesh::Bounds;
use crate::render::{Camera, NamedView};
use crate::rig::{Skeleton, Trs};
use crate::session::{Command, Gesture, Snapshot, Spot};
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

    /// Height of the floor under the character.
    #[must_use]
    pub fn ground_height(&self) -> f32 {
        self.framed.filter(|framed| !framed.bounds.is_empty()).map_or(0.0, |framed| framed.bounds.min.y)
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
        self.look_from(NamedView::ThreeQuarter);
    }

    /// Looks at the whole character from a side.
    pub fn look_from(&mut self, view: NamedView) {
        if let Some(framed) = self.framed {
            self.camera.look_from(view);
            self.camera.frame(&framed.bounds, self.aspect());
        }
    }

    /// Brings the selected joint with its neighbours, or the whole character as it is now, into view.
    pub fn frame(&mut self, view: &ViewportView<'_>) {
        let (Some(framed), Some(snapshot)) = (self.framed, view.snapshot) else { return };
        let whole = Bounds::of(&snapshot.positions);
        let whole = if whole.is_empty() { framed.bounds } else { whole };
        let around = view.selected.zip(view.skeleton).and_then(|(joint, skeleton)| around_joint(skeleton, view.world_from_joint, joint));
        self.camera.frame(&around.map_or(whole, |bounds| padded(bounds, whole.size() * 0.06)), self.aspect());
        // The clipping planes stay those of everything.
        self.camera.radius = (whole.size() / 2.0).max(1e-6);
    }

    /// Brings a place into view, from the side that its surface faces if it faces away.
    pub fn show(&mut self, spot: &Spot, view: &ViewportView<'_>) {
        let vertex = spot.vertex.map(|vertex| vertex as usize);
        let surface = vertex.zip(view.snapshot).and_then(|(v, snapshot)| Some((snapshot.positions.get(v)?, snapshot.normals.get(v)?)));
        let joint = spot.joint.and_then(|joint| view.world_from_joint.get(joint)).map(|world| origin_of(world).cast::<f32>());
        let rest = crate::math::Point64::from(spot.position).cast::<f32>();
        let center = surface.map(|(position, _)| *position).or(joint).unwrap_or(rest);
        if let Some((_, normal)) = surface
            && normal.dot(&self.camera.axes().2) < 0.3
        {
            self.camera.yaw = normal.x.atan2(normal.z);
            self.camera.pitch = normal.y.clamp(-0.9, 0.9).asin();
        }
        let radius = self.camera.radius;
        self.camera.frame(&padded(Bounds { min: center, max: center }, spot.radius as f32), self.aspect());
        // The clipping planes stay those of everything.
        self.camera.radius = radius;
    }

    fn aspect(&self) -> f32 {
        self.rect.map_or(1.0, |rect| rect.width() / rect.height().max(1.0))
    }

    /// Reads the pointer: hovering, clicks, drags of joints and of the camera.
    pub fn interact(&mut self, ui: &Ui, response: &Response, view: &ViewportView<'_>, actions: &mut Actions) {
        let Some(rect) = self.rect else { return };
        let modifiers = ui.input(|input| input.modifiers);
        if let Some(at) = response.hover_pos() {
            for motion in ui.input(|input| navigation::scroll_motions(input, at)) {
                navigation::apply(&mut self.camera, motion, rect);
            }
        }
        let Some(map) = self.map() else { return };
        if !ui.input(|input| input.pointer.any_down()) {
            self.hover(&map, response.hover_pos(), view);
        }
        if response.drag_started_by(PointerButton::Primary) && !modifiers.shift {
            let origin = ui.input(|input| input.pointer.press_origin());
            self.start_drag(&map, origin, view, actions);
        }
        if self.drag.is_some() {
            self.continue_drag(&map, response, modifiers.command, view, actions);
        } else {
            if let Some(motion) = navigation::drag_motion(response, modifiers, true) {
                navigation::apply(&mut self.camera, motion, rect);
            }
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

/// A box around a joint, its parent and its children.
fn around_joint(skeleton: &Skeleton, world_from_joint: &[Affine], joint: usize) -> Option<Bounds> {
    let parent = skeleton.joints().get(joint)?.parent;
    let members = parent.into_iter().chain([joint]).chain(skeleton.children(joint).iter().copied());
    let points: Vec<_> = members.filter_map(|member| world_from_joint.get(member)).map(|world| origin_of(world).cast::<f32>()).collect();
    (!points.is_empty()).then(|| Bounds::of(&points))
}

fn padded(bounds: Bounds, by: f32) -> Bounds {
    let pad = crate::math::Vec3::repeat(by);
    Bounds { min: bounds.min - pad, max: bounds.max + pad }
}
