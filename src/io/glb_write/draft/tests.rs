use super::*;

#[test]
fn the_container_is_padded_and_limited_in_size() {
    let glb = GlbDraft {
        tree: JsonObject::new(),
        joint_nodes: Vec::new(),
        source: None,
        bytes: Vec::new(),
    }
    .seal()
    .unwrap()
    .to_vec()
    .unwrap();
    assert_eq!(glb, b"glTF\x02\0\0\0\x18\0\0\0\x04\0\0\0JSON{}  ");
}

#[test]
fn untouched_members_are_kept_and_equal_ranges_shared() {
    let json = br#"{"asset":{"version":"2.0","generator":"x"},"extras":{"a":[1]},"buffers":[{"byteLength":4},{"byteLength":5,"uri":"b.bin"}],
        "bufferViews":[{"buffer":1,"byteOffset":1,"byteLength":3,"name":"v"},{"buffer":1,"byteOffset":1,"byteLength":3},{"buffer":0,"byteLength":4}],
        "images":[{"bufferView":0,"mimeType":"image/png"},{"bufferView":1,"mimeType":"image/png"},{"bufferView":2,"mimeType":"image/png"}]}"#;
    let source = SourceDocument {
        json: json.to_vec(),
        buffers: vec![Some(vec![1, 2, 3, 4]), Some(vec![5, 6, 7, 8, 9])],
        folder: None,
        meshes: Vec::new(),
        joint_nodes: Vec::new(),
        clips: 0,
        rig_replaced: false,
    };
    let sealed = GlbDraft::of(&Arc::new(source)).unwrap().seal().unwrap();
    let tree: Value = serde_json::from_slice(&sealed.text).unwrap();
    assert_eq!(tree["extras"]["a"][0], 1);
    assert_eq!(tree["buffers"], json!([{"byteLength": 8}]));
    assert_eq!(
        tree["bufferViews"][0],
        json!({"buffer": 0, "byteOffset": 0, "byteLength": 3, "name": "v"})
    );
    assert_eq!(tree["bufferViews"][1]["byteOffset"], 0);
    assert_eq!(tree["bufferViews"][2]["byteOffset"], 4);
    assert_eq!(tree["asset"]["generator"], "Sinew, from x");
    let glb = sealed.to_vec().unwrap();
    assert_eq!(glb[glb.len() - 8..], [6, 7, 8, 0, 1, 2, 3, 4]);
}
