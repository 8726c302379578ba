use super::super::{write_driven_glb, write_glb};
use super::*;
use crate::character::Attachment;
use crate::io::{load, read_gltf_bytes};
use crate::math::{Affine, Vec64};
use crate::progress::Progress;
use crate::rig::{Joint, Skeleton, Trs};

/// The JSON of a GLB and its binary part.
fn split(glb: &[u8]) -> (Value, &[u8]) {
    let length = |at: usize| u32::from_le_bytes(glb[at..at + 4].try_into().unwrap()) as usize;
    let (text, rest) = glb[20..].split_at(length(12));
    (serde_json::from_slice(text).unwrap(), &rest[8..])
}

fn joined(tree: &Value, binary: &[u8]) -> Vec<u8> {
    let mut text = tree.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut glb = b"glTF".to_vec();
    let number = |glb: &mut Vec<u8>, number: usize| glb.extend((number as u32).to_le_bytes());
    number(&mut glb, 2);
    number(&mut glb, 28 + text.len() + binary.len());
    for (kind, bytes) in [(b"JSON", text.as_slice()), (b"BIN\0", binary)] {
        number(&mut glb, bytes.len());
        glb.extend(kind);
        glb.extend(bytes);
    }
    glb
}

/// The arm, as a file with these changes was read.
fn read(change: impl FnOnce(&mut Value)) -> Character {
    let arm = load(&["builtin:arm".into()], &Progress::new()).unwrap();
    let glb = write_glb(&arm).unwrap();
    let (mut tree, binary) = split(&glb);
    change(&mut tree);
    read_gltf_bytes("arm", &joined(&tree, binary)).unwrap()
}

/// The character with a spring's joint and its tail below the second joint, which hand their places to nobody.
fn with_spring(character: &Character) -> (Character, SpringJoint) {
    let mut joints = character.skeleton.joints().to_vec();
    let joint = joints.len();
    for (name, parent, length) in [("lump_spring", 1, 0.1), ("lump_spring_end", joint, 0.3)] {
        let rest = Trs::at(Vec64::new(0.0, length, 0.0));
        joints.push(Joint {
            name: name.to_owned(),
            parent: Some(parent),
            parent_from_base: Affine::identity(),
            rest,
            world_from_bind: joints[parent].world_from_bind * rest.to_affine(),
            deforms: true,
            tail: None,
        });
    }
    let skeleton = Skeleton::new(joints).unwrap();
    let weights = character.meshes.iter().map(|mesh| match &mesh.attachment {
        Attachment::Skinned { weights, .. } => Some(weights.clone()),
        _ => None,
    });
    let weights: Vec<_> = weights.collect();
    let spring = SpringJoint {
        joint,
        stiffness: 1.25,
        drag: 0.375,
    };
    let made = character.with_helpers(&skeleton, &weights, character.clips.clone());
    (made, spring)
}

/// The index of the node of this name that the scene shows, and its parent.
fn shown(tree: &Value, name: &str) -> (usize, Option<usize>) {
    let nodes = tree["nodes"].as_array().unwrap();
    let parent = |node: usize| {
        let is_parent = |other: &Value| {
            let children = other["children"].as_array();
            children.is_some_and(|children| children.contains(&json!(node)))
        };
        nodes.iter().position(is_parent)
    };
    let roots = tree["scenes"][0]["nodes"].as_array().unwrap();
    let is_shown = |&node: &usize| {
        let top = std::iter::successors(Some(node), |&node| parent(node)).last();
        roots.contains(&json!(top))
    };
    let mut named = (0..nodes.len()).filter(|&node| nodes[node]["name"] == name);
    let found = named.find(is_shown).unwrap();
    (found, parent(found))
}

#[test]
fn springs_are_written_after_those_of_the_file_and_read_back() {
    let mut names = Vec::new();
    let character = read(|tree| {
        let joints = tree["skins"][0]["joints"].as_array().unwrap().clone();
        let name = |place: usize| -> String {
            let node = joints[place].as_u64().unwrap() as usize;
            tree["nodes"][node]["name"].as_str().unwrap().to_owned()
        };
        names = (0..joints.len()).map(name).collect();
        tree["extensionsUsed"] = json!(["VRMC_vrm", "VRMC_springBone", "VRMC_node_constraint"]);
        let roll = json!({"specVersion": "1.0", "constraint": {"roll": {"source": joints[1], "rollAxis": "X"}}});
        let last = joints[2].as_u64().unwrap() as usize;
        tree["nodes"][last]["extensions"] = json!({"VRMC_node_constraint": roll});
        tree["extensions"] = json!({
            "VRMC_vrm": {"specVersion": "1.0", "humanoid": {"humanBones": {"hips": {"node": joints[0]}}}},
            "VRMC_springBone": {
                "specVersion": "1.0",
                "colliders": [{"node": joints[0], "shape": {"sphere": {"radius": 0.1}}}],
                "springs": [{"name": "lump_spring", "center": joints[0], "joints": [{"node": joints[1]}, {"node": joints[2]}]}],
            },
        });
    });
    let (sprung, spring) = with_spring(&character);
    let glb = write_driven_glb(&sprung, 4, &[], &[spring]).unwrap();
    gltf::Gltf::from_slice(&glb).unwrap();
    let (tree, _) = split(&glb);
    let node = |name: &str| shown(&tree, name).0;
    let bones = &tree["extensions"]["VRMC_springBone"];
    let [old, new] = bones["springs"].as_array().unwrap().as_slice() else {
        panic!("{bones}");
    };
    // The file's own refer to the new nodes of their joints.
    let of_file = [0, 1, 2].map(|place| json!(node(&names[place])));
    assert_eq!(old["center"], of_file[0]);
    assert_eq!(old["joints"][0]["node"], of_file[1]);
    assert_eq!(old["joints"][1]["node"], of_file[2]);
    assert_eq!(bones["colliders"][0]["node"], of_file[0]);
    let hips = &tree["extensions"]["VRMC_vrm"]["humanoid"]["humanBones"]["hips"]["node"];
    assert_eq!(hips, &of_file[0]);
    let constrained = &tree["nodes"][node(&names[2])]["extensions"]["VRMC_node_constraint"];
    assert_eq!(constrained["constraint"]["roll"]["source"], of_file[1]);
    // Ours.
    assert_eq!(new["name"], "lump_spring 2");
    let (joint, above) = shown(&tree, "lump_spring");
    let (tail, parent) = shown(&tree, "lump_spring_end");
    assert_eq!((above, parent), (Some(node(&names[1])), Some(joint)));
    let joints = &new["joints"];
    assert_eq!(joints[1], json!({"node": tail}));
    assert_eq!(
        joints[0],
        json!({"node": joint, "hitRadius": 0.0, "stiffness": 1.25, "gravityPower": 0.0, "gravityDir": [0.0, -1.0, 0.0], "dragForce": 0.375})
    );
    let used = tree["extensionsUsed"].as_array().unwrap();
    let times = used.iter().filter(|name| *name == "VRMC_springBone");
    assert_eq!(times.count(), 1, "{used:?}");

    let again = read_gltf_bytes("again", &glb).unwrap();
    let swinging: Vec<&str> = (again.flesh.bones.iter())
        .filter(|(_, bone)| bone.is_virtual)
        .map(|(&joint, _)| again.skeleton.joints()[joint].name.as_str())
        .collect();
    for name in [&names[1], &names[2], "lump_spring", "lump_spring_end"] {
        assert!(swinging.contains(&name), "{name} of {swinging:?}");
    }
    for (a, b) in again
        .bind_positions()
        .iter()
        .zip(character.bind_positions())
    {
        assert!((a - b).norm() < 1e-5);
    }
}

#[test]
fn springs_need_no_vrm_and_become_bone_groups_in_vrm_0() {
    let (plain, spring) = with_spring(&read(|_| {}));
    let glb = write_driven_glb(&plain, 4, &[], &[spring]).unwrap();
    let (tree, _) = split(&glb);
    assert_eq!(tree["extensionsUsed"], json!(["VRMC_springBone"]));
    let bones = &tree["extensions"]["VRMC_springBone"];
    assert_eq!(bones["specVersion"], "1.0");
    assert_eq!(
        bones["springs"][0]["joints"][0]["node"],
        shown(&tree, "lump_spring").0
    );
    let none = write_driven_glb(&plain, 4, &[], &[]).unwrap();
    assert!(split(&none).0["extensionsUsed"].is_null());

    let (first, spring) = with_spring(&read(|tree| {
        let joint = tree["skins"][0]["joints"][0].clone();
        tree["extensionsUsed"] = json!(["VRM"]);
        tree["extensions"] = json!({"VRM": {
            "humanoid": {"humanBones": [{"bone": "hips", "node": joint}]},
            "secondaryAnimation": {"boneGroups": [{"comment": "own", "bones": [joint]}]},
        }});
    }));
    let glb = write_driven_glb(&first, 4, &[], &[spring]).unwrap();
    let (tree, _) = split(&glb);
    let vrm = &tree["extensions"]["VRM"];
    let [own, ours] = vrm["secondaryAnimation"]["boneGroups"]
        .as_array()
        .unwrap()
        .as_slice()
    else {
        panic!("{vrm}");
    };
    assert_eq!(own["bones"][0], vrm["humanoid"]["humanBones"][0]["node"]);
    assert_eq!(ours["bones"], json!([shown(&tree, "lump_spring").0]));
    assert_eq!(
        (&ours["stiffiness"], &ours["dragForce"]),
        (&json!(1.25), &json!(0.375))
    );
    assert!(tree["extensions"]["VRMC_springBone"].is_null());
}
