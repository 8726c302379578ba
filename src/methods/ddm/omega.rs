//! The matrices Ω of every vertex and joint, which do not depend on the pose.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::fields::{Fields, Hoods, Smoothers, by_joint};
use super::moments::Moments;
use super::options::Options;
use crate::methods::BindError;
use crate::methods::smoothing::Surface;
use crate::progress::Progress;
use crate::weights::SkinWeights;

/// Most joints that move a vertex.
const INFLUENCES: usize = 8;
/// Influences up to this are dropped; they fade in up to twice of it.
const LEAST: f64 = 1e-3;
/// Joints whose fields are smoothed together.
const GROUP: usize = 4;

/// What a frame needs of a vertex.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct VertexRest {
    /// v̄ relative to the centre of the skin.
    pub(super) position: [f32; 3],
    /// The unit of length of its matrices: the standard deviation of its neighbourhood.
    pub(super) length: f32,
    /// p − v̄ in that unit.
    pub(super) offset: [f32; 3],
}

/// Ω of all vertices: lengths relative to v̄ of the vertex, in its unit of length.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Omegas {
    /// `starts[v]..starts[v + 1]` are the influences of vertex v.
    pub(super) starts: Vec<u32>,
    /// Joint of every influence; the largest of a vertex first.
    pub(super) joints: Vec<u32>,
    /// Ω of every influence.
    pub(super) matrices: Vec<[f32; 10]>,
    /// A vertex after the other.
    pub(super) rests: Vec<VertexRest>,
}

impl Omegas {
    /// Whether these can be the matrices of a skin of so many vertices and joints.
    pub(super) fn fits(&self, vertices: usize, joints: usize) -> bool {
        self.rests.len() == vertices
            && self.starts.len() == vertices + 1
            && self.starts.is_sorted()
            && self.starts.last().map(|&end| end as usize) == Some(self.joints.len())
            && self.joints.len() == self.matrices.len()
            && self.joints.iter().all(|&joint| (joint as usize) < joints)
    }

    /// Computes Ω. `radii` are the limb radii of the vertices; `surface` has the temporary edges between shells.
    pub(super) fn of(
        surface: &Surface,
        radii: &[f64],
        weights: &SkinWeights,
        options: &Options,
        progress: &Progress,
    ) -> Result<Self, BindError> {
        let count = surface.len();
        if count == 0 {
            return Ok(Self {
                starts: vec![0],
                ..Self::default()
            });
        }
        progress.report(0.0, "Factoring the skin");
        let smoothers = Smoothers::of(surface, radii, &options.form)?;
        progress.report(0.1, "Smoothing the weights");
        let positions: Vec<[f64; 3]> = surface
            .positions
            .iter()
            .map(|p| [p.x, p.y, p.z].map(|c| c / surface.size))
            .collect();
        let hoods = Hoods::of(&smoothers, &positions, progress)?;
        let mut rows: Vec<Vec<Influence>> = vec![Vec::new(); count];
        let by_joint = by_joint(weights);
        for (done, group) in by_joint.chunks(GROUP).enumerate() {
            progress.set_fraction(0.1 + 0.85 * (done * GROUP) as f32 / by_joint.len() as f32);
            let fields = Fields::of(&smoothers, &positions, group, progress)?;
            rows.par_iter_mut().enumerate().for_each(|(vertex, row)| {
                for (place, (joint, _)) in group.iter().enumerate() {
                    let omega = fields.omega(vertex, place, &hoods, &positions, options);
                    if omega[9] > LEAST {
                        row.push(Influence {
                            joint: *joint,
                            omega,
                        });
                    }
                }
            });
        }
        progress.check()?;
        let rests = (0..count).map(|vertex| VertexRest {
            position: [0, 1, 2].map(|c| surface.positions[vertex][c] as f32),
            length: (hoods.lengths[vertex] * surface.size) as f32,
            offset: hoods.offsets[vertex].map(|c| (c / hoods.lengths[vertex]) as f32),
        });
        let mut omegas = Self {
            starts: vec![0],
            rests: rests.collect(),
            ..Self::default()
        };
        rows.par_iter_mut().enumerate().for_each(|(vertex, row)| {
            limit(row, &hoods.total(vertex, options.translation));
        });
        for influence in rows
            .iter()
            .flat_map(|row| row.iter().map(Some).chain([None]))
        {
            match influence {
                Some(Influence { joint, omega }) => {
                    omegas.joints.push(*joint);
                    omegas.matrices.push(omega.map(|entry| entry as f32));
                }
                None => omegas.starts.push(omegas.joints.len() as u32),
            }
        }
        Ok(omegas)
    }
}

/// A joint's part of the motion of a vertex.
#[derive(Clone)]
struct Influence {
    joint: u32,
    omega: Moments,
}

/// Keeps the largest influences, faded out so that none jumps where the next one replaces it, and shares what that leaves of the total
/// by their weights.
fn limit(row: &mut Vec<Influence>, total: &Moments) {
    row.sort_by(|a, b| {
        b.omega[9]
            .total_cmp(&a.omega[9])
            .then(a.joint.cmp(&b.joint))
    });
    let cut = row
        .get(INFLUENCES)
        .map_or(LEAST, |next| next.omega[9].max(LEAST));
    row.truncate(INFLUENCES);
    let fade = |influence: &Influence| ((influence.omega[9] - cut) / cut).clamp(0.0, 1.0);
    if row.iter().any(|influence| fade(influence) > 0.0) {
        row.retain_mut(|influence| {
            let fade = fade(influence);
            influence.omega = influence.omega.map(|entry| entry * fade);
            fade > 0.0
        });
    }
    let sum: f64 = row.iter().map(|influence| influence.omega[9]).sum();
    let mut left = *total;
    for influence in &*row {
        for (left, entry) in left.iter_mut().zip(influence.omega) {
            *left -= entry;
        }
    }
    for influence in row {
        let share = influence.omega[9] / sum;
        for (entry, left) in influence.omega.iter_mut().zip(left) {
            *entry += share * left;
        }
    }
}
