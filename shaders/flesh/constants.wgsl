// Constants of a character's time steps, in one buffer: then the gather pass can also compute forces within the number of
// buffers that every device can bind.
@group(0) @binding(3) var<storage, read> constants: array<u32>;

// Set in the indices of prescribed points; see tissue::Corner.
const PRESCRIBED: u32 = 0x80000000u;

// Tets of a group of chains.
const TETS: u32 = 96u;

// First, groups of 32 chains: their six points, point by point; rows, or prescribed points with PRESCRIBED set.
fn chain_point(group: u32, place: u32) -> u32 {
    return constants[group * 2u * TETS + place];
}

// Then groups of 96 tets: Ē⁻¹ column by column, then stiffness times volume, component by component.
fn element(group: u32, tet: u32, number: u32) -> f32 {
    return bitcast<f32>(constants[6u * dims.chain_stride + (group * 10u + number) * TETS + tet]);
}

// Then the start of each row's list, and the end of the last; then the indices of its forces in an instance's forces.
fn link(k: u32) -> u32 {
    return constants[36u * dims.chain_stride + k];
}
