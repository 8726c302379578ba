//! Morph targets of a character: sparse targets of its meshes, names, weights at rest, and the weights of clips.
//!
//! A document that is kept keeps its own. Elsewhere every shape of a morph becomes a target, because glTF has no in-between shapes:
//! the weights of clips are then those of the shapes. Of curves that differ in their key times or kinds, and of in-between shapes,
//! samples are written. Keys of expressions become those of the morphs that they bind.

use serde_json::{Value, json};

use super::blocks::ElementShape;
use super::draft::{GlbDraft, ViewUse, set};
use crate::character::{Character, MorphTarget, SourceDocument, SourcePrimitive};
use crate::io::shapes::{ShapeRef, sampled, tracks_of};
use crate::math::Vec3;
use crate::rig::{Clip, Interpolation, MorphTrack};

/// A node with its targets, in order.
#[derive(Debug, Clone)]
pub(super) struct TargetNode {
    node: usize,
    targets: Vec<ShapeRef>,
}

impl GlbDraft {
    /// Writes the targets of source meshes into the primitives of a node's mesh, one source for each entry of `primitives`. Returns
    /// what clips need; `None` without targets.
    pub(super) fn write_targets(
        &mut self,
        character: &Character,
        (node, mesh): (usize, usize),
        primitives: &[(usize, usize)],
    ) -> Option<TargetNode> {
        let mut targets = Vec::new();
        let (mut names, mut weights) = (Vec::new(), Vec::new());
        for (index, morph) in character.morphs.iter().enumerate() {
            let is_here = |target: &MorphTarget| {
                (primitives.iter()).any(|(source, _)| *source == target.mesh)
            };
            if !morph.shapes.iter().flat_map(|s| &s.targets).any(is_here) {
                continue;
            }
            for shape in 0..morph.shapes.len() {
                let target = ShapeRef {
                    morph: index,
                    shape,
                };
                targets.push(target);
                names.push(target.name(character));
                weights.push(target.rest_weight(character) as f32);
            }
        }
        if targets.is_empty() {
            return None;
        }
        // All targets of a primitive have the same attributes.
        for &(source, primitive) in primitives {
            let count = character.meshes[source].positions.len();
            let target_of = |written: &ShapeRef| {
                let shape = &character.morphs[written.morph].shapes[written.shape];
                shape.targets.iter().find(|target| target.mesh == source)
            };
            let has_normals = targets
                .iter()
                .filter_map(target_of)
                .any(|target| !target.normals.is_empty());
            let mut written = Vec::with_capacity(targets.len());
            for target in targets.iter().map(target_of) {
                let (vertices, offsets, normals) = target.map_or_else(Default::default, |target| {
                    (
                        &target.vertices[..],
                        &target.offsets[..],
                        &target.normals[..],
                    )
                });
                let mut attributes =
                    json!({"POSITION": self.sparse(vertices, offsets, count, true)});
                if has_normals {
                    let moved = &vertices[..normals.len()];
                    attributes["NORMAL"] = json!(self.sparse(moved, normals, count, false));
                }
                written.push(attributes);
            }
            let at = format!("/primitives/{primitive}");
            if let Some(primitive) = self.list_mut("meshes")[mesh].pointer_mut(&at) {
                set(primitive, "targets", json!(written));
            }
        }
        let written = &mut self.list_mut("meshes")[mesh];
        if weights.iter().any(|weight| *weight != 0.0) {
            set(written, "weights", json!(weights));
        }
        let mut extras = match written.get("extras") {
            Some(Value::Object(extras)) => extras.clone(),
            _ => serde_json::Map::new(),
        };
        extras.insert("targetNames".to_owned(), json!(names));
        set(written, "extras", Value::Object(extras));
        Some(TargetNode { node, targets })
    }

    /// The nodes of a document that is kept, whose targets are the character's morphs in order.
    pub(super) fn kept_targets(
        &self,
        character: &Character,
        document: &SourceDocument,
    ) -> Vec<TargetNode> {
        let (mut first, mut nodes) = (0, Vec::new());
        for group in document.meshes.chunk_by(|a, b| a.node == b.node) {
            let node = group[0].node;
            let mesh = self.list("nodes")[node]["mesh"].as_u64();
            let primitives = mesh
                .and_then(|mesh| self.list("meshes").get(mesh as usize))
                .map_or(&Value::Null, |mesh| &mesh["primitives"]);
            let count_of = |source: &SourcePrimitive| {
                primitives[source.primitive]["targets"]
                    .as_array()
                    .map_or(0, Vec::len)
            };
            let count = group.iter().map(count_of).max().unwrap_or(0);
            let targets = (first..first + count).map(|morph| ShapeRef { morph, shape: 0 });
            nodes.push(TargetNode {
                node,
                targets: targets.collect(),
            });
            first += count;
        }
        if first != character.morphs.len() {
            return Vec::new();
        }
        nodes
    }

    /// A sparse accessor of vectors that are 0 elsewhere; `bounded` adds the range, which positions need.
    fn sparse(&mut self, vertices: &[u32], values: &[Vec3], count: usize, bounded: bool) -> usize {
        let mut accessor = json!({"componentType": 5126, "count": count, "type": "VEC3"});
        if bounded {
            let mut ends = [[0.0_f32; 3]; 2];
            if vertices.len() == count && count > 0 {
                ends = [values[0].into(), values[0].into()];
            }
            for value in values {
                for axis in 0..3 {
                    ends[0][axis] = ends[0][axis].min(value[axis]);
                    ends[1][axis] = ends[1][axis].max(value[axis]);
                }
            }
            (accessor["min"], accessor["max"]) = (json!(ends[0]), json!(ends[1]));
        }
        if !vertices.is_empty() {
            let bytes: Vec<u8> = vertices.iter().flat_map(|v| v.to_le_bytes()).collect();
            let indices = self.view(&bytes, ViewUse::Other);
            let numbers = values.iter().flat_map(|v| [v.x, v.y, v.z]);
            let bytes: Vec<u8> = numbers.flat_map(f32::to_le_bytes).collect();
            let view = self.view(&bytes, ViewUse::Other);
            accessor["sparse"] = json!({
                "count": vertices.len(),
                "indices": {"bufferView": indices, "componentType": 5125},
                "values": {"bufferView": view},
            });
        }
        self.push("accessors", accessor)
    }

    /// The channels of a clip's weights: samplers and channels are appended to those of its joints.
    pub(super) fn weight_channels(
        &mut self,
        character: &Character,
        clip: &Clip,
        nodes: &[TargetNode],
        (samplers, channels): (&mut Vec<Value>, &mut Vec<Value>),
    ) {
        let own = character.tracks_of_morphs(clip);
        for TargetNode { node, targets } in nodes {
            let tracks = tracks_of(targets, &own);
            if tracks.iter().all(Option::is_none) {
                continue;
            }
            let Some((times, interpolation, values)) = key_by_key(character, targets, &tracks)
                .or_else(|| sampled_keys(character, targets, &tracks))
            else {
                continue;
            };
            let input = self.times(&times);
            let output = self.floats(&values, ViewUse::Other, ElementShape::Scalar);
            let target = json!({"node": node, "path": "weights"});
            channels.push(json!({"sampler": samplers.len(), "target": target}));
            samplers
                .push(json!({"input": input, "output": output, "interpolation": interpolation}));
        }
    }
}

type WeightKeys = (Vec<f64>, &'static str, Vec<f32>);

/// The curves' own keys, if all have the same times and interpolation, and no morph has in-between shapes.
fn key_by_key(
    character: &Character,
    targets: &[ShapeRef],
    tracks: &[Option<&MorphTrack>],
) -> Option<WeightKeys> {
    let first = &tracks.iter().flatten().next()?.curve;
    let alike = |track: &&MorphTrack| {
        track.curve.times_secs == first.times_secs
            && track.curve.interpolation == first.interpolation
    };
    let morph = |target: &ShapeRef| &character.morphs[target.morph];
    let is_plain = |target: &ShapeRef| {
        let shapes = &morph(target).shapes;
        shapes.len() == 1 && shapes[0].at == 1.0
    };
    if !tracks.iter().flatten().all(alike) || !targets.iter().all(is_plain) {
        return None;
    }
    let (name, parts) = match first.interpolation {
        Interpolation::Step => ("STEP", 1),
        Interpolation::Linear => ("LINEAR", 1),
        Interpolation::Cubic => ("CUBICSPLINE", 3),
    };
    let mut values = Vec::with_capacity(first.values.len() * targets.len());
    for index in 0..first.values.len() {
        for (target, track) in targets.iter().zip(tracks) {
            // Tangents are differences.
            let is_value = index % parts == parts / 2;
            let rest = if is_value {
                morph(target).rest_weight
            } else {
                0.0
            };
            let own = track.map_or(0.0, |track| track.curve.values[index]);
            values.push((own + rest) as f32);
        }
    }
    Some((first.times_secs.clone(), name, values))
}

/// Samples on straight lines.
fn sampled_keys(
    character: &Character,
    targets: &[ShapeRef],
    tracks: &[Option<&MorphTrack>],
) -> Option<WeightKeys> {
    let (times, values) = sampled(character, targets, tracks)?;
    Some((times, "LINEAR", values))
}
