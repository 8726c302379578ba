//! Projection onto the simplex.

/// The closest point of the simplex { x ≥ 0, Σ x = 1 }, in place: xᵢ ← max(xᵢ − τ, 0) with τ such that they sum to 1 (Duchi et al.,
/// "Efficient Projections onto the l1-Ball", ICML 2008, figure 1). Equal parts if a number is not finite; nothing for no number.
pub fn project_to_simplex(row: &mut [f64]) {
    if row.is_empty() {
        return;
    }
    if row.iter().any(|x| !x.is_finite()) {
        row.fill(1.0 / row.len() as f64);
        return;
    }
    let mut sorted = row.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut shift) = (0.0, 0.0);
    for (place, x) in sorted.iter().enumerate() {
        sum += x;
        let candidate = (sum - 1.0) / (place + 1) as f64;
        if x - candidate > 0.0 {
            shift = candidate;
        }
    }
    row.iter_mut().for_each(|x| *x = (*x - shift).max(0.0));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The projection is the only point of the simplex for which x − p is the same for all positive parts and not larger elsewhere.
    #[test]
    fn the_projection_meets_the_optimality_conditions() {
        let mut state = 1_u32;
        for count in 1..12 {
            for _ in 0..50 {
                let mut draw = || {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    f64::from(state >> 8) / f64::from(1 << 23) - 1.0
                };
                let given: Vec<f64> = (0..count).map(|_| 2.0 * draw()).collect();
                let mut projected = given.clone();
                project_to_simplex(&mut projected);
                let sum: f64 = projected.iter().sum();
                assert!((sum - 1.0).abs() < 1e-12 && projected.iter().all(|p| *p >= 0.0));
                let shift = |k: usize| given[k] - projected[k];
                let active = (0..count).find(|&k| projected[k] > 0.0).unwrap();
                for k in 0..count {
                    let difference = shift(k) - shift(active);
                    let fits =
                        difference.abs() < 1e-12 || (projected[k] == 0.0 && difference < 0.0);
                    assert!(fits, "{given:?} {projected:?}");
                }
            }
        }
        let mut bad = [f64::NAN, 1.0];
        project_to_simplex(&mut bad);
        assert_eq!(bad, [0.5, 0.5]);
        project_to_simplex(&mut []);
    }
}
