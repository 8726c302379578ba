//! Stretched skeleton graph: the same bones and lengths, but with the largest possible angles between the bones at
//! every node (180° for two, 120° for three, …). PS figure 4, FPS figure 3.2: there, averaging of foot points cannot
//! get stuck between two bones that enclose a small angle.

use super::BoneGraph;
use crate::math::{Point64, Vec64};

/// Positions of all nodes of the stretched graph; connected parts are placed far apart. Cycles, which a tree of joints
/// cannot have, are cut.
pub(super) fn stretched_nodes(graph: &BoneGraph) -> Vec<Point64> {
    let total: f64 = (0..graph.bones.len()).map(|bone| graph.length(bone)).sum();
    let mut positions: Vec<Option<Point64>> = vec![None; graph.nodes.len()];
    let mut parts = 0;
    for root in 0..graph.nodes.len() {
        if positions[root].is_some() {
            continue;
        }
        positions[root] = Some(Point64::new(0.0, 0.0, 10.0 * total * f64::from(parts)));
        parts += 1;
        let mut stack = vec![(root, None)];
        while let Some((node, incoming)) = stack.pop() {
            let Some(here) = positions[node] else {
                continue;
            };
            let open: Vec<usize> = graph.nodes[node]
                .bones
                .iter()
                .copied()
                .filter(|&bone| positions[graph.other_end(bone, node)].is_none())
                .collect();
            let directions = spread_directions(incoming, open.len());
            for (&bone, direction) in open.iter().zip(directions) {
                let next = graph.other_end(bone, node);
                if positions[next].is_none() {
                    positions[next] = Some(here + direction * graph.length(bone));
                    stack.push((next, Some(direction)));
                }
            }
        }
    }
    positions
        .into_iter()
        .map(Option::unwrap_or_default)
        .collect()
}

/// `count` unit directions of the bones leaving a node, as far as possible from each other and from the incoming bone
/// (along `incoming`).
fn spread_directions(incoming: Option<Vec64>, count: usize) -> Vec<Vec64> {
    let forward = incoming.unwrap_or_else(Vec64::x);
    let side = if forward.x.abs() < 0.7 {
        forward.cross(&Vec64::x())
    } else {
        forward.cross(&Vec64::y())
    }
    .normalize();
    let back = incoming.map(|d| -d);
    match (count, back) {
        (0, _) => Vec::new(),
        (1, _) => vec![forward],
        (2, None) => vec![forward, -forward],
        // In one plane, 120° apart.
        (2, Some(_)) => [1.0, -1.0]
            .map(|s| forward * 0.5 + side * (s * 0.75_f64.sqrt()))
            .to_vec(),
        _ => repel(back, count, &forward, &side),
    }
}

/// Directions that repel each other and `fixed` on the unit sphere; deterministic.
fn repel(fixed: Option<Vec64>, count: usize, forward: &Vec64, side: &Vec64) -> Vec<Vec64> {
    let up = forward.cross(side);
    // Initial directions on a spiral around `forward`.
    let mut directions: Vec<Vec64> = (0..count)
        .map(|k| {
            let height = 1.0 - 1.6 * (k as f64 + 0.5) / count as f64;
            let angle = 2.399_963 * k as f64;
            let ring = (1.0 - height * height).sqrt();
            forward * height + side * (ring * angle.cos()) + up * (ring * angle.sin())
        })
        .collect();
    for _ in 0..1000 {
        for k in 0..count {
            let others = directions
                .iter()
                .enumerate()
                .filter(|&(other, _)| other != k)
                .map(|(_, d)| *d)
                .chain(fixed);
            let push: Vec64 = others
                .map(|d| (directions[k] - d) / (directions[k] - d).norm().max(1e-6).powi(3))
                .sum();
            directions[k] = (directions[k] + push * 0.05).normalize();
        }
    }
    directions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_bones_make_a_tetrahedron() {
        let incoming = Vec64::new(0.0, 0.6, 0.8);
        let directions = spread_directions(Some(incoming), 3);
        for (k, d) in directions.iter().enumerate() {
            assert!(
                (d.dot(&-incoming) + 1.0 / 3.0).abs() < 1e-2,
                "{d} {incoming}"
            );
            for other in &directions[k + 1..] {
                assert!((d.dot(other) + 1.0 / 3.0).abs() < 1e-2);
            }
        }
    }
}
