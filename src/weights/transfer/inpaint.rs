//! Weights of the vertices without match: the minimum of wᵀ Q w with the matches fixed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::MATCH_DISTANCE;
use super::matching::Matches;
use crate::mesh::{Topology, TriMesh, cotangent_laplacian, vertex_areas};
use crate::numerics::{Cholesky, Ordering, SymmetricMatrix};
use crate::progress::{Cancelled, Progress};
use crate::weights::WeightError;
use crate::weights::project_to_simplex;
use crate::weights::rows::Row;

/// Least area of a vertex, relative to the mean.
const LEAST_AREA: f64 = 1e-3;
/// Strength of the springs of parts with matches, relative to the diagonal of Q.
const WEAK: f64 = 1e-9;
/// Joints that are solved for at a time: bounds the memory, and the time to heed a cancellation.
const BLOCK: usize = 32;

/// The quadratic form Q of a mesh, taken apart by its connected parts.
pub(super) struct Inpainting<'a> {
    matches: &'a Matches,
    /// −L by rows: neighbours and values.
    rows: Vec<Vec<(u32, f64)>>,
    /// M, relative to the squared size.
    areas: Vec<f64>,
    /// The vertices of each connected part, ascending.
    parts: Vec<Vec<u32>>,
    /// The place of each vertex among those without match of its part.
    place: Vec<u32>,
}

/// What [`Inpainting::solve`] found.
pub(super) struct Filled {
    /// The weights of the vertices without match.
    pub rows: Vec<(u32, Row)>,
    pub parts_without_match: usize,
    pub unsolved_parts: usize,
}

/// The solution of one part.
struct FilledPart {
    rows: Vec<(u32, Row)>,
    is_without_match: bool,
    is_unsolved: bool,
}

impl<'a> Inpainting<'a> {
    pub fn new(mesh: &TriMesh, topology: &Topology, size: f64, matches: &'a Matches) -> Self {
        let count = mesh.positions.len();
        let mut rows = vec![Vec::new(); count];
        for (row, column, value) in cotangent_laplacian(mesh).entries() {
            rows[row].push((column as u32, value));
            if row != column {
                rows[column].push((row as u32, value));
            }
        }
        let mut areas = vertex_areas(mesh);
        let size = if size > 0.0 && size.is_finite() {
            size
        } else {
            1.0
        };
        let mean = areas.iter().sum::<f64>() / count.max(1) as f64;
        let least = if mean > 0.0 {
            LEAST_AREA * mean
        } else {
            size * size
        };
        for area in &mut areas {
            *area = area.max(least) / (size * size);
        }
        let mut parts = vec![Vec::new(); topology.components];
        let mut free = vec![0_u32; topology.components];
        let mut place = vec![u32::MAX; count];
        for (vertex, &part) in topology.component_of.iter().enumerate() {
            parts[part as usize].push(vertex as u32);
            if !matches.is_matched[vertex] {
                place[vertex] = free[part as usize];
                free[part as usize] += 1;
            }
        }
        Self {
            matches,
            rows,
            areas,
            parts,
            place,
        }
    }

    /// The rows of all vertices without match, on the simplex.
    pub fn solve(&self, progress: &Progress) -> Result<Filled, WeightError> {
        let solved: Result<Vec<FilledPart>, Cancelled> = self
            .parts
            .par_iter()
            .map(|part| {
                progress.check()?;
                self.solve_part(part, progress)
            })
            .collect();
        let solved = solved?;
        let count = |is: fn(&FilledPart) -> bool| solved.iter().filter(|part| is(part)).count();
        Ok(Filled {
            parts_without_match: count(|part| part.is_without_match),
            unsolved_parts: count(|part| part.is_unsolved),
            rows: solved.into_iter().flat_map(|part| part.rows).collect(),
        })
    }

    fn solve_part(&self, part: &[u32], progress: &Progress) -> Result<FilledPart, Cancelled> {
        let is_free = |vertex: &u32| !self.matches.is_matched[*vertex as usize];
        let free: Vec<u32> = part.iter().copied().filter(is_free).collect();
        let is_without_match = free.len() == part.len();
        let as_closest = |is_unsolved: bool| FilledPart {
            rows: free
                .iter()
                .map(|&vertex| (vertex, self.closest(vertex)))
                .collect(),
            is_without_match,
            is_unsolved,
        };
        if free.is_empty() || (is_without_match && free.len() == 1) {
            return Ok(as_closest(false));
        }
        let system = System::of(self, part, &free, is_without_match);
        progress.check()?;
        let Ok(factor) = Cholesky::<f64>::factor(&system.matrix, Ordering::default()) else {
            return Ok(as_closest(true));
        };
        let joints = system.joints(self, &free);
        let mut values = vec![0.0; free.len() * joints.len()];
        for (columns, joints) in values
            .chunks_mut(free.len() * BLOCK)
            .zip(joints.chunks(BLOCK))
        {
            progress.check()?;
            system.fill(self, &free, joints, columns);
            factor.solve(columns);
        }
        if values.iter().any(|value| !value.is_finite()) {
            return Ok(as_closest(true));
        }
        let row = |place: usize| -> Row {
            let at = |column: usize| values[column * free.len() + place];
            let mut all: Vec<f64> = (0..joints.len()).map(at).collect();
            project_to_simplex(&mut all);
            let of_joint = joints.iter().copied().zip(all);
            of_joint.filter(|(_, weight)| *weight > 0.0).collect()
        };
        Ok(FilledPart {
            rows: (0..free.len())
                .map(|place| (free[place], row(place)))
                .collect(),
            is_without_match,
            is_unsolved: false,
        })
    }

    /// The weights of the closest point of the source; those of the first joint for a vertex that has no position.
    fn closest(&self, vertex: u32) -> Row {
        let row = &self.matches.rows[vertex as usize];
        if row.is_empty() {
            vec![(0, 1.0)]
        } else {
            row.clone()
        }
    }
}

/// The equations of one part: Q of the vertices without match, and what couples them with the others.
struct System {
    matrix: SymmetricMatrix,
    /// Place of a vertex without match, a vertex with a match, and their entry of Q.
    coupled: Vec<(u32, u32, f64)>,
    /// Strength of the spring of each vertex without match.
    springs: Vec<f64>,
}

impl System {
    fn of(of: &Inpainting<'_>, part: &[u32], free: &[u32], is_without_match: bool) -> Self {
        let place_of = |vertex: u32| of.place[vertex as usize];
        let (mut triplets, mut coupled) = (Vec::new(), Vec::new());
        let mut add = |one: u32, other: u32, value: f64| match (place_of(one), place_of(other)) {
            (u32::MAX, u32::MAX) => {}
            (place, u32::MAX) => coupled.push((place, other, value)),
            (u32::MAX, place) => coupled.push((place, one, value)),
            (one, other) => triplets.push((one as usize, other as usize, value)),
        };
        for &vertex in part {
            let row = &of.rows[vertex as usize];
            for &(other, value) in row.iter().filter(|(other, _)| *other <= vertex) {
                add(vertex, other, value);
            }
            let area = of.areas[vertex as usize];
            for (k, &(one, first)) in row.iter().enumerate() {
                for &(other, second) in &row[k..] {
                    add(one, other, first * second / area);
                }
            }
        }
        let matrix = SymmetricMatrix::from_triplets(free.len(), triplets);
        // Of a wave of length l, −L costs about l⁻² M and L M⁻¹ L about l⁻⁴ M, relative to the size: shorter waves are smoothed.
        let strength = MATCH_DISTANCE.powi(-2) + MATCH_DISTANCE.powi(-4);
        let spring = |(place, &vertex): (usize, &u32)| {
            let weak = WEAK * matrix.get(place, place);
            let strong = if is_without_match {
                strength * of.areas[vertex as usize]
            } else {
                0.0
            };
            let sum = weak + strong;
            if sum > 0.0 { sum } else { 1.0 }
        };
        let springs: Vec<f64> = free.iter().enumerate().map(spring).collect();
        Self {
            matrix: matrix.plus_diagonal(&springs),
            coupled,
            springs,
        }
    }

    /// The joints with a weight that is known, ascending.
    fn joints(&self, of: &Inpainting<'_>, free: &[u32]) -> Vec<u32> {
        let fixed = self.coupled.iter().map(|&(_, vertex, _)| vertex);
        let rows = fixed.map(|vertex| of.matches.rows[vertex as usize].clone());
        let closest = free.iter().map(|&vertex| of.closest(vertex));
        let mut joints: Vec<u32> = rows
            .chain(closest)
            .flatten()
            .map(|(joint, _)| joint)
            .collect();
        joints.sort_unstable();
        joints.dedup();
        joints
    }

    /// Writes the right-hand sides of some joints, one column each.
    fn fill(&self, of: &Inpainting<'_>, free: &[u32], joints: &[u32], columns: &mut [f64]) {
        let count = free.len();
        let mut add = |place: usize, row: &Row, factor: f64| {
            for &(joint, weight) in row {
                if let Ok(column) = joints.binary_search(&joint) {
                    columns[column * count + place] += factor * weight;
                }
            }
        };
        for &(place, vertex, value) in &self.coupled {
            add(place as usize, &of.matches.rows[vertex as usize], -value);
        }
        for (place, (&vertex, &spring)) in free.iter().zip(&self.springs).enumerate() {
            add(place, &of.closest(vertex), spring);
        }
    }
}

/// For every vertex whether it is no farther than `reach` along edges from one that `is_start` holds.
pub(super) fn within(
    mesh: &TriMesh,
    topology: &Topology,
    is_start: &[bool],
    reach: f64,
    progress: &Progress,
) -> Result<Vec<bool>, WeightError> {
    let mut distances = vec![f64::INFINITY; is_start.len()];
    let mut next = BinaryHeap::new();
    for (vertex, _) in is_start.iter().enumerate().filter(|(_, start)| **start) {
        distances[vertex] = 0.0;
        next.push(Reverse((0_u64, vertex as u32)));
    }
    let mut steps = 0_usize;
    while let Some(Reverse((bits, vertex))) = next.pop() {
        steps += 1;
        if steps.is_multiple_of(4096) {
            progress.check()?;
        }
        let (vertex, distance) = (vertex as usize, f64::from_bits(bits));
        if distance > distances[vertex] {
            continue;
        }
        for &other in topology.neighbors(vertex) {
            let [a, b] = [mesh.positions[vertex], mesh.positions[other as usize]];
            let there = distance + f64::from((b - a).norm());
            // False for a length that is not a number.
            if there <= reach && there < distances[other as usize] {
                distances[other as usize] = there;
                // Bits of numbers that are not negative are in the numbers' order.
                next.push(Reverse((there.to_bits(), other)));
            }
        }
    }
    Ok(distances
        .iter()
        .map(|distance| distance.is_finite())
        .collect())
}
