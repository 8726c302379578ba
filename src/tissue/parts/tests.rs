use super::*;
use crate::math::{Point, Point64, Vec3};
use crate::mesh::shapes::{ball, joined, moved, tube};

/// A limb of length 1 and radius 0.1 along y with an elbow in its middle.
fn limb() -> TriMesh {
    moved(tube(0.1, 1.0, 40, 24, true), Vec3::zeros())
}

fn skeleton() -> Skeleton {
    let joint = |name: &str, parent, y| (name.to_owned(), parent, Point64::new(0.0, y, 0.0));
    let mut joints = vec![
        joint("root", None, 0.0),
        joint("elbow", Some(0), 0.5),
        joint("tip", Some(1), 0.97),
    ];
    joints.push(("eye".to_owned(), Some(1), Point64::new(0.09, 0.9, 0.0)));
    Skeleton::from_positions(&joints).unwrap()
}

/// Weights: vertices below the elbow on joint 0, above it on joint 1, the last `eye` vertices on joint 3.
fn weights(mesh: &TriMesh, eye: usize) -> SkinWeights {
    let count = mesh.positions.len();
    let row = |(v, p): (usize, &Point)| {
        [(
            if v >= count - eye {
                3
            } else {
                u32::from(p.y > 0.5)
            },
            1.0,
        )]
    };
    SkinWeights::from_rows(mesh.positions.iter().enumerate().map(row)).0
}

fn find(meshes: &[TriMesh], eye: bool, overrides: &PartMap) -> Vec<SkinComponent> {
    let mesh = joined(meshes);
    let weights = weights(
        &mesh,
        if eye {
            meshes[meshes.len() - 1].positions.len()
        } else {
            0
        },
    );
    let name_of_vertex: Vec<u32> = (0..meshes.len() as u32)
        .flat_map(|m| std::iter::repeat_n(m, meshes[m as usize].positions.len()))
        .collect();
    let names: Vec<String> = (0..meshes.len()).map(|m| format!("mesh{m}")).collect();
    let skeleton = skeleton();
    let skin = Skin {
        mesh: &mesh,
        skeleton: &skeleton,
        weights: Some(&weights),
        names: &names,
        name_of_vertex: &name_of_vertex,
    };
    let parts = Parts::find(&skin, overrides);
    // The result without weights is the same, except where it depends on weights.
    let bare = Parts::find(
        &Skin {
            weights: None,
            ..skin
        },
        overrides,
    );
    let hard = matches!(parts.parts[0].place, Place::Rigid { .. }) && overrides.is_empty();
    assert!(hard || parts.parts[0].place == bare.parts[0].place);
    parts.parts
}

fn none() -> PartMap {
    PartMap::new()
}

#[test]
fn a_button_and_its_hole_ride() {
    let button = ball(Point::new(0.11, 0.7, 0.0), 0.02, 6, 8);
    let rim = ball(Point::new(0.125, 0.7, 0.0), 0.008, 6, 8);
    let far = ball(Point::new(-0.11, 0.3, 0.0), 0.02, 6, 8);
    let parts = find(&[limb(), button, rim, far], false, &none());
    assert_eq!(
        parts.iter().map(|part| part.place).collect::<Vec<_>>(),
        [Place::Flesh, Place::Rides, Place::Rides, Place::Rides]
    );
    assert!(
        parts[1].cluster.is_some()
            && parts[1].cluster == parts[2].cluster
            && parts[3].cluster != parts[1].cluster
    );
}

#[test]
fn an_eye_with_its_own_joint_is_rigid_with_it() {
    let eye = ball(Point::new(0.09, 0.9, 0.0), 0.02, 6, 8);
    let parts = find(&[limb(), eye], true, &none());
    assert_eq!(parts[1].place, Place::Rigid { joint: 3 });
}

#[test]
fn a_distant_part_is_rigid_with_its_joint() {
    let lantern = ball(Point::new(0.6, 0.8, 0.0), 0.1, 8, 12);
    let parts = find(&[limb(), lantern], false, &none());
    assert_eq!(parts[1].place, Place::Rigid { joint: 1 });
}

#[test]
fn a_sleeve_is_a_layer_over_flesh_and_flesh_without() {
    let sleeve = moved(tube(0.115, 0.6, 30, 24, false), Vec3::y() * 0.2);
    let parts = find(&[limb(), sleeve.clone()], false, &none());
    assert_eq!(
        (parts[0].place, parts[1].place, parts[1].cluster),
        (Place::Flesh, Place::Rides, None)
    );
    let hand = moved(tube(0.08, 0.15, 6, 16, true), Vec3::y() * 0.83);
    let parts = find(&[sleeve, hand], false, &none());
    assert_eq!(parts[0].place, Place::Flesh);
}

#[test]
fn shells_bound_to_one_joint_are_rigid() {
    let upper = tube(0.1, 0.46, 20, 24, true);
    let lower = moved(tube(0.1, 0.46, 20, 24, true), Vec3::y() * 0.54);
    let elbow = ball(Point::new(0.0, 0.5, 0.0), 0.07, 8, 12);
    let shells = [upper, elbow, lower];
    let parts = find(&shells, false, &none());
    assert_eq!(
        parts.iter().map(|part| part.place).collect::<Vec<_>>(),
        [
            Place::Rigid { joint: 0 },
            Place::Flesh,
            Place::Rigid { joint: 1 }
        ]
    );
    // Where no flesh would be left all parts are flesh.
    let [upper, _, lower] = shells;
    let parts = find(&[upper, lower], false, &none());
    assert!(parts.iter().all(|part| part.place == Place::Flesh));
}

#[test]
fn a_tooth_crossed_by_a_bone_is_not_flesh() {
    let tooth = ball(Point::new(0.0, 0.75, 0.0), 0.02, 6, 8);
    let parts = find(&[limb(), tooth], false, &none());
    assert_eq!(parts[1].place, Place::Rides);
}

#[test]
fn overrides_come_first() {
    let button = ball(Point::new(0.11, 0.7, 0.0), 0.02, 6, 8);
    let says = |key: &str, place| PartMap::from([(key.to_owned(), place)]);
    let rigid = Place::Rigid { joint: 1 };
    for key in ["mesh1", "1"] {
        let parts = find(&[limb(), button.clone()], false, &says(key, rigid));
        assert!(
            parts[1].place == rigid && parts[1].by_user && !parts[0].by_user,
            "{key}"
        );
    }
    assert_eq!(
        find(
            &[limb(), button.clone()],
            false,
            &says("mesh1", Place::Flesh)
        )[1]
        .place,
        Place::Flesh
    );
    // An override with a joint that does not exist is ignored; if all parts shall ride there is nothing to ride on.
    assert_eq!(
        find(
            &[limb(), button.clone()],
            false,
            &says("mesh1", Place::Rigid { joint: 99 })
        )[1]
        .place,
        Place::Rides
    );
    let all = PartMap::from([
        ("mesh0".to_owned(), Place::Rides),
        ("mesh1".to_owned(), Place::Rides),
    ]);
    assert!(
        find(&[limb(), button], false, &all)
            .iter()
            .all(|part| matches!(part.place, Place::Rigid { .. }))
    );
}

#[test]
fn places_are_parsed_from_text() {
    let skeleton = skeleton();
    for (text, place) in [
        ("flesh", Place::Flesh),
        (" ride", Place::Rides),
        ("rigid:elbow", Place::Rigid { joint: 1 }),
    ] {
        assert_eq!(Place::parse(text, &skeleton).unwrap(), place);
        assert_eq!(
            Place::parse(&place.to_text(&skeleton), &skeleton).unwrap(),
            place
        );
    }
    for wrong in ["", "meat", "rigid", "rigid:ellbow", "flesh:1"] {
        assert!(Place::parse(wrong, &skeleton).is_err(), "{wrong}");
    }
    let parts = Parts {
        part_of_vertex: Vec::new(),
        parts: find(&[limb(), limb()], false, &none()),
    };
    assert!(
        parts.check_name("mesh1").is_ok()
            && parts.check_name("1").is_ok()
            && parts.check_name("2").is_err()
    );
    assert!(
        parts
            .check_name("mehs1")
            .unwrap_err()
            .to_string()
            .contains("did you mean")
    );
}

#[test]
fn degenerate_input_does_not_panic() {
    let flat = TriMesh {
        positions: vec![Point::new(1.0, 1.0, 1.0); 3],
        triangles: vec![[0, 1, 2]],
    };
    let wild = TriMesh {
        positions: vec![
            Point::new(f32::NAN, 0.0, 0.0),
            Point::origin(),
            Point::new(1.0, 0.0, 0.0),
        ],
        triangles: vec![[0, 1, 2]],
    };
    let parts = find(&[limb(), flat.clone(), wild.clone()], false, &none());
    assert_eq!(parts[0].place, Place::Flesh);
    find(&[flat.clone(), flat, wild], false, &none());
    let skeleton = Skeleton::default();
    let mesh = TriMesh::default();
    let skin = Skin {
        mesh: &mesh,
        skeleton: &skeleton,
        weights: None,
        names: &[],
        name_of_vertex: &[],
    };
    assert!(Parts::find(&skin, &none()).parts.is_empty());
}
