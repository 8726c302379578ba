//! View commands of menus and palette: comparison, overlays, layout.

use crate::app::actions::Action;
use crate::app::actions::LayoutAction;
use crate::app::actions::ViewRequest;
use crate::app::look::{CutPlane, Look, SkinColors};
use crate::methods::{Capability, MethodId, Requirement};
use crate::session::{Command, Compare, Gesture, Level, PaneState, Session, ViewCommand, ViewId};

/// Default number of ghosts before and after.
const GHOSTS: usize = 2;

/// Why a crowd cannot be compared.
pub const NO_COMPARISON: &str =
    "A crowd moves by one method: show one character to compare methods.";

/// The actions that a command means for a view in its present state.
#[must_use]
pub fn actions_of(
    request: ViewRequest,
    id: ViewId,
    state: PaneState,
    session: &Session,
) -> Vec<Action> {
    let look = state.look;
    let set_look = |look: Look| vec![Action::SetLook(id, look)];
    match request {
        ViewRequest::Wipe => compare(id, state, Compare::Wipe(0.5), session),
        ViewRequest::Flicker => compare(id, state, Compare::Flicker, session),
        ViewRequest::Distance => compare(id, state, Compare::Difference, session),
        ViewRequest::Crowd(count) => vec![once(ViewCommand::SetCrowd { view: id, count })],
        ViewRequest::CompareNone => vec![once(ViewCommand::SetCompare {
            view: id,
            method: None,
        })],
        ViewRequest::Split(side) => vec![Action::Layout(LayoutAction::Split(id, side))],
        ViewRequest::Close => vec![Action::Layout(LayoutAction::Close(id))],
        ViewRequest::Maximise => vec![Action::Layout(LayoutAction::ToggleMaximised(id))],
        ViewRequest::Scores => {
            let shown = state.scores.unwrap_or(session.views().list().len() > 1);
            vec![Action::Layout(LayoutAction::SetPane(
                id,
                PaneState {
                    scores: Some(!shown),
                    ..state
                },
            ))]
        }
        ViewRequest::Ghosts => {
            let mut look = look;
            let many = if look.ghosts.any() { 0 } else { GHOSTS };
            (look.ghosts.before, look.ghosts.after) = (many, many);
            set_look(look)
        }
        ViewRequest::Wireframe => set_look(Look {
            wireframe: !look.wireframe,
            ..look
        }),
        ViewRequest::Voxels => set_look(Look {
            voxels: !look.voxels,
            ..look
        }),
        ViewRequest::Fields => set_look(Look {
            fields: !look.fields,
            ..look
        }),
        ViewRequest::Colors(colors) => set_look(Look {
            colors: if look.colors == colors {
                SkinColors::Material
            } else {
                colors
            },
            ..look
        }),
        ViewRequest::Cut if look.tets && look.cut.is_some() => set_look(Look {
            tets: false,
            ..look
        }),
        ViewRequest::Cut => set_look(Look {
            tets: true,
            cut: look.cut.or(Some(CutPlane::default())),
            ..look
        }),
    }
}

fn once(command: ViewCommand) -> Action {
    Action::Session(Command::View(command), Gesture::Once)
}

/// Sets the kind of comparison. The compared method stays; if there is none, the first usable default is taken.
fn compare(id: ViewId, state: PaneState, comparing: Compare, session: &Session) -> Vec<Action> {
    let Some(view) = session.views().get(id) else {
        return Vec::new();
    };
    let same = std::mem::discriminant(&state.comparing) == std::mem::discriminant(&comparing);
    let mut actions = Vec::new();
    if !same {
        actions.push(Action::Layout(LayoutAction::SetPane(
            id,
            PaneState { comparing, ..state },
        )));
    }
    if view.compare.is_none() && view.crowd == 1 {
        let has_flesh = session.subject().is_some_and(|subject| subject.has_flesh());
        let usable = [MethodId::LBS, MethodId::PD, MethodId::DQS]
            .into_iter()
            .filter(|method| has_flesh || !method.needs(Requirement::Tissue));
        let other = usable.into_iter().find(|method| *method != view.method);
        actions.extend(other.map(|method| {
            once(ViewCommand::SetCompare {
                view: id,
                method: Some(method),
            })
        }));
    }
    actions
}

/// Why a command cannot be applied, in one sentence.
#[must_use]
pub fn unavailable_reason(
    request: ViewRequest,
    session: &Session,
) -> Option<(Level, &'static str)> {
    let tissue = session.subject().is_some_and(|subject| subject.has_flesh());
    match request {
        ViewRequest::Cut if !tissue => Some((
            Level::Info,
            "There is no flesh to cut open: choose projective dynamics first.",
        )),
        ViewRequest::Fields if !session.active_view().method.has(Capability::Meetings) => Some((
            Level::Info,
            "Only implicit skinning composes fields: choose it to see them.",
        )),
        ViewRequest::Colors(colors)
            if colors.is_of_joint() && session.selection().active().is_none() =>
        {
            Some((Level::Info, "Select a joint to see its weights."))
        }
        ViewRequest::Wipe | ViewRequest::Flicker | ViewRequest::Distance
            if session.active_view().crowd > 1 =>
        {
            Some((Level::Info, NO_COMPARISON))
        }
        ViewRequest::Ghosts if session.channels().active().playback().clip.is_none() => {
            Some((Level::Info, "Ghosts are seen while a clip is shown."))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_request_is_idempotent() {
        let mut session = Session::new();
        let id = session.active_view().id;
        let mut state = PaneState::default();
        for (request, comparing) in [
            (ViewRequest::Distance, Compare::Difference),
            (ViewRequest::Flicker, Compare::Flicker),
        ] {
            for action in actions_of(request, id, state, &session) {
                match action {
                    Action::Session(command, gesture) => session.apply(command, gesture),
                    Action::Layout(LayoutAction::SetPane(_, wanted)) => state = wanted,
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(state.comparing, comparing);
            let other = session.active_view().compare.expect("it is compared");
            assert_ne!(other, session.active_view().method);
            assert_eq!(actions_of(request, id, state, &session), []);
        }
    }

    #[test]
    fn switches_toggle() {
        let session = Session::new();
        let id = session.active_view().id;
        let requests = [
            ViewRequest::Ghosts,
            ViewRequest::Wireframe,
            ViewRequest::Colors(SkinColors::Strain),
            ViewRequest::Cut,
            ViewRequest::Voxels,
            ViewRequest::Fields,
        ];
        for request in requests {
            let mut state = PaneState::default();
            for shown in [true, false] {
                let [Action::SetLook(_, look)] = actions_of(request, id, state, &session)[..]
                else {
                    panic!("{request:?}")
                };
                assert_eq!(
                    look.ghosts.any()
                        || look.wireframe
                        || look.colors != SkinColors::Material
                        || look.tets
                        || look.voxels
                        || look.fields,
                    shown,
                    "{request:?}"
                );
                state.look = look;
            }
        }
    }
}
