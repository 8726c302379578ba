use std::sync::Arc;

use super::flesh::PositionBased;
use super::model::Model;
use super::options::{COMPLIANT, Options, PLAIN};
use super::plain::{distance, volume};
use super::points::Vector;
use crate::character::FleshBase;
use crate::dynamics::{Collisions, Params};
use crate::math::{Affine, Point, Vec64};
use crate::mesh::shapes::{moved, tube};
use crate::methods::test_bar::{ramp, skeleton, skinned, subject, turned};
use crate::methods::{Actor, Frame, MethodId, Subject};
use crate::param::ParamValues;
use crate::progress::Progress;
use crate::weights::SkinWeights;

const BEND: Vec64 = Vec64::new(0.0, 0.0, 1.0);
const TWIST: Vec64 = Vec64::new(0.0, 1.0, 0.0);

/// The bar of METHODS: an open tube of 984 vertices and 5 760 tets, bent in the middle.
fn bar(base: FleshBase) -> Arc<Subject> {
    let mesh = moved(tube(1.0, 10.0, 40, 24, false), crate::math::Vec3::y() * -5.0);
    let skeleton = skeleton(&[-5.0, 0.0, 5.0]);
    let rows = mesh
        .positions
        .iter()
        .map(|p| [(0, 1.0 - ramp(p.y)), (1, ramp(p.y))]);
    let weights = SkinWeights::from_rows(rows).0;
    let mut character = crate::character::Character {
        meshes: vec![skinned(mesh, None, &skeleton, weights)],
        skeleton,
        ..crate::character::Character::default()
    };
    character.flesh.base = base;
    subject(character)
}


fn values(set: &[(&str, f64)]) -> ParamValues {
    let mut values = ParamValues::default();
    for &(key, value) in set {
        let spec = PLAIN.iter().chain(COMPLIANT).find(|spec| spec.key == key);
        values.set(spec.expect("a parameter"), value);
    }
    values
}

fn plain(set: &[(&str, f64)]) -> Options {
    Options::plain(&values(set))
}

fn compliant(set: &[(&str, f64)]) -> Options {
    Options::compliant(&values(set))
}

fn bound(subject: &Arc<Subject>, params: &Params, options: Options) -> PositionBased {
    PositionBased::bind(subject, params, options).expect("binds")
}

fn settle(flesh: &mut PositionBased, world: &[Affine]) {
    frame(flesh, world, 0.0);
}

fn frame(flesh: &mut PositionBased, world_from_joint: &[Affine], dt_secs: f64) {
    flesh
        .follow(&Frame {
            world_from_joint,
            dt_secs,
        })
        .expect("finite");
}

fn positions(flesh: &PositionBased) -> Vec<Point> {
    (0..flesh.body().model().unknowns)
        .map(|unknown| flesh.body().position(unknown))
        .collect()
}

fn worst(a: &[Point], b: &[Point]) -> f32 {
    let apart = a.iter().zip(b).map(|(a, b)| (a - b).norm());
    apart.fold(0.0, f32::max)
}

fn inverted(flesh: &PositionBased) -> usize {
    flesh.body().volume_ratios().filter(|v| *v <= 0.0).count()
}

#[test]
fn explore() {
    let subject = bar(FleshBase::Bones);
    let flesh = bound(&subject, &Params::default(), plain(&[]));
    let model = flesh.body().model();
    println!(
        "free {} tets {} edges {} colours {} {}",
        model.is_free.iter().filter(|f| **f).count(),
        model.tets.len(),
        model.edges.len(),
        model.edge_colors.colors().len(),
        model.tet_colors.colors().len()
    );
    for base in [FleshBase::Bones, FleshBase::Weights] {
        let subject = bar(base);
        for (axis, name) in [(BEND, "bend"), (TWIST, "twist")] {
            for degrees in [60.0_f64, 90.0, 150.0] {
                let mut pose = subject.character.skeleton.rest_pose();
                pose.locals[1].rotation *= nalgebra::UnitQuaternion::from_axis_angle(
                    &nalgebra::Unit::new_normalize(axis),
                    degrees.to_radians(),
                );
                let world = subject.character.skeleton.world_from_joint(&pose);
                for iterations in [5, 20, 80] {
                    let params = Params {
                        iterations,
                        ..Params::default()
                    };
                    for (id, options) in [
                        ("pbd", plain(&[])),
                        ("xpbd", compliant(&[])),
                        ("xpbd unguarded", compliant(&[("guard", 0.0)])),
                        ("xpbd poisson 0", compliant(&[("poisson", 0.0)])),
                    ] {
                        let mut flesh = bound(&subject, &params, options);
                        let start = std::time::Instant::now();
                        settle(&mut flesh, &world);
                        println!(
                            "{base:?} {name} {degrees} {id} n={iterations}: {} inverted, {:.1} ms",
                            inverted(&flesh),
                            start.elapsed().as_secs_f64() * 1e3
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn explore_sag() {
    let subject = bar(FleshBase::Bones);
    let rest = subject.character.skeleton.bind_transforms();
    for stiffness_pa in [20_000.0, 2_000.0] {
        for iterations in [1, 2, 5, 10, 20, 40] {
            let params = Params {
                iterations,
                gravity_m_s2: [0.0, 0.0, -9.81],
                stiffness_pa,
                ..Params::default()
            };
            for (id, options) in [
                ("pbd k=1", plain(&[])),
                ("pbd k=.2", plain(&[("edge-stiffness", 0.2), ("volume-stiffness", 0.2)])),
                ("xpbd 1", compliant(&[("substeps", 1.0)])),
                ("xpbd 2", compliant(&[("substeps", 2.0)])),
                ("xpbd 4", compliant(&[])),
                ("xpbd 16", compliant(&[("substeps", 16.0)])),
            ] {
                let mut flesh = bound(&subject, &params, options);
                settle(&mut flesh, &rest);
                let sag = |flesh: &PositionBased| -> f32 {
                    positions(flesh)
                        .iter()
                        .zip(&subject.sim().mesh.positions)
                        .map(|(now, rest)| rest.z - now.z)
                        .sum::<f32>()
                        / 984.0
                };
                let settled = sag(&flesh);
                let mut last = 0.0;
                for _ in 0..120 {
                    let before = positions(&flesh);
                    frame(&mut flesh, &rest, 1.0 / 60.0);
                    last = worst(&before, &positions(&flesh));
                }
                println!(
                    "E={stiffness_pa} n={iterations} {id}: settled {settled:.6} dynamic {:.6} last {last:.2e}",
                    sag(&flesh)
                );
            }
        }
    }
}

/// Flesh of the same energy by projective dynamics.
#[test]
fn explore_equilibrium() {
    let subject = bar(FleshBase::Bones);
    for degrees in [20.0_f64, 60.0] {
        let world = turned(&subject, BEND, degrees.to_radians() / 2.0);
        let params = Params {
            collisions: Collisions::Off,
            gravity_m_s2: [0.0, 0.0, -9.81],
            ..Params::default()
        };
        let mut actor =
            Actor::bind(&subject, MethodId::PD, &params, &Progress::new()).expect("binds");
        actor
            .advance(&Frame {
                world_from_joint: &world,
                dt_secs: 0.0,
            })
            .expect("moves");
        for poisson in [0.0, 0.4] {
            let mut flesh = bound(&subject, &params, compliant(&[("poisson", poisson), ("guard", 0.0)]));
            settle(&mut flesh, &world);
            println!(
                "{degrees} {poisson}: apart {} of the size, pd moved {}",
                worst(&positions(&flesh), actor.simulated()) / subject.size,
                worst(&subject.sim().mesh.positions, actor.simulated()) / subject.size,
            );
        }
    }
}

/// Flesh at rest, and back at rest.
#[test]
fn explore_rest() {
    let subject = bar(FleshBase::Weights);
    let rest = subject.character.skeleton.bind_transforms();
    for (id, options) in [("pbd", plain(&[])), ("xpbd", compliant(&[]))] {
        let mut flesh = bound(&subject, &Params::default(), options);
        settle(&mut flesh, &rest);
        for _ in 0..200 {
            frame(&mut flesh, &rest, 1.0 / 60.0);
        }
        println!(
            "{id}: {:e} {}",
            worst(&positions(&flesh), &subject.sim().mesh.positions) / subject.size,
            flesh.is_asleep()
        );
        let bent = turned(&subject, BEND, 0.9);
        let start = std::time::Instant::now();
        for k in 0..100 {
            frame(&mut flesh, if k % 7 < 3 { &bent } else { &rest }, 1.0 / 60.0);
        }
        println!("{id}: frame {} ms, inverted {}", start.elapsed().as_secs_f64() * 10.0, inverted(&flesh));
        for _ in 0..400 {
            frame(&mut flesh, &rest, 1.0 / 60.0);
        }
        println!(
            "{id}: back {:e} {}",
            worst(&positions(&flesh), &subject.sim().mesh.positions) / subject.size,
            flesh.is_asleep()
        );
    }
}

/// Largest error of a gradient against finite differences.
fn gradient_error(
    corners: &[Vector],
    value: impl Fn(&[Vector]) -> f32,
    gradients: &[Vector],
) -> f32 {
    const STEP: f32 = 1e-2;
    let mut error = 0.0_f32;
    for (corner, gradient) in gradients.iter().enumerate() {
        for axis in 0..3 {
            let at = |step: f32| {
                let mut moved = corners.to_vec();
                moved[corner][axis] += step;
                value(&moved)
            };
            let slope = (at(STEP) - at(-STEP)) / (2.0 * STEP);
            error = error.max((slope - gradient[axis]).abs());
        }
    }
    error
}

const CORNERS: [Vector; 4] = [
    [0.1, -0.2, 0.3],
    [1.2, 0.1, -0.1],
    [0.2, 0.9, 0.2],
    [-0.1, 0.2, 1.4],
];

#[test]
fn gradients_are_the_slopes_of_the_constraints() {
    let [a, b, ..] = CORNERS;
    let (_, n) = distance([a, b], 0.7).expect("apart");
    let length = |ends: &[Vector]| distance([ends[0], ends[1]], 0.7).expect("apart").0;
    let error = gradient_error(&[a, b], length, &[n, n.map(|c| -c)]);
    assert!(error < 1e-3, "distance: {error}");
    let (_, gradients) = volume(&CORNERS, 0.1);
    let of = |corners: &[Vector]| volume(corners.try_into().expect("four"), 0.1).0;
    let error = gradient_error(&CORNERS, of, &gradients);
    assert!(error < 1e-4, "volume: {error}");
    assert!(distance([a, a], 1.0).is_none());
}

/// Bad numbers do not depend on it that a model exists.
#[test]
fn colors_are_proper() {
    let subject = bar(FleshBase::Bones);
    let flesh = bound(&subject, &Params::default(), plain(&[]));
    let model: &Model = flesh.body().model();
    let is_free = |point: &&u32| model.is_free.get(**point as usize) == Some(&true);
    let check = |name: &str, coloring: &super::coloring::Coloring, points: &dyn Fn(u32) -> Vec<u32>| {
        let mut seen = 0;
        for color in coloring.colors() {
            let mut used = vec![false; model.unknowns];
            for &constraint in &coloring.order[color] {
                seen += 1;
                for point in points(constraint).iter().filter(is_free) {
                    assert!(!used[*point as usize], "{name}: {point} twice in a colour");
                    used[*point as usize] = true;
                }
            }
        }
        let mut order = coloring.order.clone();
        order.sort_unstable();
        assert!(order.iter().copied().eq(0..seen), "{name}: each once");
    };
    check("edges", &model.edge_colors, &|edge| model.edges[edge as usize].to_vec());
    check("tets", &model.tet_colors, &|tet| {
        model.tets[tet as usize].corners.to_vec()
    });
    assert_eq!((model.unknowns, model.tets.len()), (984, 5760));
    // METHODS, section H: 11 and 15 colours, ±3.
    let counts = [&model.edge_colors, &model.tet_colors].map(|of| of.colors().len());
    assert!((8..=14).contains(&counts[0]), "{counts:?}");
    assert!((12..=18).contains(&counts[1]), "{counts:?}");
}
