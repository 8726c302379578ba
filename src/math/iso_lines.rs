//! Iso-lines of values on a grid of squares (marching squares).

/// A point of the grid: column and row, in cells.
pub type GridPoint = [f32; 2];

/// The line on which values on a grid are `level`, as segments, each inside of one cell. `values` has rows of `columns` values; a node at
/// the level counts as above it. Where a cell has two segments, the mean of its corners decides how they are joined.
#[must_use]
pub fn iso_line(values: &[f32], columns: usize, level: f32) -> Vec<[GridPoint; 2]> {
    let mut segments = Vec::new();
    if columns < 2 {
        return segments;
    }
    let rows = values.len() / columns;
    for row in 0..rows.saturating_sub(1) {
        for column in 0..columns - 1 {
            let at = |c: usize, r: usize| values[(row + r) * columns + column + c];
            // Around the cell.
            let corners = [at(0, 0), at(1, 0), at(1, 1), at(0, 1)];
            if corners.iter().all(|c| c.is_finite()) {
                add_cell(&mut segments, corners, [column, row], level);
            }
        }
    }
    segments
}

fn add_cell(
    segments: &mut Vec<[GridPoint; 2]>,
    corners: [f32; 4],
    [column, row]: [usize; 2],
    level: f32,
) {
    const PLACES: [GridPoint; 4] = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let above = corners.map(|corner| corner >= level);
    // The crossing of the edge from corner k to the next.
    let crossing = |k: usize| -> Option<GridPoint> {
        let next = (k + 1) % 4;
        if above[k] == above[next] {
            return None;
        }
        let t = (level - corners[k]) / (corners[next] - corners[k]);
        let [from, to] = [PLACES[k], PLACES[next]];
        Some([
            column as f32 + from[0] + t * (to[0] - from[0]),
            row as f32 + from[1] + t * (to[1] - from[1]),
        ])
    };
    match [0, 1, 2, 3].map(crossing) {
        [Some(a), Some(b), Some(c), Some(d)] => {
            let mean = 0.25 * corners.iter().sum::<f32>();
            // Corner 1 lies between crossings 0 and 1.
            if (mean >= level) == above[1] {
                segments.extend([[d, a], [b, c]]);
            } else {
                segments.extend([[a, b], [c, d]]);
            }
        }
        crossings => {
            let mut met = crossings.into_iter().flatten();
            if let Some((a, b)) = met.next().zip(met.next()) {
                segments.push([a, b]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: usize = 41;

    /// Distances from the middle of a square of 40 × 40 cells.
    fn cone() -> Vec<f32> {
        let node = |index: usize| {
            let (x, y) = (index % COLUMNS, index / COLUMNS);
            (x as f32 - 20.0).hypot(y as f32 - 20.0)
        };
        (0..COLUMNS * COLUMNS).map(node).collect()
    }

    #[test]
    fn a_cone_has_circles() {
        let segments = iso_line(&cone(), COLUMNS, 12.0);
        let mut length = 0.0;
        for [a, b] in &segments {
            for [x, y] in [a, b] {
                assert!(((x - 20.0).hypot(y - 20.0) - 12.0).abs() < 0.02);
            }
            length += (a[0] - b[0]).hypot(a[1] - b[1]);
        }
        let around = 24.0 * std::f32::consts::PI;
        assert!((length - around).abs() < 0.01 * around, "{length}");
        // Closed: every end is the end of two segments.
        let is_met = |end: &GridPoint| {
            let ends = segments.iter().flatten();
            ends.filter(|other| (other[0] - end[0]).hypot(other[1] - end[1]) < 1e-4)
                .count()
                == 2
        };
        assert!(segments.iter().flatten().all(is_met));
    }

    #[test]
    fn a_saddle_is_joined_by_its_mean() {
        // Above at two opposite corners.
        let joined = iso_line(&[1.0, 0.0, 0.0, 1.0], 2, 0.4);
        let apart = iso_line(&[1.0, 0.0, 0.0, 1.0], 2, 0.6);
        assert_eq!((joined.len(), apart.len()), (2, 2));
        // Corner 0 is cut off only where the high corners are apart.
        let cuts = |segments: &[[GridPoint; 2]]| {
            let near = |p: &GridPoint| p[0] + p[1] < 1.0;
            segments.iter().any(|segment| segment.iter().all(near))
        };
        assert!(cuts(&apart) && !cuts(&joined));
    }

    #[test]
    fn nothing_is_found_without_values() {
        assert!(iso_line(&[], 0, 0.5).is_empty());
        assert!(iso_line(&[0.0, 1.0, 0.0], 1, 0.5).is_empty());
        assert!(iso_line(&[f32::NAN, 1.0, 0.0, 1.0], 2, 0.5).is_empty());
    }
}
