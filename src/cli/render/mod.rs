//! `sinew render`: a pose by one or several methods, side by side or compared in one picture.

mod draw;
mod looks;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use self::draw::Drawing;
use self::looks::{Compare, LookOptions, parse_compare};
use super::bake::check_folder;
use super::options::{CharacterOptions, Options, parse_method};
use super::pose::PoseOptions;
use super::{Failure, Outcome, character, stderr};
use crate::collision::Contact;
use crate::io::write_atomically;
use crate::math::{Affine, Point, Vec3};
use crate::progress::Progress;
use crate::render::{NamedView, Projection};
use crate::session::Take;
use crate::skin::{Method, Subject};

/// Options of the verb.
#[derive(Debug, Args)]
pub(super) struct Render {
    #[command(flatten)]
    character: CharacterOptions,
    /// The methods, side by side in one row (more than four: in a grid), as in lbs,dqs,pd.
    #[arg(long, value_parser = parse_method, value_delimiter = ',', required = true)]
    method: Vec<Method>,
    /// Compares the methods instead: wipe[:PART] shows two in one picture, the first on the left; difference[:MM] colours every method
    /// but the first by its distance to the first, up to so many millimetres.
    #[arg(long, value_name = "HOW", value_parser = parse_compare)]
    compare: Option<Compare>,
    #[command(flatten)]
    pose: PoseOptions,
    #[command(flatten)]
    look: LookOptions,
    /// Pixels of the whole picture; by default 900x900 for one method, 640x900 for each of several.
    #[arg(long, value_name = "WxH", value_parser = parse_size)]
    size: Option<[u32; 2]>,
    /// From where: front, back, side, left, right, top or three-quarter.
    #[arg(long, default_value = "three-quarter", value_parser = parse_view)]
    view: NamedView,
    /// Without perspective: parallel lines stay parallel.
    #[arg(long)]
    orthographic: bool,
    /// Where to write the picture.
    #[arg(short, long, value_name = "OUT.png")]
    output: PathBuf,
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
    method: Method,
    positions: Vec<Point>,
    normals: Vec<Vec3>,
    simulated: Vec<Point>,
    contacts: Vec<Contact>,
}

impl Render {
    pub(super) fn run(&self, options: &Options) -> Outcome {
        check_folder(&self.output)?;
        if !self.output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png")) {
            return Err(Failure::Undone(format!("{}: pictures are written as .png; name the output so", self.output.display())));
        }
        match self.compare {
            Some(Compare::Wipe(_)) if self.method.len() != 2 => {
                return Err(Failure::Usage("--compare wipe shows two methods: give --method two, as in lbs,pd".to_owned()));
            }
            Some(Compare::Difference(_)) if self.method.len() < 2 => {
                return Err(Failure::Usage("--compare difference needs at least two methods, as in --method pd,lbs".to_owned()));
            }
            _ => {}
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
        let sheet = Drawing::new(self, &subject, world_of(&subject, &take), &posed)?.sheet()?;
        write_atomically(&self.output, |out| sheet.write_to(out, image::ImageFormat::Png).map_err(std::io::Error::other))?;
        if !options.quiet {
            stderr::line(&format!("wrote {}", self.output.display()));
        }
        Ok(())
    }

    fn projection(&self) -> Projection {
        if self.orthographic { Projection::Orthographic } else { Projection::Perspective }
    }
}

/// The joints in the frame that is drawn.
fn world_of(subject: &Subject, take: &Take) -> Vec<Affine> {
    let pose = take.motion.pose_at(&subject.character, take.time_of(take.last_frame()));
    subject.character.skeleton.world_from_joint(&pose)
}

/// Brings one method to the moment wanted.
fn pose(subject: &Arc<Subject>, method: Method, take: &Take, options: &Options) -> Result<Posed, Failure> {
    let mut actor = character::bind(subject, method, options)?;
    let work = |progress: &Progress| take.play(&mut actor, progress, |_, _| Ok::<_, std::convert::Infallible>(()));
    stderr::with_progress(options, method.label(), work)?;
    let contacts = actor.projective().and_then(|flesh| flesh.simulation().contacts());
    Ok(Posed {
        method,
        positions: actor.positions().to_vec(),
        normals: actor.normals().to_vec(),
        simulated: actor.simulated().to_vec(),
        contacts: contacts.map(|contacts| contacts.contacts().to_vec()).unwrap_or_default(),
    })
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
