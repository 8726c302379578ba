// Bones as the base pass reads them: the first three vectors of eight are the rows of a bone's transform.
@group(0) @binding(2) var<storage, read> frames: array<vec4f>;

fn turned(bone: u32, direction: vec3f) -> vec3f {
    let at = 8u * bone;
    return vec3f(dot(frames[at].xyz, direction), dot(frames[at + 1u].xyz, direction), dot(frames[at + 2u].xyz, direction));
}

fn moved(bone: u32, point: vec3f) -> vec3f {
    let at = 8u * bone;
    return turned(bone, point) + vec3f(frames[at].w, frames[at + 1u].w, frames[at + 2u].w);
}

fn posed_outward(row: u32) -> vec3f {
    let rest = rest_outward(row);
    let now = turned(bone_of(row), rest);
    let norm = length(now);
    return select(rest, now / max(norm, 1e-30), norm > 1e-30);
}
