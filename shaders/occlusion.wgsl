// Ambient occlusion from depth: McGuire, Mara, Luebke, "Scalable Ambient Obscurance", HPG 2012, equation 10's falloff, with normals
// from depth differences. One pixel covers 2 × 2 pixels of the picture.

@group(1) @binding(0) var eye_depth: texture_2d<f32>;

const SAMPLES: i32 = 14;

@vertex
fn vs_main(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    let corner = vec2(f32((index << 1u) & 2u), f32(index & 2u));
    return vec4(corner * 2.0 - 1.0, 1.0, 1.0);
}

fn view_at(pixel: vec2<i32>, size: vec2<i32>) -> vec3<f32> {
    let at = clamp(pixel, vec2(0), size - 1);
    let ndc = (vec2<f32>(at) + 0.5) / vec2<f32>(size) * vec2(2.0, -2.0) + vec2(-1.0, 1.0);
    let view = frame.view_from_clip * vec4(ndc, textureLoad(eye_depth, at, 0).r, 1.0);
    return view.xyz / view.w;
}

// The smaller of the differences to both neighbours, which does not cross a silhouette. At the picture's edge there is only one; the
// difference to the pixel itself is not zero where products and sums are fused.
fn shorter(pixel: vec2<i32>, size: vec2<i32>, here: vec3<f32>, way: vec2<i32>) -> vec3<f32> {
    let before = here - view_at(pixel - way, size);
    let after = view_at(pixel + way, size) - here;
    let is_first = any(pixel - way < vec2(0));
    let is_last = any(pixel + way >= size);
    return select(after, before, is_last || (!is_first && abs(before.z) < abs(after.z)));
}

// Towards the eye where there is no direction. The lengths are relative to the radius: squares of tiny numbers are zero on most devices.
fn normal_of(along_x: vec3<f32>, along_y: vec3<f32>, radius: f32) -> vec3<f32> {
    let across = cross(along_y / radius, along_x / radius);
    let area = length(across);
    return select(vec3(0.0, 0.0, 1.0), across / max(area, 1e-30), area > 1e-15);
}

@fragment
fn fs_main(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let size = vec2<i32>(textureDimensions(eye_depth));
    let pixel = vec2<i32>(position.xy);
    if textureLoad(eye_depth, pixel, 0).r >= 1.0 {
        return vec4(1.0);
    }
    let here = view_at(pixel, size);
    let along_x = shorter(pixel, size, here, vec2(1, 0));
    let along_y = shorter(pixel, size, here, vec2(0, 1));
    let radius = frame.occlusion.x;
    let n = normal_of(along_x, along_y, radius);

    let depth = select(1.0, -here.z, frame.eye.w > 0.5);
    let reach = clamp(radius * frame.occlusion.z / depth, 2.0, 90.0);
    let turn = pixel_noise(position.xy) * 6.2831853;
    var sum = 0.0;
    for (var i = 0; i < SAMPLES; i++) {
        let share = (f32(i) + 0.5) / f32(SAMPLES);
        let angle = f32(i) * 2.39996323 + turn;
        let offset = vec2(cos(angle), sin(angle)) * share * reach;
        let to = view_at(pixel + vec2<i32>(round(offset)), size) - here;
        let squared = dot(to, to);
        let near = max(0.0, 1.0 - squared / (radius * radius));
        sum += near * near * max(0.0, dot(to, n) - 0.012 * radius) / (sqrt(squared) + 0.02 * radius);
    }
    let visible = 1.0 - frame.occlusion.y * sum / f32(SAMPLES);
    return vec4(saturate(visible));
}
