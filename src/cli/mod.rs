//! The command line: one file per verb, thin over [`crate::session`].
//!
//! Results for machines (`--json`) go to stdout and nothing else does; progress, notes and errors go to stderr. Exit codes: 0 done,
//! 1 it could not be done (one sentence says why), 2 wrong usage.

mod bake;
mod bench;
mod calibration;
mod character;
mod compare;
mod crowd;
mod explain;
mod folder;
mod info;
mod motion_info;
mod options;
mod physics;
mod pose;
mod render;
mod signals;
mod stderr;
mod suite;
mod tissue;
mod weights;
mod worst;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::cache::Cache;
use crate::dynamics::Params;
use crate::session::{DeviceChoice, Source};
use options::{CharacterOptions, Options};

/// Opens the workbench on a character with these physical parameters and this cache; an error is one sentence.
pub type OpenWorkbench = fn(Source, Params, Cache, Option<DeviceChoice>) -> Result<(), String>;

/// A workbench for character skinning: flesh on bones by projective dynamics, beside the classic methods.
///
/// Without a verb the workbench opens with the files given, or with the built-in character.
#[derive(Debug, Parser)]
#[command(name = "sinew", version, about, long_about, max_term_width = 110)]
struct Arguments {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    character: CharacterOptions,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Show what is in a character, the findings of the check-up, and how they are handled.
    Info(info::Info),
    /// Compute skinning weights, report on them, and write them to a file.
    Weights(weights::WeightsVerb),
    /// Write the volumetric mesh between skin and bones.
    Tissue(tissue::TissueVerb),
    /// Write the deformed skin of a pose or a clip to files.
    Bake(bake::Bake),
    /// Draw a pose with one or several methods, side by side.
    Render(render::Render),
    /// Compare methods in many poses: a page, tables and figures.
    Compare(compare::Compare),
    /// Search the poses in which methods are worst, and draw them on one sheet.
    Worst(worst::Worst),
    /// Compare all methods on the built-in characters, and print the tables.
    Suite(suite::Suite),
    /// Say why a point of the skin is where it is: joints and weights, the method's numbers, strain and contacts.
    Explain(explain::Explain),
    /// Measure the time of every stage on this machine.
    Bench(bench::Bench),
}

/// Why a verb failed.
#[derive(Debug)]
enum Failure {
    /// The work failed: exit code 1.
    Undone(String),
    /// The arguments are wrong: exit code 2.
    Usage(String),
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Undone(error.to_string())
    }
}

type CommandResult = Result<(), Failure>;

/// Runs the command line of this process.
#[must_use]
pub fn run(open_workbench: OpenWorkbench) -> ExitCode {
    run_from(std::env::args_os(), open_workbench)
}

/// Runs a command line; the first word is the program's name. Wrong usage ends the process.
#[must_use]
pub fn run_from(
    arguments: impl IntoIterator<Item = OsString>,
    open_workbench: OpenWorkbench,
) -> ExitCode {
    let command =
        with_negative_numbers(Arguments::command()).mut_subcommands(with_negative_numbers);
    let arguments = Arguments::from_arg_matches(&command.get_matches_from(arguments))
        .unwrap_or_else(|error| error.exit());
    stderr::start_log(&arguments.options);
    let result = arguments
        .options
        .check()
        .and_then(|()| dispatch(&arguments, open_workbench));
    let (code, sentence) = match result {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Undone(sentence)) => (1, sentence),
        Err(Failure::Usage(sentence)) => (2, sentence),
    };
    stderr::line(&format!("error: {sentence}"));
    ExitCode::from(code)
}

/// Makes `--fps -1` an error about its value instead of an unknown option.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    command.mut_args(|arg| {
        if arg.get_action().takes_values() {
            arg.allow_negative_numbers(true)
        } else {
            arg
        }
    })
}

fn dispatch(arguments: &Arguments, open_workbench: OpenWorkbench) -> CommandResult {
    let options = &arguments.options;
    if arguments.verb.is_some() {
        signals::remove_unfinished_on_signal();
        crate::io::protect_inputs();
    }
    match &arguments.verb {
        Some(_) if !arguments.character.files.is_empty() => Err(Failure::Usage(
            "files go after the verb, as in `sinew info FILE`".to_owned(),
        )),
        None => {
            suggest_verb(&arguments.character.files)?;
            open_workbench(
                arguments.character.source(options),
                options.params(),
                options.cache(),
                options.device,
            )
            .map_err(Failure::Undone)
        }
        Some(Verb::Info(verb)) => verb.run(options),
        Some(Verb::Weights(verb)) => verb.run(options),
        Some(Verb::Tissue(verb)) => verb.run(options),
        Some(Verb::Bake(verb)) => verb.run(options),
        Some(Verb::Render(verb)) => verb.run(options),
        Some(Verb::Compare(verb)) => verb.run(options),
        Some(Verb::Worst(verb)) => verb.run(options),
        Some(Verb::Suite(verb)) => verb.run(options),
        Some(Verb::Explain(verb)) => verb.run(options),
        Some(Verb::Bench(verb)) => verb.run(options),
    }
}

/// Suggests a verb: a mistyped verb is parsed as a file that does not exist.
fn suggest_verb(files: &[PathBuf]) -> CommandResult {
    let Some(first) = files.first() else {
        return Ok(());
    };
    let Some(word) = first.to_str() else {
        return Ok(());
    };
    if first.extension().is_some() || word.starts_with("builtin:") || first.exists() {
        return Ok(());
    }
    let verbs = [
        "info", "weights", "tissue", "bake", "render", "compare", "worst", "suite", "bench",
    ];
    match verbs
        .into_iter()
        .find(|verb| strsim::damerau_levenshtein(verb, word) <= 2)
    {
        Some(verb) => Err(Failure::Usage(format!(
            "there is no verb and no file \"{word}\"; did you mean `sinew {verb}`?"
        ))),
        None => Ok(()),
    }
}

/// Prints a report for machines.
fn print_json(report: &impl serde::Serialize) -> CommandResult {
    print(&serde_json::to_string_pretty(report)?)
}

/// Prints lines of text.
fn print_lines(lines: impl IntoIterator<Item = String>) -> CommandResult {
    lines
        .into_iter()
        .try_for_each(|line| print(&stderr::printable(&line)))
}

fn print(text: &str) -> CommandResult {
    use std::io::{ErrorKind, Write};
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        // The reader closed the pipe: not an error.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written
            .map_err(|error| Failure::Undone(format!("the report can't be written: {error}"))),
    }
}
