//! `sinew completions` and `sinew man`: what packages install beside the program.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

use super::folder::check_folder;
use super::options::Options;
use super::{CommandResult, Failure, command, print_bytes, stderr};
use crate::io::write_atomically;

/// Options of `completions`.
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell.
    shell: Shell,
}

impl Completions {
    /// Prints the script.
    pub(super) fn run(&self) -> CommandResult {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command(), "sinew", &mut script);
        print_bytes(&script)
    }
}

/// Options of `man`.
#[derive(Debug, Args)]
pub(super) struct Man {
    /// Write the pages of the program and of every verb into this folder, instead of printing the first.
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

impl Man {
    /// Prints or writes the pages.
    pub(super) fn run(&self, options: &Options) -> CommandResult {
        let mut command = command();
        command.build();
        let Some(folder) = &self.output else {
            return print_bytes(&page(command)?);
        };
        check_folder(&folder.join("sinew.1"))?;
        let verbs: Vec<clap::Command> = (command.get_subcommands())
            .filter(|verb| verb.get_name() != "help")
            .cloned()
            .collect();
        for (name, command) in verbs
            .into_iter()
            .map(|verb| (format!("sinew-{}", verb.get_name()), verb))
            .chain([("sinew".to_owned(), command)])
        {
            let path = folder.join(format!("{name}.1"));
            let page = page(command)?;
            write_atomically(&path, |out| out.write_all(&page))?;
            if !options.quiet {
                stderr::line(&format!("wrote {}", path.display()));
            }
        }
        Ok(())
    }
}

fn page(command: clap::Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    Ok(page)
}
