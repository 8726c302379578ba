use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use super::*;

/// The settings, with the dialog's changes applied, and its other actions.
struct DialogState {
    settings: CaptureSettings,
    asked: Vec<CaptureAction>,
}

fn dialog(clip_secs: Option<f64>, job: Option<JobView>) -> Harness<'static, DialogState> {
    let state = DialogState {
        settings: CaptureSettings {
            folder: std::env::temp_dir(),
            ..CaptureSettings::default()
        },
        asked: Vec::new(),
    };
    let draw = move |ui: &mut Ui, state: &mut DialogState| {
        let mut actions = Actions::default();
        let settings = state.settings.clone();
        let view = CaptureView {
            settings: &settings,
            has_character: true,
            clip_secs,
            view_size: [640, 480],
            views: [3, 3],
            job: job.as_ref(),
        };
        capture_ui(ui, &view, &mut actions);
        for action in actions.take() {
            match action {
                Action::Capture(CaptureAction::Set(settings)) => {
                    state.settings = settings.sanitized();
                }
                Action::Capture(action) => state.asked.push(action),
                other => panic!("{other:?}"),
            }
        }
    };
    let mut harness = Harness::builder()
        .with_size(egui::vec2(480.0, 440.0))
        .build_ui_state(draw, state);
    theme::apply(&harness.ctx);
    harness.run();
    assert!(
        harness.state().asked.is_empty() && harness.state().settings.what == CaptureKind::Picture,
        "untouched, it asks for nothing"
    );
    harness
}

#[test]
fn a_turntable_is_chosen_and_exported() {
    let mut harness = dialog(None, None);
    assert!(
        harness.query_by_label("Seconds for a turn").is_none(),
        "a picture has no length"
    );
    harness.get_by_label("Turntable").click();
    harness.run();
    harness.get_by_label("WebP").click();
    harness.run();
    harness.get_by_label("Transparent").click();
    harness.run();
    harness.get_by_label("Clip").click();
    harness.run();
    let settings = &harness.state().settings;
    assert_eq!(
        (settings.what, settings.format, settings.transparent),
        (CaptureKind::Turntable, AnimationFormat::Webp, true),
        "no clip is shown"
    );
    assert!(harness.query_by_label("Seconds for a turn").is_some());
    harness.get_by_label("Export").click();
    harness.run();
    assert_eq!(harness.state().asked, [CaptureAction::Export]);
}

#[test]
fn a_figure_says_what_is_in_it() {
    let mut harness = dialog(None, None);
    assert!(harness.query_by_label("Scores").is_none());
    harness.get_by_label("Figure").click();
    harness.run();
    harness.get_by_label("of 3 views");
    harness.get_by_label("3240 × 1080 pixels and captions.");
    harness.get_by_label("Scores").click();
    harness.run();
    harness.get_by_label("SVG").click();
    harness.run();
    let settings = &harness.state().settings;
    assert!(settings.figure.labels && settings.figure.legends && !settings.figure.scores);
    assert_eq!(settings.extension(), "svg");
}

#[test]
fn a_greyed_clip_gives_its_reason() {
    let without = dialog(None, None);
    without.get_by_label("(no clip is shown)");
    let with = dialog(Some(1.0), None);
    assert!(with.query_by_label("(no clip is shown)").is_none());
}

#[test]
fn an_export_can_be_cancelled() {
    let job = JobView {
        title: "Making fox.gif".to_owned(),
        stage: "3 of 40".to_owned(),
        fraction: 0.1,
    };
    let mut harness = dialog(Some(1.5), Some(job));
    assert!(
        harness.query_by_label("3 of 40").is_some() && harness.query_by_label("Export").is_none()
    );
    harness.get_by_label("Cancel").click();
    harness.run();
    assert_eq!(harness.state().asked, [CaptureAction::Cancel]);
}
