//! Draco in glTF: streams of Google's encoder (draco3d 1.5.7) of a bent sheet, and damaged ones.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sinew::character::{Attachment, Character};
use sinew::io::{load_from_memory, write_rigged_glb};
use sinew::math::Vec3;
use sinew::progress::Progress;

use super::{read, refusal};

/// Columns and rows of vertices. With (u, v) from 0 to 1 a vertex is at (cos 2u, v, sin 2u), its texture coordinates are (u, v), and its
/// weights are 1 − v of joint 0 and v of joint 1.
const VERTICES: [usize; 2] = [6, 5];

/// Edgebreaker with its standard traversal (speed 5).
const EDGEBREAKER: &str = "RFJBQ08CAgEBAAAAHigEKAMADF/7VKtPVav6VFWrav8BEf8CpkP/AqZD/wKmQ/8CpkMF/wAAAAAAAQAAAgAAAwAAAQAJAwAAAgEBCQMAAQMBAwkCAAICAQQC\
    BAADAQEECQQABAIBAQEADwNhJmkGHyUCrQpFBCUCCfJdKGz7oqiPjmsbTJvy3/hLazZxPAAom1gpAEhqAAk5AOhRAAAAABoLIALeEwB6FCsFAEkNAACAIoeA\
    AAAAAAD/PwAAMxHVvgAAAAAAAAAATUS1Pw4AAwEBA/EHgSg3JQL/ayUCAyUCgxEBAyUCFyUC/4sRAf////8HEQH//////7cRAQMlAoM1AwMlAv9rEQET39Ir\
    XeRuFMI9427mT++Vw2NKXf8DAAD/AQAACgEBAQANA1U1RQQfRQQlAgbBNWac34HM/P9m/n+ZAQAgAIAIAIAIAAAAAP8PAAAAAAAAAAAAAAAAgD8MAQEBAQEC\
    eT+IA5CeUAAAAAABAAAAAQEBAA0DySzxDh8lAiUCB+AqySaTf4L///8AAAD+/z8AAAACAAIDAAIAIDAIAAAAAAgwAgAAAAD/DwAAAAAAAAAAAAAAAAAAAAAA\
    AAAAgD8M";

/// With valence traversal and the best predictions (speed 0).
const VALENCE: &str = "RFJBQ08CAgEBAAAAHigEKAMADF/7VKtPVav6VFWrav8BEf8CpkP/AqZD/wKmQ/8CpkMF/wABAAAAAQAAAgAAAwAAAQAJAwAAAgEBCQMAAQMBAwkCAAICAQQC\
    BAADAQEECQQABAIBAQEADwNBJGkGHyUCzQxFBCUCCQzDVb7mnL+/qGsbTJvy3/hLazZxPAAom1gpAEhqAAk5AOhRAAAAABoLRMB7AkCPrhQAJDUAAECRA4gA\
    AABQ5AAAAAAA/z8AADMR1b4AAAAAAAAAAE1EtT8OBgMBAAsDmRkLaQYDVRUHrQoJFRBn3ZsBJvWV0foAtP9ABLgPwPoAXAFXwBVwBVwBFEiABYUPABAABAAB\
    AQFAAP8DAAD/AQAA/wIOQgoFAQEADQNFBB/tLq0KJQIH51vX6XiPgsz8/2b+P3PXAnD/kwGQnLYA6A8A/k4GgHLVMnctAPczdy0AXAuA/gDgD4D+yWmbnLZP\
    BkBy2j4ZAMlpCwDaAlC/ctUCcD8A9wMcAAAAAQLNQQAAAAD/DwAAAAAAAAAAAAAAAIA/DAEBAQEEAnk/iAOQnlAAAAAAAQAAAAEBAQANA8ks8Q4fJQIlAgfg\
    Kskmk3+C////AAAA/v8/AAAAAgACAwACACAwCAAAAAAIMAIAAAAA/w8AAAAAAAAAAAAAAAAAAAAAAAAAAIA/DA==";

/// In sequence (speed 10).
const SEQUENTIAL: &str = "RFJBQ08CAgEAAAAoHgEABgEBBgcBBwICBwgCCAMDCAkDCQQECQoECgUFCgsGDAcHDA0HDQgIDQ4IDgkJDg8JDwoKDxAKEAsLEBEMEg0NEhMNEw4OExQOFA8P\
    FBUPFRAQFRYQFhERFhcSGBMTGBkTGRQUGRoUGhUVGhsVGxYWGxwWHBcXHB0BBQAJAwAAAQkDAAEDCQIAAgQCBAADBAkEAAQCAwIBAgABAQAPAyUCK1UViSgH\
    VuVf+0RQgAk5AACZ8YgCANJ+4wGA2RwbAQAO414EAFKQAADTkm5DDgBAZjyiAIC033gAYDbHRgCAw7gXAYAUJADAtKTbkAMAkBmPKAAg7TceAJjNsREA4DDu\
    RQAgBQkANC3pNuQAAGTGIwoASPuNBwBmc2wEADiMexEASEECAExLug05AACZ8YgCANJ+4wGA2RwbAQAO414EAFIQAAAAAP8/AAAAAwEBApUHXRU3VQX//wNV\
    BRdVBf//////l2kG//////97RQQ/VQWDVQUDVQUYx3qwdFJXJxxBYz40U7aQ9fxnXiGD6lqa/wMAAP8BAAAAAQEBAYEQzRwDRQT/////////////////////\
    ////////////i60a////////WxEBAzUDD/nydkMHd1U0H8Rn1qdVgAAAAAD/DwAAAAEBAQECeT+IA5CeUAAAAAABAAAAAAEBAA0DdTcjJQJpBgXCmvhJhAEA\
    AP8HgAAAAAAA0H8ACAAAAAAA//c/AAAAAAD/B4AAAAAAAAAAAAAA/w8AADMR1b4AAAAAAAAAAE1EtT8OCgAAAAAAAAAAAACAPwwAAAAAAAAAAAAAAAAAAAAA\
    AACAPww=";

const STREAMS: [&str; 3] = [EDGEBREAKER, VALENCE, SEQUENTIAL];

/// A glTF with the sheet on two joints; attributes are those of the streams.
fn document(stream: &str, attributes: &str) -> String {
    let length = STANDARD.decode(stream).unwrap().len();
    let accessor = |kind: &str, component: u32| {
        format!(r#"{{"componentType":{component},"count":30,"type":"{kind}"}}"#)
    };
    let accessors = [
        (r#"{"componentType":5123,"count":120,"type":"SCALAR"}"#).to_owned(),
        // Bounds of before compression, which are not those of the decoded positions.
        r#"{"componentType":5126,"count":30,"type":"VEC3","min":[-0.5,0,0],"max":[1,1,2]}"#
            .to_owned(),
        accessor("VEC3", 5126),
        accessor("VEC2", 5126),
        accessor("VEC4", 5121),
        accessor("VEC4", 5126),
    ];
    format!(
        r#"{{"asset":{{"version":"2.0"}},"extensionsUsed":["KHR_draco_mesh_compression"],"extensionsRequired":["KHR_draco_mesh_compression"],
        "scene":0,"scenes":[{{"nodes":[0,1]}}],
        "nodes":[{{"mesh":0,"skin":0}},{{"name":"root","children":[2]}},{{"name":"tip","translation":[0,1,0]}}],
        "skins":[{{"joints":[1,2]}}],
        "meshes":[{{"primitives":[{{"indices":0,
            "attributes":{{"POSITION":1,"NORMAL":2,"TEXCOORD_0":3,"JOINTS_0":4,"WEIGHTS_0":5}},
            "extensions":{{"KHR_draco_mesh_compression":{{"bufferView":0,"attributes":{{{attributes}}}}}}}}}]}}],
        "accessors":[{}],"bufferViews":[{{"buffer":0,"byteLength":{length}}}],
        "buffers":[{{"byteLength":{length},"uri":"data:application/octet-stream;base64,{stream}"}}]}}"#,
        accessors.join(",")
    )
}

const ATTRIBUTES: &str = r#""POSITION":0,"NORMAL":1,"TEXCOORD_0":2,"JOINTS_0":3,"WEIGHTS_0":4"#;

/// Checks that a character is the sheet, to the bits of its quantisation.
fn assert_sheet(character: &Character) {
    let [mesh] = &character.meshes[..] else {
        panic!("{} meshes", character.meshes.len())
    };
    let [columns, rows] = VERTICES;
    assert_eq!(mesh.positions.len(), columns * rows);
    assert_eq!(mesh.triangles.len(), 2 * (columns - 1) * (rows - 1));
    let (normals, uv) = (
        mesh.normals.as_ref().unwrap(),
        mesh.tex_coords.as_ref().unwrap(),
    );
    let Attachment::Skinned { weights, .. } = &mesh.attachment else {
        panic!("not skinned")
    };
    let mut seen = vec![false; columns * rows];
    for (vertex, &[u, v]) in uv.iter().enumerate() {
        let [column, row] = [(u, columns), (v, rows)].map(|(at, count)| {
            let place = at * (count - 1) as f32;
            assert!((place - place.round()).abs() < 2e-3, "{u} {v}");
            place.round()
        });
        seen[row as usize * columns + column as usize] = true;
        let (u, v) = (column / (columns - 1) as f32, row / (rows - 1) as f32);
        let (sin, cos) = (2.0 * u).sin_cos();
        // 14 bits of a box of 1.42, 10 bits of an octahedron, 12 bits of 1.
        assert!((mesh.positions[vertex].coords - Vec3::new(cos, v, sin)).norm() < 1e-4);
        assert!((normals[vertex] - Vec3::new(cos, 0.0, sin)).norm() < 4e-3);
        for (joint, expected) in [1.0 - v, v].into_iter().enumerate() {
            let row = weights.row(vertex).into_iter();
            let own: f32 = row
                .filter(|(of, _)| *of as usize == joint)
                .map(|(_, w)| w)
                .sum();
            assert!((own - expected).abs() < 3e-4, "{own} {expected}");
        }
    }
    assert!(seen.iter().all(|seen| *seen), "every vertex is there once");
    let mut area = 0.0;
    for triangle in &mesh.triangles {
        let [a, b, c] = triangle.map(|vertex| vertex as usize);
        let at = |vertex: usize| mesh.positions[vertex];
        let normal = (at(b) - at(a)).cross(&(at(c) - at(a)));
        assert!(normal.dot(&normals[a]) > 0.0, "faces outwards");
        let side = |v: usize| [uv[v][0] - uv[a][0], uv[v][1] - uv[a][1]];
        let (e, f) = (side(b), side(c));
        area += 0.5 * (e[0] * f[1] - e[1] * f[0]).abs();
    }
    assert!((area - 1.0).abs() < 1e-3, "{area}");
}

#[test]
fn what_google_encodes_is_decoded() {
    for stream in STREAMS {
        let text = document(stream, ATTRIBUTES);
        let character = read(&[("sheet.gltf", text.as_bytes())]);
        assert_sheet(&character);
        // A rig that is written from it has no trace of Draco.
        let bytes = write_rigged_glb(&character, &[None], 8).unwrap();
        assert!(!bytes.windows(5).any(|word| word == b"draco"));
        assert_sheet(&read(&[("again.glb", &bytes)]));
        assert_bounds(&bytes);
    }
}

#[test]
fn damaged_streams_give_one_sentence() {
    for stream in STREAMS {
        let whole = STANDARD.decode(stream).unwrap();
        let mut refused = 0;
        let mut damaged: Vec<Vec<u8>> = (0..whole.len()).map(|end| whole[..end].to_vec()).collect();
        for place in 0..whole.len() {
            for bits in [0x01, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[place] ^= bits;
                damaged.push(bytes);
            }
        }
        for bytes in &damaged {
            let text = document(&STANDARD.encode(bytes), ATTRIBUTES);
            if let Err(error) = load_from_memory(&[("a.gltf", text.as_bytes())], &Progress::new()) {
                let sentence = error.to_string();
                assert!(
                    !sentence.contains('\n') && sentence.starts_with("a.gltf"),
                    "{sentence}"
                );
                refused += 1;
            }
        }
        assert!(refused > whole.len(), "{refused} of {}", damaged.len());
    }
}

#[test]
fn documents_that_do_not_fit_their_streams_are_refused() {
    let sound = document(EDGEBREAKER, ATTRIBUTES);
    let cases = [
        (
            ATTRIBUTES,
            r#""POSITION":0,"NORMAL":9"#,
            "no attribute for NORMAL",
        ),
        (
            r#""bufferView":0,"#,
            r#""bufferView":7,"#,
            "is not in the file",
        ),
        (r#""bufferView":0,"#, "", "is not in the file"),
        (
            r#""bufferViews":[{"buffer":0,"#,
            r#""bufferViews":[{"buffer":0,"byteOffset":400,"#,
            "is not in the file",
        ),
        (r#""POSITION":0"#, r#""POSITION":4"#, "numbers an element"),
    ];
    for (from, to, sentence) in cases {
        let text = sound.replacen(from, to, 1);
        assert_ne!(text, sound, "{from}");
        let refused = refusal(&[("a.gltf", text.as_bytes())]);
        assert!(refused.contains(sentence), "{refused}");
    }
}

#[test]
fn positions_without_compression_are_read_where_they_are() {
    let points: Vec<u8> = [0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0, 0.0]
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    // The view of the extension is no stream.
    let text = format!(
        r#"{{"asset":{{"version":"2.0"}},"extensionsUsed":["KHR_draco_mesh_compression"],"scene":0,"scenes":[{{"nodes":[0]}}],
        "nodes":[{{"mesh":0}}],"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},
            "extensions":{{"KHR_draco_mesh_compression":{{"bufferView":0,"attributes":{{"POSITION":0}}}}}}}}]}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}}],"bufferViews":[{{"buffer":0,"byteLength":36}}],
        "buffers":[{{"byteLength":36,"uri":"data:application/octet-stream;base64,{}"}}]}}"#,
        STANDARD.encode(&points)
    );
    let character = read(&[("a.gltf", text.as_bytes())]);
    assert_eq!(character.meshes[0].positions[2].y, 2.0);
}

/// Checks that the bounds of the positions in a `.glb` are those of what is there.
fn assert_bounds(glb: &[u8]) {
    let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    let json: serde_json::Value = serde_json::from_slice(&glb[20..20 + length]).unwrap();
    let binary = &glb[28 + length..];
    let position = &json["meshes"][0]["primitives"][0]["attributes"]["POSITION"];
    let accessor = &json["accessors"][position.as_u64().unwrap() as usize];
    let view = &json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
    let number = |value: &serde_json::Value| value.as_u64().unwrap_or(0) as usize;
    let start = number(&view["byteOffset"]) + number(&accessor["byteOffset"]);
    let stride = number(&view["byteStride"]).max(12);
    for axis in 0..3 {
        let values = (0..number(&accessor["count"])).map(|vertex| {
            let at = start + vertex * stride + axis * 4;
            f32::from_le_bytes(binary[at..at + 4].try_into().unwrap())
        });
        let values: Vec<f32> = values.collect();
        let told = ["min", "max"].map(|key| accessor[key][axis].as_f64().unwrap() as f32);
        let least = values.iter().copied().fold(f32::INFINITY, f32::min);
        let largest = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        assert_eq!(told, [least, largest]);
    }
}
