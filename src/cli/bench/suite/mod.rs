//! `sinew bench --suite`: everything that is worth knowing of a graphics card, in a few minutes and one command.
//!
//! | kind        | what                                                                                     |
//! |-------------|------------------------------------------------------------------------------------------|
//! | `adapter`   | name, driver, features, limits                                                           |
//! | `bandwidth` | rate of copies in the card's memory                                                      |
//! | `agreement` | how far every method on the card is from the CPU, after one step and after many          |
//! | `flesh`     | frames and stages of flesh, in sizes × plain or accelerated × solvers × contacts          |
//! | `crowd`     | frames and stages of many characters                                                     |
//! | `surface`   | frames of the methods that follow joints                                                 |
//! | `note`      | a sentence                                                                               |
//! | `end`       | how much was measured, and what failed                                                   |
//!
//! Every line is written as soon as it is known. What fails is said, with `error` instead of numbers, and the rest goes on; what there is no
//! time for is said, with `skipped`.

mod adapter;
mod agreement;
mod agreement_crowd;
mod crowd;
mod flesh;
mod flesh_record;
mod play;
mod record;
mod refine;
mod sizes;
mod surface;

use std::time::Duration;

use self::record::{Note, Run};
use self::sizes::Bodies;
use super::Bench;
use crate::cli::options::Options;
use crate::cli::{CommandResult, Failure, stderr};
use crate::gpu::GpuContext;
use crate::session::DeviceChoice;

/// How much the suite measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// What a graphics card is measured by: up to eight minutes.
    Full,
    /// Of these only the adapter and the large sizes of flesh, for which time may have run out.
    Large,
    /// The same as all on tiny characters, to try the suite itself: seconds, with software, too.
    Tiny,
}

impl Scale {
    /// By its name on the command line.
    pub(super) fn parse(name: &str) -> Result<Self, String> {
        match name {
            "full" => Ok(Self::Full),
            "large" => Ok(Self::Large),
            "tiny" => Ok(Self::Tiny),
            _ => Err("there are full, large and tiny".to_owned()),
        }
    }

    fn of<T>(self, full: T, tiny: T) -> T {
        match self {
            Self::Full | Self::Large => full,
            Self::Tiny => tiny,
        }
    }

    /// Characters that are compared with the CPU.
    fn characters(self) -> &'static [&'static str] {
        self.of(&["mannequin", "gecko", "cylinder", "arm"], &["cylinder"])
    }

    /// The character that everything else is measured on.
    fn character(self) -> &'static str {
        self.of("mannequin", "cylinder")
    }

    /// Frames that are compared.
    fn compared_frames(self) -> u32 {
        self.of(300, 40)
    }

    /// How fast motions are played.
    fn pace(self) -> f64 {
        self.of(1.0, 3.0)
    }

    /// Frames from rest into the motion; they are not measured.
    fn ramp(self) -> u32 {
        self.of(30, 6)
    }

    /// Most frames of a measurement.
    fn frames(self) -> u32 {
        self.of(300, 6)
    }

    /// Most frames whose passes are measured one by one.
    fn profiled_frames(self) -> u32 {
        self.of(40, 6)
    }

    /// Longest time of a measurement.
    fn longest(self) -> Duration {
        self.of(Duration::from_millis(1_500), Duration::from_millis(500))
    }

    /// Instances of crowds.
    fn crowds(self) -> &'static [usize] {
        self.of(&[1, 10, 100, 500], &[1, 3])
    }
}

impl Bench {
    pub(super) fn run_suite(&self, scale: Scale, options: &Options) -> CommandResult {
        if options.device != Some(DeviceChoice::Gpu) {
            return Err(Failure::Usage(
                "--suite measures the graphics card: add --device gpu".to_owned(),
            ));
        }
        let gpu = stderr::without_wayland_errors(GpuContext::headless)
            .map_err(|error| Failure::Undone(format!("--device gpu: {error}")))?;
        stderr::with_progress(options, "Measuring", |progress| {
            let mut run = Run::new(&gpu, scale, self.json, progress);
            adapter::measure(&mut run)?;
            if let Some(text) = flesh::guided_note(&gpu) {
                run.tell("note", Ok(Note { text }))?;
            }
            let mut bodies = Bodies::new(scale, options);
            // The most telling first: time may run out.
            if scale != Scale::Large {
                measure_small(&mut run, &mut bodies)?;
            }
            for size in sizes::large(scale) {
                flesh::measure(&mut run, &mut bodies, size)?;
            }
            run.end()
        })
    }
}

/// Agreement, and all but the large sizes of flesh.
fn measure_small(run: &mut Run<'_>, bodies: &mut Bodies) -> CommandResult {
    agreement::measure(run)?;
    agreement_crowd::measure(run)?;
    for size in sizes::small(run.scale) {
        flesh::measure(run, bodies, size)?;
    }
    for size in sizes::small(run.scale) {
        crowd::measure(run, bodies, size)?;
    }
    surface::measure(run, bodies)
}
