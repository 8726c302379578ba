//! One frame of every method on the built-in cylinder, playing its clip.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use sinew::dynamics::Params;
use sinew::progress::Progress;
use sinew::session::{Source, open};
use sinew::skin::{Actor, Frame, Method};

fn step(criterion: &mut Criterion) {
    let progress = Progress::new();
    let subject = open(&Source::builtin("cylinder"), &progress).expect("the cylinder is built in");
    let params = Params::default();
    let character = &subject.character;
    let clip = &character.clips[0];
    // A second of the clip, over and over: poses are made outside the measurement.
    let dt_secs = params.time_step_secs;
    let poses: Vec<_> =
        (0..60).map(|k| character.skeleton.world_from_joint(&clip.sample(&character.skeleton, f64::from(k) * dt_secs))).collect();
    let mut group = criterion.benchmark_group("step");
    for method in Method::ALL {
        let mut actor = Actor::bind(&subject, method, &params, &progress).expect("every method works on the cylinder");
        let mut frame = 0;
        group.bench_function(method.id(), |bencher| {
            bencher.iter(|| {
                frame = (frame + 1) % poses.len();
                actor.advance(&Frame { world_from_joint: &poses[frame], dt_secs }).expect("finite");
                black_box(actor.positions());
            });
        });
    }
    group.finish();
}

criterion_group!(benches, step);
criterion_main!(benches);
