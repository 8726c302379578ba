//! Files of the Fast Projective Skinning demos: `.skel` (joints), `.anim` (keys) and `.ini` (file
//! list).

use std::path::{Path, PathBuf};

use super::bytes::{numbered_lines, text_of};
use super::error::{ParseProblem, Parsed, bad};
use super::referenced::{abridged, path_of};
use crate::math::{Point64, Quat, Vec64, linear_part};
use crate::rig::{Channel, Clip, Curve, Skeleton, Track, Trs, check_joint_count};

/// Seconds between two keys of an `.anim`; the format stores no times.
const KEY_DISTANCE_SECS: f64 = 1.0;

/// A skeleton, and the joint index of every line of its file.
#[derive(Debug)]
pub(crate) struct SkelFile {
    pub skeleton: Skeleton,
    /// In [`Skeleton`] parents come first; in the file not always.
    pub joint_of_line: Vec<usize>,
}

/// Reads a `.skel`: the number of joints, then a line `x y z name parent` each; the parent of roots is `root`.
pub(crate) fn read_skel(bytes: &[u8]) -> Parsed<SkelFile> {
    let text = text_of(bytes);
    let mut lines = numbered_lines(&text);
    let Some((_, Ok(count))) = lines.next().map(|(i, line)| (i, line.parse::<usize>())) else {
        return bad("the number of joints is expected in the first line");
    };
    if count == 0 || count > text.len() / 5 {
        return bad(format!(
            "declares {count} joints, more than its {} bytes can hold",
            text.len()
        ));
    }
    check_joint_count(count)?;
    let mut joints: Vec<(String, &str, Point64)> = Vec::with_capacity(count);
    for (line, content) in lines.take(count) {
        let words: Vec<&str> = content.split_whitespace().collect();
        let coordinate = |at: usize| {
            words
                .get(at)
                .and_then(|w| w.parse::<f64>().ok())
                .filter(|c| c.abs() < 1e15)
        };
        let (Some(x), Some(y), Some(z), Some(name), Some(parent)) = (
            coordinate(0),
            coordinate(1),
            coordinate(2),
            words.get(3),
            words.get(4),
        ) else {
            return bad(format!(
                "line {line}: \"x y z name parent\" with finite coordinates is expected, not \"{content}\""
            ));
        };
        if joints.iter().any(|joint| joint.0 == *name) {
            return bad(format!("line {line}: joint name is repeated: \"{name}\""));
        }
        joints.push(((*name).to_owned(), parent, Point64::new(x, y, z)));
    }
    if joints.len() < count {
        return bad(format!("ends after {} of {count} joints", joints.len()));
    }
    parents_first(&joints)
}

/// Formats a skeleton as a `.skel` file. Tails become joints `NAME_end`; characters that would end
/// a name become `_`.
pub(crate) fn skel_text(skeleton: &Skeleton) -> String {
    let mut names: Vec<String> = Vec::with_capacity(skeleton.len());
    let mut taken = std::collections::HashSet::new();
    let mut unique = |wanted: &str| {
        let plain: String = wanted
            .chars()
            .map(|c| {
                if c.is_whitespace() || c.is_control() {
                    '_'
                } else {
                    c
                }
            })
            .collect();
        let mut name = plain.clone();
        let mut number = 2;
        // Roots name "root" as their parent: no other joint may have that name.
        while name.is_empty() || !taken.insert(name.clone()) {
            name = format!("{plain}_{number}");
            number += 1;
        }
        name
    };
    for joint in skeleton.joints() {
        names.push(unique(if joint.name == "root" && joint.parent.is_some() {
            "root_"
        } else {
            &joint.name
        }));
    }
    let mut lines = Vec::with_capacity(skeleton.len());
    for (index, joint) in skeleton.joints().iter().enumerate() {
        let at = skeleton.bind_position(index);
        let parent = joint.parent.map_or("root", |parent| names[parent].as_str());
        lines.push(format!(
            "{} {} {} {} {parent}",
            at.x, at.y, at.z, names[index]
        ));
    }
    for (index, joint) in skeleton.joints().iter().enumerate() {
        if let Some(tail) = joint.tail.filter(|_| skeleton.children(index).is_empty()) {
            let end = unique(&format!("{}_end", names[index]));
            lines.push(format!(
                "{} {} {} {end} {}",
                tail.x, tail.y, tail.z, names[index]
            ));
        }
    }
    format!("{}\n{}\n", lines.len(), lines.join("\n"))
}

/// Puts parents before children, otherwise in file order.
fn parents_first(joints: &[(String, &str, Point64)]) -> Parsed<SkelFile> {
    let line_of: std::collections::HashMap<&str, usize> = joints
        .iter()
        .enumerate()
        .map(|(i, joint)| (joint.0.as_str(), i))
        .collect();
    // A joint may itself be named "root" with parent "root": then it is a root.
    let above = |i: usize| {
        line_of
            .get(joints[i].1)
            .copied()
            .filter(|&above| above != i || joints[i].1 != "root")
    };
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); joints.len()];
    let mut roots = Vec::new();
    for (i, (name, parent, _)) in joints.iter().enumerate() {
        match above(i) {
            Some(above) => children[above].push(i),
            None if *parent == "root" => roots.push(i),
            None => {
                return bad(format!(
                    "joint \"{name}\" has the unknown parent \"{parent}\"; the parent of a root is \"root\""
                ));
            }
        }
    }
    let ordered = (0..joints.len()).all(|i| above(i).is_none_or(|above| above < i));
    let order = if ordered {
        (0..joints.len()).collect()
    } else {
        breadth_first(roots, &children)
    };
    if order.len() < joints.len() {
        return bad("the parents of the joints form a cycle");
    }
    let mut joint_of_line = vec![0; joints.len()];
    order
        .iter()
        .enumerate()
        .for_each(|(joint, &line)| joint_of_line[line] = joint);
    let made = |&line: &usize| {
        let (name, _, position) = &joints[line];
        (
            name.clone(),
            above(line).map(|above| joint_of_line[above]),
            *position,
        )
    };
    let made: Vec<_> = order.iter().map(made).collect();
    Ok(SkelFile {
        skeleton: Skeleton::from_positions(&made)?,
        joint_of_line,
    })
}

fn breadth_first(roots: Vec<usize>, children: &[Vec<usize>]) -> Vec<usize> {
    let mut order = roots;
    let mut at = 0;
    while at < order.len() {
        order.extend_from_slice(&children[order[at]]);
        at += 1;
    }
    order
}

/// Reads an `.anim`: `keys joints`, then for every key an integer, an axis per joint and an angle
/// (rad) per joint.
///
/// A key rotates each joint about its axis, given in world axes at rest; descendants rotate with
/// it. Keys are one second apart.
pub(crate) fn read_anim(
    bytes: &[u8],
    name: &str,
    skeleton: &Skeleton,
    joint_of_line: &[usize],
) -> Parsed<Clip> {
    let text = text_of(bytes);
    let mut words = text.split_whitespace();
    let mut next = |what: &str| match words.next().map(|word| (word, word.parse::<f64>())) {
        Some((_, Ok(value))) if value.is_finite() => Ok(value),
        Some((word, _)) => bad(format!("a number ({what}) is expected, not \"{word}\"")),
        None => bad(format!("ends where {what} is expected")),
    };
    let (keys, joints) = (next("the number of keys")?, next("the number of joints")?);
    // Joints at the end of the skeleton that the motion lacks (fingers added later) stay at rest.
    if !(joints >= 1.0 && joints.fract() == 0.0 && joints <= skeleton.len() as f64) {
        return bad(format!(
            "has {joints} joints, the skeleton has {}",
            skeleton.len()
        ));
    }
    let joint_of_line = &joint_of_line[..joints as usize];
    // A key has at least four numbers per joint.
    if !(keys >= 1.0 && keys.fract() == 0.0 && keys * joints * 8.0 <= text.len() as f64) {
        return bad(format!(
            "declares {keys} keys, more than its {} bytes can hold",
            text.len()
        ));
    }
    let bases = rest_bases(skeleton);
    let mut curves: Vec<Vec<nalgebra::Quaternion<f64>>> =
        vec![Vec::with_capacity(keys as usize); skeleton.len()];
    for _ in 0..keys as usize {
        next("the number of a key")?;
        let mut axes = Vec::with_capacity(joint_of_line.len());
        for _ in joint_of_line {
            axes.push(Vec64::new(
                next("an axis")?,
                next("an axis")?,
                next("an axis")?,
            ));
        }
        for (axis, &joint) in axes.iter().zip(joint_of_line) {
            let angle = next("an angle")?;
            let turn = nalgebra::Unit::try_new(*axis, 1e-12)
                .map_or_else(Quat::identity, |axis| Quat::from_axis_angle(&axis, angle));
            let local = bases[joint].inverse()
                * turn
                * bases[joint]
                * skeleton.joints()[joint].rest.rotation;
            curves[joint].push(local.into_inner());
        }
    }
    let times_secs: Vec<f64> = (0..keys as usize)
        .map(|key| key as f64 * KEY_DISTANCE_SECS)
        .collect();
    let moves = curves
        .into_iter()
        .enumerate()
        .filter(|(_, values)| !values.is_empty());
    let track = |(joint, values)| {
        let curve = Curve::linear(times_secs.clone(), values);
        Track {
            joint,
            channel: Channel::Rotation(curve),
        }
    };
    let tracks = moves.map(track).collect();
    Ok(Clip {
        name: name.to_owned(),
        duration_secs: times_secs.last().copied().unwrap_or(0.0),
        tracks,
        morphs: Vec::new(),
    })
}

/// The world axes at rest, in the frame of each joint's local rotation.
fn rest_bases(skeleton: &Skeleton) -> Vec<Quat> {
    let world = skeleton.world_from_joint(&skeleton.rest_pose());
    let base = |joint: &crate::rig::Joint| {
        let transform = joint.parent.map_or(joint.parent_from_base, |p| {
            world[p] * joint.parent_from_base
        });
        if linear_part(&transform) == nalgebra::Matrix3::identity() {
            Quat::identity()
        } else {
            Trs::from_affine(&transform).rotation
        }
    };
    skeleton.joints().iter().map(base).collect()
}

/// The files that a demo's `.ini` names, resolved against its folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Ini {
    pub sim_mesh: Option<PathBuf>,
    pub vis_mesh: Option<PathBuf>,
    pub skeleton: Option<PathBuf>,
    pub animations: Vec<PathBuf>,
}

/// Reads an `.ini`: lines `KEY file [more]`; unknown keys are skipped.
pub(crate) fn read_ini(bytes: &[u8], folder: &Path) -> Parsed<Ini> {
    let text = text_of(bytes);
    let mut ini = Ini::default();
    for line in text.lines() {
        let line = line.split(['#', ';']).next().unwrap_or("");
        let mut words = line
            .split(|c: char| c.is_whitespace() || c == '=')
            .filter(|word| !word.is_empty());
        let (Some(key), Some(file)) = (words.next(), words.next()) else {
            continue;
        };
        let path = || {
            path_of(folder, file).map_err(|problem| {
                let name = abridged(file);
                ParseProblem::new(format!("refers to the file \"{name}\", which {problem}"))
            })
        };
        match key.to_ascii_uppercase().as_str() {
            "SIMMESH" => ini.sim_mesh = Some(path()?),
            "VISMESH" => ini.vis_mesh = Some(path()?),
            "SKELETON" => ini.skeleton = Some(path()?),
            "ANIMATION" => ini.animations.push(path()?),
            _ => {}
        }
    }
    if ini.sim_mesh.is_none() && ini.vis_mesh.is_none() {
        return bad("names no mesh: a line \"SIMMESH file\" is expected");
    }
    Ok(ini)
}

#[cfg(test)]
mod tests;
