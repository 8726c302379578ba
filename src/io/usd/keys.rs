//! Samples as keys of curves.

use crate::rig::Curve;

/// A linear curve without keys between equal ones.
pub(super) fn thinned<T: PartialEq + Clone>(times: &[f64], values: &[T]) -> Curve<T> {
    let count = values.len();
    let is_kept = |&i: &usize| {
        i == 0
            || i + 1 == count && values[i] != values[i - 1]
            || i + 1 < count && !(values[i] == values[i - 1] && values[i] == values[i + 1])
    };
    let kept: Vec<usize> = (0..count).filter(is_kept).collect();
    Curve::linear(
        kept.iter().map(|&i| times[i]).collect(),
        kept.iter().map(|&i| values[i].clone()).collect(),
    )
}
