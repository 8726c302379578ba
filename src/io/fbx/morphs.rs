//! Blend shapes → morphs: one for each channel of a mesh's blend deformers, with its in-between shapes.
//!
//! A weight is the deform percentage over 100. Differences of normals are not read.

use std::collections::HashMap;

use nalgebra::SVector;

use super::stacks::{SampledStack, channel_of, key_times};
use crate::character::{Morph, MorphShape, MorphTarget};
use crate::math::Vec3;
use crate::rig::{Curve, Interpolation, MorphTrack};

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
    pub(super) fn tracks(&self, scene: &ufbx::Scene, stack: &SampledStack<'_>) -> Vec<MorphTrack> {
        let mut tracks = Vec::new();
        for element in &stack.root.elements {
            let (Some(controls), Some(percent), Some(channel)) = (
                self.of_channel.get(&element.element_id),
                (element.props.iter()).find(|prop| &*prop.name == "DeformPercent"),
                (scene.blend_channels.iter())
                    .find(|channel| channel.element.element_id == element.element_id),
            ) else {
                continue;
            };
            let weight = |time: f64| {
                let time = time + stack.start_secs;
                SVector::<f64, 1>::new(ufbx::evaluate_blend_weight(stack.anim, channel, time))
            };
            let times = key_times(percent.keys.iter().map(|key| (key.time, key.flags)));
            let Some(curve) = channel_of(stack, &times, percent.constant_value, &weight, false)
            else {
                continue;
            };
            for &control in controls {
                let track = relative(control, &curve, self.morphs[control].rest_weight);
                let sound = track.curve.values.iter().all(|value| value.is_finite());
                if sound && track.curve.values.iter().any(|value| value.abs() > 1e-9) {
                    tracks.push(track);
                }
            }
        }
        tracks
    }
}

/// A curve of weights relative to rest; tangents are differences.
fn relative(control: usize, curve: &Curve<SVector<f64, 1>>, rest: f64) -> MorphTrack {
    let cubic = curve.interpolation == Interpolation::Cubic;
    let value = |(index, value): (usize, &SVector<f64, 1>)| {
        let is_value = !cubic || index % 3 == 1;
        if is_value { value.x - rest } else { value.x }
    };
    MorphTrack {
        control,
        curve: Curve {
            times_secs: curve.times_secs.clone(),
            values: curve.values.iter().enumerate().map(value).collect(),
            interpolation: curve.interpolation,
        },
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
    let largest = sums
        .values()
        .map(nalgebra::Vector3::amax)
        .fold(0.0, f64::max);
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
