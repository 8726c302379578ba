// Source vertices: what each is made of, and where it goes.

struct SourceVertex {
    // What it is (the upper three bits) and the number of that.
    name: u32,
    // A blended or deformed vertex: rest position. Flesh: components of the normal. Not a vec3, which would be aligned to 16 bytes.
    x: f32,
    y: f32,
    z: f32,
}

// As `layout.rs` numbers them. Still: it keeps what is in the buffers; what rides is moved by other passes.
const STILL: u32 = 0u;
const BLENDED: u32 = 1u;
const SIMULATED: u32 = 2u;
const FLESH: u32 = 3u;
// Placed by the tables of its method.
const DEFORMED: u32 = 4u;
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
