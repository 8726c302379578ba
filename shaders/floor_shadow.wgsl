// The shadow on the floor, seen from above: sharp near the caster, soft far from it (Fernando, "Percentage-Closer Soft
// Shadows", 2005). Drawn once for all pixels of the floor, so that it has no grain and is stable when the camera moves.

@group(1) @binding(0) var shadow_map: texture_2d<f32>;

const SEARCH_TAPS: i32 = 24;
const FILTER_TAPS: i32 = 56;
// Texels of the shadow map.
const WIDEST: f32 = 34.0;
const NARROWEST: f32 = 1.2;
// Width of the penumbra over the distance of the caster: the lamp is a small softbox.
const SOFTNESS: f32 = 0.085;

struct Varyings {
    @builtin(position) clip: vec4<f32>,
    @location(0) place: vec2<f32>,
}

@vertex
fn vs_main(@builtin(vertex_index) index: u32) -> Varyings {
    let corner = vec2(f32((index << 1u) & 2u), f32(index & 2u)) * 2.0 - 1.0;
    return Varyings(vec4(corner, 0.0, 1.0), vec2(corner.x, -corner.y));
}

fn spiral(index: i32, count: i32, turn: f32) -> vec2<f32> {
    let angle = f32(index) * 2.39996323 + turn;
    return sqrt((f32(index) + 0.5) / f32(count)) * vec2(cos(angle), sin(angle));
}

fn depth_at(texel: vec2<f32>, size: vec2<f32>) -> f32 {
    if any(texel < vec2(0.0)) || any(texel >= size) {
        return 1.0;
    }
    return textureLoad(shadow_map, vec2<i32>(texel), 0).r;
}

// Share of the key light that arrives.
@fragment
fn fs_main(in: Varyings) -> @location(0) vec4<f32> {
    let square = shadow_square();
    let at = square.xy + in.place * square.z;
    let clip = frame.shadow_from_world * vec4(floor_place(at), 1.0);
    let size = vec2<f32>(textureDimensions(shadow_map));
    let texel = (clip.xy * vec2(0.5, -0.5) + 0.5) * size;
    // The floor casts no shadow: the bias excludes soles that lie in it.
    let here = clip.z - 2e-4;
    // Neighbouring pixels rotate the pattern differently; the reader's filter averages that.
    let turn = pixel_noise(in.clip.xy) * 6.2831853;

    var sum = 0.0;
    var found = 0.0;
    for (var i = 0; i < SEARCH_TAPS; i++) {
        let depth = depth_at(texel + spiral(i, SEARCH_TAPS, turn) * WIDEST, size);
        if depth < here {
            sum += here - depth;
            found += 1.0;
        }
    }
    if found == 0.0 {
        return vec4(1.0);
    }
    // Depth falls by this much per unit of length along the light.
    let per_unit = length(vec3(frame.shadow_from_world[0].z, frame.shadow_from_world[1].z, frame.shadow_from_world[2].z));
    let gap = sum / found / per_unit;
    let blur = clamp(gap * SOFTNESS / frame.occlusion.w, NARROWEST, WIDEST);
    var lit = 0.0;
    for (var i = 0; i < FILTER_TAPS; i++) {
        lit += f32(depth_at(texel + spiral(i, FILTER_TAPS, turn) * blur, size) >= here);
    }
    return vec4(lit / f32(FILTER_TAPS));
}
