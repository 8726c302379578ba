//! Volume that a bend takes away comes back around it.
//!
//! Flesh and what is under it hardly change their volume: where a limb folds, it becomes thicker. The volume of the body is divided into
//! the cones from every vertex' foot point on the bone lines to the skin around it. What the cones would lose without any bulge, spread
//! along the skin over about the radius of a limb (implicit heat flow, which keeps the sum), is the bulge b: how far outwards of the
//! guide skin and base belong. With the spreading D and the loss l that is measured, every look at the skin sets
//!
//! ```text
//!     b = D (l + b)
//! ```
//!
//! so that where b stays, the sum of all losses is zero, and b is as smooth as D makes it. What the whole of a closed skin has lost
//! beyond the sum of its cones, whose foot points do not stay on lines in sharp bends, is added to l where the pose changes volume. The
//! bulge is kept as a multiple of what the guide alone changes of the volume around each vertex, so that it comes and goes with the
//! pose. Skin that lies in a fold, or faces a cavity, stays where it is: there is no room.
//!
//! Joints that scale change the volume on purpose: what a cone has lost is relative to its volume at rest, times the determinant of the
//! guide's stretch at its vertex.

use rayon::prelude::*;

use crate::math::{Point, Vec3, smoothstep};
use crate::mesh::{Bending, Topology, TriMesh};
use crate::numerics::{Cholesky, Ordering, SolveMemory, SymmetricMatrix};
use crate::tissue::{GuideFrame, Tissue};

/// Losses are spread over this many times the radius of limbs…
const REACH: f64 = 1.5;
/// …and what would then lie in folds over this many times.
const FAR_REACH: f64 = 4.0;
/// Bones whose changes of volume count around a vertex, at most.
const BONES: usize = 4;
/// Skin is moved by at most so many times the mean way by which the guide changes the volume around it.
const MOST_RATIO: f32 = 6.0;
/// A way that is not longer than this part of the limbs' radius says little about how much is needed.
const LEAST_ROOM: f64 = 2e-3;
/// Skin around folds takes over at most this many times what reaches it of that.
const MOST_SHARE: f32 = 4.0;
/// Skin is moved by at most this part of the distance to its foot point, in or out.
const MOST: f32 = 0.3;
/// Skin bulges not at all where the guide leaves less than the first part of its area, and freely from the second on.
const FOLDED: [f32; 2] = [0.5, 0.9];
/// What surrounds a fold stays where it is, too, less and less up to so many radii of its limb away.
const FOLD_REACH: f64 = 1.0;
/// Most rings of vertices within that reach.
const MOST_RINGS: usize = 3;
/// Cosines between the way out from the foot point and the skin's normal: from the second on skin faces outwards, below the first a cavity.
const OUTWARD: [f32; 2] = [0.2, 0.6];
/// The part of a difference that is made up in a step, twice one after the other.
const FOLLOWED: f32 = 0.35;
/// Vertices that one task handles at least.
const MIN_TASK: usize = 512;

/// The volume around every vertex, and how far it has moved the skin.
pub(super) struct VolumePreserver {
    triangles: Vec<[u32; 3]>,
    around: Vec<Vec<u32>>,
    topology: Topology,
    rings: usize,
    smoothings: usize,
    /// By neighbour, in the order of the topology, how much less of a fold reaches a vertex than that neighbour; by vertex the first
    /// of them.
    slopes: Vec<f32>,
    slope_starts: Vec<u32>,
    /// At rest: foot points, unit normals, volumes of the cones.
    feet: Vec<Point>,
    normals: Vec<Vec3>,
    cones: Vec<f32>,
    most: Vec<f32>,
    /// Implicit heat flow over the two reaches.
    diffusion: [Cholesky<f32>; 2],
    memory: [SolveMemory; 2],
    vertex_areas: Vec<f32>,
    /// How far each vertex belongs outwards of where the guide puts it, world units.
    bulge: Vec<f32>,
    /// Where skin folds it does not bulge: 0 in a fold, 1 where its area is what it was.
    open: Vec<f32>,
    open_next: Vec<f32>,
    /// 1 where the skin faces outwards, 0 where it faces a cavity.
    outward: Vec<f32>,
    rest: Vec<Point>,
    posed: Vec<Point>,
    /// Length of the sum of the area vectors around each vertex, at rest.
    areas: Vec<f32>,
    area_vectors: Vec<Vec3>,
    loss: Vec<f32>,
    shut_in: Vec<f32>,
    /// The mean way by which the guide changes the volume around each vertex in this pose: 0 at rest.
    room: Vec<f32>,
    least_room: f32,
    /// Whether the skin encloses a volume, and how much it is at rest, world units³.
    closed: bool,
    volume: f64,
    /// By vertex what the guide changes of the volume around it, world units³.
    change: Vec<f32>,
    /// By vertex the bone that its cone belongs to; and how much the changes of bones count around it.
    bones: Vec<u32>,
    shares: Vec<[(u32, f32); BONES]>,
    /// By bone the area of its skin, and the mean way of the pose.
    bone_areas: Vec<f32>,
    bone_ways: Vec<f32>,
    /// How many times the room each vertex has to be moved, as seen at the last look.
    needed: Vec<f32>,
    /// The same as it is used: it follows `between`, and that follows `needed`, so that looks every few steps cannot be seen.
    ratio: Vec<f32>,
    between: Vec<f32>,
}

impl VolumePreserver {
    /// `None` if the skin has no area to spread volume over.
    pub(super) fn bind(mesh: &TriMesh, tissue: &Tissue, bending: &Bending) -> Option<Self> {
        let count = mesh.positions.len();
        let flow = |reach: f64| {
            let time = (reach * tissue.quality.limb_radius).powi(2);
            let entries = (0..count).flat_map(|row| {
                bending
                    .row(row)
                    .filter(move |&(column, _)| column as usize <= row)
                    .map(move |(column, value)| (row, column as usize, time * value))
            });
            let matrix =
                SymmetricMatrix::from_triplets(count, entries).plus_diagonal(&bending.areas);
            Cholesky::factor(&matrix, Ordering::default()).ok()
        };
        let (near, far) = (flow(REACH)?, flow(FAR_REACH)?);
        let topology = Topology::of(mesh);
        let length = |&[a, b]: &[u32; 2]| {
            f64::from((mesh.positions[a as usize] - mesh.positions[b as usize]).norm())
        };
        let edge =
            topology.edges.iter().map(length).sum::<f64>() / topology.edges.len().max(1) as f64;
        let rings = (FOLD_REACH * tissue.quality.limb_radius / edge).ceil();
        let rings = (rings as usize).min(MOST_RINGS);
        let mut built = Self {
            topology,
            rings,
            smoothings: rings + 1,
            slopes: Vec::new(),
            slope_starts: vec![0],
            outward: Vec::new(),
            triangles: mesh.triangles.clone(),
            around: vec![Vec::new(); count],
            feet: tissue.foot_points.iter().map(|p| p.cast::<f32>()).collect(),
            normals: mesh.vertex_normals(),
            cones: Vec::new(),
            most: Vec::new(),
            memory: [near.memory(), far.memory()],
            diffusion: [near, far],
            vertex_areas: bending.areas.iter().map(|&area| area as f32).collect(),
            bulge: vec![0.0; count],
            open: vec![1.0; count],
            open_next: vec![1.0; count],
            rest: mesh.positions.clone(),
            posed: mesh.positions.clone(),
            areas: Vec::new(),
            area_vectors: vec![Vec3::zeros(); mesh.triangles.len()],
            loss: vec![0.0; count],
            shut_in: vec![0.0; count],
            room: vec![0.0; count],
            least_room: (LEAST_ROOM * tissue.quality.limb_radius) as f32,
            closed: false,
            volume: 0.0,
            change: vec![0.0; count],
            bones: tissue.foot_bones.clone(),
            shares: Vec::new(),
            bone_areas: vec![0.0; tissue.graph.bones.len()],
            bone_ways: vec![0.0; tissue.graph.bones.len()],
            needed: vec![0.0; count],
            ratio: vec![0.0; count],
            between: vec![0.0; count],
        };
        for (index, triangle) in mesh.triangles.iter().enumerate() {
            for &vertex in triangle {
                built.around[vertex as usize].push(index as u32);
            }
        }
        built.cones = vec![0.0; count];
        measure(&built.triangles, &mesh.positions, &mut built.area_vectors);
        built.lose(&mesh.positions, |_, foot| (*foot, 1.0));
        built.closed = built.topology.boundary_edges() == 0;
        built.volume = enclosed(&built.triangles, &mesh.positions, &built.area_vectors);
        built.cones = built.loss.iter().map(|loss| -loss).collect();
        built.areas = (0..count)
            .map(|vertex| sum_of(&built.around[vertex], &built.area_vectors).norm())
            .collect();
        let depths = mesh.positions.iter().zip(&built.feet);
        built.most = depths
            .map(|(skin, foot)| (skin - foot).norm() * MOST)
            .collect();
        let outward = |((skin, foot), normal): ((&Point, &Point), &Vec3)| {
            let way = (skin - foot).try_normalize(0.0).unwrap_or_else(Vec3::zeros);
            smoothstep(OUTWARD, way.dot(normal))
        };
        built.outward = mesh
            .positions
            .iter()
            .zip(&built.feet)
            .zip(&built.normals)
            .map(outward)
            .collect();
        for &vertex in &tissue.carried {
            built.most[vertex as usize] = 0.0;
        }
        built.measure_slopes(&mesh.positions);
        built.share_bones();
        Some(built)
    }

    /// Where a vertex belongs at rest, moved outwards by its bulge.
    pub(super) fn offset(&self, vertex: usize) -> Vec3 {
        self.normals[vertex] * (self.bulge[vertex] * self.open[vertex])
    }

    /// What is kept from step to step.
    pub(super) fn state(&self) -> [Vec<f32>; 3] {
        [
            self.needed.clone(),
            self.between.clone(),
            self.ratio.clone(),
        ]
    }

    /// Goes on from what [`VolumePreserver::state`] returned.
    pub(super) fn set_state(&mut self, [needed, between, ratio]: &[Vec<f32>; 3]) {
        self.needed.copy_from_slice(needed);
        self.between.copy_from_slice(between);
        self.ratio.copy_from_slice(ratio);
    }

    /// Forgets how much was needed.
    pub(super) fn reset(&mut self) {
        self.needed.fill(0.0);
        self.take_needed();
    }

    /// What was needed at the last look is used at once.
    pub(super) fn take_needed(&mut self) {
        self.between.copy_from_slice(&self.needed);
        self.ratio.copy_from_slice(&self.needed);
    }

    /// What is used follows what is needed, by one step.
    pub(super) fn advance(&mut self) {
        let ways = self.needed.iter().zip(&mut self.between);
        for (ratio, (needed, between)) in self.ratio.iter_mut().zip(ways) {
            *between += FOLLOWED * (needed - *between);
            *ratio += FOLLOWED * (*between - *ratio);
        }
    }

    /// Bulges with the pose: as much of the room there is now as was needed before.
    pub(super) fn follow(&mut self, frame: &GuideFrame) {
        self.find_folds(frame);
        self.find_room();
        self.bulge_into_room();
    }

    /// Looks at the skin in the pose that was followed last, and changes what is needed by a part of what is missing.
    pub(super) fn observe(&mut self, skin: &[Point], frame: &GuideFrame, part: f32) {
        measure(&self.triangles, skin, &mut self.area_vectors);
        self.lose(skin, |vertex, foot| {
            let transform = &frame.points[vertex];
            (transform.apply(foot), transform.volume_factor())
        });
        self.add_unseen(skin, frame);
        // What would be lost without the bulges: spread again and again, only what is missing would grow into what is rough.
        let bulges = self.bulge.iter().zip(&self.open).zip(&self.vertex_areas);
        for (loss, ((bulge, open), area)) in self.loss.iter_mut().zip(bulges) {
            *loss += bulge * open * area;
        }
        self.spread();
        let skin = self.loss.iter().zip(&self.room).zip(&self.most);
        for (ratio, ((way, &room), most)) in self.needed.iter_mut().zip(skin) {
            // Where there is hardly any room little is needed; what can't be followed is not learned.
            let known = room + self.least_room;
            let most = MOST_RATIO.min(most / known);
            let next = (way / known).clamp(-most, most);
            if next.is_finite() {
                *ratio += part * (next - *ratio);
            }
        }
    }

    /// Moves the bulges to where they belong in this pose. Returns the largest change.
    pub(super) fn bulge_into_room(&mut self) -> f32 {
        let mut largest = 0.0_f32;
        let rooms = self.ratio.iter().zip(&self.room).zip(&self.most);
        for (bulge, ((ratio, room), &most)) in self.bulge.iter_mut().zip(rooms) {
            let next = (ratio * room).clamp(-most, most);
            largest = largest.max((next - *bulge).abs());
            *bulge = next;
        }
        largest
    }

    /// Finds how much less of a fold reaches each vertex than its neighbours.
    fn measure_slopes(&mut self, points: &[Point]) {
        for (vertex, most) in self.most.iter().enumerate() {
            let reach = FOLD_REACH as f32 * most / MOST;
            for &other in self.topology.neighbors(vertex) {
                let edge = (points[vertex] - points[other as usize]).norm();
                self.slopes.push(edge / reach.max(f32::MIN_POSITIVE));
            }
            self.slope_starts.push(self.slopes.len() as u32);
        }
    }

    /// Finds how much the changes of bones count around each vertex: the heat flow over the far reach of one unit on the skin of each.
    fn share_bones(&mut self) {
        let mut found: Vec<Vec<(u32, f32)>> = vec![Vec::new(); self.bones.len()];
        for bone in 0..self.bone_areas.len() {
            let skin = self.bones.iter().zip(&self.vertex_areas);
            let mut column: Vec<f32> = skin
                .map(|(&own, &area)| if own as usize == bone { area } else { 0.0 })
                .collect();
            self.bone_areas[bone] = column.iter().sum();
            if self.bone_areas[bone] > 0.0 {
                self.diffusion[1].solve_one(&mut column, &mut self.memory[1]);
                for (found, share) in found.iter_mut().zip(column) {
                    if share.is_finite() && share > 0.0 {
                        found.push((bone as u32, share));
                    }
                }
            }
        }
        let strongest = |mut found: Vec<(u32, f32)>| {
            found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            found.resize(BONES, (0, 0.0));
            let sum: f32 = found.iter().map(|(_, share)| share).sum();
            [0, 1, 2, 3].map(|k| (found[k].0, found[k].1 / sum.max(f32::MIN_POSITIVE)))
        };
        self.shares = found.into_iter().map(strongest).collect();
    }

    /// Finds the room of the pose: what the guide changes of the volume around each vertex, so that at rest nothing is left.
    fn find_room(&mut self) {
        self.bone_ways.fill(0.0);
        for (&bone, change) in self.bones.iter().zip(&self.change) {
            if change.is_finite() {
                self.bone_ways[bone as usize] += change.abs();
            }
        }
        for (way, area) in self.bone_ways.iter_mut().zip(&self.bone_areas) {
            *way /= area.max(f32::MIN_POSITIVE);
        }
        let ways = &self.bone_ways;
        for (room, shares) in self.room.iter_mut().zip(&self.shares) {
            *room = shares
                .iter()
                .map(|&(bone, share)| ways[bone as usize] * share)
                .sum();
        }
    }

    /// Turns losses of volume into ways outwards that bring it back.
    fn spread(&mut self) {
        let ([near, far], [near_memory, far_memory]) = (&self.diffusion, &mut self.memory);
        near.solve_one(&mut self.loss, near_memory);
        let mut shut_in = 0.0;
        let cells = self.vertex_areas.iter().zip(&self.open);
        for ((out, loss), (area, open)) in
            self.shut_in.iter_mut().zip(&self.loss).zip(cells.clone())
        {
            *out = loss * area * (1.0 - open);
            shut_in += *out;
        }
        far.solve_one(&mut self.shut_in, far_memory);
        let reached: f32 = self
            .shut_in
            .iter()
            .zip(cells)
            .map(|(way, (area, open))| way * area * open)
            .sum();
        let share = (shut_in / reached).clamp(1.0, MOST_SHARE);
        if share.is_finite() {
            for (loss, way) in self.loss.iter_mut().zip(&self.shut_in) {
                *loss += way * share;
            }
        }
    }

    /// Finds where the guide folds the skin, and what it changes of the volume around each vertex.
    fn find_folds(&mut self, frame: &GuideFrame) {
        frame.apply(&self.rest, &mut self.posed);
        measure(&self.triangles, &self.posed, &mut self.area_vectors);
        let Self {
            around,
            topology,
            outward,
            area_vectors,
            areas,
            open,
            open_next,
            slopes,
            slope_starts,
            change,
            posed,
            feet,
            cones,
            ..
        } = self;
        let area_vectors = &*area_vectors;
        open.par_iter_mut()
            .zip(change)
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(vertex, (open, change))| {
                let area = sum_of(&around[vertex], area_vectors);
                let transform = &frame.points[vertex];
                let volume_factor = transform.volume_factor();
                let area_factor = volume_factor.cbrt().powi(2);
                let scaled = (areas[vertex] * area_factor).max(f32::MIN_POSITIVE);
                *open = outward[vertex] * smoothstep(FOLDED, area.norm() / scaled);
                let foot = transform.apply(&feet[vertex]);
                let cone = area.dot(&(posed[vertex] - foot)) / 3.0;
                *change = cones[vertex] * volume_factor - cone;
            });
        for round in 0..self.rings + self.smoothings {
            let before = &*open;
            open_next
                .par_iter_mut()
                .with_min_len(MIN_TASK)
                .enumerate()
                .for_each(|(vertex, next)| {
                    let own = before[vertex];
                    let near = topology
                        .neighbors(vertex)
                        .iter()
                        .map(|&other| before[other as usize]);
                    *next = if round < self.rings {
                        let slopes = &slopes[slope_starts[vertex] as usize..];
                        near.zip(slopes)
                            .fold(own, |least, (near, slope)| least.min(near + slope))
                    } else {
                        let count = topology.neighbors(vertex).len().max(1) as f32;
                        0.5 * (own + near.sum::<f32>() / count)
                    };
                });
            std::mem::swap(open, open_next);
        }
    }

    /// Adds what the whole skin has lost beyond its cones, where there is room.
    fn add_unseen(&mut self, skin: &[Point], frame: &GuideFrame) {
        if !self.closed {
            return;
        }
        let cones = self.cones.iter().zip(&frame.points);
        let scaled: f64 = cones
            .map(|(&cone, transform)| f64::from(cone) * f64::from(transform.volume_factor() - 1.0))
            .sum();
        let lost = self.volume + scaled - enclosed(&self.triangles, skin, &self.area_vectors);
        let seen: f64 = self.loss.iter().map(|&loss| f64::from(loss)).sum();
        let rooms = self.room.iter().zip(&self.vertex_areas);
        let all: f64 = rooms
            .clone()
            .map(|(room, area)| f64::from((room + self.least_room) * area))
            .sum();
        let share = ((lost - seen) / all.max(f64::MIN_POSITIVE)) as f32;
        if share.is_finite() {
            for (loss, (room, area)) in self.loss.iter_mut().zip(rooms) {
                *loss += share * room * area;
            }
        }
    }

    /// Computes what every cone has lost. `pose` returns where a foot point is, and the factor on the volume around it.
    fn lose(&mut self, skin: &[Point], pose: impl Fn(usize, &Point) -> (Point, f32) + Sync) {
        let Self {
            around,
            feet,
            cones,
            area_vectors,
            loss,
            ..
        } = self;
        loss.par_iter_mut()
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(vertex, loss)| {
                let area = sum_of(&around[vertex], area_vectors);
                let (foot, volume_factor) = pose(vertex, &feet[vertex]);
                *loss = cones[vertex] * volume_factor - area.dot(&(skin[vertex] - foot)) / 3.0;
            });
    }
}

/// A sixth of the area vector of every triangle: a third of it belongs to each corner, twice.
fn measure(triangles: &[[u32; 3]], points: &[Point], out: &mut [Vec3]) {
    let corner = |v: u32| points[v as usize];
    out.par_iter_mut()
        .zip(triangles)
        .with_min_len(MIN_TASK)
        .for_each(|(area, &[a, b, c])| {
            *area = (corner(b) - corner(a)).cross(&(corner(c) - corner(a))) / 6.0;
        });
}

/// The volume inside of triangles with these area vectors.
fn enclosed(triangles: &[[u32; 3]], points: &[Point], area_vectors: &[Vec3]) -> f64 {
    let first = points.first().copied().unwrap_or_else(Point::origin);
    let cones = triangles.iter().zip(area_vectors);
    cones
        .map(|(&[corner, ..], area)| f64::from(area.dot(&(points[corner as usize] - first))))
        .sum()
}

fn sum_of(around: &[u32], area_vectors: &[Vec3]) -> Vec3 {
    around
        .iter()
        .map(|&triangle| area_vectors[triangle as usize])
        .sum()
}
