//! From the embedded file to a character ready to move, stage by stage and by size; and what a change of stiffness costs.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sinew::dynamics::{Params, Preset, System};
use sinew::math::Point;
use sinew::mesh::TriMesh;
use sinew::mesh::decimate::{Decimation, decimate};
use sinew::methods::{Actor, MethodId, Subject, registry};
use sinew::progress::Progress;
use sinew::session::{Source, load};

fn setup(criterion: &mut Criterion) {
    let progress = Progress::new();
    let source = Source::builtin("cylinder");
    let character = Arc::new(load(&source, &progress).expect("the cylinder is built in"));
    let subject = Arc::new(Subject::build(character.clone(), &progress).expect("it has triangles"));
    let mut group = criterion.benchmark_group("setup");
    group.sample_size(20);
    group.bench_function("load", |bencher| {
        bencher.iter(|| black_box(load(&source, &progress)));
    });
    group.bench_function("weld", |bencher| {
        bencher.iter(|| black_box(Subject::build(character.clone(), &progress)).is_ok());
    });
    let with_flesh = || {
        let subject = Subject::build(character.clone(), &progress).ok()?;
        subject.make_flesh(&progress).ok()
    };
    group.bench_function("weld and flesh", |bencher| {
        bencher.iter(|| black_box(with_flesh()));
    });
    for method in registry() {
        group.bench_function(format!("bind {}", method.id()), |bencher| {
            bencher.iter(|| {
                black_box(Actor::bind(&subject, method, &Params::default(), &progress)).is_ok()
            });
        });
    }
    group.finish();
}

fn by_size(criterion: &mut Criterion) {
    let progress = Progress::new();
    let mut group = criterion.benchmark_group("setup by size");
    group.sample_size(10);
    for name in ["cylinder", "arm", "gecko", "mannequin"] {
        let character = Arc::new(load(&Source::builtin(name), &progress).expect("it is built in"));
        let subject =
            Arc::new(Subject::build(character.clone(), &progress).expect("it has triangles"));
        let Ok(flesh) = subject.flesh() else {
            continue;
        };
        let vertices = subject.sim().mesh.positions.len();
        let id = |stage: &str| BenchmarkId::new(stage, format!("{name}, {vertices} vertices"));
        group.throughput(Throughput::Elements(vertices as u64));
        group.bench_function(id("weld, tissue, assemble"), |bencher| {
            bencher.iter(|| {
                let subject = Subject::build(character.clone(), &progress).ok()?;
                black_box(subject.make_flesh(&progress)).ok()
            });
        });
        group.bench_function(id("assemble"), |bencher| {
            let (size, unit) = (f64::from(subject.size), character.metres_per_unit);
            bencher.iter(|| black_box(System::assemble(&flesh.tissue, size, unit)).is_ok());
        });
        let mut actor = Actor::bind(&subject, MethodId::PD, &Params::default(), &progress)
            .expect("it has flesh");
        let mut presets = [Preset::Soft, Preset::Firm].into_iter().cycle();
        group.bench_function(id("change the stiffness"), |bencher| {
            bencher.iter(|| {
                presets
                    .next()
                    .is_some_and(|preset| actor.set_params(&preset.params()).is_ok())
            });
        });
    }
    group.finish();
}

fn decimation(criterion: &mut Criterion) {
    let progress = Progress::new();
    let mut group = criterion.benchmark_group("decimate to 4000");
    group.sample_size(10);
    for rows in [82, 316] {
        let mesh = bumpy_ball(rows);
        let vertices = mesh.positions.len();
        group.throughput(Throughput::Elements(vertices as u64));
        group.bench_function(
            BenchmarkId::from_parameter(format!("{vertices} vertices")),
            |bencher| {
                bencher
                    .iter(|| black_box(decimate(&mesh, &Decimation::default(), &progress)).is_ok());
            },
        );
    }
    group.finish();
}

/// `2 rows² + rows` vertices or so on a closed surface.
fn bumpy_ball(rows: u32) -> TriMesh {
    let columns = 2 * rows;
    let mut mesh = TriMesh::default();
    for row in 0..rows {
        for column in 0..columns {
            let polar = (row as f32 + 0.5) / rows as f32 * std::f32::consts::PI;
            let turn = column as f32 / columns as f32 * std::f32::consts::TAU;
            let radius =
                1.0 + 0.2 * polar.sin() * ((5.0 * polar).sin() + (7.0 * turn).cos() * polar.sin());
            let direction = Point::new(
                polar.sin() * turn.cos(),
                polar.cos(),
                -polar.sin() * turn.sin(),
            );
            mesh.positions.push(direction * radius);
            let next = (column + 1) % columns;
            if row + 1 < rows {
                let [a, b, c, d] = [
                    row * columns + column,
                    (row + 1) * columns + column,
                    (row + 1) * columns + next,
                    row * columns + next,
                ];
                mesh.triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
    }
    mesh
}

criterion_group!(benches, setup, by_size, decimation);
criterion_main!(benches);
