//! Why a vertex is where it is: its joints and weights, and what the method itself has to say about it.

mod one_vertex;
#[cfg(test)]
mod tests;

use serde::Serialize;

use self::one_vertex::OneVertex;
use crate::math::{Affine, Point};
use crate::stages::Subject;

/// A vertex in the last frame of a method, explained.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Explanation {
    /// The joints that move it, largest weight first; empty for a vertex without weights.
    pub influences: Vec<Influence>,
    /// What the method computes there.
    pub terms: Vec<Term>,
}

/// A joint that moves a vertex.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Influence {
    /// The joint.
    pub joint: usize,
    /// Its weight; those of a vertex sum to 1.
    pub weight: f32,
    /// Angle by which the joint has turned since the bind pose, degrees.
    pub turned_deg: f64,
}

/// One number of a method at a vertex.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Term {
    /// Key in machine output.
    pub id: &'static str,
    /// Name for people.
    pub label: String,
    /// The number.
    pub value: TermValue,
    /// What the number says, one sentence.
    pub meaning: &'static str,
}

/// A number with its kind.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TermValue {
    /// A factor; 1 is rest.
    Factor(f64),
    /// A part of a whole, 0 to 1.
    Part(f64),
    /// An angle, degrees.
    Degrees(f64),
    /// A length, world units.
    Length(f64),
    /// A number of things.
    Count(usize),
}

impl Term {
    pub(super) fn new(
        id: &'static str,
        label: impl Into<String>,
        value: TermValue,
        meaning: &'static str,
    ) -> Self {
        Self {
            id,
            label: label.into(),
            value,
            meaning,
        }
    }
}

/// What holds for any method: the joints of a source vertex, and where blending them would put it instead of `at`.
///
/// # Panics
/// If there are other joints than the subject has.
#[must_use]
pub fn explain_blending(
    subject: &Subject,
    vertex: usize,
    world_from_joint: &[Affine],
    at: &Point,
) -> Explanation {
    OneVertex::of(subject, vertex, world_from_joint).map_or_else(Explanation::default, |own| {
        Explanation {
            influences: own.influences(),
            terms: own.terms(at),
        }
    })
}

/// The simulated vertex that is nearest to a source vertex at rest, and their distance, world units. `None` for cloth and props, which
/// are not simulated.
pub(super) fn nearest_simulated(subject: &Subject, source: usize) -> Option<(usize, f32)> {
    let skin = subject
        .skin
        .skin_from_source
        .get(source)
        .copied()
        .flatten()?;
    let own = subject.skin.mesh.positions[skin as usize];
    let simulated = subject.sim().mesh.positions.iter();
    simulated
        .map(|at| (at - own).norm())
        .enumerate()
        .min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Distance of two points as a term's value.
pub(super) fn length(a: &Point, b: &Point) -> TermValue {
    TermValue::Length(f64::from((a - b).norm()))
}
