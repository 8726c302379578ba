use super::*;
use crate::numerics::determinant::project_volume;
use crate::numerics::lanes::{LANES, Lanes, load_matrix};
use pulp::{Arch, WithSimd};

type Packed = [[Lanes; 9]; 3];

/// Rotations, their scale, doubt, and matrices of determinant 1.
struct Results {
    rotations: Packed,
    doubtful: bool,
    projected: Packed,
}

struct Of<'a>(&'a Packed);

impl WithSimd for Of<'_> {
    type Output = Results;

    #[expect(
        clippy::inline_always,
        reason = "vector code must be inlined into the function that enables the instructions"
    )]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Results {
        let ops = Ops(simd);
        let empty = [[[0.0; LANES]; 9]; 3];
        let mut results = Results {
            rotations: empty,
            doubtful: false,
            projected: empty,
        };
        for part in 0..LANES / S::F32_LANES {
            let f = [
                load_matrix(ops, &self.0[0], part),
                load_matrix(ops, &self.0[1], part),
                load_matrix(ops, &self.0[2], part),
            ];
            let mut r = ops.closest_rotations(&f);
            results.doubtful |= r.doubtful;
            if r.doubtful {
                ops.repair(&f, &mut r);
            }
            for (k, f) in f.iter().enumerate() {
                let v = ops.project_volume(f);
                for entry in 0..9 {
                    let scaled = ops.mul(r.matrices[k][entry / 3][entry % 3], ops.splat(r.scale));
                    ops.store(&mut results.rotations[k][entry], part, scaled);
                    ops.store(
                        &mut results.projected[k][entry],
                        part,
                        v[entry / 3][entry % 3],
                    );
                }
            }
        }
        results
    }
}

/// The same on every vector unit that this machine has.
fn everywhere(packed: &Packed) -> Vec<Results> {
    let mut results = vec![
        Arch::new().dispatch(Of(packed)),
        Simd::vectorize(pulp::Scalar::new(), Of(packed)),
    ];
    #[cfg(target_arch = "x86_64")]
    results.extend(pulp::x86::V3::try_new().map(|v3| Simd::vectorize(v3, Of(packed))));
    results
}

fn pack(matrices: &[Matrix3<f64>]) -> Packed {
    let mut packed = [[[0.0; LANES]; 9]; 3];
    for k in 0..3 {
        for lane in 0..LANES {
            for (entry, value) in matrices[(k * LANES + lane) % matrices.len()]
                .iter()
                .enumerate()
            {
                packed[k][entry][lane] = *value as f32;
            }
        }
    }
    packed
}

fn unpack(packed: &Packed, index: usize) -> Matrix3<f64> {
    let (k, lane) = (index / LANES, index % LANES);
    Matrix3::from_fn(|row, column| f64::from(packed[k][3 * column + row][lane]))
}

/// Numbers in −1..=1.
fn random_numbers() -> impl FnMut() -> f64 {
    let mut seed = 7_u64;
    move || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as f64 / f64::from(1 << 24) * 2.0 - 1.0
    }
}

/// Random matrices of all sizes, half of them inside out: ‖F − R‖ is as small as with singular values.
#[test]
fn rotations_agree_with_an_svd() {
    let mut random = random_numbers();
    for round in 0..700 {
        let matrices: Vec<Matrix3<f64>> = (0..3 * LANES)
            .map(|_| {
                // Near rotations, anything, and nearly flat.
                let stretch = 10.0_f64.powf(2.0 * random());
                let any = Matrix3::from_fn(|_, _| random() * stretch);
                match round % 3 {
                    0 => any,
                    1 => closest_rotation(&any) + Matrix3::from_fn(|_, _| 0.05 * random()),
                    _ => {
                        any * Matrix3::from_diagonal(&nalgebra::Vector3::new(
                            1.0,
                            1.0,
                            1e-4 * random(),
                        ))
                    }
                }
            })
            .collect();
        for results in everywhere(&pack(&matrices)) {
            for (index, matrix) in matrices.iter().enumerate() {
                let r = unpack(&results.rotations, index);
                assert!((r.determinant() - 1.0).abs() < 5e-3, "{matrix} {r}");
                let (actual, best) = (
                    (matrix - r).norm(),
                    (matrix - closest_rotation(matrix)).norm(),
                );
                let tolerance = if round % 3 == 1 {
                    2e-5
                } else {
                    1e-3 * best + 1e-4
                };
                assert!(actual <= best + tolerance, "{matrix} {r} {actual} {best}");
            }
        }
    }
}

/// Zero, rank one and NaN are noticed, and end as rotations all the same.
#[test]
fn singular_matrices_are_repaired() {
    for singular in [
        Matrix3::zeros(),
        Matrix3::from_fn(|r, c| ((r + 1) * (c + 1)) as f64),
        Matrix3::repeat(f64::NAN),
    ] {
        for results in everywhere(&pack(&[singular])) {
            assert!(results.doubtful);
            assert!(
                is_rotation(&unpack(&results.rotations, 5)),
                "{}",
                unpack(&results.rotations, 5)
            );
        }
    }
}

#[test]
fn volume_as_in_f64() {
    let mut random = random_numbers();
    for _ in 0..100 {
        let matrices: Vec<Matrix3<f64>> = (0..3 * LANES)
            .map(|_| Matrix3::identity() + Matrix3::from_fn(|_, _| 0.6 * random()))
            .collect();
        for results in everywhere(&pack(&matrices)) {
            for (index, matrix) in matrices.iter().enumerate() {
                let (actual, expected) = (
                    unpack(&results.projected, index),
                    project_volume(&matrix.map(|e| f64::from(e as f32))),
                );
                assert!(
                    (actual - expected).norm() < 1e-3,
                    "{matrix} {actual} {expected}"
                );
            }
        }
    }
}

/// Batches of every length give the rotations that the exact decomposition gives, in every lane.
#[test]
fn batches_are_rotations() {
    let mut state = 11_u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f32::from((state >> 16) as u16) / 32768.0 - 1.0
    };
    for count in 0..8 {
        let originals: Vec<LaneMatrix> = (0..count)
            .map(|_| std::array::from_fn(|_| std::array::from_fn(|_| random())))
            .collect();
        let mut rotations = originals.clone();
        closest_rotations(&mut rotations);
        for (f, r) in originals.iter().zip(&rotations) {
            for lane in 0..LANES {
                let of = |m: &LaneMatrix| {
                    Matrix3::from_fn(|row, column| f64::from(m[3 * column + row][lane]))
                };
                let (f, r) = (of(f), of(r));
                assert!((r.determinant() - 1.0).abs() < 1e-3);
                assert!((r.transpose() * r - Matrix3::identity()).amax() < 1e-3);
                // As good a fit as the exact one.
                assert!(r.dot(&f) > closest_rotation(&f).dot(&f) - 1e-3);
            }
        }
    }
}
