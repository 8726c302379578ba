// Smooths the occlusion over 4 × 4 pixels (about the period of its noise), but not across depth discontinuities.

@group(1) @binding(0) var eye_depth: texture_2d<f32>;
@group(1) @binding(1) var rough: texture_2d<f32>;

@vertex
fn vs_main(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    let corner = vec2(f32((index << 1u) & 2u), f32(index & 2u));
    return vec4(corner * 2.0 - 1.0, 1.0, 1.0);
}

fn depth_at(pixel: vec2<i32>) -> f32 {
    let view = frame.view_from_clip * vec4(0.0, 0.0, textureLoad(eye_depth, pixel, 0).r, 1.0);
    return -view.z / view.w;
}

@fragment
fn fs_main(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let size = vec2<i32>(textureDimensions(rough));
    let pixel = vec2<i32>(position.xy);
    if textureLoad(eye_depth, pixel, 0).r >= 1.0 {
        return vec4(1.0);
    }
    let here = depth_at(pixel);
    var sum = 0.0;
    var weights = 0.0;
    for (var y = -2; y <= 2; y++) {
        for (var x = -2; x <= 2; x++) {
            let at = clamp(pixel + vec2(x, y), vec2(0), size - 1);
            let apart = (depth_at(at) - here) / frame.occlusion.x;
            let weight = exp(-f32(x * x + y * y) * 0.18 - apart * apart * 40.0);
            sum += weight * textureLoad(rough, at, 0).r;
            weights += weight;
        }
    }
    return vec4(sum / weights);
}
