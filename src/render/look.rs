//! How a view is drawn: everything that can be switched, in one value that files keep.

use serde::{Deserialize, Serialize};

use super::colormap::ColorMap;
use super::scene::{Background, Light, MeshStyle, WIRE_COLOR};

/// How much of the skin remains when something inside it is shown …
const SEE_THROUGH: f32 = 0.35;
/// … when it is seen through on purpose …
const XRAY: f32 = 0.2;
/// … and when that is a thicket of tets.
const BARELY_THERE: f32 = 0.15;
/// … and when the flesh is cut open.
const HINT: f32 = 0.09;

/// How light falls on the skin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shading {
    /// The file's colours and textures in a neutral studio; clay where it has none.
    #[default]
    Textured,
    /// Clay in a neutral studio.
    Studio,
    /// A ball of some material, looked up by the normal: shape without light that moves.
    Matcap,
    /// Clay with one tone per face: shows the triangles as they are.
    Flat,
}

impl Shading {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Textured, Self::Studio, Self::Matcap, Self::Flat];

    /// Key in files and on the command line.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Textured => "textured",
            Self::Studio => "studio",
            Self::Matcap => "matcap",
            Self::Flat => "flat",
        }
    }
}

/// The ball of [`Shading::Matcap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Matcap {
    /// Warm modelling clay.
    #[default]
    Clay,
    /// White, with soft highlights.
    Porcelain,
    /// Red wax, as sculptors like it.
    Wax,
    /// Dark metal: shows every dent.
    Metal,
    /// Black and white stripes: smooth surfaces have smooth stripes.
    Zebra,
    /// The normal as a colour.
    Normals,
}

impl Matcap {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Clay, Self::Porcelain, Self::Wax, Self::Metal, Self::Zebra, Self::Normals];

    /// Key in files and on the command line.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Clay => "clay",
            Self::Porcelain => "porcelain",
            Self::Wax => "wax",
            Self::Metal => "metal",
            Self::Zebra => "zebra",
            Self::Normals => "normals",
        }
    }
}

/// A number per vertex that the skin is coloured by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkinColors {
    /// None: the skin looks as [`Shading`] says.
    #[default]
    Material,
    /// How much the selected joint moves each vertex by linear blending.
    Weights,
    /// How much longer or shorter the edges around each vertex are than at rest.
    Strain,
}

impl SkinColors {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Material, Self::Weights, Self::Strain];
}

/// What stands behind everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backdrop {
    /// A dark neutral studio.
    #[default]
    Dark,
    /// A light neutral studio.
    Light,
    /// Plain white.
    White,
    /// From a blue sky to a dark horizon.
    Gradient,
    /// Nothing: pictures that are written are see-through there.
    Transparent,
}

impl Backdrop {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Dark, Self::Light, Self::White, Self::Gradient, Self::Transparent];

    /// Key in files and on the command line.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Dark => "dark",
            Self::Light => "light",
            Self::White => "white",
            Self::Gradient => "gradient",
            Self::Transparent => "transparent",
        }
    }

    /// Its colours.
    #[must_use]
    pub fn background(self) -> Background {
        match self {
            Self::Dark => Background::DARK,
            Self::Light => Background::STUDIO,
            Self::White => Background::WHITE,
            Self::Gradient => Background::GRADIENT,
            Self::Transparent => Background::NONE,
        }
    }
}

/// A plane that cuts the flesh open, square to an axis of the world.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cut {
    /// 0, 1, 2 for x, y, z.
    pub axis: usize,
    /// Where, as a part of the way through the character's box in the bind pose, 0 to 1.
    pub offset: f32,
    /// Keeps the other side.
    pub flipped: bool,
}

impl Default for Cut {
    fn default() -> Self {
        Self { axis: 0, offset: 0.5, flipped: false }
    }
}

/// Skins of moments before and after this one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ghosts {
    /// How many before.
    pub before: usize,
    /// How many after.
    pub after: usize,
    /// How far apart, seconds of the clip.
    pub apart_secs: f32,
}

impl Default for Ghosts {
    fn default() -> Self {
        Self { before: 0, after: 0, apart_secs: 0.2 }
    }
}

impl Ghosts {
    /// Most in one direction.
    pub const MOST: usize = 5;

    /// Whether there are any.
    #[must_use]
    pub fn any(&self) -> bool {
        self.before + self.after > 0
    }

    /// When they are, seconds from now, the farthest first.
    pub fn offsets_secs(&self) -> impl Iterator<Item = f64> + use<> {
        let apart = f64::from(if self.apart_secs.is_finite() { self.apart_secs.clamp(0.001, 60.0) } else { 0.2 });
        let (before, after) = (self.before.min(Self::MOST), self.after.min(Self::MOST));
        let past = (1..=before).rev().map(move |n| -(n as f64) * apart);
        past.chain((1..=after).rev().map(move |n| n as f64 * apart))
    }
}

/// How a view is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches, each a checkbox")]
pub struct Look {
    /// The skin itself.
    pub skin: bool,
    /// It is seen through.
    pub xray: bool,
    /// How light falls on it.
    pub shading: Shading,
    /// The ball of [`Shading::Matcap`].
    pub matcap: Matcap,
    /// A number that it is coloured by.
    pub colors: SkinColors,
    /// The colours of amounts: weights and differences.
    pub color_map: ColorMap,
    /// Edges of the skin's triangles.
    pub wireframe: bool,
    /// Bones as octahedra.
    pub bones: bool,
    /// Bones are seen through the skin.
    pub bones_in_front: bool,
    /// Spheres and cones the flesh grows on.
    pub bone_volumes: bool,
    /// The skin shrunken on the bone volumes.
    pub base_surface: bool,
    /// Tetrahedra of the flesh.
    pub tets: bool,
    /// Cuts the tetrahedra open.
    pub cut: Option<Cut>,
    /// Pairs that touch.
    pub contacts: bool,
    /// From each vertex of the simulated skin to its foot point on the bone.
    pub feet: bool,
    /// Velocities of the simulated skin.
    pub velocities: bool,
    /// Normals of the skin.
    pub normals: bool,
    /// Places that the check-up found.
    pub findings: bool,
    /// Moments before and after.
    pub ghosts: Ghosts,
    /// Shadow on the floor.
    pub ground: bool,
    /// Grid on the floor.
    pub grid: bool,
    /// What stands behind.
    pub backdrop: Backdrop,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            skin: true,
            xray: false,
            shading: Shading::default(),
            matcap: Matcap::default(),
            colors: SkinColors::default(),
            color_map: ColorMap::default(),
            wireframe: false,
            bones: false,
            bones_in_front: true,
            bone_volumes: false,
            base_surface: false,
            tets: false,
            cut: None,
            contacts: false,
            feet: false,
            velocities: false,
            normals: false,
            findings: false,
            ghosts: Ghosts::default(),
            ground: true,
            grid: true,
            backdrop: Backdrop::default(),
        }
    }
}

impl Look {
    /// Whether something is shown that lies inside the skin, so that the skin must let it show.
    #[must_use]
    pub fn shows_inside(&self) -> bool {
        self.xray || self.bone_volumes || self.base_surface || self.tets || self.feet || (self.bones && !self.bones_in_front)
    }

    /// Whether something is shown that only flesh has.
    #[must_use]
    pub fn shows_flesh(&self) -> bool {
        self.bone_volumes || self.base_surface || self.tets || self.feet || self.contacts
    }

    /// How the skin is drawn while its colours are numbers.
    #[must_use]
    pub fn data_style(&self) -> MeshStyle {
        MeshStyle { vertex_colors: 1.0, materials: false, light: Light::Data, ..self.mesh_style() }
    }

    /// How the skin is drawn.
    #[must_use]
    pub fn mesh_style(&self) -> MeshStyle {
        MeshStyle {
            opacity: if self.tets && self.cut.is_some() {
                HINT
            } else if self.tets {
                BARELY_THERE
            } else if self.xray {
                XRAY
            } else if self.shows_inside() {
                SEE_THROUGH
            } else {
                1.0
            },
            // A veil of textures would colour what is inside.
            materials: self.shading == Shading::Textured && !self.tets,
            wireframe: self.wireframe.then_some(WIRE_COLOR),
            light: match self.shading {
                Shading::Textured | Shading::Studio => Light::Studio,
                Shading::Matcap => Light::Matcap(self.matcap),
                Shading::Flat => Light::Flat,
            },
            ..MeshStyle::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_name_only_what_differs_and_later_switches_are_off() {
        let read: Look = serde_json::from_str(r#"{"wireframe":true,"shading":"matcap","cut":{"axis":2}}"#).expect("a look");
        let expected = Look { wireframe: true, shading: Shading::Matcap, cut: Some(Cut { axis: 2, ..Cut::default() }), ..Look::default() };
        assert_eq!(read, expected);
        let text = serde_json::to_string(&expected).expect("text");
        assert_eq!(serde_json::from_str::<Look>(&text).expect("a look"), expected);
    }

    #[test]
    fn ghosts_stand_evenly_around_now_and_not_at_it() {
        let ghosts = Ghosts { before: 2, after: 1, apart_secs: 0.5 };
        assert_eq!(ghosts.offsets_secs().collect::<Vec<_>>(), [-1.0, -0.5, 0.5]);
        let mad = Ghosts { before: 9999, after: 0, apart_secs: f32::NAN };
        assert_eq!(mad.offsets_secs().count(), Ghosts::MOST);
        assert!(mad.offsets_secs().all(f64::is_finite));
    }
}
