//! Draws the picture behind the handles.

use std::sync::Arc;
use std::time::Instant;

use egui::TextureId;

use super::tissue_overlays::TissueOverlays;
use crate::app::actions::Overlays;
use crate::app::surface::WindowSurface;
use crate::math::{Affine, Point, origin_of};
use crate::render::{
    Background, BoneGlyph, BoneState, Camera, Ground, Layer, MeshDraw, MeshFrame, MeshModel, MeshStyle, Overlay, Renderer, Scene, Target,
    WIRE_COLOR,
};
use crate::rig::Skeleton;
use crate::session::Snapshot;
use crate::skin::Subject;

/// What shall be seen.
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    /// Pixels.
    pub size: [u32; 2],
    /// From where.
    pub camera: &'a Camera,
    /// The flesh; none shows an empty studio.
    pub snapshot: Option<&'a Arc<Snapshot>>,
    /// The selected joint.
    pub selected: Option<usize>,
    /// The joint under the pointer.
    pub hovered: Option<usize>,
    /// What to draw.
    pub overlays: Overlays,
    /// Height of the floor.
    pub ground_height: f32,
    /// Diagonal of the character's box.
    pub character_size: f32,
}

/// Draws pictures into a texture that egui can show. Tests and headless runs have none.
pub trait ViewportPainter {
    /// Draws, if anything has changed since the last time; the texture of the picture and the milliseconds spent.
    fn paint(&mut self, picture: &Picture<'_>) -> Option<(TextureId, f64)>;
}

/// Draws nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPainter;

impl ViewportPainter for NoPainter {
    fn paint(&mut self, _picture: &Picture<'_>) -> Option<(TextureId, f64)> {
        None
    }
}

/// Draws with [`Renderer`].
pub struct GpuPainter {
    renderer: Renderer,
    target: Option<(Target, TextureId)>,
    skin: Option<Skin>,
    bones: Overlay,
    tissue: TissueOverlays,
    drawn: Option<Key>,
}

/// The character on the GPU.
struct Skin {
    subject: Arc<Subject>,
    frame: MeshFrame,
    sequence: u64,
}

/// Everything that a picture depends on; equal keys make equal pictures.
#[derive(Debug, Clone, PartialEq)]
struct Key {
    size: [u32; 2],
    camera: Camera,
    subject: Option<*const Subject>,
    sequence: u64,
    highlighted: [Option<usize>; 2],
    overlays: Overlays,
    ground_height: f32,
}

impl Key {
    fn of(picture: &Picture<'_>) -> Self {
        Self {
            size: picture.size,
            camera: *picture.camera,
            subject: picture.snapshot.map(|snapshot| Arc::as_ptr(&snapshot.subject)),
            sequence: picture.snapshot.map_or(0, |snapshot| snapshot.sequence),
            highlighted: [picture.selected, picture.hovered],
            overlays: picture.overlays,
            ground_height: picture.ground_height,
        }
    }
}

impl GpuPainter {
    /// Compiles the shaders for the window's device.
    #[must_use]
    pub fn new(surface: &WindowSurface) -> Self {
        Self {
            renderer: Renderer::new(surface.gpu()),
            target: None,
            skin: None,
            bones: Overlay::new(Layer::FrontGlass),
            tissue: TissueOverlays::default(),
            drawn: None,
        }
    }

    /// The painter with the surface that its textures are registered with.
    pub fn on<'a>(&'a mut self, surface: &'a mut WindowSurface) -> PainterOn<'a> {
        PainterOn { painter: self, surface }
    }

    fn update_skin(&mut self, snapshot: Option<&Arc<Snapshot>>) {
        let Some(snapshot) = snapshot else {
            self.skin = None;
            return;
        };
        if self.skin.as_ref().is_none_or(|skin| !Arc::ptr_eq(&skin.subject, &snapshot.subject)) {
            let model = MeshModel::of_character(&self.renderer, &snapshot.subject.character);
            let frame = MeshFrame::new(&self.renderer, &model);
            self.skin = Some(Skin { subject: snapshot.subject.clone(), frame, sequence: 0 });
        }
        if let Some(skin) = self.skin.as_mut().filter(|skin| skin.sequence != snapshot.sequence) {
            skin.frame.update(self.renderer.gpu(), &snapshot.positions, &snapshot.normals);
            skin.sequence = snapshot.sequence;
        }
    }

    fn update_bones(&mut self, picture: &Picture<'_>) {
        self.bones.clear();
        let Some(snapshot) = picture.snapshot.filter(|_| picture.overlays.bones) else { return };
        let skeleton = &snapshot.subject.character.skeleton;
        let bones = bone_glyphs(skeleton, &snapshot.world_from_joint, picture);
        self.bones.bones(&bones, picture.character_size * 0.006);
    }

    fn draw(&mut self, picture: &Picture<'_>) {
        self.update_skin(picture.snapshot);
        self.update_bones(picture);
        self.tissue.update(picture.snapshot, picture.overlays);
        let overlays = picture.overlays;
        let style = MeshStyle {
            opacity: if overlays.tets {
                0.15
            } else if overlays.shows_inside() {
                0.35
            } else {
                1.0
            },
            materials: overlays.textures,
            wireframe: overlays.wireframe.then_some(WIRE_COLOR),
            ..MeshStyle::default()
        };
        let ground = overlays.ground.then(|| Ground { height: picture.ground_height, grid: Some(grid_step(picture.character_size)) });
        let scene = Scene {
            meshes: self.skin.iter().filter(|_| overlays.skin).map(|skin| MeshDraw { mesh: &skin.frame, style }).collect(),
            overlays: self.tissue.overlays().into_iter().chain([&self.bones]).collect(),
            ground,
            background: Background::DARK,
            // Software draws on the cores that the flesh needs.
            occlusion: !self.renderer.gpu().is_software(),
            ..Scene::default()
        };
        if let Some((target, _)) = &mut self.target {
            self.renderer.render(target, picture.camera, &scene);
        }
    }
}

/// A bone for each child of a joint that was posed, with what is selected or under the pointer marked.
fn bone_glyphs(skeleton: &Skeleton, world_from_joint: &[Affine], picture: &Picture<'_>) -> Vec<BoneGlyph> {
    let at = |joint: usize| -> Option<Point> { world_from_joint.get(joint).map(|world| origin_of(world).cast()) };
    let bones = skeleton.joints().iter().enumerate().filter_map(|(child, joint)| {
        let parent = joint.parent.filter(|parent| skeleton.joints()[*parent].deforms || joint.deforms)?;
        let state = if picture.selected == Some(parent) {
            BoneState::Selected
        } else if picture.hovered == Some(parent) {
            BoneState::Hovered
        } else {
            BoneState::Normal
        };
        Some(BoneGlyph { head: at(parent)?, tail: at(child)?, state })
    });
    bones.collect()
}

/// A round length, about an eighth of the character: 1, 2 or 5 times a power of ten.
fn grid_step(size: f32) -> f32 {
    let wanted = (size / 8.0).max(1e-6);
    let power = 10.0_f32.powf(wanted.log10().floor());
    let digit = wanted / power;
    power
        * if digit < 2.0 {
            1.0
        } else if digit < 5.0 {
            2.0
        } else {
            5.0
        }
}

/// A painter that can register its texture.
pub struct PainterOn<'a> {
    painter: &'a mut GpuPainter,
    surface: &'a mut WindowSurface,
}

impl ViewportPainter for PainterOn<'_> {
    fn paint(&mut self, picture: &Picture<'_>) -> Option<(TextureId, f64)> {
        let [width, height] = picture.size;
        if width == 0 || height == 0 {
            return None;
        }
        let start = Instant::now();
        let key = Key::of(picture);
        if self.painter.drawn.as_ref() == Some(&key) {
            return self.painter.target.as_ref().map(|(_, texture)| (*texture, 0.0));
        }
        if self.painter.target.as_ref().is_none_or(|(target, _)| target.size() != picture.size) {
            self.resize(width, height);
        }
        self.painter.draw(picture);
        self.painter.drawn = Some(key);
        let ms = start.elapsed().as_secs_f64() * 1e3;
        self.painter.target.as_ref().map(|(_, texture)| (*texture, ms))
    }
}

impl PainterOn<'_> {
    fn resize(&mut self, width: u32, height: u32) {
        let target = Target::new(&self.painter.renderer, width, height);
        let device = self.surface.gpu().device.clone();
        let known = self.painter.target.take().map(|(_, texture)| texture);
        let painter = self.surface.painter_mut();
        let texture = match known {
            Some(texture) => {
                painter.update_egui_texture_from_wgpu_texture(&device, target.gamma_view(), wgpu::FilterMode::Linear, texture);
                texture
            }
            None => painter.register_native_texture(&device, target.gamma_view(), wgpu::FilterMode::Linear),
        };
        self.painter.target = Some((target, texture));
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn grid_lines_stand_at_round_lengths() {
        for (size, expected) in [(2.0_f32, 0.2_f32), (200.0, 20.0), (1.0, 0.1), (9.0, 1.0)] {
            assert!((super::grid_step(size) / expected - 1.0).abs() < 1e-4, "{size}");
        }
    }
}
