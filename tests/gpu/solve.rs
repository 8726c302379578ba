//! Theorems about the global step on the graphics card, on systems of built-in characters.

use std::sync::Arc;

use crate::common::on_bones::on_bones;
use crate::common::on_device;
use sinew::dynamics::{Equations, Preset, Simulation};
use sinew::gpu::GpuContext;
use sinew::gpu::compute::{Dispatch, fetch, storage, storage_of};
use sinew::gpu::flesh::solve::{GlobalSolver, Kind, Limits, SolveProgress, Tolerance, row_stride};
use sinew::methods::Subject;
use sinew::numerics::{
    Elimination, FactorError, HybridMatrix, InverseError, InverseFactors, InversePlan, RowMatrix,
};
use sinew::progress::Progress as StepStatistics;

/// The equations of a built-in character.
fn equations(name: &str) -> Equations {
    let character = sinew::io::builtin::load_builtin(name).expect("built in");
    let subject = Arc::new(
        Subject::build(Arc::new(on_bones(character)), &StepStatistics::new()).expect("builds"),
    );
    let flesh = subject.flesh().expect("has flesh");
    let position = subject.sim().mesh.positions.clone();
    let params = Preset::Natural.params();
    Simulation::new(
        flesh.system.clone(),
        &params,
        position,
        flesh.tissue.anchors.at_rest(),
        subject.size,
    )
    .expect("factors")
    .equations()
}

fn inverse_of(equations: &Equations, plan: &InversePlan) -> Result<InverseFactors, FactorError> {
    InverseFactors::of(&equations.matrix, &equations.eliminations, plan)
}

/// Any matrix as the equations of nothing else; all rows are eliminated together.
fn only(matrix: RowMatrix) -> Equations {
    let rows = matrix.starts.len() as u32 - 1;
    let mut equations = equations("cylinder");
    equations.eliminations = (rows > 0)
        .then_some(Elimination {
            first: 0,
            count: rows,
            below: Vec::new(),
        })
        .into_iter()
        .collect();
    equations.matrix = matrix;
    equations
}

type Rows = Vec<[f32; 3]>;

/// Numbers between -1 and 1 that look random.
fn noise(count: usize, seed: u64) -> Rows {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| [next(), next(), next()]).collect()
}

fn run(gpu: &GpuContext, dispatches: &[Dispatch]) {
    let mut encoder = gpu
        .device
        .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        for dispatch in dispatches {
            dispatch.encode(&mut pass);
        }
    }
    gpu.queue.submit([encoder.finish()]);
}

/// Solves for several instances at once, submitted `times` times.
fn solved(
    gpu: &GpuContext,
    solver: &GlobalSolver,
    b: &[Rows],
    times: usize,
) -> (Vec<Rows>, Vec<SolveProgress>) {
    let rows = b[0].len();
    let stride = row_stride(rows);
    let mut padded = vec![[0.0_f32; 4]; stride * b.len()];
    for (instance, b) in b.iter().enumerate() {
        for (row, &[x, y, z]) in b.iter().enumerate() {
            padded[instance * stride + row] = [x, y, z, 0.0];
        }
    }
    let right = storage_of(gpu, "b", &padded);
    // What was there before must not matter.
    let increment = storage_of(gpu, "increment", &vec![[7.0_f32; 4]; padded.len()]);
    let bound = solver.on(gpu, b.len(), &right, &increment);
    for _ in 0..times {
        run(gpu, bound.dispatches());
    }
    let all: Vec<[f32; 4]> = fetch(gpu, &increment, padded.len()).expect("reads back");
    let of = |instance: usize| {
        all[instance * stride..][..rows]
            .iter()
            .map(|&[x, y, z, _]| [x, y, z])
            .collect()
    };
    (
        (0..b.len()).map(of).collect(),
        bound.progress(gpu).expect("reads back"),
    )
}

/// ‖b − A x‖ / ‖b‖ in f64.
fn residual(matrix: &RowMatrix, x: &[[f32; 3]], b: &[[f32; 3]]) -> f64 {
    let (mut missing, mut whole) = (0.0, 0.0);
    for (row, b) in b.iter().enumerate() {
        let entries = matrix.starts[row] as usize..matrix.starts[row + 1] as usize;
        for (c, &b) in b.iter().enumerate() {
            let product: f64 = entries
                .clone()
                .map(|k| matrix.values[k] * f64::from(x[matrix.columns[k] as usize][c]))
                .sum();
            missing += (f64::from(b) - product).powi(2);
            whole += f64::from(b).powi(2);
        }
    }
    (missing / whole).sqrt()
}

fn farthest(a: &[[f32; 3]], b: &[[f32; 3]]) -> f32 {
    a.iter()
        .zip(b)
        .flat_map(|(a, b)| (0..3).map(|c| (a[c] - b[c]).abs()))
        .max_by(f32::total_cmp)
        .unwrap_or_default()
}

const TIGHT: Tolerance = Tolerance {
    iterations: 400,
    residual: 1e-6,
};

#[test]
fn gradients_reach_their_tolerance_and_agree_with_the_cpu() {
    let Some(gpu) = on_device::own() else { return };
    for name in ["cylinder", "arm"] {
        let equations = equations(name);
        let b = noise(equations.inertia.len(), 1);
        let solver = GlobalSolver::gradients(&gpu, &equations, TIGHT).expect("fits");
        let (x, progress) = solved(&gpu, &solver, std::slice::from_ref(&b), 1);
        assert!(
            progress[0].converged && progress[0].residual <= TIGHT.residual,
            "{name}: {progress:?}"
        );
        let left = residual(&equations.matrix, &x[0], &b);
        assert!(left < 2e-5, "{name}: residual {left}");
        let mut twin = vec![[0.0; 3]; b.len()];
        let iterations =
            HybridMatrix::of(&equations.matrix).gradients(&b, &mut twin, 400, TIGHT.residual);
        assert!(
            iterations.abs_diff(progress[0].iterations as usize) <= 2,
            "{name}: {iterations} {progress:?}"
        );
        let scale = twin
            .iter()
            .flatten()
            .fold(0.0_f32, |most, x| most.max(x.abs()));
        assert!(
            farthest(&x[0], &twin) < 1e-4 * scale,
            "{name}: {} of {scale}",
            farthest(&x[0], &twin)
        );
    }
}

#[test]
fn converged_gradients_do_not_change() {
    let Some(gpu) = on_device::own() else { return };
    let equations = equations("cylinder");
    let b = noise(equations.inertia.len(), 2);
    let solve = |iterations| {
        let solver = GlobalSolver::gradients(
            &gpu,
            &equations,
            Tolerance {
                iterations,
                residual: 1e-2,
            },
        )
        .expect("fits");
        solved(&gpu, &solver, std::slice::from_ref(&b), 1)
    };
    let (long, progress) = solve(200);
    assert!(
        progress[0].converged && (2..150).contains(&progress[0].iterations),
        "{progress:?}"
    );
    let (longer, same) = solve(331);
    assert!(long == longer && progress == same, "{progress:?} {same:?}");
    // Cut off before, it did as many as it may.
    let short = progress[0].iterations / 2;
    let (_, cut) = solve(short);
    assert!(!cut[0].converged && cut[0].iterations == short, "{cut:?}");
}

/// As exact as `f32` allows.
fn tight(gpu: &GpuContext, equations: &Equations, kind: Kind) -> GlobalSolver {
    let solver = match kind {
        Kind::Gradients => GlobalSolver::gradients(gpu, equations, TIGHT),
        kind => GlobalSolver::new(gpu, equations, kind),
    };
    solver.expect("fits")
}

const KINDS: [Kind; 2] = [Kind::Gradients, Kind::Inverse];

#[test]
fn instances_are_independent() {
    let Some(gpu) = on_device::own() else { return };
    let equations = equations("cylinder");
    let rows = equations.inertia.len();
    // Of different sizes, so that they need different numbers of iterations; one is nothing.
    let mut b: Vec<Rows> = (0..6).map(|seed| noise(rows, 10 + seed)).collect();
    b[1][rows / 2..].fill([0.0; 3]);
    b[2].fill([0.0; 3]);
    for kind in KINDS {
        let solver = GlobalSolver::new(&gpu, &equations, kind).expect("fits");
        let (together, _) = solved(&gpu, &solver, &b, 1);
        for (instance, b) in b.iter().enumerate() {
            let (alone, _) = solved(&gpu, &solver, std::slice::from_ref(b), 1);
            assert!(
                alone[0] == together[instance],
                "{kind:?}, instance {instance}"
            );
        }
        assert!(together[2].iter().flatten().all(|&x| x == 0.0), "{kind:?}");
    }
}

#[test]
fn solves_are_deterministic() {
    let Some(gpu) = on_device::own() else { return };
    let equations = equations("cylinder");
    let b = [noise(equations.inertia.len(), 3)];
    for kind in KINDS {
        let first = GlobalSolver::new(&gpu, &equations, kind).expect("fits");
        let second = GlobalSolver::new(&gpu, &equations, kind).expect("fits");
        let (once, _) = solved(&gpu, &first, &b, 1);
        assert!(
            once == solved(&gpu, &first, &b, 3).0 && once == solved(&gpu, &second, &b, 1).0,
            "{kind:?}"
        );
    }
}

/// A chain of `rows` springs, held at every row a little.
fn chain(rows: usize) -> RowMatrix {
    let mut matrix = RowMatrix {
        starts: vec![0],
        columns: Vec::new(),
        values: Vec::new(),
    };
    for row in 0..rows {
        let neighbours: Vec<usize> = [row.wrapping_sub(1), row + 1]
            .into_iter()
            .filter(|&k| k < rows)
            .collect();
        let entries = [(row, 0.25 + neighbours.len() as f64)]
            .into_iter()
            .chain(neighbours.iter().map(|&k| (k, -1.0)));
        for (column, value) in entries {
            matrix.columns.push(column as u32);
            matrix.values.push(value);
        }
        matrix.starts.push(matrix.columns.len() as u32);
    }
    matrix
}

#[test]
fn any_number_of_rows_is_solved() {
    let Some(gpu) = on_device::own() else { return };
    for rows in [1, 2, 15, 16, 17, 64, 65, 127, 128, 129, 300] {
        let equations = only(chain(rows));
        let b = noise(rows, rows as u64);
        for kind in KINDS {
            let (x, _) = solved(
                &gpu,
                &tight(&gpu, &equations, kind),
                &[b.clone(), b.clone()],
                1,
            );
            for x in &x {
                let left = residual(&equations.matrix, x, &b);
                assert!(left < 1e-5, "{rows} rows, {kind:?}: {left}");
            }
        }
    }
}

/// Rows that are coupled with nothing, among others; a hard one among them.
#[test]
fn uncoupled_rows_are_solved() {
    let Some(gpu) = on_device::own() else { return };
    let mut matrix = chain(40);
    for (place, stiffness) in [(0, 1e5), (1, 1e-3)] {
        matrix.columns.push(40 + place);
        matrix.values.push(stiffness);
        matrix.starts.push(matrix.columns.len() as u32);
    }
    let equations = only(matrix);
    let b = noise(42, 4);
    for kind in KINDS {
        let (x, _) = solved(
            &gpu,
            &tight(&gpu, &equations, kind),
            std::slice::from_ref(&b),
            1,
        );
        assert!(residual(&equations.matrix, &x[0], &b) < 1e-4, "{kind:?}");
    }
}

#[test]
fn an_empty_system_needs_no_passes() {
    let Some(gpu) = on_device::own() else { return };
    let equations = only(RowMatrix {
        starts: vec![0],
        columns: Vec::new(),
        values: Vec::new(),
    });
    for kind in KINDS {
        let solver = GlobalSolver::new(&gpu, &equations, kind).expect("fits");
        let (b, increment) = (
            storage::<[f32; 4]>(&gpu, "b", 1),
            storage::<[f32; 4]>(&gpu, "increment", 1),
        );
        let bound = solver.on(&gpu, 1, &b, &increment);
        run(&gpu, bound.dispatches());
        assert_eq!(
            fetch::<[f32; 4]>(&gpu, &increment, 1).expect("reads back"),
            [[0.0; 4]]
        );
    }
}

/// Every form of the inverse, small or large its top, on the card and by the twin.
#[test]
fn every_form_of_the_inverse_is_exact() {
    let Some(gpu) = on_device::own() else { return };
    for name in ["cylinder", "arm"] {
        let equations = equations(name);
        let b: Vec<Rows> = (0..2)
            .map(|seed| noise(equations.inertia.len(), 20 + seed))
            .collect();
        let plans =
            InversePlan::all(&equations.matrix, &equations.eliminations).expect("has a tree");
        let mut passes: Vec<usize> = plans.iter().map(|plan| plan.passes).collect();
        passes.sort_unstable();
        passes.dedup();
        assert_eq!(passes, [1, 2, 3], "{name}");
        for plan in plans.iter().filter(|plan| plan.top < 1000) {
            let inverse = inverse_of(&equations, plan).expect("is positive definite");
            let solver = GlobalSolver::inverse(&gpu, &inverse).expect("fits");
            assert!(
                solver.bytes().abs_diff(plan.bytes) < plan.bytes / 10,
                "{} of {plan:?}",
                solver.bytes()
            );
            let (x, _) = solved(&gpu, &solver, &b, 1);
            for (x, b) in x.iter().zip(&b) {
                let (there, here) = (
                    residual(&equations.matrix, x, b),
                    residual(&equations.matrix, &inverse.solve(b), b),
                );
                assert!(
                    there < 1e-5 && here < 1e-5,
                    "{name}, {plan:?}: {there} {here}"
                );
            }
        }
    }
}

#[test]
fn the_inverse_is_independent_of_threads() {
    let equations = equations("cylinder");
    let plan = InversePlan::all(&equations.matrix, &equations.eliminations).expect("has a tree")[0];
    let of = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool");
        pool.install(|| inverse_of(&equations, &plan).expect("is positive definite"))
    };
    assert!(of(1) == of(3));
}

#[test]
fn singular_systems_are_rejected() {
    let mut equations = only(chain(50));
    let plan = InversePlan::all(&equations.matrix, &equations.eliminations).expect("has a tree")[0];
    equations.matrix.values[0] = -1.0;
    assert!(inverse_of(&equations, &plan).is_err());
    equations.matrix.values[0] = f64::NAN;
    assert!(inverse_of(&equations, &plan).is_err());
    equations.matrix = chain(50);
    // The matrix is coupled where this factor would be empty.
    equations.eliminations = vec![
        Elimination {
            first: 0,
            count: 20,
            below: Vec::new(),
        },
        Elimination {
            first: 20,
            count: 30,
            below: Vec::new(),
        },
    ];
    assert!(inverse_of(&equations, &plan).is_err());
    for broken in [
        Vec::new(),
        vec![Elimination {
            first: 0,
            count: 49,
            below: Vec::new(),
        }],
        vec![Elimination {
            first: 0,
            count: 50,
            below: vec![3],
        }],
    ] {
        equations.eliminations = broken;
        assert!(InversePlan::all(&equations.matrix, &equations.eliminations).is_err());
    }
}

#[test]
fn the_solver_is_chosen_by_size_with_a_reason() {
    let equations = equations("cylinder");
    let plan =
        InversePlan::best(&equations.matrix, &equations.eliminations, usize::MAX).expect("fits");
    let choice = GlobalSolver::choose(&equations, Limits { bytes: plan.bytes });
    assert_eq!(choice.kind, Kind::Inverse);
    assert!(choice.reason.contains("exactly"), "{}", choice.reason);
    let choice = GlobalSolver::choose(&equations, Limits { bytes: 1000 });
    assert_eq!(choice.kind, Kind::Gradients);
    assert!(
        choice.reason.contains("more than the 0.0 MB"),
        "{}",
        choice.reason
    );
    assert!(matches!(
        InversePlan::best(&equations.matrix, &equations.eliminations, 1000),
        Err(InverseError::TooLarge { limit: 1000, .. })
    ));
}
