//! Volume preservation of guided flesh: the volume that a bend removes is restored by bulges around it.
//!
//! Flesh hardly changes its volume: where a limb folds, it becomes thicker. The volume of the body is divided into
//! cones, one per vertex, from its foot point on the bone lines to the skin around it. The bulge b of a vertex is the
//! outward displacement of guide skin and base along the rest normal. It is computed from the volume that the cones
//! would lose without any bulge: implicit heat flow spreads this volume along the skin over about the radius of a limb
//! and preserves its sum. With the spreading operator D and the measured loss l, every measurement of the skin sets
//!
//! ```text
//!     b = D (l + b)
//! ```
//!
//! At a fixed point the sum of all losses is zero, and b is as smooth as D makes it. In sharp bends the foot points do
//! not stay on lines, and the sum of the cones differs from the volume of the skin. If the skin is closed, the
//! difference between its total loss and that of its cones is added to l where the pose changes volume.
//!
//! The bulge is stored as a multiple of the change length of the vertex, so that it varies with the pose. The change
//! length is the mean displacement that corresponds to the change of volume around the vertex under the guide alone. Skin
//! in a fold or facing a cavity is not displaced, because there is no free space.
//!
//! Joints that scale change the volume intentionally: the loss of a cone is relative to its volume at rest, times the determinant of the
//! guide's stretch at its vertex.

use rayon::prelude::*;

use crate::math::{Point, Vec3, smoothstep};
use crate::mesh::{Bending, Topology, TriMesh};
use crate::numerics::{Cholesky, Ordering, SolveMemory, SymmetricMatrix};
use crate::tissue::{GuideFrame, Tissue};

/// Losses are spread over this many limb radii…
const SPREAD_RADII: f64 = 1.5;
/// …and the part of them that falls into folds over this many.
const FAR_SPREAD_RADII: f64 = 4.0;
/// Number of bones whose volume changes count around a vertex, the strongest first.
const MAX_BONES: usize = 4;
/// Upper bound of a bulge relative to the change length of the vertex.
const MAX_RATIO: f32 = 6.0;
/// Regularisation of the change length, as a fraction of the limb radius: the ratio to a shorter length is unreliable.
const MIN_CHANGE_LENGTH: f64 = 2e-3;
/// The loss inside folds is recovered by the skin around them: the part of it that heat flow brings there is scaled up to
/// the full loss, by at most this factor.
const MAX_FOLD_SHARE: f32 = 4.0;
/// Upper bound of a bulge in both directions, as a fraction of the distance to the foot point.
const MAX_BULGE: f32 = 0.3;
/// Ratio of posed to rest area under the guide: no bulge below the first value, full bulge above the second.
const FOLD_AREA_RATIO: [f32; 2] = [0.5, 0.9];
/// The bulge is also reduced around a fold, by less with the distance, up to this many radii of its limb.
const FOLD_RADII: f64 = 1.0;
/// Maximum number of vertex rings within that distance.
const MAX_RINGS: usize = 3;
/// Cosine between the direction from the foot point and the skin's normal: below the first value the skin faces a
/// cavity and does not bulge, above the second it bulges fully.
const OUTWARD_COSINE: [f32; 2] = [0.2, 0.6];
/// Gain per step of each of the two low-pass filters from the target ratio to the ratio in use.
const FILTER_GAIN: f32 = 0.35;
/// Minimum number of vertices per task.
const MIN_TASK: usize = 512;

/// The volume around every vertex, and the bulge that restores it.
pub(super) struct VolumePreserver {
    triangles: Vec<[u32; 3]>,
    triangles_of_vertex: Vec<Vec<u32>>,
    topology: Topology,
    rings: usize,
    smoothings: usize,
    /// For every neighbour, in the order of the topology, the increase of the fold factor from that neighbour to the
    /// vertex; and the index of the first entry of every vertex.
    slopes: Vec<f32>,
    slope_starts: Vec<u32>,
    /// At rest: foot points, unit normals, volumes of the cones.
    feet: Vec<Point>,
    normals: Vec<Vec3>,
    cone_volumes: Vec<f32>,
    max_bulge: Vec<f32>,
    /// Factored implicit heat flow over the two distances.
    diffusion: [Cholesky<f32>; 2],
    memory: [SolveMemory; 2],
    vertex_areas: Vec<f32>,
    /// Outward displacement of each vertex relative to the guide, before the fold factor, world units.
    bulge: Vec<f32>,
    /// Factor on the bulge: 0 in a fold, 1 where the area has not shrunk.
    fold_factor: Vec<f32>,
    fold_factor_next: Vec<f32>,
    /// Factor on the bulge: 1 where the skin faces outwards, 0 where it faces a cavity.
    outward_factor: Vec<f32>,
    rest: Vec<Point>,
    posed: Vec<Point>,
    /// Norm of the sum of the area vectors around each vertex, at rest.
    rest_areas: Vec<f32>,
    area_vectors: Vec<Vec3>,
    loss: Vec<f32>,
    fold_loss: Vec<f32>,
    /// Mean displacement that corresponds to the guide's change of volume around each vertex in this pose, world units;
    /// 0 at rest.
    change_length: Vec<f32>,
    min_change_length: f32,
    /// Whether the skin is closed, and the volume that it encloses at rest, world units³.
    closed: bool,
    volume: f64,
    /// Volume that each cone loses under the guide alone, world units³.
    guide_loss: Vec<f32>,
    /// The bone of each cone; and the bones that count around each vertex, with their shares.
    bone_of_vertex: Vec<u32>,
    bone_shares: Vec<[(u32, f32); MAX_BONES]>,
    /// For every bone the area of its skin, and the mean displacement of the pose.
    bone_areas: Vec<f32>,
    bone_change_lengths: Vec<f32>,
    /// Bulge relative to the change length of each vertex, as of the last measurement.
    target_ratio: Vec<f32>,
    /// The same after two low-pass filters in series, whose first output is `filter_state`; they hide that measurements are
    /// several steps apart.
    ratio: Vec<f32>,
    filter_state: Vec<f32>,
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
        let (near, far) = (flow(SPREAD_RADII)?, flow(FAR_SPREAD_RADII)?);
        let topology = Topology::of(mesh);
        let length = |&[a, b]: &[u32; 2]| {
            f64::from((mesh.positions[a as usize] - mesh.positions[b as usize]).norm())
        };
        let edge =
            topology.edges.iter().map(length).sum::<f64>() / topology.edges.len().max(1) as f64;
        let rings = (FOLD_RADII * tissue.quality.limb_radius / edge).ceil();
        let rings = (rings as usize).min(MAX_RINGS);
        let mut built = Self {
            topology,
            rings,
            smoothings: rings + 1,
            slopes: Vec::new(),
            slope_starts: vec![0],
            outward_factor: Vec::new(),
            triangles: mesh.triangles.clone(),
            triangles_of_vertex: vec![Vec::new(); count],
            feet: tissue.foot_points.iter().map(|p| p.cast::<f32>()).collect(),
            normals: mesh.vertex_normals(),
            cone_volumes: Vec::new(),
            max_bulge: Vec::new(),
            memory: [near.memory(), far.memory()],
            diffusion: [near, far],
            vertex_areas: bending.areas.iter().map(|&area| area as f32).collect(),
            bulge: vec![0.0; count],
            fold_factor: vec![1.0; count],
            fold_factor_next: vec![1.0; count],
            rest: mesh.positions.clone(),
            posed: mesh.positions.clone(),
            rest_areas: Vec::new(),
            area_vectors: vec![Vec3::zeros(); mesh.triangles.len()],
            loss: vec![0.0; count],
            fold_loss: vec![0.0; count],
            change_length: vec![0.0; count],
            min_change_length: (MIN_CHANGE_LENGTH * tissue.quality.limb_radius) as f32,
            closed: false,
            volume: 0.0,
            guide_loss: vec![0.0; count],
            bone_of_vertex: tissue.foot_bones.clone(),
            bone_shares: Vec::new(),
            bone_areas: vec![0.0; tissue.graph.bones.len()],
            bone_change_lengths: vec![0.0; tissue.graph.bones.len()],
            target_ratio: vec![0.0; count],
            ratio: vec![0.0; count],
            filter_state: vec![0.0; count],
        };
        for (index, triangle) in mesh.triangles.iter().enumerate() {
            for &vertex in triangle {
                built.triangles_of_vertex[vertex as usize].push(index as u32);
            }
        }
        built.cone_volumes = vec![0.0; count];
        compute_area_vectors(&built.triangles, &mesh.positions, &mut built.area_vectors);
        built.compute_losses(&mesh.positions, |_, foot| (*foot, 1.0));
        built.closed = built.topology.boundary_edges() == 0;
        built.volume = enclosed_volume(&built.triangles, &mesh.positions, &built.area_vectors);
        built.cone_volumes = built.loss.iter().map(|loss| -loss).collect();
        built.rest_areas = (0..count)
            .map(|vertex| {
                area_vector_of(&built.triangles_of_vertex[vertex], &built.area_vectors).norm()
            })
            .collect();
        let depths = mesh.positions.iter().zip(&built.feet);
        built.max_bulge = depths
            .map(|(skin, foot)| (skin - foot).norm() * MAX_BULGE)
            .collect();
        let outward_factor = |((skin, foot), normal): ((&Point, &Point), &Vec3)| {
            let direction = (skin - foot).try_normalize(0.0).unwrap_or_else(Vec3::zeros);
            smoothstep(OUTWARD_COSINE, direction.dot(normal))
        };
        built.outward_factor = mesh
            .positions
            .iter()
            .zip(&built.feet)
            .zip(&built.normals)
            .map(outward_factor)
            .collect();
        for &vertex in &tissue.carried {
            built.max_bulge[vertex as usize] = 0.0;
        }
        built.compute_slopes(&mesh.positions);
        built.compute_bone_shares();
        Some(built)
    }

    /// Displacement of a vertex at rest: its bulge along the normal.
    pub(super) fn offset(&self, vertex: usize) -> Vec3 {
        self.normals[vertex] * (self.bulge[vertex] * self.fold_factor[vertex])
    }

    /// The state that persists from step to step.
    pub(super) fn state(&self) -> [Vec<f32>; 3] {
        [
            self.target_ratio.clone(),
            self.filter_state.clone(),
            self.ratio.clone(),
        ]
    }

    /// Restores a state that [`VolumePreserver::state`] returned.
    pub(super) fn set_state(&mut self, [target_ratio, filter_state, ratio]: &[Vec<f32>; 3]) {
        self.target_ratio.copy_from_slice(target_ratio);
        self.filter_state.copy_from_slice(filter_state);
        self.ratio.copy_from_slice(ratio);
    }

    /// Sets all ratios to zero.
    pub(super) fn reset(&mut self) {
        self.target_ratio.fill(0.0);
        self.use_target_ratio();
    }

    /// Uses the ratios of the last measurement at once, without filtering.
    pub(super) fn use_target_ratio(&mut self) {
        self.filter_state.copy_from_slice(&self.target_ratio);
        self.ratio.copy_from_slice(&self.target_ratio);
    }

    /// Advances the low-pass filters by one step.
    pub(super) fn filter_ratio(&mut self) {
        let targets = self.target_ratio.iter().zip(&mut self.filter_state);
        for (ratio, (target_ratio, filter_state)) in self.ratio.iter_mut().zip(targets) {
            *filter_state += FILTER_GAIN * (target_ratio - *filter_state);
            *ratio += FILTER_GAIN * (*filter_state - *ratio);
        }
    }

    /// Updates folds, change lengths and bulges for a pose, with the ratios in use.
    pub(super) fn set_pose(&mut self, frame: &GuideFrame) {
        self.compute_folds(frame);
        self.compute_change_lengths();
        self.compute_bulges();
    }

    /// Measures the skin in the pose of the last [`VolumePreserver::set_pose`], and moves the target ratios by the
    /// fraction `gain` towards the measured ones.
    pub(super) fn update_target_ratio(&mut self, skin: &[Point], frame: &GuideFrame, gain: f32) {
        compute_area_vectors(&self.triangles, skin, &mut self.area_vectors);
        self.compute_losses(skin, |vertex, foot| {
            let transform = &frame.points[vertex];
            (transform.apply(foot), transform.volume_factor())
        });
        self.add_global_loss(skin, frame);
        // The loss without bulges: if only the remaining loss were spread each time, rough components would accumulate.
        let bulges = self
            .bulge
            .iter()
            .zip(&self.fold_factor)
            .zip(&self.vertex_areas);
        for (loss, ((bulge, fold_factor), area)) in self.loss.iter_mut().zip(bulges) {
            *loss += bulge * fold_factor * area;
        }
        self.diffuse_losses();
        let skin = self
            .loss
            .iter()
            .zip(&self.change_length)
            .zip(&self.max_bulge);
        for (ratio, ((length, &change_length), max_bulge)) in self.target_ratio.iter_mut().zip(skin)
        {
            // Where the change length is small, the ratio is reduced; values beyond the bounds of the bulge are not
            // stored.
            let known = change_length + self.min_change_length;
            let bound = MAX_RATIO.min(max_bulge / known);
            let next = (length / known).clamp(-bound, bound);
            if next.is_finite() {
                *ratio += gain * (next - *ratio);
            }
        }
    }

    /// Computes the bulges of this pose. Returns the largest change, world units.
    pub(super) fn compute_bulges(&mut self) -> f32 {
        let mut largest = 0.0_f32;
        let lengths = self
            .ratio
            .iter()
            .zip(&self.change_length)
            .zip(&self.max_bulge);
        for (bulge, ((ratio, change_length), &max_bulge)) in self.bulge.iter_mut().zip(lengths) {
            let next = (ratio * change_length).clamp(-max_bulge, max_bulge);
            largest = largest.max((next - *bulge).abs());
            *bulge = next;
        }
        largest
    }

    /// Computes the increase of the fold factor along every edge.
    fn compute_slopes(&mut self, points: &[Point]) {
        for (vertex, max_bulge) in self.max_bulge.iter().enumerate() {
            let reach = FOLD_RADII as f32 * max_bulge / MAX_BULGE;
            for &other in self.topology.neighbors(vertex) {
                let edge = (points[vertex] - points[other as usize]).norm();
                self.slopes.push(edge / reach.max(f32::MIN_POSITIVE));
            }
            self.slope_starts.push(self.slopes.len() as u32);
        }
    }

    /// Computes the shares of bones around each vertex: heat flow over the far distance of a unit source on the skin of
    /// each bone.
    fn compute_bone_shares(&mut self) {
        let mut found: Vec<Vec<(u32, f32)>> = vec![Vec::new(); self.bone_of_vertex.len()];
        for bone in 0..self.bone_areas.len() {
            let skin = self.bone_of_vertex.iter().zip(&self.vertex_areas);
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
            found.resize(MAX_BONES, (0, 0.0));
            let sum: f32 = found.iter().map(|(_, share)| share).sum();
            [0, 1, 2, 3].map(|k| (found[k].0, found[k].1 / sum.max(f32::MIN_POSITIVE)))
        };
        self.bone_shares = found.into_iter().map(strongest).collect();
    }

    /// Computes the change length of every vertex from the guide's changes of volume, so that it is zero at rest.
    fn compute_change_lengths(&mut self) {
        self.bone_change_lengths.fill(0.0);
        for (&bone, guide_loss) in self.bone_of_vertex.iter().zip(&self.guide_loss) {
            if guide_loss.is_finite() {
                self.bone_change_lengths[bone as usize] += guide_loss.abs();
            }
        }
        for (length, area) in self.bone_change_lengths.iter_mut().zip(&self.bone_areas) {
            *length /= area.max(f32::MIN_POSITIVE);
        }
        let lengths = &self.bone_change_lengths;
        for (change_length, shares) in self.change_length.iter_mut().zip(&self.bone_shares) {
            *change_length = shares
                .iter()
                .map(|&(bone, share)| lengths[bone as usize] * share)
                .sum();
        }
    }

    /// Converts the losses of volume to outward displacements that restore it.
    fn diffuse_losses(&mut self) {
        let ([near, far], [near_memory, far_memory]) = (&self.diffusion, &mut self.memory);
        near.solve_one(&mut self.loss, near_memory);
        let mut fold_loss = 0.0;
        let cells = self.vertex_areas.iter().zip(&self.fold_factor);
        for ((out, loss), (area, fold_factor)) in
            self.fold_loss.iter_mut().zip(&self.loss).zip(cells.clone())
        {
            *out = loss * area * (1.0 - fold_factor);
            fold_loss += *out;
        }
        far.solve_one(&mut self.fold_loss, far_memory);
        let reached: f32 = self
            .fold_loss
            .iter()
            .zip(cells)
            .map(|(length, (area, fold_factor))| length * area * fold_factor)
            .sum();
        let share = (fold_loss / reached).clamp(1.0, MAX_FOLD_SHARE);
        if share.is_finite() {
            for (loss, length) in self.loss.iter_mut().zip(&self.fold_loss) {
                *loss += length * share;
            }
        }
    }

    /// Computes the fold factors under the guide, and its change of volume around each vertex.
    fn compute_folds(&mut self, frame: &GuideFrame) {
        frame.apply(&self.rest, &mut self.posed);
        compute_area_vectors(&self.triangles, &self.posed, &mut self.area_vectors);
        let Self {
            triangles_of_vertex,
            topology,
            outward_factor,
            area_vectors,
            rest_areas,
            fold_factor,
            fold_factor_next,
            slopes,
            slope_starts,
            guide_loss,
            posed,
            feet,
            cone_volumes,
            ..
        } = self;
        let area_vectors = &*area_vectors;
        fold_factor
            .par_iter_mut()
            .zip(guide_loss)
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(vertex, (fold_factor, guide_loss))| {
                let area = area_vector_of(&triangles_of_vertex[vertex], area_vectors);
                let transform = &frame.points[vertex];
                let volume_factor = transform.volume_factor();
                let area_factor = volume_factor.cbrt().powi(2);
                let scaled = (rest_areas[vertex] * area_factor).max(f32::MIN_POSITIVE);
                let ratio = area.norm() / scaled;
                *fold_factor = outward_factor[vertex] * smoothstep(FOLD_AREA_RATIO, ratio);
                let foot = transform.apply(&feet[vertex]);
                let cone = area.dot(&(posed[vertex] - foot)) / 3.0;
                *guide_loss = cone_volumes[vertex] * volume_factor - cone;
            });
        for round in 0..self.rings + self.smoothings {
            let before = &*fold_factor;
            fold_factor_next
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
            std::mem::swap(fold_factor, fold_factor_next);
        }
    }

    /// Adds the loss of the whole skin beyond that of its cones, distributed by change length.
    fn add_global_loss(&mut self, skin: &[Point], frame: &GuideFrame) {
        if !self.closed {
            return;
        }
        let cones = self.cone_volumes.iter().zip(&frame.points);
        let intended: f64 = cones
            .map(|(&cone, transform)| f64::from(cone) * f64::from(transform.volume_factor() - 1.0))
            .sum();
        let enclosed = enclosed_volume(&self.triangles, skin, &self.area_vectors);
        let lost = self.volume + intended - enclosed;
        let seen: f64 = self.loss.iter().map(|&loss| f64::from(loss)).sum();
        let lengths = self.change_length.iter().zip(&self.vertex_areas);
        let all: f64 = lengths
            .clone()
            .map(|(change_length, area)| f64::from((change_length + self.min_change_length) * area))
            .sum();
        let share = ((lost - seen) / all.max(f64::MIN_POSITIVE)) as f32;
        if share.is_finite() {
            for (loss, (change_length, area)) in self.loss.iter_mut().zip(lengths) {
                *loss += share * change_length * area;
            }
        }
    }

    /// Computes the loss of every cone. `pose` returns the posed foot point of a vertex, and the factor on the volume around it.
    fn compute_losses(
        &mut self,
        skin: &[Point],
        pose: impl Fn(usize, &Point) -> (Point, f32) + Sync,
    ) {
        let Self {
            triangles_of_vertex,
            feet,
            cone_volumes,
            area_vectors,
            loss,
            ..
        } = self;
        loss.par_iter_mut()
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(vertex, loss)| {
                let area = area_vector_of(&triangles_of_vertex[vertex], area_vectors);
                let (foot, volume_factor) = pose(vertex, &feet[vertex]);
                let cone = area.dot(&(skin[vertex] - foot)) / 3.0;
                *loss = cone_volumes[vertex] * volume_factor - cone;
            });
    }
}

/// A third of the area vector of every triangle, the share of each corner: a sixth of the cross product of two edges.
fn compute_area_vectors(triangles: &[[u32; 3]], points: &[Point], out: &mut [Vec3]) {
    let corner = |v: u32| points[v as usize];
    out.par_iter_mut()
        .zip(triangles)
        .with_min_len(MIN_TASK)
        .for_each(|(area, &[a, b, c])| {
            *area = (corner(b) - corner(a)).cross(&(corner(c) - corner(a))) / 6.0;
        });
}

/// The volume enclosed by triangles with these area vectors.
fn enclosed_volume(triangles: &[[u32; 3]], points: &[Point], area_vectors: &[Vec3]) -> f64 {
    let first = points.first().copied().unwrap_or_else(Point::origin);
    let cone_volumes = triangles.iter().zip(area_vectors);
    cone_volumes
        .map(|(&[corner, ..], area)| f64::from(area.dot(&(points[corner as usize] - first))))
        .sum()
}

fn area_vector_of(triangles_of_vertex: &[u32], area_vectors: &[Vec3]) -> Vec3 {
    triangles_of_vertex
        .iter()
        .map(|&triangle| area_vectors[triangle as usize])
        .sum()
}
