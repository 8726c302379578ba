//! Camera control: named views, framing, transitions between views, and the turntable.

use crate::app::actions::CameraAction;
use egui::{Response, Ui};

use super::{Viewport, ViewportView};
use crate::app::navigation;
use crate::app::navigation::CameraMotion;
use crate::math::{Affine, origin_of};
use crate::mesh::Bounds;
use crate::render::{Camera, NamedView};
use crate::rig::Skeleton;
use crate::session::FindingPlace;

/// Duration of a transition.
const FLIGHT_SECS: f32 = 0.18;
/// Duration of one turn of the turntable.
pub const TURN_SECS: f32 = 12.0;
/// Maximum time step of a frame, so that a slow frame does not cause a jump.
const MAX_STEP_SECS: f32 = 0.1;
/// Rotation per key press.
const KEY_TURN: f32 = std::f32::consts::PI / 12.0;

/// A transition to another view.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flight {
    from: Camera,
    to: Camera,
    age_secs: f32,
}

impl Viewport {
    /// Frames the whole posed character without a transition, from the current or target direction.
    /// Several boxes belong to views that share the camera.
    pub(in crate::app) fn frame_whole(&mut self, shown: &[Bounds]) {
        if let Some(whole) = self.whole(shown) {
            self.camera = self.wanted_camera();
            self.flight = None;
            let aspect = self.aspect();
            self.camera.frame(&whole, aspect);
        }
    }

    /// Bounding box of the visible content, otherwise of the character in its bind pose.
    fn whole(&self, shown: &[Bounds]) -> Option<Bounds> {
        let bind = self.framed?.bounds;
        let shown = shown.iter().filter(|bounds| !bounds.is_empty());
        let whole = Bounds::of(shown.flat_map(|bounds| [&bounds.min, &bounds.max]));
        Some(if whole.is_empty() { bind } else { whole })
    }

    /// A viewport with the same state as this one.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self {
            camera: self.camera,
            navigation: self.navigation,
            framed: self.framed,
            ..Self::default()
        }
    }

    /// Restores a saved camera, also for the next character.
    pub fn keep_camera(&mut self, camera: Camera) {
        (self.camera, self.flight, self.kept) = (camera, None, Some(camera));
    }

    /// Applies a camera action.
    pub fn move_camera(&mut self, action: CameraAction, view: &ViewportView<'_>) {
        match action {
            CameraAction::FrameSelected => self.frame(view),
            CameraAction::FrameAll => self.frame(&ViewportView {
                selected: None,
                ..*view
            }),
            CameraAction::LookFrom(from) => self.look_from(from, view.bounds().as_slice()),
            CameraAction::TurnTo(from) => self.fly(|camera| camera.look_from(from)),
            CameraAction::Opposite => self.fly(|camera| {
                let up = camera.pitch.abs() > 1.5;
                (camera.yaw, camera.pitch) = if up {
                    (camera.yaw, -camera.pitch)
                } else {
                    (camera.yaw + std::f32::consts::PI, camera.pitch)
                };
            }),
            CameraAction::Turn([right, upwards]) => {
                self.fly(|camera| {
                    camera.orbit(f32::from(right) * KEY_TURN, f32::from(upwards) * KEY_TURN);
                });
            }
            CameraAction::ToggleProjection => self.fly(Camera::toggle_projection),
            CameraAction::ToggleTurntable => self.turntable = !self.turntable,
        }
    }

    /// The target of the transition, otherwise the current camera.
    #[must_use]
    pub fn wanted_camera(&self) -> Camera {
        self.flight.map_or(self.camera, |flight| flight.to)
    }

    /// Starts a transition to the camera that `change` returns.
    fn fly(&mut self, change: impl FnOnce(&mut Camera)) {
        let mut to = self.wanted_camera();
        change(&mut to);
        if to != self.camera {
            self.flight = Some(Flight {
                from: self.camera,
                to,
                age_secs: 0.0,
            });
        }
    }

    /// Sets the camera without a transition.
    pub fn set_camera(&mut self, camera: Camera) {
        (self.camera, self.flight) = (camera, None);
    }

    /// Views the whole content from a side.
    pub fn look_from(&mut self, view: NamedView, shown: &[Bounds]) {
        if let Some(whole) = self.whole(shown) {
            let aspect = self.aspect();
            self.fly(|camera| {
                camera.look_from(view);
                camera.frame(&whole, aspect);
            });
        }
    }

    /// Frames the selected joint with its neighbours, or the whole character or crowd in its
    /// present state.
    pub fn frame(&mut self, view: &ViewportView<'_>) {
        let Some(whole) = self.whole(view.bounds().as_slice()) else {
            return;
        };
        let around = view
            .selected
            .zip(view.skeleton)
            .and_then(|(joint, skeleton)| around_joint(skeleton, view.world_from_joint, joint));
        let aspect = self.aspect();
        self.fly(|camera| {
            camera.frame(
                &around.map_or(whole, |bounds| padded(bounds, whole.size() * 0.06)),
                aspect,
            );
            // The clipping planes still include everything.
            camera.radius = (whole.size() / 2.0).max(1e-6);
        });
    }

    /// Requests framing of this many instances when they are available.
    pub fn expect(&mut self, count: u32) {
        self.expected = Some(count);
    }

    /// Frames this many instances in that box.
    pub fn frame_expected(&mut self, count: u32, shown: impl FnOnce() -> Option<Bounds>) {
        if self.expected == Some(count) {
            self.expected = None;
            let Some(whole) = self.whole(shown().as_slice()) else {
                return;
            };
            let aspect = self.aspect();
            self.fly(|camera| camera.frame(&whole, aspect));
        }
    }

    /// Frames a position, from the side of its surface normal if it faces away.
    pub fn show(&mut self, place: &FindingPlace, view: &ViewportView<'_>) {
        let vertex = place.vertex.map(|vertex| vertex as usize);
        let surface = vertex.zip(view.snapshot).and_then(|(v, snapshot)| {
            Some((snapshot.positions().get(v)?, snapshot.normals().get(v)?))
        });
        let joint = place
            .joint
            .and_then(|joint| view.world_from_joint.get(joint))
            .map(|world| origin_of(world).cast::<f32>());
        let rest = crate::math::Point64::from(place.position).cast::<f32>();
        let center = surface
            .map(|(position, _)| *position)
            .or(joint)
            .unwrap_or(rest);
        let aspect = self.aspect();
        self.fly(|camera| {
            if let Some((_, normal)) = surface
                && normal.dot(&camera.axes().2) < 0.3
            {
                let facing = camera.world_from_stage.inverse() * normal;
                camera.yaw = facing.x.atan2(facing.z);
                camera.pitch = facing.y.clamp(-0.9, 0.9).asin();
            }
            let radius = camera.radius;
            camera.frame(
                &padded(
                    Bounds {
                        min: center,
                        max: center,
                    },
                    place.radius as f32,
                ),
                aspect,
            );
            // The clipping planes still include everything.
            camera.radius = radius;
        });
    }

    /// Advances transition and turntable, and applies wheel, trackpad and touch input.
    pub(super) fn update_camera(&mut self, ui: &Ui, response: &Response) {
        let dt_secs = ui.input(|input| input.stable_dt).clamp(0.0, MAX_STEP_SECS);
        if let Some(flight) = &mut self.flight {
            flight.age_secs += dt_secs;
            let still = ui.style().animation_time <= 0.0;
            let t = if still {
                1.0
            } else {
                flight.age_secs / FLIGHT_SECS
            };
            self.camera = flight.from.between(&flight.to, t);
            if t >= 1.0 {
                self.flight = None;
            }
            ui.ctx().request_repaint();
        }
        if self.turntable && self.framed.is_some() {
            if self.flight.is_none() && !response.dragged() {
                self.camera
                    .orbit(std::f32::consts::TAU * dt_secs / TURN_SECS, 0.0);
            }
            ui.ctx().request_repaint();
        }
        if response.contains_pointer()
            && let Some(motions) = ui.input(navigation::touch_motions)
        {
            // The point between the fingers stays under them.
            for motion in motions {
                self.go(motion);
            }
        } else if let Some(at) = response.hover_pos() {
            let invert = self.navigation.invert_zoom;
            for motion in ui.input(|input| navigation::scroll_motions(input, at, invert)) {
                self.apply_camera_motion(motion);
            }
        }
    }

    /// Applies the current drag, unless it is a two-finger gesture.
    pub(super) fn drag_camera(&mut self, ui: &Ui, response: &Response) {
        let (modifiers, press, fingers) = ui.input(|input| {
            (
                input.modifiers,
                input.pointer.press_origin(),
                input.multi_touch(),
            )
        });
        if fingers.is_none()
            && let Some(motion) =
                navigation::drag_motion(response, modifiers, press, self.navigation.preset)
        {
            self.apply_camera_motion(motion);
        }
    }

    /// Moves the camera manually, scaled by the speed settings.
    pub(super) fn apply_camera_motion(&mut self, motion: CameraMotion) {
        self.go(self.navigation.paced(motion));
    }

    /// Moves the camera relative to the target of its transition.
    fn go(&mut self, motion: CameraMotion) {
        if let Some(rect) = self.rect {
            if let Some(flight) = self.flight.take() {
                self.camera = flight.to;
            }
            navigation::apply(&mut self.camera, motion, rect);
        }
    }
}

/// Bounding box of a joint, its parent and its children.
fn around_joint(skeleton: &Skeleton, world_from_joint: &[Affine], joint: usize) -> Option<Bounds> {
    let parent = skeleton.joints().get(joint)?.parent;
    let members = parent
        .into_iter()
        .chain([joint])
        .chain(skeleton.children(joint).iter().copied());
    let points: Vec<_> = members
        .filter_map(|member| world_from_joint.get(member))
        .map(|world| origin_of(world).cast::<f32>())
        .collect();
    (!points.is_empty()).then(|| Bounds::of(&points))
}

fn padded(bounds: Bounds, by: f32) -> Bounds {
    let pad = crate::math::Vec3::repeat(by);
    Bounds {
        min: bounds.min - pad,
        max: bounds.max + pad,
    }
}

#[cfg(test)]
mod tests;
