// Separates base points of adjacent bones in sharp bends: collision/base_separation.rs.
struct PosedPlane {
    normal: vec3f,
    // Part of the full separation; 0 or less if there is none in this pose.
    fraction: f32,
    joint: vec3f,
    // Largest distance of the other bone's flesh from its line.
    reach: f32,
    // Unit vector along the other bone.
    across: vec3f,
    facing_bias: f32,
}

@group(0) @binding(3) var<storage, read> planes: array<PosedPlane>;
@group(0) @binding(4) var<storage, read_write> base: array<vec4f>;

@compute @workgroup_size(ROWS)
fn separate(@builtin(global_invocation_id) id: vec3u) {
    let row = id.x;
    if row >= dims.rows {
        return;
    }
    let end = tables[dims.planes_at + row + 1u];
    var k = tables[dims.planes_at + row];
    if k == end {
        return;
    }
    let point = base_point_of(row);
    let outward = posed_outward(row);
    var place = base[point].xyz;
    // A plane, the vertex's side of it at rest, and the distance that its flesh needs.
    for (; k < end; k += 3u) {
        let plane = planes[tables[k]];
        if plane.fraction <= 0.0 {
            continue;
        }
        let facing = saturate(plane.facing_bias - dot(outward, plane.normal));
        let least = min(number_at(k + 1u), number_at(k + 2u) * facing);
        let offset = place - plane.joint;
        let side = dot(plane.normal, offset);
        if side < least {
            let apart = length(offset - plane.across * max(dot(plane.across, offset), 0.0));
            let fraction = plane.fraction * saturate(4.0 * (1.0 - apart / plane.reach));
            place += plane.normal * ((least - side) * fraction);
        }
    }
    base[point] = vec4f(place, 0.0);
}
