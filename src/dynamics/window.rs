//! The inverse of the matrix between a few vertices, without the rest.
//!
//! A right-hand side that is zero outside of some vertices only ever reaches the supernodes on their ways to the root, and the solution
//! at these vertices needs only those. Contacts (see [`super::contacts`]) change the matrix on so few vertices that this is
//! all they need.

use super::factor::Factor;
use super::lanes::{Slot, Slots, zeroed_slots};
use super::rows::add;
use super::solver::Solver;
use super::structure::{Structure, Triangle};
use super::substitution::{Scratch, backward, forward};
use crate::math::Point;

/// A set of vertices, with everything that a solve between them needs.
pub(super) struct Window {
    vertices: Vec<u32>,
    /// Part (the number of parts: the top) and row of every vertex.
    places: Vec<[u32; 2]>,
    parts: Vec<Reach>,
    top: Reach,
}

/// What a window needs of a part, or of the top.
struct Reach {
    /// Supernodes on the way to the root, ascending.
    supernodes: Vec<u32>,
    marked: Vec<bool>,
    b: Box<Slots>,
    scratch: Scratch,
}

impl Reach {
    fn new(triangle: &Triangle) -> Self {
        Self {
            supernodes: Vec::with_capacity(triangle.supernodes.len()),
            marked: vec![false; triangle.supernodes.len()],
            b: zeroed_slots(),
            scratch: Scratch::for_triangle(triangle),
        }
    }

    /// Marks the way from a row to the root.
    fn mark(&mut self, triangle: &Triangle, row: usize) {
        let mut next = Some(triangle.supernode_of[row] as usize);
        while let Some(supernode) = next.filter(|&s| !self.marked[s]) {
            self.marked[supernode] = true;
            self.supernodes.push(supernode as u32);
            next = triangle.parent(supernode);
        }
    }

    /// Does something with every range of rows that is reached.
    fn rows(&self, triangle: &Triangle) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.supernodes.iter().map(|&s| triangle.supernodes[s as usize].range())
    }
}

impl Window {
    /// An empty window on a structure.
    pub(super) fn new(structure: &Structure) -> Self {
        let mut top = Reach::new(&structure.top_triangle);
        top.supernodes.extend(0..structure.top_triangle.supernodes.len() as u32);
        Self {
            vertices: Vec::new(),
            places: Vec::new(),
            parts: structure.parts.iter().map(|part| Reach::new(&part.triangle)).collect(),
            top,
        }
    }

    /// Looks at these vertices from now on. Allocates nothing once there was room for as many.
    pub(super) fn look_at(&mut self, structure: &Structure, vertices: &[u32]) {
        for reach in &mut self.parts {
            reach.supernodes.clear();
            reach.marked.fill(false);
        }
        self.places.clear();
        self.vertices.clear();
        self.vertices.extend_from_slice(vertices);
        for &vertex in vertices {
            let [part, row] = structure.place[vertex as usize];
            self.places.push([part, row]);
            if let Some(reach) = self.parts.get_mut(part as usize) {
                reach.mark(&structure.parts[part as usize].triangle, row as usize);
            }
        }
        for reach in &mut self.parts {
            reach.supernodes.sort_unstable();
        }
    }

    /// How many vertices there are.
    pub(super) fn len(&self) -> usize {
        self.vertices.len()
    }

    /// Replaces values at the vertices, as a right-hand side that is zero elsewhere, by the solution at the vertices.
    pub(super) fn solve(&mut self, structure: &Structure, factor: &Factor, values: &mut [Slot]) {
        self.put(structure, values);
        self.descend(structure, factor);
        self.ascend(structure, factor);
        self.take(values);
    }

    /// The solution at the vertices for the right-hand side that the solver has just substituted forward.
    pub(super) fn peek(&mut self, structure: &Structure, factor: &Factor, solver: &Solver, values: &mut [Slot]) {
        for ((reach, part), state) in self.parts.iter_mut().zip(&structure.parts).zip(&solver.parts) {
            let Reach { supernodes, b, .. } = reach;
            for &s in &*supernodes {
                let range = part.triangle.supernodes[s as usize].range();
                b[range.clone()].copy_from_slice(&state.rows.b[range]);
            }
        }
        let count = solver.top.count;
        self.top.b[..count].copy_from_slice(&solver.top.b[..count]);
        forward(&structure.top_triangle, &factor.top, None, &mut self.top.b, &mut self.top.scratch);
        self.ascend(structure, factor);
        self.take(values);
    }

    /// Adds forces at the vertices to the right-hand side that the solver has just substituted forward.
    pub(super) fn push(&mut self, structure: &Structure, factor: &Factor, solver: &mut Solver, forces: &[Slot]) {
        self.put(structure, forces);
        self.descend_parts(structure, factor);
        for ((reach, part), state) in self.parts.iter().zip(&structure.parts).zip(&mut solver.parts) {
            for range in reach.rows(&part.triangle) {
                add_to(&mut state.rows.b[range.clone()], &reach.b[range]);
            }
        }
        let count = solver.top.count;
        add_to(&mut solver.top.b[..count], &self.top.b[..count]);
    }

    /// Copies the present positions of the vertices.
    pub(super) fn positions(&self, solver: &Solver, positions: &mut [Point]) {
        for (&[part, row], &vertex) in self.places.iter().zip(&self.vertices) {
            let rows = solver.parts.get(part as usize).map_or(&solver.top, |state| &state.rows);
            let [x, y, z, _] = rows.x[row as usize];
            positions[vertex as usize] = Point::new(x, y, z);
        }
    }

    fn put(&mut self, structure: &Structure, values: &[Slot]) {
        let top = structure.top.len();
        for (reach, part) in self.parts.iter_mut().zip(&structure.parts) {
            let own = part.vertices.len();
            let Reach { supernodes, b, .. } = reach;
            for &s in &*supernodes {
                b[part.triangle.supernodes[s as usize].range()].fill([0.0; 4]);
            }
            b[own..own + top].fill([0.0; 4]);
        }
        self.top.b[..top].fill([0.0; 4]);
        for (&[part, row], value) in self.places.iter().zip(values) {
            let b = self.parts.get_mut(part as usize).map_or(&mut self.top.b, |reach| &mut reach.b);
            b[row as usize] = *value;
        }
    }

    /// Forward substitution up to the sums on the top.
    fn descend_parts(&mut self, structure: &Structure, factor: &Factor) {
        let top = structure.top.len();
        for ((reach, part), tiles) in self.parts.iter_mut().zip(&structure.parts).zip(&factor.parts) {
            if reach.supernodes.is_empty() {
                continue;
            }
            let Reach { supernodes, b, scratch, .. } = reach;
            forward(&part.triangle, tiles, Some(supernodes), b, scratch);
            let own = part.vertices.len();
            for (sum, b) in self.top.b[..top].iter_mut().zip(&reach.b[own..]) {
                *sum = add(*sum, *b);
            }
        }
    }

    fn descend(&mut self, structure: &Structure, factor: &Factor) {
        self.descend_parts(structure, factor);
        forward(&structure.top_triangle, &factor.top, None, &mut self.top.b, &mut self.top.scratch);
    }

    fn ascend(&mut self, structure: &Structure, factor: &Factor) {
        let top = structure.top.len();
        let Reach { b, scratch, .. } = &mut self.top;
        backward(&structure.top_triangle, &factor.top, None, b, scratch);
        for ((reach, part), tiles) in self.parts.iter_mut().zip(&structure.parts).zip(&factor.parts) {
            if reach.supernodes.is_empty() {
                continue;
            }
            let own = part.vertices.len();
            let Reach { supernodes, b, scratch, .. } = reach;
            b[own..own + top].copy_from_slice(&self.top.b[..top]);
            backward(&part.triangle, tiles, Some(supernodes), b, scratch);
        }
    }

    fn take(&self, values: &mut [Slot]) {
        for (&[part, row], value) in self.places.iter().zip(values) {
            let b = self.parts.get(part as usize).map_or(&self.top.b, |reach| &reach.b);
            *value = b[row as usize];
        }
    }
}

fn add_to(to: &mut [Slot], what: &[Slot]) {
    for (a, b) in to.iter_mut().zip(what) {
        *a = add(*a, *b);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::dynamics::local::Element;
    use nalgebra::{DMatrix, DVector, Matrix3};

    /// A strip of triangles, as prisms without any geometry.
    fn strip(vertices: u32) -> Vec<Element> {
        (0..vertices - 2)
            .map(|v| Element { corners: [v, v + 1, v + 2], rest_inverse: [Matrix3::identity(); 3], volume: [1.0; 3] })
            .collect()
    }

    /// A grid of triangles, whose elimination has separators.
    pub(in crate::dynamics) fn grid(side: u32) -> Vec<Element> {
        let mut elements = Vec::new();
        for row in 0..side - 1 {
            for column in 0..side - 1 {
                let v = row * side + column;
                for corners in [[v, v + 1, v + side], [v + 1, v + side, v + side + 1]] {
                    elements.push(Element { corners, rest_inverse: [Matrix3::identity(); 3], volume: [1.0; 3] });
                }
            }
        }
        elements
    }

    /// Values of a positive definite matrix of the structure.
    pub(in crate::dynamics) fn values(structure: &Structure) -> Vec<f64> {
        let value = |row: usize, column: usize| {
            if row == column { 8.0 + (column as f64).sin() } else { -0.5 - 0.3 * ((row * 7 + column) as f64).cos() }
        };
        entries(structure).map(|(row, column)| value(row, column)).collect()
    }

    /// Row and column of every stored value.
    fn entries(structure: &Structure) -> impl Iterator<Item = (usize, usize)> {
        let pattern = &structure.pattern;
        (0..structure.place.len()).flat_map(|column| {
            let range = pattern.column_starts[column] as usize..pattern.column_starts[column + 1] as usize;
            pattern.rows[range].iter().map(move |&row| (row as usize, column))
        })
    }

    #[test]
    fn a_window_solves_as_the_whole_matrix_does() {
        for (elements, n) in [(strip(50), 50_u32), (grid(12), 144), (grid(30), 900)] {
            let structure = Structure::analyse(&elements, n as usize).expect("a mesh");
            let values = values(&structure);
            let mut dense = DMatrix::zeros(n as usize, n as usize);
            for ((row, column), &value) in entries(&structure).zip(&values) {
                dense[(row, column)] = value;
                dense[(column, row)] = value;
            }
            let solver = dense.cholesky().expect("positive definite");
            let factor = Factor::of(&structure, &values).expect("positive definite");
            let mut window = Window::new(&structure);
            for vertices in [vec![3, 17, 4, n - 1], (0..n).step_by(3).collect::<Vec<u32>>(), Vec::new()] {
                window.look_at(&structure, &vertices);
                let mut slots: Vec<Slot> = vertices.iter().map(|&v| [(v as f32).sin(), 1.0, (v as f32).cos(), 0.5]).collect();
                let rhs = slots.clone();
                window.solve(&structure, &factor, &mut slots);
                for lane in 0..4 {
                    let mut b = DVector::zeros(n as usize);
                    for (&v, value) in vertices.iter().zip(&rhs) {
                        b[v as usize] = f64::from(value[lane]);
                    }
                    let x = solver.solve(&b);
                    for (&v, slot) in vertices.iter().zip(&slots) {
                        assert!((x[v as usize] - f64::from(slot[lane])).abs() < 1e-5, "{v} {} {}", x[v as usize], slot[lane]);
                    }
                }
            }
        }
    }

    /// Several parts: A x = b, checked by multiplying back.
    #[test]
    fn parts_and_top_solve_together() {
        let n = 8100;
        let structure = Structure::analyse(&grid(90), n).expect("a mesh");
        assert!(structure.parts.len() > 1 && !structure.top.is_empty());
        // Every vertex is owned once, and no part knows of another.
        let owned: usize = structure.parts.iter().map(|part| part.vertices.len()).sum();
        assert_eq!(owned + structure.top.len(), n);
        let values = values(&structure);
        let factor = Factor::of(&structure, &values).expect("positive definite");
        let mut window = Window::new(&structure);
        let all: Vec<u32> = (0..n as u32).collect();
        window.look_at(&structure, &all);
        let rhs: Vec<Slot> = (0..n).map(|v| [(v as f32).sin(), 1.0, (v as f32 * 0.1).cos(), 0.0]).collect();
        let mut x = rhs.clone();
        window.solve(&structure, &factor, &mut x);
        let mut product = vec![[0.0_f64; 4]; n];
        for ((row, column), value) in entries(&structure).zip(values) {
            for lane in 0..4 {
                product[row][lane] += value * f64::from(x[column][lane]);
                if row != column {
                    product[column][lane] += value * f64::from(x[row][lane]);
                }
            }
        }
        for (product, rhs) in product.iter().flatten().zip(rhs.iter().flatten()) {
            assert!((product - f64::from(*rhs)).abs() < 1e-4, "{product} {rhs}");
        }
    }
}
