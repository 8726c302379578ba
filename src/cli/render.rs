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
use crate::mesh::Bounds;
use crate::progress::Progress;
use crate::render::{
    Background, BoneGlyph, BoneState, Camera, Ground, Layer, MeshStyle, NamedView, Overlay, Picture, Renderer, WIRE_COLOR, compose_grid,
};
use crate::rig::Skeleton;
use crate::session::Take;
use crate::skin::{Method, Subject};

/// Options of the verb.
#[derive(Debug, Args)]
pub(super) struct Render {
    #[command(flatten)]
    character: CharacterOptions,
    /// The methods, side by side, as in lbs,dqs,pd.
    #[arg(long, value_parser = parse_method, value_delimiter = ',', required = true)]
    method: Vec<Method>,
    #[command(flatten)]
    pose: PoseOptions,
    /// Pixels of the picture of one method.
    #[arg(long, value_name = "WxH", default_value = "900x900", value_parser = parse_size)]
    size: [u32; 2],
    /// From where: front, back, side, left, right, top or three-quarter.
    #[arg(long, default_value = "three-quarter", value_parser = parse_view)]
    view: NamedView,
    /// What to draw besides the skin, as in bones,wireframe.
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
        let take = self.pose.take_to_draw(&subject.character)?;
        if take.frame_count() > 1 {
            let sentence = "render draws one picture: give --frames one number, or --settle, or --at for a clip";
            return Err(Failure::Usage(sentence.to_owned()));
        }
        let posed: Result<Vec<_>, _> = self.method.iter().map(|&method| pose(&subject, method, &take, options)).collect();
        let posed = posed?;
        let images = self.draw(&subject, &take, &posed)?;
        let labels: Vec<_> = posed.iter().map(|posed| posed.label).collect();
        let sheet = match images.as_slice() {
            [one] => one.clone(),
            several => compose_grid(several, &labels),
        };
        write_atomically(&self.output, |out| sheet.write_to(out, image::ImageFormat::Png).map_err(std::io::Error::other))?;
        if !options.quiet {
            stderr::line(&format!("wrote {}", self.output.display()));
        }
        Ok(())
    }

    /// One picture a method, all with one camera.
    fn draw(&self, subject: &Subject, take: &Take, posed: &[Posed]) -> Result<Vec<RgbaImage>, Failure> {
        let renderer = Renderer::new(&GpuContext::headless()?);
        let bounds = Bounds::of(posed.iter().flat_map(|posed| &posed.positions));
        let camera = Camera::framing(&bounds, self.view, self.size[0] as f32 / self.size[1] as f32);
        let style = MeshStyle { wireframe: self.overlay.contains(&Extra::Wireframe).then_some(WIRE_COLOR), ..MeshStyle::default() };
        let mut overlays = Vec::new();
        if self.overlay.contains(&Extra::Bones) {
            overlays.push(bones(subject, take));
        }
        let draw = |posed: &Posed| {
            let picture = Picture {
                character: &subject.character,
                positions: &posed.positions,
                normals: &posed.normals,
                overlays: &overlays,
                camera: &camera,
                style,
                background: Background::STUDIO,
                ground: Some(Ground { height: bounds.min.y, grid: None }),
                size: self.size,
            };
            renderer.picture(&picture)
        };
        Ok(posed.iter().map(draw).collect::<Result<_, _>>()?)
    }
}

/// Brings one method to the moment wanted.
fn pose(subject: &Arc<Subject>, method: Method, take: &Take, options: &Options) -> Result<Posed, Failure> {
    let mut actor = character::bind(subject, method, options)?;
    let work = |progress: &Progress| take.play(&mut actor, progress, |_, _| Ok::<_, std::convert::Infallible>(()));
    stderr::with_progress(options, method.label(), work)?;
    Ok(Posed { label: method.label(), positions: actor.positions().to_vec(), normals: actor.normals().to_vec() })
}

/// The bones at the moment wanted, in front of the skin.
fn bones(subject: &Subject, take: &Take) -> Overlay {
    let character = &subject.character;
    let skeleton = &character.skeleton;
    let world = skeleton.world_from_joint(&take.motion.pose_at(character, take.time_of(take.last_frame())));
    let mut overlay = Overlay::new(Layer::Front);
    overlay.bones(&glyphs(skeleton, &world), subject.size * 0.006);
    overlay
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
