//! Moving least squares: weights once, positions and normals every frame, on the mannequin and on its 16-fold subdivision.

use std::collections::HashMap;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sinew::mesh::TriMesh;
use sinew::mesh::decimate::{Decimation, decimate};
use sinew::progress::Progress;
use sinew::session::{Source, open};
use sinew::upsample::{Directions, Upsampling, UpsamplingKind, UpsamplingSettings};

/// Every triangle in four.
fn subdivided(mesh: &TriMesh) -> TriMesh {
    let mut fine = TriMesh {
        positions: mesh.positions.clone(),
        triangles: Vec::with_capacity(4 * mesh.triangles.len()),
    };
    let mut between: HashMap<[u32; 2], u32> = HashMap::new();
    for &[a, b, c] in &mesh.triangles {
        let mut middle = |v: u32, w: u32| {
            *between.entry([v.min(w), v.max(w)]).or_insert_with(|| {
                fine.positions.push(nalgebra::center(
                    &mesh.positions[v as usize],
                    &mesh.positions[w as usize],
                ));
                fine.positions.len() as u32 - 1
            })
        };
        let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
        fine.triangles
            .extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
    }
    fine
}

fn upsampling(criterion: &mut Criterion) {
    let progress = Progress::new();
    let subject = open(&Source::builtin("mannequin"), &progress).expect("it is built in");
    let skin = subject.skin.mesh.clone();
    let finer = subdivided(&subdivided(&skin));
    let mut group = criterion.benchmark_group("upsampling");
    group.sample_size(10);
    for fine in [skin, finer] {
        let coarse = decimate(&fine, &Decimation::default(), &progress)
            .expect("not cancelled")
            .mesh;
        let vertices = fine.positions.len();
        group.throughput(Throughput::Elements(vertices as u64));
        for (name, kind) in [
            ("least squares", UpsamplingKind::MovingLeastSquares),
            ("displacement", UpsamplingKind::NormalDisplacement),
        ] {
            let id = |stage: &str| {
                BenchmarkId::new(
                    stage,
                    format!("{name}, {vertices} vertices on {}", coarse.positions.len()),
                )
            };
            let settings = UpsamplingSettings {
                kind,
                ..UpsamplingSettings::default()
            };
            group.bench_function(id("weights"), |bencher| {
                bencher.iter(|| {
                    black_box(Upsampling::build(&fine, &coarse, &settings, &progress)).is_ok()
                });
            });
            let upsampling =
                Upsampling::build(&fine, &coarse, &settings, &progress).expect("not cancelled");
            let (mut frames, mut positions, mut normals) = (
                upsampling.frames(),
                fine.positions.clone(),
                fine.vertex_normals(),
            );
            upsampling.positions_into(&coarse.positions, &mut frames, &mut positions);
            let every: Vec<Option<u32>> = (0..vertices as u32).map(Some).collect();
            let directions = Directions::normals(&frames, &every, &normals);
            group.bench_function(id("positions"), |bencher| {
                bencher.iter(|| {
                    upsampling.positions_into(
                        black_box(&coarse.positions),
                        &mut frames,
                        &mut positions,
                    );
                });
            });
            group.bench_function(id("normals"), |bencher| {
                bencher.iter(|| directions.directions_into(black_box(&frames), &mut normals));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, upsampling);
criterion_main!(benches);
