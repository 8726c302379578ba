//! The node hierarchy: parents, order, rest transforms.

use gltf::json::{Index, Node, Root, scene::UnitQuaternion};

use super::document::{children, number};
use crate::io::error::{Parsed, bad};
use crate::math::{Affine, Quat, Vec64};
use crate::rig::Trs;

/// The node hierarchy of a document.
pub struct NodeTree {
    /// Parent of every node.
    pub parent: Vec<Option<usize>>,
    /// Nodes of the scene depth-first from its roots, in file order.
    pub visible: Vec<usize>,
    /// As `visible`, followed by the nodes outside the scene.
    pub all: Vec<usize>,
    /// All nodes, parents before children.
    pub downwards: Vec<usize>,
    /// The transform of every node relative to its parent.
    pub local: Vec<Affine>,
    /// The rest transform of every node.
    pub world: Vec<Affine>,
}

/// Magnitude limit that keeps every product within the range of `f64` (and its square within that
/// of `f32`).
const LARGEST: f64 = 1e15;

impl NodeTree {
    /// Orders the nodes.
    pub fn of(root: &Root) -> Parsed<Self> {
        let count = root.nodes.len();
        let mut parent: Vec<Option<usize>> = vec![None; count];
        for (i, node) in root.nodes.iter().enumerate() {
            for child in children(node) {
                match parent[child] {
                    Some(other) if other != i => {
                        return bad(format!("node {child} has two parents, {other} and {i}"));
                    }
                    Some(_) => return bad(format!("node {i} lists its child {child} twice")),
                    None => parent[child] = Some(i),
                }
            }
        }
        let roots: Vec<usize> = (0..count).filter(|&i| parent[i].is_none()).collect();
        let chosen = root.scenes.get(number(root.scene).unwrap_or(0));
        let top = chosen.map_or_else(
            || roots.clone(),
            |scene| scene.nodes.iter().map(Index::value).collect(),
        );
        let visible = depth_first(root, &top)?;
        let all = depth_first(root, &roots)?;
        if all.len() < count {
            let mut reached = vec![false; count];
            for &node in &all {
                reached[node] = true;
            }
            let looping = reached.iter().position(|reached| !reached).unwrap_or(0);
            return bad(format!("the nodes form a cycle through node {looping}"));
        }
        let mut seen = vec![false; count];
        let mut ordered = visible.clone();
        for &node in &visible {
            seen[node] = true;
        }
        ordered.extend(all.iter().copied().filter(|&node| !seen[node]));
        let local = (0..count)
            .map(|i| local_of(i, &root.nodes[i]))
            .collect::<Parsed<Vec<_>>>()?;
        let mut world = vec![Affine::identity(); count];
        for &node in &all {
            world[node] = parent[node].map_or(local[node], |p| world[p] * local[node]);
            if !world[node].matrix().iter().all(|c| c.abs() < LARGEST) {
                return bad(format!("the transform of node {node} is not finite"));
            }
        }
        Ok(Self {
            parent,
            visible,
            all: ordered,
            downwards: all,
            local,
            world,
        })
    }
}

/// Iterative: nesting in a file may be arbitrarily deep.
fn depth_first(root: &Root, roots: &[usize]) -> Parsed<Vec<usize>> {
    let mut seen = vec![false; root.nodes.len()];
    let mut order = Vec::new();
    let mut stack: Vec<usize> = roots.iter().rev().copied().collect();
    while let Some(node) = stack.pop() {
        if std::mem::replace(&mut seen[node], true) {
            return bad(format!(
                "node {node} is reached twice: the nodes form a cycle, or the scene lists a node that is not a root"
            ));
        }
        order.push(node);
        stack.extend(children(&root.nodes[node]).rev());
    }
    Ok(order)
}

fn local_of(index: usize, node: &Node) -> Parsed<Affine> {
    if let Some(m) = &node.matrix {
        let matrix = nalgebra::Matrix4::from_column_slice(m).cast::<f64>();
        if !matrix.iter().all(|c| c.abs() < LARGEST) {
            return bad(format!("the matrix of node {index} is not finite"));
        }
        return match affine_of(&matrix) {
            Some(affine) => Ok(affine),
            None => bad(format!(
                "the matrix of node {index} is not affine: its last row must be 0 0 0 1"
            )),
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
pub(crate) fn affine_of(matrix: &nalgebra::Matrix4<f64>) -> Option<Affine> {
    let row = matrix.row(3);
    let off = row[0]
        .abs()
        .max(row[1].abs())
        .max(row[2].abs())
        .max((row[3] - 1.0).abs());
    if off > 1e-3 {
        return None;
    }
    let mut matrix = *matrix;
    matrix.set_row(3, &nalgebra::RowVector4::new(0.0, 0.0, 0.0, 1.0));
    Some(Affine::from_matrix_unchecked(matrix))
}

/// Translation, rotation (normalised; identity if it has no length) and scale of a node without
/// matrix.
pub(crate) fn trs_of(node: &Node) -> Trs {
    let rotation = node
        .rotation
        .map_or_else(Quat::identity, |UnitQuaternion([x, y, z, w])| {
            Quat::try_new(nalgebra::Quaternion::new(w, x, y, z).cast(), 1e-12)
                .unwrap_or_else(Quat::identity)
        });
    let vector = |v: [f32; 3]| Vec64::from(v.map(f64::from));
    Trs {
        translation: vector(node.translation.unwrap_or([0.0; 3])),
        rotation,
        scale: vector(node.scale.unwrap_or([1.0; 3])),
    }
}
