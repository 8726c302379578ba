//! `sinew tissue`: the volumetric mesh between skin and bones.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::character::print_notes;
use super::folder::{check_folder, check_outputs};
use super::options::{CharacterOptions, Options};
use super::{CommandResult, Failure, print_json, stderr};
use crate::io::write_tissue;
use crate::tissue::Quality;

/// Options of the verb.
#[derive(Debug, Args)]
pub(super) struct TissueVerb {
    #[command(flatten)]
    character: CharacterOptions,
    /// Output file: .msh (Gmsh), .vtu (`ParaView`), or .obj (skin and base surface only).
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Print a JSON report.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct TissueReport<'a> {
    character: &'a str,
    vertices: usize,
    bones: usize,
    quality: &'a Quality,
    file: &'a PathBuf,
}

impl TissueVerb {
    pub(super) fn run(&self, options: &Options) -> CommandResult {
        check_folder(&self.output)?;
        let subject = self.character.open(options)?;
        check_outputs([&self.output])?;
        let name = &subject.character.name;
        stderr::with_progress(options, "Making the flesh", |progress| {
            subject.make_flesh(progress)
        })
        .map_err(|cancelled| Failure::Undone(cancelled.to_string()))?;
        let flesh = subject
            .flesh()
            .map_err(|error| Failure::Undone(format!("{name}: {error}")))?;
        print_notes(&flesh.tissue.notes, options);
        write_tissue(&self.output, &subject.sim().mesh, &flesh.tissue)?;
        let (quality, bones) = (&flesh.tissue.quality, flesh.tissue.graph.bones.len());
        if self.json {
            return print_json(&TissueReport {
                character: name,
                vertices: 2 * flesh.tissue.base.len(),
                bones,
                quality,
                file: &self.output,
            });
        }
        if !options.quiet {
            let Quality {
                tets,
                flat,
                inverted,
                thin,
                worst_aspect,
                without_hit,
                ..
            } = quality;
            stderr::line(&format!(
                "{tets} tets around {bones} bones, of these inverted {inverted}, thin {thin}, worst aspect {worst_aspect:.1}; \
                 left out as flat {flat}, vertices without a hit {without_hit}"
            ));
            stderr::line(&format!("wrote {}", self.output.display()));
        }
        Ok(())
    }
}
