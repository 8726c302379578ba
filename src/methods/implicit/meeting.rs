//! The operator at a joint in a pose, for those who show it.

use super::operators::{Composed, Meets, NODES, Operator, Tables, deepest};
use crate::character::Meeting;

/// How the part of a joint meets the part that it hangs at, in a pose.
#[derive(Clone, Copy)]
pub struct JointMeeting {
    meets: Meets,
    asked: Meets,
    bend: f32,
    folded: f32,
    tables: &'static Tables,
}

impl JointMeeting {
    /// Nodes along a side of a slice.
    pub const NODES: usize = NODES;

    pub(super) fn new(
        [meets, asked]: [Meets; 2],
        [bend, folded]: [f32; 2],
        tables: &'static Tables,
    ) -> Self {
        Self {
            meets,
            asked,
            bend,
            folded,
            tables,
        }
    }

    /// The operator by which they meet: never [`Meeting::Usual`].
    #[must_use]
    pub fn operator(&self) -> Meeting {
        self.meets.operator.meeting()
    }

    /// Whether it is what the settings of the joint ask for, and not what more parts at the same place ask for.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.meets == self.asked
    }

    /// The operator that the settings of the joint ask for: never [`Meeting::Usual`].
    #[must_use]
    pub fn asked_operator(&self) -> Meeting {
        self.asked.operator.meeting()
    }

    /// The angle by which the bones are bent out of a straight line, rad.
    #[must_use]
    pub fn bend(&self) -> f32 {
        self.bend
    }

    /// The angles between the gradients, rad, from which on that begins to act and from which on it acts fully.
    #[must_use]
    pub fn asked_opening(&self) -> [f32; 2] {
        self.asked.opening
    }

    /// d for an angle between the gradients, rad: 0 to 1.
    #[must_use]
    pub fn depth_at(&self, angle: f32) -> f32 {
        self.meets.depth(angle.cos(), 0.0)
    }

    /// d at the present bend. In a deep fold it is the contact between the bones.
    #[must_use]
    pub fn depth(&self) -> f32 {
        let folded = if self.meets.operator.has_contact() {
            self.folded
        } else {
            0.0
        };
        self.meets.depth(self.bend.cos(), folded)
    }

    /// g(f₁, f₂, d) for a depth: [`Self::NODES`] values for each f₁ from 0 to 1.
    #[must_use]
    pub fn slice(&self, depth: f32) -> Vec<f32> {
        let at = |k: usize| k as f32 / (NODES - 1) as f32;
        let value = |index: usize| {
            let Composed { value, .. } =
                self.tables
                    .at(&self.meets, at(index / NODES), at(index % NODES), depth);
            value
        };
        (0..NODES * NODES).map(value).collect()
    }

    /// Where f₁ = f₂ on both ends of the contact line of a slice, on which g is ½; `None` without one.
    #[must_use]
    pub fn contact_line(&self, depth: f32) -> Option<[f32; 2]> {
        let length = depth.min(deepest()) * std::f32::consts::FRAC_1_SQRT_2;
        if !self.meets.operator.has_contact() || length <= 0.0 {
            return None;
        }
        let begins = (0..NODES)
            .map(|k| k as f32 / (NODES - 1) as f32)
            .find(|&f| self.tables.at(&self.meets, f, f, depth).value >= 0.5 - LEVEL)?;
        Some([begins, 0.5 + length])
    }
}

/// Values of a table within this are equal.
const LEVEL: f32 = 1e-3;

impl std::fmt::Debug for JointMeeting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let operator: Operator = self.meets.operator;
        f.debug_struct("JointMeeting")
            .field("operator", &operator)
            .field("bend", &self.bend)
            .finish_non_exhaustive()
    }
}
