//! What is plotted: taken from the session's board when that has something new.

use egui::{Color32, Context};

use crate::metrics::{Quantity, quantity};
use crate::report::{Ticks, curve_color, printed_unit, shown};
use crate::session::{Board, BoardState, Peak};

/// About this many lines of the grid in a plot.
const TICKS: f64 = 3.0;

/// One line of a plot.
#[derive(Debug, Clone)]
pub(super) struct PlotLine {
    /// Measured frames, ascending, with the values in the unit that is shown.
    pub(super) points: Vec<(u32, Option<f64>)>,
    pub(super) peaks: Vec<Peak>,
}

/// The plot of a quantity.
#[derive(Debug, Clone)]
pub(super) struct Plot {
    pub(super) quantity: &'static Quantity,
    /// By index of the board's lines.
    pub(super) lines: Vec<PlotLine>,
    pub(super) ticks: Ticks,
    /// Whether there is any value.
    pub(super) has_values: bool,
}

/// All plots.
#[derive(Debug, Default)]
pub(super) struct Plots {
    pub(super) list: Vec<Plot>,
    /// Revision of the board and ids of the quantities that it was made of.
    made_of: Option<(u64, Vec<String>)>,
}

impl Plots {
    /// Updates the plots from the board if it has something new.
    pub(super) fn follow(&mut self, board: &Board, state: &BoardState) {
        let now = Some((board.revision(), state.quantities.clone()));
        if self.made_of == now {
            return;
        }
        self.made_of = now;
        let known = state.quantities.iter().filter_map(|id| quantity(id));
        self.list = known
            .map(|(_, quantity)| Plot::of(board, quantity))
            .collect();
    }
}

impl Plot {
    fn of(board: &Board, quantity: &'static Quantity) -> Self {
        let line = |index: usize| PlotLine {
            points: board
                .points(index, quantity.id)
                .into_iter()
                .map(|(frame, value)| {
                    let value = value.filter(|value| value.is_finite());
                    (frame, value.map(|value| shown(value, quantity).0))
                })
                .collect(),
            peaks: board.peaks(index, quantity.id),
        };
        let lines: Vec<PlotLine> = (0..board.lines().len()).map(line).collect();
        let values = || {
            let points = lines.iter().flat_map(|line| &line.points);
            points.filter_map(|(_, value)| *value)
        };
        Self {
            quantity,
            ticks: Ticks::of(values(), TICKS),
            has_values: values().next().is_some(),
            lines,
        }
    }

    /// The measured frame of any line that is nearest to a frame.
    pub(super) fn nearest(&self, frame: f64) -> Option<u32> {
        let frames = self.lines.iter().flat_map(|line| &line.points);
        let far = |at: &u32| (f64::from(*at) - frame).abs();
        frames
            .map(|(frame, _)| *frame)
            .min_by(|a, b| far(a).total_cmp(&far(b)))
    }

    /// The value of a line in a frame.
    pub(super) fn value(&self, line: usize, frame: u32) -> Option<f64> {
        let points = &self.lines.get(line)?.points;
        let index = points.binary_search_by_key(&frame, |(at, _)| *at).ok()?;
        points[index].1
    }
}

/// A value in the unit that is shown, as text with the unit.
pub(super) fn text_of(shown_value: f64, quantity: &Quantity) -> String {
    let digits = shown(0.5, quantity).1;
    let digits = if quantity.unit == crate::metrics::Unit::Count {
        0
    } else {
        digits
    };
    let number = format!("{shown_value:.digits$}").replace('-', "−");
    match printed_unit(quantity) {
        "" => number,
        "°" => format!("{number}°"),
        unit => format!("{number} {unit}"),
    }
}

/// The colour of a line, by its index: that of the charts of reports, lighter on dark ground.
pub(super) fn line_color(ctx: &Context, line: usize) -> Color32 {
    let [r, g, b] = curve_color(line);
    let color = Color32::from_rgb(r, g, b);
    if ctx.theme() == egui::Theme::Dark {
        color.lerp_to_gamma(Color32::WHITE, 0.28)
    } else {
        color
    }
}
