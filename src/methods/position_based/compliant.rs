//! Constraints with compliance on tets: strain and volume, solved in lanes.
//!
//! Per tet and with the gradients gᵢ of its shape functions, F = Σ xᵢ gᵢᵀ, and A = Σ wᵢ gᵢ gᵢᵀ over the free corners:
//!
//! ```text
//!     strain: C = F − R (nine numbers), R = rotation closest to F, α = 1/(k V) each
//!             Δλ = −(C + α̃ λ)(A + α̃ I)⁻¹,     Δxᵢ = wᵢ Δλ gᵢ
//!     volume: C = det F − 1, α = 1/(l V),     Gᵢ = cof(F) gᵢ
//!             Δλ = −(C + α̃ λ)/(Σ wᵢ |Gᵢ|² + α̃),     Δxᵢ = wᵢ Δλ Gᵢ,     α̃ = α/h²
//! ```
//!
//! The energies are k V/2 ‖F − R‖², that of projective dynamics, and l V/2 (det F − 1)². Because the gᵢ do not depend on the pose, neither
//! does the matrix of the strain constraint: the nine numbers are solved for together with one product, and there is no singularity at
//! C = 0. Kept are the multipliers μ = α̃ λ, which have the unit of C, and the products uᵢ = wᵢ (A + α̃ I)⁻¹ gᵢ and T = α̃ (A + α̃ I)⁻¹,
//! computed in `f64`: A is singular in tets with fewer than three free corners, but uᵢ is not.

#![expect(
    clippy::inline_always,
    reason = "vector code must be inlined into the function that enables the instructions"
)]

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::block::{Block, Corners, Multipliers, Weights, ZERO};
use super::model::Model;
use super::points::Points;
use crate::numerics::lanes::LANES;
use crate::numerics::polar::{LaneMatrix, closest_rotations};

/// Blocks that a task works on together.
const GROUP: usize = 3;
/// Groups per parallel task at least, and blocks where they are not grouped.
const MIN_GROUPS: usize = 4;
const MIN_BLOCKS: usize = 24;

/// Constraints with compliance, colour by colour.
pub(super) struct Compliant {
    blocks: Vec<Block>,
    multipliers: Vec<Multipliers>,
    /// Blocks of every colour.
    colors: Vec<Range<usize>>,
    /// Index of the tet in every lane of every block.
    tets: Vec<u32>,
    volume: f32,
}

impl Compliant {
    pub(super) fn of(model: &Model) -> Self {
        let (mut blocks, mut tets, mut colors) = (Vec::new(), Vec::new(), Vec::new());
        for color in model.tet_colors.colors() {
            let first = blocks.len();
            for some in model.tet_colors.order[color].chunks(LANES) {
                blocks.push(Block::of(model, some));
                tets.extend(some);
                tets.resize(blocks.len() * LANES, u32::MAX);
            }
            colors.push(first..blocks.len());
        }
        let none = Multipliers {
            strain: [[ZERO; 3]; 3],
            volume: ZERO,
        };
        Self {
            multipliers: vec![none; blocks.len()],
            blocks,
            colors,
            tets,
            volume: 0.0,
        }
    }

    /// Sets what depends on parameters and the time step (s). Allocates nothing.
    pub(super) fn prepare(&mut self, model: &Model, weights: &Weights<'_>, step_secs: f64) {
        self.volume = weights.volume as f32;
        self.blocks
            .par_iter_mut()
            .zip(self.tets.par_chunks(LANES))
            .with_min_len(MIN_BLOCKS)
            .for_each(|(block, tets)| block.prepare(model, weights, step_secs, tets));
    }

    /// Sets all multipliers to zero.
    pub(super) fn begin(&mut self) {
        for own in &mut self.multipliers {
            own.strain.as_flattened_mut().fill(ZERO);
            own.volume = ZERO;
        }
    }

    /// The multipliers, block by block.
    pub(super) fn multipliers(&self) -> &[Multipliers] {
        &self.multipliers
    }

    /// Sets the multipliers.
    pub(super) fn set_multipliers(&mut self, multipliers: &[Multipliers]) {
        self.multipliers.clone_from_slice(multipliers);
    }

    /// Moves the points once by every constraint.
    pub(super) fn sweep(&mut self, points: &Points) {
        let volume = self.volume;
        for color in &self.colors {
            self.blocks[color.clone()]
                .par_chunks(GROUP)
                .zip(self.multipliers[color.clone()].par_chunks_mut(GROUP))
                .with_min_len(MIN_GROUPS)
                .for_each(|(blocks, multipliers)| {
                    Arch::new().dispatch(Group {
                        blocks,
                        multipliers,
                        points,
                        volume,
                    });
                });
        }
    }

    /// Moves the points by the multipliers of strain, W Jᵀ λ. Those of tets that are inverted or nearly so are set to zero before, as their
    /// closest rotation may have become another one, and so are those of volume, as their gradients have changed.
    pub(super) fn push(&mut self, points: &Points) {
        for color in &self.colors {
            self.blocks[color.clone()]
                .par_iter()
                .zip(&mut self.multipliers[color.clone()])
                .with_min_len(MIN_BLOCKS)
                .for_each(|(block, own)| block.push(own, points));
        }
    }

    /// Moves the corners of every tet that is inverted, or nearly so, until it has [`LEAST_VOLUME`] of its volume. Returns how many
    /// there were.
    pub(super) fn guard(&self, points: &Points) -> usize {
        let of_color = |color: &Range<usize>| -> usize {
            self.blocks[color.clone()]
                .par_iter()
                .with_min_len(MIN_BLOCKS)
                .map(|block| block.guard(points))
                .sum()
        };
        self.colors.iter().map(of_color).sum()
    }
}

/// The constraints of up to [`GROUP`] blocks of one colour.
struct Group<'a> {
    blocks: &'a [Block],
    multipliers: &'a mut [Multipliers],
    points: &'a Points,
    volume: f32,
}

impl WithSimd for Group<'_> {
    type Output = ();

    /// Solves them one after the other. The loops over lanes become vector code of the widest unit that the machine has.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let mut corners: [Corners; GROUP] = [[[ZERO; 3]; 4]; GROUP];
        let mut f: [LaneMatrix; GROUP] = [[ZERO; 9]; GROUP];
        for (block, (corners, f)) in self.blocks.iter().zip(corners.iter_mut().zip(&mut f)) {
            *corners = block.gather(self.points);
            block.gradient(corners, f);
        }
        let mut r = f;
        closest_rotations(&mut r[..self.blocks.len()]);
        for (k, (block, own)) in self.blocks.iter().zip(self.multipliers).enumerate() {
            block.solve_strain(own, &f[k], &r[k], &mut corners[k]);
            if self.volume > 0.0 {
                block.solve_volume(own, self.volume, &mut corners[k]);
            }
            block.scatter(&corners[k], self.points);
        }
    }
}
