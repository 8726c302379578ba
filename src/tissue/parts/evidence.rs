//! What is known about the parts before anything is decided.

use rayon::prelude::*;

use super::lines::{Lines, Through};
use super::{Parts, Skin};
use crate::math::Point64;
use crate::mesh::TriangleTree;

/// Vertices of a part that are held against the flesh.
const SAMPLES: usize = 200;

/// The skin with its parts, bones and boxes.
pub(super) struct Evidence<'a> {
    pub(super) skin: &'a Skin<'a>,
    pub(super) part_of_vertex: &'a [u32],
    pub(super) tree: TriangleTree,
    pub(super) lines: Lines,
    /// Per vertex its bone line.
    pub(super) nearest: Vec<Option<u32>>,
    /// Per vertex a third of the area of its triangles.
    pub(super) area: Vec<f64>,
    /// Per part its vertices.
    pub(super) members: Vec<Vec<u32>>,
    /// Per part the joints that move it and how much area each does, largest first.
    pub(super) movers: Vec<Vec<(usize, f64)>>,
    /// Per part the signed volume inside.
    pub(super) volume: Vec<f64>,
}

/// How a part lies to the flesh.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Nearness {
    /// Mean distance.
    pub(super) distance: f64,
    /// How thick the flesh is there: twice its mean distance to the bone.
    pub(super) thickness: f64,
    /// The part of its area with flesh near enough to ride on.
    pub(super) covered: f64,
    /// The part of its area whose flesh moves with the part's own leading joint.
    pub(super) same: f64,
    /// As `same`, or with the parent or a child of that joint.
    pub(super) related: f64,
}

impl<'a> Evidence<'a> {
    pub(super) fn gather(skin: &'a Skin<'a>, parts: &'a Parts) -> Self {
        let mesh = skin.mesh;
        let lines = Lines::new(mesh, skin.skeleton, skin.weights);
        let moved_by = |vertex: usize| {
            skin.weights
                .into_iter()
                .flat_map(move |weights| weights.of(vertex).map(|(joint, _)| joint))
        };
        let nearest: Vec<Option<u32>> = (0..mesh.positions.len())
            .into_par_iter()
            .map(|v| {
                lines
                    .nearest(&mesh.positions[v].cast::<f64>(), moved_by(v))
                    .map(|line| line as u32)
            })
            .collect();
        let mut area = vec![0.0; mesh.positions.len()];
        let mut volume = vec![0.0; parts.parts.len()];
        for (index, triangle) in mesh.triangles.iter().enumerate() {
            let part = parts.part_of_vertex[triangle[0] as usize] as usize;
            let origin = parts.parts[part].bounds.center().cast::<f64>();
            let [a, b, c] = mesh.corners(index).map(nalgebra::OPoint::cast::<f64>);
            let twice = (b - a).cross(&(c - a));
            if twice.iter().all(|c| c.is_finite()) {
                for &v in triangle {
                    area[v as usize] += twice.norm() / 6.0;
                }
                volume[part] += twice.dot(&(a - origin)) / 6.0;
            }
        }
        let mut members = vec![Vec::new(); parts.parts.len()];
        for (vertex, &part) in parts.part_of_vertex.iter().enumerate() {
            members[part as usize].push(vertex as u32);
        }
        let tree = TriangleTree::new(mesh);
        let mut evidence = Self {
            skin,
            part_of_vertex: &parts.part_of_vertex,
            tree,
            lines,
            nearest,
            area,
            members,
            movers: Vec::new(),
            volume,
        };
        evidence.movers = (0..parts.parts.len())
            .map(|part| evidence.movers_of(part))
            .collect();
        evidence
    }

    pub(super) fn part_of_triangle(&self, triangle: u32) -> u32 {
        self.part_of_vertex[self.skin.mesh.triangles[triangle as usize][0] as usize]
    }

    /// The closest point of a vertex's bone line.
    pub(super) fn foot(&self, vertex: usize) -> Option<Point64> {
        let line = &self.lines.lines[self.nearest[vertex]? as usize];
        Some(line.foot(&self.skin.mesh.positions[vertex].cast::<f64>()))
    }

    /// About `count` vertices of a part, or all if it has fewer.
    pub(super) fn sampled(&self, part: usize, count: usize) -> impl Iterator<Item = &u32> {
        let step = (self.members[part].len() / count).max(1);
        self.members[part].iter().step_by(step)
    }

    /// Lengths of bones inside each part.
    pub(super) fn through(&self, sizes: &[f64]) -> Vec<Through> {
        let is_of = |part: u32, joint: usize| self.share(part as usize, joint) > 0.05;
        self.lines.through(
            &self.tree,
            &|triangle| self.part_of_triangle(triangle),
            sizes,
            &is_of,
        )
    }

    /// Which part of a part moves with a joint.
    fn share(&self, part: usize, joint: usize) -> f64 {
        let movers = &self.movers[part];
        let total: f64 = movers.iter().map(|&(_, area)| area).sum();
        movers
            .iter()
            .find(|&&(mover, _)| mover == joint)
            .map_or(0.0, |&(_, area)| area / total.max(f64::MIN_POSITIVE))
    }

    /// The joint that moves a part more than all others, and which part of it.
    pub(super) fn leader(&self, part: usize) -> Option<(usize, f64)> {
        let &(joint, _) = self.movers[part].first()?;
        Some((joint, self.share(part, joint)))
    }

    fn movers_of(&self, part: usize) -> Vec<(usize, f64)> {
        let mut movers: Vec<(usize, f64)> = Vec::new();
        let mut add =
            |joint: usize, area: f64| match movers.iter_mut().find(|(mover, _)| *mover == joint) {
                Some((_, sum)) => *sum += area,
                None => movers.push((joint, area)),
            };
        for &vertex in &self.members[part] {
            let vertex = vertex as usize;
            // Parts without area still have movers.
            let area = self.area[vertex].max(1e-30);
            let weights = self
                .skin
                .weights
                .filter(|weights| weights.of(vertex).next().is_some());
            match (weights, self.nearest[vertex]) {
                (Some(weights), _) => weights
                    .of(vertex)
                    .for_each(|(joint, value)| add(joint, area * f64::from(value))),
                (None, Some(line)) => add(self.lines.lines[line as usize].joint, area),
                (None, None) => {}
            }
        }
        movers.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        movers
    }

    /// How a part lies to the surface of the parts that `is_flesh` marks; `None` if there is no flesh.
    pub(super) fn nearness(&self, part: usize, is_flesh: &[bool], size: f64) -> Option<Nearness> {
        let accept = |triangle: u32| is_flesh[self.part_of_triangle(triangle) as usize];
        let leader = self.leader(part).map(|(joint, _)| joint);
        let (mut near, mut total) = (Nearness::default(), 0.0);
        for &vertex in self.sampled(part, SAMPLES) {
            let position = self.skin.mesh.positions[vertex as usize].cast::<f64>();
            let Some(closest) = self.tree.closest(&position, f64::INFINITY, accept) else {
                continue;
            };
            let area = self.area[vertex as usize].max(1e-30);
            let corner = self.skin.mesh.triangles[closest.triangle as usize][0] as usize;
            let foot = self.foot(corner).unwrap_or(closest.point);
            let radius = (foot - closest.point).norm();
            let own = self
                .foot(vertex as usize)
                .map_or(f64::INFINITY, |foot| (foot - position).norm());
            let covered = closest.distance < (0.03 * size).max(0.75 * own.min(2.0 * radius));
            near.distance += area * closest.distance;
            near.thickness += area * 2.0 * radius;
            near.covered += if covered { area } else { 0.0 };
            let [same, related] = self.relation(leader, self.strongest(corner));
            near.same += if same { area } else { 0.0 };
            near.related += if related { area } else { 0.0 };
            total += area;
        }
        (total > 0.0).then(|| Nearness {
            distance: near.distance / total,
            thickness: near.thickness / total,
            covered: near.covered / total,
            same: near.same / total,
            related: near.related / total,
        })
    }

    /// Whether two joints are the same, and whether they are that or parent and child.
    fn relation(&self, a: Option<usize>, b: Option<usize>) -> [bool; 2] {
        let (Some(a), Some(b)) = (a, b) else {
            return [false; 2];
        };
        let joints = self.skin.skeleton.joints();
        let related = a == b || joints[a].parent == Some(b) || joints[b].parent == Some(a);
        [a == b, related]
    }

    /// The joint that moves a vertex before all others.
    fn strongest(&self, vertex: usize) -> Option<usize> {
        let by_weights = self
            .skin
            .weights
            .and_then(|weights| weights.strongest(vertex));
        by_weights
            .or_else(|| self.nearest[vertex].map(|line| self.lines.lines[line as usize].joint))
    }
}
