// Things that ride as one (src/skin/riding/stiff.rs): a workgroup fits the rigid motion of a cluster's patch and moves the cluster.

struct StiffCluster {
    // Begin and end of its patch and of its vertices.
    patch_begin: u32,
    patch_end: u32,
    begin: u32,
    end: u32,
}

struct StiffPoint {
    // Relative to the patch's middle.
    rest: vec3<f32>,
    weight: f32,
    vertex: u32,
    pad0: u32,
    pad1: u32,
    pad2: u32,
}

struct StiffVertex {
    // Relative to the patch's middle.
    rest: vec3<f32>,
    vertex: u32,
}

@group(0) @binding(1) var<storage, read_write> positions: array<f32>;
@group(0) @binding(2) var<storage, read> clusters: array<StiffCluster>;
@group(0) @binding(3) var<storage, read> patches: array<StiffPoint>;
@group(0) @binding(4) var<storage, read> vertices: array<StiffVertex>;

const THREADS: u32 = 64u;
var<workgroup> shared_sums: array<mat3x3<f32>, 64>;

fn position_at(instance: u32, vertex: u32) -> vec3<f32> {
    let at = (instance * dims.vertices + vertex) * 3u;
    return vec3(positions[at], positions[at + 1u], positions[at + 2u]);
}

// The sum over all threads, for all of them.
fn reduced(own: mat3x3<f32>, thread: u32) -> mat3x3<f32> {
    shared_sums[thread] = own;
    workgroupBarrier();
    for (var distance_apart = THREADS / 2u; distance_apart > 0u; distance_apart /= 2u) {
        if thread < distance_apart {
            shared_sums[thread] = shared_sums[thread] + shared_sums[thread + distance_apart];
        }
        workgroupBarrier();
    }
    let sum = shared_sums[0];
    workgroupBarrier();
    return sum;
}

// The rotation R with the largest trace of Rᵀ F, as a quaternion: the eigenvector to the largest eigenvalue of Horn's 4 × 4 matrix, which
// is linear in F, so that nothing is squared. By Jacobi's rotations; thirty bring the rest below rounding.
fn closest_rotation(f: mat3x3<f32>) -> vec4<f32> {
    // Column by column: f[c][r] is row r of column c.
    let scale = max(max(length(f[0]), length(f[1])), length(f[2]));
    if !(scale > SHORTEST) {
        return vec4(0.0, 0.0, 0.0, 1.0);
    }
    let m = f * (1.0 / scale);
    // In the order w, x, y, z.
    var n = array<array<f32, 4>, 4>(
        array(m[0].x + m[1].y + m[2].z, m[1].z - m[2].y, m[2].x - m[0].z, m[0].y - m[1].x),
        array(m[1].z - m[2].y, m[0].x - m[1].y - m[2].z, m[0].y + m[1].x, m[0].z + m[2].x),
        array(m[2].x - m[0].z, m[0].y + m[1].x, m[1].y - m[0].x - m[2].z, m[1].z + m[2].y),
        array(m[0].y - m[1].x, m[0].z + m[2].x, m[1].z + m[2].y, m[2].z - m[0].x - m[1].y),
    );
    var vectors = array<array<f32, 4>, 4>(
        array(1.0, 0.0, 0.0, 0.0),
        array(0.0, 1.0, 0.0, 0.0),
        array(0.0, 0.0, 1.0, 0.0),
        array(0.0, 0.0, 0.0, 1.0),
    );
    for (var sweep = 0u; sweep < 6u; sweep += 1u) {
        for (var p = 0u; p < 3u; p += 1u) {
            for (var q = p + 1u; q < 4u; q += 1u) {
                let off = n[p][q];
                if abs(off) < 1e-12 {
                    continue;
                }
                let theta = (n[q][q] - n[p][p]) / (2.0 * off);
                let t = select(-1.0, 1.0, theta >= 0.0) / (abs(theta) + sqrt(theta * theta + 1.0));
                let c = inverseSqrt(t * t + 1.0);
                let s = t * c;
                for (var k = 0u; k < 4u; k += 1u) {
                    let a = n[k][p];
                    let b = n[k][q];
                    n[k][p] = c * a - s * b;
                    n[k][q] = s * a + c * b;
                }
                for (var k = 0u; k < 4u; k += 1u) {
                    let a = n[p][k];
                    let b = n[q][k];
                    n[p][k] = c * a - s * b;
                    n[q][k] = s * a + c * b;
                    let v = vectors[k][p];
                    let w = vectors[k][q];
                    vectors[k][p] = c * v - s * w;
                    vectors[k][q] = s * v + c * w;
                }
            }
        }
    }
    var best = 0u;
    for (var i = 1u; i < 4u; i += 1u) {
        if n[i][i] > n[best][best] {
            best = i;
        }
    }
    return normalize(vec4(vectors[1][best], vectors[2][best], vectors[3][best], vectors[0][best]));
}

fn rotated(q: vec4<f32>, v: vec3<f32>) -> vec3<f32> {
    return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + v * q.w);
}

@compute @workgroup_size(64)
fn place_clusters(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let cluster = clusters[group.x];
    // Counted from a point of the patch, so that nothing is lost to rounding that is far from the origin.
    let near = position_at(group.y, patches[cluster.patch_begin].vertex);
    var sum = mat3x3<f32>();
    for (var i = cluster.patch_begin + thread; i < cluster.patch_end; i += THREADS) {
        let point = patches[i];
        sum[0] += (position_at(group.y, point.vertex) - near) * point.weight;
    }
    let middle = reduced(sum, thread)[0];
    var fit = mat3x3<f32>();
    for (var i = cluster.patch_begin + thread; i < cluster.patch_end; i += THREADS) {
        let point = patches[i];
        let offset = (position_at(group.y, point.vertex) - near) - middle;
        let rest = point.rest * point.weight;
        fit += mat3x3(offset * rest.x, offset * rest.y, offset * rest.z);
    }
    let rotation = closest_rotation(reduced(fit, thread));
    for (var i = cluster.begin + thread; i < cluster.end; i += THREADS) {
        let own = vertices[i];
        let p = near + (middle + rotated(rotation, own.rest));
        let at = (group.y * dims.vertices + own.vertex) * 3u;
        positions[at] = p.x;
        positions[at + 1u] = p.y;
        positions[at + 2u] = p.z;
    }
}
