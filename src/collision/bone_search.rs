//! Middle and narrow phase around one bone: finds the vertices inside its wedges.
//!
//! The space around the bone is divided into a grid in cylinder coordinates. Each cell stores the largest radius of the wedges that
//! touch it. Vertices of other bones within that radius are candidates; a counting sort groups them by cell.

use super::axes::{BoneAxes, CylinderCell, SECTORS};
use super::bone_cells::BoneCells;
use super::wedge::{Aabb, BLOCK, WedgeShape};
use super::{CollisionBody, Hit, PosedFootPoints};
use crate::math::Point;

/// Number of candidates that buffers are first allocated for.
const INITIAL_CANDIDATES: usize = 1024;
/// Factor on the radius of wedges, against rounding errors.
const RADIUS_SLACK: f32 = 1.0 + 1e-5;

/// Buffers of the search around one bone.
#[derive(Debug, Clone, Default)]
pub(super) struct BoneSearch {
    axes: BoneAxes,
    /// Bounding box of the bone's wedges.
    aabb: Aabb,
    /// Cells of the skin and foot points, two per vertex of [`BoneCells::closure`].
    point_cells: Vec<CylinderCell>,
    /// Per wedge, the cells that it touches.
    wedges: Vec<WedgeCells>,
    /// Per cell, the largest distance of a wedge from the axis, world units; −1 without wedges.
    reach: Vec<f32>,
    /// Vertices of other bones within that distance.
    /// The candidates of cell c are `sorted[starts[c]..starts[c + 1]]`.
    candidates: Vec<WedgeCandidate>,
    sorted: Vec<WedgeCandidate>,
    /// Coordinates of the sorted candidates (x, y, z), so that blocks of them can be tested against a box with vector instructions;
    /// behind them as many numbers as a block has, which are in no box.
    sorted_coordinates: [Vec<f32>; 3],
    starts: Vec<u32>,
    /// Per slice, the sectors that contain candidates, one bit each.
    occupied: Vec<u8>,
    pub(super) hits: Vec<Hit>,
}

#[derive(Debug, Clone, Copy, Default)]
struct WedgeCells {
    slices: [u8; 2],
    /// One bit per sector.
    sectors: u8,
    radius: f32,
}

#[derive(Debug, Clone, Copy, Default)]
struct WedgeCandidate {
    vertex: u32,
    cell: u32,
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
            self.reserve(positions.len().min(INITIAL_CANDIDATES));
        }
        self.axes = own.axes(foot_points.bone(bone as u32));
        self.transform_points(own, positions, foot_points);
        self.fill_cells(own, body);
        self.collect_candidates(bone, body, positions, patches);
        if !self.candidates.is_empty() {
            self.sort(own, positions);
            self.test(own, body, positions, foot_points);
        }
    }

    /// Reserves buffers for `count` candidates, so that later searches rarely allocate.
    fn reserve(&mut self, count: usize) {
        self.candidates.reserve(count);
        self.sorted.reserve(count);
        self.hits.reserve(count);
        for coordinates in &mut self.sorted_coordinates {
            coordinates.reserve(count + BLOCK);
        }
    }

    /// Computes the cells of all skin and foot points of the wedges.
    fn transform_points(
        &mut self,
        own: &BoneCells,
        positions: &[Point],
        foot_points: &PosedFootPoints,
    ) {
        let Self {
            axes,
            aabb,
            point_cells,
            ..
        } = self;
        *aabb = Aabb::EMPTY;
        point_cells.clear();
        for &v in &own.closure {
            let (skin, foot) = (&positions[v as usize], &foot_points.points[v as usize]);
            aabb.add(skin);
            aabb.add(foot);
            point_cells.push(axes.cell_of(own, skin));
            point_cells.push(axes.cell_of(own, foot));
        }
    }

    fn fill_cells(&mut self, own: &BoneCells, body: &CollisionBody) {
        self.reach.clear();
        self.reach.resize(own.slices * SECTORS, -1.0);
        self.wedges.clear();
        for (&triangle, closure) in own.triangles.iter().zip(&own.corners) {
            let mut wedge = WedgeCells {
                slices: [u8::MAX, 0],
                sectors: 0,
                radius: 0.0,
            };
            let mut sum = 0;
            for &corner in closure {
                let [skin, foot] = [
                    self.point_cells[2 * corner as usize],
                    self.point_cells[2 * corner as usize + 1],
                ];
                wedge.slices[0] = wedge.slices[0].min(skin.slice).min(foot.slice);
                wedge.slices[1] = wedge.slices[1].max(skin.slice).max(foot.slice);
                wedge.radius = wedge.radius.max(skin.radius).max(foot.radius);
                wedge.sectors |= 1 << skin.sector;
                sum |= 1_u32 << skin.sector;
            }
            // Foot points lie on the axis: a wedge whose skin points are in two adjacent sectors touches no other sector.
            let mixed = body.mixed[triangle as usize];
            let neighbors = sum.count_ones() <= 1
                || (sum.count_ones() == 2 && (sum & (sum >> 1) != 0 || sum == 0b1000_0001));
            if mixed || !neighbors {
                wedge.sectors = u8::MAX;
            }
            wedge.radius *= RADIUS_SLACK;
            for slice in wedge.slices[0]..=wedge.slices[1] {
                for sector in bits(u32::from(wedge.sectors)) {
                    let reach = &mut self.reach[slice as usize * SECTORS + sector];
                    *reach = reach.max(wedge.radius);
                }
            }
            self.wedges.push(wedge);
        }
    }

    /// Collects the vertices of other bones that may lie in a wedge.
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
                let cylinder = self.axes.cell_of(own, p);
                let cell = cylinder.slice as usize * SECTORS + cylinder.sector as usize;
                if cylinder.radius <= self.reach[cell] {
                    self.candidates.push(WedgeCandidate {
                        vertex,
                        cell: cell as u32,
                    });
                }
            }
        }
    }

    /// Counting sort of the candidates by cell.
    fn sort(&mut self, own: &BoneCells, positions: &[Point]) {
        let cells = own.slices * SECTORS;
        self.starts.clear();
        self.starts.resize(cells + 1, 0);
        for candidate in &self.candidates {
            self.starts[candidate.cell as usize + 1] += 1;
        }
        for c in 0..cells {
            self.starts[c + 1] += self.starts[c];
        }
        self.sorted.clear();
        self.sorted
            .resize(self.candidates.len(), WedgeCandidate::default());
        // Fill each cell from its end, so that the end index decreases to the start index.
        for candidate in self.candidates.iter().rev() {
            let slot = &mut self.starts[candidate.cell as usize + 1];
            *slot -= 1;
            self.sorted[*slot as usize] = *candidate;
        }
        self.starts.copy_within(1.., 0);
        self.starts[cells] = self.candidates.len() as u32;
        self.occupied.clear();
        self.occupied.resize(own.slices, 0);
        for candidate in &self.candidates {
            self.occupied[candidate.cell as usize / SECTORS] |=
                1 << (candidate.cell as usize % SECTORS);
        }
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

    fn test(
        &mut self,
        own: &BoneCells,
        body: &CollisionBody,
        positions: &[Point],
        foot_points: &PosedFootPoints,
    ) {
        let Self {
            wedges,
            occupied,
            starts,
            sorted,
            sorted_coordinates,
            hits,
            ..
        } = self;
        for (&triangle, wedge) in own.triangles.iter().zip(wedges) {
            let [first, last] = wedge.slices.map(usize::from);
            let occupied_sectors = |slice: usize| occupied[slice] & wedge.sectors;
            if (first..=last).all(|slice| occupied_sectors(slice) == 0) {
                continue;
            }
            let shape = WedgeShape::of(body, triangle, positions, foot_points);
            for slice in first..=last {
                for sector in bits(u32::from(occupied_sectors(slice))) {
                    let cell = slice * SECTORS + sector;
                    let mut next = starts[cell] as usize;
                    let end = starts[cell + 1] as usize;
                    while next < end {
                        let Some(block) = block_at(sorted_coordinates, next) else {
                            break;
                        };
                        let inside = shape.points_in_box(block) & first_bits(end - next);
                        for k in bits(inside) {
                            let vertex = sorted[next + k].vertex;
                            if shape.contains(&positions[vertex as usize])
                                && !shape.bones.contains(&body.foot_bones[vertex as usize])
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
}

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
