//! What solving the global step costs and how exact it is, for each way that the graphics card has: forms of the inverse with their bytes,
//! passes and set-up times, and conjugate gradients with so many iterations or to a tolerance, all by their twins on the processor.
//!
//! `cargo run --release --example global_solvers -- [--vertices N] [FILE, several joined by commas, or builtin:NAME…]`

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use nalgebra::{Matrix3, Vector3};
use rayon::prelude::*;
use sinew::character::SimVertices;
use sinew::dynamics::{EquationChain, Equations, Params, Preset, Simulation, State};
use sinew::gpu::flesh::solve::{GlobalSolver, Limits};
use sinew::math::{Point, Quat, Vec64};
use sinew::methods::Subject;
use sinew::numerics::{HybridMatrix, InverseFactors, InversePlan};
use sinew::progress::Progress;
use sinew::session::{Source, open, set_rotation_from_rest};
use sinew::tissue::{BaseFrame, CornerKind};

/// Iterations of conjugate gradients.
const ITERATIONS: [usize; 7] = [5, 10, 15, 20, 30, 40, 60];
const TOLERANCES: [f32; 5] = [1e-1, 3e-2, 1e-2, 1e-3, 1e-4];
/// Local/global iterations of a step.
const STEP: usize = 10;
/// Steps that are looked into; in the last one all joints jump.
const LOOKED_INTO: [usize; 2] = [14, 26];
/// Budget for an inverse.
const BYTES: usize = 512 << 20;
/// Larger systems are planned and factored, but no step is made of them.
const MOST_ROWS: usize = 20_000;

type Rows = Vec<[f32; 3]>;
type Vector = Vector3<f64>;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut vertices, mut sources) = (None, Vec::new());
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--vertices" {
            vertices = Some(
                words
                    .next()
                    .ok_or("--vertices needs a number")?
                    .parse::<usize>()?,
            );
        } else {
            sources.push(Source::of_files(
                word.split(',').map(PathBuf::from).collect(),
            ));
        }
    }
    if sources.is_empty() {
        sources = ["mannequin", "arm", "gecko"].map(Source::builtin).to_vec();
    }
    for source in sources {
        let mut subject = open(&source, &Progress::new())?;
        if let Some(wanted) = vertices {
            let mut character = (*subject.character).clone();
            character.flesh.sim_vertices = SimVertices::About(wanted);
            subject = Arc::new(Subject::build(Arc::new(character), &Progress::new())?);
        }
        report(&subject)?;
    }
    Ok(())
}

fn report(subject: &Subject) -> Result<(), Box<dyn Error>> {
    let scene = Scene::new(subject)?;
    let equations = &scene.equations;
    let rows = equations.inertia.len();
    let matrix = HybridMatrix::of(&equations.matrix);
    println!(
        "\n## {}: {rows} rows, {} entries",
        subject.character.name,
        equations.matrix.columns.len()
    );
    println!(
        "ELL width {}, CRS {} entries, {:.2} MB",
        matrix.width,
        matrix.crs.len(),
        matrix.bytes() as f64 / 1e6
    );
    println!(
        "{}",
        GlobalSolver::choose(equations, Limits { bytes: BYTES }).reason
    );
    let start = Instant::now();
    let plans = InversePlan::all(&equations.matrix, &equations.eliminations)?;
    println!(
        "planned in {:.0} ms\n\n| subtrees | top | passes | MB | µs estimated |\n|---|---|---|---|---|",
        start.elapsed().as_secs_f64() * 1e3
    );
    for plan in &plans {
        println!(
            "| {} | {} | {} | {:.1} | {:.1} |",
            plan.threshold,
            plan.top,
            plan.passes,
            plan.bytes as f64 / 1e6,
            plan.micros
        );
    }
    let best = InversePlan::best(&equations.matrix, &equations.eliminations, BYTES)?;
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let start = Instant::now();
    let inverse =
        alone.install(|| InverseFactors::of(&equations.matrix, &equations.eliminations, &best))?;
    let one_ms = start.elapsed().as_secs_f64() * 1e3;
    let start = Instant::now();
    let again = InverseFactors::of(&equations.matrix, &equations.eliminations, &best)?;
    println!(
        "\nbest: {best:?}\nset-up {one_ms:.0} ms on one thread, {:.0} ms on all",
        start.elapsed().as_secs_f64() * 1e3
    );
    let b: Rows = (0..rows)
        .map(|row| [0.1, 1.3, 2.9].map(|f: f32| (f * row as f32).sin()))
        .collect();
    println!(
        "residual of the inverse {:.1e}, the same on all threads: {}",
        residual(equations, &again.solve(&b), &b),
        again == inverse
    );
    if rows <= MOST_ROWS {
        scene.accuracy(&inverse, &matrix);
    }
    Ok(())
}

/// ‖b − A x‖ / ‖b‖ in `f64`.
fn residual(equations: &Equations, x: &[[f32; 3]], b: &[[f32; 3]]) -> f64 {
    let whole: f64 = b.iter().flatten().map(|b| f64::from(*b).powi(2)).sum();
    let left = difference(equations, x, b);
    (left.iter().map(Vector::norm_squared).sum::<f64>() / whole).sqrt()
}

/// b − A x.
fn difference(equations: &Equations, x: &[[f32; 3]], b: &[[f32; 3]]) -> Vec<Vector> {
    let matrix = &equations.matrix;
    let wide = |v: [f32; 3]| Vector::from(v.map(f64::from));
    (0..b.len())
        .map(|row| {
            let entries = matrix.starts[row] as usize..matrix.starts[row + 1] as usize;
            wide(b[row])
                - entries
                    .map(|k| matrix.values[k] * wide(x[matrix.columns[k] as usize]))
                    .sum::<Vector>()
        })
        .collect()
}

/// States before the steps that are looked into, and their bases.
struct Scene {
    equations: Equations,
    steps: Vec<(State, Vec<Point>)>,
    size: f64,
}

impl Scene {
    fn new(subject: &Subject) -> Result<Self, Box<dyn Error>> {
        let flesh = subject.flesh()?;
        let skeleton = &subject.character.skeleton;
        let params = Params {
            acceleration: 0,
            ..Preset::Natural.params()
        };
        let skin = subject.sim().mesh.positions.clone();
        let mut simulation = Simulation::new(
            flesh.system.clone(),
            &params,
            skin,
            flesh.tissue.anchors.at_rest(),
            subject.size,
        )?;
        let (mut frame, mut steps) = (BaseFrame::default(), Vec::new());
        for step in 0..=LOOKED_INTO[1] {
            let mut pose = skeleton.rest_pose();
            let amount = if step == LOOKED_INTO[1] { 0.9 } else { 0.3 };
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
            if LOOKED_INTO.contains(&step) {
                steps.push((simulation.state(), base.clone()));
            }
            simulation.step(&base);
        }
        Ok(Self {
            equations: simulation.equations(),
            steps,
            size: f64::from(subject.size),
        })
    }

    /// Positions after a step whose global steps are solved by this, from b and the last increment.
    fn step(&self, index: usize, mut solve: impl FnMut(&Rows, &Rows) -> Rows) -> Vec<Vector> {
        let (state, base) = &self.steps[index];
        let equations = &self.equations;
        let base: Vec<Vector> = base.iter().map(|p| p.coords.cast()).collect();
        let by_row = |of: &dyn Fn(usize) -> Vector| {
            equations
                .vertex_of_row
                .iter()
                .map(|&v| of(v as usize))
                .collect::<Vec<_>>()
        };
        let mut x = by_row(&|v| state.position[v].coords.cast());
        let mut target = by_row(&|v| {
            (state.position[v].coords + equations.step_secs * state.velocity[v]).cast()
        });
        for &[row, place] in &equations.carried {
            (x[row as usize], target[row as usize]) = (base[place as usize], base[place as usize]);
        }
        let mut increment = vec![[0.0; 3]; x.len()];
        for _ in 0..STEP {
            let b = self.pull(&x, &target, &base);
            increment = solve(&b, &increment);
            for (x, d) in x.iter_mut().zip(&increment) {
                *x += Vector::from(d.map(f64::from));
            }
        }
        x
    }

    /// M/h² (y − x) + Qᵀ W (R − F).
    fn pull(&self, x: &[Vector], target: &[Vector], base: &[Vector]) -> Rows {
        let equations = &self.equations;
        let mut b: Vec<Vector> = (0..x.len())
            .map(|row| f64::from(equations.inertia[row]) * (target[row] - x[row]))
            .collect();
        let pulls: Vec<[Vector; 6]> = equations
            .chains
            .par_iter()
            .map(|chain| pull_of(chain, x, base))
            .collect();
        for (chain, pulls) in equations.chains.iter().zip(pulls) {
            for (point, row) in chain.rows() {
                b[row as usize] += pulls[point];
            }
        }
        for &[row, _] in &equations.carried {
            b[row as usize] = Vector::zeros();
        }
        b.iter()
            .map(|b| [b.x as f32, b.y as f32, b.z as f32])
            .collect()
    }

    fn farthest(&self, a: &[Vector], b: &[Vector]) -> f64 {
        a.iter()
            .zip(b)
            .map(|(a, b)| (a - b).norm())
            .fold(0.0, f64::max)
            / self.size
    }

    fn accuracy(&self, inverse: &InverseFactors, matrix: &HybridMatrix) {
        let exact: Vec<Vec<Vector>> = (0..self.steps.len())
            .map(|step| self.step(step, |b, _| inverse.solve(b)))
            .collect();
        let worst = |solve: &mut dyn FnMut(&Rows, &Rows) -> Rows| -> Vec<f64> {
            (0..exact.len())
                .map(|step| self.farthest(&self.step(step, &mut *solve), &exact[step]))
                .collect()
        };
        let from = |start: &Rows, b: &Rows, iterations: usize, tolerance: f32| {
            let mut x = start.clone();
            let done = matrix.gradients(b, &mut x, iterations, tolerance);
            (x, done)
        };
        println!(
            "\nerrors of a step of {STEP} iterations, parts of the size: in motion, and when all joints jump"
        );
        println!("\n| iterations | error | error, warm |\n|---|---|---|");
        for iterations in ITERATIONS {
            let cold = worst(&mut |b, _| from(&vec![[0.0; 3]; b.len()], b, iterations, 0.0).0);
            let warm = worst(&mut |b, last| from(last, b, iterations, 0.0).0);
            println!(
                "| {iterations} | {:.1e}, {:.1e} | {:.1e}, {:.1e} |",
                cold[0], cold[1], warm[0], warm[1]
            );
        }
        println!("\n| tolerance | error, warm | mean iterations |\n|---|---|---|");
        for tolerance in TOLERANCES {
            let mut done = 0;
            let errors = worst(&mut |b, last| {
                let (x, iterations) = from(last, b, 300, tolerance);
                done += iterations;
                x
            });
            println!(
                "| {tolerance:.0e} | {:.1e}, {:.1e} | {:.1} |",
                errors[0],
                errors[1],
                done as f64 / (STEP * self.steps.len()) as f64
            );
        }
    }
}

/// What the tets of a chain pull its points with.
fn pull_of(elements: &EquationChain, x: &[Vector], base: &[Vector]) -> [Vector; 6] {
    let chain = elements.corners.map(|corner| match corner.kind() {
        CornerKind::Unknown(row) => x[row as usize],
        CornerKind::Prescribed(point) => base[point as usize],
    });
    let mut pulls = [Vector::zeros(); 6];
    for tet in 0..3 {
        let weight = f64::from(elements.weights[tet]);
        if weight == 0.0 {
            continue;
        }
        let inverse = Matrix3::from_column_slice(&elements.rest_inverse[tet].map(f64::from));
        let edges = Matrix3::from_columns(&[0, 1, 2].map(|k| chain[tet + k + 1] - chain[tet + k]));
        let strain = edges * inverse;
        let stress = weight * (rotation(&strain) - strain) * inverse.transpose();
        for k in 0..3 {
            pulls[tet + k + 1] += stress.column(k);
            pulls[tet + k] -= stress.column(k);
        }
    }
    pulls
}

/// The rotation closest to F: Newton's iteration, or singular values where F is inverted or flat.
fn rotation(f: &Matrix3<f64>) -> Matrix3<f64> {
    let mut x = *f;
    for _ in 0..30 {
        let Some(inverse) = x.try_inverse().filter(|_| x.determinant() > 1e-6) else {
            break;
        };
        let next = 0.5 * (x + inverse.transpose());
        if (next - x).norm() < 1e-12 {
            return next;
        }
        x = next;
    }
    let svd = f.svd(true, true);
    let (Some(u), Some(v_t)) = (svd.u, svd.v_t) else {
        return Matrix3::identity();
    };
    let sign = (u * v_t).determinant().signum();
    u * Matrix3::from_diagonal(&Vector::new(1.0, 1.0, sign)) * v_t
}
