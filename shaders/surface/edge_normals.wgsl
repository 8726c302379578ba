// Tangents of the deformed surface from the edges of a vertex (src/methods/blend_normals/by_edges.rs).

struct EdgeTangents {
    // Across the edges at rest.
    up: vec3<f32>,
    // Begin and end of its edges.
    begin: u32,
    end: u32,
    // How far the tangents at rest lean upwards from the plane of the edges.
    lift_u: f32,
    lift_v: f32,
    pad: u32,
}

struct TangentEdge {
    to: u32,
    // Coefficients of both tangents.
    along_u: f32,
    along_v: f32,
}

@group(0) @binding(5) var<storage, read> edge_tangents: array<EdgeTangents>;
@group(0) @binding(6) var<storage, read> tangent_edges: array<TangentEdge>;
@group(0) @binding(7) var<storage, read> positions: array<f32>;

fn position_of(instance: u32, vertex: u32) -> vec3<f32> {
    let at = (instance * dims.vertices + vertex) * 3u;
    return vec3(positions[at], positions[at + 1u], positions[at + 2u]);
}

fn deformed_tangents(vertex: u32, own: BlendNormal, instance: u32) -> Tangents {
    let edges = edge_tangents[vertex];
    let here = position_of(instance, vertex);
    var u = vec3(0.0);
    var v = vec3(0.0);
    for (var i = edges.begin; i < edges.end; i += 1u) {
        let edge = tangent_edges[i];
        let to = position_of(instance, edge.to) - here;
        u += to * edge.along_u;
        v += to * edge.along_v;
    }
    if edges.begin < edges.end {
        // The first slope is that of the strongest joint.
        let at = instance * dims.palette_stride + 3u * (slopes[own.first].name & ~LAST);
        let up = moved_by(at, vec4(edges.up, 0.0));
        u += up * edges.lift_u;
        v += up * edges.lift_v;
    }
    return Tangents(u, v);
}
