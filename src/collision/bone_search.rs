//! Middle and narrow phase around one bone: finds the vertices inside its wedges.
//!
//! The space around the bone is divided into a grid in cylinder coordinates. Vertices of other bones near the wedges are candidates.
//! Only wedges in slices with candidates are searched. Each cell stores the largest radius of the wedges that touch it; candidates within
//! that radius are grouped by cell in a counting sort, so that those of neighbouring cells are one run.

use std::ops::Range;

use super::axes::{BoneAxes, CylinderCell, SECTORS};
use super::bone_cells::BoneCells;
use super::wedge::{Aabb, BLOCK, WedgeShape};
use super::{CollisionBody, Hit, PosedFootPoints};
use crate::math::Point;

/// Numbers of vertices in the box around all wedges, and of those near a wedge, that buffers are first allocated for.
const INITIAL_IN_BOX: usize = 2048;
const INITIAL_CANDIDATES: usize = 1024;
/// Factor on the radius of wedges, against rounding errors.
const RADIUS_SLACK: f32 = 1.0 + 1e-5;
/// Foot points within this fraction of a wedge's radius lie on the axis, and in no sector.
const ON_AXIS: f32 = 1e-3;

/// Buffers of the search around one bone.
#[derive(Debug, Clone, Default)]
pub(super) struct BoneSearch {
    axes: BoneAxes,
    /// Bounding box of the bone's wedges.
    aabb: Aabb,
    /// One for every vertex of [`BoneCells::closure`].
    columns: Vec<Column>,
    /// The wedges in slices that contain candidates, with the cells that they touch.
    wedges: Vec<WedgeCells>,
    /// Per cell, the largest distance of such a wedge from the axis, world units; −1 without wedges.
    reach: Vec<f32>,
    /// Vertices of other bones: at first those in the box around the wedges, then only those within the reach of their cell. Sorted,
    /// those of cell c are `sorted[starts[c]..starts[c + 1]]`.
    candidates: Vec<WedgeCandidate>,
    sorted: Vec<WedgeCandidate>,
    /// Coordinates of the sorted candidates (x, y, z), so that blocks of them can be tested against a box with vector instructions;
    /// behind them as many numbers as a block has, which are in no box.
    sorted_coordinates: [Vec<f32>; 3],
    starts: Vec<u32>,
    pub(super) hits: Vec<Hit>,
}

#[derive(Debug, Clone, Copy, Default)]
struct WedgeCells {
    triangle: u32,
    /// The first and the last one.
    slices: [u8; 2],
    sectors: Arc,
    /// Largest distance from the axis.
    radius: f32,
}

/// The cells of a vertex and its foot point.
#[derive(Debug, Clone, Copy)]
struct Column {
    /// The first and the last one.
    slices: [u8; 2],
    /// One bit each.
    skin_sector: u8,
    foot_sector: u8,
    /// Largest distance from the axis, and that of the foot point.
    radius: f32,
    foot_radius: f32,
}

impl Column {
    fn of([skin, foot]: [CylinderCell; 2]) -> Self {
        Self {
            slices: [skin.slice.min(foot.slice), skin.slice.max(foot.slice)],
            skin_sector: 1 << skin.sector,
            foot_sector: 1 << foot.sector,
            radius: skin.radius.max(foot.radius),
            foot_radius: foot.radius,
        }
    }
}

/// Consecutive sectors, counted on from 0 after the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Arc {
    first: u8,
    count: u8,
}

#[derive(Debug, Clone, Copy, Default)]
struct WedgeCandidate {
    vertex: u32,
    /// The bone of the vertex, and its place in the grid.
    bone: u32,
    place: CylinderCell,
}

impl WedgeCandidate {
    fn cell(&self) -> usize {
        self.place.slice as usize * SECTORS + self.place.sector as usize
    }
}

impl BoneSearch {
    pub(super) fn search(
        &mut self,
        bone: usize,
        body: &CollisionBody,
        positions: &[Point],
        foot_points: &PosedFootPoints,
        patches: &[Aabb],
    ) {
        self.hits.clear();
        let own = &body.bones[bone];
        if own.triangles.is_empty() {
            return;
        }
        if self.candidates.capacity() == 0 {
            self.reserve(own, positions.len());
        }
        self.axes = own.axes(foot_points.bone(bone as u32));
        let vertices = own.closure.iter().map(|&v| {
            let v = v as usize;
            [&positions[v], &foot_points.points[v]]
        });
        self.aabb = Aabb::of(vertices.clone().flatten());
        self.collect_candidates(bone, body, positions, patches);
        if self.candidates.is_empty() {
            return;
        }
        let Self { axes, columns, .. } = self;
        columns.clear();
        columns.extend(vertices.map(|points| Column::of(points.map(|p| axes.cell_of(own, p)))));
        self.fill_cells(own, body);
        let reach = &self.reach;
        self.candidates
            .retain(|candidate| candidate.place.radius <= reach[candidate.cell()]);
        if !self.candidates.is_empty() {
            self.sort(own, positions);
            self.test(body, positions, foot_points);
        }
    }

    /// Reserves buffers for the wedges of a bone and the usual candidates of `vertices`, so that later searches rarely allocate.
    fn reserve(&mut self, own: &BoneCells, vertices: usize) {
        self.columns.reserve(own.closure.len());
        self.wedges.reserve(own.triangles.len());
        self.reach.reserve(own.slices * SECTORS);
        self.starts.reserve(own.slices * SECTORS + 1);
        let count = vertices.min(INITIAL_CANDIDATES);
        self.candidates.reserve(vertices.min(INITIAL_IN_BOX));
        self.sorted.reserve(count);
        self.hits.reserve(count);
        for coordinates in &mut self.sorted_coordinates {
            coordinates.reserve(count + BLOCK);
        }
    }

    /// Computes the cells of the wedges in slices that contain candidates, and the reach of these cells.
    fn fill_cells(&mut self, own: &BoneCells, body: &CollisionBody) {
        // One bit for each slice, of which a bone has at most 64.
        let mut occupied = 0_u64;
        for candidate in &self.candidates {
            occupied |= 1 << candidate.place.slice;
        }
        self.reach.clear();
        self.reach.resize(own.slices * SECTORS, -1.0);
        self.wedges.clear();
        for (&triangle, closure) in own.triangles.iter().zip(&own.corners) {
            let [a, b, c] = closure.map(|corner| &self.columns[corner as usize]);
            let slices = [
                a.slices[0].min(b.slices[0]).min(c.slices[0]),
                a.slices[1].max(b.slices[1]).max(c.slices[1]),
            ];
            // One bit for each slice of the wedge, the first one lowest.
            if (occupied >> slices[0]) & (u64::MAX >> (63 - (slices[1] - slices[0]))) == 0 {
                continue;
            }
            let radius = a.radius.max(b.radius).max(c.radius);
            let mut touched = a.skin_sector | b.skin_sector | c.skin_sector;
            if body.mixed[triangle as usize] {
                for foot in [a, b, c] {
                    if foot.foot_radius > ON_AXIS * radius {
                        touched |= foot.foot_sector;
                    }
                }
            }
            let wedge = WedgeCells {
                triangle,
                slices,
                sectors: ARCS[usize::from(touched)],
                radius: RADIUS_SLACK * radius,
            };
            for run in wedge.runs() {
                for reach in &mut self.reach[run] {
                    *reach = reach.max(wedge.radius);
                }
            }
            self.wedges.push(wedge);
        }
    }

    /// Collects the vertices of other bones in the box around all wedges.
    fn collect_candidates(
        &mut self,
        bone: usize,
        body: &CollisionBody,
        positions: &[Point],
        patches: &[Aabb],
    ) {
        let own = &body.bones[bone];
        self.candidates.clear();
        for (patch, aabb) in body.patches.iter().zip(patches) {
            if patch.bone as usize == bone || !aabb.overlaps(&self.aabb) {
                continue;
            }
            for &vertex in &patch.vertices {
                let p = &positions[vertex as usize];
                if !self.aabb.contains(p) {
                    continue;
                }
                self.candidates.push(WedgeCandidate {
                    vertex,
                    bone: patch.bone,
                    place: self.axes.cell_of(own, p),
                });
            }
        }
    }

    /// Counting sort of the candidates by cell.
    fn sort(&mut self, own: &BoneCells, positions: &[Point]) {
        let cells = own.slices * SECTORS;
        self.starts.clear();
        self.starts.resize(cells + 1, 0);
        for candidate in &self.candidates {
            self.starts[candidate.cell() + 1] += 1;
        }
        for c in 0..cells {
            self.starts[c + 1] += self.starts[c];
        }
        self.sorted.clear();
        self.sorted
            .resize(self.candidates.len(), WedgeCandidate::default());
        // Fill each cell from its end, so that the end index decreases to the start index.
        for candidate in self.candidates.iter().rev() {
            let slot = &mut self.starts[candidate.cell() + 1];
            *slot -= 1;
            self.sorted[*slot as usize] = *candidate;
        }
        self.starts.copy_within(1.., 0);
        self.starts[cells] = self.candidates.len() as u32;
        for (c, coordinates) in self.sorted_coordinates.iter_mut().enumerate() {
            coordinates.clear();
            coordinates.extend(
                self.sorted
                    .iter()
                    .map(|candidate| positions[candidate.vertex as usize][c]),
            );
            coordinates.resize(self.sorted.len() + BLOCK, f32::NAN);
        }
    }

    fn test(&mut self, body: &CollisionBody, positions: &[Point], foot_points: &PosedFootPoints) {
        let Self {
            wedges,
            starts,
            sorted,
            sorted_coordinates,
            hits,
            ..
        } = self;
        for wedge in wedges {
            let triangle = wedge.triangle;
            let mut shape = None;
            for run in wedge.runs() {
                let [mut next, end] = [run.start, run.end].map(|cell| starts[cell] as usize);
                if next == end {
                    continue;
                }
                let shape = shape
                    .get_or_insert_with(|| WedgeShape::of(body, triangle, positions, foot_points));
                while next < end {
                    let Some(block) = block_at(sorted_coordinates, next) else {
                        break;
                    };
                    let inside = shape.points_in_box(block) & first_bits(end - next);
                    for k in bits(inside) {
                        let WedgeCandidate { vertex, bone, .. } = sorted[next + k];
                        if !shape.bones.contains(&bone)
                            && shape.contains(&positions[vertex as usize])
                            && !body.is_excluded(vertex, triangle)
                        {
                            hits.push(Hit { vertex, triangle });
                        }
                    }
                    next += BLOCK;
                }
            }
        }
    }
}

impl WedgeCells {
    /// The cells that the wedge touches, as runs of consecutive ones.
    fn runs(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let [first, last] = self.slices.map(usize::from);
        let Arc { first: from, count } = self.sectors;
        let (from, to) = (usize::from(from), usize::from(from + count));
        // All sectors of several slices are one run.
        let slices_per_run = if usize::from(count) == SECTORS {
            last + 1 - first
        } else {
            1
        };
        (first..=last)
            .step_by(slices_per_run)
            .flat_map(move |slice| {
                let start = slice * SECTORS;
                let end = start + slices_per_run * SECTORS;
                let whole = start + from..(start + to).min(end);
                let around = start..start + to.saturating_sub(SECTORS);
                if slices_per_run > 1 {
                    [start..end, 0..0]
                } else {
                    [whole, around]
                }
            })
    }
}

/// By the sectors of points, one bit each, those that their convex hull touches. Points within half a turn span only the sectors between
/// them; others may have the axis in their hull, and all sectors.
const ARCS: [Arc; 1 << SECTORS] = {
    let mut arcs = [Arc {
        first: 0,
        count: SECTORS as u8,
    }; 1 << SECTORS];
    let mut touched = 1;
    while touched < arcs.len() {
        // The shortest one that has them all.
        let mut count = SECTORS / 2;
        while count > 0 {
            let mut first = 0;
            while first < SECTORS {
                let arc = ((1 << count) - 1) << first;
                let arc = (arc | (arc >> SECTORS)) & (arcs.len() - 1);
                if touched & !arc == 0 {
                    arcs[touched] = Arc {
                        first: first as u8,
                        count: count as u8,
                    };
                }
                first += 1;
            }
            count -= 1;
        }
        touched += 1;
    }
    arcs
};

/// The coordinates from `start` on.
fn block_at(coordinates: &[Vec<f32>; 3], start: usize) -> Option<[&[f32; BLOCK]; 3]> {
    let [x, y, z] = coordinates
        .each_ref()
        .map(|all| all[start..].first_chunk::<BLOCK>());
    Some([x?, y?, z?])
}

/// The lowest bits of a block, this many or all of them.
fn first_bits(count: usize) -> u32 {
    (1 << count.min(BLOCK)) - 1
}

/// Indices of the set bits, in ascending order.
fn bits(mut word: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let next = (word != 0).then(|| word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        next
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sectors of an arc, one bit each.
    fn sectors(arc: Arc) -> usize {
        (0..usize::from(arc.count)).fold(0, |sectors, k| {
            sectors | 1 << ((usize::from(arc.first) + k) % SECTORS)
        })
    }

    #[test]
    fn an_arc_is_the_shortest_that_has_all_sectors() {
        for (touched, &arc) in ARCS.iter().enumerate().skip(1) {
            assert_eq!(touched & !sectors(arc), 0, "{touched:b}");
            let shorter = |first: u8| Arc {
                first,
                count: arc.count - 1,
            };
            if arc.count as usize <= SECTORS / 2 {
                let found = (0..SECTORS as u8).any(|first| touched & !sectors(shorter(first)) == 0);
                assert!(!found, "{touched:b}");
            } else {
                assert_eq!(arc.count as usize, SECTORS);
            }
        }
    }

    /// Whatever the arc, the runs have each cell of its sectors and slices once.
    #[test]
    fn runs_have_every_cell_of_a_wedge_once() {
        for sectors_of_wedge in ARCS {
            for slices in [[3, 3], [2, 5]] {
                let wedge = WedgeCells {
                    triangle: 0,
                    slices,
                    sectors: sectors_of_wedge,
                    radius: 1.0,
                };
                let mut cells: Vec<usize> = wedge.runs().flatten().collect();
                cells.sort_unstable();
                let expected = (slices[0]..=slices[1]).flat_map(|slice| {
                    let inside = sectors(sectors_of_wedge);
                    (0..SECTORS)
                        .filter(move |sector| inside >> sector & 1 == 1)
                        .map(move |sector| usize::from(slice) * SECTORS + sector)
                });
                assert_eq!(cells, expected.collect::<Vec<_>>());
            }
        }
    }
}
