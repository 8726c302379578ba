//! The command line on projects, on other moments, and on what it says of a bake.

#![expect(clippy::unwrap_used, reason = "a test that can't go on shall panic")]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::common::folder::TestFolder;
use crate::common::skip;
use crate::program::sinew;
use image::RgbaImage;
use sinew::app::actions::LayoutAction;
use sinew::app::layout::Layout;
use sinew::app::look::{Backdrop, Look};
use sinew::methods::MethodId;
use sinew::render::NamedView;
use sinew::session::{
    BoardState, Command, Compare, PaneState, ProjectCommand, Session, Source, ViewCommand,
};

/// A picture; none, which is told, where there is nothing to draw with.
fn picture(folder: &TestFolder, words: &[&dyn AsRef<OsStr>]) -> Option<RgbaImage> {
    let out = folder.0.join("picture.png");
    let mut all: Vec<&dyn AsRef<OsStr>> = vec![&"render"];
    all.extend(words);
    all.extend([&"--size=240x200" as &dyn AsRef<OsStr>, &"-o", &out]);
    let output = sinew(&all);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if stderr.contains("no graphics adapter") && !sinew::gpu::is_required() {
        skip::skipped("no graphics adapter");
        return None;
    }
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    Some(image::open(&out).unwrap().to_rgba8())
}

/// A project of the bent cylinder by linear blending on white, seen from the front, as the window would save it.
fn project(path: &Path, state: PaneState, compare: Option<MethodId>) {
    let mut session = Session::new();
    session.apply_once(Command::SetMethod(MethodId::LBS));
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    wait(&mut session);
    session.apply_once(Command::SetJointAngles {
        joint: 1,
        degrees: [0.0, 0.0, 70.0],
    });
    let view = session.active_view().id;
    session.apply_once(Command::View(ViewCommand::SetCompare {
        view,
        method: compare,
    }));
    let mut layout = Layout::new(session.views());
    layout.apply(&LayoutAction::SetPane(view, state), session.views());
    let bounds = session.subject().unwrap().bounds;
    let camera = &mut layout.pane_mut(view).unwrap().viewport.camera;
    camera.look_from(NamedView::Front);
    camera.frame(&bounds, 1.2);
    let window = layout.state(session.views(), &BoardState::default());
    session.projects_mut().set_window(window);
    session.apply_once(
        ProjectCommand::SaveAs {
            path: path.to_owned(),
            packed: false,
        }
        .into(),
    );
    wait(&mut session);
    assert!(path.is_file(), "{:?}", session.messages());
}

fn wait(session: &mut Session) {
    let start = Instant::now();
    while session.tick(1.0 / 60.0).active
        || !session.jobs().is_empty()
        || session.project().is_saving()
    {
        assert!(
            start.elapsed() < Duration::from_mins(2),
            "{:?}",
            session.jobs()
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn white(picture: &RgbaImage) -> bool {
    picture.get_pixel(2, 2).0[..3]
        .iter()
        .all(|channel| *channel > 245)
}

#[test]
fn options_override_the_view_of_a_project() {
    let folder = TestFolder::new("as-shown");
    let file = folder.0.join("bent.sinew");
    let look = Look {
        backdrop: Backdrop::White,
        wireframe: true,
        ground: false,
        ..Look::default()
    };
    project(
        &file,
        PaneState {
            look,
            ..PaneState::default()
        },
        None,
    );
    let Some(as_shown) = picture(&folder, &[&file]) else {
        return;
    };
    assert!(white(&as_shown), "the view's background");
    assert_eq!(
        picture(&folder, &[&file, &"--method=lbs"]).unwrap(),
        as_shown,
        "the view's method"
    );
    assert_ne!(
        picture(&folder, &[&file, &"--view=side"]).unwrap(),
        as_shown,
        "another camera"
    );
    let near = picture(&folder, &[&file, &"--frame=upper"]).unwrap();
    assert_ne!(near, as_shown, "close up");
    assert_ne!(
        picture(&folder, &[&file, &"--frame=upper", &"--zoom=2"]).unwrap(),
        near,
        "closer"
    );
    assert_ne!(
        picture(&folder, &[&file, &"--overlay=bones"]).unwrap(),
        as_shown,
        "other overlays"
    );
    assert!(
        !white(&picture(&folder, &[&file, &"--background=dark"]).unwrap()),
        "another background"
    );

    project(
        &file,
        PaneState {
            look,
            comparing: Compare::Wipe(0.3),
            ..PaneState::default()
        },
        Some(MethodId::RIGID),
    );
    let compared = picture(&folder, &[&file]).unwrap();
    assert_ne!(compared, as_shown, "what it is compared with");
    assert_eq!(
        picture(
            &folder,
            &[&file, &"--method=lbs,rigid", &"--compare=wipe:0.3"]
        )
        .unwrap(),
        compared
    );

    let baked = sinew(&[
        &"bake",
        &file,
        &"--settle",
        &"--json",
        &"-o",
        &folder.0.join("a.obj"),
    ]);
    let report: serde_json::Value = serde_json::from_slice(&baked.stdout).unwrap();
    assert_eq!(report["method"], "lbs", "bakes go by it, too");
}

#[test]
fn without_a_project_methods_are_required() {
    let refused = sinew(&[&"render", &"builtin:cylinder", &"-o", &"a.png"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--method"));
}

#[test]
fn ghosts_are_drawn_where_there_is_a_motion() {
    let folder = TestFolder::new("ghosts");
    let moving: [&dyn AsRef<OsStr>; 6] = [
        &"builtin:cylinder",
        &"--method=lbs",
        &"--clip=bend",
        &"--at=1",
        &"--no-ground",
        &"--background=white",
    ];
    let with = |more: &'static str| {
        let mut words = moving.to_vec();
        let more: &'static dyn AsRef<OsStr> = Box::leak(Box::new(more));
        words.push(more);
        picture(&folder, &words)
    };
    let Some(alone) = with("--overlay=wireframe") else {
        return;
    };
    let haunted = with("--overlay=wireframe,ghosts").unwrap();
    assert_ne!(haunted, alone);
    assert_eq!(
        with("--overlay=wireframe").unwrap(),
        alone,
        "nothing else differs"
    );
    let many = with("--ghosts=0,5:0.3").unwrap();
    let orange = |picture: &RgbaImage| {
        picture
            .pixels()
            .filter(|pixel| pixel.0[0] > pixel.0[2].saturating_add(25))
            .count()
    };
    assert!(
        orange(&many) > orange(&alone) + 200,
        "moments to come are orange: {} and {}",
        orange(&many),
        orange(&alone)
    );
}

#[test]
fn the_report_of_a_bake_has_the_scores_of_its_last_frame() {
    let folder = TestFolder::new("scores");
    let score = |rotate: &str| {
        let out = folder.0.join("a.obj");
        let baked = sinew(&[
            &"bake",
            &"builtin:cylinder",
            &"--method=lbs",
            &rotate,
            &"--settle",
            &"--json",
            &"-o",
            &out,
        ]);
        assert!(
            baked.status.success(),
            "{}",
            String::from_utf8_lossy(&baked.stderr)
        );
        serde_json::from_slice::<serde_json::Value>(&baked.stdout).unwrap()["score"].clone()
    };
    let (rest, bent) = (
        score("--rotate=upper=0,0,0"),
        score("--rotate=upper=0,0,120"),
    );
    assert!(
        rest["volume_change"].as_f64().unwrap().abs() < 1e-4,
        "{rest}"
    );
    assert!(
        (rest["stretch_p99"].as_f64().unwrap() - 1.0).abs() < 1e-3,
        "{rest}"
    );
    assert_eq!(rest["new_pairs"], 0, "{rest}");
    assert!(
        bent["volume_change"].as_f64().unwrap() < -0.01,
        "linear blending loses volume: {bent}"
    );
    assert!(bent["stretch_p99"].as_f64().unwrap() > 1.1, "{bent}");
}

/// The cylinder, lying down and soft, under gravity.
fn sagging(folder: &TestFolder) -> PathBuf {
    let file = folder.0.join("sags.sinew");
    let text = r#"{"format": "sinew", "version": 1, "character": {"files": [{"path": "builtin:cylinder"}]},
        "params": {"stiffness_pa": 4000, "human_sized": false, "gravity_m_s2": [0, -9.81, 0], "iterations": 5},
        "pose": {"lower": {"rotation": [0, 0, 0.70710678, 0.70710678], "translation": [0, 0, 0]}}}"#;
    fs::write(&file, text).unwrap();
    file
}

#[test]
fn a_given_number_keeps_the_projects_others() {
    let folder = TestFolder::new("numbers");
    let file = sagging(&folder);
    let baked = |more: &[&'static str]| {
        let out = folder.0.join("a.json");
        let mut words: Vec<&dyn AsRef<OsStr>> = vec![
            &"bake",
            &file,
            &"--method=pd",
            &"--sim-vertices=300",
            &"--settle",
            &"-o",
            &out,
        ];
        words.extend(more.iter().map(|word| word as &dyn AsRef<OsStr>));
        let output = sinew(&words);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let text: serde_json::Value = serde_json::from_slice(&fs::read(&out).unwrap()).unwrap();
        let heights = text["frames"][0]
            .as_array()
            .unwrap()
            .iter()
            .map(|point| point[1].as_f64().unwrap());
        heights.fold(f64::INFINITY, f64::min)
    };
    let [as_saved, weightless] = [baked(&[]), baked(&["--gravity=0"])];
    let sag = weightless - as_saved;
    assert!(sag > 1e-3, "{as_saved} and {weightless}");
    let more_iterations = weightless - baked(&["--iterations=20"]);
    assert!(
        (more_iterations / sag - 1.0).abs() < 0.1,
        "{sag} and {more_iterations}"
    );
    let light = weightless - baked(&["--density=500"]);
    assert!(light > 0.2 * sag && light < 0.8 * sag, "{sag} and {light}");
    assert!(
        (weightless - baked(&["--preset=natural"])).abs() < 0.1 * sag,
        "a preset replaces all numbers"
    );

    let measured = sinew(&[
        &"bench",
        &file,
        &"--device=cpu",
        &"--sim-vertices=300",
        &"--steps=10",
        &"--json",
    ]);
    let report: serde_json::Value = serde_json::from_slice(&measured.stdout).unwrap();
    assert_eq!(
        report["step"]["iterations"], 5,
        "what is measured goes by the project, too"
    );
}
