//! The reference solution as a method.

use std::sync::Arc;

use super::lattice::Resolution;
use super::model::{Choices, Model, ModelInputs, Unsolved};
use crate::math::{Affine, Point};
use crate::methods::lbs::LinearBlend;
use crate::methods::projective::poses::{compose, largest_turn, relative_into};
use crate::methods::registry::{BindInput, Capability, Descriptor, MethodId, Requirement};
use crate::methods::riding::Riding;
use crate::methods::{BindError, Frame, SkinError, Skinner, Subject};
use crate::param::{ParamKind, ParamSpec, ParamValues};
use crate::progress::{Cancelled, Progress};
use crate::rig::Trs;
use crate::tissue::{TissueError, graph};
use crate::weights::{SkinWeights, by_distance};

/// Maximum rotation of a joint per substep to a pose, rad.
const SUBSTEP_RAD: f64 = 0.4;

const THROUGH: ParamSpec = ParamSpec {
    key: "through",
    label: "Cells through a limb",
    unit: "",
    kind: ParamKind::Real,
    range: [1.5, 12.0],
    default: 5.0,
    doc: "Cells across the local thickness of the body, as far as the number of cells allows.",
};
const CELLS: ParamSpec = ParamSpec {
    key: "cells",
    label: "Cells",
    unit: "",
    kind: ParamKind::Logarithmic,
    range: [100.0, 200_000.0],
    default: 12_000.0,
    doc: "Largest number of cells; time and memory grow faster than it.",
};
const POISSON: ParamSpec = ParamSpec {
    key: "poisson",
    label: "Poisson's ratio",
    unit: "",
    kind: ParamKind::Real,
    range: [0.0, 0.49],
    default: 0.45,
    doc: "How much the flesh keeps its volume: 0 not at all, 0.5 entirely.",
};
const BONE_FRACTION: ParamSpec = ParamSpec {
    key: "bone-fraction",
    label: "Thickness of bones",
    unit: "",
    kind: ParamKind::Real,
    range: [0.02, 0.9],
    default: 0.35,
    doc: "Radius of the bones as a part of their distance from the skin.",
};
const CONTACT: ParamSpec = ParamSpec {
    key: "contact",
    label: "Self-contact",
    unit: "",
    kind: ParamKind::Switch,
    range: [0.0, 1.0],
    default: 1.0,
    doc: "Parts of the body push each other away where they meet.",
};

impl MethodId {
    /// The converged equilibrium of an elastic body.
    pub const REFERENCE: Self = METHOD;
}

pub(in crate::methods) const METHOD: MethodId = MethodId::of(&Descriptor {
    id: "reference",
    label: "Elastic reference",
    short_label: "Reference",
    doc: "The converged equilibrium of elastic flesh on bones, for comparison. Takes seconds to minutes a pose.",
    cost: "seconds to a minute",
    source: "Smith, de Goes, Kim, Stable Neo-Hookean Flesh Simulation, TOG 2018",
    departures: &[],
    needs: &[Requirement::Weights],
    capabilities: &[Capability::Offline],
    params: &[THROUGH, CELLS, POISSON, BONE_FRACTION, CONTACT],
    bind: |input| Ok(Box::new(Reference::bind(input)?)),
});

fn choices(values: &ParamValues) -> Choices {
    Choices {
        resolution: Resolution {
            through: values.get(&THROUGH),
            cells: values.get(&CELLS) as usize,
        },
        poisson: values.get(&POISSON),
        bone_fraction: values.get(&BONE_FRACTION),
        contact: values.get(&CONTACT) > 0.5,
    }
}

/// The bound reference method of one character.
struct Reference {
    subject: Arc<Subject>,
    choices: Choices,
    /// Rebuilt when the choices change.
    model: Option<Model>,
    /// Attachment of cloth and props, if there are any.
    riding: Option<Riding>,
    /// Skinning of the meshes that are not skin.
    props: Option<LinearBlend>,
    flesh: Vec<Point>,
    /// Posed positions of the whole skin.
    skin: Vec<Point>,
    /// Joint transforms of the last solved frame, to which `skin` belongs.
    solved: Vec<Affine>,
}

/// Builds the model from the file's weights of the flesh and the bones inside it.
fn model(subject: &Subject, choices: &Choices, progress: &Progress) -> Result<Model, BindError> {
    let (body, skeleton) = (subject.body(), &subject.character.skeleton);
    if body.flesh.triangles.is_empty() {
        return Err(TissueError::NoSkin.into());
    }
    if skeleton.is_empty() {
        return Err(TissueError::NoSkeleton.into());
    }
    let of_file = subject
        .file_weights()
        .map(|weights| weights.of_some(&body.skin_from_flesh))
        .filter(SkinWeights::is_complete);
    let (graph, _) = graph::build(&body.flesh, skeleton, of_file.as_ref())?;
    let weights = subject.skin_weights().of_some(&body.skin_from_flesh);
    let parts = ModelInputs {
        mesh: &body.flesh,
        graph: &graph,
        bones: &subject.settings.bones,
        weights: &weights,
    };
    Ok(Model::build(&parts, choices, progress)?)
}

fn riding(subject: &Subject, progress: &Progress) -> Result<Option<Riding>, Cancelled> {
    let body = subject.body();
    if body.parts.all_flesh() {
        return Ok(None);
    }
    let (mesh, skeleton) = (&subject.skin.mesh, &subject.character.skeleton);
    let weights = subject
        .file_weights()
        .cloned()
        .filter(SkinWeights::is_complete);
    let weights = weights.unwrap_or_else(|| by_distance(mesh, skeleton));
    Riding::bind(mesh, &body.parts, skeleton, Some(&weights), progress).map(Some)
}

impl Reference {
    fn bind(input: &BindInput<'_>) -> Result<Self, BindError> {
        let subject = input.subject;
        let choices = choices(input.values);
        let model = model(subject, &choices, &input.progress.part(0.1, 0.9))?;
        let all_skin = subject.skin.skin_from_source.iter().all(Option::is_some);
        Ok(Self {
            model: Some(model),
            riding: riding(subject, input.progress)?,
            props: (!all_skin)
                .then(|| LinearBlend::bind(&subject.character, subject.mesh_weights())),
            flesh: subject.body().flesh.positions.clone(),
            skin: subject.skin.mesh.positions.clone(),
            subject: subject.clone(),
            solved: Vec::new(),
            choices,
        })
    }

    /// Solves for a pose relative to the first joint's motion, and writes the flesh into the skin.
    fn solve(&mut self, world_from_joint: &[Affine]) -> Result<(), SkinError> {
        if self.model.is_none() {
            let made = model(&self.subject, &self.choices, &Progress::new());
            self.model = Some(made.map_err(|_| SkinError::Diverged)?);
        }
        let Some(model) = &mut self.model else {
            return Err(SkinError::Diverged);
        };
        let skeleton = &self.subject.character.skeleton;
        let inverse = |affine: &Affine| affine.try_inverse().unwrap_or_else(Affine::identity);
        let bind = skeleton.bind_transforms();
        let rest_from_world: Vec<Affine> = bind.iter().map(inverse).collect();
        let whole = world_from_joint[0] * rest_from_world[0];
        let whole = if whole.try_inverse().is_some() {
            whole
        } else {
            Affine::identity()
        };
        let back = inverse(&whole);
        let target: Vec<Affine> = world_from_joint.iter().map(|world| back * world).collect();
        let (mut from, mut to) = (Vec::new(), Vec::new());
        relative_into(skeleton, &bind, &mut from);
        relative_into(skeleton, &target, &mut to);
        let substeps = (largest_turn(&from, to.iter().copied()) / SUBSTEP_RAD).ceil();
        let mut world = Vec::new();
        let motions_at = |t: f64| {
            if t >= 1.0 {
                world.clone_from(&target);
            } else {
                let between: Vec<Trs> = from.iter().zip(&to).map(|(a, b)| a.lerp(b, t)).collect();
                compose(skeleton, &between, &mut world);
            }
            let motion = |(world, inverse): (&Affine, &Affine)| world * inverse;
            world.iter().zip(&rest_from_world).map(motion).collect()
        };
        model
            .solve(substeps as usize, motions_at)
            .map_err(|Unsolved { residual, .. }| SkinError::Unsolved { residual })?;
        model.skin_into(&mut self.flesh, &whole);
        Ok(())
    }
}

impl Skinner for Reference {
    fn skin(&mut self, frame: &Frame<'_>, out: &mut [Point]) -> Result<(), SkinError> {
        if self.solved != frame.world_from_joint {
            self.solved.clear();
            self.solve(frame.world_from_joint)?;
            for (position, &vertex) in self.flesh.iter().zip(&self.subject.body().skin_from_flesh) {
                self.skin[vertex as usize] = *position;
            }
            if let Some(riding) = &mut self.riding {
                riding.place(&mut self.skin, frame.world_from_joint);
            }
            self.solved.extend_from_slice(frame.world_from_joint);
        }
        if let Some(props) = &mut self.props {
            props.skin(frame, out)?;
        }
        for (position, vertex) in out.iter_mut().zip(&self.subject.skin.skin_from_source) {
            if let Some(vertex) = vertex {
                *position = self.skin[*vertex as usize];
            }
        }
        Ok(())
    }

    fn set_values(&mut self, values: &ParamValues) -> Result<(), BindError> {
        let choices = choices(values);
        if choices != self.choices {
            (self.choices, self.model) = (choices, None);
            self.solved.clear();
        }
        Ok(())
    }
}
