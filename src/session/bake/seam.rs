//! Seams between parts of a motion that were baked apart.
//!
//! A part that starts late simulates some frames before its first one (pre-roll), beginning at rest. Its seam is measured in the last
//! frame of the pre-roll, which the part before has as its own last frame. Both start alike where the pre-roll reaches the start of the
//! motion: the distance is then exactly 0.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::io::{IoError, read_file, write_atomically};
use crate::methods::Actor;
use crate::studio::{ClipPlay, Motion, Take};

/// Ending of the files, after the name of a part without its extension.
const ENDING: &str = "seam.json";

/// Positions of the file's vertices in one frame, in its units.
type Positions = Vec<[f32; 3]>;

/// Which frames of which motion a part has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Part {
    character: String,
    method: String,
    motion: String,
    clip: Option<usize>,
    first: u32,
    last: u32,
    /// Frames that were simulated before the first one.
    pre_roll: u32,
    millimetres_per_unit: f64,
}

/// The part with the frames at its ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PartEnds {
    #[serde(flatten)]
    part: Part,
    /// In the frame before the first one, as simulated by this part.
    before: Option<Positions>,
    /// In the last frame.
    last_positions: Positions,
}

/// The seams of a motion.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Seams {
    /// Name of the character.
    pub character: String,
    /// Id of the method.
    pub method: String,
    /// Name of the clip, or what else moves.
    pub motion: String,
    /// First frame of the first part.
    pub first: u32,
    /// Last frame of the last part.
    pub last: u32,
    /// The seams in the order of frames; one less than there are parts.
    pub seams: Vec<Seam>,
}

/// Distance between two parts of a motion, in the last frame of the earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Seam {
    /// First frame of the later part.
    pub frame: u32,
    /// Frames that were simulated before it.
    pub pre_roll: u32,
    /// Largest distance of a vertex, millimetres.
    pub max_mm: f64,
    /// Root mean square over the vertices, millimetres.
    pub rms_mm: f64,
    /// The vertex with the largest distance.
    pub vertex: usize,
}

/// Why seams cannot be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SeamError {
    /// A folder or a file cannot be read.
    #[error("{file} can't be read: {source}")]
    Read {
        /// Its name.
        file: String,
        /// The reason.
        source: std::io::Error,
    },
    /// A file has something else.
    #[error("{file} is not what `bake --seam` writes: {why}")]
    Damaged {
        /// Its name.
        file: String,
        /// What is wrong.
        why: String,
    },
    /// There are no parts.
    #[error("{place} has no files *.{ENDING}; `bake --seam` writes them")]
    Nothing {
        /// Where they were looked for.
        place: String,
    },
    /// Two parts do not follow each other.
    #[error(
        "{after} starts at frame {found} and not at {expected}, after {before}: bake what is missing, or remove the files of other parts"
    )]
    Gap {
        /// The earlier part.
        before: String,
        /// The later part.
        after: String,
        /// The frame after the earlier part.
        expected: u32,
        /// First frame of the later part.
        found: u32,
    },
    /// A part began at its first frame.
    #[error("{file} was baked without a pre-roll, so its seam is not known; give --pre-roll")]
    NoPreRoll {
        /// Its name.
        file: String,
    },
    /// Two parts are of different meshes.
    #[error(
        "{after} has {found} vertices and {before} has {expected}: they are of different files"
    )]
    OtherVertices {
        /// The earlier part.
        before: String,
        /// The later part.
        after: String,
        /// Vertices of the earlier part.
        expected: usize,
        /// Vertices of the later part.
        found: usize,
    },
}

impl PartEnds {
    /// Of a bound method and the part that it will bake.
    pub(super) fn of(actor: &Actor, take: &Take) -> Self {
        let subject = actor.subject();
        let clip = match &take.motion {
            Motion::Clip(clip) | Motion::Play(ClipPlay { clip, .. }) => Some(*clip),
            Motion::Rest | Motion::Pose(_) => None,
        };
        let part = Part {
            character: subject.character.name.clone(),
            method: actor.method().to_string(),
            motion: take.motion.name(&subject.character),
            clip,
            first: take.first_frame(),
            last: take.last_frame(),
            pre_roll: (take.steps(true).filter(|step| !step.is_wanted)).count() as u32,
            millimetres_per_unit: subject.metres_per_unit() * 1e3,
        };
        Self {
            part,
            before: None,
            last_positions: Vec::new(),
        }
    }

    /// Keeps the frame before the first one.
    pub(super) fn before(&mut self, actor: &Actor) {
        self.before = Some(positions(actor));
    }

    /// Writes the file of a part whose last frame was just played.
    pub(super) fn write(mut self, actor: &Actor, path: &Path) -> Result<PathBuf, IoError> {
        self.last_positions = positions(actor);
        let file = path.with_extension(ENDING);
        write_atomically(&file, |out| {
            serde_json::to_writer(out, &self).map_err(Into::into)
        })?;
        Ok(file)
    }
}

fn positions(actor: &Actor) -> Positions {
    let character = &actor.subject().character;
    let points = character.at_file_vertices(actor.positions());
    points.iter().map(|point| point.coords.into()).collect()
}

/// Measures the seams between parts that [`super::bake`] wrote with [`super::BakeSettings::seam`]. Of a folder in `places` all files
/// `*.seam.json` are read. Memory holds two parts at a time.
///
/// # Errors
/// [`SeamError`], the first one that occurs.
pub fn measure_seams(places: &[PathBuf]) -> Result<Vec<Seams>, SeamError> {
    let mut parts: Vec<(PathBuf, Part)> = Vec::new();
    for file in files_of(places)? {
        let part = read::<Part>(&file)?;
        parts.push((file, part));
    }
    let motion_of = |part: &Part| {
        let (character, method) = (part.character.clone(), part.method.clone());
        (character, method, part.clip, part.motion.clone())
    };
    parts.sort_by_key(|(_, part)| (motion_of(part), part.first));
    let motions = parts.chunk_by(|(_, a), (_, b)| motion_of(a) == motion_of(b));
    motions.map(seams_of).collect()
}

/// The seams of the parts of one motion, in the order of frames.
fn seams_of(parts: &[(PathBuf, Part)]) -> Result<Seams, SeamError> {
    let (Some((_, first)), Some((_, last))) = (parts.first(), parts.last()) else {
        unreachable!("a motion has parts");
    };
    let mut seams = Vec::new();
    let mut earlier: Option<PartEnds> = None;
    for pair in parts.windows(2) {
        let [(before_file, before), (after_file, after)] = pair else {
            continue;
        };
        let (before_name, after_name) = (shown(before_file), shown(after_file));
        if before.last.checked_add(1) != Some(after.first) {
            return Err(SeamError::Gap {
                before: before_name,
                after: after_name,
                expected: before.last.saturating_add(1),
                found: after.first,
            });
        }
        let ends = match earlier.take() {
            Some(ends) => ends,
            None => read::<PartEnds>(before_file)?,
        };
        let later = read::<PartEnds>(after_file)?;
        let Some(simulated) = &later.before else {
            return Err(SeamError::NoPreRoll { file: after_name });
        };
        let expected = &ends.last_positions;
        if simulated.len() != expected.len() {
            return Err(SeamError::OtherVertices {
                before: before_name,
                after: after_name,
                expected: expected.len(),
                found: simulated.len(),
            });
        }
        let seam = seam(after, expected, simulated);
        if !seam.rms_mm.is_finite() {
            let why = "a position is not a finite number, here or in the file before".to_owned();
            return Err(SeamError::Damaged {
                file: after_name,
                why,
            });
        }
        seams.push(seam);
        earlier = Some(later);
    }
    Ok(Seams {
        character: first.character.clone(),
        method: first.method.clone(),
        motion: first.motion.clone(),
        first: first.first,
        last: last.last,
        seams,
    })
}

fn seam(part: &Part, expected: &Positions, simulated: &Positions) -> Seam {
    let squared = |(a, b): (&[f32; 3], &[f32; 3])| -> f64 {
        let offsets = a.iter().zip(b).map(|(a, b)| f64::from(*a) - f64::from(*b));
        offsets.map(|offset| offset * offset).sum()
    };
    let (mut sum, mut most, mut vertex) = (0.0, 0.0, 0);
    for (index, pair) in expected.iter().zip(simulated).enumerate() {
        let squared = squared(pair);
        sum += squared;
        if squared > most {
            (most, vertex) = (squared, index);
        }
    }
    Seam {
        frame: part.first,
        pre_roll: part.pre_roll,
        max_mm: most.sqrt() * part.millimetres_per_unit,
        rms_mm: (sum / expected.len().max(1) as f64).sqrt() * part.millimetres_per_unit,
        vertex,
    }
}

/// The files of parts, those of folders in the order of their names.
fn files_of(places: &[PathBuf]) -> Result<Vec<PathBuf>, SeamError> {
    let mut files = Vec::new();
    for place in places {
        if !place.is_dir() {
            files.push(place.clone());
            continue;
        }
        let failed = |source| SeamError::Read {
            file: shown(place),
            source,
        };
        let entries = std::fs::read_dir(place).map_err(failed)?;
        let paths = entries.map(|entry| entry.map(|entry| entry.path()));
        let paths: Vec<PathBuf> = paths.collect::<Result<_, _>>().map_err(failed)?;
        let is_part = |path: &PathBuf| path.to_string_lossy().ends_with(&format!(".{ENDING}"));
        let mut found: Vec<PathBuf> = paths.into_iter().filter(is_part).collect();
        if found.is_empty() {
            return Err(SeamError::Nothing {
                place: shown(place),
            });
        }
        found.sort();
        files.append(&mut found);
    }
    Ok(files)
}

fn read<T: serde::de::DeserializeOwned>(file: &Path) -> Result<T, SeamError> {
    let bytes = read_file(file).map_err(|source| SeamError::Read {
        file: shown(file),
        source,
    })?;
    serde_json::from_slice(&bytes).map_err(|error| SeamError::Damaged {
        file: shown(file),
        why: error.to_string(),
    })
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
