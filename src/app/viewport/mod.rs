//! The viewport: camera, picking, and posing by handles or by dragging the body.
//!
//! [`Viewport::interact`] reads the pointer and pushes commands; the workbench applies them, draws the picture through a
//! [`painter::ViewportPainter`], and [`handles::draw`] paints dots, names and handles over it. What the pointer does to the pose is in
//! [`posing`].

pub mod axis_gizmo;
pub mod edit;
pub mod gizmo;
pub mod handles;
pub mod legend;
pub mod navigation;
pub mod painter;
pub mod picking;
pub mod posing;
pub mod pull;
pub mod screen_map;
pub mod views;

use std::sync::Arc;

use egui::{Pos2, Rect, Response, Ui};

use self::axis_gizmo::AxisGizmo;
use self::navigation::Navigation;
use self::picking::Target;
use self::posing::tools::Toolbox;
use self::posing::{Handle, PoseDrag};
use self::screen_map::ScreenMap;
use self::views::Flight;
use super::actions::Actions;
use crate::math::{Affine, Point};
use crate::mesh::Bounds;
use crate::render::{Camera, NamedView, Projection};
use crate::rig::symmetry::Symmetry;
use crate::rig::{Pose, Skeleton};
use crate::session::{CrowdFrame, Document, PoseCommand, Snapshot};
use crate::skin::Subject;

/// What the viewport may read of the session.
#[derive(Debug, Clone, Copy, Default)]
pub struct ViewportView<'a> {
    /// The skeleton; none while nothing is open.
    pub skeleton: Option<&'a Skeleton>,
    /// The joints of the pose asked for.
    pub world_from_joint: &'a [Affine],
    /// The active joint, which handles are for.
    pub selected: Option<usize>,
    /// All selected joints, the active one last.
    pub selection: &'a [usize],
    /// The flesh as it is.
    pub snapshot: Option<&'a Arc<Snapshot>>,
    /// Many of the character, if the view shows many.
    pub crowd: Option<&'a Arc<CrowdFrame>>,
    /// Pins and limits.
    pub document: Option<&'a Document>,
    /// The pose shown.
    pub pose: Option<&'a Pose>,
    /// Left and right.
    pub symmetry: Option<&'a Symmetry>,
    /// What the pointer does.
    pub tools: Toolbox,
    /// Whether there is a pose to paste.
    pub can_paste: bool,
}

impl ViewportView<'_> {
    /// A box around what is shown.
    fn bounds(&self) -> Option<Bounds> {
        let posed = |snapshot: &Arc<Snapshot>| snapshot.subject.bounds_of_surface(snapshot.positions());
        self.crowd.map(|crowd| crowd.bounds()).or_else(|| self.snapshot.map(posed))
    }
}

/// Camera and what the pointer is doing.
#[derive(Debug, Default)]
pub struct Viewport {
    /// The camera.
    pub camera: Camera,
    /// What is under the pointer.
    pub hovered: Option<Target>,
    /// The handle under the pointer.
    pub hovered_handle: Option<Handle>,
    /// What the pointer does to the pose.
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
    /// What the drag under way came to last.
    last_command: Option<PoseCommand>,
    /// A drag was taken back and the button is still down.
    given_up: bool,
    framed: Option<Framed>,
    /// How many of the character are to be brought into view as soon as they are there.
    expected: Option<u32>,
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
        let bounds = subject.bounds_of_surface(&subject.bind_positions);
        self.framed = Some(Framed { bind: subject.bind_positions.as_ptr(), bounds });
        (self.hovered, self.hovered_handle, self.drag, self.picked) = (None, None, None, None);
        let up = crate::session::up_axis(subject).axis;
        self.camera.set_up(&crate::math::Vec3::from(up.map(|c| c as f32)));
        if self.camera.projection == Projection::Perspective {
            self.camera.look_from(NamedView::ThreeQuarter);
        }
        self.camera.frame(&bounds, self.aspect());
        self.camera = self.kept.take().unwrap_or(self.camera);
        self.flight = None;
    }

    /// Lets the clipping planes take in what stands around the character.
    pub fn reach(&mut self, shown: &Bounds) {
        if !shown.is_empty() {
            self.camera.radius = self.camera.radius.max(shown.size() / 2.0);
        }
    }

    fn aspect(&self) -> f32 {
        self.rect.map_or(1.0, |rect| rect.width() / rect.height().max(1.0))
    }

    /// Reads the pointer: hovering, clicks, drags of joints and of the camera.
    pub fn interact(&mut self, ui: &Ui, response: &Response, view: &ViewportView<'_>, actions: &mut Actions) {
        if self.rect.is_none() {
            return;
        }
        self.let_the_camera_move(ui, response);
        let Some(map) = self.map() else { return };
        if !self.pose_with_pointer(ui, response, &map, view, actions) {
            self.drag_camera(ui, response);
        }
    }
}
