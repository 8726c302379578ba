// Scene light to display light (both linear): the Khronos PBR neutral tone mapper. Colours below 0.8 are unchanged.
fn tone_map(scene: vec3<f32>) -> vec3<f32> {
    let start = 0.8 - 0.04;
    let desaturation = 0.15;
    let low = min(scene.r, min(scene.g, scene.b));
    let offset = select(0.04, low - 6.25 * low * low, low < 0.08);
    var color = scene - offset;
    let peak = max(color.r, max(color.g, color.b));
    if peak < start {
        return color;
    }
    let d = 1.0 - start;
    let new_peak = 1.0 - d * d / (peak + d - start);
    color *= new_peak / peak;
    let g = 1.0 - 1.0 / (desaturation * (peak - new_peak) + 1.0);
    return mix(color, vec3(new_peak), g);
}

// Backdrop in display light at a height of the picture, 0 at the top.
fn backdrop(height: f32) -> vec3<f32> {
    let t = smoothstep(0.0, 1.0, height);
    return linear_from_srgb(mix(frame.background_top.rgb, frame.background_bottom.rgb, t));
}
