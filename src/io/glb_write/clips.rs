//! Clips → animations.

use gltf::json::accessor::Type;
use gltf::json::animation::{self, Animation, Property, Sampler, Target};
use gltf::json::validation::Checked;
use gltf::json::{Accessor, Index, Node};

use super::Writer;
use crate::math::Vec64;
use crate::rig::{Channel, Clip, Curve, Interpolation};

impl Writer {
    pub(super) fn clip(&mut self, clip: &Clip, joint_nodes: &[Index<Node>]) {
        let (mut samplers, mut channels) = (Vec::new(), Vec::new());
        // Tracks that share their times share the accessor.
        let mut known_times: Vec<(&[f64], Index<Accessor>)> = Vec::new();
        for track in &clip.tracks {
            let Some(&node) = joint_nodes.get(track.joint) else { continue };
            let (path, shape, times, interpolation, values) = match &track.channel {
                Channel::Translation(c) => (Property::Translation, Type::Vec3, &c.times_secs, c.interpolation, flat_vectors(c)),
                Channel::Scale(c) => (Property::Scale, Type::Vec3, &c.times_secs, c.interpolation, flat_vectors(c)),
                Channel::Rotation(c) => {
                    let values = c.values.iter().flat_map(|q| [q.i, q.j, q.k, q.w].map(|v| v as f32)).collect();
                    (Property::Rotation, Type::Vec4, &c.times_secs, c.interpolation, values)
                }
            };
            if times.is_empty() {
                continue;
            }
            let known = known_times.iter().find(|(known, _)| known == times).map(|&(_, accessor)| accessor);
            let input = known.unwrap_or_else(|| {
                let accessor = self.times(times);
                known_times.push((times, accessor));
                accessor
            });
            let output = self.floats(&values, None, shape);
            let interpolation = Checked::Valid(match interpolation {
                Interpolation::Step => animation::Interpolation::Step,
                Interpolation::Linear => animation::Interpolation::Linear,
                Interpolation::Cubic => animation::Interpolation::CubicSpline,
            });
            let target = Target { node, path: Checked::Valid(path), extensions: None, extras: <_>::default() };
            let sampler = Index::push(&mut samplers, Sampler { input, output, interpolation, extensions: None, extras: <_>::default() });
            channels.push(animation::Channel { sampler, target, extensions: None, extras: <_>::default() });
        }
        // glTF has no empty animations.
        if !channels.is_empty() {
            let name = Some(clip.name.clone());
            self.root.animations.push(Animation { name, samplers, channels, extensions: None, extras: <_>::default() });
        }
    }
}

fn flat_vectors(curve: &Curve<Vec64>) -> Vec<f32> {
    curve.values.iter().flat_map(|v| [v.x, v.y, v.z].map(|c| c as f32)).collect()
}
