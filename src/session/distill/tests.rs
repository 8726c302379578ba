use super::*;
use crate::character::{Attachment, Character, SimVertices};
use crate::dynamics::Params;
use crate::io::load;
use crate::math::{Affine, Point, Quat, Vec64};
use crate::methods::{MethodId, Subject};
use crate::rig::{Channel, Clip, Curve, Pose, Skeleton, Track};

/// A clip that bends every joint but the first, by up to this angle.
fn bending(skeleton: &Skeleton, name: &str, angle: f64, phase: f64) -> Clip {
    let times: Vec<f64> = (0..=10).map(|key| f64::from(key) * 0.1).collect();
    let tracks = (1..skeleton.len()).map(|joint| {
        let turn = |time: &f64| {
            let turn = Quat::from_euler_angles(0.0, 0.0, angle * (phase + 5.0 * time).sin());
            (turn * skeleton.joints()[joint].rest.rotation).into_inner()
        };
        let values = times.iter().map(turn).collect();
        let channel = Channel::Rotation(Curve::linear(times.clone(), values));
        Track { joint, channel }
    });
    Clip {
        name: name.to_owned(),
        duration_secs: 1.0,
        tracks: tracks.collect(),
        morphs: Vec::new(),
    }
}

/// What is in a written rig, measured against the method anew.
fn measured(read: &Character, actor: &mut Actor, clip: usize, fps: f64) -> [f64; 2] {
    let poses = |time: f64| read.clips[clip].sample(&read.skeleton, time);
    measured_in(read, poses, actor, clip, fps)
}

/// A written rig in poses by the time, measured against the method anew.
fn measured_in(
    read: &Character,
    mut pose_at: impl FnMut(f64) -> Pose,
    actor: &mut Actor,
    clip: usize,
    fps: f64,
) -> [f64; 2] {
    let character = actor.subject().character.clone();
    let take = Take::whole(Motion::Clip(clip), &character, fps);
    let mut squares = Vec::new();
    take.play(actor, &Progress::new(), |frame, actor| {
        let pose = pose_at(take.time_of(frame));
        let world = read.skeleton.world_from_joint(&pose);
        let mut meshes = read.meshes.clone();
        for (index, morph) in read.morphs.iter().enumerate() {
            let weight = pose.morphs.get(index) as f32;
            for target in &morph.shapes[0].targets {
                let positions = &mut meshes[target.mesh].positions;
                for (&vertex, offset) in target.vertices.iter().zip(&target.offsets) {
                    positions[vertex as usize] += offset * weight;
                }
            }
        }
        let blended = meshes.iter().flat_map(|mesh| mesh.positions_at(&world));
        let off = blended
            .zip(actor.positions())
            .map(|(a, b)| f64::from((a - b).norm()));
        squares.extend(off);
        Ok::<(), std::convert::Infallible>(())
    })
    .unwrap();
    let rms = squares.iter().map(|off| off * off).sum::<f64>() / squares.len() as f64;
    [rms.sqrt(), squares.iter().copied().fold(0.0, f64::max)]
}

/// The normals of a target are those of the displaced surface.
fn assert_normals_turn(read: &Character, target: &crate::character::MorphTarget) {
    let mesh = &read.meshes[target.mesh];
    assert_eq!(target.normals.len(), target.vertices.len());
    let normals_of = |positions: &[Point]| {
        let triangles = mesh.triangles.clone();
        let positions = positions.to_vec();
        let surface = crate::mesh::TriMesh {
            positions,
            triangles,
        };
        surface.vertex_normals()
    };
    let mut displaced = mesh.positions.clone();
    for (&vertex, offset) in target.vertices.iter().zip(&target.offsets) {
        displaced[vertex as usize] += offset;
    }
    let (before, after) = (normals_of(&mesh.positions), normals_of(&displaced));
    let (mut told, mut still, mut count) = (0.0, 0.0, 0.0_f32);
    for (&vertex, turn) in target.vertices.iter().zip(&target.normals) {
        let vertex = vertex as usize;
        let turned = after[vertex] - before[vertex];
        told += (turned - turn).norm_squared();
        still += turned.norm_squared();
        count += 1.0;
    }
    assert!(count > 10.0 && still > 0.0);
    // Seams and the file's own normals weigh the triangles otherwise.
    assert!(told < 0.05 * still, "{told} of {still}");
}

/// Distances between what two methods show in a clip, root mean square and largest.
fn between(shown: &mut Actor, actor: &mut Actor, clip: usize, fps: f64) -> [f64; 2] {
    let take = Take::whole(Motion::Clip(clip), &actor.subject().character.clone(), fps);
    let mut frames = Vec::new();
    let mut keep = |_: u32, actor: &Actor| {
        frames.push(actor.positions().to_vec());
        Ok::<(), std::convert::Infallible>(())
    };
    take.play(shown, &Progress::new(), &mut keep).unwrap();
    take.play(actor, &Progress::new(), &mut keep).unwrap();
    let (a, b) = frames.split_at(frames.len() / 2);
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    let off: Vec<f64> = pairs.map(|(a, b)| f64::from((a - b).norm())).collect();
    let rms = off.iter().map(|off| off * off).sum::<f64>() / off.len() as f64;
    [rms.sqrt(), off.iter().copied().fold(0.0, f64::max)]
}

/// The built-in arm with a clip to fit to and one to hold back, simulated; and its skeleton.
fn simulated_arm(params: &Params, sim_vertices: SimVertices) -> (Skeleton, Actor) {
    let progress = Progress::new();
    let mut character = load(&["builtin:arm".into()], &progress).unwrap();
    character.flesh.sim_vertices = sim_vertices;
    let skeleton = character.skeleton.clone();
    character.clips = vec![
        bending(&skeleton, "seen", 0.8, 0.0),
        bending(&skeleton, "unseen", 0.6, 1.0),
    ];
    let subject = std::sync::Arc::new(Subject::build(character.into(), &progress).unwrap());
    let method = MethodId::from_id("pd").unwrap();
    let actor = Actor::bind(&subject, method, params, &progress).unwrap();
    (skeleton, actor)
}

#[test]
fn a_written_rig_moves_as_the_report_says() {
    let progress = Progress::new();
    let (skeleton, mut actor) = simulated_arm(&Params::default(), SimVertices::About(500));
    let settings = DistillSettings {
        fit: DecompositionSettings {
            helpers: 6,
            influences: 4,
        },
        morphs: 3,
        fitted: vec![0],
        held_back: vec![1],
        fps: 20.0,
        range: true,
        springs: false,
    };
    let made = distill(&mut actor, &settings, &progress).unwrap();
    let report = made.report.clone();
    let (seen, unseen) = (&report.fitted[0], &report.held_back[0]);
    let keyed = seen.keyed.unwrap();
    assert!(report.helpers > 0 && report.helpers <= 6, "{report:?}");
    assert!(keyed.rms < 0.7 * seen.before.rms, "{seen:?}");
    // Morphs make the same helpers better.
    let plain = DistillSettings {
        morphs: 0,
        ..settings.clone()
    };
    let plain = distill(&mut actor, &plain, &progress).unwrap().report;
    assert_eq!((report.morphs, plain.morphs), (3, 0));
    let without = plain.fitted[0].keyed.unwrap();
    assert!(keyed.rms < 0.9 * without.rms, "{keyed:?} {without:?}");
    assert!(
        unseen.driven.rms < plain.held_back[0].driven.rms,
        "{report:?} {plain:?}"
    );
    assert!(
        keyed.rms <= seen.driven.rms && unseen.keyed.is_none(),
        "{report:?}"
    );

    let folder = std::env::temp_dir().join(format!("sinew-distill-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("rig.glb");
    made.write(&path, false).unwrap();
    let read = load(&[path], &progress).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(read.skeleton.len(), skeleton.len() + report.helpers);
    assert_eq!(read.morphs.len(), report.morphs);
    for morph in read.morphs.iter() {
        assert_normals_turn(&read, &morph.shapes[0].targets[0]);
    }
    let document: serde_json::Value =
        serde_json::from_slice(&read.document.as_ref().unwrap().json).unwrap();
    let drivers = document["extras"]["sinew"]["drivers"].as_array().unwrap();
    assert_eq!(drivers.len(), report.helpers + report.morphs);
    // The distilled rig as it is shown moves as measured, too.
    actor.subject().set_helper_rig(made.rig.clone());
    let mut shown = Actor::bind(
        actor.subject(),
        MethodId::DISTILLED,
        &Params::default(),
        &progress,
    )
    .unwrap();
    let [rms, _] = between(&mut shown, &mut actor, 1, settings.fps).map(|off| off * 1e3);
    assert!((rms - unseen.driven.rms).abs() < 2e-3, "{rms} {unseen:?}");
    let Attachment::Skinned { weights, .. } = &read.meshes[0].attachment else {
        panic!("no skin");
    };
    assert!((0..weights.len()).all(|vertex| weights.of(vertex).count() <= 4));
    for (clip, told) in [(0, keyed), (1, unseen.driven)] {
        let [rms, max] = measured(&read, &mut actor, clip, settings.fps).map(|off| off * 1e3);
        // Numbers of the file are in single precision.
        assert!((rms - told.rms).abs() < 2e-3, "{rms} {told:?}");
        assert!((max - told.max).abs() < 1e-2, "{max} {told:?}");
    }
}

/// A spring of a file: joint and tail, and the numbers of `VRMC_springBone`.
struct FileSpring {
    joint: usize,
    tail: usize,
    stiffness: f64,
    drag: f64,
    /// Places of the tail in this frame and in the one before.
    places: [Vec64; 2],
}

/// The springs of a document, with every reference checked.
fn springs_of(read: &Character) -> Vec<FileSpring> {
    let json = &read.document.as_ref().unwrap().json;
    let tree: serde_json::Value = serde_json::from_slice(json).unwrap();
    let bones = &tree["extensions"]["VRMC_springBone"];
    assert_eq!(bones["specVersion"], "1.0");
    let used = tree["extensionsUsed"].as_array().unwrap();
    assert!(used.iter().any(|name| name == "VRMC_springBone"));
    let joint = |node: &serde_json::Value| {
        let name = tree["nodes"][node.as_u64().unwrap() as usize]["name"].as_str();
        read.skeleton.find(name.unwrap()).unwrap()
    };
    let mut names = std::collections::HashSet::new();
    let of_spring = |spring: &serde_json::Value| {
        assert!(names.insert(spring["name"].as_str().unwrap().to_owned()));
        let [first, last] = spring["joints"].as_array().unwrap().as_slice() else {
            panic!("{spring}");
        };
        let made = FileSpring {
            joint: joint(&first["node"]),
            tail: joint(&last["node"]),
            stiffness: first["stiffness"].as_f64().unwrap(),
            drag: first["dragForce"].as_f64().unwrap(),
            places: [Vec64::zeros(); 2],
        };
        assert_eq!(read.skeleton.joints()[made.tail].parent, Some(made.joint));
        assert!(made.stiffness > 0.0 && (0.0..=1.0).contains(&made.drag));
        made
    };
    let all = bones["springs"].as_array().unwrap();
    all.iter().map(of_spring).collect()
}

/// A frame of 1/60 s by the rule of the extension; the first one is still.
fn swing(read: &Character, springs: &mut [FileSpring], pose: &mut Pose, is_first: bool) {
    let world = read.skeleton.world_from_joint(pose);
    for spring in springs {
        let (at, end) = (&world[spring.joint], &world[spring.tail]);
        let place = |of: &Affine| crate::math::origin_of(of).coords;
        let (pivot, bone) = (place(at), place(end) - place(at));
        if is_first {
            spring.places = [place(end); 2];
        }
        let [now, before] = spring.places;
        let aim = now
            + (now - before) * (1.0 - spring.drag)
            + bone.normalize() * (spring.stiffness / 60.0);
        let next = pivot + (aim - pivot).normalize() * bone.norm();
        spring.places = [next, now];
        let local = |place: Vec64| at.inverse_transform_point(&place.into()).coords;
        let turn = Quat::rotation_between(&local(place(end)), &local(next)).unwrap();
        let rotation = &mut pose.locals[spring.joint].rotation;
        *rotation *= turn;
    }
}

#[test]
fn springs_of_a_written_rig_swing_as_the_report_says() {
    let progress = Progress::new();
    let jelly = crate::dynamics::Preset::Jelly.params();
    let (skeleton, mut actor) = simulated_arm(&jelly, SimVertices::default());
    let settings = DistillSettings {
        fit: DecompositionSettings {
            helpers: 4,
            influences: 4,
        },
        morphs: 2,
        fitted: vec![0],
        held_back: vec![1],
        fps: 30.0,
        range: false,
        springs: true,
    };
    let made = distill(&mut actor, &settings, &progress).unwrap();
    let report = &made.report;
    assert_eq!(report.springs.len(), report.helpers, "{report:?}");
    let kept = report
        .springs
        .iter()
        .filter(|spring| spring.left_out.is_none());
    let kept: Vec<_> = kept.collect();
    assert!(!kept.is_empty(), "{report:?}");
    for spring in &kept {
        let ([before, after], [apart, swung]) = (spring.rms.unwrap(), spring.rms_of_stops.unwrap());
        assert!(after <= before && swung < apart, "{spring:?}");
    }
    let stops = report.stops.as_ref().unwrap();
    assert!(
        stops.sprung.unwrap().rms < 0.9 * stops.driven.rms,
        "{stops:?}"
    );
    let (seen, unseen) = (&report.fitted[0], &report.held_back[0]);

    let folder = std::env::temp_dir().join(format!("sinew-springs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("rig.glb");
    made.write(&path, false).unwrap();
    let read = load(&[path], &progress).unwrap();
    let usd = made.write(&folder.join("rig.usda"), false).unwrap_err();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(usd.to_string().contains("springs"), "{usd}");
    let joints = skeleton.len() + report.helpers + 2 * kept.len();
    assert_eq!(read.skeleton.len(), joints);
    let mut springs = springs_of(&read);
    assert_eq!(springs.len(), kept.len());
    // Rest stays rest.
    let rest = read.skeleton.rest_pose();
    for frame in 0..60 {
        let mut pose = rest.clone();
        swing(&read, &mut springs, &mut pose, frame == 0);
        let turned = pose.locals.iter().zip(&rest.locals);
        let turned = turned.map(|(a, b)| a.rotation.angle_to(&b.rotation));
        assert!(turned.fold(0.0, f64::max) < 1e-6);
    }
    let told = [(0, seen.keyed.unwrap()), (1, unseen.sprung.unwrap())];
    for (clip, told) in told {
        let mut tick = 0;
        let pose_at = |time: f64| loop {
            let now = f64::from(tick) / 60.0;
            let mut pose = read.clips[clip].sample(&read.skeleton, now);
            swing(&read, &mut springs, &mut pose, tick == 0);
            tick += 1;
            if now > time - 1e-6 {
                break pose;
            }
        };
        let [rms, max] = measured_in(&read, pose_at, &mut actor, clip, 30.0).map(|off| off * 1e3);
        // Keys are 1/30 s apart, with straight lines between them; the report samples the drivers at every step.
        assert!((rms / told.rms - 1.0).abs() < 0.01, "{rms} {told:?}");
        assert!((max / told.max - 1.0).abs() < 0.05, "{max} {told:?}");
    }
    // As it is shown.
    actor.subject().set_helper_rig(made.rig.clone());
    let distilled = MethodId::DISTILLED;
    let mut shown = Actor::bind(actor.subject(), distilled, &jelly, &progress).unwrap();
    let [rms, _] = between(&mut shown, &mut actor, 1, 30.0).map(|off| off * 1e3);
    assert!(
        (rms / unseen.sprung.unwrap().rms - 1.0).abs() < 0.01,
        "{rms} {unseen:?}"
    );
}

#[test]
fn a_character_without_clips_is_refused() {
    let progress = Progress::new();
    let character = load(&["builtin:arm".into()], &progress).unwrap();
    let subject = std::sync::Arc::new(Subject::build(character.into(), &progress).unwrap());
    let method = MethodId::from_id("lbs").unwrap();
    let mut actor = Actor::bind(&subject, method, &Params::default(), &progress).unwrap();
    let settings = DistillSettings {
        fit: DecompositionSettings {
            helpers: 6,
            influences: 4,
        },
        morphs: 0,
        fitted: Vec::new(),
        held_back: Vec::new(),
        fps: 20.0,
        range: false,
        springs: false,
    };
    let error = distill(&mut actor, &settings, &progress).unwrap_err();
    assert!(matches!(error, DistillError::NoClips { .. }), "{error}");
}
