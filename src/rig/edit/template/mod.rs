//! Skeleton templates, fitted to a mesh by landmarks.
//!
//! A template defines its joints by *landmarks*: easily recognised positions (a chin, an elbow),
//! first guessed from the mesh's extents and then dragged by the user. Only joints of the left side
//! are listed; those of the right side are mirrored. A joint is an affine combination of landmarks
//! plus an offset in the body frame, in units of the template's reference length; joints in limbs
//! are then moved to the centre of the flesh.

mod four_legged;
mod frame;
mod guess;
mod hand;
mod human;

use super::change::RigEdit;
use super::{Placer, Rig};
use crate::math::Point64;
pub use frame::BodyFrame;

/// The kind of skeleton.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TemplateKind {
    /// A biped.
    Human,
    /// A hand with five fingers.
    Hand,
    /// A quadruped.
    FourLegged,
}

/// A landmark of a template.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Landmark {
    /// Display name.
    pub name: &'static str,
    /// Whether it lies on the mirror plane; of the others the left one is meant.
    pub middle: bool,
}

/// A joint of a template.
#[derive(Debug, Clone, Copy, PartialEq)]
struct TemplateJoint {
    /// Name without a side.
    name: &'static str,
    /// The parent's name; the one of the same side if there is one.
    parent: Option<&'static str>,
    /// Landmarks and their weights, which sum to 1.
    at: &'static [(usize, f64)],
    /// To the left, up, forward; in reference lengths.
    offset: [f64; 3],
    /// Whether there is one on each side.
    paired: bool,
    /// How it is centred in the flesh.
    centring: Centring,
    /// It is not a joint but the tail of its parent.
    is_tail: bool,
}

const fn landmark(name: &'static str, middle: bool) -> Landmark {
    Landmark { name, middle }
}

/// A joint in the middle of the body, at landmarks.
const fn joint(
    name: &'static str,
    parent: Option<&'static str>,
    at: &'static [(usize, f64)],
) -> TemplateJoint {
    TemplateJoint {
        name,
        parent,
        at,
        offset: [0.0; 3],
        paired: false,
        centring: Centring::None,
        is_tail: false,
    }
}

/// How a joint is moved to the centre of the flesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Centring {
    /// Not moved.
    None,
    /// Only front to back: sideways there is other flesh too.
    Depth,
    /// To the centre of its limb.
    Limb,
}

/// Data of a template.
struct Template {
    landmarks: &'static [Landmark],
    parts: &'static [TemplateJoint],
    /// Pairs of landmarks drawn as lines during placement.
    lines: &'static [(usize, usize)],
    /// The reference length is the distance between these landmarks.
    reference: [usize; 2],
}

/// Why a template cannot be fitted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// Wrong number of landmarks.
    #[error("the template needs {needed} landmarks, {given} were given")]
    Landmarks {
        /// The required number.
        needed: usize,
        /// The given number.
        given: usize,
    },
    /// Non-finite or coincident landmarks.
    #[error("the landmarks must be distinct points with finite coordinates")]
    Places,
}

impl TemplateKind {
    /// All kinds, in menu order.
    pub const ALL: [Self; 3] = [Self::Human, Self::Hand, Self::FourLegged];

    /// Display name.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Human => "Human",
            Self::Hand => "Hand",
            Self::FourLegged => "Four-legged",
        }
    }

    /// Description, one sentence.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Human => "A biped: spine, arms, legs, feet",
            Self::Hand => "A hand with a thumb and four fingers",
            Self::FourLegged => "A quadruped with a neck and a tail",
        }
    }

    /// Its landmarks.
    #[must_use]
    pub fn landmarks(self) -> &'static [Landmark] {
        self.template().landmarks
    }

    /// Pairs of landmarks drawn as lines during placement.
    #[must_use]
    pub fn lines(self) -> &'static [(usize, usize)] {
        self.template().lines
    }

    /// Initial landmark positions on a mesh.
    #[must_use]
    pub fn guess(self, placer: &Placer) -> Vec<Point64> {
        let frame = BodyFrame::of(self, placer);
        let places = match self {
            Self::Human => guess::human(placer, &frame),
            Self::Hand => guess::hand(placer, &frame),
            Self::FourLegged => guess::four_legged(placer, &frame),
        };
        places
            .iter()
            .zip(self.landmarks())
            .map(|(place, landmark)| {
                if landmark.middle {
                    frame.onto_plane(place)
                } else {
                    *place
                }
            })
            .collect()
    }

    fn template(self) -> &'static Template {
        match self {
            Self::Human => &human::HUMAN,
            Self::Hand => &hand::HAND,
            Self::FourLegged => &four_legged::FOUR_LEGGED,
        }
    }

    /// Whether it has two sides.
    fn is_paired(self) -> bool {
        self != Self::Hand
    }
}

/// The template fitted to a mesh, as a rig that replaces `old`: identities are not reused.
///
/// # Errors
/// [`FitError`].
pub fn fitted(
    kind: TemplateKind,
    landmarks: &[Point64],
    placer: &Placer,
    old: &Rig,
) -> Result<Rig, FitError> {
    let template = kind.template();
    if landmarks.len() != template.landmarks.len() {
        return Err(FitError::Landmarks {
            needed: template.landmarks.len(),
            given: landmarks.len(),
        });
    }
    let [a, b] = template.reference.map(|landmark| landmarks[landmark]);
    let reference = (a - b).norm();
    if landmarks
        .iter()
        .any(|place| !place.iter().all(|c| c.is_finite()))
        || reference <= 1e-9 * placer.size()
    {
        return Err(FitError::Places);
    }
    let frame = BodyFrame::of(kind, placer);
    let mirror = frame.mirror(placer);
    let mut rig = Rig {
        joints: Vec::new(),
        next_id: old.next_id,
    };
    for part in template.parts {
        let place = part
            .at
            .iter()
            .map(|&(landmark, weight)| landmarks[landmark].coords * weight)
            .sum::<crate::math::Vec64>();
        let place = Point64::from(place) + frame.vector(part.offset) * reference;
        let in_flesh = |place: Point64| match part.centring {
            Centring::Limb => centred(placer, &place, SHIFT * reference),
            Centring::Depth => placer.halved(&place, &frame.forward).unwrap_or(place),
            Centring::None if part.is_tail => placer.kept_inside(&place),
            Centring::None => place,
        };
        let left = in_flesh(place);
        let left = if part.paired || !kind.is_paired() {
            left
        } else {
            frame.onto_plane(&left)
        };
        // If the sides are not symmetric, the other limb is elsewhere.
        let right = if placer.mirror().is_some() {
            mirror.reflect(&left)
        } else {
            in_flesh(mirror.reflect(&place))
        };
        add(&mut rig, part, [left, right]);
    }
    Ok(rig)
}

fn add(rig: &mut Rig, part: &TemplateJoint, places: [Point64; 2]) {
    let sides: &[&str] = if part.paired { &[".L", ".R"] } else { &[""] };
    for (position, ending) in places.into_iter().zip(sides) {
        let parent = part.parent.and_then(|parent| {
            rig.find(&format!("{parent}{ending}"))
                .or_else(|| rig.find(parent))
        });
        let edit = if part.is_tail {
            let Some(joint) = parent else { continue };
            RigEdit::SetTail {
                joint,
                tail: Some(position),
            }
        } else {
            RigEdit::Add {
                parent,
                position,
                name: Some(format!("{}{ending}", part.name)),
            }
        };
        // Positions are finite and parents come first, so the rig is valid.
        if let Ok(edited) = rig.edited(&edit, None) {
            *rig = edited.rig;
        }
    }
}

/// Maximum distance of the limb's centre from the landmark position, in reference lengths.
const SHIFT: f64 = 0.12;

/// The limb's centre, unless it is farther than `most` away: then the position was not in a limb
/// (short legs whose knees lie in the trunk).
fn centred(placer: &Placer, place: &Point64, most: f64) -> Point64 {
    let inside = placer.kept_inside(place);
    let (middle, radius, _) = placer.centred(&inside);
    if (middle - place).norm() <= (1.5 * radius.max(1e-9)).min(most) {
        middle
    } else {
        inside
    }
}

#[cfg(test)]
mod tests;
