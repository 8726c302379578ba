// Normals of centres of rotation (src/methods/cor/derivative.rs): v' = R S (v − c) + Σ w M c, and c changes by d along a tangent t, so
// dv' = R S (t − d) + R (Σ g S) (v − c) + ω × R S (v − c) + (Σ w A) d + Σ g M c, ω the change of the rotation.

struct CarriedCenter {
    // In the space of the rest position.
    center: vec3<f32>,
    pad0: u32,
    // Its derivatives along the two tangents.
    along_u: vec3<f32>,
    pad1: u32,
    along_v: vec3<f32>,
    pad2: u32,
}

@group(0) @binding(5) var<storage, read> centers: array<CarriedCenter>;

fn matrix_of(slope: WeightSlope, instance: u32) -> u32 {
    return instance * dims.palette_stride + 3u * (slope.name & ~LAST);
}

// Where its rotation and stretch are.
fn turn_of(slope: WeightSlope, instance: u32) -> u32 {
    return matrix_of(slope, instance) + dims.extras;
}

fn deformed_tangents(vertex: u32, own: BlendNormal, instance: u32) -> Tangents {
    let tangents = rest_tangents(own);
    let carried = centers[vertex];
    let center = vec4(carried.center, 1.0);
    let arm = own.rest - carried.center;
    let first = turn_of(slopes[own.first], instance);
    let pivot = palette[first];
    // Derivatives of weights sum to 0, apart from small ones that are left out: images count relative to the first one's.
    let first_arm = stretched(palette[first + 1u].xyz, palette[first + 2u].xyz, arm);
    let start = moved_by(matrix_of(slopes[own.first], instance), center);
    var real = vec4(0.0);
    var real_u = vec4(0.0);
    var real_v = vec4(0.0);
    var diagonal = vec3(0.0);
    var beside = vec3(0.0);
    // Changes of the stretched arm, and of the centre's image.
    var arm_u = vec3(0.0);
    var arm_v = vec3(0.0);
    var u = vec3(0.0);
    var v = vec3(0.0);
    for (var i = own.first; ; i += 1u) {
        let slope = slopes[i];
        let matrix = matrix_of(slope, instance);
        let turn = turn_of(slope, instance);
        let q = palette[turn] * select(1.0, -1.0, dot(palette[turn], pivot) < 0.0);
        real += q * slope.weight;
        real_u += q * slope.along_u;
        real_v += q * slope.along_v;
        let own_diagonal = palette[turn + 1u].xyz;
        let own_beside = palette[turn + 2u].xyz;
        diagonal += own_diagonal * slope.weight;
        beside += own_beside * slope.weight;
        let own_arm = stretched(own_diagonal, own_beside, arm) - first_arm;
        arm_u += own_arm * slope.along_u;
        arm_v += own_arm * slope.along_v;
        let moved = moved_by(matrix, center) - start;
        u += moved_by(matrix, vec4(carried.along_u, 0.0)) * slope.weight + moved * slope.along_u;
        v += moved_by(matrix, vec4(carried.along_v, 0.0)) * slope.weight + moved * slope.along_v;
        if (slope.name & LAST) != 0u {
            break;
        }
    }
    // Signs agree with the strongest's, so that the sum is not short.
    let norm = max(length(real), SHORTEST);
    let unit = real / norm;
    let placed = turned(unit, stretched(diagonal, beside, arm));
    let from_center_u = stretched(diagonal, beside, tangents.u - carried.along_u) + arm_u;
    let from_center_v = stretched(diagonal, beside, tangents.v - carried.along_v) + arm_v;
    return Tangents(
        u + turned(unit, from_center_u) + cross(twice_imag(unit, real_u / norm), placed),
        v + turned(unit, from_center_v) + cross(twice_imag(unit, real_v / norm), placed),
    );
}

fn blended_normal(own: BlendNormal, instance: u32) -> vec3<f32> {
    let pivot = palette[turn_of(slopes[own.first], instance)];
    var real = vec4(0.0);
    var sum = vec3(0.0);
    for (var i = own.first; ; i += 1u) {
        let slope = slopes[i];
        let turn = turn_of(slope, instance);
        let q = palette[turn];
        real += q * select(slope.weight, -slope.weight, dot(q, pivot) < 0.0);
        sum += unit_stretched(palette[turn + 1u].xyz, palette[turn + 2u].xyz, own.normal) * slope.weight;
        if (slope.name & LAST) != 0u {
            break;
        }
    }
    return turned(real / max(length(real), SHORTEST), sum);
}

fn strongest_normal(own: BlendNormal, instance: u32) -> vec3<f32> {
    let at = matrix_of(slopes[own.first], instance);
    return unit_cofactor(palette[at].xyz, palette[at + 1u].xyz, palette[at + 2u].xyz, own.normal);
}
