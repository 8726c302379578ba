//! What metrics look at in a frame of a method.

use super::{Actor, Projective};
use crate::math::Affine;
use crate::metrics::{MeterFrame, energy::tissue_energy};
use crate::tissue::BaseFrame;

impl Actor {
    /// The present frame for [`crate::metrics::Meter::measure`]; `world_from_joint` are its joints.
    #[must_use]
    pub fn meter_frame<'a>(&'a self, world_from_joint: &'a [Affine]) -> MeterFrame<'a> {
        let projective = self.projective();
        MeterFrame {
            positions: self.positions(),
            world_from_joint,
            penetration: projective.and_then(Projective::penetration),
            tissue_energy: projective
                .and_then(|projective| self.tissue_energy(projective, world_from_joint)),
            reference: None,
        }
    }

    fn tissue_energy(&self, projective: &Projective, world_from_joint: &[Affine]) -> Option<f64> {
        let simulation = projective.simulation();
        let equations = simulation.equations();
        if !self.is_on_device() {
            return tissue_energy(&equations, simulation.positions(), simulation.base());
        }
        // The simulation is where it was when the device took over.
        let anchors = &self.subject().flesh().ok()?.tissue.anchors;
        let mut base = anchors.at_rest();
        anchors.place(world_from_joint, &mut BaseFrame::default(), &mut base);
        tissue_energy(&equations, self.simulated(), &base)
    }
}
