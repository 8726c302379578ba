//! `.tgf` skeletons (libigl): numbered points, a line `#`, bones between them, optionally another
//! line `#` and pseudo-edges.
//!
//! A point's line is `number x y z`, with optional further fields; a bone's line is `from to`,
//! optionally with three flags: bone, pseudo-edge, cage edge. Pseudo-edges and cage edges are
//! ignored. Points without a bone are handles: they become separate joints.

use std::collections::HashMap;

use super::bytes::{numbered_lines, text_of};
use super::error::{Parsed, bad};
use crate::math::Point64;
use crate::rig::{Skeleton, check_joint_count};

/// A skeleton, and the joint of each column of a `.dmat`.
#[derive(Debug)]
pub(crate) struct TgfFile {
    pub skeleton: Skeleton,
    /// libigl's order: handles, then bones. The weights of a bone belong to the joint at its start.
    pub joint_of_column: Vec<usize>,
}

/// Reads a skeleton; bones point away from the joint at which no bone ends.
pub(crate) fn read(bytes: &[u8]) -> Parsed<TgfFile> {
    let text = text_of(bytes);
    let mut lines = numbered_lines(&text);
    let mut places: Vec<(&str, Point64)> = Vec::new();
    let mut index_of: HashMap<&str, usize> = HashMap::new();
    for (line, content) in lines
        .by_ref()
        .take_while(|(_, content)| !content.starts_with('#'))
    {
        let words: Vec<&str> = content.split_whitespace().collect();
        let coordinate = |at: usize| {
            words
                .get(at)
                .and_then(|w| w.parse::<f64>().ok())
                .filter(|c| c.abs() < 1e15)
        };
        let (Some(name), Some(x), Some(y), Some(z)) =
            (words.first(), coordinate(1), coordinate(2), coordinate(3))
        else {
            return bad(format!(
                "line {line}: \"number x y z\" with finite coordinates is expected, not \"{content}\""
            ));
        };
        if index_of.insert(name, places.len()).is_some() {
            return bad(format!("line {line}: point {name} is repeated"));
        }
        places.push((name, Point64::new(x, y, z)));
    }
    let mut bones = Vec::new();
    // A second "#" ends the bones; pseudo-edges follow.
    for (line, content) in lines.take_while(|(_, content)| !content.starts_with('#')) {
        let words: Vec<&str> = content.split_whitespace().collect();
        let end = |at: usize| words.get(at).and_then(|name| index_of.get(name)).copied();
        let (Some(from), Some(to)) = (end(0), end(1)) else {
            return bad(format!(
                "line {line}: the numbers of two places are expected, not \"{content}\""
            ));
        };
        if words.get(2).is_none_or(|flag| *flag != "0") {
            bones.push([from, to]);
        }
    }
    if places.is_empty() {
        return bad("the file contains no joints");
    }
    check_joint_count(places.len())?;
    assemble(&places, &bones)
}

fn assemble(places: &[(&str, Point64)], bones: &[[usize; 2]]) -> Parsed<TgfFile> {
    let mut beside: Vec<Vec<usize>> = vec![Vec::new(); places.len()];
    let mut ends = vec![0_usize; places.len()];
    for &[from, to] in bones {
        beside[from].push(to);
        beside[to].push(from);
        ends[to] += 1;
    }
    // Roots first: where no bone ends; then any remaining point.
    let mut tops: Vec<usize> = (0..places.len()).filter(|&v| ends[v] == 0).collect();
    tops.extend((0..places.len()).filter(|&v| ends[v] != 0));
    let mut joint_of: Vec<Option<usize>> = vec![None; places.len()];
    let mut parent_of: Vec<Option<usize>> = vec![None; places.len()];
    let mut order: Vec<usize> = Vec::with_capacity(places.len());
    for top in tops {
        let mut at = order.len();
        if joint_of[top].is_none() {
            joint_of[top] = Some(order.len());
            order.push(top);
        }
        while at < order.len() {
            let place = order[at];
            at += 1;
            for &next in &beside[place] {
                if joint_of[next].is_none() {
                    joint_of[next] = Some(order.len());
                    parent_of[next] = Some(place);
                    order.push(next);
                }
            }
        }
    }
    // Every other joint has exactly one incoming bone.
    let mut reached = vec![false; places.len()];
    let mut upper = |&[from, to]: &[usize; 2]| {
        let ends = [(from, to), (to, from)];
        let (upper, lower) = ends
            .into_iter()
            .find(|&(upper, lower)| parent_of[lower] == Some(upper))?;
        (!std::mem::replace(&mut reached[lower], true)).then_some(upper)
    };
    let handles = (0..places.len()).filter(|&v| beside[v].is_empty());
    let mut columns: Vec<usize> = handles.collect();
    for bone in bones {
        let Some(upper) = upper(bone) else {
            let [from, to] = bone.map(|v| places[v].0);
            return bad(format!(
                "the bone from {from} to {to} closes a cycle; a skeleton must be a tree"
            ));
        };
        columns.push(upper);
    }
    let made = |&v: &usize| {
        (
            format!("joint{}", places[v].0),
            parent_of[v].and_then(|p| joint_of[p]),
            places[v].1,
        )
    };
    let skeleton = Skeleton::from_positions(&order.iter().map(made).collect::<Vec<_>>())?;
    Ok(TgfFile {
        skeleton,
        joint_of_column: columns.iter().filter_map(|&v| joint_of[v]).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bones_become_a_tree_and_columns_map_to_joints() {
        // A handle 9; a chain 1 → 2 → 3 with a branch 2 → 4, in arbitrary order; a cage edge.
        let text = "3 2 0 0 garbage\n1 0 0 0\n2 1 0 0\n4 1 1 0\n9 5 5 5\n#\n2 3\n1 2 1 0 0\n2 4\n9 1 0 0 1\n#\n3 9\n";
        let read = read(text.as_bytes()).unwrap();
        let names: Vec<_> = read
            .skeleton
            .joints()
            .iter()
            .map(|j| (j.name.as_str(), j.parent))
            .collect();
        assert_eq!(
            names,
            [
                ("joint1", None),
                ("joint2", Some(0)),
                ("joint3", Some(1)),
                ("joint4", Some(1)),
                ("joint9", None)
            ]
        );
        assert_eq!(read.joint_of_column, [4, 1, 0, 1]);
        assert!((read.skeleton.bind_position(3) - Point64::new(1.0, 1.0, 0.0)).norm() < 1e-12);
    }

    #[test]
    fn bones_that_point_inwards_still_make_a_tree() {
        let read = read(b"1 0 0 0\n2 1 0 0\n3 2 0 0\n#\n1 2\n3 2\n").unwrap();
        assert_eq!(
            read.skeleton
                .joints()
                .iter()
                .map(|j| j.parent)
                .collect::<Vec<_>>(),
            [None, Some(0), Some(1)]
        );
        assert_eq!(read.joint_of_column, [0, 1]);
    }

    #[test]
    fn cycles_and_unknown_points_are_rejected() {
        let places = "1 0 0 0\n2 1 0 0\n3 0 1 0\n#\n";
        for bones in ["1 2\n2 3\n3 1", "1 2\n1 2", "1 1", "1 7", "1"] {
            assert!(
                super::read(format!("{places}{bones}").as_bytes()).is_err(),
                "{bones}"
            );
        }
        for text in ["", "#", "1 0 0", "1 0 0 nan", "1 0 0 0\n1 1 1 1"] {
            assert!(super::read(text.as_bytes()).is_err(), "{text}");
        }
    }
}
