//! Isotropic remeshing on an implicit surface.
//!
//! Botsch and Kobbelt, "A Remeshing Approach to Multiresolution Modeling", SGP 2004, section 4: split long edges, collapse short
//! ones, flip towards valence 6 (4 on the border), move vertices tangentially, repeat.
//!
//! # Departures
//! - The target length varies ([`Field::edge_at`]), and vertices go back to the implicit surface instead of a reference mesh.
//! - The border is the plane of symmetry x = 0 and stays in it, and no inner edge may join two border vertices, because after
//!   mirroring it would have four triangles.

use std::collections::HashMap;

use rayon::prelude::*;
use sinew::math::{Point64, Vec64};

use crate::field::Field;
use crate::polygonise::Mesh;

/// Remeshes in place.
pub fn remesh(mesh: &mut Mesh, field: &Field, rounds: usize) {
    let mut work = Remesher::new(mesh, field);
    for round in 0..rounds {
        work.split_long();
        work.collapse_short();
        work.flip(round + 2 >= rounds);
        work.relax();
    }
    for _ in 0..3 {
        work.flip(true);
        work.relax();
    }
    work.split_chords();
    *mesh = work.finish();
}

struct Remesher<'a> {
    field: &'a Field,
    positions: Vec<Point64>,
    on_border: Vec<bool>,
    edge: Vec<f64>,
    triangles: Vec<Option<[u32; 3]>>,
    faces_of: Vec<Vec<u32>>,
    /// Whether there is a border, and so only x ≥ 0.
    half: bool,
}

fn turned(triangle: [u32; 3], first: u32) -> [u32; 3] {
    let [a, b, c] = triangle;
    if a == first {
        [a, b, c]
    } else if b == first {
        [b, c, a]
    } else {
        [c, a, b]
    }
}

impl<'a> Remesher<'a> {
    fn new(mesh: &Mesh, field: &'a Field) -> Self {
        let mut work = Self {
            field,
            positions: mesh.positions.clone(),
            on_border: mesh.positions.iter().map(|p| p.x == 0.0).collect(),
            edge: Vec::new(),
            triangles: mesh.triangles.iter().copied().map(Some).collect(),
            faces_of: vec![Vec::new(); mesh.positions.len()],
            half: false,
        };
        for (face, triangle) in mesh.triangles.iter().enumerate() {
            for &v in triangle {
                work.faces_of[v as usize].push(face as u32);
            }
        }
        // Only vertices with an open edge are border; a closed mesh may touch the plane anywhere.
        let open: std::collections::HashSet<u32> = work
            .edges()
            .into_iter()
            .filter(|e| work.wings(e[0], e[1]).len() == 1)
            .flatten()
            .collect();
        for (v, border) in work.on_border.iter_mut().enumerate() {
            *border &= open.contains(&(v as u32));
        }
        work.half = !open.is_empty();
        work.edge = work
            .positions
            .par_iter()
            .map(|p| field.edge_at(p))
            .collect();
        work
    }

    fn faces(&self, v: u32) -> impl Iterator<Item = [u32; 3]> + '_ {
        self.faces_of[v as usize]
            .iter()
            .filter_map(|&face| self.triangles[face as usize])
    }

    fn neighbors(&self, v: u32) -> Vec<u32> {
        let mut around: Vec<u32> = self.faces(v).flatten().filter(|&w| w != v).collect();
        around.sort_unstable();
        around.dedup();
        around
    }

    /// The edges, smaller index first, in a fixed order.
    fn edges(&self) -> Vec<[u32; 2]> {
        let mut edges: Vec<[u32; 2]> = self
            .triangles
            .iter()
            .flatten()
            .flat_map(|&[a, b, c]| {
                [
                    [a.min(b), a.max(b)],
                    [b.min(c), b.max(c)],
                    [c.min(a), c.max(a)],
                ]
            })
            .collect();
        edges.par_sort_unstable();
        edges.dedup();
        edges
    }

    /// Faces on an edge with the vertex opposite to it.
    fn wings(&self, a: u32, b: u32) -> Vec<(u32, u32)> {
        let wing = |&face: &u32| {
            let triangle = self.triangles[face as usize]?;
            triangle.contains(&b).then(|| {
                (
                    face,
                    triangle
                        .into_iter()
                        .find(|&v| v != a && v != b)
                        .unwrap_or(a),
                )
            })
        };
        self.faces_of[a as usize].iter().filter_map(wing).collect()
    }

    fn length(&self, a: u32, b: u32) -> f64 {
        (self.positions[a as usize] - self.positions[b as usize]).norm()
    }

    fn wanted(&self, a: u32, b: u32) -> f64 {
        self.edge[a as usize].min(self.edge[b as usize])
    }

    fn border(&self, v: u32) -> bool {
        self.on_border[v as usize]
    }

    fn normal(&self, [a, b, c]: [u32; 3]) -> Vec64 {
        let p = |v: u32| self.positions[v as usize];
        (p(b) - p(a)).cross(&(p(c) - p(a)))
    }

    fn remove(&mut self, face: u32) {
        if let Some(triangle) = self.triangles[face as usize].take() {
            for v in triangle {
                self.faces_of[v as usize].retain(|&f| f != face);
            }
        }
    }

    fn add(&mut self, triangle: [u32; 3]) {
        let face = self.triangles.len() as u32;
        self.triangles.push(Some(triangle));
        for v in triangle {
            self.faces_of[v as usize].push(face);
        }
    }

    fn split(&mut self, a: u32, b: u32) {
        let wings = self.wings(a, b);
        let on_border = wings.len() == 1 && self.border(a) && self.border(b);
        let middle = nalgebra::center(&self.positions[a as usize], &self.positions[b as usize]);
        let middle = self.field.project(&middle, on_border, 3);
        let m = self.positions.len() as u32;
        self.positions.push(middle);
        self.on_border.push(on_border);
        self.edge.push(self.field.edge_at(&middle));
        self.faces_of.push(Vec::new());
        for (face, opposite) in wings {
            let Some(triangle) = self.triangles[face as usize] else {
                continue;
            };
            let [_, p, q] = turned(triangle, opposite);
            self.remove(face);
            self.add([opposite, p, m]);
            self.add([opposite, m, q]);
        }
    }

    fn split_long(&mut self) {
        for _ in 0..4 {
            let mut long: Vec<_> = self
                .edges()
                .into_iter()
                .filter(|&[a, b]| self.length(a, b) > 4.0 / 3.0 * self.wanted(a, b))
                .collect();
            if long.is_empty() {
                return;
            }
            long.sort_by(|x, y| self.length(y[0], y[1]).total_cmp(&self.length(x[0], x[1])));
            for [a, b] in long {
                if self.length(a, b) > 4.0 / 3.0 * self.wanted(a, b) && !self.wings(a, b).is_empty()
                {
                    self.split(a, b);
                }
            }
        }
    }

    fn split_chords(&mut self) {
        for [a, b] in self.edges() {
            if self.border(a) && self.border(b) && self.wings(a, b).len() == 2 {
                self.split(a, b);
            }
        }
    }

    fn collapse_short(&mut self) {
        let mut short: Vec<_> = self
            .edges()
            .into_iter()
            .filter(|&[a, b]| self.length(a, b) < 0.8 * self.wanted(a, b))
            .collect();
        short.sort_by(|x, y| self.length(x[0], x[1]).total_cmp(&self.length(y[0], y[1])));
        for [a, b] in short {
            if self.length(a, b) < 0.8 * self.wanted(a, b) && !self.collapse(a, b) {
                self.collapse(b, a);
            }
        }
    }

    /// Merges `gone` into `kept`; false, and nothing done, where that would hurt.
    fn collapse(&mut self, gone: u32, kept: u32) -> bool {
        let wings = self.wings(gone, kept);
        let (gone_near, kept_near) = (self.neighbors(gone), self.neighbors(kept));
        let common = gone_near.iter().filter(|v| kept_near.contains(v)).count();
        if wings.is_empty()
            || common != wings.len()
            || (self.border(gone) && (!self.border(kept) || wings.len() != 1))
        {
            return false;
        }
        if self.border(kept)
            && !self.border(gone)
            && gone_near
                .iter()
                .any(|&v| v != kept && self.border(v) && !kept_near.contains(&v))
        {
            return false;
        }
        if wings.iter().any(|&(_, opposite)| {
            self.faces_of[opposite as usize].len() <= 3 + usize::from(!self.border(opposite))
        }) {
            return false;
        }
        if gone_near
            .iter()
            .any(|&v| v != kept && self.length(v, kept) > 4.0 / 3.0 * self.wanted(v, kept))
        {
            return false;
        }
        let moved: Vec<([u32; 3], [u32; 3])> = self
            .faces(gone)
            .filter(|triangle| !triangle.contains(&kept))
            .map(|triangle| (triangle, triangle.map(|v| if v == gone { kept } else { v })))
            .collect();
        let bends = |(old, new): &([u32; 3], [u32; 3])| {
            let (n0, n1) = (self.normal(*old), self.normal(*new));
            n0.dot(&n1) < 0.5 * n0.norm() * n1.norm()
        };
        if moved.iter().any(bends) {
            return false;
        }
        for face in self.faces_of[gone as usize].clone() {
            self.remove(face);
        }
        for (_, triangle) in moved {
            self.add(triangle);
        }
        true
    }

    /// Flips edges where that brings valences nearer to their ideal, or (`by_angle`) makes the smallest angle larger.
    fn flip(&mut self, by_angle: bool) {
        for [a, b] in self.edges() {
            let wings = self.wings(a, b);
            let &[(face0, c), (face1, d)] = wings.as_slice() else {
                continue;
            };
            if c == d || (self.border(c) && self.border(d)) || self.faces(c).any(|t| t.contains(&d))
            {
                continue;
            }
            let Some(triangle) = self.triangles[face0 as usize] else {
                continue;
            };
            let [_, p, q] = turned(triangle, c);
            let (old, new) = (
                [triangle, self.triangles[face1 as usize].unwrap_or(triangle)],
                [[c, p, d], [c, d, q]],
            );
            let before = self.normal(old[0]).normalize() + self.normal(old[1]).normalize();
            let flat = |t: [u32; 3]| {
                let n = self.normal(t);
                n.dot(&before) > 0.5 * n.norm() * before.norm()
            };
            let chord = self.border(a) && self.border(b);
            let better = if by_angle {
                let worst = |pair: [[u32; 3]; 2]| {
                    pair.iter()
                        .map(|&t| self.smallest_angle(t))
                        .fold(f64::MAX, f64::min)
                };
                worst(new) > worst(old) + 1e-6
            } else {
                self.excess(a, 0) + self.excess(b, 0) + self.excess(c, 0) + self.excess(d, 0)
                    > self.excess(a, -1)
                        + self.excess(b, -1)
                        + self.excess(c, 1)
                        + self.excess(d, 1)
            };
            if (better || chord) && flat(new[0]) && flat(new[1]) {
                self.remove(face0);
                self.remove(face1);
                self.add(new[0]);
                self.add(new[1]);
            }
        }
    }

    fn smallest_angle(&self, triangle: [u32; 3]) -> f64 {
        let p = triangle.map(|v| self.positions[v as usize]);
        (0..3)
            .map(|i| (p[(i + 1) % 3] - p[i]).angle(&(p[(i + 2) % 3] - p[i])))
            .fold(f64::MAX, f64::min)
    }

    /// Squared distance of a vertex's number of faces, plus `change`, from the ideal.
    fn excess(&self, v: u32, change: i64) -> i64 {
        let ideal = if self.border(v) { 3 } else { 6 };
        (i64::try_from(self.faces_of[v as usize].len()).unwrap_or(0) + change - ideal).pow(2)
    }

    fn relax(&mut self) {
        let this = &*self;
        let moved: Vec<(Point64, f64)> = (0..self.positions.len() as u32)
            .into_par_iter()
            .map(|v| {
                let p = this.positions[v as usize];
                if this.faces_of[v as usize].is_empty() {
                    return (p, this.edge[v as usize]);
                }
                let mut q = this.field.project(&this.relaxed(v), this.border(v), 3);
                if this.half && !this.border(v) {
                    q.x = q.x.max(0.1 * this.edge[v as usize]);
                }
                (q, this.field.edge_at(&q))
            })
            .collect();
        (self.positions, self.edge) = moved.into_iter().unzip();
    }

    /// Tangentially towards the middle of the neighbours, each counted by its area against the wanted one.
    fn relaxed(&self, v: u32) -> Point64 {
        let p = self.positions[v as usize];
        let (mut sum, mut total, mut normal) = (Vec64::zeros(), 0.0, Vec64::zeros());
        if self.border(v) {
            for w in self
                .neighbors(v)
                .into_iter()
                .filter(|&w| self.border(w) && self.wings(v, w).len() == 1)
            {
                let weight = 1.0 / self.wanted(v, w);
                sum += (self.positions[w as usize] - p) * weight;
                total += weight;
            }
        } else {
            for triangle in self.faces(v) {
                let area = self.normal(triangle);
                normal += area;
                let wanted = triangle.iter().map(|&w| self.edge[w as usize]).sum::<f64>() / 3.0;
                let weight = area.norm() / (wanted * wanted);
                let middle = triangle
                    .iter()
                    .map(|&w| self.positions[w as usize].coords)
                    .sum::<Vec64>()
                    / 3.0;
                sum += (middle - p.coords) * weight;
                total += weight;
            }
        }
        let step = sum / f64::max(total, 1e-12);
        let normal = normal.try_normalize(1e-12).unwrap_or_else(Vec64::zeros);
        p + (step - normal * step.dot(&normal)) * 0.7
    }

    fn finish(self) -> Mesh {
        let mut index: HashMap<u32, u32> = HashMap::new();
        let mut mesh = Mesh::default();
        for triangle in self.triangles.into_iter().flatten() {
            let triangle = triangle.map(|v| {
                *index.entry(v).or_insert_with(|| {
                    mesh.positions.push(self.positions[v as usize]);
                    mesh.positions.len() as u32 - 1
                })
            });
            mesh.triangles.push(triangle);
        }
        mesh
    }
}
