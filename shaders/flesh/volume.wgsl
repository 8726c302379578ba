// A matrix near F with determinant 1: GPU version of dynamics/volume.rs.
const VOLUME_STEPS: u32 = 4u;
// Largest change of an entry per step.
const VOLUME_LONGEST: f32 = 0.5;

fn project_volume(f: mat3x3f) -> mat3x3f {
    var x = f;
    for (var k = 0u; k < VOLUME_STEPS; k++) {
        let c = cofactors(x);
        let square = max(norm2(c), 1e-12);
        let way = (1.0 - dot(x[0], c[0])) / square;
        // |way| · ‖cof F‖ is the length of the step.
        let far = abs(way) * sqrt(square);
        x = x + c * (way * (VOLUME_LONGEST / max(far, VOLUME_LONGEST)));
    }
    return x;
}
