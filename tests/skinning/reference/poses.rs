//! The reference as a method, on characters of its own.

use std::sync::Arc;

use sinew::character::{Character, SourceMesh};
use sinew::dynamics::Params;
use sinew::math::{Affine, Point, Point64, Quat, Vec64};
use sinew::mesh::{TriMesh, TriangleTree};
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::param::ParamValues;
use sinew::progress::Progress;
use sinew::rig::Skeleton;

use super::shapes;

/// A limb of length 6 and radius ½ along z with a joint in the middle.
fn limb(more: &[TriMesh]) -> Arc<Subject> {
    let mut mesh = limb_mesh();
    if !more.is_empty() {
        mesh = shapes::together(&[&[mesh][..], more].concat());
    }
    let joint = |name: &str, parent, z: f64| (name.to_owned(), parent, Point64::new(0.0, 0.0, z));
    let joints = [
        joint("root", None, 0.3),
        joint("middle", Some(0), 3.0),
        joint("end", Some(1), 5.7),
    ];
    let mut character = Character {
        skeleton: Skeleton::from_positions(&joints).expect("a skeleton"),
        ..Character::default()
    };
    let source = SourceMesh::bare("limb", mesh.positions, mesh.triangles);
    character.meshes.push(source);
    Arc::new(Subject::build(Arc::new(character), &Progress::new()).expect("builds"))
}

fn limb_mesh() -> TriMesh {
    let mut profile = vec![[0.0, 0.0], [0.3, 0.0]];
    profile.extend((0..=24).map(|k| [0.5, 6.0 * k as f32 / 24.0]));
    profile.extend([[0.3, 6.0], [0.0, 6.0]]);
    shapes::turned(&profile, 24)
}

fn pose(subject: &Subject, turn: Quat) -> Vec<Affine> {
    let skeleton = &subject.character.skeleton;
    let mut pose = skeleton.rest_pose();
    pose.locals[1].rotation *= turn;
    skeleton.world_from_joint(&pose)
}

fn values(pairs: &[(&str, &str)]) -> ParamValues {
    let mut values = ParamValues::default();
    for (key, value) in pairs {
        values
            .set_text(MethodId::REFERENCE.descriptor().params, key, value)
            .expect("a value");
    }
    values
}

fn skinned(subject: &Arc<Subject>, world: &[Affine], pairs: &[(&str, &str)]) -> Vec<Point> {
    let (physics, values) = (Params::default(), values(pairs));
    let mut actor = Actor::bind_with(
        subject,
        MethodId::REFERENCE,
        &physics,
        &values,
        &Progress::new(),
    )
    .expect("binds");
    let frame = Frame {
        world_from_joint: world,
        dt_secs: 0.0,
    };
    actor.advance(&frame).expect("is solved");
    actor.positions().to_vec()
}

/// Volume inside of a closed mesh.
fn volume(positions: &[Point], triangles: &[[u32; 3]]) -> f64 {
    let of = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| positions[v as usize].coords.cast::<f64>());
        a.dot(&b.cross(&c)) / 6.0
    };
    triangles.iter().map(of).sum()
}

fn root_mean_square(a: &[Point], b: &[Point]) -> f64 {
    let squares: f64 = (a.iter().zip(b))
        .map(|(a, b)| f64::from((a - b).norm_squared()))
        .sum();
    (squares / a.len() as f64).sqrt()
}

#[test]
fn a_bent_limb_keeps_its_volume_and_its_ends_are_rigid() {
    let subject = limb(&[]);
    let turn = Quat::from_axis_angle(&Vec64::y_axis(), 1.5);
    let world = pose(&subject, turn);
    let bent = skinned(&subject, &world, &[("through", "4")]);
    let rest = &subject.bind_positions;
    let change = volume(&bent, &limb_mesh().triangles) / volume(rest, &limb_mesh().triangles) - 1.0;
    assert!((-0.06..0.0).contains(&change), "{change}");
    for (bent, rest) in bent.iter().zip(rest.iter()) {
        let joint = usize::from(rest.z >= 3.0);
        let bind = subject.character.skeleton.bind_transforms()[joint];
        let motion = world[joint] * bind.try_inverse().expect("invertible");
        let expected = (motion * rest.cast::<f64>()).cast::<f32>();
        if (rest.z - 3.0).abs() > 2.0 {
            assert!((bent - expected).norm() < 0.03, "{rest}: {bent} {expected}");
        }
    }
}

#[test]
fn finer_cells_come_nearer_to_the_finest() {
    let subject = limb(&[]);
    let world = pose(&subject, Quat::from_euler_angles(0.0, 0.8, 0.9));
    // Bones that are thicker than the largest cells.
    let of = |through: &str| {
        let values = [("through", through), ("bone-fraction", "0.7")];
        skinned(&subject, &world, &values)
    };
    let finest = of("12");
    let errors = ["3", "6"].map(|through| root_mean_square(&of(through), &finest));
    println!("{errors:?}");
    assert!(errors[0] > 1.5 * errors[1], "{errors:?}");
    assert!(errors[1] < 0.02, "{errors:?}");
}

#[test]
fn the_result_depends_on_the_pose_alone() {
    let subject = limb(&[]);
    let bind = |values: &ParamValues| {
        let physics = Params::default();
        Actor::bind_with(
            &subject,
            MethodId::REFERENCE,
            &physics,
            values,
            &Progress::new(),
        )
        .expect("binds")
    };
    let coarse = values(&[("through", "2")]);
    let mut actor = bind(&coarse);
    let mut after = |angle: f64| {
        let world = pose(&subject, Quat::from_axis_angle(&Vec64::x_axis(), angle));
        let frame = Frame {
            world_from_joint: &world,
            dt_secs: 0.1,
        };
        actor.advance(&frame).expect("is solved");
        actor.positions().to_vec()
    };
    let first = after(1.0);
    after(-0.5);
    assert!(after(1.0) == first);
}

/// Two limbs side by side, of radius 0.3 and length 3, 0.3 apart.
fn pair() -> (Arc<Subject>, TriMesh) {
    let mut profile = vec![[0.0, 0.0], [0.15, 0.0]];
    profile.extend((0..=16).map(|k| [0.3, 3.0 * k as f32 / 16.0]));
    profile.extend([[0.15, 3.0], [0.0, 3.0]]);
    let limb_at = |x: f32| {
        let mut limb = shapes::turned(&profile, 20);
        limb.positions.iter_mut().for_each(|p| p.x += x);
        limb
    };
    let mesh = shapes::together(&[limb_at(-0.45), limb_at(0.45)]);
    let joint = |name: &str, parent, x: f64, z: f64| {
        let parent: Option<usize> = parent;
        (name.to_owned(), parent, Point64::new(x, 0.0, z))
    };
    let joints = [
        joint("root", None, 0.0, -0.5),
        joint("left", Some(0), -0.45, 0.3),
        joint("left end", Some(1), -0.45, 2.7),
        joint("right", Some(0), 0.45, 0.3),
        joint("right end", Some(3), 0.45, 2.7),
    ];
    let mut character = Character {
        skeleton: Skeleton::from_positions(&joints).expect("a skeleton"),
        ..Character::default()
    };
    let source = SourceMesh::bare("pair", mesh.positions.clone(), mesh.triangles.clone());
    character.meshes.push(source);
    let subject = Subject::build(Arc::new(character), &Progress::new()).expect("builds");
    (Arc::new(subject), mesh)
}

/// One limb is turned into the other.
#[test]
fn limbs_that_meet_push_each_other_away() {
    let (subject, mesh) = pair();
    let world = pose(&subject, Quat::from_axis_angle(&Vec64::y_axis(), 0.2));
    let depth = |contact: &str| {
        let positions = skinned(&subject, &world, &[("through", "4"), ("contact", contact)]);
        let half = positions.len() / 2;
        let of = |positions: &[Point]| TriMesh {
            positions: positions.to_vec(),
            triangles: mesh.triangles[..mesh.triangles.len() / 2].to_vec(),
        };
        let (left, right) = (of(&positions[..half]), of(&positions[half..]));
        let points: Vec<Point64> = right.positions.iter().map(|p| p.cast()).collect();
        let tree = TriangleTree::new(&left);
        let numbers = left.winding_numbers(&points);
        let inside = points
            .iter()
            .zip(numbers)
            .filter(|(_, number)| *number > 0.5);
        let depth = |(point, _): (&Point64, f64)| {
            tree.closest(point, 1.0, |_| true)
                .map_or(0.0, |closest| closest.distance)
        };
        inside.map(depth).fold(0.0, f64::max)
    };
    let (free, apart) = (depth("off"), depth("on"));
    println!("{free} {apart}");
    assert!(free > 0.1 && apart < 0.03, "{free} {apart}");
}

/// A shell without bones goes with the joint that moves it.
#[test]
fn a_shell_without_bones_is_rigid() {
    let stone = shapes::cuboid([0.8, -0.2, 4.6], [1.2, 0.2, 5.0]);
    let count = stone.positions.len();
    let subject = limb(&[stone]);
    let world = pose(&subject, Quat::from_axis_angle(&Vec64::y_axis(), 0.9));
    let bent = skinned(&subject, &world, &[("through", "2")]);
    let first = bent.len() - count;
    let rest = &subject.bind_positions;
    for (a, b) in (first..bent.len()).zip(first + 1..bent.len()) {
        let (before, after) = ((rest[a] - rest[b]).norm(), (bent[a] - bent[b]).norm());
        assert!((before - after).abs() < 1e-3, "{before} {after}");
    }
    assert!((bent[first] - rest[first]).norm() > 0.5);
}
