//! A baked motion as GLB: one morph target per key frame, and an animation that blends from one to
//! the next.
//!
//! The meshes of the first frame are the base, on root nodes without transform; target k holds the
//! displacement since then. At the time of key k its weight is 1 and all others are 0, so players
//! show the baked positions at keys and interpolate linearly between. Keys are the frames that
//! linear interpolation does not reproduce within the tolerance ([`super::keys`]). A target is
//! stored sparsely where that is shorter; vertices that move by less than [`STILL`] of the size
//! count as unmoved.
//!
//! Frames are spooled to a temporary file beside the target and copied behind the JSON at the end:
//! memory holds three frames, whatever the length of the motion.

mod delta;
mod finish;

use self::delta::{DeltaBlock, DeltaStorage, settled, store};
use std::path::Path;
use std::sync::Arc;

use super::GlbWriteError;
use super::draft::GlbDraft;
use super::fresh;
use super::keys::KeyPicker;
use super::relocate::MeshLocation;
use crate::character::{Character, SourceDocument, SourcePrimitive};
use crate::io::error::{IoError, shown};
use crate::io::write::AtomicFile;
use crate::math::{Point, Vec3};

/// Displacement, relative to the character's size, below which a vertex of a target counts as
/// unmoved: a hundredth of a visible difference, and ten times the rounding of `f32`.
const STILL: f32 = 1e-6;
/// The same for normals: a change of 5e-4 of their length is 0.03°.
const STILL_NORMAL: f32 = 5e-4;

/// Parameters of [`MorphFile`].
#[derive(Debug, Clone, PartialEq)]
pub struct MorphSettings {
    /// Name of the animation.
    pub animation: String,
    /// Diagonal of the character's bounding box.
    pub size: f32,
    /// Maximum deviation of a vertex from its baked position between key frames, relative to the
    /// size.
    pub tolerance: f32,
    /// Write the character's units instead of metres.
    pub keep_units: bool,
}

/// Statistics of the written file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MorphSummary {
    /// Morph targets of each moving mesh: the key frames except the first.
    pub targets: usize,
}

/// A `.glb` written frame by frame.
#[derive(Debug)]
pub struct MorphFile {
    settings: MorphSettings,
    draft: GlbDraft,
    parts: Vec<MorphMesh>,
    frames: AtomicFile,
    written: u64,
    target: AtomicFile,
    name: String,
    /// Metres per unit of the frames, if they are written in metres.
    scale: Option<f32>,
    scaled: Vec<Point>,
    base: Option<FirstMorphFrame>,
    keys: Vec<MorphKey>,
}

/// One source mesh.
#[derive(Debug)]
struct MorphMesh {
    place: MeshLocation,
    /// Its range among all source vertices.
    first: usize,
    count: usize,
    /// Primitives, of several materials, that share the vertices.
    primitives: usize,
    has_normals: bool,
    moves: bool,
}

impl MorphMesh {
    /// Its primitives in the glTF mesh.
    fn primitives(&self) -> std::ops::Range<usize> {
        self.place.primitive..self.place.primitive + self.primitives
    }
}

#[derive(Debug)]
struct FirstMorphFrame {
    positions: Vec<Point>,
    normals: Vec<Vec3>,
    first_secs: f64,
    picker: KeyPicker,
    last: MorphFrame,
    /// Whether the last frame is the newest key.
    last_is_key: bool,
}

#[derive(Debug)]
struct MorphFrame {
    time_secs: f64,
    positions: Vec<Point>,
    normals: Vec<Vec3>,
}

/// A key frame after the first: the stored displacements of each mesh, positions and normals.
#[derive(Debug)]
struct MorphKey {
    time_secs: f64,
    blocks: Vec<(DeltaBlock, Option<DeltaBlock>)>,
}

impl MorphFile {
    /// Starts a file for a character.
    ///
    /// # Errors
    /// [`IoError::Write`] if the folder is not writable, or the character cannot be represented as
    /// glTF.
    pub fn create(
        path: &Path,
        character: &Character,
        mut settings: MorphSettings,
    ) -> Result<Self, IoError> {
        // A document is in metres by the standard.
        let metres = character.export_metres_per_unit() as f32;
        let is_kept = settings.keep_units || document_of(character).is_some() || metres == 1.0;
        let scale = (!is_kept).then_some(metres);
        settings.size *= scale.unwrap_or(1.0);
        let name = shown(path);
        let target = AtomicFile::create(path)?;
        let frames = AtomicFile::create(path)?;
        let (draft, parts) = stage(character).map_err(|error| refused(&name, error))?;
        Ok(Self {
            settings,
            draft,
            parts,
            frames,
            written: 0,
            target,
            name,
            scale,
            scaled: Vec::new(),
            base: None,
            keys: Vec::new(),
        })
    }

    /// Appends a frame: world positions, in the character's units, and unit normals of all source
    /// vertices. Times must ascend.
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub fn frame(
        &mut self,
        time_secs: f64,
        positions: &[Point],
        normals: &[Vec3],
    ) -> Result<(), IoError> {
        let Some(scale) = self.scale else {
            return self.add(time_secs, positions, normals);
        };
        let mut scaled = std::mem::take(&mut self.scaled);
        scaled.clear();
        scaled.extend(positions.iter().map(|position| position * scale));
        let added = self.add(time_secs, &scaled, normals);
        self.scaled = scaled;
        added
    }

    fn add(
        &mut self,
        time_secs: f64,
        positions: &[Point],
        normals: &[Vec3],
    ) -> Result<(), IoError> {
        let now = time_secs as f32;
        let Some(mut base) = self.base.take() else {
            let picker =
                KeyPicker::new(positions, now, self.settings.tolerance * self.settings.size);
            let last = MorphFrame {
                time_secs,
                positions: positions.to_vec(),
                normals: normals.to_vec(),
            };
            self.base = Some(FirstMorphFrame {
                positions: positions.to_vec(),
                normals: normals.to_vec(),
                first_secs: time_secs,
                picker,
                last,
                last_is_key: true,
            });
            return Ok(());
        };
        if !base.last_is_key && !base.picker.reaches(positions, now) {
            self.key(&base)?;
            base.picker
                .restart(&base.last.positions, base.last.time_secs as f32);
        }
        base.picker.pass(positions, now);
        base.last.time_secs = time_secs;
        base.last.positions.copy_from_slice(positions);
        base.last.normals.copy_from_slice(normals);
        base.last_is_key = false;
        self.base = Some(base);
        Ok(())
    }

    /// Makes the last frame a key.
    fn key(&mut self, base: &FirstMorphFrame) -> Result<(), IoError> {
        let mut blocks = Vec::with_capacity(self.parts.len());
        let still = STILL * self.settings.size;
        for part in &mut self.parts {
            let range = part.first..part.first + part.count;
            let moved = base.last.positions[range.clone()]
                .iter()
                .zip(&base.positions[range.clone()]);
            let moved: Vec<Vec3> = moved
                .map(|(now, then)| settled(now - then, still))
                .collect();
            let positions = store(&mut self.frames, &mut self.written, &moved)?;
            part.moves |= !matches!(positions.stored, DeltaStorage::Zeros);
            let normals = if part.has_normals {
                let turned = base.last.normals[range.clone()]
                    .iter()
                    .zip(&base.normals[range]);
                let turned: Vec<Vec3> = turned
                    .map(|(now, then)| settled(now - then, STILL_NORMAL))
                    .collect();
                Some(store(&mut self.frames, &mut self.written, &turned)?)
            } else {
                None
            };
            blocks.push((positions, normals));
        }
        // The size limit is reported as soon as it is exceeded, not at the end of a long bake.
        if self.written > u64::from(u32::MAX) {
            return Err(refused(
                &self.name,
                GlbWriteError::TooLarge {
                    bytes: self.written,
                },
            ));
        }
        self.keys.push(MorphKey {
            time_secs: base.last.time_secs,
            blocks,
        });
        Ok(())
    }
}

fn refused(file: &str, error: GlbWriteError) -> IoError {
    IoError::Write {
        file: file.to_owned(),
        source: std::io::Error::other(error),
    }
}

/// The document that the file starts from.
fn document_of(character: &Character) -> Option<&Arc<SourceDocument>> {
    let document = character.document.as_ref();
    document.filter(|document| document.meshes.len() == character.meshes.len())
}

/// The document with every mesh on a separate root, and the location of its vertices.
fn stage(character: &Character) -> Result<(GlbDraft, Vec<MorphMesh>), GlbWriteError> {
    let document = document_of(character);
    let (mut draft, places, turned) = if let Some(document) = document {
        let mut draft = GlbDraft::of(document)?;
        draft.repair();
        let places = draft.relocate(&document.meshes);
        let turned = document.meshes.iter().map(|source| source.turned).collect();
        (draft, places, turned)
    } else {
        let draft = fresh::meshes_alone(character)?;
        let written = character
            .meshes
            .iter()
            .filter(|mesh| !fresh::is_empty_mesh(mesh))
            .count();
        let sources: Vec<SourcePrimitive> = (0..written)
            .map(|node| SourcePrimitive {
                node,
                primitive: 0,
                turned: false,
            })
            .collect();
        (
            draft,
            sources
                .iter()
                .map(|s| MeshLocation {
                    node: s.node,
                    mesh: s.node,
                    primitive: 0,
                })
                .collect(),
            vec![false; written],
        )
    };
    let mut parts = Vec::with_capacity(places.len());
    let mut first = 0;
    let mut placed = places.into_iter().zip(turned);
    for mesh in &character.meshes {
        let count = mesh.positions.len();
        if document.is_none() && fresh::is_empty_mesh(mesh) {
            continue;
        }
        let Some((place, turned)) = placed.next() else {
            break;
        };
        if turned {
            draft.turn(place.mesh, place.primitive, mesh);
        }
        let has_normals = draft
            .attributes(place.mesh, place.primitive)
            .is_some_and(|attributes| attributes.contains_key("NORMAL"));
        parts.push(MorphMesh {
            place,
            first,
            count,
            primitives: match document {
                Some(_) => 1,
                None => mesh.sections().count(),
            },
            has_normals: has_normals || !mesh.triangles.is_empty(),
            moves: false,
        });
        first += count;
    }
    Ok((draft, parts))
}
