//! The GLB writer on a character that uses what the built-in ones do not: six influences, a rigid prop, a transform between joints,
//! a texture, and stepped and cubic curves.

use std::sync::Arc;

use nalgebra::Quaternion;
use sinew::character::{Attachment, Character, Image, Material, SourceFaces, SourceMesh};
use sinew::io::{GlbWriteError, read_gltf_bytes, write_glb};
use sinew::math::{Affine, Point, Quat, Vec3, Vec64};
use sinew::rig::{Channel, Clip, Curve, Interpolation, Joint, Skeleton, Track, Trs};
use sinew::weights::SkinWeights;

fn skeleton() -> Skeleton {
    let mut joints: Vec<Joint> = Vec::new();
    let mut world = Affine::identity();
    for index in 0..6_usize {
        let parent_from_base = if index == 2 {
            Trs::at(Vec64::new(0.0, 0.25, 0.0)).to_affine()
        } else {
            Affine::identity()
        };
        let rotation = Quat::from_euler_angles(
            0.0,
            0.0,
            if index % 2 == 1 {
                std::f64::consts::FRAC_PI_2
            } else {
                0.0
            },
        );
        let rest = Trs {
            rotation,
            ..Trs::at(Vec64::new(0.0, 0.5, 0.0))
        };
        world = world * parent_from_base * rest.to_affine();
        let parent = index.checked_sub(1);
        joints.push(Joint {
            name: format!("joint {index}"),
            parent,
            parent_from_base,
            rest,
            world_from_bind: world,
            deforms: true,
            tail: None,
        });
    }
    Skeleton::new(joints).unwrap_or_else(|error| panic!("{error}"))
}

fn character() -> Character {
    let skeleton = skeleton();
    let row =
        |vertex: u32| (0..6).map(move |joint| (joint, 1.0 / (1.0 + ((joint + vertex) % 6) as f32)));
    let corners = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
    ];
    let positions: Vec<Point> = corners.into_iter().map(Point::from).collect();
    let triangles = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let joint_from_mesh = skeleton
        .joints()
        .iter()
        .map(|joint| {
            joint
                .world_from_bind
                .try_inverse()
                .unwrap_or_else(|| panic!("singular"))
        })
        .collect();
    let skinned = SourceMesh {
        name: "skin".to_owned(),
        normals: Some(
            positions
                .iter()
                .map(|p| (p.coords - Vec3::repeat(0.25)).normalize())
                .collect(),
        ),
        tex_coords: Some(positions.iter().map(|p| [p.x, p.y]).collect()),
        positions: positions.clone(),
        triangles: triangles.clone(),
        faces: SourceFaces::default(),
        material: Some(0),
        attachment: Attachment::Skinned {
            weights: SkinWeights::from_rows((0..4).map(row)).0,
            joint_from_mesh,
        },
    };
    let prop = SourceMesh {
        name: "prop".to_owned(),
        positions,
        triangles,
        normals: None,
        tex_coords: None,
        faces: SourceFaces::default(),
        material: Some(1),
        attachment: Attachment::Rigid {
            joint: 3,
            joint_from_mesh: Trs::at(Vec64::new(0.5, 0.0, -0.25)).to_affine(),
        },
    };
    let picture = Image::new(2, 1, vec![255, 0, 0, 255, 0, 128, 64, 255]);
    let plain = Material {
        name: "plain".to_owned(),
        base_color: [0.5, 0.25, 1.0, 1.0],
        base_color_image: None,
        double_sided: true,
        alpha_cutoff: Some(0.5),
        normal_map: None,
    };
    let textured = Material {
        name: "textured".to_owned(),
        base_color_image: Some(Arc::new(picture)),
        double_sided: false,
        alpha_cutoff: None,
        ..plain.clone()
    };
    Character {
        name: "mixed".to_owned(),
        meshes: vec![skinned, prop],
        clips: vec![clip()],
        skeleton,
        materials: vec![textured, plain],
        notes: Vec::new(),
        metres_per_unit: 1.0,
        ..Character::default()
    }
}

fn clip() -> Clip {
    let times_secs = vec![0.0, 0.5, 2.0];
    let step = Curve {
        times_secs: times_secs.clone(),
        values: vec![Vec64::zeros(), Vec64::x(), Vec64::y()],
        interpolation: Interpolation::Step,
    };
    let quarter = std::f64::consts::FRAC_1_SQRT_2;
    let (zero, one, turned) = (
        Quaternion::new(0.0, 0.0, 0.0, 0.0),
        Quaternion::identity(),
        Quaternion::new(quarter, quarter, 0.0, 0.0),
    );
    let cubic = Curve {
        times_secs,
        values: vec![zero, one, zero, zero, turned, zero, zero, one, zero],
        interpolation: Interpolation::Cubic,
    };
    let tracks = vec![
        Track {
            joint: 0,
            channel: Channel::Translation(step),
        },
        Track {
            joint: 2,
            channel: Channel::Rotation(cubic),
        },
    ];
    Clip {
        name: "mixed".to_owned(),
        duration_secs: 2.0,
        tracks,
        morphs: Vec::new(),
    }
}

#[test]
fn everything_round_trips() {
    let character = character();
    let bytes = write_glb(&character).unwrap();
    let back = read_gltf_bytes("mixed", &bytes).unwrap();
    assert_eq!(back.meshes.len(), 2);
    for (mesh, again) in character.meshes.iter().zip(&back.meshes) {
        assert_eq!(
            (&mesh.positions, &mesh.triangles, &mesh.material),
            (&again.positions, &again.triangles, &again.material)
        );
        assert_eq!(mesh.tex_coords, again.tex_coords);
        // What has no normals gets those of its surface.
        let normals = again.normals.as_ref().unwrap();
        match &mesh.normals {
            Some(known) => assert_eq!(known, normals),
            None => assert!(normals.iter().all(|n| (n.norm() - 1.0).abs() < 1e-5)),
        }
    }
    assert_eq!(character.materials, back.materials);
    assert_eq!(character.clips.len(), back.clips.len());
    // Joints in between may be told apart differently; what is seen is the same, at rest and in motion.
    for time in [0.0, 0.3, 0.7, 1.4, 2.0] {
        let place = |character: &Character| {
            let world = character
                .skeleton
                .world_from_joint(&character.clips[0].sample(&character.skeleton, time));
            character
                .meshes
                .iter()
                .flat_map(|mesh| mesh.positions_at(&world))
                .collect::<Vec<Point>>()
        };
        for (a, b) in place(&character).iter().zip(&place(&back)) {
            assert!((a - b).norm() < 1e-5, "at {time} s: {a} became {b}");
        }
    }
}

#[test]
fn contradictory_input_is_rejected() {
    let mut broken = character();
    broken.meshes[0].triangles.push([0, 1, 99]);
    assert!(matches!(
        write_glb(&broken),
        Err(GlbWriteError::Inconsistent { .. })
    ));
    let mut broken = character();
    broken.meshes[1].attachment = Attachment::Rigid {
        joint: 17,
        joint_from_mesh: Affine::identity(),
    };
    assert!(matches!(
        write_glb(&broken),
        Err(GlbWriteError::Inconsistent { .. })
    ));
    let mut broken = character();
    broken.meshes[1].positions.clear();
    assert!(matches!(
        write_glb(&broken),
        Err(GlbWriteError::Inconsistent { .. })
    ));
}
