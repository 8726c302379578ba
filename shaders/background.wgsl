// Studio backdrop: a soft vertical gradient.

@vertex
fn vs_main(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    let corner = vec2(f32((index << 1u) & 2u), f32(index & 2u));
    return vec4(corner * 2.0 - 1.0, 1.0, 1.0);
}

@fragment
fn fs_main(@builtin(position) pixel: vec4<f32>) -> @location(0) vec4<f32> {
    // Noise of half a quantisation step hides the banding of a slow gradient.
    let noise = (pixel_noise(pixel.xy) - 0.5) / 255.0;
    let t = smoothstep(0.0, 1.0, pixel.y * frame.size.w);
    let flat_color = f32(all(frame.background_top == frame.background_bottom));
    let srgb = mix(frame.background_top.rgb, frame.background_bottom.rgb, t) + noise * (1.0 - flat_color);
    return vec4(linear_from_srgb(srgb), 1.0);
}
