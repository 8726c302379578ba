//! What holds for every weight method of the registry, and theorems on bone heat.

use super::*;
use crate::math::{Point, Point64};
use crate::mesh::TriMesh;
use crate::mesh::shapes::{ball, tube};
use crate::progress::Progress;
use crate::rig::Skeleton;

/// A chain of joints at these points; each is the child of the one before.
fn chain(points: &[[f64; 3]]) -> Skeleton {
    let joints = points.iter().enumerate().map(|(index, at)| {
        let name = format!("j{index}");
        (name, index.checked_sub(1), Point64::from(*at))
    });
    Skeleton::from_positions(&joints.collect::<Vec<_>>()).expect("a chain")
}

fn limb() -> (TriMesh, Skeleton) {
    let skeleton = chain(&[[0.0, 0.5, 0.0], [0.0, 5.0, 0.0], [0.0, 9.5, 0.0]]);
    (tube(1.0, 10.0, 40, 16, true), skeleton)
}

fn joined(parts: &[TriMesh]) -> TriMesh {
    let mut all = TriMesh::default();
    for part in parts {
        let first = all.positions.len() as u32;
        all.positions.extend(&part.positions);
        let shifted = |triangle: &[u32; 3]| triangle.map(|vertex| vertex + first);
        all.triangles.extend(part.triangles.iter().map(shifted));
    }
    all
}

fn computed(method: WeightMethod, mesh: &TriMesh, skeleton: &Skeleton) -> Option<SkinWeights> {
    let computed = method.compute(mesh, skeleton, &Memo::default(), &Progress::new())?;
    Some(computed.expect("nobody cancels").weights)
}

/// Meshes that are difficult for weight methods: open, in several parts, with degenerate triangles and unused vertices.
fn cases() -> Vec<(&'static str, TriMesh, Skeleton)> {
    let (limb, skeleton) = limb();
    let far = ball(Point::new(40.0, 0.0, 0.0), 1.0, 8, 8);
    let mut broken = limb.clone();
    let twin = broken.positions.len() as u32;
    broken
        .positions
        .extend([broken.positions[7], Point::new(2.0, 3.0, 4.0)]);
    broken
        .triangles
        .extend([[7, twin, 9], [7, 7, 8], [7, twin, 7]]);
    let outside = chain(&[[50.0, 0.0, 0.0], [50.0, 5.0, 0.0]]);
    vec![
        ("limb", limb.clone(), skeleton.clone()),
        (
            "open tube",
            tube(1.0, 10.0, 20, 12, false),
            skeleton.clone(),
        ),
        ("blind part", joined(&[limb.clone(), far]), skeleton.clone()),
        ("bad triangles", broken, skeleton),
        ("bones outside", limb, outside),
    ]
}

#[test]
fn rows_are_convex_and_not_empty() {
    for (name, mesh, skeleton) in cases() {
        for method in registry() {
            let Some(weights) = computed(method, &mesh, &skeleton) else {
                continue;
            };
            assert_eq!(weights.len(), mesh.positions.len(), "{method}, {name}");
            assert!(weights.is_complete(), "{method}, {name}");
            for vertex in 0..weights.len() {
                let row: Vec<(usize, f32)> = weights.of(vertex).collect();
                let sum: f32 = row.iter().map(|(_, weight)| weight).sum();
                assert!((sum - 1.0).abs() <= 1e-6, "{method}, {name}: {sum}");
                let fits = |&(joint, weight): &(usize, f32)| weight > 0.0 && joint < skeleton.len();
                assert!(row.iter().all(fits), "{method}, {name}: {row:?}");
            }
        }
    }
}

/// The mirror image of a character has the same weights.
#[test]
fn a_mirrored_character_has_the_same_weights() {
    for (name, mesh, _) in cases().into_iter().take(3) {
        let points = [[0.1, 0.5, 0.2], [0.2, 5.0, 0.1], [0.1, 9.5, -0.1]];
        let skeleton = chain(&points);
        let mirrored = chain(&points.map(|[x, y, z]| [-x, y, z]));
        let image = TriMesh {
            positions: (mesh.positions.iter())
                .map(|p| Point::new(-p.x, p.y, p.z))
                .collect(),
            triangles: mesh.triangles.iter().map(|&[a, b, c]| [a, c, b]).collect(),
        };
        for method in registry() {
            let (Some(one), Some(other)) = (
                computed(method, &mesh, &skeleton),
                computed(method, &image, &mirrored),
            ) else {
                continue;
            };
            let worst = largest_difference(&one, &other, |joint| joint);
            assert!(worst <= 1e-5, "{method}, {name}: {worst}");
        }
    }
}

/// A sheet with a vertical centre line, and a skeleton of a trunk with two legs; both are their own mirror images. With the mirror image
/// of every vertex and of every joint.
fn two_legs() -> (TriMesh, Skeleton, Vec<usize>, [usize; 6]) {
    let at = |name: &str, parent, x: f64, y: f64| (name.into(), parent, Point64::new(x, y, 0.0));
    let joints = [
        at("pelvis", None, 0.0, 6.0),
        at("hip.l", Some(0), -0.5, 5.0),
        at("foot.l", Some(1), -0.5, 0.0),
        at("hip.r", Some(0), 0.5, 5.0),
        at("foot.r", Some(3), 0.5, 0.0),
        at("neck", Some(0), 0.0, 10.0),
    ];
    let skeleton = Skeleton::from_positions(&joints).expect("two legs");
    let (columns, rows) = (9_u32, 11_u32);
    let mut mesh = TriMesh::default();
    let mut image = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let x = (column as f32 - 4.0) * 0.25;
            mesh.positions.push(Point::new(x, row as f32, 0.3));
            image.push((row * columns + columns - 1 - column) as usize);
            if row > 0 && column > 0 {
                let d = row * columns + column;
                let [a, b, c] = [d - columns - 1, d - columns, d - 1];
                mesh.triangles.extend(if column > columns / 2 {
                    [[a, b, d], [a, d, c]]
                } else {
                    [[a, b, c], [b, d, c]]
                });
            }
        }
    }
    (mesh, skeleton, image, [0, 3, 4, 1, 2, 5])
}

#[test]
fn a_mirror_symmetric_character_has_mirror_symmetric_weights() {
    let (mesh, skeleton, vertex_image, joint_image) = two_legs();
    let weights = by_distance(&mesh, &skeleton);
    let vertices: Vec<u32> = vertex_image.iter().map(|&vertex| vertex as u32).collect();
    let mirrored = weights.of_some(&vertices);
    let worst = largest_difference(&weights, &mirrored, |joint| joint_image[joint]);
    assert!(worst <= 1e-5, "{worst}");
    // Between the legs, on the centre line.
    let of = |joint| {
        let mut row = weights.of(2 * 9 + 4);
        row.find(|(other, _)| *other == joint)
            .map_or(0.0, |(_, weight)| weight)
    };
    assert!(of(1) > 0.2 && (of(1) - of(3)).abs() <= 1e-5);
}

fn largest_difference(a: &SkinWeights, b: &SkinWeights, other: impl Fn(usize) -> usize) -> f32 {
    let mut worst = 0.0_f32;
    for vertex in 0..a.len() {
        for (joint, weight) in a.of(vertex) {
            let there = b.of(vertex).find(|(j, _)| *j == other(joint));
            worst = worst.max((weight - there.map_or(0.0, |(_, weight)| weight)).abs());
        }
    }
    worst
}

#[test]
fn ids_are_unique_and_errors_list_them() {
    let all = registry();
    assert_eq!(all[0], WeightMethod::default());
    for (index, method) in all.iter().enumerate() {
        assert_eq!(WeightMethod::from_id(method.id()), Ok(*method));
        assert!(all[..index].iter().all(|other| other != method));
        let text = serde_json::to_string(method).expect("a string");
        assert_eq!(
            serde_json::from_str::<WeightMethod>(&text).ok(),
            Some(*method)
        );
    }
    let error = WeightMethod::from_id("hot").expect_err("no such weights");
    let listed = "there are no weights \"hot\"; there are: file, biharmonic, bbw, fast, geodesic, elastic, distance, heat";
    assert!(error.to_string().starts_with(listed), "{error}");
}

fn heat() -> WeightMethod {
    WeightMethod::from_id("heat").expect("built in")
}

/// Rows sum to 1 before they are made to: Σ p = 1 and L 1 = 0.
#[test]
fn heat_weights_sum_to_one_without_normalisation() {
    let (mesh, _) = limb();
    let sources: Vec<HeatSource> = (mesh.positions.iter())
        .map(|p| HeatSource {
            joints: if p.y < 5.0 { vec![0] } else { vec![1] },
            distance: 1.0 + f64::from(p.y) / 20.0,
        })
        .collect();
    let rows = heat_equilibrium(&mesh, &sources, 2, &Progress::new()).expect("nobody cancels");
    for row in rows {
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{row:?}");
    }
}

/// The weight of the lower bone falls from one end to the other, and is one half in the middle.
#[test]
fn heat_falls_along_a_limb() {
    let (mesh, skeleton) = limb();
    let weights = computed(heat(), &mesh, &skeleton).expect("computed");
    let lower = |ring: usize| {
        let row = weights.of(ring * 16).find(|(joint, _)| *joint == 0);
        row.map_or(0.0, |(_, weight)| weight)
    };
    for ring in 1..40 {
        assert!(lower(ring + 1) <= lower(ring) + 1e-5, "{ring}");
    }
    assert!(lower(0) > 0.99 && lower(39) < 0.01);
    assert!((lower(20) - 0.5).abs() < 0.02, "{}", lower(20));
}

/// Two shells far from each other: the one without a bone takes the weights of the closest point of the other.
#[test]
fn a_part_that_sees_no_bone_moves_with_its_neighbour() {
    let (limb, skeleton) = limb();
    let button = ball(Point::new(1.5, 9.0, 0.0), 0.2, 6, 8);
    let first = limb.positions.len();
    let mesh = joined(&[limb, button]);
    let weights = computed(heat(), &mesh, &skeleton).expect("computed");
    for vertex in first..mesh.positions.len() {
        assert_eq!(weights.strongest(vertex), Some(1));
    }
}

#[test]
fn heat_can_be_cancelled() {
    let (mesh, skeleton) = limb();
    let progress = Progress::new();
    progress.cancel();
    let compute = heat().descriptor().compute.expect("computed");
    let input = WeightInput {
        mesh: &mesh,
        skeleton: &skeleton,
        values: &heat().values(),
        memo: &Memo::default(),
    };
    assert!(matches!(
        compute(&input, &progress),
        Err(WeightError::Cancelled(_))
    ));
}

/// A method with a parameter, as it would be registered.
static WITH_VALUES: WeightDescriptor = WeightDescriptor {
    id: "with-values",
    label: "With values",
    doc: "For this test.",
    cost: "none",
    source: "",
    departures: &[],
    params: &[crate::param::ParamSpec {
        key: "reach",
        label: "Reach",
        unit: "",
        kind: crate::param::ParamKind::Real,
        range: [0.0, 2.0],
        default: 1.0,
        doc: "How far.",
    }],
    version: 1,
    compute: None,
};

#[test]
fn values_are_part_of_the_id() {
    let method = WeightMethod::of(&WITH_VALUES);
    let reach = &WITH_VALUES.params[0];
    let mut values = method.values();
    assert_eq!(values.get(reach), 1.0);
    values.set(reach, 0.25);
    let changed = method.with_values(&values);
    assert_eq!(changed.id(), "with-values:reach=0.25");
    assert_ne!(changed, method);
    assert_eq!(changed.values().get(reach), 0.25);
    assert_eq!(changed.with_values(&method.values()), method);
}

#[test]
fn texts_that_name_no_weights_are_explained() {
    let message = |id: &str| WeightMethod::from_id(id).expect_err(id).to_string();
    assert!(message("heet").contains("file, biharmonic"));
    assert!(message("heat:strong").contains("KEY=VALUE"));
    assert!(message("heat:strength=2").contains("\"strength\""));
    assert!(message("heet:strength=2").contains("there are no weights \"heet:strength=2\""));
}
