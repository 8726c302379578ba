// Normals of source vertices that no local frame carries: area-weighted over the triangles around each, in a fixed order.

struct GatheredNormal {
    vertex: u32,
    // Begin and end of its triangles.
    begin: u32,
    end: u32,
    pad: u32,
}

@group(0) @binding(1) var<storage, read> targets: array<GatheredNormal>;
@group(0) @binding(2) var<storage, read> corners: array<u32>;
@group(0) @binding(3) var<storage, read> positions: array<f32>;
@group(0) @binding(4) var<storage, read_write> normals: array<f32>;

fn corner_at(instance: u32, corner: u32) -> vec3<f32> {
    let at = (instance * dims.vertices + corners[corner]) * 3u;
    return vec3(positions[at], positions[at + 1u], positions[at + 2u]);
}

@compute @workgroup_size(64)
fn gather_normals(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= dims.count {
        return;
    }
    let own = targets[id.x];
    let n = normal_around(id.y, own.begin, own.end);
    let at = (id.y * dims.vertices + own.vertex) * 3u;
    normals[at] = n.x;
    normals[at + 1u] = n.y;
    normals[at + 2u] = n.z;
}
