//! Crawl and wiggle of the gecko.

use std::f64::consts::TAU;

use sinew::rig::{Clip, Skeleton};

use super::{X, Y, Z};
use crate::motion::{Stance, bake};

/// One double step, in seconds.
const CRAWL_SECS: f64 = 1.2;
/// Joints along the tail.
const TAIL: usize = 6;

/// All clips of the gecko.
pub fn clips(skeleton: &Skeleton) -> Result<Vec<Clip>, String> {
    Ok(vec![
        bake(skeleton, "crawl", CRAWL_SECS, |t| {
            Ok(crawling(t / CRAWL_SECS))
        })?,
        bake(skeleton, "wiggle", 3.0, |t| Ok(wiggling(t / 3.0)))?,
    ])
}

/// A wave to the side that runs from the head to the tip of the tail.
fn undulate(stance: &mut Stance, phase: f64, amount: f64) {
    let side = |shift: f64| (TAU * (phase - shift)).sin();
    stance.turn("hips", Y, 9.0 * amount * side(0.30));
    stance.turn("spine.1", Y, -10.0 * amount * side(0.28));
    stance.turn("spine.2", Y, -12.0 * amount * side(0.25));
    stance.turn("chest", Y, -4.0 * amount * side(0.2));
    stance.turn("neck", Y, 8.0 * amount * side(0.2));
    stance.turn("head", Y, 8.0 * amount * side(0.2));
    for i in 1..=TAIL {
        stance.turn(
            &format!("tail.{i}"),
            Y,
            (7.0 + 2.2 * i as f64) * amount * side(0.34 + 0.09 * i as f64),
        );
    }
}

/// One leg: swings back on the ground for 60 % of the time, then lifts and reaches ahead.
fn step(stance: &mut Stance, stem: &str, side: &str, phase: f64) {
    let phase = phase.rem_euclid(1.0);
    let mirror = if side == "L" { 1.0 } else { -1.0 };
    let ground = 0.6;
    let (reach, lift) = if phase < ground {
        (1.0 - 2.0 * phase / ground, 0.0)
    } else {
        let air = (phase - ground) / (1.0 - ground);
        (
            -(std::f64::consts::PI * air).cos(),
            (std::f64::consts::PI * air).sin(),
        )
    };
    // Forward is a turn of the left side's leg (pointing to +x) towards +z: negative about Y.
    stance.turn(&format!("{stem}_upper.{side}"), Y, -mirror * 27.0 * reach);
    stance.turn(&format!("{stem}_upper.{side}"), Z, mirror * 22.0 * lift);
    stance.turn(&format!("{stem}_lower.{side}"), Z, -mirror * 10.0 * lift);
    stance.turn(&format!("{stem}_foot.{side}"), Y, mirror * 20.0 * reach);
    stance.turn(&format!("{stem}_foot.{side}"), Z, -mirror * 18.0 * lift);
}

fn crawling(phase: f64) -> Stance {
    let mut stance = Stance::default();
    undulate(&mut stance, phase, 1.0);
    step(&mut stance, "front", "L", phase);
    step(&mut stance, "hind", "R", phase + 0.04);
    step(&mut stance, "front", "R", phase + 0.5);
    step(&mut stance, "hind", "L", phase + 0.54);
    stance.shift.y = 0.002 * (TAU * 2.0 * phase).cos();
    stance
}

/// Standing, with the tail sweeping, the belly swaying and a look around.
fn wiggling(phase: f64) -> Stance {
    let mut stance = Stance::default();
    let wave = |times: f64, shift: f64| (TAU * (times * phase - shift)).sin();
    stance.shift.x = 0.012 * wave(2.0, 0.0);
    stance.turn("hips", Z, 5.0 * wave(2.0, 0.0));
    stance.turn("spine.1", Y, 9.0 * wave(2.0, 0.1));
    stance.turn("spine.2", Z, -7.0 * wave(2.0, 0.05));
    stance.turn("neck", Y, 16.0 * wave(1.0, 0.0));
    stance.turn("head", Y, 16.0 * wave(1.0, 0.05));
    stance.turn("head", X, -9.0 * (0.5 - 0.5 * wave(1.0, -0.25)));
    for i in 1..=TAIL {
        stance.turn(&format!("tail.{i}"), Y, 22.0 * wave(2.0, 0.08 * i as f64));
        stance.turn(&format!("tail.{i}"), X, 6.0 * wave(1.0, 0.1));
    }
    stance
}
