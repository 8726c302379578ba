// Matcaps: material spheres under fixed light, looked up by the normal. All are procedural.

const MATCAP_CLAY: i32 = 0;
const MATCAP_PORCELAIN: i32 = 1;
const MATCAP_WAX: i32 = 2;
const MATCAP_METAL: i32 = 3;
const MATCAP_ZEBRA: i32 = 4;

// Stripes of the zebra from pole to pole.
const ZEBRA_STRIPES: f32 = 11.0;

// Where a normal points as seen along the line of sight: x right, y up, z towards the eye. Straightened for perspective, so that a
// flat wall has one tone.
fn ball_normal(n: vec3<f32>, v: vec3<f32>) -> vec3<f32> {
    let eye_n = (frame.view_from_world * vec4(n, 0.0)).xyz;
    let eye_v = (frame.view_from_world * vec4(v, 0.0)).xyz;
    let x = normalize(vec3(eye_v.z, 0.0, -eye_v.x) + vec3(1e-9, 0.0, 0.0));
    let y = cross(eye_v, x);
    return vec3(dot(eye_n, x), dot(eye_n, y), dot(eye_n, eye_v));
}

fn wrapped(m: vec3<f32>, light: vec3<f32>, by: f32) -> f32 {
    let lit = saturate((dot(m, light) + by) / (1.0 + by));
    return lit * lit;
}

fn glint(m: vec3<f32>, light: vec3<f32>, power: f32) -> f32 {
    return pow(saturate(dot(m, normalize(light + vec3(0.0, 0.0, 1.0)))), power);
}

// Light, before tone mapping, of the ball at `m`; `change` is the change of the stripe coordinate from pixel to pixel.
fn matcap(kind: i32, m: vec3<f32>, change: f32) -> vec3<f32> {
    let key = vec3(-0.496, 0.620, 0.608);
    let fill = vec3(0.721, -0.206, 0.662);
    let rim = pow(1.0 - saturate(m.z), 3.0);
    if kind == MATCAP_PORCELAIN {
        let light = 0.18 + 0.62 * wrapped(m, key, 0.5) + 0.16 * wrapped(m, fill, 0.4);
        return vec3(0.90, 0.91, 0.93) * light + vec3(0.75) * glint(m, key, 90.0) + vec3(0.16) * glint(m, fill, 30.0) + vec3(0.20, 0.22, 0.26) * rim;
    }
    if kind == MATCAP_WAX {
        let light = vec3(0.15, 0.05, 0.04) + vec3(0.55, 0.115, 0.085) * wrapped(m, key, 0.6) + vec3(0.12, 0.03, 0.035) * wrapped(m, fill, 0.5);
        return light + vec3(0.30, 0.26, 0.24) * glint(m, key, 28.0) + vec3(0.26, 0.09, 0.07) * rim;
    }
    if kind == MATCAP_METAL {
        let sky = reflect(vec3(0.0, 0.0, -1.0), m);
        let horizon = smoothstep(-0.08, 0.10, sky.y);
        let room = mix(mix(0.035, 0.20, smoothstep(-1.0, -0.05, sky.y)), mix(0.85, 0.16, smoothstep(0.0, 0.9, sky.y)), horizon);
        return vec3(0.62, 0.66, 0.72) * room + vec3(0.55) * glint(m, key, 160.0) + vec3(0.10, 0.12, 0.15) * rim;
    }
    if kind == MATCAP_ZEBRA {
        let place = stripe_place(m);
        let from_edge = (0.25 - abs(fract(place) - 0.5)) / max(change, 1e-6);
        // Stripes narrower than a pixel fade to grey.
        let stripe = mix(saturate(from_edge + 0.5), 0.5, smoothstep(0.3, 0.7, change));
        let light = 0.65 + 0.35 * saturate(m.z);
        return mix(vec3(0.035), vec3(0.84), stripe) * light;
    }
    if kind == MATCAP_CLAY {
        let light = vec3(0.115, 0.10, 0.10) + vec3(0.90, 0.84, 0.78) * wrapped(m, key, 0.35) + vec3(0.13, 0.15, 0.18) * wrapped(m, fill, 0.4);
        return vec3(0.66, 0.47, 0.36) * light + vec3(0.10) * glint(m, key, 14.0) + vec3(0.11, 0.10, 0.10) * rim;
    }
    // The normal as a colour; encoded, so that the picture contains the usual bytes.
    return linear_from_srgb(m * 0.5 + 0.5);
}

// Stripe coordinate of the mirrored direction: integers are the centres of black stripes.
fn stripe_place(m: vec3<f32>) -> f32 {
    let sky = reflect(vec3(0.0, 0.0, -1.0), m);
    return (asin(clamp(sky.y, -1.0, 1.0)) / 3.14159265 + 0.5) * ZEBRA_STRIPES;
}
