//! Panels: functions that draw a borrowed view and push what the user asked for.
//!
//! No panel holds the session or changes anything itself. What only the panel needs to remember (a search text, an angle being
//! typed) is a small state of its own beside the view.

pub mod bone;
pub mod character;
pub mod checkup;
pub mod device;
pub mod dynamics;
pub mod history;
pub mod joints;
pub mod limits;
mod long_list;
pub mod method;
pub mod overlays;
pub mod poses;
pub mod resolution;
pub mod rig;
pub mod rig_tree;
pub mod timings;
pub mod top_bar;
