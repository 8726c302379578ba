//! What a weight method noticed.

use serde::{Deserialize, Serialize};

use crate::rig::Skeleton;

/// What a weight method noticed about its input and its result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WeightReport {
    /// Joints that turn no vertex of their own, because their bones lie too far outside of the skin or behind other bones, ascending.
    pub unseeded: Vec<u32>,
    /// Vertices that no bone reaches, which took the weights of other vertices.
    pub unreached: usize,
    /// Unknowns that were solved for, such as voxel nodes; 0 for methods that solve for none.
    pub unknowns: usize,
}

impl WeightReport {
    /// The findings as sentences, none if there is nothing to say.
    #[must_use]
    pub fn sentences(&self, skeleton: &Skeleton) -> Vec<String> {
        let mut sentences = Vec::new();
        if !self.unseeded.is_empty() {
            let names = self
                .unseeded
                .iter()
                .filter_map(|&joint| skeleton.joints().get(joint as usize));
            let names: Vec<&str> = names.map(|joint| joint.name.as_str()).collect();
            sentences.push(format!(
                "{} of {} joints move no skin of their own, because their bones are outside of it or behind other bones: {}",
                names.len(),
                skeleton.len(),
                shortened(&names)
            ));
        }
        if self.unreached > 0 {
            sentences.push(format!(
                "{} vertices that no bone reaches took the weights of the nearest ones",
                self.unreached
            ));
        }
        sentences
    }
}

/// The first names of a list, and how many follow.
fn shortened(names: &[&str]) -> String {
    const SHOWN: usize = 6;
    let shown = names.iter().take(SHOWN).copied();
    let text = shown.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}
