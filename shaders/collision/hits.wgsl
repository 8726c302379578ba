// Finds the vertices inside every wedge, the volume between a triangle and its foot points: collision/wedge.rs. A vertex keeps
// the triangles with the smallest numbers, sorted; the order of the threads does not matter.
@group(0) @binding(5) var<storage, read> x: array<vec4f>;
@group(0) @binding(6) var<storage, read> posed: array<PosedRow>;
@group(0) @binding(7) var<storage, read> boxes: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> hits: array<atomic<u32>>;

const PATCHES: u32 = 16u;
// Threads of a wedge: they share the patches of a group, and the vertices of a patch.
const PATCH_LANES: u32 = 4u;
const VERTEX_LANES: u32 = 8u;
const LANES: u32 = PATCH_LANES * VERTEX_LANES;
// A tet contains no points if its volume is below this fraction of the product of its edge lengths.
const MIN_RELATIVE_VOLUME: f32 = 1e-4;

struct Wedge {
    triangle: u32,
    // The half of the bones that its own bone is in.
    half: u32,
    sign: f32,
    bones: vec3u,
    chain: array<vec3f, 6>,
    low: vec3f,
    high: vec3f,
}

fn overlaps(box: u32, low: vec3f, high: vec3f) -> bool {
    return all(boxes[2u * box].xyz <= high) && all(boxes[2u * box + 1u].xyz >= low);
}

fn tet_contains_origin(a: vec3f, b: vec3f, c: vec3f, d: vec3f, sign: f32) -> bool {
    let ab = cross(a, b);
    if dot(ab, d) * sign < 0.0 || dot(ab, c) * sign > 0.0 || dot(cross(b, c), d) * sign < 0.0 || dot(cross(c, a), d) * sign < 0.0 {
        return false;
    }
    let side_b = b - a;
    let side_c = c - a;
    let side_d = d - a;
    let volume = dot(cross(side_b, side_c), side_d) * sign;
    return volume > MIN_RELATIVE_VOLUME * length(side_b) * length(side_c) * length(side_d);
}

fn contains(wedge: Wedge, p: vec3f) -> bool {
    let a = wedge.chain[0] - p;
    let b = wedge.chain[1] - p;
    let c = wedge.chain[2] - p;
    let d = wedge.chain[3] - p;
    let e = wedge.chain[4] - p;
    let f = wedge.chain[5] - p;
    return tet_contains_origin(a, b, c, d, wedge.sign) || tet_contains_origin(b, c, d, e, wedge.sign)
        || tet_contains_origin(c, d, e, f, wedge.sign);
}

fn insert(row: u32, half: u32, triangle: u32) {
    var rest = triangle;
    for (var k = 0u; k < MOST_HITS; k++) {
        let before = atomicMin(&hits[hits_at(row, half) + k], rest);
        if before == NONE {
            return;
        }
        rest = max(before, rest);
    }
}

fn test_patch(wedge: Wedge, patch_index: u32, lane: u32) {
    let at = dims.patches_at + 2u * patch_index;
    let bone = tables[at + 1u];
    if any(wedge.bones == vec3u(bone)) || !overlaps(patch_index, wedge.low, wedge.high) {
        return;
    }
    for (var k = tables[at] + lane; k < tables[at + 2u]; k += VERTEX_LANES) {
        let row = tables[k];
        let p = x[row].xyz;
        if all(p >= wedge.low) && all(p <= wedge.high) && contains(wedge, p) && !is_excluded(row, wedge.triangle) {
            insert(row, wedge.half, wedge.triangle);
        }
    }
}

@compute @workgroup_size(256)
fn find_hits(@builtin(global_invocation_id) id: vec3u) {
    let triangle = id.x / LANES;
    let patch_lane = id.x % PATCH_LANES;
    let vertex_lane = id.x % LANES / PATCH_LANES;
    if triangle >= dims.triangles {
        return;
    }
    let corners = sorted_corners_of(triangle);
    let half = bone_of(corners.x) & 1u;
    if !is_searched(half) {
        return;
    }
    var wedge: Wedge;
    wedge.half = half;
    wedge.triangle = triangle;
    wedge.sign = orientation_of(triangle);
    wedge.bones = vec3u(bone_of(corners.x), bone_of(corners.y), bone_of(corners.z));
    wedge.chain = array<vec3f, 6>(
        x[corners.x].xyz, x[corners.y].xyz, x[corners.z].xyz,
        posed[corners.x].foot.xyz, posed[corners.y].foot.xyz, posed[corners.z].foot.xyz,
    );
    wedge.low = wedge.chain[0];
    wedge.high = wedge.chain[0];
    for (var k = 1u; k < 6u; k++) {
        wedge.low = min(wedge.low, wedge.chain[k]);
        wedge.high = max(wedge.high, wedge.chain[k]);
    }
    for (var group = 0u; group < dims.patch_groups; group++) {
        if overlaps(dims.patches + group, wedge.low, wedge.high) {
            let end = min((group + 1u) * PATCHES, dims.patches);
            for (var k = group * PATCHES + patch_lane; k < end; k += PATCH_LANES) {
                test_patch(wedge, k, vertex_lane);
            }
        }
    }
}
