//! Nearest points of the probability simplex.

/// Replaces a row by the nearest point whose entries are not negative and sum to 1: max(yᵢ − θ, 0) with the one θ that gives the sum.
/// Entries that are not finite count as 0; an empty row stays empty.
///
/// Michelot, "A Finite Algorithm for Finding the Projection of a Point onto the Canonical Simplex of ℝⁿ", JOTA 50(1), 1986: θ is the mean
/// excess of the entries above θ; entries that are not above it are left out until none is.
pub fn project_to_simplex(row: &mut [f64]) {
    for value in &mut *row {
        if !value.is_finite() {
            *value = 0.0;
        }
    }
    // The same for all rows that differ by a constant; huge numbers would lose the 1.
    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    for value in &mut *row {
        *value -= largest;
    }
    let excess = |sum: f64, count: usize| (sum - 1.0) / count.max(1) as f64;
    let (mut sum, mut count) = (row.iter().sum::<f64>(), row.len());
    let mut threshold = excess(sum, count);
    loop {
        let above = row.iter().filter(|&&value| value > threshold);
        let (next, left) = above.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
        // Fewer are left each time; by rounding, an entry at the threshold can come back.
        if left >= count || left == 0 {
            break;
        }
        (sum, count) = (next, left);
        threshold = excess(sum, count);
    }
    for value in row {
        *value = (*value - threshold).max(0.0);
    }
}

/// Replaces every entry by the nearest number from 0 to 1; 0 where it is not finite.
pub fn project_to_box(row: &mut [f64]) {
    for value in row {
        *value = if value.is_finite() {
            value.clamp(0.0, 1.0)
        } else {
            0.0
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The projection by sorting: Held, Wolfe, Crowder 1974.
    fn sorted(row: &[f64]) -> Vec<f64> {
        let mut order = row.to_vec();
        order.sort_by(|a, b| b.total_cmp(a));
        let (mut sum, mut theta) = (0.0, 0.0);
        for (k, value) in order.iter().enumerate() {
            sum += value;
            let tried = (sum - 1.0) / (k + 1) as f64;
            if value - tried > 0.0 {
                theta = tried;
            }
        }
        row.iter().map(|y| (y - theta).max(0.0)).collect()
    }

    #[test]
    fn it_is_the_projection_by_sorting() {
        let mut state = 3_u64;
        let mut number = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as f64 / f64::from(1_u32 << 30) - 0.9
        };
        for count in 1..40 {
            let mut row: Vec<f64> = (0..count).map(|_| number()).collect();
            let expected = sorted(&row);
            project_to_simplex(&mut row);
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            for (found, expected) in row.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-12);
            }
        }
    }

    /// Entries at the threshold are above it or not, as rounding will have it.
    #[test]
    fn entries_at_the_threshold_end_the_search() {
        for k in 1..20_000 {
            let top = f64::from(k) * 0.000_137;
            for mut row in [
                vec![top, top - 1.0],
                vec![top, top - 0.3, top - 0.65, top - 0.65],
                vec![top / 3.0, top / 3.0 - 0.1, (top / 3.0) - 0.9 / 2.0 - 0.1],
            ] {
                let expected = sorted(&row);
                project_to_simplex(&mut row);
                assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                let pairs = row.iter().zip(expected);
                assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-12));
            }
        }
    }

    #[test]
    fn rows_that_are_no_numbers_become_weights() {
        for mut row in [
            vec![f64::NAN; 3],
            vec![f64::INFINITY, 1.0],
            vec![1e300, 1e300],
            vec![-5.0],
        ] {
            project_to_simplex(&mut row);
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{row:?}");
        }
        project_to_simplex(&mut []);
        let mut row = [f64::NAN, 2.0, -1.0, 0.5];
        project_to_box(&mut row);
        assert_eq!(row, [0.0, 1.0, 0.0, 0.5]);
    }
}
