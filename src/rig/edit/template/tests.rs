//! Tests of templates on a body made of tubes.

use super::*;
use crate::math::{Point, Vec3};
use crate::mesh::TriMesh;
use crate::mesh::shapes::{ball, joined, moved, tube};
use crate::rig::Skeleton;

/// A tube between two places.
fn limb(from: Point, to: Point, radius: f32) -> TriMesh {
    let along = to - from;
    let mut mesh = tube(radius, along.norm(), 12, 14, true);
    let turn =
        nalgebra::UnitQuaternion::rotation_between(&Vec3::y(), &along).expect("not straight down");
    for position in &mut mesh.positions {
        *position = from + (turn * *position).coords;
    }
    mesh
}

/// A figure made of tubes, arms to the sides, height 1.75 m.
fn figure_of_tubes() -> TriMesh {
    let p = Point::new;
    let mut parts = vec![
        limb(p(0.0, 0.8, 0.0), p(0.0, 1.5, 0.0), 0.15),
        moved(
            ball(Point::origin(), 0.12, 12, 16),
            Vec3::new(0.0, 1.63, 0.0),
        ),
    ];
    for side in [-1.0_f32, 1.0] {
        parts.push(limb(p(side * 0.1, 1.4, 0.0), p(side * 0.8, 1.4, 0.0), 0.05));
        parts.push(limb(
            p(side * 0.09, 0.0, 0.0),
            p(side * 0.09, 0.85, 0.0),
            0.07,
        ));
        parts.push(limb(
            p(side * 0.09, 0.04, -0.05),
            p(side * 0.09, 0.04, 0.18),
            0.04,
        ));
    }
    joined(&parts)
}

#[test]
fn landmark_weights_sum_to_one_and_parents_come_first() {
    for kind in TemplateKind::ALL {
        let template = kind.template();
        let mut names: Vec<&str> = Vec::new();
        for part in template.parts {
            assert!(
                (part.at.iter().map(|(_, weight)| weight).sum::<f64>() - 1.0).abs() < 1e-9,
                "{}",
                part.name
            );
            assert!(
                part.at
                    .iter()
                    .all(|&(landmark, _)| landmark < template.landmarks.len())
            );
            assert!(
                part.parent.is_none_or(|parent| names.contains(&parent)),
                "{}",
                part.name
            );
            names.push(part.name);
        }
    }
}

#[test]
fn the_initial_guess_fits_a_figure_of_tubes() {
    let placer = Placer::new(&figure_of_tubes());
    let landmarks = TemplateKind::Human.guess(&placer);
    let rig = fitted(TemplateKind::Human, &landmarks, &placer, &Rig::default()).expect("fits");
    assert!(
        placer.mirror().expect("two sides").is_symmetric(&rig),
        "{rig:#?}"
    );
    let at =
        |name: &str| rig.joints()[rig.find(name).unwrap_or_else(|| panic!("no {name}"))].position;
    for (name, expected, tolerance) in [
        ("forearm.L", [0.40, 1.4, 0.0], 0.12),
        ("hand.R", [-0.62, 1.4, 0.0], 0.08),
        ("shin.L", [0.09, 0.48, 0.0], 0.06),
        ("foot.R", [-0.09, 0.1, 0.0], 0.08),
        ("head", [0.0, 1.55, 0.0], 0.1),
    ] {
        let off = (at(name) - Point64::from(expected)).norm();
        assert!(off < tolerance, "{name} at {} is {off} off", at(name));
    }
    for joint in ["forearm.L", "hand.L", "shin.L"] {
        let (middle, ..) = placer.centred(&at(joint));
        assert!(
            (middle - at(joint)).norm() < 0.01,
            "{joint} is in the middle of its limb"
        );
    }
    assert!(
        rig.joints()
            .iter()
            .all(|joint| placer.is_inside(&joint.position) || joint.name.starts_with("thigh")),
        "{rig:#?}"
    );
    assert!(rig.to_skeleton(&Skeleton::default()).is_ok());
}

#[test]
fn every_template_fits_or_returns_an_error() {
    for mesh in [
        figure_of_tubes(),
        tube(0.2, 1.0, 10, 12, true),
        TriMesh::default(),
    ] {
        let placer = Placer::new(&mesh);
        for kind in TemplateKind::ALL {
            let landmarks = kind.guess(&placer);
            assert_eq!(landmarks.len(), kind.landmarks().len());
            assert!(
                landmarks
                    .iter()
                    .all(|place| place.iter().all(|c| c.is_finite())),
                "{kind:?}"
            );
            if let Ok(rig) = fitted(kind, &landmarks, &placer, &Rig::default()) {
                assert!(rig.to_skeleton(&Skeleton::default()).is_ok());
            }
            assert!(fitted(kind, &landmarks[1..], &placer, &Rig::default()).is_err());
            assert!(
                fitted(
                    kind,
                    &vec![Point64::new(f64::NAN, 0.0, 0.0); landmarks.len()],
                    &placer,
                    &Rig::default()
                )
                .is_err()
            );
        }
    }
}
