//! `sinew tissue`: the volumetric mesh between skin and bones.

use std::path::PathBuf;

use clap::Args;

use super::bake::check_folder;
use super::options::{CharacterOptions, Options};
use super::{Failure, Outcome};

/// Options of the verb.
#[derive(Debug, Args)]
pub(super) struct Tissue {
    #[command(flatten)]
    character: CharacterOptions,
    /// Where to write: .msh (Gmsh), .vtu (`ParaView`) or .obj.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Print a report for machines.
    #[arg(long)]
    json: bool,
}

impl Tissue {
    pub(super) fn run(&self, options: &Options) -> Outcome {
        check_folder(&self.output)?;
        let subject = self.character.open(options)?;
        let _ = self.json;
        Err(Failure::Undone(format!("{}: the volumetric mesh is not available in this version", subject.character.name)))
    }
}
