//! A quad with morph targets, as a `.glb`.

use serde_json::{Value, json};

/// Chunks of a `.glb` in the making.
#[derive(Default)]
struct Made {
    binary: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Made {
    fn view(&mut self, bytes: &[u8]) -> usize {
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        self.views
            .push(json!({"buffer": 0, "byteOffset": self.binary.len(), "byteLength": bytes.len()}));
        self.binary.extend_from_slice(bytes);
        self.views.len() - 1
    }

    fn floats(&mut self, kind: &str, width: usize, values: &[f32]) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let view = self.view(&bytes);
        self.accessors.push(json!({"bufferView": view, "componentType": 5126, "count": values.len() / width, "type": kind}));
        self.accessors.len() - 1
    }

    fn glb(mut self, mut document: Value) -> Vec<u8> {
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        document["asset"] = json!({"version": "2.0"});
        document["buffers"] = json!([{"byteLength": self.binary.len()}]);
        document["bufferViews"] = json!(self.views);
        document["accessors"] = json!(self.accessors);
        let mut text = document.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let total = 12 + 8 + text.len() + 8 + self.binary.len();
        let mut out = Vec::new();
        for word in [0x4654_6C67, 2, total as u32, text.len() as u32, 0x4E4F_534A] {
            out.extend(u32::to_le_bytes(word));
        }
        out.extend(text);
        out.extend((self.binary.len() as u32).to_le_bytes());
        out.extend(0x004E_4942_u32.to_le_bytes());
        out.extend(self.binary);
        out
    }
}

pub(super) const CORNERS: [[f32; 3]; 4] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [1.0, 1.0, 0.0],
];
/// Weight of the upper joint.
pub(super) const UPPER: [f32; 4] = [0.0, 0.0, 0.5, 1.0];
pub(super) const SMILE: [[f32; 3]; 4] = [[0.0; 3], [0.0; 3], [0.0, 0.1, 0.2], [0.0; 3]];
pub(super) const OPEN: [f32; 3] = [0.3, -0.1, 0.0];
/// In 127ths, as integers.
pub(super) const PUFF: [i8; 3] = [0, 0, 64];
pub(super) const AT_REST: [f64; 3] = [0.25, 0.0, 0.0];

/// A quad on two joints with a dense, a sparse and a quantised target, and clips of each interpolation.
pub(super) fn quad(change: impl Fn(&mut Value)) -> Vec<u8> {
    let mut made = Made::default();
    let positions = made.floats("VEC3", 3, CORNERS.as_flattened());
    let joints = made.view(&[0, 1, 0, 0].repeat(4));
    made.accessors
        .push(json!({"bufferView": joints, "componentType": 5121, "count": 4, "type": "VEC4"}));
    let joints = made.accessors.len() - 1;
    let weights: Vec<f32> = UPPER.iter().flat_map(|w| [1.0 - w, *w, 0.0, 0.0]).collect();
    let weights = made.floats("VEC4", 4, &weights);
    let smile = made.floats("VEC3", 3, SMILE.as_flattened());
    let turned = made.floats("VEC3", 3, &[0.0; 12]);
    let index = made.view(&3_u16.to_le_bytes());
    let value: Vec<u8> = OPEN.iter().flat_map(|v| v.to_le_bytes()).collect();
    let value = made.view(&value);
    made.accessors.push(json!({"componentType": 5126, "count": 4, "type": "VEC3", "min": [0, -0.1, 0], "max": [0.3, 0, 0],
        "sparse": {"count": 1, "indices": {"bufferView": index, "componentType": 5123}, "values": {"bufferView": value}}}));
    let open = made.accessors.len() - 1;
    let puff: Vec<u8> = (0..4)
        .flat_map(|v| if v == 1 { PUFF } else { [0; 3] })
        .collect::<Vec<i8>>()
        .chunks(3)
        .flat_map(|c| [c[0], c[1], c[2], 0].map(|b| b as u8))
        .collect();
    let puff = made.view(&puff);
    made.views[puff]["byteStride"] = json!(4);
    made.accessors.push(json!({"bufferView": puff, "componentType": 5120, "normalized": true, "count": 4, "type": "VEC3"}));
    let puff = made.accessors.len() - 1;
    let corners = made.view(&[0_u8, 1, 2, 1, 3, 2]);
    made.accessors
        .push(json!({"bufferView": corners, "componentType": 5121, "count": 6, "type": "SCALAR"}));
    let corners = made.accessors.len() - 1;
    let times = made.floats("SCALAR", 1, &[0.0, 1.0]);
    let lines = made.floats("SCALAR", 1, &[0.25, 0.0, 0.0, 1.0, 0.5, 0.0]);
    // Of a key the in-tangents of all targets, then the values, then the out-tangents.
    let cubic = made.floats(
        "SCALAR",
        1,
        &[
            0.0, 0.0, 0.0, 0.25, 0.0, 0.0, 1.0, 0.0, 0.0, //
            1.0, 0.0, 0.0, 1.25, 0.0, 0.0, 0.0, 0.0, 0.0,
        ],
    );
    let clip = |name: &str, output: usize, interpolation: &str| {
        json!({"name": name, "samplers": [{"input": times, "output": output, "interpolation": interpolation}],
            "channels": [{"sampler": 0, "target": {"node": 0, "path": "weights"}}]})
    };
    let mut document = json!({
        "extensionsUsed": ["KHR_mesh_quantization"],
        "scenes": [{"nodes": [0, 1]}],
        "nodes": [
            {"name": "face", "mesh": 0, "skin": 0},
            {"name": "lower", "children": [2]},
            {"name": "upper", "translation": [0, 1, 0]},
        ],
        "skins": [{"joints": [1, 2]}],
        "meshes": [{
            "weights": AT_REST,
            "extras": {"targetNames": ["smile", "open", "puff"]},
            "primitives": [{
                "attributes": {"POSITION": positions, "JOINTS_0": joints, "WEIGHTS_0": weights},
                "indices": corners,
                "targets": [{"POSITION": smile, "NORMAL": turned}, {"POSITION": open}, {"POSITION": puff}],
            }],
        }],
        "animations": [clip("line", lines, "LINEAR"), clip("step", lines, "STEP"), clip("cubic", cubic, "CUBICSPLINE")],
    });
    // Inverse binds: identity, and the upper joint's.
    let mut matrices = vec![0.0_f32; 32];
    for at in [0, 5, 10, 15, 16, 21, 26, 31] {
        matrices[at] = 1.0;
    }
    matrices[29] = -1.0;
    let matrices = made.floats("MAT4", 16, &matrices);
    document["skins"][0]["inverseBindMatrices"] = json!(matrices);
    change(&mut document);
    made.glb(document)
}
