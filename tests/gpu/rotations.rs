//! The device's closest rotations against singular values in `f64`.

use nalgebra::{Matrix3, Vector3};
use rayon::prelude::*;
use sinew::gpu::compute::{Kernel, fetch, storage, storage_of, workgroups};
use sinew::gpu::{GpuContext, shader};
use sinew::math::closest_rotation;

use crate::common::on_device;
use crate::common::random::Random;

/// Matrices of each kind; there are ten.
const EACH: usize = 100_000;

type Numbers = [f32; 9];

/// A kind of matrices, and what their rotations may miss.
struct Kind {
    name: &'static str,
    of: fn(&mut dyn FnMut() -> f64) -> Matrix3<f64>,
    /// By how much ‖F − R‖ may be larger than the least, in parts of 1 + ‖F‖.
    regret: f64,
}

fn any(random: &mut dyn FnMut() -> f64) -> Matrix3<f64> {
    Matrix3::from_fn(|_, _| random())
}

fn rotation(random: &mut dyn FnMut() -> f64) -> Matrix3<f64> {
    closest_rotation(&any(random))
}

fn from_values(
    random: &mut dyn FnMut() -> f64,
    values: fn(&mut dyn FnMut() -> f64) -> [f64; 3],
) -> Matrix3<f64> {
    let values = values(random);
    rotation(random) * Matrix3::from_diagonal(&Vector3::from(values)) * rotation(random)
}

fn power(random: &mut dyn FnMut() -> f64, exponent: f64) -> f64 {
    10.0_f64.powf(exponent * random())
}

/// The trace of Fᵀ R misses its maximum by rounding alone, a few 1e-7 of ‖F‖. That is more in ‖F − R‖ where this is small, near
/// rotations. Inside out, two smallest singular values that hardly differ may be taken for each other, which costs their difference.
const KINDS: [Kind; 10] = [
    Kind {
        name: "near rotations",
        of: |r| rotation(r) + 0.05 * any(r),
        regret: 2e-5,
    },
    Kind {
        name: "anything",
        of: |r| any(r) * power(r, 2.0),
        regret: 2e-5,
    },
    Kind {
        name: "stretched",
        of: |r| from_values(r, |r| [power(r, 1.0), power(r, 1.0), power(r, 1.0)]),
        regret: 2e-6,
    },
    Kind {
        name: "inside out",
        of: |r| from_values(r, |r| [power(r, 1.0), power(r, 1.0), -power(r, 1.0)]),
        regret: 3e-4,
    },
    Kind {
        name: "inside out, alike",
        of: |r| from_values(r, |r| [1.0, 1.0 + 0.01 * r(), -1.0 + 0.01 * r()]),
        regret: 3e-4,
    },
    Kind {
        name: "mirrored",
        of: |r| from_values(r, |_| [1.0, 1.0, -1.0]),
        regret: 2e-6,
    },
    Kind {
        name: "nearly flat",
        of: |r| {
            from_values(r, |r| {
                [power(r, 1.0), power(r, 1.0), power(r, 4.0) * 1e-4 * r()]
            })
        },
        regret: 3e-4,
    },
    Kind {
        name: "nearly a line",
        of: |r| {
            from_values(r, |r| {
                [
                    power(r, 1.0),
                    power(r, 3.0) * 1e-4,
                    power(r, 3.0) * 1e-4 * r(),
                ]
            })
        },
        regret: 1e-4,
    },
    Kind {
        name: "flat or a line",
        of: |r| from_values(r, |r| [1.0, r().max(0.0), 0.0]),
        regret: 2e-6,
    },
    Kind {
        name: "huge or tiny",
        of: |r| any(r) * power(r, 25.0),
        regret: 2e-5,
    },
];

/// Every one turned by the device.
fn turned(gpu: &GpuContext, matrices: &[Numbers]) -> Vec<Numbers> {
    let input = storage_of(gpu, "matrices", matrices);
    let output = storage::<Numbers>(gpu, "rotations", matrices.len());
    let kernel = Kernel::new(gpu, &shader::FLESH_POLAR_TEST, "closest_rotations", &[]);
    let dispatch = kernel.on(
        gpu,
        &[(0, &input), (1, &output)],
        [workgroups(matrices.len(), 64), 1, 1],
    );
    let mut encoder = gpu
        .device
        .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    dispatch.encode(&mut encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default()));
    gpu.queue.submit([encoder.finish()]);
    fetch(gpu, &output, matrices.len()).expect("reads back")
}

fn matrix(numbers: &Numbers) -> Matrix3<f64> {
    Matrix3::from_column_slice(numbers).cast::<f64>()
}

/// How far R is from a rotation, and by how much ‖F − R‖ is larger than the least, in parts of 1 + ‖F‖.
fn errors(f: &Numbers, r: &Numbers) -> [f64; 2] {
    let (f, r) = (matrix(f), matrix(r));
    let off = (r.transpose() * r - Matrix3::identity()).norm() + (r.determinant() - 1.0).abs();
    let best = closest_rotation(&f);
    // ‖F − R‖² − ‖F − R*‖² = 2 tr Fᵀ(R* − R), which does not drown in ‖F‖².
    let sum = (f - r).norm() + (f - best).norm();
    let regret = 2.0 * f.dot(&(best - r)) / sum.max(f64::MIN_POSITIVE);
    [off, regret / (1.0 + f.norm())]
}

#[test]
fn rotations_agree_with_an_svd() {
    let Some(gpu) = on_device::gpu() else { return };
    let mut bits = Random(11);
    let mut random = || bits.below(1 << 53) as f64 / (1_u64 << 52) as f64 - 1.0;
    let mut wrong = Vec::new();
    for kind in &KINDS {
        let matrices: Vec<Numbers> = (0..EACH)
            .map(|_| {
                let mut numbers = [0.0; 9];
                numbers
                    .copy_from_slice((kind.of)(&mut random).map(|entry| entry as f32).as_slice());
                numbers
            })
            .collect();
        let rotations = turned(gpu, &matrices);
        let errors: Vec<[f64; 2]> = matrices
            .par_iter()
            .zip(&rotations)
            .map(|(f, r)| errors(f, r))
            .collect();
        let worst = |k: usize| {
            (0..EACH)
                .max_by(|&a, &b| errors[a][k].total_cmp(&errors[b][k]))
                .unwrap_or(0)
        };
        let ([off, regret], [oddest, farthest]) = (
            [errors[worst(0)][0], errors[worst(1)][1]],
            [worst(0), worst(1)],
        );
        let values = [oddest, farthest].map(|k| matrix(&matrices[k]).singular_values().transpose());
        let said = format!(
            "{}: {off:e} off a rotation, {regret:e} off the closest {:?}",
            kind.name, values
        );
        println!("{said}");
        let good = off < 1e-5 && regret < kind.regret;
        if !good {
            wrong.push(said);
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Whatever comes in, a rotation comes out.
#[test]
fn rotations_of_invalid_matrices_are_finite() {
    let Some(gpu) = on_device::gpu() else { return };
    let mut matrices = vec![
        [0.0; 9],
        [1.0; 9],
        [f32::MAX; 9],
        [f32::MIN_POSITIVE; 9],
        [1e-42; 9],
        [f32::NAN; 9],
        [f32::INFINITY; 9],
    ];
    for odd in [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MAX,
        -f32::MAX,
        0.0,
    ] {
        for place in 0..9 {
            let mut numbers = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
            numbers[place] = odd;
            matrices.push(numbers);
        }
    }
    for (f, r) in matrices.iter().zip(turned(gpu, &matrices)) {
        let r = matrix(&r);
        let off = (r.transpose() * r - Matrix3::identity()).norm() + (r.determinant() - 1.0).abs();
        assert!(off < 1e-5, "{f:?} → {r}");
    }
}
