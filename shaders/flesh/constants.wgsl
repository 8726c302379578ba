// What a character's steps need and no pose changes, in one buffer: so that a pass that gathers can also make pulls, with as many buffers
// as any device binds.
@group(0) @binding(3) var<storage, read> constants: array<u32>;

// Tets of a group of prisms.
const TETS: u32 = 96u;

// First, groups of 32 prisms: the six points of the chains, point by point; rows on the skin, then points of the base.
fn chain_point(group: u32, place: u32) -> u32 {
    return constants[group * 2u * TETS + place];
}

// Behind them, groups of 96 tets: Ē⁻¹ column by column, then stiffness times volume, number by number.
fn element(group: u32, tet: u32, number: u32) -> f32 {
    return bitcast<f32>(constants[6u * dims.prism_stride + (group * 10u + number) * TETS + tet]);
}

// At last, where the list of each row begins, and the end; then where in an instance's forces the pulls on it are.
fn link(k: u32) -> u32 {
    return constants[36u * dims.prism_stride + k];
}
