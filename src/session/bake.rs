//! Baking: a take written to files.
//!
//! | extension | what is written                                                                                              |
//! |-----------|--------------------------------------------------------------------------------------------------------------|
//! | `.obj`    | one frame: `NAME.obj`; several: `NAME.0000.obj`, `NAME.0001.obj`, … by frame number                           |
//! | `.pc2`    | all frames in one point cache (Blender: Mesh Cache, Maya, 3ds Max)                                            |
//! | `.json`   | `{"frames": [[[x, y, z], …], …]}`, one list of positions a frame                                                 |
//!
//! Positions are in the source file's world space, units and axes, in the source's vertex order and count.

use std::path::{Path, PathBuf};

use super::motion::{Moments, PlayError, Take};
use crate::collision::self_intersections;
use crate::io::{FrameNames, IoError, JsonPositions, PointCache, write_obj};
use crate::progress::Progress;
use crate::skin::{Actor, Projective};

/// What a bake can be written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BakeFormat {
    /// Wavefront OBJ, one file a frame.
    Obj,
    /// Point cache 2, one file.
    Pc2,
    /// JSON, one file.
    Json,
}

impl BakeFormat {
    /// By the extension of the output file.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "obj" => Some(Self::Obj),
            "pc2" => Some(Self::Pc2),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}

/// What came out of a bake.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Baked {
    /// Files written, in order.
    pub files: Vec<PathBuf>,
    /// Largest distance of a vertex from its place in the bind pose, in world units.
    pub max_displacement: f32,
    /// Milliseconds that the method needed for all frames.
    pub method_ms: f64,
    /// How the skin touches itself in the last frame.
    pub contact: ContactSummary,
}

/// How a skin touches itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct ContactSummary {
    /// Pairs of a vertex and a triangle that press on each other; 0 for methods without contacts.
    pub contacts: usize,
    /// Vertices inside another part, for simulated methods.
    pub vertices_inside: Option<usize>,
    /// Depth of the deepest, in world units…
    pub deepest_penetration: Option<f32>,
    /// …and in mean edge lengths.
    pub deepest_penetration_edges: Option<f32>,
    /// Pairs of skin triangles that cut through each other in the bind pose…
    pub self_intersections_before: usize,
    /// …and in the last frame.
    pub self_intersections_after: usize,
}

impl ContactSummary {
    /// Looks at the present frame of an actor.
    #[must_use]
    pub fn of(actor: &Actor) -> Self {
        let subject = actor.subject();
        let skin = &subject.skin;
        let mut now = skin.mesh.positions.clone();
        for (position, vertex) in actor.positions().iter().zip(&skin.skin_from_source) {
            if let Some(vertex) = vertex {
                now[*vertex as usize] = *position;
            }
        }
        let projective = actor.projective();
        let penetration = projective.and_then(Projective::penetration);
        Self {
            contacts: projective.and_then(|p| p.simulation().contacts()).map_or(0, |contacts| contacts.report().pressing),
            vertices_inside: penetration.map(|p| p.vertices),
            deepest_penetration: penetration.map(|p| p.deepest),
            deepest_penetration_edges: penetration.map(|p| p.deepest_edges),
            self_intersections_before: self_intersections(&skin.mesh.positions, &skin.mesh.triangles).pairs,
            self_intersections_after: self_intersections(&now, &skin.mesh.triangles).pairs,
        }
    }
}

/// Plays a take and writes every frame.
///
/// # Errors
/// [`PlayError`]; a file that could not be finished is not there at all.
pub fn bake(actor: &mut Actor, take: &Take, path: &Path, format: BakeFormat, progress: &Progress) -> Result<Baked, PlayError<IoError>> {
    let bind = actor.subject().bind_positions.clone();
    let mut baked = Baked::default();
    let mut sink = Sink::open(actor, take, path, format).map_err(PlayError::Receiver)?;
    take.play(actor, progress, |frame, actor| {
        let distances = actor.positions().iter().zip(&*bind).map(|(now, then)| (now - then).norm());
        baked.max_displacement = distances.fold(baked.max_displacement, f32::max);
        baked.method_ms += actor.times().total_ms;
        sink.frame(frame, actor)
    })?;
    baked.contact = ContactSummary::of(actor);
    baked.files = sink.finish().map_err(PlayError::Receiver)?;
    Ok(baked)
}

/// Where frames go.
enum Sink {
    Obj { path: PathBuf, names: Option<FrameNames>, files: Vec<PathBuf> },
    Pc2 { path: PathBuf, cache: PointCache },
    Json { path: PathBuf, positions: JsonPositions },
}

impl Sink {
    fn open(actor: &Actor, take: &Take, path: &Path, format: BakeFormat) -> Result<Self, IoError> {
        let (first, last) = match take.moments {
            Moments::Frames { first, last, .. } => (first, last),
            Moments::Settled { .. } => (0, 0),
        };
        let path = path.to_path_buf();
        Ok(match format {
            BakeFormat::Obj => {
                let names = (last > first).then(|| FrameNames::new(&path, last as usize));
                Self::Obj { path, names, files: Vec::new() }
            }
            BakeFormat::Pc2 => Self::Pc2 { cache: PointCache::create(&path, actor.positions().len(), first as f32)?, path },
            BakeFormat::Json => Self::Json { positions: JsonPositions::create(&path)?, path },
        })
    }

    fn frame(&mut self, frame: u32, actor: &Actor) -> Result<(), IoError> {
        match self {
            Self::Obj { path, names, files } => {
                let path = names.as_ref().map_or_else(|| path.clone(), |names| names.path(frame as usize));
                write_obj(&path, &actor.subject().character, actor.positions(), actor.normals())?;
                files.push(path);
                Ok(())
            }
            Self::Pc2 { cache, .. } => cache.frame(actor.positions()),
            Self::Json { positions, .. } => positions.frame(actor.positions()),
        }
    }

    fn finish(self) -> Result<Vec<PathBuf>, IoError> {
        match self {
            Self::Obj { files, .. } => Ok(files),
            Self::Pc2 { path, cache } => cache.finish().map(|()| vec![path]),
            Self::Json { path, positions } => positions.finish().map(|()| vec![path]),
        }
    }
}
