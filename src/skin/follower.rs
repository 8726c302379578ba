//! From the simulation mesh to the source vertices.

use std::sync::Arc;

use super::Subject;
use crate::math::Point;
use crate::upsample::{Frames, Upsampling};

/// Takes what was simulated to every source vertex of the skin; with the room for one frame.
pub(super) struct Follower {
    subject: Arc<Subject>,
    upsampled: Option<Upsampled>,
}

struct Upsampled {
    upsampling: Arc<Upsampling>,
    frames: Frames,
    skin: Vec<Point>,
}

impl Follower {
    pub(super) fn new(subject: &Arc<Subject>) -> Self {
        let upsampled = subject.upsampling.as_ref().map(|upsampling| Upsampled {
            upsampling: upsampling.clone(),
            frames: upsampling.frames(),
            skin: subject.skin.mesh.positions.clone(),
        });
        Self { subject: subject.clone(), upsampled }
    }

    /// Writes the source vertices that are skin. Allocates nothing.
    pub(super) fn follow(&mut self, simulated: &[Point], source: &mut [Point]) {
        let skin = match &mut self.upsampled {
            None => simulated,
            Some(Upsampled { upsampling, frames, skin }) => {
                upsampling.positions_into(simulated, frames, skin);
                skin
            }
        };
        for (position, vertex) in source.iter_mut().zip(&self.subject.skin.skin_from_source) {
            if let Some(vertex) = vertex {
                *position = skin[*vertex as usize];
            }
        }
    }
}
