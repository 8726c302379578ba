// What the passes over a surface know. As `SurfaceDims` in src/gpu/surface/layout.rs; a test compares the layouts.

struct SurfaceDims {
    // Threads of an instance that have something to do.
    count: u32,
    // Source vertices of an instance.
    vertices: u32,
    // Elements from one instance to the next.
    row_stride: u32,
    palette_stride: u32,
    frame_stride: u32,
    // Neighbours of a fine vertex beside the first.
    width: u32,
    // The first element of an instance's palette after the rows of matrices.
    extras: u32,
    pad: u32,
    // Cloth is counted from here.
    origin: vec4<f32>,
}

@group(0) @binding(0) var<uniform> dims: SurfaceDims;

// Shorter vectors have no direction.
const SHORTEST: f32 = 1.17549435e-38;
