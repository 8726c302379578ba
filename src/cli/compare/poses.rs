//! The poses of a comparison: the range of motion, pose files, or the frames of a clip.

use std::path::Path;

use clap::Args;

use crate::cli::Failure;
use crate::cli::pose::{MorphSetting, PoseOptions, parse_fps, parse_frames, parse_morph};
use crate::methods::Subject;
use crate::report::{Columns, PoseColumn};
use crate::rig::{Pose, RangePose, motion_range};
use crate::session::{DEFAULT_FPS, Take, read_pose};

/// The word for the built-in set.
const RANGE_OF_MOTION: &str = "rom";
/// Longest accepted distance of a mistyped word.
const MISTYPED: usize = 2;

/// Which poses are compared.
#[derive(Debug, Args)]
#[command(next_help_heading = "Poses")]
pub(super) struct ComparePoses {
    /// The poses: rom for the range of motion of the joints that are recognised, or files in the format of `bake --pose`, as in
    /// sit.json,fist.json [default: rom].
    #[arg(long, value_name = "rom|FILE", value_delimiter = ',')]
    poses: Vec<String>,
    /// Only the poses of these movements of the range of motion: those whose id begins like one of these words, as in elbow,knee.
    #[arg(
        long,
        value_name = "WORD",
        value_delimiter = ',',
        conflicts_with = "clip"
    )]
    only: Vec<String>,
    /// Compare the frames of this clip instead, by name or by index from 0.
    #[arg(
        long,
        value_name = "NAME|INDEX",
        allow_hyphen_values = true,
        conflicts_with = "poses"
    )]
    clip: Option<String>,
    /// Set a morph target or an expression in all poses, as in happy=0.8 (repeatable).
    #[arg(long, value_name = "NAME=WEIGHT", value_parser = parse_morph, allow_hyphen_values = true, conflicts_with = "clip")]
    morph: Vec<MorphSetting>,
    /// Frames A to B of the clip; frame n is the time n / fps [default: the whole clip].
    #[arg(long, value_name = "A-B", value_parser = parse_frames, requires = "clip")]
    frames: Option<(u32, u32)>,
    /// Frames per second of the clip.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_FPS, value_parser = parse_fps)]
    fps: f64,
}

/// The poses, and how they are described.
pub(super) struct Chosen {
    pub(super) columns: Columns,
    /// For people: which set they are.
    pub(super) set: String,
}

impl ComparePoses {
    pub(super) fn columns(&self, subject: &Subject) -> Result<Chosen, Failure> {
        if self.clip.is_some() {
            return self.clip(subject);
        }
        let is_range = self.poses.iter().all(|word| word == RANGE_OF_MOTION);
        if is_range {
            return self.range(subject);
        }
        let mut poses: Vec<(PoseColumn, Pose, String)> = Vec::new();
        for word in &self.poses {
            if word == RANGE_OF_MOTION {
                return Err(Failure::Usage(
                    "--poses takes rom or pose files, not both".to_owned(),
                ));
            }
            check_word(word)?;
            let path = Path::new(word);
            let mut pose = read_pose(path, &subject.character)?;
            self.set_morphs(subject, &mut pose)?;
            let stem = path
                .file_stem()
                .map_or_else(|| word.clone(), |stem| stem.to_string_lossy().into_owned());
            let same = poses.iter().filter(|(_, _, other)| *other == stem).count();
            let id = match same {
                0 => stem.clone(),
                _ => format!("{stem}-{}", same + 1),
            };
            let column = PoseColumn {
                label: id.clone(),
                movement: id.clone(),
                id,
                at: None,
            };
            poses.push((column, pose, stem));
        }
        Ok(Chosen {
            columns: Columns::Poses(
                poses
                    .into_iter()
                    .map(|(column, pose, _)| (column, pose))
                    .collect(),
            ),
            set: "pose files".to_owned(),
        })
    }

    fn range(&self, subject: &Subject) -> Result<Chosen, Failure> {
        let name = &subject.character.name;
        let all = motion_range(&subject.character.skeleton);
        if all.is_empty() {
            return Err(Failure::Undone(format!(
                "{name}: no joint was found that bends, so there is no range of motion; give pose files, as in --poses sit.json"
            )));
        }
        let is_of = |word: &str, pose: &RangePose| pose.id.starts_with(word);
        let unknown = |word: &&String| !all.iter().any(|pose| is_of(word, pose));
        if let Some(word) = self.only.iter().find(unknown) {
            let mut known: Vec<&str> = all.iter().map(|pose| movement_id(&pose.id)).collect();
            known.dedup();
            return Err(Failure::Usage(format!(
                "--only: {name} has no movement \"{word}\"; there are {}",
                known.join(", ")
            )));
        }
        let wanted = |pose: &&RangePose| {
            self.only.is_empty() || self.only.iter().any(|word| is_of(word, pose))
        };
        let mut columns = Columns::of_range(all.iter().filter(wanted));
        if let Columns::Poses(poses) = &mut columns {
            for (_, pose) in poses {
                self.set_morphs(subject, pose)?;
            }
        }
        Ok(Chosen {
            columns,
            set: "range of motion".to_owned(),
        })
    }

    fn set_morphs(&self, subject: &Subject, pose: &mut Pose) -> Result<(), Failure> {
        let mut all = self.morph.iter();
        all.try_for_each(|morph| morph.set_in(&subject.character, pose))
    }

    fn clip(&self, subject: &Subject) -> Result<Chosen, Failure> {
        let options = PoseOptions::of_clip(self.clip.clone(), self.frames, self.fps);
        let take: Take = options.take(&subject.character)?;
        let name = self.clip.clone().unwrap_or_default();
        Ok(Chosen {
            set: format!("clip {name} at {} frames per second", self.fps),
            columns: Columns::of_take(take, &format!("Clip {name}")),
        })
    }
}

/// The part of a pose's id that names its movement.
fn movement_id(id: &str) -> &str {
    id.trim_end_matches(|c: char| c.is_ascii_digit())
        .trim_end_matches('-')
}

/// Suggests the built-in set for a word that is not a file.
fn check_word(word: &str) -> Result<(), Failure> {
    let path = Path::new(word);
    if path.extension().is_none()
        && !path.exists()
        && strsim::damerau_levenshtein(word, RANGE_OF_MOTION) <= MISTYPED
    {
        return Err(Failure::Usage(format!(
            "--poses: there is no file \"{word}\"; did you mean {RANGE_OF_MOTION}?"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn movements_are_named_by_ids_without_angles() {
        assert_eq!(movement_id("elbow-bend.L-120"), "elbow-bend.L");
        assert_eq!(movement_id("spine-twist--60"), "spine-twist");
    }
}
