//! Closed forms of the scores.

use super::*;
use crate::math::Point;
use crate::mesh::shapes::tube;

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

fn scored(
    reference: &SkinWeights,
    weights: &SkinWeights,
    mesh: &TriMesh,
    skeleton: &Skeleton,
) -> ReferenceScore {
    score_against(reference, weights, mesh, skeleton, &Progress::new()).expect("nobody cancels")
}

/// One vertex at distance r from the only moving joint, of weight w there instead of 0: it is off by w · abs(R − 1) r. The mean square
/// of the chord of a rotation by a vector of three normal components, for a point at a random place of the sphere around the joint, is
/// 2 r² (1 − mean cos) · 2/3.
#[test]
fn a_rotation_about_one_joint_has_a_closed_form() {
    let skeleton = chain(&[[0.0; 3], [0.0, 0.0, 0.0]]);
    let mut mesh = TriMesh::default();
    let count = 4000;
    for k in 0..count {
        // A Fibonacci sphere of radius 1.
        let y = 1.0 - 2.0 * (k as f32 + 0.5) / count as f32;
        let phi = k as f32 * 2.399_963_1;
        let radius = (1.0 - y * y).sqrt();
        mesh.positions
            .push(Point::new(radius * phi.cos(), y, radius * phi.sin()));
    }
    let all = |row: &[(u32, f32)]| SkinWeights::from_rows(vec![row.to_vec(); count]).0;
    let (reference, half) = (all(&[(0, 1.0)]), all(&[(0, 0.5), (1, 0.5)]));
    let score = scored(&reference, &half, &mesh, &skeleton);
    // M₁ = M₀ R: the distance to M₀ is that of R alone.
    let mut squares = 0.0;
    for pose in 0..POSES {
        let mut random = Normal(pose as u64);
        let _root = [(); 3].map(|()| random.draw());
        let turn = Vec64::from_fn(|_, _| SIGMA * random.draw());
        squares += 0.25 * 2.0 * (1.0 - turn.norm().cos()) * 2.0 / 3.0;
    }
    let expected = HEIGHT_MM / 2.0 * (squares / POSES as f64).sqrt();
    assert!(
        (score.pose_rms_mm / expected - 1.0).abs() < 2e-3,
        "{score:?} {expected}"
    );
    assert!((score.l1 - 1.0).abs() < 1e-12 && score.vertices == count);
    assert!(score.pose_max_mm > score.pose_rms_mm && score.pose_max_mm <= HEIGHT_MM / 2.0);
}

#[test]
fn equal_weights_score_zero_and_scale_does_not_matter() {
    let mesh = tube(1.0, 10.0, 20, 12, true);
    let skeleton = chain(&[[0.0, 0.5, 0.0], [0.0, 5.0, 0.0], [0.0, 9.5, 0.0]]);
    let soft = |width: f32| {
        let row = |p: &Point| {
            let upper = ((p.y - 5.0) / width + 0.5).clamp(0.0, 1.0);
            vec![(0, 1.0 - upper), (1, upper)]
        };
        SkinWeights::from_rows(mesh.positions.iter().map(row)).0
    };
    let (one, other) = (soft(2.0), soft(4.0));
    let same = scored(&one, &one, &mesh, &skeleton);
    assert_eq!(
        (same.l1, same.pose_rms_mm, same.pose_max_mm),
        (0.0, 0.0, 0.0)
    );
    let score = scored(&one, &other, &mesh, &skeleton);
    assert!(
        score.l1 > 0.01
            && score.pose_rms_mm > 1.0
            && score == scored(&one, &other, &mesh, &skeleton)
    );
    let larger = TriMesh {
        positions: mesh.positions.iter().map(|p| p * 100.0).collect(),
        triangles: mesh.triangles.clone(),
    };
    let far = chain(&[[0.0, 50.0, 0.0], [0.0, 500.0, 0.0], [0.0, 950.0, 0.0]]);
    let scaled = scored(&one, &other, &larger, &far);
    assert!((scaled.pose_rms_mm / score.pose_rms_mm - 1.0).abs() < 1e-5);
    // A ramp over a shorter length is less smooth: rings are 0.5 apart, the ramp falls by ¼ in each of four steps, or ⅛ in eight.
    let ratio = smoothness(&one, &mesh) / smoothness(&other, &mesh);
    assert!((ratio - 2.0).abs() < 1e-4, "{ratio}");
}

#[test]
fn smoothness_l1_and_bleed_of_a_triangle() {
    let mesh = TriMesh {
        positions: [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
            .map(Point::from)
            .to_vec(),
        triangles: vec![[0, 1, 2]],
    };
    let skeleton = chain(&[[0.0; 3], [5.0, 0.0, 0.0], [9.0, 0.0, 0.0]]);
    let given = weights(&[&[(0, 1.0)], &[(1, 1.0)], &[(0, 0.5), (1, 0.5)]]);
    // Edges: 2, ½, ½.
    assert!((smoothness(&given, &mesh) - 1.0).abs() < 1e-12);
    let reference = weights(&[&[(0, 1.0)], &[(0, 1.0)], &[(0, 0.75), (2, 0.25)]]);
    // 0, 2, ¼ + ½ + ¼.
    assert!((scored(&reference, &given, &mesh, &skeleton).l1 - 1.0).abs() < 1e-6);
    let nearest: [&[u32]; 3] = [&[0], &[1], &[2]];
    // Two of four weights are of joints that are not listed.
    assert!((bleed(&given, |vertex| nearest[vertex]) - 0.5).abs() < 1e-12);
    let near = nearest_joints(&mesh, &skeleton, 2);
    assert_eq!(near[0], [0, 1]);
    let far = nearest_joints(
        &mesh,
        &chain(&[[9.0, 0.0, 0.0], [5.0, 0.0, 0.0], [0.0; 3]]),
        1,
    );
    assert_eq!(far[0], [1]);
}

#[test]
fn normal_numbers_are_normal() {
    let mut random = Normal(7);
    let drawn: Vec<f64> = (0..100_000).map(|_| random.draw()).collect();
    let mean = |f: fn(f64) -> f64| drawn.iter().map(|x| f(*x)).sum::<f64>() / drawn.len() as f64;
    assert!(mean(|x| x).abs() < 0.01 && (mean(|x| x * x) - 1.0).abs() < 0.02);
    assert!((mean(|x| x.powi(4)) - 3.0).abs() < 0.1);
}

#[test]
fn bad_input_scores_nothing() {
    let skeleton = chain(&[[0.0; 3]]);
    let mesh = TriMesh {
        positions: vec![Point::new(f32::NAN, 0.0, 0.0), Point::origin()],
        triangles: Vec::new(),
    };
    let given = weights(&[&[(0, 1.0)], &[(4, 1.0)]]);
    assert_eq!(
        scored(&given, &given, &mesh, &skeleton),
        ReferenceScore::default()
    );
    assert_eq!(
        scored(&SkinWeights::default(), &given, &mesh, &skeleton).vertices,
        0
    );
    assert_eq!(smoothness(&given, &TriMesh::default()), 0.0);
    assert_eq!(bleed(&SkinWeights::default(), |_| &[]), 0.0);
    assert_eq!(
        nearest_joints(&mesh, &Skeleton::default(), 3),
        [[0_u32; 0]; 2]
    );
    let cancelled = Progress::new();
    cancelled.cancel();
    let limb = tube(1.0, 2.0, 3, 6, true);
    let rows = SkinWeights::from_rows(vec![[(0, 1.0)]; limb.positions.len()]).0;
    assert!(score_against(&rows, &rows, &limb, &skeleton, &cancelled).is_err());
}
