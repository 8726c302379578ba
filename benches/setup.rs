//! From the embedded file to a character ready to move, stage by stage.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use sinew::dynamics::Params;
use sinew::progress::Progress;
use sinew::session::{Source, load};
use sinew::skin::{Actor, Method, Subject};

fn setup(criterion: &mut Criterion) {
    let progress = Progress::new();
    let source = Source::builtin("cylinder");
    let character = Arc::new(load(&source, &progress).expect("the cylinder is built in"));
    let subject = Arc::new(Subject::build(character.clone(), &progress).expect("it has triangles"));
    let mut group = criterion.benchmark_group("setup");
    group.sample_size(20);
    group.bench_function("load", |bencher| bencher.iter(|| black_box(load(&source, &progress))));
    group.bench_function("weld and tissue", |bencher| bencher.iter(|| black_box(Subject::build(character.clone(), &progress)).is_ok()));
    for method in Method::ALL {
        group.bench_function(format!("bind {}", method.id()), |bencher| {
            bencher.iter(|| black_box(Actor::bind(&subject, method, &Params::default(), &progress)).is_ok());
        });
    }
    group.finish();
}

criterion_group!(benches, setup);
criterion_main!(benches);
