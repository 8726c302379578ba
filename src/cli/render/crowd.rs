//! Pictures and films of a crowd.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Render, RenderLook, still};
use crate::cli::options::Options;
use crate::cli::pose::PoseOptions;
use crate::cli::{Failure, character, crowd, stderr};
use crate::io::{AnimationFormat, AnimationWriter, write_atomically};
use crate::methods::Subject;
use crate::studio::{CrowdScene, CrowdSettings, Motion, Take};

impl Render {
    /// A picture or film of `count` copies of the character, by one method.
    pub(super) fn crowd(
        &self,
        subject: &Arc<Subject>,
        shown: &RenderLook,
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
        crowd::note_collisions(subject, method, options);
        let actor = character::bind(
            subject,
            method,
            &Options {
                device: None,
                ..options.clone()
            },
        )?;
        let settings = CrowdSettings {
            size: self.size.unwrap_or([1280, 720]),
            look: shown.look,
            camera: shown.camera,
            view: self.camera.view(),
            projection: self.camera.projection(),
            zoom: self.camera.zoom(),
        };
        let frames = take.frame_count();
        let mut scene = CrowdScene::new(&gpu, actor, take, count, &settings)
            .map_err(|error| Failure::Undone(format!("--crowd {count}: {error}")))?;
        if format == AnimationFormat::Png && self.camera.turntable.is_none() {
            let image = stderr::with_progress(options, "Moving the crowd", |progress| {
                let mut last = None;
                scene.play(progress, |scene| {
                    last = Some(scene.draw()?);
                    Ok::<_, Failure>(())
                })?;
                last.ok_or_else(|| Failure::Undone("there is no frame to draw".to_owned()))
            })?;
            write_atomically(&self.output, |out| {
                image
                    .write_to(out, image::ImageFormat::Png)
                    .map_err(std::io::Error::other)
            })?;
            return Ok(vec![self.output.clone()]);
        }
        let pictures = self
            .camera
            .turntable
            .map_or(frames, |pictures| pictures as usize);
        let mut writer =
            AnimationWriter::create(&self.output, format, settings.size, pose.fps, pictures)?;
        stderr::with_progress(options, "Drawing the crowd", |progress| {
            scene.play(progress, |scene| {
                for _ in 0..self.camera.turntable.unwrap_or(1) {
                    writer.push(&scene.draw()?)?;
                    if let Some(turns) = self.camera.turntable {
                        scene.orbit(std::f32::consts::TAU / turns as f32);
                    }
                }
                Ok::<_, Failure>(())
            })
        })?;
        Ok(writer.finish()?)
    }

    /// The times to draw. By default a crowd plays the first clip.
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
        if format == AnimationFormat::Png || self.camera.turntable.is_some() {
            still(subject, &pose)
        } else {
            pose.take(&subject.character)
        }
    }
}
