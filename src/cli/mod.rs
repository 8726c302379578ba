//! The command line: one file per verb, thin over [`crate::session`].
//!
//! Results for machines (`--json`) go to stdout and nothing else does; progress, notes and errors go to stderr. Exit codes: 0 done,
//! 1 it could not be done (one sentence says why), 2 wrong usage.

mod bake;
mod bench;
mod calibration;
mod character;
mod compare;
mod compress;
mod crowd;
mod distill;
mod explain;
mod folder;
mod info;
mod install;
mod job;
mod lines;
mod motion_info;
mod options;
mod physics;
mod pose;
mod render;
mod seams;
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
    #[command(
        after_help = "Examples:\n  sinew info hero.glb\n  sinew info hero.glb walk.bvh --save-mapping joints.json"
    )]
    Info(info::Info),
    /// Compute skinning weights, report on them, and write them to a file.
    #[command(
        after_help = "Examples:\n  sinew weights hero.obj hero.skel --weights heat -o weights.csv\n  sinew weights clothes.glb --weights transfer:body.glb -o again.glb"
    )]
    Weights(weights::WeightsVerb),
    /// Write the volumetric mesh between skin and bones.
    #[command(after_help = "Examples:\n  sinew tissue builtin:cylinder -o flesh.vtu")]
    Tissue(tissue::TissueVerb),
    /// Write the deformed skin of a pose or a clip to files.
    #[command(
        after_help = "Examples:\n  sinew bake hero.glb --method pd --clip walk -o walk.glb\n  sinew bake hero.fbx --method dqs --clip 0 --frames 0-60 -o walk.pc2\n  sinew bake hero.fbx --rig --compress -o hero.glb\n  sinew bake a.glb b.glb --methods lbs,pd --clips all -o out/{character}_{method}_{clip}.pc2"
    )]
    Bake(bake::Bake),
    /// Draw a pose with one or several methods, side by side.
    #[command(
        after_help = "Examples:\n  sinew render hero.glb --method lbs,dqs,pd --rotate forearm.L=0,-100,0 -o elbow.png\n  sinew render hero.glb --method pd --clip walk -o walk.webp\n  sinew render hero.glb --method pd --clip walk --frames 0-30 -o walk####.png"
    )]
    Render(render::Render),
    /// Fit helper joints and weights to simulated clips: a rig for game engines that moves like the flesh.
    #[command(
        after_help = "Examples:\n  sinew distill hero.glb walk.bvh run.bvh --clip walk --bones 24 -o rig.glb\n  sinew distill hero.fbx --held-back jump --influences 4 -o rig.glb"
    )]
    Distill(distill::Distill),
    /// Compare methods in many poses: a page, tables and figures.
    #[command(
        after_help = "Examples:\n  sinew compare hero.glb --methods lbs,dqs,pd -o report.html --csv report.csv"
    )]
    Compare(compare::Compare),
    /// Search the poses in which methods are worst, and draw them on one sheet.
    #[command(
        after_help = "Examples:\n  sinew worst hero.glb --method lbs --metric pairs -o sheet.png"
    )]
    Worst(worst::Worst),
    /// Compare all methods on the built-in characters, and print the tables.
    #[command(after_help = "Examples:\n  sinew suite")]
    Suite(suite::Suite),
    /// Say why a point of the skin is where it is: joints and weights, the method's numbers, strain and contacts.
    #[command(
        after_help = "Examples:\n  sinew explain hero.glb --method lbs --vertex 120 --rotate forearm.L=0,-100,0"
    )]
    Explain(explain::Explain),
    /// Measure the time of every stage on this machine.
    #[command(
        after_help = "Examples:\n  sinew bench hero.glb --method pd --json\n  sinew bench --device gpu --suite --json"
    )]
    Bench(bench::Bench),
    /// Write a job for a render farm: characters × methods × clips, or parts of clips, as tasks of Open Job Description.
    #[command(
        after_help = "Examples:\n  sinew job a.glb b.fbx walk.bvh --methods lbs,pd -o bundle\n  sinew job hero.glb --methods pd --format glb -o bundle -- --fps 60\n  sinew job hero.glb --methods pd --chunk 100 --pre-roll 30 -o bundle"
    )]
    Job(job::JobVerb),
    /// Measure how far parts of clips that were baked apart are from each other where they meet.
    #[command(after_help = "Examples:\n  sinew seams results\n  sinew seams results --most 0.5")]
    Seams(seams::SeamsVerb),
    /// Print a script that completes options and files in a shell.
    #[command(after_help = "Examples:\n  sinew completions bash")]
    Completions(install::Completions),
    /// Print the manual page, or write those of all verbs.
    #[command(after_help = "Examples:\n  sinew man\n  sinew man -o /usr/share/man/man1")]
    Man(install::Man),
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
    let command = command();
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

/// The definition of the command line.
fn command() -> clap::Command {
    let command = without_physics(Arguments::command());
    with_negative_numbers(command).mut_subcommands(with_negative_numbers)
}

/// Hides the numbers of the physics in the help of verbs that simulate nothing; they are accepted, because a project or a script may
/// give them to every verb.
fn without_physics(mut command: clap::Command) -> clap::Command {
    let is_physics = |arg: &&clap::Arg| {
        let id = arg.get_id().as_str();
        id == "values"
            || crate::dynamics::PHYSICS
                .iter()
                .any(|param| param.spec.key == id)
    };
    let hidden: Vec<clap::Arg> = (command.get_arguments().filter(is_physics))
        .map(|arg| arg.clone().hide(true))
        .collect();
    for verb in [
        "info",
        "weights",
        "tissue",
        "job",
        "seams",
        "completions",
        "man",
    ] {
        command = command.mut_subcommand(verb, |verb| verb.args(hidden.clone()));
    }
    command
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
        Some(Verb::Distill(verb)) => verb.run(options),
        Some(Verb::Compare(verb)) => verb.run(options),
        Some(Verb::Worst(verb)) => verb.run(options),
        Some(Verb::Suite(verb)) => verb.run(options),
        Some(Verb::Explain(verb)) => verb.run(options),
        Some(Verb::Bench(verb)) => verb.run(options),
        Some(Verb::Job(verb)) => verb.run(options),
        Some(Verb::Seams(verb)) => verb.run(options),
        Some(Verb::Completions(verb)) => verb.run(),
        Some(Verb::Man(verb)) => verb.run(options),
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
        "info", "weights", "tissue", "bake", "render", "compare", "worst", "suite", "explain",
        "bench", "distill", "seams",
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
    print_bytes(format!("{text}\n").as_bytes())
}

fn print_bytes(bytes: &[u8]) -> CommandResult {
    use std::io::{ErrorKind, Write};
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        // The reader closed the pipe: not an error.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written
            .map_err(|error| Failure::Undone(format!("the report can't be written: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_help_are_understood() {
        let verbs: Vec<clap::Command> = command().get_subcommands().cloned().collect();
        let mut examples = 0;
        for verb in verbs {
            let name = verb.get_name().to_owned();
            let help = verb.get_after_help().map(ToString::to_string);
            let help = help.unwrap_or_else(|| panic!("{name} has no examples"));
            for line in help.lines().filter(|line| line.starts_with("  sinew ")) {
                let words: Vec<&str> = line.split_whitespace().collect();
                assert_eq!(words[1], name);
                if let Err(error) = command().try_get_matches_from(&words) {
                    panic!("{line}: {error}");
                }
                examples += 1;
            }
        }
        assert!(examples >= 15, "{examples} examples");
    }

    #[test]
    fn verbs_that_simulate_nothing_hide_the_physics() {
        let mut command = command();
        command.build();
        let mut help = |verb: &str| {
            let verb = command.find_subcommand_mut(verb).unwrap();
            verb.render_long_help().to_string()
        };
        for verb in ["info", "weights", "tissue"] {
            assert!(!help(verb).contains("--stiffness"), "{verb}");
        }
        assert!(help("bake").contains("--stiffness"));
        let matches = super::command()
            .try_get_matches_from(["sinew", "info", "a.glb", "--gravity", "3"])
            .unwrap();
        let arguments = Arguments::from_arg_matches(&matches).unwrap();
        let gravity = crate::dynamics::PHYSICS
            .into_iter()
            .find(|param| param.spec.key == "gravity")
            .unwrap();
        assert_eq!(arguments.options.physics.value(&gravity), Some(3.0));
    }
}
