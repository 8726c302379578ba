// Normals under the transforms of joints, with constant weights, as engines blend them.

fn transform_of(slope: WeightSlope, instance: u32) -> u32 {
    return instance * dims.palette_stride + 3u * (slope.name & ~LAST);
}

fn image_by(slope: WeightSlope, normal: vec3<f32>, instance: u32) -> vec3<f32> {
    let at = transform_of(slope, instance);
    return unit_cofactor(palette[at].xyz, palette[at + 1u].xyz, palette[at + 2u].xyz, normal);
}

fn blended_normal(own: BlendNormal, instance: u32) -> vec3<f32> {
    var sum = vec3(0.0);
    for (var i = own.first; ; i += 1u) {
        let slope = slopes[i];
        sum += image_by(slope, own.normal, instance) * slope.weight;
        if (slope.name & LAST) != 0u {
            break;
        }
    }
    return sum;
}

fn strongest_normal(own: BlendNormal, instance: u32) -> vec3<f32> {
    return image_by(slopes[own.first], own.normal, instance);
}
