//! Theorems about materials, held regions, and bones that stretch, twist or hold nothing.

use std::sync::Arc;

use sinew::character::{BoneMap, BoneSettings, Character};
use sinew::dynamics::{Collisions, Materials, Params, Preset, Simulation};
use sinew::math::{Affine, Point, Quat, Vec64};
use sinew::progress::Progress;
use sinew::rig::{Pose, Skeleton};
use sinew::skin::{Actor, Flesh, Frame, Method, Subject};
use sinew::tissue::BaseFrame;

mod bones;
#[path = "../skip/mod.rs"]
mod skip;
mod virtual_bones;

fn character(name: &str) -> Character {
    sinew::io::builtin::load_builtin(name).expect("built in")
}

fn build(character: Character) -> Arc<Subject> {
    Arc::new(Subject::build(Arc::new(character), &Progress::new()).expect("builds"))
}

fn with_bones(name: &str, edits: &[(&str, &str)]) -> Arc<Subject> {
    let mut character = character(name);
    for (joint, edit) in edits {
        let joint = character.skeleton.find(joint).expect("a joint of that name");
        character.flesh.bones.entry(joint).or_default().edit(edit).expect("an edit");
    }
    build(character)
}

fn flesh(subject: &Subject) -> &Flesh {
    subject.tissue.as_ref().expect("has flesh")
}

fn simulation(subject: &Subject, params: &Params) -> Simulation {
    let flesh = flesh(subject);
    let position = subject.sim().mesh.positions.clone();
    Simulation::new(flesh.system.clone(), params, position, flesh.tissue.anchors.at_rest(), subject.size).expect("factors")
}

fn place(subject: &Subject, world: &[Affine]) -> Vec<Point> {
    let anchors = &flesh(subject).tissue.anchors;
    let mut base = vec![Point::origin(); anchors.len()];
    anchors.place(world, &mut BaseFrame::default(), &mut base);
    base
}

fn worst(a: &[Point], b: &[Point]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f32::max)
}

/// What touches has tests of its own.
fn calm(preset: Preset) -> Params {
    Params { collisions: Collisions::Off, ..preset.params() }
}

/// Gravity on the ground.
fn heavy(params: Params) -> Params {
    Params { gravity_m_s2: [0.0, -9.81, 0.0], ..params }
}

/// How far the skin hangs from where it is without weight, vertex by vertex.
fn sag(subject: &Subject, params: &Params, materials: &Materials) -> Vec<f32> {
    let mut simulation = simulation(subject, params);
    simulation.set_materials(materials).expect("factors");
    simulation.settle().expect("factors");
    simulation.positions().iter().zip(&subject.sim().mesh.positions).map(|(a, b)| (a - b).norm()).collect()
}

fn sum(values: &[f32]) -> f32 {
    values.iter().sum()
}

fn materials_of(subject: &Subject, bones: &BoneMap) -> Materials {
    Materials::of_bones(&flesh(subject).tissue, &subject.sim().mesh, bones)
}

fn actor(subject: &Arc<Subject>, params: &Params) -> Actor {
    Actor::bind(subject, Method::Pd, params, &Progress::new()).expect("binds")
}

fn advance(actor: &mut Actor, world: &[Affine], dt_secs: f64) {
    actor.advance(&Frame { world_from_joint: world, dt_secs }).expect("moves");
}

/// A pose in which every joint but the roots is turned a little.
fn some_pose(skeleton: &Skeleton) -> Pose {
    let mut pose = skeleton.rest_pose();
    for (joint, local) in pose.locals.iter_mut().enumerate().filter(|(joint, _)| skeleton.joints()[*joint].parent.is_some()) {
        let seed = joint as f64;
        local.rotation *= Quat::from_euler_angles(0.2 * seed.sin(), 0.2 * (2.0 * seed).cos(), 0.2 * (3.0 * seed).sin());
    }
    pose
}

#[test]
fn factors_of_one_change_nothing() {
    let subject = build(character("arm"));
    let vertices = subject.sim().mesh.positions.len();
    let base = place(&subject, &subject.character.skeleton.world_from_joint(&some_pose(&subject.character.skeleton)));
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
    let defaults: BoneMap = (0..subject.character.skeleton.len()).map(|joint| (joint, BoneSettings::default())).collect();
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
    let stiff = sum(&sag(&subject, &params, &Materials { stiffness: vec![4.0; uniform.len()], ..uniform.clone() }));
    let dense = sum(&sag(&subject, &params, &Materials { density: vec![2.0; uniform.len()], ..uniform.clone() }));
    // Sag is proportional to weight over stiffness as long as it is small.
    assert!((0.2..0.3).contains(&(stiff / plain)), "{}", stiff / plain);
    assert!((1.6..2.4).contains(&(dense / plain)), "{}", dense / plain);
    // Four times as stiff and four times as heavy hangs alike, and swings alike.
    let both = Materials { stiffness: vec![4.0; uniform.len()], density: vec![4.0; uniform.len()], ..uniform };
    let both = sum(&sag(&subject, &params, &both));
    assert!((both / plain - 1.0).abs() < 1e-2, "{}", both / plain);
}

#[test]
fn a_stiffer_region_sags_less_than_it_did() {
    let subject = build(character("mannequin"));
    let thigh = subject.character.skeleton.find("thigh.L").expect("a thigh");
    let params = heavy(calm(Preset::Jelly));
    let bones = BoneMap::from([(thigh, BoneSettings { stiffness: 10.0, ..BoneSettings::default() })]);
    let materials = materials_of(&subject, &bones);
    let tissue = &flesh(&subject).tissue;
    let inside: Vec<bool> = tissue.foot_bones.iter().map(|&bone| tissue.graph.bones[bone as usize].joint == thigh).collect();
    // Its middle has the value asked for, the other leg none of it, and the border lies between.
    assert!(materials.stiffness.iter().any(|&factor| (factor - 10.0).abs() < 1e-3));
    assert!(materials.stiffness.iter().all(|&factor| (0.999..=10.001).contains(&factor)));
    assert!(materials.stiffness.iter().filter(|&&factor| factor == 1.0).count() > inside.len() / 2);
    let steepest = subject.sim().mesh.triangles.iter().map(|&[a, b, _]| materials.stiffness[a as usize] / materials.stiffness[b as usize]);
    assert!(steepest.fold(0.0, f32::max) < 3.0, "no step between neighbours");
    let uniform = Materials::uniform(inside.len());
    let (plain, stiff) = (sag(&subject, &params, &uniform), sag(&subject, &params, &materials));
    let in_region = |sag: &[f32]| sag.iter().zip(&inside).filter(|(_, inside)| **inside).map(|(s, _)| s).sum::<f32>();
    assert!(in_region(&stiff) < 0.5 * in_region(&plain), "{} of {}", in_region(&stiff), in_region(&plain));
    let elsewhere = |sag: &[f32]| sum(sag) - in_region(sag);
    assert!((elsewhere(&stiff) / elsewhere(&plain) - 1.0).abs() < 0.1);
}

/// Factors that change while it moves keep the state; materials that are nonsense do no harm.
#[test]
fn materials_change_on_the_fly_and_nonsense_is_mended() {
    let subject = build(character("cylinder"));
    let vertices = subject.sim().mesh.positions.len();
    let mut simulation = simulation(&subject, &heavy(calm(Preset::Jelly)));
    let base = simulation.base().to_vec();
    simulation.step(&base);
    let before = simulation.positions().to_vec();
    let nonsense = Materials { stiffness: vec![f32::NAN, -1.0, f32::INFINITY], density: vec![0.0; vertices + 7], ..Materials::default() };
    simulation.set_materials(&nonsense).expect("factors");
    assert_eq!(simulation.positions(), before);
    for _ in 0..20 {
        simulation.step(&base);
    }
    assert!(simulation.positions().iter().all(|p| p.iter().all(|c| c.is_finite())));
}

/// A base that moves off and stops: the largest distance of the skin from its equilibrium.
fn swing(subject: &Subject, params: &Params) -> f32 {
    let mut simulation = simulation(subject, params);
    let rest = simulation.positions().to_vec();
    let rest_base = simulation.base().to_vec();
    let way = 0.1 * subject.size;
    let shift = |points: &[Point], by: f32| -> Vec<Point> { points.iter().map(|p| p + nalgebra::Vector3::x() * by).collect() };
    let mut largest = 0.0_f32;
    for step in 0..60 {
        let moved = way * (step as f32 / 12.0).min(1.0);
        simulation.step(&shift(&rest_base, moved));
        largest = largest.max(worst(simulation.positions(), &shift(&rest, moved)));
    }
    largest / subject.size
}

#[test]
fn jiggle_scales_inertia_and_leaves_weight() {
    let subject = build(character("arm"));
    let with = |jiggle: f64| Params { jiggle, iterations: 30, ..calm(Preset::Jelly) };
    let amplitudes = [0.0, 0.25, 1.0, 2.0].map(|jiggle| swing(&subject, &with(jiggle)));
    assert!(amplitudes[0] < 0.02 * amplitudes[2], "none: {amplitudes:?}");
    assert!(amplitudes[1] < 0.75 * amplitudes[2] && amplitudes[3] > 1.15 * amplitudes[2], "{amplitudes:?}");
    let uniform = Materials::uniform(subject.sim().mesh.positions.len());
    let hangs = |jiggle: f64| sag(&subject, &heavy(with(jiggle)), &uniform);
    let (without, plain) = (hangs(0.0), hangs(1.0));
    let apart = without.iter().zip(&plain).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(apart < 1e-3 * subject.size, "{apart}");
}

/// A figure as large as a house and one as small as a thumb, in metres both, jiggle and sag alike, scaled; in absolute pascals the
/// giant is softer.
#[test]
fn presets_mean_the_same_at_any_size() {
    let arm = |factor: f64| {
        let mut character = character("arm");
        character.metres_per_unit *= factor;
        build(character)
    };
    let hangs = |subject: &Subject, params: &Params| {
        let mut simulation = simulation(subject, &heavy(*params));
        let base = simulation.base().to_vec();
        for _ in 0..30 {
            simulation.step(&base);
        }
        simulation.positions().to_vec()
    };
    for preset in [Preset::Firm, Preset::Natural, Preset::Soft, Preset::Jelly] {
        let human = hangs(&arm(1.0), &calm(preset));
        for factor in [0.01, 10.0] {
            assert_eq!(hangs(&arm(factor), &calm(preset)), human, "{preset:?} at {factor}");
        }
    }
    let absolute = Params { human_sized: false, ..calm(Preset::Firm) };
    let rest = &arm(1.0).sim().mesh.positions.clone();
    let (small, giant) = (hangs(&arm(1.0), &absolute), hangs(&arm(3.0), &absolute));
    assert!(worst(&giant, rest) > 1.5 * worst(&small, rest));
}

/// Every option at once: without forces nothing moves.
#[test]
fn rest_stays_rest_with_every_option() {
    let edits = [("hips", "held"), ("spine.1", "twist"), ("tail.2", "density:3,jiggle:2"), ("chest", "stiffness:0.2,damping:0")];
    let subject = with_bones("gecko", &edits);
    let skeleton = &subject.character.skeleton;
    let rest = skeleton.world_from_joint(&skeleton.rest_pose());
    let params = Params { jiggle: 0.5, ..calm(Preset::Jelly) };
    let mut actor = Actor::bind(&subject, Method::Pd, &params, &Progress::new()).expect("binds");
    for frame in 0..60 {
        actor.advance(&Frame { world_from_joint: &rest, dt_secs: if frame == 0 { 0.0 } else { 1.0 / 60.0 } }).expect("moves");
    }
    let moved = worst(actor.positions(), &subject.character.bind_positions());
    assert!(moved < 1e-5 * subject.size, "{}", moved / subject.size);
}

/// One rigid motion of everything moves everything rigidly, whatever bones do.
#[test]
fn rigid_motion_moves_all_rigidly() {
    let subject = with_bones("gecko", &[("head", "held"), ("spine.1", "twist"), ("tail.3", "stiffness:0.1")]);
    let skeleton = &subject.character.skeleton;
    let motion = sinew::rig::Trs {
        translation: Vec64::new(3.0, -1.0, 0.5) * f64::from(subject.size),
        rotation: Quat::from_euler_angles(0.5, 2.0, -1.0),
        scale: Vec64::new(1.0, 1.0, 1.0),
    }
    .to_affine();
    let rest = skeleton.world_from_joint(&skeleton.rest_pose());
    let moved: Vec<Affine> = rest.iter().map(|joint| motion * joint).collect();
    let mut actor = Actor::bind(&subject, Method::Pd, &calm(Preset::Natural), &Progress::new()).expect("binds");
    actor.advance(&Frame { world_from_joint: &moved, dt_secs: 0.0 }).expect("settles");
    let wanted: Vec<Point> = subject.character.bind_positions().iter().map(|p| sinew::math::transform_point(&motion, p)).collect();
    let apart = worst(actor.positions(), &wanted);
    assert!(apart < 2e-5 * subject.size, "{} of the size", apart / subject.size);
}

/// Real skeletons with every third bone virtual, every fifth held, every other twisting: wild poses leave them finite, and the rest
/// pose brings them back.
#[test]
fn real_characters_take_every_option() {
    let Some(data) = std::env::var_os("SINEW_TEST_DATA").map(std::path::PathBuf::from) else {
        skip::skipped("SINEW_TEST_DATA is not set");
        return;
    };
    for name in ["Fox/Fox.glb", "q_Wolf/Wolf.glb", "q_Spider/Spider.glb", "kaykit_Knight/Knight.glb"] {
        let mut character = sinew::io::load(&[data.join("A_rigged").join(name)], &Progress::new()).expect("loads");
        for joint in 0..character.skeleton.len() {
            let settings = BoneSettings {
                is_virtual: joint % 3 == 1,
                held: joint % 5 == 2,
                twist: joint % 2 == 0,
                stiffness: 1.0 + f64::from(joint as u32 % 4),
                ..BoneSettings::default()
            };
            character.flesh.bones.insert(joint, settings);
        }
        let subject = build(character);
        let skeleton = &subject.character.skeleton;
        let mut actor = actor(&subject, &calm(Preset::Natural));
        let rest = skeleton.world_from_joint(&skeleton.rest_pose());
        advance(&mut actor, &rest, 0.0);
        let before = actor.positions().to_vec();
        for frame in 0..40 {
            let mut pose = skeleton.rest_pose();
            for (joint, local) in pose.locals.iter_mut().enumerate() {
                let seed = f64::from(frame / 4) * 5.1 + joint as f64;
                local.rotation *= Quat::from_euler_angles(seed.sin(), 2.0 * (1.3 * seed).cos(), (1.7 * seed).sin());
                local.translation *= 1.0 + 0.3 * seed.sin();
            }
            advance(&mut actor, &skeleton.world_from_joint(&pose), 1.0 / 60.0);
            assert!(actor.positions().iter().all(|p| p.iter().all(|c| c.is_finite())), "{name}, frame {frame}");
        }
        for _ in 0..600 {
            advance(&mut actor, &rest, 1.0 / 60.0);
        }
        let left = worst(actor.positions(), &before);
        println!("{name}: {} of the size is left", left / subject.size);
        assert!(left < 0.02 * subject.size, "{name}: {} of the size is left", left / subject.size);
    }
}
