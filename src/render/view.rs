//! Named directions to look from.

/// A direction to look from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedView {
    /// From +Z.
    Front,
    /// From −Z.
    Back,
    /// From +X: the character's left side.
    Left,
    /// From −X: the character's right side.
    Right,
    /// From +Y.
    Top,
    /// From the front, a little left and above.
    ThreeQuarter,
}

impl NamedView {
    /// All of them, with the words of the command line.
    pub const ALL: [(&'static str, Self); 6] = [
        ("front", Self::Front),
        ("back", Self::Back),
        ("left", Self::Left),
        ("right", Self::Right),
        ("top", Self::Top),
        ("three-quarter", Self::ThreeQuarter),
    ];

    /// The view of that name; `side` is the left side.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let name = if name == "side" { "left" } else { name };
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, view)| *view)
    }

    /// Yaw and pitch of the camera.
    pub(super) fn angles(self) -> (f32, f32) {
        let quarter = std::f32::consts::FRAC_PI_2;
        match self {
            Self::Front => (0.0, 0.0),
            Self::Back => (2.0 * quarter, 0.0),
            Self::Left => (quarter, 0.0),
            Self::Right => (-quarter, 0.0),
            Self::Top => (0.0, quarter),
            Self::ThreeQuarter => (0.6, 0.22),
        }
    }
}
