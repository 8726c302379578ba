//! The node hierarchy: parents, order, rest transforms.

use super::document::{Document, Node};
use crate::io::error::{Parsed, bad};
use crate::math::{Affine, Quat, Vec64};
use crate::rig::Trs;

/// The nodes of a document in their places.
pub struct Scene {
    /// Parent of every node.
    pub parent: Vec<Option<usize>>,
    /// Nodes of the scene depth-first from its roots, in the file's order.
    pub visible: Vec<usize>,
    /// As `visible`, then the nodes outside the scene.
    pub all: Vec<usize>,
    /// The transform of every node within its parent.
    pub local: Vec<Affine>,
    /// The rest transform of every node.
    pub world: Vec<Affine>,
}

/// Numbers of a size that keep every product below `f64`'s (and, squared, below `f32`'s) end.
const LARGEST: f64 = 1e15;

impl Scene {
    /// Orders the nodes.
    pub fn of(document: &Document) -> Parsed<Self> {
        let count = document.nodes.len();
        let mut parent: Vec<Option<usize>> = vec![None; count];
        for (i, node) in document.nodes.iter().enumerate() {
            for &child in &node.children {
                match parent[child] {
                    Some(other) if other != i => return bad(format!("node {child} has two parents, {other} and {i}")),
                    Some(_) => return bad(format!("node {i} lists its child {child} twice")),
                    None => parent[child] = Some(i),
                }
            }
        }
        let roots: Vec<usize> = (0..count).filter(|&i| parent[i].is_none()).collect();
        let chosen = document.scenes.get(document.scene.unwrap_or(0));
        let visible = depth_first(document, chosen.map_or(&roots[..], |scene| &scene.nodes))?;
        let all = depth_first(document, &roots)?;
        if all.len() < count {
            let looping = (0..count).find(|i| !all.contains(i)).unwrap_or(0);
            return bad(format!("the nodes form a cycle through node {looping}"));
        }
        let mut seen = vec![false; count];
        let mut ordered = visible.clone();
        for &node in &visible {
            seen[node] = true;
        }
        ordered.extend(all.iter().copied().filter(|&node| !seen[node]));
        let local = (0..count).map(|i| local_of(i, &document.nodes[i])).collect::<Parsed<Vec<_>>>()?;
        let mut world = vec![Affine::identity(); count];
        for &node in &all {
            world[node] = parent[node].map_or(local[node], |p| world[p] * local[node]);
            if !world[node].matrix().iter().all(|c| c.abs() < LARGEST) {
                return bad(format!("the transform of node {node} is not finite"));
            }
        }
        Ok(Self { parent, visible, all: ordered, local, world })
    }
}

/// Without recursion: a file may nest nodes as deep as it likes.
fn depth_first(document: &Document, roots: &[usize]) -> Parsed<Vec<usize>> {
    let mut seen = vec![false; document.nodes.len()];
    let mut order = Vec::new();
    let mut stack: Vec<usize> = roots.iter().rev().copied().collect();
    while let Some(node) = stack.pop() {
        if std::mem::replace(&mut seen[node], true) {
            return bad(format!("node {node} is reached twice: the nodes form a cycle, or the scene lists a node that is no root"));
        }
        order.push(node);
        stack.extend(document.nodes[node].children.iter().rev());
    }
    Ok(order)
}

fn local_of(index: usize, node: &Node) -> Parsed<Affine> {
    if let Some(m) = &node.matrix {
        let matrix = nalgebra::Matrix4::from_column_slice(m);
        if !m.iter().all(|c| c.abs() < LARGEST) {
            return bad(format!("the matrix of node {index} is not finite"));
        }
        return match affine_of(&matrix) {
            Some(affine) => Ok(affine),
            None => bad(format!("the matrix of node {index} is not affine: its last row must be 0 0 0 1")),
        };
    }
    let trs = trs_of(node);
    if trs.to_affine().matrix().iter().all(|c| c.abs() < LARGEST) {
        Ok(trs.to_affine())
    } else {
        bad(format!("the transform of node {index} is not finite"))
    }
}

/// An affine transform, if the last row is 0 0 0 1 within rounding.
pub fn affine_of(matrix: &nalgebra::Matrix4<f64>) -> Option<Affine> {
    let row = matrix.row(3);
    let off = row[0].abs().max(row[1].abs()).max(row[2].abs()).max((row[3] - 1.0).abs());
    if off > 1e-3 {
        return None;
    }
    let mut matrix = *matrix;
    matrix.set_row(3, &nalgebra::RowVector4::new(0.0, 0.0, 0.0, 1.0));
    Some(Affine::from_matrix_unchecked(matrix))
}

/// Translation, rotation (made a unit quaternion; identity if it has no length) and scale of a node without matrix.
pub fn trs_of(node: &Node) -> Trs {
    let rotation = node.rotation.map_or_else(Quat::identity, |[x, y, z, w]| {
        Quat::try_new(nalgebra::Quaternion::new(w, x, y, z), 1e-12).unwrap_or_else(Quat::identity)
    });
    Trs { translation: Vec64::from(node.translation.unwrap_or([0.0; 3])), rotation, scale: Vec64::from(node.scale.unwrap_or([1.0; 3])) }
}
