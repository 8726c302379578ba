//! Detects vertices inside wedges.
//!
//! Broad phase: boxes of vertex patches against boxes of all wedges of a bone. Middle phase: a grid in cylinder coordinates around every
//! bone, see [`super::bone_search`]. Narrow phase: the three tets between a triangle and its foot points, see [`super::wedge`].

use rayon::prelude::*;

use super::bone_search::BoneSearch;
use super::wedge::Span;
use super::{CollisionBody, Feet};
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
const TURNS: usize = 2;
/// From this number of vertices on, bones are searched in parallel.
const PARALLEL: usize = 3000;

/// Scratch memory of the detection, reused from step to step.
#[derive(Debug, Clone, Default)]
pub struct Detector {
    /// Per patch, the box of its vertices.
    patches: Vec<Span>,
    bones: Vec<BoneSearch>,
    hits: Vec<Hit>,
    /// Number of calls so far.
    turn: usize,
}

impl Detector {
    /// All vertices inside wedges of other bones, sorted by vertex. Allocates only when more are found than ever before.
    pub fn detect(&mut self, body: &CollisionBody, positions: &[Point], feet: &Feet) -> &[Hit] {
        self.search(body, positions, feet, 1)
    }

    /// As [`Self::detect`], but searches only some of the bones per call, in turn: for positions that change little between calls.
    pub fn detect_in_turns(
        &mut self,
        body: &CollisionBody,
        positions: &[Point],
        feet: &Feet,
    ) -> &[Hit] {
        // A bone that was never searched is searched at once.
        let turns = if self.bones.len() == body.bones.len() {
            TURNS
        } else {
            1
        };
        self.search(body, positions, feet, turns)
    }

    /// Clears the results.
    pub fn clear(&mut self) {
        self.bones.clear();
        self.turn = 0;
    }

    fn search(
        &mut self,
        body: &CollisionBody,
        positions: &[Point],
        feet: &Feet,
        turns: usize,
    ) -> &[Hit] {
        let Self {
            patches,
            bones,
            hits,
            turn,
        } = self;
        *turn += 1;
        let turn = *turn;
        patches.clear();
        patches.extend(
            body.patches
                .iter()
                .map(|patch| Span::of(patch.vertices.iter().map(|&v| &positions[v as usize]))),
        );
        bones.resize_with(body.bones.len(), BoneSearch::default);
        let work = |(bone, around): (usize, &mut BoneSearch)| {
            if (bone + turn) % turns == 0 {
                around.search(bone, body, positions, feet, patches);
            }
        };
        if positions.len() >= PARALLEL {
            bones.par_iter_mut().enumerate().for_each(work);
        } else {
            bones.iter_mut().enumerate().for_each(work);
        }
        hits.clear();
        if hits.capacity() == 0 {
            hits.reserve(positions.len());
        }
        for around in bones {
            hits.extend_from_slice(&around.hits);
        }
        hits.sort_unstable();
        hits
    }
}
