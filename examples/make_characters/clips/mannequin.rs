//! Walk, stretch and wave of the mannequin.

use sinew::math::{Point64, Vec64};
use sinew::rig::{Clip, Skeleton};

use super::{X, Y, Z};
use crate::motion::{Stance, bake, cyclic, eased};

/// One double step, in seconds.
const WALK_SECS: f64 = 1.1;
/// The fingers of a hand without the thumb.
const FINGERS: [&str; 4] = ["index", "middle", "ring", "little"];

/// All clips of the mannequin.
pub fn clips(skeleton: &Skeleton) -> Result<Vec<Clip>, String> {
    let soles = soles(skeleton);
    let standing = Stance::default().lowest(skeleton, &soles)?;
    let grounded = |mut stance: Stance| {
        stance.shift.y = 0.0;
        stance.shift.y = standing - stance.lowest(skeleton, &soles)?;
        Ok::<Stance, String>(stance)
    };
    let walk = |t: f64| {
        let stance = walking(skeleton, t / WALK_SECS);
        let sway = stance.shift;
        // The body glides over the corners of the ground contact: the mean of a few moments around.
        let mut height = 0.0;
        for i in -3..=3 {
            height += grounded(walking(skeleton, t / WALK_SECS + f64::from(i) * 0.018))?
                .shift
                .y
                / 7.0;
        }
        let mut stance = stance;
        stance.shift = Vec64::new(sway.x, height, sway.z);
        Ok(stance)
    };
    Ok(vec![
        bake(skeleton, "walk", WALK_SECS, walk)?,
        bake(skeleton, "stretch", 6.0, |t| {
            grounded(stretching(skeleton, t))
        })?,
        bake(skeleton, "wave", 3.0, |t| Ok(waving(skeleton, t)))?,
    ])
}

/// Heel, ball and tip of both feet.
fn soles(skeleton: &Skeleton) -> Vec<(usize, Point64)> {
    let mut points = Vec::new();
    for side in ["L", "R"] {
        let find = |stem: &str| skeleton.find(&format!("{stem}.{side}"));
        if let (Some(foot), Some(toe)) = (find("foot"), find("toe")) {
            let (ankle, ball) = (skeleton.bind_position(foot), skeleton.bind_position(toe));
            let ahead = (ball - ankle).xz().normalize();
            let on_floor = |p: Point64, along: f64| {
                Point64::new(p.x + ahead.x * along, 0.0, p.z + ahead.y * along)
            };
            points.extend([
                (foot, on_floor(ankle, -0.045)),
                (foot, on_floor(ball, 0.0)),
                (toe, on_floor(ball, 0.055)),
            ]);
        }
    }
    points
}

/// The axis about which an arm bends forward, for the left side.
fn arm_hinge(skeleton: &Skeleton) -> [f64; 3] {
    let at = |name: &str| {
        skeleton
            .find(name)
            .map_or_else(Point64::origin, |joint| skeleton.bind_position(joint))
    };
    (at("hand.L") - at("upper_arm.L"))
        .cross(&Vec64::z())
        .normalize()
        .into()
}

/// The arm's direction at rest, for the left side.
fn arm_axis(skeleton: &Skeleton) -> [f64; 3] {
    let at = |name: &str| {
        skeleton
            .find(name)
            .map_or_else(Point64::origin, |joint| skeleton.bind_position(joint))
    };
    (at("hand.L") - at("upper_arm.L")).normalize().into()
}

/// Curls the fingers of both hands by an angle for each joint; the palm faces down and inward at rest.
fn curl(stance: &mut Stance, left: f64, right: f64) {
    for finger in FINGERS {
        for (joint, share) in [(1, 0.9), (2, 1.1), (3, 0.8)] {
            stance.turn_sides(
                &format!("{finger}.{joint}"),
                [0.0, 0.0, -1.0],
                left * share,
                right * share,
            );
        }
    }
    for joint in [2, 3] {
        stance.turn_sides(
            &format!("thumb.{joint}"),
            [-0.5, -0.4, -0.6],
            left * 0.5,
            right * 0.5,
        );
    }
}

/// Angles of one leg, in degrees, at a phase of the gait (0: the heel touches the ground).
///
/// The shapes follow normal gait: Perry and Burnfield, "Gait Analysis", 2nd ed., chapters 4–6.
fn leg(stance: &mut Stance, side: &str, phase: f64) {
    let hip = cyclic(
        &[
            (0.0, 24.0),
            (0.12, 21.0),
            (0.3, 4.0),
            (0.5, -13.0),
            (0.6, -7.0),
            (0.75, 19.0),
            (0.86, 27.0),
            (0.95, 25.0),
        ],
        phase,
    );
    let knee = cyclic(
        &[
            (0.0, 3.0),
            (0.13, 14.0),
            (0.27, 9.0),
            (0.4, 3.0),
            (0.5, 9.0),
            (0.61, 36.0),
            (0.72, 58.0),
            (0.86, 26.0),
            (0.96, 2.0),
        ],
        phase,
    );
    let ankle = cyclic(
        &[
            (0.0, 1.0),
            (0.07, -6.0),
            (0.2, 3.0),
            (0.43, 9.0),
            (0.53, 0.0),
            (0.62, -19.0),
            (0.74, -4.0),
            (0.86, 3.0),
        ],
        phase,
    );
    let toe = cyclic(
        &[
            (0.0, 8.0),
            (0.1, 0.0),
            (0.38, 0.0),
            (0.52, 18.0),
            (0.6, 22.0),
            (0.7, 4.0),
            (0.9, 6.0),
        ],
        phase,
    );
    stance.turn(&format!("thigh.{side}"), X, -hip);
    stance.turn(&format!("shin.{side}"), X, knee);
    stance.turn(&format!("foot.{side}"), X, -ankle);
    stance.turn(&format!("toe.{side}"), X, -toe);
}

fn walking(skeleton: &Skeleton, phase: f64) -> Stance {
    let mut stance = Stance::default();
    let wave =
        |harmonic: f64, shift: f64| (std::f64::consts::TAU * harmonic * (phase - shift)).cos();
    leg(&mut stance, "L", phase.rem_euclid(1.0));
    leg(&mut stance, "R", (phase + 0.5).rem_euclid(1.0));
    // The pelvis turns with the leading leg (left at phase 0), the chest against it, the head looks ahead.
    let pelvis = wave(1.0, 0.0);
    stance.turn("hips", Y, -5.0 * pelvis);
    stance.turn("hips", Z, 3.0 * wave(1.0, 0.35));
    stance.turn("hips", X, 2.0);
    for spine in ["spine.1", "spine.2", "spine.3"] {
        stance.turn(spine, Y, 4.5 * pelvis);
        stance.turn(spine, Z, -wave(1.0, 0.35));
    }
    stance.turn("spine.2", X, 1.0 + 0.8 * wave(2.0, 0.1));
    stance.turn("neck", Y, -4.0 * pelvis);
    stance.turn("head", Y, -4.0 * pelvis);
    stance.turn("head", X, -2.0 - 0.8 * wave(2.0, 0.1));
    // Legs come a little closer under the body, feet stay level.
    stance.turn_both("thigh", Z, -2.5);
    stance.turn_both("foot", Z, 2.5);
    // Arms hang down and swing against the legs, the elbows a moment later.
    let hinge = arm_hinge(skeleton);
    let elbow = |shift: f64| 16.0 - 12.0 * wave(1.0, 0.05 + shift);
    stance.turn_sides("forearm", hinge, elbow(0.0), elbow(0.5));
    stance.turn_both("upper_arm", arm_axis(skeleton), 14.0);
    stance.turn_both("clavicle", Z, -3.0);
    stance.turn_both("upper_arm", Z, -36.0);
    let swing = 23.0 * wave(1.0, 0.0);
    stance.turn_sides("upper_arm", X, swing - 1.0, -swing - 1.0);
    stance.turn_sides("hand", hinge, 4.0 * wave(1.0, 0.6), 4.0 * wave(1.0, 0.1));
    curl(&mut stance, 16.0, 16.0);
    stance.shift.x = 0.018 * wave(1.0, 0.28);
    stance
}

/// Arms overhead, a bend to either side, a deep squat, and back.
fn stretching(skeleton: &Skeleton, t: f64) -> Stance {
    let mut stance = Stance::default();
    let up = eased(
        &[(0.0, 0.0), (1.1, 1.0), (3.6, 1.0), (4.3, 0.0), (6.0, 0.0)],
        t,
    );
    let bend = eased(
        &[
            (0.9, 0.0),
            (1.8, 1.0),
            (2.1, 1.0),
            (3.0, -1.0),
            (3.3, -1.0),
            (3.9, 0.0),
        ],
        t,
    );
    let squat = eased(&[(3.7, 0.0), (4.6, 1.0), (5.0, 1.0), (5.9, 0.0)], t);
    let hinge = arm_hinge(skeleton);
    // Up: the shoulder blade takes a third of the way.
    stance.turn_both("forearm", hinge, 8.0 * up + 25.0 * squat);
    stance.turn_both("upper_arm", arm_axis(skeleton), -35.0 * up);
    stance.turn_both("upper_arm", Z, 88.0 * up + 8.0 * squat);
    stance.turn_both("clavicle", Z, 26.0 * up);
    stance.turn_both("upper_arm", Y, -52.0 * squat);
    stance.turn_both("hand", Z, -10.0 * up);
    curl(&mut stance, 4.0 + 4.0 * squat, 4.0 + 4.0 * squat);
    for (spine, share) in [
        ("hips", 0.12),
        ("spine.1", 0.28),
        ("spine.2", 0.32),
        ("spine.3", 0.28),
    ] {
        stance.turn(spine, Z, -46.0 * share * bend);
        stance.turn(spine, X, -10.0 * share * up + 4.0 * share * squat);
        stance.turn(spine, Y, 6.0 * share * bend);
    }
    stance.turn("neck", Z, -7.0 * bend);
    stance.turn("head", Z, -6.0 * bend);
    stance.turn("head", X, -8.0 * up - 12.0 * squat);
    // The legs stay upright while the hips lean.
    stance.turn("thigh.L", Z, 5.5 * bend);
    stance.turn("thigh.R", Z, 5.5 * bend);
    // Squat: thighs to the horizontal and outward, trunk forward in balance.
    stance.turn_both("thigh", X, -98.0 * squat);
    stance.turn_both("thigh", Y, 16.0 * squat);
    stance.turn_both("shin", X, 108.0 * squat);
    stance.turn_both("foot", X, -36.0 * squat);
    stance.turn("hips", X, 26.0 * squat);
    stance.shift.z = -0.12 * squat;
    stance
}

/// Standing with hanging arms; the left hand goes up and waves.
fn waving(skeleton: &Skeleton, t: f64) -> Stance {
    let mut stance = Stance::default();
    let up = eased(&[(0.0, 0.0), (0.7, 1.0), (2.3, 1.0), (3.0, 0.0)], t);
    let hinge = arm_hinge(skeleton);
    let to_and_fro = eased(
        &[
            (0.6, 0.0),
            (0.9, 1.0),
            (1.2, -1.0),
            (1.5, 1.0),
            (1.8, -1.0),
            (2.1, 1.0),
            (2.5, 0.0),
        ],
        t,
    );
    stance.turn("forearm.L", hinge, 95.0 * up + 16.0 * to_and_fro);
    stance.turn("upper_arm.L", arm_axis(skeleton), -85.0 * up);
    stance.turn("upper_arm.L", Z, 60.0 * up - 32.0);
    stance.turn("clavicle.L", Z, 8.0 * up);
    stance.turn("hand.L", hinge, 6.0 * to_and_fro);
    stance.turn("upper_arm.R", Z, 32.0);
    stance.turn_both("forearm", hinge, 8.0);
    curl(&mut stance, 12.0 - 8.0 * up, 14.0);
    stance.turn("spine.2", Z, 2.5 * up);
    stance.turn("head", Z, -5.0 * up);
    stance.turn("head", Y, 6.0 * up);
    stance
}
