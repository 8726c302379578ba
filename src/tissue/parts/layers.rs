//! Layers: shells that follow other flesh at a small distance, as a shirt follows the body in it.

use rayon::prelude::*;

use super::evidence::Evidence;

/// Vertices of a part that are asked.
const SAMPLES: usize = 400;
/// Flesh in the outer part of the way to the bone counts as lying under a vertex.
const DEPTH: [f64; 2] = [1e-3, 0.6];
/// A part is a layer if flesh lies under this part of its area.
const COVERED: f64 = 0.6;

/// What lies under one vertex.
struct Sample {
    area: f64,
    below: Vec<u32>,
}

/// Which of the parts marked in `is_flesh` are layers over others of them: those first that have most flesh below; what lies only
/// over layers is none.
pub(super) fn layers(evidence: &Evidence<'_>, is_flesh: &[bool]) -> Vec<bool> {
    let mut layer = vec![false; is_flesh.len()];
    if is_flesh.iter().filter(|&&flesh| flesh).count() < 2 {
        return layer;
    }
    let sampled = |part: usize| {
        if is_flesh[part] {
            sample(part, evidence, is_flesh)
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
            Some((covered, part)) if covered > COVERED => layer[part] = true,
            _ => return layer,
        }
    }
}

fn sample(part: usize, evidence: &Evidence<'_>, is_flesh: &[bool]) -> Vec<Sample> {
    let under = |&vertex: &u32| {
        let position = evidence.skin.mesh.positions[vertex as usize].cast::<f64>();
        let foot = evidence.foot(vertex as usize)?;
        let mut below = Vec::new();
        evidence
            .tree
            .crossings(&position, &(foot - position), DEPTH, |crossing| {
                let other = evidence.part_of_triangle(crossing.triangle);
                if other as usize != part && is_flesh[other as usize] && !below.contains(&other) {
                    below.push(other);
                }
            });
        Some(Sample {
            area: evidence.area[vertex as usize],
            below,
        })
    };
    evidence.sampled(part, SAMPLES).filter_map(under).collect()
}
