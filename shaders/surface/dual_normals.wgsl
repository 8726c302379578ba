// Normals of dual quaternions (src/methods/dqs/derivative.rs). With (r, d) the normalised sum of Σ ± w (r, d), its change (r', d') along a
// tangent t and S = Σ w S: dv' = R (S t + Σ g S v) + ω × R S v + 2 Im(d' r̄ + d r̄'), ω = 2 Im(r' r̄).

// A weighted sum of dual quaternions and stretches.
struct DualSum {
    real: vec4<f32>,
    dual: vec4<f32>,
    diagonal: vec3<f32>,
    beside: vec3<f32>,
}

fn transform_of(slope: WeightSlope, instance: u32) -> u32 {
    return instance * dims.palette_stride + 4u * (slope.name & ~LAST);
}

// The sum with one more term.
fn added(sum: DualSum, term: DualSum, sign: f32, weight: f32) -> DualSum {
    return DualSum(
        sum.real + term.real * (sign * weight),
        sum.dual + term.dual * (sign * weight),
        sum.diagonal + term.diagonal * weight,
        sum.beside + term.beside * weight,
    );
}

// The derivative of the position: `sum` with the length 1 changes by `rates`, and the stretched rest position is turned to `placed`.
fn deformed(sum: DualSum, rates: DualSum, placed: vec3<f32>, rest: vec3<f32>, tangent: vec3<f32>) -> vec3<f32> {
    let longer = dot(sum.real, rates.real);
    let real = rates.real - sum.real * longer;
    let dual = rates.dual - sum.dual * longer;
    let moved = stretched(sum.diagonal, sum.beside, tangent) + stretched(rates.diagonal, rates.beside, rest);
    return turned(sum.real, moved) + cross(twice_imag(sum.real, real), placed) + twice_imag(sum.real, dual) + twice_imag(real, sum.dual);
}

fn deformed_tangents(vertex: u32, own: BlendNormal, instance: u32) -> Tangents {
    let tangents = rest_tangents(own);
    let first = transform_of(slopes[own.first], instance);
    let pivot = DualSum(palette[first], palette[first + 1u], palette[first + 2u].xyz, palette[first + 3u].xyz);
    var sum: DualSum;
    var along_u: DualSum;
    var along_v: DualSum;
    for (var i = own.first; ; i += 1u) {
        let slope = slopes[i];
        let at = transform_of(slope, instance);
        var term = DualSum(palette[at], palette[at + 1u], palette[at + 2u].xyz, palette[at + 3u].xyz);
        let sign = select(1.0, -1.0, dot(term.real, pivot.real) < 0.0);
        sum = added(sum, term, sign, slope.weight);
        // Derivatives of weights sum to 0, apart from small ones that are left out: stretches count relative to the first one's.
        term.diagonal -= pivot.diagonal;
        term.beside -= pivot.beside;
        along_u = added(along_u, term, sign, slope.along_u);
        along_v = added(along_v, term, sign, slope.along_v);
        if (slope.name & LAST) != 0u {
            break;
        }
    }
    let norm = length(sum.real);
    if norm < 1e-6 {
        // Such a vertex stays where it is at rest.
        return tangents;
    }
    sum.real /= norm;
    sum.dual /= norm;
    along_u.real /= norm;
    along_u.dual /= norm;
    along_v.real /= norm;
    along_v.dual /= norm;
    let placed = turned(sum.real, stretched(sum.diagonal, sum.beside, own.rest));
    return Tangents(
        deformed(sum, along_u, placed, own.rest, tangents.u),
        deformed(sum, along_v, placed, own.rest, tangents.v),
    );
}

fn blended_normal(own: BlendNormal, instance: u32) -> vec3<f32> {
    let pivot = palette[transform_of(slopes[own.first], instance)];
    var real = vec4(0.0);
    var sum = vec3(0.0);
    for (var i = own.first; ; i += 1u) {
        let slope = slopes[i];
        let at = transform_of(slope, instance);
        let q = palette[at];
        real += q * select(slope.weight, -slope.weight, dot(q, pivot) < 0.0);
        sum += unit_stretched(palette[at + 2u].xyz, palette[at + 3u].xyz, own.normal) * slope.weight;
        if (slope.name & LAST) != 0u {
            break;
        }
    }
    let norm = length(real);
    if norm < 1e-6 {
        return own.normal;
    }
    return turned(real / norm, sum);
}

fn strongest_normal(own: BlendNormal, instance: u32) -> vec3<f32> {
    let at = transform_of(slopes[own.first], instance);
    return turned(palette[at], unit_stretched(palette[at + 2u].xyz, palette[at + 3u].xyz, own.normal));
}
