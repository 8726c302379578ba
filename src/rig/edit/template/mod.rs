//! Whole skeletons that are fitted to a mesh by a few landmarks.
//!
//! A template says where each of its joints is by *landmarks*: places that anybody can point at (a chin, an elbow), first guessed from
//! the mesh's extents and then dragged where they belong. Joints of the left side are listed; those of the right side are mirrored.
//! A joint is an affine combination of landmarks and an offset in the body's frame, in units of the template's reference length;
//! joints in limbs are then moved into the middle of the flesh.

mod four_legged;
mod frame;
mod guess;
mod hand;
mod human;

use super::change::RigEdit;
use super::{Placer, Rig};
use crate::math::Point64;
pub use frame::Frame;

/// Which skeleton.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Somebody who stands on two legs.
    Human,
    /// A hand with five fingers.
    Hand,
    /// An animal on four legs.
    FourLegged,
}

/// A landmark of a template.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Landmark {
    /// Its name for people.
    pub name: &'static str,
    /// It lies in the plane between the two sides; of the others the left one is meant.
    pub middle: bool,
}

/// A joint of a template.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Part {
    /// Name without a side.
    name: &'static str,
    /// What it hangs on, by name; on its own side if there is one there.
    parent: Option<&'static str>,
    /// Landmarks and their weights, which add up to 1.
    at: &'static [(usize, f64)],
    /// To the left, up, forward; in reference lengths.
    offset: [f64; 3],
    /// There is one on each side.
    paired: bool,
    /// How it is moved into the flesh.
    centring: Centring,
    /// It is no joint but the end of its parent's bone.
    is_tail: bool,
}

/// How a joint is moved into the middle of the flesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Centring {
    /// Not at all.
    None,
    /// Only between front and back: there is more flesh to the sides than its own.
    Depth,
    /// Into the middle of its limb.
    Limb,
}

/// Data of a template.
struct Template {
    landmarks: &'static [Landmark],
    parts: &'static [Part],
    /// Landmarks that are joined by lines while they are dragged.
    lines: &'static [(usize, usize)],
    /// The reference length is the distance of these landmarks.
    reference: [usize; 2],
}

/// Why a template can't be fitted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// Another number of landmarks.
    #[error("the template needs {needed} landmarks, but {given} were given")]
    Landmarks {
        /// How many there are.
        needed: usize,
        /// How many were given.
        given: usize,
    },
    /// Landmarks that are no places, or all the same.
    #[error("the landmarks must be different places with finite coordinates")]
    Places,
}

impl Kind {
    /// All, in the order of a menu.
    pub const ALL: [Self; 3] = [Self::Human, Self::Hand, Self::FourLegged];

    /// Its name for people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Human => "Human",
            Self::Hand => "Hand",
            Self::FourLegged => "Four-legged",
        }
    }

    /// What it is for, in one sentence.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Human => "Somebody on two legs: spine, arms, legs, feet",
            Self::Hand => "One hand with a thumb and four fingers",
            Self::FourLegged => "An animal on four legs, with a neck and a tail",
        }
    }

    /// Its landmarks.
    #[must_use]
    pub fn landmarks(self) -> &'static [Landmark] {
        self.template().landmarks
    }

    /// Pairs of landmarks that are joined by lines while they are dragged.
    #[must_use]
    pub fn lines(self) -> &'static [(usize, usize)] {
        self.template().lines
    }

    /// Where its landmarks may be on a mesh.
    #[must_use]
    pub fn guess(self, placer: &Placer) -> Vec<Point64> {
        let frame = Frame::of(self, placer);
        let places = match self {
            Self::Human => guess::human(placer, &frame),
            Self::Hand => guess::hand(placer, &frame),
            Self::FourLegged => guess::four_legged(placer, &frame),
        };
        places
            .iter()
            .zip(self.landmarks())
            .map(|(place, landmark)| if landmark.middle { frame.onto_plane(place) } else { *place })
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

/// The template on a mesh, as a rig that goes on from `old`: identities are not used again.
///
/// # Errors
/// [`FitError`].
pub fn fitted(kind: Kind, landmarks: &[Point64], placer: &Placer, old: &Rig) -> Result<Rig, FitError> {
    let template = kind.template();
    if landmarks.len() != template.landmarks.len() {
        return Err(FitError::Landmarks { needed: template.landmarks.len(), given: landmarks.len() });
    }
    let [a, b] = template.reference.map(|landmark| landmarks[landmark]);
    let reference = (a - b).norm();
    if landmarks.iter().any(|place| !place.iter().all(|c| c.is_finite())) || reference <= 1e-9 * placer.size() {
        return Err(FitError::Places);
    }
    let frame = Frame::of(kind, placer);
    let mirror = frame.mirror(placer);
    let mut rig = Rig { joints: Vec::new(), next_id: old.next_id };
    for part in template.parts {
        let place = part.at.iter().map(|&(landmark, weight)| landmarks[landmark].coords * weight).sum::<crate::math::Vec64>();
        let place = Point64::from(place) + frame.vector(part.offset) * reference;
        let in_flesh = |place: Point64| match part.centring {
            Centring::Limb => centred(placer, &place, SHIFT * reference),
            Centring::Depth => placer.halved(&place, &frame.forward).unwrap_or(place),
            Centring::None if part.is_tail => placer.kept_inside(&place),
            Centring::None => place,
        };
        let left = in_flesh(place);
        let left = if part.paired || !kind.is_paired() { left } else { frame.onto_plane(&left) };
        // Where the sides are not alike the other limb is somewhere else.
        let right = if placer.mirror().is_some() { mirror.reflect(&left) } else { in_flesh(mirror.reflect(&place)) };
        add(&mut rig, part, [left, right]);
    }
    Ok(rig)
}

fn add(rig: &mut Rig, part: &Part, places: [Point64; 2]) {
    let sides: &[&str] = if part.paired { &[".L", ".R"] } else { &[""] };
    for (position, ending) in places.into_iter().zip(sides) {
        let parent = part.parent.and_then(|parent| rig.find(&format!("{parent}{ending}")).or_else(|| rig.find(parent)));
        let edit = if part.is_tail {
            let Some(joint) = parent else { continue };
            RigEdit::SetTail { joint, tail: Some(position) }
        } else {
            RigEdit::Add { parent, position, name: Some(format!("{}{ending}", part.name)) }
        };
        // Places are finite and parents come first: nothing can be refused.
        if let Ok(edited) = rig.edited(&edit, None) {
            *rig = edited.rig;
        }
    }
}

/// How far the middle of a limb may be from where a landmark says, in units of the reference length.
const SHIFT: f64 = 0.12;

/// The middle of the limb, unless that is farther than `most` away: then the place was not in a limb, as the knees of short legs lie
/// in the trunk.
fn centred(placer: &Placer, place: &Point64, most: f64) -> Point64 {
    let inside = placer.kept_inside(place);
    let (middle, radius, _) = placer.centred(&inside);
    if (middle - place).norm() <= (1.5 * radius.max(1e-9)).min(most) { middle } else { inside }
}

#[cfg(test)]
mod tests;
