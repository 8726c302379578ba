//! The curves of the selected joints, instead of their rows: angles or offsets over time, with keys and the slopes at them.
//!
//! | file      | what                                                     |
//! |-----------|----------------------------------------------------------|
//! | `layout`  | values ↔ points; what is under the pointer               |
//! | `paint`   | grid, curves, keys and handles                           |
//! | `pointer` | selecting, moving and turning them                       |
//! | `names`   | which curves are shown, and their values at the playhead |

mod layout;
mod names;
mod paint;
mod pointer;

use std::sync::Arc;

use egui::{Rect, Response, Ui};

use super::{TimelineState, TimelineView};
use crate::app::actions::Actions;
use crate::rig::{JointAxes, JointCurve, JointNumber, KeyRef, KeyedClip};

pub(super) use pointer::GraphDrag;

use layout::GraphLayout;

/// Most joints whose curves are drawn together.
const MOST_JOINTS: usize = 4;

/// State of the curves.
#[derive(Debug, Default)]
pub(super) struct GraphState {
    /// Whether curves are shown instead of rows.
    pub(super) shown: bool,
    /// Whether offsets are shown instead of angles.
    moves: bool,
    /// The axes that are hidden.
    hidden: [bool; 3],
    drag: Option<GraphDrag>,
    /// The values at the lower and the upper edge, kept during a drag.
    kept_range: Option<[f64; 2]>,
    curves: Curves,
}

/// The curves of joints of a take, made again when the take or the joints change.
#[derive(Debug, Default)]
struct Curves {
    of: Option<(Arc<KeyedClip>, Vec<usize>)>,
    curves: Vec<(usize, JointCurve)>,
}

impl GraphState {
    /// Cancels the current drag. Returns whether there was one.
    pub(super) fn cancel_drag(
        &mut self,
        selected: &mut Vec<KeyRef>,
        actions: &mut Actions,
    ) -> bool {
        self.kept_range = None;
        match self.drag.take() {
            Some(drag) => {
                drag.cancel(selected, actions);
                true
            }
            None => false,
        }
    }

    /// Forgets what belongs to another clip.
    pub(super) fn start_over(&mut self) {
        (self.drag, self.kept_range) = (None, None);
    }

    /// The numbers whose curves are shown.
    fn numbers(&self) -> impl Iterator<Item = JointNumber> + use<> {
        let (moves, hidden) = (self.moves, self.hidden);
        (0..3)
            .filter(move |axis| !hidden[*axis])
            .map(move |axis| number(moves, axis))
    }

    /// Makes the curves of the selected joints that have keys.
    fn follow(&mut self, view: &TimelineView<'_>) {
        let (Some((_, take)), Some(skeleton)) = (view.take(), view.skeleton) else {
            self.curves = Curves::default();
            return;
        };
        let keyed = (view.selected.iter().copied())
            .filter(|joint| *joint < skeleton.len() && !take.keys(*joint).is_empty());
        let joints: Vec<usize> = keyed.take(MOST_JOINTS).collect();
        let same =
            |(known, of): &(Arc<KeyedClip>, Vec<usize>)| Arc::ptr_eq(known, take) && *of == joints;
        if self.curves.of.as_ref().is_some_and(same) {
            return;
        }
        let curve = |joint: &usize| {
            let axes = JointAxes::of(skeleton, *joint);
            Some((*joint, JointCurve::of(take, *joint, axes)?))
        };
        self.curves.curves = joints.iter().filter_map(curve).collect();
        self.curves.of = Some((take.clone(), joints));
    }
}

/// A number of a joint: an offset or an angle.
fn number(moves: bool, axis: usize) -> JointNumber {
    if moves {
        JointNumber::Move(axis)
    } else {
        JointNumber::Turn(axis)
    }
}

/// Draws the curves into `graph`, their names into `names`, and handles the pointer. Returns the hint for what is under the pointer.
pub(super) fn graph_ui(
    ui: &mut Ui,
    response: &Response,
    [names, graph]: [Rect; 2],
    view: &TimelineView<'_>,
    state: &mut TimelineState,
    actions: &mut Actions,
) -> Option<String> {
    state.graph.follow(view);
    let layout = GraphLayout::of(graph, view, state);
    pointer::interact(ui, response, &layout, view, state, actions);
    paint::paint(ui, &layout, view, state);
    names::names_ui(ui, names, view, state);
    pointer::hint(response, &layout, view, state)
}

/// Selects the keys under the pointer at a right click, unless they are already selected.
pub(super) fn choose_for_menu(
    pointer: egui::Pos2,
    graph: Rect,
    view: &TimelineView<'_>,
    state: &mut TimelineState,
) {
    let layout = GraphLayout::of(graph, view, state);
    if let Some(hit) = layout.key_at(pointer, state)
        && !state.selected.contains(&hit.key)
    {
        state.selected = vec![hit.key];
    }
}
