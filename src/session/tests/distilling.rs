//! A rig is distilled in the background, shown and written.

use super::*;
use crate::weights::decomposition::DecompositionSettings;

fn request(fitted: &[usize], held_back: &[usize]) -> DistillRequest {
    DistillRequest {
        method: MethodId::from_id("dqs").unwrap(),
        settings: DistillSettings {
            fit: DecompositionSettings {
                helpers: 4,
                influences: 4,
            },
            morphs: 0,
            fitted: fitted.to_vec(),
            held_back: held_back.to_vec(),
            fps: 10.0,
            range: false,
            springs: false,
        },
    }
}

/// Distances between what two methods show, root mean square.
fn distance(session: &mut Session, methods: [MethodId; 2]) -> f64 {
    let [a, b] = methods.map(|method| {
        session.apply_once(Command::SetMethod(method));
        run_until_idle(session);
        tick_until(session, |session| session.shown_method() == Some(method));
        run_until_idle(session);
        session.snapshot().unwrap().positions().to_vec()
    });
    let squares = a
        .iter()
        .zip(&b)
        .map(|(a, b)| f64::from((a - b).norm_squared()));
    (squares.sum::<f64>() / a.len() as f64).sqrt()
}

#[test]
fn a_distilled_rig_is_measured_shown_and_written() {
    let mut session = opened();
    session.distill(request(&[0], &[1]));
    assert!(
        session
            .jobs()
            .iter()
            .any(|job| job.title.contains("Distilling"))
    );
    run_until_idle(&mut session);
    let subject = session.subject().unwrap().clone();
    let (made, method) = session.distilling().made_for(&subject).expect("a rig");
    assert_eq!(method.id(), "dqs");
    let report = made.report.clone();
    assert!(report.helpers > 0, "{report:?}");
    let keyed = report.fitted[0].keyed.unwrap();
    assert!(keyed.rms < 0.5 * report.fitted[0].before.rms, "{report:?}");
    assert!(report.held_back[0].keyed.is_none() && report.held_back[0].driven.rms > 0.0);

    // In the middle of the clip.
    session.apply_once(Command::SelectClip(Some(0)));
    session.apply_once(Command::SetPlaying(false));
    session.apply_once(Command::Scrub { time_secs: 1.0 });
    let near = distance(&mut session, [method, MethodId::DISTILLED]);
    let far = distance(&mut session, [method, MethodId::LBS]);
    assert!(near > 0.0 && near < 0.6 * far, "{near} {far}");

    let folder = std::env::temp_dir().join(format!("sinew-distilling-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("rig.glb");
    session.apply_once(ProjectCommand::SaveDistilled(path.clone()).into());
    run_until_idle(&mut session);
    let read = crate::io::load(&[path], &crate::progress::Progress::new()).unwrap();
    let missing = folder.join("missing").join("rig.glb");
    session.apply_once(ProjectCommand::SaveDistilled(missing).into());
    run_until_idle(&mut session);
    std::fs::remove_dir_all(&folder).unwrap();
    let joints = subject.character.skeleton.len() + report.helpers;
    assert_eq!(read.skeleton.len(), joints);
    let last = session.messages().last().unwrap();
    assert_eq!(last.level, Level::Error, "{last}");

    // A view is saved with a method that is always there.
    session.apply_once(Command::SetMethod(MethodId::DISTILLED));
    let saved = session.active_view().without_distilled();
    assert_eq!(saved.method, MethodId::default());
    // Another fit replaces what is shown.
    session.distill(request(&[1], &[]));
    run_until_idle(&mut session);
    tick_until(&mut session, |session| {
        session.shown_method() == Some(MethodId::DISTILLED)
    });
    let (made, _) = session.distilling().made_for(&subject).expect("a rig");
    assert_eq!(made.report.fitted[0].clip, "twist");

    // Another character has no such rig: the stand-in is shown, and undo brings the rig back.
    session.apply_once(Command::Open(Source::builtin("arm")));
    run_until_idle(&mut session);
    let shown = session.snapshot().expect("a skin");
    let arm = session.subject().unwrap();
    assert!(shown.subject.same_character(arm) && !arm.same_character(&subject));
    assert_eq!(shown.method.id(), "dqs");
    session.apply_once(Command::Undo);
    run_until_idle(&mut session);
    tick_until(&mut session, |session| {
        session.shown_method() == Some(MethodId::DISTILLED)
    });
}

#[test]
fn a_fit_is_cancelled_and_a_failure_is_a_message() {
    let mut session = opened();
    session.distill(request(&[0, 1], &[]));
    assert!(session.distilling().progress().is_some());
    session.apply_once(Command::CancelJobs);
    assert!(session.distilling().progress().is_none());
    run_until_idle(&mut session);
    let subject = session.subject().unwrap().clone();
    assert!(session.distilling().made_for(&subject).is_none());
    assert!(session.messages().is_empty(), "{:?}", session.messages());

    session.distill(request(&[], &[]));
    run_until_idle(&mut session);
    let failure = session.distilling().failure().expect("a failure");
    assert!(failure.contains("no clips to fit to"), "{failure}");
    let message = session.messages().last().unwrap().clone();
    assert_eq!(message.level, Level::Error);
    session.apply_once(Command::DismissMessage(message.id));
    assert!(session.messages().is_empty());

    let path = std::env::temp_dir().join("never.glb");
    session.apply_once(ProjectCommand::SaveDistilled(path.clone()).into());
    let said = session.messages().last().unwrap().to_string();
    assert!(said.contains("fit a rig first") && !path.exists(), "{said}");
    // Without a rig its method is refused, and another one is shown.
    session.apply_once(Command::SetMethod(MethodId::DISTILLED));
    run_until_idle(&mut session);
    assert_ne!(session.shown_method(), Some(MethodId::DISTILLED));
}
