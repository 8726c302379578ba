// The floor: shadow and grid over the backdrop, with premultiplied alpha.

struct Varyings {
    @builtin(position) clip: vec4<f32>,
    @location(0) world: vec3<f32>,
}

@vertex
fn vs_main(@builtin(vertex_index) index: u32) -> Varyings {
    let world = floor_corner(index);
    return Varyings(frame.clip_from_world * vec4(world, 1.0), world);
}

// Coverage of a grid of one-pixel lines; `cells` in grid units, `width` the change of `cells` from pixel to pixel.
fn grid(cells: vec2<f32>, width: vec2<f32>) -> f32 {
    let distance = abs(fract(cells - 0.5) - 0.5) / max(width * frame.fill.w, vec2(1e-9));
    let line = 1.0 - smoothstep(vec2(0.3), vec2(1.2), distance);
    // Lines closer than a few pixels fade out.
    let calm = 1.0 - smoothstep(vec2(0.12), vec2(0.45), width);
    return max(line.x * calm.x, line.y * calm.y);
}

// Visible fraction of the key light at a point of the floor: a small tent filter hides the sampling pattern.
fn floor_visibility(at: vec2<f32>) -> f32 {
    if frame.key.w == 0.0 {
        return 1.0;
    }
    let square = shadow_square();
    let uv = (at - square.xy) / (2.0 * square.z) + 0.5;
    let step = 0.75 / vec2<f32>(textureDimensions(floor_shadow));
    var sum = 0.0;
    for (var i = 0; i < 4; i++) {
        let offset = vec2(f32(i & 1), f32(i >> 1u)) * 2.0 - 1.0;
        sum += textureSampleLevel(floor_shadow, floor_sampler, uv + offset * step, 0.0).r;
    }
    let inside = all(uv > vec2(0.0)) && all(uv < vec2(1.0));
    return select(1.0, sum * 0.25, inside);
}

@fragment
fn fs_main(in: Varyings) -> @location(0) vec4<f32> {
    let spacing = max(frame.ground.y, 1e-9);
    let place = on_stage(in.world).xz;
    let cells = place / spacing;
    let width = fwidth(cells);
    let fine = grid(cells, width);
    let coarse = grid(cells * 0.1, width * 0.1);
    let v = towards_eye(in.world);
    let up = frame.world_from_stage[1].xyz;

    let radius = frame.center.w;
    let away = length(place - on_stage(frame.center.xyz).xz);
    let fade = 1.0 - smoothstep(0.35, 1.0, away / frame.ground.z);
    let from_above = smoothstep(-0.02, 0.06, dot(v, up));

    let key = floor_visibility(place);
    let ambient = ambient_visibility(in.clip);
    let shadow = (1.0 - (0.52 + 0.48 * key) * ambient * ambient) * fade * from_above;

    let backdrop_light = backdrop(in.clip.y * frame.size.w);
    let dark = dot(backdrop_light, vec3(0.2126, 0.7152, 0.0722)) < 0.18;
    let line_color = select(vec3(0.0), vec3(0.55), dark);
    let line = max(fine * select(0.07, 0.07, dark), coarse * select(0.16, 0.16, dark)) * fade * f32(frame.ground.y > 0.0) * mix(0.35, 1.0, from_above);
    return vec4(line_color * line * (1.0 - shadow), 1.0 - (1.0 - shadow) * (1.0 - line));
}
