//! From the welded skin to the source vertices.

use std::ops::Range;

use crate::math::Point;
use crate::methods::lbs::LinearBlend;
use crate::methods::{Frame, SkinError, Skinner, Subject};
use crate::weights::SkinWeights;

/// Which source vertices take their positions from a vertex of the skin, and how all others move.
pub(in crate::methods) struct Sources {
    /// Source vertex and its vertex of the skin.
    pairs: Vec<[u32; 2]>,
    /// The meshes of which some vertices are not skin: props, meshes that no joint moves, vertices without triangle. They follow their
    /// joints as in linear blend skinning.
    others: Vec<(Range<usize>, LinearBlend)>,
}

impl Sources {
    /// Vertices of the skin whose position is not finite, or that nothing moves, are left to linear blend skinning.
    pub(in crate::methods) fn of(subject: &Subject, weights: &SkinWeights) -> Self {
        let skin = &subject.skin;
        let follows = |skin_vertex: u32| {
            let position = &skin.mesh.positions[skin_vertex as usize];
            weights.strongest(skin_vertex as usize).is_some()
                && position.iter().all(|c| c.is_finite())
        };
        let mut first = 0;
        let (mut pairs, mut others) = (Vec::new(), Vec::new());
        let blends = LinearBlend::bind(&subject.character, subject.mesh_weights()).parts;
        for blend in blends {
            let range = first..first + blend.rest.len();
            first = range.end;
            let before = pairs.len();
            for source in range.clone() {
                let own = skin.skin_from_source.get(source).copied().flatten();
                if let Some(vertex) = own.filter(|&vertex| follows(vertex)) {
                    pairs.push([source as u32, vertex]);
                }
            }
            if pairs.len() - before < range.len() {
                others.push((range, LinearBlend { parts: vec![blend] }));
            }
        }
        Self { pairs, others }
    }

    /// Source vertices with their vertices of the skin; the others are blended linearly.
    pub(in crate::methods) fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    /// Places the vertices that are not skin.
    pub(in crate::methods) fn place_others(
        &mut self,
        frame: &Frame<'_>,
        out: &mut [Point],
    ) -> Result<(), SkinError> {
        for (range, blend) in &mut self.others {
            blend.skin(frame, &mut out[range.clone()])?;
        }
        Ok(())
    }

    /// Copies positions of the skin to its source vertices.
    pub(in crate::methods) fn copy(&self, skin: &[Point], out: &mut [Point]) {
        for &[source, vertex] in &self.pairs {
            out[source as usize] = skin[vertex as usize];
        }
    }
}
