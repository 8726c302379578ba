// Linear blending: transforms are the rows of 3 × 4 matrices.

fn blended_linearly(first: u32, rest: vec3<f32>, instance: u32) -> vec3<f32> {
    let own = instance * dims.palette_stride;
    var x = vec4(0.0);
    var y = vec4(0.0);
    var z = vec4(0.0);
    for (var i = first; ; i += 1u) {
        let influence = influences[i];
        let at = own + 3u * (influence.x & ~LAST);
        let weight = bitcast<f32>(influence.y);
        x += palette[at] * weight;
        y += palette[at + 1u] * weight;
        z += palette[at + 2u] * weight;
        if (influence.x & LAST) != 0u {
            break;
        }
    }
    let p = vec4(rest, 1.0);
    return vec3(dot(x, p), dot(y, p), dot(z, p));
}
