//! Metrics of deformations whose values are known.

use std::collections::HashSet;

use nalgebra::{Isometry3, Rotation3, UnitQuaternion, Vector3};

use super::*;
use crate::math::{Affine, Vec64};
use crate::mesh::shapes::{ball, tube};

const TOL: f64 = 1e-5;

fn measured(rest: RestSkin, positions: &[Point], world_from_joint: &[Affine]) -> Measurements {
    let reference = rest.mesh.positions.clone();
    let mut meter = Meter::new(rest, METRICS, &Progress::new()).unwrap();
    let frame = MeterFrame {
        positions,
        world_from_joint,
        penetration: Some(Penetration {
            vertices: 3,
            deepest: 0.002,
            deepest_edges: 0.1,
            deepest_at: Some(positions[positions.len() / 2]),
        }),
        reference: Some(&reference),
        ..MeterFrame::default()
    };
    meter.measure(&frame, &Progress::new()).unwrap()
}

fn rest_of(mesh: &TriMesh) -> RestSkin {
    let identity = (0..mesh.positions.len() as u32).collect();
    RestSkin::of_mesh(mesh.clone(), identity)
}

/// A tube along y with three joints on its axis, the middle one at the origin.
fn limb() -> RestSkin {
    let mesh = tube(0.1, 1.0, 40, 64, false);
    let bounds = mesh.bounds();
    let middle = (bounds.min.coords + bounds.max.coords).cast::<f64>() / 2.0;
    let axis = (bounds.max - bounds.min).cast::<f64>();
    let along = Vec64::ith(axis.imax(), 1.0);
    let joint = |offset: f64| Point64::from(middle + along * offset);
    RestSkin {
        joints: vec![
            (None, joint(-0.4)),
            (Some(0), joint(0.0)),
            (Some(1), joint(0.4)),
        ],
        ..rest_of(&mesh)
    }
}

fn translation(by: Vec64) -> Affine {
    crate::math::affine(&nalgebra::Matrix3::identity(), &by)
}

#[test]
fn ids_are_unique_and_quantities_are_documented() {
    let quantities: Vec<_> = METRICS
        .iter()
        .flat_map(|metric| metric.quantities)
        .collect();
    let ids: HashSet<&str> = quantities.iter().map(|quantity| quantity.id).collect();
    assert_eq!(ids.len(), quantities.len());
    for quantity in quantities {
        assert!(!quantity.label.is_empty() && quantity.doc.ends_with('.'));
    }
}

#[test]
fn a_rigid_motion_measures_zero() {
    let rest = limb();
    let motion = Isometry3::new(Vector3::new(0.4, -1.0, 0.3), Vector3::new(0.2, 1.9, -0.4));
    let positions: Vec<Point> = rest
        .mesh
        .positions
        .iter()
        .map(|p| (motion * p.cast::<f64>()).cast())
        .collect();
    let world: Vec<Affine> = rest
        .joints
        .iter()
        .map(|(_, at)| translation((motion * at).coords))
        .collect();
    let found = measured(rest, &positions, &world);
    for (id, expected) in [
        ("volume_change", 0.0),
        ("new_pairs", 0.0),
        ("stretch_p1", 1.0),
        ("stretch_p50", 1.0),
        ("stretch_max", 1.0),
        ("girth_change_min", 0.0),
        ("girth_change_max", 0.0),
        ("skin_energy", 0.0),
        ("new_creases", 0.0),
    ] {
        let value = found.get(id).expect("defined");
        assert!((value - expected).abs() < TOL, "{id}: {value}");
    }
    // Angles of f32 positions on triangles of a few millimetres.
    assert!(found.get("roughness_deg").expect("defined") < 0.02);
    assert!((found.get("contact_depth_mm").expect("given") - 2.0).abs() < 1e-6);
    assert!(found.get("distance_rms_mm").expect("given") > 100.0);
}

#[test]
fn uniform_scaling_by_ten_percent_is_measured() {
    let rest = limb();
    let grown: Vec<Point> = rest.mesh.positions.iter().map(|p| p * 1.1).collect();
    let world: Vec<Affine> = rest
        .joints
        .iter()
        .map(|(_, at)| translation(at.coords * 1.1))
        .collect();
    let found = measured(rest, &grown, &world);
    for (id, expected) in [
        ("volume_change", 0.331),
        ("girth_change_min", 0.1),
        ("girth_change_max", 0.1),
        ("skin_energy", 2.0 * 0.1 * 0.1),
        ("stretch_p99", 1.1),
    ] {
        let value = found.get(id).expect("defined");
        assert!((value - expected).abs() < 1e-4, "{id}: {value}");
    }
}

/// Linear blending halfway between two bones bent by θ shrinks the section to an ellipse with the axes 1 and cos(θ/2).
#[test]
fn a_bent_limb_has_the_girth_of_its_ellipse() {
    for (degrees, expected) in [(90.0_f64, -0.140), (120.0, -0.229), (150.0, -0.315)] {
        let rest = limb();
        let along = (rest.joints[2].1 - rest.joints[1].1).normalize();
        let across = along.cross(&Vec64::ith(along.iamin(), 1.0)).normalize();
        let bend = Rotation3::from_axis_angle(
            &nalgebra::Unit::new_normalize(across),
            degrees.to_radians(),
        );
        let center = rest.joints[1].1;
        let positions: Vec<Point> = rest
            .mesh
            .positions
            .iter()
            .map(|p| {
                let offset = p.cast::<f64>() - center;
                // Wide enough that the inner side does not fold through the plane.
                let weight = (0.5 + offset.dot(&along)).clamp(0.0, 1.0);
                let blended = offset * (1.0 - weight) + bend * offset * weight;
                (center + blended).cast()
            })
            .collect();
        let world: Vec<Affine> = (0..3)
            .map(|joint| {
                let offset = rest.joints[joint].1 - center;
                let turned = if joint == 2 { bend * offset } else { offset };
                translation((center + turned).coords)
            })
            .collect();
        let girth = measured(rest, &positions, &world)
            .get("girth_change_min")
            .expect("a loop");
        assert!((girth - expected).abs() < 0.004, "{degrees}°: {girth}");
    }
}

#[test]
fn a_dent_is_rough_and_creased() {
    let mesh = ball(Point::origin(), 1.0, 24, 32);
    let mut dented = mesh.positions.clone();
    let rest = rest_of(&mesh);
    let vertex = rest.mesh.triangles[mesh.triangles.len() / 2][0] as usize;
    dented[vertex] *= 0.7;
    let found = measured(rest, &dented, &[]);
    assert!(found.count("new_creases") >= 4, "{found:?}");
    assert!(found.get("roughness_deg").expect("defined") > 1.0);
    assert_eq!(
        found.get("girth_change_min"),
        None,
        "nobody said where the joints are"
    );
    assert!((found.get("distance_max_mm").expect("given") - 300.0).abs() < 1.0);
}

/// A twist with half the weight on either bone is a rotation by θ/2 scaled by cos(θ/2) about the axis.
#[test]
fn a_twisted_limb_has_the_girth_of_its_candy_wrapper() {
    let rest = limb();
    let along = (rest.joints[2].1 - rest.joints[1].1).normalize();
    let theta = 2.0_f64;
    let twist = UnitQuaternion::from_axis_angle(&nalgebra::Unit::new_normalize(along), theta);
    let center = rest.joints[1].1;
    let positions: Vec<Point> = rest
        .mesh
        .positions
        .iter()
        .map(|p| {
            let offset = p.cast::<f64>() - center;
            (center + (offset + twist * offset) / 2.0).cast()
        })
        .collect();
    let world: Vec<Affine> = rest
        .joints
        .iter()
        .map(|(_, at)| translation(at.coords))
        .collect();
    let girth = measured(rest, &positions, &world)
        .get("girth_change_min")
        .expect("a loop");
    assert!(
        (girth - ((theta / 2.0).cos() - 1.0)).abs() < 1e-3,
        "{girth}"
    );
}

#[test]
fn measurements_are_written_by_their_ids() {
    let rest = rest_of(&ball(Point::origin(), 1.0, 6, 8));
    let positions = rest.mesh.positions.clone();
    let json = serde_json::to_value(measured(rest, &positions, &[])).unwrap();
    assert_eq!(json["intersecting_pairs"], serde_json::json!(0));
    assert!(json["stretch_p50"].is_f64() && json["girth_change_min"].is_null());
}

#[test]
fn sections_are_loops_around_their_joints() {
    let rest = limb();
    let world: Vec<Affine> = rest
        .joints
        .iter()
        .map(|(_, at)| translation(at.coords))
        .collect();
    let wider = rest.mesh.positions.iter().map(|p| {
        // Twice as far from the limb's axis.
        let [from, to] = [0, 2].map(|joint: usize| rest.joints[joint].1.cast::<f32>());
        let along = (to - from).normalize();
        let middle = from + along * (p - from).dot(&along);
        middle + (p - middle) * 2.0
    });
    let wider = TriMesh {
        positions: wider.collect(),
        ..rest.mesh.clone()
    };
    let bound = girth::Sections::of(&rest);
    for (mesh, change) in [(&rest.mesh, 0.0), (&wider, 1.0)] {
        let found = bound.at(mesh, &world, &Progress::new()).unwrap();
        let [section] = found.as_slice() else {
            panic!("one joint between two bones: {found:?}");
        };
        assert_eq!(section.joint, 1);
        assert!((section.change - change).abs() < 1e-4, "{}", section.change);
        let next = section.points.iter().cycle().skip(1);
        let around: f64 = section
            .points
            .iter()
            .zip(next)
            .map(|(a, b)| (b - a).norm())
            .sum();
        assert!((around - section.girth).abs() < 1e-6 * around);
    }
}

/// A limb whose root another bone reaches, from half a radius beside the limb's axis: half of the skin there is nearest to that bone.
#[test]
fn a_loop_that_is_not_all_on_the_limb_has_no_girth() {
    let mut rest = limb();
    assert_eq!(girth::Sections::of(&rest).len(), 1);
    let middle = rest.joints[1].1;
    let along = (rest.joints[2].1 - middle).normalize();
    let beside = along.cross(&Vec64::ith(along.iamin(), 1.0)).normalize() * 0.1;
    rest.joints.push((None, middle + beside - along * 0.2));
    rest.joints.push((Some(3), middle + beside + along * 0.2));
    assert_eq!(girth::Sections::of(&rest).len(), 0);
    // A bone that starts at the limb is part of it.
    rest.joints[3].0 = Some(1);
    rest.joints[4].0 = Some(1);
    assert_eq!(girth::Sections::of(&rest).len(), 1);
}

#[test]
fn the_worst_place_is_where_the_skin_is_dented() {
    let mesh = ball(Point::origin(), 1.0, 24, 32);
    let mut dented = mesh.positions.clone();
    let rest = RestSkin {
        // As in a file with its vertices in another order.
        source_from_skin: (0..mesh.positions.len() as u32).rev().collect(),
        ..rest_of(&mesh)
    };
    let vertex = rest.mesh.triangles[mesh.triangles.len() / 2][0] as usize;
    dented[vertex] *= 0.7;
    dented.reverse();
    let source = (mesh.positions.len() - 1 - vertex) as u32;
    let mut reference = mesh.positions.clone();
    reference.reverse();
    let mut meter = Meter::new(rest, METRICS, &Progress::new()).unwrap();
    let frame = MeterFrame {
        positions: &dented,
        reference: Some(&reference),
        ..MeterFrame::default()
    };
    let found = meter.measure(&frame, &Progress::new()).unwrap();
    for id in [
        "stretch_max",
        "skin_energy",
        "roughness_deg",
        "distance_max_mm",
    ] {
        let place = found.place(id).expect("a place");
        let at = place.spot.position(&dented, &[]).expect("in range");
        let dent = dented[source as usize].cast::<f64>();
        assert!((at - dent).norm() < 0.4, "{id}: {at} instead of {dent}");
    }
    let furthest = found.place("distance_max_mm").expect("a place");
    assert_eq!(furthest.spot, Spot::Vertex(source));
    assert!((furthest.value - 300.0).abs() < 1.0);
    assert_eq!(found.place("volume_change"), None);
    assert_eq!(found.place("new_pairs"), None);
    assert_eq!(found.place("girth_change_min"), None, "there are no joints");
}
