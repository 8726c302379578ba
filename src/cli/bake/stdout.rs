//! `-o -`: the output on standard output, for pipes.

use std::fs::File;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::Bake;
use crate::cli::options::Options;
use crate::cli::{CommandResult, Failure};
use crate::io::UnkeptFile;

/// Kinds of output that are one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum OutputKind {
    Glb,
    Pc2,
    Mdd,
    Ply,
    Npz,
    Json,
    Bvh,
    Usda,
    Usdc,
}

impl OutputKind {
    fn extension(self) -> &'static str {
        match self {
            Self::Glb => "glb",
            Self::Pc2 => "pc2",
            Self::Mdd => "mdd",
            Self::Ply => "ply",
            Self::Npz => "npz",
            Self::Json => "json",
            Self::Bvh => "bvh",
            Self::Usda => "usda",
            Self::Usdc => "usdc",
        }
    }
}

impl Bake {
    /// Whether the output goes to standard output.
    pub(super) fn is_to_stdout(&self) -> bool {
        self.output.as_deref() == Some(Path::new("-"))
    }

    /// Bakes to a file that is not kept, because some formats begin with what is known at the end, and prints it.
    pub(super) fn to_stdout(&self, options: &Options) -> CommandResult {
        let Some(kind) = self.kind else {
            return Err(Failure::Usage(
                "-o - needs the kind of the output, as in --kind pc2".to_owned(),
            ));
        };
        if self.json || options.openjd {
            return Err(Failure::Usage(
                "the report and the output can't both be on standard output; give -o the name of a file".to_owned(),
            ));
        }
        let stdout = std::io::stdout();
        if stdout.is_terminal() {
            return Err(Failure::Undone(
                "standard output is a terminal, which can't show a file; send it to a program or a file, or give -o a name".to_owned(),
            ));
        }
        let file = UnkeptFile::new(kind.extension());
        let one = Self {
            output: Some(file.path().to_owned()),
            one_cache: true,
            ..self.clone()
        };
        // What is written is no file of the user's.
        let quiet = Options {
            quiet: true,
            ..options.clone()
        };
        let report = one.single(&quiet)?;
        let beside: Vec<&PathBuf> = (report.files().iter())
            .filter(|written| *written != file.path() && Some(*written) != self.pose_out.as_ref())
            .collect();
        if !beside.is_empty() {
            // Textures, which nobody could find there.
            for file in beside {
                drop(std::fs::remove_file(file));
            }
            return Err(Failure::Undone(format!(
                "a .{} of this character is several files, so it can't go to standard output; give -o a name, or write a .glb",
                kind.extension()
            )));
        }
        let copied = File::open(file.path())
            .and_then(|mut file| std::io::copy(&mut file, &mut stdout.lock()))
            .and_then(|_| stdout.lock().flush());
        match copied {
            // The reader closed the pipe: not an error.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            copied => copied.map_err(|error| {
                Failure::Undone(format!("standard output can't be written: {error}"))
            }),
        }
    }
}
