//! Open a character, bend a joint, skin it.
//!
//! `cargo run --release --example ten_lines`

use sinew::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let subject = sinew::open("builtin:cylinder")?;
    let skeleton = &subject.character.skeleton;
    let mut pose = skeleton.rest_pose();
    let bend = Quat::from_axis_angle(&Vec64::z_axis(), 1.2);
    pose.rotate_about_world_axes(skeleton, skeleton.find_or_suggest("upper")?, &bend);

    let mut actor = Actor::bind(
        &subject,
        MethodId::DQS,
        &Params::default(),
        &Progress::new(),
    )?;
    let world_from_joint = &skeleton.world_from_joint(&pose);
    actor.advance(&Frame {
        world_from_joint,
        dt_secs: 0.0,
    })?;
    println!("first vertex: {}", actor.positions()[0]);
    Ok(())
}
