// Deformers that swing and twist (src/methods/swing_twist, src/methods/deformer.rs).

// A joint with a parent, and the direction of one of its bones.
struct BoneDeformer {
    // The joint's position in the bind pose.
    pivot: vec3<f32>,
    joint: u32,
    // Of length 1.
    axis: vec3<f32>,
    parent: u32,
}

// Of every influence, by how much it swings and twists.
@group(0) @binding(5) var<storage, read> bends: array<vec2<f32>>;
@group(0) @binding(6) var<storage, read> deformers: array<BoneDeformer>;

// Elements of a deformer in the palette, after the rows of all joints: see `Deformer::motion`.
const MOTION: u32 = 7u;
const PI: f32 = 3.14159265;

// Cosine and sine of an angle in −π…π by their series, as precise as on the CPU: those built in need not be.
fn cos_sin(angle: f32) -> vec2<f32> {
    let size = abs(angle);
    let is_far = size > 0.5 * PI;
    let near = select(size, PI - size, is_far);
    let z = near * near;
    let s = near * (1.0 + z * (-1.0 / 6.0 + z * (1.0 / 120.0 + z * (-1.0 / 5040.0 + z * (1.0 / 362880.0 - z / 39916800.0)))));
    let c = 1.0 + z * (-0.5 + z * (1.0 / 24.0 + z * (-1.0 / 720.0 + z * (1.0 / 40320.0 + z * (-1.0 / 3628800.0 + z / 479001600.0)))));
    return vec2(select(c, -c, is_far), select(s, -s, angle < 0.0));
}

// The vector, turned by an angle about an axis of length 1.
fn turned_about(v: vec3<f32>, axis: vec3<f32>, angle: f32) -> vec3<f32> {
    let r = cos_sin(angle);
    return v * r.x + cross(axis, v) * r.y + axis * (dot(axis, v) * (1.0 - r.x));
}

// Where a deformer takes a vertex.
fn swung(number: u32, bend: vec2<f32>, rest: vec3<f32>, own: u32) -> vec3<f32> {
    let deformer = deformers[number];
    let parent = own + 3u * deformer.parent;
    let at = own + dims.extras + MOTION * number;
    let shift = palette[at + 3u];
    if shift.w != 0.0 {
        // Motions that cannot be taken apart are blended as a whole.
        let v = vec4(rest, 1.0);
        return moved_by(parent, v) * (1.0 - bend.x) + moved_by(own + 3u * deformer.joint, v) * bend.x;
    }
    var x = rest - deformer.pivot;
    x += stretched(palette[at + 4u].xyz, palette[at + 5u].xyz, x) * bend.x;
    let y = turned_about(x, deformer.axis, bend.y * palette[at].w);
    let swing = mat3x3(palette[at].xyz, palette[at + 1u].xyz, palette[at + 2u].xyz);
    var moved = y + (swing * y) * bend.x;
    let spherical = palette[at + 2u].w;
    if spherical > 0.0 {
        moved += (turned_about(y, palette[at + 6u].xyz, palette[at + 1u].w * bend.x) - moved) * spherical;
    }
    return moved_by(parent, vec4(deformer.pivot + shift.xyz * bend.x + moved, 1.0));
}

fn bent(first: u32, rest: vec3<f32>, instance: u32) -> vec3<f32> {
    let own = instance * dims.palette_stride;
    let joints = dims.extras / 3u;
    var sum = vec3(0.0);
    for (var i = first; ; i += 1u) {
        let influence = influences[i];
        let entry = influence.x & ~LAST;
        let weight = bitcast<f32>(influence.y);
        if entry < joints {
            sum += moved_by(own + 3u * entry, vec4(rest, 1.0)) * weight;
        } else {
            sum += swung(entry - joints, bends[i], rest, own) * weight;
        }
        if (influence.x & LAST) != 0u {
            break;
        }
    }
    return sum;
}

@compute @workgroup_size(64)
fn place_bent(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= dims.count {
        return;
    }
    let source = sources[id.x];
    if source.name >> 29u == DEFORMED {
        let rest = vec3(source.x, source.y, source.z);
        write_position(id.y, id.x, bent(source.name & NUMBER, rest, id.y));
    }
}
