//! Materials painted onto the skin.

use super::*;
use crate::character::{Brush, BrushKind, BrushPoint, PaintMap};

fn shown(name: &str, method: MethodId) -> Session {
    let mut session = Session::new();
    session.apply_once(Command::SetMethod(method));
    session.apply_once(Command::Open(Source::builtin(name)));
    run_until_idle(&mut session);
    session
}

/// A touch at a source vertex.
fn touch(session: &Session, map: PaintMap, vertex: usize, mirrored: bool) -> Command {
    let subject = session.subject().unwrap();
    let position = subject.bind_positions[vertex];
    let mesh = subject.skin.mesh.clone();
    let skin = subject.skin.skin_from_source[vertex].unwrap();
    let triangle = mesh.triangles.iter().find(|t| t.contains(&skin)).unwrap();
    let [a, b, c] = triangle.map(|v| mesh.positions[v as usize]);
    let at = BrushPoint {
        position,
        normal: (b - a).cross(&(c - a)).normalize(),
    };
    let brush = Brush {
        kind: BrushKind::Paint,
        code: match map {
            PaintMap::Stiffness => map.code(4.0),
            PaintMap::Held => map.code(1.0),
            PaintMap::Thickness => map.code(0.3),
            PaintMap::Relaxation => map.code(0.0),
        },
        radius: 0.05 * subject.size,
        strength: 1.0,
    };
    let touch = PaintCommand::Touch {
        map,
        brush,
        at,
        mirrored,
    };
    touch.into()
}

fn codes(session: &Session, map: PaintMap) -> Vec<i16> {
    let paint = &session.document().flesh.paint;
    paint.codes(map).map(<[i16]>::to_vec).unwrap_or_default()
}

/// A vertex of the skin farthest to one side.
fn at_side(session: &Session) -> usize {
    let positions = &session.subject().unwrap().bind_positions;
    let side = |v: &usize| positions[*v].x;
    (0..positions.len())
        .max_by(|a, b| side(a).total_cmp(&side(b)))
        .unwrap()
}

#[test]
fn a_stroke_is_one_step_and_the_flesh_takes_it_up_at_its_end() {
    let mut session = shown("arm", MethodId::PD);
    let vertex = at_side(&session);
    let subject = session.subject().unwrap().clone();
    for vertex in [vertex, vertex - 1, vertex] {
        let touch = touch(&session, PaintMap::Held, vertex, false);
        session.apply(touch, Gesture::Dragging);
        session.tick(1.0 / 60.0);
    }
    session.apply(PaintCommand::Lift(PaintMap::Held).into(), Gesture::Released);
    run_until_idle(&mut session);
    let painted = codes(&session, PaintMap::Held);
    assert_eq!(painted[vertex], 1000);
    assert!(
        Arc::ptr_eq(&subject, session.subject().unwrap()),
        "nothing is built again"
    );
    assert_eq!(session.undo_label(), Some("Paint held"));
    assert_eq!(session.history().position, 1);
    let rest = session.snapshot().unwrap();
    let moved = rest.positions().iter().zip(&*subject.bind_positions);
    let moved = moved.map(|(a, b)| (a - b).norm()).fold(0.0, f32::max);
    assert!(moved < 1e-2 * subject.size, "{moved}");
    session.apply_once(Command::Undo);
    run_until_idle(&mut session);
    assert!(session.document().flesh.paint.is_empty());
    session.apply_once(Command::Redo);
    assert_eq!(codes(&session, PaintMap::Held), painted);
}

#[test]
fn paint_changes_how_flesh_hangs_and_undo_brings_it_back() {
    let mut session = shown("arm", MethodId::PD);
    let params = crate::dynamics::Params {
        gravity_m_s2: [0.0, -9.81, 0.0],
        ..session.document().params
    };
    session.apply_once(Command::SetParams(params));
    let hanging = |session: &mut Session| {
        session.apply_once(Command::ResetSimulation);
        run_until_idle(session);
        session.snapshot().unwrap().positions().to_vec()
    };
    let farthest = |a: &[crate::math::Point], b: &[crate::math::Point]| {
        let apart = a.iter().zip(b).map(|(a, b)| (a - b).norm());
        apart.fold(0.0, f32::max)
    };
    let plain = hanging(&mut session);
    let fill = |value| PaintCommand::Fill {
        map: PaintMap::Stiffness,
        value,
    };
    session.apply_once(fill(0.0625).into());
    let soft = hanging(&mut session);
    let size = session.subject().unwrap().size;
    assert!(
        farthest(&plain, &soft) > 1e-3 * size,
        "{}",
        farthest(&plain, &soft)
    );
    session.apply_once(Command::Undo);
    let again = hanging(&mut session);
    assert!(
        farthest(&plain, &again) < 1e-5 * size,
        "{}",
        farthest(&plain, &again)
    );
    session.apply_once(Command::Redo);
    session.apply_once(PaintCommand::Clear(PaintMap::Stiffness).into());
    assert_eq!(session.undo_label(), Some("Clear paint"));
    assert!(session.document().flesh.paint.is_empty());
}

#[test]
fn relaxation_is_painted_for_implicit_skinning_and_undone() {
    let mut session = shown("arm", MethodId::IMPLICIT);
    session.apply_once(Command::SetJointAngles {
        joint: 1,
        degrees: [70.0, 0.0, 70.0],
    });
    let settled = |session: &mut Session| {
        session.apply_once(Command::ResetSimulation);
        run_until_idle(session);
        session.snapshot().unwrap().positions().to_vec()
    };
    let plain = settled(&mut session);
    let fill = PaintCommand::Fill {
        map: PaintMap::Relaxation,
        value: 0.0,
    };
    session.apply_once(fill.into());
    assert!(settled(&mut session) != plain);
    session.apply_once(Command::Undo);
    assert!(settled(&mut session) == plain);
}

#[test]
fn both_sides_are_painted_and_a_cancelled_stroke_leaves_nothing() {
    let mut session = shown("mannequin", MethodId::LBS);
    let vertex = at_side(&session);
    let touch = touch(&session, PaintMap::Stiffness, vertex, true);
    session.apply(touch, Gesture::Dragging);
    let painted = codes(&session, PaintMap::Stiffness);
    let positions = session.subject().unwrap().bind_positions.clone();
    let sides = [1.0, -1.0].map(|sign| {
        let side = painted.iter().zip(&*positions);
        side.filter(|(code, p)| **code != 0 && p.x * sign > 0.0)
            .count()
    });
    assert!(sides[0] > 3 && sides[1] > 3, "{sides:?}");
    assert!(sides[0].abs_diff(sides[1]) <= sides[0] / 4 + 1, "{sides:?}");
    session.apply_once(PoseCommand::Revert.into());
    assert!(session.document().flesh.paint.is_empty());
    assert_eq!(session.undo_label(), None);
}

#[test]
fn paint_is_saved_with_the_project_and_read_on_the_command_line() {
    let folder = std::env::temp_dir().join(format!("sinew-paint-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut session = shown("arm", MethodId::PD);
    let vertex = at_side(&session);
    for map in PaintMap::ALL {
        let touch = touch(&session, map, vertex, false);
        session.apply_once(touch);
    }
    let paint = session.document().flesh.paint.clone();
    let path = folder.join("painted.sinew");
    session.apply_once(
        ProjectCommand::SaveAs {
            path: path.clone(),
            packed: false,
        }
        .into(),
    );
    run_until_idle(&mut session);
    assert!(!session.project().is_dirty());
    let open = |path: &std::path::Path| {
        let mut again = Session::new();
        again.apply_once(Command::Open(Source::of_files(vec![path.to_owned()])));
        run_until_idle(&mut again);
        again
    };
    let again = open(&path);
    assert!(again.messages().is_empty(), "{:?}", again.messages());
    assert_eq!(again.document().flesh.paint, paint);
    assert!(!again.project().is_dirty());
    let source = Source::of_files(vec![path.clone()]);
    let subject = crate::session::open(&source, &crate::progress::Progress::new()).unwrap();
    assert_eq!(subject.settings.paint, paint, "on the command line");

    let text = std::fs::read_to_string(&path).unwrap();
    let count = subject.bind_positions.len();
    let other = text.replace(
        &format!("\"vertices\": {count}"),
        &format!("\"vertices\": {}", count + 1),
    );
    assert_ne!(text, other);
    std::fs::write(&path, other).unwrap();
    let again = open(&path);
    assert!(again.document().flesh.paint.is_empty());
    let said = &again.messages().last().unwrap().text;
    assert!(
        said.contains("other vertices than when it was painted"),
        "{said}"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn thin_flesh_is_built_when_the_stroke_ends() {
    let mut session = shown("arm", MethodId::PD);
    let before = session.subject().unwrap().clone();
    let vertex = at_side(&session);
    let touch = touch(&session, PaintMap::Thickness, vertex, false);
    session.apply(touch, Gesture::Dragging);
    for _ in 0..5 {
        session.tick(1.0 / 60.0);
    }
    assert!(session.jobs().is_empty(), "{:?}", session.jobs());
    session.apply(
        PaintCommand::Lift(PaintMap::Thickness).into(),
        Gesture::Released,
    );
    run_until_idle(&mut session);
    let after = session.subject().unwrap().clone();
    assert!(!Arc::ptr_eq(&before, &after));
    let base = |subject: &Subject| subject.flesh().unwrap().tissue.base.clone();
    assert_ne!(base(&before), base(&after));
    assert_eq!(session.history().position, 1);
    session.apply_once(Command::Undo);
    assert!(
        Arc::ptr_eq(&before, session.subject().unwrap()),
        "kept for undo"
    );
    run_until_idle(&mut session);
    assert!(session.jobs().is_empty());
}
