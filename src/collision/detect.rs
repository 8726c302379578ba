//! Which vertices lie in which wedges.
//!
//! Broad: boxes of patches of vertices against boxes of all wedges of a bone. Middle: a grid in cylinder coordinates around every
//! bone, see [`super::around`]. Narrow: the three tets between a triangle and its foot points, see [`super::wedge`].

use rayon::prelude::*;

use super::around::Around;
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

/// Calls in which every bone gets its turn.
const TURNS: usize = 2;
/// From so many vertices on, bones are searched in parallel.
const PARALLEL: usize = 3000;

/// The scratch of a detection, reused from step to step.
#[derive(Debug, Clone, Default)]
pub struct Detector {
    /// Per patch the box of its vertices.
    patches: Vec<Span>,
    bones: Vec<Around>,
    hits: Vec<Hit>,
    /// Calls so far.
    turn: usize,
}

impl Detector {
    /// All vertices inside of wedges of other bones, by vertex. Allocates nothing once it has seen as much.
    pub fn detect(&mut self, body: &CollisionBody, positions: &[Point], feet: &Feet) -> &[Hit] {
        self.search(body, positions, feet, 1)
    }

    /// The same, but only every other bone is searched anew, in turns: for positions that move little from call to call.
    pub fn detect_in_turns(
        &mut self,
        body: &CollisionBody,
        positions: &[Point],
        feet: &Feet,
    ) -> &[Hit] {
        // What was never searched can't wait for its turn.
        let turns = if self.bones.len() == body.bones.len() {
            TURNS
        } else {
            1
        };
        self.search(body, positions, feet, turns)
    }

    /// Forgets what was found.
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
        bones.resize_with(body.bones.len(), Around::default);
        let work = |(bone, around): (usize, &mut Around)| {
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
        for around in bones {
            hits.extend_from_slice(&around.hits);
        }
        hits.sort_unstable();
        hits
    }
}
