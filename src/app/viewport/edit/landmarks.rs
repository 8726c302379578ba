//! Fitting a template: landmarks that are dragged to where they belong.

use egui::Pos2;

use crate::app::viewport::screen_map::ScreenMap;
use crate::math::Point64;
use crate::rig::edit::template::Kind;
use crate::rig::edit::{Mirror, Placer};

/// What a landmark is dragged by: its own place, or that of its twin on the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handle {
    /// Which landmark.
    pub landmark: usize,
    /// Its twin.
    pub mirrored: bool,
}

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

    /// All that can be dragged, and where it is: each landmark, then the twins of those that have one.
    pub fn handles<'a>(&'a self, mirror: Option<&'a Mirror>) -> impl Iterator<Item = (Handle, Point64)> + 'a {
        let own = self.landmarks.iter().enumerate().map(|(landmark, place)| (Handle { landmark, mirrored: false }, *place));
        let sides = mirror.filter(|_| self.kind != Kind::Hand);
        let paired = self.landmarks.iter().zip(self.kind.landmarks()).enumerate().filter(|(_, (_, landmark))| !landmark.middle);
        let twins = sides.into_iter().flat_map(move |mirror| {
            paired.clone().map(move |(landmark, (place, _))| (Handle { landmark, mirrored: true }, mirror.reflect(place)))
        });
        own.chain(twins)
    }

    /// Moves a handle under the pointer: into the middle of the flesh there that is nearest to where it was, or in the plane of the
    /// screen where there is none. The landmark's other handle goes along.
    pub(super) fn move_to(&mut self, handle: Handle, map: &ScreenMap, pointer: Pos2, placer: Option<&Placer>, mirror: Option<&Mirror>) {
        let Some((_, before)) = self.handles(mirror).find(|(other, _)| *other == handle) else { return };
        let ray = map.ray(pointer);
        let far = |other: &Point64| (other - before).dot(&ray.direction).abs();
        let flesh = placer.and_then(|placer| {
            let places = placer.all_under(&ray.origin, &ray.direction).map(|placed| placed.position);
            places.min_by(|a, b| far(a).total_cmp(&far(b)))
        });
        // What lies far in front or behind is another limb.
        let limit = placer.map_or(0.0, |placer| 0.12 * placer.size());
        let flesh = flesh.filter(|flesh| far(flesh) <= limit);
        let Some(wanted) = flesh.or_else(|| ray.meet_plane(&before, &map.back())) else { return };
        self.landmarks[handle.landmark] = match mirror {
            Some(mirror) if self.kind.landmarks()[handle.landmark].middle => mirror.onto_plane(&wanted),
            Some(mirror) if handle.mirrored => mirror.reflect(&wanted),
            _ => wanted,
        };
    }
}
