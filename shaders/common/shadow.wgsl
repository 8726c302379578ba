// Light that arrives: shadows of the key light and ambient occlusion.

@group(1) @binding(0) var shadow_map: texture_depth_2d;
@group(1) @binding(1) var shadow_sampler: sampler_comparison;
@group(1) @binding(2) var occlusion_map: texture_2d<f32>;
// Only loaded, never sampled: OpenGL cannot load from depth textures.
@group(1) @binding(3) var eye_depth: texture_2d<f32>;
// Share of the key light on the floor, see `floor_shadow.wgsl`.
@group(1) @binding(4) var floor_shadow: texture_2d<f32>;
@group(1) @binding(5) var floor_sampler: sampler;

const GOLDEN_ANGLE: f32 = 2.39996323;

fn spiral(index: i32, count: i32, turn: f32) -> vec2<f32> {
    let angle = f32(index) * GOLDEN_ANGLE + turn;
    return sqrt((f32(index) + 0.5) / f32(count)) * vec2(cos(angle), sin(angle));
}

// Share of the key light (0 to 1) at `world`, whose normal is `normal`; `blur` is the radius of the filter in texels.
fn key_visibility(world: vec3<f32>, normal: vec3<f32>, blur: f32, taps: i32, pixel: vec2<f32>) -> f32 {
    if frame.key.w == 0.0 {
        return 1.0;
    }
    let texel = frame.occlusion.w;
    let slope = 1.0 - saturate(dot(normal, frame.key.xyz));
    let lifted = world + normal * texel * (1.0 + blur) * (0.6 + 1.2 * slope);
    let clip = frame.shadow_from_world * vec4(lifted, 1.0);
    let uv = clip.xy * vec2(0.5, -0.5) + 0.5;
    if any(uv <= vec2(0.0)) || any(uv >= vec2(1.0)) || clip.z >= 1.0 {
        return 1.0;
    }
    let step = blur / f32(textureDimensions(shadow_map).x);
    let turn = pixel_noise(pixel) * 6.2831853;
    var sum = 0.0;
    for (var i = 0; i < taps; i++) {
        sum += textureSampleCompareLevel(shadow_map, shadow_sampler, uv + spiral(i, taps, turn) * step, clip.z);
    }
    return sum / f32(taps);
}

// Remaining ambient light (0 to 1) at a pixel: the coarse occlusion picture, weighted by similarity of depth.
fn ambient_visibility(pixel: vec4<f32>) -> f32 {
    if frame.occlusion.y == 0.0 {
        return 1.0;
    }
    let size = vec2<i32>(textureDimensions(occlusion_map));
    let at = pixel.xy * 0.5 - 0.5;
    let base = vec2<i32>(floor(at));
    let f = at - floor(at);
    let here = view_depth((pixel.z - FRONT_RANGE) / (1.0 - FRONT_RANGE));
    var sum = 0.0;
    var weights = 0.0;
    for (var i = 0; i < 4; i++) {
        let corner = vec2(i & 1, i >> 1u);
        let tap = clamp(base + corner, vec2(0), size - 1);
        let there = view_depth(textureLoad(eye_depth, tap, 0).r);
        let bilinear = select(1.0 - f.x, f.x, corner.x == 1) * select(1.0 - f.y, f.y, corner.y == 1);
        let likeness = 1.0 / (1e-3 + abs(here - there) / frame.occlusion.x);
        let weight = (bilinear + 1e-3) * likeness;
        sum += weight * textureLoad(occlusion_map, tap, 0).r;
        weights += weight;
    }
    return sum / weights;
}

fn view_depth(depth: f32) -> f32 {
    let view = frame.view_from_clip * vec4(0.0, 0.0, depth, 1.0);
    return -view.z / view.w;
}
