//! Reading `.bvh`.

mod words;

use self::words::{Tokens, words_of};

use super::{BvhFile, END};
use crate::character::{Note, Severity};
use crate::io::bytes::text_of;
use crate::io::error::{Parsed, bad};
use crate::math::{Quat, Vec64};
use crate::rig::{Channel, Clip, Curve, Joint, MOST_JOINTS, Skeleton, Track, Trs};

/// Maximum of frames × channels: 20 minutes of a hundred channels at 120 Hz.
const MOST_VALUES: usize = 16_000_000;
/// Maximum file size, bytes: [`MOST_VALUES`] values of usual length.
const LONGEST_FILE: usize = 192 << 20;
/// Coordinates and angles above this are treated as damage.
const LARGEST: f64 = 1e12;
/// Frame time used where the file has no usable one, seconds.
const FALLBACK_FRAME_SECS: f64 = 1.0 / 30.0;
/// One channel of a joint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChannelAxis {
    Position(usize),
    Rotation(usize),
}

/// A joint during parsing.
struct RawJoint {
    name: String,
    parent: Option<usize>,
    offset: Vec64,
    channels: Vec<ChannelAxis>,
}

/// Reads a `.bvh`; the clip is called `name`.
pub(crate) fn read_bvh(bytes: &[u8], name: &str) -> Parsed<BvhFile> {
    if bytes.len() > LONGEST_FILE {
        return bad(format!(
            "is {} MB large; the maximum is {} MB",
            bytes.len() >> 20,
            LONGEST_FILE >> 20
        ));
    }
    let text = text_of(bytes);
    let mut words = Tokens {
        words: words_of(&text).peekable(),
        line: 1,
    };
    if !words.next("HIERARCHY")?.eq_ignore_ascii_case("HIERARCHY") {
        return bad("a file that starts with HIERARCHY is expected");
    }
    let joints = read_hierarchy(&mut words)?;
    let (frames, frame_secs, mut notes) = read_motion_header(&mut words)?;
    let channels: usize = joints.iter().map(|joint| joint.channels.len()).sum();
    if channels == 0 && frames > 0 {
        return bad("no joint has channels, so the file contains no motion");
    }
    if frames.saturating_mul(channels) > MOST_VALUES {
        return bad(format!(
            "{frames} frames of {channels} channels are more than can be processed; shorten the motion"
        ));
    }
    let curves = read_frames(&mut words, &joints, frames)?;
    if words.peek().is_some() {
        let text = format!(
            "the file has more data than its declared {frames} frames; the rest is ignored"
        );
        notes.push(Note {
            severity: Severity::Mended,
            text,
            count: 0,
        });
    }
    let times_secs: Vec<f64> = (0..frames).map(|frame| frame as f64 * frame_secs).collect();
    let tracks = curves
        .into_iter()
        .enumerate()
        .flat_map(|(joint, curves)| curves.into_tracks(joint, &times_secs))
        .collect();
    let clip = Clip {
        name: name.to_owned(),
        duration_secs: times_secs.last().copied().unwrap_or(0.0),
        tracks,
        morphs: Vec::new(),
    };
    Ok(BvhFile {
        skeleton: skeleton_of(joints)?,
        clip,
        frames,
        notes,
    })
}

fn read_hierarchy<'a, I: Iterator<Item = (usize, &'a str)>>(
    words: &mut Tokens<'a, I>,
) -> Parsed<Vec<RawJoint>> {
    let mut joints: Vec<RawJoint> = Vec::new();
    // The joints whose braces are open.
    let mut open: Vec<usize> = Vec::new();
    loop {
        let word = words.next(if open.is_empty() {
            "ROOT or MOTION"
        } else {
            "\"}\""
        })?;
        let line = words.line;
        let parent = open.last().copied();
        match (word.to_ascii_uppercase().as_str(), parent) {
            ("ROOT", None) | ("JOINT", Some(_)) => {
                let name = words.rest_of_line();
                words.brace("{")?;
                open.push(joints.len());
                joints.push(RawJoint {
                    name,
                    parent,
                    offset: Vec64::zeros(),
                    channels: Vec::new(),
                });
            }
            ("END", Some(parent)) => {
                words.rest_of_line();
                let offset = read_end_site(words)?;
                if offset.norm() > 0.0 {
                    let name = format!("{}{END}", joints[parent].name);
                    joints.push(RawJoint {
                        name,
                        parent: Some(parent),
                        offset,
                        channels: Vec::new(),
                    });
                }
            }
            ("OFFSET", Some(joint)) => {
                joints[joint].offset = words.vector("a coordinate of an offset")?;
            }
            ("CHANNELS", Some(joint)) => joints[joint].channels = read_channels(words)?,
            ("}", Some(_)) => {
                open.pop();
            }
            ("MOTION", None) if !joints.is_empty() => return Ok(joints),
            ("MOTION", Some(joint)) => {
                return bad(format!(
                    "line {line}: MOTION begins before joint \"{}\" is closed by \"}}\"",
                    joints[joint].name
                ));
            }
            (_, None) => {
                return bad(format!(
                    "line {line}: ROOT or MOTION is expected, not \"{word}\""
                ));
            }
            _ => {
                return bad(format!(
                    "line {line}: JOINT, End Site, OFFSET, CHANNELS or \"}}\" is expected, not \"{word}\""
                ));
            }
        }
        if joints.len() > MOST_JOINTS {
            return bad(format!(
                "line {line}: the file has more than {MOST_JOINTS} joints"
            ));
        }
    }
}

fn read_end_site<'a, I: Iterator<Item = (usize, &'a str)>>(
    words: &mut Tokens<'a, I>,
) -> Parsed<Vec64> {
    words.brace("{")?;
    let mut offset = Vec64::zeros();
    loop {
        let word = words.next("\"}\"")?;
        match word {
            "}" => return Ok(offset),
            word if word.eq_ignore_ascii_case("OFFSET") => {
                offset = words.vector("a coordinate of an offset")?;
            }
            _ => {
                return bad(format!(
                    "line {}: OFFSET or \"}}\" is expected in an End Site, not \"{word}\"",
                    words.line
                ));
            }
        }
    }
}

fn read_channels<'a, I: Iterator<Item = (usize, &'a str)>>(
    words: &mut Tokens<'a, I>,
) -> Parsed<Vec<ChannelAxis>> {
    let count = words.number("the number of channels")?;
    if !(0.0..=6.0).contains(&count) || count.fract() != 0.0 {
        return bad(format!(
            "line {}: a joint has 0 to 6 channels, not {count}",
            words.line
        ));
    }
    let mut channels = Vec::with_capacity(6);
    for _ in 0..count as usize {
        let word = words.next("a channel")?;
        let lower = word.to_ascii_lowercase();
        let axis = match lower.as_bytes().first() {
            Some(b'x') => 0,
            Some(b'y') => 1,
            Some(b'z') => 2,
            _ => 3,
        };
        let channel = match lower.get(1..) {
            Some("position") if axis < 3 => ChannelAxis::Position(axis),
            Some("rotation") if axis < 3 => ChannelAxis::Rotation(axis),
            _ => {
                return bad(format!(
                    "line {}: expected a channel Xposition … Zrotation, found \"{word}\"",
                    words.line
                ));
            }
        };
        if channels.contains(&channel) {
            return bad(format!("line {}: channel {word} is repeated", words.line));
        }
        channels.push(channel);
    }
    Ok(channels)
}

/// `Frames: n` and `Frame Time: t`, with or without spaces before the numbers.
fn read_motion_header<'a, I: Iterator<Item = (usize, &'a str)>>(
    words: &mut Tokens<'a, I>,
) -> Parsed<(usize, f64, Vec<Note>)> {
    let frames = header_number(words, &["frames"])?;
    if !(0.0..=1e9).contains(&frames) || frames.fract() != 0.0 {
        return bad(format!(
            "line {}: the number of frames must be a whole number, not {frames}",
            words.line
        ));
    }
    let frame_secs = header_number(words, &["frame", "time"])?;
    let mut notes = Vec::new();
    let usable = (1e-6..=3600.0).contains(&frame_secs);
    if !usable && frames > 1.0 {
        let text = format!(
            "the time of a frame is {frame_secs} s, which is invalid; 30 frames per second are used"
        );
        notes.push(Note {
            severity: Severity::Mended,
            text,
            count: 0,
        });
    }
    Ok((
        frames as usize,
        if usable {
            frame_secs
        } else {
            FALLBACK_FRAME_SECS
        },
        notes,
    ))
}

fn header_number<'a, I: Iterator<Item = (usize, &'a str)>>(
    words: &mut Tokens<'a, I>,
    key: &[&str],
) -> Parsed<f64> {
    let expected = format!("\"{}:\"", key.join(" "));
    for (index, part) in key.iter().enumerate() {
        let word = words.next(&expected)?;
        let (name, value) = word.split_once(':').unwrap_or((word, ""));
        if !name.eq_ignore_ascii_case(part) {
            return bad(format!(
                "line {}: {expected} is expected, not \"{word}\"",
                words.line
            ));
        }
        if index + 1 == key.len() && !value.is_empty() {
            let parsed = value
                .parse::<f64>()
                .ok()
                .filter(|value| value.abs() < LARGEST);
            return parsed.ok_or(()).or_else(|()| {
                bad(format!(
                    "line {}: a number is expected after {expected}, not \"{value}\"",
                    words.line
                ))
            });
        }
    }
    if words.peek() == Some(":") {
        words.next(&expected)?;
    }
    words.number("the number in the motion's header")
}

/// The curves of one joint.
#[derive(Default)]
struct JointCurves {
    translations: Vec<Vec64>,
    rotations: Vec<nalgebra::Quaternion<f64>>,
}

impl JointCurves {
    /// A static joint gets one key.
    fn into_tracks(mut self, joint: usize, times_secs: &[f64]) -> Vec<Track> {
        let mut tracks = Vec::new();
        if !self.translations.is_empty() {
            if self
                .translations
                .iter()
                .all(|value| *value == self.translations[0])
            {
                self.translations.truncate(1);
            }
            let times_secs = times_secs[..self.translations.len()].to_vec();
            let curve = Curve::linear(times_secs, self.translations);
            tracks.push(Track {
                joint,
                channel: Channel::Translation(curve),
            });
        }
        if !self.rotations.is_empty() {
            if self
                .rotations
                .iter()
                .all(|value| *value == self.rotations[0])
            {
                self.rotations.truncate(1);
            }
            let times_secs = times_secs[..self.rotations.len()].to_vec();
            let curve = Curve::linear(times_secs, self.rotations);
            tracks.push(Track {
                joint,
                channel: Channel::Rotation(curve),
            });
        }
        tracks
    }
}

fn read_frames<'a, I: Iterator<Item = (usize, &'a str)>>(
    words: &mut Tokens<'a, I>,
    joints: &[RawJoint],
    frames: usize,
) -> Parsed<Vec<JointCurves>> {
    let mut curves: Vec<JointCurves> = joints.iter().map(|_| JointCurves::default()).collect();
    for frame in 0..frames {
        for (joint, curves) in joints.iter().zip(&mut curves) {
            let (mut translation, mut rotation) = (joint.offset, Quat::identity());
            let (mut moves, mut turns) = (false, false);
            for channel in &joint.channels {
                if words.peek().is_none() {
                    return bad(format!(
                        "ends in frame {} of {frames}; the file is truncated",
                        frame + 1
                    ));
                }
                let value = words.number("a channel's value")?;
                match *channel {
                    ChannelAxis::Position(axis) => (translation[axis], moves) = (value, true),
                    ChannelAxis::Rotation(axis) => {
                        let turn = Vec64::ith(axis, value.to_radians());
                        (rotation, turns) = (rotation * Quat::new(turn), true);
                    }
                }
            }
            if moves {
                curves.translations.push(translation);
            }
            if turns {
                curves.rotations.push(rotation.into_inner());
            }
        }
    }
    Ok(curves)
}

fn skeleton_of(raw: Vec<RawJoint>) -> Parsed<Skeleton> {
    let mut world: Vec<Vec64> = Vec::with_capacity(raw.len());
    let mut joints = Vec::with_capacity(raw.len());
    for RawJoint {
        name,
        parent,
        offset,
        ..
    } in raw
    {
        let place = parent.map_or_else(Vec64::zeros, |parent| world[parent]) + offset;
        world.push(place);
        joints.push(Joint {
            name,
            parent,
            parent_from_base: crate::math::Affine::identity(),
            rest: Trs::at(offset),
            world_from_bind: Trs::at(place).to_affine(),
            deforms: true,
            tail: None,
        });
    }
    Ok(Skeleton::new(joints)?)
}
