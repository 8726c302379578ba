//! Skinning by joint-based deformers that separate swing from twist.
//!
//! Kavan, Sorkine, "Elasticity-Inspired Deformers for Character Articulation", ACM TOG 31(6), 2012, equations 5 and 6:
//!
//! ```text
//! p = Σⱼ dⱼ(v̄) Aⱼ Γⱼ(Qⱼ, Rⱼ⁻¹ v̄),    Γ(Q, x) = ((1 − s(x)) I + s(x) Q_swing) Q_twist^t(x) x,    Q = Q_swing Q_twist
//! ```
//!
//! | paper   | here                          | shape          | unit | note                                                          |
//! |---------|-------------------------------|----------------|------|---------------------------------------------------------------|
//! | d, s, t | [`JointFields`]               | per vertex and deformer | – | elastic fields of the skin; the file's weights are not used |
//! | Γ       | `deformer::Posed`             | per deformer   | –    | pivot at the joint, z along the bone to a child               |
//! | A R⁻¹   | `world_from_bind` of the parent | 3 × 4        | –    | the whole transform of the parent, with scale and shear       |
//! | Q       | the rotation of X             | 3 × 3          | –    | X: motion of the joint relative to its parent, both from the bind pose |
//! | p       | output                        | vertices       | length | world                                                       |
//!
//! # Departures
//! - A joint that moves or scales relative to its parent: its translation, and the symmetric stretch of X applied before the twist, are
//!   blended linearly by s. A relative motion that reflects, or a parent of scale 0, is blended linearly as a whole.
//! - Swings of more than 90° turn into spherical interpolation by s, entirely so from 150° on: linear blending collapses there.
//! - The twist is in (−π, π], and none at swings of 180°: a frame depends on its pose alone, so that the skin jumps where a joint passes
//!   these angles.
//! - The shares d are squared harmonic fields, multiplied by the elastic skin weights of the joint and its parent: a vertex that moves
//!   with one joint alone then does so exactly. The paper has bounded biharmonic weights at joints.
//! - A joint with several children has one deformer per child, with the same s and t but its own z; its share is divided by the
//!   distances to the bones.
//! - Deformers whose s and t are both 0 or both 1 at a vertex are added up as rigid motions of the parent or the joint.
//!
//! [`JointFields`]: crate::weights::elastic::JointFields

mod binding;
mod on_device;
#[cfg(test)]
mod tests;

use rayon::prelude::*;

use self::binding::{Binding, Influences};
use super::blend_normals::{ByEdges, NORMALS, WithNormals};
use super::blended_mesh::displace;
use super::deformer::{Posed, Skinning};
use super::direct::{Direct, HasRecipe};
use super::registry::{Capability, Descriptor, MethodId};
use super::{BindInput, Frame, MorphOffsets, Recipe, SkinError, Skinner, Subject};
use crate::math::Point;
use crate::mesh::NormalGroups;
use crate::methods::{Term, TermValue};
use crate::numerics::lanes::{add, scaled};
use crate::weights::elastic::ElasticFields;

impl MethodId {
    /// Swing and twist deformers.
    pub const SWING_TWIST: Self = METHOD;
}

pub(super) const METHOD: MethodId = MethodId::of(&Descriptor {
    id: "swing-twist",
    label: "Swing and twist",
    short_label: "Swing-twist",
    doc: "Bends like linear blending and twists like dual quaternions, by its own elastic weights. No candy wrapper and no bulge.",
    cost: "0.6 ms",
    source: "Kavan, Sorkine, Elasticity-Inspired Deformers for Character Articulation, TOG 31(6), 2012, equations 5 and 6",
    departures: &[
        "Swings of more than 90° are blended spherically, entirely so from 150° on.",
        "The shares of joints are squared harmonic fields times the elastic weights.",
        "Translation and stretch of a joint relative to its parent are blended linearly.",
    ],
    needs: &[],
    capabilities: &[Capability::Device],
    params: &[NORMALS],
    bind: |input| {
        let fields = input.subject.elastic_fields(input.progress)?;
        let skinner = SwingTwist::bind(input, &fields);
        let skinner = ByEdges::new(skinner, input.subject, &fields.weights);
        Ok(Box::new(Direct::new(WithNormals::bind(skinner, input)?)))
    },
});

/// The bound method.
struct SwingTwist {
    binding: Binding,
    /// Per joint.
    skinning: Vec<Skinning>,
    /// Per deformer.
    posed: Vec<Posed>,
    /// First vertex of every mesh.
    firsts: Vec<usize>,
    /// Rest positions without morphs, while they displace them.
    undisplaced: Vec<Point>,
}

impl SwingTwist {
    fn bind(input: &BindInput<'_>, fields: &ElasticFields) -> Self {
        let subject = input.subject;
        let mut bound = Self::of(Binding::of(
            &subject.character,
            &subject.skin.skin_from_source,
            fields,
        ));
        let mut first = 0;
        for mesh in &subject.character.meshes {
            bound.firsts.push(first);
            first += mesh.positions.len();
        }
        bound
    }

    fn of(binding: Binding) -> Self {
        Self {
            skinning: vec![Skinning::default(); binding.bind_from_world.len()],
            posed: vec![Posed::default(); binding.deformers.len()],
            firsts: Vec::new(),
            undisplaced: Vec::new(),
            binding,
        }
    }
}

impl Skinner for SwingTwist {
    fn skin(&mut self, frame: &Frame<'_>, out: &mut [Point]) -> Result<(), SkinError> {
        let joints = frame.world_from_joint.iter();
        for ((skinning, bind), world) in self
            .skinning
            .iter_mut()
            .zip(&self.binding.bind_from_world)
            .zip(joints)
        {
            *skinning = Skinning::of(world, bind);
        }
        for (posed, deformer) in self.posed.iter_mut().zip(&self.binding.deformers) {
            *posed = deformer.posed(&self.skinning);
        }
        let (binding, skinning, posed) = (&self.binding, &self.skinning, &self.posed);
        out.par_iter_mut()
            .with_min_len(2048)
            .enumerate()
            .for_each(|(vertex, out)| {
                let influences = binding.of_vertex(vertex);
                *out = skinned(&binding.rest[vertex], &influences, skinning, posed);
            });
        Ok(())
    }

    fn displace(&mut self, offsets: Option<&MorphOffsets>) -> bool {
        let rest = &mut self.binding.rest;
        let Some(offsets) = offsets else {
            if !self.undisplaced.is_empty() {
                rest.copy_from_slice(&self.undisplaced);
            }
            return true;
        };
        if self.undisplaced.is_empty() {
            self.undisplaced.extend_from_slice(rest);
        }
        for (mesh, &first) in offsets.meshes.iter().zip(&self.firsts) {
            displace(
                mesh,
                &mesh.in_bind_pose,
                &self.undisplaced[first..],
                &mut rest[first..],
            );
        }
        true
    }

    fn explain(&self, vertex: usize) -> Vec<Term> {
        let influences = self.binding.of_vertex(vertex);
        let mut terms = Vec::new();
        let strongest = influences
            .bent
            .iter()
            .max_by(|a, b| a.blend.total_cmp(&b.blend));
        if let Some(bent) = strongest {
            let part = |value: f32| TermValue::Part(f64::from(value));
            let twist = f64::from(self.posed[bent.deformer as usize].twist());
            terms.push(Term::new(
                "bend_share",
                "Share of its strongest bend",
                part(bent.blend),
                "Weight of the joint that bends it most; the rest follows other joints.",
            ));
            terms.push(Term::new(
                "swing_share",
                "Part of the swing",
                part(bent.swing),
                "How much of that joint's swing the vertex takes part in: 0 on the parent's side, 1 beyond the joint.",
            ));
            terms.push(Term::new(
                "twist_deg",
                "Twist there",
                TermValue::Degrees((twist * f64::from(bent.twist)).to_degrees()),
                "The twist of that joint as far as it has spread to the vertex.",
            ));
        }
        terms
    }
}

impl HasRecipe for SwingTwist {
    fn recipe(&self, subject: &Subject, groups: &NormalGroups) -> Recipe {
        Recipe::of_joints(subject, groups, |recipe| self.binding.fill(recipe))
    }
}

/// The position of a vertex.
fn skinned(
    rest: &Point,
    influences: &Influences<'_>,
    skinning: &[Skinning],
    posed: &[Posed],
) -> Point {
    if influences.rigid.is_empty() && influences.bent.is_empty() {
        return *rest;
    }
    let mut sum = [0.0; 4];
    for &(joint, weight) in influences.rigid {
        sum = add(sum, scaled(skinning[joint as usize].apply(rest), weight));
    }
    for bent in influences.bent {
        let moved = posed[bent.deformer as usize].apply(rest, bent, skinning);
        sum = add(sum, scaled(moved, bent.blend));
    }
    let [x, y, z, _] = sum;
    Point::new(x, y, z)
}
