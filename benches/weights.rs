//! What weights cost to compute, and frames of the closed-form methods.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sinew::dynamics::Params;
use sinew::methods::{Actor, Capability, Frame, MethodId, Requirement, Subject};
use sinew::progress::Progress;
use sinew::session::{Source, load};
use sinew::weights::{Memo, WeightInput, registry};

/// The mannequin; the character of `SINEW_BENCH_FILE` if that is set.
fn subject() -> Arc<Subject> {
    let progress = Progress::new();
    let source = std::env::var_os("SINEW_BENCH_FILE").map_or_else(
        || Source::builtin("mannequin"),
        |file| Source::of_files(vec![file.into()]),
    );
    let character = Arc::new(load(&source, &progress).expect("it can be read"));
    Arc::new(Subject::build(character, &progress).expect("it has triangles"))
}

fn weights(criterion: &mut Criterion) {
    let (subject, progress) = (subject(), Progress::new());
    let mut group = criterion.benchmark_group("weights");
    group.sample_size(10);
    for method in registry() {
        let Some(compute) = method.descriptor().compute else {
            continue;
        };
        let values = method.values();
        group.bench_function(method.id(), |bencher| {
            bencher.iter(|| {
                let input = WeightInput {
                    mesh: &subject.skin.mesh,
                    skeleton: &subject.character.skeleton,
                    values: &values,
                    // Everything is computed in every run.
                    memo: &Memo::default(),
                };
                black_box(compute(&input, &progress)).is_ok()
            });
        });
    }
    group.finish();
}

/// Whether a frame is computed from the pose alone, within milliseconds.
fn is_closed_form(method: MethodId) -> bool {
    !method.needs(Requirement::Tissue) && !method.has(Capability::Offline)
}

fn frames(criterion: &mut Criterion) {
    let (subject, progress) = (subject(), Progress::new());
    let skeleton = &subject.character.skeleton;
    let mut pose = skeleton.rest_pose();
    for local in &mut pose.locals {
        local.rotation *= sinew::math::Quat::from_euler_angles(0.2, 0.1, -0.1);
    }
    let world = skeleton.world_from_joint(&pose);
    let mut group = criterion.benchmark_group("frame of a closed form");
    group.throughput(Throughput::Elements(subject.bind_positions.len() as u64));
    for method in sinew::methods::registry() {
        if !is_closed_form(method) {
            continue;
        }
        let mut actor = Actor::bind(&subject, method, &Params::default(), &progress)
            .expect("it binds to a character with weights");
        let frame = Frame {
            world_from_joint: &world,
            dt_secs: 0.0,
        };
        group.bench_function(method.id(), |bencher| {
            bencher.iter(|| black_box(actor.advance(&frame)).is_ok());
        });
    }
    group.finish();
}

criterion_group!(benches, weights, frames);
criterion_main!(benches);
