//! Dual quaternion skinning.
//!
//! Kavan, Collins, Žára, O'Sullivan, "Geometric Skinning with Approximate Dual Quaternion Blending", TOG 2008, algorithm 1, with
//! its two-phase extension for scale and shear: every joint matrix M = R S splits into a rotation and a symmetric stretch; the
//! stretches are blended linearly and applied first, the rigid parts are blended as dual quaternions.

use nalgebra::{Matrix3, Quaternion};
use rayon::prelude::*;

use super::direct::Direct;
use super::lbs::{BlendedMesh, LinearBlend};
use super::registry::{Capability, Descriptor, MethodId, Requirement};
use super::{Frame, Recipe, SkinError, Skinner, Subject};
use crate::character::Character;
use crate::math::{Affine, Point, Quat, Vec3, linear_part, origin_of};
use crate::mesh::NormalGroups;
use crate::weights::SkinWeights;

impl MethodId {
    /// Dual quaternion skinning.
    pub const DQS: Self = METHOD;
}

pub(super) const METHOD: MethodId = MethodId::of(&Descriptor {
    id: "dqs",
    label: "Dual quaternion",
    short_label: "DQS",
    doc: "Blends dual quaternions by weights. No candy wrapper, but joints bulge.",
    needs: &[Requirement::Weights],
    capabilities: &[Capability::Device],
    params: &[],
    bind: |input| Ok(Box::new(Direct::new(bind(input.subject), recipe))),
});

fn bind(subject: &Subject) -> DualQuaternion {
    DualQuaternion::bind(&subject.character, subject.mesh_weights())
}

fn recipe(subject: &Subject, groups: &NormalGroups) -> Recipe {
    let blend = LinearBlend::bind(&subject.character, subject.mesh_weights());
    Recipe::blended(subject, &blend, true, groups)
}

/// A transform as a rigid motion after a stretch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SplitTransform {
    /// Rotation.
    pub real: Quaternion<f32>,
    /// Half the translation times the rotation.
    pub dual: Quaternion<f32>,
    /// Symmetric.
    pub stretch: Matrix3<f32>,
}

/// Binds all source vertices of a character.
pub struct DualQuaternion {
    parts: Vec<BlendedMesh>,
    /// Per part, per joint.
    splits: Vec<Vec<SplitTransform>>,
}

impl DualQuaternion {
    /// Binds with the file's weights, or with `fallback` for meshes that have none (one set per mesh, in order).
    #[must_use]
    pub fn bind(character: &Character, fallback: &[Option<SkinWeights>]) -> Self {
        let parts = LinearBlend::bind(character, fallback).parts;
        let identity = SplitTransform {
            real: Quaternion::identity(),
            dual: Quaternion::new(0.0, 0.0, 0.0, 0.0),
            stretch: Matrix3::identity(),
        };
        let splits = parts
            .iter()
            .map(|part| vec![identity; part.joint_from_mesh.len()])
            .collect();
        Self { parts, splits }
    }
}

impl SplitTransform {
    /// Splits an affine transform.
    #[must_use]
    pub fn of(transform: &Affine) -> Self {
        let (rotation, stretch) = polar(&linear_part(transform));
        let real = rotation.into_inner();
        let t = origin_of(transform);
        let dual = Quaternion::new(0.0, t.x, t.y, t.z) * real * 0.5;
        Self {
            real: real.cast::<f32>(),
            dual: dual.cast::<f32>(),
            stretch: stretch.cast::<f32>(),
        }
    }
}

/// M = R S with R a rotation and S symmetric: the polar decomposition, with −1 in both if M reflects. Reflecting along one
/// axis instead would bring R closer to M, but if M scales uniformly, rounding decides which axis: it would change between
/// joints and between frames. With −1 in both, a mirrored character moves as the mirror image of the character.
fn polar(matrix: &Matrix3<f64>) -> (Quat, Matrix3<f64>) {
    let svd = matrix.svd(true, true);
    let (Some(u), Some(v_t)) = (svd.u, svd.v_t) else {
        return (Quat::identity(), *matrix);
    };
    let orthogonal = u * v_t;
    let rotation = orthogonal * orthogonal.determinant().signum();
    let quat = Quat::from_rotation_matrix(&nalgebra::Rotation3::from_matrix_unchecked(rotation));
    (quat, rotation.transpose() * matrix)
}

impl Skinner for DualQuaternion {
    fn skin(&mut self, frame: &Frame<'_>, out: &mut [Point]) -> Result<(), SkinError> {
        let mut rest_of_out = out;
        for (part, splits) in self.parts.iter_mut().zip(&mut self.splits) {
            for ((split, joint_from_mesh), world) in splits
                .iter_mut()
                .zip(&part.joint_from_mesh)
                .zip(frame.world_from_joint)
            {
                *split = SplitTransform::of(&(world * joint_from_mesh));
            }
            let (here, after) = rest_of_out.split_at_mut(part.rest.len());
            rest_of_out = after;
            let (part, splits) = (&*part, &*splits);
            here.par_iter_mut()
                .with_min_len(2048)
                .enumerate()
                .for_each(|(vertex, out)| *out = blend(part, splits, vertex));
        }
        Ok(())
    }
}

fn blend(part: &BlendedMesh, splits: &[SplitTransform], vertex: usize) -> Point {
    let rest = part.rest[vertex];
    let Some(pivot) = part.weights.strongest(vertex) else {
        return rest;
    };
    let pivot = splits[pivot].real;
    let (mut real, mut dual) = (
        Quaternion::new(0.0, 0.0, 0.0, 0.0),
        Quaternion::new(0.0, 0.0, 0.0, 0.0),
    );
    let mut stretch = Matrix3::zeros();
    for (joint, weight) in part.weights.of(vertex) {
        let split = &splits[joint];
        // q and −q are the same rotation: blend along the shorter way.
        let signed = if split.real.coords.dot(&pivot.coords) < 0.0 {
            -weight
        } else {
            weight
        };
        real.coords += split.real.coords * signed;
        dual.coords += split.dual.coords * signed;
        stretch += split.stretch * weight;
    }
    let norm = real.norm();
    if norm < 1e-6 {
        return rest;
    }
    let (real, dual) = (real / norm, dual / norm);
    let point = stretch * rest.coords;
    let (r, d): (Vec3, Vec3) = (real.imag(), dual.imag());
    let rotated = point + r.cross(&(r.cross(&point) + point * real.w)) * 2.0;
    let translation = (d * real.w - r * dual.w + r.cross(&d)) * 2.0;
    Point::from(rotated + translation)
}
