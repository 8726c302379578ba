//! Theorems on finished weights.

use super::*;
use crate::math::{Point, Point64};
use crate::mesh::shapes::{ball, tube};

fn chain(points: &[[f64; 3]]) -> Skeleton {
    let joints = points.iter().enumerate().map(|(index, at)| {
        let parent = index.checked_sub(1);
        (format!("j{index}"), parent, Point64::from(*at))
    });
    Skeleton::from_positions(&joints.collect::<Vec<_>>()).expect("a chain")
}

fn weights(rows: &[&[(u32, f32)]]) -> SkinWeights {
    SkinWeights::from_rows(rows.iter().map(|row| row.to_vec())).0
}

fn points(count: usize) -> TriMesh {
    TriMesh {
        positions: (0..count).map(|k| Point::new(k as f32, 0.0, 0.0)).collect(),
        triangles: Vec::new(),
    }
}

fn finished(
    mesh: &TriMesh,
    skeleton: &Skeleton,
    given: &SkinWeights,
    settings: &FinishSettings<'_>,
) -> Finished {
    finish(mesh, skeleton, given, settings, &Progress::new()).expect("nobody cancels")
}

#[test]
fn the_fifth_weight_is_subtracted_from_the_four_largest() {
    let row = [(0, 0.3), (1, 0.25), (2, 0.2), (3, 0.15), (4, 0.1)];
    let limited = rows::limited(&row, 4, 0.0);
    // 0.2, 0.15, 0.1, 0.05 over their sum.
    for ((joint, weight), expected) in limited.iter().zip([0.4, 0.3, 0.2, 0.1]) {
        assert!((weight - expected).abs() < 1e-12, "{joint}: {weight}");
    }
    assert_eq!(limited.len(), 4);
    // Five equal weights: four of them in equal parts, and a mirror image has the same.
    let even = rows::limited(&[0, 1, 2, 3, 4].map(|j| (j, 0.2)), 4, 0.01);
    assert_eq!(even, [0, 1, 2, 3].map(|j| (j, 0.25)));
    // Nothing above the threshold: all count.
    let small: Vec<(u32, f64)> = (0..200).map(|j| (j, 0.005)).collect();
    assert_eq!(rows::limited(&small, 8, 0.01).len(), 8);
    assert_eq!(rows::limited(&[(3, 1.0)], 1, 0.01), [(3, 1.0)]);
    assert_eq!(rows::limited(&[(3, f64::NAN), (4, -1.0)], 4, 0.01), []);
}

/// As weights change continuously, limited weights do, too, where joints change places and where they cross the threshold; cutting off
/// without the soft edge jumps.
#[test]
fn limited_weights_do_not_jump() {
    let steps = 4000;
    let row = |t: f64| -> Row {
        let raw = [
            0.5,
            0.2 + 0.1 * t,
            0.3 - 0.15 * t,
            0.02 * t,
            0.1 * (3.0 * t).sin().abs(),
            0.03,
        ];
        let sum: f64 = raw.iter().sum();
        (0..).zip(raw.map(|w| w / sum)).collect()
    };
    for influences in 1..=6 {
        let mut worst = 0.0_f64;
        let mut before = rows::limited(&row(0.0), influences, 0.01);
        for step in 1..=steps {
            let now = rows::limited(&row(f64::from(step) / f64::from(steps)), influences, 0.01);
            worst = worst.max(largest_change(&before, &now));
            assert!(now.len() <= influences);
            before = now;
        }
        // A row moves by at most 1e-4 a step here; the factor is that of dividing by what is left.
        assert!(worst < 5e-3, "{influences}: {worst}");
    }
}

#[test]
fn the_report_counts_what_was_done() {
    let skeleton = chain(&[[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [3.0, 0.0, 0.0]]);
    let given = weights(&[
        &[(0, 1.0)],
        &[(0, 0.5), (1, 0.5)],
        &[],
        &[(0, 0.992), (1, 0.008)],
        &[(7, 1.0)],
    ]);
    let done = finished(&points(6), &skeleton, &given, &FinishSettings::default());
    let report = &done.report;
    assert_eq!(report.histogram, [3, 2, 1]);
    assert_eq!((report.without, report.changed), (3, 1));
    assert!((report.largest_change - 0.008).abs() < 1e-6, "{report:?}");
    assert_eq!(report.unused_joints, [2, 3]);
    assert_eq!(done.weights.len(), 6);
    let none = finished(
        &points(0),
        &Skeleton::default(),
        &SkinWeights::default(),
        &FinishSettings::default(),
    );
    assert_eq!(none.weights.len(), 0);
}

/// Smoothing tends to the harmonic function between locked ends: on a tube with equal rings, the linear one.
#[test]
fn smoothing_between_locked_rings_becomes_linear() {
    let (rings, sectors) = (10_u32, 8_u32);
    let mesh = tube(1.0, 5.0, rings, sectors, false);
    let skeleton = chain(&[[0.0; 3], [0.0, 5.0, 0.0]]);
    let ring = |vertex: usize| vertex as u32 / sectors;
    let count = mesh.positions.len();
    let rows: Vec<Vec<(u32, f32)>> = (0..count)
        .map(|vertex| vec![(u32::from(ring(vertex) > 2), 1.0)])
        .collect();
    let given = SkinWeights::from_rows(rows).0;
    let locked: Vec<bool> = (0..count)
        .map(|v| ring(v) == 0 || ring(v) == rings)
        .collect();
    let settings = FinishSettings {
        smoothing_passes: 2000,
        smoothing_strength: 0.9,
        locked: &locked,
        least: 0.0,
        ..FinishSettings::default()
    };
    let done = finished(&mesh, &skeleton, &given, &settings);
    for (vertex, is_locked) in locked.iter().enumerate().take(count) {
        let upper = done.weights.of(vertex).find(|&(joint, _)| joint == 1);
        let weight = upper.map_or(0.0, |(_, weight)| weight);
        let expected = ring(vertex) as f32 / rings as f32;
        assert!(
            (weight - expected).abs() < 1e-4,
            "{vertex}: {weight} {expected}"
        );
        if *is_locked {
            assert_eq!(done.weights.row(vertex), given.row(vertex));
        }
    }
    // An empty row is filled by its neighbours.
    let rows = (0..count).map(|vertex| {
        if vertex == 20 {
            Vec::new()
        } else {
            vec![(0, 1.0)]
        }
    });
    let holed = SkinWeights::from_rows(rows).0;
    let settings = FinishSettings {
        smoothing_passes: 1,
        ..FinishSettings::default()
    };
    assert!(
        finished(&mesh, &skeleton, &holed, &settings)
            .weights
            .is_complete()
    );
}

/// Two arms: the weights of a lopsided binding become mirror images of each other.
#[test]
fn mirrored_weights_are_mirror_images() {
    let at =
        |name: &str, parent, x: f64, y: f64| (name.to_owned(), parent, Point64::new(x, y, 0.0));
    let skeleton = Skeleton::from_positions(&[
        at("hips", None, 0.0, -0.5),
        at("arm.L", Some(0), 0.5, 0.0),
        at("arm.R", Some(0), -0.5, 0.0),
    ])
    .expect("three joints");
    let mesh = ball(Point::origin(), 1.0, 16, 24);
    let lopsided = |p: &Point| {
        let (left, right) = ((p.x + 1.2).max(0.0), (0.7 - p.x).max(0.0));
        vec![(0, 0.3 + 0.2 * p.y), (1, left), (2, right * right)]
    };
    let given = SkinWeights::from_rows(mesh.positions.iter().map(lopsided)).0;
    let image = |vertex: usize| {
        let p = mesh.positions[vertex];
        let wanted = Point::new(-p.x, p.y, p.z);
        let near = |q: &Point| (q - wanted).norm() < 1e-4;
        mesh.positions
            .iter()
            .position(near)
            .expect("the ball is symmetric")
    };
    for from in [MirrorFrom::Both, MirrorFrom::Left, MirrorFrom::Right] {
        let settings = FinishSettings {
            mirror: Some(from),
            ..FinishSettings::default()
        };
        let done = finished(&mesh, &skeleton, &given, &settings);
        let expected = if from == MirrorFrom::Both { 1.0 } else { 0.4 };
        assert!(
            done.report.mirrored as f64 >= expected * mesh.positions.len() as f64,
            "{:?}",
            done.report
        );
        for vertex in 0..mesh.positions.len() {
            let swapped: Vec<(usize, f32)> = done
                .weights
                .of(image(vertex))
                .map(|(joint, weight)| ([0, 2, 1][joint], weight))
                .collect();
            for (joint, weight) in done.weights.of(vertex) {
                let other = swapped
                    .iter()
                    .find(|(j, _)| *j == joint)
                    .map_or(0.0, |(_, w)| *w);
                assert!(
                    (weight - other).abs() <= 1e-5,
                    "{from:?}, {vertex}: {weight} {other}"
                );
            }
            // The side that is copied stays.
            let x = mesh.positions[vertex].x;
            if (from == MirrorFrom::Left && x > 0.1) || (from == MirrorFrom::Right && x < -0.1) {
                let before: Row = rows::rows_of(&given, given.len())[vertex].clone();
                let after: Row = rows::rows_of(&done.weights, given.len())[vertex].clone();
                assert!(largest_change(&rows::limited(&before, 4, 0.01), &after) < 1e-6);
            }
        }
    }
}

#[test]
fn bad_input_gives_weights_or_empty_rows_and_a_cancel_is_heeded() {
    let skeleton = chain(&[[0.0; 3], [0.0, 1.0, 0.0]]);
    let mut mesh = tube(1.0, 5.0, 4, 6, true);
    mesh.positions[3] = Point::new(f32::NAN, 0.0, 0.0);
    mesh.triangles.push([0, 0, 1]);
    let rows = mesh
        .positions
        .iter()
        .map(|p| vec![(0, p.y), (1, 1.0 - p.y), (5, f32::NAN)]);
    let given = SkinWeights::from_rows(rows).0;
    let settings = FinishSettings {
        smoothing_passes: 3,
        smoothing_strength: f64::INFINITY,
        least: f64::NAN,
        influences: 0,
        mirror: Some(MirrorFrom::Both),
        ..FinishSettings::default()
    };
    let done = finished(&mesh, &skeleton, &given, &settings);
    assert!(
        done.weights
            .values
            .iter()
            .all(|w| w.is_finite() && *w > 0.0)
    );
    let few = finished(
        &mesh,
        &skeleton,
        &weights(&[&[(0, 1.0)]]),
        &FinishSettings::default(),
    );
    assert_eq!(few.report.without, mesh.positions.len() - 1);
    let cancelled = Progress::new();
    cancelled.cancel();
    assert!(finish(&mesh, &skeleton, &given, &settings, &cancelled).is_err());
}
