// Studio lighting: warm soft key light, cool fill, a rim light from behind, and a bright ceiling over a grey floor.

const KEY_COLOR: vec3<f32> = vec3(1.18, 1.11, 1.02);
const FILL_COLOR: vec3<f32> = vec3(0.22, 0.235, 0.26);
const RIM_COLOR: vec3<f32> = vec3(0.85, 0.92, 1.05);
const CEILING_COLOR: vec3<f32> = vec3(0.445, 0.455, 0.475);
const FLOOR_COLOR: vec3<f32> = vec3(0.150, 0.132, 0.120);

fn specular(n: vec3<f32>, v: vec3<f32>, l: vec3<f32>, roughness: f32) -> f32 {
    let h = normalize(v + l);
    let n_h = saturate(dot(n, h));
    let n_l = saturate(dot(n, l));
    let n_v = saturate(dot(n, v)) + 1e-3;
    let a = roughness * roughness;
    let d = n_h * n_h * (a * a - 1.0) + 1.0;
    let distribution = a * a / (3.14159265 * d * d);
    let k = a * 0.5;
    let masking = 1.0 / ((n_l * (1.0 - k) + k) * (n_v * (1.0 - k) + k)) * 0.25;
    let fresnel = 0.04 + 0.96 * pow(1.0 - saturate(dot(v, h)), 5.0);
    return distribution * masking * fresnel * n_l;
}

// Light that leaves a surface of colour `albedo` towards the eye. `sun`: share of the key light; `sky`: share of the ambient light.
fn shade(albedo: vec3<f32>, n: vec3<f32>, v: vec3<f32>, sun: f32, sky: f32) -> vec3<f32> {
    let key = frame.key.xyz;
    // Wrap lighting: light extends slightly past the terminator, with a warmer tint, as in skin and clay.
    let facing = dot(n, key);
    let wrap = vec3(0.16, 0.09, 0.06);
    let diffuse_key = saturate((vec3(facing) + wrap) / (1.0 + wrap)) * sun;
    let diffuse_fill = saturate(dot(n, frame.fill.xyz) * 0.6 + 0.4) * sky;
    let hemisphere = mix(FLOOR_COLOR, CEILING_COLOR, dot(n, frame.world_from_stage[1].xyz) * 0.5 + 0.5) * sky;
    var light = KEY_COLOR * diffuse_key * (0.6 + 0.4 * sky) + FILL_COLOR * diffuse_fill + hemisphere;

    let n_v = saturate(dot(n, v));
    let edge = pow(1.0 - n_v, 3.0);
    let rim = RIM_COLOR * edge * saturate(dot(n, frame.rim.xyz) * 0.8 + 0.2) * sky * 0.55;
    let gloss = specular(n, v, key, 0.52) * KEY_COLOR * sun * 1.2 + specular(n, v, frame.rim.xyz, 0.45) * RIM_COLOR * sky;
    // Light between near surfaces takes their colour: creases of bright clay stay warm instead of grey.
    let bounce = albedo * albedo * (1.0 - sky) * 0.16;
    return albedo * light + rim * mix(vec3(0.25), albedo, 0.5) + gloss * 0.55 + bounce;
}
