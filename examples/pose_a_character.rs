//! Open a character, turn a joint, let the flesh settle, write it as OBJ.
//!
//! `cargo run --release --example pose_a_character -- out.obj`

use std::error::Error;
use std::path::PathBuf;

use sinew::dynamics::Params;
use sinew::io::write_obj;
use sinew::methods::{Actor, Frame, MethodId};
use sinew::progress::Progress;
use sinew::session::{Source, open, set_joint_angles_deg};

fn main() -> Result<(), Box<dyn Error>> {
    let out = std::env::args_os()
        .nth(1)
        .map_or_else(|| std::env::temp_dir().join("posed.obj"), PathBuf::from);
    let progress = Progress::new();
    let subject = open(&Source::builtin("cylinder"), &progress)?;
    let skeleton = &subject.character.skeleton;

    let mut pose = skeleton.rest_pose();
    let joint = skeleton.find_or_suggest("upper")?;
    set_joint_angles_deg(skeleton, &mut pose, joint, [0.0, 0.0, -90.0]);

    let mut actor = Actor::bind(&subject, MethodId::PD, &Params::default(), &progress)?;
    // No time passes: the equilibrium in this pose.
    actor.advance(&Frame {
        world_from_joint: &skeleton.world_from_joint(&pose),
        dt_secs: 0.0,
    })?;
    write_obj(&out, &subject.character, actor.positions(), actor.normals())?;
    println!("{} vertices in {}", actor.positions().len(), out.display());
    Ok(())
}
