//! Keys of morphs on the timeline.

use std::sync::Arc;

use egui::Key;
use egui_kittest::kittest::Queryable;
use sinew::character::{Morph, MorphShape, MorphTarget};
use sinew::io::{builtin::load_builtin, write_glb};
use sinew::math::Vec3;
use sinew::rig::{Interpolation, KeyRef, Keyed};
use sinew::session::{Command, Gesture, KeysCommand, Session, Source};

use super::{drag, idle, keys, place, secondary_click, stage};

/// A clip of two seconds in which a morph has keys at frames 0 and 30, and all joints one at frame 0.
fn keyed() -> (Session, usize) {
    let mut character = load_builtin("cylinder").expect("it is built in");
    character.morphs = Arc::new([Morph {
        name: "bump".to_owned(),
        mesh: character.meshes[0].name.clone(),
        rest_weight: 0.0,
        shapes: vec![MorphShape {
            at: 1.0,
            targets: vec![MorphTarget {
                vertices: vec![0],
                offsets: vec![Vec3::new(0.05, 0.0, 0.0)],
                ..MorphTarget::default()
            }],
        }],
    }]);
    let folder = std::env::temp_dir().join(format!("sinew-morph-keys-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a place to write");
    let path = folder.join("bump.glb");
    std::fs::write(&path, write_glb(&character).expect("a file")).expect("written");
    let mut session = Session::new();
    session.apply_once(Command::Open(Source::of_files(vec![path])));
    idle(&mut session);
    std::fs::remove_dir_all(&folder).expect("clean up");
    session.apply_once(keys(KeysCommand::NewClip { duration_secs: 2.0 }));
    let clip = session.channels().active().playback().clip;
    session.apply_once(keys(KeysCommand::SetAutoKey(true)));
    session.apply_once(Command::Scrub { time_secs: 1.0 });
    session.apply(Command::SetMorphs(vec![(0, 0.8)]), Gesture::Once);
    session.apply_once(Command::Scrub { time_secs: 0.0 });
    session.apply_once(Command::SelectJoint(None));
    (session, clip.expect("it is shown"))
}

fn frames(session: &Session, clip: usize) -> Vec<f64> {
    let take = session
        .document()
        .clips()
        .take(clip)
        .expect("it is a take")
        .clone();
    let times = take.times_of(Keyed::Morph(0)).into_iter();
    times.map(|time| (time * 30.0).round()).collect()
}

#[test]
fn keys_of_morphs_are_seen_dragged_eased_and_deleted() {
    let (session, clip) = keyed();
    assert_eq!(frames(&session, clip), [0.0, 30.0]);
    let mut harness = stage(session, true);
    // No joint has two keys: the morph's row is the first below that of all.
    let (from, to) = (place(&harness, 30.0, 1.0), place(&harness, 44.0, 1.0));
    drag(&mut harness, from, to);
    assert_eq!(frames(&harness.state().session, clip), [0.0, 44.0]);
    assert_eq!(harness.state().session.undo_label(), Some("Move keys"));
    harness.state_mut().session.apply_once(Command::Undo);
    harness.run();
    assert_eq!(frames(&harness.state().session, clip), [0.0, 30.0]);

    // The row of all keys moves it, too.
    let (from, to) = (place(&harness, 30.0, 0.0), place(&harness, 40.0, 0.0));
    drag(&mut harness, from, to);
    assert_eq!(frames(&harness.state().session, clip), [0.0, 40.0]);

    let at = place(&harness, 40.0, 1.0);
    secondary_click(&mut harness, at);
    harness.get_by_label("Step").click();
    harness.run();
    let take = harness
        .state()
        .session
        .document()
        .clips()
        .take(clip)
        .cloned();
    let take = take.expect("it is a take");
    assert_eq!(take.morphs()[0].curve.interpolation, Interpolation::Step);

    let (from, to) = (place(&harness, 35.0, 0.6), place(&harness, 45.0, 1.4));
    drag(&mut harness, from, to);
    let chosen = harness.state().timeline.selected_keys();
    assert_eq!(chosen, [KeyRef::of_morph(0, 40.0 / 30.0)]);
    harness.key_press(Key::Delete);
    harness.run();
    assert_eq!(frames(&harness.state().session, clip), [0.0]);
    assert_eq!(harness.state().session.undo_label(), Some("Delete keys"));
}
