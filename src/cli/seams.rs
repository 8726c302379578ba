//! `sinew seams`: distances between parts of clips that were baked apart, as the tasks of a farm are.

use std::path::PathBuf;

use clap::Args;

use super::options::Options;
use super::{CommandResult, Failure, print_json, print_lines};
use crate::session::{Seam, Seams, measure_seams};

/// Options of the verb.
#[derive(Debug, Args)]
pub(super) struct SeamsVerb {
    /// Files of `bake --seam` (NAME.seam.json), or folders of them.
    #[arg(value_name = "FILE|FOLDER", required = true)]
    places: Vec<PathBuf>,
    /// Fail if a vertex is farther than this at a seam.
    #[arg(long, value_name = "MILLIMETRES", value_parser = parse_millimetres)]
    most: Option<f64>,
    /// Print a JSON report.
    #[arg(help_heading = "Output", long)]
    json: bool,
}

fn parse_millimetres(text: &str) -> Result<f64, String> {
    let parsed = text.parse::<f64>().ok();
    let sound = parsed.filter(|millimetres| millimetres.is_finite() && *millimetres >= 0.0);
    sound.ok_or_else(|| "expected millimetres of at least 0".to_owned())
}

impl SeamsVerb {
    pub(super) fn run(&self, _: &Options) -> CommandResult {
        let motions = measure_seams(&self.places)?;
        if self.json {
            print_json(&motions)?;
        } else {
            print_lines(motions.iter().map(line))?;
        }
        let Some(most) = self.most else {
            return Ok(());
        };
        let all = motions.iter().flat_map(|motion| &motion.seams);
        let farther = all.filter(|seam| seam.max_mm > most).count();
        if farther > 0 {
            return Err(Failure::Undone(format!(
                "{farther} seams are farther than {most} mm; bake with a longer --pre-roll"
            )));
        }
        Ok(())
    }
}

/// What is said of a motion.
fn line(motion: &Seams) -> String {
    let Seams {
        character,
        method,
        motion: name,
        first,
        last,
        seams,
    } = motion;
    let start = format!("{character} {method} {name}, frames {first}-{last}");
    let worst = (seams.iter()).max_by(|a, b| a.max_mm.total_cmp(&b.max_mm));
    match worst {
        None => format!("{start}: one part, no seams"),
        Some(Seam { max_mm: 0.0, .. }) => format!("{start}: {} seams, all equal", seams.len()),
        Some(worst) => format!(
            "{start}: {} seams, at most {:.4} mm (before frame {}, vertex {}, {:.4} mm rms, after {} frames of pre-roll)",
            seams.len(),
            worst.max_mm,
            worst.frame,
            worst.vertex,
            worst.rms_mm,
            worst.pre_roll
        ),
    }
}
