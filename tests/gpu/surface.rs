//! Full-resolution surfaces made on the device are those that the CPU makes. Needs an adapter (software Vulkan will do).

use std::sync::Arc;

use sinew::character::{Attachment, Character, FleshSettings, Place, SimVertices, SourceMesh};
use sinew::dynamics::Params;
use sinew::math::{Affine, Point, Quat, Vec3, Vec64, affine};
use sinew::mesh::TriMesh;
use sinew::methods::{Actor, Capability, Frame, MethodId, Recipe, Subject, registry};
use sinew::progress::Progress;
use sinew::rig::Trs;

use crate::common::drawn::{ball, renderer};
use crate::common::moved::bent;
use crate::common::on_bones::on_bones;
use crate::common::skip;
use crate::surfaces::{Input, POSITION_TOL, assert_agrees, bound, output, position_tol};

fn built(character: Character, sim_vertices: SimVertices) -> Arc<Subject> {
    let flesh = FleshSettings {
        sim_vertices,
        ..character.flesh.clone()
    };
    let character = Character { flesh, ..character };
    Arc::new(Subject::build(Arc::new(on_bones(character)), &Progress::new()).expect("builds"))
}

fn subject(name: &str, sim_vertices: SimVertices) -> Arc<Subject> {
    built(
        sinew::io::builtin::load_builtin(name).expect("built in"),
        sim_vertices,
    )
}

/// A limb with a sleeve, a button on the skin, a hilt that moves with a joint, a prop of another and a stone that nobody moves.
pub fn dressed() -> Arc<Subject> {
    let mut character = sinew::io::builtin::load_builtin("cylinder").expect("built in");
    let limb = character.meshes[0].clone();
    let bounds = TriMesh {
        positions: limb.positions.clone(),
        triangles: Vec::new(),
    }
    .bounds();
    let (middle, extent) = (bounds.center(), bounds.max - bounds.min);
    let long = extent.imax();
    let mut sleeve = limb.clone();
    for position in &mut sleeve.positions {
        for axis in 0..3 {
            let factor = if axis == long { 0.6 } else { 1.1 };
            position[axis] = middle[axis] + (position[axis] - middle[axis]) * factor;
        }
    }
    let thick = extent[(long + 1) % 3] / 2.0;
    let ball_at = |name: &str, along: f32, out: f32, radius: f32| {
        let mut ball = ball();
        for position in &mut ball.positions {
            *position = middle + position.coords * radius;
            position[long] += along * extent[long];
            position[(long + 1) % 3] += out;
        }
        let attachment = Attachment::Unweighted;
        let normals = None;
        SourceMesh {
            name: name.to_owned(),
            positions: ball.positions,
            triangles: ball.triangles,
            normals,
            attachment,
            ..limb.clone()
        }
    };
    let button = ball_at("button", 0.4, 1.05 * thick, 0.1 * thick);
    let hilt = ball_at("hilt", -0.2, 2.0 * thick, 0.3 * thick);
    let last = character.skeleton.len() - 1;
    let own = |joint: usize| {
        character.skeleton.joints()[joint]
            .world_from_bind
            .try_inverse()
            .expect("is no plane")
    };
    let prop = SourceMesh {
        attachment: Attachment::Rigid {
            joint: last,
            joint_from_mesh: own(last),
        },
        ..ball_at("prop", 0.3, 3.0 * thick, 0.2 * thick)
    };
    let stone = SourceMesh {
        attachment: Attachment::Static {
            world_from_mesh: Affine::identity(),
        },
        ..ball_at("stone", 0.0, 4.0 * thick, 0.2)
    };
    "limb".clone_into(&mut character.meshes[0].name);
    "sleeve".clone_into(&mut sleeve.name);
    character.meshes.extend([sleeve, button, hilt, prop, stone]);
    let places = [
        ("limb", Place::Flesh),
        ("sleeve", Place::Rides),
        ("button", Place::Rides),
        ("hilt", Place::Rigid { joint: last }),
    ];
    character
        .flesh
        .parts
        .extend(places.map(|(name, place)| (name.to_owned(), place)));
    built(character, SimVertices::About(300))
}

/// Joints that turn far, beyond where quaternions change their sign, and that scale unevenly.
pub fn sheared(subject: &Subject) -> Vec<Affine> {
    let skeleton = &subject.character.skeleton;
    let mut pose = skeleton.rest_pose();
    for (joint, local) in pose.locals.iter_mut().enumerate() {
        local.rotation *= Quat::from_euler_angles(0.4, 2.2 * (joint as f64 + 1.0).sin(), -0.3);
        local.scale.component_mul_assign(&Vec64::new(1.1, 0.9, 1.2));
    }
    skeleton.world_from_joint(&pose)
}

/// Joints further from each other than in the bind pose.
pub fn lengthened(subject: &Subject, factor: f64) -> Vec<Affine> {
    let skeleton = &subject.character.skeleton;
    let mut pose = skeleton.rest_pose();
    for (local, joint) in pose.locals.iter_mut().zip(skeleton.joints()) {
        if joint.parent.is_some() {
            local.translation *= factor;
        }
    }
    skeleton.world_from_joint(&pose)
}

/// A bound actor in a pose, moved there in a few frames.
fn posed(subject: &Arc<Subject>, method: MethodId, world_from_joint: &[Affine]) -> Actor {
    let mut actor = bound(subject, method);
    let bind = subject.character.skeleton.bind_transforms();
    actor
        .advance(&Frame {
            world_from_joint: &bind,
            dt_secs: 0.0,
        })
        .expect("rests");
    for _ in 0..2 {
        actor
            .advance(&Frame {
                world_from_joint,
                dt_secs: 1.0 / 60.0,
            })
            .expect("moves");
    }
    actor
}

fn assert_follows(what: &str, actor: &Actor, world_from_joint: &[Affine], position_tol: f32) {
    let Some(renderer) = renderer() else { return };
    let recipe = actor.recipe().expect("has a form on the device");
    let device = output(
        renderer.gpu(),
        recipe.clone(),
        &[Input {
            simulated: actor.simulated(),
            world_from_joint,
        }],
    );
    let (device, cpu) = (
        (&*device.positions, &*device.normals),
        (actor.positions(), actor.normals()),
    );
    assert_agrees(
        what,
        &recipe,
        actor.subject().size,
        position_tol,
        device,
        cpu,
    );
}

#[test]
fn blended_surfaces_agree_with_the_cpu() {
    for name in ["arm", "gecko"] {
        let subject = subject(name, SimVertices::All);
        for method in on_devices().filter(|&method| method != MethodId::PD) {
            for amount in [0.0, 0.9] {
                let pose = bent(&subject, amount);
                assert_follows(
                    &format!("{name}, {method:?}, {amount}"),
                    &posed(&subject, method, &pose),
                    &pose,
                    position_tol(method),
                );
            }
            let pose = sheared(&subject);
            assert_follows(
                &format!("{name}, {method:?}, sheared"),
                &posed(&subject, method, &pose),
                &pose,
                position_tol(method),
            );
        }
    }
}

#[test]
fn flesh_surfaces_agree_with_the_cpu() {
    for (name, sim_vertices) in [
        ("arm", SimVertices::About(200)),
        ("gecko", SimVertices::About(600)),
        ("cylinder", SimVertices::All),
    ] {
        let subject = subject(name, sim_vertices);
        let pose = bent(&subject, 0.4);
        let actor = posed(&subject, MethodId::PD, &pose);
        assert_follows(
            &format!("{name}, {sim_vertices:?}"),
            &actor,
            &pose,
            POSITION_TOL,
        );
    }
}

/// Cloth, small things, rigid parts and props.
#[test]
fn cloth_and_props_agree_with_the_cpu() {
    let subject = dressed();
    let pose = bent(&subject, 0.5);
    let actor = posed(&subject, MethodId::PD, &pose);
    let recipe = actor.recipe().expect("has a form on the device");
    assert!(
        recipe.cloth.is_some() && !recipe.clusters.is_empty() && !recipe.palette.is_empty(),
        "all kinds are there"
    );
    assert_follows("dressed", &actor, &pose, POSITION_TOL);
    // Further than frames of cloth stretch.
    let pose = lengthened(&subject, 2.2);
    assert_follows(
        "dressed and long",
        &posed(&subject, MethodId::PD, &pose),
        &pose,
        POSITION_TOL,
    );
    for method in on_devices().filter(|&method| method != MethodId::PD) {
        assert_follows(
            &format!("dressed, {method:?}"),
            &posed(&subject, method, &pose),
            &pose,
            position_tol(method),
        );
    }
}

/// Real files: rigid props, many meshes, cloth over flesh.
#[test]
fn surfaces_of_real_characters_agree_with_the_cpu() {
    let Some(data) = skip::data() else {
        return;
    };
    for file in [
        "kaykit_Knight/Knight.glb",
        "RobotExpressive/RobotExpressive.glb",
        "mannequiny/mannequiny-0.3.0.glb",
        "mh_female_cmu/mh_female_cmu.glb",
    ] {
        let path = data.join("A_rigged").join(file);
        if !path.exists() {
            skip::skipped(path.display());
            continue;
        }
        let character = sinew::io::load(&[path], &Progress::new()).expect("reads");
        let subject = built(character, SimVertices::About(1000));
        let pose = bent(&subject, 0.15);
        for method in on_devices() {
            assert_follows(
                &format!("{file}, {method:?}"),
                &posed(&subject, method, &pose),
                &pose,
                position_tol(method),
            );
        }
    }
}

/// The methods that have a form on a device.
fn on_devices() -> impl Iterator<Item = MethodId> {
    let methods = registry().into_iter();
    methods.filter(|method| method.has(Capability::Device))
}

fn simulated_at_rest(subject: &Subject) -> Vec<Point> {
    subject.sim().mesh.positions.clone()
}

/// A rigid motion of bones and simulated vertices moves everything by it; none leaves everything where it is.
#[test]
fn rest_and_rigid_motions_are_followed() {
    let Some(renderer) = renderer() else { return };
    let motion = Trs {
        translation: Vec64::new(0.3, -0.2, 0.5),
        rotation: Quat::from_euler_angles(0.4, -1.1, 2.0),
        ..Trs::IDENTITY
    };
    for subject in [dressed(), subject("arm", SimVertices::About(200))] {
        for method in on_devices() {
            let recipe = bound(&subject, method)
                .recipe()
                .expect("has a form on the device");
            let is_still = |vertex: usize| {
                subject.character.meshes.len() > 1
                    && vertex >= subject.bind_positions.len() - ball().positions.len()
            };
            for motion in [Affine::identity(), motion.to_affine()] {
                let moved = |p: &Point| (motion * p.cast::<f64>()).cast::<f32>();
                let simulated: Vec<Point> = if method == MethodId::PD {
                    simulated_at_rest(&subject).iter().map(moved).collect()
                } else {
                    Vec::new()
                };
                let pose: Vec<Affine> = subject
                    .character
                    .skeleton
                    .bind_transforms()
                    .iter()
                    .map(|joint| motion * joint)
                    .collect();
                let out = output(
                    renderer.gpu(),
                    recipe.clone(),
                    &[Input {
                        simulated: &simulated,
                        world_from_joint: &pose,
                    }],
                );
                let linear = affine(&sinew::math::linear_part(&motion), &Vec64::zeros());
                let expected =
                    |(vertex, p): (usize, &Point)| if is_still(vertex) { *p } else { moved(p) };
                let positions: Vec<Point> = subject
                    .bind_positions
                    .iter()
                    .enumerate()
                    .map(expected)
                    .collect();
                let turned = |(vertex, n): (usize, &Vec3)| {
                    if is_still(vertex) {
                        *n
                    } else {
                        (linear * Point::from(*n).cast::<f64>())
                            .coords
                            .cast::<f32>()
                    }
                };
                let normals: Vec<Vec3> = recipe.normals.iter().enumerate().map(turned).collect();
                let what = format!("{}, {method:?}", subject.character.name);
                assert_agrees(
                    &what,
                    &recipe,
                    subject.size,
                    position_tol(method),
                    (&out.positions, &out.normals),
                    (&positions, &normals),
                );
            }
        }
    }
}

/// Each of a crowd is what it is alone, to the bit.
#[test]
fn crowd_surfaces_agree_with_single_ones() {
    let Some(renderer) = renderer() else { return };
    let subject = dressed();
    for method in on_devices() {
        let actors: Vec<(Vec<Affine>, Actor)> = [0.0, 0.3, 0.6]
            .map(|amount| {
                let pose = bent(&subject, amount);
                let actor = posed(&subject, method, &pose);
                (pose, actor)
            })
            .into();
        let inputs: Vec<_> = actors
            .iter()
            .map(|(pose, actor)| Input {
                simulated: actor.simulated(),
                world_from_joint: pose,
            })
            .collect();
        let recipe = actors[0].1.recipe().expect("has a form on the device");
        let crowd = output(renderer.gpu(), recipe.clone(), &inputs);
        let count = recipe.sources.len();
        for (instance, input) in inputs.into_iter().enumerate() {
            let single = output(renderer.gpu(), recipe.clone(), &[input]);
            let own = instance * count..(instance + 1) * count;
            assert!(
                single.positions == crowd.positions[own.clone()],
                "{method:?}: positions of instance {instance}"
            );
            assert!(
                single.normals == crowd.normals[own],
                "{method:?}: normals of instance {instance}"
            );
        }
    }
}

/// Nothing is outside of what linear blending is said to reach.
#[test]
fn bounds_contain_a_blended_character() {
    for subject in [dressed(), subject("gecko", SimVertices::All)] {
        for amount in [0.0, 1.0] {
            let pose = bent(&subject, amount);
            let actor = posed(&subject, MethodId::LBS, &pose);
            let reach = actor
                .recipe()
                .expect("has a form on the device")
                .reach
                .bounds(&pose);
            let slack = Vec3::repeat(1e-5 * subject.size);
            for position in actor.positions() {
                let inside = (position - (reach.min - slack)).min() >= 0.0
                    && ((reach.max + slack) - position).min() >= 0.0;
                assert!(inside, "{position} is outside of {reach:?}");
            }
        }
    }
}

/// A character of one skin takes one pass, one of bones two.
#[test]
fn the_number_of_surface_passes_is_as_documented() {
    let Some(renderer) = renderer() else { return };
    let subject = subject("arm", SimVertices::About(200));
    let passes = |method: MethodId| {
        let actor =
            Actor::bind(&subject, method, &Params::default(), &Progress::new()).expect("binds");
        let recipe: Recipe = actor.recipe().expect("has a form on the device");
        let simulated = if method == MethodId::PD {
            simulated_at_rest(&subject)
        } else {
            Vec::new()
        };
        let pose = subject.character.skeleton.bind_transforms();
        output(
            renderer.gpu(),
            recipe,
            &[Input {
                simulated: &simulated,
                world_from_joint: &pose,
            }],
        )
        .passes
    };
    assert_eq!(
        (
            passes(MethodId::PD),
            passes(MethodId::LBS),
            passes(MethodId::DQS)
        ),
        (1, 2, 2)
    );
}
