//! Common arrangements of views.

use egui_tiles::{TileId, Tiles};

use crate::app::actions::LayoutPreset;
use crate::app::pane::Pane;
use crate::methods::MethodId;
use crate::render::{NamedView, Projection};
use crate::session::{Command, View, ViewCommand, ViewId, Views};

impl LayoutPreset {
    /// The views of the arrangement, and the commands that create them.
    pub(super) fn views(self, present: &Views) -> (Vec<View>, Vec<Command>) {
        let first = View {
            free: false,
            compare: None,
            ..*present.active()
        };
        let next = present.next_id().0;
        let new = |offset: u32, method: MethodId| View::new(ViewId(next + offset), method);
        let list = match self {
            Self::Single => vec![first],
            Self::Methods => vec![
                View {
                    method: MethodId::PD,
                    ..first
                },
                new(0, MethodId::LBS),
                new(1, MethodId::DQS),
            ],
            Self::Four => vec![
                first,
                new(0, first.method),
                new(1, first.method),
                new(2, first.method),
            ],
            Self::BeforeAfter => vec![
                first,
                View {
                    free: true,
                    ..new(0, first.method)
                },
            ],
        };
        let view = Command::View;
        let mut commands = vec![view(ViewCommand::SetAll(list.clone()))];
        if self == Self::BeforeAfter {
            // The left view is at rest, whatever was shown.
            commands.push(view(ViewCommand::Activate(list[1].id)));
            commands.extend([Command::SelectClip(None), Command::ResetPose]);
            commands.push(view(ViewCommand::Activate(list[0].id)));
        }
        (list, commands)
    }

    /// The tiles for its views.
    pub(super) fn tiles(self, tiles: &mut Tiles<ViewId>, list: &[View]) -> TileId {
        let panes: Vec<TileId> = list.iter().map(|view| tiles.insert_pane(view.id)).collect();
        match (self, panes.as_slice()) {
            (Self::Methods, [pd, lbs, dqs]) => tiles.insert_horizontal_tile(vec![*lbs, *dqs, *pd]),
            (Self::Four, [perspective, front, side, top]) => {
                let upper = tiles.insert_horizontal_tile(vec![*perspective, *top]);
                let lower = tiles.insert_horizontal_tile(vec![*front, *side]);
                tiles.insert_vertical_tile(vec![upper, lower])
            }
            (Self::BeforeAfter, [after, before]) => {
                tiles.insert_horizontal_tile(vec![*before, *after])
            }
            _ => tiles.insert_horizontal_tile(panes),
        }
    }

    /// Cameras of the panes.
    pub(super) fn set_up(self, place: usize, pane: &mut Pane) {
        pane.state.camera_linked = self != Self::Four;
        if self == Self::Four {
            let sides = [
                NamedView::ThreeQuarter,
                NamedView::Front,
                NamedView::Right,
                NamedView::Top,
            ];
            let side = sides[place.min(3)];
            pane.viewport.camera.projection = if place == 0 {
                Projection::Perspective
            } else {
                Projection::Orthographic
            };
            // The layout frames everything once the pane has its size.
            pane.viewport.camera.look_from(side);
        }
    }
}
