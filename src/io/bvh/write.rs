//! Writing `.bvh`.

use std::io::Write;
use std::path::Path;

use super::END;
use crate::io::error::IoError;
use crate::io::write::write_atomically;
use crate::math::{Quat, Vec64, origin_of};
use crate::rig::{Clip, Pose, Skeleton, Trs};

/// Writes a clip of a skeleton as `.bvh`, sampled at `fps` frames per second. Offsets are those of
/// the rest pose, in world axes. Joints whose distance to the parent changes get position channels.
///
/// # Errors
/// [`IoError::Write`].
pub fn write_bvh(path: &Path, skeleton: &Skeleton, clip: &Clip, fps: f64) -> Result<(), IoError> {
    let fps = if fps.is_finite() {
        fps.clamp(0.01, 10_000.0)
    } else {
        30.0
    };
    let last = (clip.duration_secs * fps + 1e-6).floor().clamp(0.0, 1e7) as usize;
    let poses = (0..=last).map(|frame| clip.sample(skeleton, frame as f64 / fps));
    write_bvh_poses(path, skeleton, poses, 1.0 / fps)
}

/// As [`write_bvh`], from poses spaced `frame_secs` apart.
///
/// # Errors
/// [`IoError::Write`].
pub fn write_bvh_poses(
    path: &Path,
    skeleton: &Skeleton,
    poses: impl Iterator<Item = Pose>,
    frame_secs: f64,
) -> Result<(), IoError> {
    let motion = BvhMotion::of(skeleton, poses);
    write_atomically(path, |out| {
        writeln!(out, "HIERARCHY")?;
        for root in (0..skeleton.len()).filter(|&joint| skeleton.joints()[joint].parent.is_none()) {
            motion.write_joint(out, skeleton, root)?;
        }
        writeln!(
            out,
            "MOTION\nFrames: {}\nFrame Time: {frame_secs:.9}",
            motion.frames.len()
        )?;
        let order = motion.order(skeleton);
        for frame in &motion.frames {
            motion.write_frame(out, &order, frame)?;
        }
        Ok(())
    })
}

/// A motion converted to the conventions of the format.
struct BvhMotion {
    offsets: Vec<Vec64>,
    /// Whether the joint has position channels.
    moves: Vec<bool>,
    /// Whether the joint is the End Site of its parent.
    ends: Vec<bool>,
    /// Per frame and joint: position and rotation relative to the parent, in frames with identity
    /// rest rotation.
    frames: Vec<Vec<(Vec64, Quat)>>,
}

impl BvhMotion {
    fn of(skeleton: &Skeleton, poses: impl Iterator<Item = Pose>) -> Self {
        let rest = skeleton.world_from_joint(&skeleton.rest_pose());
        let rest_turns: Vec<Quat> = rest
            .iter()
            .map(|world| Trs::from_affine(world).rotation)
            .collect();
        let parent_of = |joint: usize| skeleton.joints()[joint].parent;
        let place = |world: &[crate::math::Affine], joint: usize| origin_of(&world[joint]).coords;
        let offsets: Vec<Vec64> = (0..skeleton.len())
            .map(|j| {
                place(&rest, j)
                    - parent_of(j).map_or_else(Vec64::zeros, |parent| place(&rest, parent))
            })
            .collect();
        let size = offsets
            .iter()
            .map(nalgebra::Matrix::norm)
            .sum::<f64>()
            .max(1e-12);
        let mut moves: Vec<bool> = (0..skeleton.len())
            .map(|joint| parent_of(joint).is_none())
            .collect();
        let mut turns = vec![false; skeleton.len()];
        let mut frames = Vec::new();
        for pose in poses {
            let world = skeleton.world_from_joint(&pose);
            let turned: Vec<Quat> = world
                .iter()
                .zip(&rest_turns)
                .map(|(w, rest)| Trs::from_affine(w).rotation * rest.inverse())
                .collect();
            let local = |joint: usize| match parent_of(joint) {
                None => (place(&world, joint), turned[joint]),
                Some(parent) => {
                    let back = turned[parent].inverse();
                    (
                        back * (place(&world, joint) - place(&world, parent)),
                        back * turned[joint],
                    )
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
            let leaf =
                skeleton.children(joint).is_empty() && skeleton.joints()[joint].name.ends_with(END);
            only && leaf && !moves[joint] && !turns[joint] && offsets[joint].norm() > 0.0
        };
        let ends = (0..skeleton.len()).map(is_end).collect();
        Self {
            offsets,
            moves,
            ends,
            frames,
        }
    }

    /// Joints with channels, in hierarchy order.
    fn order(&self, skeleton: &Skeleton) -> Vec<usize> {
        let mut stack: Vec<usize> = (0..skeleton.len())
            .rev()
            .filter(|&joint| skeleton.joints()[joint].parent.is_none())
            .collect();
        let mut order = Vec::with_capacity(skeleton.len());
        while let Some(joint) = stack.pop() {
            if !self.ends[joint] {
                order.push(joint);
            }
            stack.extend(skeleton.children(joint).iter().rev());
        }
        order
    }

    /// Writes a joint and its descendants; iterative, because a file may be one long chain.
    fn write_joint(
        &self,
        out: &mut impl Write,
        skeleton: &Skeleton,
        root: usize,
    ) -> std::io::Result<()> {
        let mut stack = vec![(root, 0, false)];
        while let Some((joint, depth, done)) = stack.pop() {
            let tab = "\t".repeat(depth);
            if done {
                writeln!(out, "{tab}}}")?;
                continue;
            }
            let [x, y, z]: [f64; 3] = self.offsets[joint].into();
            if self.ends[joint] {
                writeln!(
                    out,
                    "{tab}End Site\n{tab}{{\n{tab}\tOFFSET {x:.9} {y:.9} {z:.9}\n{tab}}}"
                )?;
                continue;
            }
            let kind = if depth == 0 { "ROOT" } else { "JOINT" };
            let name: String = skeleton.joints()[joint].name.chars().map(plain).collect();
            writeln!(
                out,
                "{tab}{kind} {name}\n{tab}{{\n{tab}\tOFFSET {x:.9} {y:.9} {z:.9}"
            )?;
            let positions = if self.moves[joint] {
                "6 Xposition Yposition Zposition"
            } else {
                "3"
            };
            writeln!(
                out,
                "{tab}\tCHANNELS {positions} Zrotation Xrotation Yrotation"
            )?;
            if skeleton.children(joint).is_empty() {
                writeln!(
                    out,
                    "{tab}\tEnd Site\n{tab}\t{{\n{tab}\t\tOFFSET 0 0 0\n{tab}\t}}"
                )?;
            }
            stack.push((joint, depth, true));
            stack.extend(
                skeleton
                    .children(joint)
                    .iter()
                    .rev()
                    .map(|&child| (child, depth + 1, false)),
            );
        }
        Ok(())
    }

    fn write_frame(
        &self,
        out: &mut impl Write,
        order: &[usize],
        frame: &[(Vec64, Quat)],
    ) -> std::io::Result<()> {
        for (index, &joint) in order.iter().enumerate() {
            let (place, turn) = &frame[joint];
            let [z, x, y] = angles_zxy(turn).map(f64::to_degrees);
            let gap = if index == 0 { "" } else { " " };
            if self.moves[joint] {
                write!(
                    out,
                    "{gap}{:.9} {:.9} {:.9} {z:.7} {x:.7} {y:.7}",
                    place.x, place.y, place.z
                )?;
            } else {
                write!(out, "{gap}{z:.7} {x:.7} {y:.7}")?;
            }
        }
        writeln!(out)
    }
}

/// Names in a `.bvh` end at a space or a brace.
fn plain(c: char) -> char {
    if c.is_whitespace() || c.is_control() || c == '{' || c == '}' {
        '_'
    } else {
        c
    }
}

/// Angles a, b, c such that Rz(a) · Rx(b) · Ry(c) is the rotation.
pub(super) fn angles_zxy(turn: &Quat) -> [f64; 3] {
    let m = turn.to_rotation_matrix().into_inner();
    let sine = m[(2, 1)].clamp(-1.0, 1.0);
    let cosine = m[(0, 1)].hypot(m[(1, 1)]);
    if cosine < 1e-9 {
        return [m[(1, 0)].atan2(m[(0, 0)]), sine.atan2(cosine), 0.0];
    }
    [
        (-m[(0, 1)]).atan2(m[(1, 1)]),
        sine.atan2(cosine),
        (-m[(2, 0)]).atan2(m[(2, 2)]),
    ]
}
