//! Poses as transforms relative to the parent joints, the representation that is interpolated.

use crate::math::Affine;
use crate::rig::{Skeleton, Trs};

/// Transform of every joint relative to its parent joint.
pub(in crate::methods) fn relative_into(skeleton: &Skeleton, world: &[Affine], out: &mut Vec<Trs>) {
    let of = |(joint, own): (&crate::rig::Joint, &Affine)| {
        let parent = joint
            .parent
            .map_or_else(Affine::identity, |parent| world[parent]);
        Trs::from_unsheared(&(parent.try_inverse().unwrap_or_else(Affine::identity) * own))
    };
    out.clear();
    out.extend(skeleton.joints().iter().zip(world).map(of));
}

/// The inverse of [`relative_into`].
pub(in crate::methods) fn compose(skeleton: &Skeleton, relative: &[Trs], world: &mut Vec<Affine>) {
    world.clear();
    for (joint, own) in skeleton.joints().iter().zip(relative) {
        let parent = joint
            .parent
            .map_or_else(Affine::identity, |parent| world[parent]);
        world.push(parent * own.to_affine());
    }
}

/// Largest rotation of any joint between two poses, rad.
pub(in crate::methods) fn largest_turn(from: &[Trs], to: impl Iterator<Item = Trs>) -> f64 {
    from.iter()
        .zip(to)
        .map(|(a, b)| a.rotation.angle_to(&b.rotation))
        .fold(0.0, f64::max)
}
