//! Joints and weights of a mesh.

use super::scene::Scene;
use super::skeleton_read::{SkeletonSource, UsdJoints};

/// A number as an index, if it is none below 0.
pub(super) fn index_of(number: f64) -> Option<usize> {
    (number >= 0.0).then_some(number as usize)
}

/// Joints and weights of a mesh as they are in the file.
pub(super) struct Influences<'a> {
    pub(super) source: &'a SkeletonSource<'a>,
    /// The joint of each index.
    joint_of: Vec<Option<usize>>,
    indices: &'a [f64],
    weights: &'a [f64],
    size: usize,
    is_constant: bool,
}

impl<'a> Influences<'a> {
    pub(super) fn of(scene: &Scene<'a>, joints: &'a UsdJoints<'a>, index: usize) -> Option<Self> {
        let prim = scene.prims[index];
        let property = prim.property("primvars:skel:jointIndices")?;
        let target = |prim: usize| scene.prims[prim].target("skel:skeleton");
        let target = scene.upwards(index).find_map(target);
        let bound = target.and_then(|path| scene.find(path));
        let found = joints
            .sources
            .iter()
            .find(|source| Some(source.prim) == bound);
        let source =
            found.or_else(|| joints.sources.first().filter(|_| joints.sources.len() == 1))?;
        let subset = prim.texts("skel:joints");
        let joint_of = if subset.is_empty() {
            source.joints.iter().map(|&joint| Some(joint)).collect()
        } else {
            let tokens = subset.iter();
            tokens
                .map(|token| source.by_token.get(token.as_str()).copied())
                .collect()
        };
        let indices = property.first()?.numbers();
        let is_constant = property.interpolation() == "constant";
        let said = property
            .meta("elementSize")
            .and_then(|v| v.numbers().first().copied());
        let points = prim.numbers("points").len() / 3;
        let size = match said.map(|size| size as usize).filter(|size| *size > 0) {
            Some(size) => size,
            None if is_constant => indices.len(),
            None => indices.len() / points.max(1),
        };
        (size > 0 && !indices.is_empty()).then_some(Self {
            source,
            joint_of,
            indices,
            weights: prim.numbers("primvars:skel:jointWeights"),
            size,
            is_constant,
        })
    }

    pub(super) fn row(&self, vertex: usize) -> Vec<(u32, f32)> {
        let start = if self.is_constant {
            0
        } else {
            vertex.saturating_mul(self.size)
        };
        let range = start..start.saturating_add(self.size);
        let indices = self.indices.get(range.clone()).unwrap_or_default();
        let weights = self.weights.get(range).unwrap_or_default();
        let influence = |(&index, &weight): (&f64, &f64)| {
            let joint = *self.joint_of.get(index_of(index)?)?;
            Some((joint? as u32, weight as f32))
        };
        indices.iter().zip(weights).filter_map(influence).collect()
    }

    /// The joint of a mesh that is bound to one as a whole.
    pub(super) fn only_joint(&self) -> Option<usize> {
        let row = self.row(0).into_iter().filter(|(_, weight)| *weight > 0.0);
        let row: Vec<(u32, f32)> = row.collect();
        match row[..] {
            [(joint, _)] if self.is_constant => Some(joint as usize),
            _ => None,
        }
    }
}
