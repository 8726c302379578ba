//! Layers: shells at a small distance over other flesh, such as a shirt on a body.

use rayon::prelude::*;

use super::measurements::PartMeasurements;

/// Maximum number of vertices of a part that are sampled.
const SAMPLES: usize = 400;
/// Range of the segment to the bone line, as fractions, in which flesh counts as lying under a vertex.
const DEPTH_RANGE: [f64; 2] = [1e-3, 0.6];
/// Minimum share of a layer's area that has flesh under it.
const MIN_COVERED_SHARE: f64 = 0.6;

/// One sampled vertex, with the parts under it.
struct Sample {
    area: f64,
    below: Vec<u32>,
}

/// For every part marked in `is_flesh` whether it is a layer over others of them. Parts with the largest covered share
/// are decided first; a part that lies only over layers is not a layer.
pub(super) fn layers(measured: &PartMeasurements<'_>, is_flesh: &[bool]) -> Vec<bool> {
    let mut layer = vec![false; is_flesh.len()];
    if is_flesh.iter().filter(|&&flesh| flesh).count() < 2 {
        return layer;
    }
    let sampled = |part: usize| {
        if is_flesh[part] {
            sample(part, measured, is_flesh)
        } else {
            Vec::new()
        }
    };
    let samples: Vec<Vec<Sample>> = (0..is_flesh.len()).into_par_iter().map(sampled).collect();
    loop {
        let covered = |part: usize| {
            let total: f64 = samples[part].iter().map(|sample| sample.area).sum();
            let stays = |&below: &u32| !layer[below as usize];
            let over: f64 = samples[part]
                .iter()
                .filter(|sample| sample.below.iter().any(stays))
                .map(|sample| sample.area)
                .sum();
            if total > 0.0 { over / total } else { 0.0 }
        };
        let most = (0..is_flesh.len())
            .filter(|&part| is_flesh[part] && !layer[part])
            .map(|part| (covered(part), part))
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        match most {
            Some((covered, part)) if covered > MIN_COVERED_SHARE => layer[part] = true,
            _ => return layer,
        }
    }
}

fn sample(part: usize, measured: &PartMeasurements<'_>, is_flesh: &[bool]) -> Vec<Sample> {
    let under = |&vertex: &u32| {
        let position = measured.skin.mesh.positions[vertex as usize].cast::<f64>();
        let foot = measured.foot(vertex as usize)?;
        let mut below = Vec::new();
        measured
            .tree
            .crossings(&position, &(foot - position), DEPTH_RANGE, |crossing| {
                let other = measured.part_of_triangle(crossing.triangle);
                if other as usize != part && is_flesh[other as usize] && !below.contains(&other) {
                    below.push(other);
                }
            });
        Some(Sample {
            area: measured.area[vertex as usize],
            below,
        })
    };
    measured.sampled(part, SAMPLES).filter_map(under).collect()
}
