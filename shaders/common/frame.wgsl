// Uniforms of every pass of a picture. The structs are those of src/render/frame.rs; a test compares the layouts.

struct Frame {
    clip_from_world: mat4x4<f32>,
    view_from_world: mat4x4<f32>,
    view_from_clip: mat4x4<f32>,
    shadow_from_world: mat4x4<f32>,
    // A rotation. The stage's +Y is up; the floor lies in its x-z plane.
    world_from_stage: mat4x4<f32>,
    // Perspective: the eye, w = 1. Orthographic: the direction towards it, w = 0.
    eye: vec4<f32>,
    // Directions towards the lights; key.w = 1 when it casts shadows; fill.w: pixels per point, by which lines are wider.
    key: vec4<f32>,
    fill: vec4<f32>,
    rim: vec4<f32>,
    // Width, height, and their inverses, in pixels.
    size: vec4<f32>,
    // Radius (scene units), strength (0 = off), pixels of the occlusion picture per unit of length at unit depth, shadow texel (scene units).
    occlusion: vec4<f32>,
    // Height, grid distance (0 = no grid), fading radius, 1 when there is a floor.
    ground: vec4<f32>,
    // Centre of the scene, w = its radius.
    center: vec4<f32>,
    // sRGB.
    background_top: vec4<f32>,
    background_bottom: vec4<f32>,
}

struct Style {
    // rgb of the clay, w = 1 when the file's materials are used.
    clay: vec4<f32>,
    // rgb and opacity of the edges.
    wire: vec4<f32>,
    // Opacity, share of the vertex colours, shading, matcap.
    params: vec4<f32>,
}

// A direction or point of the world in the axes of the stage.
fn on_stage(v: vec3<f32>) -> vec3<f32> {
    return (vec4(v, 0.0) * frame.world_from_stage).xyz;
}

// A corner of the floor, in the world.
fn floor_corner(index: u32) -> vec3<f32> {
    let corner = vec2(f32(index & 1u), f32(index >> 1u)) * 2.0 - 1.0;
    let at = on_stage(frame.center.xyz).xz + corner * frame.ground.z;
    return (frame.world_from_stage * vec4(at.x, frame.ground.x, at.y, 0.0)).xyz;
}

// Smaller depths belong to geometry that is drawn in front of everything.
const FRONT_RANGE: f32 = 0.1;

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<uniform> style: Style;

// Unit vector from a point towards the eye.
fn towards_eye(world: vec3<f32>) -> vec3<f32> {
    return normalize(frame.eye.xyz - world * frame.eye.w);
}

fn linear_from_srgb(srgb: vec3<f32>) -> vec3<f32> {
    let low = srgb / 12.92;
    let high = pow((max(srgb, vec3(0.0)) + 0.055) / 1.055, vec3(2.4));
    return select(high, low, srgb <= vec3(0.04045));
}

// Interleaved gradient noise (Jimenez 2014): 0 to 1 per pixel, evenly spread over neighbours.
fn pixel_noise(pixel: vec2<f32>) -> f32 {
    return fract(52.9829189 * fract(dot(pixel, vec2(0.06711056, 0.00583715))));
}
