//! The probe: a point of the skin that is explained in words and numbers, and whose path is drawn.
//!
//! With the tool *Explain* the point under the pointer is explained; a click pins it. All views follow the same vertex.

mod marks;
mod window;

pub use marks::draw;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::app::actions::ProbeAction;
use crate::math::Point;
use crate::methods::{Explanation, MethodId, explain_blending};
use crate::report::{PointReport, point_report};
use crate::session::{Session, Snapshot, SnapshotContent, ViewId};

/// Longest path that is kept, frames.
const LONGEST_PATH: usize = 600;

/// The explained point.
#[derive(Debug, Default)]
pub struct Probe {
    hovered: Option<usize>,
    pinned: Option<usize>,
    /// The bind pose of the character that the vertices belong to, as identity.
    bind: Option<*const Point>,
    paths: BTreeMap<ViewId, Path>,
    /// The view whose method is explained; `None`: the active one.
    chosen: Option<ViewId>,
    /// The last report, and what it is of.
    report: Option<(ViewId, u64, PointReport)>,
}

/// Where a pinned vertex was in the last frames of a view.
#[derive(Debug, Default)]
struct Path {
    method: Option<MethodId>,
    sequence: u64,
    points: VecDeque<Point>,
}

impl Probe {
    /// The vertex that is explained: the pinned one, or that under the pointer.
    #[must_use]
    pub fn vertex(&self) -> Option<usize> {
        self.pinned.or(self.hovered)
    }

    /// Whether a vertex is pinned.
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        self.pinned.is_some()
    }

    /// Applies an action.
    pub fn carry_out(&mut self, action: ProbeAction) {
        match action {
            ProbeAction::Hover(vertex) => self.hovered = vertex,
            ProbeAction::Pin(vertex) => {
                self.pinned = Some(vertex);
                self.paths.clear();
            }
            ProbeAction::Release => {
                (self.pinned, self.hovered) = (None, None);
                self.paths.clear();
            }
            ProbeAction::Choose(view) => self.chosen = Some(view),
        }
    }

    /// What snapshots must contain for it.
    #[must_use]
    pub fn wants(&self) -> SnapshotContent {
        SnapshotContent {
            explains: self.vertex().map(|vertex| vertex as u32),
            numbers: self.vertex().is_some(),
            ..SnapshotContent::default()
        }
    }

    /// Follows the session: another character has other vertices; and extends the path of a pinned vertex.
    pub fn follow(&mut self, session: &Session) {
        let bind = session
            .subject()
            .map(|subject| subject.bind_positions.as_ptr());
        if bind != self.bind {
            *self = Self {
                bind,
                ..Self::default()
            };
        }
        let Some(vertex) = self.pinned else { return };
        let views = session.views();
        self.paths.retain(|view, _| views.get(*view).is_some());
        for view in views.list() {
            let Some(snapshot) = session.snapshot_of(view.id) else {
                continue;
            };
            let Some(&at) = snapshot.positions().get(vertex) else {
                continue;
            };
            let path = self.paths.entry(view.id).or_default();
            if path.method != Some(snapshot.method) {
                path.points.clear();
                path.method = Some(snapshot.method);
            } else if path.sequence == snapshot.sequence || path.points.back() == Some(&at) {
                continue;
            }
            path.sequence = snapshot.sequence;
            path.points.push_back(at);
            if path.points.len() > LONGEST_PATH {
                path.points.pop_front();
            }
        }
    }

    /// The report on the vertex in a view's present state.
    fn report_in(&mut self, view: ViewId, snapshot: &Arc<Snapshot>) -> Option<&PointReport> {
        let vertex = self.vertex()?;
        let known = self.report.as_ref().is_some_and(|(of, sequence, report)| {
            *of == view && *sequence == snapshot.sequence && report.vertex == vertex
        });
        if !known {
            let positions = snapshot.positions();
            let at = positions.get(vertex)?;
            let mut explanation: Explanation =
                explain_blending(&snapshot.subject, vertex, &snapshot.world_from_joint, at);
            if let Some((of, terms)) = &snapshot.explained
                && *of as usize == vertex
            {
                explanation.terms.extend(terms.iter().cloned());
            }
            let report = point_report(
                &snapshot.subject,
                snapshot.method,
                positions,
                vertex,
                &explanation,
            );
            self.report = Some((view, snapshot.sequence, report));
        }
        self.report.as_ref().map(|(_, _, report)| report)
    }
}
