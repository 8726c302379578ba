//! What stays the same from picture to picture: device, model, camera, floor.

use image::RgbaImage;

use super::{Extra, Posed, Render};
use crate::cli::{Failure, stderr};
use crate::gpu::GpuContext;
use crate::math::Point;
use crate::mesh::Bounds;
use crate::render::{Background, Camera, Ground, MeshDraw, MeshFrame, MeshModel, MeshStyle, Overlay, Renderer, Scene, Sheet, WIRE_COLOR};
use crate::skin::Subject;

/// How much of the skin remains when its inside is shown.
const SEE_THROUGH: f32 = 0.35;

/// Draws sheets of pictures, all with one camera.
pub(super) struct Stage {
    renderer: Renderer,
    mesh: MeshFrame,
    sheet: Sheet,
    size: [u32; 2],
    labels: Vec<&'static str>,
    camera: Camera,
    ground: Ground,
    style: MeshStyle,
}

impl Stage {
    /// A stage whose camera sees everything that is posed.
    pub(super) fn new<'p>(render: &Render, subject: &Subject, posed: impl IntoIterator<Item = &'p Posed>) -> Result<Self, Failure> {
        let gpu = stderr::without_wayland_noise(GpuContext::headless)?;
        let methods = render.method.len();
        let size = render.size(methods);
        gpu.check_size(size[0], size[1])?;
        let renderer = Renderer::new(&gpu);
        let sheet = Sheet::new(size, methods);
        // A lone picture says nothing that the command did not.
        let labels: Vec<_> = if methods > 1 { render.method.iter().map(|method| method.label()).collect() } else { Vec::new() };
        let points: Vec<Point> = posed.into_iter().flat_map(|posed| &posed.positions).copied().collect();
        let camera = render.camera(&points, &sheet, !labels.is_empty());
        let style = MeshStyle {
            opacity: if render.shows_inside() { SEE_THROUGH } else { 1.0 },
            wireframe: render.overlay.contains(&Extra::Wireframe).then_some(WIRE_COLOR),
            ..MeshStyle::default()
        };
        let mesh = MeshFrame::new(&renderer, &MeshModel::of_character(&renderer, &subject.character));
        let ground = Ground { height: Bounds::of(&points).min.y, grid: None };
        Ok(Self { renderer, mesh, sheet, size, labels, camera, ground, style })
    }

    /// Width and height of a sheet.
    pub(super) fn size(&self) -> [u32; 2] {
        self.size
    }

    /// One picture a method, on one sheet; the camera has gone round by `turn` radians.
    pub(super) fn sheet<'p>(
        &mut self,
        posed: impl IntoIterator<Item = &'p Posed>,
        overlays: &[Overlay],
        turn: f32,
    ) -> Result<RgbaImage, Failure> {
        let mut camera = self.camera;
        camera.orbit(turn, 0.0);
        let mut pictures = Vec::new();
        for (index, posed) in posed.into_iter().enumerate() {
            self.mesh.update(self.renderer.gpu(), &posed.positions, &posed.normals);
            let scene = Scene {
                meshes: vec![MeshDraw { mesh: &self.mesh, colors: None, style: self.style }],
                overlays: overlays.iter().collect(),
                ground: Some(self.ground),
                background: Background::STUDIO,
                ..Scene::default()
            };
            let [width, height] = self.sheet.cell(index);
            pictures.push(self.renderer.render_to_image(&camera, &scene, width, height)?);
        }
        Ok(self.sheet.compose(&pictures, &self.labels))
    }
}
