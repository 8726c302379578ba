//! Theorems about materials, held regions, and bones that stretch, twist or hold nothing.

use std::sync::Arc;

use sinew::character::{BoneMap, BoneSettings, Character};
use sinew::dynamics::{Collisions, Materials, Params, Preset, Simulation};
use sinew::math::{Affine, Point, Quat, Vec64};
use sinew::progress::Progress;
use sinew::rig::{Pose, Skeleton};
use sinew::skin::{Actor, Flesh, Frame, Method, Subject};
use sinew::tissue::BaseFrame;

mod skip;

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

/// The held head is where the head joint puts it, to rounding; the neck feels it.
#[test]
fn a_held_region_is_rigid_with_its_bone() {
    let subject = with_bones("mannequin", &[("head", "held")]);
    let skeleton = &subject.character.skeleton;
    let head = skeleton.find("head").expect("a head");
    let tissue = &flesh(&subject).tissue;
    let is_head = |vertex: &u32| tissue.graph.bones[tissue.foot_bones[*vertex as usize] as usize].joint == head;
    let held: Vec<u32> = tissue.carried.iter().copied().filter(is_head).collect();
    assert!(held.len() > 30, "{} vertices", held.len());
    // Also where the chin touches the chest.
    let mut actor = Actor::bind(&subject, Method::Pd, &heavy(Preset::Jelly.params()), &Progress::new()).expect("binds");
    let mut pose = skeleton.rest_pose();
    let mut rigid = 0.0_f32;
    for frame in 0..40 {
        pose.rotate_about_world_axes(skeleton, head, &Quat::from_euler_angles(0.03, 0.02, -0.01));
        pose.locals[0].translation += Vec64::new(0.01, 0.02, 0.0);
        let world = skeleton.world_from_joint(&pose);
        // A whole number of steps, so that the skin shown is the skin simulated.
        actor.advance(&Frame { world_from_joint: &world, dt_secs: if frame == 0 { 0.0 } else { 1.0 / 60.0 } }).expect("moves");
        let posed = world[head] * skeleton.joints()[head].world_from_bind.inverse();
        let simulated = actor.projective().expect("simulated").simulation().positions();
        for &vertex in &held {
            let wanted = posed * subject.sim().mesh.positions[vertex as usize].cast::<f64>();
            rigid = rigid.max((simulated[vertex as usize].cast::<f64>() - wanted).norm() as f32);
        }
    }
    assert!(rigid < 1e-6 * subject.size, "{} of the size", rigid / subject.size);
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

/// The forearm is pulled 30 % longer by moving the hand along it: base and skin stay attached at both ends, and the base between is
/// stretched evenly.
#[test]
fn a_stretched_bone_stays_attached_at_both_ends() {
    let subject = build(character("mannequin"));
    let skeleton = &subject.character.skeleton;
    let (forearm, hand) = (skeleton.find("forearm.L").expect("a forearm"), skeleton.find("hand.L").expect("a hand"));
    let mut pose = skeleton.rest_pose();
    pose.locals[hand].translation *= 1.3;
    let base = place(&subject, &skeleton.world_from_joint(&pose));
    let tissue = &flesh(&subject).tissue;
    let (a, b) = (skeleton.bind_position(forearm), skeleton.bind_position(hand));
    let axis = (b - a).normalize();
    let length = (b - a).norm();
    let longer = 0.3 * length;
    let mut seen = 0;
    for (vertex, (moved, rest)) in base.iter().zip(&tissue.base).enumerate() {
        let joint = tissue.graph.bones[tissue.foot_bones[vertex] as usize].joint;
        let moved = moved.cast::<f64>() - rest;
        let along = (rest - a).dot(&axis) / length;
        if joint == forearm && (0.0..=1.0).contains(&along) {
            seen += 1;
            assert!((moved - axis * (longer * along)).norm() < 0.03 * length, "vertex {vertex} at {along}: {moved}");
        } else if joint == hand && along > 1.2 {
            assert!((moved - axis * longer).norm() < 1e-5 * length, "the hand goes with its joint");
        }
    }
    assert!(seen > 50);
    // No edge of the base is torn: none gets longer by more than the bone did.
    for &[i, j, _] in &subject.sim().mesh.triangles {
        let (i, j) = (i as usize, j as usize);
        let (before, after) = ((tissue.base[i] - tissue.base[j]).norm(), f64::from((base[i] - base[j]).norm()));
        assert!(after < 1.6 * before + 1e-3 * length, "{after} after {before}");
    }
}

/// A joint that is scaled takes the base with it, bones and joint spheres included.
#[test]
fn a_scaled_joint_scales_its_base() {
    let subject = build(character("mannequin"));
    let skeleton = &subject.character.skeleton;
    let root = (0..skeleton.len()).find(|&joint| skeleton.joints()[joint].parent.is_none()).expect("a root");
    let mut pose = skeleton.rest_pose();
    let center = skeleton.bind_position(root);
    pose.locals[root].scale *= 0.5;
    let base = place(&subject, &skeleton.world_from_joint(&pose));
    for (moved, rest) in base.iter().zip(&flesh(&subject).tissue.base) {
        let wanted = center + (rest - center) * 0.5;
        assert!((moved.cast::<f64>() - wanted).norm() < 1e-5 * f64::from(subject.size));
    }
}

/// The hand turned about the forearm: without the setting the forearm's base stays with the elbow up to the ring, with it the turn
/// grows evenly.
#[test]
fn a_twisting_bone_spreads_the_turn() {
    let joint = "forearm.L";
    let angle = 1.2;
    let turn_at = |subject: &Subject, part: f64| {
        let skeleton = &subject.character.skeleton;
        let (forearm, hand) = (skeleton.find(joint).expect("a forearm"), skeleton.find("hand.L").expect("a hand"));
        let (a, b) = (skeleton.bind_position(forearm), skeleton.bind_position(hand));
        let axis = nalgebra::Unit::new_normalize(b - a);
        let mut pose = skeleton.rest_pose();
        pose.rotate_about_world_axes(skeleton, hand, &Quat::from_axis_angle(&axis, angle));
        let base = place(subject, &skeleton.world_from_joint(&pose));
        let tissue = &flesh(subject).tissue;
        let around = |p: &nalgebra::Point3<f64>| {
            let from_axis = p - a;
            from_axis - *axis * from_axis.dot(&axis)
        };
        let mut turns: Vec<f64> = Vec::new();
        for (vertex, (moved, rest)) in base.iter().zip(&tissue.base).enumerate() {
            let along = (rest - a).dot(&axis) / (b - a).norm();
            if tissue.graph.bones[tissue.foot_bones[vertex] as usize].joint == forearm && (along - part).abs() < 0.05 {
                let (old, new) = (around(rest), around(&moved.cast::<f64>()));
                turns.push(old.cross(&new).dot(&axis).atan2(old.dot(&new)));
            }
        }
        assert!(!turns.is_empty());
        turns.sort_by(f64::total_cmp);
        turns[turns.len() / 2] / angle
    };
    let (plain, twisting) = (build(character("mannequin")), with_bones("mannequin", &[(joint, "twist")]));
    assert!(turn_at(&plain, 0.5).abs() < 1e-3);
    for part in [0.5, 0.7] {
        let turn = turn_at(&twisting, part);
        assert!((turn - part).abs() < 0.1, "{turn} at {part}");
    }
}

/// The gecko with a tail that nothing holds from its second joint on.
fn with_virtual_tail(more: &str) -> Arc<Subject> {
    let edit = format!("virtual{more}");
    let tail: Vec<String> = (2..=6).map(|joint| format!("tail.{joint}")).collect();
    let edits: Vec<(&str, &str)> = tail.iter().map(|joint| (joint.as_str(), edit.as_str())).collect();
    with_bones("gecko", &edits)
}

fn actor(subject: &Arc<Subject>, params: &Params) -> Actor {
    Actor::bind(subject, Method::Pd, params, &Progress::new()).expect("binds")
}

fn advance(actor: &mut Actor, world: &[Affine], dt_secs: f64) {
    actor.advance(&Frame { world_from_joint: world, dt_secs }).expect("moves");
}

fn tail_tip(subject: &Subject, actor: &Actor) -> Point {
    let positions = actor.positions();
    let tip = (0..positions.len()).min_by(|&a, &b| subject.bind_positions[a].z.total_cmp(&subject.bind_positions[b].z));
    positions[tip.expect("vertices")]
}

#[test]
fn virtual_bones_rest_and_move_rigidly_like_others() {
    let subject = with_virtual_tail("");
    let skeleton = &subject.character.skeleton;
    let rest = skeleton.world_from_joint(&skeleton.rest_pose());
    let mut actor = actor(&subject, &calm(Preset::Jelly));
    for frame in 0..60 {
        advance(&mut actor, &rest, if frame == 0 { 0.0 } else { 1.0 / 60.0 });
    }
    let moved = worst(actor.positions(), &subject.bind_positions);
    assert!(moved < 1e-6 * subject.size, "{} of the size", moved / subject.size);
    let motion = sinew::rig::Trs { rotation: Quat::from_euler_angles(0.5, 2.0, -1.0), ..sinew::rig::Trs::at(Vec64::new(1.0, 2.0, 3.0)) };
    let world: Vec<Affine> = rest.iter().map(|joint| motion.to_affine() * joint).collect();
    advance(&mut actor, &world, 0.0);
    let wanted: Vec<Point> = subject.bind_positions.iter().map(|p| sinew::math::transform_point(&motion.to_affine(), p)).collect();
    let apart = worst(actor.positions(), &wanted);
    assert!(apart < 2e-5 * subject.size, "{} of the size", apart / subject.size);
}

/// It hangs under gravity, less if stiffer; swings when the body turns; and is back when all is over.
#[test]
fn a_virtual_tail_hangs_swings_and_comes_back() {
    let subject = with_virtual_tail("");
    let skeleton = &subject.character.skeleton;
    let rest = skeleton.world_from_joint(&skeleton.rest_pose());
    let drop = |subject: &Arc<Subject>| {
        let mut actor = actor(subject, &heavy(calm(Preset::Natural)));
        advance(&mut actor, &rest, 0.0);
        (tail_tip(subject, &actor).y - tail_tip_at_rest(subject).y) / subject.size
    };
    let (plain, stiff) = (drop(&subject), drop(&with_virtual_tail(",stiffness:20")));
    println!("the tail hangs {plain} of the size, stiffer {stiff}");
    assert!(plain < -0.02 && stiff < 0.0 && stiff > 0.5 * plain, "{plain}, stiff {stiff}");

    let mut actor = actor(&subject, &calm(Preset::Natural));
    advance(&mut actor, &rest, 0.0);
    let mut largest = 0.0_f32;
    for frame in 0..240 {
        let time = f64::from(frame) / 60.0;
        let angle = 0.5 * (6.0 * time).sin() * f64::from(u8::from(time < 1.5));
        let motion = sinew::rig::Trs { rotation: Quat::from_euler_angles(0.0, angle, 0.0), ..sinew::rig::Trs::IDENTITY }.to_affine();
        let world: Vec<Affine> = rest.iter().map(|joint| motion * joint).collect();
        advance(&mut actor, &world, 1.0 / 60.0);
        let rigid = sinew::math::transform_point(&motion, &tail_tip_at_rest(&subject));
        largest = largest.max((tail_tip(&subject, &actor) - rigid).norm());
    }
    assert!(largest > 0.03 * subject.size, "it swings: {}", largest / subject.size);
    for _ in 0..1200 {
        advance(&mut actor, &rest, 1.0 / 60.0);
    }
    let left = worst(actor.positions(), &subject.bind_positions);
    assert!(left < 1e-3 * subject.size, "{} of the size is left", left / subject.size);
}

fn tail_tip_at_rest(subject: &Subject) -> Point {
    *subject.bind_positions.iter().min_by(|a, b| a.z.total_cmp(&b.z)).expect("vertices")
}

/// Where swinging ends, settling begins.
#[test]
fn a_virtual_tail_settles_where_it_swings_to() {
    let subject = with_virtual_tail(",stiffness:3");
    let skeleton = &subject.character.skeleton;
    let rest = skeleton.world_from_joint(&skeleton.rest_pose());
    let params = heavy(Params { damping_per_s: 10.0, ..calm(Preset::Natural) });
    let (mut settled, mut swinging) = (actor(&subject, &params), actor(&subject, &Params { damping_per_s: 10.0, ..calm(Preset::Natural) }));
    let start = std::time::Instant::now();
    advance(&mut settled, &rest, 0.0);
    println!("settled in {:?}", start.elapsed());
    advance(&mut swinging, &rest, 0.0);
    swinging.set_params(&params).expect("factors");
    for _ in 0..600 {
        advance(&mut swinging, &rest, 1.0 / 60.0);
    }
    let apart = worst(settled.positions(), swinging.positions());
    assert!(apart < 2e-3 * subject.size, "{} of the size", apart / subject.size);
}

/// Nothing holds anything: the skeleton hangs on its first joint. And wild poses, time steps and stiffnesses leave it finite.
#[test]
fn all_bones_virtual_and_wild_poses_stay_finite() {
    let all: Vec<String> = character("arm").skeleton.joints().iter().map(|joint| joint.name.clone()).collect();
    let edits: Vec<(&str, &str)> = all.iter().map(|name| (name.as_str(), "virtual")).collect();
    let subject = with_bones("arm", &edits);
    let skeleton = &subject.character.skeleton;
    for (stiffness_pa, time_step_secs) in [(1.0, 1.0 / 15.0), (2e4, 1.0 / 240.0), (1e9, 1.0 / 60.0)] {
        let params = heavy(Params { stiffness_pa, time_step_secs, ..calm(Preset::Jelly) });
        let mut actor = actor(&subject, &params);
        let mut pose = skeleton.rest_pose();
        for frame in 0..60 {
            for (joint, local) in pose.locals.iter_mut().enumerate() {
                let seed = f64::from(frame / 5) * 7.3 + joint as f64;
                local.rotation = Quat::from_euler_angles(3.0 * seed.sin(), 3.0 * (1.3 * seed).cos(), 3.0 * (1.7 * seed).sin());
            }
            advance(&mut actor, &skeleton.world_from_joint(&pose), if frame == 0 { 0.0 } else { 1.0 / 30.0 });
            assert!(actor.positions().iter().all(|p| p.iter().all(|c| c.is_finite())));
        }
    }
}

/// Virtual between two bones that hold: it goes from one to the other.
#[test]
fn a_virtual_bone_between_two_others_follows_both() {
    let subject = with_bones("mannequin", &[("forearm.L", "virtual")]);
    let skeleton = &subject.character.skeleton;
    let hand = skeleton.find("hand.L").expect("a hand");
    let mut pose = skeleton.rest_pose();
    pose.locals[hand].translation *= 1.2;
    let world = skeleton.world_from_joint(&pose);
    let mut actor = actor(&subject, &calm(Preset::Natural));
    advance(&mut actor, &world, 0.0);
    let tissue = &flesh(&subject).tissue;
    let base = actor.projective().expect("simulated").simulation().base();
    for &[i, j, _] in &subject.sim().mesh.triangles {
        let (i, j) = (i as usize, j as usize);
        let (before, after) = ((tissue.base[i] - tissue.base[j]).norm(), f64::from((base[i] - base[j]).norm()));
        assert!(after < 1.7 * before + 5e-4 * f64::from(subject.size), "{after} after {before}");
    }
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
