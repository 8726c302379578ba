//! Many of the character in a view.

use super::*;
use crate::character::{FleshBase, SimVertices};
use crate::dynamics::{Collisions, Params};
use crate::gpu::GpuContext;
use crate::math::{Point, Vec3};
use crate::methods::{Actor, Capability, Frame};
use crate::progress::Progress;

/// Flesh at rest, as a part of the size.
const FLESH_TOLERANCE: f32 = 1e-3;
/// What depends on the pose alone.
const BLENDED_TOLERANCE: f32 = 1e-5;

/// A small cylinder on a device that draws.
fn on(gpu: &GpuContext, method: MethodId) -> Session {
    let mut session = opened();
    session.devices_mut().choose(DeviceChoice::Cpu);
    session.set_gpu(Some(gpu));
    session.apply_once(Command::SetSimVertices(SimVertices::About(300)));
    session.apply_once(Command::SetFleshBase(FleshBase::Bones));
    session.apply_once(Command::SetMethod(method));
    run_until_idle(&mut session);
    session
}

fn show(session: &mut Session, count: usize) {
    let view = session.active_view().id;
    session.apply_once(Command::View(ViewCommand::SetCrowd { view, count }));
    run_until_idle(session);
}

fn shown(session: &Session) -> Arc<CrowdFrame> {
    session
        .crowd_of(session.active_view().id)
        .unwrap_or_else(|| panic!("no crowd: {:?}", session.messages()))
}

/// Farthest that one of a crowd is from where a character is, moved to its place; parts of the size.
fn apart(all: &[Point], instance: usize, one: &[Point], place: &Vec3, size: f32) -> f32 {
    let own = &all[instance * one.len()..(instance + 1) * one.len()];
    own.iter()
        .zip(one)
        .map(|(a, b)| (a - (b + place)).norm())
        .max_by(f32::total_cmp)
        .unwrap_or_default()
        / size
}

fn tolerance(method: MethodId) -> f32 {
    if method.has(Capability::State) {
        FLESH_TOLERANCE
    } else {
        BLENDED_TOLERANCE
    }
}

/// With a pose made by hand all instances have the pose of the character; in a clip each is at its phase.
#[test]
fn a_crowd_is_many_of_the_character() {
    let Some(gpu) = crate::gpu::for_tests() else {
        return;
    };
    for method in [MethodId::LBS, MethodId::PD] {
        let mut session = on(&gpu, method);
        session.apply_once(turn(40.0));
        show(&mut session, 4);
        assert!(
            session.jobs().is_empty() && session.messages().is_empty(),
            "{:?}",
            session.messages()
        );
        let subject = session.subject().unwrap().clone();
        let frame = shown(&session);
        assert_eq!((frame.skin.instances(), frame.method), (4, method));
        let places = CrowdMotion::new(&subject, Motion::Rest, 4)
            .places()
            .to_vec();
        assert_eq!(
            places[0],
            Vec3::zeros(),
            "the first stands where the character does"
        );
        let all = frame.skin.fetch_positions().unwrap();
        let single = session.snapshot().unwrap();
        for (instance, place) in places.iter().enumerate() {
            let apart = apart(&all, instance, single.positions(), place, subject.size);
            assert!(
                apart < tolerance(method),
                "{method:?}, {instance}: {apart} of the size apart"
            );
        }
        let inside = |p: &Point| {
            (0..3).all(|k| p[k] >= frame.bounds().min[k] && p[k] <= frame.bounds().max[k])
        };
        assert!(all.iter().all(inside), "framing would cut somebody off");
        assert_eq!(
            session.bounds_of(session.active_view().id),
            Some(frame.bounds())
        );

        // A clip: the clock is moved, and all instances settle there.
        session.apply_once(Command::SelectClip(Some(0)));
        session.apply_once(Command::Scrub { time_secs: 0.4 });
        run_until_idle(&mut session);
        let frame = shown(&session);
        let play = ClipPlay {
            seam_secs: session.channels().active().playback().blend_secs,
            ..ClipPlay::once(0)
        };
        let motion = CrowdMotion::new(&subject, Motion::Play(play), 4);
        let poses = motion.poses_at(
            &subject.character,
            session.channels().active().playback().time_secs,
        );
        assert!(poses[0] == session.channels().active().world_from_joint() && poses[0] != poses[1]);
        let all = frame.skin.fetch_positions().unwrap();
        // Nothing collides in a crowd.
        let params = Params {
            collisions: Collisions::Off,
            ..session.document().params
        };
        let mut actor = Actor::bind(&subject, method, &params, &Progress::new()).unwrap();
        for (instance, pose) in poses.iter().enumerate() {
            actor.reset();
            actor
                .advance(&Frame {
                    world_from_joint: pose,
                    dt_secs: 0.0,
                })
                .unwrap();
            let apart = apart(
                &all,
                instance,
                actor.positions(),
                &motion.places()[instance],
                subject.size,
            );
            assert!(
                apart < tolerance(method),
                "{method:?}, clip, {instance}: {apart} of the size apart"
            );
        }

        // It plays, and stops.
        session.apply_once(Command::SetPlaying(true));
        let before = frame.sequence;
        let start = Instant::now();
        while shown(&session).sequence < before + 5 || shown(&session).frames_per_s.is_none() {
            assert!(start.elapsed() < Duration::from_mins(1), "it stands still");
            assert!(session.tick(0.02).active);
            std::thread::sleep(Duration::from_millis(1));
        }
        session.apply_once(Command::SetPlaying(false));
        run_until_idle(&mut session);
        show(&mut session, 1);
        assert!(
            session.crowd_of(session.active_view().id).is_none() && session.snapshot().is_some()
        );
    }
}

/// When the inputs of a crowd change, it is made again; the old one is shown until then.
#[test]
fn a_crowd_follows_number_method_and_dynamics() {
    let Some(gpu) = crate::gpu::for_tests() else {
        return;
    };
    let mut session = on(&gpu, MethodId::LBS);
    show(&mut session, 2);
    let first = shown(&session);
    let view = session.active_view().id;
    session.apply_once(Command::View(ViewCommand::SetCrowd { view, count: 3 }));
    session.tick(0.01);
    assert_eq!(shown(&session).skin.instances(), 2, "the old one stays");
    run_until_idle(&mut session);
    assert_eq!(shown(&session).skin.instances(), 3);
    session.apply_once(Command::SetMethod(MethodId::PD));
    run_until_idle(&mut session);
    assert_eq!(shown(&session).method, MethodId::PD);
    let soft = shown(&session);
    session.apply_once(Command::SetParams(crate::dynamics::Preset::Jelly.params()));
    run_until_idle(&mut session);
    assert!(shown(&session).sequence > soft.sequence && soft.sequence > first.sequence);
    // Another character: none of the former stand about. It is simulated finer, which takes software its time.
    session.apply_once(Command::SetMethod(MethodId::LBS));
    session.apply_once(Command::Open(Source::builtin("arm")));
    run_until_idle(&mut session);
    assert!(Arc::ptr_eq(
        &shown(&session).subject,
        session.subject().unwrap()
    ));
}

#[test]
fn without_a_device_or_after_its_loss_one_character_is_shown_with_one_sentence() {
    let mut session = opened();
    show(&mut session, 9);
    assert_eq!(
        (session.active_view().crowd, session.messages().len()),
        (1, 1),
        "{:?}",
        session.messages()
    );
    assert!(
        session.messages()[0].text.contains("graphics device"),
        "{:?}",
        session.messages()
    );
    let Some(gpu) = crate::gpu::for_tests() else {
        return;
    };
    for method in [MethodId::LBS, MethodId::PD] {
        let mut session = on(&gpu, method);
        session.set_gpu(crate::gpu::for_tests().as_ref());
        show(&mut session, 4);
        let gpu = shown(&session).skin.gpu().clone();
        session.apply_once(Command::SetPlaying(true));
        session.tick(0.02);
        gpu.simulate_loss();
        let start = Instant::now();
        while session.active_view().crowd > 1 {
            assert!(start.elapsed() < Duration::from_mins(1), "nobody notices");
            session.tick(0.02);
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(
            session.crowd_of(session.active_view().id).is_none() && session.snapshot().is_some()
        );
        let told = session
            .messages()
            .iter()
            .filter(|message| message.text.contains("instead of 4"))
            .count();
        assert_eq!(told, 1, "{:?}", session.messages());
    }
}

#[test]
fn too_many_are_refused_and_what_is_being_made_can_be_cancelled() {
    let mut session = opened();
    let view = session.active_view().id;
    session.apply_once(Command::View(ViewCommand::SetCrowd {
        view,
        count: 1_000_000,
    }));
    assert_eq!(session.active_view().crowd, MAX_CROWD);
    session.apply_once(Command::View(ViewCommand::SetCompare {
        view,
        method: Some(MethodId::LBS),
    }));
    assert_eq!(
        session.active_view().compare,
        None,
        "a crowd is compared with nothing"
    );
    session.apply_once(Command::View(ViewCommand::SetCrowd { view, count: 0 }));
    assert_eq!(session.active_view().crowd, 1);
    let Some(gpu) = crate::gpu::for_tests() else {
        return;
    };
    let mut session = on(&gpu, MethodId::PD);
    session.apply_once(Command::View(ViewCommand::SetCrowd { view, count: 40 }));
    let start = Instant::now();
    while session.jobs().is_empty() {
        assert!(start.elapsed() < Duration::from_mins(1), "nobody begins");
        assert!(session.tick(0.05).active);
    }
    assert_eq!(session.jobs()[0].title, "Making a crowd of 40");
    session.apply_once(Command::CancelJobs);
    run_until_idle(&mut session);
    assert_eq!(
        (session.active_view().crowd, session.messages()),
        (1, &[][..])
    );
    assert!(session.jobs().is_empty() && session.crowd_of(view).is_none());
}

/// The number is kept with the view, by the project and by the window's layout.
#[test]
fn a_file_stores_the_number_of_a_crowd() {
    let view = View {
        crowd: 25,
        ..View::new(ViewId(3), MethodId::PD)
    };
    let kept = serde_json::to_string(&view).unwrap();
    assert_eq!(serde_json::from_str::<View>(&kept).unwrap(), view);
    let alone = serde_json::to_string(&View { crowd: 1, ..view }).unwrap();
    assert!(!alone.contains("crowd"), "{alone}");
    assert_eq!(
        serde_json::from_str::<View>(&alone).unwrap().crowd,
        1,
        "files from before know no crowds"
    );
    let mut session = Session::new();
    let wild = View {
        crowd: usize::MAX,
        compare: Some(MethodId::LBS),
        ..view
    };
    session.apply_once(Command::View(ViewCommand::SetAll(vec![wild])));
    assert_eq!(
        (session.active_view().crowd, session.active_view().compare),
        (MAX_CROWD, None)
    );
}
