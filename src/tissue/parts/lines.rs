//! Bone lines as parts see them, and which of them runs through which part.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::math::{Point64, Vec64};
use crate::mesh::{TriMesh, TriangleTree, closest_on_segment};
use crate::rig::Skeleton;
use crate::weights::SkinWeights;

/// Lines shorter than this part of the size are left out.
const SHORT: f64 = 1e-3;
/// Samples along a line.
const SAMPLES: usize = 12;
/// Rays from a sample.
const RAYS: usize = 24;
/// Part of the rays that must leave a part (minus those that enter it) for the sample to be inside.
const INSIDE: f64 = 0.4;
/// Or this part of the rays hits it at all: a sleeve with two sides.
const SURROUNDED: f64 = 0.7;
/// A bone counts for a part if this much of it is inside, or an end of it (a ball joint): it doesn't for a tooth on its way.
const MUCH: f64 = 0.2;
/// What lies inside a part larger than this many times itself has no bones of its own: eyes in a head, teeth in a jaw.
const LARGER: f64 = 4.0;
/// A tail ends where this part of its skin is.
const TAIL: f64 = 0.8;

/// A bone segment with the joint that carries it.
pub(super) struct Line {
    pub(super) joint: usize,
    pub(super) ends: [Point64; 2],
    /// From a leaf joint into the middle of its skin, rather than to a child.
    pub(super) tail: bool,
}

impl Line {
    pub(super) fn length(&self) -> f64 {
        (self.ends[1] - self.ends[0]).norm()
    }

    /// The closest point of the line.
    pub(super) fn foot(&self, point: &Point64) -> Point64 {
        let [a, b] = self.ends;
        a + (b - a) * closest_on_segment(point, &a, &b)
    }
}

/// Lengths of a part's bones that lie inside of it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Through {
    pub(super) bones: f64,
    pub(super) tails: f64,
}

/// The lines of a skeleton around a skin.
pub(super) struct Lines {
    pub(super) lines: Vec<Line>,
    /// Per joint the lines that it carries; for a joint without any those of its closest ancestor that has some.
    of_joint: Vec<Vec<usize>>,
}

impl Lines {
    pub(super) fn new(mesh: &TriMesh, skeleton: &Skeleton, weights: Option<&SkinWeights>) -> Self {
        let short = SHORT * f64::from(mesh.bounds().size());
        let mut lines = Vec::new();
        let tips = weights.map(|weights| skin_middles(mesh, skeleton, weights));
        for joint in 0..skeleton.len() {
            let here = skeleton.bind_position(joint);
            let before = lines.len();
            for &child in skeleton.children(joint) {
                lines.push(Line {
                    joint,
                    ends: [here, skeleton.bind_position(child)],
                    tail: false,
                });
            }
            lines.retain(|line: &Line| line.length() > short);
            if let (true, Some(Some(middle))) =
                (lines.len() == before, tips.as_ref().map(|tips| tips[joint]))
            {
                let tip = here + (middle - here) * (2.0 * TAIL);
                lines.push(Line {
                    joint,
                    ends: [here, tip],
                    tail: true,
                });
                lines.retain(|line| line.length() > short);
            }
        }
        let mut of_joint: Vec<Vec<usize>> = vec![Vec::new(); skeleton.len()];
        for (index, line) in lines.iter().enumerate() {
            of_joint[line.joint].push(index);
        }
        for joint in 0..skeleton.len() {
            if let (true, Some(parent)) =
                (of_joint[joint].is_empty(), skeleton.joints()[joint].parent)
            {
                let above = of_joint[parent].clone();
                of_joint[joint] = above;
            }
        }
        Self { lines, of_joint }
    }

    /// The line closest to a point among those of the joints that move it, or among all if none of these has any.
    pub(super) fn nearest(
        &self,
        point: &Point64,
        moved_by: impl Iterator<Item = usize>,
    ) -> Option<usize> {
        let mut best = None;
        for joint in moved_by {
            for &line in &self.of_joint[joint] {
                best = closer(best, &self.lines[line], line, point);
            }
        }
        if best.is_none() {
            for (index, line) in self.lines.iter().enumerate() {
                best = closer(best, line, index, point);
            }
        }
        best.map(|(_, index)| index)
    }

    /// For every part, of the sizes given, the lengths of its lines inside of it. `is_of(part, joint)`: whether the joint moves the part.
    pub(super) fn through(
        &self,
        tree: &TriangleTree,
        part_of_triangle: &(dyn Fn(u32) -> u32 + Sync),
        sizes: &[f64],
        is_of: &(dyn Fn(u32, usize) -> bool + Sync),
    ) -> Vec<Through> {
        let directions = directions();
        let found: Vec<Vec<(u32, f64)>> = self
            .lines
            .par_iter()
            .map(|line| inside_parts(line, tree, part_of_triangle, &directions, sizes, is_of))
            .collect();
        let mut through = vec![Through::default(); sizes.len()];
        for (line, found) in self.lines.iter().zip(found) {
            for (part, length) in found {
                let through = &mut through[part as usize];
                *(if line.tail {
                    &mut through.tails
                } else {
                    &mut through.bones
                }) += length;
            }
        }
        through
    }
}

fn closer(
    best: Option<(f64, usize)>,
    line: &Line,
    index: usize,
    point: &Point64,
) -> Option<(f64, usize)> {
    let distance = (line.foot(point) - point).norm_squared();
    if best.is_none_or(|(least, _)| distance < least) {
        Some((distance, index))
    } else {
        best
    }
}

/// For every joint the middle of the skin that follows it before all others.
fn skin_middles(
    mesh: &TriMesh,
    skeleton: &Skeleton,
    weights: &SkinWeights,
) -> Vec<Option<Point64>> {
    let mut sums = vec![(Vec64::zeros(), 0.0); skeleton.len()];
    for (vertex, position) in mesh.positions.iter().enumerate() {
        if let Some(joint) = weights.strongest(vertex) {
            sums[joint].0 += position.cast::<f64>().coords;
            sums[joint].1 += 1.0;
        }
    }
    sums.into_iter()
        .map(|(sum, count)| (count > 0.0).then(|| Point64::from(sum / count)))
        .collect()
}

/// What was seen of one part from one sample.
#[derive(Debug, Clone, Copy)]
struct PartHits {
    /// Rays that leave it minus rays that enter it.
    net: i32,
    /// Rays that hit it.
    hits: usize,
    /// The last ray that did.
    last: usize,
}

/// The parts that a line runs through and for which length.
fn inside_parts(
    line: &Line,
    tree: &TriangleTree,
    part_of_triangle: &(dyn Fn(u32) -> u32 + Sync),
    directions: &[Vec64],
    sizes: &[f64],
    is_of: &(dyn Fn(u32, usize) -> bool + Sync),
) -> Vec<(u32, f64)> {
    // Per part how many samples along the line are inside, and how many ends.
    let mut found: BTreeMap<u32, [usize; 2]> = BTreeMap::new();
    let mut seen: BTreeMap<u32, PartHits> = BTreeMap::new();
    let along = (0..SAMPLES).map(|k| ((k as f64 + 0.5) / SAMPLES as f64, 0));
    let ends = [(0.0, 1), (1.0, 1)]
        .into_iter()
        .take(if line.tail { 1 } else { 2 });
    for (t, kind) in along.chain(ends) {
        let [a, b] = line.ends;
        let origin = a + (b - a) * t;
        seen.clear();
        for (ray, direction) in directions.iter().enumerate() {
            tree.crossings(&origin, direction, [0.0, f64::INFINITY], |crossing| {
                let seen = seen
                    .entry(part_of_triangle(crossing.triangle))
                    .or_insert(PartHits {
                        net: 0,
                        hits: 0,
                        last: usize::MAX,
                    });
                seen.net += if crossing.outward { 1 } else { -1 };
                seen.hits += usize::from(seen.last != ray);
                seen.last = ray;
            });
        }
        let rays = directions.len() as f64;
        let inside = |seen: &PartHits| {
            f64::from(seen.net.abs()) / rays > INSIDE || seen.hits as f64 / rays > SURROUNDED
        };
        let around: Vec<u32> = seen
            .iter()
            .filter(|(_, seen)| inside(seen))
            .map(|(&part, _)| part)
            .collect();
        for &part in &around {
            if around
                .iter()
                .all(|&other| sizes[other as usize] < LARGER * sizes[part as usize])
            {
                found.entry(part).or_default()[kind] += 1;
            }
        }
    }
    let counts = |&(part, [along, ends]): &(u32, [usize; 2])| {
        (along as f64 > MUCH * SAMPLES as f64 || ends > 0) && is_of(part, line.joint)
    };
    found
        .into_iter()
        .filter(counts)
        .map(|(part, [along, _])| (part, line.length() * along as f64 / SAMPLES as f64))
        .collect()
}

/// Unit vectors spread evenly over the sphere, none of them along an axis.
fn directions() -> Vec<Vec64> {
    let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    (0..RAYS)
        .map(|k| {
            let y = 1.0 - 2.0 * (k as f64 + 0.5) / RAYS as f64;
            let (radius, angle) = ((1.0 - y * y).sqrt(), golden * k as f64 + 0.123);
            Vec64::new(radius * angle.cos(), y, radius * angle.sin())
        })
        .collect()
}
