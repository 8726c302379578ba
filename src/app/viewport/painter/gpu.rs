//! Pictures on the device.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use egui::TextureId;

use super::pool::{KEPT_PASSES, Pool, StateKey};
use super::{Comparison, How, Painted, Picture, ViewKey, ViewportPainter};
use crate::app::look::{Look, SkinColors};
use crate::app::surface::WindowSurface;
use crate::app::viewport::tissue_overlays::TissueOverlays;
use crate::gpu::GpuError;
use crate::math::{Affine, Point, origin_of};
use crate::render::{
    BoneGlyph, BoneState, Camera, Ground, Layer, Legend, MeshColors, MeshDraw, MeshModel, MeshStyle, Overlay, Quantity, Renderer, Scene,
    SkinPaint, Target,
};
use crate::rig::Skeleton;
use crate::session::{Snapshot, Spot};

/// Where pictures become textures that egui can show.
pub trait Textures {
    /// Makes a texture of a picture.
    fn register(&mut self, view: &wgpu::TextureView) -> TextureId;
    /// Makes a texture show another picture.
    fn replace(&mut self, texture: TextureId, view: &wgpu::TextureView);
    /// Drops a texture.
    fn free(&mut self, texture: TextureId);
}

impl Textures for WindowSurface {
    fn register(&mut self, view: &wgpu::TextureView) -> TextureId {
        let device = self.gpu().device.clone();
        self.painter_mut().register_native_texture(&device, view, wgpu::FilterMode::Linear)
    }

    fn replace(&mut self, texture: TextureId, view: &wgpu::TextureView) {
        let device = self.gpu().device.clone();
        self.painter_mut().update_egui_texture_from_wgpu_texture(&device, view, wgpu::FilterMode::Linear, texture);
    }

    fn free(&mut self, texture: TextureId) {
        self.painter_mut().free_texture(&texture);
    }
}

/// Draws with [`Renderer`].
pub struct GpuPainter {
    renderer: Renderer,
    pool: Pool,
    canvases: BTreeMap<ViewKey, Canvas>,
    /// Passes of the window so far: a view that is painted a second time begins a new one.
    pass: u64,
    /// Nothing is left out to be quick.
    best: bool,
}

/// What one view has for itself.
struct Canvas {
    target: Target,
    texture: TextureId,
    bones: Overlay,
    tissue: TissueOverlays,
    paint: SkinPaint,
    colors: Option<(Arc<MeshModel>, MeshColors)>,
    legend: Option<Legend>,
    drawn: Option<Key>,
    used: u64,
}

/// Everything that a picture depends on; equal keys make equal pictures.
#[derive(Debug, Clone, PartialEq)]
struct Key {
    size: [u32; 2],
    scale: f32,
    camera: Camera,
    state: Option<StateKey>,
    compared: Option<(StateKey, How)>,
    selected: Vec<usize>,
    hovered: Option<usize>,
    look: Look,
    findings: Vec<Spot>,
    ground_height: f32,
}

impl Key {
    fn of(picture: &Picture<'_>) -> Self {
        // Nothing that is not shown makes a picture change.
        let bones = picture.look.bones;
        let chosen = bones || picture.look.colors == SkinColors::Weights;
        Self {
            size: picture.size,
            scale: picture.scale,
            camera: *picture.camera,
            state: picture.snapshot.map(StateKey::of),
            compared: picture.compare.map(|compare| (StateKey::of(compare.with), compare.how)),
            selected: if chosen { picture.selected.to_vec() } else { Vec::new() },
            hovered: picture.hovered.filter(|_| bones),
            look: *picture.look,
            findings: if picture.look.findings { picture.findings.to_vec() } else { Vec::new() },
            ground_height: picture.ground_height,
        }
    }
}

impl GpuPainter {
    /// Compiles the shaders for the window's device.
    #[must_use]
    pub fn new(surface: &WindowSurface) -> Self {
        Self::with(Renderer::new(surface.gpu()))
    }

    /// A painter that draws with this renderer.
    #[must_use]
    pub fn with(renderer: Renderer) -> Self {
        Self { renderer, pool: Pool::default(), canvases: BTreeMap::new(), pass: 1, best: false }
    }

    /// Draws pictures to keep: nothing is left out to be quick.
    pub fn set_best(&mut self, best: bool) {
        self.best = best;
    }

    /// Reads the picture of a view back. Waits for it.
    ///
    /// # Errors
    /// [`GpuError::Readback`] if the view has not been painted, or the device was lost.
    pub fn image(&self, view: ViewKey) -> Result<image::RgbaImage, GpuError> {
        let canvas = self.canvases.get(&view).ok_or_else(|| GpuError::Readback { reason: "the view has not been painted".into() })?;
        canvas.target.read(self.renderer.gpu())
    }

    /// The painter with what keeps its textures.
    pub fn on<'a>(&'a mut self, textures: &'a mut dyn Textures) -> PainterOn<'a> {
        PainterOn { painter: self, textures }
    }

    /// Begins a pass if the view has been painted in this one, and drops what nobody has looked at for a while.
    fn enter_pass(&mut self, view: ViewKey, textures: &mut dyn Textures) {
        if self.canvases.get(&view).is_some_and(|canvas| canvas.used >= self.pass) {
            self.pass += 1;
            self.pool.prune(self.pass);
            let pass = self.pass;
            self.canvases.retain(|_, canvas| {
                let kept = canvas.used + KEPT_PASSES >= pass;
                if !kept {
                    textures.free(canvas.texture);
                }
                kept
            });
        }
    }

    /// The view's picture in the size wanted.
    fn prepare(&mut self, view: ViewKey, size: [u32; 2], textures: &mut dyn Textures) {
        let canvas = self.canvases.remove(&view);
        let canvas = match canvas {
            Some(canvas) if canvas.target.size() == size => canvas,
            Some(canvas) => {
                let target = Target::new(&self.renderer, size[0], size[1]);
                textures.replace(canvas.texture, target.gamma_view());
                Canvas { target, drawn: None, ..canvas }
            }
            None => {
                let target = Target::new(&self.renderer, size[0], size[1]);
                Canvas::new(textures.register(target.gamma_view()), target)
            }
        };
        self.canvases.insert(view, Canvas { used: self.pass, ..canvas });
    }

    fn draw(&mut self, picture: &Picture<'_>) {
        let Self { renderer, pool, canvases, pass, best } = self;
        let Some(canvas) = canvases.get_mut(&picture.view) else { return };
        let model = picture.snapshot.map(|snapshot| pool.model(renderer, &snapshot.subject.character, *pass));
        let own = picture.snapshot.map(|snapshot| pool.state(renderer, snapshot, *pass));
        let wiped = match picture.compare {
            Some(Comparison { with, how: How::Wipe(at) }) => Some((pool.state(renderer, with, *pass), with, at)),
            _ => None,
        };
        canvas.update_colors(renderer, model.as_ref(), picture);
        canvas.update_bones(picture, picture.snapshot);
        canvas.tissue.update(picture.snapshot, picture.look);
        let style = canvas.style(picture.look);
        let draw = |state: usize| MeshDraw { mesh: pool.frame(state), colors: canvas.colors.as_ref().map(|(_, colors)| colors), style };
        let overlays: Vec<&Overlay> = canvas.tissue.overlays().into_iter().chain([&canvas.bones]).collect();
        let scene = |state: Option<usize>| Scene {
            meshes: state.into_iter().filter(|_| picture.look.skin).map(draw).collect(),
            overlays: overlays.clone(),
            ground: ground_of(picture),
            background: picture.look.backdrop.background(),
            // Software draws on the cores that the flesh needs.
            occlusion: *best || !renderer.gpu().is_software(),
            scale: picture.scale,
            ..Scene::default()
        };
        match wiped {
            None => renderer.render(&mut canvas.target, picture.camera, &scene(own)),
            Some((other, _, at)) => {
                let column = (at.clamp(0.0, 1.0) * picture.size[0] as f32).round() as u32;
                renderer.render_wiped(&mut canvas.target, picture.camera, &scene(own), &scene(Some(other)), column);
            }
        }
    }

    fn paint(&mut self, picture: &Picture<'_>, textures: &mut dyn Textures) -> Option<Painted> {
        if picture.size.contains(&0) {
            return None;
        }
        let start = Instant::now();
        self.enter_pass(picture.view, textures);
        self.prepare(picture.view, picture.size, textures);
        let key = Key::of(picture);
        let drawn = self.canvases.get(&picture.view).is_some_and(|canvas| canvas.drawn.as_ref() == Some(&key));
        if drawn {
            let shown = picture.snapshot.into_iter().chain(picture.compare.as_ref().map(|compare| compare.with));
            shown.for_each(|snapshot| self.pool.keep(snapshot, self.pass));
        } else {
            self.draw(picture);
        }
        let canvas = self.canvases.get_mut(&picture.view)?;
        canvas.drawn = Some(key);
        let ms = if drawn { 0.0 } else { start.elapsed().as_secs_f64() * 1e3 };
        Some(Painted { texture: canvas.texture, ms, legend: canvas.legend.clone() })
    }
}

impl Canvas {
    fn new(texture: TextureId, target: Target) -> Self {
        Self {
            target,
            texture,
            bones: Overlay::new(Layer::FrontGlass),
            tissue: TissueOverlays::default(),
            paint: SkinPaint::default(),
            colors: None,
            legend: None,
            drawn: None,
            used: 0,
        }
    }

    fn style(&self, look: &Look) -> MeshStyle {
        MeshStyle { vertex_colors: if self.legend.is_some() { 1.0 } else { 0.0 }, ..look.mesh_style() }
    }

    /// Computes what the skin is coloured by, and brings it to the device.
    fn update_colors(&mut self, renderer: &Renderer, model: Option<&Arc<MeshModel>>, picture: &Picture<'_>) {
        self.legend = None;
        let (Some(snapshot), Some(model)) = (picture.snapshot, model) else { return };
        let Some(quantity) = quantity_of(picture, snapshot) else { return };
        self.legend = Some(self.paint.update(&snapshot.subject, &quantity, picture.look.color_map));
        if self.colors.as_ref().is_none_or(|(mine, _)| !Arc::ptr_eq(mine, model)) {
            self.colors = Some((model.clone(), MeshColors::new(renderer, model)));
        }
        if let Some((_, colors)) = &mut self.colors {
            colors.update(renderer.gpu(), self.paint.colors());
        }
    }

    fn update_bones(&mut self, picture: &Picture<'_>, snapshot: Option<&Arc<Snapshot>>) {
        self.bones.clear();
        let Some(snapshot) = snapshot.filter(|_| picture.look.bones) else { return };
        let skeleton = &snapshot.subject.character.skeleton;
        let bones = bone_glyphs(skeleton, &snapshot.world_from_joint, picture);
        self.bones.bones(&bones, picture.character_size * 0.006);
    }
}

/// What the skin is coloured by: a comparison goes before what the look asks for.
fn quantity_of<'a>(picture: &Picture<'a>, snapshot: &'a Arc<Snapshot>) -> Option<Quantity<'a>> {
    if let Some(Comparison { with, how: How::Difference { max_mm } }) = picture.compare {
        let methods = [snapshot.method.label(), with.method.label()];
        return Some(Quantity::Difference { positions: &snapshot.positions, others: &with.positions, methods, max_mm });
    }
    match picture.look.colors {
        SkinColors::Material => None,
        SkinColors::Weights => picture.selected.last().map(|&joint| Quantity::Weights { joint }),
        SkinColors::Strain => Some(Quantity::Strain { positions: &snapshot.positions }),
    }
}

fn ground_of(picture: &Picture<'_>) -> Option<Ground> {
    let grid = picture.look.grid.then(|| grid_step(picture.character_size));
    picture.look.ground.then_some(Ground { height: picture.ground_height, grid })
}

/// A bone for each child of a joint that was posed, with what is selected or under the pointer marked.
fn bone_glyphs(skeleton: &Skeleton, world_from_joint: &[Affine], picture: &Picture<'_>) -> Vec<BoneGlyph> {
    let at = |joint: usize| -> Option<Point> { world_from_joint.get(joint).map(|world| origin_of(world).cast()) };
    let bones = skeleton.joints().iter().enumerate().filter_map(|(child, joint)| {
        let parent = joint.parent.filter(|parent| skeleton.joints()[*parent].deforms || joint.deforms)?;
        let state = if picture.selected.contains(&parent) {
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

/// A painter that can keep its textures.
pub struct PainterOn<'a> {
    painter: &'a mut GpuPainter,
    textures: &'a mut dyn Textures,
}

impl ViewportPainter for PainterOn<'_> {
    fn paint(&mut self, picture: &Picture<'_>) -> Option<Painted> {
        self.painter.paint(picture, self.textures)
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
