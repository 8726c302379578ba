// Depth only, from the key light or from the eye; `fs_cutout` leaves out the holes of cut-out textures.

struct Material {
    base_color: vec4<f32>,
    params: vec4<f32>,
}

@group(1) @binding(0) var<uniform> material: Material;
@group(1) @binding(1) var base_texture: texture_2d<f32>;
@group(1) @binding(2) var base_sampler: sampler;

// Only for crowds: positions of all instances are consecutive.
@group(2) @binding(1) var<storage, read> positions: array<f32>;
@group(2) @binding(3) var<storage, read> tex_coords: array<vec2<f32>>;

struct Varyings {
    @invariant @builtin(position) clip: vec4<f32>,
    @location(0) tex_coord: vec2<f32>,
}

@vertex
fn vs_light(@location(0) position: vec3<f32>, @location(2) tex_coord: vec2<f32>) -> Varyings {
    return Varyings(frame.shadow_from_world * vec4(position, 1.0), tex_coord);
}

@vertex
fn vs_eye(@location(0) position: vec3<f32>, @location(2) tex_coord: vec2<f32>) -> Varyings {
    return Varyings(frame.clip_from_world * vec4(position, 1.0), tex_coord);
}

fn position_of(v: u32, instance: u32) -> vec4<f32> {
    let at = 3u * (instance * arrayLength(&tex_coords) + v);
    return vec4(positions[at], positions[at + 1u], positions[at + 2u], 1.0);
}

@vertex
fn vs_light_crowd(@builtin(vertex_index) v: u32, @builtin(instance_index) instance: u32, @location(2) tex_coord: vec2<f32>) -> Varyings {
    return Varyings(frame.shadow_from_world * position_of(v, instance), tex_coord);
}

@vertex
fn vs_eye_crowd(@builtin(vertex_index) v: u32, @builtin(instance_index) instance: u32, @location(2) tex_coord: vec2<f32>) -> Varyings {
    return Varyings(frame.clip_from_world * position_of(v, instance), tex_coord);
}

// The floor as a square, for ambient occlusion between feet and floor.
@vertex
fn vs_floor(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    return frame.clip_from_world * vec4(floor_corner(index), 1.0);
}

@fragment
fn fs_cutout(in: Varyings) {
    let alpha = material.base_color.a * mix(1.0, textureSample(base_texture, base_sampler, in.tex_coord).a, material.params.y);
    if alpha < material.params.x {
        discard;
    }
}
