//! Which of the cells that no triangle touches are inside.
//!
//! The winding number of a closed mesh does not change along a path that no triangle crosses, so that one evaluation decides a whole
//! connected set of cells. The winding number of an open mesh changes mostly near its holes: a disc of radius a adds at most a² / (4 r²)
//! at the distance r. Cells within three radii of a hole are therefore evaluated one by one; the sets that remain are decided by three
//! of their cells, and cell by cell if these do not agree clearly.

use rayon::prelude::*;

use super::Grid;
use super::winding_tree::WindingTree;
use crate::math::{Point, Vec64};
use crate::mesh::{Bounds, TriMesh, weld};
use crate::progress::{Cancelled, Progress};

/// Vertices nearer than this part of the size of a mesh are one.
const WELDED: f32 = 1e-6;
/// Multiple of a hole's radius up to which cells are evaluated one by one.
const NEAR_HOLE: f64 = 3.0;
/// A set of cells is decided as one if the magnitudes of its winding numbers are not between these.
const UNCLEAR: [f64; 2] = [0.3, 0.7];

/// The touched cells and those inside. `triangles` are those of the mesh with finite corners.
pub(super) fn inside_cells(
    grid: &Grid,
    mesh: &TriMesh,
    triangles: &[[u32; 3]],
    touched: Vec<bool>,
    progress: &Progress,
) -> Result<Vec<bool>, Cancelled> {
    if triangles.is_empty() {
        return Ok(touched);
    }
    let (oriented, holes) = oriented(grid, mesh, triangles);
    progress.check()?;
    let tree = WindingTree::new(oriented);
    progress.check()?;
    let mut solid = touched.clone();
    let mut open = touched;
    let near = near_holes(grid, &holes, &mut open);
    let mut single: Vec<usize> = near;
    let winding = |&place: &usize| tree.at(&center(grid, place)).abs();
    let mut from = 0;
    while let Some(set) = next_set(grid, &mut open, &mut from) {
        progress.check()?;
        let tried = [set.first(), set.get(set.len() / 2), set.last()];
        // Of a closed mesh all cells of a set have the same number.
        let needed = if holes.is_empty() { 1 } else { 3 };
        let found: Vec<f64> = tried
            .into_iter()
            .flatten()
            .take(needed)
            .map(winding)
            .collect();
        let inside = found.iter().all(|w| *w >= UNCLEAR[1]);
        if inside {
            for place in set {
                solid[place] = true;
            }
        } else if found.iter().any(|w| *w > UNCLEAR[0]) {
            single.extend(set);
        }
    }
    let decided: Vec<bool> = single
        .par_iter()
        .map(|place| !progress.is_cancelled() && winding(place) > 0.5)
        .collect();
    progress.check()?;
    for (place, inside) in single.into_iter().zip(decided) {
        solid[place] |= inside;
    }
    Ok(solid)
}

/// The centre of a cell, in coordinates of the grid.
fn center(grid: &Grid, place: usize) -> Vec64 {
    Vec64::from(grid.cell(place).map(|at| f64::from(at) + 0.5))
}

/// A hole: its middle and radius, in cells.
struct Hole {
    center: Vec64,
    radius: f64,
}

/// The triangles in coordinates of the grid, with closed connected parts turned so that they enclose a positive volume, and the holes.
/// A shell inside of another then never hollows it out.
fn oriented(grid: &Grid, mesh: &TriMesh, triangles: &[[u32; 3]]) -> (Vec<[Vec64; 3]>, Vec<Hole>) {
    let finite = |p: &Point| {
        if p.iter().all(|c| c.is_finite()) {
            *p
        } else {
            Point::origin()
        }
    };
    let positions: Vec<Point> = mesh.positions.iter().map(finite).collect();
    let tolerance = Bounds::of(&positions).size() * WELDED;
    let welded = weld(&positions, triangles, tolerance).mesh;
    let at: Vec<Vec64> = welded
        .positions
        .iter()
        .map(|p| Vec64::from(grid.coordinates(&p.cast())))
        .collect();
    let mut parts = Sets::new(welded.positions.len());
    for &[a, b, c] in &welded.triangles {
        parts.join(a, b);
        parts.join(a, c);
    }
    let border = border_edges(&welded.triangles);
    let mut is_open = vec![false; at.len()];
    for &[a, _] in &border {
        is_open[parts.root(a) as usize] = true;
    }
    let middle = Vec64::from(grid.cells.map(|count| f64::from(count) * 0.5));
    let mut volume = vec![0.0; at.len()];
    for &[a, b, c] in &welded.triangles {
        let [p, q, r] = [a, b, c].map(|v| at[v as usize] - middle);
        volume[parts.root(a) as usize] += p.dot(&q.cross(&r));
    }
    let turned = welded.triangles.iter().map(|&[a, b, c]| {
        let part = parts.root(a) as usize;
        let [p, q, r] = [a, b, c].map(|v| at[v as usize]);
        if volume[part] < 0.0 && !is_open[part] {
            [p, r, q]
        } else {
            [p, q, r]
        }
    });
    (turned.collect(), holes(&border, &at))
}

/// Edges that triangles do not pass equally often in both directions: the boundary of the mesh as a chain.
fn border_edges(triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let mut passes: Vec<([u32; 2], bool)> = triangles
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
        .map(|[from, to]| ([from.min(to), from.max(to)], from < to))
        .collect();
    passes.par_sort_unstable();
    let same = passes.chunk_by(|one, other| one.0 == other.0);
    same.filter(|same| same.iter().filter(|pass| pass.1).count() * 2 != same.len())
        .map(|same| same[0].0)
        .collect()
}

/// Connected border edges as balls around their middles.
fn holes(border: &[[u32; 2]], at: &[Vec64]) -> Vec<Hole> {
    let mut loops = Sets::new(at.len());
    for &[a, b] in border {
        loops.join(a, b);
    }
    let mut corners: Vec<(u32, u32)> = border
        .iter()
        .flatten()
        .map(|&v| (loops.root(v), v))
        .collect();
    corners.sort_unstable();
    corners.dedup();
    let ball = |own: &[(u32, u32)]| {
        let points = || own.iter().map(|&(_, v)| at[v as usize]);
        let first = at[own[0].1 as usize];
        let (low, high) =
            points().fold((first, first), |(low, high), p| (low.inf(&p), high.sup(&p)));
        let center = (low + high) * 0.5;
        let radius = points().map(|p| (p - center).norm()).fold(0.0, f64::max);
        Hole { center, radius }
    };
    corners
        .chunk_by(|one, other| one.0 == other.0)
        .map(ball)
        .collect()
}

/// The cells near holes that are not marked, which it marks.
fn near_holes(grid: &Grid, holes: &[Hole], marked: &mut [bool]) -> Vec<usize> {
    let mut near = Vec::new();
    // Large holes first: smaller ones within them then find nothing left to do.
    let mut order: Vec<&Hole> = holes.iter().collect();
    order.sort_by(|a, b| b.radius.total_cmp(&a.radius));
    let mut done: Vec<&Hole> = Vec::new();
    for hole in order {
        let reach = NEAR_HOLE * hole.radius + 1.0;
        let covers = |other: &&Hole| {
            (other.center - hole.center).norm() + reach <= NEAR_HOLE * other.radius + 1.0
        };
        if done.iter().any(covers) {
            continue;
        }
        if done.len() < 64 {
            done.push(hole);
        }
        let range = |axis: usize| {
            let count = f64::from(grid.cells[axis]);
            let low = (hole.center[axis] - reach - 0.5).ceil().clamp(0.0, count) as u32;
            low..((hole.center[axis] + reach - 0.5).floor() + 1.0).clamp(0.0, count) as u32
        };
        for z in range(2) {
            for y in range(1) {
                for x in range(0) {
                    let away = Vec64::from([x, y, z].map(|at| f64::from(at) + 0.5)) - hole.center;
                    let place = grid.place([x, y, z]);
                    if !marked[place] && away.norm_squared() <= reach * reach {
                        marked[place] = true;
                        near.push(place);
                    }
                }
            }
        }
    }
    near
}

/// The next set of unmarked cells that are connected by faces, which it marks. No cell before `from` is unmarked; it moves on.
fn next_set(grid: &Grid, marked: &mut [bool], from: &mut usize) -> Option<Vec<usize>> {
    let first = *from + marked[*from..].iter().position(|marked| !marked)?;
    *from = first;
    marked[first] = true;
    let mut set = vec![first];
    let mut next = 0;
    while next < set.len() {
        let cell = grid.cell(set[next]);
        next += 1;
        for axis in 0..3 {
            for up in [false, true] {
                let mut neighbour = cell;
                if up {
                    neighbour[axis] += 1;
                } else if let Some(below) = cell[axis].checked_sub(1) {
                    neighbour[axis] = below;
                } else {
                    continue;
                }
                if neighbour[axis] < grid.cells[axis] {
                    let place = grid.place(neighbour);
                    if !std::mem::replace(&mut marked[place], true) {
                        set.push(place);
                    }
                }
            }
        }
    }
    Some(set)
}

/// Disjoint sets; the root of a set is its smallest member.
pub(super) struct Sets(std::cell::RefCell<Vec<u32>>);

impl Sets {
    pub(super) fn new(count: usize) -> Self {
        Self(std::cell::RefCell::new((0..count as u32).collect()))
    }

    pub(super) fn root(&self, mut member: u32) -> u32 {
        let mut parent = self.0.borrow_mut();
        while parent[member as usize] != member {
            parent[member as usize] = parent[parent[member as usize] as usize];
            member = parent[member as usize];
        }
        member
    }

    pub(super) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0.get_mut()[a.max(b) as usize] = a.min(b);
    }
}
