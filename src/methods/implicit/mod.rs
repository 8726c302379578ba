//! Implicit skinning: the skin follows an iso-surface made of one field per bone, which knows where parts touch.
//!
//! Vaillant, Barthe, Guennebaud, Cani, Rohmer, Wyvill, Gourmel, Paulin, "Implicit Skinning: Real-Time Skin Deformation with Contact
//! Modeling", SIGGRAPH 2013; Vaillant, Guennebaud, Barthe, Wyvill, Cani, "Robust Iso-Surface Tracking for Interactive Character
//! Skinning", SIGGRAPH Asia 2014. Every vertex keeps the value that the composed field f has at it in the bind pose. A step of the
//! skeleton carries the skin along and then alternates
//!
//! ```text
//! p ← p + (I − n nᵀ)(q − p),  q_i = Σ_j w_ij [p_j + ½ (R_i + R_j)(p̄_i − p̄_j)] / Σ_j w_ij,  n = ∇f / |∇f|      (2014, eq. 3 and 4)
//! p ← p + (iso − f) ∇f / |∇f|²
//! ```
//!
//! | paper       | here                          | shape        | unit     | note                                                  |
//! |-------------|-------------------------------|--------------|----------|-------------------------------------------------------|
//! | `f_b`       | [`field::PartField`]          | 32³ a part   | –        | HRBF of [`hrbf`] through samples of [`samples`], compact |
//! | g           | [`operators::Table`]          | 16 × 65²     | –        | biharmonic                                            |
//! | f           | [`composed::Field`]           | –            | –        | [`tree::Tree`] over the skeleton                      |
//! | iso         | [`model::Held`]               | n            | –        | f at rest, so that rest is a fixed point              |
//! | w           | [`rings::Rings`]              | edges        | –        | cotangents, positive                                  |
//! | R           | blended quaternions           | n            | –        | prescribed, not solved for                            |
//! | muscles     | [`muscle::Muscles`]         | leaves       | –        | with the field of a part, before the tree               |
//! | sub-steps   | [`walk::Walk`]                | –            | rad      | a third of the bend, 4° to 15°; 8° to 15° between two frames |
//!
//! # Departures
//! - Vertices are carried by the joints' motions of a step blended by their weights, not by that of one part: the relaxation begins close
//!   to its end.
//! - A vertex in contact is held on its own side of the contact surface by a Newton step to the difference of the two fields; the papers
//!   watch the turn of the gradient.
//! - The fold of a joint that bends by more than 60° is a contact between its bones at any angle of the gradients ([`fold`]).
//! - A part ends in half a ball about its joint ([`caps`]), not in one point beyond it.
//! - A field is the HRBF relative to the local radius of the limb ([`field`]); the papers divide by one radius a part.
//! - A vertex that both parts of a contact cover is held on the contact surface from either side.
//! - Chebyshev's semi-iteration of the Jacobi steps, calmed where a vertex moves to and fro.
//! - In a closed fold fields end on the other side of the plane between the bones ([`fold`]): they would stick out of the other limb.
//! - The bend of a joint is spread over the fields around the outside of it ([`bend`]).
//! - The twist of a straight joint is spread over the fields on both sides of it ([`twist`]).
//! - Fields are held back where they would reach out of the body, and every field belongs to one junction of a binary tree.
//! - Vertices near the end of a contact are smoothed where they are shown, and do not cross the contact surface ([`skin`]).
//! - A part that is inside of another is shown where dual quaternions put it ([`skin`]): no surface looks like that.
//! - Away from contacts every second round has no Newton step.
//! - Fields below 0.02 at a vertex are left out of its relaxation, except where parts are blended ([`composed`]).
//! - The field around a vertex is that where it was last evaluated, to first order, while the vertex has moved by less than 3 % of the depth
//!   of the limb ([`known`]).
//! - Steps between two frames have half of the rounds, and do not lift vertices off contacts: only the side of contacts must be right there.
//! - A vertex without a gradient at rest is relaxed freely.
//! - Joints that scale: edges are scaled by the mean of the stretch.
//!
//! A frame of 0 s walks from the bind pose: a function of the pose alone. Other frames go on from the frame before.

mod bend;
mod body_field;
mod caps;
mod composed;
mod field;
mod fold;
mod hrbf;
mod known;
mod limbs;
mod meeting;
mod model;
mod motions;
mod muscle;
mod muscle_place;
mod near;
mod operators;
mod options;
mod parts;
mod posed;
mod rings;
mod rod;
mod samples;
mod skin;
mod slice;
mod spot;
mod spread;
#[cfg(test)]
mod tests;
mod tracking;
mod tree;
mod twist;
mod walk;

pub use body_field::BodyField;
pub use limbs::MuscleGrip;
pub use meeting::JointMeeting;
pub use muscle_place::MusclePlace;
pub use slice::{FieldLine, FieldPlane, FieldRegion, FieldSlice};

use std::sync::Arc;

use model::Model;
use motions::{Motions, columns, image};
use options::{Mode, Options, PARAMS, fingers};
use skin::{Skin, Step};
use spot::Spot;
use walk::Walk;

use super::registry::{Capability, Descriptor, MethodId, Requirement};
use super::smoothing::Sources;
use super::{
    BindError, Frame, MethodState, SkinError, Skinner, StateError, Subject, Term, TermValue,
};
use crate::character::{BoneMap, FleshFactors, FleshPaint, PaintMap};
use crate::math::{Affine, Point, origin_of};
use crate::param::ParamValues;
use crate::progress::Progress;
use crate::rig::Trs;

impl MethodId {
    /// Implicit skinning.
    pub const IMPLICIT: Self = METHOD;
}

pub(super) const METHOD: MethodId = MethodId::of(&Descriptor {
    id: "implicit",
    label: "Implicit skinning",
    short_label: "Implicit",
    doc: "Follows an iso-surface made of one field per bone. Parts that touch press flat; in folds of more than about 130° a groove stays beside the joint.",
    cost: "tens of ms while joints move",
    source: "Vaillant et al., Implicit Skinning: Real-Time Skin Deformation with Contact Modeling, SIGGRAPH 2013; Vaillant et al., Robust Iso-Surface Tracking for Interactive Character Skinning, SIGGRAPH Asia 2014",
    departures: &[
        "A step carries vertices by the motions of joints blended by weights instead of those of one part.",
        "Contact surfaces hold vertices by the difference of the fields on their sides.",
        "Relaxation in the surface is accelerated by Chebyshev's semi-iteration.",
        "Contact is full from 120° between the gradients on, not only at 180°, and in the fold of a bent joint at any angle.",
        "A part ends in half a ball about its joint, not in one point beyond it.",
        "Fields are relative to the radius of the limb at each place, so that thick parts do not win over thin ones.",
        "Straight joints twist the fields on both of their sides, so that parts that are not round stay smooth.",
        "The bend of a joint turns the fields around its outside, so that they open round and not flat.",
        "Vertices near the end of a contact are smoothed where they are shown, but not across the contact.",
        "A part that is inside of another is shown where dual quaternions put it.",
        "The field around a vertex is evaluated again only when the vertex has moved by 3 % of the depth of the limb.",
        "In a closed fold the field of a part ends on the other side of the plane between the bones.",
    ],
    needs: &[Requirement::Weights],
    capabilities: &[Capability::State, Capability::Meetings],
    params: PARAMS,
    bind: |input| {
        let options = Options::of(input.values);
        let progress = input.progress.part(0.1, 1.0);
        Ok(Box::new(ImplicitSkin::bind(
            input.subject,
            options,
            &progress,
        )?))
    },
});

/// A bound character and its state.
struct ImplicitSkin {
    subject: Arc<Subject>,
    options: Options,
    /// Whether the part of a joint bulges where it meets its parent's, by joint.
    bulging: Vec<bool>,
    bones: BoneMap,
    paint: FleshPaint,
    model: Model,
    /// The composed field, for those who show it.
    field: Arc<BodyField>,
    skin: Skin,
    motions: Motions,
    /// `now_from_bind` of every joint before the current step.
    before: Vec<Affine>,
    walk: Walk,
    classes: Vec<u32>,
    /// Whether there is a frame to go on from.
    is_started: bool,
    is_still: bool,
    /// Frames since a joint moved.
    still_frames: u32,
    sources: Sources,
    /// Positions of the skin in the last frame, world space.
    positions: Vec<Point>,
}

/// What the next frame depends on.
struct SavedState {
    spots: Vec<Spot>,
    before: Vec<Affine>,
    pose: Vec<Trs>,
    is_started: bool,
    is_still: bool,
    still_frames: u32,
}

impl ImplicitSkin {
    fn bind(
        subject: &Arc<Subject>,
        options: Options,
        progress: &Progress,
    ) -> Result<Self, BindError> {
        let (skeleton, weights) = (&subject.character.skeleton, subject.skin_weights());
        let (bulging, bones) = (fingers(skeleton), subject.settings.bones.clone());
        let mut model = Model::of(subject, &options.meets(&bulging, &bones), progress)?;
        let motions = Motions::new(skeleton, &model.center, weights);
        let paint = subject.settings.paint.clone();
        model.set_relaxation(relaxation_of(subject, &paint));
        let field = BodyField::of(&model, &motions, options.usual(&bulging));
        Ok(Self {
            bulging,
            bones,
            paint,
            options,
            skin: Skin::new(&model, skeleton.len()),
            field: Arc::new(field),
            motions,
            before: vec![Affine::identity(); skeleton.len()],
            walk: Walk::new(skeleton, f64::from(model.size)),
            classes: Vec::with_capacity(skeleton.len()),
            is_started: false,
            is_still: true,
            still_frames: 0,
            sources: Sources::of(subject, weights),
            positions: subject.skin.mesh.positions.clone(),
            model,
            subject: subject.clone(),
        })
    }

    /// Composes as the options and the bones ask for; the next frame begins from the bind pose.
    fn follow_operators(&mut self) {
        let operators = self.options.meets(&self.bulging, &self.bones);
        self.model
            .set_operators(&self.subject.character.skeleton, &operators);
        self.follow_field();
    }

    /// Shows the field of the model; the next frame begins from the bind pose.
    fn follow_field(&mut self) {
        let usual = self.options.usual(&self.bulging);
        self.field = Arc::new(BodyField::of(&self.model, &self.motions, usual));
        (self.is_still, self.is_started) = (false, false);
    }

    /// Writes where the skin is in the world.
    fn write(&mut self) -> bool {
        let (motions, rounds) = (&self.motions, self.options.rounds);
        let step = Step::new(&self.model, &self.subject, motions, &self.classes, rounds);
        self.skin.show(&step);
        let transform = &self.motions.world_from_here;
        let origin = origin_of(transform);
        let turn = columns(transform);
        let turn = [turn[0], turn[1], turn[2], [0.0; 4]];
        for (position, &[x, y, z, _]) in self.positions.iter_mut().zip(&self.skin.shown) {
            let at = image(&turn, [x, y, z]);
            let at = |c: usize| (f64::from(at[c]) + origin[c]) as f32;
            *position = Point::new(at(0), at(1), at(2));
        }
        let mut finite = self.positions.iter().flat_map(|p| p.iter());
        finite.all(|c| c.is_finite())
    }
}

/// Painted relaxation of the vertices of the skin; `None` if none is painted.
fn relaxation_of(subject: &Subject, paint: &FleshPaint) -> Option<Vec<f32>> {
    paint.values_at(PaintMap::Relaxation, &subject.skin.source_from_skin())
}

impl Skinner for ImplicitSkin {
    fn skin(&mut self, frame: &Frame<'_>, out: &mut [Point]) -> Result<(), SkinError> {
        match self.options.mode {
            Mode::Tracking => self.track(frame),
            Mode::Projection => self.project(frame),
        }
        if !self.write() {
            self.reset();
            return Err(SkinError::Diverged);
        }
        self.sources.place_others(frame, out)?;
        self.sources.copy(&self.positions, out);
        Ok(())
    }

    fn reset(&mut self) {
        self.is_started = false;
        self.is_still = true;
        self.still_frames = 0;
    }

    fn save(&mut self) -> MethodState {
        let saved = SavedState {
            spots: self.skin.spots.clone(),
            before: self.before.clone(),
            pose: self.walk.pose.clone(),
            is_started: self.is_started,
            is_still: self.is_still,
            still_frames: self.still_frames,
        };
        let bytes =
            size_of_val(&*saved.spots) + size_of_val(&*saved.before) + size_of_val(&*saved.pose);
        MethodState::of(saved, bytes)
    }

    fn restore(&mut self, state: &MethodState) -> Result<(), StateError> {
        let saved: &SavedState = state.get()?;
        let fits =
            saved.spots.len() == self.skin.spots.len() && saved.before.len() == self.before.len();
        if !fits {
            return Err(StateError::OtherCharacter);
        }
        self.skin.recall(&self.model, &saved.spots, &saved.before);
        self.before.clone_from(&saved.before);
        self.walk.pose.clone_from(&saved.pose);
        self.is_started = saved.is_started;
        self.is_still = saved.is_still;
        self.still_frames = saved.still_frames;
        Ok(())
    }

    fn is_at_rest(&self) -> bool {
        self.is_still
    }

    fn explain(&self, vertex: usize) -> Vec<Term> {
        let skin = self.subject.skin.skin_from_source.get(vertex);
        let Some(skin) = skin.copied().flatten().map(|skin| skin as usize) else {
            return Vec::new();
        };
        let iso = self.model.held[skin].iso;
        let now = self.skin.value_at(&self.model, skin);
        vec![
            Term::new(
                "iso_value",
                "Field at rest",
                TermValue::Part(f64::from(iso)),
                "Value of the composed field at the vertex in the bind pose: ½ on the surface of the parts, more inside.",
            ),
            Term::new(
                "field_value",
                "Field now",
                TermValue::Part(f64::from(now)),
                "Value of the composed field where the vertex is; it differs from that at rest in contacts only.",
            ),
        ]
    }

    fn body_field(&self) -> Option<&Arc<BodyField>> {
        Some(&self.field)
    }

    fn set_values(&mut self, values: &ParamValues) -> Result<(), BindError> {
        let options = Options::of(values);
        if options != self.options {
            self.options = options;
            self.follow_operators();
        }
        Ok(())
    }

    fn set_factors(&mut self, factors: &FleshFactors) -> Result<(), BindError> {
        let bones = &factors.bones;
        let meets = |bones: &BoneMap| self.options.meets(&self.bulging, bones);
        let differs = meets(bones) != meets(&self.bones);
        self.bones.clone_from(bones);
        if differs {
            self.follow_operators();
        }
        let joints = self.before.len();
        if self.model.set_muscles(joints, &factors.muscles) {
            self.follow_field();
        }
        let map = PaintMap::Relaxation;
        if !factors.paint.has_same(&self.paint, map) {
            self.model
                .set_relaxation(relaxation_of(&self.subject, &factors.paint));
            (self.is_still, self.is_started) = (false, false);
        }
        self.paint.clone_from(&factors.paint);
        Ok(())
    }
}
