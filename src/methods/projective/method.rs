//! Projective skinning as a method: simulates the simulation mesh and upsamples it to the source vertices.

use super::Projective;
use crate::character::FleshFactors;
use crate::dynamics::Params;
use crate::math::{Point, Vec3};
use crate::mesh::NormalGroups;
use crate::methods::Term;
use crate::methods::device::{AnyDevice, Fetched, OnDevice};
use crate::methods::lbs::LinearBlend;
use crate::methods::registry::{BindInput, Capability, Descriptor, MethodId, Requirement};
use crate::methods::source_map::SourceMap;
use crate::methods::{
    BindError, DeviceError, Frame, MethodState, Recipe, SkinError, Skinner, StateError, StepTimes,
    Subject,
};

impl MethodId {
    /// Projective skinning: tissue on volumetric bones, simulated by projective dynamics.
    pub const PD: Self = METHOD;
}

pub(in crate::methods) const METHOD: MethodId = MethodId::of(&Descriptor {
    id: "pd",
    label: "Projective dynamics",
    short_label: "PD",
    doc: "Elastic flesh around the bones, simulated, with self-contact. Its base follows the skin's weights, the file's or computed ones.",
    cost: "5 to 7 ms",
    source: "Komaritzan, Botsch, Fast Projective Skinning, MIG 2019; Bouaziz, Martin, Liu, Kavan, Pauly, Projective Dynamics, SIGGRAPH 2014",
    departures: &[
        "The base of the flesh follows a guide made of skinning weights instead of the bones alone.",
        "Volume is preserved by a bulge of the skin, found by heat flow.",
    ],
    needs: &[Requirement::Weights, Requirement::Tissue],
    capabilities: &[
        Capability::State,
        Capability::Physics,
        Capability::Contacts,
        Capability::Device,
        Capability::Upsampling,
    ],
    params: &[],
    bind: |input| Ok(Box::new(ProjectiveSkin::bind(input)?)),
});

/// The simulation and the map from its vertices to the source vertices.
struct ProjectiveSkin {
    projective: Projective,
    /// Simulation mesh of the last frame.
    simulated: Vec<Point>,
    source_map: SourceMap,
    /// Whether upsampling uses the same guide as the simulation.
    shares_guide: bool,
    /// Linear blend skinning for the meshes that are not simulated (props), if there are any.
    props: Option<LinearBlend>,
    upsampling_ms: f64,
    /// Whether a device computed the last frame.
    is_presented: bool,
}

impl ProjectiveSkin {
    fn bind(input: &BindInput<'_>) -> Result<Self, BindError> {
        let subject = input.subject;
        let all_simulated = subject.skin.skin_from_source.iter().all(Option::is_some);
        let projective = Projective::bind(subject, input.physics)?;
        let source_map = SourceMap::bind(subject, input.normals, input.progress)?;
        let guide = projective.guide();
        Ok(Self {
            shares_guide: guide.is_some_and(|guide| source_map.is_guided_by(guide)),
            projective,
            simulated: subject.sim().mesh.positions.clone(),
            source_map,
            props: (!all_simulated)
                .then(|| LinearBlend::bind(&subject.character, subject.mesh_weights())),
            upsampling_ms: 0.0,
            is_presented: false,
        })
    }
}

impl Skinner for ProjectiveSkin {
    fn skin(&mut self, frame: &Frame<'_>, out: &mut [Point]) -> Result<(), SkinError> {
        self.upsampling_ms = 0.0;
        let Self {
            projective,
            source_map,
            ..
        } = self;
        let pose_is_known = !projective.carries_joints();
        // Threads that one of them leaves waiting help the other.
        let (followed, ()) = rayon::join(
            || projective.follow(frame),
            || {
                if pose_is_known {
                    source_map.prepare(frame.world_from_joint);
                }
            },
        );
        followed?;
        self.is_presented = self.projective.present(frame.world_from_joint);
        if self.is_presented {
            return Ok(());
        }
        self.projective.write(&mut self.simulated);
        if let Some(props) = &mut self.props {
            props.skin(frame, out)?;
        }
        let start = std::time::Instant::now();
        self.projective.carry_joints(frame.world_from_joint);
        let world_from_joint = self.projective.carried_joints(frame.world_from_joint);
        let posed = self.projective.guide_frame_of(world_from_joint);
        self.source_map.follow(
            &self.simulated,
            world_from_joint,
            posed.filter(|_| self.shares_guide),
            out,
        );
        self.upsampling_ms = start.elapsed().as_secs_f64() * 1e3;
        Ok(())
    }

    fn reset(&mut self) {
        self.projective.reset();
    }

    fn save(&mut self) -> MethodState {
        let saved = self.projective.save();
        let bytes = saved.heap_bytes();
        MethodState::of(saved, bytes)
    }

    fn restore(&mut self, state: &MethodState) -> Result<(), StateError> {
        self.projective.restore(state.get()?)?;
        self.projective.write(&mut self.simulated);
        Ok(())
    }

    fn is_at_rest(&self) -> bool {
        self.projective.is_asleep()
    }

    fn set_physics(&mut self, physics: &Params) -> Result<(), BindError> {
        Ok(self.projective.set_params(physics)?)
    }

    fn set_factors(&mut self, factors: &FleshFactors) -> Result<(), BindError> {
        Ok(self.projective.set_factors(factors)?)
    }

    fn normals_into(&self, normals: &mut [Vec3]) {
        self.source_map.normals_into(normals);
    }

    fn has_all_normals(&self) -> bool {
        self.source_map.carries_all_normals()
    }

    fn simulated(&self) -> &[Point] {
        &self.simulated
    }

    fn explain(&self, vertex: usize) -> Vec<Term> {
        self.projective.explain(vertex, &self.simulated)
    }

    fn times(&self) -> Option<StepTimes> {
        Some(StepTimes {
            upsampling_ms: self.upsampling_ms,
            ..self.projective.times()
        })
    }

    fn projective(&self) -> Option<&Projective> {
        Some(&self.projective)
    }

    fn projective_mut(&mut self) -> Option<&mut Projective> {
        Some(&mut self.projective)
    }

    fn on_device(&self) -> Option<&dyn OnDevice> {
        (!self.projective.is_guided()).then_some(self as &dyn OnDevice)
    }

    fn on_device_mut(&mut self) -> Option<&mut dyn OnDevice> {
        (!self.projective.is_guided()).then_some(self as &mut dyn OnDevice)
    }
}

impl OnDevice for ProjectiveSkin {
    fn recipe(&self, subject: &Subject, groups: &NormalGroups) -> Recipe {
        let blend = LinearBlend::bind(&subject.character, subject.mesh_weights());
        Recipe::simulated(subject, &self.source_map, &blend.parts, groups)
    }

    fn set_device(&mut self, device: Option<AnyDevice>) {
        match device {
            Some(AnyDevice::Flesh(device)) => self.projective.set_device(Some(device)),
            Some(AnyDevice::Surface(_)) => {}
            None => self.projective.set_device(None),
        }
    }

    fn has_device(&self) -> bool {
        self.projective.has_device()
    }

    fn is_active(&self) -> bool {
        self.projective.is_on_device()
    }

    fn is_presented(&self) -> bool {
        self.is_presented
    }

    fn take_fault(&mut self) -> Option<DeviceError> {
        self.projective.take_fault()
    }

    fn fetch(&mut self, positions: &mut [Point], normals: &mut [Vec3]) -> Fetched {
        if self
            .projective
            .fetch(positions, normals, &mut self.simulated)
        {
            Fetched::All
        } else {
            Fetched::Nothing
        }
    }
}
