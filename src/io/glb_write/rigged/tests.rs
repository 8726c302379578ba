use std::path::PathBuf;

use super::*;
use crate::character::SourceMesh;
use crate::math::{Point64, Vec64};
use crate::progress::Progress;
use crate::rig::edit::{Rig, RigEdit};

const PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/// The JSON of a GLB and its binary part.
fn split(glb: &[u8]) -> (Value, Vec<u8>) {
    let length =
        |at: usize| u32::from_le_bytes(glb[at..at + 4].try_into().expect("four bytes")) as usize;
    let text = &glb[20..20 + length(12)];
    let binary = &glb[28 + length(12)..];
    (serde_json::from_slice(text).expect("JSON"), binary.to_vec())
}

fn load(name: &str, glb: &[u8], change: impl FnOnce(&mut Value)) -> Character {
    let folder: PathBuf =
        std::env::temp_dir().join(format!("sinew-rigged-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a place to write");
    let (mut tree, binary) = split(glb);
    change(&mut tree);
    tree["buffers"][0]["uri"] = json!("b.bin");
    std::fs::write(folder.join("b.bin"), binary).expect("written");
    std::fs::write(folder.join("a.gltf"), tree.to_string()).expect("written");
    let read = crate::io::load(&[folder.join("a.gltf")], &Progress::new()).expect("a character");
    std::fs::remove_dir_all(&folder).expect("clean up");
    read
}

#[test]
fn another_rig_preserves_materials_and_extras() {
    let arm = crate::io::load(&[PathBuf::from("builtin:arm")], &Progress::new()).expect("built in");
    let by_distance = |mesh: &SourceMesh| {
        let mesh = crate::mesh::TriMesh {
            positions: mesh.positions.clone(),
            triangles: mesh.triangles.clone(),
        };
        Some(crate::weights::by_distance(&mesh, &arm.skeleton))
    };
    let weights: Vec<_> = arm.meshes.iter().map(by_distance).collect();
    let glb = write_rigged_glb(&arm, &weights, 8).expect("written");
    let painted = load("before", &glb, |tree| {
        tree["images"] = json!([{"uri": PIXEL}]);
        tree["textures"] = json!([{"source": 0}]);
        tree["materials"] = json!([{"name": "cloth", "normalTexture": {"index": 0, "scale": 0.5}, "emissiveFactor": [0.25, 0.0, 0.0],
            "extras": {"shop": "blue"}}]);
        for mesh in tree["meshes"].as_array_mut().expect("meshes") {
            mesh["extras"] = json!({"kept": 7});
            mesh["primitives"][0]["material"] = json!(0);
        }
    });
    let rig = Rig::of(&painted.skeleton);
    let last = rig.len() - 1;
    let position = rig.joints()[last].position + Vec64::new(0.01, 0.0, 0.0);
    let rig = rig
        .edited(
            &RigEdit::Move {
                joint: last,
                position,
                with_children: false,
            },
            None,
        )
        .expect("possible")
        .rig;
    let rig = rig.edited(
        &RigEdit::Add {
            parent: Some(last),
            position: Point64::from(position.coords * 1.05),
            name: Some("new".into()),
        },
        None,
    );
    let edited = painted
        .with_rig(&rig.expect("possible").rig)
        .expect("a tree");
    let glb = write_rigged_glb(&edited, &vec![None; edited.meshes.len()], 8).expect("written");
    let (tree, _) = split(&glb);
    let material = &tree["materials"][0];
    assert_eq!(material["normalTexture"]["scale"], 0.5, "{material}");
    assert_eq!(
        (&material["emissiveFactor"][0], &material["extras"]["shop"]),
        (&json!(0.25), &json!("blue"))
    );
    assert_eq!(
        (
            &tree["meshes"][0]["extras"]["kept"],
            &tree["meshes"][0]["primitives"][0]["material"]
        ),
        (&json!(7), &json!(0))
    );
    assert!(!loses_materials(&edited));
    let mut with_prop = edited.clone();
    with_prop.meshes[0].attachment = Attachment::Rigid {
        joint: 0,
        joint_from_mesh: Affine::identity(),
    };
    assert!(
        loses_materials(&with_prop),
        "the joints that place a prop are removed"
    );
    let again = load("after", &glb, |_| {});
    assert_eq!(again.skeleton.len(), edited.skeleton.len());
    for (joint, other) in again.skeleton.joints().iter().zip(edited.skeleton.joints()) {
        assert_eq!(joint.name, other.name);
    }
    for joint in 0..again.skeleton.len() {
        assert!(
            (again.skeleton.bind_position(joint) - edited.skeleton.bind_position(joint)).norm()
                < 1e-5,
            "{joint}"
        );
    }
    for (a, b) in again.bind_positions().iter().zip(edited.bind_positions()) {
        assert!((a - b).norm() < 1e-5);
    }
}
