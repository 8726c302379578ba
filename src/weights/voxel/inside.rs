//! Which of the cells that no triangle touches are inside.
//!
//! The winding number of a closed mesh does not change along a path that no triangle crosses, so that one evaluation decides a whole
//! connected set of cells. The winding number of an open mesh changes mostly near its holes: a disc of radius a adds at most a² / (4 r²)
//! at the distance r, and at the distance d from its border the number changes by no more than 1 / (2 π d) along a unit of length. Cells
//! within three radii of a hole are therefore taken in blocks whose edge is at most half the distance to the nearest border edge; other
//! sets are as large as they are connected. Three cells decide a set; if these do not agree clearly, all its cells are evaluated.

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
/// Distances from the border are not told apart from here on, in cells.
const FARTHEST: u8 = 16;
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
    let (oriented, border) = oriented(grid, mesh, triangles);
    progress.check()?;
    let tree = WindingTree::new(oriented);
    progress.check()?;
    let mut solid = touched.clone();
    let mut open = touched;
    let near = near_holes(grid, &holes(&border), &mut open);
    let mut sets = blocks_near(grid, &border, &near);
    let mut from = 0;
    while let Some(set) = next_set(grid, &mut open, &mut from) {
        sets.push(set);
    }
    progress.check()?;
    let winding = |place: &usize| tree.at(&center(grid, *place)).abs();
    // Of a closed mesh all cells of a set have the same number.
    let is_closed = border.is_empty();
    let decided: Vec<Option<bool>> = sets
        .par_iter()
        .map(|set| {
            if progress.is_cancelled() {
                return Some(false);
            }
            let tried = [set.first(), set.get(set.len() / 2), set.last()];
            let needed = if is_closed || set.len() == 1 { 1 } else { 3 };
            let found: Vec<f64> = tried
                .into_iter()
                .flatten()
                .take(needed)
                .map(winding)
                .collect();
            if set.len() == 1 || is_closed {
                Some(found[0] > 0.5)
            } else if found.iter().all(|w| *w > UNCLEAR[1]) {
                Some(true)
            } else if found.iter().all(|w| *w < UNCLEAR[0]) {
                Some(false)
            } else {
                None
            }
        })
        .collect();
    progress.check()?;
    let mut single = Vec::new();
    for (set, decided) in sets.into_iter().zip(decided) {
        match decided {
            Some(true) => set.into_iter().for_each(|place| solid[place] = true),
            Some(false) => {}
            None => single.extend(set),
        }
    }
    let inside: Vec<bool> = single
        .par_iter()
        .map(|place| !progress.is_cancelled() && winding(place) > 0.5)
        .collect();
    progress.check()?;
    for (place, inside) in single.into_iter().zip(inside) {
        solid[place] = inside;
    }
    Ok(solid)
}

impl Grid {
    /// Visits the cells that share a face with a cell.
    fn face_neighbours(&self, cell: [u32; 3], mut visit: impl FnMut(usize)) {
        let place = self.place(cell);
        let [nx, ny, _] = self.cells.map(|count| count as usize);
        for (axis, step) in [1, nx, nx * ny].into_iter().enumerate() {
            if cell[axis] > 0 {
                visit(place - step);
            }
            if cell[axis] + 1 < self.cells[axis] {
                visit(place + step);
            }
        }
    }
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

/// An edge of the border of the mesh, in coordinates of the grid.
struct BorderEdge {
    vertices: [u32; 2],
    ends: [Vec64; 2],
}

/// The triangles in coordinates of the grid, with closed connected parts turned so that they enclose a positive volume, and the border.
/// A shell inside of another then never hollows it out.
fn oriented(
    grid: &Grid,
    mesh: &TriMesh,
    triangles: &[[u32; 3]],
) -> (Vec<[Vec64; 3]>, Vec<BorderEdge>) {
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
    let ends = |&[a, b]: &[u32; 2]| BorderEdge {
        vertices: [a, b],
        ends: [at[a as usize], at[b as usize]],
    };
    let border = border.iter().map(ends).collect();
    (turned.collect(), border)
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
fn holes(border: &[BorderEdge]) -> Vec<Hole> {
    let count = border
        .iter()
        .flat_map(|edge| edge.vertices)
        .max()
        .map_or(0, |last| last + 1);
    let mut loops = Sets::new(count as usize);
    for edge in border {
        loops.join(edge.vertices[0], edge.vertices[1]);
    }
    let mut ends: Vec<(u32, Vec64)> = Vec::new();
    for edge in border {
        ends.extend(edge.ends.map(|end| (loops.root(edge.vertices[0]), end)));
    }
    ends.sort_by_key(|&(root, _)| root);
    let ball = |own: &[(u32, Vec64)]| {
        let points = || own.iter().map(|(_, point)| point);
        let (low, high) = points().fold((own[0].1, own[0].1), |(low, high), p| {
            (low.inf(p), high.sup(p))
        });
        let center = (low + high) * 0.5;
        let radius = points().map(|p| (p - center).norm()).fold(0.0, f64::max);
        Hole { center, radius }
    };
    ends.chunk_by(|one, other| one.0 == other.0)
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

/// These cells as connected sets within blocks that are the smaller, the nearer they are to the border.
fn blocks_near(grid: &Grid, border: &[BorderEdge], near: &[usize]) -> Vec<Vec<usize>> {
    if near.is_empty() {
        return Vec::new();
    }
    let distances = border_distances(grid, border);
    // Blocks of 2^k cells at a distance of at least 2^(k + 1).
    let level = |place: usize| distances[place].max(2).ilog2() - 1;
    let block = |place: usize| {
        let level = level(place);
        (level, grid.cell(place).map(|at| at >> level))
    };
    let mut waits = vec![false; grid.len()];
    for &place in near {
        waits[place] = true;
    }
    let mut sets = Vec::new();
    for &seed in near {
        if !std::mem::take(&mut waits[seed]) {
            continue;
        }
        let own = block(seed);
        let mut set = vec![seed];
        let mut next = 0;
        while next < set.len() {
            let cell = grid.cell(set[next]);
            next += 1;
            grid.face_neighbours(cell, |place| {
                if waits[place] && block(place) == own {
                    waits[place] = false;
                    set.push(place);
                }
            });
        }
        sets.push(set);
    }
    sets
}

/// For every cell the number of steps, diagonal ones too, to the nearest cell with a border edge; at most [`FARTHEST`].
fn border_distances(grid: &Grid, border: &[BorderEdge]) -> Vec<u8> {
    let mut distances = vec![FARTHEST; grid.len()];
    for edge in border {
        let along = edge.ends[1] - edge.ends[0];
        let steps = along.norm().ceil().max(1.0) as u32;
        for step in 0..=steps {
            let at = edge.ends[0] + along * (f64::from(step) / f64::from(steps));
            let cell = [0, 1, 2].map(|k| (at[k].floor().max(0.0) as u32).min(grid.cells[k] - 1));
            distances[grid.place(cell)] = 0;
        }
    }
    // The largest of three differences is found axis by axis, up and down: Rosenfeld, Pfaltz 1966.
    let [nx, ny, nz] = grid.cells.map(|count| count as i64);
    let before: Vec<[i64; 3]> = (0..13_i64)
        .map(|k| [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1])
        .collect();
    let mut relax = |place: usize, sign: i64| {
        let [x, y, z] = grid.cell(place).map(i64::from);
        let mut least = distances[place];
        for [dx, dy, dz] in &before {
            let [x, y, z] = [x + sign * dx, y + sign * dy, z + sign * dz];
            if (0..nx).contains(&x) && (0..ny).contains(&y) && (0..nz).contains(&z) {
                let other = distances[grid.place([x as u32, y as u32, z as u32])];
                least = least.min(other.saturating_add(1));
            }
        }
        distances[place] = least;
    };
    for place in 0..grid.len() {
        relax(place, 1);
    }
    for place in (0..grid.len()).rev() {
        relax(place, -1);
    }
    distances
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
        grid.face_neighbours(cell, |place| {
            if !std::mem::replace(&mut marked[place], true) {
                set.push(place);
            }
        });
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
