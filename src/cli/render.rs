//! `sinew render`: a pose by one or several methods, side by side.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use image::RgbaImage;

use super::bake::check_folder;
use super::options::{CharacterOptions, Options, parse_method};
use super::pose::PoseOptions;
use super::{Failure, Outcome, character, stderr};
use crate::gpu::GpuContext;
use crate::io::write_atomically;
use crate::math::{Affine, Point, Vec3, origin_of};
use crate::mesh::{Bounds, vertex_normals_into};
use crate::progress::Progress;
use crate::render::{
    Background, BoneGlyph, BoneState, Camera, Ground, Layer, Margins, MeshStyle, NamedView, Overlay, Picture, Renderer, Sheet, WIRE_COLOR,
};
use crate::rig::Skeleton;
use crate::session::Take;
use crate::skin::{Method, Subject};
use crate::tissue::BaseFrame;

/// How much of the skin remains when its inside is shown.
const SEE_THROUGH: f32 = 0.35;

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
    /// Where to write the picture.
    #[arg(short, long, value_name = "OUT.png")]
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
    label: &'static str,
    positions: Vec<Point>,
    normals: Vec<Vec3>,
}

impl Render {
    pub(super) fn run(&self, options: &Options) -> Outcome {
        check_folder(&self.output)?;
        if !self.output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png")) {
            return Err(Failure::Undone(format!("{}: pictures are written as .png; name the output so", self.output.display())));
        }
        let subject = self.character.open(options)?;
        let saved = self.character.saved(&subject, options)?;
        let options = &options.with_saved(saved.as_ref());
        let take = self.pose.with_saved(saved.as_ref()).take_to_draw(&subject.character)?;
        if take.frame_count() > 1 {
            let sentence = "render draws one picture: give --frames one number, or --settle, or --at for a clip";
            return Err(Failure::Usage(sentence.to_owned()));
        }
        let posed: Result<Vec<_>, _> = self.method.iter().map(|&method| pose(&subject, method, &take, options)).collect();
        let posed = posed?;
        let sheet = self.draw(&subject, &take, &posed)?;
        write_atomically(&self.output, |out| sheet.write_to(out, image::ImageFormat::Png).map_err(std::io::Error::other))?;
        if !options.quiet {
            stderr::line(&format!("wrote {}", self.output.display()));
        }
        Ok(())
    }

    /// One picture a method, all with one camera, on one sheet.
    fn draw(&self, subject: &Subject, take: &Take, posed: &[Posed]) -> Result<RgbaImage, Failure> {
        let overlays = self.overlays(subject, take)?;
        let gpu = stderr::without_wayland_noise(GpuContext::headless)?;
        let size = self.size(posed.len());
        gpu.check_size(size[0], size[1])?;
        let renderer = Renderer::new(&gpu);
        let sheet = Sheet::new(size, posed.len());
        // A lone picture says nothing that the command did not.
        let labels: Vec<_> = if posed.len() > 1 { posed.iter().map(|posed| posed.label).collect() } else { Vec::new() };
        let points: Vec<Point> = posed.iter().flat_map(|posed| &posed.positions).copied().collect();
        let camera = self.camera(&points, &sheet, !labels.is_empty());
        let ground = Some(Ground { height: Bounds::of(&points).min.y, grid: None });
        let style = MeshStyle {
            opacity: if self.shows_inside() { SEE_THROUGH } else { 1.0 },
            wireframe: self.overlay.contains(&Extra::Wireframe).then_some(WIRE_COLOR),
            ..MeshStyle::default()
        };
        let draw = |(index, posed): (usize, &Posed)| {
            let picture = Picture {
                character: &subject.character,
                positions: &posed.positions,
                normals: &posed.normals,
                overlays: &overlays,
                camera: &camera,
                style,
                background: Background::STUDIO,
                ground,
                size: sheet.cell(index),
            };
            renderer.picture(&picture)
        };
        let pictures: Vec<_> = posed.iter().enumerate().map(draw).collect::<Result<_, _>>()?;
        Ok(sheet.compose(&pictures, &labels))
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

    fn overlays(&self, subject: &Subject, take: &Take) -> Result<Vec<Overlay>, Failure> {
        let character = &subject.character;
        let pose = take.motion.pose_at(character, take.time_of(take.last_frame()));
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
    Ok(Posed { label: method.label(), positions: actor.positions().to_vec(), normals: actor.normals().to_vec() })
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
