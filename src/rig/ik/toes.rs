//! Dragged toes: they bend slightly, and the foot follows without rotating.
//!
//! With B the ball of the foot, H the dragged point, e the unit vector from B to H and t the
//! perpendicular direction in which toes bend, a drag by d bends the toes by the angle
//!
//! ```text
//!     θ = m sgn(x) (1 − exp(−|x| / m)),     x = d·t / |H − B|,
//! ```
//!
//! which is x for small drags and at most m. The foot is translated by the rest, so that the
//! dragged point reaches its target.

use super::figure::{Figure, rotation_of};
use super::limb::Limb;
use crate::math::{Point64, Quat, Vec64};

/// State of a toe drag.
#[derive(Debug, Clone)]
pub(super) struct Toes {
    /// The foot's rotation.
    pub turn: Quat,
    /// From the ball of the foot to the dragged point.
    length: f64,
    along: Vec64,
    /// The bend direction; `None` if it is undetermined.
    across: Option<Vec64>,
}

/// Maximum bend of toes during a drag, radians.
const MOST_BEND: f64 = 0.6;

impl Toes {
    pub fn of(start: &Figure<'_>, limb: Limb, ball: usize, held: &Point64) -> Self {
        let way = held - start.place(ball);
        let length = way.norm();
        let along = way.try_normalize(1e-9).unwrap_or_else(Vec64::zeros);
        // Toes bend towards the shin and away from it.
        let shin = start.place(limb.lower) - start.place(limb.end);
        let across = (shin - along * shin.dot(&along)).try_normalize(1e-3 * shin.norm().max(1e-12));
        Self {
            turn: rotation_of(&start.world[limb.end]),
            length,
            along,
            across: across.filter(|_| along != Vec64::zeros()),
        }
    }

    /// Displacement of the foot for a displacement `drag` of the dragged point.
    pub fn shift(&self, drag: &Vec64) -> Vec64 {
        let Some(across) = self.across else {
            return *drag;
        };
        let x = drag.dot(&across) / self.length;
        let angle = MOST_BEND * x.signum() * (1.0 - (-x.abs() / MOST_BEND).exp());
        drag - (across * angle.sin() - self.along * (1.0 - angle.cos())) * self.length
    }
}

/// The foot of pinned toes: it stays as it is while the leg reaches it, and rises by the heel beyond.
#[derive(Debug, Clone, Copy)]
pub(super) struct PinnedFoot {
    pub joint: usize,
    ankle: Point64,
    toe: Point64,
    turn: Quat,
}

impl PinnedFoot {
    pub fn of(start: &Figure<'_>, foot: usize, toe: usize) -> Self {
        Self {
            joint: foot,
            ankle: start.place(foot),
            toe: start.place(toe),
            turn: rotation_of(&start.world[foot]),
        }
    }

    /// Distance from the ankle to the pinned toe.
    pub fn length(&self) -> f64 {
        (self.ankle - self.toe).norm()
    }

    /// Place of the ankle and rotation of the foot for a hip from which the leg reaches as far as `reach`. Beyond, the foot
    /// rotates about the toe by the least angle that brings the ankle within reach.
    pub fn follow(&self, hip: &Point64, reach: f64) -> (Point64, Quat) {
        let [foot, leg] = [self.ankle - self.toe, hip - self.toe];
        let (length, far) = (foot.norm(), leg.norm());
        if (self.ankle - hip).norm() <= reach || length == 0.0 || far == 0.0 {
            return (self.ankle, self.turn);
        }
        // Law of cosines in the triangle of toe, ankle and hip.
        let cosine = (length * length + far * far - reach * reach) / (2.0 * length * far);
        let most = cosine.clamp(-1.0, 1.0).acos();
        let between = foot.angle(&leg);
        let Some(axis) = foot.cross(&leg).try_normalize(1e-12 * length * far) else {
            return (self.ankle, self.turn);
        };
        let turn = Quat::new(axis * (between - most).max(0.0));
        (self.toe + turn * foot, turn * self.turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_foot_of_pinned_toes_stays_within_reach_and_rises_beyond() {
        let foot = PinnedFoot {
            joint: 0,
            ankle: Point64::new(0.0, 0.08, 0.0),
            toe: Point64::new(0.0, 0.0, 0.12),
            turn: Quat::identity(),
        };
        let mut last = foot.ankle;
        for step in 0..=100 {
            let hip = Point64::new(0.01, 0.7 + 0.003 * f64::from(step), 0.02);
            let (ankle, turn) = foot.follow(&hip, 0.8);
            assert!((turn * (foot.ankle - foot.toe) - (ankle - foot.toe)).norm() < 1e-12);
            let within = (foot.ankle - hip).norm() <= 0.8;
            assert_eq!(within, ankle == foot.ankle);
            let reachable = (hip - foot.toe).norm() <= 0.8 + foot.length();
            assert!(!reachable || (ankle - hip).norm() < 0.8 + 1e-9, "{step}");
            assert!((ankle - last).norm() < 0.05, "it does not jump: {step}");
            last = ankle;
        }
        assert!(last.y > 0.1, "the heel has risen");
    }

    #[test]
    fn toes_take_small_drags_and_the_foot_takes_large_ones() {
        let toes = Toes {
            turn: Quat::identity(),
            length: 0.06,
            along: Vec64::z(),
            across: Some(Vec64::y()),
        };
        for (drag, least, most) in [(0.002, 0.0, 0.1), (0.3, 0.85, 1.0)] {
            let part = toes.shift(&(Vec64::y() * drag)).y / drag;
            assert!((least..most).contains(&part), "{drag}: {part}");
        }
        // The remainder is within the foot's reach.
        for step in 0..50 {
            let drag = Vec64::new(0.01, 0.02, -0.01) * f64::from(step) * 0.2;
            let bent = Vec64::z() * 0.06 + drag - toes.shift(&drag);
            assert!((bent.norm() - 0.06).abs() < 1e-12, "{step}");
        }
        assert_eq!(
            toes.shift(&Vec64::x()),
            Vec64::x(),
            "to the side the foot goes"
        );
    }
}
