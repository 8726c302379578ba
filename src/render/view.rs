//! Named view directions. Axes are those of the stage, see [`super::Camera::world_from_stage`].

/// A view direction.
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
    /// From −Y.
    Bottom,
    /// From the front, slightly from the left and above.
    ThreeQuarter,
}

impl NamedView {
    /// All views, with their names on the command line.
    pub const ALL: [(&'static str, Self); 7] = [
        ("front", Self::Front),
        ("back", Self::Back),
        ("left", Self::Left),
        ("right", Self::Right),
        ("top", Self::Top),
        ("bottom", Self::Bottom),
        ("three-quarter", Self::ThreeQuarter),
    ];

    /// The view of that name; `side` is the left side.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let name = if name == "side" { "left" } else { name };
        Self::ALL
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, view)| *view)
    }

    /// The view from the opposite side.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Front => Self::Back,
            Self::Back | Self::ThreeQuarter => Self::Front,
            Self::Left => Self::Right,
            Self::Right => Self::Left,
            Self::Top => Self::Bottom,
            Self::Bottom => Self::Top,
        }
    }

    /// The view along an axis of the stage (0 to 2), from its positive or negative end.
    #[must_use]
    pub fn along(axis: usize, positive: bool) -> Self {
        let view = [Self::Left, Self::Top, Self::Front][axis.min(2)];
        if positive { view } else { view.opposite() }
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
            Self::Bottom => (0.0, -quarter),
            Self::ThreeQuarter => (0.6, 0.22),
        }
    }
}
