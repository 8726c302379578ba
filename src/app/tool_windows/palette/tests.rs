//! Tests of the palette.

use super::*;

fn entry(title: &str, kind: &'static str, detail: &str) -> PaletteItem {
    super::super::entries::entry(title, kind, detail, Action::Quit)
}

#[test]
fn titles_come_before_sentences_and_an_empty_search_lists_all() {
    let entries = [
        entry("Show bones", "Command", "Undo has nothing to do with it"),
        entry("Undo", "Command", ""),
        entry("hip", "Joint", ""),
    ];
    assert_eq!(fitting(&entries, "undo"), [1, 0]);
    assert_eq!(fitting(&entries, "  "), [0, 1, 2]);
    assert_eq!(fitting(&entries, "joint"), [2]);
}

#[test]
fn what_lacks_something_is_listed_with_the_reason_and_does_nothing() {
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;
    let mut palette = CommandPalette::default();
    let pin = PaletteItem {
        missing: Some("Select a joint first"),
        ..entry("Pin", "Pose", "Keeps a joint")
    };
    palette.open(vec![pin, entry("Undo", "Edit", "")]);
    let mut harness = Harness::new_ui_state(
        |ui, (palette, actions): &mut (CommandPalette, Actions)| palette.ui(ui.ctx(), actions),
        (palette, Actions::default()),
    );
    harness.run_steps(2);
    assert!(harness.query_by_label("Select a joint first").is_some());
    harness.key_press(Key::Enter);
    harness.run_steps(2);
    assert!(harness.state().0.is_open() && harness.state().1.list().is_empty());
    harness.key_press(Key::ArrowDown);
    harness.key_press(Key::Enter);
    harness.run_steps(2);
    assert!(!harness.state().0.is_open() && harness.state().1.list().len() == 1);
}

/// Queries in the user's words.
#[test]
fn synonyms_find_the_intended_entry() {
    let shortcuts: Vec<_> = crate::app::shortcuts::ALL
        .iter()
        .filter(|shortcut| shortcut.action().is_some())
        .collect();
    let entries: Vec<PaletteItem> = shortcuts
        .iter()
        .map(|shortcut| PaletteItem {
            words: shortcut.words,
            ..entry(shortcut.title, shortcut.group.title(), shortcut.sentence)
        })
        .collect();
    for (search, ids) in [
        ("wipe", &["compare.wipe"][..]),
        ("flicker", &["compare.flicker"]),
        ("distance", &["compare.distance"]),
        (
            "difference",
            &["compare.distance", "compare.wipe", "compare.flicker"],
        ),
        ("difference map", &["compare.distance"]),
        ("heatmap", &["compare.distance", "weights", "stretch"]),
        (
            "compare",
            &[
                "compare.wipe",
                "compare.flicker",
                "compare.distance",
                "compare.none",
            ],
        ),
        ("crowd", &["crowd.9", "crowd.100"]),
        ("many", &["crowd.9", "crowd.100"]),
        ("split", &["split.right", "split.below"]),
        ("split view", &["split.right", "split.below"]),
        (
            "side by side",
            &[
                "layout.methods",
                "compare.wipe",
                "split.right",
                "layout.before-after",
            ],
        ),
        ("ghost", &["ghosts"]),
        ("onion skin", &["ghosts"]),
        ("screenshot", &["export", "copy.view", "copy.window"]),
        ("gif", &["export"]),
        ("video", &["export"]),
        ("undo", &["undo"]),
        ("revert", &["undo"]),
        ("mirror", &["pose.mirror"]),
        ("symmetry", &["pose.mirror", "pose.paste_mirrored"]),
        ("flip", &["pose.mirror", "pose.paste_mirrored"]),
        ("preferences", &["settings"]),
        ("keyframe", &["key", "key.next", "key.previous", "auto-key"]),
        ("orthographic", &["projection"]),
        ("ortho", &["projection", "layout.four"]),
        ("hotkeys", &["sheet"]),
        ("tutorial", &["first-steps"]),
        ("dark", &["theme"]),
        ("ik", &["tool.drag"]),
        ("wire", &["wireframe"]),
        ("slice", &["cut"]),
        ("stretch", &["stretch"]),
        ("full screen", &["panel", "view.maximise"]),
        ("blender", &["export.files"]),
        ("t-pose", &["pose.reset"]),
    ] {
        let first = fitting(&entries, search)
            .first()
            .map(|&index| shortcuts[index].id);
        assert!(
            first.is_some_and(|id| ids.contains(&id)),
            "{search} led to {first:?}"
        );
    }
}
