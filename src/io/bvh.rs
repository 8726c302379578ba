//! Biovision hierarchies (`.bvh`): a skeleton and one motion of it, as text.
//!
//! ```text
//! HIERARCHY
//! ROOT name { OFFSET x y z  CHANNELS n Xposition … Zrotation …  JOINT name { … }  End Site { OFFSET x y z } }
//! MOTION  Frames: n  Frame Time: seconds  then one line of channel values a frame
//! ```
//! Rotations are degrees, multiplied in the order of the channels: `Zrotation Xrotation Yrotation` is Rz · Rx · Ry. Position
//! channels replace the offset, for roots and for other joints, as Blender and most exporters have it. The format has no units
//! and no up axis. An End Site becomes a joint `PARENT_end`, for the bone that ends there; one without length is left out.

use std::io::Write;
use std::iter::Peekable;
use std::path::Path;

use super::bytes::text_of;
use super::error::{IoError, Parsed, bad};
use super::write::write_atomically;
use crate::character::{Note, Severity};
use crate::math::{Quat, Vec64, origin_of};
use crate::rig::{Channel, Clip, Curve, Interpolation, Joint, Pose, Skeleton, Track, Trs};

/// What a `.bvh` holds.
#[derive(Debug, Clone)]
pub struct BvhFile {
    /// Joints with unrotated frames at their offsets.
    pub skeleton: Skeleton,
    /// The motion, a key a frame; without tracks if the file has no frames.
    pub clip: Clip,
    /// How many frames there are.
    pub frames: usize,
    /// What was noticed.
    pub notes: Vec<Note>,
}

/// A body has a hundred joints; far more are a mistake, and would make everything slow.
const MOST_JOINTS: usize = 2000;
/// Frames × channels: 20 minutes of a hundred channels at 120 Hz.
const MOST_VALUES: usize = 16_000_000;
/// Bytes; [`MOST_VALUES`] of usual length.
const LONGEST_FILE: usize = 192 << 20;
/// Coordinates and angles beyond this are damage.
const LARGEST: f64 = 1e12;
/// Where the file says nothing usable of time.
const FALLBACK_FRAME_SECS: f64 = 1.0 / 30.0;
/// The name that an End Site gets.
const END: &str = "_end";

/// One channel of a joint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Axis {
    Position(usize),
    Rotation(usize),
}

/// A joint while it is being read.
struct Raw {
    name: String,
    parent: Option<usize>,
    offset: Vec64,
    channels: Vec<Axis>,
}

/// Words with their lines; braces are words of their own.
struct Words<'a, I: Iterator<Item = (usize, &'a str)>> {
    words: Peekable<I>,
    line: usize,
}

impl<'a, I: Iterator<Item = (usize, &'a str)>> Words<'a, I> {
    fn next(&mut self, expected: &str) -> Parsed<&'a str> {
        match self.words.next() {
            Some((line, word)) => {
                self.line = line;
                Ok(word)
            }
            None => bad(format!("ends after line {} where {expected} is expected", self.line)),
        }
    }

    fn peek(&mut self) -> Option<&'a str> {
        self.words.peek().map(|(_, word)| *word)
    }

    fn number(&mut self, what: &str) -> Parsed<f64> {
        let word = self.next(what)?;
        match word.parse::<f64>() {
            Ok(value) if value.abs() < LARGEST => Ok(value),
            _ => bad(format!("line {}: {what} must be a finite number, not \"{word}\"", self.line)),
        }
    }

    fn vector(&mut self, what: &str) -> Parsed<Vec64> {
        Ok(Vec64::new(self.number(what)?, self.number(what)?, self.number(what)?))
    }

    fn brace(&mut self, brace: &str) -> Parsed<()> {
        let word = self.next(&format!("\"{brace}\""))?;
        if word == brace { Ok(()) } else { bad(format!("line {}: \"{brace}\" is expected, not \"{word}\"", self.line)) }
    }

    /// What is left of the present line, up to a brace: names may have spaces.
    fn rest_of_line(&mut self) -> String {
        let mut name = String::new();
        while let Some(&(line, word)) = self.words.peek() {
            if line != self.line || word == "{" || word == "}" {
                break;
            }
            if !name.is_empty() {
                name.push(' ');
            }
            name.push_str(word);
            self.words.next();
        }
        name
    }
}

fn words_of(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().flat_map(|(number, line)| {
        let chunks = line.split_whitespace().flat_map(|word| word.split_inclusive(['{', '}']));
        let parted = chunks.flat_map(|chunk| {
            let body = chunk.trim_end_matches(['{', '}']);
            [body, &chunk[body.len()..]]
        });
        parted.filter(|word| !word.is_empty()).map(move |word| (number + 1, word))
    })
}

/// Reads a `.bvh`; `name` becomes the clip's.
pub(crate) fn read_bvh(bytes: &[u8], name: &str) -> Parsed<BvhFile> {
    if bytes.len() > LONGEST_FILE {
        return bad(format!("is {} MB large; motions of up to {} MB can be read", bytes.len() >> 20, LONGEST_FILE >> 20));
    }
    let text = text_of(bytes);
    let mut words = Words { words: words_of(&text).peekable(), line: 1 };
    if !words.next("HIERARCHY")?.eq_ignore_ascii_case("HIERARCHY") {
        return bad("a file that starts with HIERARCHY is expected");
    }
    let joints = read_hierarchy(&mut words)?;
    let (frames, frame_secs, mut notes) = read_motion_header(&mut words)?;
    let channels: usize = joints.iter().map(|joint| joint.channels.len()).sum();
    if channels == 0 && frames > 0 {
        return bad("no joint has channels, so there is no motion in it");
    }
    if frames.saturating_mul(channels) > MOST_VALUES {
        return bad(format!("{frames} frames of {channels} channels are more than can be worked with; cut the motion"));
    }
    let curves = read_frames(&mut words, &joints, frames)?;
    if words.peek().is_some() {
        let text = format!("there is more data than the {frames} frames that the file declares; the rest is left out");
        notes.push(Note { severity: Severity::Mended, text, count: 0 });
    }
    let times_secs: Vec<f64> = (0..frames).map(|frame| frame as f64 * frame_secs).collect();
    let tracks = curves.into_iter().enumerate().flat_map(|(joint, curves)| curves.into_tracks(joint, &times_secs)).collect();
    let clip = Clip { name: name.to_owned(), duration_secs: times_secs.last().copied().unwrap_or(0.0), tracks };
    Ok(BvhFile { skeleton: skeleton_of(joints)?, clip, frames, notes })
}

fn read_hierarchy<'a, I: Iterator<Item = (usize, &'a str)>>(words: &mut Words<'a, I>) -> Parsed<Vec<Raw>> {
    let mut joints: Vec<Raw> = Vec::new();
    // The joints whose braces are open.
    let mut open: Vec<usize> = Vec::new();
    loop {
        let word = words.next(if open.is_empty() { "ROOT or MOTION" } else { "\"}\"" })?;
        let line = words.line;
        let parent = open.last().copied();
        match (word.to_ascii_uppercase().as_str(), parent) {
            ("ROOT", None) | ("JOINT", Some(_)) => {
                let name = words.rest_of_line();
                words.brace("{")?;
                open.push(joints.len());
                joints.push(Raw { name, parent, offset: Vec64::zeros(), channels: Vec::new() });
            }
            ("END", Some(parent)) => {
                words.rest_of_line();
                let offset = read_end_site(words)?;
                if offset.norm() > 0.0 {
                    let name = format!("{}{END}", joints[parent].name);
                    joints.push(Raw { name, parent: Some(parent), offset, channels: Vec::new() });
                }
            }
            ("OFFSET", Some(joint)) => joints[joint].offset = words.vector("a coordinate of an offset")?,
            ("CHANNELS", Some(joint)) => joints[joint].channels = read_channels(words)?,
            ("}", Some(_)) => {
                open.pop();
            }
            ("MOTION", None) if !joints.is_empty() => return Ok(joints),
            ("MOTION", Some(joint)) => {
                return bad(format!("line {line}: MOTION begins before joint \"{}\" is closed by \"}}\"", joints[joint].name));
            }
            (_, None) => return bad(format!("line {line}: ROOT or MOTION is expected, not \"{word}\"")),
            _ => return bad(format!("line {line}: JOINT, End Site, OFFSET, CHANNELS or \"}}\" is expected, not \"{word}\"")),
        }
        if joints.len() > MOST_JOINTS {
            return bad(format!("line {line}: there are more than {MOST_JOINTS} joints"));
        }
    }
}

fn read_end_site<'a, I: Iterator<Item = (usize, &'a str)>>(words: &mut Words<'a, I>) -> Parsed<Vec64> {
    words.brace("{")?;
    let mut offset = Vec64::zeros();
    loop {
        let word = words.next("\"}\"")?;
        match word {
            "}" => return Ok(offset),
            word if word.eq_ignore_ascii_case("OFFSET") => offset = words.vector("a coordinate of an offset")?,
            _ => return bad(format!("line {}: OFFSET or \"}}\" is expected in an End Site, not \"{word}\"", words.line)),
        }
    }
}

fn read_channels<'a, I: Iterator<Item = (usize, &'a str)>>(words: &mut Words<'a, I>) -> Parsed<Vec<Axis>> {
    let count = words.number("the number of channels")?;
    if !(0.0..=6.0).contains(&count) || count.fract() != 0.0 {
        return bad(format!("line {}: a joint has 0 to 6 channels, not {count}", words.line));
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
            Some("position") if axis < 3 => Axis::Position(axis),
            Some("rotation") if axis < 3 => Axis::Rotation(axis),
            _ => return bad(format!("line {}: a channel is Xposition … Zrotation, not \"{word}\"", words.line)),
        };
        if channels.contains(&channel) {
            return bad(format!("line {}: channel {word} is given twice", words.line));
        }
        channels.push(channel);
    }
    Ok(channels)
}

/// `Frames: n` and `Frame Time: t`, with or without spaces before the numbers.
fn read_motion_header<'a, I: Iterator<Item = (usize, &'a str)>>(words: &mut Words<'a, I>) -> Parsed<(usize, f64, Vec<Note>)> {
    let frames = header_number(words, &["frames"])?;
    if !(0.0..=1e9).contains(&frames) || frames.fract() != 0.0 {
        return bad(format!("line {}: the number of frames must be a whole number, not {frames}", words.line));
    }
    let frame_secs = header_number(words, &["frame", "time"])?;
    let mut notes = Vec::new();
    let usable = (1e-6..=3600.0).contains(&frame_secs);
    if !usable && frames > 1.0 {
        let text = format!("the time of a frame is {frame_secs} s, which can't be; 30 frames a second are played");
        notes.push(Note { severity: Severity::Mended, text, count: 0 });
    }
    Ok((frames as usize, if usable { frame_secs } else { FALLBACK_FRAME_SECS }, notes))
}

fn header_number<'a, I: Iterator<Item = (usize, &'a str)>>(words: &mut Words<'a, I>, key: &[&str]) -> Parsed<f64> {
    let expected = format!("\"{}:\"", key.join(" "));
    for (index, part) in key.iter().enumerate() {
        let word = words.next(&expected)?;
        let (name, value) = word.split_once(':').unwrap_or((word, ""));
        if !name.eq_ignore_ascii_case(part) {
            return bad(format!("line {}: {expected} is expected, not \"{word}\"", words.line));
        }
        if index + 1 == key.len() && !value.is_empty() {
            let parsed = value.parse::<f64>().ok().filter(|value| value.abs() < LARGEST);
            return parsed
                .ok_or(())
                .or_else(|()| bad(format!("line {}: a number is expected after {expected}, not \"{value}\"", words.line)));
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
    /// A joint that never moves gets one key.
    fn into_tracks(mut self, joint: usize, times_secs: &[f64]) -> Vec<Track> {
        let mut tracks = Vec::new();
        if !self.translations.is_empty() {
            if self.translations.iter().all(|value| *value == self.translations[0]) {
                self.translations.truncate(1);
            }
            let times_secs = times_secs[..self.translations.len()].to_vec();
            let curve = Curve { times_secs, values: self.translations, interpolation: Interpolation::Linear };
            tracks.push(Track { joint, channel: Channel::Translation(curve) });
        }
        if !self.rotations.is_empty() {
            if self.rotations.iter().all(|value| *value == self.rotations[0]) {
                self.rotations.truncate(1);
            }
            let times_secs = times_secs[..self.rotations.len()].to_vec();
            let curve = Curve { times_secs, values: self.rotations, interpolation: Interpolation::Linear };
            tracks.push(Track { joint, channel: Channel::Rotation(curve) });
        }
        tracks
    }
}

fn read_frames<'a, I: Iterator<Item = (usize, &'a str)>>(
    words: &mut Words<'a, I>,
    joints: &[Raw],
    frames: usize,
) -> Parsed<Vec<JointCurves>> {
    let mut curves: Vec<JointCurves> = joints.iter().map(|_| JointCurves::default()).collect();
    for frame in 0..frames {
        for (joint, curves) in joints.iter().zip(&mut curves) {
            let (mut translation, mut rotation) = (joint.offset, Quat::identity());
            let (mut moves, mut turns) = (false, false);
            for channel in &joint.channels {
                if words.peek().is_none() {
                    return bad(format!("ends in frame {} of {frames}; the file is cut short", frame + 1));
                }
                let value = words.number("a channel's value")?;
                match *channel {
                    Axis::Position(axis) => (translation[axis], moves) = (value, true),
                    Axis::Rotation(axis) => {
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

fn skeleton_of(raw: Vec<Raw>) -> Parsed<Skeleton> {
    let mut world: Vec<Vec64> = Vec::with_capacity(raw.len());
    let mut joints = Vec::with_capacity(raw.len());
    for Raw { name, parent, offset, .. } in raw {
        let place = parent.map_or_else(Vec64::zeros, |parent| world[parent]) + offset;
        world.push(place);
        joints.push(Joint {
            name,
            parent,
            parent_from_base: crate::math::Affine::identity(),
            rest: Trs::at(offset),
            world_from_bind: Trs::at(place).to_affine(),
            deforms: true,
        });
    }
    Ok(Skeleton::new(joints)?)
}

/// Writes a clip of a skeleton as `.bvh`, sampled `fps` times a second. The hierarchy's offsets are those of the rest pose, in
/// world directions; joints whose distance to their parent changes get position channels.
///
/// # Errors
/// [`IoError::Write`].
pub fn write_bvh(path: &Path, skeleton: &Skeleton, clip: &Clip, fps: f64) -> Result<(), IoError> {
    let fps = if fps.is_finite() { fps.clamp(0.01, 10_000.0) } else { 30.0 };
    let last = (clip.duration_secs * fps + 1e-6).floor().clamp(0.0, 1e7) as usize;
    let poses = (0..=last).map(|frame| clip.sample(skeleton, frame as f64 / fps));
    write_bvh_poses(path, skeleton, poses, 1.0 / fps)
}

/// As [`write_bvh`], from poses that are `frame_secs` apart.
///
/// # Errors
/// [`IoError::Write`].
pub fn write_bvh_poses(path: &Path, skeleton: &Skeleton, poses: impl Iterator<Item = Pose>, frame_secs: f64) -> Result<(), IoError> {
    let motion = BvhMotion::of(skeleton, poses);
    write_atomically(path, |out| {
        writeln!(out, "HIERARCHY")?;
        for root in (0..skeleton.len()).filter(|&joint| skeleton.joints()[joint].parent.is_none()) {
            motion.write_joint(out, skeleton, root)?;
        }
        writeln!(out, "MOTION\nFrames: {}\nFrame Time: {frame_secs:.9}", motion.frames.len())?;
        let order = motion.order(skeleton);
        for frame in &motion.frames {
            motion.write_frame(out, &order, frame)?;
        }
        Ok(())
    })
}

/// A motion in the terms of the format.
struct BvhMotion {
    offsets: Vec<Vec64>,
    /// Whether the joint has position channels.
    moves: Vec<bool>,
    /// Whether the joint is the End Site of its parent.
    ends: Vec<bool>,
    /// Per frame, per joint: place and rotation relative to the parent, in frames that are unrotated at rest.
    frames: Vec<Vec<(Vec64, Quat)>>,
}

impl BvhMotion {
    fn of(skeleton: &Skeleton, poses: impl Iterator<Item = Pose>) -> Self {
        let rest = skeleton.world_from_joint(&skeleton.rest_pose());
        let rest_turns: Vec<Quat> = rest.iter().map(|world| Trs::from_affine(world).rotation).collect();
        let parent_of = |joint: usize| skeleton.joints()[joint].parent;
        let place = |world: &[crate::math::Affine], joint: usize| origin_of(&world[joint]).coords;
        let offsets: Vec<Vec64> =
            (0..skeleton.len()).map(|j| place(&rest, j) - parent_of(j).map_or_else(Vec64::zeros, |parent| place(&rest, parent))).collect();
        let size = offsets.iter().map(nalgebra::Matrix::norm).sum::<f64>().max(1e-12);
        let mut moves: Vec<bool> = (0..skeleton.len()).map(|joint| parent_of(joint).is_none()).collect();
        let mut turns = vec![false; skeleton.len()];
        let mut frames = Vec::new();
        for pose in poses {
            let world = skeleton.world_from_joint(&pose);
            let turned: Vec<Quat> = world.iter().zip(&rest_turns).map(|(w, rest)| Trs::from_affine(w).rotation * rest.inverse()).collect();
            let local = |joint: usize| match parent_of(joint) {
                None => (place(&world, joint), turned[joint]),
                Some(parent) => {
                    let back = turned[parent].inverse();
                    (back * (place(&world, joint) - place(&world, parent)), back * turned[joint])
                }
            };
            let frame: Vec<(Vec64, Quat)> = (0..skeleton.len()).map(local).collect();
            for (joint, (offset, turn)) in frame.iter().enumerate() {
                moves[joint] |= (offset - offsets[joint]).norm() > 1e-6 * size;
                turns[joint] |= turn.angle() > 1e-7;
            }
            frames.push(frame);
        }
        let is_end = |joint: usize| {
            let only = parent_of(joint).is_some_and(|parent| skeleton.children(parent).len() == 1);
            let leaf = skeleton.children(joint).is_empty() && skeleton.joints()[joint].name.ends_with(END);
            only && leaf && !moves[joint] && !turns[joint] && offsets[joint].norm() > 0.0
        };
        let ends = (0..skeleton.len()).map(is_end).collect();
        Self { offsets, moves, ends, frames }
    }

    /// Joints with channels, as the hierarchy lists them.
    fn order(&self, skeleton: &Skeleton) -> Vec<usize> {
        let mut stack: Vec<usize> = (0..skeleton.len()).rev().filter(|&joint| skeleton.joints()[joint].parent.is_none()).collect();
        let mut order = Vec::with_capacity(skeleton.len());
        while let Some(joint) = stack.pop() {
            if !self.ends[joint] {
                order.push(joint);
            }
            stack.extend(skeleton.children(joint).iter().rev());
        }
        order
    }

    /// Writes a joint with everything below it; without recursion, since a file may be one long chain.
    fn write_joint(&self, out: &mut impl Write, skeleton: &Skeleton, root: usize) -> std::io::Result<()> {
        let mut stack = vec![(root, 0, false)];
        while let Some((joint, depth, done)) = stack.pop() {
            let tab = "\t".repeat(depth);
            if done {
                writeln!(out, "{tab}}}")?;
                continue;
            }
            let [x, y, z]: [f64; 3] = self.offsets[joint].into();
            if self.ends[joint] {
                writeln!(out, "{tab}End Site\n{tab}{{\n{tab}\tOFFSET {x:.9} {y:.9} {z:.9}\n{tab}}}")?;
                continue;
            }
            let kind = if depth == 0 { "ROOT" } else { "JOINT" };
            let name: String = skeleton.joints()[joint].name.chars().map(plain).collect();
            writeln!(out, "{tab}{kind} {name}\n{tab}{{\n{tab}\tOFFSET {x:.9} {y:.9} {z:.9}")?;
            let positions = if self.moves[joint] { "6 Xposition Yposition Zposition" } else { "3" };
            writeln!(out, "{tab}\tCHANNELS {positions} Zrotation Xrotation Yrotation")?;
            if skeleton.children(joint).is_empty() {
                writeln!(out, "{tab}\tEnd Site\n{tab}\t{{\n{tab}\t\tOFFSET 0 0 0\n{tab}\t}}")?;
            }
            stack.push((joint, depth, true));
            stack.extend(skeleton.children(joint).iter().rev().map(|&child| (child, depth + 1, false)));
        }
        Ok(())
    }

    fn write_frame(&self, out: &mut impl Write, order: &[usize], frame: &[(Vec64, Quat)]) -> std::io::Result<()> {
        for (index, &joint) in order.iter().enumerate() {
            let (place, turn) = &frame[joint];
            let [z, x, y] = angles_zxy(turn).map(f64::to_degrees);
            let gap = if index == 0 { "" } else { " " };
            if self.moves[joint] {
                write!(out, "{gap}{:.9} {:.9} {:.9} {z:.7} {x:.7} {y:.7}", place.x, place.y, place.z)?;
            } else {
                write!(out, "{gap}{z:.7} {x:.7} {y:.7}")?;
            }
        }
        writeln!(out)
    }
}

/// Names in a `.bvh` end at a space or a brace.
fn plain(c: char) -> char {
    if c.is_whitespace() || c.is_control() || c == '{' || c == '}' { '_' } else { c }
}

/// Angles a, b, c with Rz(a) · Rx(b) · Ry(c) the rotation.
fn angles_zxy(turn: &Quat) -> [f64; 3] {
    let m = turn.to_rotation_matrix().into_inner();
    let sine = m[(2, 1)].clamp(-1.0, 1.0);
    let cosine = m[(0, 1)].hypot(m[(1, 1)]);
    if cosine < 1e-9 {
        return [m[(1, 0)].atan2(m[(0, 0)]), sine.atan2(cosine), 0.0];
    }
    [(-m[(0, 1)]).atan2(m[(1, 1)]), sine.atan2(cosine), (-m[(2, 0)]).atan2(m[(2, 2)])]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "HIERARCHY\r\nROOT The Hips {\n OFFSET 1 2 3\n\tCHANNELS 6 Zrotation Xrotation Yrotation Xposition Yposition Zposition\n\
        JOINT Leg{ OFFSET 0 -1 0 CHANNELS 2 Yrotation Xrotation End Site\n{ OFFSET 0 -1 0 } } }\nROOT Prop\n{ OFFSET 0 0 0 CHANNELS 0 End Site { OFFSET 0 0 0 } }\n\
        MOTION\nFrames: 2\nFrame Time:\t.5\n90 0 0 4 5 6 0 0\n0 0 90 7 8 9 10 20\n";

    #[test]
    fn any_channel_order_and_several_roots() {
        let file = read_bvh(SMALL.as_bytes(), "x").unwrap();
        let names: Vec<&str> = file.skeleton.joints().iter().map(|joint| joint.name.as_str()).collect();
        assert_eq!(names, ["The Hips", "Leg", "Leg_end", "Prop"]);
        assert!((file.clip.duration_secs - 0.5).abs() < 1e-12 && file.frames == 2);
        let world = file.skeleton.world_from_joint(&file.clip.sample(&file.skeleton, 0.0));
        assert!((origin_of(&world[0]).coords - Vec64::new(4.0, 5.0, 6.0)).norm() < 1e-12);
        assert!((origin_of(&world[2]).coords - Vec64::new(6.0, 5.0, 6.0)).norm() < 1e-12, "down turned about Z by 90° is +X");
        let pose = file.clip.sample(&file.skeleton, 0.5);
        let expected = Quat::new(Vec64::y() * 10_f64.to_radians()) * Quat::new(Vec64::x() * 20_f64.to_radians());
        assert!(pose.locals[1].rotation.angle_to(&expected) < 1e-12);
    }

    #[test]
    fn what_is_broken_is_refused_with_its_line() {
        let refusal = |text: &str| read_bvh(text.as_bytes(), "x").unwrap_err().to_string();
        let cut = &SMALL[..SMALL.len() - 6];
        for (text, sentence) in [
            (String::new(), "HIERARCHY"),
            ("hello".to_owned(), "HIERARCHY"),
            (cut.to_owned(), "ends in frame 2 of 2"),
            (SMALL.replace("90 0 0", "90 nan 0"), "line 12: a channel's value must be a finite number, not \"nan\""),
            (SMALL.replace("OFFSET 0 -1 0 CHANNELS", "OFFSET 0 inf 0 CHANNELS"), "line 5"),
            (SMALL.replace("} } }", "} }"), "before joint \"The Hips\" is closed"),
            (SMALL.replace("} } }", "} } } }"), "line 6: ROOT or MOTION"),
            (SMALL.replace("Frames: 2", "Frames: 999999999"), "more than can be worked with"),
            (SMALL.replace("Frames: 2", "Frames: 100"), "ends in frame 3 of 100"),
            (SMALL.replace("CHANNELS 2 Y", "CHANNELS 2e9 Y"), "0 to 6 channels"),
            (SMALL.replace("Yrotation Xrotation End", "Wrotation Xrotation End"), "Wrotation"),
            (SMALL.replace("MOTION", "MOTOR"), "MOTOR"),
        ] {
            let said = refusal(&text);
            assert!(said.contains(sentence), "{said} should contain {sentence}");
        }
        let more = read_bvh(format!("{SMALL} 1 2 3").as_bytes(), "x").unwrap();
        assert_eq!((more.frames, more.notes.len()), (2, 1));
    }

    #[test]
    fn no_damage_makes_it_panic() {
        let bytes = SMALL.as_bytes();
        for at in 0..bytes.len() {
            for with in [b'{', b'}', b'9', b'-', b' ', b'\n', 0xFF] {
                let mut broken = bytes.to_vec();
                broken[at] = with;
                let _ = read_bvh(&broken, "x");
                let _ = read_bvh(&broken[..at], "x");
            }
        }
    }

    #[test]
    fn angles_come_back_even_in_gimbal_lock() {
        for (a, b, c) in
            [(0.3, -1.2, 2.9), (1.0, std::f64::consts::FRAC_PI_2, 0.5), (-2.0, -std::f64::consts::FRAC_PI_2, 0.0), (3.0, 0.0, -3.0)]
        {
            let of = |[a, b, c]: [f64; 3]| Quat::new(Vec64::z() * a) * Quat::new(Vec64::x() * b) * Quat::new(Vec64::y() * c);
            let turn = of([a, b, c]);
            assert!(of(angles_zxy(&turn)).angle_to(&turn) < 1e-7, "{a} {b} {c}");
        }
    }

    #[test]
    fn what_is_written_reads_the_same() {
        let file = read_bvh(SMALL.as_bytes(), "x").unwrap();
        let folder = std::env::temp_dir().join(format!("sinew-bvh-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("x.bvh");
        write_bvh(&path, &file.skeleton, &file.clip, 2.0).unwrap();
        let again = read_bvh(&std::fs::read(&path).unwrap(), "x").unwrap();
        std::fs::remove_dir_all(folder).unwrap();
        assert_eq!(again.skeleton.len(), file.skeleton.len());
        for time in [0.0, 0.25, 0.5] {
            let world = |file: &BvhFile| file.skeleton.world_from_joint(&file.clip.sample(&file.skeleton, time));
            for (a, b) in world(&file).iter().zip(world(&again)) {
                assert!((a.matrix() - b.matrix()).norm() < 1e-7);
            }
        }
    }
}
