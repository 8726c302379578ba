//! Renders a take of a crowd into pictures that are read back.

use std::sync::Arc;

use image::RgbaImage;

use super::painter::Picture;
use super::sheet::{lowest, scale_of};
use super::{CrowdFrame, CrowdMotion, Drawing, Take};
use crate::gpu::GpuContext;
use crate::gpu::actor::{CrowdError, GpuCrowd};
use crate::math::{Affine, Point};
use crate::mesh::Bounds;
use crate::methods::{Actor, Capability, MethodId, Subject};
use crate::progress::Progress;
use crate::render::{Camera, Look, NamedView, Projection};

/// Number of frames that are sampled to frame the crowd.
const LOOKS: usize = 16;

/// How a crowd is drawn.
#[derive(Debug, Clone)]
pub struct CrowdSettings {
    /// Width and height of the pictures in pixels.
    pub size: [u32; 2],
    /// Display settings. The floor grid is not drawn.
    pub look: Look,
    /// The camera, which is moved to frame all instances.
    pub camera: Option<Camera>,
    /// View direction, without a camera.
    pub view: NamedView,
    /// Projection, without a camera.
    pub projection: Projection,
    /// Magnification about the centre of the picture: 1 for none.
    pub zoom: f32,
}

/// A crowd and its camera.
pub struct CrowdScene {
    subject: Arc<Subject>,
    method: MethodId,
    take: Take,
    motion: CrowdMotion,
    crowd: GpuCrowd,
    drawing: Drawing,
    size: [u32; 2],
    look: Look,
    camera: Camera,
    ground_height: f32,
    /// Number of pictures drawn so far.
    drawn: u64,
}

impl CrowdScene {
    /// `count` instances of an actor's character that play a take. The camera frames all instances in all frames.
    ///
    /// # Errors
    /// [`CrowdError`] if the device has no memory for them, or cannot draw pictures of this size.
    pub fn new(
        gpu: &GpuContext,
        actor: Actor,
        take: Take,
        count: usize,
        settings: &CrowdSettings,
    ) -> Result<Self, CrowdError> {
        let size = settings.size;
        gpu.check_size(size[0], size[1])?;
        let (subject, method) = (actor.subject().clone(), actor.method());
        let motion = CrowdMotion::new(&subject, take.motion.clone(), count);
        let camera = settings.camera.unwrap_or_else(|| {
            let mut camera = Camera {
                projection: settings.projection,
                ..Camera::default()
            };
            camera.look_from(settings.view);
            camera
        });
        let mut scene = Self {
            crowd: GpuCrowd::new(gpu, actor, motion.places())?,
            subject,
            method,
            take,
            motion,
            drawing: Drawing::new(gpu),
            size,
            look: Look {
                grid: false,
                ..settings.look
            },
            camera,
            ground_height: f32::INFINITY,
            drawn: 0,
        };
        scene.frame();
        scene.camera.magnify(settings.zoom);
        Ok(scene)
    }

    fn poses_at(&self, time_secs: f64) -> Vec<Vec<Affine>> {
        self.motion.poses_at(&self.subject.character, time_secs)
    }

    fn frame(&mut self) {
        self.camera.world_from_stage = self.subject.world_from_stage();
        let [first, last] = [self.take.first_frame(), self.take.last_frame()];
        let step = ((last - first) as usize).div_ceil(LOOKS).max(1);
        let boxes = (first..=last).step_by(step).flat_map(|frame| {
            self.crowd
                .boxes_of(&self.poses_at(self.take.time_of(frame)))
        });
        let corners: Vec<Point> = boxes
            .filter(|bounds| !bounds.is_empty())
            .flat_map(|bounds| corners(&bounds))
            .collect();
        let [width, height] = self.size.map(|side| side as f32);
        self.camera.frame_points(&corners, width / height);
    }

    /// Plays the take; `show` is called for every requested frame.
    ///
    /// # Errors
    /// [`CrowdError`], or the error of `show`.
    pub fn play<E: From<CrowdError>>(
        &mut self,
        progress: &Progress,
        mut show: impl FnMut(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        let steps: Vec<_> = self
            .take
            .steps(self.method.has(Capability::State))
            .collect();
        for (index, step) in steps.iter().enumerate() {
            progress.report(index as f32 / steps.len() as f32, "Playing");
            let poses = self.poses_at(step.time_secs);
            self.crowd.advance(&poses, step.dt_secs)?;
            if index == 0 {
                self.put_down()?;
            }
            if step.is_wanted {
                show(self)?;
            } else {
                self.crowd.present()?;
            }
        }
        Ok(())
    }

    /// Sets the floor to the lowest vertex.
    fn put_down(&mut self) -> Result<(), CrowdError> {
        self.crowd.present()?;
        let (positions, _) = self.crowd.fetch()?;
        self.ground_height = lowest(&positions, &self.camera.up());
        self.look.ground &= self.ground_height.is_finite();
        Ok(())
    }

    /// Orbits the camera by an angle in radians.
    pub fn orbit(&mut self, radians: f32) {
        self.camera.orbit(radians, 0.0);
    }

    /// Draws the present frame.
    ///
    /// # Errors
    /// [`CrowdError::Gpu`] if the device was lost.
    pub fn draw(&mut self) -> Result<RgbaImage, CrowdError> {
        self.crowd.present()?;
        self.drawn += 1;
        let frame = Arc::new(CrowdFrame {
            sequence: self.drawn,
            subject: self.subject.clone(),
            method: self.method,
            skin: self.crowd.skin(),
            frame_ms: None,
            frames_per_s: None,
        });
        let picture = Picture {
            canvas: 0,
            size: self.size,
            scale: scale_of(self.size),
            camera: &self.camera,
            snapshot: None,
            crowd: Some(&frame),
            compare: None,
            selected: &[],
            hovered: None,
            look: &self.look,
            marks: None,
            ghosts: None,
            fields: None,
            paint: None,
            ground_height: self.ground_height,
            character_size: self.subject.size,
        };
        let (image, _) = self.drawing.image(&picture)?;
        Ok(image)
    }
}

fn corners(bounds: &Bounds) -> [Point; 8] {
    let side = |index: usize, axis: usize| {
        if index >> axis & 1 == 0 {
            bounds.min[axis]
        } else {
            bounds.max[axis]
        }
    };
    std::array::from_fn(|index| Point::new(side(index, 0), side(index, 1), side(index, 2)))
}
