//! Changes of physical parameters and materials.

use std::sync::Arc;

use super::Projective;
use super::floor::Floor;
use crate::character::FleshFactors;
use crate::collision::{CollisionBody, JointPairs};
use crate::dynamics::{Collisions, Contacts, FactorError, Materials, Params};
use crate::stages::{Flesh, Subject};
use crate::tissue::Guide;

impl Projective {
    /// Changes physical parameters.
    ///
    /// # Errors
    /// [`FactorError`]; the old parameters then stay.
    pub fn set_params(&mut self, params: &Params) -> Result<(), FactorError> {
        self.wake();
        if !same_equations(params, self.simulation.params()) {
            self.keep_on_cpu();
        }
        let other = params.collisions != self.simulation.params().collisions;
        if other {
            self.sync_from_device();
        }
        self.simulation.set_params(params)?;
        if other {
            self.simulation
                .set_contacts(contacts(&self.subject, &self.flesh, params));
            if let Some(contacts) = self.simulation.contacts_mut() {
                contacts.move_foot_points(self.frame.bones());
            }
        }
        if let Some(guided) = &mut self.guided {
            guided.set_floor(Floor::of(&self.subject, self.simulation.params().floor));
        }
        self.update_virtual_bones();
        Ok(())
    }

    /// Changes the materials of the flesh.
    ///
    /// # Errors
    /// [`FactorError`]; the old materials then stay.
    pub fn set_materials(&mut self, materials: &Materials) -> Result<(), FactorError> {
        self.wake();
        if materials != self.simulation.materials() {
            self.keep_on_cpu();
        }
        self.simulation.set_materials(materials)?;
        self.update_virtual_bones();
        Ok(())
    }

    /// Ends sleep: another equilibrium may hold.
    fn wake(&mut self) {
        self.end_reseat();
        (self.still_steps, self.seated) = (0, false);
    }

    pub(super) fn update_virtual_bones(&mut self) {
        if let Some(bones) = &mut self.virtual_bones {
            let simulation = &self.simulation;
            bones.set_params(
                &self.flesh.system,
                simulation.params(),
                simulation.materials(),
            );
        }
    }

    /// Changes the factors in the settings of bones, and what is painted. Settings that are not factors belong to the subject.
    ///
    /// # Errors
    /// [`FactorError`]; the old materials then stay.
    pub fn set_factors(&mut self, factors: &FleshFactors) -> Result<(), FactorError> {
        let guide = self.guide();
        let materials = materials_of(&self.subject, &self.flesh, factors, guide);
        self.set_materials(&materials)
    }
}

/// Whether a step over the same base gives the same result under both: collisions, time budget and floor may differ.
fn same_equations(a: &Params, b: &Params) -> bool {
    let of = |params: &Params| Params {
        collisions: Collisions::Off,
        budget_ms: None,
        floor: 0.0,
        ..params.sanitized()
    };
    of(a) == of(b)
}

/// Materials of the flesh by the settings of bones, what is painted, and the guide's weights, if it is guided.
pub(super) fn materials_of(
    subject: &Subject,
    flesh: &Flesh,
    factors: &FleshFactors,
    guide: Option<&Guide>,
) -> Materials {
    let mesh = &subject.sim().mesh;
    let mut materials = Materials::of_bones(&flesh.tissue, mesh, &factors.bones);
    if !factors.paint.is_empty() {
        materials.apply_paint(&factors.paint, &subject.source_from_sim());
    }
    match guide {
        Some(guide) => materials.release_hinges(mesh, guide.weights()),
        None => materials.hold_by_stiffness(),
    }
    materials
}

/// The contacts that the parameters ask for; `None` if collisions are off.
pub(super) fn contacts(subject: &Subject, flesh: &Flesh, params: &Params) -> Option<Contacts> {
    if params.collisions == Collisions::Off {
        return None;
    }
    let body = Arc::new(CollisionBody::new(&subject.sim().mesh, &flesh.tissue));
    let contacts = Contacts::new(body.clone(), &flesh.system, params, subject.size);
    if params.collisions == Collisions::Global {
        return Some(contacts);
    }
    Some(contacts.around_joints(Arc::new(JointPairs::find(&body, &flesh.tissue))))
}
