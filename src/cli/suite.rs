//! `sinew suite`: all methods over the range of motion of the built-in characters, as tables.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use super::folder::check_folder;
use super::options::{Options, method_ids, parse_method};
use super::{CommandResult, Failure, print, stderr};
use crate::io::builtin::NAMES;
use crate::io::write_atomically;
use crate::methods::{MethodId, Subject, registry};
use crate::report::{Columns, CompareSettings, Comparison, compare, machine, markdown, winners};
use crate::rig::motion_range;
use crate::session::{Source, open_with};

/// Methods that are left out unless they are named: settling a pose takes them seconds to minutes.
const SLOW: [&str; 4] = ["implicit", "pbd", "xpbd", "reference"];

/// Options of the verb.
#[derive(Debug, Args)]
pub(super) struct Suite {
    #[arg(long, visible_alias = "method", value_parser = parse_method, value_delimiter = ',', help = methods_help())]
    methods: Vec<MethodId>,
    /// The characters, by name [default: all built-in ones].
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = clap::builder::PossibleValuesParser::new(NAMES))]
    characters: Vec<String>,
    /// Write the tables (Markdown) into this file instead of printing them.
    #[arg(short, long, value_name = "OUT.md")]
    output: Option<PathBuf>,
}

fn methods_help() -> String {
    format!(
        "The methods [default: all but {}, which take seconds to minutes a pose]; there are {}",
        SLOW.join(", "),
        method_ids()
    )
}

impl Suite {
    pub(super) fn run(&self, options: &Options) -> CommandResult {
        self.output.as_deref().map_or(Ok(()), check_folder)?;
        let methods: Vec<MethodId> = if self.methods.is_empty() {
            let all = registry().into_iter();
            all.filter(|method| !SLOW.contains(&method.id())).collect()
        } else {
            self.methods.clone()
        };
        let mut text = format!(
            "Medians over the poses of the range of motion (in brackets the worst pose), the best in bold. The time is that of a pose \
             by itself: flesh is simulated from rest until it is still. `sinew suite`, version {}, {}, {} threads.\n",
            env!("CARGO_PKG_VERSION"),
            machine(),
            options
                .threads
                .map_or_else(rayon::current_num_threads, usize::from)
        );
        let names: Vec<&str> = if self.characters.is_empty() {
            NAMES.to_vec()
        } else {
            self.characters.iter().map(String::as_str).collect()
        };
        for name in names {
            let comparison = comparison_of(name, &methods, options)?;
            let _ = write!(
                text,
                "\n### {name}, {} poses\n\n{}\n{}",
                comparison.poses.len(),
                markdown(&comparison),
                winners(&comparison)
            );
            for row in comparison
                .methods
                .iter()
                .filter(|row| row.failure.is_some())
            {
                let why = row.failure.as_deref().unwrap_or_default();
                let _ = writeln!(text, "\n`{}` cannot be used: {why}.", row.id);
            }
        }
        match &self.output {
            Some(path) => {
                write_atomically(path, |out| std::io::Write::write_all(out, text.as_bytes()))?;
                if !options.quiet {
                    stderr::line(&format!("wrote {}", path.display()));
                }
                Ok(())
            }
            None => print(text.trim_end()),
        }
    }
}

fn comparison_of(
    name: &str,
    methods: &[MethodId],
    options: &Options,
) -> Result<Comparison, Failure> {
    let source = Source::of_files(vec![format!("builtin:{name}").into()]);
    let subject: Arc<Subject> = stderr::with_progress(options, "Opening", |progress| {
        open_with(&source, &options.cache(), progress)
    })?;
    let settings = CompareSettings {
        variants: methods
            .iter()
            .map(|&method| options.variant(method, &subject))
            .collect::<Result<_, Failure>>()?,
        results: Vec::new(),
        columns: Columns::of_range(&motion_range(&subject.character.skeleton)),
        distance_to: None,
        kept: Vec::new(),
    };
    let measured = stderr::with_progress(options, name, |progress| {
        compare(&subject, &settings, progress)
    })?;
    Ok(measured.comparison)
}
