//! Which vertices lie in which wedges.
//!
//! Broad: boxes of patches against each other. Middle: a spatial hash of the vertices that lie in a foreign box, sorted by cell by
//! counting. Narrow: the three tets between a triangle and its foot points.

use super::CollisionBody;
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

/// An axis-aligned box; empty while `min > max`.
#[derive(Debug, Clone, Copy)]
struct Span {
    min: Vec3,
    max: Vec3,
}

impl Span {
    const EMPTY: Self = Self {
        min: Vec3::new(f32::INFINITY, f32::INFINITY, f32::INFINITY),
        max: Vec3::new(f32::NEG_INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY),
    };

    fn add(&mut self, p: &Point) {
        self.min = self.min.inf(&p.coords);
        self.max = self.max.sup(&p.coords);
    }

    fn meets(&self, other: &Self) -> bool {
        self.min.x <= other.max.x
            && other.min.x <= self.max.x
            && self.min.y <= other.max.y
            && other.min.y <= self.max.y
            && self.min.z <= other.max.z
            && other.min.z <= self.max.z
    }

    fn holds(&self, p: &Point) -> bool {
        p.x >= self.min.x && p.x <= self.max.x && p.y >= self.min.y && p.y <= self.max.y && p.z >= self.min.z && p.z <= self.max.z
    }
}

/// The scratch of a detection, reused from step to step.
#[derive(Debug, Clone, Default)]
pub struct Detector {
    /// Per patch the box of its vertices, and of its wedges.
    skins: Vec<Span>,
    wedges: Vec<Span>,
    /// Patches by where their vertices' boxes begin along x.
    order: Vec<u32>,
    /// Per patch the box of the foreign vertices in its wedges' box.
    visitors: Vec<Span>,
    /// Whether a vertex is to be hashed.
    flagged: Vec<bool>,
    candidates: Vec<u32>,
    table: Table,
    hits: Vec<Hit>,
}

/// Vertices by cell: those of cell c are `entries[starts[c]..starts[c + 1]]`.
#[derive(Debug, Clone, Default)]
struct Table {
    starts: Vec<u32>,
    entries: Vec<u32>,
    cells: Vec<u32>,
    mask: u32,
    per_cell: f32,
}

impl Detector {
    /// All vertices inside of wedges of other bones, by vertex. Allocates nothing once it has seen as much.
    pub fn detect(&mut self, body: &CollisionBody, positions: &[Point], feet: &Feet) -> &[Hit] {
        self.hits.clear();
        self.place_boxes(body, positions, feet);
        self.find_candidates(body, positions);
        if !self.candidates.is_empty() {
            self.table.fill(&self.candidates, positions, body.cell);
            self.search(body, positions, feet);
            self.hits.sort_unstable();
            self.hits.dedup();
        }
        &self.hits
    }

    fn place_boxes(&mut self, body: &CollisionBody, positions: &[Point], feet: &Feet) {
        self.skins.clear();
        self.wedges.clear();
        for patch in &body.patches {
            let mut skin = Span::EMPTY;
            for &v in &patch.vertices {
                skin.add(&positions[v as usize]);
            }
            let mut wedge = Span::EMPTY;
            for &v in &patch.closure {
                wedge.add(&positions[v as usize]);
                wedge.add(&feet.points[v as usize]);
            }
            self.skins.push(skin);
            self.wedges.push(wedge);
        }
    }

    /// Vertices in the box of wedges of another bone.
    fn find_candidates(&mut self, body: &CollisionBody, positions: &[Point]) {
        self.candidates.clear();
        self.flagged.clear();
        self.flagged.resize(positions.len(), false);
        self.visitors.clear();
        self.visitors.resize(body.patches.len(), Span::EMPTY);
        self.order.clear();
        self.order.extend(0..body.patches.len() as u32);
        let skins = &self.skins;
        self.order.sort_unstable_by(|&a, &b| skins[a as usize].min.x.total_cmp(&skins[b as usize].min.x).then(a.cmp(&b)));
        let widest = skins.iter().map(|s| s.max.x - s.min.x).fold(0.0, f32::max);
        for (target, wedge) in self.wedges.iter().enumerate() {
            // Only patches that begin between the box's begin, less the widest patch, and its end can reach into it.
            let first = self.order.partition_point(|&p| skins[p as usize].min.x < wedge.min.x - widest);
            for &source in &self.order[first..] {
                let skin = &skins[source as usize];
                if skin.min.x > wedge.max.x {
                    break;
                }
                if body.patches[source as usize].bone == body.patches[target].bone || !skin.meets(wedge) {
                    continue;
                }
                for &v in &body.patches[source as usize].vertices {
                    let p = &positions[v as usize];
                    if wedge.holds(p) {
                        self.visitors[target].add(p);
                        if !self.flagged[v as usize] {
                            self.flagged[v as usize] = true;
                            self.candidates.push(v);
                        }
                    }
                }
            }
        }
        self.candidates.sort_unstable();
    }

    fn search(&mut self, body: &CollisionBody, positions: &[Point], feet: &Feet) {
        for (patch, visitors) in body.patches.iter().zip(&self.visitors) {
            if visitors.min.x > visitors.max.x {
                continue;
            }
            for &triangle in &patch.triangles {
                let corners = body.chains[triangle as usize];
                let mut span = Span::EMPTY;
                for v in corners {
                    span.add(&positions[v as usize]);
                    span.add(&feet.points[v as usize]);
                }
                if !span.meets(visitors) {
                    continue;
                }
                let own_bones = corners.map(|v| body.foot_bones[v as usize]);
                let clipped = Span { min: span.min.sup(&visitors.min), max: span.max.inf(&visitors.max) };
                self.table.visit(&clipped, |vertex| {
                    let p = &positions[vertex as usize];
                    if clipped.holds(p)
                        && !own_bones.contains(&body.foot_bones[vertex as usize])
                        && wedge_holds(body, triangle, p, positions, feet)
                        && !body.is_left_alone(vertex, triangle)
                    {
                        self.hits.push(Hit { vertex, triangle });
                    }
                });
            }
        }
    }
}

impl Table {
    fn fill(&mut self, candidates: &[u32], positions: &[Point], cell: f32) {
        let size = (2 * candidates.len()).next_power_of_two().max(64);
        self.mask = size as u32 - 1;
        self.per_cell = 1.0 / cell;
        self.starts.clear();
        self.starts.resize(size + 1, 0);
        self.cells.clear();
        for &v in candidates {
            let cell = self.hash(self.cell_of(&positions[v as usize].coords));
            self.cells.push(cell);
            self.starts[cell as usize + 1] += 1;
        }
        for c in 0..size {
            self.starts[c + 1] += self.starts[c];
        }
        self.entries.clear();
        self.entries.resize(candidates.len(), 0);
        // Backwards, so that each cell's cursor ends at its start.
        for (&v, &cell) in candidates.iter().zip(&self.cells).rev() {
            let slot = &mut self.starts[cell as usize + 1];
            *slot -= 1;
            self.entries[*slot as usize] = v;
        }
        // Now `starts[c + 1]` is where cell c begins.
        self.starts.copy_within(1.., 0);
        self.starts[size] = candidates.len() as u32;
    }

    fn cell_of(&self, p: &Vec3) -> [i32; 3] {
        // Saturates for what is far outside.
        [0, 1, 2].map(|c| (p[c] * self.per_cell).floor() as i32)
    }

    fn hash(&self, [x, y, z]: [i32; 3]) -> u32 {
        let h = (x as u32).wrapping_mul(73_856_093) ^ (y as u32).wrapping_mul(19_349_663) ^ (z as u32).wrapping_mul(83_492_791);
        (h ^ (h >> 15)) & self.mask
    }

    /// Calls `see` for everything in the cells of a box, and maybe for more; for some perhaps twice.
    fn visit(&self, span: &Span, mut see: impl FnMut(u32)) {
        let (low, high) = (self.cell_of(&span.min), self.cell_of(&span.max));
        let count = |c: usize| (i64::from(high[c]) - i64::from(low[c]) + 1).max(0) as u64;
        if count(0).saturating_mul(count(1)).saturating_mul(count(2)) > self.entries.len() as u64 {
            self.entries.iter().for_each(|&v| see(v));
            return;
        }
        for x in low[0]..=high[0] {
            for y in low[1]..=high[1] {
                for z in low[2]..=high[2] {
                    let cell = self.hash([x, y, z]) as usize;
                    for &v in &self.entries[self.starts[cell] as usize..self.starts[cell + 1] as usize] {
                        see(v);
                    }
                }
            }
        }
    }
}

/// Whether a point lies in one of the three tets between a triangle and its foot points.
pub(super) fn wedge_holds(body: &CollisionBody, triangle: u32, p: &Point, positions: &[Point], feet: &Feet) -> bool {
    let [i, j, k] = body.chains[triangle as usize].map(|v| v as usize);
    let chain = [positions[i], positions[j], positions[k], feet.points[i], feet.points[j], feet.points[k]].map(|q| q - p);
    let sign = body.orientation[triangle as usize];
    (0..3).any(|tet| tet_holds_origin(&chain[tet..tet + 4], sign))
}

fn tet_holds_origin(corners: &[Vec3], sign: f32) -> bool {
    let [a, b, c, d] = [corners[0], corners[1], corners[2], corners[3]];
    let (ab, ac, ad) = (b - a, c - a, d - a);
    let volume = ab.cross(&ac).dot(&ad) * sign;
    if volume <= FLAT * ab.norm() * ac.norm() * ad.norm() {
        return false;
    }
    // Volumes with the origin in place of each corner.
    let (bc, ca, ab) = (b.cross(&c), c.cross(&a), a.cross(&b));
    bc.dot(&d) * sign >= 0.0 && ca.dot(&d) * sign >= 0.0 && ab.dot(&d) * sign >= 0.0 && ab.dot(&c) * sign <= 0.0
}
