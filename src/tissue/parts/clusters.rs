//! Clusters: small parts that touch each other move as one, such as an eye with its pupil and lashes, or the tufts on a
//! head.

use std::collections::BTreeMap;

use super::decide::PartDecision;
use super::measurements::PartMeasurements;
use super::{Parts, Place};
use crate::mesh::Bounds;

/// Parts touch if their distance is below this fraction of the smaller one's size.
const TOUCH_DISTANCE: f32 = 0.1;

/// Groups parts that touch. All members of a group that moves with one joint get the place of the larger part of its
/// area. Members that ride get a common cluster number.
pub(super) fn assign_clusters(
    decided: &mut [PartDecision],
    measured: &PartMeasurements<'_>,
    parts: &Parts,
) {
    let group = groups(decided, measured, parts);
    let mut areas: BTreeMap<(usize, usize), [f64; 2]> = BTreeMap::new();
    for (part, decided) in decided.iter().enumerate() {
        if let Some(joint) = decided.only_joint {
            areas.entry((group[part], joint)).or_default()
                [usize::from(decided.place == Place::Rides)] += parts.parts[part].area;
        }
    }
    let mut numbers: BTreeMap<usize, u32> = BTreeMap::new();
    for (part, decided) in decided.iter_mut().enumerate() {
        if let Some(joint) = decided.only_joint {
            let [rigid, rides] = areas[&(group[part], joint)];
            let place = if rigid > rides {
                Place::Rigid { joint }
            } else {
                Place::Rides
            };
            if place != decided.place {
                decided.reason = format!(
                    "{}; it does what the parts that touch it do",
                    decided.reason
                );
                (decided.place, decided.stiff) = (place, place == Place::Rides);
            }
        }
        if decided.place == Place::Rides && decided.stiff {
            let next = numbers.len() as u32;
            decided.cluster = Some(*numbers.entry(group[part]).or_insert(next));
        }
    }
}

/// For every part the smallest index in its group.
fn groups(decided: &[PartDecision], measured: &PartMeasurements<'_>, parts: &Parts) -> Vec<usize> {
    let joins = |part: &usize| decided[*part].stiff || decided[*part].only_joint.is_some();
    let mut sweep: Vec<usize> = (0..decided.len()).filter(joins).collect();
    let left = |part: &usize| parts.parts[*part].bounds.min.x;
    sweep.sort_by(|a, b| left(a).total_cmp(&left(b)).then(a.cmp(b)));
    let mut group: Vec<usize> = (0..decided.len()).collect();
    for (index, &a) in sweep.iter().enumerate() {
        let box_a = &parts.parts[a].bounds;
        for &b in &sweep[index + 1..] {
            let box_b = &parts.parts[b].bounds;
            if box_b.min.x > box_a.max.x + TOUCH_DISTANCE * box_a.size() {
                break;
            }
            let (root_a, root_b) = (root(&group, a), root(&group, b));
            if root_a != root_b
                && decided[a].only_joint == decided[b].only_joint
                && touch(measured, parts, a, b)
            {
                group[root_a.max(root_b)] = root_a.min(root_b);
            }
        }
    }
    (0..decided.len()).map(|part| root(&group, part)).collect()
}

fn root(group: &[usize], mut part: usize) -> usize {
    while group[part] != part {
        part = group[part];
    }
    part
}

/// Whether vertices of one part that lie inside or at the bounding box of the other come close to the other's surface.
fn touch(measured: &PartMeasurements<'_>, parts: &Parts, a: usize, b: usize) -> bool {
    let boxes = [&parts.parts[a].bounds, &parts.parts[b].bounds];
    let reach = TOUCH_DISTANCE * boxes[0].size().min(boxes[1].size());
    if (0..3).any(|c| {
        boxes[1].min[c] > boxes[0].max[c] + reach || boxes[0].min[c] > boxes[1].max[c] + reach
    }) {
        return false;
    }
    let positions = &measured.skin.mesh.positions;
    let within = |v: &&u32, other: &Bounds| {
        let p = &positions[**v as usize];
        (0..3).all(|c| p[c] >= other.min[c] - reach && p[c] <= other.max[c] + reach)
    };
    [(a, b), (b, a)].into_iter().any(|(this, other)| {
        let bounds = &parts.parts[other].bounds;
        let accept = |triangle: u32| measured.part_of_triangle(triangle) as usize == other;
        let near = |v: &u32| {
            measured
                .tree
                .closest(
                    &positions[*v as usize].cast::<f64>(),
                    f64::from(reach),
                    accept,
                )
                .is_some()
        };
        measured.members[this]
            .iter()
            .filter(|v| within(v, bounds))
            .any(near)
    })
}
