//! Baking: a take written to files.
//!
//! | extension | what is written                                                                                              |
//! |-----------|--------------------------------------------------------------------------------------------------------------|
//! | `.obj`    | one frame: `NAME.obj`; several: `NAME.0000.obj`, `NAME.0001.obj`, … by frame number                           |
//! | `.pc2`    | all frames in one point cache (Blender: Mesh Cache, Maya, 3ds Max)                                            |
//! | `.json`   | `{"fps", "vertices", "frames": [{"frame", "time_secs", "positions": [[x, y, z], …]}]}`                        |
//!
//! Positions are in the source file's world space, units and axes, in the source's vertex order and count.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::motion::{Moments, PlayError, Take};
use super::output::{AtomicFile, WriteError, write_file};
use crate::progress::Progress;
use crate::skin::Actor;

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
}

/// `NAME.0007.obj` for frame 7 of `NAME.obj`.
#[must_use]
pub fn numbered(path: &Path, frame: u32) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}.{frame:04}.{extension}"))
}

/// Plays a take and writes every frame.
///
/// # Errors
/// [`PlayError`]; a file that could not be finished is not there at all.
pub fn bake(actor: &mut Actor, take: &Take, path: &Path, format: BakeFormat, progress: &Progress) -> Result<Baked, PlayError<WriteError>> {
    let bind = actor.subject().character.bind_positions();
    let mut baked = Baked::default();
    let mut sink = Sink::open(actor, take, path, format).map_err(PlayError::Receiver)?;
    take.play(actor, progress, |frame, actor| {
        let distances = actor.positions().iter().zip(&bind).map(|(now, then)| (now - then).norm());
        baked.max_displacement = distances.fold(baked.max_displacement, f32::max);
        baked.method_ms += actor.times().total_ms;
        sink.frame(frame, take, actor)
    })?;
    baked.files = sink.finish().map_err(PlayError::Receiver)?;
    Ok(baked)
}

/// Where frames go.
enum Sink {
    Obj { path: PathBuf, many: bool, files: Vec<PathBuf> },
    Stream { path: PathBuf, file: AtomicFile, format: BakeFormat, first: bool },
}

impl Sink {
    fn open(actor: &Actor, take: &Take, path: &Path, format: BakeFormat) -> Result<Self, WriteError> {
        if format == BakeFormat::Obj {
            return Ok(Self::Obj { path: path.into(), many: take.frame_count() > 1, files: Vec::new() });
        }
        let mut file = AtomicFile::create(path)?;
        let vertices = actor.positions().len();
        let fps = match take.moments {
            Moments::Frames { fps, .. } => fps,
            Moments::Settled { .. } => super::DEFAULT_FPS,
        };
        file.write_with(|out| match format {
            BakeFormat::Json => write!(out, "{{\"fps\":{fps},\"vertices\":{vertices},\"frames\":["),
            _ => write_pc2_header(out, vertices, take),
        })?;
        Ok(Self::Stream { path: path.into(), file, format, first: true })
    }

    fn frame(&mut self, frame: u32, take: &Take, actor: &Actor) -> Result<(), WriteError> {
        match self {
            Self::Obj { path, many, files } => {
                let path = if *many { numbered(path, frame) } else { path.clone() };
                write_file(&path, |out| write_obj(out, actor))?;
                files.push(path);
                Ok(())
            }
            Self::Stream { file, format, first, .. } => {
                let comma = if std::mem::take(first) { "" } else { "," };
                let time = take.time_of(frame);
                file.write_with(|out| match format {
                    BakeFormat::Json => {
                        write!(out, "{comma}\n{{\"frame\":{frame},\"time_secs\":{time},\"positions\":")?;
                        let positions: Vec<[f32; 3]> = actor.positions().iter().map(|p| p.coords.into()).collect();
                        serde_json::to_writer(&mut *out, &positions)?;
                        write!(out, "}}")
                    }
                    _ => out.write_all(bytemuck::cast_slice(actor.positions())),
                })
            }
        }
    }

    fn finish(self) -> Result<Vec<PathBuf>, WriteError> {
        match self {
            Self::Obj { files, .. } => Ok(files),
            Self::Stream { path, mut file, format, .. } => {
                if format == BakeFormat::Json {
                    file.write_with(|out| writeln!(out, "\n]}}"))?;
                }
                file.commit()?;
                Ok(vec![path])
            }
        }
    }
}

/// Point cache 2: "POINTCACHE2\0", version, vertices, first frame, frames per sample, samples; little endian throughout.
fn write_pc2_header(out: &mut dyn Write, vertices: usize, take: &Take) -> io::Result<()> {
    let first = match take.moments {
        Moments::Frames { first, .. } => first,
        Moments::Settled { .. } => 0,
    };
    out.write_all(b"POINTCACHE2\0")?;
    out.write_all(&1_i32.to_le_bytes())?;
    out.write_all(&(vertices as u32).to_le_bytes())?;
    out.write_all(&(first as f32).to_le_bytes())?;
    out.write_all(&1.0_f32.to_le_bytes())?;
    out.write_all(&(take.frame_count() as u32).to_le_bytes())
}

/// All source meshes as objects of one file, vertices and corners in the source's order.
fn write_obj(out: &mut dyn Write, actor: &Actor) -> io::Result<()> {
    for (position, normal) in actor.positions().iter().zip(actor.normals()) {
        writeln!(out, "v {} {} {}\nvn {} {} {}", position.x, position.y, position.z, normal.x, normal.y, normal.z)?;
    }
    let mut offset = 1;
    for mesh in &actor.subject().character.meshes {
        writeln!(out, "o {}", mesh.name.replace(char::is_whitespace, "_"))?;
        for triangle in &mesh.triangles {
            let [a, b, c] = triangle.map(|v| v as usize + offset);
            writeln!(out, "f {a}//{a} {b}//{b} {c}//{c}")?;
        }
        offset += mesh.positions.len();
    }
    Ok(())
}
