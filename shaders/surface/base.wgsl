// The base surface under the flesh, hung on bones and joints in a pose (src/tissue/anchors.rs).

struct BaseDims {
    // Points of an instance, and elements from one instance to the next.
    points: u32,
    base_stride: u32,
    frame_stride: u32,
    // Where in the frames of all steps those of this one begin.
    first_frame: u32,
    bones: u32,
    pad0: u32,
    pad1: u32,
    pad2: u32,
}

struct BaseAnchor {
    rest: vec3<f32>,
    bone: u32,
    // Point on the bone's ring, and 0 at the joint, 1 there.
    ring: vec3<f32>,
    alpha: f32,
    joint_radius: f32,
    bone_radius: f32,
    // The joint's node; RIGID and HELD: with the bone, or with the joint that carries that.
    node: u32,
    pad: u32,
}

const RIGID: u32 = 0xffffffffu;
const HELD: u32 = 0xfffffffeu;

@group(0) @binding(0) var<uniform> dims: BaseDims;
@group(0) @binding(1) var<storage, read> anchors: array<BaseAnchor>;
// Start and end of every bone at rest.
@group(0) @binding(2) var<storage, read> axes: array<vec4<f32>>;
// Of every bone eight: rows of its transform, rows of what is held, ends of its cylinder with w the scale and the twist; then of every
// node four: rows of its transform, centre with w the scale.
@group(0) @binding(3) var<storage, read> frames: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> base: array<vec4<f32>>;

fn moved(at: u32, point: vec3<f32>) -> vec3<f32> {
    let p = vec4(point, 1.0);
    return vec3(dot(frames[at], p), dot(frames[at + 1u], p), dot(frames[at + 2u], p));
}

// A bone that twists turns what lies along it by a growing angle (src/tissue/stretching_bone.rs).
fn twisted(bone: u32, angle: f32, point: vec3<f32>) -> vec3<f32> {
    let a = axes[2u * bone].xyz;
    let axis = axes[2u * bone + 1u].xyz - a;
    let square = dot(axis, axis);
    if angle == 0.0 || square <= 0.0 {
        return point;
    }
    let from_a = point - a;
    let share = saturate(dot(from_a, axis) / square);
    let unit = axis / sqrt(square);
    let turn = angle * share;
    let c = cos(turn);
    return a + from_a * c + cross(unit, from_a) * sin(turn) + unit * (dot(unit, from_a) * (1.0 - c));
}

fn on_bone(at: u32, bone: u32, point: vec3<f32>) -> vec3<f32> {
    return moved(at, twisted(bone, frames[at + 7u].w, point));
}

fn pushed_out(point: vec3<f32>, center: vec3<f32>, radius: f32) -> vec3<f32> {
    let way = point - center;
    let distance = length(way);
    if distance < radius && distance > 1e-3 * radius {
        return center + way * (radius / distance);
    }
    return point;
}

fn closest_on_segment(p: vec3<f32>, a: vec3<f32>, b: vec3<f32>) -> vec3<f32> {
    let d = b - a;
    let square = dot(d, d);
    if square > 0.0 {
        return a + d * saturate(dot(p - a, d) / square);
    }
    return a;
}

@compute @workgroup_size(64)
fn place_base(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= dims.points {
        return;
    }
    let anchor = anchors[id.x];
    let own = dims.first_frame + id.y * dims.frame_stride;
    let bone = own + 8u * anchor.bone;
    var point: vec3<f32>;
    if anchor.node == RIGID {
        point = on_bone(bone, anchor.bone, anchor.rest);
    } else if anchor.node == HELD {
        point = moved(bone + 3u, anchor.rest);
    } else {
        let node = own + 8u * dims.bones + 4u * anchor.node;
        let stretch = on_bone(bone, anchor.bone, anchor.ring) - moved(node, anchor.ring);
        point = moved(node, anchor.rest) + stretch * anchor.alpha;
        let start = frames[bone + 6u];
        let end = frames[bone + 7u];
        point = pushed_out(point, closest_on_segment(point, start.xyz, end.xyz), anchor.bone_radius * start.w);
        let center = frames[node + 3u];
        point = pushed_out(point, center.xyz, anchor.joint_radius * center.w);
    }
    base[id.y * dims.base_stride + id.x] = vec4(point, 0.0);
}
