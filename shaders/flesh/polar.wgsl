// The rotation closest to a matrix, for any matrix: GPU version of numerics/polar.
//
// Newton's iteration X ← ½ (γ X + X⁻ᵀ/γ), scaled by γ² = ‖X⁻¹‖/‖X‖ in the first steps if the determinant is far from 1
// (Higham, "Computing the Polar Decomposition", SIAM J. Sci. Stat. Comput. 1986). After the first step no singular value is
// below 1, so that the determinant bounds the error. If det F < 0, the closest rotation is Q (I − 2 v vᵀ) with v the
// direction of the smallest singular value. If F is nearly rank-one, its cofactors are rounding errors: the line is rotated,
// then the plane across it.

const POLAR_STEPS: u32 = 14u;
// Squared determinants outside of this range need scaled steps.
const POLAR_LEAST: f32 = 0.16;
const POLAR_MOST: f32 = 6.0;
// A step that started with a squared determinant below this is the last: its error is then below 3e-8.
const POLAR_CLOSE: f32 = 1.0004;
// Number of squarings that separate the smallest singular value: a gap of 1 % becomes a factor of 30 000.
const POLAR_SQUARINGS: u32 = 10u;
// (σ₂/σ₁)² below which a matrix counts as a line: there, the sign of the determinant may be rounding while σ₁ σ₃ > σ₂², and a Newton
// step with the wrong sign would turn the second direction around.
const POLAR_LINE: f32 = 1e-4;
// Matrices smaller than this are zero.
const POLAR_NOTHING: f32 = 1e-30;
// The inverse of a larger number may underflow to zero.
const POLAR_HUGE: f32 = 1e20;
// Determinants closer to 0 are rounding errors.
const POLAR_FLAT: f32 = 1e-10;

fn identity() -> mat3x3f {
    return mat3x3f(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0);
}

// The derivative of the determinant.
fn cofactors(x: mat3x3f) -> mat3x3f {
    return mat3x3f(cross(x[1], x[2]), cross(x[2], x[0]), cross(x[0], x[1]));
}

fn norm2(x: mat3x3f) -> f32 {
    return dot(x[0], x[0]) + dot(x[1], x[1]) + dot(x[2], x[2]);
}

fn largest_entry(x: mat3x3f) -> f32 {
    let most = max(max(abs(x[0]), abs(x[1])), abs(x[2]));
    return max(max(most.x, most.y), most.z);
}

// R ∈ SO(3) that minimises ‖F − R‖; the identity if F is not finite.
fn closest_rotation(f: mat3x3f) -> mat3x3f {
    var x = f;
    var most = largest_entry(f);
    if !(all_finite(f[0]) && all_finite(f[1]) && all_finite(f[2])) || most < POLAR_NOTHING {
        return identity();
    }
    if most > POLAR_HUGE {
        x = x * (1.0 / POLAR_HUGE);
        most = most * (1.0 / POLAR_HUGE);
    }
    if most < 0.1 || most > 10.0 {
        x = x * (1.0 / most);
    }
    let first = cofactors(x);
    let size2 = norm2(x);
    if norm2(first) <= POLAR_LINE * size2 * size2 {
        return line_rotation(x);
    }
    let start = x;
    let determinant = dot(x[0], first[0]);
    let q = polar_factor(x, first, determinant);
    // Three columns of length 1: anything else did not converge.
    let off = norm2(q) - 3.0;
    if !is_finite(off) || abs(off) > 1e-3 {
        return line_rotation(start);
    }
    // The determinant of F may be a rounding error, and so may its sign.
    if dot(q[0], cross(q[1], q[2])) < 0.0 {
        return reflected(start, q);
    }
    return q;
}

// The orthogonal polar factor of X, whose cofactors and determinant are given.
fn polar_factor(start: mat3x3f, first: mat3x3f, determinant: f32) -> mat3x3f {
    let squared = determinant * determinant;
    let far = squared < POLAR_LEAST || squared > POLAR_MOST;
    var x = start;
    var c = first;
    var d = determinant;
    for (var k = 0u; k < POLAR_STEPS; k++) {
        // A singular matrix has no sign: both are valid.
        let safe = select(min(d, -POLAR_FLAT), max(d, POLAR_FLAT), d >= 0.0);
        var gamma = 1.0;
        if far && k < 2u {
            gamma = sqrt(sqrt(norm2(c) / norm2(x)) / abs(safe));
        }
        let last = k > 0u && d * d <= POLAR_CLOSE;
        x = x * (0.5 * gamma) + c * (0.5 / (gamma * safe));
        if last {
            break;
        }
        c = cofactors(x);
        d = dot(x[0], c[0]);
    }
    return x;
}

// Q (I − 2 v vᵀ): repeated squaring of the adjugate of H = Qᵀ F converges to v vᵀ, for the smallest eigenvalue of H. Its
// longest column is v; if two eigenvalues are equal, any vector between is valid.
fn reflected(f: mat3x3f, q: mat3x3f) -> mat3x3f {
    var p = cofactors(transpose(q) * f);
    for (var k = 0u; k < POLAR_SQUARINGS; k++) {
        let unit = p * (1.0 / max(largest_entry(p), POLAR_NOTHING));
        p = unit * unit;
    }
    let lengths = vec3f(dot(p[0], p[0]), dot(p[1], p[1]), dot(p[2], p[2]));
    var longest = p[0];
    var length2 = lengths.x;
    if lengths.y > length2 {
        longest = p[1];
        length2 = lengths.y;
    }
    if lengths.z > length2 {
        longest = p[2];
        length2 = lengths.z;
    }
    if length2 < POLAR_NOTHING {
        return line_rotation(f);
    }
    let v = longest * inverseSqrt(length2);
    let mirrored = q * v;
    return mat3x3f(q[0] - mirrored * (2.0 * v.x), q[1] - mirrored * (2.0 * v.y), q[2] - mirrored * (2.0 * v.z));
}

// Two directions across `n`, right-handed with it: Duff et al., "Building an Orthonormal Basis, Revisited", JCGT 2017.
struct Across {
    a: vec3f,
    b: vec3f,
}

fn across(n: vec3f) -> Across {
    let s = select(-1.0, 1.0, n.z >= 0.0);
    let k = -1.0 / (s + n.z);
    let m = n.x * n.y * k;
    return Across(vec3f(1.0 + s * n.x * n.x * k, s * m, -s * n.x), vec3f(m, s + n.y * n.y * k, -n.y));
}

// Largest entries near 1, σ₂ ≪ σ₁: v and u = F v/σ₁ by power iteration, and the closest rotation of the plane across v to that across u.
fn line_rotation(f: mat3x3f) -> mat3x3f {
    let rows = transpose(f);
    var v = rows[0];
    if dot(rows[1], rows[1]) > dot(v, v) {
        v = rows[1];
    }
    if dot(rows[2], rows[2]) > dot(v, v) {
        v = rows[2];
    }
    v = normalize(v);
    for (var k = 0u; k < 3u; k++) {
        v = normalize(rows * (f * v));
    }
    let u = normalize(f * v);
    let from_plane = across(v);
    let to_plane = across(u);
    let fa = f * from_plane.a;
    let fb = f * from_plane.b;
    let turn = vec2f(dot(to_plane.a, fa) + dot(to_plane.b, fb), dot(to_plane.b, fa) - dot(to_plane.a, fb));
    let size = length(turn);
    let cs = select(vec2f(1.0, 0.0), turn / max(size, POLAR_NOTHING), size > POLAR_NOTHING);
    let ra = to_plane.a * cs.x + to_plane.b * cs.y;
    let rb = to_plane.b * cs.x - to_plane.a * cs.y;
    // R = u vᵀ + ra aᵀ + rb bᵀ.
    let a = from_plane.a;
    let b = from_plane.b;
    return mat3x3f(u * v.x + ra * a.x + rb * b.x, u * v.y + ra * a.y + rb * b.y, u * v.z + ra * a.z + rb * b.z);
}
