//! Property tests of keys.

mod curves;
mod shaping;

use super::*;
use crate::math::Point64;
use crate::rig::{Channel, Curve, Interpolation, Track};

/// A small deterministic generator.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn value(&mut self) -> Trs {
        let mut number = |scale: f64| (self.unit() - 0.5) * scale;
        Trs {
            translation: Vec64::new(number(2.0), number(2.0), number(2.0)),
            rotation: Quat::from_euler_angles(number(3.0), number(3.0), number(3.0)),
            scale: Vec64::new(1.0 + number(0.5), 1.0 + number(0.5), 1.0 + number(0.5)),
        }
    }
}

fn skeleton() -> Skeleton {
    let p = |y: f64| Point64::new(0.0, y, 0.0);
    Skeleton::from_positions(&[
        ("a".into(), None, p(0.0)),
        ("b".into(), Some(0), p(1.0)),
        ("c".into(), Some(1), p(2.0)),
    ])
    .unwrap()
}

/// Two joints with keys at unequal times; the interpolation of each last key equals that of the one
/// before.
fn random_clip(random: &mut Random, eases: &[Ease]) -> KeyedClip {
    let mut clip = KeyedClip::new("made", 30.0, 3.0);
    for joint in [0, 2] {
        let count = 3 + (random.unit() * 5.0) as usize;
        let mut ease = Ease::Smooth;
        for index in 0..count {
            if index + 1 < count {
                ease = eases[(random.unit() * eases.len() as f64) as usize % eases.len()].clone();
            }
            let time_secs = (index as f64 + 0.8 * random.unit()) * 0.4;
            clip.put(
                joint,
                Key {
                    time_secs,
                    value: random.value(),
                    ease: ease.clone(),
                },
            );
        }
    }
    clip
}

const EASES: [Ease; 3] = [Ease::Step, Ease::Linear, Ease::Smooth];

fn at(joint: usize, time_secs: f64) -> KeyRef {
    KeyRef::of_joint(joint, time_secs)
}

fn apart(a: &Trs, b: &Trs) -> f64 {
    (a.to_affine().matrix() - b.to_affine().matrix()).norm()
}

fn all_keys(clip: &KeyedClip) -> Vec<KeyRef> {
    clip.tracks()
        .flat_map(|(joint, keys)| keys.iter().map(move |key| at(joint, key.time_secs)))
        .collect()
}

fn in_order(clip: &KeyedClip) -> bool {
    clip.tracks().all(|(_, keys)| {
        !keys.is_empty()
            && keys
                .windows(2)
                .all(|pair| pair[1].time_secs - pair[0].time_secs > 0.5 * SAME_SECS)
    })
}

#[test]
fn sampling_at_a_key_returns_the_key() {
    let (mut random, skeleton) = (Random(1), skeleton());
    for _ in 0..50 {
        let clip = random_clip(&mut random, &EASES);
        for key in all_keys(&clip) {
            let sampled = clip.sample(&skeleton, key.time_secs).locals[key.joint().unwrap()];
            assert!(
                apart(&sampled, &clip.key(key).unwrap().value) < 1e-9,
                "{key:?}"
            );
        }
    }
}

#[test]
fn a_keyed_clip_round_trips_through_a_clip() {
    let (mut random, skeleton) = (Random(2), skeleton());
    for round in 0..200 {
        let eases = match round % 4 {
            0 => &EASES[..1],
            1 => &EASES[1..2],
            2 => &EASES[2..],
            _ => &EASES[..],
        };
        let clip = random_clip(&mut random, eases);
        let back = KeyedClip::from_clip(clip.clip(), &skeleton, clip.fps());
        assert_eq!(back, clip, "round {round}");
    }
}

#[test]
fn set_then_delete_restores_the_clip() {
    let mut random = Random(3);
    for _ in 0..50 {
        let before = random_clip(&mut random, &EASES);
        let mut clip = before.clone();
        let key = at(2, 1.234);
        if clip.key(key).is_some() {
            continue;
        }
        clip.set_key(key, random.value());
        assert_ne!(clip, before);
        clip.remove_keys(&[key]);
        clip.set_duration(before.duration_secs());
        assert_eq!(clip, before);
    }
}

#[test]
fn moving_and_scaling_keep_order_and_values() {
    let (mut random, skeleton) = (Random(4), skeleton());
    for _ in 0..100 {
        let before = random_clip(&mut random, &EASES);
        let which: Vec<KeyRef> = all_keys(&before)
            .into_iter()
            .filter(|_| random.unit() < 0.5)
            .collect();
        let mut moved = before.clone();
        moved.move_keys(&which, (random.unit() - 0.5) * 3.0);
        assert!(in_order(&moved) && moved.key_count() <= before.key_count());
        let mut scaled = before.clone();
        scaled.scale_keys(&which, 1.0, 3.0 * random.unit() + 0.01);
        assert!(in_order(&scaled));
        // Moving all keys forth and back is the identity.
        let (mut there, all) = (before.clone(), all_keys(&before));
        there.move_keys(&all, 0.5);
        for time in [0.0, 0.3, 0.77, 1.9] {
            for (a, b) in there
                .sample(&skeleton, time + 0.5)
                .locals
                .iter()
                .zip(&before.sample(&skeleton, time).locals)
            {
                assert!(apart(a, b) < 1e-9);
            }
        }
        let back: Vec<KeyRef> = all
            .iter()
            .map(|key| at(key.joint().unwrap(), key.time_secs + 0.5))
            .collect();
        there.move_keys(&back, -0.5);
        assert_eq!(there.key_count(), before.key_count());
    }
}

#[test]
fn keys_stay_after_the_start_and_invalid_input_is_ignored() {
    let mut clip = random_clip(&mut Random(5), &EASES);
    let before = clip.clone();
    clip.move_keys(&all_keys(&before), f64::NAN);
    clip.scale_keys(&all_keys(&before), 0.0, -1.0);
    clip.set_key(at(0, f64::NAN), Trs::IDENTITY);
    clip.set_key(
        at(0, 1.0),
        Trs {
            translation: Vec64::new(f64::NAN, 0.0, 0.0),
            ..Trs::IDENTITY
        },
    );
    clip.set_duration(f64::INFINITY);
    assert_eq!(clip, before);
    clip.move_keys(&all_keys(&before), -100.0);
    assert!(clip.key_times()[0].abs() < 1e-12 && clip.key_count() == before.key_count());
}

#[test]
fn a_files_clip_keeps_its_keys_and_its_motion() {
    let skeleton = skeleton();
    let q = |x: f64, y: f64| Quat::from_euler_angles(x, y, 0.0).into_inner();
    let flat = |v: f64| nalgebra::Quaternion::new(v, 0.1 * v, -v, 0.3);
    let cubic = Curve {
        times_secs: vec![0.0, 1.0, 2.0],
        values: vec![
            flat(0.0),
            q(0.0, 0.2),
            flat(0.5),
            flat(-0.2),
            -q(1.0, 0.0),
            flat(0.1),
            flat(0.4),
            q(0.3, 0.9),
            flat(0.0),
        ],
        interpolation: Interpolation::Cubic,
    };
    let steps = Curve {
        times_secs: vec![0.5, 1.5],
        values: vec![Vec64::x(), Vec64::y()],
        interpolation: Interpolation::Step,
    };
    let lines = Curve::linear(
        vec![0.0, 1.0, 2.0],
        vec![Vec64::x(), Vec64::z(), Vec64::y()],
    );
    let clip = Clip {
        name: "file".into(),
        duration_secs: 2.0,
        tracks: vec![
            Track {
                joint: 0,
                channel: Channel::Rotation(cubic),
            },
            Track {
                joint: 0,
                channel: Channel::Translation(lines.clone()),
            },
            Track {
                joint: 1,
                channel: Channel::Translation(lines),
            },
            Track {
                joint: 2,
                channel: Channel::Translation(steps),
            },
        ],
        morphs: Vec::new(),
    };
    let keyed = KeyedClip::from_clip(&clip, &skeleton, 30.0);
    let times = |joint: usize| {
        keyed
            .keys(joint)
            .iter()
            .map(|key| key.time_secs)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (times(0), times(1), times(2)),
        (vec![0.0, 1.0, 2.0], vec![0.0, 1.0, 2.0], vec![0.5, 1.5])
    );
    assert_eq!(
        (&keyed.keys(1)[0].ease, &keyed.keys(2)[0].ease),
        (&Ease::Linear, &Ease::Step)
    );
    for step in 0..=200 {
        let time = f64::from(step) * 0.01;
        let (a, b) = (keyed.sample(&skeleton, time), clip.sample(&skeleton, time));
        for joint in 0..3 {
            // The second rotation has the opposite sign: its curve takes the longer arc, which keys
            // cannot represent.
            let skips = joint == 0;
            let moved = (a.locals[joint].translation - b.locals[joint].translation).norm();
            assert!(moved < 1e-9, "{time} s, joint {joint}: {moved}");
            assert!(skips || apart(&a.locals[joint], &b.locals[joint]) < 1e-9);
        }
    }
}

#[test]
fn a_file_round_trips() {
    let (mut random, skeleton) = (Random(7), skeleton());
    let mut clip = random_clip(&mut random, &EASES);
    let slope = Slope {
        translation: Vec64::x(),
        rotation: nalgebra::Quaternion::new(0.1, 0.2, 0.3, 0.4),
        scale: Vec64::y(),
    };
    clip.put(
        1,
        Key {
            time_secs: 0.1,
            value: random.value(),
            ease: Ease::Free(Box::new([slope, slope])),
        },
    );
    clip.put(
        1,
        Key {
            time_secs: 0.7,
            value: random.value(),
            ease: Ease::Smooth,
        },
    );
    assert_eq!(
        KeyedClip::from_file(&clip.to_file(&skeleton), &skeleton).unwrap(),
        clip
    );
    let text = serde_json::to_string(&clip.to_file(&skeleton)).unwrap();
    let read = KeyedClip::from_file(&serde_json::from_str(&text).unwrap(), &skeleton).unwrap();
    for ((joint, keys), (same, read)) in clip.tracks().zip(read.tracks()) {
        assert_eq!((joint, keys.len()), (same, read.len()));
        // The JSON reader rounds the last digit.
        assert!(
            keys.iter()
                .zip(read)
                .all(|(a, b)| same_time(a.time_secs, b.time_secs)
                    && a.ease == b.ease
                    && apart(&a.value, &b.value) < 1e-12)
        );
    }
    let pose = NamedPose {
        name: "wave".into(),
        pose: Pose {
            locals: (0..3).map(|_| random.value()).collect(),
            ..Pose::default()
        },
    };
    assert_eq!(
        NamedPose::from_file(&pose.to_file(&skeleton), &skeleton).unwrap(),
        pose
    );
    let wrong = KeyedClipFile {
        joints: [("bb".to_owned(), Vec::new())].into(),
        ..clip.to_file(&skeleton)
    };
    assert!(
        KeyedClip::from_file(&wrong, &skeleton)
            .unwrap_err()
            .to_string()
            .contains("bb")
    );
}
