//! Rigid skinning: every vertex follows its strongest joint.

use super::Subject;
use super::direct::Direct;
use super::lbs::LinearBlend;
use super::registry::{Capability, Descriptor, MethodId, Requirement};

impl MethodId {
    /// Rigid skinning: every vertex follows its strongest joint.
    pub const RIGID: Self = METHOD;
}

pub(super) const METHOD: MethodId = MethodId::of(&Descriptor {
    id: "rigid",
    label: "Rigid",
    short_label: "Rigid",
    doc: "Every vertex follows its strongest joint; shows what belongs to which joint.",
    cost: "0.2 ms",
    source: "",
    departures: &[],
    needs: &[Requirement::Weights],
    capabilities: &[Capability::Device],
    params: &[],
    bind: |input| Ok(Box::new(Direct::new(bind(input.subject)))),
});

fn bind(subject: &Subject) -> LinearBlend {
    LinearBlend::bind_rigid(&subject.character, subject.mesh_weights())
}
