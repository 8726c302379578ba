//! One frame of every method on the built-in cylinder; one simulation step, and its number of iterations, by size of the character; and
//! what contacts add.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sinew::dynamics::{Collisions, Params, Preset, Simulation};
use sinew::math::{Affine, Point};
use sinew::methods::{Actor, Capability, Frame, MethodId, Subject, registry};
use sinew::progress::Progress;
use sinew::session::{Source, open};
use sinew::tissue::BaseFrame;

/// A second of the first clip: poses are made outside the measurement.
fn poses(subject: &Subject) -> Vec<Vec<Affine>> {
    let skeleton = &subject.character.skeleton;
    let clip = &subject.character.clips[0];
    let time_secs = |frame: i32| (f64::from(frame) / 60.0).rem_euclid(clip.duration_secs);
    (0..60)
        .map(|frame| skeleton.world_from_joint(&clip.sample(skeleton, time_secs(frame))))
        .collect()
}

fn frame(criterion: &mut Criterion) {
    let subject =
        open(&Source::builtin("cylinder"), &Progress::new()).expect("the cylinder is built in");
    let poses = poses(&subject);
    let mut group = criterion.benchmark_group("frame");
    let methods = registry().into_iter();
    for method in methods.filter(|method| !method.has(Capability::Offline)) {
        bench_frames(
            &mut group,
            method.id(),
            &subject,
            method,
            &Params::default(),
            &poses,
        );
    }
    group.finish();
}

/// The same frames without and with contacts, of characters that touch themselves.
fn contacts(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("frame with contacts");
    for name in ["gecko", "mannequin"] {
        let subject = open(&Source::builtin(name), &Progress::new()).expect("it is built in");
        let poses = poses(&subject);
        for collisions in Collisions::ALL {
            let params = Params {
                collisions,
                ..Params::default()
            };
            bench_frames(
                &mut group,
                &format!("{name} {}", collisions.id()),
                &subject,
                MethodId::PD,
                &params,
                &poses,
            );
        }
    }
    group.finish();
}

type Group<'a> = criterion::BenchmarkGroup<'a, criterion::measurement::WallTime>;

fn bench_frames(
    group: &mut Group<'_>,
    id: &str,
    subject: &std::sync::Arc<Subject>,
    method: MethodId,
    params: &Params,
    poses: &[Vec<Affine>],
) {
    let mut actor =
        Actor::bind(subject, method, params, &Progress::new()).expect("every method works on it");
    let mut frame = 0;
    group.bench_function(id, |bencher| {
        bencher.iter(|| {
            frame = (frame + 1) % poses.len();
            actor
                .advance(&Frame {
                    world_from_joint: &poses[frame],
                    dt_secs: params.time_step_secs,
                })
                .expect("finite");
            black_box(actor.positions());
        });
    });
}

/// A step of ten iterations, plain and accelerated, and one of a single iteration: what is left is the price of a step without any.
fn step(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("step");
    for name in ["cylinder", "arm", "gecko", "mannequin"] {
        let subject = open(&Source::builtin(name), &Progress::new()).expect("it is built in");
        let Ok(flesh) = subject.flesh() else {
            continue;
        };
        let (mut base_frame, anchors) = (BaseFrame::default(), &flesh.tissue.anchors);
        let bases: Vec<Vec<Point>> = poses(&subject)
            .iter()
            .map(|world| {
                let mut base = vec![Point::origin(); anchors.len()];
                anchors.place(world, &mut base_frame, &mut base);
                base
            })
            .collect();
        let vertices = subject.sim().mesh.positions.len();
        group.throughput(Throughput::Elements(vertices as u64));
        for (kind, iterations, acceleration) in [
            ("10 iterations", 10, 0),
            ("10 accelerated", 10, 2),
            ("1 iteration", 1, 0),
        ] {
            let params = Params {
                iterations,
                acceleration,
                ..Preset::Natural.params()
            };
            let skin = subject.sim().mesh.positions.clone();
            let mut simulation = Simulation::new(
                flesh.system.clone(),
                &params,
                skin,
                bases[0].clone(),
                subject.size,
            )
            .expect("factors");
            let mut frame = 0;
            group.bench_function(
                BenchmarkId::new(kind, format!("{name}, {vertices} vertices")),
                |bencher| {
                    bencher.iter(|| {
                        frame = (frame + 1) % bases.len();
                        black_box(simulation.step(&bases[frame]));
                    });
                },
            );
        }
    }
    group.finish();
}

criterion_group!(benches, frame, step, contacts);
criterion_main!(benches);
