// Dual quaternions (src/methods/dqs): rotation, dual part, then the diagonal of the stretch and its xy, xz, yz.
fn blended_dual(first: u32, rest: vec3<f32>, instance: u32) -> vec3<f32> {
    let own = instance * dims.palette_stride;
    let pivot = palette[own + 4u * (influences[first].x & ~LAST)];
    var real = vec4(0.0);
    var dual = vec4(0.0);
    var diagonal = vec3(0.0);
    var beside = vec3(0.0);
    for (var i = first; ; i += 1u) {
        let influence = influences[i];
        let at = own + 4u * (influence.x & ~LAST);
        let weight = bitcast<f32>(influence.y);
        // q and −q are the same rotation: blend along the shorter way.
        let q = palette[at];
        let signed = select(weight, -weight, dot(q, pivot) < 0.0);
        real += q * signed;
        dual += palette[at + 1u] * signed;
        diagonal += palette[at + 2u].xyz * weight;
        beside += palette[at + 3u].xyz * weight;
        if (influence.x & LAST) != 0u {
            break;
        }
    }
    let norm = length(real);
    if norm < 1e-6 {
        return rest;
    }
    real /= norm;
    dual /= norm;
    let p = stretched(diagonal, beside, rest);
    let r = real.xyz;
    let d = dual.xyz;
    return turned(real, p) + 2.0 * (d * real.w - r * dual.w + cross(r, d));
}
