//! The same bend by every method: how much of the volume is left?
//!
//! `cargo run --release --example compare_methods`

use std::error::Error;

use sinew::dynamics::Params;
use sinew::math::Point;
use sinew::methods::{Actor, Frame, registry};
use sinew::progress::Progress;
use sinew::session::{Source, open, set_joint_angles_deg};

/// Signed volume inside a closed surface: the divergence theorem for the field p / 3.
fn volume(positions: &[Point], triangles: &[[u32; 3]]) -> f64 {
    let corner = |v: u32| positions[v as usize].coords.cast::<f64>();
    triangles
        .iter()
        .map(|&[a, b, c]| corner(a).dot(&corner(b).cross(&corner(c))) / 6.0)
        .sum()
}

fn main() -> Result<(), Box<dyn Error>> {
    let progress = Progress::new();
    let subject = open(&Source::builtin("cylinder"), &progress)?;
    let character = &subject.character;
    let skeleton = &character.skeleton;
    let mut pose = skeleton.rest_pose();
    set_joint_angles_deg(
        skeleton,
        &mut pose,
        skeleton.find_or_suggest("upper")?,
        [0.0, 170.0, 0.0],
    );
    let world = skeleton.world_from_joint(&pose);

    let triangles = character.triangles();
    let before = volume(&character.bind_positions(), &triangles);
    println!("a twist of 170 degrees leaves, of the volume,");
    for method in registry() {
        let mut actor = Actor::bind(&subject, method, &Params::default(), &progress)?;
        actor.advance(&Frame {
            world_from_joint: &world,
            dt_secs: 0.0,
        })?;
        println!(
            "{:>20}  {:.1} %",
            method.label(),
            100.0 * volume(actor.positions(), &triangles) / before
        );
    }
    Ok(())
}
