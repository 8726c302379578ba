//! Parity with the reference implementation of Fast Projective Skinning on its own demo.

use std::sync::Arc;

use crate::common::on_bones::on_bones;
use crate::common::skip;
use sinew::dynamics::Preset;
use sinew::math::Point;
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::progress::Progress;

/// Rows of three numbers.
fn read_points(path: &std::path::Path) -> Vec<Point> {
    let text = std::fs::read_to_string(path).expect("reference data");
    let row = |line: &str| {
        let c: Vec<f32> = line
            .split_whitespace()
            .map(|c| c.parse().expect("a number"))
            .collect();
        Point::new(c[0], c[1], c[2])
    };
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(row)
        .collect()
}

fn differences(actual: &[Point], expected: &[Point]) -> (f32, f32) {
    let all: Vec<f32> = actual
        .iter()
        .zip(expected)
        .map(|(a, b)| (a - b).norm())
        .collect();
    (
        all.iter().sum::<f32>() / all.len() as f32,
        all.iter().copied().fold(0.0, f32::max),
    )
}

#[test]
fn the_settled_cylinder_agrees_with_the_reference() {
    let Some(data) = skip::data() else {
        return;
    };
    let reference = data.join("../reference/cylinder");
    let character = sinew::io::load(
        &[data.join("E_fps/cylinder/cylinder.ini")],
        &Progress::new(),
    )
    .expect("loads");
    let clip = character.clips[0].clone();
    let world = character
        .skeleton
        .world_from_joint(&clip.sample(&character.skeleton, clip.duration_secs));
    let subject =
        Arc::new(Subject::build(Arc::new(on_bones(character)), &Progress::new()).expect("builds"));
    let mut actor = Actor::bind(
        &subject,
        MethodId::PD,
        &Preset::Fps.params(),
        &Progress::new(),
    )
    .expect("binds");

    let rest = read_points(&reference.join("skin_rest.txt"));
    assert!(
        differences(actor.positions(), &rest).1 < 1e-5,
        "same order of vertices"
    );
    let flesh = subject.flesh().expect("has flesh");
    let base: Vec<Point> = flesh.tissue.base.iter().map(|p| p.cast::<f32>()).collect();
    let (mean, worst) = differences(&base, &read_points(&reference.join("base_rest.txt")));
    println!("base at rest: mean {mean}, worst {worst}");

    actor
        .advance(&Frame {
            world_from_joint: &world,
            dt_secs: 0.0,
        })
        .expect("settles");
    let posed_base = actor.projective().expect("simulated").simulation().base();
    let (mean, worst) = differences(
        posed_base,
        &read_points(&reference.join("ramp50_hold2000_base_pose.txt")),
    );
    println!("base in the pose: mean {mean}, worst {worst}");
    let (mean, worst) = differences(
        actor.positions(),
        &read_points(&reference.join("ramp50_hold2000_skin_pose.txt")),
    );
    println!("skin in the pose: mean {mean}, worst {worst}");
    // The cylinder is 14.36 long. Ours slides all of the base where the reference leaves the part between joint and bone free.
    assert!(
        mean <= 0.004 * 14.36 && worst <= 0.02 * 14.36,
        "mean {mean}, worst {worst}"
    );
}
