//! Contacts that the device finds itself: the detection of `crate::collision` and the problem of `crate::dynamics::Contacts`, for
//! flesh whose base hangs on the bones. The host waits for nothing: it uploads the bisecting planes of the joints with the bones.
//!
//! ```text
//! separate       the base of adjacent bones in sharp bends (before the prediction)
//! pose           foot points, outward directions and normals; forgets the hits
//! boxes          bounding boxes of patches of vertices and of groups of patches, refitted
//! find_hits      32 threads a wedge, down that hierarchy: the vertices inside
//! refresh        one vertex a thread: updates its contacts, removes ended ones, adds new ones at its hits
//! list_contacts  one list of all contacts, in the order of the rows
//! assemble       the matrix of the complementarity problem, from the inverse of the system
//! K times        press (`flesh::ContactKernel`), push: Δ += P⁻¹ U N λ
//! end_contacts   gaps for the next step, and a report
//! ```
//!
//! | lifetime                     | type                                                       |
//! |------------------------------|------------------------------------------------------------|
//! | per character and parameters | [`CollisionModel`]: tables and the dense inverse            |
//! | per state                    | [`Collision`]: contacts between the steps, buffers, passes |
//!
//! # The inverse
//! The problem needs P⁻¹ between the vertices in contact, and forces need its product with their columns. On the CPU its entries are
//! computed where they are needed. Here the whole inverse is computed once, by the device's solver with unit vectors as
//! right-hand sides: 4 n² bytes, 256 MB for 8 000 rows. Products with it replace the second solve of every iteration. Where it is
//! too large ([`CollisionModel::new`] returns `None`), the host detects contacts.
//!
//! # Departures
//! - A vertex's hits are the [`MOST_HITS`] triangles with the smallest numbers in each half of the bones; the CPU looks at all. More
//!   than a few occur in tangled skin only.
//! - A search that finds more than [`crate::gpu::flesh::MOST_CONTACTS`] contacts solves for the first ones and reports the number.
//! - Rounding differs from the CPU's: a vertex on the face of a wedge may be found a step earlier or later.

mod inverse;
mod layout;
mod pack;

pub(super) use layout::struct_layouts;

use std::sync::Arc;

use nalgebra::Matrix3x4;

use self::layout::{
    CollisionDims, MOST_HITS, MOST_PER_VERTEX, NONE, PATCHES, Plane, PosedRow, ROWS, SearchTurn,
    Slot,
};
use super::GpuContext;
use super::compute::{Dispatch, Kernel, fetch, storage, storage_of, uniform_of, workgroups};
use super::flesh::solve::GlobalSolver;
use super::flesh::{
    ContactKernel, ContactKernelBuffers, ContactPasses, FleshModel, FleshState, FleshStep,
    MOST_CONTACTS,
};
use super::shader::{self, ShaderSource};
use super::surface::Base;
use crate::collision::{CollisionBody, Contact, Hit, Release};
use crate::dynamics::Contacts;
use crate::gpu::GpuError;
use crate::math::Vec3;

/// Workgroups of the matrix; each takes entries in turn.
const MATRIX_GROUPS: u32 = 128;
/// Rows per workgroup of the push.
const PUSHED_ROWS: usize = 32;
/// Wedges per workgroup of the search.
const WEDGES: usize = 8;

/// Tables, kernels and the inverse of a character.
#[derive(Debug)]
pub struct CollisionModel {
    body: Arc<CollisionBody>,
    row_of_vertex: Vec<u32>,
    dims: CollisionDims,
    uniform: wgpu::Buffer,
    tables: wgpu::Buffer,
    table_words: usize,
    planes: usize,
    inverse: wgpu::Buffer,
    kernels: Kernels,
}

#[derive(Debug)]
struct Kernels {
    separate: Kernel,
    pose: Kernel,
    boxes: Kernel,
    hits: Kernel,
    refresh: Kernel,
    list: Kernel,
    matrix: Kernel,
    push: Kernel,
    end: Kernel,
    press: ContactKernel,
}

/// Binding numbers, the same in all shaders of the detection.
mod binding {
    pub(super) const DIMS: u32 = 0;
    pub(super) const TABLES: u32 = 1;
    pub(super) const FRAMES: u32 = 2;
    pub(super) const PLANES: u32 = 3;
    pub(super) const BASE: u32 = 4;
    pub(super) const X: u32 = 5;
    pub(super) const POSED: u32 = 6;
    pub(super) const BOXES: u32 = 7;
    pub(super) const HITS: u32 = 8;
    pub(super) const SLOTS: u32 = 9;
    pub(super) const COUNTS: u32 = 10;
    pub(super) const LOADS: u32 = 11;
    pub(super) const CONTACTS: u32 = 12;
    pub(super) const HEADER: u32 = 13;
    pub(super) const INVERSE: u32 = 14;
    pub(super) const MATRIX: u32 = 15;
    pub(super) const STATISTICS: u32 = 16;
    pub(super) const INCREMENT: u32 = 17;
    pub(super) const TURN: u32 = 18;
}

impl CollisionModel {
    /// Packs the tables, uploads them, and computes the inverse. `None` if the device has no room for that.
    #[must_use]
    pub fn new(
        gpu: &GpuContext,
        contacts: &Contacts,
        flesh: &FleshModel,
        solver: &GlobalSolver,
    ) -> Option<Self> {
        let row_of_vertex = flesh.row_of_vertex();
        let rows = row_of_vertex.len();
        if !inverse::fits(gpu, rows) || contacts.body().vertices() != rows {
            return None;
        }
        let (dims, words) = pack::pack(contacts, row_of_vertex);
        let limits = gpu.device.limits();
        let bytes = size_of_val(&words[..]) as u64;
        let groups = [
            workgroups(dims.triangles as usize, WEDGES),
            workgroups(rows, PUSHED_ROWS),
        ];
        if bytes
            > limits
                .max_storage_buffer_binding_size
                .min(limits.max_buffer_size)
            || groups
                .iter()
                .any(|&groups| groups > limits.max_compute_workgroups_per_dimension)
        {
            return None;
        }
        Some(Self {
            body: contacts.body().clone(),
            row_of_vertex: row_of_vertex.to_vec(),
            uniform: uniform_of(gpu, "dims of contacts", &dims),
            tables: storage_of(gpu, "tables of contacts", &words),
            table_words: words.len(),
            planes: contacts.body().posed_planes(&[]).count(),
            inverse: inverse::inverse(gpu, solver, rows),
            kernels: Kernels::new(gpu),
            dims,
        })
    }

    /// Bytes of tables and inverse.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.inverse.size() + (self.table_words * size_of::<u32>()) as u64
    }
}

impl Kernels {
    fn new(gpu: &GpuContext) -> Self {
        let kernel = |source: &ShaderSource, entry| Kernel::new(gpu, source, entry, &[]);
        Self {
            separate: kernel(&shader::COLLISION_SEPARATE, "separate"),
            pose: kernel(&shader::COLLISION_POSE, "pose"),
            boxes: kernel(&shader::COLLISION_BOXES, "boxes_of_patches"),
            hits: kernel(&shader::COLLISION_HITS, "find_hits"),
            refresh: kernel(&shader::COLLISION_REFRESH, "refresh"),
            list: kernel(&shader::COLLISION_LIST, "list_contacts"),
            matrix: kernel(&shader::COLLISION_MATRIX, "assemble"),
            push: kernel(&shader::COLLISION_PUSH, "push"),
            end: kernel(&shader::COLLISION_END, "end_contacts"),
            press: ContactKernel::new(gpu),
        }
    }
}

/// The contacts of one character, and the passes that find and solve them.
#[derive(Debug)]
pub struct Collision {
    model: Arc<CollisionModel>,
    planes: wgpu::Buffer,
    posed_planes: Vec<Plane>,
    turn: wgpu::Buffer,
    /// Number of searches so far, as on the CPU: it says which bones are searched.
    searches: usize,
    /// Whether the next one searches all.
    searches_all: bool,
    hits: wgpu::Buffer,
    slots: wgpu::Buffer,
    kernel: ContactKernelBuffers,
    step: FleshStep,
}

impl Collision {
    /// Buffers without contacts, and a step with them over the first step of this base.
    #[must_use]
    pub fn new(
        gpu: &GpuContext,
        model: &Arc<CollisionModel>,
        flesh: &FleshModel,
        state: &FleshState,
        solve: &[Dispatch],
        base: &Base,
    ) -> Self {
        let CollisionDims {
            rows,
            triangles,
            patches,
            patch_groups,
            row_groups,
            ..
        } = model.dims;
        let rows = rows as usize;
        let planes = storage::<Plane>(gpu, "planes", model.planes);
        let hits = storage_of(gpu, "hits", &vec![NONE; 2 * rows * MOST_HITS]);
        let turn = uniform_of(gpu, "bones to search", &SearchTurn::default());
        let slots = storage_of(
            gpu,
            "contacts of vertices",
            &vec![Slot::EMPTY; rows * MOST_PER_VERTEX],
        );
        let posed = storage::<PosedRow>(gpu, "posed vertices", rows);
        let boxes = storage::<[[f32; 4]; 2]>(gpu, "boxes", (patches + patch_groups) as usize);
        let counts = storage::<u32>(gpu, "counts of contacts", row_groups as usize * (ROWS + 1));
        let kernel = ContactKernelBuffers::with_room(gpu, state.dims().row_stride, MOST_CONTACTS);
        let [contacts, header, matrix] = kernel.found();
        let buffer = |number: u32| match number {
            binding::DIMS => &model.uniform,
            binding::TABLES => &model.tables,
            binding::FRAMES => base.frames(),
            binding::PLANES => &planes,
            binding::BASE => state.base(),
            binding::X => state.positions(),
            binding::POSED => &posed,
            binding::BOXES => &boxes,
            binding::HITS => &hits,
            binding::SLOTS => &slots,
            binding::COUNTS => &counts,
            binding::LOADS => kernel.loads(),
            binding::CONTACTS => contacts,
            binding::HEADER => header,
            binding::INVERSE => &model.inverse,
            binding::MATRIX => matrix,
            binding::STATISTICS => state.statistics(),
            binding::TURN => &turn,
            _ => state.increment(),
        };
        let pass = |kernel: &Kernel, numbers: &[u32], groups: u32| {
            let bound: Vec<_> = numbers
                .iter()
                .map(|&number| (number, buffer(number)))
                .collect();
            kernel.on(gpu, &bound, [groups, 1, 1])
        };
        use binding::{
            BASE, BOXES, CONTACTS, COUNTS, DIMS, FRAMES, HEADER, HITS, INCREMENT, INVERSE, LOADS,
            MATRIX, PLANES, POSED, SLOTS, STATISTICS, TABLES, TURN, X,
        };
        let own = &model.kernels;
        let passes = ContactPasses {
            buffers: &kernel,
            place: vec![pass(
                &own.separate,
                &[DIMS, TABLES, FRAMES, PLANES, BASE],
                row_groups,
            )],
            find: vec![
                pass(
                    &own.pose,
                    &[DIMS, TABLES, FRAMES, X, POSED, HITS, TURN],
                    row_groups,
                ),
                pass(
                    &own.boxes,
                    &[DIMS, TABLES, X, BOXES],
                    patches.div_ceil(PATCHES as u32),
                ),
                pass(
                    &own.hits,
                    &[DIMS, TABLES, X, POSED, BOXES, HITS, TURN],
                    workgroups(triangles as usize, WEDGES),
                ),
                pass(
                    &own.refresh,
                    &[DIMS, TABLES, X, POSED, HITS, SLOTS, COUNTS, LOADS],
                    row_groups,
                ),
                pass(
                    &own.list,
                    &[
                        DIMS, TABLES, SLOTS, COUNTS, LOADS, CONTACTS, HEADER, STATISTICS,
                    ],
                    row_groups,
                ),
                pass(
                    &own.matrix,
                    &[CONTACTS, HEADER, INVERSE, MATRIX, DIMS],
                    MATRIX_GROUPS,
                ),
            ],
            correct: vec![
                own.press.on(gpu, &kernel, state),
                pass(
                    &own.push,
                    &[DIMS, LOADS, CONTACTS, HEADER, INVERSE, INCREMENT],
                    workgroups(rows, PUSHED_ROWS),
                ),
            ],
            end: vec![pass(
                &own.end,
                &[X, SLOTS, LOADS, CONTACTS, HEADER, STATISTICS],
                workgroups(MOST_CONTACTS, 256),
            )],
        };
        let step = FleshStep::with_passes(gpu, flesh, state, solve, passes);
        Self {
            posed_planes: vec![Plane::default(); model.planes],
            model: model.clone(),
            planes,
            turn,
            searches: 0,
            searches_all: true,
            hits,
            slots,
            kernel,
            step,
        }
    }

    /// A time step with contacts.
    #[must_use]
    pub fn step(&self) -> &FleshStep {
        &self.step
    }

    /// Uploads what the next step needs: the planes of the joints, and which bones are searched. `bones`: the transform of every bone from
    /// bind to pose.
    pub fn prepare(&mut self, gpu: &GpuContext, bones: &[Matrix3x4<f32>]) {
        let posed = self.model.body.posed_planes(bones);
        for (out, plane) in self.posed_planes.iter_mut().zip(posed) {
            *out = plane.map_or_else(Plane::default, |plane| Plane {
                normal: plane.normal.into(),
                fraction: plane.fraction,
                joint: plane.joint.into(),
                reach: plane.reach,
                across: plane.across.into(),
                facing_bias: plane.facing_bias,
            });
        }
        if !self.posed_planes.is_empty() {
            let bytes = bytemuck::cast_slice(&self.posed_planes);
            gpu.queue.write_buffer(&self.planes, 0, bytes);
        }
        self.searches += 1;
        let searched = if std::mem::take(&mut self.searches_all) {
            0b11
        } else {
            // Bones whose number and that of the search have an even sum.
            1 << (self.searches % 2)
        };
        let turn = SearchTurn {
            searched,
            ..SearchTurn::default()
        };
        gpu.queue
            .write_buffer(&self.turn, 0, bytemuck::bytes_of(&turn));
    }

    /// Makes the next step search all bones.
    pub fn search_all(&mut self) {
        self.searches_all = true;
    }

    /// Replaces the contacts; at most [`MOST_PER_VERTEX`] of a vertex are kept. `searches`: the number of searches that led to them. The next
    /// step searches all bones.
    pub fn set_contacts(&mut self, gpu: &GpuContext, contacts: &[Contact], searches: usize) {
        (self.searches, self.searches_all) = (searches, true);
        let mut slots = vec![Slot::EMPTY; self.model.row_of_vertex.len() * MOST_PER_VERTEX];
        for contact in contacts {
            let row = self.model.row_of_vertex[contact.vertex as usize] as usize;
            let of_row = &mut slots[row * MOST_PER_VERTEX..(row + 1) * MOST_PER_VERTEX];
            if let Some(slot) = of_row.iter_mut().find(|slot| slot.triangle == NONE) {
                *slot = Slot {
                    weights: contact.weights,
                    triangle: contact.triangle,
                    normal: contact.normal.into(),
                    load: contact.load,
                    gap: contact.gap,
                    ..Slot::EMPTY
                };
            }
        }
        gpu.queue
            .write_buffer(&self.slots, 0, bytemuck::cast_slice(&slots));
    }

    /// The contacts after the last step, sorted by vertex, then by triangle. Waits for all work submitted before.
    ///
    /// # Errors
    /// [`GpuError::Readback`] if the device was lost.
    pub fn contacts(&self, gpu: &GpuContext) -> Result<Vec<Contact>, GpuError> {
        let rows = self.model.row_of_vertex.len();
        let slots: Vec<Slot> = fetch(gpu, &self.slots, rows * MOST_PER_VERTEX)?;
        let loads: Vec<f32> = fetch(gpu, self.kernel.loads(), MOST_CONTACTS)?;
        let mut contacts = Vec::new();
        for (vertex, &row) in self.model.row_of_vertex.iter().enumerate() {
            let first = row as usize * MOST_PER_VERTEX;
            let of_row = slots[first..first + MOST_PER_VERTEX].iter();
            contacts.extend(of_row.filter(|slot| slot.triangle != NONE).map(|slot| {
                let load = loads.get(slot.index as usize).copied().unwrap_or(slot.load);
                self.contact(vertex as u32, slot, load)
            }));
        }
        Ok(contacts)
    }

    fn contact(&self, vertex: u32, slot: &Slot, load: f32) -> Contact {
        let body = &self.model.body;
        Contact {
            vertex,
            triangle: slot.triangle,
            corners: body.triangle(slot.triangle),
            weights: slot.weights,
            normal: Vec3::from(slot.normal),
            gap: slot.gap,
            edge: body.local_edge(slot.triangle),
            load,
            min_gap: 0.0,
            increase: 0.0,
            release: Release::No,
            old: true,
        }
    }

    /// The vertices inside wedges at the start of the last step, sorted; at most [`MOST_HITS`] of a vertex in each half of the bones.
    /// Waits for all work submitted before.
    ///
    /// # Errors
    /// [`GpuError::Readback`] if the device was lost.
    pub fn hits(&self, gpu: &GpuContext) -> Result<Vec<Hit>, GpuError> {
        let (rows, most) = (self.model.row_of_vertex.len(), 2 * MOST_HITS);
        let found: Vec<u32> = fetch(gpu, &self.hits, rows * most)?;
        let mut hits = Vec::new();
        for (vertex, &row) in (0..).zip(&self.model.row_of_vertex) {
            let of_row = found.iter().skip(row as usize * most).take(most);
            let triangles = of_row.filter(|&&triangle| triangle != NONE);
            hits.extend(triangles.map(|&triangle| Hit { vertex, triangle }));
        }
        hits.sort_unstable();
        Ok(hits)
    }
}
