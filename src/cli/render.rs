//! `sinew render`: a pose by one or several methods, side by side.

use std::path::PathBuf;

use clap::Args;

use super::bake::check_folder;
use super::options::{CharacterOptions, Options, parse_method};
use super::pose::PoseOptions;
use super::{Failure, Outcome};
use crate::skin::Method;

/// Options of the verb.
#[derive(Debug, Args)]
pub(super) struct Render {
    #[command(flatten)]
    character: CharacterOptions,
    /// The methods, as in lbs,dqs,pd.
    #[arg(long, value_parser = parse_method, value_delimiter = ',', required = true)]
    method: Vec<Method>,
    #[command(flatten)]
    pose: PoseOptions,
    /// Where to write the picture.
    #[arg(short, long, value_name = "OUT.png")]
    output: PathBuf,
}

impl Render {
    pub(super) fn run(&self, options: &Options) -> Outcome {
        check_folder(&self.output)?;
        let subject = self.character.open(options)?;
        let _ = self.pose.take_to_draw(&subject.character)?;
        let _ = &self.method;
        Err(Failure::Undone("drawing is not available in this version".to_owned()))
    }
}
