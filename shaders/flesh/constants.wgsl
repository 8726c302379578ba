// Constants of a character's time steps, in one buffer: so that the gather pass can also compute pulls within the number of buffers that
// every device can bind.
@group(0) @binding(3) var<storage, read> constants: array<u32>;

// Set in the numbers of prescribed points; see tissue::Corner.
const PRESCRIBED: u32 = 0x80000000u;

// Tets of a group of chains.
const TETS: u32 = 96u;

// First, groups of 32 chains: their six points, point by point; rows, or prescribed points with PRESCRIBED set.
fn chain_point(group: u32, place: u32) -> u32 {
    return constants[group * 2u * TETS + place];
}

// Behind them, groups of 96 tets: Ē⁻¹ column by column, then stiffness times volume, number by number.
fn element(group: u32, tet: u32, number: u32) -> f32 {
    return bitcast<f32>(constants[6u * dims.chain_stride + (group * 10u + number) * TETS + tet]);
}

// At last, where the list of each row begins, and the end; then where in an instance's forces the pulls on it are.
fn link(k: u32) -> u32 {
    return constants[36u * dims.chain_stride + k];
}
