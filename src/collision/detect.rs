//! Detects vertices inside wedges.
//!
//! Broad phase: boxes of vertex patches against boxes of all wedges of a bone. Middle phase: a grid in cylinder coordinates around every
//! bone, see [`super::bone_search`]. Narrow phase: the three tets between a triangle and its foot points, see [`super::wedge`].

use rayon::prelude::*;

use super::bone_search::BoneSearch;
use super::wedge::Aabb;
use super::{CollisionBody, PosedFootPoints};
use crate::math::Point;

/// A vertex inside a wedge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit {
    /// The vertex.
    pub vertex: u32,
    /// The skin triangle of the wedge.
    pub triangle: u32,
}

/// Number of calls in which every bone is searched once.
const ROUND_ROBIN_CALLS: usize = 2;
/// From this number of vertices on, bones are searched in parallel.
const MIN_PARALLEL_VERTICES: usize = 3000;

/// Scratch memory of the detection, reused from step to step.
#[derive(Debug, Clone, Default)]
pub struct Detector {
    /// Per patch, the box of its vertices.
    patches: Vec<Aabb>,
    bones: Vec<BoneSearch>,
    hits: Vec<Hit>,
    /// Number of calls so far.
    call: usize,
}

impl Detector {
    /// All vertices inside wedges of other bones, sorted by vertex. Allocates only when more are found than ever before.
    pub fn detect(
        &mut self,
        body: &CollisionBody,
        positions: &[Point],
        foot_points: &PosedFootPoints,
    ) -> &[Hit] {
        self.search(body, positions, foot_points, 1)
    }

    /// As [`Self::detect`], but searches only some of the bones per call, in turn: for positions that change little between calls.
    pub fn detect_round_robin(
        &mut self,
        body: &CollisionBody,
        positions: &[Point],
        foot_points: &PosedFootPoints,
    ) -> &[Hit] {
        // A bone that was never searched is searched at once.
        let period = if self.bones.len() == body.bones.len() {
            ROUND_ROBIN_CALLS
        } else {
            1
        };
        self.search(body, positions, foot_points, period)
    }

    /// Clears the results.
    pub fn clear(&mut self) {
        self.bones.clear();
        self.call = 0;
    }

    fn search(
        &mut self,
        body: &CollisionBody,
        positions: &[Point],
        foot_points: &PosedFootPoints,
        period: usize,
    ) -> &[Hit] {
        let Self {
            patches,
            bones,
            hits,
            call,
        } = self;
        *call += 1;
        let call = *call;
        patches.clear();
        patches.extend(
            body.patches
                .iter()
                .map(|patch| Aabb::of(patch.vertices.iter().map(|&v| &positions[v as usize]))),
        );
        bones.resize_with(body.bones.len(), BoneSearch::default);
        let work = |(bone, search): (usize, &mut BoneSearch)| {
            if (bone + call) % period == 0 {
                search.search(bone, body, positions, foot_points, patches);
            }
        };
        if positions.len() >= MIN_PARALLEL_VERTICES {
            bones.par_iter_mut().enumerate().for_each(work);
        } else {
            bones.iter_mut().enumerate().for_each(work);
        }
        hits.clear();
        if hits.capacity() == 0 {
            hits.reserve(positions.len());
        }
        for search in bones {
            hits.extend_from_slice(&search.hits);
        }
        hits.sort_unstable();
        hits
    }
}
