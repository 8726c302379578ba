//! Blend shapes → morphs: one for each channel of a mesh's blend deformers, with its in-between shapes.
//!
//! A weight is the deform percentage over 100. Differences of normals are not read.

use std::collections::HashMap;

use crate::character::{Morph, MorphShape, MorphTarget};
use crate::math::Vec3;
use crate::rig::{Curve, MorphTrack};

/// The morphs of all meshes.
#[derive(Default)]
pub(super) struct FbxMorphs {
    pub(super) morphs: Vec<Morph>,
    /// Morphs of every channel, by its element; a mesh of several nodes has several.
    of_channel: HashMap<u32, Vec<usize>>,
}

/// Smaller displacements, relative to the largest, are rounding.
const LEAST_OFFSET: f64 = 1e-9;

impl FbxMorphs {
    /// Adds those of a mesh, which is the character's `index`-th. `copies` are the control points of the vertices after them.
    pub(super) fn add(&mut self, mesh: &ufbx::Mesh, index: usize, name: &str, copies: &[u32]) {
        let mut copies_of: HashMap<u32, Vec<u32>> = HashMap::new();
        for (vertex, point) in (mesh.vertices.len() as u32..).zip(copies) {
            copies_of.entry(*point).or_default().push(vertex);
        }
        let channels = mesh.blend_deformers.iter();
        for channel in channels.flat_map(|deformer| deformer.channels.iter()) {
            let mut shapes: Vec<MorphShape> = Vec::new();
            for key in &channel.keyframes {
                let at = key.target_weight;
                let is_usable = at.is_finite() && at != 0.0;
                if is_usable && !shapes.iter().any(|shape| shape.at == at) {
                    let target = target_of(&key.shape, index, mesh.vertices.len(), &copies_of);
                    shapes.push(MorphShape {
                        at,
                        targets: Some(target)
                            .filter(|target| !target.vertices.is_empty())
                            .into_iter()
                            .collect(),
                    });
                }
            }
            if shapes.is_empty() {
                continue;
            }
            shapes.sort_by(|a, b| a.at.total_cmp(&b.at));
            let known = self.of_channel.entry(channel.element.element_id);
            known.or_default().push(self.morphs.len());
            self.morphs.push(Morph {
                name: channel.element.name.to_string(),
                mesh: name.to_owned(),
                rest_weight: channel.weight,
                shapes,
            });
        }
    }

    /// The curves of weights of a sampled stack, relative to rest; those that stay at rest are left out.
    pub(super) fn tracks(&self, root: &ufbx::BakedAnim) -> Vec<MorphTrack> {
        let mut tracks = Vec::new();
        for element in &root.elements {
            let (Some(controls), Some(percent)) = (
                self.of_channel.get(&element.element_id),
                element.props.iter().find(|prop| &*prop.name == "DeformPercent"),
            ) else {
                continue;
            };
            let times: Vec<f64> = percent.keys.iter().map(|key| key.time).collect();
            let ascending = times.windows(2).all(|pair| pair[0] <= pair[1])
                && times.iter().all(|time| time.is_finite());
            if times.is_empty() || !ascending {
                continue;
            }
            for &control in controls {
                let rest = self.morphs[control].rest_weight;
                let weights = percent.keys.iter().map(|key| key.value.x / 100.0 - rest);
                let values: Vec<f64> = weights.collect();
                let sound = values.iter().all(|value| value.is_finite());
                if sound && values.iter().any(|value| value.abs() > 1e-9) {
                    let curve = Curve::linear(times.clone(), values);
                    tracks.push(MorphTrack { control, curve });
                }
            }
        }
        tracks
    }
}

fn target_of(
    shape: &ufbx::BlendShape,
    mesh: usize,
    points: usize,
    copies_of: &HashMap<u32, Vec<u32>>,
) -> MorphTarget {
    let mut sums: HashMap<u32, nalgebra::Vector3<f64>> = HashMap::new();
    let offsets = shape.offset_vertices.iter().zip(&shape.position_offsets);
    for (index, (&point, offset)) in offsets.enumerate() {
        let weight = shape.offset_weights.get(index).copied().unwrap_or(1.0);
        if (point as usize) < points {
            *sums.entry(point).or_default() += super::vec_of(offset) * weight;
        }
    }
    let largest = sums.values().map(|sum| sum.amax()).fold(0.0, f64::max);
    let mut moved: Vec<(u32, Vec3)> = Vec::new();
    for (point, sum) in sums {
        // A value that is not finite is kept, for the check of the whole character.
        if sum.amax() <= LEAST_OFFSET * largest {
            continue;
        }
        let offset = sum.cast::<f32>();
        moved.push((point, offset));
        let copies = copies_of.get(&point).map_or(&[][..], Vec::as_slice);
        moved.extend(copies.iter().map(|&copy| (copy, offset)));
    }
    moved.sort_unstable_by_key(|(vertex, _)| *vertex);
    MorphTarget {
        mesh,
        vertices: moved.iter().map(|(vertex, _)| *vertex).collect(),
        offsets: moved.iter().map(|(_, offset)| *offset).collect(),
        normals: Vec::new(),
    }
}
