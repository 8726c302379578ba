//! How soon is a step exact? Distance to the fully converged step, against iterations and against time, for plain iterations and for
//! Anderson acceleration with several memories. Prints a table and draws two plots of each character.
//!
//! `cargo run --release --example convergence -- [-o FOLDER] [FILE or builtin:NAME…]`

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use sinew::dynamics::{Params, Preset, Simulation, State};
use sinew::math::{Point, Quat, Vec64};
use sinew::methods::Subject;
use sinew::progress::Progress;
use sinew::report::{Axis, Chart, Curve as ChartCurve, charts_png};
use sinew::session::{Source, open, set_rotation_from_rest};
use sinew::tissue::BaseFrame;

/// Memories of the acceleration; 0 is plain iterations.
const MEMORIES: [u32; 5] = [0, 1, 2, 3, 5];
/// Numbers of iterations.
const ITERATIONS: [u32; 13] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 13, 17, 22, 30];
/// Iterations of a step that counts as converged.
const CONVERGED: u32 = 1000;
/// The steps that are looked into; those before only lead there. In the last one all joints jump.
const LOOKED_INTO: [usize; 4] = [8, 14, 20, 26];
/// Repetitions of a measurement; the fastest counts.
const REPETITIONS: usize = 3;

/// A step's error and time at every number of iterations, of one memory.
struct Curve {
    memory: u32,
    /// Geometric means over the steps: largest distance to the converged step, in parts of the size.
    errors: Vec<f64>,
    /// Means over the steps, ms.
    times_ms: Vec<f64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let (folder, sources) = wish();
    for source in sources {
        let subject = open(&source, &Progress::new())?;
        let mut scene = Scene::new(&subject)?;
        let curves: Vec<Curve> = MEMORIES
            .iter()
            .map(|&memory| scene.curve(memory))
            .collect::<Result<_, _>>()?;
        print_table(&subject, &curves);
        for (against, x) in [
            ("iterations", iterations_of as fn(&Curve) -> Vec<f64>),
            ("ms", |curve| curve.times_ms.clone()),
        ] {
            let path = folder.join(format!(
                "convergence_{}_{against}.png",
                subject.character.name
            ));
            draw(&path, &subject.character.name, against, &curves, x)?;
            println!("{}", path.display());
        }
    }
    Ok(())
}

fn iterations_of(_: &Curve) -> Vec<f64> {
    ITERATIONS.map(f64::from).to_vec()
}

fn wish() -> (PathBuf, Vec<Source>) {
    let (mut folder, mut sources) = (std::env::temp_dir(), Vec::new());
    let mut words = std::env::args_os().skip(1);
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("-o") => folder = words.next().map_or(folder, PathBuf::from),
            _ => sources.push(Source::of_files(vec![PathBuf::from(word)])),
        }
    }
    if sources.is_empty() {
        sources = vec![Source::builtin("gecko"), Source::builtin("arm")];
    }
    (folder, sources)
}

/// A step that is looked into.
struct Step {
    /// The state before it.
    before: State,
    base: Vec<Point>,
    /// Its converged positions.
    converged: Vec<Point>,
}

/// A moving character.
struct Scene<'a> {
    subject: &'a Subject,
    simulation: Simulation,
    steps: Vec<Step>,
}

/// The parameters of the steps that lead to those looked into.
fn way() -> Params {
    Params {
        iterations: 20,
        acceleration: 0,
        ..Preset::Natural.params()
    }
}

impl<'a> Scene<'a> {
    fn new(subject: &'a Subject) -> Result<Self, Box<dyn Error>> {
        let flesh = subject.flesh()?;
        let skeleton = &subject.character.skeleton;
        let mut frame = BaseFrame::default();
        let bases = (0..=LOOKED_INTO[LOOKED_INTO.len() - 1]).map(|step| {
            let mut pose = skeleton.rest_pose();
            let amount = if step == LOOKED_INTO[LOOKED_INTO.len() - 1] {
                0.9
            } else {
                0.3
            };
            for joint in 0..skeleton.len() {
                let (time, phase) = (step as f64 / 60.0, joint as f64);
                let axis = Vec64::new(phase.sin(), (1.7 * phase).sin(), (2.3 * phase).cos());
                set_rotation_from_rest(
                    skeleton,
                    &mut pose,
                    joint,
                    &Quat::from_scaled_axis(axis * (amount * (9.0 * time).sin())),
                );
            }
            let mut base = vec![Point::origin(); flesh.tissue.anchors.len()];
            flesh
                .tissue
                .anchors
                .place(&skeleton.world_from_joint(&pose), &mut frame, &mut base);
            base
        });
        let bases: Vec<Vec<Point>> = bases.collect();
        let skin = subject.sim().mesh.positions.clone();
        let mut simulation = Simulation::new(
            flesh.system.clone(),
            &way(),
            skin,
            bases[0].clone(),
            subject.size,
        )?;
        let mut steps = Vec::new();
        for (step, base) in bases.into_iter().enumerate() {
            if LOOKED_INTO.contains(&step) {
                steps.push(Step {
                    before: simulation.state(),
                    base: base.clone(),
                    converged: Vec::new(),
                });
            }
            simulation.step(&base);
        }
        let mut scene = Self {
            subject,
            simulation,
            steps,
        };
        for step in 0..scene.steps.len() {
            let (converged, _) = scene.step(step, CONVERGED, 5)?;
            scene.steps[step].converged = converged;
        }
        Ok(scene)
    }

    /// A step that is looked into: positions after it and how long it took, ms.
    fn step(
        &mut self,
        step: usize,
        iterations: u32,
        acceleration: u32,
    ) -> Result<(Vec<Point>, f64), Box<dyn Error>> {
        let Self {
            simulation, steps, ..
        } = self;
        simulation.set_state(&steps[step].before);
        simulation.set_params(&Params {
            iterations,
            acceleration,
            ..way()
        })?;
        let start = Instant::now();
        simulation.step(&steps[step].base);
        let ms = start.elapsed().as_secs_f64() * 1e3;
        Ok((simulation.positions().to_vec(), ms))
    }

    fn curve(&mut self, memory: u32) -> Result<Curve, Box<dyn Error>> {
        let mut curve = Curve {
            memory,
            errors: Vec::new(),
            times_ms: Vec::new(),
        };
        for iterations in ITERATIONS {
            let (mut log_error, mut time_ms) = (0.0, 0.0);
            for step in 0..self.steps.len() {
                let (positions, mut best_ms) = self.step(step, iterations, memory)?;
                for _ in 1..REPETITIONS {
                    best_ms = self.step(step, iterations, memory)?.1.min(best_ms);
                }
                let converged = &self.steps[step].converged;
                let distances = positions.iter().zip(converged).map(|(a, b)| (a - b).norm());
                let error = distances.fold(0.0, f32::max) / self.subject.size;
                log_error += f64::from(error).max(1e-9).ln();
                time_ms += best_ms;
            }
            let steps = self.steps.len() as f64;
            curve.errors.push((log_error / steps).exp());
            curve.times_ms.push(time_ms / steps);
        }
        Ok(curve)
    }
}

/// Errors of every memory, and what it takes to be as exact as ten plain iterations.
fn print_table(subject: &Subject, curves: &[Curve]) {
    println!(
        "{}: distance to the converged step, parts of the size (ms)",
        subject.character.name
    );
    let names = curves.iter().map(|curve| format!("{:>20}", name(curve)));
    println!("iterations {}", names.collect::<String>());
    for (row, iterations) in ITERATIONS.iter().enumerate() {
        let cells = curves.iter().map(|curve| {
            format!(
                "   {:9.2e} ({:5.2})",
                curve.errors[row], curve.times_ms[row]
            )
        });
        println!("{iterations:10} {}", cells.collect::<String>());
    }
    let ten = ITERATIONS
        .iter()
        .position(|&iterations| iterations == 10)
        .unwrap_or(0);
    for curve in curves {
        if let Some(row) = curve
            .errors
            .iter()
            .position(|&error| error <= curves[0].errors[ten])
        {
            println!(
                "{:>10}: as exact as ten plain iterations after {}, {:.2} ms",
                name(curve),
                ITERATIONS[row],
                curve.times_ms[row]
            );
        }
    }
}

fn name(curve: &Curve) -> String {
    if curve.memory == 0 {
        "plain".to_owned()
    } else {
        format!("Anderson {}", curve.memory)
    }
}

/// Draws the errors, as their decimal logarithms, against the numbers of iterations or the times.
fn draw(
    path: &Path,
    title: &str,
    against: &str,
    curves: &[Curve],
    x: fn(&Curve) -> Vec<f64>,
) -> Result<(), Box<dyn Error>> {
    let drawn = curves.iter().enumerate().map(|(style, curve)| {
        let errors = curve.errors.iter().map(|error| Some(error.log10()));
        let mut points: Vec<(f64, Option<f64>)> = x(curve).into_iter().zip(errors).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let label = name(curve);
        ChartCurve {
            label,
            style,
            points,
        }
    });
    let axis = |label: &str| Axis {
        label: label.to_owned(),
    };
    let chart = Chart {
        title: format!("{title}: distance to the converged step"),
        x: axis(against),
        y: axis("log10 of the largest distance, parts of the size"),
        curves: drawn.collect(),
    };
    std::fs::write(path, charts_png(&[chart], [500, 320], 2)?)?;
    Ok(())
}
