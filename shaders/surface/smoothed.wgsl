// Direct delta mush (src/methods/ddm/frame.rs): Σ M Ω = [Q, q; pᵀ, 1], R = rotation closest to (Q − q pᵀ) S, v' = q − R S p. All lengths are
// relative to where the first joint takes the vertex, and in the unit of length of the vertex. Beside its rows, a joint has the diagonal of
// its stretch and its xy, xz, yz. The first entry of the palette has the place in the world that the joints of the skin are relative to.

// Of every source vertex: p, and its unit of length.
@group(0) @binding(5) var<storage, read> hoods: array<vec4<f32>>;
// Nine numbers of Ω of every influence: xx, xy, xz, yy, yz, zz, x, y, z; the weight is the tenth.
@group(0) @binding(6) var<storage, read> moments: array<f32>;

fn smoothed(vertex: u32, first: u32, rest: vec3<f32>, instance: u32) -> vec3<f32> {
    let own = instance * dims.palette_stride;
    let hood = hoods[vertex];
    let p = hood.xyz;
    let v = vec4(rest, 1.0);
    let here = moved_by(own + 3u * (influences[first].x & ~LAST), v);
    let per_length = 1.0 / hood.w;
    // Columns of Q, and q.
    var q0 = vec3(0.0);
    var q1 = vec3(0.0);
    var q2 = vec3(0.0);
    var q = vec3(0.0);
    var diagonal = vec3(0.0);
    var beside = vec3(0.0);
    for (var i = first; ; i += 1u) {
        let influence = influences[i];
        let entry = influence.x & ~LAST;
        let at = own + 3u * entry;
        let weight = bitcast<f32>(influence.y);
        let t = (moved_by(at, v) - here) * per_length;
        // Its rows as columns: vectors are multiplied from the left.
        let m = mat3x3(palette[at].xyz, palette[at + 1u].xyz, palette[at + 2u].xyz);
        let o = 9u * i;
        let xy = moments[o + 1u];
        let xz = moments[o + 2u];
        let yz = moments[o + 4u];
        let middle = vec3(moments[o + 6u], moments[o + 7u], moments[o + 8u]);
        q0 += vec3(moments[o], xy, xz) * m + t * middle.x;
        q1 += vec3(xy, moments[o + 3u], yz) * m + t * middle.y;
        q2 += vec3(xz, yz, moments[o + 5u]) * m + t * middle.z;
        q += middle * m + t * weight;
        let stretch = own + dims.extras + 2u * entry;
        diagonal += palette[stretch].xyz * weight;
        beside += palette[stretch + 1u].xyz * weight;
        if (influence.x & LAST) != 0u {
            break;
        }
    }
    let f = mat3x3(q0 - q * p.x, q1 - q * p.y, q2 - q * p.z);
    let s = mat3x3(
        vec3(diagonal.x, beside.x, beside.y),
        vec3(beside.x, diagonal.y, beside.z),
        vec3(beside.y, beside.z, diagonal.z),
    );
    let rotation = closest_rotation(f * s);
    let offset = q - rotation * (s * p);
    let origin = vec3(palette[own].w, palette[own + 1u].w, palette[own + 2u].w);
    return (here + offset * hood.w) + origin;
}

@compute @workgroup_size(64)
fn place_smoothed(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= dims.count {
        return;
    }
    let source = sources[id.x];
    let kind = source.name >> 29u;
    let rest = vec3(source.x, source.y, source.z);
    let first = source.name & NUMBER;
    if kind == DEFORMED {
        write_position(id.y, id.x, smoothed(id.x, first, rest, id.y));
    } else if kind == BLENDED {
        write_position(id.y, id.x, blended_linearly(first, rest, id.y));
    }
}
