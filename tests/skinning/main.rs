//! Skinning methods: their contract, and agreement with independent implementations.

#[path = "../common/mod.rs"]
mod common;

mod bounded_hand;
mod counted;
mod cylinder_reference;
mod implicit_inside;
mod implicit_knee;
mod implicit_muscles;
mod implicit_shoulder;
mod morphs;
mod parity;
mod parity_ddm;
mod reference;
#[cfg(all(feature = "app", feature = "cli"))]
mod registry;
mod rest_of_data;
mod skinners;
mod toy;
