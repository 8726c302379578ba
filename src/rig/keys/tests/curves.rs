//! Smooth curves, and reduction of samples to keys.

use super::*;

#[test]
fn smooth_curves_stay_between_their_keys() {
    let (mut random, skeleton) = (Random(6), skeleton());
    for _ in 0..50 {
        let clip = random_clip(&mut random, &EASES[2..]);
        let keys = clip.keys(0);
        for pair in keys.windows(2) {
            for step in 0..=20 {
                let t = f64::from(step) / 20.0;
                let time = pair[0].time_secs + t * (pair[1].time_secs - pair[0].time_secs);
                let sampled = clip.sample(&skeleton, time).locals[0];
                for axis in 0..3 {
                    let (a, b) = (
                        pair[0].value.translation[axis],
                        pair[1].value.translation[axis],
                    );
                    let within = sampled.translation[axis] - a.min(b) > -1e-12
                        && a.max(b) - sampled.translation[axis] > -1e-12;
                    assert!(within, "{a} {b} {}", sampled.translation[axis]);
                }
            }
        }
    }
}

#[test]
fn a_smooth_rotation_takes_the_shorter_arc_without_overshoot() {
    let skeleton = skeleton();
    let turn = |degrees: f64| Trs {
        rotation: Quat::from_axis_angle(&Vec64::z_axis(), degrees.to_radians()),
        ..Trs::IDENTITY
    };
    let mut clip = KeyedClip::new("turn", 30.0, 4.0);
    // 170° → 190° (as −170°) → 250° → 250° → 200°.
    for (time, degrees) in [
        (0.0, 170.0),
        (1.0, -170.0),
        (2.0, -110.0),
        (3.0, -110.0),
        (4.0, -160.0),
    ] {
        clip.set_key(at(0, time), turn(degrees));
    }
    let mut last = 170.0_f64;
    for step in 0..=400 {
        let time = f64::from(step) * 0.01;
        let angle = clip.sample(&skeleton, time).locals[0]
            .rotation
            .scaled_axis()
            .z
            .to_degrees()
            .rem_euclid(360.0);
        let rising = time <= 2.0;
        assert!(
            if rising {
                angle - last > -1e-6
            } else {
                last - angle > -1e-6
            },
            "{time} s: {last}° → {angle}°"
        );
        assert!((169.99..=250.01).contains(&angle), "{time} s: {angle}°");
        last = angle;
    }
}

#[test]
fn dense_samples_reduce_to_few_keys_within_the_tolerance() {
    let skeleton = skeleton();
    let mut dense = KeyedClip::new("dense", 120.0, 4.0);
    for frame in 0..=480 {
        let time_secs = f64::from(frame) / 120.0;
        let rotation =
            Quat::from_euler_angles((time_secs * 2.0).sin(), 0.4 * (time_secs * 3.0).cos(), 0.0);
        let translation = Vec64::new(time_secs, 0.1 * (time_secs * 5.0).sin(), 0.0);
        dense.put(
            0,
            Key {
                time_secs,
                value: Trs {
                    translation,
                    rotation,
                    ..Trs::IDENTITY
                },
                ease: Ease::Linear,
            },
        );
        dense.put(
            1,
            Key {
                time_secs,
                value: Trs::IDENTITY,
                ease: Ease::Linear,
            },
        );
    }
    assert!(dense.is_dense());
    let tolerance = KeyTolerance::of_size(2.0);
    let few = dense.reduced(&tolerance);
    assert!(
        few.keys(0).len() < 80 && few.keys(1).len() == 1,
        "{} keys",
        few.keys(0).len()
    );
    for frame in 0..=480 {
        let time = f64::from(frame) / 120.0;
        let (a, b) = (
            few.sample(&skeleton, time).locals[0],
            dense.sample(&skeleton, time).locals[0],
        );
        assert!(a.rotation.angle_to(&b.rotation) <= tolerance.angle_rad + 1e-9);
        assert!((a.translation - b.translation).norm() <= tolerance.distance + 1e-9);
    }
}
