//! Draws a frozen view on a separate device, frame after frame.

use std::sync::Arc;

use image::RgbaImage;

use super::job::{CaptureResult, CaptureTarget};
use super::{CaptureError, color_image};
use crate::app::settings::capture::CaptureKind;
use crate::app::settings::capture::CaptureSettings;
use crate::character::FleshSettings;
use crate::dynamics::Params;
use crate::gpu::{GpuContext, GpuError, read_rgba};
use crate::io::{AnimationWriter, write_atomically};
use crate::math::Affine;
use crate::methods::{Actor, MethodValues, Subject};
use crate::progress::Progress;
use crate::render::{Backdrop, Camera, Legend, Look, PositionMark};
use crate::rig::Clip;
use crate::studio::painter::{Comparison, Picture};
use crate::studio::{
    ClipPlay, Compare, Drawing, GhostMaker, GhostSkins, Moments, Motion, PlayError, Snapshot, Take,
};
use crate::weights::WeightMethod;

/// The only canvas used here.
const CANVAS: u32 = 0;
/// A simulated loop starts this long before the recorded round, so that its seam is not visible.
const RUN_UP_SECS: f64 = 2.0;

/// The frozen state of a view: everything needed to draw it elsewhere or at another time.
#[derive(Clone)]
pub struct Shot {
    /// Name of the character.
    pub name: String,
    /// The state of the view's method.
    pub snapshot: Arc<Snapshot>,
    /// The state of the method it is compared with, and how.
    pub compare: Option<(Arc<Snapshot>, Compare)>,
    /// The camera.
    pub camera: Camera,
    /// Look of the view.
    pub look: Look,
    /// The selected joints.
    pub selected: Vec<usize>,
    /// Positions of the check-up's findings.
    pub marks: Option<Arc<[PositionMark]>>,
    /// Skins at other moments.
    pub ghosts: Option<Arc<GhostSkins>>,
    /// Weight method, for skins at further moments.
    pub weights: WeightMethod,
    /// Settings of the flesh, which may be newer than the character's.
    pub flesh: FleshSettings,
    /// Height of the floor.
    pub ground_height: f32,
    /// Diagonal of the character's bounding box.
    pub character_size: f32,
    /// Size of the view in pixels.
    pub view_size: [u32; 2],
    /// Pixels per point of the view.
    pub scale: f32,
    /// Physical and methods' parameters, for simulated clips: its own, and those of the comparison.
    pub settings: [(Params, MethodValues); 2],
    /// Names of what is shown, and of what it is compared with.
    pub labels: [Option<String>; 2],
    /// The clip being shown.
    pub clip: Option<ClipShot>,
}

/// A clip and its playback settings.
#[derive(Debug, Clone)]
pub struct ClipShot {
    /// The clip.
    pub clip: Clip,
    /// Range, speed and seams; the number of rounds is ignored.
    pub play: ClipPlay,
    /// Whether it is played as a loop.
    pub looping: bool,
}

impl ClipShot {
    /// Duration of one round.
    #[must_use]
    pub fn round_secs(&self) -> f64 {
        ClipPlay {
            loops: 1,
            ..self.play.clone()
        }
        .duration_secs(&self.clip)
    }

    /// The character with this clip as its only one.
    fn on(&self, subject: &Subject) -> Arc<Subject> {
        let mut character = (*subject.character).clone();
        character.clips = vec![self.clip.clone()];
        Arc::new(subject.with_clips(Arc::new(character)))
    }

    /// The frames of one round, for a character with this clip as its only one. Of a loop the second round is taken, which starts in motion.
    fn take(&self, fps: f64, frames: usize) -> Take {
        let start_secs = if self.looping { self.round_secs() } else { 0.0 };
        Take {
            motion: Motion::Play(ClipPlay {
                clip: 0,
                loops: if self.looping { 2 } else { 1 },
                ..self.play.clone()
            }),
            moments: Moments::From {
                start_secs,
                run_up: (RUN_UP_SECS.min(start_secs) * fps).floor() as u32,
                frames: frames as u32,
                fps,
            },
        }
    }
}

/// Draws a shot on a separate device.
struct Studio<'a> {
    shot: &'a Shot,
    look: Look,
    size: [u32; 2],
    scale: f32,
    drawing: Drawing,
}

impl<'a> Studio<'a> {
    fn new(shot: &'a Shot, settings: &CaptureSettings) -> Result<Self, CaptureError> {
        Self::on(&GpuContext::headless()?, shot, settings)
    }

    fn on(
        gpu: &GpuContext,
        shot: &'a Shot,
        settings: &CaptureSettings,
    ) -> Result<Self, CaptureError> {
        let size = settings.size;
        gpu.check_size(size[0], size[1])?;
        let mut look = shot.look;
        if settings.transparent {
            (look.backdrop, look.ground) = (Backdrop::Transparent, false);
        }
        let growth = size[1] as f32 / shot.view_size[1].max(1) as f32;
        Ok(Self {
            shot,
            look,
            size,
            scale: (shot.scale * growth).clamp(0.5, 6.0),
            drawing: Drawing::new(gpu),
        })
    }

    fn picture(
        &mut self,
        camera: &Camera,
        snapshot: &Arc<Snapshot>,
        other: Option<&Arc<Snapshot>>,
        ghosts: Option<&Arc<GhostSkins>>,
    ) -> Result<RgbaImage, CaptureError> {
        self.draw(camera, snapshot, other, ghosts, Drawing::with_legends)
    }

    /// Draws a picture of a state in some way.
    fn draw<T>(
        &mut self,
        camera: &Camera,
        snapshot: &Arc<Snapshot>,
        other: Option<&Arc<Snapshot>>,
        ghosts: Option<&Arc<GhostSkins>>,
        way: impl FnOnce(&mut Drawing, &Picture<'_>) -> Result<T, GpuError>,
    ) -> Result<T, CaptureError> {
        let how = self.shot.compare.as_ref().map(|(_, how)| *how);
        let picture = Picture {
            canvas: CANVAS,
            size: self.size,
            scale: self.scale,
            camera,
            snapshot: Some(snapshot),
            crowd: None,
            compare: other.zip(how).map(|(with, how)| Comparison {
                with,
                how,
                max_mm: self.look.distance_max_mm,
                ghosts,
            }),
            selected: &self.shot.selected,
            hovered: None,
            look: &self.look,
            marks: self.shot.marks.as_ref(),
            ghosts,
            fields: None,
            paint: Some(&self.shot.flesh.paint),
            ground_height: self.shot.ground_height,
            character_size: self.shot.character_size,
        };
        Ok(way(&mut self.drawing, &picture)?)
    }
}

/// Makes the pictures of the settings.
pub(super) fn export(
    shot: &Shot,
    settings: &CaptureSettings,
    work: &CaptureTarget,
    progress: &Progress,
) -> Result<CaptureResult, CaptureError> {
    progress.report(0.0, "Setting up");
    let mut studio = Studio::new(shot, settings)?;
    progress.check()?;
    let path = match work {
        CaptureTarget::File(path) if settings.what != CaptureKind::Picture => path,
        _ => {
            let other = shot.compare.as_ref().map(|(other, _)| other);
            return keep(
                &studio.picture(&shot.camera, &shot.snapshot, other, shot.ghosts.as_ref())?,
                work,
            );
        }
    };
    let frames = settings.frames(shot.clip.as_ref().map_or(0.0, ClipShot::round_secs));
    let mut writer =
        AnimationWriter::create(path, settings.format, settings.size, settings.fps, frames)?;
    let receive = |frame: usize, image: RgbaImage| {
        progress.report(
            (frame + 1) as f32 / frames as f32,
            &format!("{} of {frames}", frame + 1),
        );
        writer.push(&image).map_err(CaptureError::from)
    };
    match &shot.clip {
        Some(clip) if settings.what == CaptureKind::Clip => {
            play(&mut studio, settings, clip, frames, progress, receive)?;
        }
        _ => turn(&mut studio, frames, progress, receive)?,
    }
    Ok(CaptureResult::Files(writer.finish()?))
}

/// The camera of a shot, orbited by a fraction of a turn.
fn turned(camera: &Camera, part: f64) -> Camera {
    let mut camera = *camera;
    camera.orbit((std::f64::consts::TAU * part) as f32, 0.0);
    camera
}

fn turn(
    studio: &mut Studio<'_>,
    frames: usize,
    progress: &Progress,
    mut receive: impl FnMut(usize, RgbaImage) -> Result<(), CaptureError>,
) -> Result<(), CaptureError> {
    let shot = studio.shot;
    let other = shot.compare.as_ref().map(|(other, _)| other);
    for frame in 0..frames {
        progress.check()?;
        let camera = turned(&shot.camera, frame as f64 / frames as f64);
        receive(
            frame,
            studio.picture(&camera, &shot.snapshot, other, shot.ghosts.as_ref())?,
        )?;
    }
    Ok(())
}

/// A snapshot of an actor's state.
fn snapshot(
    like: &Snapshot,
    actor: &Actor,
    world_from_joint: &[Affine],
    frame: u32,
) -> Arc<Snapshot> {
    let mut snapshot = like.clone();
    snapshot.sequence = u64::from(frame) + 1;
    snapshot
        .shape
        .write(actor.positions(), actor.normals(), actor.simulated());
    snapshot.world_from_joint = world_from_joint.to_vec();
    Arc::new(snapshot)
}

fn play(
    studio: &mut Studio<'_>,
    settings: &CaptureSettings,
    clip: &ClipShot,
    frames: usize,
    progress: &Progress,
    mut receive: impl FnMut(usize, RgbaImage) -> Result<(), CaptureError>,
) -> Result<(), CaptureError> {
    let shot = studio.shot;
    progress.report(0.0, "Preparing the flesh");
    let silent = progress.silent();
    let shown = std::iter::once(&shot.snapshot).chain(shot.compare.iter().map(|(other, _)| other));
    let shown: Vec<&Arc<Snapshot>> = shown.collect();
    let bind = |(like, (params, values)): (&&Arc<Snapshot>, &(Params, MethodValues))| {
        let subject = clip.on(&like.subject.with_factors_of(&shot.flesh));
        let values = values.of(like.method);
        Actor::bind_with(&subject, like.method, params, &values, &silent)
    };
    let mut actors = shown
        .iter()
        .zip(&shot.settings)
        .map(bind)
        .collect::<Result<Vec<_>, _>>()?;
    let ghosts = shot.look.ghosts;
    let ghost_subject = shot.snapshot.subject.weighted(shot.weights);
    let maker = || {
        let method = shot.snapshot.method;
        GhostMaker::new(
            &ghost_subject,
            method,
            &shot.settings[0].1.of(method),
            &silent,
        )
    };
    let mut ghost_maker = ghosts.any().then(maker).transpose()?;
    let take = clip.take(settings.fps, frames);
    let character = actors[0].subject().character.clone();
    let played = take.play_together(&mut actors, &silent, |frame, world, actors| {
        let states = shown.iter().zip(actors);
        let states: Vec<_> = states
            .map(|(like, actor)| snapshot(like, actor, world, frame))
            .collect();
        let ghosts = ghost_maker.as_mut().map(|maker| {
            let pose_at = |offset_secs: f64| take.pose_around(&character, frame, offset_secs);
            Arc::new(GhostSkins::new(
                ghost_subject.clone(),
                maker.skins(ghosts.offsets_secs(), pose_at),
            ))
        });
        let part = if settings.turn_with_clip {
            f64::from(frame) / frames as f64
        } else {
            0.0
        };
        let camera = turned(&shot.camera, part);
        let image = studio.picture(&camera, &states[0], states.get(1), ghosts.as_ref())?;
        receive(frame as usize, image)
    });
    played.map_err(|error| match error {
        PlayError::Skin { frame, source } => CaptureError::Skin {
            frame: frame as usize,
            source,
        },
        PlayError::Receiver(error) => error,
        PlayError::Cancelled(cancelled) => cancelled.into(),
    })
}

/// The picture of a shot, without its legends, and these.
pub(super) fn plain_picture(
    gpu: &GpuContext,
    shot: &Shot,
    settings: &CaptureSettings,
) -> Result<(RgbaImage, Vec<Legend>), CaptureError> {
    let other = shot.compare.as_ref().map(|(other, _)| other);
    Studio::on(gpu, shot, settings)?.draw(
        &shot.camera,
        &shot.snapshot,
        other,
        shot.ghosts.as_ref(),
        Drawing::image,
    )
}

/// Reads back a texture of the window and stores its picture.
pub(super) fn keep_texture(
    gpu: &GpuContext,
    texture: &wgpu::Texture,
    work: &CaptureTarget,
) -> Result<CaptureResult, CaptureError> {
    let mut image = read_rgba(gpu, texture)?;
    let swapped = matches!(
        texture.format(),
        wgpu::TextureFormat::Bgra8Unorm | wgpu::TextureFormat::Bgra8UnormSrgb
    );
    for pixel in image.pixels_mut() {
        if swapped {
            pixel.0.swap(0, 2);
        }
        pixel.0[3] = 255;
    }
    keep(&image, work)
}

pub(super) fn keep(image: &RgbaImage, work: &CaptureTarget) -> Result<CaptureResult, CaptureError> {
    match work {
        CaptureTarget::Clipboard => Ok(CaptureResult::Image(color_image(image))),
        CaptureTarget::File(path) => {
            write_atomically(path, |out| {
                image
                    .write_to(out, image::ImageFormat::Png)
                    .map_err(std::io::Error::other)
            })?;
            Ok(CaptureResult::Files(vec![path.clone()]))
        }
    }
}
