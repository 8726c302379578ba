//! A single picture of a character, for the command line.

use super::camera::Camera;
use super::mesh::{MeshFrame, MeshModel};
use super::overlay::Overlay;
use super::renderer::Renderer;
use super::scene::{Background, Ground, MeshDraw, MeshStyle, Scene};
use crate::character::Character;
use crate::gpu::GpuError;
use crate::math::{Point, Vec3};

/// Contents of a picture.
#[derive(Debug, Clone, Copy)]
pub struct CharacterPicture<'a> {
    /// The character: materials and triangles.
    pub character: &'a Character,
    /// Source vertices, one mesh after the other.
    pub positions: &'a [Point],
    /// Unit normals, one per position.
    pub normals: &'a [Vec3],
    /// Overlays, such as bones.
    pub overlays: &'a [Overlay],
    /// From where.
    pub camera: &'a Camera,
    /// Style of the character.
    pub style: MeshStyle,
    /// Background.
    pub background: Background,
    /// The floor; `None` for none.
    pub ground: Option<Ground>,
    /// Width and height in pixels.
    pub size: [u32; 2],
}

impl Renderer {
    /// Takes a picture of a character, with shadows and ambient occlusion.
    ///
    /// # Errors
    /// [`GpuError::Size`] for a size beyond the device's limit, [`GpuError::Readback`] if the
    /// device was lost.
    pub fn picture(&self, picture: &CharacterPicture<'_>) -> Result<image::RgbaImage, GpuError> {
        let model = MeshModel::of_character(self, picture.character);
        let mut mesh = MeshFrame::new(self, &model);
        mesh.update(self.gpu(), picture.positions, picture.normals);
        let scene = Scene {
            meshes: vec![MeshDraw {
                mesh: &mesh,
                colors: None,
                style: picture.style,
            }],
            overlays: picture.overlays.iter().collect(),
            ground: picture.ground,
            background: picture.background,
            ..Scene::default()
        };
        self.render_to_image(picture.camera, &scene, picture.size[0], picture.size[1])
    }
}
