//! Morph targets of meshes, their weights at rest and their animation (glTF 2.0, 3.7.2.2 and 3.11).
//!
//! The cleaned JSON has no targets any more ([`super::clean`]), so the declarations are kept from the raw one. A target that cannot
//! be read stays at rest: the file is of use without it.

use std::collections::HashMap;

use super::accessor::Accessors;
use super::clips::interpolation_of;
use super::declared_morphs::{MorphDeclarations, TargetAccessors};
use super::document::number;
use crate::character::{
    Character, Morph, MorphShape, MorphTarget, Severity, SourceMesh, SourcePrimitive,
};
use crate::math::Vec3;
use crate::rig::{Curve, Interpolation, MorphTrack};
use gltf::json::Root;
use gltf::json::animation::{Animation, Property};
use gltf::json::validation::Checked;

/// The morphs of the nodes.
#[derive(Debug, Default)]
pub struct NodeMorphs {
    /// First morph and number of morphs.
    pub of_nodes: HashMap<usize, (usize, usize)>,
    /// Nodes of every mesh that has morphs.
    pub nodes_of_mesh: HashMap<usize, Vec<usize>>,
    /// In the order of the nodes.
    pub morphs: Vec<Morph>,
}

/// Reads the targets of all source meshes, one morph for each target of a node.
pub fn read(
    declared: &MorphDeclarations,
    root: &Root,
    accessors: &Accessors<'_>,
    (meshes, places): (&[SourceMesh], &[SourcePrimitive]),
    character: &mut Character,
) -> NodeMorphs {
    let mut read = NodeMorphs::default();
    let (mut first, mut unreadable) = (0, 0);
    for group in places.chunk_by(|a, b| a.node == b.node) {
        let (node, own) = (group[0].node, &meshes[first..first + group.len()]);
        let mesh_of_node = number(root.nodes[node].mesh);
        let Some(of_mesh) = mesh_of_node.and_then(|mesh| declared.meshes.get(mesh)) else {
            first += group.len();
            continue;
        };
        let targets_of = |place: &SourcePrimitive| of_mesh.targets.get(place.primitive);
        let count = group
            .iter()
            .filter_map(targets_of)
            .map(Vec::len)
            .max()
            .unwrap_or(0);
        let begin = read.morphs.len();
        for target in 0..count {
            let at_rest = declared.of_nodes.get(&node).unwrap_or(&of_mesh.weights);
            let mut targets = Vec::new();
            for (index, (place, mesh)) in group.iter().zip(own).enumerate() {
                let Some(wanted) = targets_of(place).and_then(|all| all.get(target)) else {
                    continue;
                };
                match target_of(*wanted, first + index, mesh, accessors) {
                    Some(found) => targets.extend(Some(found).filter(|t| !t.vertices.is_empty())),
                    None => unreadable += 1,
                }
            }
            let named = of_mesh.names.get(target).cloned().flatten();
            read.morphs.push(Morph {
                name: named
                    .filter(|name| !name.is_empty())
                    .unwrap_or_else(|| format!("morph {target}")),
                mesh: own[0].name.clone(),
                rest_weight: at_rest.get(target).copied().unwrap_or(0.0),
                shapes: vec![MorphShape { at: 1.0, targets }],
            });
        }
        if count > 0 {
            read.of_nodes.insert(node, (begin, count));
            if let Some(mesh) = mesh_of_node {
                read.nodes_of_mesh.entry(mesh).or_default().push(node);
            }
        }
        first += group.len();
    }
    if unreadable > 0 {
        character.note(
            Severity::Mended,
            unreadable,
            format!("morph targets left at rest because they are missing or have another number of vertices than their mesh: {unreadable}"),
        );
    }
    read
}

/// One target of one primitive; `None` if it cannot be read.
fn target_of(
    wanted: TargetAccessors,
    mesh: usize,
    of_mesh: &SourceMesh,
    accessors: &Accessors<'_>,
) -> Option<MorphTarget> {
    let count = of_mesh.positions.len();
    let vectors = |accessor: usize| {
        let read = accessors.reals::<3>(accessor).ok()?;
        (read.len() == count).then_some(read)
    };
    let none = vec![[0.0; 3]; count];
    let (positions, normals) = match (wanted.positions, wanted.normals) {
        (Some(positions), normals) => (vectors(positions)?, normals.and_then(vectors)),
        (None, Some(normals)) => (none, Some(vectors(normals)?)),
        (None, None) => return Some(MorphTarget::default()),
    };
    let turned = |vertex: usize| normals.as_ref().is_some_and(|all| all[vertex] != [0.0; 3]);
    let moved = |vertex: &u32| {
        let vertex = *vertex as usize;
        positions[vertex] != [0.0; 3] || turned(vertex)
    };
    let vertices: Vec<u32> = (0..count as u32).filter(moved).collect();
    let of = |all: &[[f32; 3]]| -> Vec<Vec3> {
        vertices
            .iter()
            .map(|&vertex| Vec3::from(all[vertex as usize]))
            .collect()
    };
    let sound = |normals: &Vec<Vec3>| normals.iter().flatten().all(|c| c.is_finite());
    Some(MorphTarget {
        mesh,
        offsets: of(&positions),
        normals: normals.as_deref().map(of).filter(sound).unwrap_or_default(),
        vertices,
    })
}

/// Adds the animations of weights to the clips, which are those of the document.
pub fn read_tracks(
    root: &Root,
    accessors: &Accessors<'_>,
    read: &NodeMorphs,
    character: &mut Character,
) {
    let mut left_out = 0;
    for (animation, clip) in root.animations.iter().zip(&mut character.clips) {
        for channel in &animation.channels {
            if channel.target.path != Checked::Valid(Property::MorphTargetWeights) {
                continue;
            }
            let Some(&(first, count)) = read.of_nodes.get(&channel.target.node.value()) else {
                continue;
            };
            let rest = |target: usize| read.morphs[first + target].rest_weight;
            match curves(animation, channel.sampler.value(), count, rest, accessors) {
                Some(curves) => {
                    for (target, curve) in curves.into_iter().enumerate() {
                        let end = curve.times_secs.last().copied().unwrap_or(0.0);
                        clip.duration_secs = clip.duration_secs.max(end);
                        if curve.values.iter().any(|value| *value != 0.0) {
                            clip.morphs.push(MorphTrack {
                                control: first + target,
                                curve,
                            });
                        }
                    }
                }
                None => left_out += 1,
            }
        }
    }
    if left_out > 0 {
        character.note(
            Severity::Mended,
            left_out,
            format!("animations of morph targets omitted because their keys are missing, not finite or not ascending: {left_out}"),
        );
    }
}

/// One curve for each target, relative to rest. Values of one key are consecutive: of cubic curves first the in-tangents of all
/// targets, then the values, then the out-tangents.
fn curves(
    animation: &Animation,
    sampler: usize,
    count: usize,
    rest: impl Fn(usize) -> f64,
    accessors: &Accessors<'_>,
) -> Option<Vec<Curve<f64>>> {
    let sampler = animation.samplers.get(sampler)?;
    let interpolation = interpolation_of(sampler)?;
    let times = accessors.reals::<1>(sampler.input.value()).ok()?;
    let values = accessors.reals::<1>(sampler.output.value()).ok()?;
    let parts = if interpolation == Interpolation::Cubic {
        3
    } else {
        1
    };
    let keys = times.len().min(values.len() / (parts * count));
    let times: Vec<f64> = times[..keys].iter().map(|t| f64::from(t[0])).collect();
    let values = &values[..keys * parts * count];
    let finite = times.iter().all(|t| t.is_finite()) && values.iter().all(|v| v[0].is_finite());
    let ascending = times.windows(2).all(|pair| pair[0] <= pair[1]);
    if keys == 0 || !finite || !ascending {
        return None;
    }
    let curve = |target: usize| {
        let value = |index: usize| {
            let (key, part) = (index / parts, index % parts);
            let number = f64::from(values[(key * parts + part) * count + target][0]);
            // Tangents are differences.
            let is_value = part == parts / 2;
            if is_value {
                number - rest(target)
            } else {
                number
            }
        };
        Curve {
            times_secs: times.clone(),
            values: (0..keys * parts).map(value).collect(),
            interpolation,
        }
    };
    Some((0..count).map(curve).collect())
}
