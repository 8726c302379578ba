//! Theorems about the two-layer model.

use std::sync::Arc;

use crate::common::on_bones::on_bones;
use sinew::character::Character;
use sinew::mesh::TriMesh;
use sinew::methods::{Flesh, Subject};
use sinew::progress::Progress;

fn character(name: &str) -> Character {
    sinew::io::builtin::load_builtin(name).expect("built in")
}

fn flesh(character: Character) -> (Arc<Subject>, Flesh) {
    let subject =
        Arc::new(Subject::build(Arc::new(on_bones(character)), &Progress::new()).expect("builds"));
    let flesh = subject.flesh().expect("has flesh").clone();
    (subject, flesh)
}

/// Volume enclosed by a closed surface.
fn volume(mesh: &TriMesh) -> f64 {
    let signed = |t: usize| {
        let [a, b, c] = mesh.corners(t).map(|p| p.coords.cast::<f64>());
        a.dot(&b.cross(&c)) / 6.0
    };
    (0..mesh.triangles.len()).map(signed).sum()
}

/// PS 3.1: r₁ + r₂ + 2 r ≤ l for every bone.
#[test]
fn every_bone_fits_between_its_joints() {
    for name in sinew::io::builtin::NAMES {
        let (_, flesh) = flesh(character(name));
        let graph = &flesh.tissue.graph;
        for (index, bone) in graph.bones.iter().enumerate() {
            let joints: f64 = bone
                .nodes
                .iter()
                .map(|&node| graph.nodes[node].radius)
                .sum();
            assert!(
                joints + 2.0 * bone.radius <= graph.length(index) * (1.0 + 1e-6),
                "{name}, bone {index}"
            );
        }
    }
}

#[test]
fn the_user_can_set_a_radius() {
    let mut thin = character("cylinder");
    let (_, fitted) = flesh(thin.clone());
    let joint = fitted.tissue.graph.bones[0].joint;
    let half = fitted.tissue.graph.bones[0].radius / 2.0;
    thin.flesh.radii.insert(joint, half);
    let (_, set) = flesh(thin);
    assert!((set.tissue.graph.bones[0].radius - half).abs() < 1e-12);
    assert!(
        set.tissue.quality.volume > fitted.tissue.quality.volume,
        "a thinner bone leaves room for more flesh"
    );
}

/// The tets fill the space between skin and base: nothing doubled, nothing left out.
#[test]
fn tissue_and_bone_volumes_add_up_to_the_body() {
    let (subject, flesh) = flesh(character("cylinder"));
    let skin = &subject.sim().mesh;
    let base = TriMesh {
        positions: flesh.tissue.base.iter().map(|p| p.cast::<f32>()).collect(),
        triangles: skin.triangles.clone(),
    };
    let between = volume(skin) - volume(&base);
    let filled = flesh.tissue.quality.volume;
    assert!(
        (filled - between).abs() < 2e-3 * between,
        "{filled} of {between}"
    );
}

/// Every foot point lies on its bone, every base vertex between its skin vertex and its foot point.
#[test]
fn base_points_lie_between_skin_and_bone() {
    for name in sinew::io::builtin::NAMES {
        let (subject, flesh) = flesh(character(name));
        let tissue = &flesh.tissue;
        for vertex in 0..tissue.base.len() {
            let skin = subject.sim().mesh.positions[vertex].cast::<f64>();
            let [a, b] = tissue.graph.segment(tissue.foot_bones[vertex] as usize);
            let foot = tissue.foot_points[vertex];
            let t = sinew::mesh::closest_on_segment(&foot, &a, &b);
            assert!(
                (a + (b - a) * t - foot).norm() < 1e-9,
                "{name}, vertex {vertex}"
            );
            let (whole, part) = (foot - skin, tissue.base[vertex] - skin);
            if whole.norm() > 1e-3 * f64::from(subject.size) {
                assert!(
                    part.cross(&whole).norm() < 1e-9
                        && part.dot(&whole) > 0.0
                        && part.norm() <= whole.norm()
                );
            }
        }
    }
}

/// A head has no child joint: its bone reaches into it all the same.
#[test]
fn leaves_get_a_tail() {
    let (subject, flesh) = flesh(character("mannequin"));
    let skeleton = &subject.character.skeleton;
    let head = skeleton.find("head").expect("a head");
    let graph = &flesh.tissue.graph;
    let bone = graph
        .bones
        .iter()
        .position(|bone| bone.joint == head)
        .expect("a bone in the head");
    assert!(graph.length(bone) > 0.08, "{} m", graph.length(bone));
}
