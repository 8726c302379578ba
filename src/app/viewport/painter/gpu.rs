//! Pictures on the device.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use egui::TextureId;

use super::pool::{KEPT_PASSES, Pool, StateKey};
use super::{Comparison, How, Painted, Picture, ViewportPainter};
use crate::app::look::{Look, SkinColors, needs_numbers};
use crate::app::surface::WindowSurface;
use crate::character::Severity;
use crate::gpu::GpuError;
use crate::math::Point64;
use crate::render::{
    Camera, Extras, Ground, Legend, Mark, Marked, MeshColors, MeshDraw, MeshModel, MeshStyle, Moment, Quantity, Renderer, Scene, SkinPaint,
    Target,
};
use crate::session::{Checkup, Snapshot, Spot, ViewId};

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

/// Textures that nobody shows: of pictures that are read back, or measured.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unseen;

impl Textures for Unseen {
    fn register(&mut self, _view: &wgpu::TextureView) -> TextureId {
        TextureId::User(0)
    }

    fn replace(&mut self, _texture: TextureId, _view: &wgpu::TextureView) {}

    fn free(&mut self, _texture: TextureId) {}
}

/// Draws with [`Renderer`].
pub struct GpuPainter {
    renderer: Renderer,
    pool: Pool,
    canvases: BTreeMap<ViewId, Canvas>,
    /// Passes of the window so far: a view that is painted a second time begins a new one.
    pass: u64,
    /// Nothing is left out to be quick.
    best: bool,
}

/// What one view has for itself.
struct Canvas {
    target: Target,
    texture: TextureId,
    own: Side,
    /// What a wipe shows on the right of its line.
    other: Option<Box<Side>>,
    marks: Vec<Mark>,
    drawn: Option<Key>,
    used: u64,
}

/// What is drawn with one state of the flesh.
#[derive(Default)]
struct Side {
    extras: Extras,
    paint: SkinPaint,
    colors: Option<(Arc<MeshModel>, MeshColors)>,
    legend: Option<Legend>,
}

/// Everything that a picture depends on; equal keys make equal pictures.
#[derive(Debug, Clone, PartialEq)]
struct Key {
    size: [u32; 2],
    scale: f32,
    camera: Camera,
    state: Option<StateKey>,
    crowd: Option<StateKey>,
    compared: Option<(StateKey, How)>,
    ghosts: Option<StateKey>,
    selected: Vec<usize>,
    hovered: Option<usize>,
    look: Look,
    /// Kept alive, so that no other check-up can get its address.
    checkup: Option<CheckupKey>,
    ground_height: f32,
}

/// Equal for the same check-up.
#[derive(Debug, Clone)]
struct CheckupKey(Arc<Checkup>);

impl PartialEq for CheckupKey {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
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
            // What is drawn over a crowd moves with it.
            state: picture.snapshot.filter(|_| picture.crowd.is_none()).map(StateKey::of),
            crowd: picture.crowd.map(StateKey::of_crowd),
            compared: picture.compare.map(|compare| (StateKey::of(compare.with), compare.how)),
            ghosts: picture.ghosts.filter(|_| picture.look.ghosts.any()).map(StateKey::of_ghosts),
            selected: if chosen { picture.selected.to_vec() } else { Vec::new() },
            hovered: picture.hovered.filter(|_| bones),
            look: *picture.look,
            checkup: picture.checkup.filter(|_| picture.look.findings).map(|checkup| CheckupKey(checkup.clone())),
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
    pub fn image(&self, view: ViewId) -> Result<image::RgbaImage, GpuError> {
        let canvas = self.canvases.get(&view).ok_or_else(|| GpuError::Readback { reason: "the view has not been painted".into() })?;
        canvas.target.read(self.renderer.gpu())
    }

    /// The painter with what keeps its textures.
    pub fn on<'a>(&'a mut self, textures: &'a mut dyn Textures) -> PainterOn<'a> {
        PainterOn { painter: self, textures }
    }

    /// How many states have been written to the device so far.
    #[cfg(test)]
    pub(super) fn states_written(&self) -> u64 {
        self.pool.writes()
    }

    /// Begins a pass if the view has been painted in this one, and drops what nobody has looked at for a while.
    fn enter_pass(&mut self, view: ViewId, textures: &mut dyn Textures) {
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
    fn prepare(&mut self, view: ViewId, size: [u32; 2], textures: &mut dyn Textures) {
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
        let own = match picture.crowd {
            Some(crowd) => pool.crowd(renderer, crowd, *pass),
            None => picture.snapshot.map(|snapshot| pool.state(renderer, snapshot, *pass)),
        };
        let wiped = match picture.compare {
            Some(Comparison { with, how: How::Wipe(at) }) => Some((pool.state(renderer, with, *pass), at)),
            _ => None,
        };
        let ghosts: Vec<(usize, MeshStyle)> = match picture.ghosts {
            Some(ghosts) if picture.look.ghosts.any() => (0..ghosts.skins.len())
                .filter_map(|part| Some((pool.ghost(renderer, ghosts, part, *pass)?, MeshStyle::ghost(ghosts.skins[part].offset_secs))))
                .collect(),
            _ => Vec::new(),
        };
        canvas.update(renderer, model.as_ref(), picture);
        let occlusion = *best || !renderer.gpu().is_software();
        let shown = Shown { pool, ghosts: &ghosts, picture, occlusion };
        let Canvas { target, own: left, other: right, .. } = canvas;
        match wiped.zip(right.as_deref()) {
            None => renderer.render(target, picture.camera, &shown.scene(own, left)),
            Some(((other, at), right)) => {
                let column = (at.clamp(0.0, 1.0) * picture.size[0] as f32).round() as u32;
                renderer.render_wiped(target, picture.camera, &shown.scene(own, left), &shown.scene(Some(other), right), column);
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
            let shown = shown.map(StateKey::of).chain(picture.crowd.map(StateKey::of_crowd));
            shown.for_each(|state| self.pool.keep(state, self.pass));
        } else {
            self.draw(picture);
        }
        let canvas = self.canvases.get_mut(&picture.view)?;
        canvas.drawn = Some(key);
        let ms = if drawn { 0.0 } else { start.elapsed().as_secs_f64() * 1e3 };
        let legends = canvas.own.legend.iter().chain(canvas.own.extras.legends()).cloned().collect();
        Some(Painted { texture: canvas.texture, ms, legends })
    }
}

/// What the scenes of a picture share.
struct Shown<'a> {
    pool: &'a Pool,
    ghosts: &'a [(usize, MeshStyle)],
    picture: &'a Picture<'a>,
    occlusion: bool,
}

impl<'a> Shown<'a> {
    /// A state of the flesh with what is drawn with it.
    fn scene(&self, state: Option<usize>, side: &'a Side) -> Scene<'a> {
        let look = self.picture.look;
        let ghosts = self.ghosts.iter().map(|&(ghost, style)| MeshDraw { mesh: self.pool.frame(ghost), colors: None, style });
        let style = if side.legend.is_some() { look.data_style() } else { look.mesh_style() };
        let colors = side.colors.as_ref().filter(|_| side.legend.is_some()).map(|(_, colors)| colors);
        let skin = state.filter(|_| look.skin).map(|state| MeshDraw { mesh: self.pool.frame(state), colors, style });
        Scene {
            meshes: ghosts.chain(skin).collect(),
            overlays: side.extras.overlays().to_vec(),
            ground: ground_of(self.picture),
            background: look.backdrop.background(),
            // Software draws on the cores that the flesh needs.
            occlusion: self.occlusion,
            scale: self.picture.scale,
            ..Scene::default()
        }
    }
}

impl Canvas {
    fn new(texture: TextureId, target: Target) -> Self {
        Self { target, texture, own: Side::default(), other: None, marks: Vec::new(), drawn: None, used: 0 }
    }

    /// Computes colours and overlays of both sides, and brings the colours to the device.
    fn update(&mut self, renderer: &Renderer, model: Option<&Arc<MeshModel>>, picture: &Picture<'_>) {
        self.marks.clear();
        if let (true, Some(checkup)) = (picture.look.findings, picture.checkup) {
            self.marks.extend(checkup.findings.iter().flat_map(|finding| finding.spots.iter().map(|spot| mark_of(spot, finding.severity))));
        }
        self.own.update(picture, picture.snapshot, &self.marks);
        match picture.compare {
            Some(Comparison { with, how: How::Wipe(_) }) => {
                let other = self.other.get_or_insert_default();
                other.update(picture, Some(with), &self.marks);
                // One legend stands for both.
                if let (Some(own), Some(others)) = (&mut self.own.legend, &mut other.legend) {
                    let range = if own.range[1] >= others.range[1] { own.range } else { others.range };
                    (own.range, others.range) = (range, range);
                    self.own.paint.recolor(own);
                    other.paint.recolor(others);
                }
                other.upload(renderer, model);
            }
            _ => self.other = None,
        }
        self.own.upload(renderer, model);
    }
}

impl Side {
    fn update(&mut self, picture: &Picture<'_>, snapshot: Option<&Arc<Snapshot>>, marks: &[Mark]) {
        // Numbers are those of one character, which is not drawn then.
        let quantity = snapshot.filter(|_| picture.crowd.is_none()).and_then(|snapshot| Some((snapshot, quantity_of(picture, snapshot)?)));
        self.legend = quantity.map(|(snapshot, quantity)| self.paint.update(&snapshot.subject, &quantity, picture.look.color_map));
        let marked = Marked { selected: picture.selected, hovered: picture.hovered, marks };
        self.extras.update(picture.look, snapshot.map(|snapshot| moment_of(snapshot, picture.look)).as_ref(), &marked);
    }

    /// Brings the colours to the device, if there are any.
    fn upload(&mut self, renderer: &Renderer, model: Option<&Arc<MeshModel>>) {
        let Some(model) = model.filter(|_| self.legend.is_some()) else { return };
        if self.colors.as_ref().is_none_or(|(mine, _)| !Arc::ptr_eq(mine, model)) {
            self.colors = Some((model.clone(), MeshColors::new(renderer, model)));
        }
        if let Some((_, colors)) = &mut self.colors {
            colors.update(renderer.gpu(), self.paint.colors());
        }
    }
}

/// Numbers that nobody needs are not fetched from the device.
fn moment_of<'a>(snapshot: &'a Snapshot, look: &Look) -> Moment<'a> {
    let needed = needs_numbers(look);
    Moment {
        subject: &snapshot.subject,
        positions: if needed { snapshot.positions() } else { &[] },
        normals: if needed { snapshot.normals() } else { &[] },
        simulated: if needed { snapshot.simulated() } else { &[] },
        world_from_joint: &snapshot.world_from_joint,
        contacts: &snapshot.contacts,
        velocities: &snapshot.velocities,
    }
}

fn mark_of(spot: &Spot, severity: Severity) -> Mark {
    let at_rest = Point64::from(spot.position).cast::<f32>();
    Mark { vertex: spot.vertex, joint: spot.joint, at_rest, radius: spot.radius as f32, color: Mark::color_of(severity) }
}

/// What the skin is coloured by: a comparison goes before what the look asks for.
fn quantity_of<'a>(picture: &Picture<'a>, snapshot: &'a Arc<Snapshot>) -> Option<Quantity<'a>> {
    if let Some(Comparison { with, how: How::Difference { max_mm } }) = picture.compare {
        let methods = [snapshot.method.label(), with.method.label()];
        return Some(Quantity::Difference { positions: snapshot.positions(), others: with.positions(), methods, max_mm });
    }
    match picture.look.colors {
        SkinColors::Material => None,
        SkinColors::Weights => picture.selected.last().map(|&joint| Quantity::Weights { joint }),
        // Cut open, the cells show it.
        SkinColors::Strain if picture.look.tets && picture.look.cut.is_some() => None,
        SkinColors::Strain => Some(Quantity::Strain { positions: snapshot.positions() }),
    }
}

fn ground_of(picture: &Picture<'_>) -> Option<Ground> {
    let grid = picture.look.grid.then(|| Ground::grid_step(picture.character_size));
    picture.look.ground.then_some(Ground { height: picture.ground_height, grid })
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
