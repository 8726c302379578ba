//! Baking: a take written to files.
//!
//! | extension | what is written                                                                                              |
//! |-----------|--------------------------------------------------------------------------------------------------------------|
//! | `.glb`    | one file: the character's own glTF document with morph targets and the animation that drives them             |
//! | `.pc2`    | a point cache of all frames (Blender: Mesh Cache, Maya, 3ds Max), of several meshes `NAME/MESH.pc2` each       |
//! | `.mdd`    | the same for `LightWave`, Blender, Modo, Houdini                                                              |
//! | `.obj`    | one frame: `NAME.obj`; several: `NAME.0000.obj`, `NAME.0001.obj`, … by frame number                           |
//! | `.ply`    | the same as PLY                                                                                              |
//! | `.usda`, `.usdc` | USD meshes with points and normals at all frames                                                       |
//! | `.npz`    | arrays for `NumPy`: positions and normals of all frames, faces, weights, joints and their transforms             |
//! | `.json`   | `{"frames": [[[x, y, z], …], …]}`, one list of positions a frame                                                 |
//!
//! Positions are in the source file's world space, units and axes, in the file's vertex order and count; but `.glb` is in metres
//! unless [`BakeSettings::keep_units`] is set, and `.ply` has further vertices at seams of the texture. Apart from a take there
//! are [`write_rig`], for the character with skin weights and clips as glTF, [`write_motion`], for the motion alone as `.bvh`, and
//! [`write_last_pose`].

mod seam;
mod sink;

use std::path::{Path, PathBuf};

pub use self::seam::{Seam, SeamError, Seams, measure_seams};

use self::seam::PartEnds;
use self::sink::Sink;
use crate::character::Character;
use crate::io::{
    IoError, UsdFormat, write_atomically, write_bvh_poses, write_refitted_glb, write_refitted_usd,
};
use crate::math::Affine;
use crate::methods::{Actor, Projective, Subject};
use crate::progress::Progress;
use crate::rig::motion_range;
use crate::studio::{ClipPlay, DEFAULT_FPS, Motion, PlayError, Take};
use crate::weights::RefitReport;

/// Output format of a bake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BakeFormat {
    /// Binary glTF with morph targets, one file.
    Glb,
    /// Wavefront OBJ, one file a frame.
    Obj,
    /// Stanford PLY, one file a frame.
    Ply,
    /// Point cache 2, one file.
    Pc2,
    /// `LightWave` point cache, one file.
    Mdd,
    /// JSON, one file.
    Json,
    /// Arrays of `NumPy`, one file.
    Npz,
    /// USD, binary or text, one file.
    Usd(UsdFormat),
}

impl BakeFormat {
    /// The format that a file's extension stands for.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "glb" => Some(Self::Glb),
            "obj" => Some(Self::Obj),
            "ply" => Some(Self::Ply),
            "pc2" => Some(Self::Pc2),
            "mdd" => Some(Self::Mdd),
            "json" => Some(Self::Json),
            "npz" => Some(Self::Npz),
            _ => UsdFormat::of_path(path).map(Self::Usd),
        }
    }

    /// Bytes per frame: exact for point caches, approximate for text, and an upper bound for glTF,
    /// which leaves out unmoved vertices and frames that interpolation reproduces.
    #[must_use]
    pub fn bytes_of_frame(self, character: &Character) -> u64 {
        let (vertices, triangles) = (
            character.source_vertices() as u64,
            character.source_triangles() as u64,
        );
        match self {
            Self::Pc2 | Self::Mdd => vertices * 12,
            Self::Glb | Self::Npz | Self::Usd(UsdFormat::Binary) => vertices * 24,
            Self::Usd(UsdFormat::Text) => vertices * 72,
            Self::Ply => vertices * 32 + triangles * 13,
            Self::Json => vertices * 36,
            Self::Obj => vertices * 90 + triangles * 50,
        }
    }
}

/// Options of a bake.
#[derive(Debug, Clone, PartialEq)]
pub struct BakeSettings {
    /// Output format.
    pub format: BakeFormat,
    /// Write every n-th frame, from the first; `.glb` also gets the last one.
    pub every: u32,
    /// For `.glb`: tolerance of the interpolated positions between key frames, relative to the character's size.
    pub tolerance: f32,
    /// For `.glb`: write the file's units instead of metres.
    pub keep_units: bool,
    /// For point caches: write one file, whatever the number of meshes.
    pub one_cache: bool,
    /// Also write what [`measure_seams`] needs of a part of a motion, as `NAME.seam.json`.
    pub seam: bool,
}

impl BakeSettings {
    /// A tenth of a pixel in a picture of 1000 pixels.
    pub const DEFAULT_TOLERANCE: f32 = 1e-5;

    /// Writes every frame.
    #[must_use]
    pub fn of(format: BakeFormat) -> Self {
        Self {
            format,
            every: 1,
            tolerance: Self::DEFAULT_TOLERANCE,
            keep_units: false,
            one_cache: false,
            seam: false,
        }
    }

    /// Whether a frame of a take is written.
    fn wants(&self, take: &Take, frame: u32) -> bool {
        let last = self.format == BakeFormat::Glb && frame == take.last_frame();
        last || (frame - take.first_frame()).is_multiple_of(self.every.max(1))
    }

    /// The frames of a take that are written.
    fn frames<'a>(&'a self, take: &'a Take) -> impl Iterator<Item = u32> + 'a {
        (take.first_frame()..=take.last_frame()).filter(|&frame| self.wants(take, frame))
    }

    /// Approximate size of a baked take in bytes ([`BakeFormat::bytes_of_frame`]).
    #[must_use]
    pub fn estimated_bytes(&self, character: &Character, take: &Take) -> u64 {
        self.format
            .bytes_of_frame(character)
            .saturating_mul(self.frames(take).count() as u64)
    }
}

/// Result of a bake.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Baked {
    /// Files written, in order.
    pub files: Vec<PathBuf>,
    /// Frames written.
    pub frames: usize,
    /// For `.glb`: morph targets per mesh.
    pub morph_targets: Option<usize>,
    /// Largest distance of a vertex from its bind position, world units.
    pub max_displacement: f32,
    /// Time of the method for all frames, milliseconds.
    pub method_ms: f64,
    /// Self-contact of the skin in the last frame.
    pub contact: ContactSummary,
}

/// Self-contact of a skin.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct ContactSummary {
    /// Vertex-triangle pairs in contact; 0 for methods without contacts.
    pub contacts: usize,
    /// Vertices inside another part of the skin, for simulated methods.
    pub vertices_inside: Option<usize>,
    /// Largest penetration depth, world units…
    pub deepest_penetration: Option<f32>,
    /// …and in mean edge lengths.
    pub deepest_penetration_edges: Option<f32>,
}

impl ContactSummary {
    /// Measures the present frame of an actor.
    #[must_use]
    pub fn of(actor: &Actor) -> Self {
        let projective = actor.projective();
        let penetration = projective.and_then(Projective::penetration);
        Self {
            contacts: projective
                .and_then(|p| p.simulation().contacts())
                .map_or(0, |contacts| contacts.report().pressing),
            vertices_inside: penetration.map(|p| p.vertices),
            deepest_penetration: penetration.map(|p| p.deepest),
            deepest_penetration_edges: penetration.map(|p| p.deepest_edges),
        }
    }
}

/// Plays a take and writes it.
///
/// # Errors
/// [`PlayError`]. A file that could not be completed is removed.
pub fn bake(
    actor: &mut Actor,
    take: &Take,
    path: &Path,
    settings: &BakeSettings,
    progress: &Progress,
) -> Result<Baked, PlayError<IoError>> {
    let bind = actor.subject().bind_positions.clone();
    let mut baked = Baked::default();
    let mut sink = Sink::open(actor, take, path, settings).map_err(PlayError::Receiver)?;
    let mut ends = settings.seam.then(|| PartEnds::of(actor, take));
    let with_frame_before = take.with_frame_before().filter(|_| settings.seam);
    let played = with_frame_before.as_ref().unwrap_or(take);
    played.play(actor, progress, |frame, actor| {
        if frame < take.first_frame() {
            check_finite(path, frame, actor)?;
            if let Some(ends) = &mut ends {
                ends.before(actor);
            }
            return Ok(());
        }
        let distances = actor
            .positions()
            .iter()
            .zip(&*bind)
            .map(|(now, then)| (now - then).norm());
        baked.max_displacement = distances.fold(baked.max_displacement, f32::max);
        baked.method_ms += actor.times().total_ms;
        if !settings.wants(take, frame) {
            return Ok(());
        }
        baked.frames += 1;
        check_finite(path, frame, actor)?;
        sink.frame(frame, take.time_of(frame), actor)
    })?;
    baked.contact = ContactSummary::of(actor);
    sink.finish(&mut baked, actor.subject())
        .map_err(PlayError::Receiver)?;
    if let Some(ends) = ends {
        let file = ends.write(actor, path).map_err(PlayError::Receiver)?;
        baked.files.push(file);
    }
    Ok(baked)
}

/// Coordinates above this are as useless as infinite ones: their squares overflow `f32`.
const LARGEST: f32 = 1e15;

/// Refuses a frame that other programs could not read.
fn check_finite(path: &Path, frame: u32, actor: &Actor) -> Result<(), IoError> {
    let wrong = |what: &str, vertex: usize| {
        let text = format!(
            "in frame {frame}, vertex {vertex} has no finite {what}; check the clip and the transforms of the joints, or choose other frames"
        );
        Err(IoError::Write {
            file: path.display().to_string(),
            source: std::io::Error::other(text),
        })
    };
    let is_sane = |values: [f32; 3]| values.iter().all(|value| value.abs() < LARGEST);
    let mut positions = actor.positions().iter();
    if let Some(vertex) = positions.position(|point| !is_sane(point.coords.into())) {
        return wrong("position", vertex);
    }
    let mut normals = actor.normals().iter();
    if let Some(vertex) = normals.position(|normal| !is_sane((*normal).into())) {
        return wrong("normal", vertex);
    }
    Ok(())
}

/// Writes the character with its skeleton, skin weights and clips as `.glb`, or as USD by the extension, with at most `influences` joints a vertex, in metres or
/// in the character's units. Vertices that lose joints are fitted to the clips, or to the range of motion where there are none; returns what
/// is lost there, in millimetres.
///
/// # Errors
/// [`IoError::Write`]. A file that could not be completed is removed.
pub fn write_rig(
    subject: &Subject,
    path: &Path,
    influences: usize,
    keep_units: bool,
) -> Result<WrittenRig, IoError> {
    // The user's settings of bones are exported too.
    let mut character = Character {
        flesh: (*subject.settings).clone(),
        ..(*subject.character).clone()
    };
    let usd = UsdFormat::of_path(path);
    // USD says its unit, so lengths stay.
    if keep_units && usd.is_none() {
        character.declared_metres_per_unit = Some(1.0);
    }
    let (poses, over) = poses_of_rig(&character);
    let in_millimetres = subject.metres_per_unit() * 1e3;
    if let Some(format) = usd {
        let weights = subject.mesh_weights();
        let (files, report) =
            write_refitted_usd(path, format, &character, weights, influences, &poses)?;
        return Ok(WrittenRig {
            files,
            report: RigReport {
                fit: report.in_units(in_millimetres),
                over,
            },
        });
    }
    let written = write_refitted_glb(&character, subject.mesh_weights(), influences, &poses);
    let refused = |error| IoError::Write {
        file: path.display().to_string(),
        source: std::io::Error::other(error),
    };
    let (bytes, report) = written.map_err(refused)?;
    write_atomically(path, |out| std::io::Write::write_all(out, &bytes))?;
    Ok(WrittenRig {
        files: vec![path.to_owned()],
        report: RigReport {
            fit: report.in_units(in_millimetres),
            over,
        },
    })
}

/// Result of [`write_rig`].
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenRig {
    /// The file, and textures beside it.
    pub files: Vec<PathBuf>,
    /// What was lost.
    pub report: RigReport,
}

/// Number of poses that weights are fitted to.
const FITTED_POSES: usize = 60;

/// What a written rig lost with the joints that it has too many.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct RigReport {
    /// Numbers of vertices, and distances in millimetres.
    #[serde(flatten)]
    pub fit: RefitReport,
    /// The poses, in words.
    pub over: &'static str,
}

/// World transforms of all joints at moments of all clips, evenly spread; without clips that move, in the range of motion. And what they
/// are, in words.
fn poses_of_rig(character: &Character) -> (Vec<Vec<Affine>>, &'static str) {
    let poses = poses_of_clips(character);
    if poses.iter().any(|pose| *pose != poses[0]) {
        return (poses, "the clips");
    }
    let skeleton = &character.skeleton;
    let range = motion_range(skeleton);
    let step = range.len().div_ceil(FITTED_POSES).max(1);
    let poses = (range.iter().step_by(step))
        .map(|range| skeleton.world_from_joint(&range.pose))
        .collect();
    (poses, "a range of motion")
}

fn poses_of_clips(character: &Character) -> Vec<Vec<Affine>> {
    let (skeleton, clips) = (&character.skeleton, &character.clips);
    let whole_secs: f64 = clips.iter().map(|clip| clip.duration_secs).sum();
    let moments = |clip: &crate::rig::Clip| {
        let share = clip.duration_secs / whole_secs.max(f64::MIN_POSITIVE);
        let count = (share * FITTED_POSES as f64).ceil().max(1.0) as usize;
        let step_secs = clip.duration_secs / count as f64;
        let at = move |moment: usize| (moment as f64 + 0.5) * step_secs;
        let poses = (0..count).map(|moment| clip.sample(skeleton, at(moment)));
        poses
            .map(|pose| skeleton.world_from_joint(&pose))
            .collect::<Vec<_>>()
    };
    clips.iter().flat_map(moments).collect()
}

/// Writes the motion of a take as `.bvh`: the skeleton in the pose of every frame, or of every `every`-th.
///
/// # Errors
/// [`IoError`]. A file that could not be completed is removed.
pub fn write_motion(
    character: &Character,
    take: &Take,
    every: u32,
    path: &Path,
) -> Result<(), IoError> {
    if character.skeleton.is_empty() {
        let source = std::io::Error::other(
            "there is no skeleton, so there is no motion; give one as .skel or as a rigged .glb",
        );
        return Err(IoError::Write {
            file: path.display().to_string(),
            source,
        });
    }
    let every = every.max(1);
    let frames = (take.first_frame()..=take.last_frame()).step_by(every as usize);
    let poses = frames.map(|frame| take.motion.pose_at(character, take.time_of(frame)));
    let fps = take.fps().unwrap_or(DEFAULT_FPS);
    write_bvh_poses(path, &character.skeleton, poses, f64::from(every) / fps)
}

/// Writes the pose of the last frame of a take as JSON.
///
/// # Errors
/// [`IoError::Write`].
pub fn write_last_pose(character: &Character, take: &Take, path: &Path) -> Result<(), IoError> {
    let pose = take
        .motion
        .pose_at(character, take.time_of(take.last_frame()));
    crate::io::write_pose(path, &character.pose_to_file(&pose))
}

impl Motion {
    /// Name of the animation in the file.
    fn name(&self, character: &Character) -> String {
        match self {
            Self::Rest => "rest".to_owned(),
            Self::Pose(_) => "pose".to_owned(),
            Self::Clip(clip) | Self::Play(ClipPlay { clip, .. }) => character
                .clips
                .get(*clip)
                .map_or_else(|| "clip".to_owned(), |clip| clip.name.clone()),
        }
    }
}

/// Note for a rig whose file had to be written without the original document.
pub const MATERIALS_LOST: &str = "Because props are attached to edited joints, only colours, textures and transparency of the \
    materials are in it; metal, roughness, normal maps and cameras of the original file are not.";
