//! `sinew render`: a pose by one or several methods, side by side; a clip or a turntable as a moving picture.

mod film;
mod stage;

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};

use self::stage::Stage;
use super::bake::check_folder;
use super::options::{CharacterOptions, Options, parse_method};
use super::pose::PoseOptions;
use super::{Failure, Outcome, character, stderr};
use crate::io::{AnimationFormat, write_atomically};
use crate::math::{Affine, Point, Vec3, origin_of};
use crate::mesh::vertex_normals_into;
use crate::progress::Progress;
use crate::render::{BoneGlyph, BoneState, Camera, Layer, Margins, NamedView, Overlay, Sheet};
use crate::rig::Skeleton;
use crate::session::Take;
use crate::skin::{Method, Subject};
use crate::tissue::BaseFrame;

/// Options of the verb.
#[derive(Debug, Args)]
pub(super) struct Render {
    #[command(flatten)]
    character: CharacterOptions,
    /// The methods, side by side in one row (more than four: in a grid), as in lbs,dqs,pd.
    #[arg(long, value_parser = parse_method, value_delimiter = ',', required = true)]
    method: Vec<Method>,
    #[command(flatten)]
    pose: PoseOptions,
    /// Pixels of the whole picture; by default 900x900 for one method, 640x900 for each of several.
    #[arg(long, value_name = "WxH", value_parser = parse_size)]
    size: Option<[u32; 2]>,
    /// From where: front, back, side, left, right, top or three-quarter.
    #[arg(long, default_value = "three-quarter", value_parser = parse_view)]
    view: NamedView,
    /// What to draw besides the skin, as in bones,volumes.
    #[arg(long, value_enum, value_delimiter = ',')]
    overlay: Vec<Extra>,
    /// Let the camera go round once in so many pictures, for a .gif, a .webp, or a .png for each.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=7200))]
    turntable: Option<u32>,
    /// Where to write: a .png for a picture; a .gif or .webp for the frames of a clip (--fps, --frames) or a turntable.
    #[arg(short, long, value_name = "OUT.png|gif|webp")]
    output: PathBuf,
}

/// What can be drawn besides the skin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Extra {
    /// The bones, in front.
    Bones,
    /// The edges of the skin.
    Wireframe,
    /// The joint spheres and bone capsules inside the flesh.
    Volumes,
    /// The surface around the bones on which the flesh sits.
    Base,
}

fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let expected = || "expected WxH from 16x16 to 8192x8192, as in 1280x720".to_owned();
    let (width, height) = text.split_once(['x', 'X']).ok_or_else(expected)?;
    let side = |text: &str| text.parse::<u32>().ok().filter(|side| (16..=8192).contains(side)).ok_or_else(expected);
    Ok([side(width)?, side(height)?])
}

fn parse_view(name: &str) -> Result<NamedView, String> {
    NamedView::from_name(name).ok_or_else(|| {
        let known: Vec<_> = NamedView::ALL.iter().map(|(name, _)| *name).collect();
        format!("there are side, {}", known.join(", "))
    })
}

/// One method's state, ready to be drawn.
struct Posed {
    positions: Vec<Point>,
    normals: Vec<Vec3>,
}

impl Render {
    pub(super) fn run(&self, options: &Options) -> Outcome {
        check_folder(&self.output)?;
        let Some(format) = AnimationFormat::of_path(&self.output) else {
            let shown = self.output.display();
            return Err(Failure::Undone(format!(
                "{shown}: pictures are written as .png, moving ones as .gif or .webp; name the output so"
            )));
        };
        let subject = self.character.open(options)?;
        let files = if self.turntable.is_some() || format != AnimationFormat::Png {
            self.film(&subject, format, options)?
        } else {
            self.picture(&subject, options)?
        };
        if !options.quiet {
            let more = if files.len() > 1 { format!(" to {}", files[files.len() - 1].display()) } else { String::new() };
            stderr::line(&format!("wrote {}{more}", files[0].display()));
        }
        Ok(())
    }

    /// One picture.
    fn picture(&self, subject: &Arc<Subject>, options: &Options) -> Result<Vec<PathBuf>, Failure> {
        let take = self.still(subject)?;
        let posed = self.posed(subject, &take, options)?;
        let mut stage = Stage::new(self, subject, &posed)?;
        let sheet = stage.sheet(&posed, &self.overlays(subject, &take, take.last_frame())?, 0.0)?;
        write_atomically(&self.output, |out| sheet.write_to(out, image::ImageFormat::Png).map_err(std::io::Error::other))?;
        Ok(vec![self.output.clone()])
    }

    /// The one moment that is asked for.
    fn still(&self, subject: &Subject) -> Result<Take, Failure> {
        let take = self.pose.take_to_draw(&subject.character)?;
        if take.frame_count() > 1 {
            let sentence =
                "render draws one picture: give --frames one number, or --settle, or --at for a clip; or name the output .gif or .webp";
            return Err(Failure::Usage(sentence.to_owned()));
        }
        Ok(take)
    }

    fn posed(&self, subject: &Arc<Subject>, take: &Take, options: &Options) -> Result<Vec<Posed>, Failure> {
        self.method.iter().map(|&method| pose(subject, method, take, options)).collect()
    }

    /// Pixels of the whole picture.
    fn size(&self, methods: usize) -> [u32; 2] {
        self.size.unwrap_or(if methods == 1 { [900, 900] } else { Sheet::around([640, 900], methods) })
    }

    /// A camera that sees what every method made of the character, above the captions.
    fn camera(&self, points: &[Point], sheet: &Sheet, with_captions: bool) -> Camera {
        let [width, height] = sheet.cell(0).map(|side| side as f32);
        let mut margins = Margins::default();
        if with_captions {
            margins.bottom = sheet.caption_share() + 0.02;
        }
        let mut camera = Camera::default();
        camera.look_from(self.view);
        camera.frame_points_within(points, width / height, margins);
        camera
    }

    fn shows_inside(&self) -> bool {
        self.overlay.iter().any(|extra| matches!(extra, Extra::Volumes | Extra::Base))
    }

    fn overlays(&self, subject: &Subject, take: &Take, frame: u32) -> Result<Vec<Overlay>, Failure> {
        let character = &subject.character;
        let pose = take.motion.pose_at(character, take.time_of(frame));
        let world = character.skeleton.world_from_joint(&pose);
        let mut overlays = Vec::new();
        if self.shows_inside() {
            overlays.push(self.inside(subject, &world)?);
        }
        if self.overlay.contains(&Extra::Bones) {
            let mut bones = Overlay::new(Layer::Front);
            bones.bones(&glyphs(&character.skeleton, &world), subject.size * 0.006);
            overlays.push(bones);
        }
        Ok(overlays)
    }

    /// Bone volumes and base surface, as far as they are wanted, where the bones are.
    fn inside(&self, subject: &Subject, world_from_joint: &[Affine]) -> Result<Overlay, Failure> {
        let name = &subject.character.name;
        let flesh = subject.tissue.as_ref().map_err(|error| Failure::Undone(format!("{name}: {error}")))?;
        let tissue = &flesh.tissue;
        let (mut frame, mut base) = (BaseFrame::default(), vec![Point::origin(); tissue.base.len()]);
        tissue.anchors.place(world_from_joint, &mut frame, &mut base);
        let mut overlay = Overlay::new(Layer::Solid);
        if self.overlay.contains(&Extra::Volumes) {
            overlay.bone_volumes(&tissue.graph, &frame);
        }
        if self.overlay.contains(&Extra::Base) {
            let triangles = &subject.sim().mesh.triangles;
            let mut normals = vec![Vec3::zeros(); base.len()];
            vertex_normals_into(&base, triangles, &mut normals);
            overlay.base_surface(&base, &normals, triangles);
        }
        Ok(overlay)
    }
}

/// Brings one method to the moment wanted.
fn pose(subject: &Arc<Subject>, method: Method, take: &Take, options: &Options) -> Result<Posed, Failure> {
    let mut actor = character::bind(subject, method, options)?;
    let work = |progress: &Progress| take.play(&mut actor, progress, |_, _| Ok::<_, std::convert::Infallible>(()));
    stderr::with_progress(options, method.label(), work)?;
    Ok(Posed { positions: actor.positions().to_vec(), normals: actor.normals().to_vec() })
}

fn glyphs(skeleton: &Skeleton, world_from_joint: &[Affine]) -> Vec<BoneGlyph> {
    let place = |joint: usize| origin_of(&world_from_joint[joint]).cast::<f32>();
    let glyph = |child: usize, parent: usize| BoneGlyph { head: place(parent), tail: place(child), state: BoneState::Normal };
    (0..skeleton.len()).filter_map(|child| skeleton.joints()[child].parent.map(|parent| glyph(child, parent))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_views() {
        assert_eq!(parse_size("1280x720"), Ok([1280, 720]));
        for wrong in ["", "1280", "0x100", "100x", "-5x100", "99999x10"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
        assert!(parse_view("side").is_ok() && parse_view("three-quarter").is_ok() && parse_view("below").is_err());
    }
}
