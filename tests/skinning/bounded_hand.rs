//! Bounded biharmonic weights on the tetrahedra of libigl's hand: the same problem as libigl solves, so that the optimum is known.
//!
//! Runs as a part of `cargo test --test skinning bounded_hand` with `SINEW_TEST_DATA`. Where python3 has libigl, its matrices judge the
//! weights, too (`tests/scripts/parity_bounded.py`).

use std::path::{Path, PathBuf};
use std::process::Command;

use nalgebra::{Matrix3, Point3, Vector3};
use sinew::numerics::SymmetricMatrix;
use sinew::progress::Progress;
use sinew::weights::{BoundedSettings, BoundedSolve, Feasible, FieldSystem, GivenNodes};

use crate::common::skip;

/// The energy of libigl's optimum with weights from 0 to 1 and no sum: measured with libigl 2.6.3, 100 iterations, 98 s on two cores.
const OPTIMUM: f64 = 26_483.046;
/// Vertices whose squared distance to a bone is less are on it: libigl's tolerance.
const ON_BONE: f64 = 1e-7;

/// Vertices, tetrahedra and bones.
struct Hand {
    positions: Vec<Point3<f64>>,
    tetrahedra: Vec<[usize; 4]>,
    bones: Vec<[Point3<f64>; 2]>,
}

fn numbers(line: &str) -> Vec<f64> {
    line.split_whitespace()
        .map(|word| word.parse().expect("a number"))
        .collect()
}

impl Hand {
    fn read(folder: &Path) -> Self {
        let text = std::fs::read_to_string(folder.join("hand.mesh")).expect("the mesh");
        let section = |name: &str| -> Vec<Vec<f64>> {
            let mut lines = text.lines().skip_while(|line| line.trim() != name).skip(1);
            let count: usize = lines.next().expect("a number").trim().parse().expect("one");
            lines.take(count).map(numbers).collect()
        };
        let point = |row: &[f64]| Point3::new(row[0], row[1], row[2]);
        let text_of_bones = std::fs::read_to_string(folder.join("hand.tgf")).expect("the bones");
        let mut parts = text_of_bones.split('#');
        let mut rows = || -> Vec<Vec<f64>> {
            let lines = parts.next().unwrap_or_default().lines();
            lines
                .filter(|line| !line.trim().is_empty())
                .map(numbers)
                .collect()
        };
        let joints: Vec<Point3<f64>> = rows().iter().map(|row| point(&row[1..])).collect();
        let ends = |row: &Vec<f64>| [0, 1].map(|end| joints[row[end] as usize - 1]);
        Self {
            positions: section("Vertices").iter().map(|row| point(row)).collect(),
            tetrahedra: section("Tetrahedra")
                .iter()
                .map(|row| [0, 1, 2, 3].map(|k| row[k] as usize - 1))
                .collect(),
            bones: rows().iter().map(ends).collect(),
        }
    }

    /// The stiffness of linear elements, and a quarter of the volumes around every vertex.
    fn laplacian(&self) -> (SymmetricMatrix, Vec<f64>) {
        let mut mass = vec![0.0; self.positions.len()];
        let mut entries = Vec::new();
        for corners in &self.tetrahedra {
            let [a, b, c, d] = corners.map(|v| self.positions[v]);
            let edges = Matrix3::from_columns(&[b - a, c - a, d - a]);
            let volume = edges.determinant().abs() / 6.0;
            let inverse = edges.try_inverse().expect("a tetrahedron with volume");
            let of: [Vector3<f64>; 3] = [0, 1, 2].map(|k| inverse.row(k).transpose());
            let gradients = [-(of[0] + of[1] + of[2]), of[0], of[1], of[2]];
            for (i, &vertex) in corners.iter().enumerate() {
                mass[vertex] += volume / 4.0;
                for j in 0..=i {
                    let value = volume * gradients[i].dot(&gradients[j]);
                    let [low, high] = [vertex.min(corners[j]), vertex.max(corners[j])];
                    entries.push((high, low, value));
                }
            }
        }
        (
            SymmetricMatrix::from_triplets(self.positions.len(), entries),
            mass,
        )
    }

    /// Vertices on bones; those at a joint are in equal parts of all bones there.
    fn given(&self) -> GivenNodes {
        let mut given = GivenNodes::default();
        for (vertex, position) in self.positions.iter().enumerate() {
            let is_on = |[a, b]: &[Point3<f64>; 2]| {
                let along = b - a;
                let t = (position - a).dot(&along) / along.norm_squared();
                let is_beside = (0.0..=1.0).contains(&t);
                let foot = a + along * t.clamp(0.0, 1.0);
                is_beside && (position - foot).norm_squared() <= ON_BONE
                    || [a, b]
                        .iter()
                        .any(|end| (position - *end).norm_squared() <= ON_BONE)
            };
            let bones = self.bones.iter().enumerate();
            let own: Vec<u32> = bones
                .filter(|(_, bone)| is_on(bone))
                .map(|(index, _)| index as u32)
                .collect();
            if !own.is_empty() {
                let share = 1.0 / own.len() as f64;
                given.nodes.push(vertex as u32);
                given
                    .rows
                    .push(own.into_iter().map(|bone| (bone, share)).collect());
            }
        }
        given
    }
}

/// The rows after some steps, their energy, and the seconds that the solve took.
fn solved(system: &FieldSystem, feasible: Feasible, steps: usize) -> (Vec<f64>, f64, f64) {
    let settings = BoundedSettings {
        feasible,
        tolerance: 0.0,
        ..BoundedSettings::default()
    };
    let (start, progress) = (std::time::Instant::now(), Progress::new());
    let mut solve = BoundedSolve::<f64>::start(system.clone(), &settings, &progress)
        .expect("nobody cancels")
        .expect("has a factor");
    for _ in 0..steps {
        solve
            .step(&progress)
            .expect("nobody cancels")
            .expect("has a factor");
    }
    let secs = start.elapsed().as_secs_f64();
    // The energy of the paper has no ½.
    (solve.rows().to_vec(), 2.0 * solve.energy(), secs)
}

fn hand() -> Option<PathBuf> {
    Some(skip::data()?.join("B_unrigged/libigl_hand"))
}

#[test]
fn the_optimum_of_libigl_is_reached() {
    let Some(folder) = hand() else {
        return;
    };
    let hand = Hand::read(&folder);
    let start = std::time::Instant::now();
    let (laplacian, mass) = hand.laplacian();
    let given = hand.given();
    assert_eq!((given.nodes.len(), hand.bones.len()), (221, 20));
    let free: Vec<u32> = (0..hand.positions.len() as u32)
        .filter(|vertex| given.nodes.binary_search(vertex).is_err())
        .collect();
    let columns = hand.bones.len();
    let system = FieldSystem::biharmonic(&laplacian, &mass, &free, &given, columns);
    let assembly = start.elapsed().as_secs_f64();
    let (_, energy, _) = solved(&system, Feasible::Box, 100);
    assert!(
        energy / OPTIMUM - 1.0 < 3.0 * 2.1e-5 && energy / OPTIMUM - 1.0 > -1e-7,
        "{energy}"
    );
    let (rows, energy, secs) = solved(&system, Feasible::Simplex, 50);
    println!("{energy:.5} after 50 steps, {secs:.2} s and {assembly:.2} s of assembly");
    assert!((energy / OPTIMUM - 1.0035).abs() < 5e-4, "{energy}");
    for row in rows.chunks(columns) {
        assert!(row.iter().all(|&weight| weight >= 0.0));
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
    let mut all = vec![vec![0.0; columns]; hand.positions.len()];
    for (&vertex, row) in free.iter().zip(rows.chunks(columns)) {
        all[vertex as usize].copy_from_slice(row);
    }
    for (&vertex, row) in given.nodes.iter().zip(&given.rows) {
        for &(bone, share) in row {
            all[vertex as usize][bone as usize] = share;
        }
    }
    agrees_with_libigl(&folder, &all);
}

/// libigl's own matrices and handles give the same energy.
fn agrees_with_libigl(folder: &Path, weights: &[Vec<f64>]) {
    let has_libigl = Command::new("python3")
        .args(["-c", "import igl"])
        .output()
        .is_ok_and(|out| out.status.success());
    if !has_libigl {
        skip::skipped("python3 with libigl is not installed");
        return;
    }
    let name = format!("sinew-bounded-hand-{}.json", std::process::id());
    let file = std::env::temp_dir().join(name);
    std::fs::write(&file, serde_json::json!(weights).to_string()).expect("a temporary file");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts/parity_bounded.py");
    let out = Command::new("python3")
        .arg(script)
        .args([folder, &file])
        .output()
        .expect("python3");
    if std::env::var_os("SINEW_KEEP_PARITY").is_none() {
        std::fs::remove_file(file).expect("the temporary file");
    }
    let said = [out.stdout, out.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    println!("{said}");
    assert!(out.status.success(), "{said}");
}
