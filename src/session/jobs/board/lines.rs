//! Which methods the board shows, over which clip.

use super::curves::CurveKey;
use crate::methods::{Capability, MethodId};
use crate::metrics::Metric;
use crate::session::jobs::basis::FrameBasis;
use crate::session::views::Need;
use crate::session::{Channels, Document, ViewId, Views};

/// Of a longer clip, only every second (third, …) frame is measured, so that there are at most this many.
const MOST_FRAMES: usize = 4096;

/// A line of the plots: a method that one or several views show.
#[derive(Debug, Clone, PartialEq)]
pub struct BoardLine {
    /// Its name, unique on the board.
    pub label: String,
    /// Its method.
    pub method: MethodId,
    /// The views that show it, as their method or as what they compare with.
    pub views: Vec<ViewId>,
    /// Id of the method, with the weights where lines differ only in them.
    pub(super) id: String,
    pub(super) need: Need,
    pub(super) basis: FrameBasis,
}

impl BoardLine {
    /// Whether its frames depend on what was before: it is measured as the clip plays from its start.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.method.has(Capability::State)
    }
}

/// The lines and their clip.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Lines {
    pub(super) list: Vec<BoardLine>,
    /// The line that distances are measured to.
    pub(super) against: Option<usize>,
    pub(super) clip_name: String,
    pub(super) fps: f64,
    /// Number of measured frames.
    pub(super) frames: usize,
    /// Every how many frames of the clip one is measured.
    pub(super) every: usize,
}

impl Lines {
    /// What the values depend on.
    pub(super) fn inputs(&self) -> (Vec<&FrameBasis>, Option<usize>) {
        (
            self.list.iter().map(|line| &line.basis).collect(),
            self.against,
        )
    }

    pub(super) fn basis(&self, line: usize) -> Option<&FrameBasis> {
        self.list.get(line).map(|line| &line.basis)
    }

    /// What distances are measured to.
    pub(super) fn target(&self) -> Option<&FrameBasis> {
        self.basis(self.against?)
    }

    /// The curve of a metric for a line; `None` for the distance of a line from itself.
    pub(super) fn key(&self, line: usize, metric: &'static Metric) -> Option<CurveKey> {
        if metric.needs_reference && (self.against.is_none() || self.against == Some(line)) {
            return None;
        }
        Some(CurveKey {
            basis: self.basis(line)?.clone(),
            metric,
            against: self.target().cloned().filter(|_| metric.needs_reference),
        })
    }
}

/// The methods of all views with the active view's clock, over the clip that it shows; `None` without a clip.
pub(super) fn lines_of(
    views: &Views,
    channels: &Channels,
    document: &Document,
    distance_to: Option<ViewId>,
) -> Option<Lines> {
    let channel = views.active().channel();
    let clip = channels.playback_in(channel)?.clip?;
    let clips = document.clips();
    let clip_name = clips.get(clip)?.name.clone();
    let mut list: Vec<BoardLine> = Vec::new();
    for view in views.list().iter().filter(|view| view.channel() == channel) {
        for need in std::iter::once(view.need()).chain(view.compared_need()) {
            let Some(basis) = FrameBasis::of(need, clip, document) else {
                continue;
            };
            match list.iter_mut().find(|line| line.basis == basis) {
                Some(line) if line.views.contains(&view.id) => {}
                Some(line) => line.views.push(view.id),
                None => list.push(BoardLine {
                    label: document.label_of(need.method, need.variant),
                    method: need.method,
                    views: vec![view.id],
                    id: match document.variant(need.variant) {
                        Some(variant) => format!("{} {}", need.method.id(), variant.name),
                        None => need.method.id().to_owned(),
                    },
                    need,
                    basis,
                }),
            }
        }
    }
    name_apart(&mut list);
    let first = &list.first()?.basis;
    let fps = first.fps();
    // As a take counts them.
    let total = (first.duration_secs() * fps + 1e-6).floor().max(0.0) as usize + 1;
    let every = total.div_ceil(MOST_FRAMES);
    let wished =
        distance_to.and_then(|view| list.iter().position(|line| line.views.contains(&view)));
    let reference = || list.iter().position(|line| line.method.id() == "reference");
    let against = wished.or_else(reference).or(Some(0));
    Some(Lines {
        against: against.filter(|_| list.len() > 1),
        list,
        clip_name,
        fps,
        frames: total.div_ceil(every),
        every,
    })
}

/// Adds the weights to the names of lines that have the same method.
fn name_apart(list: &mut [BoardLine]) {
    let labels: Vec<String> = list.iter().map(|line| line.label.clone()).collect();
    for line in list {
        let same = labels.iter().filter(|label| **label == line.label);
        if same.count() > 1 {
            line.label = format!("{}, {}", line.label, line.need.weights);
            line.id = format!("{} {}", line.id, line.need.weights);
        }
    }
}
