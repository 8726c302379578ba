//! Sizes and strengths of joint dots: those that crowd are small, those far behind others are faint.

use egui::Pos2;

use super::screen_map::ScreenMap;
use crate::math::Point64;

/// Share of the distance to the nearest dot that a dot may cover to either side.
const ROOM: f32 = 0.42;
/// Strength of the dots that are furthest from the eye.
const FAINTEST: f32 = 0.3;
/// The furthest joint is faintest if it is behind the nearest by at least this share of its depth; else it fades less.
const DEEP: f64 = 0.25;

/// A joint on the screen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Dot {
    /// Index of the joint.
    pub(super) joint: usize,
    /// Where it is, points.
    pub(super) at: Pos2,
    /// Its strength, from [`FAINTEST`] for the furthest joint to 1 for the nearest.
    pub(super) strength: f32,
    /// Largest radius at which it does not touch the next dot, points.
    pub(super) room: f32,
}

impl Dot {
    /// The radius: `usual`, or what there is room for, but at least 1 point.
    pub(super) fn radius(&self, usual: f32) -> f32 {
        self.room.clamp(1.0, usual)
    }
}

/// The dots of joints that are before the eye, from far to near. Dots further apart than `reach` points do not limit each other.
pub(super) fn dots(
    map: &ScreenMap,
    positions: impl Iterator<Item = Point64>,
    reach: f32,
) -> Vec<Dot> {
    let eye = map.ray(map.rect().center()).origin;
    let back = map.back();
    let mut found: Vec<(f64, Dot)> = positions
        .enumerate()
        .filter_map(|(joint, position)| {
            let at = map.project(&position)?;
            let dot = Dot {
                joint,
                at,
                strength: 1.0,
                room: f32::INFINITY,
            };
            Some(((eye - position).dot(&back), dot))
        })
        .collect();
    let range = found.iter().fold([f64::MAX, f64::MIN], |[near, far], it| {
        [near.min(it.0), far.max(it.0)]
    });
    let deep = range[1] - range[0];
    let scale = deep.max(DEEP * range[1].abs());
    if scale > 0.0 {
        for (depth, dot) in &mut found {
            let part = ((*depth - range[0]) / scale) as f32;
            dot.strength = 1.0 - (1.0 - FAINTEST) * part;
        }
    }
    found.sort_by(|a, b| a.1.at.x.total_cmp(&b.1.at.x));
    for index in 0..found.len() {
        for other in index + 1..found.len() {
            let [a, b] = [found[index].1.at, found[other].1.at];
            if b.x - a.x > reach {
                break;
            }
            // Joints at one place stay one dot of the usual size.
            let apart = a.distance(b);
            if apart > 0.5 {
                for dot in [index, other] {
                    let room = &mut found[dot].1.room;
                    *room = room.min(ROOM * apart);
                }
            }
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.joint.cmp(&b.1.joint)));
    found.into_iter().map(|(_, dot)| dot).collect()
}

#[cfg(test)]
mod tests {
    use super::super::screen_map::tests::front_map;
    use super::*;

    #[test]
    fn crowded_dots_are_small_and_far_ones_are_faint() {
        let places = [
            [0.0, 0.0, 0.0],
            [0.1, 0.0, 0.0],
            [1.0, 1.0, 0.0],
            [-1.0, 1.0, -3.0],
        ];
        let found = dots(&front_map(), places.into_iter().map(Point64::from), 20.0);
        let of = |joint: usize| found.iter().find(|dot| dot.joint == joint).unwrap();
        // The square shows ±5 at the origin on 200 points: 0.1 is 2 points.
        assert!((of(0).radius(4.0) - 1.0).abs() < 1e-3, "{:?}", of(0));
        assert_eq!(of(0).room, of(1).room);
        assert_eq!(of(2).radius(4.0), 4.0, "nothing is near");
        assert_eq!(of(2).strength, 1.0);
        assert!((of(3).strength - FAINTEST).abs() < 1e-6);
        assert_eq!(found[0].joint, 3, "the far one is drawn first");
    }

    #[test]
    fn joints_at_one_depth_are_all_clear() {
        let places = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.001]].map(Point64::from);
        let found = dots(&front_map(), places.into_iter(), 20.0);
        assert!(found.iter().all(|dot| dot.strength > 0.99));
    }
}
