//! Inside test for a skin: winding numbers of points, and whether a straight segment between two of them stays inside.
//!
//! Jacobson, Kavan, Sorkine-Hornung, "Robust Inside-Outside Segmentation using Generalized Winding Numbers", SIGGRAPH
//! 2013. If a line crosses as many triangles inwards as outwards, the skin is closed along it, and counting the
//! crossings gives the winding number. Only near holes the solid angles are summed.

use crate::math::{Point64, Vec64};
use crate::mesh::{Crossing, TriMesh, TriangleTree};

/// Minimum winding number of a point inside.
const INSIDE: f64 = 0.5;

/// A skin with its tree.
pub(super) struct Inside<'a> {
    pub mesh: &'a TriMesh,
    pub tree: &'a TriangleTree,
    /// Length of a line through the whole skin.
    reach: f64,
}

impl<'a> Inside<'a> {
    pub fn new(mesh: &'a TriMesh, tree: &'a TriangleTree) -> Self {
        let reach = 2.0 * f64::from(mesh.bounds().size());
        Self { mesh, tree, reach }
    }

    /// Winding numbers of points on one line, `start + (k + ½) step` for k below `count`; at most 127.
    pub fn windings(&self, start: &Point64, step: &Vec64, count: usize, out: &mut Vec<i8>) {
        let length = step.norm();
        let reach = self.reach / length + count as f64;
        let mut crossings = self.crossings(start, step, [-reach, reach]);
        crossings.sort_by(|a, b| a.t.total_cmp(&b.t).then(a.triangle.cmp(&b.triangle)));
        let sign = |crossing: &Crossing| if crossing.outward { -1_i32 } else { 1 };
        let is_closed = crossings.iter().map(sign).sum::<i32>() == 0;
        let (mut winding, mut next) = (0, 0);
        for k in 0..count {
            let at = k as f64 + 0.5;
            while next < crossings.len() && crossings[next].t < at {
                winding += sign(&crossings[next]);
                next += 1;
            }
            let winding = if is_closed {
                winding
            } else {
                self.generalised(&(start + step * at))
            };
            out.push(winding.clamp(0, 127) as i8);
        }
    }

    /// Winding number of a point.
    pub fn winding(&self, point: &Point64) -> i8 {
        let mut one = Vec::with_capacity(1);
        // A direction that is unlikely to be parallel to a modelled edge.
        let step = Vec64::new(0.0121, 0.0073, 1.0) * (1e-3 * self.reach);
        self.windings(&(point - step * 0.5), &step, 1, &mut one);
        one[0]
    }

    fn generalised(&self, point: &Point64) -> i32 {
        let number = self.mesh.winding_numbers(std::slice::from_ref(point))[0];
        if number >= INSIDE {
            number.round().max(1.0) as i32
        } else {
            0
        }
    }

    /// Whether the segment between two points stays inside, if the first has the winding number `winding`.
    pub fn joined(&self, from: &Point64, winding: i8, to: &Point64) -> bool {
        let mut crossings = self.crossings(from, &(to - from), [0.0, 1.0]);
        crossings.sort_by(|a, b| a.t.total_cmp(&b.t).then(a.triangle.cmp(&b.triangle)));
        let mut winding = i32::from(winding);
        crossings.iter().all(|crossing| {
            winding += if crossing.outward { -1 } else { 1 };
            winding > 0
        })
    }

    fn crossings(&self, from: &Point64, along: &Vec64, range: [f64; 2]) -> Vec<Crossing> {
        let mut found = Vec::new();
        self.tree
            .crossings(from, along, range, |crossing| found.push(crossing));
        found
    }
}
