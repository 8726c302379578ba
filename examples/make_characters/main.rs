//! Makes the built-in characters that Sinew embeds.
//!
//! ```text
//! cargo run --release --example make_characters                        writes assets/*.glb
//! cargo run --release --example make_characters -- --only mannequin    just that one
//!     --preview OUT [--clip NAME] [--frames N] [--view NAME,…] [--wireframe] [--weights JOINT]    draws instead of writing
//! ```
//!
//! A character is described in `shapes/NAME.txt` (see [`shape`]) as an implicit solid ([`field`]) with joints in it. Its skin is
//! polygonised ([`polygonise`]), remeshed ([`remesh`]) and mirrored, gets its weights from heat on the skin ([`bone_heat`]) and its
//! clips from [`clips`]. Everything is deterministic: the same sources make the same bytes.

mod bone_heat;
mod checks;
mod clips;
mod cylinder;
mod field;
mod make;
mod motion;
mod polygonise;
mod preview;
mod remesh;
mod shape;
mod show;

use std::path::Path;
use std::process::ExitCode;

use clap::Parser;

/// Makes Sinew's built-in characters.
#[derive(Debug, Parser)]
pub struct Args {
    /// Make only this character.
    #[arg(long)]
    only: Option<String>,
    /// Draw pictures under this name instead of writing the character.
    #[arg(long)]
    preview: Option<std::path::PathBuf>,
    /// Pose by this clip in the picture.
    #[arg(long)]
    clip: Option<String>,
    /// How many frames of the clip to show.
    #[arg(long, default_value_t = 4)]
    frames: usize,
    /// Views, separated by commas: body, top, low, head, torso, legs, hand, foot; one picture each (`OUT_NAME_VIEW.png`).
    #[arg(long, default_value = "body")]
    view: String,
    /// Draw edges.
    #[arg(long)]
    wireframe: bool,
    /// Colour by the weight of this joint, or by all with "all".
    #[arg(long)]
    weights: Option<String>,
    /// Skip remeshing: fast, for sculpting.
    #[arg(long)]
    rough: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("{what}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names = ["mannequin", "gecko", "cylinder", "arm"];
    for name in names
        .into_iter()
        .filter(|name| args.only.as_deref().is_none_or(|only| only == *name))
    {
        let character = make::make(name, root, args.rough, args.preview.is_none())
            .map_err(|what| format!("{name}: {what}"))?;
        if let Some(picture) = &args.preview {
            for view in args.view.split(',') {
                let stem = picture.file_stem().unwrap_or_default().to_string_lossy();
                let file = picture.with_file_name(format!("{stem}_{name}_{view}.png"));
                show::show(&character, args, view)?
                    .save(&file)
                    .map_err(|error| format!("{}: {error}", file.display()))?;
            }
            continue;
        }
        let bytes = sinew::io::write_glb(&character).map_err(|error| error.to_string())?;
        let path = root.join("assets").join(format!("{name}.glb"));
        std::fs::write(&path, &bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        eprintln!(
            "{name}: {} vertices, {} joints, {} bytes",
            character.source_vertices(),
            character.skeleton.len(),
            bytes.len()
        );
    }
    Ok(())
}
