//! Coupling of shells: on both sides of a narrow gap the flesh is displaced alike.
//!
//! A character of many shells (armour over cloth, limbs with ball joints) has no elements between them. What elasticity, volume and
//! smoothing add to skinning differs on the two sides of a gap, and the shells slide through each other. With the displacement uᵢ of
//! a vertex relative to its guide, near other shells
//!
//! ```text
//!     uᵢ ← (1 − sᵢ) uᵢ + sᵢ Σ_c b_ic ū_c / Σ_c b_ic,     ū_c = Σⱼ b_jc Aⱼ uⱼ / Σⱼ b_jc Aⱼ
//! ```
//!
//! | symbol | meaning                                                                                                        |
//! |--------|----------------------------------------------------------------------------------------------------------------|
//! | c      | controls: one per occupied cell of a grid, at the mean of its vertices                                           |
//! | `b_ic` | (1 − d²/R²)² for the distance d between vertex and control at rest, with the radius R; vertices of all shells count |
//! | Aⱼ     | area of the vertex at rest                                                                                      |
//! | sᵢ     | 1 within half of the reach from another shell, 0 beyond the reach; less the further the shells have drifted apart |
//!
//! The drift of a vertex is measured at its partner, the nearest vertex of another shell at rest: the distance between the images of that
//! point under the guides of both. A ball joint that turns in its socket, or an arm that leaves the side, is not coupled. Parts that joints move rigidly have u = 0. The map is linear and reproduces constant displacements; at rest and in rigid motions it
//! does nothing. A skin of one shell has no coupling.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::math::{Point, Vec3, smoothstep};
use crate::mesh::{TriMesh, vertex_areas};

/// Edge of the grid's cells, in units of the reach.
const SPACING: f32 = 0.75;
/// Radius R in units of the reach: more than the diagonal of a cell, so that each vertex has the control of its own cell.
const RADIUS: f32 = 1.5;
/// Shells are coupled fully up to the first drift and not at all from the second on, in units of the reach.
const DRIFT: [f32; 2] = [0.25, 1.0];
/// Minimum number of vertices or controls per task.
const MIN_TASK: usize = 256;

/// The coupling of one skin, with the buffers of a frame.
#[derive(Debug, Clone)]
pub struct ShellCoupling {
    reach: f32,
    /// Vertices of the flesh whose displacement counts for a control, ascending.
    vertices: Vec<u32>,
    /// `control_starts[c]..control_starts[c + 1]` are the members of control c: indices into `vertices`, with normalised weights.
    control_starts: Vec<u32>,
    members: Vec<(u32, f32)>,
    coupled: Vec<Coupled>,
    /// The controls of the coupled vertices, in the same form.
    coupled_starts: Vec<u32>,
    controls: Vec<(u32, f32)>,
    displacements: Vec<Vec3>,
    means: Vec<Vec3>,
}

/// A vertex near another shell.
#[derive(Debug, Clone, Copy)]
struct Coupled {
    /// Its index in [`ShellCoupling::vertices`].
    index: u32,
    /// sᵢ without drift.
    strength: f32,
    /// Vertex of the skin.
    partner: u32,
}

/// Vertices by the cells of a grid.
struct Grid {
    edge: f32,
    cells: BTreeMap<[i32; 3], Vec<u32>>,
}

impl Grid {
    fn new(points: &[Point], chosen: impl Iterator<Item = u32>, edge: f32) -> Self {
        let mut grid = Self {
            edge,
            cells: BTreeMap::new(),
        };
        for vertex in chosen {
            let cell = grid.cell_of(&points[vertex as usize]);
            grid.cells.entry(cell).or_default().push(vertex);
        }
        grid
    }

    fn cell_of(&self, point: &Point) -> [i32; 3] {
        [point.x, point.y, point.z].map(|c| (c / self.edge).floor() as i32)
    }

    /// The members of all cells that a cube around a point meets.
    fn around(&self, point: &Point, radius: f32) -> impl Iterator<Item = &Vec<u32>> + '_ {
        let offset = Vec3::repeat(radius);
        let [low, high] = [point - offset, point + offset].map(|corner| self.cell_of(&corner));
        (low[0]..=high[0])
            .flat_map(move |x| (low[1]..=high[1]).map(move |y| [x, y]))
            .flat_map(move |[x, y]| self.cells.range([x, y, low[2]]..=[x, y, high[2]]))
            .map(|(_, members)| members)
    }
}

impl ShellCoupling {
    /// For a skin at rest. `shell_of` is the shell of each vertex, `flesh_from_skin` its vertex of the flesh, and `is_still` whether a
    /// joint moves it rigidly; vertices that are neither flesh nor still do not count. `reach` is the largest width of a gap, world
    /// units. `None` if no flesh is that close to another shell.
    ///
    /// # Panics
    /// If an array has another length than the vertices.
    #[must_use]
    pub fn of(
        skin: &TriMesh,
        shell_of: &[u32],
        flesh_from_skin: &[Option<u32>],
        is_still: impl Fn(usize) -> bool,
        reach: f32,
    ) -> Option<Self> {
        let points = &skin.positions;
        let first = shell_of.first()?;
        if reach <= 0.0 || !reach.is_finite() || shell_of.iter().all(|shell| shell == first) {
            return None;
        }
        let counts = |vertex: &u32| {
            let vertex = *vertex as usize;
            let moves = flesh_from_skin[vertex].is_some() || is_still(vertex);
            moves && points[vertex].iter().all(|c| c.is_finite())
        };
        let counted: Vec<u32> = (0..points.len() as u32).filter(counts).collect();
        let grid = Grid::new(points, counted.iter().copied(), reach * SPACING);
        let partners: Vec<Option<(u32, f32)>> = counted
            .par_iter()
            .map(|&vertex| {
                flesh_from_skin[vertex as usize]?;
                let is_other = |other: u32| shell_of[vertex as usize] != shell_of[other as usize];
                let (partner, distance) =
                    nearest(&points[vertex as usize], points, is_other, &grid, reach)?;
                Some((partner, smoothstep([1.0, 0.5], distance / reach)))
            })
            .collect();
        if partners.iter().all(Option::is_none) {
            return None;
        }
        let controls = members_of_controls(&grid, points, &counted, &partners, reach);
        let areas = vertex_areas(skin);
        let area_of = |index: usize| areas[counted[index] as usize].max(f64::MIN_POSITIVE);
        let flesh: Vec<Option<u32>> = counted
            .iter()
            .map(|&vertex| flesh_from_skin[vertex as usize])
            .collect();
        Some(Self::assemble(&flesh, &partners, &controls, area_of, reach))
    }

    /// Assembles the tables. `flesh` and `partners` have an entry per counted vertex, `controls` lists of them with `b_ic`.
    fn assemble(
        flesh: &[Option<u32>],
        partners: &[Option<(u32, f32)>],
        controls: &[Vec<(usize, f32)>],
        area_of: impl Fn(usize) -> f64,
        reach: f32,
    ) -> Self {
        let mut controls_of: Vec<Vec<(u32, f32)>> = vec![Vec::new(); flesh.len()];
        for (control, members) in (0u32..).zip(controls) {
            for &(counted, kernel) in members {
                controls_of[counted].push((control, kernel));
            }
        }
        let mut built = Self {
            reach,
            vertices: Vec::new(),
            control_starts: vec![0],
            members: Vec::new(),
            coupled: Vec::new(),
            coupled_starts: vec![0],
            controls: Vec::new(),
            displacements: Vec::new(),
            means: vec![Vec3::zeros(); controls.len()],
        };
        let mut index_of = vec![None; flesh.len()];
        for (counted, own) in controls_of.iter().enumerate() {
            let Some(vertex) = flesh[counted].filter(|_| !own.is_empty()) else {
                continue;
            };
            let index = built.vertices.len() as u32;
            index_of[counted] = Some(index);
            built.vertices.push(vertex);
            if let Some((partner, strength)) = partners[counted] {
                built.coupled.push(Coupled {
                    index,
                    strength,
                    partner,
                });
                let sum: f32 = own.iter().map(|&(_, kernel)| kernel).sum();
                let normalised = own.iter().map(|&(control, kernel)| (control, kernel / sum));
                built.controls.extend(normalised);
                built.coupled_starts.push(built.controls.len() as u32);
            }
        }
        for members in controls {
            let weighted = members
                .iter()
                .map(|&(counted, kernel)| (counted, f64::from(kernel) * area_of(counted)));
            // The share of still vertices, which are displaced by zero, stays in the sum.
            let sum: f64 = weighted.clone().map(|(_, weight)| weight).sum();
            let moving = weighted.filter_map(|(counted, weight)| {
                index_of[counted].map(|index| (index, (weight / sum) as f32))
            });
            built.members.extend(moving);
            built.control_starts.push(built.members.len() as u32);
        }
        built.displacements = vec![Vec3::zeros(); built.vertices.len()];
        built
    }

    /// The coupled vertices of the flesh, each with its partner, a vertex of the skin.
    pub fn partners(&self) -> impl ExactSizeIterator<Item = (u32, u32)> + '_ {
        let pair = |c: &Coupled| (self.vertices[c.index as usize], c.partner);
        self.coupled.iter().map(pair)
    }

    /// Couples the flesh of a pose. `guided` is the position of each vertex of the flesh under the guide alone; `drift` that of each of
    /// the [`ShellCoupling::partners`] in world units. Allocates nothing.
    pub fn apply(
        &mut self,
        guided: impl Fn(usize) -> Point + Sync,
        drift: impl Fn(usize) -> f32,
        points: &mut [Point],
    ) {
        let Self {
            reach,
            vertices,
            control_starts,
            members,
            coupled,
            coupled_starts,
            controls,
            displacements,
            means,
        } = self;
        let range = |starts: &[u32], k: usize| starts[k] as usize..starts[k + 1] as usize;
        let all = &*points;
        displacements
            .par_iter_mut()
            .zip(&*vertices)
            .with_min_len(MIN_TASK)
            .for_each(|(out, &vertex)| {
                *out = all[vertex as usize] - guided(vertex as usize);
            });
        let sum = |entries: &[(u32, f32)], values: &[Vec3]| {
            let mut sum = Vec3::zeros();
            for &(index, weight) in entries {
                sum += values[index as usize] * weight;
            }
            sum
        };
        let own = &*displacements;
        means
            .par_iter_mut()
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(control, mean)| {
                *mean = sum(&members[range(control_starts, control)], own);
            });
        for (k, vertex) in coupled.iter().enumerate() {
            let fade = 1.0 - smoothstep(DRIFT, drift(k) / *reach);
            let mean = sum(&controls[range(coupled_starts, k)], means);
            let index = vertex.index as usize;
            let change = (mean - displacements[index]) * (vertex.strength * fade);
            if change.iter().all(|c| c.is_finite()) {
                points[vertices[index] as usize] += change;
            }
        }
    }
}

/// The nearest chosen vertex within reach of a point, with its distance.
fn nearest(
    point: &Point,
    points: &[Point],
    is_chosen: impl Fn(u32) -> bool,
    grid: &Grid,
    reach: f32,
) -> Option<(u32, f32)> {
    let mut best = None;
    let mut least = reach;
    for &other in grid.around(point, reach).flatten() {
        let distance = (points[other as usize] - point).norm();
        if distance < least && is_chosen(other) {
            least = distance;
            best = Some((other, distance));
        }
    }
    best
}

/// For every control the counted vertices around it (as indices) with `b_ic`. Controls are in the cells of vertices with partners.
fn members_of_controls(
    grid: &Grid,
    points: &[Point],
    counted: &[u32],
    partners: &[Option<(u32, f32)>],
    reach: f32,
) -> Vec<Vec<(usize, f32)>> {
    let index_of = |vertex: u32| counted.partition_point(|&other| other < vertex);
    let cells: Vec<&Vec<u32>> = grid
        .cells
        .values()
        .filter(|members| members.iter().any(|&v| partners[index_of(v)].is_some()))
        .collect();
    let radius = RADIUS * reach;
    cells
        .par_iter()
        .map(|members| {
            let sum: Vec3 = members.iter().map(|&v| points[v as usize].coords).sum();
            let center = Point::from(sum / members.len() as f32);
            let mut around: Vec<(usize, f32)> = grid
                .around(&center, radius)
                .flatten()
                .filter_map(|&vertex| {
                    let square = (points[vertex as usize] - center).norm_squared();
                    let falloff = 1.0 - square / (radius * radius);
                    (falloff > 0.0).then(|| (index_of(vertex), falloff * falloff))
                })
                .collect();
            around.sort_unstable_by_key(|&(index, _)| index);
            around
        })
        .collect()
}

#[cfg(test)]
mod tests;
