//! Fitting a template by dragging its landmarks.

use egui::Pos2;

use crate::app::viewport::screen_map::ScreenMap;
use crate::math::Point64;
use crate::rig::edit::template::TemplateKind;
use crate::rig::edit::{Mirror, Placer};

/// A draggable point of a landmark: its position, or its mirrored counterpart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LandmarkHandle {
    /// Index of the landmark.
    pub landmark: usize,
    /// Whether it is the mirrored counterpart.
    pub mirrored: bool,
}

/// A template being fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitting {
    /// The template.
    pub kind: TemplateKind,
    /// Positions of its landmarks, in order; `None` until they are guessed.
    pub landmarks: Vec<Point64>,
}

impl Fitting {
    /// Starts with a template.
    #[must_use]
    pub fn new(kind: TemplateKind) -> Self {
        Self {
            kind,
            landmarks: Vec::new(),
        }
    }

    /// Computes initial landmark positions.
    pub fn guess(&mut self, placer: &Placer) {
        self.landmarks = self.kind.guess(placer);
    }

    /// Name of a landmark.
    #[must_use]
    pub fn name(&self, landmark: usize) -> &'static str {
        self.kind
            .landmarks()
            .get(landmark)
            .map_or("", |landmark| landmark.name)
    }

    /// Lines between related landmarks.
    pub fn lines(&self) -> impl Iterator<Item = (Point64, Point64)> + '_ {
        self.kind
            .lines()
            .iter()
            .filter_map(|&(a, b)| Some((*self.landmarks.get(a)?, *self.landmarks.get(b)?)))
    }

    /// All draggable points with their positions: each landmark, then the mirrored counterparts.
    pub fn handles<'a>(
        &'a self,
        mirror: Option<&'a Mirror>,
    ) -> impl Iterator<Item = (LandmarkHandle, Point64)> + 'a {
        let own = self.landmarks.iter().enumerate().map(|(landmark, place)| {
            (
                LandmarkHandle {
                    landmark,
                    mirrored: false,
                },
                *place,
            )
        });
        let sides = mirror.filter(|_| self.kind != TemplateKind::Hand);
        let paired = self
            .landmarks
            .iter()
            .zip(self.kind.landmarks())
            .enumerate()
            .filter(|(_, (_, landmark))| !landmark.middle);
        let counterparts = sides.into_iter().flat_map(move |mirror| {
            paired.clone().map(move |(landmark, (place, _))| {
                (
                    LandmarkHandle {
                        landmark,
                        mirrored: true,
                    },
                    mirror.reflect(place),
                )
            })
        });
        own.chain(counterparts)
    }

    /// Moves a handle to the pointer: to the centre of the interval of flesh nearest to its
    /// previous position, or in the screen plane if there is none. The counterpart moves too.
    pub(super) fn move_to(
        &mut self,
        handle: LandmarkHandle,
        map: &ScreenMap,
        pointer: Pos2,
        placer: Option<&Placer>,
        mirror: Option<&Mirror>,
    ) {
        let Some((_, before)) = self.handles(mirror).find(|(other, _)| *other == handle) else {
            return;
        };
        let ray = map.ray(pointer);
        let far = |other: &Point64| (other - before).dot(&ray.direction).abs();
        let flesh = placer.and_then(|placer| {
            let places = placer
                .all_under(&ray.origin, &ray.direction)
                .map(|placed| placed.position);
            places.min_by(|a, b| far(a).total_cmp(&far(b)))
        });
        // Flesh far in front or behind belongs to another limb.
        let limit = placer.map_or(0.0, |placer| 0.12 * placer.size());
        let flesh = flesh.filter(|flesh| far(flesh) <= limit);
        let Some(wanted) = flesh.or_else(|| ray.meet_plane(&before, &map.back())) else {
            return;
        };
        self.landmarks[handle.landmark] = match mirror {
            Some(mirror) if self.kind.landmarks()[handle.landmark].middle => {
                mirror.onto_plane(&wanted)
            }
            Some(mirror) if handle.mirrored => mirror.reflect(&wanted),
            _ => wanted,
        };
    }
}
