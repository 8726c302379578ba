//! The order in which frames are measured: a rough curve first, then the frames in between.

/// Distance of the frames that are measured first.
const COARSE: usize = 16;

/// All indices below `count`: every sixteenth and the last, then those halfway between, and so on; ascending in each pass.
pub(super) fn coarse_first(count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).step_by(COARSE).collect();
    let last = count.saturating_sub(1);
    if !last.is_multiple_of(COARSE) {
        order.push(last);
    }
    let mut step = COARSE / 2;
    while step > 0 {
        let between = (step..count).step_by(2 * step);
        order.extend(between.filter(|&index| index != last || last.is_multiple_of(COARSE)));
        step /= 2;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::coarse_first;

    #[test]
    fn every_index_comes_once_and_coarse_ones_first() {
        for count in [0, 1, 2, 15, 16, 17, 33, 100, 1000] {
            let order = coarse_first(count);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..count).collect::<Vec<_>>(), "{count}");
        }
        assert_eq!(&coarse_first(40)[..6], [0, 16, 32, 39, 8, 24]);
    }
}
