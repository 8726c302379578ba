//! The flesh on the graphics card.

pub mod solve;
