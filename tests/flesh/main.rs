//! Tissue, its simulation and its contacts on the CPU.

#[path = "../common/mod.rs"]
mod common;

mod accuracy;
#[cfg(feature = "gpu")]
mod collisions;
mod collisions_local;
mod dynamics;
mod elements;
mod energy;
mod exact;
mod gallery;
mod guided;
mod jumps;
mod leaving;
mod materials;
mod mirrored;
mod robust;
mod seated;
mod shells;
mod still;
mod tissue;
#[cfg(feature = "gpu")]
mod tissue_export;
mod touching;
