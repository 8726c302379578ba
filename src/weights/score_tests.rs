//! How near computed weights come to artists' weights, and how long they take. Prints only; needs `SINEW_TEST_DATA`.

use std::path::PathBuf;
use std::time::Instant;

use crate::character::{Attachment, Character};
use crate::math::{Affine, Point, Quat, Vec64, affine, transform_point};
use crate::mesh::{Bounds, TriMesh, weld};
use crate::numerics::SymmetricMatrix;
use crate::param::ParamValues;
use crate::progress::Progress;
use crate::rig::Skeleton;
use crate::weights::voxel::{NodeWeights, VoxelBinding};
use crate::weights::*;

type Method = fn(&WeightInput<'_>, &Progress) -> Result<ComputedWeights, WeightError>;

const METHODS: [(&str, Method); 4] = [
    ("squared harmonic", squared_harmonic),
    ("biharmonic", biharmonic),
    ("bounded", bounded_biharmonic),
    ("geodesic", geodesic),
];

fn run(method: Method, mesh: &TriMesh, skeleton: &Skeleton) -> ComputedWeights {
    let values = ParamValues::default();
    let input = WeightInput {
        mesh,
        skeleton,
        values: &values,
    };
    method(&input, &Progress::new()).expect("nobody cancels")
}

fn data(path: &str) -> PathBuf {
    let folder =
        std::env::var_os("SINEW_TEST_DATA").expect("SINEW_TEST_DATA is the folder of characters");
    PathBuf::from(folder).join(path)
}

/// A character's welded skin, its skeleton, and the artist's weights.
pub(crate) struct Scored {
    pub(crate) name: &'static str,
    pub(crate) mesh: TriMesh,
    pub(crate) skeleton: Skeleton,
    pub(crate) positions: Vec<Point>,
    pub(crate) welded_from_input: Vec<u32>,
    pub(crate) artist: SkinWeights,
}

fn scored(name: &'static str, path: &str) -> Scored {
    let character: Character =
        crate::io::load(&[data(path)], &Progress::new()).expect("a character");
    let skeleton = character.skeleton.clone();
    let mut carries = vec![false; skeleton.len()];
    let (mut positions, mut triangles, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for mesh in &character.meshes {
        let Attachment::Skinned { weights, .. } = &mesh.attachment else {
            continue;
        };
        let first = positions.len() as u32;
        positions.extend(mesh.bind_positions(&skeleton));
        triangles.extend(mesh.triangles.iter().map(|t| t.map(|v| v + first)));
        rows.extend((0..weights.len()).map(|v| weights.row(v)));
    }
    let artist = SkinWeights::from_rows(rows).0;
    for &joint in &artist.joints {
        carries[joint as usize] = true;
    }
    // Only joints that the artist used.
    let mut joints = skeleton.joints().to_vec();
    for (joint, carries) in joints.iter_mut().zip(carries) {
        joint.deforms = carries;
    }
    let skeleton = Skeleton::new(joints).expect("the same joints");
    let size = Bounds::of(&positions).size();
    let welded = weld(&positions, &triangles, size * 1e-6);
    Scored {
        name,
        mesh: welded.mesh,
        skeleton,
        positions,
        welded_from_input: welded.welded_from_input,
        artist,
    }
}

/// Normal numbers.
struct Dice(u64);

impl Dice {
    fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// The motion of a joint's parent.
fn joint_base(world: &[Affine], bind: &[Affine], parent: Option<usize>) -> Affine {
    parent.map_or_else(Affine::identity, |parent| world[parent] * bind[parent])
}

impl Scored {
    /// Root mean square over vertices and 20 random poses of the distance to the artist's weights' skin, in mm at a height of 1.75 m.
    pub(crate) fn millimetres(&self, weights: &SkinWeights) -> f64 {
        let bind: Vec<Affine> = self
            .skeleton
            .bind_transforms()
            .iter()
            .map(|m| m.try_inverse().expect("checked"))
            .collect();
        let bounds = Bounds::of(&self.positions);
        let height = f64::from(bounds.extent().y.max(bounds.extent().z));
        let limited: Vec<Vec<(u32, f32)>> = (0..weights.len())
            .map(|v| {
                let mut row = weights.row(v);
                row.truncate(4);
                row
            })
            .collect();
        let limited = SkinWeights::from_rows(limited).0;
        let mut dice = Dice(2024);
        let (mut sum, mut count) = (0.0, 0.0);
        for _ in 0..20 {
            // Turns of the bind pose; the rest pose of some files is another one.
            let mut world: Vec<Affine> = Vec::new();
            for (joint, own) in self.skeleton.joints().iter().enumerate() {
                let turn = Vec64::new(dice.normal(), dice.normal(), dice.normal());
                let turn = Quat::from_scaled_axis(turn * 20.0_f64.to_radians());
                let base = joint_base(&world, &bind, own.parent)
                    * self.skeleton.joints()[joint].world_from_bind;
                world.push(base * affine(turn.to_rotation_matrix().matrix(), &Vec64::zeros()));
            }
            let skinning: Vec<Affine> = world.iter().zip(&bind).map(|(w, b)| w * b).collect();
            for (vertex, position) in self.positions.iter().enumerate() {
                let blend = |row: &SkinWeights, v: usize| {
                    row.of(v)
                        .map(|(j, w)| {
                            transform_point(&skinning[j], position).coords.cast::<f64>()
                                * f64::from(w)
                        })
                        .sum::<Vec64>()
                };
                let own = blend(&limited, self.welded_from_input[vertex] as usize);
                sum += (own - blend(&self.artist, vertex)).norm_squared();
                count += 1.0;
            }
        }
        (sum / f64::max(count, 1.0)).sqrt() / height * 1750.0
    }
}

pub(crate) fn characters() -> Vec<Scored> {
    [
        ("man", "B_unrigged/m2m_human_trio/human-male.glb"),
        ("mannequiny", "A_rigged/mannequiny/mannequiny-0.3.0.glb"),
        ("CesiumMan", "A_rigged/CesiumMan/CesiumMan.glb"),
        ("mh_female_cmu", "A_rigged/mh_female_cmu/mh_female_cmu.glb"),
    ]
    .map(|(name, path)| scored(name, path))
    .into()
}

/// Prints the distance to artists' weights, and the time, of every method.
#[test]
#[ignore = "measures; needs SINEW_TEST_DATA"]
fn distance_to_artists_weights() {
    print_scores();
}

/// Prints scores over radii of bones and kinds of masses.
#[test]
#[ignore = "measures; needs SINEW_TEST_DATA"]
fn distance_to_artists_weights_by_settings() {
    print_scores_by_settings();
}

pub(crate) fn print_scores() {
    for character in characters() {
        println!(
            "{}: {} vertices, {} triangles, {} joints; bounds {:?}",
            character.name,
            character.mesh.positions.len(),
            character.mesh.triangles.len(),
            character.skeleton.len(),
            character.mesh.bounds().extent()
        );
        println!(
            "  by distance     {:6.2} mm",
            character.millimetres(&by_distance(&character.mesh, &character.skeleton))
        );
        for (name, method) in METHODS {
            let mut least = f64::INFINITY;
            let mut result = ComputedWeights::default();
            for _ in 0..3 {
                let start = Instant::now();
                result = run(method, &character.mesh, &character.skeleton);
                least = least.min(start.elapsed().as_secs_f64() * 1e3);
            }
            println!(
                "  {name:16}{:6.2} mm, {least:7.1} ms, {} unknowns, {} unseeded, {} unreached",
                character.millimetres(&result.weights),
                result.report.unknowns,
                result.report.unseeded.len(),
                result.report.unreached
            );
        }
    }
}

pub(crate) fn print_scores_by_settings() {
    let characters = characters();
    for radius in [0.0, 0.2, 0.4, 0.5, 0.6, 0.75] {
        print!("radius {radius:4}:");
        for character in &characters {
            let (mesh, skeleton) = (&character.mesh, &character.skeleton);
            let binding = VoxelBinding::of(mesh, skeleton, 100, radius, &Progress::new())
                .expect("nobody cancels");
            let score = |weights: &NodeWeights| {
                character.millimetres(&binding.finish(weights, mesh, skeleton).weights)
            };
            let harmonic = harmonic_weights(&binding, 2.0, &Progress::new())
                .expect("nobody cancels")
                .expect("factored");
            print!(" {} f {:.2}", &character.name[..3], score(&harmonic));
            let laplacian = binding.domain.laplacian();
            for kind in 0..3 {
                let nodes = 0..laplacian.unknowns();
                let mass: Vec<f64> = match kind {
                    0 => nodes.map(|_| 1.0).collect(),
                    1 => binding.mass(),
                    _ => nodes.map(|k| laplacian.get(k, k)).collect(),
                };
                let system = FieldSystem::biharmonic(
                    &laplacian,
                    &mass,
                    &binding.free,
                    &binding.given(),
                    binding.columns.len(),
                );
                let solve = BoundedSolve::<f32>::start(
                    system,
                    &BoundedSettings::default(),
                    &Progress::new(),
                );
                let solve = solve.expect("nobody cancels").expect("factored");
                print!(" {:.2}", score(&binding.weights_of_rows(solve.rows())));
            }
            print!(";");
        }
        println!();
    }
}

/// The hand of libigl's tutorial: vertices, tets, and the segments of its bones.
fn hand() -> (Vec<Vec64>, Vec<[usize; 4]>, Vec<[Vec64; 2]>) {
    let text = |name: &str| {
        std::fs::read_to_string(data("B_unrigged/libigl_hand").join(name)).expect("the hand")
    };
    let numbers = |line: &str| -> Vec<f64> {
        line.split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect()
    };
    let mesh = text("hand.mesh");
    let after = |key: &str| -> Vec<Vec<f64>> {
        let mut lines = mesh.lines().skip_while(|line| line.trim() != key).skip(1);
        let count = lines
            .next()
            .and_then(|line| line.trim().parse().ok())
            .expect("a count");
        lines.take(count).map(numbers).collect()
    };
    let vertices = after("Vertices")
        .iter()
        .map(|row| Vec64::new(row[0], row[1], row[2]))
        .collect();
    let tets = after("Tetrahedra")
        .iter()
        .map(|row| [0, 1, 2, 3].map(|k| row[k] as usize - 1))
        .collect();
    let graph = text("hand.tgf");
    let mut sections = graph.split('#').map(|part| {
        part.lines()
            .map(numbers)
            .filter(|row| row.len() > 1)
            .collect::<Vec<_>>()
    });
    let joints: Vec<Vec64> = sections
        .next()
        .expect("joints")
        .iter()
        .map(|row| Vec64::new(row[1], row[2], row[3]))
        .collect();
    let bones = sections.next().expect("bones");
    let bones = bones
        .iter()
        .map(|row| [joints[row[0] as usize - 1], joints[row[1] as usize - 1]])
        .collect();
    (vertices, tets, bones)
}

/// Stiffness of linear elements and lumped masses.
fn stiffness(vertices: &[Vec64], tets: &[[usize; 4]]) -> (SymmetricMatrix, Vec<f64>) {
    let (mut entries, mut mass) = (Vec::new(), vec![0.0; vertices.len()]);
    for tet in tets {
        let [a, b, c, d] = tet.map(|v| vertices[v]);
        let volume = (b - a).cross(&(c - a)).dot(&(d - a)) / 6.0;
        let edges = nalgebra::Matrix3::from_columns(&[b - a, c - a, d - a]);
        let inverse = edges.try_inverse().expect("no flat tet");
        let mut gradients = [Vec64::zeros(); 4];
        for k in 0..3 {
            gradients[k + 1] = inverse.row(k).transpose();
            gradients[0] -= gradients[k + 1];
        }
        for i in 0..4 {
            mass[tet[i]] += volume.abs() / 4.0;
            entries.extend((0..=i).map(|j| {
                (
                    tet[i],
                    tet[j],
                    gradients[i].dot(&gradients[j]) * volume.abs(),
                )
            }));
        }
    }
    (
        SymmetricMatrix::from_triplets(vertices.len(), entries),
        mass,
    )
}

/// Prints the energies and times of bounded biharmonic weights of the hand: libigl's problem and the exact one.
#[test]
#[ignore = "measures; needs SINEW_TEST_DATA"]
fn bounded_weights_of_the_hand() {
    print_hand();
}

pub(crate) fn print_hand() {
    let (vertices, tets, bones) = hand();
    let mut given = GivenNodes::default();
    for (node, at) in vertices.iter().enumerate() {
        let on = |bone: &[Vec64; 2]| {
            let along = bone[1] - bone[0];
            let t = (at - bone[0]).dot(&along) / along.norm_squared();
            (-1e-7..=1.0 + 1e-7).contains(&t) && (at - bone[0] - along * t).norm_squared() < 1e-7
        };
        let own: Vec<u32> = (0..bones.len() as u32)
            .filter(|&k| on(&bones[k as usize]))
            .collect();
        if !own.is_empty() {
            given.nodes.push(node as u32);
            given
                .rows
                .push(own.iter().map(|&k| (k, 1.0 / own.len() as f64)).collect());
        }
    }
    let free: Vec<u32> = (0..vertices.len() as u32)
        .filter(|node| given.nodes.binary_search(node).is_err())
        .collect();
    println!(
        "{} vertices, {} tets, {} bones, {} given",
        vertices.len(),
        tets.len(),
        bones.len(),
        given.nodes.len()
    );
    let mut clamped = 0.0;
    for feasible in [Feasible::Box, Feasible::Simplex] {
        let start = Instant::now();
        let (laplacian, mass) = stiffness(&vertices, &tets);
        let system = FieldSystem::biharmonic(&laplacian, &mass, &free, &given, bones.len());
        let built = start.elapsed();
        let settings = BoundedSettings {
            feasible,
            ..BoundedSettings::default()
        };
        let solve = BoundedSolve::<f64>::start(system.clone(), &settings, &Progress::new());
        let mut solve = solve.expect("nobody cancels").expect("factored");
        let started = start.elapsed();
        let mut energies = vec![solve.energy()];
        let mut stepping = std::time::Duration::ZERO;
        for _ in 0..2000 {
            let start = Instant::now();
            let change = solve
                .step(&Progress::new())
                .expect("nobody cancels")
                .expect("factored");
            stepping += start.elapsed();
            energies.push(solve.energy());
            let count = energies.len() - 1;
            if [1, 10, 20, 50, 100, 200].contains(&count) {
                println!(
                    "  {count} steps: {:.3} s, {change:?}",
                    (started + stepping).as_secs_f64()
                );
            }
        }
        let last = energies[2000];
        println!(
            "{feasible:?}: energy {last:.6}, matrices {:.3} s, solve {:.3} s",
            built.as_secs_f64(),
            started.saturating_sub(built).as_secs_f64()
        );
        for count in [0, 10, 20, 50, 100, 200, 500] {
            println!(
                "  {count} steps: excess {:.3e}",
                energies[count] / last - 1.0
            );
        }
        if feasible == Feasible::Box {
            clamped = last;
        } else {
            println!("simplex / box: {:.6}", last / clamped);
        }
    }
}
