//! The rule by which programs that show VRM move spring bones: `VRMC_springBone` 1.0, "Spring Bone Algorithm".
//!
//! A joint at p turns so that its child, the tail, comes to x. In every frame, of h seconds,
//!
//! ```text
//!     y = x + (1 − drag)(x − x_before) + h · stiffness · a        x ← p + L (y − p) / |y − p|
//! ```
//!
//! where a is the unit vector from the joint to its tail at rest, carried along by the joint's parent. With k = h · stiffness / L, a
//! small excursion u across a obeys
//!
//! ```text
//!     (1 + k) u_next − (2 − drag) u + (1 − drag) u_before = 0
//! ```
//!
//! Its roots ρ e^±iφ with ρ² = (1 − drag) / (1 + k) and 2 ρ cos φ = (2 − drag) / (1 + k) are a swing of φ / h radians and a decay of
//! −ln ρ / h per second. A stiff spring decays even without drag, because the length is restored: no swing decays less than by
//! ρ = cos φ a frame.
//!
//! The rule has no time but the frame: the same numbers swing differently at other frame rates. These are for 60 frames per second.

use crate::math::Vec64;

/// Length of a frame.
pub const STEP_SECS: f64 = 1.0 / 60.0;
/// Largest angle that a swing turns through in a frame: near a quarter of a turn no stiffness is enough.
const LARGEST_TURN: f64 = 1.4;

/// A damped oscillation.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Swing {
    /// Oscillations per second.
    pub frequency_hz: f64,
    /// The amplitude falls by the factor e in the inverse of this time.
    pub decay_per_sec: f64,
}

/// The numbers of a spring that do not depend on its length.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Rule {
    /// h · stiffness / length.
    pub stiffness: f64,
    /// Part of the velocity, in the world, that is lost in a frame: 0 to 1.
    pub drag: f64,
}

impl Rule {
    /// The rule that swings so; one that decays faster if the swing decays too little.
    #[must_use]
    pub fn of(swing: &Swing) -> Self {
        let turn = std::f64::consts::TAU * swing.frequency_hz * STEP_SECS;
        let turn = turn.clamp(0.0, LARGEST_TURN);
        let (cosine, decay) = (turn.cos(), (-swing.decay_per_sec * STEP_SECS).exp());
        let decay = decay.min(cosine);
        let stretch = 1.0 / (decay * (2.0 * cosine - decay));
        Self {
            stiffness: stretch - 1.0,
            drag: (1.0 - decay * decay * stretch).clamp(0.0, 1.0),
        }
    }

    /// How a small excursion swings; `None` if it returns without swinging.
    #[must_use]
    pub fn swing(&self) -> Option<Swing> {
        let stretch = 1.0 + self.stiffness;
        let decay = ((1.0 - self.drag) / stretch).sqrt();
        let cosine = (2.0 - self.drag) / (2.0 * stretch * decay);
        (cosine < 1.0).then(|| Swing {
            frequency_hz: cosine.acos() / (std::f64::consts::TAU * STEP_SECS),
            decay_per_sec: -decay.ln() / STEP_SECS,
        })
    }

    /// `stiffness` of a file, for a spring of this length in the file's units.
    #[must_use]
    pub fn stiffness_of_file(&self, length: f64) -> f64 {
        self.stiffness * length / STEP_SECS
    }
}

/// The end of a spring bone, in the world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tail {
    now: Vec64,
    before: Vec64,
}

impl Tail {
    /// Still, at a place.
    #[must_use]
    pub fn still(place: Vec64) -> Self {
        Self {
            now: place,
            before: place,
        }
    }

    /// A frame later, with the joint at `pivot` and the tail's place at rest at `rest`: returns the direction from the joint to the tail.
    /// The direction at rest if the two are at one place.
    pub fn step(&mut self, rule: &Rule, pivot: &Vec64, rest: &Vec64) -> Vec64 {
        let bone = rest - pivot;
        let moved = (self.now - self.before) * (1.0 - rule.drag);
        let aim = self.now + moved + bone * rule.stiffness - pivot;
        let length = bone.norm();
        let direction = aim.try_normalize(length * 1e-9).unwrap_or_else(|| {
            bone.try_normalize(f64::MIN_POSITIVE)
                .unwrap_or_else(Vec64::x)
        });
        self.before = self.now;
        self.now = pivot + direction * length;
        direction
    }

    /// How far it moved in the last frame.
    #[must_use]
    pub fn moved(&self) -> f64 {
        (self.now - self.before).norm()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Excursions of a spring of half a metre that is let go, frame by frame.
    fn let_go(rule: &Rule, frames: usize) -> Vec<f64> {
        let (pivot, rest) = (Vec64::new(0.2, 1.0, 0.0), Vec64::new(0.2, 1.0, 0.5));
        let mut tail = Tail::still(rest + Vec64::new(1e-5, 0.0, 0.0));
        let step = |_| tail.step(rule, &pivot, &rest).x * 0.5;
        (0..frames).map(step).collect()
    }

    #[test]
    fn a_tail_swings_as_the_closed_form_says() {
        for (frequency_hz, decay_per_sec) in [(1.5, 3.0), (3.0, 4.0), (5.0, 25.0), (8.0, 30.0)] {
            let wanted = Swing {
                frequency_hz,
                decay_per_sec,
            };
            let rule = Rule::of(&wanted);
            let told = rule.swing().unwrap();
            assert!((told.frequency_hz - frequency_hz).abs() < 1e-9, "{told:?}");
            assert!((told.decay_per_sec - decay_per_sec).abs() < 1e-9);
            assert!(rule.stiffness > 0.0 && (0.0..=1.0).contains(&rule.drag));
            // Let go from rest, u = A e^(−γt) cos(ωt + ε): of three excursions in a row the middle one obeys the recurrence.
            let (decay, turn) = (
                (-decay_per_sec * STEP_SECS).exp(),
                std::f64::consts::TAU * frequency_hz * STEP_SECS,
            );
            let seen = let_go(&rule, 30);
            for three in seen.windows(3) {
                let next = 2.0 * decay * turn.cos() * three[1] - decay * decay * three[0];
                assert!((three[2] - next).abs() < 1e-12, "{three:?} {next}");
            }
            // It passes the middle as often as half oscillations fit.
            let crossings = seen.windows(2).filter(|pair| pair[0] * pair[1] < 0.0);
            let fit = 2.0 * frequency_hz * 30.0 * STEP_SECS;
            assert!((crossings.count() as f64 - fit).abs() <= 1.0, "{fit}");
        }
    }

    #[test]
    fn a_swing_without_decay_gets_the_least_that_the_rule_has() {
        let rule = Rule::of(&Swing {
            frequency_hz: 4.0,
            decay_per_sec: 0.5,
        });
        let swing = rule.swing().unwrap();
        assert!(rule.drag < 1e-12, "{rule:?}");
        assert!((swing.frequency_hz - 4.0).abs() < 1e-9, "{swing:?}");
        // cos φ a frame, with φ = 2π · 4 / 60.
        let least = -(std::f64::consts::TAU * 4.0 / 60.0).cos().ln() * 60.0;
        assert!((swing.decay_per_sec - least).abs() < 1e-9, "{swing:?}");
        let overdamped = Rule {
            stiffness: 0.01,
            drag: 0.9,
        };
        assert_eq!(overdamped.swing(), None);
    }

    #[test]
    fn rest_stays_rest_and_a_tail_keeps_its_length() {
        let rule = Rule::of(&Swing {
            frequency_hz: 3.0,
            decay_per_sec: 6.0,
        });
        let (pivot, bone) = (Vec64::new(1.0, 2.0, 3.0), Vec64::new(0.1, -0.2, 0.05));
        let mut tail = Tail::still(pivot + bone);
        for _ in 0..100 {
            let direction = tail.step(&rule, &pivot, &(pivot + bone));
            assert!((direction - bone.normalize()).norm() < 1e-12);
        }
        // The joint is carried away at 1 m/s: the tail lags behind, at its length.
        for frame in 1..=10 {
            let pivot = pivot + Vec64::new(f64::from(frame) / 60.0, 0.0, 0.0);
            let direction = tail.step(&rule, &pivot, &(pivot + bone));
            assert!(direction.x < bone.normalize().x, "{frame}");
            assert!(((tail.now - pivot).norm() - bone.norm()).abs() < 1e-12);
        }
        // The file's number: per frame of 1/60 s and for this length.
        assert!((rule.stiffness_of_file(0.5) - rule.stiffness * 30.0).abs() < 1e-12);
    }
}
