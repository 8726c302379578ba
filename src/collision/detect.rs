//! Which vertices lie in which wedges.
//!
//! Broad: boxes of patches of vertices against boxes of all wedges of a bone. Middle: a grid in cylinder coordinates around every
//! bone, the shape that wedges have: cells know how far their wedges reach, and vertices of other bones within reach are sorted into
//! them by counting. Narrow: the three tets between a triangle and its foot points.

use rayon::prelude::*;

use super::CollisionBody;
use super::body::BoneCells;
use crate::math::{Affine, Point, Vec3};

/// A tet is too flat to hold anything if its volume is below this part of the product of its edges.
const FLAT: f32 = 1e-4;

/// Where the foot points are in a pose.
#[derive(Debug, Clone, Default)]
pub struct Feet {
    pub(super) points: Vec<Point>,
    /// Unit vectors from the foot points out to the skin at rest, turned with the bones.
    pub(super) outward: Vec<Vec3>,
    bones: Vec<nalgebra::Matrix3x4<f32>>,
}

/// A vertex inside a wedge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit {
    /// The vertex.
    pub vertex: u32,
    /// The skin triangle of the wedge.
    pub triangle: u32,
}

impl Feet {
    /// The foot points in the bind pose.
    #[must_use]
    pub fn at_rest(body: &CollisionBody) -> Self {
        let points = body.foot_points.iter().map(|p| p.cast::<f32>()).collect();
        Self { points, outward: body.outward.clone(), bones: Vec::new() }
    }

    /// World positions of the foot points.
    #[must_use]
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// `posed_from_bind` of a bone; none before anything was placed.
    pub(super) fn bone(&self, bone: u32) -> Option<&nalgebra::Matrix3x4<f32>> {
        self.bones.get(bone as usize)
    }

    /// Moves the foot points with their bones: `posed_from_bind` of every bone, as [`crate::tissue::BaseFrame::bones`] gives it.
    pub fn place(&mut self, body: &CollisionBody, posed_from_bind: &[Affine]) {
        self.bones.clear();
        self.bones.extend(posed_from_bind.iter().map(|t| t.matrix().fixed_view::<3, 4>(0, 0).into_owned().cast::<f32>()));
        self.points.clear();
        let moved = |(&bone, rest): (&u32, &crate::math::Point64)| {
            let transform = &self.bones[bone as usize];
            let linear: Vec3 = transform.fixed_view::<3, 3>(0, 0) * rest.cast::<f32>().coords;
            Point::from(linear + transform.column(3))
        };
        self.points.extend(body.foot_bones.iter().zip(&body.foot_points).map(moved));
        self.outward.clear();
        let turned = |(&bone, rest): (&u32, &Vec3)| {
            let direction: Vec3 = self.bones[bone as usize].fixed_view::<3, 3>(0, 0) * rest;
            direction.try_normalize(1e-30).unwrap_or(*rest)
        };
        self.outward.extend(body.foot_bones.iter().zip(&body.outward).map(turned));
    }
}

/// Calls in which every bone gets its turn.
const TURNS: usize = 2;
/// From so many vertices on, bones are searched in parallel.
const PARALLEL: usize = 3000;

/// An axis-aligned box; empty while `min > max`.
#[derive(Debug, Clone, Copy)]
struct Span {
    min: Vec3,
    max: Vec3,
}

impl Default for Span {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Span {
    const EMPTY: Self = Self {
        min: Vec3::new(f32::INFINITY, f32::INFINITY, f32::INFINITY),
        max: Vec3::new(f32::NEG_INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY),
    };

    fn of<'a>(points: impl Iterator<Item = &'a Point>) -> Self {
        let mut span = Self::EMPTY;
        points.for_each(|p| span.add(p));
        span
    }

    fn add(&mut self, p: &Point) {
        for c in 0..3 {
            // Comparisons that NaN fails.
            self.min[c] = if p[c] < self.min[c] { p[c] } else { self.min[c] };
            self.max[c] = if p[c] > self.max[c] { p[c] } else { self.max[c] };
        }
    }

    fn meets(&self, other: &Self) -> bool {
        (0..3).all(|c| self.min[c] <= other.max[c] && other.min[c] <= self.max[c])
    }

    fn holds(&self, p: &Point) -> bool {
        (0..3).all(|c| p[c] >= self.min[c] && p[c] <= self.max[c])
    }
}

/// The scratch of a detection, reused from step to step.
#[derive(Debug, Clone, Default)]
pub struct Detector {
    /// Per patch the box of its vertices.
    patches: Vec<Span>,
    bones: Vec<Around>,
    hits: Vec<Hit>,
    /// Calls so far.
    turn: usize,
}

/// What lies around one bone.
#[derive(Debug, Clone, Default)]
struct Around {
    axes: Axes,
    /// The box of its wedges.
    span: Span,
    /// Per closure vertex its place in the bone's coordinates.
    places: Vec<Place>,
    /// Per wedge the cells that it touches.
    wedges: Vec<Wedge>,
    /// Per cell the largest distance of a wedge from the axis.
    reach: Vec<f32>,
    /// Foreign vertices within reach, with their cells; then sorted by cell: those of cell c are `sorted[starts[c]..starts[c + 1]]`.
    visitors: Vec<Visitor>,
    sorted: Vec<Visitor>,
    /// Coordinates of the sorted visitors, so that many are held against a box at once.
    places_of_sorted: [Vec<f32>; 3],
    starts: Vec<u32>,
    /// Per slice the sectors with visitors.
    occupied: Vec<u8>,
    hits: Vec<Hit>,
}

/// A bone's coordinate system in the pose.
#[derive(Debug, Clone, Copy, Default)]
struct Axes {
    origin: Vec3,
    /// Along the bone, and two directions across.
    along: Vec3,
    across: [Vec3; 2],
}

/// A point in cylinder coordinates around a bone.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    slice: u8,
    sector: u8,
    radius: f32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Wedge {
    slices: [u8; 2],
    /// One bit a sector.
    sectors: u8,
    radius: f32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Visitor {
    vertex: u32,
    cell: u32,
}

/// Sectors around a bone.
const SECTORS: usize = 8;
/// Visitors held against a box at once.
const BLOCK: usize = 32;
/// Rounding of radii.
const SLACK: f32 = 1.0 + 1e-5;

impl Detector {
    /// All vertices inside of wedges of other bones, by vertex. Allocates nothing once it has seen as much.
    pub fn detect(&mut self, body: &CollisionBody, positions: &[Point], feet: &Feet) -> &[Hit] {
        self.search(body, positions, feet, 1)
    }

    /// The same, but only every other bone is searched anew, in turns: for positions that move little from call to call.
    pub fn detect_in_turns(&mut self, body: &CollisionBody, positions: &[Point], feet: &Feet) -> &[Hit] {
        // What was never searched can't wait for its turn.
        let turns = if self.bones.len() == body.bones.len() { TURNS } else { 1 };
        self.search(body, positions, feet, turns)
    }

    /// Forgets what was found.
    pub fn clear(&mut self) {
        self.bones.clear();
        self.turn = 0;
    }

    fn search(&mut self, body: &CollisionBody, positions: &[Point], feet: &Feet, turns: usize) -> &[Hit] {
        let Self { patches, bones, hits, turn } = self;
        *turn += 1;
        let turn = *turn;
        patches.clear();
        patches.extend(body.patches.iter().map(|patch| Span::of(patch.vertices.iter().map(|&v| &positions[v as usize]))));
        bones.resize_with(body.bones.len(), Around::default);
        let work = |(bone, around): (usize, &mut Around)| {
            if (bone + turn) % turns == 0 {
                around.search(bone, body, positions, feet, patches);
            }
        };
        if positions.len() >= PARALLEL {
            bones.par_iter_mut().enumerate().for_each(work);
        } else {
            bones.iter_mut().enumerate().for_each(work);
        }
        hits.clear();
        for around in bones {
            hits.extend_from_slice(&around.hits);
        }
        hits.sort_unstable();
        hits
    }
}

impl Around {
    fn search(&mut self, bone: usize, body: &CollisionBody, positions: &[Point], feet: &Feet, patches: &[Span]) {
        self.hits.clear();
        let own = &body.bones[bone];
        if own.triangles.is_empty() {
            return;
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

    /// Puts all corners and feet of the wedges into the bone's coordinates.
    fn place(&mut self, own: &BoneCells, positions: &[Point], feet: &Feet) {
        let Self { axes, span, places, .. } = self;
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
            let mut wedge = Wedge { slices: [u8::MAX, 0], sectors: 0, radius: 0.0 };
            let mut sum = 0;
            for &corner in closure {
                let [skin, foot] = [self.places[2 * corner as usize], self.places[2 * corner as usize + 1]];
                wedge.slices[0] = wedge.slices[0].min(skin.slice).min(foot.slice);
                wedge.slices[1] = wedge.slices[1].max(skin.slice).max(foot.slice);
                wedge.radius = wedge.radius.max(skin.radius).max(foot.radius);
                wedge.sectors |= 1 << skin.sector;
                sum |= 1_u32 << skin.sector;
            }
            // With its feet on the axis a wedge within two neighbouring sectors is nowhere else.
            let mixed = body.mixed[triangle as usize];
            let neighbors = sum.count_ones() <= 1 || (sum.count_ones() == 2 && (sum & (sum >> 1) != 0 || sum == 0b1000_0001));
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

    /// Finds the vertices of other bones within reach.
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
                    self.visitors.push(Visitor { vertex, cell: cell as u32 });
                }
            }
        }
    }

    /// Sorts the visitors by cell, by counting.
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
        // Backwards, so that every cell's count runs down to its start.
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
            self.occupied[visitor.cell as usize / SECTORS] |= 1 << (visitor.cell as usize % SECTORS);
        }
        for (c, places) in self.places_of_sorted.iter_mut().enumerate() {
            places.clear();
            places.extend(self.sorted.iter().map(|visitor| positions[visitor.vertex as usize][c]));
        }
    }

    fn test(&mut self, own: &BoneCells, body: &CollisionBody, positions: &[Point], feet: &Feet) {
        let Self { wedges, occupied, starts, sorted, places_of_sorted, hits, .. } = self;
        for (&triangle, wedge) in own.triangles.iter().zip(wedges) {
            let [first, last] = wedge.slices.map(usize::from);
            let met = |slice: usize| occupied[slice] & wedge.sectors;
            if (first..=last).all(|slice| met(slice) == 0) {
                continue;
            }
            let shape = Shape::of(body, triangle, positions, feet);
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

/// The places of the bits that are set.
fn bits(mut word: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let next = (word != 0).then(|| word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        next
    })
}

impl BoneCells {
    fn axes(&self, posed_from_bind: Option<&nalgebra::Matrix3x4<f32>>) -> Axes {
        let [along, u, v] = self.axes;
        let Some(transform) = posed_from_bind else { return Axes { origin: self.origin.coords, along, across: [u, v] } };
        let turned = |direction: &Vec3| -> Vec3 { transform.fixed_view::<3, 3>(0, 0) * direction };
        let origin = turned(&self.origin.coords) + transform.column(3);
        Axes { origin, along: turned(&along), across: [turned(&u), turned(&v)] }
    }
}

impl Axes {
    fn place(&self, own: &BoneCells, p: &Point) -> Place {
        let way = p.coords - self.origin;
        let [u, v] = [self.across[0].dot(&way), self.across[1].dot(&way)];
        // Saturates at both ends, where the last slices are open.
        let slice = ((self.along.dot(&way) - own.first) * own.per_slice).clamp(0.0, (own.slices - 1) as f32) as u8;
        Place { slice, sector: sector(u, v), radius: (u * u + v * v).sqrt() }
    }
}

/// Which eighth of the plane, counted around.
fn sector(u: f32, v: f32) -> u8 {
    let steep = u.abs() < v.abs();
    match (u >= 0.0, v >= 0.0) {
        (true, true) => u8::from(steep),
        (false, true) => 3 - u8::from(steep),
        (false, false) => 4 + u8::from(steep),
        (true, false) => 7 - u8::from(steep),
    }
}

/// A wedge in the pose.
struct Shape {
    chain: [Point; 6],
    span: Span,
    sign: f32,
    bones: [u32; 3],
}

impl Shape {
    fn of(body: &CollisionBody, triangle: u32, positions: &[Point], feet: &Feet) -> Self {
        let corners = body.chains[triangle as usize];
        let [i, j, k] = corners.map(|v| v as usize);
        let chain = [positions[i], positions[j], positions[k], feet.points[i], feet.points[j], feet.points[k]];
        let bones = corners.map(|v| body.foot_bones[v as usize]);
        Self { span: Span::of(chain.iter()), chain, sign: body.orientation[triangle as usize], bones }
    }

    /// Which of at most [`BLOCK`] points lie in the wedge's box, one bit each.
    #[expect(clippy::needless_bitwise_bool, reason = "without branches the comparisons fill vector registers")]
    fn boxed(&self, [xs, ys, zs]: &[Vec<f32>; 3], block: &std::ops::Range<usize>) -> u32 {
        let Span { min, max } = self.span;
        let mut inside = [0_u32; BLOCK];
        let points = xs[block.clone()].iter().zip(&ys[block.clone()]).zip(&zs[block.clone()]);
        for (flag, ((&x, &y), &z)) in inside.iter_mut().zip(points) {
            let within = (x >= min.x) & (x <= max.x) & (y >= min.y) & (y <= max.y) & (z >= min.z) & (z <= max.z);
            *flag = u32::from(within);
        }
        inside[..block.len()].iter().enumerate().fold(0, |bits, (k, flag)| bits | flag << k)
    }

    /// Whether a point lies in one of the three tets between the triangle and its foot points.
    fn holds(&self, p: &Point) -> bool {
        let chain = self.chain.map(|q| q - p);
        (0..3).any(|tet| tet_holds_origin(&chain[tet..tet + 4], self.sign))
    }
}

fn tet_holds_origin(corners: &[Vec3], sign: f32) -> bool {
    let [a, b, c, d] = [corners[0], corners[1], corners[2], corners[3]];
    // Volumes with the origin in place of each corner.
    let ab = a.cross(&b);
    let inside =
        ab.dot(&d) * sign >= 0.0 && ab.dot(&c) * sign <= 0.0 && b.cross(&c).dot(&d) * sign >= 0.0 && c.cross(&a).dot(&d) * sign >= 0.0;
    inside && {
        let (ab, ac, ad) = (b - a, c - a, d - a);
        ab.cross(&ac).dot(&ad) * sign > FLAT * ab.norm() * ac.norm() * ad.norm()
    }
}
