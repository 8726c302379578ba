//! What a clip says of its feet.

use crate::rig::SAME_SECS;

/// A hand or foot that is held in place during an interval of a clip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plant {
    /// The last joint of the limb: ankle or wrist.
    pub joint: usize,
    /// Start, seconds from the clip's start. The foot keeps the place that it has here.
    pub from_secs: f64,
    /// End, seconds.
    pub to_secs: f64,
}

impl Plant {
    /// Whether a time is within the interval.
    #[must_use]
    pub fn contains(&self, time_secs: f64) -> bool {
        (self.from_secs - SAME_SECS..=self.to_secs + SAME_SECS).contains(&time_secs)
    }
}

/// The rules of a clip.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FeetRules {
    /// By joint and time; the intervals of a joint do not overlap.
    plants: Vec<Plant>,
    /// Whether soles stay above the ground.
    pub above_ground: bool,
}

impl FeetRules {
    /// Rules with these intervals. Invalid intervals are dropped, and overlapping ones of a joint are joined.
    #[must_use]
    pub fn new(plants: impl IntoIterator<Item = Plant>, above_ground: bool) -> Self {
        let mut given: Vec<Plant> = plants
            .into_iter()
            .filter(|plant| plant.from_secs >= 0.0 && plant.to_secs.is_finite())
            .filter(|plant| plant.to_secs - plant.from_secs >= SAME_SECS)
            .collect();
        given.sort_by(|a, b| {
            let times = a.from_secs.total_cmp(&b.from_secs);
            a.joint.cmp(&b.joint).then(times)
        });
        let mut joined: Vec<Plant> = Vec::with_capacity(given.len());
        for plant in given {
            match joined.last_mut() {
                Some(last) if last.joint == plant.joint && last.contains(plant.from_secs) => {
                    last.to_secs = last.to_secs.max(plant.to_secs);
                }
                _ => joined.push(plant),
            }
        }
        Self {
            plants: joined,
            above_ground,
        }
    }

    /// The intervals, by joint and time.
    #[must_use]
    pub fn plants(&self) -> &[Plant] {
        &self.plants
    }

    /// The intervals of a joint, in order.
    pub fn plants_of(&self, joint: usize) -> impl Iterator<Item = &Plant> {
        self.plants.iter().filter(move |plant| plant.joint == joint)
    }

    /// Whether there is nothing to keep.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.plants.is_empty() && !self.above_ground
    }

    /// The rules with one more interval.
    #[must_use]
    pub fn with(&self, plant: Plant) -> Self {
        Self::new(
            self.plants.iter().copied().chain([plant]),
            self.above_ground,
        )
    }

    /// The rules without an interval.
    #[must_use]
    pub fn without(&self, plant: &Plant) -> Self {
        let kept = self.plants.iter().filter(|known| *known != plant);
        Self::new(kept.copied(), self.above_ground)
    }

    /// The rules on a skeleton with other joints; intervals of joints that are gone are dropped.
    #[must_use]
    pub fn on(&self, new_from_old: impl Fn(usize) -> Option<usize>) -> Self {
        let plants = self.plants.iter().filter_map(|plant| {
            let joint = new_from_old(plant.joint)?;
            Some(Plant { joint, ..*plant })
        });
        Self::new(plants, self.above_ground)
    }
}
