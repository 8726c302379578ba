// Coloured triangles of the overlays: bones, volumes, handles.

struct Varyings {
    @builtin(position) clip: vec4<f32>,
    @location(0) world: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) color: vec4<f32>,
}

@vertex
fn vs_main(@location(0) position: vec3<f32>, @location(1) normal: vec3<f32>, @location(2) color: vec4<f32>) -> Varyings {
    let linear = vec4(linear_from_srgb(color.rgb), color.a);
    return Varyings(frame.clip_from_world * vec4(position, 1.0), position, normal, linear);
}

// Soft lighting of a colour; without a normal the colour is unlit.
fn lit(color: vec3<f32>, n: vec3<f32>) -> vec3<f32> {
    let key = dot(n, frame.key.xyz) * 0.5 + 0.5;
    let sky = n.y * 0.5 + 0.5;
    return color * (0.30 + 0.70 * key * key + 0.22 * sky);
}

@fragment
fn fs_main(in: Varyings) -> @location(0) vec4<f32> {
    let bare = dot(in.normal, in.normal) < 0.25;
    let v = towards_eye(in.world);
    var n = normalize(in.normal + vec3(0.0, 1e-9, 0.0));
    n = select(n, -n, dot(n, v) < 0.0);
    let color = select(lit(in.color.rgb, n), in.color.rgb, bare);
    // Transparent surfaces are denser at their silhouette.
    let dense = pow(1.0 - saturate(dot(n, v)), 2.0);
    let glass = saturate(in.color.a * mix(0.75, 2.2, dense));
    let alpha = select(select(glass, in.color.a, bare), 1.0, in.color.a > 0.995);
    return vec4(tone_map(color) * alpha, alpha);
}
