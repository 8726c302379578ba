// Constants of the detection of contacts, in one buffer of words, so that every pass binds few buffers. Vertices are
// numbered as rows of the system. GPU version of src/collision; packed by src/gpu/collision/pack.rs.
struct CollisionDims {
    rows: u32,
    triangles: u32,
    patches: u32,
    // Groups of patches, and of rows.
    patch_groups: u32,
    row_groups: u32,
    // Where the records and lists begin, in words.
    triangles_at: u32,
    rows_at: u32,
    fans_at: u32,
    excluded_at: u32,
    ignored_at: u32,
    planes_at: u32,
    patches_at: u32,
    // Mean edge length of the skin at rest, world units.
    mean_edge: f32,
    // Accuracy of gaps, world units.
    tolerance: f32,
    unused_a: u32,
    unused_b: u32,
}

@group(0) @binding(0) var<uniform> dims: CollisionDims;
@group(0) @binding(1) var<storage, read> tables: array<u32>;

const TRIANGLE_WORDS: u32 = 16u;
const ROW_WORDS: u32 = 12u;
const NONE: u32 = 0xffffffffu;
// Largest number of hits of a vertex in one half of the bones that are looked at, and of its contacts.
const MOST_HITS: u32 = 16u;
const MOST_PER_VERTEX: u32 = 3u;
// Rows of a workgroup.
const ROWS: u32 = 64u;

// Where the hits of a vertex in one half of the bones begin.
fn hits_at(row: u32, half: u32) -> u32 {
    return (2u * row + half) * MOST_HITS;
}

fn number_at(word: u32) -> f32 {
    return bitcast<f32>(tables[word]);
}

fn vector_at(word: u32) -> vec3f {
    return vec3f(number_at(word), number_at(word + 1u), number_at(word + 2u));
}

fn triangle_word(triangle: u32, word: u32) -> u32 {
    return dims.triangles_at + triangle * TRIANGLE_WORDS + word;
}

// Corners, counter-clockwise.
fn corners_of(triangle: u32) -> vec3u {
    let at = triangle_word(triangle, 0u);
    return vec3u(tables[at], tables[at + 1u], tables[at + 2u]);
}

// Sign of the volume of the wedge's tets at rest.
fn orientation_of(triangle: u32) -> f32 {
    return number_at(triangle_word(triangle, 3u));
}

// Corners in the order of the wedge's tets.
fn sorted_corners_of(triangle: u32) -> vec3u {
    let at = triangle_word(triangle, 4u);
    return vec3u(tables[at], tables[at + 1u], tables[at + 2u]);
}

// Mean edge length of the corners at rest.
fn edge_of(triangle: u32) -> f32 {
    return number_at(triangle_word(triangle, 7u));
}

// The neighbour across the edge from a corner to the next one, or NONE.
fn neighbor_of(triangle: u32, corner: u32) -> u32 {
    return tables[triangle_word(triangle, 8u) + corner];
}

fn rest_center(triangle: u32) -> vec3f {
    return vector_at(triangle_word(triangle, 12u));
}

fn row_word(row: u32, word: u32) -> u32 {
    return dims.rows_at + row * ROW_WORDS + word;
}

fn bone_of(row: u32) -> u32 {
    return tables[row_word(row, 0u)];
}

// Mean edge length of a vertex at rest.
fn edge_at(row: u32) -> f32 {
    return number_at(row_word(row, 1u));
}

// Whether the skin of the vertex's bone may touch itself.
fn may_fold(row: u32) -> bool {
    return tables[row_word(row, 2u)] != 0u;
}

// The base point under the vertex.
fn base_point_of(row: u32) -> u32 {
    return tables[row_word(row, 3u)];
}

// Bind position of the foot point, and the unit vector from there to the skin.
fn rest_foot(row: u32) -> vec3f {
    return vector_at(row_word(row, 4u));
}

fn rest_outward(row: u32) -> vec3f {
    return vector_at(row_word(row, 7u));
}

// 1 / stiffness of the flesh at the vertex.
fn softness_at(row: u32) -> f32 {
    return number_at(row_word(row, 10u));
}

// Vectors shorter than `least` become zero.
fn unit_or_zero(v: vec3f, least: f32) -> vec3f {
    let norm = length(v);
    return select(vec3f(), v / max(norm, 1e-30), norm > least);
}
