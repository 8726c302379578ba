// Sizes and strides of the buffers of a character and its instances. Row arrays are vec4 (w = 0), instance after instance.
struct Dims {
    // Unknowns, and how far apart instances are.
    rows: u32,
    row_stride: u32,
    // Prescribed points.
    base_points: u32,
    base_stride: u32,
    // Chains of up to three tets; the stride is a multiple of those of a workgroup.
    chains: u32,
    chain_stride: u32,
    instances: u32,
    // Differences that the acceleration remembers; 0 for plain iterations.
    memory: u32,
    // Points of a chain that are pulled: the first 3 where all others are prescribed, or all 6.
    pulled: u32,
    unused_a: u32,
    unused_b: u32,
    unused_c: u32,
}

// Parameters common to all rows.
struct Motion {
    // h² g.
    gravity: vec3f,
    // h.
    step_secs: f32,
    // Speed limit of a row relative to its base.
    fastest: f32,
    // Resistance to changes of volume, relative to that to changes of shape.
    volume: f32,
    // Energies differ by more than this, or it is rounding.
    energy_floor: f32,
    unused: f32,
}

// Which local/global iteration of the step it is, from 0.
struct Turn {
    iteration: u32,
    unused_a: u32,
    unused_b: u32,
    unused_c: u32,
}

@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> motion: Motion;
@group(0) @binding(2) var<uniform> turn: Turn;

// Chains of a workgroup of the local step.
const CHAINS: u32 = 32u;
// Rows of a workgroup of all others.
const ROWS: u32 = 64u;

fn row_at(instance: u32, row: u32) -> u32 {
    return instance * dims.row_stride + row;
}

// Energies lie as: an instance each, what its contacts had where the last iteration began; then three regions (even iterations, odd ones,
// rejected ones) of instances, groups of chains, groups of rows, contacts. Energies of rejected iterates are all in groups of rows.
fn chain_groups() -> u32 {
    return dims.chain_stride / CHAINS;
}

fn row_groups() -> u32 {
    return dims.row_stride / ROWS;
}

fn energy_count() -> u32 {
    return chain_groups() + row_groups() + 1u;
}

fn energies_at(region: u32, instance: u32) -> u32 {
    return dims.instances + (region * dims.instances + instance) * energy_count();
}
