// Poses what detection reads of every vertex, and forgets its hits in the bones that are searched.
@group(0) @binding(5) var<storage, read> x: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> posed: array<PosedRow>;
@group(0) @binding(8) var<storage, read_write> hits: array<u32>;

@compute @workgroup_size(ROWS)
fn pose(@builtin(global_invocation_id) id: vec3u) {
    let row = id.x;
    if row >= dims.rows {
        return;
    }
    for (var half = 0u; half < 2u; half++) {
        for (var k = 0u; k < MOST_HITS && is_searched(half); k++) {
            hits[hits_at(row, half) + k] = NONE;
        }
    }
    var normal = vec3f();
    for (var k = tables[dims.fans_at + row]; k < tables[dims.fans_at + row + 1u]; k++) {
        let corners = corners_of(tables[k]);
        let a = x[corners.x].xyz;
        normal += cross(x[corners.y].xyz - a, x[corners.z].xyz - a);
    }
    let foot = moved(bone_of(row), rest_foot(row));
    posed[row] = PosedRow(vec4f(foot, 0.0), vec4f(posed_outward(row), 0.0), vec4f(normal, 0.0));
}
