// Every source vertex that needs nothing but simulated vertices and the pose: position and, where a local frame carries it, normal.
// A thread evaluates its own sum, frame and normal, so that nothing of the flesh is ever stored.

@group(0) @binding(5) var<storage, read_write> normals: array<f32>;
@group(0) @binding(6) var<storage, read> rows: array<vec4<f32>>;
// Sums over neighbours, tile by tile: of each of 64 fine vertices the first word, then the second, and so on. Four words of head:
// first neighbour, units, remainder; then one word a neighbour (two where rows have long names).
@group(0) @binding(7) var<storage, read> sums: array<vec2<u32>>;

// Whether names of rows need more than 16 bits.
override LONG: bool = false;
// Whether dual quaternions are blended.
override DUAL: bool = false;

const TILE: u32 = 64u;
const HEAD: u32 = 4u;

struct Placed {
    position: vec3<f32>,
    frame: LocalFrame,
}

fn low(word: u32) -> f32 {
    return f32(extractBits(bitcast<i32>(word), 0u, 16u));
}

fn high(word: u32) -> f32 {
    return f32(bitcast<i32>(word) >> 16u);
}

fn summed(vertex: u32, instance: u32) -> Placed {
    let words = HEAD + dims.width * select(1u, 2u, LONG);
    var at = (vertex / TILE) * TILE * words + vertex % TILE;
    let own = instance * dims.row_stride;
    let head = sums[at];
    let units = vec3(bitcast<f32>(head.y), bitcast<vec2<f32>>(sums[at + TILE]));
    let remainder = vec4(bitcast<vec2<f32>>(sums[at + 2u * TILE]), bitcast<vec2<f32>>(sums[at + 3u * TILE])).xyz;
    at += HEAD * TILE;
    // Differences to one neighbour leave nothing to rounding that is far from the origin.
    let nearest = rows[own + head.x].xyz;
    var sum = vec3(0.0);
    var t1 = vec3(0.0);
    var t2 = vec3(0.0);
    for (var i = 0u; i < dims.width; i += 1u) {
        let word = sums[at];
        at += TILE;
        var name = word.x & 0xffffu;
        var weights = vec3(high(word.x), low(word.y), high(word.y));
        if LONG {
            name = word.x;
            weights = vec3(low(word.y), high(word.y), low(sums[at].x));
            at += TILE;
        }
        let offset = rows[own + name].xyz - nearest;
        sum += offset * weights.x;
        t1 += offset * weights.y;
        t2 += offset * weights.z;
    }
    let frame = local_frame(t1 * units.y, t2 * units.z);
    return Placed(nearest + sum * units.x + vector_in(frame, remainder), frame);
}

fn write_normal(instance: u32, vertex: u32, n: vec3<f32>) {
    let at = (instance * dims.vertices + vertex) * 3u;
    normals[at] = n.x;
    normals[at + 1u] = n.y;
    normals[at + 2u] = n.z;
}

fn place_blended(vertex: u32, source: SourceVertex, instance: u32) {
    let rest = vec3(source.x, source.y, source.z);
    let first = source.name & NUMBER;
    if DUAL {
        write_position(instance, vertex, blended_dual(first, rest, instance));
    } else {
        write_position(instance, vertex, blended_linearly(first, rest, instance));
    }
}

// All is blended.
@compute @workgroup_size(64)
fn place_bones(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= dims.count {
        return;
    }
    let source = sources[id.x];
    if source.name >> 29u == BLENDED {
        place_blended(id.x, source, id.y);
    }
}

// Flesh is simulated as fine as it is.
@compute @workgroup_size(64)
fn place_rows(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= dims.count {
        return;
    }
    let source = sources[id.x];
    let kind = source.name >> 29u;
    if kind == BLENDED {
        place_blended(id.x, source, id.y);
    } else if kind == SIMULATED {
        write_position(id.y, id.x, rows[id.y * dims.row_stride + (source.name & NUMBER)].xyz);
    }
}

// Flesh carries its normal in its local frame.
fn write_flesh(instance: u32, vertex: u32, source: SourceVertex, placed: Placed) {
    write_position(instance, vertex, placed.position);
    write_normal(instance, vertex, normal_in(placed.frame, vec3(source.x, source.y, source.z)));
}

// Flesh follows as sums.
@compute @workgroup_size(64)
fn place_sums(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= dims.count {
        return;
    }
    let source = sources[id.x];
    let kind = source.name >> 29u;
    if kind == BLENDED {
        place_blended(id.x, source, id.y);
    } else if kind == FLESH {
        write_flesh(id.y, id.x, source, summed(source.name & NUMBER, id.y));
    }
}

struct SurfaceStand {
    corner: vec3<u32>,
    share_b: f32,
    local: vec3<f32>,
    share_c: f32,
}

@group(0) @binding(8) var<storage, read> stands: array<SurfaceStand>;
@group(0) @binding(9) var<storage, read> row_normals: array<vec4<f32>>;

// Any two tangents: those of `frame` in src/upsample/fit.rs.
fn any_tangents(normal: vec3<f32>) -> LocalFrame {
    let size = length(normal);
    var z = vec3(0.0, 0.0, 1.0);
    if size > SHORTEST {
        z = normal / size;
    }
    let a = abs(z);
    var side = vec3(1.0, 0.0, 0.0);
    if a.y < a.x && a.y <= a.z {
        side = vec3(0.0, 1.0, 0.0);
    } else if a.z < a.x && a.z < a.y {
        side = vec3(0.0, 0.0, 1.0);
    }
    let x = normalize(side - z * dot(z, side));
    return local_frame(x, cross(z, x));
}

fn standing(vertex: u32, instance: u32) -> Placed {
    let stand = stands[vertex];
    let corner = stand.corner + instance * dims.row_stride;
    let a = rows[corner.x].xyz;
    let ab = rows[corner.y].xyz - a;
    let ac = rows[corner.z].xyz - a;
    let normal_a = row_normals[corner.x].xyz;
    let normal = normal_a + (row_normals[corner.y].xyz - normal_a) * stand.share_b + (row_normals[corner.z].xyz - normal_a) * stand.share_c;
    let side = cross(normal, ab);
    let normal_size = length(normal);
    let side_size = length(side);
    var frame: LocalFrame;
    if normal_size > 1e-20 && side_size > 1e-30 {
        let across = side / side_size;
        frame = local_frame(cross(across, normal / normal_size), across);
    } else {
        frame = any_tangents(normal);
    }
    return Placed(a + ab * stand.share_b + ac * stand.share_c + vector_in(frame, stand.local), frame);
}

// Flesh stands on triangles. (Eight storage buffers: as many as there may be.)
@compute @workgroup_size(64)
fn place_standing(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= dims.count {
        return;
    }
    let source = sources[id.x];
    let kind = source.name >> 29u;
    if kind == BLENDED {
        place_blended(id.x, source, id.y);
    } else if kind == FLESH {
        write_flesh(id.y, id.x, source, standing(source.name & NUMBER, id.y));
    }
}
