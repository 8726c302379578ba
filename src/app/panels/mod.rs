//! Panels: functions that draw a borrowed view and push user requests.
//!
//! A panel neither holds the session nor changes it. State of the panel only (a search text, an angle being typed) is a
//! small struct beside the view.

pub mod bone;
pub mod character;
pub mod checkup;
pub mod device;
pub mod dynamics;
pub mod history;
pub mod index;
pub mod joints;
pub mod limits;
pub(in crate::app) mod long_list;
pub mod method;
pub mod morphs;
pub mod overlays;
pub mod paint;
pub mod poses;
pub mod resolution;
pub mod rig;
pub mod rig_tree;
pub mod timings;
pub mod top_bar;
pub mod unit;
