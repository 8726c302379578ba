//! Intersecting pairs are those of an independent count (`intersections.py`, numpy and fractions), in degenerate positions too.

use std::path::Path;
use std::process::Command;

use crate::common::skip;
use sinew::math::Point;
use sinew::mesh::{TriMesh, checkup::intersecting_pairs};
use sinew::progress::Progress;

fn has_numpy() -> bool {
    Command::new("python3")
        .args(["-c", "import numpy"])
        .output()
        .is_ok_and(|out| out.status.success())
}

/// Triangles between corners of a small grid: many are coplanar, touch, share corners or edges, or cross edge on edge.
fn mesh_on_a_grid(seed: u32, side: u32, corners: u32, triangles: usize) -> TriMesh {
    let mut state = seed;
    let mut random = move |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % below
    };
    let positions = (0..corners).map(|_| {
        let mut coordinate = || random(side) as f32;
        Point::new(coordinate(), coordinate(), coordinate())
    });
    let positions: Vec<Point> = positions.collect();
    let triangles = std::iter::repeat_with(|| [random(corners), random(corners), random(corners)])
        .filter(|[a, b, c]| a != b && b != c && c != a)
        .take(triangles)
        .collect();
    TriMesh {
        positions,
        triangles,
    }
}

#[test]
fn pairs_agree_with_an_independent_count() {
    if !has_numpy() {
        skip::skipped("python3 with numpy is not installed");
        return;
    }
    let mut meshes = Vec::new();
    for seed in 0..20 {
        meshes.push(mesh_on_a_grid(seed, 3, 12, 30));
        meshes.push(mesh_on_a_grid(seed, 6, 30, 40));
        meshes.push(mesh_on_a_grid(seed, 1000, 40, 40));
    }
    let as_json = |mesh: &TriMesh| {
        let positions: Vec<[i64; 3]> = mesh
            .positions
            .iter()
            .map(|p| [p.x as i64, p.y as i64, p.z as i64])
            .collect();
        serde_json::json!({"positions": positions, "triangles": mesh.triangles})
    };
    let jobs: Vec<_> = meshes.iter().map(as_json).collect();
    let file =
        std::env::temp_dir().join(format!("sinew-intersections-{}.json", std::process::id()));
    std::fs::write(&file, serde_json::Value::from(jobs).to_string()).expect("a temporary file");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts/intersections.py");
    let out = Command::new("python3").arg(script).arg(&file).output();
    std::fs::remove_file(&file).expect("the temporary file");
    let out = out.expect("python3");
    let error = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{error}");
    let expected: Vec<Vec<[u32; 2]>> = serde_json::from_slice(&out.stdout).expect("pairs");
    let mut total = 0;
    for (index, (mesh, expected)) in meshes.iter().zip(&expected).enumerate() {
        let found = intersecting_pairs(mesh, &Progress::new()).expect("counted");
        assert_eq!(&found, expected, "mesh {index}");
        total += found.len();
    }
    println!("{total} pairs in {} meshes", meshes.len());
    assert!(total > 1000, "{total} pairs");
}
