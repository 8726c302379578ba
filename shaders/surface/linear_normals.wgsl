// Normals of linear blending: v' = Σ w M v, so dv' = (Σ w A) t + Σ g M v (src/methods/lbs/derivative.rs).

fn deformed_tangents(vertex: u32, own: BlendNormal, instance: u32) -> Tangents {
    let tangents = rest_tangents(own);
    let p = vec4(own.rest, 1.0);
    // Derivatives of weights sum to 0: images count relative to the first one's, which is more precise far from the origin.
    let start = moved_by(transform_of(slopes[own.first], instance), p);
    var u = vec3(0.0);
    var v = vec3(0.0);
    for (var i = own.first; ; i += 1u) {
        let slope = slopes[i];
        let at = transform_of(slope, instance);
        let moved = moved_by(at, p) - start;
        u += moved_by(at, vec4(tangents.u, 0.0)) * slope.weight + moved * slope.along_u;
        v += moved_by(at, vec4(tangents.v, 0.0)) * slope.weight + moved * slope.along_v;
        if (slope.name & LAST) != 0u {
            break;
        }
    }
    return Tangents(u, v);
}
