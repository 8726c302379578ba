mod skins;

use nalgebra::Matrix3;

pub(crate) use self::skins::bar_character;
use super::energy::{
    Sample, blended_linearly, elastic_energy, quaternion_angle, quaternion_weights,
};
use super::region::Region;
use super::rounds;
use super::*;
use crate::math::{Point, Point64, Vec3, Vec64};
use crate::mesh::TriMesh;
use crate::mesh::shapes::{ball, joined, moved, tube};
use crate::numerics::{Cholesky, Ordering, SymmetricMatrix};
use crate::progress::Progress;
use crate::rig::Skeleton;
use crate::weights::voxel::{BONE_RADIUS, Grid, VoxelBinding, VoxelDomain};
use crate::weights::{SkinWeights, WeightError};

/// The bar: a cylinder of radius 1 along z from −5 to 5, as the cells that it touches.
pub(crate) fn bar(h: f64) -> VoxelDomain {
    let half = [1.0, 1.0, 5.0].map(|length: f64| (length / h).round() as u32 + 1);
    let grid = Grid {
        origin: Point64::from(nalgebra::Vector3::from(half.map(f64::from)) * -h),
        edge: h,
        cells: half.map(|n| 2 * n),
    };
    let nearest = |cell: u32, half: u32| {
        let low = f64::from(cell) - f64::from(half);
        low.max(-1.0 - low).max(0.0) * h
    };
    let mut cells = Vec::new();
    for z in 0..grid.cells[2] {
        for y in 0..grid.cells[1] {
            for x in 0..grid.cells[0] {
                if nearest(x, half[0]).hypot(nearest(y, half[1])) <= 1.0 + 1e-9 {
                    cells.push([x, y, z]);
                }
            }
        }
    }
    VoxelDomain::from_cells(grid, cells)
}

/// For every node of the bar the value that a bone with a radius below ½ fixes: 1 on the upper one (z > 0), 0 on the lower one.
fn volume_bones(domain: &VoxelDomain) -> Vec<Option<f64>> {
    (0..domain.nodes.len())
        .map(|node| {
            let at = domain.position(node);
            let value = 0.5
                + 0.5
                    * if at.z.abs() < 1e-9 {
                        0.0
                    } else {
                        at.z.signum()
                    };
            (at.x.hypot(at.y) < 0.5 - 1e-9).then_some(value)
        })
        .collect()
}

/// The same of the nodes of the cells that the bones' segments run through: x and y in 0…h. The bones meet in the cell layer −h…0; nodes of
/// both are free.
fn line_bones(domain: &VoxelDomain) -> Vec<Option<f64>> {
    let h = domain.grid.edge;
    let inside = |x: f64| (-1e-9..h + 1e-9).contains(&x);
    (0..domain.nodes.len())
        .map(|node| {
            let at = domain.position(node);
            let is_of_both = (-h - 1e-9..1e-9).contains(&at.z);
            let value = if at.z > 0.0 { 1.0 } else { 0.0 };
            (inside(at.x) && inside(at.y) && !is_of_both).then_some(value)
        })
        .collect()
}

/// The harmonic field with these values fixed.
pub(crate) fn harmonic(domain: &VoxelDomain, fixed: &[Option<f64>]) -> Vec<f64> {
    let mut unknown_of = vec![None; fixed.len()];
    let mut unknowns = 0;
    for (node, value) in fixed.iter().enumerate() {
        if value.is_none() {
            unknown_of[node] = Some(unknowns);
            unknowns += 1;
        }
    }
    let mut right = vec![0.0; unknowns];
    let mut entries = Vec::new();
    for (a, b, value) in domain.laplacian().entries() {
        match (unknown_of[a], unknown_of[b]) {
            (Some(i), Some(j)) => entries.push((i, j, value)),
            (Some(i), None) => right[i] -= value * fixed[b].unwrap(),
            (None, Some(j)) => right[j] -= value * fixed[a].unwrap(),
            (None, None) => {}
        }
    }
    let matrix = SymmetricMatrix::from_triplets(unknowns, entries);
    let factor = Cholesky::<f64>::factor(&matrix, Ordering::default()).unwrap();
    factor.solve(&mut right);
    (0..fixed.len())
        .map(|node| fixed[node].unwrap_or_else(|| right[unknown_of[node].unwrap()]))
        .collect()
}

fn region(domain: &VoxelDomain, fixed: &[Option<f64>], start: &[f64]) -> Region {
    let is_fixed: Vec<bool> = fixed.iter().map(Option::is_some).collect();
    Region::new(
        domain,
        &is_fixed,
        start,
        &Point64::origin(),
        &frame_of(&Vec64::z()),
    )
}

/// The field on all nodes.
fn on_domain(region: &Region, fixed: &[Option<f64>], start: &[f64], values: &[f64]) -> Vec<f64> {
    let mut all: Vec<f64> = fixed
        .iter()
        .zip(start)
        .map(|(fixed, start)| fixed.unwrap_or(start.round()))
        .collect();
    for (&node, &value) in region.nodes.iter().zip(values) {
        all[node as usize] = value;
    }
    all
}

/// Σₖ E(vₖ(w)) over the samples of the bar's joint.
fn energy(domain: &VoxelDomain, turns: Turns, w: &[f64]) -> f64 {
    let frame = frame_of(&Vec64::z());
    turns
        .samples()
        .iter()
        .map(|&(axis, sign)| {
            let axis = nalgebra::Unit::new_unchecked(frame.row(axis).transpose());
            let angle = f64::from(sign) * std::f64::consts::FRAC_PI_2;
            let rotation: Matrix3<f64> =
                nalgebra::Rotation3::from_axis_angle(&axis, angle).into_inner();
            elastic_energy(
                domain,
                &blended_linearly(domain, &Point64::origin(), &rotation, w),
            )
        })
        .sum()
}

/// Where the mean of a field over the nodes of a plane z = const crosses a value.
fn crossing(domain: &VoxelDomain, w: &[f64], value: f64) -> f64 {
    let layers = domain.grid.cells[2] as usize + 1;
    let mut sums = vec![(0.0, 0.0); layers];
    for (node, at) in domain.nodes.iter().enumerate() {
        let on = domain.position(node);
        // The skin: the outermost nodes.
        if (on.x.hypot(on.y) - 1.0).abs() < 0.5 * domain.grid.edge {
            let sum = &mut sums[at[2] as usize];
            *sum = (sum.0 + w[node], sum.1 + 1.0);
        }
    }
    let mean: Vec<f64> = sums.iter().map(|(sum, count)| sum / count).collect();
    let k = mean
        .windows(2)
        .position(|m| m[0] < value && m[1] >= value)
        .unwrap();
    let t = (value - mean[k]) / (mean[k + 1] - mean[k]);
    domain.grid.position([0.0, 0.0, k as f64 + t]).z
}

/// The optimised fields of the bar on all nodes, swing and twist, and the start.
fn bar_fields(domain: &VoxelDomain, fixed: &[Option<f64>]) -> ([Vec<f64>; 2], Vec<f64>) {
    let start = harmonic(domain, fixed);
    let region = region(domain, fixed, &start);
    let made = rounds::fields(&region, &frame_of(&Vec64::z()), &Progress::new()).unwrap();
    let fields = made.map(|values| on_domain(&region, fixed, &start, &values));
    (fields, start)
}

/// The domain of the bar with bones that are lines, and its swing and twist field.
pub(crate) fn line_bar() -> (VoxelDomain, [Vec<f64>; 2]) {
    let domain = bar(0.25);
    let (fields, _) = bar_fields(&domain, &line_bones(&domain));
    (domain, fields)
}

fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!(
        (value / expected - 1.0).abs() <= tolerance,
        "{value} instead of {expected}"
    );
}

#[test]
fn energies_of_the_bar_are_those_of_the_prototype() {
    let domain = bar(0.25);
    assert_eq!(domain.nodes.len(), 3827);
    let (fields, start) = bar_fields(&domain, &line_bones(&domain));
    let expected = [(Turns::Swing, 91.4, 69.0), (Turns::Twist, 36.0, 33.2)];
    for ((turns, first, last), field) in expected.into_iter().zip(&fields) {
        assert_near(energy(&domain, turns, &start), first, 0.03);
        assert_near(energy(&domain, turns, field), last, 0.03);
    }
    for field in &fields {
        assert!(field.iter().all(|w| (-1e-3..=1.001).contains(w)));
    }
}

#[test]
fn bones_with_volume_centre_the_fields_and_set_their_widths() {
    let domain = bar(0.125);
    let (fields, _) = bar_fields(&domain, &volume_bones(&domain));
    for (field, width) in fields.iter().zip([1.30, 1.64]) {
        let [low, high] = [0.1, 0.9].map(|value| crossing(&domain, field, value));
        assert_near(high - low, width, 0.05);
        assert!((high + low).abs() < 1e-3, "from {low} to {high}");
    }
}

/// A local minimum: no change of the free values lowers the energy further than the stopping rule allows.
#[test]
fn the_energy_of_the_result_is_lowest_along_smooth_changes() {
    let domain = bar(0.25);
    let fixed = line_bones(&domain);
    let (fields, start) = bar_fields(&domain, &fixed);
    for (turns, field) in [Turns::Swing, Turns::Twist].into_iter().zip(&fields) {
        let best = energy(&domain, turns, field);
        for amount in [-0.1, 0.1] {
            let bumped: Vec<f64> = (0..field.len())
                .map(|node| {
                    let z = domain.position(node).z;
                    let bump = amount * (-z * z).exp();
                    fixed[node].unwrap_or(field[node] + bump)
                })
                .collect();
            assert!(energy(&domain, turns, &bumped) > best);
        }
        let towards_start: Vec<f64> = field
            .iter()
            .zip(&start)
            .map(|(w, start)| 0.8 * w + 0.2 * start)
            .collect();
        assert!(energy(&domain, turns, &towards_start) > best);
    }
}

#[test]
fn dual_quaternions_turn_by_the_closed_form() {
    let quarter = std::f64::consts::FRAC_PI_2;
    let expected = [
        (0.1, 8.3326, 1.49292),
        (0.25, 21.5982, 1.58871),
        (0.5, 45.0, 1.65685),
    ];
    for (w, degrees, slope) in expected {
        let [angle, derivative] = quaternion_angle(quarter, w);
        assert!((angle.to_degrees() - degrees).abs() < 1e-3, "{angle}");
        assert!((derivative - slope).abs() < 1e-4, "{derivative}");
        let other = crate::math::SplitTransform::blend([
            (&crate::math::SplitTransform::identity(), 1.0 - w as f32),
            (
                &crate::math::SplitTransform::of(&nalgebra::convert(
                    nalgebra::Rotation3::from_axis_angle(&Vec64::z_axis(), quarter),
                )),
                w as f32,
            ),
        ]);
        let blended = f64::from(other.unwrap().motion().rotation.angle());
        assert!((blended - angle).abs() < 1e-6, "{blended} and {angle}");
    }
    assert_eq!(quaternion_angle(quarter, 0.0)[0], 0.0);
    assert!((quaternion_angle(quarter, 1.0)[0] - quarter).abs() < 1e-15);
}

#[test]
fn weights_for_dual_quaternions_lower_the_energy() {
    let domain = bar(0.25);
    let fixed = line_bones(&domain);
    let start = harmonic(&domain, &fixed);
    let free: Vec<bool> = fixed.iter().map(Option::is_none).collect();
    let samples = [1.0, -1.0].map(|sign| Sample {
        axis: Vec64::z_axis(),
        angle: sign * std::f64::consts::FRAC_PI_2,
    });
    let origin = Point64::origin();
    let w = quaternion_weights(&domain, &origin, &samples, &free, &start, &Progress::new());
    let w = w.unwrap();
    let energy = |w: &[f64]| -> f64 {
        let of_sample = |sample: &Sample| {
            let moved: Vec<Vec64> = (0..w.len())
                .map(|node| {
                    let [angle, _] = quaternion_angle(sample.angle, w[node]);
                    nalgebra::Rotation3::from_axis_angle(&sample.axis, angle)
                        * domain.position(node).coords
                })
                .collect();
            elastic_energy(&domain, &moved)
        };
        samples.iter().map(of_sample).sum()
    };
    let (before, after) = (energy(&start), energy(&w));
    // Rotation instead of linear blending costs less than the best linear weights (33.2).
    assert!(after < 0.97 * before && after < 33.0, "{before} to {after}");
    let rigid = vec![1.0; w.len()];
    assert!(energy(&rigid).abs() < 1e-6);
}

#[test]
fn frames_of_mirrored_directions_differ_by_signs() {
    for z in [
        [0.0, 1.0, 0.0],
        [0.6, 0.0, 0.8],
        [0.5, 0.5, 0.5_f64.sqrt()],
        [1.0, 0.0, 0.0],
    ] {
        let z = Vec64::from(z);
        let frame = frame_of(&z);
        assert!((frame * frame.transpose() - Matrix3::identity()).amax() < 1e-12);
        assert!((frame.determinant() - 1.0).abs() < 1e-12);
        let mirror = Matrix3::from_diagonal(&Vec64::new(-1.0, 1.0, 1.0));
        let image = frame_of(&(mirror * z)) * mirror * frame.transpose();
        let signs = image.map(f64::abs) - Matrix3::identity();
        assert!(signs.amax() < 1e-12, "{image}");
    }
}
