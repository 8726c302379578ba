//! glTF and VRM: compression, quantisation, humanoid bones and springs.

use sinew::math::Point;
use sinew::mesh::Bounds;

use super::{has_note, load_all, read, refusal, skip, volume};

#[test]
fn a_mesh_compressed_by_meshoptimizer_is_a_box() {
    let Some(folder) = skip::data() else { return };
    let character = load_all(&folder, &["D_torture/gt_BoxMeshopt_glb/BoxMeshopt.glb"]);
    assert_eq!(
        (character.source_vertices(), character.source_triangles()),
        (24, 12)
    );
    let bounds = Bounds::of(&character.bind_positions());
    assert!(
        (bounds.extent() - sinew::math::Vec3::repeat(1.0)).norm() < 1e-3
            && bounds.center().coords.norm() < 1e-3
    );
    assert!((volume(&character) - 1.0).abs() < 1e-3);
    let normals = character.meshes[0].normals.as_ref().unwrap();
    assert!(
        normals.iter().all(|n| (n.abs().max() - 1.0).abs() < 0.02),
        "{normals:?}"
    );
}

#[test]
fn vrm_characters_name_their_human_joints() {
    let Some(folder) = skip::data() else { return };
    for (file, springs) in [
        ("A_rigged/vrm_armature_transform/armature_transform.vrm", 0),
        ("A_rigged/vrm_sphere/sphere.vrm", 0),
    ] {
        let character = load_all(&folder, &[file]);
        let name = |part: &str| {
            character.skeleton.joints()[character.humanoid[part]]
                .name
                .clone()
        };
        println!(
            "{file}: {:?}, notes {:?}",
            character.humanoid, character.notes
        );
        assert!(character.humanoid.len() >= 15, "{:?}", character.humanoid);
        assert_ne!(name("leftUpperArm"), name("rightUpperArm"));
        assert!(has_note(&character, "VRM 0"));
        assert_eq!(
            character.flesh.bones.len(),
            springs,
            "{:?}",
            character.flesh.bones
        );
    }
}

/// A GLB around a JSON and a binary chunk.
fn glb(json: &str, binary: &[u8]) -> Vec<u8> {
    let padded = |bytes: &[u8], with: u8| {
        let mut padded = bytes.to_vec();
        padded.resize(bytes.len().next_multiple_of(4), with);
        padded
    };
    let mut out = b"glTF\x02\0\0\0".to_vec();
    let chunks = [
        (b"JSON", padded(json.as_bytes(), b' ')),
        (b"BIN\0", padded(binary, 0)),
    ];
    let length: usize = 12
        + chunks
            .iter()
            .map(|(_, chunk)| 8 + chunk.len())
            .sum::<usize>();
    out.extend(&length.to_le_bytes()[..4]);
    for (kind, chunk) in chunks {
        out.extend(&chunk.len().to_le_bytes()[..4]);
        out.extend(kind);
        out.extend(chunk);
    }
    out
}

/// A triangle on a chain of four joints, nodes 1 to 4; `%X%` is put among the members of the document.
fn chain(more: &str) -> Vec<u8> {
    let json = r#"{"asset":{"version":"2.0"},%X%"scenes":[{"nodes":[0,1]}],"nodes":[{"mesh":0,"skin":0},{"name":"head","children":[2]},
        {"name":"hair1","translation":[0,1,0],"children":[3]},{"name":"hair2","translation":[0,1,0],"children":[4]},
        {"name":"hair3","translation":[0,1,0]}],"skins":[{"joints":[1,2,3,4]}],
        "meshes":[{"primitives":[{"attributes":{"POSITION":0,"JOINTS_0":1,"WEIGHTS_0":2,"TEXCOORD_0":3},"material":0}]}],
        "materials":[{"pbrMetallicRoughness":{"baseColorTexture":{"index":0,"extensions":{"KHR_texture_transform":{"offset":[0.5,0],"scale":[2,1]}}}}}],
        "textures":[{"extensions":{"KHR_texture_basisu":{"source":0}}}],
        "accessors":[{"bufferView":0,"componentType":5122,"count":3,"type":"VEC3","normalized":true},
        {"bufferView":1,"componentType":5121,"count":3,"type":"VEC4"},{"bufferView":2,"componentType":5121,"count":3,"type":"VEC4","normalized":true},
        {"bufferView":3,"componentType":5123,"count":3,"type":"VEC2","normalized":true}],
        "bufferViews":[{"buffer":0,"byteLength":24,"byteStride":8},{"buffer":0,"byteOffset":24,"byteLength":12},
        {"buffer":0,"byteOffset":36,"byteLength":12},{"buffer":0,"byteOffset":48,"byteLength":12}],"buffers":[{"byteLength":60}]}"#;
    let mut data: Vec<u8> = [[0_i16, 0, 0, 0], [32767, 0, 0, 0], [0, -32768, 0, 0]]
        .as_flattened()
        .iter()
        .flat_map(|c| c.to_le_bytes())
        .collect();
    data.extend([[0, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0]].as_flattened());
    data.extend([[255, 0, 0, 0]; 3].as_flattened());
    data.extend(
        [0_u16, 0, 65535, 0, 0, 65535]
            .iter()
            .flat_map(|c| c.to_le_bytes()),
    );
    glb(&json.replace("%X%", more), &data)
}

#[test]
fn quantised_and_transformed_attributes_are_unfolded() {
    let required = r#""extensionsUsed":["KHR_mesh_quantization","EXT_something"],"extensionsRequired":["KHR_mesh_quantization"],"#;
    let character = read(&[("a.glb", &chain(required))]);
    let mesh = &character.meshes[0];
    assert_eq!(
        mesh.positions,
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, -1.0, 0.0]].map(Point::from)
    );
    assert_eq!(
        mesh.tex_coords.as_deref(),
        Some(&[[0.5, 0.0], [2.5, 0.0], [0.5, 1.0]][..])
    );
    assert!(
        has_note(&character, "KHR_texture_basisu") && has_note(&character, "EXT_something"),
        "{:?}",
        character.notes
    );
    let refused = refusal(&[(
        "a.glb",
        &chain(r#""extensionsRequired":["KHR_other_geometry"],"#),
    )]);
    assert!(refused.contains("KHR_other_geometry"), "{refused}");
}

#[test]
fn springs_of_both_vrm_versions_swing_and_humans_are_known() {
    let first = r#""extensions":{"VRM":{"humanoid":{"humanBones":[{"bone":"head","node":1},{"bone":"leftThumbProximal","node":77}]},
        "secondaryAnimation":{"boneGroups":[{"bones":[2]},{"bones":[3,1000]}]}}},"#;
    let second = r#""extensions":{"VRMC_vrm":{"humanoid":{"humanBones":{"head":{"node":1}}}},
        "VRMC_springBone":{"springs":[{"joints":[{"node":1},{"node":2},{"node":3},{"node":4}]},{}]}},"#;
    for (version, text) in [("VRM 0", first), ("VRM 1", second)] {
        let character = read(&[("a.vrm", &chain(text))]);
        assert_eq!(
            character
                .humanoid
                .iter()
                .map(|(name, &joint)| (name.as_str(), joint))
                .collect::<Vec<_>>(),
            [("head", 0)],
            "{version}"
        );
        let swinging: Vec<usize> = character
            .flesh
            .bones
            .iter()
            .filter(|(_, bone)| bone.is_virtual)
            .map(|(&joint, _)| joint)
            .collect();
        assert_eq!(swinging, [1, 2, 3], "{version}");
        assert_eq!(has_note(&character, "VRM 0"), version == "VRM 0");
        assert_eq!(character.faces_negative_z, version == "VRM 0");
        assert!(has_note(&character, "springs"));
    }
    let torn = r#""extensions":{"VRM":{"humanoid":7,"secondaryAnimation":{"boneGroups":[{"bones":"x"},5]}},"VRMC_vrm":[],"VRMC_springBone":{"springs":{}}},"#;
    assert!(read(&[("a.vrm", &chain(torn))]).humanoid.is_empty());
}
