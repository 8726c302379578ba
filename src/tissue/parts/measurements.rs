//! Measurements of the parts on which the decisions are based.

use rayon::prelude::*;

use super::bone_lines::{BoneLengths, BoneLines};
use super::{Parts, Skin};
use crate::math::Point64;
use crate::mesh::TriangleTree;

/// Maximum number of vertices of a part whose distance to the flesh is measured.
const SAMPLES: usize = 200;

/// The skin with its parts, bone lines and search tree.
pub(super) struct PartMeasurements<'a> {
    pub(super) skin: &'a Skin<'a>,
    pub(super) part_of_vertex: &'a [u32],
    pub(super) tree: TriangleTree,
    pub(super) lines: BoneLines,
    /// For every vertex the index of its bone line.
    pub(super) nearest: Vec<Option<u32>>,
    /// For every vertex a third of the area of its triangles.
    pub(super) area: Vec<f64>,
    /// Per part its vertices.
    pub(super) members: Vec<Vec<u32>>,
    /// For every part the joints that move it, each with the area it moves, the largest first.
    pub(super) moving_joints: Vec<Vec<(usize, f64)>>,
    /// For every part the enclosed signed volume.
    pub(super) volume: Vec<f64>,
}

/// Position of a part relative to the flesh, averaged over its area.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FleshProximity {
    /// Mean distance to the flesh.
    pub(super) distance: f64,
    /// Mean thickness of the flesh there: twice its distance to the bone line.
    pub(super) thickness: f64,
    /// Share of its area that has flesh close enough to ride on.
    pub(super) covered: f64,
    /// Share of its area next to flesh that moves with the part's strongest joint.
    pub(super) same: f64,
    /// As `same`, or with the parent or a child of that joint.
    pub(super) related: f64,
}

impl<'a> PartMeasurements<'a> {
    pub(super) fn new(skin: &'a Skin<'a>, parts: &'a Parts) -> Self {
        let mesh = skin.mesh;
        let lines = BoneLines::new(mesh, skin.skeleton, skin.weights);
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
        let mut measured = Self {
            skin,
            part_of_vertex: &parts.part_of_vertex,
            tree,
            lines,
            nearest,
            area,
            members,
            moving_joints: Vec::new(),
            volume,
        };
        measured.moving_joints = (0..parts.parts.len())
            .map(|part| measured.moving_joints_of(part))
            .collect();
        measured
    }

    pub(super) fn part_of_triangle(&self, triangle: u32) -> u32 {
        self.part_of_vertex[self.skin.mesh.triangles[triangle as usize][0] as usize]
    }

    /// The closest point on a vertex's bone line.
    pub(super) fn foot(&self, vertex: usize) -> Option<Point64> {
        let line = &self.lines.lines[self.nearest[vertex]? as usize];
        Some(line.foot(&self.skin.mesh.positions[vertex].cast::<f64>()))
    }

    /// About `count` vertices of a part, or all if it has fewer.
    pub(super) fn sampled(&self, part: usize, count: usize) -> impl Iterator<Item = &u32> {
        let step = (self.members[part].len() / count).max(1);
        self.members[part].iter().step_by(step)
    }

    /// Lengths of the bones inside each part.
    pub(super) fn bone_lengths(&self, sizes: &[f64]) -> Vec<BoneLengths> {
        let moves_part = |part: u32, joint: usize| self.share(part as usize, joint) > 0.05;
        self.lines.bone_lengths(
            &self.tree,
            &|triangle| self.part_of_triangle(triangle),
            sizes,
            &moves_part,
        )
    }

    /// Share of a part's area that moves with a joint.
    fn share(&self, part: usize, joint: usize) -> f64 {
        let moving_joints = &self.moving_joints[part];
        let total: f64 = moving_joints.iter().map(|&(_, area)| area).sum();
        moving_joints
            .iter()
            .find(|&&(moving_joint, _)| moving_joint == joint)
            .map_or(0.0, |&(_, area)| area / total.max(f64::MIN_POSITIVE))
    }

    /// The joint with the largest share in a part, and that share.
    pub(super) fn strongest_joint(&self, part: usize) -> Option<(usize, f64)> {
        let &(joint, _) = self.moving_joints[part].first()?;
        Some((joint, self.share(part, joint)))
    }

    fn moving_joints_of(&self, part: usize) -> Vec<(usize, f64)> {
        let mut moving_joints: Vec<(usize, f64)> = Vec::new();
        let mut add = |joint: usize, area: f64| match moving_joints
            .iter_mut()
            .find(|(moving_joint, _)| *moving_joint == joint)
        {
            Some((_, sum)) => *sum += area,
            None => moving_joints.push((joint, area)),
        };
        for &vertex in &self.members[part] {
            let vertex = vertex as usize;
            // Parts without area have joints, too.
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
        moving_joints.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        moving_joints
    }

    /// Position of a part relative to the surface of the parts marked in `is_flesh`; `None` if there is no flesh.
    pub(super) fn flesh_proximity(
        &self,
        part: usize,
        is_flesh: &[bool],
        size: f64,
    ) -> Option<FleshProximity> {
        let accept = |triangle: u32| is_flesh[self.part_of_triangle(triangle) as usize];
        let strongest_joint = self.strongest_joint(part).map(|(joint, _)| joint);
        let (mut near, mut total) = (FleshProximity::default(), 0.0);
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
            let [same, related] = self.relation(strongest_joint, self.strongest(corner));
            near.same += if same { area } else { 0.0 };
            near.related += if related { area } else { 0.0 };
            total += area;
        }
        (total > 0.0).then(|| FleshProximity {
            distance: near.distance / total,
            thickness: near.thickness / total,
            covered: near.covered / total,
            same: near.same / total,
            related: near.related / total,
        })
    }

    /// Whether two joints are the same, and whether they are the same or parent and child.
    fn relation(&self, a: Option<usize>, b: Option<usize>) -> [bool; 2] {
        let (Some(a), Some(b)) = (a, b) else {
            return [false; 2];
        };
        let joints = self.skin.skeleton.joints();
        let related = a == b || joints[a].parent == Some(b) || joints[b].parent == Some(a);
        [a == b, related]
    }

    /// The joint with the largest weight on a vertex.
    fn strongest(&self, vertex: usize) -> Option<usize> {
        let by_weights = self
            .skin
            .weights
            .and_then(|weights| weights.strongest(vertex));
        by_weights
            .or_else(|| self.nearest[vertex].map(|line| self.lines.lines[line as usize].joint))
    }
}
