//! The complementarity problem of the contacts of one step; see [`super::contacts`] for the equations.

mod limits;

use pulp::{Arch, Simd, WithSimd};

use crate::collision::Contact;
use crate::math::{Point, Vec3};
use crate::numerics::complementarity::Complementarity;
use crate::numerics::compliance::Compliance;
use crate::numerics::window::WindowSolver;

pub(super) use limits::ContactLimits;

/// Gap ε that contacts keep, as a fraction of the local edge length.
const MARGIN: f32 = 0.05;
/// Largest push of a contact in one step, local edge lengths.
const MAX_PUSH: f32 = 2.0;
/// Smallest stiffness of a contact relative to that of a hard one: what a contact without load begins with.
const MIN_HARDNESS: f32 = 0.05;
/// The equations of an equilibrium have changed if the softness of a contact has by more than this fraction.
const SOFTNESS_TOLERANCE: f32 = 1e-3;

/// The complementarity problem of a step. Arrays have one entry per contact unless stated otherwise.
#[derive(Default)]
pub(super) struct ContactProblem {
    pub(super) slots: Vec<[u32; 4]>,
    /// Coefficients u: 1 and −β.
    pub(super) weights: Vec<[f32; 4]>,
    normals: Vec<Vec3>,
    /// ε, or less where [`MAX_PUSH`] limits it, world units.
    pub(super) target_gaps: Vec<f32>,
    /// 1/w.
    pub(super) softness: Vec<f32>,
    /// S + W⁻¹, row-major, contacts × contacts; empty if there are too many contacts to store it.
    pub(super) matrix: Vec<f32>,
    diagonal: Vec<f32>,
    b: Vec<f32>,
    pub(super) loads: Complementarity,
    /// P⁻¹ U, slots × contacts, row-major.
    contact_compliance: Vec<f32>,
    /// Normals as one array per coordinate, for vector instructions.
    normal_coordinates: [Vec<f32>; 3],
    pub(super) window_vertices: Vec<u32>,
}

/// Stiffness of a contact relative to that of a hard one, from the overlap that a hard one would have under its last load: it increases
/// with the root of the load up to `range`, so that the load increases with the square of the overlap. Hard contacts begin and end with
/// a jolt, because from one step to the next they hold back flesh that moved freely before.
fn hardness(overlap: f32, range: f32) -> f32 {
    if range > 0.0 {
        (overlap / range).sqrt().clamp(MIN_HARDNESS, 1.0)
    } else {
        1.0
    }
}

/// The gap n · d at other positions than those of the last refresh, world units.
pub(super) fn gap(contact: &Contact, positions: &[Point]) -> f32 {
    contact.normal.dot(&separation(contact, positions))
}

/// d: the vector from the contact point to the vertex.
fn separation(contact: &Contact, positions: &[Point]) -> Vec3 {
    let mut separation = positions[contact.vertex as usize].coords;
    for (&v, &w) in contact.corners.iter().zip(&contact.weights) {
        separation -= positions[v as usize].coords * w;
    }
    separation
}

impl ContactProblem {
    /// Sets all arrays that do not depend on P. `soft_range`: see [`ContactLimits::soft_range`]. Returns whether the softness of a contact
    /// has changed noticeably, if the contacts are the same as before; never without that range.
    pub(super) fn set_contacts(
        &mut self,
        contacts: &[Contact],
        stiffness: &[f32],
        relative_stiffness: f32,
        soft_range: f32,
    ) -> bool {
        let mut changed = false;
        self.slots.clear();
        self.weights.clear();
        self.normals.clear();
        self.target_gaps.clear();
        self.softness.resize(contacts.len(), f32::INFINITY);
        self.loads.values.clear();
        for (c, softness) in contacts.iter().zip(&mut self.softness) {
            let [a, b, d] = c.weights;
            self.weights.push([1.0, -a, -b, -d]);
            self.normals.push(c.normal);
            self.target_gaps
                .push(c.min_gap.min(c.gap + MAX_PUSH * c.edge));
            let before = *softness;
            let full = compliance_of(c, stiffness) / relative_stiffness;
            *softness = full / (c.hold * hardness(c.load * full, soft_range * c.edge));
            changed |= soft_range > 0.0 && (*softness - before).abs() > SOFTNESS_TOLERANCE * before;
            self.loads.values.push(c.load);
        }
        changed
    }

    /// Assembles S + W⁻¹.
    pub(super) fn assemble(&mut self, compliance: &Compliance) {
        let m = self.slots.len();
        let slots = compliance.slots();
        // Row s: P⁻¹ U between slot s and every contact.
        self.contact_compliance.clear();
        self.contact_compliance.resize(slots * m, 0.0);
        for (a, (own, weights)) in self.slots.iter().zip(&self.weights).enumerate() {
            let [r0, r1, r2, r3] = own.map(|slot| compliance.row(slot as usize));
            let [w0, w1, w2, w3] = *weights;
            for s in 0..slots {
                self.contact_compliance[s * m + a] =
                    w0 * r0[s] + w1 * r1[s] + w2 * r2[s] + w3 * r3[s];
            }
        }
        for (c, split) in self.normal_coordinates.iter_mut().enumerate() {
            split.clear();
            split.extend(self.normals.iter().map(|n| n[c]));
        }
        self.matrix.resize(m * m, 0.0);
        self.diagonal.resize(m, 0.0);
        let [nx, ny, nz] = &self.normal_coordinates;
        for (b, row) in self.matrix.chunks_exact_mut(m).enumerate() {
            let [r0, r1, r2, r3] = self.slots[b]
                .map(|slot| &self.contact_compliance[slot as usize * m..(slot as usize + 1) * m]);
            let [w0, w1, w2, w3] = self.weights[b];
            let n = self.normals[b];
            for a in 0..m {
                let normal_dot = nx[a] * n.x + ny[a] * n.y + nz[a] * n.z;
                row[a] = normal_dot * (w0 * r0[a] + w1 * r1[a] + w2 * r2[a] + w3 * r3[a]);
            }
            row[b] += self.softness[b];
            self.diagonal[b] = row[b];
        }
    }

    pub(super) fn estimate_diagonal(
        &mut self,
        contacts: &[Contact],
        stiffness: &[f32],
        relative_stiffness: f32,
    ) {
        self.diagonal.clear();
        self.diagonal.extend(
            contacts
                .iter()
                .map(|c| compliance_of(c, stiffness) * (1.0 + 1.0 / relative_stiffness)),
        );
    }

    /// Sets b from the unconstrained increments at the window's vertices.
    pub(super) fn compute_violations(
        &mut self,
        contacts: &[Contact],
        positions: &[Point],
        window: &[[f32; 4]],
    ) {
        self.b.clear();
        for (index, contact) in contacts.iter().enumerate() {
            let change = relative(&self.slots[index], &self.weights[index], window);
            self.b.push(
                self.target_gaps[index]
                    - gap(contact, positions)
                    - change.dot(&self.normals[index]),
            );
        }
    }

    pub(super) fn solve_dense(&mut self, tolerance: f32) -> usize {
        let matrix = &self.matrix;
        let arch = Arch::new();
        self.loads
            .solve(&self.b, &self.diagonal, tolerance, |x, y| {
                arch.dispatch(Multiply { matrix, x, y });
            })
    }

    /// Writes the forces of the loads to `window`. Returns whether any load is positive.
    pub(super) fn write_forces(&self, window: &mut [[f32; 4]]) -> bool {
        window.fill([0.0; 4]);
        scatter_forces(
            &self.slots,
            &self.weights,
            &self.normals,
            &self.loads.values,
            window,
        );
        self.loads.values.iter().any(|&load| load > 0.0)
    }

    /// As [`Self::solve_dense`], but matrix-free: each product with S is a solve restricted to the window's vertices.
    pub(super) fn solve_matrix_free(
        &mut self,
        window: &mut [[f32; 4]],
        solver: &mut WindowSolver<'_>,
        tolerance: f32,
    ) -> usize {
        let Self {
            slots,
            weights,
            normals,
            softness,
            loads,
            b,
            diagonal,
            ..
        } = self;
        loads.solve(b, diagonal, tolerance, |x, y| {
            window.fill([0.0; 4]);
            scatter_forces(slots, weights, normals, x, window);
            solver.solve_window(window);
            for (index, y) in y.iter_mut().enumerate() {
                *y = relative(&slots[index], &weights[index], window).dot(&normals[index])
                    + softness[index] * x[index];
            }
        })
    }
}

/// Estimate of a diagonal entry of Uᵀ P⁻¹ U: the compliance of each vertex of a contact, without coupling.
fn compliance_of(contact: &Contact, stiffness: &[f32]) -> f32 {
    let of = |v: u32, w: f32| w * w / stiffness[v as usize];
    let [a, b, c] = contact.corners;
    let [wa, wb, wc] = contact.weights;
    of(contact.vertex, 1.0) + of(a, wa) + of(b, wb) + of(c, wc)
}

/// Σ u x over the four vertices of a contact.
fn relative(slots: &[u32; 4], weights: &[f32; 4], window: &[[f32; 4]]) -> Vec3 {
    let mut sum = Vec3::zeros();
    for (&slot, &w) in slots.iter().zip(weights) {
        let [x, y, z, _] = window[slot as usize];
        sum += Vec3::new(x, y, z) * w;
    }
    sum
}

/// Adds the forces u n λ of all contacts to `window`.
fn scatter_forces(
    slots: &[[u32; 4]],
    weights: &[[f32; 4]],
    normals: &[Vec3],
    loads: &[f32],
    window: &mut [[f32; 4]],
) {
    for (index, &load) in loads.iter().enumerate() {
        let force = normals[index] * load;
        for (&slot, &w) in slots[index].iter().zip(&weights[index]) {
            let value = &mut window[slot as usize];
            value[0] += force.x * w;
            value[1] += force.y * w;
            value[2] += force.z * w;
        }
    }
}

/// y = A x, row-major.
struct Multiply<'a> {
    matrix: &'a [f32],
    x: &'a [f32],
    y: &'a mut [f32],
}

impl WithSimd for Multiply<'_> {
    type Output = ();

    #[expect(
        clippy::inline_always,
        reason = "vector code must be inlined into the function that enables the instructions"
    )]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (x, x_tail) = S::as_simd_f32s(self.x);
        let (x_pairs, x_odd) = x.as_chunks::<2>();
        for (row, y) in self.matrix.chunks_exact(self.x.len()).zip(self.y) {
            let (row, row_tail) = S::as_simd_f32s(row);
            let (row_pairs, row_odd) = row.as_chunks::<2>();
            let mut sums = [simd.splat_f32s(0.0); 2];
            for (a, x) in row_pairs.iter().zip(x_pairs) {
                sums[0] = simd.mul_add_e_f32s(a[0], x[0], sums[0]);
                sums[1] = simd.mul_add_e_f32s(a[1], x[1], sums[1]);
            }
            for (a, x) in row_odd.iter().zip(x_odd) {
                sums[0] = simd.mul_add_e_f32s(*a, *x, sums[0]);
            }
            let mut sum = simd.reduce_sum_f32s(simd.add_f32s(sums[0], sums[1]));
            for (a, x) in row_tail.iter().zip(x_tail) {
                sum += a * x;
            }
            *y = sum;
        }
    }
}

#[cfg(test)]
mod tests;
