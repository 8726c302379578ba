//! Matrices in lines of sixteen columns: the layout of inverse factors on the graphics card.
//!
//! Inverses of factors are dense over ranges of columns. A *line* is sixteen values of a row, aligned to multiples of sixteen: one read
//! of half a cache line, whole with its neighbours. Up to four rows that follow each other form a *group* with the same lines, so that
//! one read of the vector serves all of them:
//!
//! ```text
//!     values[16 * (group.line + k * group.rows + row) + lane]  is the entry in column 16 * blocks[group.block + k] + lane
//! ```
//!
//! Products with the matrix go by groups, products with its transpose by blocks of columns, over the lines that touch them. Both read
//! the values once.

/// Columns of a line.
pub const LINE: usize = 16;
/// Rows of a group at most.
pub const GROUP: usize = 4;
/// Threads that work together in a workgroup.
pub const LINE_THREADS: usize = 256;

/// Rows that follow each other, and their lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct LineGroup {
    /// First row.
    pub row: u32,
    /// How many rows: 1 to [`GROUP`].
    pub rows: u32,
    /// First line of the values.
    pub line: u32,
    /// Where its blocks of columns are listed.
    pub block: u32,
    /// How many blocks of columns.
    pub blocks: u32,
}

/// Groups that a workgroup multiplies, each with the same number of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct LineBatch {
    /// First group in the order of work.
    pub first: u32,
    /// How many: `threads` times this is at most [`LINE_THREADS`].
    pub groups: u32,
    /// Threads of a group: a power of two times [`LINE`].
    pub threads: u32,
}

/// A matrix of as many columns as rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LineMatrix {
    /// In ascending order of rows; rows of no group are zero.
    pub groups: Vec<LineGroup>,
    /// Block of columns of every line of a group's rows, ascending.
    pub blocks: Vec<u32>,
    /// [`LINE`] for every line.
    pub values: Vec<f32>,
}

/// By blocks of columns, what touches them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LineColumns {
    /// Where the lines of each block begin, and their number at the end.
    pub starts: Vec<u32>,
    /// Row and line, ascending.
    pub lines: Vec<[u32; 2]>,
}

impl LineMatrix {
    /// Adds rows of zeros with lines in these blocks; more than [`GROUP`] rows make several groups.
    pub(crate) fn push(&mut self, row: usize, rows: usize, blocks: &[u32]) {
        for first in (0..rows).step_by(GROUP) {
            let count = (rows - first).min(GROUP);
            self.groups.push(LineGroup {
                row: (row + first) as u32,
                rows: count as u32,
                line: (self.values.len() / LINE) as u32,
                block: self.blocks.len() as u32,
                blocks: blocks.len() as u32,
            });
            self.blocks.extend_from_slice(blocks);
            self.values
                .resize(self.values.len() + count * blocks.len() * LINE, 0.0);
        }
    }

    /// Bytes on the device.
    #[must_use]
    pub fn bytes(&self) -> usize {
        4 * (self.values.len() + self.blocks.len()) + size_of::<LineGroup>() * self.groups.len()
    }

    /// The groups in the order of work, the longest first, and their batches: a group of many lines is multiplied by many threads.
    #[must_use]
    pub fn batches(&self) -> (Vec<LineGroup>, Vec<LineBatch>) {
        let threads = |group: &LineGroup| {
            (LINE
                * (group.blocks as usize)
                    .div_ceil(LINES_PER_THREAD)
                    .next_power_of_two())
            .min(LINE_THREADS)
        };
        let mut groups = self.groups.clone();
        groups.sort_by_key(|group| (std::cmp::Reverse(threads(group)), group.row));
        let mut batches: Vec<LineBatch> = Vec::new();
        for (index, group) in groups.iter().enumerate() {
            let threads = threads(group) as u32;
            match batches.last_mut() {
                Some(batch)
                    if batch.threads == threads
                        && (batch.groups + 1) * threads <= LINE_THREADS as u32 =>
                {
                    batch.groups += 1;
                }
                _ => batches.push(LineBatch {
                    first: index as u32,
                    groups: 1,
                    threads,
                }),
            }
        }
        (groups, batches)
    }

    /// The lines by blocks of columns, of so many columns.
    #[must_use]
    pub fn columns(&self, columns: usize) -> LineColumns {
        let mut starts = vec![0_u32; columns.div_ceil(LINE) + 1];
        let each = |report: &mut dyn FnMut(u32, [u32; 2])| {
            for group in &self.groups {
                for k in 0..group.blocks {
                    let block = self.blocks[(group.block + k) as usize];
                    for row in 0..group.rows {
                        report(block, [group.row + row, group.line + k * group.rows + row]);
                    }
                }
            }
        };
        each(&mut |block, _| starts[block as usize + 1] += 1);
        for block in 1..starts.len() {
            starts[block] += starts[block - 1];
        }
        let mut next = starts.clone();
        let mut lines = vec![[0; 2]; starts.last().copied().unwrap_or_default() as usize];
        each(&mut |block, line| {
            lines[next[block as usize] as usize] = line;
            next[block as usize] += 1;
        });
        LineColumns { starts, lines }
    }

    /// The rows of the groups times a vector, into `result`; other rows of it stay.
    pub fn multiply(&self, of: &[[f32; 3]], result: &mut [[f32; 3]]) {
        for group in &self.groups {
            for row in 0..group.rows {
                let mut sum = [0.0; 3];
                for k in 0..group.blocks {
                    let line = (group.line + k * group.rows + row) as usize * LINE;
                    let column = self.blocks[(group.block + k) as usize] as usize * LINE;
                    for (value, x) in self.values[line..line + LINE].iter().zip(&of[column..]) {
                        add(&mut sum, *value, *x);
                    }
                }
                result[(group.row + row) as usize] = sum;
            }
        }
    }

    /// The transposed matrix times a vector, into `result`.
    pub fn multiply_transposed(&self, of: &[[f32; 3]], result: &mut [[f32; 3]]) {
        result.fill([0.0; 3]);
        for group in &self.groups {
            for row in 0..group.rows {
                let x = of[(group.row + row) as usize];
                for k in 0..group.blocks {
                    let line = (group.line + k * group.rows + row) as usize * LINE;
                    let column = self.blocks[(group.block + k) as usize] as usize * LINE;
                    for (value, sum) in self.values[line..line + LINE]
                        .iter()
                        .zip(&mut result[column..])
                    {
                        add(sum, *value, x);
                    }
                }
            }
        }
    }
}

/// sum + value x
pub(crate) fn add(sum: &mut [f32; 3], value: f32, x: [f32; 3]) {
    *sum = std::array::from_fn(|c| sum[c] + value * x[c]);
}

/// Lines that a thread reads one after the other, in a group that does not take a whole workgroup.
const LINES_PER_THREAD: usize = 8;
