//! A crowd in one picture, or in a moving one.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Render, Shown, still};
use crate::cli::options::Options;
use crate::cli::pose::PoseOptions;
use crate::cli::{Failure, character, crowd, stderr};
use crate::gpu::GpuContext;
use crate::gpu::actor::GpuCrowd;
use crate::io::{AnimationFormat, AnimationWriter, write_atomically};
use crate::math::{Affine, Point};
use crate::mesh::Bounds;
use crate::methods::{Capability, MethodId, Subject};
use crate::render::{
    Camera, Ground, MeshDraw, MeshFrame, MeshModel, NamedView, Renderer, Scene, Target,
    straighten_alpha,
};
use crate::session::CrowdMotion;
use crate::studio::{LINE_HEIGHT, Moments, Motion, Take};

/// Moments of a moving picture at which it is looked where everybody is.
const LOOKS: usize = 16;

impl Render {
    /// So many of a character, in one view.
    pub(super) fn crowd(
        &self,
        subject: &Arc<Subject>,
        shown: &Shown,
        format: AnimationFormat,
        (pose, count): (&PoseOptions, usize),
        options: &Options,
    ) -> Result<Vec<PathBuf>, Failure> {
        let &[method] = &shown.methods[..] else {
            return Err(Failure::Usage(
                "a crowd moves by one method: give --method one, as in pd".to_owned(),
            ));
        };
        let take = self.take_of_crowd(subject, format, pose)?;
        let gpu = crowd::device(options)?;
        let motion = CrowdMotion::new(subject, take.motion.clone(), count);
        crowd::note_collisions(subject, method, options);
        let actor = character::bind(
            subject,
            method,
            &Options {
                device: None,
                ..options.clone()
            },
        )?;
        let crowd = GpuCrowd::new(&gpu, actor, motion.places())
            .map_err(|error| Failure::Undone(format!("--crowd {count}: {error}")))?;
        let size = self.size.unwrap_or([1280, 720]);
        gpu.check_size(size[0], size[1])?;
        let mut picture = Picture::new(self, &gpu, (subject, shown), crowd, size);
        let moments = Play::new(&take, &motion, subject, method);
        picture.see(&moments);
        let pictures = self
            .turntable
            .map_or(take.frame_count(), |pictures| pictures as usize);
        if format == AnimationFormat::Png && self.turntable.is_none() {
            let image = stderr::with_progress(options, "Moving the crowd", |progress| {
                let mut last = None;
                moments.play(
                    &mut picture,
                    |picture, _| last = Some(picture.draw()),
                    |part| progress.report(part, "Playing"),
                )?;
                last.unwrap_or_else(|| Err(Failure::Undone("there is no frame to draw".to_owned())))
            })?;
            write_atomically(&self.output, |out| {
                image
                    .write_to(out, image::ImageFormat::Png)
                    .map_err(std::io::Error::other)
            })?;
            return Ok(vec![self.output.clone()]);
        }
        let mut writer = AnimationWriter::create(&self.output, format, size, pose.fps, pictures)?;
        stderr::with_progress(options, "Drawing the crowd", |progress| {
            let mut written = Ok(());
            let mut push = |image: Result<image::RgbaImage, Failure>| {
                if written.is_ok() {
                    written = image.and_then(|image| Ok(writer.push(&image)?));
                }
            };
            let turns = self.turntable;
            moments.play(
                &mut picture,
                |picture, _| {
                    for _ in 0..turns.unwrap_or(1) {
                        push(picture.draw());
                        if let Some(turns) = turns {
                            picture
                                .camera
                                .orbit(std::f32::consts::TAU / turns as f32, 0.0);
                        }
                    }
                },
                |part| progress.report(part, "Playing"),
            )?;
            written
        })?;
        Ok(writer.finish()?)
    }

    /// The moments to draw. Without a word about it, a crowd plays the first clip.
    fn take_of_crowd(
        &self,
        subject: &Subject,
        format: AnimationFormat,
        pose: &PoseOptions,
    ) -> Result<Take, Failure> {
        let mut pose = pose.clone();
        let clips = &subject.character.clips;
        if pose.motion(&subject.character)? == Motion::Rest {
            pose.clip = clips
                .iter()
                .position(|clip| clip.duration_secs > 0.0)
                .map(|clip| clips[clip].name.clone());
        }
        if format == AnimationFormat::Png || self.turntable.is_some() {
            still(subject, &pose)
        } else {
            pose.take(&subject.character)
        }
    }
}

/// A crowd's moments, from its start on.
struct Play<'a> {
    take: &'a Take,
    motion: &'a CrowdMotion,
    subject: &'a Subject,
    /// The first frame that has to be made, and the first one wanted.
    frames: [u32; 2],
}

impl<'a> Play<'a> {
    fn new(
        take: &'a Take,
        motion: &'a CrowdMotion,
        subject: &'a Subject,
        method: MethodId,
    ) -> Self {
        let first = take.last_frame() + 1 - take.frame_count() as u32;
        // What depends on the pose alone needs no run-up.
        let start = if method.has(Capability::State) {
            0
        } else {
            first
        };
        let start = if matches!(take.moments, Moments::Settled { .. }) {
            first
        } else {
            start
        };
        Self {
            take,
            motion,
            subject,
            frames: [start, first],
        }
    }

    fn poses(&self, frame: u32) -> Vec<Vec<Affine>> {
        self.motion
            .poses_at(&self.subject.character, self.take.time_of(frame))
    }

    /// Goes through all frames; `show` gets those wanted.
    fn play<'p>(
        &self,
        picture: &mut Picture<'p>,
        mut show: impl FnMut(&mut Picture<'p>, u32),
        mut report: impl FnMut(f32),
    ) -> Result<(), Failure> {
        let ([start, first], last) = (self.frames, self.take.last_frame());
        for frame in start..=last {
            report((frame - start) as f32 / (last - start + 1) as f32);
            let dt_secs = if frame == start {
                0.0
            } else {
                self.take.time_of(frame) - self.take.time_of(frame - 1)
            };
            picture.crowd.advance(&self.poses(frame), dt_secs)?;
            if frame == start {
                picture.put_down()?;
            }
            if frame >= first {
                show(picture, frame);
            } else {
                picture.crowd.present()?;
            }
        }
        Ok(())
    }
}

/// The crowd before a camera.
struct Picture<'a> {
    shown: &'a Shown,
    crowd: GpuCrowd,
    renderer: Renderer,
    model: Arc<MeshModel>,
    target: Target,
    camera: Camera,
    ground_height: f32,
}

impl<'a> Picture<'a> {
    fn new(
        render: &Render,
        gpu: &GpuContext,
        (subject, shown): (&Subject, &'a Shown),
        crowd: GpuCrowd,
        size: [u32; 2],
    ) -> Self {
        let renderer = Renderer::new(gpu);
        let model = MeshModel::of_character(&renderer, &subject.character);
        let target = Target::new(&renderer, size[0], size[1]);
        let mut camera = shown.camera.unwrap_or(Camera {
            projection: render.projection(),
            ..Camera::default()
        });
        if shown.camera.is_none() {
            camera.look_from(render.view.unwrap_or(NamedView::ThreeQuarter));
        }
        Self {
            shown,
            crowd,
            renderer,
            model,
            target,
            camera,
            ground_height: 0.0,
        }
    }

    /// Sees everybody at all moments.
    fn see(&mut self, moments: &Play<'_>) {
        self.camera.set_up(&moments.motion.up());
        let [first, last] = [moments.frames[1], moments.take.last_frame()];
        let step = ((last - first) as usize).div_ceil(LOOKS).max(1);
        let boxes = (first..=last)
            .step_by(step)
            .flat_map(|frame| self.crowd.boxes_of(&moments.poses(frame)));
        let corners: Vec<Point> = boxes
            .filter(|bounds| !bounds.is_empty())
            .flat_map(|bounds| corners(&bounds))
            .collect();
        let [width, height] = self.target.size().map(|side| side as f32);
        self.camera.frame_points(&corners, width / height);
    }

    /// The floor is where the lowest foot is.
    fn put_down(&mut self) -> Result<(), Failure> {
        let up = self.camera.up();
        self.crowd.present()?;
        let (positions, _) = self.crowd.fetch()?;
        self.ground_height = positions
            .iter()
            .map(|p| p.coords.dot(&up))
            .fold(f32::INFINITY, f32::min);
        Ok(())
    }

    fn draw(&mut self) -> Result<image::RgbaImage, Failure> {
        let Self {
            shown,
            crowd,
            renderer,
            model,
            target,
            camera,
            ground_height,
        } = self;
        let surface = crowd.surface();
        let mut mesh = MeshFrame::on_device(
            renderer,
            model,
            surface.positions(),
            surface.normals(),
            0..surface.instances() as u32,
        );
        mesh.set_bounds(crowd.bounds());
        let look = &shown.look;
        let size = target.size();
        let scene = Scene {
            meshes: vec![MeshDraw {
                mesh: &mesh,
                colors: None,
                style: look.mesh_style(),
            }],
            ground: (look.ground && ground_height.is_finite()).then_some(Ground {
                height: *ground_height,
                grid: None,
            }),
            background: look.backdrop.background(),
            scale: (size[1] as f32 / LINE_HEIGHT).max(1.0),
            ..Scene::default()
        };
        renderer.render_crowd(crowd, target, camera, &scene)?;
        let mut image = target.read(renderer.gpu())?;
        if !scene.background.visible {
            straighten_alpha(&mut image);
        }
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
