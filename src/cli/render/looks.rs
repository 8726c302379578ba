//! Look options of `render`.

use clap::{Args, ValueEnum};

use super::field_cut::{NamedFieldCut, parse_field_cut};
use crate::cli::Failure;
use crate::methods::Subject;
use crate::render::{
    Backdrop, ColorMap, CutPlane, FieldDirection, Look, Matcap, OnionSkins, Shading, SkinColors,
};
use crate::studio::Compare;
use crate::weights::WeightMethod;

/// Shading, colours, overlays and background.
#[derive(Debug, Args)]
#[command(next_help_heading = "Look")]
pub(super) struct LookOptions {
    /// What to draw besides the skin, as in bones,volumes [default: nothing; of a project, the overlays of its active view].
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(super) overlay: Vec<Extra>,
    /// Faint skins of earlier and later times of the motion: number before, number after, and seconds between them, as in 3,0 or 2,2:0.1
    /// [default: 2,2:0.2 with --overlay ghosts].
    #[arg(long, value_name = "BEFORE,AFTER[:SECONDS]", value_parser = parse_ghosts)]
    ghosts: Option<OnionSkins>,
    /// Cut the tetrahedra open with a plane perpendicular to an axis, at a fraction of the character's extent; a minus keeps the other
    /// side, as in x, z:0.4 or -x:0.6. Shows the tetrahedra.
    #[arg(long, value_name = "[-]AXIS[:PART]", value_parser = parse_cut, allow_hyphen_values = true)]
    cut: Option<CutPlane>,
    /// Show the composed field of implicit skinning in a plane through a joint: in the plane in which the joint bends (along), across its
    /// bone, or facing the camera; moved by −1 to 1 lengths of the bone (halves of it for along and camera), as in forearm.L:across:0.5
    /// [default: camera through the middle of the body with --overlay fields].
    #[arg(long, value_name = "[JOINT:]DIRECTION[:OFFSET]", value_parser = parse_field_cut)]
    field_cut: Option<NamedFieldCut>,
    /// Shading of the skin: textured, studio (clay), flat, or matcap:NAME with clay, porcelain, wax, metal, zebra or normals
    /// [default: textured].
    #[arg(long, value_name = "NAME", value_parser = parse_shading)]
    shading: Option<(Shading, Matcap)>,
    /// Colour the skin by a quantity: weights:JOINT, weight-difference:JOINT (see --weights-against) or strain.
    #[arg(long, value_name = "WHAT", value_parser = parse_color)]
    color: Option<Color>,
    /// The weights that weight-difference subtracts from those of --weights, by an id of that option [default: file].
    #[arg(long, value_name = "ID", value_parser = WeightMethod::from_id)]
    weights_against: Option<WeightMethod>,
    /// Colour map of weights and differences: even, blue-red, heat or gray [default: even].
    #[arg(long, value_name = "NAME", value_parser = parse_map)]
    color_map: Option<ColorMap>,
    /// Background: light, dark, white, gradient or transparent [default: light].
    #[arg(long, value_name = "NAME", value_parser = parse_background)]
    background: Option<Backdrop>,
    /// Draw no floor and no shadow on it.
    #[arg(long)]
    no_ground: bool,
}

/// An overlay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Extra {
    /// The bones, in front of the skin.
    Bones,
    /// The bones, inside the skin.
    BonesInside,
    /// The edges of the skin.
    Wireframe,
    /// The joint spheres and bone capsules inside the flesh.
    Volumes,
    /// The base surface: the skin shrunk onto the bones, on which the flesh sits.
    Base,
    /// The tetrahedra of the flesh.
    Tets,
    /// The voxel domain that automatic weights are computed on, in the bind pose.
    Voxels,
    /// The composed field of implicit skinning in a plane (--field-cut), with the regions of the parts and where they touch.
    Fields,
    /// Lines from every simulated vertex to its foot point on the bone.
    Feet,
    /// The contacts.
    Contacts,
    /// The normals of the skin.
    Normals,
    /// Sections of the skin around the joints, coloured by the change of girth.
    Sections,
    /// The positions of the check-up's findings.
    Findings,
    /// A grid on the floor.
    Grid,
    /// Skins at earlier and later times; --ghosts sets how many.
    Ghosts,
}

/// Value of `--color`.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Color {
    Weights(String),
    WeightDifference(String),
    Strain,
}

/// Value of `--compare`: the kind, and the upper end of the colour range of a difference, millimetres.
pub(super) type CompareOption = (Compare, Option<f32>);

impl LookOptions {
    /// The look of the options, on top of that of a project's view. The default is a plain one for papers.
    pub(super) fn look(&self, saved: Option<&Look>) -> Look {
        let mut look = saved.copied().unwrap_or(Look {
            grid: false,
            backdrop: Backdrop::Light,
            ..Look::default()
        });
        if !self.overlay.is_empty() {
            self.overlay_in(&mut look);
        }
        (look.shading, look.matcap) = self.shading.unwrap_or((look.shading, look.matcap));
        match &self.color {
            Some(Color::Weights(_)) => look.colors = SkinColors::Weights,
            Some(Color::WeightDifference(_)) => look.colors = SkinColors::WeightDifference,
            Some(Color::Strain) => look.colors = SkinColors::Strain,
            // The joint is not known.
            None if look.colors.is_of_joint() => look.colors = SkinColors::Material,
            None => {}
        }
        look.weights_against = self.weights_against.unwrap_or(look.weights_against);
        look.color_map = self.color_map.unwrap_or(look.color_map);
        look.backdrop = self.background.unwrap_or(look.backdrop);
        look.ground &= !self.no_ground;
        if self.cut.is_some() {
            (look.tets, look.cut) = (true, self.cut);
        }
        if let Some(named) = &self.field_cut {
            (look.fields, look.field_cut) = (true, named.cut);
        } else if saved.is_none() {
            look.field_cut.direction = FieldDirection::Camera;
        }
        look.ghosts = self.ghosts.unwrap_or(look.ghosts);
        look
    }

    /// Whether the options ask for the field of implicit skinning.
    pub(super) fn asks_for_fields(&self) -> bool {
        self.field_cut.is_some() || self.overlay.contains(&Extra::Fields)
    }

    /// Exactly the named overlays are drawn.
    fn overlay_in(&self, look: &mut Look) {
        let has = |extra: Extra| self.overlay.contains(&extra);
        look.wireframe = has(Extra::Wireframe);
        look.bones = has(Extra::Bones) || has(Extra::BonesInside);
        look.bones_in_front = !has(Extra::BonesInside);
        look.bone_volumes = has(Extra::Volumes);
        look.base_surface = has(Extra::Base);
        look.tets = has(Extra::Tets);
        look.voxels = has(Extra::Voxels);
        look.contacts = has(Extra::Contacts);
        look.fields = has(Extra::Fields);
        look.feet = has(Extra::Feet);
        look.normals = has(Extra::Normals);
        look.sections = has(Extra::Sections);
        look.findings = has(Extra::Findings);
        look.grid = has(Extra::Grid);
        if !has(Extra::Ghosts) {
            (look.ghosts.before, look.ghosts.after) = (0, 0);
        } else if !look.ghosts.any() {
            (look.ghosts.before, look.ghosts.after) = (2, 2);
        }
    }

    /// The joint whose weights are shown, or around which the field is.
    pub(super) fn joint(&self, subject: &Subject) -> Result<Option<usize>, Failure> {
        let coloured = match &self.color {
            Some(Color::Weights(name) | Color::WeightDifference(name)) => Some(name),
            Some(Color::Strain) | None => None,
        };
        let cut = self.field_cut.as_ref().and_then(|cut| cut.joint.as_ref());
        let joint = |name: Option<&String>| name.map(|name| joint_of(subject, name)).transpose();
        match (joint(coloured)?, joint(cut)?) {
            (Some(of_color), Some(of_cut)) if of_color != of_cut => Err(Failure::Usage(
                "--color and --field-cut name different joints: draw two pictures".to_owned(),
            )),
            (of_color, of_cut) => Ok(of_color.or(of_cut)),
        }
    }
}

/// The joint with that name.
pub(super) fn joint_of(subject: &Subject, name: &str) -> Result<usize, Failure> {
    let character = &subject.character;
    let found = character.skeleton.find_or_suggest(name);
    found.map_err(|error| {
        Failure::Undone(format!(
            "{}: {error}; `info -v` lists the joints",
            character.name
        ))
    })
}

pub(super) fn parse_compare(text: &str) -> Result<CompareOption, String> {
    let expected = "expected wipe, wipe:PART with a part of the width from 0 to 1, difference, or difference:MM with millimetres above 0";
    let (name, number) = text
        .split_once(':')
        .map_or((text, None), |(name, number)| (name, Some(number)));
    let number = number
        .map(|number| {
            number
                .trim()
                .parse::<f32>()
                .ok()
                .filter(|n| n.is_finite())
                .ok_or(expected)
        })
        .transpose()?;
    match (name, number) {
        ("wipe", None) => Ok((Compare::default(), None)),
        ("wipe", Some(part)) if (0.0..=1.0).contains(&part) => Ok((Compare::Wipe(part), None)),
        ("difference", None) => Ok((Compare::Difference, None)),
        ("difference", Some(mm)) if mm > 0.0 => Ok((Compare::Difference, Some(mm))),
        _ => Err(expected.to_owned()),
    }
}

fn parse_cut(text: &str) -> Result<CutPlane, String> {
    let expected = || {
        "expected x, y or z, perhaps with a part from 0 to 1, as in x, z:0.4 or -x:0.6".to_owned()
    };
    let (flipped, rest) = text
        .strip_prefix('-')
        .map_or((false, text), |rest| (true, rest));
    let (axis, offset) = rest.split_once(':').unwrap_or((rest, "0.5"));
    let axis = ["x", "y", "z"]
        .iter()
        .position(|name| axis.eq_ignore_ascii_case(name))
        .ok_or_else(expected)?;
    let offset = offset
        .trim()
        .parse::<f32>()
        .ok()
        .filter(|offset| (0.0..=1.0).contains(offset))
        .ok_or_else(expected)?;
    Ok(CutPlane {
        axis,
        offset,
        flipped,
    })
}

fn parse_ghosts(text: &str) -> Result<OnionSkins, String> {
    let expected = || {
        format!(
            "expected BEFORE,AFTER, each from 0 to {}, perhaps with seconds between, as in 2,2:0.1",
            OnionSkins::MOST
        )
    };
    let (counts, apart) = text.split_once(':').unwrap_or((text, "0.2"));
    let (before, after) = counts.split_once(',').ok_or_else(expected)?;
    let count = |text: &str| {
        text.trim()
            .parse::<usize>()
            .ok()
            .filter(|count| *count <= OnionSkins::MOST)
            .ok_or_else(expected)
    };
    let apart_secs = apart
        .trim()
        .parse::<f32>()
        .ok()
        .filter(|secs| (0.001..=60.0).contains(secs))
        .ok_or_else(expected)?;
    Ok(OnionSkins {
        before: count(before)?,
        after: count(after)?,
        apart_secs,
    })
}

fn parse_shading(text: &str) -> Result<(Shading, Matcap), String> {
    let (name, matcap) = text
        .split_once(':')
        .map_or((text, None), |(name, matcap)| (name, Some(matcap)));
    let shading = Shading::ALL
        .into_iter()
        .find(|shading| shading.id() == name);
    let known = |matcap: &str| Matcap::ALL.into_iter().find(|known| known.id() == matcap);
    match (shading, matcap.map(known)) {
        (Some(shading), None) => Ok((shading, Matcap::default())),
        (Some(Shading::Matcap), Some(Some(matcap))) => Ok((Shading::Matcap, matcap)),
        _ => Err(format!(
            "there are {}, and matcap: with {}",
            ids(Shading::ALL.map(Shading::id)),
            ids(Matcap::ALL.map(Matcap::id))
        )),
    }
}

fn parse_color(text: &str) -> Result<Color, String> {
    match text.split_once(':') {
        Some(("weights", joint)) if !joint.is_empty() => Ok(Color::Weights(joint.to_owned())),
        Some(("weight-difference", joint)) if !joint.is_empty() => {
            Ok(Color::WeightDifference(joint.to_owned()))
        }
        None if text == "strain" => Ok(Color::Strain),
        _ => Err("expected weights:JOINT, weight-difference:JOINT or strain".to_owned()),
    }
}

fn parse_map(id: &str) -> Result<ColorMap, String> {
    let known = ColorMap::SEQUENTIAL.into_iter().find(|map| map.id() == id);
    known.ok_or_else(|| format!("there are {}", ids(ColorMap::SEQUENTIAL.map(ColorMap::id))))
}

fn parse_background(id: &str) -> Result<Backdrop, String> {
    let known = Backdrop::ALL
        .into_iter()
        .find(|backdrop| backdrop.id() == id);
    known.ok_or_else(|| format!("there are {}", ids(Backdrop::ALL.map(Backdrop::id))))
}

fn ids<const N: usize>(ids: [&str; N]) -> String {
    ids.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_cuts_and_shadings_are_read() {
        assert_eq!(parse_compare("wipe"), Ok((Compare::Wipe(0.5), None)));
        assert_eq!(parse_compare("wipe:0.25"), Ok((Compare::Wipe(0.25), None)));
        assert_eq!(
            parse_compare("difference:20"),
            Ok((Compare::Difference, Some(20.0)))
        );
        for wrong in [
            "wipe:2",
            "wipe:",
            "difference:-1",
            "difference:nan",
            "flicker",
            "",
        ] {
            assert!(parse_compare(wrong).is_err(), "{wrong}");
        }
        assert_eq!(
            parse_cut("-z:0.25"),
            Ok(CutPlane {
                axis: 2,
                offset: 0.25,
                flipped: true
            })
        );
        assert_eq!(
            parse_cut("Y"),
            Ok(CutPlane {
                axis: 1,
                ..CutPlane::default()
            })
        );
        assert!(parse_cut("w").is_err() && parse_cut("x:7").is_err());
        assert_eq!(
            parse_ghosts("3,0"),
            Ok(OnionSkins {
                before: 3,
                after: 0,
                apart_secs: 0.2
            })
        );
        assert_eq!(
            parse_ghosts("1,2:0.5"),
            Ok(OnionSkins {
                before: 1,
                after: 2,
                apart_secs: 0.5
            })
        );
        for wrong in ["", "3", "3,9", "-1,2", "1,1:0", "1,1:nan", "a,b"] {
            assert!(parse_ghosts(wrong).is_err(), "{wrong}");
        }
        assert_eq!(
            parse_shading("matcap:zebra"),
            Ok((Shading::Matcap, Matcap::Zebra))
        );
        assert!(parse_shading("flat:zebra").is_err() && parse_shading("shiny").is_err());
        assert_eq!(
            parse_color("weights:forearm.L"),
            Ok(Color::Weights("forearm.L".to_owned()))
        );
        assert!(parse_color("weights:").is_err() && parse_color("joy").is_err());
    }
}
