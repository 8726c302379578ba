//! The viewport: camera, picking, and posing.
//!
//! [`Viewport::interact`] handles the pointer and pushes commands; the workbench applies them,
//! draws the picture through a [`painter::ViewportPainter`], and [`handles::draw`] draws dots,
//! names and handles over it. Pointer input for poses is in [`posing`].

pub mod axis_gizmo;
mod dots;
pub mod edit;
pub mod gizmo;
pub mod handles;
pub(super) mod label;
pub mod legend;
pub mod painter;
mod painting;
pub mod picking;
pub mod posing;
pub mod pull;
pub mod screen_map;
pub mod views;

use std::sync::Arc;

use egui::{Pos2, Rect, Response, Ui};

use self::axis_gizmo::AxisGizmo;
use self::painting::PaintStroke;
use self::picking::{PickTarget, SkinSpot};
use self::posing::{PoseDrag, PoseHandle};
use self::screen_map::ScreenMap;
use self::views::Flight;
use super::actions::Actions;
use crate::app::actions::tools::{ModalKind, Toolbox};
use crate::app::navigation::Navigation;
use crate::math::{Affine, Point};
use crate::mesh::Bounds;
use crate::methods::Subject;
use crate::render::{Camera, NamedView, Projection};
use crate::rig::symmetry::Symmetry;
use crate::rig::{Pose, Skeleton};
use crate::session::{CrowdFrame, Document, PoseCommand, Snapshot};

/// Data for the viewport.
#[derive(Debug, Clone, Copy, Default)]
pub struct ViewportView<'a> {
    /// The skeleton; `None` without a character.
    pub skeleton: Option<&'a Skeleton>,
    /// The target pose's joints.
    pub world_from_joint: &'a [Affine],
    /// The active joint, which has the handles.
    pub selected: Option<usize>,
    /// All selected joints, the active one last.
    pub selection: &'a [usize],
    /// The current snapshot.
    pub snapshot: Option<&'a Arc<Snapshot>>,
    /// The crowd, if the view shows one.
    pub crowd: Option<&'a Arc<CrowdFrame>>,
    /// Pins and limits.
    pub document: Option<&'a Document>,
    /// The pose shown.
    pub pose: Option<&'a Pose>,
    /// Mirror partners.
    pub symmetry: Option<&'a Symmetry>,
    /// The current tool.
    pub tools: Toolbox,
    /// Whether there is a copied pose.
    pub can_paste: bool,
    /// Whether the body keeps its balance while it is dragged.
    pub keeps_balance: bool,
}

impl ViewportView<'_> {
    /// Bounding box of the visible content.
    fn bounds(&self) -> Option<Bounds> {
        let posed =
            |snapshot: &Arc<Snapshot>| snapshot.subject.bounds_of_surface(snapshot.positions());
        self.crowd
            .map(|crowd| crowd.bounds())
            .or_else(|| self.snapshot.map(posed))
    }
}

/// Camera and pointer state.
#[derive(Debug, Default)]
pub struct Viewport {
    /// The camera.
    pub camera: Camera,
    /// The item under the pointer.
    pub hovered: Option<PickTarget>,
    /// The handle under the pointer.
    pub hovered_handle: Option<PoseHandle>,
    /// The current posing drag.
    pub drag: Option<PoseDrag>,
    /// Navigation settings.
    pub navigation: Navigation,
    /// Whether the turntable is on.
    pub turntable: bool,
    axis_gizmo: AxisGizmo,
    flight: Option<Flight>,
    /// The camera for the next character.
    kept: Option<Camera>,
    rect: Option<Rect>,
    picked: Option<(Pos2, u64)>,
    /// The last command of the current drag.
    last_command: Option<PoseCommand>,
    /// A drag was cancelled while the button is still down.
    given_up: bool,
    /// A change by keys and numbers that was asked for.
    asked: Option<ModalKind>,
    framed: Option<FramedCharacter>,
    /// Number of instances to frame when they are available.
    expected: Option<u32>,
    /// The stroke of the brush in progress.
    stroke: Option<PaintStroke>,
    /// The skin under the brush.
    brush_spot: Option<SkinSpot>,
}

/// The character for which the camera was set up.
#[derive(Debug, Clone, Copy)]
struct FramedCharacter {
    /// Its bind pose; a character that only gets more clips has the same.
    bind: *const Point,
    bounds: Bounds,
}

impl Viewport {
    /// The screen map of this frame; `None` while the viewport has no size.
    #[must_use]
    pub fn map(&self) -> Option<ScreenMap> {
        let rect = self.rect?;
        let aspect = rect.width() / rect.height().max(1.0);
        let right = self.camera.axes().0;
        ScreenMap::new(
            self.camera.clip_from_world(aspect).cast(),
            self.camera.eye().cast(),
            right.cast(),
            rect,
        )
    }

    /// Height of the floor along the up axis.
    #[must_use]
    pub fn ground_height(&self) -> f32 {
        let up = self.camera.up();
        let lowest = |bounds: &Bounds| {
            (0..3)
                .map(|k| (bounds.min[k] * up[k]).min(bounds.max[k] * up[k]))
                .sum()
        };
        self.framed
            .filter(|framed| !framed.bounds.is_empty())
            .map_or(0.0, |framed| lowest(&framed.bounds))
    }

    /// Diagonal of the character's bounding box.
    #[must_use]
    pub fn size(&self) -> f32 {
        self.framed
            .map_or(1.0, |framed| framed.bounds.size())
            .max(1e-6)
    }

    /// Sets the camera up for a new character.
    pub fn follow_subject(&mut self, rect: Rect, subject: Option<&Arc<Subject>>) {
        self.rect = (rect.width() >= 1.0 && rect.height() >= 1.0).then_some(rect);
        let Some(subject) = subject else { return };
        if self
            .framed
            .is_some_and(|framed| std::ptr::eq(framed.bind, subject.bind_positions.as_ptr()))
        {
            return;
        }
        let bounds = subject.bounds_of_surface(&subject.bind_positions);
        self.framed = Some(FramedCharacter {
            bind: subject.bind_positions.as_ptr(),
            bounds,
        });
        (self.hovered, self.hovered_handle, self.drag, self.picked) = (None, None, None, None);
        (self.stroke, self.brush_spot) = (None, None);
        self.camera.world_from_stage = subject.world_from_stage();
        if self.camera.projection == Projection::Perspective {
            self.camera.look_from(NamedView::ThreeQuarter);
        }
        self.camera.frame(&bounds, self.aspect());
        self.camera = self.kept.take().unwrap_or(self.camera);
        self.flight = None;
    }

    /// Extends the clipping planes to the surroundings of the character.
    pub fn reach(&mut self, shown: &Bounds) {
        if !shown.is_empty() {
            self.camera.radius = self.camera.radius.max(shown.size() / 2.0);
        }
    }

    fn aspect(&self) -> f32 {
        self.rect
            .map_or(1.0, |rect| rect.width() / rect.height().max(1.0))
    }

    /// Handles the pointer: hovering, clicks, drags of joints and of the camera.
    pub fn interact(
        &mut self,
        ui: &Ui,
        response: &Response,
        view: &ViewportView<'_>,
        actions: &mut Actions,
    ) {
        if self.rect.is_none() {
            return;
        }
        self.update_camera(ui, response);
        let Some(map) = self.map() else { return };
        if !self.pose_with_pointer(ui, response, &map, view, actions) {
            self.drag_camera(ui, response);
        }
    }
}
