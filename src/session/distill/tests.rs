use super::*;
use crate::character::Attachment;
use crate::dynamics::Params;
use crate::io::load;
use crate::math::Quat;
use crate::methods::{MethodId, Subject};
use crate::rig::Skeleton;

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
    let character = actor.subject().character.clone();
    let take = Take::whole(Motion::Clip(clip), &character, fps);
    let mut squares = Vec::new();
    take.play(actor, &Progress::new(), |frame, actor| {
        let pose = read.clips[clip].sample(&read.skeleton, take.time_of(frame));
        let world = read.skeleton.world_from_joint(&pose);
        let blended = read
            .meshes
            .iter()
            .flat_map(|mesh| mesh.positions_at(&world));
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

#[test]
fn a_written_rig_moves_as_the_report_says() {
    let progress = Progress::new();
    let mut character = load(&["builtin:arm".into()], &progress).unwrap();
    let skeleton = character.skeleton.clone();
    character.clips = vec![
        bending(&skeleton, "seen", 0.8, 0.0),
        bending(&skeleton, "unseen", 0.6, 1.0),
    ];
    let subject = std::sync::Arc::new(Subject::build(character.into(), &progress).unwrap());
    let method = MethodId::from_id("pd").unwrap();
    let mut actor = Actor::bind(&subject, method, &Params::default(), &progress).unwrap();
    let settings = DistillSettings {
        fit: DecompositionSettings {
            helpers: 6,
            influences: 4,
        },
        fitted: vec![0],
        held_back: vec![1],
        fps: 20.0,
        range: true,
    };
    let made = distill(&mut actor, &settings, &progress).unwrap();
    let report = made.report.clone();
    let (seen, unseen) = (&report.fitted[0], &report.held_back[0]);
    let keyed = seen.keyed.unwrap();
    assert!(report.helpers > 0 && report.helpers <= 6, "{report:?}");
    assert!(keyed.rms < 0.7 * seen.before.rms, "{seen:?}");
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
        fitted: Vec::new(),
        held_back: Vec::new(),
        fps: 20.0,
        range: false,
    };
    let error = distill(&mut actor, &settings, &progress).unwrap_err();
    assert!(matches!(error, DistillError::NoClips { .. }), "{error}");
}
