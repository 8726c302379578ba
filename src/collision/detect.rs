//! Detection of vertices inside wedges.
//!
//! Broad phase: bounding boxes of vertex patches against the bounding box of a bone's wedges. Middle phase: a grid in cylinder
//! coordinates around the bone, see [`super::bone_search`]. Narrow phase: the three tets between a triangle and its foot points,
//! see [`super::wedge`].

use rayon::prelude::*;

use super::bone_search::BoneSearch;
use super::wedge::Aabb;
use super::{CollisionBody, PosedFootPoints};
use crate::math::Point;

/// A vertex inside a wedge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit {
    /// Index of the vertex.
    pub vertex: u32,
    /// The skin triangle of the wedge.
    pub triangle: u32,
}

/// [`Detector::detect_round_robin`] searches every bone once in this number of calls.
const ROUND_ROBIN_CALLS: usize = 2;
/// Bones are searched in parallel from this number of vertices on; for fewer, starting tasks costs more than it saves.
const MIN_PARALLEL_VERTICES: usize = 3000;

/// Smallest number of patches per parallel task.
const MIN_PATCHES: usize = 32;

/// Buffers of the detection, reused from step to step.
#[derive(Debug, Clone, Default)]
pub struct Detector {
    /// Per patch, the bounding box of its vertices.
    patches: Vec<Aabb>,
    bones: Vec<BoneSearch>,
    hits: Vec<Hit>,
    /// Number of calls so far, for the round robin.
    call: usize,
}

impl Detector {
    /// Finds all vertices inside wedges of other bones, sorted by vertex. Allocates only when more are found than ever before.
    pub fn detect(
        &mut self,
        body: &CollisionBody,
        positions: &[Point],
        foot_points: &PosedFootPoints,
    ) -> &[Hit] {
        self.search(body, positions, foot_points, 1)
    }

    /// As [`Self::detect`], but searches only every second bone per call and keeps the results of the others. For positions that
    /// change little between calls.
    pub fn detect_round_robin(
        &mut self,
        body: &CollisionBody,
        positions: &[Point],
        foot_points: &PosedFootPoints,
    ) -> &[Hit] {
        // The first call searches all bones.
        let period = if self.bones.len() == body.bones.len() {
            ROUND_ROBIN_CALLS
        } else {
            1
        };
        self.search(body, positions, foot_points, period)
    }

    /// Number of searches since the results were last discarded. It says which bones are searched in turn.
    #[must_use]
    pub fn searches(&self) -> usize {
        self.call
    }

    /// Discards the results of all bones.
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
        patches.resize_with(body.patches.len(), Aabb::default);
        patches
            .par_iter_mut()
            .zip(&body.patches)
            .with_min_len(MIN_PATCHES)
            .for_each(|(aabb, patch)| {
                *aabb = Aabb::of(patch.vertices.iter().map(|&v| &positions[v as usize]));
            });
        bones.resize_with(body.bones.len(), BoneSearch::default);
        let work = |(bone, search): (usize, &mut BoneSearch)| {
            if (bone + call) % period == 0 {
                search.search(bone, body, positions, foot_points, patches);
            }
        };
        if positions.len() >= MIN_PARALLEL_VERTICES {
            // Some bones take much longer than others.
            let bones = bones.par_iter_mut().enumerate();
            bones.with_max_len(1).for_each(work);
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
