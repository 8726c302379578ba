//! Identifiers of keys.

/// What a key moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keyed {
    /// A joint, by its index in the skeleton.
    Joint(usize),
    /// A morph or an expression, by its index among the controls.
    Morph(usize),
}

/// Identifies a key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeyRef {
    /// What it moves.
    pub of: Keyed,
    /// Its time, within [`SAME_SECS`](super::SAME_SECS).
    pub time_secs: f64,
}

impl KeyRef {
    /// A key of a joint.
    #[must_use]
    pub fn of_joint(joint: usize, time_secs: f64) -> Self {
        let of = Keyed::Joint(joint);
        Self { of, time_secs }
    }

    /// A key of a morph or an expression.
    #[must_use]
    pub fn of_morph(control: usize, time_secs: f64) -> Self {
        let of = Keyed::Morph(control);
        Self { of, time_secs }
    }

    /// The joint; none for a key of a morph.
    #[must_use]
    pub fn joint(&self) -> Option<usize> {
        match self.of {
            Keyed::Joint(joint) => Some(joint),
            Keyed::Morph(_) => None,
        }
    }

    /// The morph or expression; none for a key of a joint.
    #[must_use]
    pub fn morph(&self) -> Option<usize> {
        match self.of {
            Keyed::Morph(control) => Some(control),
            Keyed::Joint(_) => None,
        }
    }
}
