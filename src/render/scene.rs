//! Contents of a picture.

use super::legend::round_down;
use super::look::Matcap;
use super::mesh::{MeshColors, MeshFrame};
use super::overlay::Overlay;

/// Linear light from an 8-bit sRGB colour.
#[must_use]
pub fn linear_from_srgb(srgb: [u8; 3]) -> [f32; 3] {
    srgb.map(|value| {
        let v = f32::from(value) / 255.0;
        if v <= 0.040_45 {
            v / 12.92
        } else {
            ((v + 0.055) / 1.055).powf(2.4)
        }
    })
}

/// Background: a vertical gradient of 8-bit sRGB colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Background {
    /// Upper edge.
    pub top: [u8; 3],
    /// Lower edge.
    pub bottom: [u8; 3],
    /// Whether it is opaque: otherwise the picture is transparent there, with premultiplied alpha.
    pub visible: bool,
}

impl Background {
    /// A light neutral studio, for papers and prints.
    pub const STUDIO: Self = Self {
        top: [226, 229, 233],
        bottom: [196, 199, 204],
        visible: true,
    };
    /// A dark neutral studio, for long work at a screen.
    pub const DARK: Self = Self {
        top: [62, 66, 73],
        bottom: [38, 40, 45],
        visible: true,
    };
    /// Plain white.
    pub const WHITE: Self = Self {
        top: [255; 3],
        bottom: [255; 3],
        visible: true,
    };
    /// From a blue sky to a dark horizon.
    pub const GRADIENT: Self = Self {
        top: [112, 136, 164],
        bottom: [44, 47, 54],
        visible: true,
    };
    /// Transparent. The colours are used to choose the floor grid's colour.
    pub const NONE: Self = Self {
        visible: false,
        ..Self::STUDIO
    };

    /// A text colour legible on it.
    #[must_use]
    pub fn ink(&self) -> [u8; 3] {
        ink_on(self.top)
    }
}

/// Dark or light text, whichever is legible on this colour.
pub(super) fn ink_on(srgb: [u8; 3]) -> [u8; 3] {
    let [r, g, b] = linear_from_srgb(srgb);
    if 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 {
        [34, 37, 42]
    } else {
        [236, 238, 241]
    }
}

/// The floor: it receives the shadow, and may show a grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ground {
    /// Its height along the camera's up axis, scene units.
    pub height: f32,
    /// Spacing of the fine grid lines in scene units, every tenth of them stronger; `None` shows no
    /// grid.
    pub grid: Option<f32>,
}

impl Ground {
    /// A round grid spacing for a character of this size: about an eighth of it, 1, 2 or 5 times a
    /// power of ten.
    #[must_use]
    pub fn grid_step(size: f32) -> f32 {
        round_down((size / 8.0).max(1e-6))
    }
}

/// Lighting of a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Light {
    /// A photographer's studio with shadows.
    #[default]
    Studio,
    /// A material image looked up by the normal.
    Matcap(Matcap),
    /// One tone per face.
    Flat,
    /// Minimal shading: the colours represent numbers.
    Data,
}

/// How one mesh is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeshStyle {
    /// Opacity; below 1 the inside is visible.
    pub opacity: f32,
    /// Uses the file's textures and colours; otherwise everything is clay.
    pub materials: bool,
    /// Linear colour of the clay.
    pub clay: [f32; 3],
    /// Linear colour and opacity of the edges; `None` draws no wireframe.
    pub wireframe: Option<[f32; 4]>,
    /// Coverage of the material by the per-vertex colours, 0 to 1.
    pub vertex_colors: f32,
    /// Lighting.
    pub light: Light,
    /// Whether it casts shadows and ambient occlusion; onion skins do not.
    pub casts: bool,
}

/// Default edges: linear colour and opacity.
pub const WIRE_COLOR: [f32; 4] = [0.012, 0.016, 0.024, 0.45];

/// Clay: a warm light grey, linear.
pub const CLAY: [f32; 3] = [0.50, 0.452, 0.415];

impl Default for MeshStyle {
    fn default() -> Self {
        Self {
            opacity: 1.0,
            materials: true,
            clay: CLAY,
            wireframe: None,
            vertex_colors: 0.0,
            light: Light::Studio,
            casts: true,
        }
    }
}

impl MeshStyle {
    /// An onion skin at a time offset in seconds: faint, blue before and orange after.
    #[must_use]
    pub fn ghost(offset_secs: f64) -> Self {
        let clay = if offset_secs < 0.0 {
            [0.16, 0.34, 0.72]
        } else {
            [0.86, 0.42, 0.12]
        };
        Self {
            opacity: 0.16,
            materials: false,
            clay,
            light: Light::Data,
            casts: false,
            ..Self::default()
        }
    }
}

/// A mesh in a picture.
#[derive(Debug, Clone, Copy)]
pub struct MeshDraw<'a> {
    /// Its present shape.
    pub mesh: &'a MeshFrame,
    /// Colours of its vertices, shown where [`MeshStyle::vertex_colors`] is above 0.
    pub colors: Option<&'a MeshColors>,
    /// Its style.
    pub style: MeshStyle,
}

/// Everything in a picture. `Scene::default()` is an empty studio.
#[derive(Debug, Clone)]
pub struct Scene<'a> {
    /// Surfaces.
    pub meshes: Vec<MeshDraw<'a>>,
    /// Lines, triangles, bones.
    pub overlays: Vec<&'a Overlay>,
    /// The floor, if any.
    pub ground: Option<Ground>,
    /// Background.
    pub background: Background,
    /// Cast shadows from the key light.
    pub shadows: bool,
    /// Ambient occlusion.
    pub occlusion: bool,
    /// Scale of line widths: pixels per point of the screen.
    pub scale: f32,
}

impl Default for Scene<'_> {
    fn default() -> Self {
        Self {
            meshes: Vec::new(),
            overlays: Vec::new(),
            ground: None,
            background: Background::DARK,
            shadows: true,
            occlusion: true,
            scale: 1.0,
        }
    }
}

impl<'a> Scene<'a> {
    /// One mesh on a floor at `height`.
    #[must_use]
    pub fn of(mesh: &'a MeshFrame, style: MeshStyle, height: f32) -> Self {
        Self {
            meshes: vec![MeshDraw {
                mesh,
                colors: None,
                style,
            }],
            ground: Some(Ground { height, grid: None }),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grid_spacing_is_round_and_at_most_an_eighth() {
        for (size, expected) in [
            (2.0_f32, 0.2_f32),
            (200.0, 20.0),
            (1.0, 0.1),
            (9.0, 1.0),
            (5.0, 0.5),
            (3.3, 0.2),
            (70.0, 5.0),
            (8.0, 1.0),
        ] {
            assert!(
                (Ground::grid_step(size) / expected - 1.0).abs() < 1e-4,
                "{size}: {}",
                Ground::grid_step(size)
            );
        }
    }
}
