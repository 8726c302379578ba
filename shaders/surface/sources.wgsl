// Source vertices: what each is made of, and where it goes.

struct SourceVertex {
    // What it is (the upper three bits) and the number of that.
    name: u32,
    // A blended vertex: rest position. Flesh: components of the normal. Not a vec3, which would be aligned to 16 bytes.
    x: f32,
    y: f32,
    z: f32,
}

// As `layout.rs` numbers them. Still: it keeps what is in the buffers; what rides is moved by other passes.
const STILL: u32 = 0u;
const BLENDED: u32 = 1u;
const SIMULATED: u32 = 2u;
const FLESH: u32 = 3u;
const NUMBER: u32 = 0x1fffffffu;

@group(0) @binding(1) var<storage, read> sources: array<SourceVertex>;
@group(0) @binding(2) var<storage, read> influences: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> palette: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> positions: array<f32>;

fn write_position(instance: u32, vertex: u32, p: vec3<f32>) {
    let at = (instance * dims.vertices + vertex) * 3u;
    positions[at] = p.x;
    positions[at + 1u] = p.y;
    positions[at + 2u] = p.z;
}

// An influence: the transform's number, with the highest bit on the vertex' last one, and the bits of the weight.
const LAST: u32 = 0x80000000u;

// Linear blending: transforms are the rows of 3 × 4 matrices.
fn blended_linearly(first: u32, rest: vec3<f32>, instance: u32) -> vec3<f32> {
    let own = instance * dims.palette_stride;
    var x = vec4(0.0);
    var y = vec4(0.0);
    var z = vec4(0.0);
    for (var i = first; ; i += 1u) {
        let influence = influences[i];
        let at = own + 3u * (influence.x & ~LAST);
        let weight = bitcast<f32>(influence.y);
        x += palette[at] * weight;
        y += palette[at + 1u] * weight;
        z += palette[at + 2u] * weight;
        if (influence.x & LAST) != 0u {
            break;
        }
    }
    let p = vec4(rest, 1.0);
    return vec3(dot(x, p), dot(y, p), dot(z, p));
}

// Dual quaternions (src/skin/dqs.rs): rotation, dual part, then the diagonal of the stretch and its xy, xz, yz.
fn blended_dual(first: u32, rest: vec3<f32>, instance: u32) -> vec3<f32> {
    let own = instance * dims.palette_stride;
    let pivot = palette[own + 4u * (influences[first].x & ~LAST)];
    var real = vec4(0.0);
    var dual = vec4(0.0);
    var diagonal = vec3(0.0);
    var beside = vec3(0.0);
    for (var i = first; ; i += 1u) {
        let influence = influences[i];
        let at = own + 4u * (influence.x & ~LAST);
        let weight = bitcast<f32>(influence.y);
        // q and −q are the same rotation: blend along the shorter way.
        let q = palette[at];
        let signed = select(weight, -weight, dot(q, pivot) < 0.0);
        real += q * signed;
        dual += palette[at + 1u] * signed;
        diagonal += palette[at + 2u].xyz * weight;
        beside += palette[at + 3u].xyz * weight;
        if (influence.x & LAST) != 0u {
            break;
        }
    }
    let norm = length(real);
    if norm < 1e-6 {
        return rest;
    }
    real /= norm;
    dual /= norm;
    let p = diagonal * rest + vec3(
        beside.x * rest.y + beside.y * rest.z,
        beside.x * rest.x + beside.z * rest.z,
        beside.y * rest.x + beside.z * rest.y,
    );
    let r = real.xyz;
    let d = dual.xyz;
    return p + 2.0 * cross(r, cross(r, p) + p * real.w) + 2.0 * (d * real.w - r * dual.w + cross(r, d));
}
