//! Finding nodes and cells by their coordinates.

/// Finds the index of coordinates in a list that is sorted by z, y, x.
#[derive(Debug, Clone)]
pub struct Lookup<'a> {
    sorted: &'a [[u32; 3]],
    /// Where the entries of each row (y, z) begin.
    rows: Vec<u32>,
    /// Rows along y.
    height: usize,
}

impl<'a> Lookup<'a> {
    /// For coordinates sorted by z, y, x.
    #[must_use]
    pub fn of(sorted: &'a [[u32; 3]]) -> Self {
        let most = |axis: usize| {
            sorted
                .iter()
                .map(|at| at[axis] as usize + 1)
                .max()
                .unwrap_or(0)
        };
        let (height, depth) = (most(1), most(2));
        let mut rows = vec![0_u32; height * depth + 1];
        for &[_, y, z] in sorted {
            rows[z as usize * height + y as usize + 1] += 1;
        }
        for row in 0..height * depth {
            rows[row + 1] += rows[row];
        }
        Self {
            sorted,
            rows,
            height,
        }
    }

    /// The index of these coordinates, if they are in the list.
    #[must_use]
    pub fn find(&self, [x, y, z]: [u32; 3]) -> Option<u32> {
        if y as usize >= self.height {
            return None;
        }
        let row = z as usize * self.height + y as usize;
        let first = *self.rows.get(row)?;
        let end = *self.rows.get(row + 1)?;
        let own = &self.sorted[first as usize..end as usize];
        let place = own.binary_search_by_key(&x, |at| at[0]).ok()?;
        Some(first + place as u32)
    }
}
