//! Joint transforms in upload format.
//!
//! An instance has either dual quaternions with stretches, or first the rows of all matrices, then what else the blending needs.

use nalgebra::Matrix3;
use rayon::prelude::*;

use crate::math::{Affine, Point64, SplitTransform, origin_of};
use crate::methods::Recipe;
use crate::methods::recipe::{Blending, Deformers, PaletteEntry};

/// Elements of a matrix: its rows.
const ROWS: usize = 3;
/// Elements of a dual quaternion with its stretch.
const DUAL: usize = 4;
/// Elements of a rotation with its stretch.
const TURN: usize = 3;
/// Elements of a stretch.
const STRETCH: usize = 2;

/// The transforms of all instances as the shaders read them: computed in `f64`, rounded once.
#[derive(Debug)]
pub(super) struct Palette {
    stride: usize,
    values: Vec<[f32; 4]>,
}

/// Elements per instance before those that the blending needs beside matrices.
pub(super) fn extras(recipe: &Recipe) -> usize {
    match &recipe.blending {
        Blending::DualQuaternions => 0,
        _ => recipe.palette.len() * ROWS,
    }
}

/// Elements per instance.
pub(super) fn stride(recipe: &Recipe) -> usize {
    let entries = recipe.palette.len();
    let more = match &recipe.blending {
        Blending::Linear => 0,
        Blending::DualQuaternions => entries * DUAL,
        Blending::Centers(_) => entries * TURN,
        Blending::Smoothed(_) => entries * STRETCH,
        Blending::Deformers(tables) => tables.deformers.len() * Deformers::MOTION,
    };
    extras(recipe) + more
}

impl Palette {
    /// All instances in the bind pose.
    pub fn new(recipe: &Recipe, instances: usize) -> Self {
        let stride = stride(recipe);
        let mut palette = Self {
            stride,
            values: vec![[0.0; 4]; stride * instances],
        };
        for instance in 0..instances {
            palette.set(recipe, instance, &recipe.bind);
        }
        palette
    }

    /// Elements per instance.
    pub fn stride(&self) -> usize {
        self.stride
    }

    pub fn values(&self) -> &[[f32; 4]] {
        &self.values
    }

    /// Sets an instance's pose; missing joints keep their transform.
    pub fn set(&mut self, recipe: &Recipe, instance: usize, world_from_joint: &[Affine]) {
        let first = instance * self.stride;
        if let Some(own) = self.values.get_mut(first..first + self.stride) {
            write(own, recipe, world_from_joint);
        }
    }

    /// Sets all instances, in parallel.
    pub fn set_all(
        &mut self,
        recipe: &Recipe,
        world_from_joint: impl Fn(usize) -> Vec<Affine> + Sync,
    ) {
        let instances = self.values.par_chunks_mut(self.stride.max(1)).enumerate();
        instances.for_each(|(instance, own)| write(own, recipe, &world_from_joint(instance)));
    }
}

/// Writes the elements of an instance.
fn write(own: &mut [[f32; 4]], recipe: &Recipe, world_from_joint: &[Affine]) {
    let (rows, more) = own.split_at_mut(extras(recipe));
    let moved = |entry: &PaletteEntry| {
        let world = world_from_joint.get(entry.joint)?;
        Some(world * entry.joint_from_rest)
    };
    if let Blending::DualQuaternions = recipe.blending {
        set_each::<DUAL>(more, &recipe.palette, moved, |_, transform| dual(transform));
        return;
    }
    let relative = match &recipe.blending {
        Blending::Smoothed(tables) => tables.first_relative,
        _ => usize::MAX,
    };
    let origin = recipe.palette.first().and_then(moved);
    let origin = origin.map_or_else(Point64::origin, |transform| origin_of(&transform));
    set_each::<ROWS>(rows, &recipe.palette, moved, |index, transform| {
        let origin = if index < relative {
            Point64::origin()
        } else {
            origin
        };
        rows_of(transform, &origin)
    });
    match &recipe.blending {
        Blending::Linear | Blending::DualQuaternions => {}
        Blending::Centers(_) => {
            set_each::<TURN>(more, &recipe.palette, moved, |_, transform| turn(transform));
        }
        Blending::Smoothed(_) => {
            set_each::<STRETCH>(more, &recipe.palette, moved, |_, transform| {
                stretch(&SplitTransform::of(transform).stretch)
            });
        }
        Blending::Deformers(tables) => {
            let of = |joint: u32| recipe.palette.get(joint as usize).and_then(moved);
            let (slots, _) = more.as_chunks_mut::<{ Deformers::MOTION }>();
            for (slot, deformer) in slots.iter_mut().zip(&tables.deformers) {
                if let (Some(parent), Some(joint)) = (of(deformer.parent), of(deformer.joint)) {
                    *slot = deformer.motion(&parent, &joint);
                }
            }
        }
    }
}

/// Sets the elements of every entry whose joint is there.
fn set_each<const N: usize>(
    slots: &mut [[f32; 4]],
    palette: &[PaletteEntry],
    moved: impl Fn(&PaletteEntry) -> Option<Affine>,
    pack: impl Fn(usize, &Affine) -> [[f32; 4]; N],
) {
    let (slots, _) = slots.as_chunks_mut::<N>();
    for (index, (slot, entry)) in slots.iter_mut().zip(palette).enumerate() {
        if let Some(transform) = moved(entry) {
            *slot = pack(index, &transform);
        }
    }
}

/// The rows of a matrix, its translation relative to an origin.
fn rows_of(transform: &Affine, origin: &Point64) -> [[f32; 4]; ROWS] {
    let entry = |row: usize, column: usize| {
        let value = transform.matrix()[(row, column)];
        (if column == 3 {
            value - origin[row]
        } else {
            value
        }) as f32
    };
    std::array::from_fn(|row| std::array::from_fn(|column| entry(row, column)))
}

/// Rotation, dual part, stretch.
fn dual(transform: &Affine) -> [[f32; 4]; DUAL] {
    let split = SplitTransform::of(transform);
    let [diagonal, beside] = stretch(&split.stretch);
    let (real, dual) = (split.real.coords, split.dual.coords);
    [real.into(), dual.into(), diagonal, beside]
}

/// Rotation, stretch.
fn turn(transform: &Affine) -> [[f32; 4]; TURN] {
    let split = SplitTransform::of(transform);
    let [diagonal, beside] = stretch(&split.stretch);
    [split.real.coords.into(), diagonal, beside]
}

/// The diagonal of a symmetric matrix; xy, xz, yz.
fn stretch(s: &Matrix3<f32>) -> [[f32; 4]; STRETCH] {
    [[s.m11, s.m22, s.m33, 0.0], [s.m12, s.m13, s.m23, 0.0]]
}
