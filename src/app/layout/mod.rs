//! Arrangement of the views: tiles that can be split, moved and maximised.
//!
//! The session knows the views and what they show; the layout gives each a [`Pane`] and a place. After the session's views
//! change (by a preset, a project, undo), [`Layout::sync`] follows.

mod preset;
mod tiles;

use std::collections::BTreeMap;

use egui::{Rect, Ui};
use egui_tiles::{Container, Linear, LinearDir, Tile, TileId, Tiles, Tree};

use self::tiles::PaneTiles;
use super::actions::{LayoutAction, LayoutPreset, SplitSide};
use super::pane::{Pane, PaneContext};
use crate::render::Camera;
use crate::session::{BoardState, Command, Session, ViewCommand, ViewId, Views, WindowState};

fn direction(side: SplitSide) -> LinearDir {
    match side {
        SplitSide::Right => LinearDir::Horizontal,
        SplitSide::Below => LinearDir::Vertical,
    }
}

/// The tiles of all views.
pub struct Layout {
    tree: Tree<ViewId>,
    panes: BTreeMap<ViewId, Pane>,
    maximised: Option<ViewId>,
    /// The camera of the panes whose cameras are linked.
    camera: Camera,
    /// Number of frames until the panes have their new size and everything is framed.
    reframe_in: Option<u8>,
    /// Whether a tile was moved or resized by hand.
    edited: bool,
}

fn tree_id() -> egui::Id {
    egui::Id::unique("views")
}

impl Layout {
    /// A layout of all views side by side.
    #[must_use]
    pub fn new(views: &Views) -> Self {
        let tree =
            Tree::new_horizontal(tree_id(), views.list().iter().map(|view| view.id).collect());
        let mut layout = Self {
            tree,
            panes: BTreeMap::new(),
            maximised: None,
            camera: Camera::default(),
            reframe_in: None,
            edited: false,
        };
        layout.sync(views);
        layout
    }

    /// Creates panes for new views, and drops those of closed ones.
    pub fn sync(&mut self, views: &Views) {
        let gone: Vec<ViewId> = self
            .panes
            .keys()
            .copied()
            .filter(|id| views.get(*id).is_none())
            .collect();
        for id in gone {
            self.panes.remove(&id);
        }
        let lost: Vec<TileId> = self
            .tree
            .tiles
            .iter()
            .filter(|(_, tile)| is_lost(tile, views))
            .map(|(id, _)| *id)
            .collect();
        for tile in lost {
            self.tree.remove_recursively(tile);
        }
        for view in views.list() {
            self.panes.entry(view.id).or_default();
            if self.tree.tiles.find_pane(&view.id).is_none() {
                self.put_beside(view.id, None, SplitSide::Right);
            }
        }
        self.maximised = self.maximised.filter(|id| views.get(*id).is_some());
    }

    /// Rectangles of the visible views in the last frame.
    #[must_use]
    pub fn rects(&self) -> Vec<(ViewId, Rect)> {
        self.panes
            .iter()
            .filter(|(id, _)| self.is_shown(**id))
            .filter_map(|(id, pane)| Some((*id, pane.body()?)))
            .collect()
    }

    /// Overlays of the last frame that must not be covered.
    #[must_use]
    pub fn plates(&self) -> Vec<Rect> {
        let shown = self.panes.iter().filter(|(id, _)| self.is_shown(**id));
        shown.flat_map(|(_, pane)| pane.plates()).copied().collect()
    }

    fn is_shown(&self, id: ViewId) -> bool {
        self.maximised.is_none_or(|shown| shown == id)
    }

    /// The maximised view.
    #[must_use]
    pub fn maximised(&self) -> Option<ViewId> {
        self.maximised
    }

    /// A view's pane.
    #[must_use]
    pub fn pane(&self, id: ViewId) -> Option<&Pane> {
        self.panes.get(&id)
    }

    /// A view's pane.
    pub fn pane_mut(&mut self, id: ViewId) -> Option<&mut Pane> {
        self.panes.get_mut(&id)
    }

    /// All panes.
    pub fn panes_mut(&mut self) -> impl Iterator<Item = (ViewId, &mut Pane)> {
        self.panes.iter_mut().map(|(id, pane)| (*id, pane))
    }

    /// Moves all linked cameras along with the one that was moved.
    pub fn link_cameras(&mut self) {
        let linked = |pane: &&mut Pane| pane.state.camera_linked;
        if let Some(moved) = self
            .panes
            .values_mut()
            .filter(linked)
            .find(|pane| pane.viewport.camera != self.camera)
        {
            self.camera = moved.viewport.camera;
        }
        let camera = self.camera;
        self.panes
            .values_mut()
            .filter(linked)
            .for_each(|pane| pane.viewport.camera = camera);
    }

    /// Frames everything in its current pose once the panes have their new size. Linked cameras use the narrowest pane.
    pub fn reframe(&mut self, session: &Session) -> bool {
        match &mut self.reframe_in {
            None => return false,
            Some(0) => self.reframe_in = None,
            Some(frames) => {
                *frames -= 1;
                return true;
            }
        }
        let width = |pane: &Pane| {
            pane.body()
                .map_or(f32::INFINITY, |body| body.width() / body.height().max(1.0))
        };
        let linked = |(_, pane): &(&ViewId, &mut Pane)| pane.state.camera_linked;
        let shown: Vec<_> = self
            .panes
            .iter_mut()
            .filter(linked)
            .filter_map(|(id, _)| session.bounds_of(*id))
            .collect();
        if let Some((_, narrowest)) = self
            .panes
            .iter_mut()
            .filter(linked)
            .min_by(|(_, a), (_, b)| width(a).total_cmp(&width(b)))
        {
            narrowest.viewport.frame_whole(&shown);
            self.camera = narrowest.viewport.camera;
        }
        for (id, pane) in &mut self.panes {
            if pane.state.camera_linked {
                pane.viewport.set_camera(self.camera);
            } else {
                pane.viewport.frame_whole(session.bounds_of(*id).as_slice());
            }
        }
        false
    }

    /// Draws all panes into the remaining space of `ui`.
    pub fn ui(&mut self, ui: &mut Ui, context: &mut PaneContext<'_>) {
        if let Some(id) = self.maximised
            && let Some(pane) = self.panes.get_mut(&id)
        {
            pane.ui(ui, id, context);
            return;
        }
        let mut behavior = PaneTiles {
            panes: &mut self.panes,
            context,
            edited: false,
        };
        self.tree.ui(&mut behavior, ui);
        self.edited |= behavior.edited;
    }

    /// Whether a tile was moved or resized by hand since the last call.
    pub fn take_edited(&mut self) -> bool {
        std::mem::take(&mut self.edited)
    }

    /// Applies an action to the layout and returns the commands for the session.
    pub fn apply(&mut self, action: &LayoutAction, views: &Views) -> Vec<Command> {
        let view = |command| vec![Command::View(command)];
        match *action {
            LayoutAction::Split(like, side) => self.split(like, side, views),
            LayoutAction::Close(id) if views.list().len() > 1 => view(ViewCommand::Remove(id)),
            LayoutAction::Close(_) => Vec::new(),
            LayoutAction::ToggleMaximised(id) => {
                let alone = views.list().len() < 2;
                self.maximised = if self.maximised.is_some() || alone {
                    None
                } else {
                    Some(id)
                };
                view(ViewCommand::Activate(id))
            }
            LayoutAction::Arrange(preset) => self.arrange(preset, views),
            LayoutAction::SetPane(id, state) => {
                if let Some(pane) = self.panes.get_mut(&id) {
                    if state.camera_linked && !pane.state.camera_linked {
                        pane.viewport.camera = self.camera;
                    }
                    pane.state = state;
                }
                Vec::new()
            }
        }
    }

    fn split(&mut self, like: ViewId, side: SplitSide, views: &Views) -> Vec<Command> {
        if views.list().len() >= crate::session::MAX_VIEWS || views.get(like).is_none() {
            return Vec::new();
        }
        let id = views.next_id();
        self.maximised = None;
        if let Some(pane) = self.panes.get(&like).map(Pane::fork) {
            self.panes.insert(id, pane);
        }
        self.put_beside(id, Some(like), side);
        vec![
            Command::View(ViewCommand::Add { id, like }),
            Command::View(ViewCommand::Activate(id)),
        ]
    }

    /// Adds a tile for a view: beside another, or at the end.
    fn put_beside(&mut self, id: ViewId, beside: Option<ViewId>, side: SplitSide) {
        let tile = self.tree.tiles.insert_pane(id);
        let neighbour = beside
            .and_then(|other| self.tree.tiles.find_pane(&other))
            .or(self.tree.root);
        let Some(neighbour) = neighbour else {
            self.tree.root = Some(tile);
            return;
        };
        let parent = self.tree.tiles.parent_of(neighbour);
        if let Some(parent) = parent
            && let Some(Tile::Container(Container::Linear(linear))) =
                self.tree.tiles.get_mut(parent)
            && linear.dir == direction(side)
        {
            let at = linear
                .children
                .iter()
                .position(|child| *child == neighbour)
                .map_or(linear.children.len(), |at| at + 1);
            linear.children.insert(at, tile);
            let share = linear.shares[neighbour] / 2.0;
            linear.shares.set_share(neighbour, share);
            linear.shares.set_share(tile, share);
            return;
        }
        let pair = Linear::new_binary(direction(side), [neighbour, tile], 0.5);
        let container = self.tree.tiles.insert_container(Container::Linear(pair));
        match parent.and_then(|parent| self.tree.tiles.get_mut(parent)) {
            Some(Tile::Container(parent)) => {
                let _place = parent.replace_child(neighbour, container);
            }
            _ => self.tree.root = Some(container),
        }
    }

    fn arrange(&mut self, preset: LayoutPreset, views: &Views) -> Vec<Command> {
        let (list, commands) = preset.views(views);
        let mut tiles = Tiles::default();
        let root = preset.tiles(&mut tiles, &list);
        self.tree = Tree::new(tree_id(), root, tiles);
        self.maximised = None;
        self.reframe_in = Some(2);
        let template = self
            .panes
            .get(&views.active().id)
            .map(Pane::fork)
            .unwrap_or_default();
        for (place, view) in list.iter().enumerate() {
            let mut pane = template.fork();
            preset.set_up(place, &mut pane);
            self.panes.insert(view.id, pane);
        }
        commands
    }

    /// The layout as saved in projects, with the state of the scoreboard.
    #[must_use]
    pub fn state(&self, views: &Views, board: &BoardState) -> WindowState {
        WindowState {
            views: views.list().to_vec(),
            active: views.active().id,
            tiles: serde_json::to_value(&self.tree).unwrap_or_default(),
            panes: self
                .panes
                .iter()
                .map(|(id, pane)| (*id, pane.state, pane.viewport.camera))
                .collect(),
            maximised: self.maximised,
            board: board.clone(),
        }
    }

    /// Shows an arrangement of the same character's views again, whose views the session has restored.
    pub fn show_again(&mut self, state: &WindowState) {
        let Ok(tree) = serde_json::from_value(state.tiles.clone()) else {
            return;
        };
        self.tree = tree;
        self.maximised = state.maximised;
        for (id, pane_state, camera) in &state.panes {
            if !self.panes.contains_key(id) {
                self.panes
                    .entry(*id)
                    .or_default()
                    .viewport
                    .keep_camera(*camera);
            }
            if let Some(pane) = self.panes.get_mut(id) {
                pane.state = *pane_state;
                pane.viewport.set_camera(*camera);
            }
            if pane_state.camera_linked {
                self.camera = *camera;
            }
        }
    }

    /// Restores a saved layout; an invalid one changes nothing. Returns the commands for the session.
    pub fn restore(&mut self, state: WindowState) -> Vec<Command> {
        let WindowState {
            views,
            active,
            tiles,
            panes,
            maximised,
            board: _,
        } = state;
        let Some(tree) = serde_json::from_value(tiles)
            .ok()
            .filter(|_| !views.is_empty())
        else {
            return Vec::new();
        };
        self.tree = tree;
        self.maximised = maximised;
        for (id, state, camera) in panes {
            let pane = self.panes.entry(id).or_default();
            pane.state = state;
            pane.viewport.keep_camera(camera);
            if state.camera_linked {
                self.camera = camera;
            }
        }
        vec![
            Command::View(ViewCommand::SetAll(views)),
            Command::View(ViewCommand::Activate(active)),
        ]
    }
}

fn is_lost(tile: &Tile<ViewId>, views: &Views) -> bool {
    matches!(tile, Tile::Pane(id) if views.get(*id).is_none())
}

#[cfg(test)]
mod tests;
