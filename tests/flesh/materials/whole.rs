//! Inertia, presets and sizes: what holds for the whole body.

use sinew::character::BoneSettings;
use sinew::dynamics::{Materials, Params, Preset};
use sinew::math::{Affine, Point, Quat, Vec64};
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::progress::Progress;

use super::{actor, advance, build, calm, character, heavy, sag, simulation, with_bones, worst};
use crate::common::skip;

/// A base that moves off and stops: the largest distance of the skin from its equilibrium.
fn swing(subject: &Subject, params: &Params) -> f32 {
    let mut simulation = simulation(subject, params);
    let rest = simulation.positions().to_vec();
    let rest_base = simulation.base().to_vec();
    let way = 0.1 * subject.size;
    let shift = |points: &[Point], by: f32| -> Vec<Point> {
        points
            .iter()
            .map(|p| p + nalgebra::Vector3::x() * by)
            .collect()
    };
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
    let with = |jiggle: f64| Params {
        jiggle,
        iterations: 30,
        ..calm(Preset::Jelly)
    };
    let amplitudes = [0.0, 0.25, 1.0, 2.0].map(|jiggle| swing(&subject, &with(jiggle)));
    assert!(amplitudes[0] < 0.02 * amplitudes[2], "none: {amplitudes:?}");
    assert!(
        amplitudes[1] < 0.75 * amplitudes[2] && amplitudes[3] > 1.15 * amplitudes[2],
        "{amplitudes:?}"
    );
    let uniform = Materials::uniform(subject.sim().mesh.positions.len());
    let hangs = |jiggle: f64| sag(&subject, &heavy(with(jiggle)), &uniform);
    let (without, plain) = (hangs(0.0), hangs(1.0));
    let apart = without
        .iter()
        .zip(&plain)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f32::max);
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
            assert_eq!(
                hangs(&arm(factor), &calm(preset)),
                human,
                "{preset:?} at {factor}"
            );
        }
    }
    let absolute = Params {
        human_sized: false,
        ..calm(Preset::Firm)
    };
    let rest = &arm(1.0).sim().mesh.positions.clone();
    let (small, giant) = (hangs(&arm(1.0), &absolute), hangs(&arm(3.0), &absolute));
    assert!(worst(&giant, rest) > 1.5 * worst(&small, rest));
}

/// Every option at once: without forces nothing moves.
#[test]
fn rest_stays_at_rest_with_every_option() {
    let edits = [
        ("hips", "held"),
        ("spine.1", "twist"),
        ("tail.2", "density:3,jiggle:2"),
        ("chest", "stiffness:0.2,damping:0"),
    ];
    let subject = with_bones("gecko", &edits);
    let skeleton = &subject.character.skeleton;
    let rest = skeleton.world_from_joint(&skeleton.rest_pose());
    let params = Params {
        jiggle: 0.5,
        ..calm(Preset::Jelly)
    };
    let mut actor = Actor::bind(&subject, MethodId::PD, &params, &Progress::new()).expect("binds");
    for frame in 0..60 {
        actor
            .advance(&Frame {
                world_from_joint: &rest,
                dt_secs: if frame == 0 { 0.0 } else { 1.0 / 60.0 },
            })
            .expect("moves");
    }
    let moved = worst(actor.positions(), &subject.character.bind_positions());
    assert!(moved < 1e-5 * subject.size, "{}", moved / subject.size);
}

/// One rigid motion of everything moves everything rigidly, whatever bones do.
#[test]
fn rigid_motion_moves_all_rigidly() {
    let subject = with_bones(
        "gecko",
        &[
            ("head", "held"),
            ("spine.1", "twist"),
            ("tail.3", "stiffness:0.1"),
        ],
    );
    let skeleton = &subject.character.skeleton;
    let motion = sinew::rig::Trs {
        translation: Vec64::new(3.0, -1.0, 0.5) * f64::from(subject.size),
        rotation: Quat::from_euler_angles(0.5, 2.0, -1.0),
        scale: Vec64::new(1.0, 1.0, 1.0),
    }
    .to_affine();
    let rest = skeleton.world_from_joint(&skeleton.rest_pose());
    let moved: Vec<Affine> = rest.iter().map(|joint| motion * joint).collect();
    let mut actor = Actor::bind(
        &subject,
        MethodId::PD,
        &calm(Preset::Natural),
        &Progress::new(),
    )
    .expect("binds");
    actor
        .advance(&Frame {
            world_from_joint: &moved,
            dt_secs: 0.0,
        })
        .expect("settles");
    let wanted: Vec<Point> = subject
        .character
        .bind_positions()
        .iter()
        .map(|p| sinew::math::transform_point(&motion, p))
        .collect();
    let apart = worst(actor.positions(), &wanted);
    assert!(
        apart < 2e-5 * subject.size,
        "{} of the size",
        apart / subject.size
    );
}

/// Real skeletons with every third bone virtual, every fifth held, every other twisting: wild poses leave them finite, and the rest
/// pose brings them back.
#[test]
fn real_characters_take_every_option() {
    let Some(data) = skip::data() else {
        return;
    };
    for name in [
        "Fox/Fox.glb",
        "q_Wolf/Wolf.glb",
        "q_Spider/Spider.glb",
        "kaykit_Knight/Knight.glb",
    ] {
        let mut character =
            sinew::io::load(&[data.join("A_rigged").join(name)], &Progress::new()).expect("loads");
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
                local.rotation *= Quat::from_euler_angles(
                    seed.sin(),
                    2.0 * (1.3 * seed).cos(),
                    (1.7 * seed).sin(),
                );
                local.translation *= 1.0 + 0.3 * seed.sin();
            }
            advance(&mut actor, &skeleton.world_from_joint(&pose), 1.0 / 60.0);
            assert!(
                actor
                    .positions()
                    .iter()
                    .all(|p| p.iter().all(|c| c.is_finite())),
                "{name}, frame {frame}"
            );
        }
        for _ in 0..600 {
            advance(&mut actor, &rest, 1.0 / 60.0);
        }
        let left = worst(actor.positions(), &before);
        println!("{name}: {} of the size is left", left / subject.size);
        assert!(
            left < 0.02 * subject.size,
            "{name}: {} of the size is left",
            left / subject.size
        );
    }
}
