//! `sinew render`: a pose by one or several methods, side by side or compared in one picture; a film of a clip or a turntable.

mod camera;
mod crowd;
mod field_cut;
mod film;
mod looks;
mod saved;
mod scores;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use self::camera::CameraOptions;
pub(super) use self::camera::parse_view;
use self::looks::{CompareOption, LookOptions, parse_compare};
use self::saved::SavedView;
use self::scores::{RenderReport, RenderScores};
use super::folder::{check_folder, check_outputs};
use super::options::{CharacterOptions, Options, methods_help, parse_method};
use super::pose::PoseOptions;
use super::weights::WeightsOption;
use super::{CommandResult, Failure, character, print_json, stderr};
use crate::gpu::GpuContext;
use crate::io::{AnimationFormat, FrameNames, write_atomically};
use crate::math::Point;
use crate::methods::{Capability, MethodId, Subject};
use crate::progress::Progress;
use crate::render::{Camera, Look, SkinColors};
use crate::session::{Checkup, ProjectState};
use crate::studio::{
    Compare, GhostMaker, GhostSkins, JointFocus, SheetDrawing, SheetSettings, SheetState, Snapshot,
    Take,
};

/// Options of the verb.
#[derive(Debug, Args)]
pub(super) struct Render {
    #[command(flatten)]
    character: CharacterOptions,
    #[arg(long, value_parser = parse_method, value_delimiter = ',', help = methods_help())]
    method: Vec<MethodId>,
    #[command(flatten)]
    weights: WeightsOption,
    /// Compare the methods in one picture: wipe[:PART] shows two, the first on the left; difference[:MM] colours every method but the
    /// first by its distance to the first, with colours up to MM millimetres.
    #[arg(long, value_name = "HOW", value_parser = parse_compare)]
    compare: Option<CompareOption>,
    #[command(flatten)]
    pose: PoseOptions,
    #[command(flatten)]
    look: LookOptions,
    #[command(flatten)]
    camera: CameraOptions,
    /// Size of the whole picture in pixels [default: 900x900 for one method, 640x900 for each of several, 1280x720 for a crowd].
    #[arg(help_heading = "Output", long, value_name = "WxH", value_parser = parse_size)]
    size: Option<[u32; 2]>,
    /// Draw N copies of the character on one floor, moved by the graphics device, each at another time of the clip [default clip: the
    /// first]. A crowd has no collisions.
    #[arg(help_heading = "Output", long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000),
        conflicts_with_all = ["compare", "overlay", "ghosts", "cut", "color", "frame"])]
    crowd: Option<u32>,
    /// Output file: a .png for a picture; a .gif, .webp, .mp4 or .webm (the last two by ffmpeg, if it is installed) for the frames of
    /// a clip (--fps, --frames) or a turntable; or numbered pictures, as in walk####.png (with --frames A-B also walk.png, which becomes walk.0000.png …).
    #[arg(
        help_heading = "Output",
        short,
        long,
        value_name = "OUT.png|gif|webp|mp4|webm"
    )]
    output: PathBuf,
    /// Print a JSON report: all metrics of the last frame of every method, and its distance to the first method.
    #[arg(help_heading = "Output", long, visible_alias = "scores")]
    json: bool,
}

pub(super) fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let expected = || "expected WxH from 16x16 to 8192x8192, as in 1280x720".to_owned();
    let (width, height) = text.split_once(['x', 'X']).ok_or_else(expected)?;
    let side = |text: &str| {
        text.parse::<u32>()
            .ok()
            .filter(|side| (16..=8192).contains(side))
            .ok_or_else(expected)
    };
    Ok([side(width)?, side(height)?])
}

/// Methods, look and camera: those of the options, otherwise those of the project's active view.
#[derive(Debug)]
struct RenderLook {
    methods: Vec<MethodId>,
    compare: Option<Compare>,
    /// Upper end of the colour range of a difference, millimetres.
    max_mm: Option<f32>,
    look: Look,
    /// The camera of the project's view; `None` frames the character.
    camera: Option<Camera>,
    /// The joint that the camera frames.
    focus: Option<JointFocus>,
}

impl Render {
    pub(super) fn run(&self, options: &Options) -> CommandResult {
        check_folder(&self.output)?;
        let Some(format) = AnimationFormat::of_path(&self.output) else {
            let shown = self.output.display();
            return Err(Failure::Usage(format!(
                "{shown}: pictures are written as .png, moving ones as .gif, .webp, .mp4 or .webm; name the output so"
            )));
        };
        if let Some(reason) = format.unavailable_reason() {
            return Err(Failure::Undone(format!(
                "{}: {reason}",
                self.output.display()
            )));
        }
        if self.method.is_empty() && self.character.project().is_none() {
            return Err(Failure::Usage(
                "say by which methods to draw, as in --method lbs,dqs,pd".to_owned(),
            ));
        }
        if !self.method.is_empty() {
            check_compare(self.compare.map(|(how, _)| how), &self.method)?;
        }
        let subject = self.character.open(options)?;
        check_outputs([&self.output])?;
        let saved = self.character.saved(&subject, options)?;
        let subject = self.weights.on(&subject, saved.as_ref())?;
        let (options, pose) = (
            &options.with_saved(saved.as_ref()),
            &self.pose.with_saved(saved.as_ref()),
        );
        let shown = RenderLook {
            focus: self.camera.focus(&subject)?,
            ..self.shown(saved.as_ref())
        };
        check_compare(shown.compare, &shown.methods)?;
        self.weights.note_unused(&shown.methods, options);
        let composes = |method: &MethodId| method.has(Capability::Meetings);
        if self.look.asks_for_fields() && !shown.methods.iter().any(composes) {
            return Err(Failure::Usage(
                "fields are those of implicit skinning: add it, as in --method implicit".to_owned(),
            ));
        }
        let several = pose.frames.is_some_and(|(first, last)| last > first);
        let films = self.camera.turntable.is_some()
            || format != AnimationFormat::Png
            || several
            || FrameNames::has_place(&self.output);
        let crowd = self.crowd_of(saved.as_ref());
        let mut scores = if self.json && crowd.is_none() {
            RenderScores::of(&subject, options)?
        } else {
            RenderScores::default()
        };
        let files = if let Some(count) = crowd {
            self.crowd(&subject, &shown, format, (pose, count), options)?
        } else if films {
            self.film(&subject, &shown, format, pose, &mut scores, options)?
        } else {
            self.picture(&subject, &shown, pose, &mut scores, options)?
        };
        if self.json {
            return print_json(&RenderReport {
                character: subject.character.name.clone(),
                files,
                scores: scores.list,
            });
        }
        if let (false, Some(first)) = (options.quiet, files.first()) {
            let to = files
                .last()
                .filter(|last| *last != first)
                .map(|last| format!(" to {}", last.display()));
            stderr::line(&format!(
                "wrote {}{}",
                first.display(),
                to.unwrap_or_default()
            ));
        }
        Ok(())
    }

    /// Draws one picture.
    fn picture(
        &self,
        subject: &Arc<Subject>,
        shown: &RenderLook,
        pose: &PoseOptions,
        scores: &mut RenderScores,
        options: &Options,
    ) -> Result<Vec<PathBuf>, Failure> {
        let take = still(subject, pose)?;
        let mut states = Vec::new();
        for &method in &shown.methods {
            states.extend(play(subject, method, &take, &shown.look, scores, options)?);
        }
        let mut drawing = self.drawing(subject, shown)?;
        drawing.frame(&points_of(&states));
        let sheet = drawing.draw(&states)?;
        write_atomically(&self.output, |out| {
            sheet
                .write_to(out, image::ImageFormat::Png)
                .map_err(std::io::Error::other)
        })?;
        Ok(vec![self.output.clone()])
    }

    /// The renderer of the sheets.
    fn drawing(&self, subject: &Arc<Subject>, shown: &RenderLook) -> Result<SheetDrawing, Failure> {
        let look = shown.look;
        if look.shows_flesh()
            && let Err(error) = subject.flesh()
        {
            let name = &subject.character.name;
            return Err(Failure::Undone(format!("{name}: {error}")));
        }
        if look.voxels {
            subject.make_voxels(&Progress::new())?;
        }
        if look.colors == SkinColors::WeightDifference {
            for subject in [subject.clone(), subject.weighted(look.weights_against)] {
                subject.make_weights(&Progress::new())?;
            }
        }
        let marks = if look.findings {
            Checkup::of(subject).marks()
        } else {
            Vec::new()
        };
        let settings = SheetSettings {
            size: self.size,
            look,
            compare: shown.compare,
            max_mm: shown.max_mm,
            joint: self.look.joint(subject)?,
            marks: marks.into(),
            camera: shown.camera,
            view: self.camera.view(),
            projection: self.camera.projection(),
            world_from_stage: subject.world_from_stage(),
            focus: shown.focus,
            zoom: self.camera.zoom(),
        };
        let gpu = stderr::without_wayland_errors(GpuContext::headless)?;
        Ok(SheetDrawing::new(&gpu, settings, shown.methods.len())?)
    }

    /// Size of the crowd: that of the option, otherwise that of the project's view. `--frame` needs a single character.
    fn crowd_of(&self, saved: Option<&ProjectState>) -> Option<usize> {
        let as_saved = saved.filter(|state| {
            state.crowd > 1
                && self.method.is_empty()
                && self.compare.is_none()
                && self.camera.frame.is_none()
        });
        self.crowd
            .map(|count| count as usize)
            .or(as_saved.map(|state| state.crowd))
    }

    /// Options take precedence over the project's view.
    fn shown(&self, saved: Option<&ProjectState>) -> RenderLook {
        let view = saved.and_then(SavedView::of);
        let look = self.look.look(view.as_ref().map(|view| &view.look));
        let camera = self.camera.over(view.as_ref().map(|view| view.camera));
        let (asked, max_mm) = self
            .compare
            .map_or((None, None), |(how, mm)| (Some(how), mm));
        let (methods, compare) = match (saved, view) {
            (Some(_), Some(view)) if self.method.is_empty() && asked.is_none() => {
                (view.methods, view.compare)
            }
            (Some(state), _) if self.method.is_empty() => (
                std::iter::once(state.method).chain(state.compare).collect(),
                asked,
            ),
            _ => (self.method.clone(), asked),
        };
        RenderLook {
            methods,
            compare,
            max_mm,
            look,
            camera,
            focus: None,
        }
    }
}

/// Checks that the number of methods suits the comparison.
fn check_compare(compare: Option<Compare>, methods: &[MethodId]) -> Result<(), Failure> {
    match compare {
        Some(Compare::Wipe(_)) if methods.len() != 2 => Err(Failure::Usage(
            "--compare wipe shows two methods: give --method two, as in lbs,pd".to_owned(),
        )),
        Some(Compare::Difference) if methods.len() < 2 => Err(Failure::Usage(
            "--compare difference needs at least two methods, as in --method pd,lbs".to_owned(),
        )),
        _ => Ok(()),
    }
}

/// The take of a single picture.
fn still(subject: &Subject, pose: &PoseOptions) -> Result<Take, Failure> {
    let take = pose.take_to_draw(&subject.character)?;
    if take.frame_count() > 1 {
        let sentence = "render draws one picture: give --frames one number, or --settle, or --at for a clip; or name the output .gif or .webp";
        return Err(Failure::Usage(sentence.to_owned()));
    }
    Ok(take)
}

/// Computes every frame of a take by one method.
fn play(
    subject: &Arc<Subject>,
    method: MethodId,
    take: &Take,
    look: &Look,
    scores: &mut RenderScores,
    options: &Options,
) -> Result<Vec<SheetState>, Failure> {
    let mut actor = character::bind(subject, method, options)?;
    let values = options.values_for(method)?;
    let mut ghosts = look
        .ghosts
        .any()
        .then(|| GhostMaker::new(subject, method, &values, &Progress::new()))
        .transpose()?;
    let mut frames = Vec::with_capacity(take.frame_count());
    let work = |progress: &Progress| {
        let actors = std::slice::from_mut(&mut actor);
        take.play_together(actors, progress, |frame, world, actors| {
            let pose_at =
                |offset_secs: f64| take.pose_around(&subject.character, frame, offset_secs);
            let ghosts = ghosts
                .as_mut()
                .map(|maker| maker.skins(look.ghosts.offsets_secs(), pose_at))
                .map(|skins| Arc::new(GhostSkins::new(subject.clone(), skins)));
            let snapshot = Snapshot::of_actor(&actors[0], world.to_vec());
            frames.push(SheetState {
                snapshot: Arc::new(snapshot),
                ghosts,
            });
            Ok::<_, std::convert::Infallible>(())
        })
    };
    stderr::with_progress(options, method.label(), work)?;
    if let Some(last) = frames.last() {
        scores.measure(&actor, &last.snapshot.world_from_joint, options)?;
    }
    Ok(frames)
}

/// All points that the camera must frame.
fn points_of<'a>(states: impl IntoIterator<Item = &'a SheetState>) -> Vec<Point> {
    let skins = states.into_iter().map(|state| state.snapshot.positions());
    skins.flatten().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parsed() {
        assert_eq!(parse_size("1280x720"), Ok([1280, 720]));
        for wrong in ["", "1280", "0x100", "100x", "-5x100", "99999x10"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }
}
