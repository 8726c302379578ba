//! Display settings of a view, as one value that files store.

use serde::{Deserialize, Serialize};

use super::colormap::ColorMap;
use super::field_cut::FieldCut;
use super::scene::{Background, Light, MeshStyle, WIRE_COLOR};
use crate::character::PaintMap;
use crate::weights::WeightMethod;

/// Opacity of the skin when something inside it is shown …
const SEE_THROUGH: f32 = 0.35;
/// … when X-ray is switched on …
const XRAY: f32 = 0.2;
/// … when tets, voxels or fields are shown …
const FAINT_OPACITY: f32 = 0.15;
/// … and when the tissue is cut open.
const HINT: f32 = 0.09;

/// Lighting of the skin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shading {
    /// The file's colours and textures under neutral studio lights; clay where there are none.
    #[default]
    Textured,
    /// Clay under neutral studio lights.
    Studio,
    /// A material image looked up by the normal: shape without fixed lights.
    Matcap,
    /// Clay with one tone per face: shows the triangles.
    Flat,
}

impl Shading {
    /// All values.
    pub const ALL: [Self; 4] = [Self::Textured, Self::Studio, Self::Matcap, Self::Flat];

    /// Identifier in files and on the command line.
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

/// Material image of [`Shading::Matcap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Matcap {
    /// Warm modelling clay.
    #[default]
    Clay,
    /// White, with soft highlights.
    Porcelain,
    /// Red wax.
    Wax,
    /// Dark metal: emphasises dents.
    Metal,
    /// Black and white stripes: show surface smoothness.
    Zebra,
    /// The normal as a colour.
    Normals,
}

impl Matcap {
    /// All values.
    pub const ALL: [Self; 6] = [
        Self::Clay,
        Self::Porcelain,
        Self::Wax,
        Self::Metal,
        Self::Zebra,
        Self::Normals,
    ];

    /// Identifier in files and on the command line.
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

/// A quantity per vertex that colours the skin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkinColors {
    /// None: the skin is drawn by [`Shading`].
    #[default]
    Material,
    /// Linear-blend weight of the selected joint.
    Weights,
    /// Weight of the selected joint minus that by another weight method ([`Look::weights_against`]).
    WeightDifference,
    /// Relative length change of the edges around each vertex.
    Strain,
    /// Painted stiffness.
    Stiffness,
    /// Painted hold.
    Held,
    /// Painted thickness.
    Thickness,
    /// Painted relaxation.
    Relaxation,
}

impl SkinColors {
    /// All values.
    pub const ALL: [Self; 8] = [
        Self::Material,
        Self::Weights,
        Self::WeightDifference,
        Self::Strain,
        Self::Stiffness,
        Self::Held,
        Self::Thickness,
        Self::Relaxation,
    ];

    /// The colours of a painted map.
    #[must_use]
    pub fn of_paint(map: PaintMap) -> Self {
        match map {
            PaintMap::Stiffness => Self::Stiffness,
            PaintMap::Held => Self::Held,
            PaintMap::Thickness => Self::Thickness,
            PaintMap::Relaxation => Self::Relaxation,
        }
    }

    /// The painted map that it shows, if it shows one.
    #[must_use]
    pub fn paint(self) -> Option<PaintMap> {
        PaintMap::ALL
            .into_iter()
            .find(|map| Self::of_paint(*map) == self)
    }

    /// Whether it shows a joint, which must be selected.
    #[must_use]
    pub fn is_of_joint(self) -> bool {
        matches!(self, Self::Weights | Self::WeightDifference)
    }
}

/// Background.
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
    /// Transparent in written pictures.
    Transparent,
}

impl Backdrop {
    /// All values.
    pub const ALL: [Self; 5] = [
        Self::Dark,
        Self::Light,
        Self::White,
        Self::Gradient,
        Self::Transparent,
    ];

    /// Identifier in files and on the command line.
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

/// A plane that cuts the tissue open, perpendicular to a world axis.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CutPlane {
    /// 0, 1, 2 for x, y, z.
    pub axis: usize,
    /// Position, as a fraction of the character's bounding box in the bind pose, 0 to 1.
    pub offset: f32,
    /// Keeps the other side.
    pub flipped: bool,
}

impl Default for CutPlane {
    fn default() -> Self {
        Self {
            axis: 0,
            offset: 0.5,
            flipped: false,
        }
    }
}

/// Onion skins: skins at times before and after the current one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OnionSkins {
    /// Number before.
    pub before: usize,
    /// Number after.
    pub after: usize,
    /// Spacing, seconds of the clip.
    pub apart_secs: f32,
}

impl Default for OnionSkins {
    fn default() -> Self {
        Self {
            before: 0,
            after: 0,
            apart_secs: 0.2,
        }
    }
}

impl OnionSkins {
    /// Maximum number in one direction.
    pub const MOST: usize = 5;

    /// Whether there are any.
    #[must_use]
    pub fn any(&self) -> bool {
        self.before + self.after > 0
    }

    /// Their times relative to now, seconds, the farthest first.
    pub fn offsets_secs(&self) -> impl Iterator<Item = f64> + use<> {
        let apart = f64::from(if self.apart_secs.is_finite() {
            self.apart_secs.clamp(0.001, 60.0)
        } else {
            0.2
        });
        let (before, after) = (self.before.min(Self::MOST), self.after.min(Self::MOST));
        let past = (1..=before).rev().map(move |n| -(n as f64) * apart);
        past.chain((1..=after).rev().map(move |n| n as f64 * apart))
    }
}

/// Display settings of a view.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches, each a checkbox"
)]
pub struct Look {
    /// Draws the skin.
    pub skin: bool,
    /// Draws the skin transparent (X-ray).
    pub xray: bool,
    /// Lighting of the skin.
    pub shading: Shading,
    /// Material image of [`Shading::Matcap`].
    pub matcap: Matcap,
    /// Quantity that colours the skin.
    pub colors: SkinColors,
    /// The weight method that [`SkinColors::WeightDifference`] compares with.
    pub weights_against: WeightMethod,
    /// Colour map of amounts: weights and differences.
    pub color_map: ColorMap,
    /// End of the colours of a distance map, millimetres; automatic if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance_max_mm: Option<f32>,
    /// Edges of the skin's triangles.
    pub wireframe: bool,
    /// Bones as octahedra.
    pub bones: bool,
    /// Draws bones visible through the skin.
    pub bones_in_front: bool,
    /// Spheres and cones of the bone volumes.
    pub bone_volumes: bool,
    /// The base surface.
    pub base_surface: bool,
    /// Tetrahedra of the tissue.
    pub tets: bool,
    /// Cuts the tetrahedra open.
    pub cut: Option<CutPlane>,
    /// The voxel domain that automatic weights are computed on, in the bind pose.
    pub voxels: bool,
    /// The composed field of implicit skinning in a plane.
    pub fields: bool,
    /// That plane.
    pub field_cut: FieldCut,
    /// Contact pairs.
    pub contacts: bool,
    /// Lines from each vertex of the simulated skin to its foot point on the bone.
    pub feet: bool,
    /// Velocities of the simulated skin.
    pub velocities: bool,
    /// Normals of the skin.
    pub normals: bool,
    /// Sections of the skin around the joints, coloured by the change of girth.
    pub sections: bool,
    /// Findings of the check-up.
    pub findings: bool,
    /// Onion skins.
    pub ghosts: OnionSkins,
    /// Shadow on the floor.
    pub ground: bool,
    /// Grid on the floor.
    pub grid: bool,
    /// Background.
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
            weights_against: WeightMethod::default(),
            color_map: ColorMap::default(),
            distance_max_mm: None,
            wireframe: false,
            bones: false,
            bones_in_front: true,
            bone_volumes: false,
            base_surface: false,
            tets: false,
            cut: None,
            voxels: false,
            fields: false,
            field_cut: FieldCut::default(),
            contacts: false,
            feet: false,
            velocities: false,
            normals: false,
            sections: false,
            findings: false,
            ghosts: OnionSkins::default(),
            ground: true,
            grid: true,
            backdrop: Backdrop::default(),
        }
    }
}

impl Look {
    /// Whether something inside the skin is shown, so that the skin must be transparent.
    #[must_use]
    pub fn shows_inside(&self) -> bool {
        self.xray
            || self.bone_volumes
            || self.base_surface
            || self.tets
            || self.voxels
            || self.fields
            || self.feet
            || (self.bones && !self.bones_in_front)
    }

    /// Whether something is shown that requires tissue.
    #[must_use]
    pub fn shows_flesh(&self) -> bool {
        self.bone_volumes || self.base_surface || self.tets || self.feet || self.contacts
    }

    /// How the skin is drawn when its colours represent numbers.
    #[must_use]
    pub fn data_style(&self) -> MeshStyle {
        MeshStyle {
            vertex_colors: 1.0,
            materials: false,
            light: Light::Data,
            ..self.mesh_style()
        }
    }

    /// How the skin is drawn.
    #[must_use]
    pub fn mesh_style(&self) -> MeshStyle {
        MeshStyle {
            opacity: if self.tets && self.cut.is_some() {
                HINT
            } else if self.tets || self.voxels || self.fields {
                FAINT_OPACITY
            } else if self.xray {
                XRAY
            } else if self.shows_inside() {
                SEE_THROUGH
            } else {
                1.0
            },
            // Transparent textures would tint the interior.
            materials: self.shading == Shading::Textured
                && !(self.tets || self.voxels || self.fields),
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
mod tests;
