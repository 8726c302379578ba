//! The layout with a session without a character.

use super::*;

/// Applies an action to both, as the workbench does.
fn act(layout: &mut Layout, session: &mut Session, action: &LayoutAction) {
    for command in layout.apply(action, session.views()) {
        session.apply_once(command);
    }
    layout.sync(session.views());
}

fn places(layout: &Layout) -> usize {
    layout
        .tree
        .tiles
        .tiles()
        .filter(|tile| matches!(tile, Tile::Pane(_)))
        .count()
}

#[test]
fn every_action_leaves_each_view_in_one_place() {
    let mut session = Session::new();
    let mut layout = Layout::new(session.views());
    let first = session.active_view().id;
    for side in [
        SplitSide::Right,
        SplitSide::Below,
        SplitSide::Below,
        SplitSide::Right,
        SplitSide::Right,
    ] {
        let active = session.active_view().id;
        act(
            &mut layout,
            &mut session,
            &LayoutAction::Split(active, side),
        );
    }
    assert_eq!(session.views().list().len(), crate::session::MAX_VIEWS);
    act(
        &mut layout,
        &mut session,
        &LayoutAction::Split(first, SplitSide::Right),
    );
    assert_eq!(
        session.views().list().len(),
        crate::session::MAX_VIEWS,
        "no more than that"
    );
    assert_eq!((places(&layout), layout.panes.len()), (6, 6));
    act(&mut layout, &mut session, &LayoutAction::Close(first));
    assert_eq!(
        (
            session.views().list().len(),
            places(&layout),
            layout.panes.len()
        ),
        (5, 5, 5)
    );
    for preset in LayoutPreset::ALL {
        act(&mut layout, &mut session, &LayoutAction::Arrange(preset));
        assert_eq!(
            (places(&layout), layout.panes.len()),
            (session.views().list().len(), session.views().list().len()),
            "{preset:?}"
        );
    }
    act(
        &mut layout,
        &mut session,
        &LayoutAction::Arrange(LayoutPreset::Single),
    );
    let last = session.active_view().id;
    act(&mut layout, &mut session, &LayoutAction::Close(last));
    assert_eq!(
        (session.views().list().len(), places(&layout)),
        (1, 1),
        "the last one stays"
    );
}

#[test]
fn a_layout_round_trips_through_its_file() {
    let mut session = Session::new();
    let mut layout = Layout::new(session.views());
    act(
        &mut layout,
        &mut session,
        &LayoutAction::Arrange(LayoutPreset::Four),
    );
    let id = session.views().list()[1].id;
    let mut state = layout.panes[&id].state;
    (state.look.wireframe, state.comparing) = (true, crate::session::Compare::Wipe(0.25));
    act(&mut layout, &mut session, &LayoutAction::SetPane(id, state));
    let board = BoardState::default();
    let file = serde_json::to_value(layout.state(session.views(), &board)).expect("a value");

    let mut other = Session::new();
    let mut restored = Layout::new(other.views());
    for command in restored.restore(serde_json::from_value(file.clone()).expect("a layout")) {
        other.apply_once(command);
    }
    restored.sync(other.views());
    assert_eq!(other.views().list(), session.views().list());
    assert_eq!(restored.panes[&id].state, state);
    assert_eq!(
        restored.panes[&id].viewport.camera,
        layout.panes[&id].viewport.camera
    );
    assert_eq!(
        serde_json::to_value(restored.state(other.views(), &board)).expect("a value"),
        file
    );
}
