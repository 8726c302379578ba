//! The floor under guided flesh: what the pose would put below it is pressed flat.
//!
//! A contact as those between parts of the skin would have to know how far bones may come to the floor. Here the base and the guide of the
//! skin are lifted where the guide is below the floor, each by the same length, so that the flesh goes along. The lift depends on the pose
//! alone: nothing swings or stays behind. Volume that it takes is restored beside it, as that of a bend.

use crate::math::{Point, Vec3};
use crate::stages::Subject;

/// Skin is pressed in by at most this fraction of its distance from the bone line, as far as it may bulge out.
const MAX_PRESS_FRACTION: f32 = 0.3;

/// The floor at the height of the lowest point of the bind pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Floor {
    /// Unit vector.
    up: Vec3,
    /// Along `up`, world units.
    height: f32,
    /// From 0 to 1, a factor on [`MAX_PRESS_FRACTION`].
    strength: f32,
}

impl Floor {
    /// `None` without strength.
    pub(super) fn of(subject: &Subject, strength: f64) -> Option<Self> {
        let up = subject.up_axis().direction();
        let heights = subject
            .skin
            .mesh
            .positions
            .iter()
            .map(|p| up.dot(&p.coords));
        let height = heights.fold(f32::INFINITY, f32::min);
        (strength > 0.0 && height.is_finite()).then_some(Self {
            up,
            height,
            strength: strength as f32,
        })
    }

    /// How far a point of the skin is lifted that is `depth` away from its bone line at rest, world units.
    pub(super) fn lift(&self, skin: &Point, depth: f32) -> Vec3 {
        let below = self.height - self.up.dot(&skin.coords);
        let most = self.strength * MAX_PRESS_FRACTION * depth;
        if below <= 0.0 || most <= 0.0 {
            return Vec3::zeros();
        }
        // To the floor, and more and more slowly from half of the most on.
        let share = below / most;
        let share = if share <= 0.5 {
            share
        } else {
            1.0 - 0.25 / share
        };
        self.up * (most * share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::FleshBase;
    use crate::dynamics::Params;
    use crate::math::{Affine, Vec64};
    use crate::methods::test_bar::{advance, flesh_bar, volume};
    use crate::methods::{Actor, MethodId};
    use crate::param::ParamValues;
    use crate::progress::Progress;

    /// A bar along y whose lower end stands on the floor is pushed into it by a tenth of its radius. The middle of its end cap lies on the
    /// bone line, and goes along.
    #[test]
    fn flesh_stays_on_the_floor_and_keeps_its_volume() {
        let subject = flesh_bar(true, FleshBase::Weights);
        let bind = subject.character.skeleton.bind_transforms();
        let sunk: Vec<Affine> = bind
            .iter()
            .map(|joint| nalgebra::Translation3::from(Vec64::y() * -0.1) * joint)
            .collect();
        let [free, pressed] = [0.0, 1.0].map(|floor| {
            let params = Params {
                floor,
                ..Params::default()
            };
            let values = ParamValues::default();
            let progress = Progress::new();
            let mut actor = Actor::bind_with(&subject, MethodId::PD, &params, &values, &progress)
                .expect("binds");
            advance(&mut actor, &bind);
            let rest = actor.positions().to_vec();
            advance(&mut actor, &sunk);
            let skin = actor.positions();
            let rim = skin.iter().filter(|p| p.x.hypot(p.z) > 0.9);
            let lowest = rim.fold(f32::INFINITY, |low, p| low.min(p.y));
            (lowest, volume(skin, &subject.skin.mesh.triangles), rest)
        });
        assert!(free.2 == pressed.2, "rest is rest");
        assert!((free.0 + 5.1).abs() < 1e-3, "{}", free.0);
        assert!(pressed.0 > -5.04, "{}", pressed.0);
        let change = (pressed.1 / free.1 - 1.0).abs();
        assert!(change < 0.01, "{change}");
    }

    #[test]
    fn skin_comes_to_the_floor_and_deep_skin_part_of_the_way_to_the_bone() {
        let floor = Floor {
            up: Vec3::y(),
            height: -1.0,
            strength: 1.0,
        };
        let lift = |y: f32| floor.lift(&Point::new(3.0, y, 2.0), 0.4);
        assert_eq!(lift(0.0), Vec3::zeros());
        assert_eq!(lift(-1.0), Vec3::zeros());
        assert!((lift(-1.05) - Vec3::y() * 0.05).norm() < 1e-6);
        assert!((lift(-1.06) - Vec3::y() * 0.06).norm() < 1e-6);
        assert!(lift(-100.0).y > 0.119 && lift(-100.0).y < 0.12);
        let heights: Vec<f32> = (0..100).map(|k| -1.0 - 0.01 * k as f32).collect();
        for pair in heights.windows(2) {
            let [upper, lower] = [lift(pair[0]).y, lift(pair[1]).y];
            assert!(lower > upper && lower - upper <= 0.0101);
        }
    }
}
