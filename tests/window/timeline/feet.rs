//! Feet are planted from the menu of the rows, and bars are dragged at their ends.

use super::*;
use sinew::rig::Plant;

fn plants(harness: &Harness<'_, Stage>, clip: usize) -> Vec<Plant> {
    let clips = harness.state().session.document().clips();
    let take = clips.take(clip).expect("it is a take");
    take.feet().plants().to_vec()
}

fn menu(harness: &mut Harness<'_, Stage>, at: Pos2, item: &str) {
    secondary_click(harness, at);
    harness.get_by_label(item).click();
    harness.run();
}

#[test]
fn the_end_of_a_limb_is_planted_let_go_and_its_bar_dragged() {
    let mut session = open("mannequin");
    session.apply_once(keys(KeysCommand::NewClip { duration_secs: 2.0 }));
    let clip = session.document().clips().len() - 1;
    let limb = session.pose_tools().ik_rig().limbs()[1];
    session.apply_once(Command::SelectJoint(Some(limb.lower)));
    let name = session.document().skeleton().expect("open").joints()[limb.end]
        .name
        .clone();
    let mut harness = stage(session, true);
    // Room for the whole menu.
    harness.set_size(vec2(900.0, 340.0));
    harness.run();
    let free = place(&harness, 40.0, 1.0);
    menu(&mut harness, free, &format!("Plant {name} here"));
    let [plant] = plants(&harness, clip)[..] else {
        panic!("one interval: {:?}", plants(&harness, clip));
    };
    assert_eq!((plant.joint, plant.from_secs), (limb.end, 0.0));
    assert!(
        (plant.to_secs - 0.5).abs() < 1e-9,
        "no key follows: {plant:?}"
    );
    // Its row stands first, and the end of its bar is dragged to frame 30.
    let (from, to) = (place(&harness, 15.0, 1.0), place(&harness, 30.0, 1.0));
    drag(&mut harness, from, to);
    let now = plants(&harness, clip);
    assert!((now[0].to_secs - 1.0).abs() < 1e-9, "{now:?}");
    harness.state_mut().session.apply_once(Command::Undo);
    assert!(
        (plants(&harness, clip)[0].to_secs - 0.5).abs() < 1e-9,
        "one step"
    );
    // Let go at frame 6: it ends there; at its start it is gone.
    harness
        .state_mut()
        .session
        .apply_once(Command::Scrub { time_secs: 0.2 });
    harness.run();
    menu(&mut harness, free, &format!("Let {name} go here"));
    assert!((plants(&harness, clip)[0].to_secs - 0.2).abs() < 1e-9);
    harness
        .state_mut()
        .session
        .apply_once(Command::Scrub { time_secs: 0.0 });
    harness.run();
    menu(&mut harness, free, &format!("Let {name} go here"));
    assert_eq!(plants(&harness, clip), []);
    menu(&mut harness, free, "Soles stay above the ground");
    let clips = harness.state().session.document().clips();
    assert!(
        !clips.take(clip).expect("a take").feet().above_ground,
        "it was on"
    );
}
