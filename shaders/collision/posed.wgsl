// What detection reads of a posed vertex: its foot point, the direction from there to the skin, and the area-weighted
// normal of the skin.
struct PosedRow {
    foot: vec4f,
    outward: vec4f,
    normal: vec4f,
}
