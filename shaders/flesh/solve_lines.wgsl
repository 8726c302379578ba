// Matrices in lines of sixteen columns (src/numerics/lines.rs), and vectors of one instance or of four at a time.
//
// A tile is three vectors of four: x, y and z of four rows of one instance, or of one row of four instances.

struct LineDims {
    // Unknowns, and the stride between instances.
    rows: u32,
    row_stride: u32,
    instances: u32,
    padding: u32,
}

const LINE: u32 = 16u;
const THREADS: u32 = 256u;

@group(0) @binding(0) var<uniform> dims: LineDims;
@group(0) @binding(1) var<storage, read> values: array<f32>;

// Tiles of all threads: vector c of thread t at THREADS * c + t.
var<workgroup> tiles: array<vec4<f32>, 768>;

fn put(thread: u32, tile: mat3x4<f32>) {
    tiles[thread] = tile[0];
    tiles[THREADS + thread] = tile[1];
    tiles[2u * THREADS + thread] = tile[2];
}

// Index of a row of an instance in the vectors; of the last instance if there is no such.
fn place(instance: u32, row: u32) -> u32 {
    return min(instance, dims.instances - 1u) * dims.row_stride + row;
}
