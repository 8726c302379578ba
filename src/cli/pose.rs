//! Pose and motion options of `bake` and `render`.

use std::path::PathBuf;

use clap::Args;

use super::Failure;
use crate::character::Character;
use crate::rig::{MOST_MORPH_WEIGHT, Pose};
use crate::session::{
    ClipPlay, DEFAULT_FPS, Moments, Motion, ProjectState, Take, read_pose, rotation_from_rest,
    rotation_of_angles_deg, set_rotation_from_rest,
};

/// Motion of the joints, and the times to evaluate.
///
/// Without a clip, a pose or a rotation, the pose of the project is used, or else the rest pose. A pose without a clip is a motion: one second from rest into the
/// pose, and one second in it.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Pose")]
pub(super) struct PoseOptions {
    /// Play this clip, by name or by index from 0.
    #[arg(long, value_name = "NAME|INDEX", allow_hyphen_values = true, conflicts_with_all = ["pose", "rotate", "morph"])]
    pub(super) clip: Option<String>,
    /// Range of the clip, in seconds of the clip, as in 0.5-2 [default: the whole clip].
    #[arg(long, value_name = "A-B", value_parser = parse_range, requires = "clip")]
    pub(super) range: Option<[f64; 2]>,
    /// Playback speed; below 0 plays backwards [default: 1].
    #[arg(long, value_name = "X", value_parser = parse_speed, requires = "clip", allow_hyphen_values = true)]
    pub(super) speed: Option<f64>,
    /// Number of repetitions of the clip or the range [default: 1].
    #[arg(long = "loop", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000), requires = "clip")]
    pub(super) loops: Option<u32>,
    /// Blend duration in seconds, from the rest pose into the clip and between repetitions [default: 0.25 between repetitions
    /// only].
    #[arg(long, value_name = "SECONDS", value_parser = parse_blend, requires = "clip")]
    pub(super) blend: Option<f64>,
    /// Use this pose: {"joints": {"NAME": {"rotation": [x,y,z,w], "translation": [x,y,z]}}}, local to the parent, relative to rest.
    #[arg(long, value_name = "POSE.json")]
    pub(super) pose: Option<PathBuf>,
    /// Rotate a joint by degrees about X, then Y, then Z: the world's axes through the joint in the rest pose (repeatable).
    #[arg(long, value_name = "JOINT=X,Y,Z", value_parser = parse_rotation, allow_hyphen_values = true)]
    pub(super) rotate: Vec<Rotation>,
    /// Set a morph target or an expression, as in happy=0.8; MESH/NAME for one of several meshes (repeatable). `info` lists them.
    #[arg(long, value_name = "NAME=WEIGHT", value_parser = parse_morph, allow_hyphen_values = true)]
    pub(super) morph: Vec<MorphSetting>,
    /// Frames A to B (or one frame A); frame n is the time n / fps [default: the whole motion].
    #[arg(long, value_name = "A-B", value_parser = parse_frames, conflicts_with = "settle")]
    pub(super) frames: Option<(u32, u32)>,
    /// With --frames: simulate only N frames before the first one, beginning at rest [default: all frames from the motion's start].
    #[arg(long, value_name = "N", requires = "frames")]
    pub(super) pre_roll: Option<u32>,
    /// Frames per second.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_FPS, value_parser = parse_fps)]
    pub(super) fps: f64,
    /// One frame only: the pose, held until the flesh is at rest.
    #[arg(long)]
    pub(super) settle: bool,
    /// Time of the clip to settle at: seconds, or `end` [default: its start].
    #[arg(long, value_name = "SECONDS|end", value_parser = parse_moment, allow_hyphen_values = true)]
    pub(super) at: Option<BakeMoment>,
    /// The pose of the project, used if no other is given.
    #[arg(skip)]
    pub(super) saved: Option<Pose>,
}

/// One `--rotate`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rotation {
    joint: String,
    degrees: [f64; 3],
}

/// One `--morph`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MorphSetting {
    name: String,
    weight: f64,
}

impl MorphSetting {
    /// Sets it in a pose of the character.
    pub(super) fn set_in(&self, character: &Character, pose: &mut Pose) -> Result<(), Failure> {
        character
            .set_morph(pose, &self.name, self.weight)
            .map_err(|error| Failure::Undone(format!("{}: {error}", character.name)))
    }
}

pub(super) fn parse_morph(text: &str) -> Result<MorphSetting, String> {
    let parsed = text.rsplit_once('=').and_then(|(name, weight)| {
        let weight = weight.trim().parse::<f64>().ok()?;
        let sound = !name.is_empty() && weight.abs() <= MOST_MORPH_WEIGHT;
        sound.then(|| MorphSetting {
            name: name.to_owned(),
            weight,
        })
    });
    parsed.ok_or_else(|| {
        format!("expected NAME=WEIGHT with a weight of usually 0 to 1, at most {MOST_MORPH_WEIGHT}, as in happy=0.8")
    })
}

/// One `--at`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum BakeMoment {
    /// Seconds from the clip's start.
    Seconds(f64),
    /// The time of the last key.
    End,
}

fn parse_rotation(text: &str) -> Result<Rotation, String> {
    let expected = "expected JOINT=X,Y,Z in degrees, as in elbow=0,-45,90";
    let (joint, angles) = text.rsplit_once('=').ok_or(expected)?;
    let numbers = angles.split(',').map(|number| {
        number
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|angle| angle.is_finite())
    });
    let numbers: Option<Vec<f64>> = numbers.collect();
    let degrees: [f64; 3] = numbers
        .and_then(|numbers| numbers.try_into().ok())
        .ok_or(expected)?;
    if joint.is_empty() {
        Err(expected.to_owned())
    } else {
        Ok(Rotation {
            joint: joint.to_owned(),
            degrees,
        })
    }
}

fn parse_range(text: &str) -> Result<[f64; 2], String> {
    let number = |text: &str| {
        text.trim()
            .parse::<f64>()
            .ok()
            .filter(|secs| (0.0..=1e6).contains(secs))
    };
    match text
        .split_once('-')
        .map(|(from, to)| (number(from), number(to)))
    {
        Some((Some(from), Some(to))) if from < to => Ok([from, to]),
        _ => Err("expected A-B in seconds with 0 ≤ A < B, as in 0.5-2".to_owned()),
    }
}

fn parse_speed(text: &str) -> Result<f64, String> {
    let parsed = text
        .trim()
        .parse::<f64>()
        .ok()
        .filter(|speed| (0.001..=1000.0).contains(&speed.abs()));
    parsed
        .ok_or_else(|| "expected a factor other than 0, as in 0.5, or -1 for backwards".to_owned())
}

fn parse_blend(text: &str) -> Result<f64, String> {
    let parsed = text
        .trim()
        .parse::<f64>()
        .ok()
        .filter(|secs| (0.0..=60.0).contains(secs));
    parsed.ok_or_else(|| "expected seconds from 0 to 60".to_owned())
}

/// More frames than an hour at 240 Hz are an error.
const LAST_FRAME: u32 = 864_000;

pub(super) fn parse_frames(text: &str) -> Result<(u32, u32), String> {
    let expected = || format!("expected A-B with 0 ≤ A ≤ B ≤ {LAST_FRAME}, as in 0-59");
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.trim().parse::<u32>(), last.trim().parse::<u32>()) {
        (Ok(first), Ok(last)) if first <= last && last <= LAST_FRAME => Ok((first, last)),
        _ => Err(expected()),
    }
}

pub(super) fn parse_fps(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(fps) if (0.01..=10_000.0).contains(&fps) => Ok(fps),
        _ => Err("expected a number from 0.01 to 10000".to_owned()),
    }
}

fn parse_moment(text: &str) -> Result<BakeMoment, String> {
    match text.parse::<f64>() {
        _ if text == "end" => Ok(BakeMoment::End),
        Ok(seconds) if seconds.is_finite() && seconds >= 0.0 => Ok(BakeMoment::Seconds(seconds)),
        _ => Err("expected seconds from the clip's start, or end".to_owned()),
    }
}

impl PoseOptions {
    /// A clip at this many frames per second, or some of its frames.
    pub(super) fn of_clip(clip: Option<String>, frames: Option<(u32, u32)>, fps: f64) -> Self {
        Self {
            clip,
            range: None,
            speed: None,
            loops: None,
            blend: None,
            pose: None,
            rotate: Vec::new(),
            morph: Vec::new(),
            frames,
            pre_roll: None,
            fps,
            settle: false,
            at: None,
            saved: None,
        }
    }

    /// The same with the pose of a project as the default.
    pub(super) fn with_saved(&self, saved: Option<&ProjectState>) -> Self {
        Self {
            saved: saved.map(|saved| saved.pose.clone()),
            ..self.clone()
        }
    }

    /// The motion of the joints.
    pub(super) fn motion(&self, character: &Character) -> Result<Motion, Failure> {
        if let Some(clip) = &self.clip {
            return self.clip_motion(character, find_clip(character, clip)?);
        }
        let skeleton = &character.skeleton;
        let saved = self
            .saved
            .as_ref()
            .filter(|pose| **pose != skeleton.rest_pose());
        if self.pose.is_none() && self.rotate.is_empty() && self.morph.is_empty() {
            return Ok(saved.map_or(Motion::Rest, |pose| Motion::Pose(pose.clone())));
        }
        let mut pose: Pose = match &self.pose {
            Some(path) => read_pose(path, character)?,
            None => saved.cloned().unwrap_or_else(|| skeleton.rest_pose()),
        };
        for Rotation { joint, degrees } in &self.rotate {
            let index = skeleton
                .find_or_suggest(joint)
                .map_err(|error| Failure::Undone(format!("{}: {error}", character.name)))?;
            let turned =
                rotation_of_angles_deg(*degrees) * rotation_from_rest(skeleton, &pose, index);
            set_rotation_from_rest(skeleton, &mut pose, index, &turned);
        }
        for morph in &self.morph {
            morph.set_in(character, &mut pose)?;
        }
        Ok(Motion::Pose(pose))
    }

    fn clip_motion(&self, character: &Character, clip: usize) -> Result<Motion, Failure> {
        let Self {
            range,
            speed,
            loops,
            blend,
            ..
        } = self;
        if range.is_none() && speed.is_none() && loops.is_none() && blend.is_none() {
            return Ok(Motion::Clip(clip));
        }
        let duration = character.clips[clip].duration_secs;
        if let Some([from, _]) = range.filter(|[from, _]| *from >= duration) {
            let name = &character.clips[clip].name;
            return Err(Failure::Undone(format!(
                "clip \"{name}\" is {duration:.3} s long; nothing of it comes after {from} s"
            )));
        }
        let once = ClipPlay::once(clip);
        Ok(Motion::Play(ClipPlay {
            range_secs: *range,
            speed: speed.unwrap_or(once.speed),
            loops: loops.unwrap_or(once.loops),
            seam_secs: blend.unwrap_or(once.seam_secs),
            entry_secs: blend.unwrap_or(once.entry_secs),
            ..once
        }))
    }

    /// The motion and the times to bake.
    pub(super) fn take(&self, character: &Character) -> Result<Take, Failure> {
        if self.at.is_some() && !self.settle {
            return Err(Failure::Usage(
                "--at says which moment --settle holds; give --settle too, or --frames".to_owned(),
            ));
        }
        let motion = self.motion(character)?;
        if self.settle {
            let time_secs = self.moment_secs(&motion, character);
            return Ok(Take {
                motion,
                moments: Moments::Settled { time_secs },
            });
        }
        let Some((first, last)) = self.frames else {
            return Ok(Take::whole(motion, character, self.fps));
        };
        Ok(Take {
            motion,
            moments: Moments::Frames {
                first,
                last,
                fps: self.fps,
                pre_roll: self.pre_roll,
            },
        })
    }

    /// The motion and the times to draw: as for baking if frames or `--settle` are given; otherwise a pose is settled, and a
    /// clip is played from its start up to `--at`.
    pub(super) fn take_to_draw(&self, character: &Character) -> Result<Take, Failure> {
        if self.settle || self.frames.is_some() {
            return self.take(character);
        }
        let motion = self.motion(character)?;
        let time_secs = self.moment_secs(&motion, character);
        let moments = match motion {
            Motion::Clip(_) | Motion::Play(_) if time_secs > 0.0 => {
                let frame = (time_secs * self.fps)
                    .round()
                    .min(f64::from(LAST_FRAME))
                    .max(1.0);
                // The last frame is exactly at the requested time.
                Moments::Frames {
                    first: frame as u32,
                    last: frame as u32,
                    fps: frame / time_secs,
                    pre_roll: None,
                }
            }
            _ => Moments::Settled { time_secs },
        };
        Ok(Take { motion, moments })
    }

    fn moment_secs(&self, motion: &Motion, character: &Character) -> f64 {
        match self.at {
            None => 0.0,
            Some(BakeMoment::Seconds(seconds)) => seconds,
            Some(BakeMoment::End) => motion.duration_secs(character),
        }
    }
}

/// A clip by name, or by index from 0.
pub(super) fn find_clip(character: &Character, wanted: &str) -> Result<usize, Failure> {
    let clips = &character.clips;
    if let Some(index) = clips.iter().position(|clip| clip.name == wanted) {
        return Ok(index);
    }
    if let Some(index) = wanted
        .parse::<usize>()
        .ok()
        .filter(|&index| index < clips.len())
    {
        return Ok(index);
    }
    let names: Vec<String> = clips
        .iter()
        .take(20)
        .enumerate()
        .map(|(index, clip)| format!("{index} \"{}\"", clip.name))
        .collect();
    let known = if names.is_empty() {
        "it has none".to_owned()
    } else {
        format!("it has {}", names.join(", "))
    };
    Err(Failure::Undone(format!(
        "{}: there is no clip \"{wanted}\"; {known}",
        character.name
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_are_parsed_strictly() {
        let rotation = parse_rotation("mixamorig:Arm=L=0,-45.5, 90").unwrap();
        assert_eq!(
            rotation,
            Rotation {
                joint: "mixamorig:Arm=L".into(),
                degrees: [0.0, -45.5, 90.0]
            }
        );
        for wrong in [
            "elbow",
            "elbow=1,2",
            "=1,2,3",
            "elbow=1,2,3,4",
            "elbow=a,b,c",
            "elbow=NaN,0,0",
            "elbow=inf,0,0",
        ] {
            assert!(parse_rotation(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn clip_ranges_and_speeds_are_parsed() {
        assert_eq!(parse_range("0.5-2"), Ok([0.5, 2.0]));
        for wrong in ["", "1", "2-1", "-1-2", "1-1", "nan-2", "1-inf", "a-b"] {
            assert!(parse_range(wrong).is_err(), "{wrong}");
        }
        assert!(
            parse_speed("0").is_err()
                && parse_speed("-1") == Ok(-1.0)
                && parse_speed("NaN").is_err()
        );
        assert!(parse_blend("-1").is_err() && parse_blend("0") == Ok(0.0));
    }

    #[test]
    fn frame_ranges_and_times_are_parsed() {
        assert_eq!(parse_frames("3-9"), Ok((3, 9)));
        assert_eq!(parse_frames("7"), Ok((7, 7)));
        assert!(
            parse_frames("9-3").is_err()
                && parse_frames("-3").is_err()
                && parse_frames("0-99999999").is_err()
        );
        assert_eq!(parse_moment("end"), Ok(BakeMoment::End));
        assert_eq!(parse_moment("1.5"), Ok(BakeMoment::Seconds(1.5)));
        assert!(parse_moment("-1").is_err() && parse_moment("NaN").is_err());
        assert!(
            parse_fps("0").is_err() && parse_fps("NaN").is_err() && parse_fps("24") == Ok(24.0)
        );
    }
}
