// The character's surface: textured or clay, lit, with antialiased edges if wanted.

struct Material {
    base_color: vec4<f32>,
    // Alpha cutoff (negative: none), 1 with a texture, 1 for a material of the file, unused.
    params: vec4<f32>,
}

@group(2) @binding(0) var<uniform> material: Material;
@group(2) @binding(1) var base_texture: texture_2d<f32>;
@group(2) @binding(2) var base_sampler: sampler;

// Only for `vs_edges`, which fetches its corners itself to know which corner is which.
@group(3) @binding(0) var<storage, read> indices: array<u32>;
@group(3) @binding(1) var<storage, read> positions: array<f32>;
@group(3) @binding(2) var<storage, read> normals: array<f32>;
@group(3) @binding(3) var<storage, read> tex_coords: array<vec2<f32>>;
@group(3) @binding(4) var<storage, read> colors: array<u32>;

struct Varyings {
    @invariant @builtin(position) clip: vec4<f32>,
    @location(0) world: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) tex_coord: vec2<f32>,
    @location(3) color: vec4<f32>,
    @location(4) corner: vec3<f32>,
}

fn vertex(position: vec3<f32>, normal: vec3<f32>, tex_coord: vec2<f32>, color: vec4<f32>, corner: vec3<f32>) -> Varyings {
    return Varyings(frame.clip_from_world * vec4(position, 1.0), position, normal, tex_coord, color, corner);
}

@vertex
fn vs_main(
    @location(0) position: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) tex_coord: vec2<f32>,
    @location(3) color: vec4<f32>,
) -> Varyings {
    return vertex(position, normal, tex_coord, color, vec3(1.0));
}

@vertex
fn vs_edges(@builtin(vertex_index) index: u32) -> Varyings {
    let v = indices[index];
    let position = vec3(positions[3u * v], positions[3u * v + 1u], positions[3u * v + 2u]);
    let normal = vec3(normals[3u * v], normals[3u * v + 1u], normals[3u * v + 2u]);
    let which = index % 3u;
    let corner = vec3(f32(which == 0u), f32(which == 1u), f32(which == 2u));
    return vertex(position, normal, tex_coords[v], unpack4x8unorm(colors[v]), corner);
}

@fragment
fn fs_main(in: Varyings, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    let from_file = style.clay.w * material.params.z;
    // Sampled by everyone, so that the derivatives are defined.
    let texel = mix(vec4(1.0), textureSample(base_texture, base_sampler, in.tex_coord), material.params.y);
    var color = mix(vec4(style.clay.rgb, 1.0), material.base_color * texel, from_file);
    // Distance to the nearest edge in pixels.
    let pixels = in.corner / max(fwidth(in.corner), vec3(1e-6));
    let edge = min(pixels.x, min(pixels.y, pixels.z));
    let faceted = cross(dpdx(in.world), dpdy(in.world));

    if from_file > 0.5 && color.a < material.params.x {
        discard;
    }
    let opacity = style.params.x * select(1.0, color.a, from_file > 0.5 && material.params.x < 0.0 && material.base_color.a < 1.0);
    let albedo = mix(color.rgb, linear_from_srgb(in.color.rgb), style.params.y * in.color.a);

    let v = towards_eye(in.world);
    let flat_normal = faceted * inverseSqrt(max(dot(faceted, faceted), 1e-30));
    let has_normal = dot(in.normal, in.normal) > 1e-12;
    var n = normalize(select(flat_normal, in.normal, has_normal));
    n = select(-n, n, front || !has_normal);
    // Interpolated normals near the outline may turn away from the eye.
    n = normalize(n + v * max(0.0, 0.02 - dot(n, v)));

    let sun = key_visibility(in.world, n, 6.0, 14, in.clip.xy);
    let sky = ambient_visibility(in.clip);
    let lit = tone_map(shade(albedo, n, v, sun, sky));
    let wire = style.wire.a * (1.0 - smoothstep(0.2, 1.0, edge));
    return vec4(mix(lit, style.wire.rgb, wire), max(opacity, wire));
}
