// Normals under the blended rotations of centres of rotation, with constant weights (src/methods/cor/normals.rs).

fn matrix_of(slope: WeightSlope, instance: u32) -> u32 {
    return instance * dims.palette_stride + 3u * (slope.name & ~LAST);
}

// Where its rotation and stretch are.
fn turn_of(slope: WeightSlope, instance: u32) -> u32 {
    return matrix_of(slope, instance) + dims.extras;
}

fn blended_normal(own: BlendNormal, instance: u32) -> vec3<f32> {
    let pivot = palette[turn_of(slopes[own.first], instance)];
    var real = vec4(0.0);
    var sum = vec3(0.0);
    for (var i = own.first; ; i += 1u) {
        let slope = slopes[i];
        let turn = turn_of(slope, instance);
        let q = palette[turn];
        real += q * select(slope.weight, -slope.weight, dot(q, pivot) < 0.0);
        sum += unit_stretched(palette[turn + 1u].xyz, palette[turn + 2u].xyz, own.normal) * slope.weight;
        if (slope.name & LAST) != 0u {
            break;
        }
    }
    return turned(real / max(length(real), SHORTEST), sum);
}

fn strongest_normal(own: BlendNormal, instance: u32) -> vec3<f32> {
    let at = matrix_of(slopes[own.first], instance);
    return unit_cofactor(palette[at].xyz, palette[at + 1u].xyz, palette[at + 2u].xyz, own.normal);
}
