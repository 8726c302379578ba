// Centres of rotation (src/methods/cor): the centre of a vertex follows the blended matrices, and the vertex is turned about it by the
// blended rotation after the blended stretch. Beside its rows, a joint has a quaternion, the diagonal of its stretch and its xy, xz, yz.

// Of every source vertex, in the space of its rest position.
@group(0) @binding(5) var<storage, read> centers: array<vec4<f32>>;

fn about_center(vertex: u32, first: u32, rest: vec3<f32>, instance: u32) -> vec3<f32> {
    let center = centers[vertex].xyz;
    let placed = blended_linearly(first, center, instance);
    let arm = rest - center;
    if all(arm == vec3(0.0)) {
        return placed;
    }
    let own = instance * dims.palette_stride + dims.extras;
    let pivot = palette[own + 3u * (influences[first].x & ~LAST)];
    var real = vec4(0.0);
    var diagonal = vec3(0.0);
    var beside = vec3(0.0);
    for (var i = first; ; i += 1u) {
        let influence = influences[i];
        let at = own + 3u * (influence.x & ~LAST);
        let weight = bitcast<f32>(influence.y);
        let q = palette[at];
        // q and −q are the same rotation: blend along the shorter way. So the sum is never short.
        real += q * select(weight, -weight, dot(q, pivot) < 0.0);
        diagonal += palette[at + 1u].xyz * weight;
        beside += palette[at + 2u].xyz * weight;
        if (influence.x & LAST) != 0u {
            break;
        }
    }
    return placed + turned(real / length(real), stretched(diagonal, beside, arm));
}

@compute @workgroup_size(64)
fn place_about_centers(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= dims.count {
        return;
    }
    let source = sources[id.x];
    if source.name >> 29u == BLENDED {
        let rest = vec3(source.x, source.y, source.z);
        write_position(id.y, id.x, about_center(id.x, source.name & NUMBER, rest, id.y));
    }
}
