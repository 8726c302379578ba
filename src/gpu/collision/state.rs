//! The contacts of one character between its steps, and the passes of a step.

use std::sync::Arc;

use nalgebra::Matrix3x4;

use self::binding::{
    BASE, BOXES, CONTACTS, COUNTS, DIMS, FRAMES, HEADER, HITS, INCREMENT, INVERSE, LOADS, MATRIX,
    PLANES, POSED, SLOTS, STATISTICS, TABLES, TURN, X,
};
use super::layout::{
    CollisionDims, MOST_HITS, MOST_PER_VERTEX, NONE, PATCHES, PUSHED_ROWS, Plane, PosedRow, ROWS,
    SearchTurn, Slot, WEDGES,
};
use super::model::CollisionModel;
use crate::collision::{Contact, Hit, Release};
use crate::gpu::compute::{Dispatch, Kernel, fetch, storage, storage_of, uniform_of, workgroups};
use crate::gpu::flesh::{
    ContactKernelBuffers, ContactPasses, FleshModel, FleshState, FleshStep, MOST_CONTACTS,
};
use crate::gpu::surface::Base;
use crate::gpu::{GpuContext, GpuError};
use crate::math::Vec3;

/// Workgroups of the matrix; each takes entries in turn.
const MATRIX_GROUPS: u32 = 128;
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
        let press = model.kernels.press.on(gpu, &kernel, state);
        let passes = passes(model, &kernel, press, pass);
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

    /// Replaces the contacts; at most three of a vertex are kept. `searches`: the number of searches that led to them. The next
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
            hold: 1.0,
            release: Release::No,
            old: true,
        }
    }

    /// The vertices inside wedges at the start of the last step, sorted; at most sixteen of a vertex in each half of the bones.
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

/// The passes of a step; `pass` binds a kernel to the buffers with these numbers, for so many workgroups.
fn passes<'a>(
    model: &CollisionModel,
    buffers: &'a ContactKernelBuffers,
    press: Dispatch,
    pass: impl Fn(&Kernel, &[u32], u32) -> Dispatch,
) -> ContactPasses<'a> {
    let CollisionDims {
        rows,
        triangles,
        patches,
        row_groups,
        ..
    } = model.dims;
    let (rows, own) = (rows as usize, &model.kernels);
    ContactPasses {
        buffers,
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
            press,
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
    }
}
