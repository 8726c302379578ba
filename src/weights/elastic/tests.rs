use nalgebra::Matrix3;

use super::energy::{Sample, blended_linearly, elastic_energy, quaternion_angle};
use super::region::Region;
use super::rounds;
use super::*;
use crate::math::{Point64, Vec64};
use crate::numerics::{Cholesky, Ordering, SymmetricMatrix};
use crate::progress::Progress;
use crate::weights::voxel::{Grid, VoxelDomain};

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

/// For every node of the bar the value that a bone fixes: 1 on the upper one (z > 0), 0 on the lower one. Bones end at the caps.
fn bones(domain: &VoxelDomain, radius: f64) -> Vec<Option<f64>> {
    (0..domain.nodes.len())
        .map(|node| {
            let at = domain.position(node);
            (at.x.hypot(at.y) <= radius + 1e-9).then(|| match at.z.total_cmp(&0.0) {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Less => 0.0,
            })
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
    let k = mean.windows(2).position(|m| m[0] < value && m[1] >= value).unwrap();
    let t = (value - mean[k]) / (mean[k + 1] - mean[k]);
    domain.grid.position([0.0, 0.0, k as f64 + t]).z
}

#[test]
fn probe() {
    let progress = Progress::new();
    for (h, radius, one, tie) in [
        (0.25, 0.0, 1, 0.5), (0.25, 0.0, 1, 1.0), (0.25, 0.0, 1, 2.0), (0.25, 0.0, 1, 3.0), (0.25, 0.0, 1, 4.0),(0.125, 0.0, 1, 1.0), (0.125, 0.0, 1, 3.0),
        (0.125, 0.49, 0, 0.5), (0.125, 0.49, 0, 0.0), (0.125, 0.5, 0, 2.0),
    ] {
        let domain = bar(h);
        let fixed: Vec<Option<f64>> = (0..domain.nodes.len())
        .map(|node| {
            let at = domain.position(node);
            let inside = if one == 1 { at.x > -1e-9 && at.y > -1e-9 && at.x < h + 1e-9 && at.y < h + 1e-9 } else { at.x.hypot(at.y) <= radius + 1e-9 };
            // 2: none at z = 0; 3: upper from 0, lower to -2h ; 4: both to ends 5
            if tie == 2.0 && at.z.abs() < 1e-9 { return None; }
            if tie == 4.0 && at.z.abs() > 5.0 + 1e-9 { return None; }
            if tie == 3.0 && (at.z <= 1e-9 && at.z > -h - 1e-9) { return None; }
            inside.then(|| match at.z.total_cmp(&0.0) {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Equal => if tie == 4.0 {1.0} else {tie},
                std::cmp::Ordering::Less => 0.0,
            })
        })
        .collect();
        let start = harmonic(&domain, &fixed);
        let region = region(&domain, &fixed, &start);
        let frame = frame_of(&Vec64::z());
        println!(
            "h {h} radius {radius} {one} {tie}: {} nodes, {} free, {} cells",
            domain.nodes.len(),
            region.free,
            region.cells.len()
        );
        let time = std::time::Instant::now();
        let made = rounds::fields(&region, &frame, &progress).unwrap();
        println!("{:?}", time.elapsed());
        for (turns, values) in [Turns::Swing, Turns::Twist].into_iter().zip(&made) {
            let w = on_domain(&region, &fixed, &start, values);
            let range = w.iter().fold([f64::MAX, f64::MIN], |r, &x| [r[0].min(x), r[1].max(x)]);
            println!(
                "{turns:?}: {} -> {}; range {range:?}; 10-90 {} {}",
                energy(&domain, turns, &start),
                energy(&domain, turns, &w),
                crossing(&domain, &w, 0.1),
                crossing(&domain, &w, 0.9)
            );
        }
    }
}
