//! Morph targets under every method: where they displace, what they leave alone, and what they equal.

use std::sync::Arc;

use sinew::character::{Character, Morph, MorphShape, MorphTarget, SimVertices};
use sinew::dynamics::Params;
use sinew::io::builtin::load_builtin;
use sinew::math::{Affine, Point, Vec3};
use sinew::methods::{Actor, Capability, Frame, MethodId, Subject, registry};
use sinew::progress::Progress;
use sinew::rig::MorphWeights;

use crate::common::moved::{bent, worst};

/// A built-in character with few simulated vertices, and a morph of some vertices of its first mesh.
fn character(name: &str, with_morph: bool) -> Character {
    let mut character = load_builtin(name).expect("built in");
    character.flesh.sim_vertices = SimVertices::About(600);
    if !with_morph {
        return character;
    }
    let vertices: Vec<u32> = (0..40).map(|k| 3 * k + 1).collect();
    let offset = |k: &u32| Vec3::new(0.01, 0.002 * f64::from(k % 5) as f32, -0.004);
    let target = MorphTarget {
        offsets: vertices.iter().map(offset).collect(),
        vertices,
        ..MorphTarget::default()
    };
    character.morphs = Arc::new([Morph {
        name: "bump".to_owned(),
        mesh: character.meshes[0].name.clone(),
        rest_weight: 0.0,
        shapes: vec![MorphShape {
            at: 1.0,
            targets: vec![target],
        }],
    }]);
    character
}

fn subject(name: &str, with_morph: bool) -> Arc<Subject> {
    let character = Arc::new(character(name, with_morph));
    Arc::new(Subject::build(character, &Progress::new()).expect("builds"))
}

fn weights(weight: f64) -> MorphWeights {
    let mut weights = MorphWeights::default();
    weights.set(0, weight);
    weights
}

/// Positions of some frames, each with its weight of the morph.
fn frames(actor: &mut Actor, frames: &[(Vec<Affine>, f64)]) -> Vec<Vec<Point>> {
    let advance = |(world, weight): &(Vec<Affine>, f64)| {
        actor.set_morphs(&weights(*weight));
        actor
            .advance(&Frame {
                world_from_joint: world,
                dt_secs: 1.0 / 60.0,
            })
            .expect("moves");
        assert!(
            actor
                .normals()
                .iter()
                .all(|n| (n.norm() - 1.0).abs() < 1e-3)
        );
        actor.positions().to_vec()
    };
    frames.iter().map(advance).collect()
}

fn bind(subject: &Arc<Subject>, method: MethodId) -> Actor {
    Actor::bind(subject, method, &Params::default(), &Progress::new()).expect("binds")
}

fn methods() -> impl Iterator<Item = MethodId> {
    let all = registry().into_iter();
    all.filter(|method| !method.has(Capability::Offline))
}

#[test]
fn at_rest_a_morph_changes_nothing_and_costs_no_bit() {
    let (with, without) = (subject("arm", true), subject("arm", false));
    for method in methods() {
        let pose = |k: u32, weight: f64| (bent(&with, 0.1 * f64::from(k)), weight);
        let still: Vec<_> = (0..4).map(|k| pose(k, 0.0)).collect();
        let mut actor = bind(&with, method);
        let expected = frames(&mut bind(&without, method), &still);
        assert!(frames(&mut actor, &still) == expected, "{}", method.id());
        // After a morph came and went, too: simulations do not see it.
        actor.reset();
        let mut mixed = still.clone();
        mixed[1].1 = 0.7;
        let shown = frames(&mut actor, &mixed);
        assert!(shown[1] != expected[1], "{}", method.id());
        assert!(!actor.is_morphed());
        for frame in [0, 2, 3] {
            assert!(shown[frame] == expected[frame], "{} {frame}", method.id());
        }
    }
}

#[test]
fn displacements_turn_with_the_joints_under_every_method() {
    let subject = subject("arm", true);
    let target = &subject.character.morphs[0].shapes[0].targets[0];
    let pose = bent(&subject, 0.4);
    let moves = |method: MethodId| -> Vec<Vec3> {
        let both = [(pose.clone(), 0.0), (pose.clone(), 0.5)];
        let mut actor = bind(&subject, method);
        // Equilibria, so that both frames are of the same state.
        let mut at = |(world, weight): &(Vec<Affine>, f64)| {
            actor.reset();
            actor.set_morphs(&weights(*weight));
            let frame = Frame {
                world_from_joint: world,
                dt_secs: 0.0,
            };
            actor.advance(&frame).expect("settles");
            actor.positions().to_vec()
        };
        let [plain, morphed] = [at(&both[0]), at(&both[1])];
        let pairs = plain.iter().zip(&morphed);
        pairs.map(|(a, b)| b - a).collect()
    };
    let linear = moves(MethodId::LBS);
    for method in methods() {
        let moved = moves(method);
        for (vertex, by) in moved.iter().enumerate() {
            let known = target.vertices.iter().position(|&v| v as usize == vertex);
            let Some(known) = known else {
                assert_eq!(*by, Vec3::zeros(), "{}: vertex {vertex}", method.id());
                continue;
            };
            let offset = target.offsets[known] * 0.5;
            // Joints turn here: a displacement keeps its length, but for the average of matrices.
            let off = (by.norm() - offset.norm()).abs() / offset.norm();
            assert!(off < 0.1, "{}: vertex {vertex}: {off}", method.id());
            let off = (by - linear[vertex]).norm() / offset.norm();
            // Rigid skinning has the strongest joint alone.
            assert!(off < 0.6, "{}: vertex {vertex}: {off}", method.id());
            let adds = ["ddm", "delta-mush", "implicit", "pd", "pbd", "xpbd"];
            if adds.contains(&method.id()) {
                // As linear blending of the displacement, to the rounding of the positions.
                assert!(off < 1e-3, "{}: vertex {vertex}: {off}", method.id());
            }
        }
    }
}

#[test]
fn threads_do_not_change_morphed_frames() {
    let subject = subject("gecko", true);
    for method in methods() {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let poses: Vec<_> = (0..3)
                .map(|k| (bent(&subject, 0.1 * f64::from(k)), 0.3 * f64::from(k)))
                .collect();
            let run = || frames(&mut bind(&subject, method), &poses);
            pool.build().expect("threads").install(run)
        };
        assert!(with(1) == with(3), "{}", method.id());
    }
}

#[test]
fn a_saved_frame_has_its_morphs() {
    let subject = subject("arm", true);
    for method in methods() {
        let mut actor = bind(&subject, method);
        let shown = frames(&mut actor, &[(bent(&subject, 0.2), 0.8)]);
        let saved = actor.save();
        let next = [(bent(&subject, 0.3), 0.4)];
        let expected = frames(&mut actor, &next);
        let mut other = bind(&subject, method);
        other.restore(&saved).expect("of this method");
        assert!(other.positions() == shown[0], "{}", method.id());
        let off = worst(&frames(&mut other, &next)[0], &expected[0]);
        assert!(off == 0.0, "{}: {off}", method.id());
    }
}
