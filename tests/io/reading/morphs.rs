//! Morph targets of glTF and VRM, and blend shapes of FBX: read, played, skinned as the formats say, and written again.

mod quad;

use serde_json::{Value, json};
use sinew::character::Character;
use sinew::dynamics::Params;
use sinew::io::{load_from_memory, read_gltf_bytes, write_rigged_glb};
use sinew::math::{Affine, Point, Point64, Vec64};
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::progress::Progress;
use sinew::rig::Pose;
use std::sync::Arc;

use self::quad::{AT_REST, CORNERS, OPEN, PUFF, SMILE, UPPER, quad};
use super::{has_note, read};
use crate::common::fbx_text;
use crate::common::skip;

/// glTF 2.0, 3.7.2.2 and 3.7.3.3, in double precision.
fn by_hand(world: &[Affine], weights: [f64; 3]) -> Vec<Point64> {
    let from_mesh = [
        world[0],
        world[1] * nalgebra::Translation3::new(0.0, -1.0, 0.0),
    ];
    let place = |vertex: usize| {
        let vector = |v: [f32; 3]| Vec64::from(v.map(f64::from));
        let mut rest = Point64::from(vector(CORNERS[vertex]));
        rest += vector(SMILE[vertex]) * weights[0];
        if vertex == 3 {
            rest += vector(OPEN) * weights[1];
        }
        if vertex == 1 {
            rest += vector(PUFF.map(|v| f32::from(v) / 127.0)) * weights[2];
        }
        let upper = f64::from(UPPER[vertex]);
        let [a, b] = from_mesh.map(|joint| joint * rest);
        Point64::from(a.coords * (1.0 - upper) + b.coords * upper)
    };
    (0..4).map(place).collect()
}

fn lbs(character: &Character, pose: &Pose) -> Vec<Point> {
    let subject = Subject::build(Arc::new(character.clone()), &Progress::new());
    let subject = Arc::new(subject.unwrap());
    let (lbs, params) = (MethodId::LBS, Params::default());
    let mut actor = Actor::bind(&subject, lbs, &params, &Progress::new()).unwrap();
    actor.set_morphs(&pose.morphs);
    let world = character.skeleton.world_from_joint(pose);
    actor
        .advance(&Frame {
            world_from_joint: &world,
            dt_secs: 0.0,
        })
        .unwrap();
    actor.positions().to_vec()
}

fn far(actual: &[Point], expected: &[Point64]) -> f64 {
    assert_eq!(actual.len(), expected.len());
    let pairs = actual.iter().zip(expected);
    pairs
        .map(|(a, b)| (a.cast::<f64>() - b).norm())
        .fold(0.0, f64::max)
}

fn bent(character: &Character) -> Pose {
    let mut pose = character.skeleton.rest_pose();
    let turn = sinew::math::Quat::from_euler_angles(0.3, -0.2, 0.9);
    pose.locals[1].rotation *= turn;
    pose.locals[0].rotation *= turn;
    pose
}

#[test]
fn linear_blending_of_morphs_is_that_of_gltf() {
    let character = read_gltf_bytes("quad", &quad(|_| {})).unwrap();
    let ids: Vec<String> = character.morph_controls().map(|c| c.id()).collect();
    assert_eq!(ids, ["face/smile", "face/open", "face/puff"]);
    assert!(!has_note(&character, "morph"), "{:?}", character.notes);
    for weights in [AT_REST, [0.0, 0.0, 0.0], [1.0, 0.5, 2.0], [-0.5, 1.0, 0.25]] {
        let mut pose = bent(&character);
        for (name, weight) in ["smile", "open", "face/puff"].into_iter().zip(weights) {
            character.set_morph(&mut pose, name, weight).unwrap();
        }
        let world = character.skeleton.world_from_joint(&pose);
        let off = far(&lbs(&character, &pose), &by_hand(&world, weights));
        assert!(off < 1e-6, "{weights:?}: {off}");
    }
    // The positions of the file are those at rest.
    let rest = character.skeleton.bind_transforms();
    assert!(far(&character.bind_positions(), &by_hand(&rest, AT_REST)) < 1e-6);
}

#[test]
fn weights_are_played_by_each_interpolation() {
    let character = read_gltf_bytes("quad", &quad(|_| {})).unwrap();
    let smile = |clip: usize, time: f64| {
        let pose = character.clips[clip].sample(&character.skeleton, time);
        AT_REST[0] + pose.morphs.get(0)
    };
    for (time, expected) in [(0.0, 0.25), (0.5, 0.625), (1.0, 1.0), (9.0, 1.0)] {
        assert!((smile(0, time) - expected).abs() < 1e-6, "line at {time}");
    }
    assert!((smile(1, 0.99) - 0.25).abs() < 1e-6 && (smile(1, 1.0) - 1.0).abs() < 1e-6);
    // A Hermite curve whose tangents are its chord's slope is a line.
    for time in [0.0, 0.3, 0.9] {
        assert!(
            (smile(2, time) - 0.25 - time).abs() < 1e-6,
            "cubic at {time}"
        );
    }
    let open = character.clips[0]
        .sample(&character.skeleton, 0.5)
        .morphs
        .get(1);
    assert!((open - 0.25).abs() < 1e-6);
    assert!((character.clips[0].duration_secs - 1.0).abs() < 1e-6);
}

#[test]
fn weights_of_the_node_go_before_those_of_its_mesh() {
    let bytes = quad(|document| document["nodes"][0]["weights"] = json!([0.0, 1.0, 0.0]));
    let character = read_gltf_bytes("quad", &bytes).unwrap();
    let rest = character.skeleton.bind_transforms();
    assert!(
        far(
            &character.bind_positions(),
            &by_hand(&rest, [0.0, 1.0, 0.0])
        ) < 1e-6
    );
}

#[test]
fn expressions_of_both_versions_are_read() {
    let first = quad(|document| {
        document["extensions"] = json!({"VRM": {"blendShapeMaster": {"blendShapeGroups": [
            {"name": "Joy", "presetName": "joy", "binds": [{"mesh": 0, "index": 0, "weight": 50}]},
            {"name": "Wink", "presetName": "blink_l", "isBinary": true, "binds": [{"mesh": 0, "index": 1, "weight": 100}]},
            {"name": "Own", "presetName": "unknown", "binds": [{"mesh": 0, "index": 2, "weight": 100}, {"mesh": 0, "index": 9, "weight": 1}]},
            {"name": "Glow", "presetName": "fun", "binds": []},
        ]}}});
    });
    let second = quad(|document| {
        document["extensions"] = json!({"VRMC_vrm": {"specVersion": "1.0", "expressions": {
            "preset": {
                "blinkLeft": {"isBinary": true, "morphTargetBinds": [{"node": 0, "index": 1, "weight": 1.0}]},
                "happy": {"morphTargetBinds": [{"node": 0, "index": 0, "weight": 0.5}]},
                "relaxed": {"materialColorBinds": []},
            },
            "custom": {"Own": {"morphTargetBinds": [{"node": 0, "index": 2, "weight": 1.0}, {"node": 7, "index": 0, "weight": 1.0}]}},
        }}});
    });
    for (version, bytes) in [first, second].iter().enumerate() {
        let character = read_gltf_bytes("quad", bytes).unwrap();
        let mut names: Vec<&str> = character.expressions.iter().map(|e| &*e.name).collect();
        names.sort_unstable();
        assert_eq!(names, ["Own", "blinkLeft", "happy"], "VRM {version}");
        assert!(has_note(&character, "expressions without morph targets"));
        let mut pose = bent(&character);
        for (name, weight) in [("happy", 1.0), ("blinkLeft", 0.6), ("Own", 0.5)] {
            character.set_morph(&mut pose, name, weight).unwrap();
        }
        let world = character.skeleton.world_from_joint(&pose);
        let off = far(&lbs(&character, &pose), &by_hand(&world, [0.75, 1.0, 0.5]));
        assert!(off < 1e-6, "VRM {version}: {off}");
        let file = character.pose_to_file(&pose);
        assert_eq!(character.pose_from_file(&file).unwrap().morphs, pose.morphs);
    }
}

type Damage<'a> = &'a dyn Fn(&mut Value);

#[test]
fn damaged_targets_stay_at_rest() {
    let cases: [(&str, Damage<'_>, &str); 5] = [
        (
            "another number of vertices",
            &|d| d["meshes"][0]["primitives"][0]["targets"][0]["POSITION"] = json!(8),
            "another number of vertices",
        ),
        (
            "a missing accessor",
            &|d| d["meshes"][0]["primitives"][0]["targets"][1]["POSITION"] = json!(99),
            "missing",
        ),
        (
            "weights beyond all limits",
            &|d| d["meshes"][0]["weights"] = json!([1e30, 0, 0]),
            "not finite",
        ),
        (
            "names twice",
            &|d| d["meshes"][0]["extras"]["targetNames"] = json!(["a", "a", 3]),
            "",
        ),
        (
            "targets that are no list",
            &|d| d["meshes"][0]["primitives"][0]["targets"] = json!("x"),
            "",
        ),
    ];
    for (what, change, note) in cases {
        let character = read_gltf_bytes("quad", &quad(change)).unwrap();
        assert!(
            note.is_empty() || has_note(&character, note),
            "{what}: {:?}",
            character.notes
        );
        let mut ids: Vec<String> = character.morph_controls().map(|c| c.id()).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count, "{what}");
        assert!(
            character
                .bind_positions()
                .iter()
                .all(|p| p.coords.norm() < 3.0),
            "{what}"
        );
        for clip in &character.clips {
            let pose = clip.sample(&character.skeleton, 0.7);
            let shown = lbs(&character, &pose);
            assert!(shown.iter().all(|p| p.coords.norm() < 1e4), "{what}");
        }
    }
}

/// The same shapes at the same times after writing and reading.
fn round_trip(character: &Character) {
    let chosen = vec![None; character.meshes.len()];
    let bytes = write_rigged_glb(character, &chosen, 8).unwrap();
    let back = read_gltf_bytes("back", &bytes).unwrap();
    assert_eq!(back.clips.len(), character.clips.len());
    let metres = if character.document.is_some() {
        1.0
    } else {
        character.export_metres_per_unit()
    };
    for (clip, again) in character.clips.iter().zip(&back.clips) {
        for time in [0.0, 0.3, 0.5, 0.8, 1.0] {
            let shown = lbs(character, &clip.sample(&character.skeleton, time));
            let again = lbs(&back, &again.sample(&back.skeleton, time));
            let expected: Vec<Point64> = shown
                .iter()
                .map(|p| Point64::from(p.coords.cast::<f64>() * metres))
                .collect();
            let off = far(&again, &expected);
            assert!(off < 2e-5, "{} at {time}: {off}", clip.name);
        }
    }
}

#[test]
fn a_rig_keeps_its_targets_and_their_clips() {
    let character = read_gltf_bytes("quad", &quad(|_| {})).unwrap();
    round_trip(&character);
    // Written anew, without the document.
    let anew = Character {
        document: None,
        ..character.clone()
    };
    round_trip(&anew);
    let bytes = write_rigged_glb(&anew, &[None], 4).unwrap();
    let back = read_gltf_bytes("back", &bytes).unwrap();
    let names: Vec<&str> = back.morphs.iter().map(|m| &*m.name).collect();
    assert_eq!(names, ["smile", "open", "puff"]);
    assert!((back.morphs[0].rest_weight - 0.25).abs() < 1e-6);
    // On an edited skeleton the meshes of the document are bound anew.
    let rig = sinew::rig::edit::Rig::of(&character.skeleton);
    let edited = character.with_rig(&rig).unwrap();
    assert!(edited.document.as_ref().unwrap().rig_replaced);
    round_trip(&edited);
}

#[test]
fn blend_shapes_of_fbx_are_played_with_their_in_between_shapes() {
    let text = fbx_text::smiling_tube();
    let character = read(&[("tube.fbx", text.as_bytes())]);
    let names: Vec<String> = character.morph_controls().map(|c| c.id()).collect();
    assert_eq!(names, ["tube/smile"]);
    assert_eq!(character.morphs[0].shapes.len(), 2);
    let clip = &character.clips[0];
    for (time, half, full) in [
        (0.0, 0.0, 0.0),
        (0.25, 0.5, 0.0),
        (0.5, 1.0, 0.0),
        (0.75, 0.5, 0.5),
        (1.0, 0.0, 1.0),
    ] {
        let pose = clip.sample(&character.skeleton, time);
        let mut plain = pose.clone();
        plain.morphs = sinew::rig::MorphWeights::default();
        let (shown, plain) = (lbs(&character, &pose), lbs(&character, &plain));
        let moved: Vec<f32> = shown
            .iter()
            .zip(&plain)
            .map(|(a, b)| (a - b).norm())
            .collect();
        // Both shapes move the first control point along X only, by 4 and 10 units.
        let expected = 4.0 * half + 10.0 * full;
        assert!(
            (moved[0] - expected).abs() < 1e-3,
            "at {time}: {}",
            moved[0]
        );
        assert!(moved[1..].iter().all(|by| *by < 1e-6), "at {time}");
    }
    round_trip(&character);
}

#[test]
fn a_real_character_keeps_its_face_in_a_rig() {
    let Some(data) = skip::data() else {
        return;
    };
    let path = data.join("A_rigged/RobotExpressive/RobotExpressive.glb");
    let bytes = std::fs::read(path).unwrap();
    let character = load_from_memory(&[("robot.glb", &bytes)], &Progress::new()).unwrap();
    assert!(character.find_morphs("Angry").is_ok());
    let mut pose = character.skeleton.rest_pose();
    character.set_morph(&mut pose, "Angry", 1.0).unwrap();
    let rest = lbs(&character, &character.skeleton.rest_pose());
    let angry = lbs(&character, &pose);
    let moved = rest.iter().zip(&angry).filter(|(a, b)| a != b).count();
    assert!(moved > 10, "{moved} vertices");
    let anew = Character {
        document: None,
        ..character.clone()
    };
    let chosen = vec![None; anew.meshes.len()];
    let written = write_rigged_glb(&anew, &chosen, 4).unwrap();
    let back = read_gltf_bytes("back", &written).unwrap();
    let mut pose = back.skeleton.rest_pose();
    back.set_morph(&mut pose, "Angry", 1.0).unwrap();
    let again = lbs(&back, &pose);
    let size = angry.iter().map(|p| p.coords.norm()).fold(0.0, f32::max);
    let off = (angry.iter().zip(&again))
        .map(|(a, b)| (a - b).norm())
        .fold(0.0, f32::max);
    assert!(off < 1e-5 * size, "{off}");
}
