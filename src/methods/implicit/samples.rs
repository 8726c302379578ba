//! Samples of a part: points spread over its skin, and caps that close it at joints.

use crate::math::{Point64, Vec64};
use crate::mesh::TriMesh;
use crate::rig::Skeleton;
use crate::weights::Segment;

use super::caps::{caps, parts_below};
use super::hrbf::Sample;
use super::parts::joint_of_triangle;

/// Samples on the skin of a part.
const SAMPLES: usize = 50;
/// Candidates that the samples are chosen from.
const CANDIDATES: u32 = 900;

/// What a part is made from.
pub(super) struct PartShape {
    /// Its joint.
    pub(super) joint: u32,
    /// On the skin and on its caps, relative to the centre of the skin.
    pub(super) samples: Vec<Sample>,
    /// Largest distance of its vertices from its bones: where its field ends.
    pub(super) radius: f64,
    /// Its bones, relative to the centre of the skin.
    pub(super) bones: Vec<[Point64; 2]>,
}

/// The shapes of all parts, in the order of their joints. `thickness`: the distance of a point from the skin.
pub(super) fn shapes(
    mesh: &TriMesh,
    skeleton: &Skeleton,
    center: &Point64,
    joint_of: &[Option<u32>],
    thickness: &impl Fn(&Point64) -> f64,
) -> Vec<PartShape> {
    let segments = Segment::of(skeleton);
    let normals = mesh.vertex_normals();
    let radii = radii(mesh, skeleton.len(), &segments, joint_of);
    let has_part: Vec<bool> = radii.iter().map(Option::is_some).collect();
    let goes_on = parts_below(skeleton, &has_part);
    let mut vertices: Vec<Vec<Point64>> = vec![Vec::new(); skeleton.len()];
    for (position, joint) in mesh.positions.iter().zip(joint_of) {
        if let Some(joint) = joint {
            vertices[*joint as usize].push(position.cast());
        }
    }
    let mut triangles: Vec<Vec<[u32; 3]>> = vec![Vec::new(); skeleton.len()];
    for &triangle in &mesh.triangles {
        if let Some(joint) = joint_of_triangle(triangle, joint_of) {
            triangles[joint as usize].push(triangle);
        }
    }
    let mut shapes = Vec::new();
    for joint in 0..skeleton.len() {
        let Some(radius) = radii[joint] else {
            continue;
        };
        let mut samples = on_skin(mesh, &normals, &triangles[joint]);
        for cap in caps(skeleton, &segments, joint, &has_part, &goes_on) {
            samples.extend(cap.samples(thickness(&cap.joint), radius, &vertices[joint]));
        }
        for sample in &mut samples {
            sample.at -= center.coords;
        }
        shapes.push(PartShape {
            joint: joint as u32,
            samples,
            radius,
            bones: segments
                .iter()
                .filter(|segment| segment.joint as usize == joint)
                .map(|segment| segment.ends.map(|end| end - center.coords))
                .collect(),
        });
    }
    shapes
}

/// For every joint the largest distance of the vertices of its part, if it has one, from its bones.
fn radii(
    mesh: &TriMesh,
    joints: usize,
    segments: &[Segment],
    joint_of: &[Option<u32>],
) -> Vec<Option<f64>> {
    let mut own: Vec<Vec<Segment>> = vec![Vec::new(); joints];
    for segment in segments {
        own[segment.joint as usize].push(*segment);
    }
    let mut radii: Vec<Option<f64>> = vec![None; joints];
    for (position, joint) in mesh.positions.iter().zip(joint_of) {
        let Some(joint) = joint.map(|joint| joint as usize) else {
            continue;
        };
        let at: Point64 = position.cast();
        let nearest = own[joint]
            .iter()
            .map(|segment| (segment.nearest_to(&at) - at).norm())
            .fold(f64::INFINITY, f64::min);
        let radius = radii[joint].get_or_insert(nearest);
        *radius = radius.max(nearest);
    }
    radii
}

/// Points spread evenly over triangles: of many candidates, each time the one farthest from those chosen (a Poisson-disk set).
fn on_skin(mesh: &TriMesh, normals: &[crate::math::Vec3], triangles: &[[u32; 3]]) -> Vec<Sample> {
    let candidates = candidates(mesh, normals, triangles);
    let Some(first) = candidates.first() else {
        return Vec::new();
    };
    let count = candidates.len() as f64;
    let mean = candidates
        .iter()
        .fold(Vec64::zeros(), |sum, c| sum + c.at.coords)
        / count;
    let mut nearest = vec![f64::INFINITY; candidates.len()];
    let farthest = |nearest: &[f64]| {
        let found = nearest.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        found.map_or(0, |(index, _)| index)
    };
    let from_mean: Vec<f64> = candidates
        .iter()
        .map(|c| (c.at.coords - mean).norm())
        .collect();
    let mut next = farthest(&from_mean);
    let mut chosen = Vec::with_capacity(SAMPLES);
    let mut last = first;
    while chosen.len() < SAMPLES {
        if !chosen.is_empty() && nearest[next] <= 0.0 {
            break;
        }
        last = candidates.get(next).unwrap_or(last);
        chosen.push(*last);
        for (nearest, candidate) in nearest.iter_mut().zip(&candidates) {
            *nearest = nearest.min((candidate.at - last.at).norm());
        }
        next = farthest(&nearest);
    }
    chosen
}

/// Points on triangles, as many to an area everywhere, with interpolated normals.
fn candidates(
    mesh: &TriMesh,
    normals: &[crate::math::Vec3],
    triangles: &[[u32; 3]],
) -> Vec<Sample> {
    let corners = |triangle: &[u32; 3]| triangle.map(|v| mesh.positions[v as usize].cast::<f64>());
    let mut sum = 0.0;
    let until: Vec<f64> = triangles
        .iter()
        .map(|triangle| {
            let [a, b, c] = corners(triangle);
            let area = (b - a).cross(&(c - a)).norm();
            sum += if area.is_finite() { area } else { 0.0 };
            sum
        })
        .collect();
    if sum <= 0.0 {
        return Vec::new();
    }
    let mut candidates = Vec::with_capacity(CANDIDATES as usize);
    for k in 0..CANDIDATES {
        let k = f64::from(k) + 0.5;
        let wanted = k / f64::from(CANDIDATES) * sum;
        let index = until.partition_point(|&until| until < wanted);
        let Some(triangle) = triangles.get(index) else {
            continue;
        };
        // Roberts' sequence of the plastic number fills the square evenly.
        let (mut s, mut t) = ((k * 0.754_877_666).fract(), (k * 0.569_840_291).fract());
        if s + t > 1.0 {
            (s, t) = (1.0 - s, 1.0 - t);
        }
        let [a, b, c] = corners(triangle);
        let [l, m, n] = triangle.map(|v| normals[v as usize].cast::<f64>());
        let normal = (l * (1.0 - s - t) + m * s + n * t).try_normalize(1e-9);
        let normal = normal.or_else(|| (b - a).cross(&(c - a)).try_normalize(0.0));
        if let Some(normal) = normal {
            candidates.push(Sample {
                at: a + (b - a) * s + (c - a) * t,
                normal,
            });
        }
    }
    candidates
}
