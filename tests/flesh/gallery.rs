//! Ordinary poses of the built-in character, beside the better of linear blending and dual quaternions.

use std::sync::Arc;

use nalgebra::{UnitQuaternion, Vector3};
use sinew::character::{Character, FleshSettings, SimVertices};
use sinew::dynamics::Params;
use sinew::math::{Affine, Quat, Vec64};
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::metrics::{Meter, MeterFrame, RestSkin, intersections, roughness, volume};
use sinew::progress::Progress;
use sinew::rig::Pose;

/// One pose: joints that turn about the world's axes by degrees, and bones that point in a direction of the world.
struct Gesture {
    name: &'static str,
    turns: Vec<(&'static str, [f64; 3])>,
    aims: Vec<(&'static str, [f64; 3])>,
}

fn gesture<const T: usize, const A: usize>(
    name: &'static str,
    turns: [(&'static str, [f64; 3]); T],
    aims: [(&'static str, [f64; 3]); A],
) -> Gesture {
    Gesture {
        name,
        turns: turns.to_vec(),
        aims: aims.to_vec(),
    }
}

/// Both legs alike: hips and knees bend by degrees.
fn legs(hip: f64, knee: f64) -> [(&'static str, [f64; 3]); 4] {
    [
        ("thigh.L", [-hip, 0.0, 0.0]),
        ("thigh.R", [-hip, 0.0, 0.0]),
        ("shin.L", [knee, 0.0, 0.0]),
        ("shin.R", [knee, 0.0, 0.0]),
    ]
}

/// The spine bends by degrees in all.
fn spine([x, y, z]: [f64; 3]) -> [(&'static str, [f64; 3]); 3] {
    ["spine.1", "spine.2", "spine.3"].map(|joint| (joint, [x / 3.0, y / 3.0, z / 3.0]))
}

fn fingers(names: &[&'static str], degrees: f64) -> Vec<(&'static str, [f64; 3])> {
    names
        .iter()
        .map(|name| (*name, [0.0, 0.0, -degrees]))
        .collect()
}

const FINGERS: [&str; 12] = [
    "index.1.L",
    "index.2.L",
    "index.3.L",
    "middle.1.L",
    "middle.2.L",
    "middle.3.L",
    "ring.1.L",
    "ring.2.L",
    "ring.3.L",
    "little.1.L",
    "little.2.L",
    "little.3.L",
];

/// 24 ordinary poses.
#[expect(clippy::too_many_lines, reason = "a table")]
fn gestures() -> Vec<Gesture> {
    let up = [0.2, 1.0, 0.1];
    let forward = [0.1, 0.0, 1.0];
    vec![
        gesture("sit", legs(90.0, 90.0), []),
        gesture("crouch", legs(110.0, 120.0), []),
        gesture("reach up", [], [("upper_arm.L", up)]),
        gesture("reach forward", [], [("upper_arm.L", forward)]),
        gesture(
            "arms down",
            [],
            [
                ("upper_arm.L", [0.25, -1.0, 0.0]),
                ("upper_arm.R", [-0.25, -1.0, 0.0]),
            ],
        ),
        gesture(
            "hug",
            [],
            [
                ("upper_arm.L", [0.4, -0.1, 1.0]),
                ("forearm.L", [-0.8, 0.0, 0.6]),
                ("upper_arm.R", [-0.4, -0.1, 1.0]),
                ("forearm.R", [0.8, 0.1, 0.6]),
            ],
        ),
        Gesture {
            name: "fist",
            turns: fingers(&FINGERS, 80.0),
            aims: Vec::new(),
        },
        Gesture {
            name: "point",
            turns: fingers(&FINGERS[3..], 75.0),
            aims: vec![("upper_arm.L", forward)],
        },
        gesture("heel to buttock", [("shin.L", [130.0, 0.0, 0.0])], []),
        gesture(
            "look over the shoulder",
            [("neck", [0.0, 40.0, 0.0]), ("head", [0.0, 40.0, 0.0])],
            [],
        ),
        gesture(
            "hand on hip",
            [],
            [
                ("upper_arm.L", [0.7, -0.8, -0.2]),
                ("forearm.L", [-0.6, -0.7, 0.4]),
            ],
        ),
        gesture(
            "arms crossed",
            [],
            [
                ("upper_arm.L", [0.3, -0.7, 0.6]),
                ("forearm.L", [-1.0, 0.2, 0.5]),
                ("upper_arm.R", [-0.3, -0.7, 0.6]),
                ("forearm.R", [1.0, 0.0, 0.6]),
            ],
        ),
        gesture(
            "side splits",
            [
                ("thigh.L", [0.0, 0.0, 65.0]),
                ("thigh.R", [0.0, 0.0, -65.0]),
            ],
            [],
        ),
        gesture(
            "front splits",
            [
                ("thigh.L", [-75.0, 0.0, 0.0]),
                ("thigh.R", [60.0, 0.0, 0.0]),
            ],
            [],
        ),
        gesture(
            "walk",
            [
                ("thigh.L", [-30.0, 0.0, 0.0]),
                ("thigh.R", [20.0, 0.0, 0.0]),
                ("shin.R", [35.0, 0.0, 0.0]),
            ],
            [],
        ),
        gesture("jump", legs(45.0, 70.0), [("upper_arm.L", up)]),
        gesture(
            "punch",
            spine([0.0, -30.0, 0.0]),
            [("upper_arm.L", forward), ("forearm.L", forward)],
        ),
        gesture("bow", spine([70.0, 0.0, 0.0]), []),
        gesture("lean", spine([0.0, 0.0, 45.0]), []),
        gesture("twist", spine([0.0, 60.0, 0.0]), []),
        gesture(
            "lunge",
            [
                ("thigh.L", [-80.0, 0.0, 0.0]),
                ("shin.L", [80.0, 0.0, 0.0]),
                ("thigh.R", [25.0, 0.0, 0.0]),
            ],
            [],
        ),
        gesture("kick", [("thigh.L", [-100.0, 0.0, 0.0])], []),
        gesture(
            "nod",
            [("neck", [25.0, 0.0, 0.0]), ("head", [25.0, 0.0, 0.0])],
            [],
        ),
        gesture("biceps", [], [("forearm.L", [0.2, 1.0, 0.3])]),
    ]
}

fn world_of(subject: &Subject, gesture: &Gesture) -> Vec<Affine> {
    let skeleton = &subject.character.skeleton;
    let find = |name: &str| {
        let mut joints = skeleton.joints().iter();
        joints
            .position(|joint| joint.name == name)
            .unwrap_or_else(|| panic!("{name} is a joint"))
    };
    let mut pose: Pose = skeleton.rest_pose();
    for (name, degrees) in &gesture.turns {
        let [x, y, z] = degrees.map(f64::to_radians);
        let turn = Quat::from_axis_angle(&Vector3::z_axis(), z)
            * Quat::from_axis_angle(&Vector3::y_axis(), y)
            * Quat::from_axis_angle(&Vector3::x_axis(), x);
        pose.rotate_about_world_axes(skeleton, find(name), &turn);
    }
    for (name, direction) in &gesture.aims {
        let joint = find(name);
        let child = skeleton
            .joints()
            .iter()
            .position(|other| other.parent == Some(joint))
            .expect("has a child");
        let world = skeleton.world_from_joint(&pose);
        let at = |joint: usize| world[joint].matrix().fixed_view::<3, 1>(0, 3).into_owned();
        let now: Vec64 = at(child) - at(joint);
        let turn =
            UnitQuaternion::rotation_between(&now, &Vec64::from(*direction)).expect("not opposite");
        // The turn is of the world as it is posed now; the joint's own is about the axes at rest.
        let above =
            skeleton.joints()[joint]
                .parent
                .map_or_else(UnitQuaternion::identity, |parent| {
                    let linear = |m: &Affine| m.matrix().fixed_view::<3, 3>(0, 0).into_owned();
                    let moved = linear(&world[parent])
                        * linear(&skeleton.joints()[parent].world_from_bind)
                            .try_inverse()
                            .expect("inverse");
                    UnitQuaternion::from_matrix(&moved)
                });
        let turn = above.inverse() * turn * above;
        pose.rotate_about_world_axes(skeleton, joint, &turn);
    }
    skeleton.world_from_joint(&pose)
}

/// Change of volume in per cent, new intersecting pairs, roughness in degrees, new creases.
#[derive(Debug, Clone, Copy)]
struct Row {
    volume: f64,
    pairs: usize,
    roughness: f64,
    creases: usize,
}

fn measure(actor: &mut Actor, meter: &mut Meter, world_from_joint: &[Affine]) -> Row {
    let frame = Frame {
        world_from_joint,
        dt_secs: 0.0,
    };
    actor.advance(&frame).expect("moves");
    let frame = MeterFrame {
        positions: actor.positions(),
        ..MeterFrame::default()
    };
    let found = meter.measure(&frame, &Progress::new()).expect("measures");
    Row {
        volume: 100.0 * found.get("volume_change").expect("has a volume"),
        pairs: found.count("new_pairs"),
        roughness: found.get("roughness_deg").expect("has edges"),
        creases: found.count("new_creases"),
    }
}

/// Over all poses the flesh keeps its volume. The count of poses in which it is worse than the better of the classics, pose by pose, must
/// not grow; what is measured is printed.
#[test]
fn ordinary_poses_keep_their_volume() {
    let character = sinew::io::builtin::load_builtin("mannequin").expect("built in");
    let flesh = FleshSettings {
        sim_vertices: SimVertices::About(3000),
        ..character.flesh.clone()
    };
    let character = Character { flesh, ..character };
    let progress = Progress::new();
    let subject = Arc::new(Subject::build(Arc::new(character), &progress).expect("builds"));
    let metrics = [&volume::METRIC, &intersections::METRIC, &roughness::METRIC];
    let mut meter = Meter::new(RestSkin::of(&subject), metrics, &progress).expect("binds");
    let mut actors = [MethodId::LBS, MethodId::DQS, MethodId::PD]
        .map(|method| Actor::bind(&subject, method, &Params::default(), &progress).expect("binds"));
    let (mut short, mut volumes) = (Vec::new(), Vec::new());
    let (mut pairs, mut creases) = ([0, 0], [0, 0]);
    for gesture in gestures() {
        let world = world_of(&subject, &gesture);
        let [lbs, dqs, pd] = actors
            .each_mut()
            .map(|actor| measure(actor, &mut meter, &world));
        println!(
            "{:24} lbs {lbs:?}\n{:24} dqs {dqs:?}\n{:24} pd  {pd:?}",
            gesture.name, "", ""
        );
        let best = Row {
            volume: lbs.volume.abs().min(dqs.volume.abs()),
            pairs: lbs.pairs.min(dqs.pairs),
            roughness: lbs.roughness.min(dqs.roughness),
            creases: lbs.creases.min(dqs.creases),
        };
        volumes.push(pd.volume.abs());
        (pairs[0], pairs[1]) = (pairs[0] + pd.pairs, pairs[1] + best.pairs);
        (creases[0], creases[1]) = (creases[0] + pd.creases, creases[1] + best.creases);
        if pd.volume.abs() > 2.0
            || (pd.pairs > 10 && pd.pairs > best.pairs)
            || pd.roughness > 1.25 * best.roughness
            || (pd.creases > 10 && pd.creases as f64 > 1.25 * best.creases as f64)
        {
            short.push(gesture.name);
        }
    }
    let mean = volumes.iter().sum::<f64>() / volumes.len() as f64;
    let worst = volumes.iter().copied().fold(0.0, f64::max);
    println!(
        "short {short:?}, volume {mean:.2} % mean, {worst:.2} % worst, pairs {pairs:?}, creases {creases:?}"
    );
    assert!(mean <= 0.6, "mean change of volume {mean:.2} %");
    assert!(worst <= 4.0, "worst change of volume {worst:.2} %");
    assert!(short.len() <= 11, "worse than the classics: {short:?}");
}
