//! Marching tetrahedra on a sparse grid.
//!
//! Every grid cell is split into six tetrahedra around its diagonal (Freudenthal), the same way everywhere, so that the result is
//! a manifold without any tables of cases. Blocks that cannot meet the surface are skipped by their distance. With `half`, only
//! x ≥ 0 is meshed and the border lies exactly on the plane x = 0.

use std::collections::HashMap;

use rayon::prelude::*;
use sinew::math::{Point64, Vec64};

use crate::field::Field;

/// Cells along the edge of a block.
const BLOCK: i64 = 8;
/// By how much distances may be wrong far from the surface.
const DOUBT: f64 = 2.5;

/// A triangle mesh in double precision.
#[derive(Debug, Clone, Default)]
pub struct Mesh {
    /// Vertices.
    pub positions: Vec<Point64>,
    /// Counter-clockwise corners.
    pub triangles: Vec<[u32; 3]>,
}

type Node = [i64; 3];

/// The zero set of a field, on a grid of the given spacing.
pub fn polygonise(field: &Field, spacing: f64, half: bool) -> Mesh {
    let blocks = blocks_near_surface(field, spacing, half);
    let values: Vec<Vec<f64>> = blocks
        .par_iter()
        .map(|block| block_values(field, spacing, *block))
        .collect();
    let mut surface = Surface {
        spacing,
        mesh: Mesh::default(),
        vertex_of: HashMap::new(),
    };
    for (block, values) in blocks.iter().zip(&values) {
        for cell in 0..BLOCK * BLOCK * BLOCK {
            let cell = [cell % BLOCK, cell / BLOCK % BLOCK, cell / (BLOCK * BLOCK)];
            surface.march(*block, cell, values);
        }
    }
    surface.mesh
}

fn place(node: Node, spacing: f64) -> Point64 {
    Point64::from(Vec64::new(node[0] as f64, node[1] as f64, node[2] as f64) * spacing)
}

fn blocks_near_surface(field: &Field, spacing: f64, half: bool) -> Vec<Node> {
    let (low, high) = field.bounds();
    let size = spacing * BLOCK as f64;
    let first = low.coords.map(|c| (c / size).floor() as i64 - 1);
    let last = high.coords.map(|c| (c / size).ceil() as i64 + 1);
    let reach = DOUBT * size * 3.0_f64.sqrt() / 2.0;
    let columns: Vec<(i64, i64)> = (first.z..last.z)
        .flat_map(|z| (first.y..last.y).map(move |y| (y, z)))
        .collect();
    let near = |&(y, z): &(i64, i64)| {
        let start = if half { 0 } else { first.x };
        let touches = |x: &i64| {
            let middle =
                Point64::from(Vec64::new(*x as f64 + 0.5, y as f64 + 0.5, z as f64 + 0.5) * size);
            field.distance(&middle).abs() < reach
        };
        (start..last.x)
            .filter(touches)
            .map(|x| [x * BLOCK, y * BLOCK, z * BLOCK])
            .collect::<Vec<_>>()
    };
    columns.par_iter().flat_map_iter(near).collect()
}

/// Values at the (BLOCK + 1)³ nodes, x fastest.
fn block_values(field: &Field, spacing: f64, block: Node) -> Vec<f64> {
    let n = BLOCK + 1;
    let value = |i: i64| {
        let value = field.distance(&place(
            [
                block[0] + i % n,
                block[1] + i / n % n,
                block[2] + i / (n * n),
            ],
            spacing,
        ));
        // A node exactly on the surface would make triangles without area.
        if value.abs() < 1e-9 { 1e-9 } else { value }
    };
    (0..n * n * n).map(value).collect()
}

struct Surface {
    spacing: f64,
    mesh: Mesh,
    vertex_of: HashMap<(Node, Node), u32>,
}

impl Surface {
    fn march(&mut self, block: Node, cell: Node, values: &[f64]) {
        const AXES: [[usize; 3]; 6] = [
            [0, 1, 2],
            [1, 2, 0],
            [2, 0, 1],
            [0, 2, 1],
            [2, 1, 0],
            [1, 0, 2],
        ];
        let n = BLOCK + 1;
        let value = |c: Node| values[(c[0] + n * (c[1] + n * c[2])) as usize];
        let far = [cell[0] + 1, cell[1] + 1, cell[2] + 1];
        let corner = |i: i64| {
            value([
                cell[0] + (i & 1),
                cell[1] + (i >> 1 & 1),
                cell[2] + (i >> 2 & 1),
            ]) < 0.0
        };
        if (1..8).all(|i| corner(i) == corner(0)) {
            return;
        }
        for (path, axes) in AXES.iter().enumerate() {
            let mut nodes = [cell, cell, cell, far];
            nodes[1][axes[0]] += 1;
            nodes[2] = nodes[1];
            nodes[2][axes[1]] += 1;
            let mut tet = nodes.map(|c| {
                (
                    [block[0] + c[0], block[1] + c[1], block[2] + c[2]],
                    value(c),
                )
            });
            if path >= 3 {
                tet.swap(1, 2); // The last three paths are odd permutations.
            }
            self.tetrahedron(tet);
        }
    }

    /// Adds the surface in a positively oriented tetrahedron.
    fn tetrahedron(&mut self, tet: [(Node, f64); 4]) {
        let inside: Vec<usize> = (0..4).filter(|&i| tet[i].1 < 0.0).collect();
        let outside: Vec<usize> = (0..4).filter(|&i| tet[i].1 >= 0.0).collect();
        match (inside.as_slice(), outside.as_slice()) {
            (&[a], &[b, c, d]) => self.cut(&tet, [(a, b), (a, c), (a, d)], odd([a, b, c, d])),
            (&[b, c, d], &[a]) => self.cut(&tet, [(a, b), (a, c), (a, d)], !odd([a, b, c, d])),
            (&[a, b], &[c, d]) => {
                let flip = odd([a, b, c, d]);
                self.cut(&tet, [(a, c), (a, d), (b, d)], flip);
                self.cut(&tet, [(a, c), (b, d), (b, c)], flip);
            }
            _ => {}
        }
    }

    fn cut(&mut self, tet: &[(Node, f64); 4], edges: [(usize, usize); 3], flip: bool) {
        let mut triangle = edges.map(|(i, j)| self.vertex(tet[i], tet[j]));
        if flip {
            triangle.swap(1, 2);
        }
        self.mesh.triangles.push(triangle);
    }

    fn vertex(&mut self, a: (Node, f64), b: (Node, f64)) -> u32 {
        let (a, b) = if a.0 < b.0 { (a, b) } else { (b, a) };
        let next = self.mesh.positions.len() as u32;
        let (positions, spacing) = (&mut self.mesh.positions, self.spacing);
        *self.vertex_of.entry((a.0, b.0)).or_insert_with(|| {
            // Kept away from the nodes so that no triangle collapses.
            let t = (a.1 / (a.1 - b.1)).clamp(0.02, 0.98);
            let (pa, pb) = (place(a.0, spacing), place(b.0, spacing));
            positions.push(pa + (pb - pa) * t);
            next
        })
    }
}

/// Whether a permutation of 0..4 is odd.
fn odd(p: [usize; 4]) -> bool {
    let mut inversions = 0;
    for i in 0..4 {
        for j in i + 1..4 {
            inversions += usize::from(p[i] > p[j]);
        }
    }
    inversions % 2 == 1
}
