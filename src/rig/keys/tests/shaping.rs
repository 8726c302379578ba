//! Curves as numbers, smoothing, and cycles.

use nalgebra::Unit;

use super::*;
use crate::rig::{JointAxes, JointCurve, JointNumber, Side, Travel};

const NUMBERS: [JointNumber; 6] = [
    JointNumber::Turn(0),
    JointNumber::Turn(1),
    JointNumber::Turn(2),
    JointNumber::Move(0),
    JointNumber::Move(1),
    JointNumber::Move(2),
];

fn axes(joint: usize) -> JointAxes {
    JointAxes::of(&skeleton(), joint)
}

fn curve(clip: &KeyedClip, joint: usize) -> JointCurve {
    JointCurve::of(clip, joint, axes(joint)).unwrap()
}

fn at(joint: usize, key: &Key) -> KeyRef {
    KeyRef::of_joint(joint, key.time_secs)
}

#[test]
fn curves_pass_the_keys_with_the_slopes_that_they_state() {
    let mut random = Random(5);
    let clip = random_clip(&mut random, &[Ease::Smooth, Ease::Linear]);
    let (curve, h) = (curve(&clip, 2), 1e-6);
    for (key, &time) in curve.times_secs().iter().enumerate() {
        let inside = key + 1 < curve.times_secs().len();
        let [now, after] = [time, time + h].map(|time| curve.numbers([time])[0]);
        for number in NUMBERS {
            assert!((now[number.index()] - curve.at_key(key, number)).abs() < 1e-6);
            let Some(rate) = curve.rate(key, Side::After, number) else {
                assert!(!inside);
                continue;
            };
            let measured = (after[number.index()] - now[number.index()]) / h;
            assert!(
                (measured - rate).abs() < 0.05 * (1.0 + rate.abs()),
                "{measured} {rate}"
            );
        }
    }
}

#[test]
fn one_number_of_the_chosen_keys_changes_and_nothing_else() {
    let mut random = Random(9);
    for number in NUMBERS {
        let mut clip = random_clip(&mut random, &[Ease::Smooth, Ease::Linear]);
        let which = at(2, &clip.keys(2)[1]);
        clip.flatten(&[which]);
        clip.set_rate(which, axes(2), number, Some(Side::After), 11.0);
        let before = curve(&clip, 2);
        let other = clip.keys(0).to_vec();
        clip.shift_number(&[which], axes, number, 0.25);
        let after = curve(&clip, 2);
        assert_eq!(clip.keys(0), other);
        for key in 0..before.times_secs().len() {
            for known in NUMBERS {
                let wanted = before.at_key(key, known)
                    + if key == 1 && known == number {
                        0.25
                    } else {
                        0.0
                    };
                assert!((after.at_key(key, known) - wanted).abs() < 1e-6);
            }
        }
        for known in NUMBERS {
            let rates = [Side::Before, Side::After].map(|side| after.rate(1, side, known).unwrap());
            assert!(rates[0].abs() < 1e-6);
            let wanted = if known == number { 11.0 } else { 0.0 };
            assert!((rates[1] - wanted).abs() < 1e-6, "{rates:?}");
        }
        clip.shift_number(&[which], axes, number, f64::NAN);
        assert!((curve(&clip, 2).at_key(1, number) - after.at_key(1, number)).abs() < 1e-12);
    }
}

#[test]
fn a_slope_is_set_on_one_side_or_on_both_and_the_rest_of_the_curve_stays() {
    let mut random = Random(3);
    let clip = random_clip(&mut random, &[Ease::Smooth]);
    let which = at(0, &clip.keys(0)[1]);
    for number in NUMBERS {
        let mut edited = clip.clone();
        edited.set_rate(which, axes(0), number, None, -40.0);
        let (old, new) = (curve(&clip, 0), curve(&edited, 0));
        for known in NUMBERS {
            for side in [Side::Before, Side::After] {
                let rate = new.rate(1, side, known).unwrap();
                let wanted = if known == number {
                    -40.0
                } else {
                    old.rate(1, side, known).unwrap()
                };
                assert!((rate - wanted).abs() < 1e-6, "{rate} {wanted}");
            }
        }
        // Beyond the two pieces nothing changes.
        let last = clip.keys(0).len() - 1;
        if last > 2 {
            let time = f64::midpoint(clip.keys(0)[2].time_secs, clip.keys(0)[3].time_secs);
            let [a, b] = [&old, &new].map(|curve| curve.numbers([time])[0]);
            assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9));
        }
        edited.set_rate(which, axes(0), number, Some(Side::Before), f64::INFINITY);
        assert_eq!(
            curve(&edited, 0).rate(1, Side::Before, number),
            new.rate(1, Side::Before, number)
        );
    }
}

#[test]
fn smoothing_takes_jitter_off_and_leaves_even_motion_alone() {
    let mut random = Random(17);
    let mut even = KeyedClip::new("even", 30.0, 2.0);
    let mut rough = even.clone();
    for frame in 0..=40 {
        let time_secs = f64::from(frame) * 0.05;
        let value = |jitter: f64| Trs {
            rotation: Quat::from_euler_angles(0.0, 0.0, time_secs + jitter),
            ..Trs::at(Vec64::new(time_secs + jitter, 0.0, 0.0))
        };
        let jitter = 0.1 * (random.unit() - 0.5);
        even.put(
            0,
            Key {
                time_secs,
                value: value(0.0),
                ease: Ease::Linear,
            },
        );
        rough.put(
            0,
            Key {
                time_secs,
                value: value(jitter),
                ease: Ease::Linear,
            },
        );
    }
    let keys = |clip: &KeyedClip| {
        clip.keys(0)
            .iter()
            .map(|key| at(0, key))
            .collect::<Vec<_>>()
    };
    let roughness = |clip: &KeyedClip| {
        let x: Vec<f64> = clip
            .keys(0)
            .iter()
            .map(|key| key.value.translation.x)
            .collect();
        x.windows(3)
            .map(|x| (x[0] - 2.0 * x[1] + x[2]).powi(2))
            .sum::<f64>()
    };
    let all = keys(&even);
    let mut smoothed = even.clone();
    assert_eq!(smoothed.smooth_keys(&all), 39);
    for (a, b) in even.keys(0).iter().zip(smoothed.keys(0)) {
        assert!((a.value.translation - b.value.translation).norm() < 1e-12);
        assert!(a.value.rotation.angle_to(&b.value.rotation) < 1e-7);
    }
    let before = roughness(&rough);
    let ends = [rough.keys(0)[0].value, rough.keys(0)[40].value];
    rough.smooth_keys(&all);
    assert!(roughness(&rough) < 0.5 * before);
    assert_eq!([rough.keys(0)[0].value, rough.keys(0)[40].value], ends);
    // Two neighbours alone have nothing between them.
    assert_eq!(rough.smooth_keys(&all[3..5]), 0);
}

/// A walk: the hips go on by `step` and `turn` a cycle, sway, and do not quite meet; a leg swings.
fn walk(step: f64, turn: f64, miss: f64) -> KeyedClip {
    let mut clip = KeyedClip::new("walk", 30.0, 1.0);
    for key in 0..=8 {
        let time_secs = f64::from(key) / 8.0;
        let phase = time_secs * std::f64::consts::TAU;
        let (heading, radius) = (
            turn * time_secs,
            if turn == 0.0 { 0.0 } else { step / turn },
        );
        let place = if turn == 0.0 {
            Vec64::new(0.0, 0.0, step * time_secs)
        } else {
            Vec64::new(radius * (1.0 - heading.cos()), 0.0, radius * heading.sin())
        };
        let hips = Trs {
            rotation: Quat::from_axis_angle(&Vec64::y_axis(), heading)
                * Quat::from_euler_angles(0.1 * phase.sin(), 0.0, 0.05 * phase.cos()),
            ..Trs::at(
                place
                    + Vec64::new(
                        0.0,
                        1.0 + 0.03 * (2.0 * phase).sin() + miss * time_secs,
                        0.0,
                    ),
            )
        };
        clip.put(
            0,
            Key {
                time_secs,
                value: hips,
                ease: Ease::Smooth,
            },
        );
        let leg = Trs {
            rotation: Quat::from_euler_angles(0.5 * phase.sin() + miss * time_secs, 0.0, 0.0),
            ..Trs::at(Vec64::y())
        };
        clip.put(
            1,
            Key {
                time_secs,
                value: leg,
                ease: Ease::Smooth,
            },
        );
    }
    clip
}

/// How far the end of a joint is from its start, and how far the speeds there differ, in the six numbers; without the moves over the ground.
fn seam(clip: &KeyedClip, joint: usize, skipped: &[JointNumber]) -> [f64; 2] {
    let (curve, end) = (curve(clip, joint), clip.duration_secs());
    let last = curve.times_secs().len() - 1;
    assert!((curve.times_secs()[last] - end).abs() < 1e-9);
    let mut worst = [0.0_f64; 2];
    for number in NUMBERS.iter().filter(|number| !skipped.contains(number)) {
        let apart = (curve.at_key(last, *number) - curve.at_key(0, *number)).abs();
        let rates = curve.rate(last, Side::Before, *number).unwrap()
            - curve.rate(0, Side::After, *number).unwrap();
        worst = [worst[0].max(apart), worst[1].max(rates.abs())];
    }
    worst
}

#[test]
fn a_closed_walk_ends_as_it_begins_and_keeps_its_way() {
    let (up, size) = (Vec64::y_axis(), 2.0);
    let mut clip = walk(1.4, 0.0, 0.02);
    assert!(seam(&clip, 1, &[])[0] > 1.0);
    clip.close_loop(&skeleton(), up, size, Travel::Kept);
    let over_ground = [JointNumber::Move(0), JointNumber::Move(2)];
    for (joint, skipped) in [(0, &over_ground[..]), (1, &[])] {
        let [apart, rates] = seam(&clip, joint, skipped);
        assert!(apart < 1e-6 && rates < 1e-4, "{joint}: {apart} {rates}");
    }
    let hips = clip.keys(0);
    let way = hips[hips.len() - 1].value.translation - hips[0].value.translation;
    assert!((way - Vec64::new(0.0, 0.0, 1.4)).norm() < 1e-9, "{way:?}");
    // Forward speed is the same on both sides of the seam.
    let hips = curve(&clip, 0);
    let forward = JointNumber::Move(2);
    let [leaving, arriving] = [
        hips.rate(0, Side::After, forward).unwrap(),
        hips.rate(8, Side::Before, forward).unwrap(),
    ];
    assert!(
        (leaving - arriving).abs() < 1e-6 && leaving > 1.0,
        "{leaving} {arriving}"
    );
}

#[test]
fn a_walk_in_place_stays_above_one_spot() {
    for turn in [0.0, 1.2] {
        let mut clip = walk(1.4, turn, 0.01);
        clip.close_loop(&skeleton(), Vec64::y_axis(), 2.0, Travel::InPlace);
        for joint in [0, 1] {
            let [apart, rates] = seam(&clip, joint, &[]);
            assert!(
                apart < 1e-6 && rates < 1e-3,
                "{turn} {joint}: {apart} {rates}"
            );
        }
        for frame in 0..=30 {
            let pose = clip.sample(&skeleton(), f64::from(frame) / 30.0);
            let place = pose.locals[0].translation;
            assert!(
                place.x.abs().max(place.z.abs()) < 0.03,
                "{turn} {frame}: {place:?}"
            );
        }
        // A second time nothing changes.
        let mut again = clip.clone();
        again.close_loop(&skeleton(), Vec64::y_axis(), 2.0, Travel::InPlace);
        for (a, b) in clip.keys(0).iter().zip(again.keys(0)) {
            assert!((a.value.translation - b.value.translation).norm() < 1e-9);
        }
    }
}

#[test]
fn repeated_walks_go_on_in_a_line_or_in_a_circle() {
    let (up, size) = (Vec64::y_axis(), 2.0);
    for turn in [0.0, std::f64::consts::FRAC_PI_2] {
        let mut clip = walk(1.4, turn, 0.0);
        clip.close_loop(&skeleton(), up, size, Travel::Kept);
        let four = clip.repeated(&skeleton(), up, size, 4);
        assert!((four.duration_secs() - 4.0).abs() < 1e-9);
        assert_eq!(four.keys(0).len(), 33);
        let place =
            |clip: &KeyedClip, time: f64| clip.sample(&skeleton(), time).locals[0].translation;
        let way = place(&four, 4.0) - place(&four, 0.0);
        let wanted = if turn == 0.0 { 4.0 * 1.4 } else { 0.0 };
        assert!((way.norm() - wanted).abs() < 1e-6, "{way:?}");
        // Each step goes as far as the first, and the seams have no jumps of speed.
        for cycle in 0..4 {
            let time = f64::from(cycle);
            let step = (place(&four, time + 0.5) - place(&four, time)).norm();
            let first = (place(&four, 0.5) - place(&four, 0.0)).norm();
            assert!((step - first).abs() < 1e-6);
            if cycle > 0 {
                let h = 1e-5;
                let bend =
                    place(&four, time + h) - 2.0 * place(&four, time) + place(&four, time - h);
                assert!((bend / h).norm() < 1e-2, "{bend:?}");
            }
        }
    }
}

#[test]
fn cycles_of_poor_clips_are_harmless() {
    let up = Unit::new_normalize(Vec64::y());
    let mut clip = KeyedClip::new("still", 30.0, 1.0);
    clip.set_key(KeyRef::of_joint(0, 0.5), Trs::IDENTITY);
    for travel in [Travel::Kept, Travel::InPlace] {
        let mut closed = clip.clone();
        closed.close_loop(&skeleton(), up, 2.0, travel);
        assert_eq!(closed, clip);
    }
    assert_eq!(clip.repeated(&skeleton(), up, 2.0, 0), clip);
    let mut short = walk(0.0, 0.0, 0.1);
    short.set_duration(0.3);
    short.close_loop(&skeleton(), up, 2.0, Travel::Kept);
    assert!(short.key_times().iter().all(|time| *time <= 0.3 + 1e-9));
    assert!(short.key_times().len() == 4);
}
