//! Change lengths: how far skin has to move to make up for what the guide changes of the volume around each bone.

use rayon::prelude::*;

use super::MIN_TASK;
use crate::numerics::Cholesky;
use crate::tissue::Tissue;

/// Number of bones whose volume changes count around a vertex, the strongest first.
const MAX_BONES: usize = 4;
/// A bone counts where its heat is more than this part of its largest value: far away it has no share at all.
const LEAST_HEAT: f32 = 0.2;

/// Bones with their shares.
type Shares = [(u32, f32); MAX_BONES];

/// The bones that count around each vertex.
pub(super) struct BoneShares {
    /// The bone of each cone; and the bones that count around each vertex, with their shares.
    bone_of_vertex: Vec<u32>,
    shares: Vec<Shares>,
    /// The bones that count from farther away where flesh is thick, with the factors on their change lengths.
    far_factors: Vec<Shares>,
    /// For every bone the area of its skin; and the mean displacements of the pose: all changes of volume counted as losses, and gains
    /// subtracted from losses.
    areas: Vec<f32>,
    lengths: Vec<[f32; 2]>,
}

impl BoneShares {
    /// By the heat flow of a unit source on the skin of each bone, relative to its largest value: the heat of a large bone must not count
    /// more than that of a small one. `diffusion`: for the bones that count, and for those that count from farther away; `far_weights`:
    /// how much those count at each vertex.
    pub(super) fn bind(
        tissue: &Tissue,
        vertex_areas: &[f32],
        diffusion: [&Cholesky<f32>; 2],
        far_weights: impl Iterator<Item = f32>,
    ) -> Self {
        let mut memory = diffusion.map(Cholesky::memory);
        let bone_of_vertex = tissue.foot_bones.clone();
        let mut areas = vec![0.0; tissue.graph.bones.len()];
        let mut found = [(); 2].map(|()| vec![Vec::new(); bone_of_vertex.len()]);
        for (bone, area) in areas.iter_mut().enumerate() {
            let skin = bone_of_vertex.iter().zip(vertex_areas);
            let source: Vec<f32> = skin
                .map(|(&own, &area)| if own as usize == bone { area } else { 0.0 })
                .collect();
            *area = source.iter().sum();
            if *area <= 0.0 {
                continue;
            }
            for ((diffusion, memory), found) in diffusion.iter().zip(&mut memory).zip(&mut found) {
                let mut column = source.clone();
                diffusion.solve_one(&mut column, memory);
                let largest = column.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
                for (found, heat) in found.iter_mut().zip(column) {
                    let share = heat / largest - LEAST_HEAT;
                    if share > 0.0 {
                        found.push((bone as u32, share));
                    }
                }
            }
        }
        let [near, far] = found.map(|found| found.into_iter().map(strongest));
        let scale = |found: Shares, factor: f32| found.map(|(bone, heat)| (bone, factor * heat));
        let shares = |found: Shares| {
            let sum: f32 = found.iter().map(|(_, share)| share).sum();
            scale(found, 1.0 / sum.max(f32::MIN_POSITIVE))
        };
        Self {
            bone_of_vertex,
            shares: near.map(shares).collect(),
            far_factors: far
                .zip(far_weights)
                .map(|(found, weight)| scale(found, weight))
                .collect(),
            lengths: vec![[0.0; 2]; areas.len()],
            areas,
        }
    }

    /// Writes the change length of every vertex, given the volume that each cone loses under the guide; the length in which gains are
    /// subtracted from losses; and the change length that counts farther bones too. All are zero at rest.
    pub(super) fn write_lengths(
        &mut self,
        guide_loss: &[f32],
        change_lengths: &mut [f32],
        loss_lengths: &mut [f32],
        wide_lengths: &mut [f32],
    ) {
        self.lengths.fill([0.0; 2]);
        for (&bone, guide_loss) in self.bone_of_vertex.iter().zip(guide_loss) {
            if guide_loss.is_finite() {
                let [change, loss] = &mut self.lengths[bone as usize];
                *change += guide_loss.abs();
                *loss += guide_loss;
            }
        }
        for (lengths, area) in self.lengths.iter_mut().zip(&self.areas) {
            *lengths = lengths.map(|volume| volume / area.max(f32::MIN_POSITIVE));
        }
        let lengths = &self.lengths;
        change_lengths
            .par_iter_mut()
            .zip(loss_lengths)
            .zip(wide_lengths)
            .zip(&self.shares)
            .zip(&self.far_factors)
            .with_min_len(MIN_TASK)
            .for_each(
                |((((change_length, loss_length), wide_length), shares), far)| {
                    (*change_length, *loss_length) = (0.0, 0.0);
                    for &(bone, share) in shares {
                        let [change, loss] = lengths[bone as usize];
                        *change_length += change * share;
                        *loss_length += loss * share;
                    }
                    let far = far
                        .iter()
                        .map(|&(bone, factor)| lengths[bone as usize][0] * factor);
                    *wide_length = *change_length + far.sum::<f32>();
                },
            );
    }
}

/// The largest of these numbers of bones, zero where there are fewer.
fn strongest(mut found: Vec<(u32, f32)>) -> Shares {
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.resize(MAX_BONES, (0, 0.0));
    [0, 1, 2, 3].map(|k| found[k])
}
