//! Finds the vertices in the wedges of one bone.
//!
//! A grid in cylinder coordinates around the bone: each cell stores the largest radius of its wedges, and vertices of other bones
//! within that radius are counting-sorted into the cells.

use super::axes::{Axes, CylinderCell, SECTORS};
use super::bone_cells::BoneCells;
use super::wedge::{BLOCK, Span, WedgeShape};
use super::{CollisionBody, Feet, Hit};
use crate::math::Point;

/// Visitors for which there is room from the start.
const FIRST_VISITORS: usize = 1024;
/// Tolerance for rounding of radii.
const SLACK: f32 = 1.0 + 1e-5;

/// Data of the search around one bone.
#[derive(Debug, Clone, Default)]
pub(super) struct BoneSearch {
    axes: Axes,
    /// Bounding box of its wedges.
    span: Span,
    /// Per closure vertex, its position in the bone's coordinates.
    places: Vec<CylinderCell>,
    /// Per wedge, the cells that it touches.
    wedges: Vec<Wedge>,
    /// Per cell, the largest distance of a wedge from the axis.
    reach: Vec<f32>,
    /// Foreign vertices within that distance (visitors), with their cells; then sorted by cell: those of cell c are `sorted[starts[c]..starts[c + 1]]`.
    visitors: Vec<Visitor>,
    sorted: Vec<Visitor>,
    /// Coordinates of the sorted visitors, for testing many against a box at once.
    places_of_sorted: [Vec<f32>; 3],
    starts: Vec<u32>,
    /// Per slice, the sectors with visitors.
    occupied: Vec<u8>,
    pub(super) hits: Vec<Hit>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Wedge {
    slices: [u8; 2],
    /// One bit per sector.
    sectors: u8,
    radius: f32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Visitor {
    vertex: u32,
    cell: u32,
}

impl BoneSearch {
    pub(super) fn search(
        &mut self,
        bone: usize,
        body: &CollisionBody,
        positions: &[Point],
        feet: &Feet,
        patches: &[Span],
    ) {
        self.hits.clear();
        let own = &body.bones[bone];
        if own.triangles.is_empty() {
            return;
        }
        if self.visitors.capacity() == 0 {
            self.reserve(positions.len().min(FIRST_VISITORS));
        }
        self.axes = own.axes(feet.bone(bone as u32));
        self.place(own, positions, feet);
        self.fill_cells(own, body);
        self.invite(bone, body, positions, patches);
        if !self.visitors.is_empty() {
            self.sort(own, positions);
            self.test(own, body, positions, feet);
        }
    }

    /// Makes room for so many visitors, so that few of the later searches allocate.
    fn reserve(&mut self, count: usize) {
        self.visitors.reserve(count);
        self.sorted.reserve(count);
        self.hits.reserve(count);
        for places in &mut self.places_of_sorted {
            places.reserve(count);
        }
    }

    /// Transforms all corners and foot points of the wedges to the bone's coordinates.
    fn place(&mut self, own: &BoneCells, positions: &[Point], feet: &Feet) {
        let Self {
            axes, span, places, ..
        } = self;
        *span = Span::EMPTY;
        places.clear();
        for &v in &own.closure {
            let (skin, foot) = (&positions[v as usize], &feet.points[v as usize]);
            span.add(skin);
            span.add(foot);
            places.push(axes.place(own, skin));
            places.push(axes.place(own, foot));
        }
    }

    fn fill_cells(&mut self, own: &BoneCells, body: &CollisionBody) {
        self.reach.clear();
        self.reach.resize(own.slices * SECTORS, -1.0);
        self.wedges.clear();
        for (&triangle, closure) in own.triangles.iter().zip(&own.corners) {
            let mut wedge = Wedge {
                slices: [u8::MAX, 0],
                sectors: 0,
                radius: 0.0,
            };
            let mut sum = 0;
            for &corner in closure {
                let [skin, foot] = [
                    self.places[2 * corner as usize],
                    self.places[2 * corner as usize + 1],
                ];
                wedge.slices[0] = wedge.slices[0].min(skin.slice).min(foot.slice);
                wedge.slices[1] = wedge.slices[1].max(skin.slice).max(foot.slice);
                wedge.radius = wedge.radius.max(skin.radius).max(foot.radius);
                wedge.sectors |= 1 << skin.sector;
                sum |= 1_u32 << skin.sector;
            }
            // With its foot points on the axis, a wedge within two neighbouring sectors touches no others.
            let mixed = body.mixed[triangle as usize];
            let neighbors = sum.count_ones() <= 1
                || (sum.count_ones() == 2 && (sum & (sum >> 1) != 0 || sum == 0b1000_0001));
            if mixed || !neighbors {
                wedge.sectors = u8::MAX;
            }
            wedge.radius *= SLACK;
            for slice in wedge.slices[0]..=wedge.slices[1] {
                for sector in bits(u32::from(wedge.sectors)) {
                    let reach = &mut self.reach[slice as usize * SECTORS + sector];
                    *reach = reach.max(wedge.radius);
                }
            }
            self.wedges.push(wedge);
        }
    }

    /// Finds the vertices of other bones within range of the wedges.
    fn invite(&mut self, bone: usize, body: &CollisionBody, positions: &[Point], patches: &[Span]) {
        let own = &body.bones[bone];
        self.visitors.clear();
        for (patch, span) in body.patches.iter().zip(patches) {
            if patch.bone as usize == bone || !span.meets(&self.span) {
                continue;
            }
            for &vertex in &patch.vertices {
                let p = &positions[vertex as usize];
                if !self.span.holds(p) {
                    continue;
                }
                let place = self.axes.place(own, p);
                let cell = place.slice as usize * SECTORS + place.sector as usize;
                if place.radius <= self.reach[cell] {
                    self.visitors.push(Visitor {
                        vertex,
                        cell: cell as u32,
                    });
                }
            }
        }
    }

    /// Counting sort of the visitors by cell.
    fn sort(&mut self, own: &BoneCells, positions: &[Point]) {
        let cells = own.slices * SECTORS;
        self.starts.clear();
        self.starts.resize(cells + 1, 0);
        for visitor in &self.visitors {
            self.starts[visitor.cell as usize + 1] += 1;
        }
        for c in 0..cells {
            self.starts[c + 1] += self.starts[c];
        }
        self.sorted.clear();
        self.sorted.resize(self.visitors.len(), Visitor::default());
        // Backwards, so that every cell's end decreases to its start.
        for visitor in self.visitors.iter().rev() {
            let slot = &mut self.starts[visitor.cell as usize + 1];
            *slot -= 1;
            self.sorted[*slot as usize] = *visitor;
        }
        self.starts.copy_within(1.., 0);
        self.starts[cells] = self.visitors.len() as u32;
        self.occupied.clear();
        self.occupied.resize(own.slices, 0);
        for visitor in &self.visitors {
            self.occupied[visitor.cell as usize / SECTORS] |=
                1 << (visitor.cell as usize % SECTORS);
        }
        for (c, places) in self.places_of_sorted.iter_mut().enumerate() {
            places.clear();
            places.extend(
                self.sorted
                    .iter()
                    .map(|visitor| positions[visitor.vertex as usize][c]),
            );
        }
    }

    fn test(&mut self, own: &BoneCells, body: &CollisionBody, positions: &[Point], feet: &Feet) {
        let Self {
            wedges,
            occupied,
            starts,
            sorted,
            places_of_sorted,
            hits,
            ..
        } = self;
        for (&triangle, wedge) in own.triangles.iter().zip(wedges) {
            let [first, last] = wedge.slices.map(usize::from);
            let met = |slice: usize| occupied[slice] & wedge.sectors;
            if (first..=last).all(|slice| met(slice) == 0) {
                continue;
            }
            let shape = WedgeShape::of(body, triangle, positions, feet);
            for slice in first..=last {
                for sector in bits(u32::from(met(slice))) {
                    let cell = slice * SECTORS + sector;
                    let mut next = starts[cell] as usize;
                    let end = starts[cell + 1] as usize;
                    while next < end {
                        let block = next..end.min(next + BLOCK);
                        for k in bits(shape.boxed(places_of_sorted, &block)) {
                            let vertex = sorted[block.start + k].vertex;
                            if shape.holds(&positions[vertex as usize])
                                && !shape.bones.contains(&body.foot_bones[vertex as usize])
                                && !body.is_left_alone(vertex, triangle)
                            {
                                hits.push(Hit { vertex, triangle });
                            }
                        }
                        next = block.end;
                    }
                }
            }
        }
    }
}

/// Indices of the set bits.
fn bits(mut word: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let next = (word != 0).then(|| word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        next
    })
}
