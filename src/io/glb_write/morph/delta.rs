//! Displacements of morph targets: quantisation and storage.

use std::io::Write;

use serde_json::json;

use super::super::draft::{GlbDraft, ViewUse};
use crate::io::error::IoError;
use crate::io::write::AtomicFile;
use crate::math::Vec3;

/// The displacements of one attribute of one mesh.
#[derive(Debug, Clone, Copy)]
pub(super) struct DeltaBlock {
    pub(super) stored: DeltaStorage,
    min: [f32; 3],
    max: [f32; 3],
}

#[derive(Debug, Clone, Copy)]
pub(super) enum DeltaStorage {
    /// All displacements are zero.
    Zeros,
    /// Dense: twelve bytes per vertex from this offset.
    Dense { offset: u64 },
    /// Sparse: `count` vertex indices (of 2 or 4 bytes each) from this offset, then, aligned to 4
    /// bytes, their vectors.
    Sparse { offset: u64, count: usize },
}

/// Rounds values near zero to zero.
pub(super) fn settled(difference: Vec3, still: f32) -> Vec3 {
    if difference.norm() <= still {
        Vec3::zeros()
    } else {
        difference
    }
}

/// Writes displacements to the spool file, in the shorter of both forms.
pub(super) fn store(
    frames: &mut AtomicFile,
    written: &mut u64,
    differences: &[Vec3],
) -> Result<DeltaBlock, IoError> {
    let moved: Vec<usize> = (0..differences.len())
        .filter(|&v| differences[v] != Vec3::zeros())
        .collect();
    let (mut min, mut max) = (Vec3::repeat(f32::INFINITY), Vec3::repeat(f32::NEG_INFINITY));
    for difference in differences {
        (min, max) = (min.inf(difference), max.sup(difference));
    }
    let (min, max) = (min.into(), max.into());
    if moved.is_empty() {
        return Ok(DeltaBlock {
            stored: DeltaStorage::Zeros,
            min,
            max,
        });
    }
    let offset = *written;
    let wide = index_width(differences.len());
    let vectors =
        |out: &mut dyn Write, v: &Vec3| v.iter().try_for_each(|c| out.write_all(&c.to_le_bytes()));
    if moved.len() * (12 + wide) >= differences.len() * 12 {
        frames.write(|out| {
            differences
                .iter()
                .try_for_each(|difference| vectors(out, difference))
        })?;
        *written += differences.len() as u64 * 12;
        return Ok(DeltaBlock {
            stored: DeltaStorage::Dense { offset },
            min,
            max,
        });
    }
    let padding = (moved.len() * wide).next_multiple_of(4) - moved.len() * wide;
    frames.write(|out| {
        moved
            .iter()
            .try_for_each(|&v| out.write_all(&(v as u32).to_le_bytes()[..wide]))?;
        out.write_all(&[0; 4][..padding])?;
        moved
            .iter()
            .try_for_each(|&v| vectors(out, &differences[v]))
    })?;
    *written += (moved.len() * (wide + 12) + padding) as u64;
    Ok(DeltaBlock {
        stored: DeltaStorage::Sparse {
            offset,
            count: moved.len(),
        },
        min,
        max,
    })
}

/// Bytes of a vertex index.
fn index_width(vertices: usize) -> usize {
    if u16::try_from(vertices).is_ok() {
        2
    } else {
        4
    }
}

impl GlbDraft {
    /// The accessor of a block; blocks of zeros share one.
    pub(super) fn block(
        &mut self,
        block: &DeltaBlock,
        count: usize,
        zeros: &mut Option<usize>,
    ) -> usize {
        let mut accessor = json!({"componentType": 5126, "count": count, "type": "VEC3", "min": block.min, "max": block.max});
        match block.stored {
            DeltaStorage::Zeros => {
                return *zeros.get_or_insert_with(|| self.push("accessors", accessor));
            }
            DeltaStorage::Dense { offset } => {
                accessor["bufferView"] =
                    json!(self.spooled_view(offset, count as u64 * 12, ViewUse::Attribute));
            }
            DeltaStorage::Sparse {
                offset,
                count: moved,
            } => {
                let wide = index_width(count);
                let component = if wide == 2 { 5123 } else { 5125 };
                let places = (moved * wide) as u64;
                let indices = self.spooled_view(offset, places, ViewUse::Other);
                let values = self.spooled_view(
                    offset + places.next_multiple_of(4),
                    moved as u64 * 12,
                    ViewUse::Other,
                );
                accessor["sparse"] = json!({
                    "count": moved,
                    "indices": {"bufferView": indices, "componentType": component},
                    "values": {"bufferView": values},
                });
            }
        }
        self.push("accessors", accessor)
    }
}
