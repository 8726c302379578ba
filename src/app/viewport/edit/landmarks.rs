//! Fitting a template: landmarks that are dragged to where they belong.

use egui::Pos2;

use crate::app::viewport::screen_map::ScreenMap;
use crate::math::Point64;
use crate::rig::edit::template::Kind;
use crate::rig::edit::{Mirror, Placer};

/// A template being fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitting {
    /// Which.
    pub kind: Kind,
    /// Where its landmarks are, in their order; none until they have been guessed.
    pub landmarks: Vec<Point64>,
}

impl Fitting {
    /// Begins with a template.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        Self { kind, landmarks: Vec::new() }
    }

    /// Guesses where the landmarks are.
    pub fn guess(&mut self, placer: &Placer) {
        self.landmarks = self.kind.guess(placer);
    }

    /// Name of a landmark.
    #[must_use]
    pub fn name(&self, landmark: usize) -> &'static str {
        self.kind.landmarks().get(landmark).map_or("", |landmark| landmark.name)
    }

    /// Lines between landmarks that belong together.
    pub fn lines(&self) -> impl Iterator<Item = (Point64, Point64)> + '_ {
        self.kind.lines().iter().filter_map(|&(a, b)| Some((*self.landmarks.get(a)?, *self.landmarks.get(b)?)))
    }

    /// Where the landmarks of one side are on the other.
    pub fn mirrored<'a>(&'a self, mirror: Option<&'a Mirror>) -> impl Iterator<Item = Point64> + 'a {
        let sides = mirror.filter(|_| self.kind != Kind::Hand);
        let paired = self.landmarks.iter().zip(self.kind.landmarks()).filter(|(_, landmark)| !landmark.middle);
        sides.into_iter().flat_map(move |mirror| paired.clone().map(move |(place, _)| mirror.reflect(place)))
    }

    /// Moves a landmark under the pointer: into the middle of the flesh there that is nearest to where it was, or in the plane of the
    /// screen where there is none.
    pub(super) fn move_to(&mut self, landmark: usize, map: &ScreenMap, pointer: Pos2, placer: Option<&Placer>, mirror: Option<&Mirror>) {
        let Some(place) = self.landmarks.get_mut(landmark) else { return };
        let ray = map.ray(pointer);
        let before = *place;
        let far = |other: &Point64| (other - before).dot(&ray.direction).abs();
        let flesh = placer.and_then(|placer| {
            let places = placer.all_under(&ray.origin, &ray.direction).map(|placed| placed.position);
            places.min_by(|a, b| far(a).total_cmp(&far(b)))
        });
        // What lies far in front or behind is another limb.
        let limit = placer.map_or(0.0, |placer| 0.12 * placer.size());
        let flesh = flesh.filter(|flesh| far(flesh) <= limit);
        let Some(wanted) = flesh.or_else(|| ray.meet_plane(&before, &map.back())) else { return };
        let is_middle = self.kind.landmarks()[landmark].middle;
        *place = mirror.filter(|_| is_middle).map_or(wanted, |mirror| mirror.onto_plane(&wanted));
    }
}
