use std::sync::Arc;

use super::*;
use crate::character::{BoneSettings, FleshFactors, Meeting};
use crate::math::{Point, Point64, Vec64};
use crate::methods::implicit::options::Options;
use crate::methods::implicit::{ImplicitSkin, MuscleGrip};
use crate::methods::smoothing::tests::{bar, posed, turned, worst};
use crate::methods::{Frame, Skinner, Subject};
use crate::param::ParamValues;
use crate::progress::Progress;

/// The mesh of the bar: its radius is 1, its joint in the middle.
fn subject() -> Arc<Subject> {
    bar(24, 41)
}

fn bound(subject: &Arc<Subject>) -> ImplicitSkin {
    let options = Options::of(&ParamValues::default());
    ImplicitSkin::bind(subject, options, &Progress::new()).expect("binds")
}

/// A muscle on the lower half of the bar, on the side of +z.
fn muscle(skin: &ImplicitSkin, edit: impl Fn(&mut MuscleShape)) -> Muscle {
    let mut muscle = Muscle {
        name: "biceps".to_owned(),
        bone: 0,
        driver: None,
        shape: MuscleShape {
            from: 0.2,
            to: 0.8,
            depth: 0.4,
            thickness: 0.55,
            bulge: 0.5,
            range: [20.0_f64.to_radians(), 80.0_f64.to_radians()],
            ..MuscleShape::default()
        },
    };
    let sides = skin.model.limbs.place(&muscle).expect("has a place").sides;
    muscle.shape.angle = sides[1].z.atan2(sides[0].z);
    edit(&mut muscle.shape);
    muscle
}

fn factors(muscles: &[Muscle]) -> FleshFactors {
    FleshFactors {
        muscles: muscles.to_vec(),
        ..FleshFactors::default()
    }
}

fn bend(subject: &Arc<Subject>, degrees: f64) -> Vec<Affine> {
    turned(subject, Vec64::new(0.0, 0.0, degrees.to_radians()))
}

/// The vertex at rest nearest to a point.
fn nearest(subject: &Subject, at: [f32; 3]) -> usize {
    let distance = |v: &usize| (subject.bind_positions[*v] - Point::from(at)).norm();
    let vertices = 0..subject.bind_positions.len();
    vertices
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
        .expect("has vertices")
}

#[test]
fn a_leaf_is_a_half_on_its_ellipsoid_and_its_gradient_fits_its_value() {
    let subject = subject();
    let skin = bound(&subject);
    let muscle = muscle(&skin, |_| ());
    let muscles = Muscles::of(&skin.model.limbs, &[muscle], &skin.model.fields);
    let leaf = &muscles.leaves[0];
    let at = |along: f32, out: f32| {
        let center = leaf.center;
        [center[0], center[1] + along, center[2] + out]
    };
    // 0.6 of a limb of length 5, and 0.55 radii.
    assert!((leaf.half[0] - 1.5).abs() < 1e-5 && (leaf.half[1] - 0.55).abs() < 0.01);
    for width in [1.0, 1.5] {
        for point in [at(leaf.half[0], 0.0), at(0.0, width * leaf.half[1])] {
            assert!((leaf.at(point, width).value - 0.5).abs() < 1e-3);
        }
        assert!(leaf.at(at(0.0, 0.0), width).value > 0.7);
        for (along, out) in [(0.3, 0.2), (1.2, 0.3), (-0.7, 0.9), (0.0, 0.05)] {
            let valued = leaf.at(at(along, out), width);
            for c in 0..3 {
                let moved = |by: f32| {
                    let mut point = at(along, out);
                    point[c] += by;
                    leaf.at(point, width).value
                };
                let change = (moved(2e-3) - moved(-2e-3)) / 4e-3;
                let gradient = valued.gradient[c];
                assert!((gradient - change).abs() < 4e-3, "{gradient} {change}");
            }
        }
        // Outside of its box there is nothing.
        for axis in 0..3 {
            let mut point = leaf.center;
            point[axis] += 1.001 * leaf.extent(axis);
            assert_eq!(leaf.at(point, width).value, 0.0);
        }
    }
    assert_eq!(leaf.at([f32::NAN; 3], 1.0).value, 0.0);
}

#[test]
fn rest_is_a_fixed_point_with_any_muscle() {
    let subject = subject();
    let mut skin = bound(&subject);
    let mut iso = skin.model.held.clone();
    for (depth, thickness, meets) in [
        (0.4, 0.55, MuscleMeeting::Union),
        // Far out of the skin.
        (1.0, 0.8, MuscleMeeting::Blend),
    ] {
        let muscle = muscle(&skin, |shape| {
            (shape.depth, shape.thickness, shape.meets) = (depth, thickness, meets);
        });
        skin.set_factors(&factors(&[muscle])).expect("has muscles");
        assert!(skin.model.held != iso, "measured with the muscle");
        iso.clone_from(&skin.model.held);
        let mut out = subject.bind_positions.to_vec();
        let there_and_back = (0..=24).chain((0..24).rev()).chain([0; 60]);
        for degrees in there_and_back.map(|k| 5.0 * f64::from(k)) {
            let frame = Frame {
                world_from_joint: &bend(&subject, degrees),
                dt_secs: 1.0 / 60.0,
            };
            skin.skin(&frame, &mut out).expect("moves");
        }
        let error = worst(&out, &subject.bind_positions, subject.size);
        assert!(error < 1e-7, "{error}");
        assert!(skin.is_at_rest());
        let still = posed(&mut skin, &subject, &bend(&subject, 0.0));
        assert!(worst(&still, &subject.bind_positions, subject.size) < 1e-7);
    }
}

#[test]
fn a_muscle_swells_by_its_width_and_nowhere_else() {
    let subject = subject();
    let mut skin = bound(&subject);
    let muscle = muscle(&skin, |_| ());
    let joints = bend(&subject, 90.0);
    let plain = posed(&mut skin, &subject, &joints);
    skin.set_factors(&factors(std::slice::from_ref(&muscle)))
        .expect("has muscles");
    let swollen = posed(&mut skin, &subject, &joints);
    // The lower half stays where it is.
    let belly = nearest(&subject, [0.0, -2.5, 1.0]);
    assert!((plain[belly].z - 1.0).abs() < 0.01, "{}", plain[belly].z);
    let expected = 0.4 + 1.5 * 0.55;
    let error = swollen[belly].z - expected;
    assert!(error.abs() < 0.05, "{} not {expected}", swollen[belly].z);
    // Away from the surface; in it the skin slides.
    let normals = subject.skin.mesh.vertex_normals();
    let moved = |vertex: usize| {
        let turn = if subject.bind_positions[vertex].y > 0.0 {
            joints[1]
        } else {
            joints[0]
        };
        let normal = crate::math::linear_part(&turn) * normals[vertex].cast::<f64>();
        (swollen[vertex] - plain[vertex])
            .cast::<f64>()
            .dot(&normal)
            .abs()
    };
    for elsewhere in [
        [0.0, -2.5, -1.0],
        [0.0, -4.75, 1.0],
        [-1.0, -2.5, 0.0],
        [0.0, 2.5, 1.0],
        [0.0, 0.75, 1.0],
    ] {
        let moved = moved(nearest(&subject, elsewhere));
        assert!(moved < 0.02, "{elsewhere:?}: {moved}");
    }
    // Half of the way through the range it has half of the width; below the range none.
    let mut width_at = |degrees: f64| {
        let joints = bend(&subject, degrees);
        let place = skin.field.muscle(&muscle, &joints).expect("has a place");
        (place.width, posed(&mut skin, &subject, &joints)[belly].z)
    };
    let (width, z) = width_at(50.0);
    assert!(
        (width - 1.25).abs() < 1e-6 && (z - (0.4 + 1.25 * 0.55)).abs() < 0.05,
        "{z}"
    );
    let (width, z) = width_at(15.0);
    assert!(width == 1.0 && (z - 1.0).abs() < 0.01, "{z}");
}

#[test]
fn muscles_act_at_once_as_if_bound_with_them() {
    let subject = subject();
    let mut skin = bound(&subject);
    let joints = bend(&subject, 70.0);
    let vertex = nearest(&subject, [0.0, -2.5, 1.0]);
    let plain = posed(&mut skin, &subject, &joints);
    let two = [
        muscle(&skin, |_| ()),
        muscle(&skin, |shape| {
            shape.angle += 2.0;
            shape.meets = MuscleMeeting::Blend;
        }),
    ];
    skin.set_factors(&factors(&two)).expect("has muscles");
    // Before the next frame.
    assert_eq!(skin.explain(vertex).len(), 2);
    let changed = posed(&mut skin, &subject, &joints);
    assert!(changed != plain);
    let mut character = (*subject.character).clone();
    character.flesh.muscles = two.to_vec();
    let again = Subject::build(Arc::new(character), &Progress::new()).expect("is built");
    let mut fresh = bound(&Arc::new(again));
    assert!(posed(&mut fresh, &subject, &joints) == changed);
    // An operator that is set later keeps them.
    let mut with_union = factors(&two);
    let union = BoneSettings {
        meeting: Meeting::Union,
        ..BoneSettings::default()
    };
    with_union.bones.insert(1, union);
    skin.set_factors(&with_union).expect("meets");
    let creased = posed(&mut skin, &subject, &joints);
    fresh.set_factors(&with_union).expect("meets");
    assert!(posed(&mut fresh, &subject, &joints) == creased && creased != changed);
    skin.set_factors(&FleshFactors::default())
        .expect("has none");
    assert!(posed(&mut skin, &subject, &joints) == plain);
}

#[test]
fn a_settled_pose_with_muscles_does_not_depend_on_what_was_before() {
    let subject = subject();
    let mut skin = bound(&subject);
    let muscle = muscle(&skin, |_| ());
    skin.set_factors(&factors(&[muscle])).expect("has muscles");
    let joints = bend(&subject, 30.0);
    let first = posed(&mut skin, &subject, &joints);
    posed(&mut skin, &subject, &bend(&subject, 130.0));
    assert!(posed(&mut skin, &subject, &joints) == first);
    // A state that was saved goes on as it would have gone on.
    let mut out = first.clone();
    let mut step = |skin: &mut ImplicitSkin, degrees: f64| {
        let joints = bend(&subject, degrees);
        let frame = Frame {
            world_from_joint: &joints,
            dt_secs: 1.0 / 60.0,
        };
        skin.skin(&frame, &mut out).expect("moves");
        out.clone()
    };
    step(&mut skin, 60.0);
    let saved = skin.save();
    let next = step(&mut skin, 20.0);
    for degrees in [130.0, 0.0] {
        posed(&mut skin, &subject, &bend(&subject, degrees));
        skin.restore(&saved).expect("is of this character");
        assert!(step(&mut skin, 20.0) == next);
    }
}

#[test]
fn violent_frames_stay_finite() {
    let subject = subject();
    let mut skin = bound(&subject);
    let muscles = [
        muscle(&skin, |shape| (shape.depth, shape.bulge) = (1.4, 3.0)),
        muscle(&skin, |shape| {
            (shape.from, shape.to, shape.bulge) = (0.0, 0.02, -0.8);
            shape.thickness = 0.05;
        }),
    ];
    skin.set_factors(&factors(&muscles)).expect("has muscles");
    let mut out = subject.bind_positions.to_vec();
    for (k, degrees) in [170.0, -170.0, 10.0, 179.0, 0.0, -90.0]
        .into_iter()
        .enumerate()
    {
        let turn = Vec64::new(0.3 * k as f64, k as f64, f64::to_radians(degrees));
        let mut joints = turned(&subject, turn);
        if k == 3 {
            let squeeze = nalgebra::Scale3::new(1.0, 1e-3, 40.0);
            joints[1] *= nalgebra::convert::<_, Affine>(squeeze);
        }
        let frame = Frame {
            world_from_joint: &joints,
            dt_secs: 1.0 / 60.0,
        };
        skin.skin(&frame, &mut out).expect("stays finite");
        let farthest = out.iter().map(|p| p.coords.norm()).fold(0.0, f32::max);
        assert!(farthest < 200.0 * subject.size, "{farthest}");
    }
}

#[test]
fn a_muscle_is_where_it_is_moved_to() {
    let subject = subject();
    let skin = bound(&subject);
    let mut muscle = muscle(&skin, |_| ());
    let mut joints = bend(&subject, 60.0);
    // The body stands elsewhere.
    let moved: Affine = nalgebra::convert(nalgebra::Translation3::new(3.0, -7.0, 2.0));
    for joint in &mut joints {
        *joint = moved * *joint;
    }
    let here = moved * Point64::new(0.55, -1.5, 0.0);
    muscle.shape = skin
        .field
        .moved_muscle(&muscle, MuscleGrip::Middle, &here, &joints);
    let place = skin.field.muscle(&muscle, &joints).expect("has a place");
    assert!((place.center - here).norm() < 0.02, "{:?}", place.center);
    assert!((muscle.shape.to - muscle.shape.from - 0.6).abs() < 1e-9);
    assert!((place.bend.to_degrees() - 60.0).abs() < 1e-6 && place.driver == 1);
    for (grip, y) in [(MuscleGrip::Start, -4.5), (MuscleGrip::End, -0.5)] {
        let here = moved * Point64::new(0.9, y, 0.4);
        muscle.shape = skin.field.moved_muscle(&muscle, grip, &here, &joints);
        let at = skin.field.muscle(&muscle, &joints).expect("has a place");
        assert!((at.grip(grip).y - here.y).abs() < 1e-6, "{grip:?}");
    }
    // Beyond the limb it stays on the limb, and a place without a number changes nothing.
    let far = moved * Point64::new(0.5, 90.0, 0.0);
    let shape = skin
        .field
        .moved_muscle(&muscle, MuscleGrip::Middle, &far, &joints);
    assert!((shape.to - 1.0).abs() < 1e-9);
    let nowhere = Point64::new(f64::NAN, 0.0, 0.0);
    let shape = skin
        .field
        .moved_muscle(&muscle, MuscleGrip::Middle, &nowhere, &joints);
    assert_eq!(shape, muscle.shape);
    assert!(skin.field.muscle(&muscle, &joints[..1]).is_none());
    muscle.bone = 99;
    assert!(skin.field.muscle(&muscle, &joints).is_none());
}
