//! Joints as a `Skeleton` prim.

use super::layer::{Prim, Property, Value};
use super::names::SiblingNames;
use crate::math::{Affine, Quat, linear_part};
use crate::rig::{Skeleton, Trs};

/// Time codes of a second.
pub(super) const FPS: f64 = 30.0;

/// The joints as they are written: those of the skeleton, and those for transforms that a joint cannot hold.
pub(super) struct WrittenJoints {
    /// Path of each joint in the skeleton's tree, as "hips/spine".
    pub(super) tokens: Vec<String>,
    names: Vec<String>,
    rest: Vec<Affine>,
    bind: Vec<Affine>,
    /// The written joint of each joint.
    pub(super) of_joint: Vec<usize>,
    /// What is multiplied to the left of the animation of each joint.
    pub(super) base: Vec<Affine>,
}

impl WrittenJoints {
    pub(super) fn of(skeleton: &Skeleton) -> Self {
        let mut made = Self {
            tokens: Vec::new(),
            names: Vec::new(),
            rest: Vec::new(),
            bind: Vec::new(),
            of_joint: Vec::new(),
            base: Vec::new(),
        };
        let mut siblings = std::collections::HashMap::<Option<usize>, SiblingNames>::new();
        let mut add = |made: &mut Self, name: &str, parent: Option<usize>, rest, bind| {
            let names = siblings.entry(parent).or_default();
            let last = names.unique(name);
            let token = match parent {
                Some(parent) => format!("{}/{last}", made.tokens[parent]),
                None => last,
            };
            made.tokens.push(token);
            made.names.push(name.to_owned());
            made.rest.push(rest);
            made.bind.push(bind);
            made.tokens.len() - 1
        };
        for joint in skeleton.joints() {
            let mut parent = joint.parent.map(|parent| made.of_joint[parent]);
            let mut base = joint.parent_from_base;
            if !is_similarity(&base) {
                let rest = joint.rest.to_affine().try_inverse();
                let bind = rest.map_or(joint.world_from_bind, |rest| joint.world_from_bind * rest);
                let name = format!("{} base", joint.name);
                parent = Some(add(&mut made, &name, parent, base, bind));
                base = Affine::identity();
            }
            let rest = base * joint.rest.to_affine();
            let written = add(&mut made, &joint.name, parent, rest, joint.world_from_bind);
            made.of_joint.push(written);
            made.base.push(base);
        }
        made
    }

    pub(super) fn prim(&self) -> Prim {
        let mut prim = Prim::new("Skeleton", "Skeleton");
        let matrices = |list: &[Affine]| Value::Numbers(list.iter().flat_map(rows_of).collect());
        prim.properties.extend([
            Property::uniform("token[]", "joints", Value::Texts(self.tokens.clone())),
            Property::uniform("token[]", "jointNames", Value::Texts(self.names.clone())),
            Property::uniform("matrix4d[]", "bindTransforms", matrices(&self.bind)),
            Property::uniform("matrix4d[]", "restTransforms", matrices(&self.rest)),
        ]);
        prim
    }
}

/// A matrix row by row, as USD has it: for row vectors.
pub(super) fn rows_of(transform: &Affine) -> [f64; 16] {
    let matrix = transform.matrix();
    std::array::from_fn(|i| matrix[(i % 4, i / 4)])
}

/// Whether a transform is a rotation, one scale for all axes and a translation.
fn is_similarity(transform: &Affine) -> bool {
    let linear = linear_part(transform);
    let square = linear.transpose() * linear;
    let scale = square[(0, 0)];
    let rest = square - nalgebra::Matrix3::identity() * scale;
    scale > 0.0 && rest.amax() < 1e-9 * scale && linear.determinant() > 0.0
}

/// Translation, rotation and scale of a joint below its parent joint.
pub(super) fn local_of(base: &Affine, local: &Trs) -> Trs {
    if *base == Affine::identity() {
        return *local;
    }
    // A rotation with one scale before any other transform keeps its axes.
    let scale = linear_part(base).column(0).norm();
    let turn = Quat::from_matrix(&(linear_part(base) / scale));
    Trs {
        translation: base.transform_point(&local.translation.into()).coords,
        rotation: turn * local.rotation,
        scale: local.scale * scale,
    }
}
