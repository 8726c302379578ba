//! Parts of clips, which are tasks of their own.

use std::path::PathBuf;

use clap::FromArgMatches;

use super::JobVerb;
use crate::character::Character;
use crate::cli::bake::Bake;
use crate::cli::{Arguments, Failure, Verb, command};

/// Most values of a task's parameter, by the specification of Open Job Description.
const MOST_VALUES: usize = 1024;

/// The option of `bake` that says the frames of a task.
const FRAMES: &str = "--frames";

/// A part of a clip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// Index of the clip.
    pub clip: usize,
    first: u32,
    last: u32,
}

impl Part {
    /// As `bake --frames` takes them.
    pub(super) fn frames(&self) -> String {
        format!("{}-{}", self.first, self.last)
    }
}

impl JobVerb {
    /// The parts of the clips, none without `--chunk`; checks the options that are passed on.
    pub(super) fn parts(
        &self,
        files: &[PathBuf],
        character: &Character,
        clips: &[usize],
    ) -> Result<Vec<Part>, Failure> {
        let bake = self.bake(files, clips)?;
        let Some(frames) = self.chunk else {
            return Ok(Vec::new());
        };
        if !frames.is_multiple_of(bake.every()) {
            return Err(Failure::Usage(format!(
                "--chunk {frames} is not a multiple of --every {}, so parts would not go on from each other",
                bake.every()
            )));
        }
        let mut parts = Vec::new();
        for &clip in clips {
            let Some(range) = bake.frames_of(clip, character)? else {
                return Err(Failure::Usage(
                    "--settle writes one frame, which --chunk can't split; leave one out"
                        .to_owned(),
                ));
            };
            parts.extend(split(clip, range, frames));
        }
        if parts.len() > MOST_VALUES {
            return Err(Failure::Undone(format!(
                "{}: --chunk {frames} makes {} parts, and a job can have at most {MOST_VALUES} of a character; give a larger number",
                character.name,
                parts.len()
            )));
        }
        Ok(parts)
    }

    /// What a task runs, as the command line understands it.
    fn bake(&self, files: &[PathBuf], clips: &[usize]) -> Result<Bake, Failure> {
        let mut words: Vec<String> = vec!["sinew".to_owned(), "bake".to_owned()];
        words.extend(files.iter().map(|file| file.to_string_lossy().into_owned()));
        let methods = self.methods.iter().map(ToString::to_string);
        let methods: Vec<String> = methods.collect();
        let output = format!("{{method}}.{}", self.format);
        words.extend(["--methods", &methods.join(","), "-o", &output].map(str::to_owned));
        let (option, value) = match clips.first() {
            Some(clip) => ("--clips", Some(clip.to_string())),
            None => ("--settle", None),
        };
        words.extend(std::iter::once(option.to_owned()).chain(value));
        words.extend_from_slice(&self.more);
        let wrong = |error: clap::Error| {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            let why = line.strip_prefix("error: ").unwrap_or(line);
            Failure::Usage(format!("after --: {why}"))
        };
        let matches = command().try_get_matches_from(words).map_err(wrong)?;
        match Arguments::from_arg_matches(&matches).map_err(wrong)?.verb {
            Some(Verb::Bake(bake)) => Ok(bake),
            _ => Err(Failure::Usage(
                "after --: there may only be options of `sinew bake`".to_owned(),
            )),
        }
    }
}

/// Splits a range of frames into parts of so many frames; the last may have fewer.
fn split(clip: usize, (first, last): (u32, u32), frames: u32) -> impl Iterator<Item = Part> {
    let starts = (first..=last).step_by(frames as usize);
    starts.map(move |start| Part {
        clip,
        first: start,
        last: start.saturating_add(frames - 1).min(last),
    })
}

/// Options without the frames, which every task has of its own.
pub(super) fn without_frames(words: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == FRAMES {
            words.next();
        } else if !word.starts_with(&format!("{FRAMES}=")) {
            kept.push(word.clone());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_every_frame_once() {
        for (range, frames) in [((0, 9), 4), ((3, 3), 1), ((0, 7), 4), ((5, 100), 1000)] {
            let parts: Vec<Part> = split(2, range, frames).collect();
            let all = parts.iter().flat_map(|part| part.first..=part.last);
            assert!(all.eq(range.0..=range.1), "{parts:?}");
            assert!((parts.iter()).all(|part| part.last - part.first < frames && part.clip == 2));
        }
        let parts: Vec<String> = split(0, (0, 9), 4).map(|part| part.frames()).collect();
        assert_eq!(parts, ["0-3", "4-7", "8-9"]);
    }

    #[test]
    fn frames_are_taken_out_of_the_options() {
        let words = ["--fps", "60", "--frames", "0-3", "--frames=1-2", "--settle"];
        let kept = without_frames(&words.map(str::to_owned));
        assert_eq!(kept, ["--fps", "60", "--settle"]);
    }
}
