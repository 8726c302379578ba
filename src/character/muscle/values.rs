//! The numbers of a muscle, each declared once: for text, sliders and the range that it is kept in.

use super::MuscleShape;
use crate::param::{ParamKind, ParamSpec};

/// A number of [`MuscleShape`]: its declaration in the unit that is shown, and where it is stored.
#[derive(Debug, Clone, Copy)]
pub struct MuscleValue {
    /// Key, label, range and default, in the shown unit.
    pub spec: ParamSpec,
    /// The stored value for 1 of the shown unit.
    unit: f64,
    field: fn(&mut MuscleShape) -> &mut f64,
}

impl MuscleValue {
    /// The value in the shown unit.
    #[must_use]
    pub fn get(&self, shape: &MuscleShape) -> f64 {
        let mut shape = *shape;
        *(self.field)(&mut shape) / self.unit
    }

    const fn in_degrees(self) -> Self {
        Self {
            spec: ParamSpec {
                unit: "°",
                ..self.spec
            },
            unit: DEGREE,
            ..self
        }
    }

    /// Sets the value, given in the shown unit.
    pub fn set(&self, shape: &mut MuscleShape, shown: f64) {
        *(self.field)(shape) = shown * self.unit;
    }
}

const DEGREE: f64 = std::f64::consts::PI / 180.0;

/// All numbers, in the order of the panel.
pub const MUSCLE_VALUES: [MuscleValue; 8] = [
    MuscleValue {
        field: |shape| &mut shape.from,
        ..plain(
            "from",
            "Begins at",
            [0.0, 1.0],
            0.15,
            "Where the muscle begins along the limb: 0 is at the joint of its bone, 1 at the other end",
        )
    },
    MuscleValue {
        field: |shape| &mut shape.to,
        ..plain(
            "to",
            "Ends at",
            [0.0, 1.0],
            0.9,
            "Where it ends along the limb",
        )
    },
    MuscleValue {
        field: |shape| &mut shape.angle,
        ..plain(
            "angle",
            "Angle",
            [-180.0, 180.0],
            0.0,
            "Where it is about the limb: 0 is the side that the driver bends to, 180 the other one",
        )
        .in_degrees()
    },
    MuscleValue {
        field: |shape| &mut shape.depth,
        ..plain(
            "depth",
            "Off the axis",
            [0.0, 1.5],
            0.45,
            "How far its middle is from the axis of the limb: 1 is on the skin",
        )
    },
    MuscleValue {
        field: |shape| &mut shape.thickness,
        ..plain(
            "thickness",
            "Thickness",
            [0.05, 1.5],
            0.5,
            "Half its width at rest, in radii of the limb",
        )
    },
    MuscleValue {
        field: |shape| &mut shape.bulge,
        ..plain(
            "bulge",
            "Swells by",
            [-0.8, 2.0],
            0.7,
            "How much wider it gets as the driver bends, as a part of its width; below 0 it gets thinner",
        )
    },
    MuscleValue {
        field: |shape| &mut shape.range[0],
        ..plain(
            "range",
            "Swells from",
            [0.0, 180.0],
            20.0,
            "Bend of the driver, away from rest, from which on it swells",
        )
        .in_degrees()
    },
    MuscleValue {
        field: |shape| &mut shape.range[1],
        ..plain(
            "range",
            "Full at",
            [0.0, 180.0],
            120.0,
            "Bend of the driver at which it has swollen fully",
        )
        .in_degrees()
    },
];

const fn plain(
    key: &'static str,
    label: &'static str,
    range: [f64; 2],
    default: f64,
    doc: &'static str,
) -> MuscleValue {
    MuscleValue {
        spec: ParamSpec {
            key,
            label,
            unit: "",
            kind: ParamKind::Real,
            range,
            default,
            doc,
        },
        unit: 1.0,
        field: |shape| &mut shape.from,
    }
}
