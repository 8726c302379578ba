//! Comparison of methods over many poses: measured once, written as a page, tables and figures. And the search for the worst poses.
//!
//! ```text
//! CompareSettings ─compare→ Measured: Comparison (numbers), states ─draw_pictures→ ReportPicture
//! Comparison ─charts→ CurveChart   ─csv, json, latex→ text   ─page (with pictures and charts)→ one HTML file
//! ```
//!
//! | module       | what it holds                                                                  |
//! |--------------|--------------------------------------------------------------------------------|
//! | `comparison` | [`Comparison`]: methods × poses × quantities                                   |
//! | `columns`    | [`Columns`]: the poses of a set, or the frames of a motion                     |
//! | `measure`    | [`compare`]: computes and measures every method in every pose                  |
//! | `statistics` | [`Summary`]: medians with intervals; the best method; how values are printed   |
//! | `curves`     | [`charts`]: a quantity over the angle of a movement, or over time              |
//! | `chart`      | [`Chart`]: a line chart as SVG or as a picture                                 |
//! | `tables`     | CSV, JSON and LaTeX                                                            |
//! | `markdown`   | medians as a Markdown table                                                    |
//! | `pictures`   | [`draw_pictures`]: the same poses by the same cameras for all methods          |
//! | `clips`      | [`draw_clips`]: all methods side by side in a movement, as animated WebP       |
//! | `page`       | [`page`](fn@page): the report as one HTML file without references to other files |
//! | `worst`      | [`worst_poses`]: searches the poses in which a method is worst                 |
//! | `point`      | [`point_report`]: why a point of the skin is where it is                       |
//! | `figure`     | [`Figure`]: several pictures with letters, notes and colour bars, as PNG and SVG |
//! | `machine`    | name of the processor                                                          |

mod chart;
mod clips;
mod columns;
mod comparison;
mod curves;
mod escape;
mod figure;
mod machine;
mod markdown;
mod measure;
mod page;
mod pictures;
mod point;
mod statistics;
mod tables;
mod variant;
mod worst;

#[cfg(test)]
mod tests;

pub use chart::{Axis, Chart, Curve, Ticks, charts_picture, charts_png, charts_svg, curve_color};
pub use clips::{ClipPlan, Illustrations, ReportClip, draw_clips};
pub use columns::Columns;
pub use comparison::{About, Cell, Comparison, MethodRow, PoseColumn, shell_word};
pub use curves::{CurveChart, chart_of, charts};
pub use figure::{Figure, FigurePanel};
pub use machine::{cpu_name, machine};
pub use markdown::{markdown, winners};
pub use measure::{
    CompareSettings, FRAME_TIME, Failures, ForeignResult, Measured, compare, compute_columns,
    measure_frame,
};
pub use page::{PageParts, page};
pub use pictures::{
    CLIPS, MOST_DRAWN, PICTURE_SIZE, PictureCell, PictureError, PictureKind, PictureSettings,
    ReportPicture, draw_each, draw_pictures,
};
pub use point::{PointJoint, PointReport, nearest_vertex, point_report, shown_term};
pub use statistics::{Summary, badness, printed, printed_unit, shown};
pub use tables::{csv, json, latex};
pub use variant::Variant;
pub use worst::{
    WorstError, WorstPose, WorstSettings, searched_quantities, searched_quantity, worst_poses,
};
