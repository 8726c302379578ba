// Lines of constant width on screen, with round ends and soft edges: one instance a line, one quad an instance.

struct Varyings {
    @builtin(position) clip: vec4<f32>,
    // Pixels along the line from its start, across it, both times w, and w: their quotients are linear on the screen.
    @location(0) place: vec3<f32>,
    // Length and half width.
    @location(1) @interpolate(flat) shape: vec2<f32>,
    @location(2) @interpolate(flat) color: vec4<f32>,
}

// Moves a point slightly towards the eye, so that lines on a surface are visible.
fn lifted(world: vec3<f32>) -> vec4<f32> {
    let by = select(frame.center.w * 2e-3, length(frame.eye.xyz - world) * 1e-3, frame.eye.w > 0.5);
    return frame.clip_from_world * vec4(world + towards_eye(world) * by, 1.0);
}

@vertex
fn vs_main(
    @builtin(vertex_index) index: u32,
    @location(0) start: vec3<f32>,
    @location(1) width: f32,
    @location(2) end: vec3<f32>,
    @location(3) color: vec4<f32>,
) -> Varyings {
    var a = lifted(start);
    var b = lifted(end);
    // Cut at the near plane (depth 0): behind it there is no direction on screen.
    if a.z < 0.0 && b.z > 0.0 {
        a = mix(a, b, -a.z / (b.z - a.z));
    } else if b.z < 0.0 && a.z > 0.0 {
        b = mix(b, a, -b.z / (a.z - b.z));
    }
    let half_size = frame.size.xy * 0.5;
    let start_px = a.xy / a.w * half_size;
    let end_px = b.xy / b.w * half_size;
    let span = end_px - start_px;
    let extent = length(span);
    let along = select(vec2(1.0, 0.0), span / max(extent, 1e-9), extent > 1e-4);
    let across = vec2(-along.y, along.x);
    let half_width = width * 0.5 * frame.fill.w;
    let reach = half_width + 1.0;

    let far_end = (index & 1u) == 1u;
    let side = select(-1.0, 1.0, (index & 2u) == 2u);
    let anchor = select(a, b, far_end);
    let shift = along * select(-reach, reach, far_end) + across * side * reach;
    let clip = vec4(anchor.xy + shift / half_size * anchor.w, anchor.zw);
    let place = vec2(select(-reach, extent + reach, far_end), side * reach);
    let linear = vec4(linear_from_srgb(color.rgb), color.a);
    return Varyings(clip, vec3(place, 1.0) * clip.w, vec2(extent, half_width), linear);
}

@fragment
fn fs_main(in: Varyings) -> @location(0) vec4<f32> {
    let place = in.place.xy / in.place.z;
    let beyond = max(max(-place.x, place.x - in.shape.x), 0.0);
    let distance = length(vec2(beyond, place.y));
    // Lines thinner than a pixel fade instead of breaking up.
    let half_width = max(in.shape.y, 0.5);
    let cover = saturate(half_width + 0.5 - distance) * min(in.shape.y * 2.0, 1.0);
    let alpha = in.color.a * cover;
    if alpha <= 0.002 {
        discard;
    }
    return vec4(in.color.rgb * alpha, alpha);
}
