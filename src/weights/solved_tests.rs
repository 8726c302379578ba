//! Weights that are solved for: theorems, and convergence.

use super::common_params::RESOLUTION;
use super::voxel::{BoneNodes, VoxelBinding, VoxelDomain};
use super::*;
use crate::math::{Point, Point64, Vec3};
use crate::mesh::TriMesh;
use crate::mesh::shapes::{ball, joined, moved, tube};
use crate::param::ParamValues;
use crate::progress::Progress;
use crate::rig::Skeleton;

type Method = fn(&WeightInput<'_>, &Progress) -> Result<ComputedWeights, WeightError>;

const METHODS: [(&str, Method); 4] = [
    ("squared harmonic", squared_harmonic),
    ("biharmonic", biharmonic),
    ("bounded", bounded_biharmonic),
    ("geodesic", geodesic),
];

fn run(method: Method, mesh: &TriMesh, skeleton: &Skeleton) -> ComputedWeights {
    // Cells whose faces meet the sides of the bar.
    let mut values = ParamValues::default();
    values.set(&RESOLUTION, 80.0);
    let input = WeightInput {
        mesh,
        skeleton,
        values: &values,
        memo: &Memo::default(),
    };
    method(&input, &Progress::new()).expect("nobody cancels")
}

fn tree(joints: &[(Option<usize>, [f64; 3])]) -> Skeleton {
    let named = joints.iter().enumerate();
    let named = named.map(|(k, &(parent, at))| (format!("j{k}"), parent, Point64::from(at)));
    Skeleton::from_positions(&named.collect::<Vec<_>>()).expect("a skeleton")
}

/// The bar of the reference numbers, along y: two bones that meet in the middle.
fn bar() -> (TriMesh, Skeleton) {
    let skeleton = tree(&[
        (None, [0.0; 3]),
        (Some(0), [0.0, 5.0, 0.0]),
        (Some(1), [0.0, 10.0, 0.0]),
    ]);
    (tube(1.0, 10.0, 80, 48, true), skeleton)
}

fn weight(weights: &SkinWeights, vertex: usize, joint: usize) -> f64 {
    weights
        .of(vertex)
        .filter(|(own, _)| *own == joint)
        .map(|(_, weight)| f64::from(weight))
        .sum()
}

#[test]
fn weights_of_the_bar_are_a_smooth_step() {
    let (mesh, skeleton) = bar();
    for (name, method) in METHODS {
        let ComputedWeights { weights, report } = run(method, &mesh, &skeleton);
        assert!(report.unreached == 0 && report.unknowns > 1000, "{name}");
        let first = |ring: usize, sector: usize| weight(&weights, ring * 48 + sector, 0);
        for ring in 0..=80 {
            for sector in 0..48 {
                let row: Vec<(usize, f32)> = weights.of(ring * 48 + sector).collect();
                assert!(
                    (row.iter().map(|(_, w)| w).sum::<f32>() - 1.0).abs() < 1e-6,
                    "{name}"
                );
                assert!(row.iter().all(|(_, w)| *w > 0.0));
                // Half a turn about the axis, and a mirror image across it.
                for image in [(sector + 24) % 48, (48 - sector) % 48] {
                    let difference = (first(ring, sector) - first(ring, image)).abs();
                    // Weights below 1e-4 are dropped. Those that are spread go along diagonals, which are no images of each other.
                    let tolerance = if name == "biharmonic" { 2e-3 } else { 1.1e-4 };
                    assert!(difference < tolerance, "{name}: {difference}");
                }
                if ring > 0 {
                    assert!(
                        first(ring, sector) <= first(ring - 1, sector) + 2e-3,
                        "{name}"
                    );
                }
            }
            if ring == 0 || ring == 80 {
                assert!(
                    (first(ring, 0) - if ring == 0 { 1.0 } else { 0.0 }).abs() < 0.05,
                    "{name}: {}",
                    first(ring, 0)
                );
            }
        }
        // The third joint is a point at the tip; the other two meet in the middle.
        assert!(
            (first(40, 5) - 0.5).abs() < 0.02,
            "{name}: {}",
            first(40, 5)
        );
    }
}

#[test]
fn equal_input_gives_equal_weights_on_any_number_of_threads() {
    let (mesh, skeleton) = bar();
    for (name, method) in METHODS {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("a pool");
            pool.install(|| run(method, &mesh, &skeleton))
        };
        assert!(on(1) == on(3), "{name}");
    }
}

#[test]
fn hostile_input_gives_weights() {
    let (limb, skeleton) = bar();
    let point = |x: f32| Point::new(x, 0.0, 0.0);
    let mut broken = limb.clone();
    broken.positions[3] = Point::new(f32::NAN, 0.0, 0.0);
    broken.positions.push(Point::new(1e20, 0.0, 0.0));
    broken.triangles.extend([[1, 1, 2], [5, 5, 5]]);
    let single = TriMesh {
        positions: vec![point(1.0)],
        triangles: vec![],
    };
    let flat = TriMesh {
        positions: vec![point(0.0), point(1.0), Point::new(0.0, 1.0, 0.0)],
        triangles: vec![[0, 1, 2]],
    };
    let nan = TriMesh {
        positions: vec![point(f32::NAN); 3],
        triangles: vec![[0, 1, 2]],
    };
    let blind = joined(&[
        limb.clone(),
        moved(ball(Point::origin(), 1.0, 8, 8), Vec3::new(6.0, 0.0, 0.0)),
    ]);
    let none = Skeleton::default();
    let same = tree(&[
        (None, [0.0, 1.0, 0.0]),
        (Some(0), [0.0, 1.0, 0.0]),
        (Some(0), [0.0, 1.0, 0.0]),
    ]);
    let far = tree(&[(None, [1e30, 0.0, 0.0]), (Some(0), [-1e30, 0.0, 4.0])]);
    for (mesh, skeleton) in [
        (&TriMesh::default(), &skeleton),
        (&single, &skeleton),
        (&flat, &skeleton),
        (&nan, &skeleton),
        (&broken, &skeleton),
        (&blind, &skeleton),
        (&limb, &none),
        (&limb, &same),
        (&limb, &far),
    ] {
        for (name, method) in METHODS {
            let ComputedWeights { weights, report } = run(method, mesh, skeleton);
            assert_eq!(weights.len(), mesh.positions.len());
            assert!(skeleton.is_empty() || weights.is_complete(), "{name}");
            assert!(
                weights.values.iter().all(|w| w.is_finite() && *w > 0.0),
                "{name}"
            );
            let is_blind = std::ptr::eq(mesh, &raw const blind);
            let is_far = std::ptr::eq(skeleton, &raw const far);
            if report.unknowns > 0 && !is_far && is_blind {
                assert!(report.unreached >= 50, "{name} {report:?}");
            }
        }
    }
}

#[test]
fn a_cancelled_computation_says_so() {
    let (mesh, skeleton) = bar();
    let values = ParamValues::default();
    let input = WeightInput {
        mesh: &mesh,
        skeleton: &skeleton,
        values: &values,
        memo: &Memo::default(),
    };
    let progress = Progress::new();
    progress.cancel();
    for (name, method) in METHODS {
        assert!(method(&input, &progress).is_err(), "{name}");
    }
}

/// The energy of the feasible weights falls to the minimum, which no feasible change lowers.
#[test]
fn steps_go_down_to_the_bounded_minimum() {
    let (mesh, skeleton) = bar();
    let binding =
        VoxelBinding::of(&mesh, &skeleton, 20, 0.4, &Progress::new()).expect("nobody cancels");
    for feasible in [Feasible::Simplex, Feasible::Box] {
        let settings = BoundedSettings {
            feasible,
            ..BoundedSettings::default()
        };
        let system = binding.biharmonic_system();
        let solve = BoundedSolve::<f64>::start(system.clone(), &settings, &Progress::new());
        let mut solve = solve.expect("nobody cancels").expect("it can be factored");
        let mut energies = vec![solve.energy()];
        for _ in 0..800 {
            solve
                .step(&Progress::new())
                .expect("nobody cancels")
                .expect("it can be factored");
            energies.push(solve.energy());
        }
        let last = energies[800];
        assert!(
            energies[10] < energies[0] && energies[10] < last * 1.003,
            "{:?}",
            &energies[..12]
        );
        assert!(
            (energies[400] / last - 1.0).abs() < 1e-6,
            "{} {last}",
            energies[400]
        );
        // A projected gradient step from the minimum stays there.
        let rows: Vec<f64> = solve.rows().to_vec();
        let (free, columns) = (system.free(), system.columns);
        let mut gradient = vec![0.0; rows.len()];
        for c in 0..columns {
            let own: Vec<f64> = (0..free).map(|k| rows[k * columns + c]).collect();
            for (k, value) in system.matrix.multiply(&own).into_iter().enumerate() {
                gradient[k * columns + c] = value - system.right[c * free + k];
            }
        }
        let mut worst = 0.0_f64;
        for k in 0..free {
            let range = k * columns..(k + 1) * columns;
            let scale = system.matrix.get(k, k);
            let mut moved: Vec<f64> = range
                .clone()
                .map(|at| rows[at] - gradient[at] / scale)
                .collect();
            feasible.project(&mut moved);
            for (new, old) in moved.iter().zip(&rows[range]) {
                worst = worst.max((new - old).abs());
            }
        }
        assert!(worst < 1e-4, "{worst}");
    }
}

fn boxed(size: [f32; 3]) -> TriMesh {
    let corner = |k: u32| {
        Point::new(
            size[0] * (k & 1) as f32,
            size[1] * (k >> 1 & 1) as f32,
            size[2] * (k >> 2) as f32,
        )
    };
    TriMesh {
        positions: (0..8).map(corner).collect(),
        triangles: vec![
            [0, 2, 1],
            [1, 2, 3],
            [4, 5, 6],
            [5, 7, 6],
            [0, 1, 4],
            [1, 5, 4],
            [2, 6, 3],
            [3, 6, 7],
            [0, 4, 2],
            [2, 4, 6],
            [1, 3, 5],
            [3, 7, 5],
        ],
    }
}

/// Nothing bleeds over a gap.
#[test]
fn boxes_half_a_unit_apart_do_not_share_bones() {
    let one = boxed([1.0; 3]);
    let mesh = joined(&[one.clone(), moved(one, Vec3::new(1.5, 0.0, 0.0))]);
    // A root far away, so that the two bones are separate.
    let skeleton = tree(&[
        (None, [0.0, 90.0, 0.0]),
        (Some(0), [0.5, 0.2, 0.5]),
        (Some(1), [0.5, 0.8, 0.5]),
        (Some(0), [2.0, 0.2, 0.5]),
        (Some(3), [2.0, 0.8, 0.5]),
    ]);
    for (name, method) in METHODS {
        // The root's bones to both run through the boxes from above; they belong to neither.
        let weights = run(method, &mesh, &skeleton).weights;
        for vertex in 0..16 {
            let bleed: f64 = (if vertex < 8 { [3, 4] } else { [1, 2] })
                .map(|joint| weight(&weights, vertex, joint))
                .iter()
                .sum();
            assert!(bleed == 0.0, "{name}: {bleed}");
        }
    }
}

/// Along a U the weights follow the bend: the other leg is near in space and far through the inside.
#[test]
fn weights_follow_the_bend_of_a_u() {
    let leg = boxed([1.0, 6.0, 1.0]);
    let mesh = joined(&[
        leg.clone(),
        moved(leg, Vec3::new(1.4, 0.0, 0.0)),
        boxed([2.4, 1.0, 1.0]),
    ]);
    let skeleton = tree(&[
        (None, [0.5, 5.8, 0.5]),
        (Some(0), [0.5, 0.5, 0.5]),
        (Some(1), [1.9, 0.5, 0.5]),
        (Some(2), [1.9, 3.0, 0.5]),
        (Some(3), [1.9, 5.8, 0.5]),
    ]);
    for (name, method) in METHODS {
        let weights = run(method, &mesh, &skeleton).weights;
        for vertex in 0..8 {
            if mesh.positions[vertex].y > 5.0 {
                let across = weight(&weights, vertex, 3) + weight(&weights, vertex, 4);
                assert!(across < 0.01, "{name}: {across}");
                assert!(weight(&weights, vertex, 0) > 0.95, "{name}");
            }
        }
    }
}

#[test]
fn geodesic_weights_change_with_the_smoothness_only() {
    let (mesh, skeleton) = bar();
    let domain = VoxelDomain::of(&mesh, 50, &Progress::new()).expect("nobody cancels");
    let bones = BoneNodes::of(&domain, &skeleton, 0.0, &Progress::new()).expect("nobody cancels");
    let field =
        GeodesicField::of(&mesh, &domain, &bones, &Progress::new()).expect("nobody cancels");
    // Six units along the bar, one and a half from the joint.
    let vertex = 52 * 48;
    let [sharp, smooth] =
        [0.0, 1.0].map(|alpha| weight(&field.weights(GeodesicFormula::Paper(alpha)), vertex, 0));
    assert!(sharp > smooth && smooth > 0.0, "{sharp} {smooth}");
    let d = |joint: u32| {
        field
            .of_vertex(vertex)
            .iter()
            .find(|e| e.0 == joint)
            .map_or(f64::NAN, |e| f64::from(e.1))
    };
    assert!(
        (d(1) - 1.0).abs() < 0.25 && (d(0) - 1.8).abs() < 0.35,
        "{} {}",
        d(0),
        d(1)
    );
    let expected = d(0).powi(-2)
        / (0..3)
            .map(|j| d(j).powi(-2))
            .filter(|w| w.is_finite())
            .sum::<f64>();
    assert!((sharp - expected).abs() < 1e-5, "{sharp} {expected}");
}
