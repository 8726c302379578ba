//! A method that is no part of the crate: it twists the skin about an axis, the more the further the last joint is turned.

use std::sync::OnceLock;

use sinew::math::{Affine, Point, Vec64};
use sinew::methods::{
    BindError, BindInput, Descriptor, Frame, MethodId, SkinError, Skinner, register,
};
use sinew::param::{ParamKind, ParamSpec, ParamValues};
use sinew::rig::Trs;

/// Turns of the far end for each turn of the last joint.
pub const TURNS: ParamSpec = ParamSpec {
    key: "turns",
    label: "Turns",
    unit: "",
    kind: ParamKind::Real,
    range: [-4.0, 4.0],
    default: 1.0,
    doc: "How far the far end turns for each turn of the last joint.",
};

static TWIST: Descriptor = Descriptor {
    id: "twist",
    label: "Twist",
    short_label: "Twist",
    doc: "Twists the skin about the line from the first joint to the last.",
    cost: "0.2 ms",
    source: "",
    departures: &[],
    needs: &[],
    capabilities: &[],
    params: &[TURNS],
    bind: |input| Ok(Box::new(Twist::bind(input))),
};

/// The method, registered once for the whole process.
pub fn registered() -> MethodId {
    static METHOD: OnceLock<MethodId> = OnceLock::new();
    *METHOD.get_or_init(|| register(&TWIST).expect("its id is free"))
}

struct Twist {
    rest: Vec<Point>,
    /// Of every vertex, 0 at the first joint to 1 at the last.
    along: Vec<f64>,
    origin: Vec64,
    axis: nalgebra::Unit<Vec64>,
    /// Of the first joint.
    root_from_world: Affine,
    /// The last joint relative to the first, at rest.
    rest_turn: sinew::math::Quat,
    turns: f64,
}

fn turn_between(first: &Affine, last: &Affine) -> sinew::math::Quat {
    let inverse = first.try_inverse().unwrap_or_else(Affine::identity);
    Trs::from_affine(&(inverse * last)).rotation
}

impl Twist {
    fn bind(input: &BindInput<'_>) -> Self {
        let bind = input.subject.character.skeleton.bind_transforms();
        let identity = Affine::identity();
        let (first, last) = (
            bind.first().unwrap_or(&identity),
            bind.last().unwrap_or(&identity),
        );
        let origin = |joint: &Affine| Vec64::from(joint.matrix().fixed_view::<3, 1>(0, 3));
        let line = origin(last) - origin(first);
        let length = line.norm().max(f64::MIN_POSITIVE);
        let axis = nalgebra::Unit::try_new(line, 0.0).unwrap_or_else(Vec64::y_axis);
        let rest = input.subject.bind_positions.to_vec();
        let along = |p: &Point| {
            ((p.coords.cast::<f64>() - origin(first)).dot(&axis) / length).clamp(0.0, 1.0)
        };
        Self {
            along: rest.iter().map(along).collect(),
            rest,
            origin: origin(first),
            axis,
            root_from_world: first.try_inverse().unwrap_or_else(Affine::identity),
            rest_turn: turn_between(first, last),
            turns: input.values.get(&TURNS),
        }
    }
}

impl Skinner for Twist {
    fn skin(&mut self, frame: &Frame<'_>, out: &mut [Point]) -> Result<(), SkinError> {
        let (Some(first), Some(last)) = (
            frame.world_from_joint.first(),
            frame.world_from_joint.last(),
        ) else {
            out.copy_from_slice(&self.rest);
            return Ok(());
        };
        let motion = first * self.root_from_world;
        let angle = self.turns * turn_between(first, last).angle_to(&self.rest_turn);
        for ((out, rest), along) in out.iter_mut().zip(&self.rest).zip(&self.along) {
            let turn = nalgebra::Rotation3::from_axis_angle(&self.axis, angle * along);
            let turned = turn * (rest.coords.cast::<f64>() - self.origin) + self.origin;
            *out = (motion * nalgebra::Point3::from(turned)).cast::<f32>();
        }
        Ok(())
    }

    fn set_values(&mut self, values: &ParamValues) -> Result<(), BindError> {
        self.turns = values.get(&TURNS);
        Ok(())
    }
}
