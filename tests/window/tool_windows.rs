//! What makes the window comfortable: palette, sheet, settings, messages, log, and that everything has a name and can be reached.

use std::time::{Duration, Instant};

use egui::accesskit::Role;
use egui::{Event, Key, Modifiers, Theme, Ui, vec2};
use egui_kittest::kittest::{NodeT, Queryable};
use egui_kittest::{Harness, Node};
use sinew::app::actions::{Action, LayoutAction, LayoutPreset};
use sinew::app::theme;
use sinew::app::viewport::painter::NoPainter;
use sinew::app::workbench::Workbench;
use sinew::session::{Command, Level, Session, Source, ViewCommand};

/// The workbench with a built-in character, drawn to nothing.
fn workbench(name: &str) -> Harness<'static, Workbench> {
    let mut session = Session::new();
    session.apply_once(Command::Open(Source::builtin(name)));
    bench(session)
}

fn bench(session: Session) -> Harness<'static, Workbench> {
    bench_of(session, vec2(1280.0, 800.0))
}

fn bench_of(session: Session, size: egui::Vec2) -> Harness<'static, Workbench> {
    let draw = |ui: &mut Ui, bench: &mut Workbench| bench.ui(ui, &mut NoPainter);
    let mut harness = Harness::builder()
        .with_size(size)
        .build_ui_state(draw, Workbench::with_session(session));
    theme::apply(&harness.ctx);
    let start = Instant::now();
    while !harness.state().session().jobs().is_empty() {
        assert!(
            start.elapsed() < Duration::from_mins(1),
            "waited in vain for the character"
        );
        harness.step();
        std::thread::sleep(Duration::from_millis(5));
    }
    harness.run_steps(3);
    harness
}

fn press(harness: &mut Harness<'_, Workbench>, modifiers: Modifiers, key: Key) {
    harness.key_press_modifiers(modifiers, key);
    harness.run_steps(3);
}

fn write(harness: &mut Harness<'_, Workbench>, text: &str) {
    harness.event(Event::Text(text.to_owned()));
    harness.run_steps(3);
}

const CTRL_SHIFT: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);

#[test]
fn the_palette_runs_the_typed_command() {
    let mut harness = workbench("cylinder");
    press(&mut harness, Modifiers::COMMAND, Key::K);
    write(&mut harness, "linear");
    press(&mut harness, Modifiers::NONE, Key::Enter);
    assert_eq!(
        harness.state().session().active_view().method,
        sinew::methods::MethodId::LBS
    );
    assert!(
        harness.query_by_label("Search everything").is_none(),
        "it closes when something was chosen"
    );

    let joint = harness
        .state()
        .session()
        .subject()
        .unwrap()
        .character
        .skeleton
        .joints()[1]
        .name
        .clone();
    press(&mut harness, Modifiers::NONE, Key::F3);
    write(&mut harness, &joint);
    press(&mut harness, Modifiers::NONE, Key::Enter);
    assert_eq!(harness.state().session().selection().active(), Some(1));

    press(&mut harness, CTRL_SHIFT, Key::P);
    write(&mut harness, "look");
    press(&mut harness, Modifiers::NONE, Key::ArrowDown);
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert!(harness.query_by_label("Search everything").is_none());
    assert_eq!(
        harness.state().session().selection().active(),
        Some(1),
        "Escape closed the palette and nothing else"
    );
}

#[test]
fn the_shortcut_sheet_can_be_searched_and_closed() {
    let mut harness = workbench("cylinder");
    press(&mut harness, Modifiers::SHIFT, Key::Questionmark);
    harness.get_by_label("Search shortcuts");
    write(&mut harness, "redo");
    harness.get_by_label("Ctrl+Shift+Z or Ctrl+Y");
    assert!(harness.query_by_label("Drag a ring").is_none());
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert!(harness.query_by_label("Search shortcuts").is_none());
}

#[test]
fn settings_apply_at_once() {
    let mut harness = workbench("cylinder");
    press(&mut harness, Modifiers::COMMAND, Key::Comma);
    write(&mut harness, "theme");
    harness
        .get_by_role_and_label(Role::ComboBox, "Theme")
        .click();
    harness.run_steps(3);
    // A studio may be light, too; the menu was drawn last.
    harness
        .get_all_by_label("Light")
        .last()
        .expect("the choice")
        .click();
    harness.run_steps(3);
    assert_eq!(harness.ctx.theme(), Theme::Light);
    assert_eq!(theme::colors(&harness.ctx), &theme::LIGHT);
    assert_eq!(
        harness.ctx.global_style().visuals.panel_fill,
        theme::LIGHT.panel
    );
    press(&mut harness, Modifiers::NONE, Key::Escape);
    press(&mut harness, CTRL_SHIFT, Key::T);
    assert_eq!(harness.ctx.theme(), Theme::Dark);
    for _ in 0..2 {
        press(&mut harness, Modifiers::COMMAND, Key::Plus);
    }
    assert!(
        (harness.ctx.zoom_factor() - 1.2).abs() < 1e-3,
        "{}",
        harness.ctx.zoom_factor()
    );
    press(&mut harness, Modifiers::COMMAND, Key::Num0);
    assert_eq!(harness.ctx.zoom_factor(), 1.0);
}

#[test]
fn messages_fade_the_bell_shows_them_again_and_errors_stay() {
    let mut session = Session::new();
    session.add_message(Level::Info, "The pose was saved.");
    session.add_message(Level::Error, "The file could not be read.");
    let mut harness = bench(session);
    harness.get_by_label("The pose was saved.");
    let start = harness.ctx.input(|input| input.time);
    for _ in 0..2_000 {
        harness.step();
        if harness.ctx.input(|input| input.time) > start + 8.0 {
            break;
        }
    }
    harness.run_steps(3);
    assert!(
        harness.query_by_label("The pose was saved.").is_none(),
        "it only informed"
    );
    harness.get_by_label("The file could not be read.");
    harness.get_by_label("Notifications (2 new)").click();
    harness.run_steps(3);
    harness.get_by_label("The pose was saved.");
    assert_eq!(
        harness
            .query_all_by_label("The file could not be read.")
            .count(),
        2,
        "over the view and in the list"
    );
    harness.get_by_role_and_label(Role::Button, "Notifications");
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert!(harness.query_by_label("The pose was saved.").is_none());
}

#[test]
fn the_log_lists_its_records() {
    let mut harness = workbench("cylinder");
    sinew::logbook::open(log::LevelFilter::Info, None).unwrap();
    let record = |level, text: &str| {
        sinew::logbook::note(
            &log::Record::builder()
                .level(level)
                .target("sinew::tests")
                .args(format_args!("{text}"))
                .build(),
        );
    };
    record(log::Level::Info, "a note in the log");
    record(log::Level::Error, "a fault in the log");
    press(&mut harness, CTRL_SHIFT, Key::L);
    let lists = |harness: &Harness<'_, Workbench>, text: &str| {
        harness.query_by_label_contains(text).is_some()
    };
    assert!(lists(&harness, "a note in the log") && lists(&harness, "a fault in the log"));
    harness.get_by_label("Search the log").focus();
    harness.run_steps(2);
    write(&mut harness, "fault");
    assert!(!lists(&harness, "a note in the log") && lists(&harness, "a fault in the log"));
}

/// What a person acts on.
const INTERACTIVE: [Role; 13] = [
    Role::Button,
    Role::CheckBox,
    Role::RadioButton,
    Role::Slider,
    Role::SpinButton,
    Role::TextInput,
    Role::MultilineTextInput,
    Role::ComboBox,
    Role::Link,
    Role::DisclosureTriangle,
    Role::MenuItem,
    Role::ListBoxOption,
    Role::ColorWell,
];

/// The least that a shaky hand can hit, points.
const LEAST_SIDE: f32 = 18.0;

fn named_and_large_enough(harness: &Harness<'_, Workbench>, what: &str) {
    let screen = harness.ctx.content_rect();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for node in harness.root().children_recursive() {
        let about = node.accesskit_node();
        if !INTERACTIVE.contains(&about.role()) || about.is_hidden() {
            continue;
        }
        let rect = node.rect();
        seen += 1;
        let name = about.label().unwrap_or_default();
        if name.trim().is_empty() {
            wrong.push(format!("{:?} at {rect:?} has no name", about.role()));
        }
        // What is scrolled half out of sight is measured by its sight.
        let whole = screen.contains_rect(rect);
        if whole
            && (rect.height() < LEAST_SIDE - 0.5 || rect.width() < LEAST_SIDE - 0.5)
            && about.role() != Role::DisclosureTriangle
        {
            wrong.push(format!(
                "{:?} \"{name}\" is only {:.0} × {:.0} points",
                about.role(),
                rect.width(),
                rect.height()
            ));
        }
    }
    assert!(seen > 10, "{what}: only {seen} widgets were found");
    assert!(
        wrong.is_empty(),
        "{what}: {} of {seen}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn every_widget_of_the_window_has_a_name_and_can_be_hit() {
    let mut harness = workbench("mannequin");
    // A selected joint shows more of the panels.
    press(&mut harness, Modifiers::COMMAND, Key::K);
    let joint = harness
        .state()
        .session()
        .subject()
        .unwrap()
        .character
        .skeleton
        .joints()[3]
        .name
        .clone();
    write(&mut harness, &joint);
    press(&mut harness, Modifiers::NONE, Key::Enter);
    assert_eq!(harness.state().session().selection().active(), Some(3));
    named_and_large_enough(&harness, "the window");
    for (what, modifiers, key) in [
        ("the palette", Modifiers::COMMAND, Key::K),
        ("the sheet", Modifiers::NONE, Key::F1),
        ("the settings", Modifiers::COMMAND, Key::Comma),
        ("the notifications", CTRL_SHIFT, Key::N),
        ("the log", CTRL_SHIFT, Key::L),
    ] {
        press(&mut harness, modifiers, key);
        named_and_large_enough(&harness, what);
        press(&mut harness, Modifiers::NONE, Key::Escape);
    }
    for menu in ["File", "View", "Skeleton", "Window", "Help"] {
        // A section of a panel may have the same name; the menus come first.
        harness
            .get_all_by_label(menu)
            .next()
            .expect("the menu")
            .click();
        harness.run_steps(3);
        named_and_large_enough(&harness, menu);
        press(&mut harness, Modifiers::NONE, Key::Escape);
    }
}

#[test]
fn tab_reaches_widgets_and_enter_presses_them() {
    let mut harness = workbench("cylinder");
    let mut names = Vec::new();
    press(&mut harness, Modifiers::SHIFT, Key::Tab);
    for _ in 0..40 {
        press(&mut harness, Modifiers::NONE, Key::Tab);
        let focused = harness.root().children_recursive().find(Node::is_focused);
        names.extend(focused.and_then(|node| node.accesskit_node().label()));
    }
    names.sort();
    names.dedup();
    assert!(names.len() > 20, "Tab only reaches {names:?}");
    harness.get_by_label("Settings").focus();
    harness.run_steps(2);
    press(&mut harness, Modifiers::NONE, Key::Enter);
    harness.get_by_label("Search settings");
}

/// What floats over the views hides no score, no name of a method, no header, whatever the layout.
#[test]
fn cards_do_not_cover_overlays_of_views() {
    use sinew::app::actions::Action;
    use sinew::app::actions::LayoutAction;
    use sinew::app::actions::LayoutPreset;
    use sinew::app::actions::ToolWindowAction;
    use sinew::methods::MethodId;
    use sinew::session::ViewCommand;

    let mut harness = workbench("cylinder");
    harness
        .state_mut()
        .raise(Action::ToolWindows(ToolWindowAction::ToggleFirstSteps));
    for preset in [
        LayoutPreset::Single,
        LayoutPreset::Methods,
        LayoutPreset::Four,
    ] {
        harness
            .state_mut()
            .raise(Action::Layout(LayoutAction::Arrange(preset)));
        harness.run_steps(6);
        let view = harness.state().session().active_view();
        let other = if view.method == MethodId::LBS {
            MethodId::DQS
        } else {
            MethodId::LBS
        };
        let compare = Command::View(ViewCommand::SetCompare {
            view: view.id,
            method: Some(other),
        });
        let (_, session) = harness.state_mut().capture_mut();
        session.apply_once(compare);
        session.add_message(Level::Warning, format!("Something about {preset:?} that is worth two lines of text, because it is so very long."));
        harness.run_steps(6);
        for card in ["first steps", "messages"] {
            let card = harness
                .ctx
                .memory(|memory| memory.area_rect(egui::Id::unique(card)))
                .expect("it is shown");
            let plates = harness.state().layout().plates();
            assert!(plates.len() > 2, "{preset:?}");
            for plate in plates {
                assert!(
                    !plate.intersects(card),
                    "{preset:?}: {card:?} covers {plate:?}"
                );
            }
        }
    }
}

/// The smallest window, which is also a usual one at twice the size of text: nothing overlaps, and there is a view to work in.
#[test]
fn in_the_smallest_window_nothing_overlaps_and_menus_fit() {
    const TRANSPORT: [&str; 12] = [
        "To the start",
        "Back one frame",
        "Play",
        "Forward one frame",
        "Loop",
        "Record a take",
        "Auto-key",
        "Set key",
        "Clip",
        "Settled",
        "Dynamic",
        "Show keys",
    ];
    let mut session = Session::new();
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    let mut harness = bench_of(session, vec2(640.0, 400.0));
    let buttons = [
        Role::Button,
        Role::RadioButton,
        Role::ComboBox,
        Role::CheckBox,
        Role::SpinButton,
        Role::MenuItem,
    ];
    let apart = |harness: &Harness<'_, Workbench>, what: &str| {
        let shown: Vec<_> = harness
            .root()
            .children_recursive()
            .filter(|node| buttons.contains(&node.accesskit_node().role()))
            .map(|node| {
                (
                    node.accesskit_node().label().unwrap_or_default(),
                    node.rect(),
                )
            })
            // The two lines that are always there; what is scrolled out of sight lies under them.
            .filter(|(name, rect)| rect.bottom() < 36.0 || TRANSPORT.contains(&name.as_str()))
            .collect();
        assert!(shown.len() > 12, "{what}: {shown:?}");
        for (index, (name, rect)) in shown.iter().enumerate() {
            assert!(rect.right() <= 640.0, "{what}: {name} at {rect:?}");
            for (other, place) in &shown[index + 1..] {
                let both = rect.intersect(*place);
                assert!(
                    !both.is_positive() || both.area() < 1.0,
                    "{what}: {name} {rect:?} and {other} {place:?}"
                );
            }
        }
    };
    apart(&harness, "posing");
    let view = harness.state().layout().rects()[0].1;
    assert!(view.width() > 280.0, "{view:?}");
    press(&mut harness, Modifiers::NONE, Key::Num1);
    apart(&harness, "with a clip");
    for (menu, entry) in [
        ("File", "Save as…"),
        ("View", "Perspective or parallel"),
        ("Pose", "Other axes"),
    ] {
        harness
            .get_all_by_label(menu)
            .next()
            .expect("a menu")
            .click();
        harness.run_steps(4);
        assert!(
            harness.query_all_by_label_contains(entry).next().is_some(),
            "{menu} is open"
        );
        let screen = harness.ctx.content_rect();
        let menus = harness.ctx.memory(|memory| {
            memory
                .areas()
                .visible_layer_ids()
                .into_iter()
                .filter_map(|layer| memory.area_rect(layer.id))
                .collect::<Vec<_>>()
        });
        assert!(
            menus
                .iter()
                .all(|area| area.bottom() <= screen.bottom() + 1.0),
            "{menu}: {menus:?}"
        );
        press(&mut harness, Modifiers::NONE, Key::Escape);
    }
}

/// Height of the header above a view, points.
const HEADER: f32 = 30.0;

/// Three views side by side in a small window: the buttons of their headers lie beside each other, inside their view.
#[test]
fn headers_of_narrow_views_do_not_overlap() {
    for size in [vec2(1100.0, 600.0), vec2(1280.0, 800.0)] {
        let mut session = Session::new();
        session.apply_once(Command::Open(Source::builtin("cylinder")));
        let mut harness = bench_of(session, size);
        let arrange = LayoutAction::Arrange(LayoutPreset::Methods);
        harness.state_mut().raise(Action::Layout(arrange));
        harness.run_steps(6);
        for compared in [false, true] {
            if compared {
                let view = harness.state().session().views().list()[0].id;
                let method = Some(sinew::methods::MethodId::RIGID);
                let compare = Command::View(ViewCommand::SetCompare { view, method });
                let action = Action::Session(compare, sinew::session::Gesture::Once);
                harness.state_mut().raise(action);
                harness.run_steps(6);
            }
            let views = harness.state().layout().rects().clone();
            assert_eq!(views.len(), 3);
            for (_, view) in views {
                let header = view.translate(vec2(0.0, -HEADER)).with_max_y(view.top());
                let buttons: Vec<(String, egui::Rect)> = harness
                    .root()
                    .children_recursive()
                    .filter(|node| node.accesskit_node().role() == Role::Button)
                    .map(|node| {
                        let name = node.accesskit_node().label();
                        (name.unwrap_or_default(), node.rect())
                    })
                    .filter(|(_, rect)| header.contains(rect.center()))
                    .collect();
                assert!(buttons.len() >= 3, "{view:?}: {buttons:?}");
                for (index, (_, one)) in buttons.iter().enumerate() {
                    assert!(
                        header.expand(1.0).contains_rect(*one),
                        "{header:?}: {one:?}"
                    );
                    for (_, other) in &buttons[index + 1..] {
                        let both = one.intersect(*other);
                        assert!(!both.is_positive(), "{view:?}: {buttons:?}");
                    }
                }
            }
        }
    }
}
