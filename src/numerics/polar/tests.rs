use super::*;
use crate::math::closest_rotation;
use crate::numerics::determinant::project_volume;
use crate::numerics::lanes::{LANES, Lanes, load_matrix};
use nalgebra::Vector3;
use pulp::{Arch, WithSimd};

type Packed = [[Lanes; 9]; 3];

/// Rotations, their scale, doubt, and matrices of determinant 1.
struct Results {
    rotations: Packed,
    doubtful: bool,
    projected: Packed,
}

struct Of<'a>(&'a Packed, Inverted);

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
            let mut r = ops.projections(&f, self.1);
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

/// Rotations on every vector unit that this machine has.
fn everywhere(packed: &Packed) -> Vec<Results> {
    projected_everywhere(packed, Inverted::Rotated)
}

/// The same with a projection of inverted matrices.
fn projected_everywhere(packed: &Packed, inverted: Inverted) -> Vec<Results> {
    let of = || Of(packed, inverted);
    let mut results = vec![
        Arch::new().dispatch(of()),
        Simd::vectorize(pulp::Scalar::new(), of()),
    ];
    #[cfg(target_arch = "x86_64")]
    results.extend(pulp::x86::V3::try_new().map(|v3| Simd::vectorize(v3, of())));
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
                    _ => any * Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, 1e-4 * random())),
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

/// Of inverted matrices the same as by singular values, and the closest rotations of all others.
#[test]
fn softened_projections_agree_with_an_svd() {
    let mut random = random_numbers();
    for _ in 0..300 {
        let matrices: Vec<Matrix3<f64>> = (0..3 * LANES)
            .map(|_| Matrix3::from_fn(|_, _| random()) * 10.0_f64.powf(random()))
            .collect();
        for results in projected_everywhere(&pack(&matrices), Inverted::Softened) {
            for (index, matrix) in matrices.iter().enumerate() {
                let singular = matrix.singular_values();
                // Nearly flat and nearly a line: sensitive to rounding.
                if singular[1] < 0.05 * singular[0] || singular[2] < 1e-3 * singular[0] {
                    continue;
                }
                let actual = unpack(&results.rotations, index);
                let expected = Inverted::Softened.projection(matrix);
                assert!(
                    (actual - expected).norm() < 2e-3,
                    "{matrix} {actual} {expected}"
                );
            }
        }
    }
}

/// F − P is the gradient of the energy, with and without inversion.
#[test]
fn softened_projections_have_an_energy() {
    let mut random = random_numbers();
    let (mut inverted, step) = (0, 1e-5);
    for _ in 0..200 {
        let f = Matrix3::from_fn(|_, _| random());
        let direction = Matrix3::from_fn(|_, _| random());
        let energy = |at: f64| Inverted::Softened.strain_energy(&(f + direction * at));
        let actual = (energy(step) - energy(-step)) / (2.0 * step);
        let expected = (f - Inverted::Softened.projection(&f)).dot(&direction);
        // Not beside a flat matrix, where the step would change the sign.
        if f.singular_values()[2] > 1e-2 {
            assert!((actual - expected).abs() < 1e-5, "{f} {actual} {expected}");
            inverted += usize::from(f.determinant() < 0.0);
        }
    }
    assert!(inverted > 50, "{inverted}");
}

/// Where the two smallest singular values of an inverted matrix cross, the closest rotation jumps, and the softened projection does not;
/// where a matrix inverts, both are the same rotation.
#[test]
fn softened_projections_are_continuous() {
    let turned = |sizes: [f64; 3]| {
        let (u, v) = (
            nalgebra::Rotation3::from_euler_angles(0.3, -0.7, 1.9),
            nalgebra::Rotation3::from_euler_angles(-1.1, 0.4, 0.2),
        );
        u.matrix() * Matrix3::from_diagonal(&Vector3::from(sizes)) * v.matrix()
    };
    let change = |inverted: Inverted, a: [f64; 3], b: [f64; 3]| {
        (inverted.projection(&turned(a)) - inverted.projection(&turned(b))).norm()
    };
    let crossing = [[-0.9, 0.5, 0.5001], [-0.9, 0.5001, 0.5]];
    assert!(change(Inverted::Rotated, crossing[0], crossing[1]) > 2.0);
    assert!(change(Inverted::Softened, crossing[0], crossing[1]) < 2e-3);
    let flat = [[0.9, 0.5, 1e-7], [0.9, 0.5, -1e-7]];
    assert!(change(Inverted::Softened, flat[0], flat[1]) < 1e-5);
    let inside_out = turned([0.9, 0.5, -1e-4]);
    let difference =
        Inverted::Softened.projection(&inside_out) - Inverted::Rotated.projection(&inside_out);
    assert!(difference.norm() < 1e-3, "{difference}");
}

/// Zero, rank one, NaN and inside out: nothing but finite projections, which shrink no matrix.
#[test]
fn softened_projections_are_finite() {
    let rank_one = Matrix3::from_fn(|r, c| (r as f64 - 1.5) * (c + 1) as f64);
    for matrix in [
        Matrix3::zeros(),
        rank_one,
        -rank_one,
        Matrix3::repeat(f64::NAN),
        -Matrix3::identity(),
        -Matrix3::identity() * 1e-9,
    ] {
        for results in projected_everywhere(&pack(&[matrix]), Inverted::Softened) {
            let p = unpack(&results.rotations, 5);
            assert!(p.norm() > 0.3 && p.norm() < 1.74, "{matrix} {p}");
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
