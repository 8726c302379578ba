//! Theorems about materials, held regions, and bones that stretch, twist or hold nothing.

mod bones;
mod painted;
mod virtual_bones;
mod whole;

use std::sync::Arc;

use sinew::character::{BoneMap, BoneSettings, Character};
use sinew::dynamics::{Collisions, Materials, Params, Preset, Simulation};
use sinew::math::{Affine, Point, Quat};
use sinew::methods::{Actor, Flesh, Frame, MethodId, Subject};
use sinew::progress::Progress;
use sinew::rig::{Pose, Skeleton};
use sinew::tissue::BaseFrame;

fn with_bones(name: &str, edits: &[(&str, &str)]) -> Arc<Subject> {
    let mut character = character(name);
    for (joint, edit) in edits {
        let joint = character
            .skeleton
            .find(joint)
            .expect("a joint of that name");
        character
            .flesh
            .bones
            .entry(joint)
            .or_default()
            .edit(edit)
            .expect("an edit");
    }
    build(character)
}

fn worst(a: &[Point], b: &[Point]) -> f32 {
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).norm())
        .fold(0.0, f32::max)
}

fn actor(subject: &Arc<Subject>, params: &Params) -> Actor {
    Actor::bind(subject, MethodId::PD, params, &Progress::new()).expect("binds")
}

fn advance(actor: &mut Actor, world: &[Affine], dt_secs: f64) {
    actor
        .advance(&Frame {
            world_from_joint: world,
            dt_secs,
        })
        .expect("moves");
}

fn character(name: &str) -> Character {
    sinew::io::builtin::load_builtin(name).expect("built in")
}

fn build(character: Character) -> Arc<Subject> {
    Arc::new(Subject::build(Arc::new(character), &Progress::new()).expect("builds"))
}

fn flesh(subject: &Subject) -> &Flesh {
    subject.flesh().expect("has flesh")
}

fn simulation(subject: &Subject, params: &Params) -> Simulation {
    let flesh = flesh(subject);
    let position = subject.sim().mesh.positions.clone();
    Simulation::new(
        flesh.system.clone(),
        params,
        position,
        flesh.tissue.anchors.at_rest(),
        subject.size,
    )
    .expect("factors")
}

fn place(subject: &Subject, world: &[Affine]) -> Vec<Point> {
    let anchors = &flesh(subject).tissue.anchors;
    let mut base = vec![Point::origin(); anchors.len()];
    anchors.place(world, &mut BaseFrame::default(), &mut base);
    base
}

/// What touches has tests of its own.
fn calm(preset: Preset) -> Params {
    Params {
        collisions: Collisions::Off,
        ..preset.params()
    }
}

/// Gravity on the ground.
fn heavy(params: Params) -> Params {
    Params {
        gravity_m_s2: [0.0, -9.81, 0.0],
        ..params
    }
}

/// How far the skin hangs from where it is without weight, vertex by vertex.
fn sag(subject: &Subject, params: &Params, materials: &Materials) -> Vec<f32> {
    let mut simulation = simulation(subject, params);
    simulation.set_materials(materials).expect("factors");
    simulation.settle().expect("factors");
    simulation
        .positions()
        .iter()
        .zip(&subject.sim().mesh.positions)
        .map(|(a, b)| (a - b).norm())
        .collect()
}

fn sum(values: &[f32]) -> f32 {
    values.iter().sum()
}

fn materials_of(subject: &Subject, bones: &BoneMap) -> Materials {
    Materials::of_bones(&flesh(subject).tissue, &subject.sim().mesh, bones)
}

/// A pose in which every joint but the roots is turned a little.
fn some_pose(skeleton: &Skeleton) -> Pose {
    let mut pose = skeleton.rest_pose();
    for (joint, local) in pose
        .locals
        .iter_mut()
        .enumerate()
        .filter(|(joint, _)| skeleton.joints()[*joint].parent.is_some())
    {
        let seed = joint as f64;
        local.rotation *= Quat::from_euler_angles(
            0.2 * seed.sin(),
            0.2 * (2.0 * seed).cos(),
            0.2 * (3.0 * seed).sin(),
        );
    }
    pose
}

#[test]
fn factors_of_one_change_nothing() {
    let subject = build(character("arm"));
    let vertices = subject.sim().mesh.positions.len();
    let base = place(
        &subject,
        &subject
            .character
            .skeleton
            .world_from_joint(&some_pose(&subject.character.skeleton)),
    );
    let play = |materials: Option<&Materials>| {
        let mut simulation = simulation(&subject, &heavy(calm(Preset::Soft)));
        if let Some(materials) = materials {
            simulation.set_materials(materials).expect("factors");
        }
        for _ in 0..10 {
            simulation.step(&base);
        }
        simulation.positions().to_vec()
    };
    let plain = play(None);
    let defaults: BoneMap = (0..subject.character.skeleton.len())
        .map(|joint| (joint, BoneSettings::default()))
        .collect();
    let of_bones = materials_of(&subject, &defaults);
    assert!(of_bones.is_uniform());
    for materials in [Materials::uniform(vertices), of_bones] {
        assert_eq!(play(Some(&materials)), plain, "to the bit");
    }
}

#[test]
fn stiffer_sags_less_and_heavier_sags_more() {
    let subject = build(character("arm"));
    let params = heavy(calm(Preset::Natural));
    let uniform = Materials::uniform(subject.sim().mesh.positions.len());
    let plain = sum(&sag(&subject, &params, &uniform));
    let stiff = sum(&sag(
        &subject,
        &params,
        &Materials {
            stiffness: vec![4.0; uniform.len()],
            ..uniform.clone()
        },
    ));
    let dense = sum(&sag(
        &subject,
        &params,
        &Materials {
            density: vec![2.0; uniform.len()],
            ..uniform.clone()
        },
    ));
    // Sag is proportional to weight over stiffness as long as it is small.
    assert!((0.2..0.3).contains(&(stiff / plain)), "{}", stiff / plain);
    assert!((1.6..2.4).contains(&(dense / plain)), "{}", dense / plain);
    // Four times as stiff and four times as heavy hangs alike, and swings alike.
    let both = Materials {
        stiffness: vec![4.0; uniform.len()],
        density: vec![4.0; uniform.len()],
        ..uniform
    };
    let both = sum(&sag(&subject, &params, &both));
    assert!((both / plain - 1.0).abs() < 1e-2, "{}", both / plain);
}

#[test]
fn a_stiffer_region_sags_less() {
    let subject = build(character("mannequin"));
    let thigh = subject.character.skeleton.find("thigh.L").expect("a thigh");
    let params = heavy(calm(Preset::Jelly));
    let bones = BoneMap::from([(
        thigh,
        BoneSettings {
            stiffness: 10.0,
            ..BoneSettings::default()
        },
    )]);
    let materials = materials_of(&subject, &bones);
    let tissue = &flesh(&subject).tissue;
    let inside: Vec<bool> = tissue
        .foot_bones
        .iter()
        .map(|&bone| tissue.graph.bones[bone as usize].joint == thigh)
        .collect();
    // Its middle has the value asked for, the other leg none of it, and the border lies between.
    assert!(
        materials
            .stiffness
            .iter()
            .any(|&factor| (factor - 10.0).abs() < 1e-3)
    );
    assert!(
        materials
            .stiffness
            .iter()
            .all(|&factor| (0.999..=10.001).contains(&factor))
    );
    assert!(
        materials
            .stiffness
            .iter()
            .filter(|&&factor| factor == 1.0)
            .count()
            > inside.len() / 2
    );
    let steepest = subject
        .sim()
        .mesh
        .triangles
        .iter()
        .map(|&[a, b, _]| materials.stiffness[a as usize] / materials.stiffness[b as usize]);
    assert!(
        steepest.fold(0.0, f32::max) < 3.0,
        "no step between neighbours"
    );
    let uniform = Materials::uniform(inside.len());
    let (plain, stiff) = (
        sag(&subject, &params, &uniform),
        sag(&subject, &params, &materials),
    );
    let in_region = |sag: &[f32]| {
        sag.iter()
            .zip(&inside)
            .filter(|(_, inside)| **inside)
            .map(|(s, _)| s)
            .sum::<f32>()
    };
    assert!(
        in_region(&stiff) < 0.5 * in_region(&plain),
        "{} of {}",
        in_region(&stiff),
        in_region(&plain)
    );
    let elsewhere = |sag: &[f32]| sum(sag) - in_region(sag);
    assert!((elsewhere(&stiff) / elsewhere(&plain) - 1.0).abs() < 0.1);
}

/// Factors that change while it moves keep the state; materials that are nonsense do no harm.
#[test]
fn materials_change_at_run_time_and_invalid_values_are_corrected() {
    let subject = build(character("cylinder"));
    let vertices = subject.sim().mesh.positions.len();
    let mut simulation = simulation(&subject, &heavy(calm(Preset::Jelly)));
    let base = simulation.base().to_vec();
    simulation.step(&base);
    let before = simulation.positions().to_vec();
    let nonsense = Materials {
        stiffness: vec![f32::NAN, -1.0, f32::INFINITY],
        density: vec![0.0; vertices + 7],
        ..Materials::default()
    };
    simulation.set_materials(&nonsense).expect("factors");
    assert_eq!(simulation.positions(), before);
    for _ in 0..20 {
        simulation.step(&base);
    }
    assert!(
        simulation
            .positions()
            .iter()
            .all(|p| p.iter().all(|c| c.is_finite()))
    );
}
