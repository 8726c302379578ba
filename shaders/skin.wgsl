// The character's surface: textured or clay, lit, with antialiased edges if wanted.

struct Material {
    base_color: vec4<f32>,
    // Alpha cutoff (negative: none), 1 with a texture, 1 for a material of the file, scale of the normal map (0: none).
    params: vec4<f32>,
}

@group(2) @binding(0) var<uniform> material: Material;
@group(2) @binding(1) var base_texture: texture_2d<f32>;
@group(2) @binding(2) var base_sampler: sampler;
// Normals in tangent space: x along u, y against v, z outwards.
@group(2) @binding(3) var normal_texture: texture_2d<f32>;

// Only for `vs_edges`, which fetches its corners itself to know their index, and for `vs_crowd`: positions and normals of
// all instances are consecutive.
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
fn vs_edges(@builtin(vertex_index) index: u32, @builtin(instance_index) instance: u32) -> Varyings {
    let v = indices[index];
    let which = index % 3u;
    let corner = vec3(f32(which == 0u), f32(which == 1u), f32(which == 2u));
    return vertex_of(v, instance, tex_coords[v], unpack4x8unorm(colors[v]), corner);
}

fn vertex_of(v: u32, instance: u32, tex_coord: vec2<f32>, color: vec4<f32>, corner: vec3<f32>) -> Varyings {
    let at = 3u * (instance * arrayLength(&tex_coords) + v);
    let position = vec3(positions[at], positions[at + 1u], positions[at + 2u]);
    let normal = vec3(normals[at], normals[at + 1u], normals[at + 2u]);
    return vertex(position, normal, tex_coord, color, corner);
}

@vertex
fn vs_crowd(
    @builtin(vertex_index) v: u32,
    @builtin(instance_index) instance: u32,
    @location(2) tex_coord: vec2<f32>,
    @location(3) color: vec4<f32>,
) -> Varyings {
    return vertex_of(v, instance, tex_coord, color, vec3(1.0));
}

const STUDIO: i32 = 0;
const MATCAP: i32 = 1;
const FLAT: i32 = 2;
// Colours encode values: shading only hints at the shape.
const DATA: i32 = 3;

// One tone per face, from its normal only.
fn flat_tone(albedo: vec3<f32>, n: vec3<f32>) -> vec3<f32> {
    let key = saturate(dot(n, frame.key.xyz));
    let fill = saturate(dot(n, frame.fill.xyz) * 0.6 + 0.4);
    let sky = mix(FLOOR_COLOR, CEILING_COLOR, dot(n, frame.world_from_stage[1].xyz) * 0.5 + 0.5);
    return tone_map(albedo * (KEY_COLOR * key + FILL_COLOR * fill + sky));
}

// The normal `n` turned by a normal map, with tangents from the derivatives of place and texture coordinates: Mikkelsen, "Bump Mapping
// Unparametrized Surfaces on the GPU", 2010, as Schüler writes it (GPU Pro 5, 2014, "Normal Mapping without Precomputed Tangents").
fn mapped_normal(n: vec3<f32>, map: vec3<f32>, along: mat2x3<f32>, uv: mat2x2<f32>) -> vec3<f32> {
    let across_y = cross(along[1], n);
    let across_x = cross(n, along[0]);
    // Independent of which way the screen's y and the triangle face.
    let side = sign(dot(along[0], across_y));
    let tangent = side * (across_y * uv[0].x + across_x * uv[1].x);
    let down = side * (across_y * uv[0].y + across_x * uv[1].y);
    let size = max(dot(tangent, tangent), dot(down, down));
    // Where texture coordinates are constant there is no direction.
    let scale = select(0.0, inverseSqrt(max(size, 1e-30)), size > 1e-30);
    return normalize(scale * (tangent * map.x - down * map.y) + n * max(map.z, 1e-3));
}

@fragment
fn fs_main(in: Varyings, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    let mode = i32(style.params.z);
    let from_file = style.clay.w * material.params.z;
    // Sampled unconditionally, so that derivatives are defined.
    let texel = mix(vec4(1.0), textureSample(base_texture, base_sampler, in.tex_coord), material.params.y);
    var color = mix(vec4(style.clay.rgb, 1.0), material.base_color * texel, from_file);
    // Distance to the nearest edge, and the triangle's height there, in pixels.
    let slopes = max(fwidth(in.corner), vec3(1e-6));
    let pixels = in.corner / slopes;
    let edge = min(pixels.x, min(pixels.y, pixels.z));
    let height = 1.0 / max(slopes.x, max(slopes.y, slopes.z));
    let along = mat2x3(dpdx(in.world), dpdy(in.world));
    let uv_along = mat2x2(dpdx(in.tex_coord), dpdy(in.tex_coord));
    let map = textureSample(normal_texture, base_sampler, in.tex_coord).xyz * 2.0 - 1.0;
    let faceted = cross(along[0], along[1]);

    let v = towards_eye(in.world);
    let face = faceted * inverseSqrt(max(dot(faceted, faceted), 1e-30));
    let has_normal = dot(in.normal, in.normal) > 1e-12;
    var n = normalize(select(face, in.normal, has_normal));
    n = select(-n, n, front || !has_normal);
    let bump = material.params.w * from_file;
    if mode == STUDIO && bump != 0.0 && has_normal {
        n = mapped_normal(n, vec3(map.xy * bump, map.z), along, uv_along);
    }
    // Interpolated normals near the outline may turn away from the eye.
    n = normalize(n + v * max(0.0, 0.02 - dot(n, v)));
    let ball = ball_normal(n, v);
    let stripe_change = fwidth(stripe_place(ball));

    if from_file > 0.5 && color.a < material.params.x {
        discard;
    }
    let opacity = style.params.x * select(1.0, color.a, from_file > 0.5 && material.params.x < 0.0 && material.base_color.a < 1.0);
    let albedo = mix(color.rgb, linear_from_srgb(in.color.rgb), style.params.y * in.color.a);

    let sky = ambient_visibility(in.clip);
    var lit: vec3<f32>;
    if mode == MATCAP {
        let kind = i32(style.params.w);
        lit = matcap(kind, ball, stripe_change);
        // Stripes and normals are shown without shading.
        if kind < MATCAP_ZEBRA {
            lit = tone_map(lit) * mix(0.45, 1.0, sky);
        }
    } else if mode == FLAT {
        lit = flat_tone(albedo, select(face, -face, dot(face, v) < 0.0));
    } else if mode == DATA {
        lit = albedo * (0.62 + 0.38 * saturate(dot(n, v))) * mix(0.75, 1.0, sky);
    } else {
        let sun = key_visibility(in.world, n, 6.0, 14, in.clip.xy);
        lit = tone_map(shade(albedo, n, v, sun, sky));
    }
    // Edges of triangles of a few pixels fade out.
    let scale = frame.fill.w;
    let half_width = 0.55 * scale;
    let sparse = mix(0.35, 1.0, smoothstep(1.5 * scale, 7.0 * scale, height));
    let wire = style.wire.a * sparse * (1.0 - smoothstep(half_width - 0.5, half_width + 0.5, edge));
    return vec4(mix(lit, style.wire.rgb, wire), max(opacity, wire));
}
