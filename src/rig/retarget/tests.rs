//! Property tests on generated bodies.

mod matching;
mod rest;

use super::*;
use crate::math::{Affine, Point64, Quat, Vec64, origin_of};
use crate::rig::{Channel, Curve, Pose, Track};

/// Parameters of a generated body.
#[derive(Clone, Copy)]
struct Build {
    names: fn(&str) -> String,
    /// Arms below horizontal, radians.
    arms_down: f64,
    legs_apart: f64,
    scale: f64,
    spine: usize,
    /// Rotates the whole body: another up axis.
    turn: [f64; 3],
}

const PLAIN: Build = Build {
    names: blender,
    arms_down: 0.0,
    legs_apart: 0.0,
    scale: 1.0,
    spine: 3,
    turn: [0.0; 3],
};

fn blender(name: &str) -> String {
    name.to_owned()
}

fn mixamo(name: &str) -> String {
    let (base, side) = name.rsplit_once('.').map_or((name, ""), |(base, side)| {
        (base, if side == "L" { "Left" } else { "Right" })
    });
    let base = match base {
        "hips" => "Hips",
        "clavicle" => "Shoulder",
        "upper_arm" => "Arm",
        "forearm" => "ForeArm",
        "hand" => "Hand",
        "thigh" => "UpLeg",
        "shin" => "Leg",
        "foot" => "Foot",
        "toe" => "ToeBase",
        "toe_end" => "Toe_End",
        "head" => "Head",
        "neck" => "Neck",
        other => return format!("mixamorig:{}", other.replace("spine", "Spine")),
    };
    format!("mixamorig:{side}{base}")
}

fn body(build: Build) -> Skeleton {
    let mut joints: Vec<(String, Option<usize>, Vec64)> =
        vec![("hips".into(), None, Vec64::new(0.0, 0.95, 0.0))];
    for i in 0..build.spine {
        let parent = joints.len() - 1;
        joints.push((
            format!("spine{i}"),
            Some(parent),
            Vec64::new(0.0, 1.0 + 0.4 * (i + 1) as f64 / build.spine as f64, 0.0),
        ));
    }
    let chest = joints.len() - 1;
    joints.push(("neck".into(), Some(chest), Vec64::new(0.0, 1.5, 0.0)));
    joints.push(("head".into(), Some(chest + 1), Vec64::new(0.0, 1.6, 0.02)));
    for (letter, sign) in [("L", 1.0), ("R", -1.0)] {
        let name = |what: &str| format!("{what}.{letter}");
        let along = Vec64::new(sign * build.arms_down.cos(), -build.arms_down.sin(), 0.0);
        let shoulder = Vec64::new(sign * 0.18, 1.42, 0.0);
        let first = joints.len();
        joints.push((
            name("clavicle"),
            Some(chest),
            Vec64::new(sign * 0.04, 1.4, 0.0),
        ));
        for (i, (what, far)) in [("upper_arm", 0.0), ("forearm", 0.3), ("hand", 0.55)]
            .into_iter()
            .enumerate()
        {
            joints.push((name(what), Some(first + i), shoulder + along * far));
        }
        let down = Vec64::new(sign * build.legs_apart.sin(), -build.legs_apart.cos(), 0.0);
        let hip = Vec64::new(sign * 0.1, 0.92, 0.0);
        let first = joints.len();
        joints.push((name("thigh"), Some(0), hip));
        joints.push((name("shin"), Some(first), hip + down * 0.42));
        joints.push((name("foot"), Some(first + 1), hip + down * 0.84));
        joints.push((
            name("toe"),
            Some(first + 2),
            hip + down * 0.84 + Vec64::new(0.0, -0.06, 0.13),
        ));
        joints.push((
            name("toe_end"),
            Some(first + 3),
            hip + down * 0.84 + Vec64::new(0.0, -0.06, 0.2),
        ));
    }
    let turn = Quat::from_euler_angles(build.turn[0], build.turn[1], build.turn[2]);
    let made: Vec<_> = joints
        .into_iter()
        .map(|(name, parent, place)| {
            (
                (build.names)(&name),
                parent,
                Point64::from(turn * place * build.scale),
            )
        })
        .collect();
    Skeleton::from_positions(&made).unwrap()
}

/// Limbs, spine and hips oscillate, the hips translate; smooth in time.
fn oscillation(skeleton: &Skeleton, frames: usize, travel: Vec64) -> Clip {
    let times_secs: Vec<f64> = (0..frames).map(|frame| frame as f64 / 30.0).collect();
    let mut tracks = Vec::new();
    for (joint, rig) in skeleton.joints().iter().enumerate() {
        let turn = |time: &f64| {
            let phase = joint as f64 * 1.7;
            let wave = |speed: f64| (time * speed + phase).sin() - phase.sin();
            (Quat::new(Vec64::new(
                0.3 * wave(2.0),
                0.2 * wave(1.3),
                0.25 * wave(1.7),
            )) * rig.rest.rotation)
                .into_inner()
        };
        let values = times_secs.iter().map(turn).collect();
        let curve = Curve::linear(times_secs.clone(), values);
        tracks.push(Track {
            joint,
            channel: Channel::Rotation(curve),
        });
    }
    let values = times_secs
        .iter()
        .map(|time| skeleton.joints()[0].rest.translation + travel * *time)
        .collect();
    let curve = Curve::linear(times_secs.clone(), values);
    tracks.push(Track {
        joint: 0,
        channel: Channel::Translation(curve),
    });
    Clip {
        name: "dance".into(),
        duration_secs: times_secs[frames - 1],
        tracks,
        morphs: Vec::new(),
    }
}

fn put(source: &Skeleton, clip: &Clip, target: &Skeleton) -> Retargeted {
    retarget(
        source,
        clip,
        target,
        &Mapping::guess(source, target),
        &Progress::new(),
    )
    .unwrap()
}

fn world(skeleton: &Skeleton, clip: &Clip, time: f64) -> Vec<Affine> {
    skeleton.world_from_joint(&clip.sample(skeleton, time))
}

const LIMBS: [(&str, &str); 8] = [
    ("upper_arm.L", "forearm.L"),
    ("forearm.L", "hand.L"),
    ("upper_arm.R", "forearm.R"),
    ("forearm.R", "hand.R"),
    ("thigh.L", "shin.L"),
    ("shin.L", "foot.L"),
    ("thigh.R", "shin.R"),
    ("shin.R", "foot.R"),
];

/// Largest angle between limbs of the motion and of the character; `axes` maps the motion's axes to
/// the character's.
fn largest_angle(
    source: (&Skeleton, Build, &Clip),
    target: (&Skeleton, Build, &Clip),
    axes: &Quat,
    delay: f64,
) -> f64 {
    let bone = |(skeleton, build, clip): (&Skeleton, Build, &Clip),
                time: f64,
                (from, to): (&str, &str)| {
        let world = world(skeleton, clip, time);
        let place = |name: &str| origin_of(&world[skeleton.find(&(build.names)(name)).unwrap()]);
        place(to) - place(from)
    };
    let mut worst = 0.0_f64;
    let frames = (target.2.duration_secs * 30.0).round() as usize;
    for time in (0..=frames).map(|frame| frame as f64 / 30.0) {
        for limb in LIMBS {
            worst = worst
                .max((axes * bone(source, time + delay, limb)).angle(&bone(target, time, limb)));
        }
    }
    worst
}

#[test]
fn retargeting_to_the_same_skeleton_is_the_identity() {
    let skeleton = body(PLAIN);
    let clip = oscillation(&skeleton, 40, Vec64::zeros());
    let made = put(&skeleton, &clip, &skeleton);
    assert!((made.scale - 1.0).abs() < 1e-9 && !made.first_left_out);
    for time in [0.0, 0.5, 1.2] {
        let (own, again) = (
            world(&skeleton, &clip, time),
            world(&skeleton, &made.clip, time),
        );
        for (joint, (a, b)) in own.iter().zip(&again).enumerate() {
            // Heights are measured from the ground, so the whole body may be translated.
            let shift = origin_of(&again[0]) - origin_of(&own[0]);
            let name = &skeleton.joints()[joint].name;
            assert!(
                (origin_of(a) + shift - origin_of(b)).norm() < 1e-6,
                "{name}"
            );
        }
    }
}

#[test]
fn limb_directions_are_kept_for_other_names_rest_poses_and_sizes() {
    let source_build = Build {
        names: mixamo,
        arms_down: 0.1,
        legs_apart: 0.35,
        scale: 17.0,
        spine: 4,
        ..PLAIN
    };
    let target_build = Build {
        arms_down: 0.8,
        ..PLAIN
    };
    let (source, target) = (body(source_build), body(target_build));
    let clip = oscillation(&source, 60, Vec64::zeros());
    let made = put(&source, &clip, &target);
    assert!((made.scale * 17.0 - 1.0).abs() < 1e-6, "{}", made.scale);
    let worst = largest_angle(
        (&source, source_build, &clip),
        (&target, target_build, &made.clip),
        &Quat::identity(),
        0.0,
    );
    assert!(worst < 1e-6, "{worst}");
}

#[test]
fn a_motion_with_z_up_stands_upright() {
    let source_build = Build {
        turn: [std::f64::consts::FRAC_PI_2, 0.0, 0.0],
        ..PLAIN
    };
    let (source, target) = (body(source_build), body(PLAIN));
    let clip = oscillation(&source, 40, Vec64::new(0.0, -1.0, 0.0));
    let made = put(&source, &clip, &target);
    assert_eq!(made.up, SignedAxis::Z);
    let axes = Quat::from_euler_angles(-std::f64::consts::FRAC_PI_2, 0.0, 0.0);
    assert!(
        largest_angle(
            (&source, source_build, &clip),
            (&target, PLAIN, &made.clip),
            &axes,
            0.0
        ) < 1e-6
    );
    let hips = |time| origin_of(&world(&target, &made.clip, time)[0]);
    let walked = hips(1.0) - hips(0.0);
    assert!(
        (walked.z - 1.0).abs() < 0.05 && walked.x.abs() < 0.05,
        "what walks to −Y with Z up walks to +Z: {walked}"
    );
}

#[test]
fn hip_translation_scales_with_leg_length() {
    let (source, target) = (
        body(Build {
            scale: 10.0,
            ..PLAIN
        }),
        body(PLAIN),
    );
    let clip = oscillation(&source, 60, Vec64::new(5.0, 0.0, 0.0));
    let made = put(&source, &clip, &target);
    let middle = |skeleton: &Skeleton, clip: &Clip, time| {
        let world = world(skeleton, clip, time);
        let place = |name| origin_of(&world[skeleton.find(name).unwrap()]).coords;
        (place("thigh.L") + place("thigh.R")) / 2.0
    };
    let step = |skeleton: &Skeleton, clip: &Clip| {
        middle(skeleton, clip, 1.5) - middle(skeleton, clip, 0.0)
    };
    let (own, expected) = (step(&target, &made.clip), step(&source, &clip) / 10.0);
    assert!((own - expected).xz().norm() < 1e-6, "{own} {expected}");
    let start = middle(&target, &made.clip, 0.0)
        - middle(
            &target,
            &Clip {
                tracks: Vec::new(),
                ..made.clip.clone()
            },
            0.0,
        );
    assert!(
        start.xz().norm() < 1e-6,
        "it begins where the character stands"
    );
}
