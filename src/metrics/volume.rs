//! Change of the volume that the skin encloses.
//!
//! Signed volume of all parts, each about a corner of its own. A part with holes has the volume of its cones to the corner, which
//! follows rigid motions too.

use super::{Better, Measure, MeasuredFrame, Metric, Quantity, RestSkin, Unit};
use crate::mesh::{Topology, TriMesh, checkup};
use crate::progress::{Cancelled, Progress};

/// A volume below this part of the cube of the size counts as none.
const NO_VOLUME: f64 = 1e-9;

/// The metric.
pub static METRIC: Metric = Metric {
    quantities: &[Quantity {
        id: "volume_change",
        label: "Volume change",
        unit: Unit::Ratio,
        doc: "Change of the enclosed volume, as a part of the bind pose's: -0.03 has lost 3 %.",
        better: Better::NearZero,
    }],
    needs_reference: false,
    reads_flesh: false,
    bind: |rest, _| Ok(Box::new(VolumeChange::new(rest))),
};

struct VolumeChange {
    rest: Option<f64>,
}

impl VolumeChange {
    fn new(rest: &RestSkin) -> Self {
        let size = f64::from(rest.mesh.bounds().size());
        let volume = volume(&rest.mesh, &rest.topology);
        let enough = volume.is_finite() && volume.abs() > NO_VOLUME * size.powi(3);
        Self {
            rest: enough.then_some(volume),
        }
    }
}

impl Measure for VolumeChange {
    fn measure(
        &mut self,
        frame: &MeasuredFrame<'_>,
        _: &Progress,
    ) -> Result<Vec<Option<f64>>, Cancelled> {
        let now = volume(frame.skin, &frame.rest.topology);
        let change = self.rest.map(|rest| (now - rest) / rest.abs());
        Ok(vec![change.filter(|change| change.is_finite())])
    }
}

fn volume(mesh: &TriMesh, topology: &Topology) -> f64 {
    checkup::volumes(mesh, topology).iter().sum()
}
