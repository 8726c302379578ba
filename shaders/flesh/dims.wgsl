// Sizes and strides of the buffers of a character and its instances. Row arrays are vec4 (w = 0), instance after instance.
struct Dims {
    // Unknowns, and the stride between instances.
    rows: u32,
    row_stride: u32,
    // Prescribed points.
    base_points: u32,
    base_stride: u32,
    // Chains of up to three tets; the stride is a multiple of those of a workgroup.
    chains: u32,
    chain_stride: u32,
    instances: u32,
    // Differences kept by Anderson acceleration; 0 for plain iterations.
    memory: u32,
    // Points of a chain that forces act on: the first 3 if all others are prescribed, otherwise all 6.
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
    // Smaller energy differences are rounding errors.
    energy_floor: f32,
    unused: f32,
}

// Index of the local/global iteration in the step.
struct Turn {
    iteration: u32,
    unused_a: u32,
    unused_b: u32,
    unused_c: u32,
}

@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> motion: Motion;
@group(0) @binding(2) var<uniform> turn: Turn;

// Chains per workgroup of the local step.
const CHAINS: u32 = 32u;
// Rows per workgroup of all other passes.
const ROWS: u32 = 64u;

fn row_at(instance: u32, row: u32) -> u32 {
    return instance * dims.row_stride + row;
}

// Layout of energies: one per instance for its contacts at the start of the last iteration; then three regions (even
// iterations, odd ones, rejected ones) of instances, groups of chains, groups of rows, contacts. Energies of rejected
// iterates are all in groups of rows.
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
