//! Bone lines for the classification of parts, and their lengths inside each part.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::math::{Point64, Vec64};
use crate::mesh::{TriMesh, TriangleTree, closest_on_segment};
use crate::rig::Skeleton;
use crate::weights::SkinWeights;

/// Minimum length of a line as a fraction of the size; shorter ones are left out.
const MIN_LENGTH: f64 = 1e-3;
/// Samples along a line.
const SAMPLES: usize = 12;
/// Rays per sample.
const RAYS: usize = 24;
/// A sample is inside a part if this share of the rays leave it (minus those that enter it),
const INSIDE_SHARE: f64 = 0.4;
/// or if this share of the rays hit it at all: a sleeve with two sides.
const HIT_SHARE: f64 = 0.7;
/// A bone counts for a part if this share of it is inside, or one of its ends (a ball joint); a tooth on the way does
/// not count.
const MIN_INSIDE_SHARE: f64 = 0.2;
/// A bone does not count for a part if the part lies inside another one at least this many times larger: eyes in a head,
/// teeth in a jaw.
const ENCLOSING_SIZE_RATIO: f64 = 4.0;
/// Position of a tail's end, relative to the extent of its skin.
const TAIL_FRACTION: f64 = 0.8;

/// A bone segment with the joint that moves it.
pub(super) struct BoneLine {
    pub(super) joint: usize,
    pub(super) ends: [Point64; 2],
    /// Whether it goes from a leaf joint to the middle of its skin, instead of to a child.
    pub(super) tail: bool,
}

impl BoneLine {
    pub(super) fn length(&self) -> f64 {
        (self.ends[1] - self.ends[0]).norm()
    }

    /// The closest point on the line.
    pub(super) fn foot(&self, point: &Point64) -> Point64 {
        let [a, b] = self.ends;
        a + (b - a) * closest_on_segment(point, &a, &b)
    }
}

/// Lengths of bones and tails inside a part, world units.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BoneLengths {
    pub(super) bones: f64,
    pub(super) tails: f64,
}

/// The bone lines of a skeleton.
pub(super) struct BoneLines {
    pub(super) lines: Vec<BoneLine>,
    /// For every joint its lines; for a joint without lines those of its closest ancestor that has some.
    of_joint: Vec<Vec<usize>>,
}

impl BoneLines {
    pub(super) fn new(mesh: &TriMesh, skeleton: &Skeleton, weights: Option<&SkinWeights>) -> Self {
        let short = MIN_LENGTH * f64::from(mesh.bounds().size());
        let mut lines = Vec::new();
        let tips = weights.map(|weights| skin_centres(mesh, skeleton, weights));
        for joint in 0..skeleton.len() {
            let here = skeleton.bind_position(joint);
            let before = lines.len();
            for &child in skeleton.children(joint) {
                lines.push(BoneLine {
                    joint,
                    ends: [here, skeleton.bind_position(child)],
                    tail: false,
                });
            }
            lines.retain(|line: &BoneLine| line.length() > short);
            if let (true, Some(Some(centre))) =
                (lines.len() == before, tips.as_ref().map(|tips| tips[joint]))
            {
                let tip = here + (centre - here) * (2.0 * TAIL_FRACTION);
                lines.push(BoneLine {
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

    /// The line closest to a point among those of the joints that move it; among all lines if these joints have none.
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

    /// For every part, of the given sizes, the length of its lines inside it. `moves_part(part, joint)` tells whether the
    /// joint moves the part.
    pub(super) fn bone_lengths(
        &self,
        tree: &TriangleTree,
        part_of_triangle: &(dyn Fn(u32) -> u32 + Sync),
        sizes: &[f64],
        moves_part: &(dyn Fn(u32, usize) -> bool + Sync),
    ) -> Vec<BoneLengths> {
        let directions = directions();
        let found: Vec<Vec<(u32, f64)>> = self
            .lines
            .par_iter()
            .map(|line| inside_parts(line, tree, part_of_triangle, &directions, sizes, moves_part))
            .collect();
        let mut bone_lengths = vec![BoneLengths::default(); sizes.len()];
        for (line, found) in self.lines.iter().zip(found) {
            for (part, length) in found {
                let bone_lengths = &mut bone_lengths[part as usize];
                *(if line.tail {
                    &mut bone_lengths.tails
                } else {
                    &mut bone_lengths.bones
                }) += length;
            }
        }
        bone_lengths
    }
}

fn closer(
    best: Option<(f64, usize)>,
    line: &BoneLine,
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

/// For every joint the mean position of the vertices on which it has the largest weight.
fn skin_centres(
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

/// Hits of one part by the rays of one sample.
#[derive(Debug, Clone, Copy)]
struct PartHits {
    /// Number of rays that leave it, minus those that enter it.
    net: i32,
    /// Number of rays that hit it.
    hits: usize,
    /// The last ray that hit it.
    last: usize,
}

/// The parts that a line runs through, with the length inside each.
fn inside_parts(
    line: &BoneLine,
    tree: &TriangleTree,
    part_of_triangle: &(dyn Fn(u32) -> u32 + Sync),
    directions: &[Vec64],
    sizes: &[f64],
    moves_part: &(dyn Fn(u32, usize) -> bool + Sync),
) -> Vec<(u32, f64)> {
    // For every part the number of samples along the line that are inside, and the number of ends.
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
            f64::from(seen.net.abs()) / rays > INSIDE_SHARE || seen.hits as f64 / rays > HIT_SHARE
        };
        let around: Vec<u32> = seen
            .iter()
            .filter(|(_, seen)| inside(seen))
            .map(|(&part, _)| part)
            .collect();
        for &part in &around {
            if around
                .iter()
                .all(|&other| sizes[other as usize] < ENCLOSING_SIZE_RATIO * sizes[part as usize])
            {
                found.entry(part).or_default()[kind] += 1;
            }
        }
    }
    let counts = |&(part, [along, ends]): &(u32, [usize; 2])| {
        (along as f64 > MIN_INSIDE_SHARE * SAMPLES as f64 || ends > 0)
            && moves_part(part, line.joint)
    };
    found
        .into_iter()
        .filter(counts)
        .map(|(part, [along, _])| (part, line.length() * along as f64 / SAMPLES as f64))
        .collect()
}

/// Unit vectors distributed evenly over the sphere, none of them along an axis.
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
