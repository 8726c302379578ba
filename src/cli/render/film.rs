//! Films: a clip, or a turntable.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Render, RenderLook, RenderScores, play, points_of, still};
use crate::cli::options::Options;
use crate::cli::pose::PoseOptions;
use crate::cli::{Failure, stderr};
use crate::io::{AnimationFormat, AnimationWriter};
use crate::methods::Subject;
use crate::studio::SheetState;

/// All frames of all methods are kept in memory, because one camera must frame them all.
const MOST_BYTES: usize = 800 << 20;

impl Render {
    /// A film of all frames of the take, or of a turntable.
    pub(super) fn film(
        &self,
        subject: &Arc<Subject>,
        shown: &RenderLook,
        format: AnimationFormat,
        pose: &PoseOptions,
        scores: &mut RenderScores,
        options: &Options,
    ) -> Result<Vec<PathBuf>, Failure> {
        let take = if self.camera.turntable.is_some() {
            still(subject, pose)?
        } else {
            pose.take(&subject.character)?
        };
        let count = take.frame_count();
        let skins = shown.methods.len() * (1 + shown.look.ghosts.offsets_secs().count());
        let bytes = count.saturating_mul(skins * subject.bind_positions.len() * 24);
        if bytes > MOST_BYTES {
            return Err(Failure::Undone(format!(
                "{count} frames of this character take {:.1} GB; give a shorter --range, fewer --frames or a lower --fps",
                bytes as f64 / 1e9
            )));
        }
        let mut frames: Vec<Vec<SheetState>> =
            std::iter::repeat_with(Vec::new).take(count).collect();
        for &method in &shown.methods {
            let played = play(subject, method, &take, &shown.look, scores, options)?;
            frames
                .iter_mut()
                .zip(played)
                .for_each(|(frame, state)| frame.push(state));
        }
        let mut drawing = self.drawing(subject, shown)?;
        drawing.frame(&points_of(frames.iter().flatten()));
        let pictures = self
            .camera
            .turntable
            .map_or(count, |pictures| pictures as usize);
        let mut writer =
            AnimationWriter::create(&self.output, format, drawing.size(), pose.fps, pictures)?;
        if self.camera.turntable.is_none() {
            // Frames have their own numbers, as those of a bake.
            writer = writer.numbered(take.first_frame()..=take.last_frame());
        }
        stderr::with_progress(options, "Drawing", |progress| {
            // A turntable repeats its single frame.
            for (picture, frame) in frames.iter().cycle().take(pictures).enumerate() {
                progress.report(
                    picture as f32 / pictures as f32,
                    &format!("{} of {pictures}", picture + 1),
                );
                writer.push(&drawing.draw(frame)?)?;
                if self.camera.turntable.is_some() {
                    drawing.orbit(std::f32::consts::TAU / pictures as f32);
                }
            }
            Ok::<_, Failure>(())
        })?;
        Ok(writer.finish()?)
    }
}
