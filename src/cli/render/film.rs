//! Moving pictures from the command line: a clip, or the camera going round.

use std::path::PathBuf;
use std::sync::Arc;

use super::stage::Stage;
use super::{Posed, Render};
use crate::cli::options::Options;
use crate::cli::{Failure, character, stderr};
use crate::io::{AnimationFormat, AnimationWriter};
use crate::progress::Progress;
use crate::session::Take;
use crate::skin::{Method, Subject};

/// All frames of all methods are held in memory, to frame them with one camera.
const MOST_BYTES: usize = 800 << 20;

impl Render {
    /// Every frame of the take, or every direction of the camera.
    pub(super) fn film(&self, subject: &Arc<Subject>, format: AnimationFormat, options: &Options) -> Result<Vec<PathBuf>, Failure> {
        let take = if self.turntable.is_some() { self.still(subject)? } else { self.pose.take(&subject.character)? };
        let frames = take.frame_count();
        let bytes = frames * self.method.len() * subject.bind_positions.len() * 24;
        if bytes > MOST_BYTES {
            return Err(Failure::Undone(format!(
                "{frames} frames of this character take {:.1} GB; give a shorter --range, fewer --frames or a lower --fps",
                bytes as f64 / 1e9
            )));
        }
        let played: Vec<Vec<Posed>> = self.method.iter().map(|&method| play(subject, method, &take, options)).collect::<Result<_, _>>()?;
        let mut stage = Stage::new(self, subject, played.iter().flatten())?;
        let pictures = self.turntable.map_or(frames, |count| count as usize);
        let mut writer = AnimationWriter::create(&self.output, format, stage.size(), self.pose.fps, pictures)?;
        let first = take.last_frame() + 1 - frames as u32;
        stderr::with_progress(options, "Drawing", |progress| {
            for picture in 0..pictures {
                progress.report(picture as f32 / pictures as f32, &format!("{} of {pictures}", picture + 1));
                let (frame, turn) = match self.turntable {
                    Some(_) => (0, std::f32::consts::TAU * picture as f32 / pictures as f32),
                    None => (picture, 0.0),
                };
                let overlays = self.overlays(subject, &take, first + frame as u32)?;
                let posed = played.iter().filter_map(|frames| frames.get(frame));
                writer.push(&stage.sheet(posed, &overlays, turn)?)?;
            }
            Ok::<_, Failure>(())
        })?;
        Ok(writer.finish()?)
    }
}

/// Every frame of a take by one method.
fn play(subject: &Arc<Subject>, method: Method, take: &Take, options: &Options) -> Result<Vec<Posed>, Failure> {
    let mut actor = character::bind(subject, method, options)?;
    let mut frames = Vec::with_capacity(take.frame_count());
    let work = |progress: &Progress| {
        take.play(&mut actor, progress, |_, actor| {
            frames.push(Posed { positions: actor.positions().to_vec(), normals: actor.normals().to_vec() });
            Ok::<_, std::convert::Infallible>(())
        })
    };
    stderr::with_progress(options, method.label(), work)?;
    Ok(frames)
}
