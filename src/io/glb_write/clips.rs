//! Clips → animations.

use serde_json::json;

use super::blocks::ElementShape;
use super::draft::{GlbDraft, ViewUse};
use super::targets::TargetNode;
use crate::character::Character;
use crate::math::Vec64;
use crate::rig::{Channel, Clip, Curve, Interpolation};

impl GlbDraft {
    /// Appends a clip of the character. `targets` are the nodes with its morphs.
    pub(super) fn clip(
        &mut self,
        character: &Character,
        clip: &Clip,
        joint_nodes: &[usize],
        targets: &[TargetNode],
    ) {
        let (mut samplers, mut channels) = (Vec::new(), Vec::new());
        // Tracks with equal times share the accessor.
        let mut known_times: Vec<(&[f64], usize)> = Vec::new();
        for track in &clip.tracks {
            let Some(&node) = joint_nodes.get(track.joint) else {
                continue;
            };
            let (path, shape, times, interpolation, values) = match &track.channel {
                Channel::Translation(c) => (
                    "translation",
                    ElementShape::Vec3,
                    &c.times_secs,
                    c.interpolation,
                    flat_vectors(c),
                ),
                Channel::Scale(c) => (
                    "scale",
                    ElementShape::Vec3,
                    &c.times_secs,
                    c.interpolation,
                    flat_vectors(c),
                ),
                Channel::Rotation(c) => {
                    let values = c
                        .values
                        .iter()
                        .flat_map(|q| [q.i, q.j, q.k, q.w].map(|v| v as f32))
                        .collect();
                    (
                        "rotation",
                        ElementShape::Vec4,
                        &c.times_secs,
                        c.interpolation,
                        values,
                    )
                }
            };
            if times.is_empty() {
                continue;
            }
            let known = known_times
                .iter()
                .find(|(known, _)| known == times)
                .map(|&(_, accessor)| accessor);
            let input = known.unwrap_or_else(|| {
                let accessor = self.times(times);
                known_times.push((times, accessor));
                accessor
            });
            let output = self.floats(&values, ViewUse::Other, shape);
            let interpolation = match interpolation {
                Interpolation::Step => "STEP",
                Interpolation::Linear => "LINEAR",
                Interpolation::Cubic => "CUBICSPLINE",
            };
            channels
                .push(json!({"sampler": samplers.len(), "target": {"node": node, "path": path}}));
            samplers
                .push(json!({"input": input, "output": output, "interpolation": interpolation}));
        }
        self.weight_channels(character, clip, targets, (&mut samplers, &mut channels));
        // glTF forbids empty animations.
        if !channels.is_empty() {
            self.push(
                "animations",
                json!({"name": clip.name, "samplers": samplers, "channels": channels}),
            );
        }
    }
}

fn flat_vectors(curve: &Curve<Vec64>) -> Vec<f32> {
    curve
        .values
        .iter()
        .flat_map(|v| [v.x, v.y, v.z].map(|c| c as f32))
        .collect()
}
