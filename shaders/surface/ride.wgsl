// Cloth on the flesh, vertex by vertex (src/skin/riding/soft.rs): first the frames of control points, then the cloth.

@group(0) @binding(1) var<storage, read_write> positions: array<f32>;

fn position_at(instance: u32, vertex: u32) -> vec3<f32> {
    let at = (instance * dims.vertices + vertex) * 3u;
    return vec3(positions[at], positions[at + 1u], positions[at + 2u]);
}

struct ClothControl {
    rest: vec3<f32>,
    vertex: u32,
    // Orthonormal: two tangents and the normal at rest.
    axis_u: vec3<f32>,
    patch_begin: u32,
    axis_v: vec3<f32>,
    patch_end: u32,
    axis_n: vec3<f32>,
    pad: u32,
}

struct ClothTangent {
    vertex: u32,
    along_u: f32,
    along_v: f32,
}

@group(0) @binding(2) var<storage, read> controls: array<ClothControl>;
@group(0) @binding(3) var<storage, read> patches: array<ClothTangent>;
// The rows of a 3 × 4 matrix each, by which points counted from the origin move. Linear parts stay where a patch has collapsed.
@group(0) @binding(4) var<storage, read_write> frames: array<vec4<f32>>;

// Largest deviation of a frame from a rotation, as a norm.
const STRETCH: f32 = 0.6;
const FLAT: f32 = 1e-6;

fn unit_or(v: vec3<f32>, otherwise: vec3<f32>) -> vec3<f32> {
    let size = length(v);
    return select(otherwise, v / size, size > FLAT);
}

@compute @workgroup_size(64)
fn fit_controls(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= dims.count {
        return;
    }
    let control = controls[id.x];
    let here = position_at(id.y, control.vertex);
    var u = vec3(0.0);
    var v = vec3(0.0);
    for (var i = control.patch_begin; i < control.patch_end; i += 1u) {
        let tangent = patches[i];
        let offset = position_at(id.y, tangent.vertex) - here;
        u += offset * tangent.along_u;
        v += offset * tangent.along_v;
    }
    let at = id.y * dims.frame_stride + 3u * id.x;
    var x = frames[at].xyz;
    var y = frames[at + 1u].xyz;
    var z = frames[at + 2u].xyz;
    let across = cross(u, v);
    let area = length(across);
    if area > FLAT {
        let normal = across / area;
        // The rotation in the plane that is closest to [u v], and what deviates from it.
        let first = unit_or(u + cross(v, normal), control.axis_u);
        let second = cross(normal, first);
        let du = u - first;
        let dv = v - second;
        let deviation = sqrt(dot(du, du) + dot(dv, dv));
        let kept = select(1.0, STRETCH / deviation, deviation > STRETCH);
        // [u v n] times the transposed axes, row by row.
        let nu = first + du * kept;
        let nv = second + dv * kept;
        x = control.axis_u * nu.x + control.axis_v * nv.x + control.axis_n * normal.x;
        y = control.axis_u * nu.y + control.axis_v * nv.y + control.axis_n * normal.y;
        z = control.axis_u * nu.z + control.axis_v * nv.z + control.axis_n * normal.z;
    }
    let offset = (here - dims.origin.xyz) - vec3(dot(x, control.rest), dot(y, control.rest), dot(z, control.rest));
    frames[at] = vec4(x, offset.x);
    frames[at + 1u] = vec4(y, offset.y);
    frames[at + 2u] = vec4(z, offset.z);
}

// Source vertices and the rider of each.
@group(0) @binding(5) var<storage, read> targets: array<vec2<u32>>;
// Riders, tile by tile: of each of 64 the first word, then the second, and so on. arm (3) and φ, corners (3), shares (3), then number
// and weight of each control point.
@group(0) @binding(6) var<storage, read> riders: array<u32>;
@group(0) @binding(7) var<storage, read> fitted: array<vec4<f32>>;

const TILE: u32 = 64u;
const CONTROLS: u32 = 12u;
const RIDER_WORDS: u32 = 34u;

@compute @workgroup_size(64)
fn place_cloth(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= dims.count {
        return;
    }
    let own = targets[id.x];
    let base = (own.y / TILE) * TILE * RIDER_WORDS + own.y % TILE;
    var word: array<u32, 10>;
    for (var i = 0u; i < 10u; i += 1u) {
        word[i] = riders[base + i * TILE];
    }
    var x = vec4(0.0);
    var y = vec4(0.0);
    var z = vec4(0.0);
    for (var i = 0u; i < CONTROLS; i += 1u) {
        let at = id.y * dims.frame_stride + 3u * riders[base + (10u + 2u * i) * TILE];
        let weight = bitcast<f32>(riders[base + (11u + 2u * i) * TILE]);
        x += fitted[at] * weight;
        y += fitted[at + 1u] * weight;
        z += fitted[at + 2u] * weight;
    }
    let arm = vec3(bitcast<f32>(word[0]), bitcast<f32>(word[1]), bitcast<f32>(word[2]));
    let close = bitcast<f32>(word[3]);
    let origin = dims.origin.xyz;
    let below = (position_at(id.y, word[4]) - origin) * bitcast<f32>(word[7])
        + (position_at(id.y, word[5]) - origin) * bitcast<f32>(word[8])
        + (position_at(id.y, word[6]) - origin) * bitcast<f32>(word[9]);
    let turned = vec3(dot(x.xyz, arm), dot(y.xyz, arm), dot(z.xyz, arm));
    let p = origin + (turned + vec3(x.w, y.w, z.w) * (1.0 - close) + below * close);
    let at = (id.y * dims.vertices + own.x) * 3u;
    positions[at] = p.x;
    positions[at + 1u] = p.y;
    positions[at + 2u] = p.z;
}
