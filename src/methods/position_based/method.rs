//! Both methods as skinners: they simulate the simulation mesh, and upsample it to the source vertices.

use std::time::Instant;

use super::flesh::PositionBased;
use super::options::{COMPLIANT, Options, PLAIN};
use crate::character::FleshFactors;
use crate::dynamics::Params;
use crate::math::{Point, Vec3};
use crate::methods::lbs::LinearBlend;
use crate::methods::registry::{BindInput, Capability, Descriptor, MethodId, Requirement};
use crate::methods::source_map::SourceMap;
use crate::methods::{
    BindError, Frame, MethodState, SkinError, Skinner, StateError, StepTimes, Term,
};
use crate::param::ParamValues;

impl MethodId {
    /// Plain position-based dynamics.
    pub const PBD: Self = PBD;
    /// Position-based dynamics with compliance.
    pub const XPBD: Self = XPBD;
}

const CAPABILITIES: &[Capability] = &[
    Capability::State,
    Capability::Physics,
    Capability::Upsampling,
];
const NEEDS: &[Requirement] = &[Requirement::Weights, Requirement::Tissue];

pub(in crate::methods) const PBD: MethodId = MethodId::of(&Descriptor {
    id: "pbd",
    label: "Position-based dynamics",
    short_label: "PBD",
    doc: "Edges and tets of the flesh are put right one after the other. For comparison: tets fold, and stiffness depends on the iterations. No self-contact.",
    cost: "15 to 30 ms",
    source: "Abu Rumman, Fratarcangeli, Position-Based Skinning for Soft Articulated Characters, CGF 2015; Müller, Heidelberger, Hennix, Ratcliff, Position Based Dynamics, JVCIR 2007",
    departures: &[
        "The tets are those of projective skinning, not tets between the skin and the bone lines.",
        "The skin is bound to linear blend skinning only if asked, with one stiffness for all vertices instead of painted ones.",
    ],
    needs: NEEDS,
    capabilities: CAPABILITIES,
    params: PLAIN,
    bind: |input| Ok(Box::new(PositionBasedSkin::bind(input, Options::plain)?)),
});

pub(in crate::methods) const XPBD: MethodId = MethodId::of(&Descriptor {
    id: "xpbd",
    label: "Position-based dynamics, compliant",
    short_label: "XPBD",
    doc: "Elastic flesh by constraints with compliance, in small steps: its stiffness is in pascals, as that of projective dynamics. No self-contact.",
    cost: "60 to 150 ms",
    source: "Macklin, Müller, Chentanez, XPBD, MIG 2016; Macklin, Storey, Lu, Terdiman, Chentanez, Jeschke, Müller, Small Steps in Physics Simulation, SCA 2019; Macklin, Müller, A Constraint-based Formulation of Stable Neo-Hookean Materials, MIG 2021",
    departures: &[
        "The strain of a tet is one constraint of nine numbers, the distance from the closest rotation, solved for together.",
        "A substep starts with the multipliers of strain of the one before.",
        "Tets that are inverted are opened again after every time step.",
    ],
    needs: NEEDS,
    capabilities: CAPABILITIES,
    params: COMPLIANT,
    bind: |input| {
        Ok(Box::new(PositionBasedSkin::bind(
            input,
            Options::compliant,
        )?))
    },
});

/// The simulation and the map from its vertices to the source vertices.
pub(super) struct PositionBasedSkin {
    pub(super) flesh: PositionBased,
    /// Simulation mesh of the last frame.
    simulated: Vec<Point>,
    source_map: SourceMap,
    /// Whether upsampling uses the same guide as the simulation.
    shares_guide: bool,
    /// Linear blend skinning for the meshes that are not simulated (props), if there are any.
    props: Option<LinearBlend>,
    upsampling_ms: f64,
}

impl PositionBasedSkin {
    pub(super) fn bind(
        input: &BindInput<'_>,
        options: fn(&ParamValues) -> Options,
    ) -> Result<Self, BindError> {
        let subject = input.subject;
        let all_simulated = subject.skin.skin_from_source.iter().all(Option::is_some);
        let mut flesh = PositionBased::bind(subject, input.physics, options(input.values))?;
        let source_map = SourceMap::bind(subject, input.normals, input.progress)?;
        let guide = flesh.motion().guide();
        Ok(Self {
            shares_guide: guide.is_some_and(|guide| source_map.is_guided_by(guide)),
            flesh,
            simulated: subject.sim().mesh.positions.clone(),
            source_map,
            props: (!all_simulated)
                .then(|| LinearBlend::bind(&subject.character, subject.mesh_weights())),
            upsampling_ms: 0.0,
        })
    }
}

impl Skinner for PositionBasedSkin {
    fn skin(&mut self, frame: &Frame<'_>, out: &mut [Point]) -> Result<(), SkinError> {
        self.upsampling_ms = 0.0;
        self.flesh.follow(frame)?;
        self.flesh.write(&mut self.simulated);
        if let Some(props) = &mut self.props {
            props.skin(frame, out)?;
        }
        let start = Instant::now();
        let motion = self.flesh.motion();
        let (carried, posed) = motion.carried(frame.world_from_joint);
        self.source_map.follow(
            &self.simulated,
            carried,
            posed.filter(|_| self.shares_guide),
            out,
        );
        self.upsampling_ms = start.elapsed().as_secs_f64() * 1e3;
        Ok(())
    }

    fn reset(&mut self) {
        self.flesh.reset();
    }

    fn save(&mut self) -> MethodState {
        let saved = self.flesh.save();
        let bytes = saved.heap_bytes();
        MethodState::of(saved, bytes)
    }

    fn restore(&mut self, state: &MethodState) -> Result<(), StateError> {
        self.flesh.restore(state.get()?)?;
        self.flesh.write(&mut self.simulated);
        Ok(())
    }

    fn is_at_rest(&self) -> bool {
        self.flesh.is_asleep()
    }

    fn set_values(&mut self, values: &ParamValues) -> Result<(), BindError> {
        self.flesh.set_values(values);
        Ok(())
    }

    fn set_physics(&mut self, physics: &Params) -> Result<(), BindError> {
        self.flesh.set_params(physics);
        Ok(())
    }

    fn set_factors(&mut self, factors: &FleshFactors) -> Result<(), BindError> {
        self.flesh.set_factors(factors);
        Ok(())
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
        self.flesh.explain(vertex)
    }

    fn times(&self) -> Option<StepTimes> {
        Some(StepTimes {
            upsampling_ms: self.upsampling_ms,
            ..self.flesh.times()
        })
    }
}
