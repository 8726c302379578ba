//! Picking in edit mode.

use egui::Pos2;

use super::landmarks::{Fitting, LandmarkHandle};
use super::{EditView, Volume};
use crate::app::viewport::gizmo::distance_to_segment;
use crate::app::viewport::screen_map::ScreenMap;
use crate::math::Vec64;
use crate::rig::edit::{Placed, RigBone};

/// Pick radius of a joint, points.
const JOINT_REACH: f32 = 10.0;
/// Pick radius of a leaf's tail.
const TAIL_REACH: f32 = 8.0;
/// Pick radius of a bone.
const BONE_REACH: f32 = 5.0;
/// Pick radius of a volume's ring.
const RING_REACH: f32 = 5.0;
/// Pick radius of a landmark.
const LANDMARK_REACH: f32 = 14.0;
/// Number of corners of a drawn ring.
const CORNERS: usize = 48;

/// The item under the pointer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PickedItem {
    /// A joint.
    Joint(usize),
    /// The end of the bone of a leaf.
    Tail(usize),
    /// A bone, at a fraction of its length.
    Bone {
        /// The bone.
        bone: RigBone,
        /// 0..=1 from its start.
        at: f64,
    },
    /// The ring of the volume of a joint's bone.
    Ring(usize),
    /// Flesh: where a joint would be placed.
    Flesh(Placed),
    /// A landmark of the template, or its mirrored counterpart.
    Landmark(LandmarkHandle),
}

/// The landmark under the pointer; a landmark before a counterpart at the same position.
pub(super) fn landmark(
    map: &ScreenMap,
    pointer: Pos2,
    fitting: &Fitting,
    view: &EditView<'_>,
) -> Option<PickedItem> {
    let near = fitting
        .handles(view.mirror)
        .filter_map(|(handle, at)| Some((handle, map.project(&at)?.distance(pointer))));
    let nearest = near
        .filter(|(_, distance)| *distance <= LANDMARK_REACH)
        .min_by(|a, b| a.1.total_cmp(&b.1));
    nearest.map(|(handle, _)| PickedItem::Landmark(handle))
}

/// The item under the pointer; small items have priority.
pub(super) fn pick(map: &ScreenMap, pointer: Pos2, view: &EditView<'_>) -> Option<PickedItem> {
    let nearest = |reach: f32, things: &mut dyn Iterator<Item = (usize, Option<Pos2>)>| {
        let near = things
            .filter_map(|(index, at)| Some((index, at?.distance(pointer))))
            .filter(|(_, distance)| *distance <= reach);
        near.min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(index, _)| index)
    };
    let joints = view.rig.joints();
    if let Some(joint) = nearest(
        JOINT_REACH,
        &mut joints
            .iter()
            .enumerate()
            .map(|(index, joint)| (index, map.project(&joint.position))),
    ) {
        return Some(PickedItem::Joint(joint));
    }
    let mut tails =
        (0..joints.len()).filter_map(|joint| Some((joint, map.project(&view.tail(joint)?))));
    if let Some(joint) = nearest(TAIL_REACH, &mut tails) {
        return Some(PickedItem::Tail(joint));
    }
    if let Some(volume) = view
        .ring()
        .filter(|volume| is_on_ring(map, pointer, volume))
    {
        return Some(PickedItem::Ring(volume.joint));
    }
    let bones = view.rig.bones().filter_map(|(bone, [a, b])| {
        let (from, to) = (map.project(&a)?, map.project(&b)?);
        Some((bone, from, to, distance_to_segment(pointer, from, to)))
    });
    let bone = bones
        .filter(|(.., distance)| *distance <= BONE_REACH)
        .min_by(|a, b| a.3.total_cmp(&b.3));
    if let Some((bone, from, to, _)) = bone {
        let along = to - from;
        let at = if along.length_sq() > 0.0 {
            ((pointer - from).dot(along) / along.length_sq()).clamp(0.0, 1.0)
        } else {
            0.5
        };
        return Some(PickedItem::Bone {
            bone,
            at: f64::from(at),
        });
    }
    flesh(map, pointer, view).map(PickedItem::Flesh)
}

/// Where a joint would be placed.
pub(super) fn flesh(map: &ScreenMap, pointer: Pos2, view: &EditView<'_>) -> Option<Placed> {
    let ray = map.ray(pointer);
    view.placer?.under(&ray.origin, &ray.direction)
}

/// The ring around the middle of a volume's bone, on the screen.
pub(super) fn ring_corners(map: &ScreenMap, volume: &Volume) -> Vec<Option<Pos2>> {
    let [a, b] = volume.segment;
    let axis = (b - a).try_normalize(1e-12).unwrap_or_else(Vec64::y);
    let side = if axis.x.abs() < 0.6 {
        Vec64::x()
    } else {
        Vec64::y()
    };
    let u = axis.cross(&side).normalize();
    let v = axis.cross(&u);
    let middle = nalgebra::center(&a, &b);
    (0..=CORNERS)
        .map(|corner| {
            let angle = std::f64::consts::TAU * corner as f64 / CORNERS as f64;
            map.project(&(middle + (u * angle.cos() + v * angle.sin()) * volume.radius))
        })
        .collect()
}

fn is_on_ring(map: &ScreenMap, pointer: Pos2, volume: &Volume) -> bool {
    let corners = ring_corners(map, volume);
    corners.windows(2).any(|pair| {
        pair[0]
            .zip(pair[1])
            .is_some_and(|(a, b)| distance_to_segment(pointer, a, b) <= RING_REACH)
    })
}
