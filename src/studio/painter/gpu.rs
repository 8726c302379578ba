//! Draws pictures of views on the device.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use super::pool::{KEPT_PASSES, Pool, StateKey};
use super::{Comparison, Painted, Picture, ViewportPainter};
use crate::gpu::GpuError;
use crate::render::{
    Camera, Extras, Ground, Legend, Look, Marked, MeshColors, MeshDraw, MeshModel, MeshStyle,
    Moment, PositionMark, Renderer, Scene, SkinColors, SkinPaint, SkinQuantity, Target,
};
use crate::studio::{Compare, GhostSkins, Snapshot};

/// Where pictures become textures that a window can show.
pub trait Textures {
    /// Makes a texture of a picture and numbers it.
    fn register(&mut self, view: &wgpu::TextureView) -> u64;
    /// Makes a texture show another picture.
    fn replace(&mut self, texture: u64, view: &wgpu::TextureView);
    /// Drops a texture.
    fn free(&mut self, texture: u64);
}

/// No textures: for pictures that are read back, or measured.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unseen;

impl Textures for Unseen {
    fn register(&mut self, _view: &wgpu::TextureView) -> u64 {
        0
    }

    fn replace(&mut self, _texture: u64, _view: &wgpu::TextureView) {}

    fn free(&mut self, _texture: u64) {}
}

/// Draws with [`Renderer`].
pub struct GpuPainter {
    renderer: Renderer,
    pool: Pool,
    canvases: BTreeMap<u32, Canvas>,
    /// Passes so far: a canvas that is painted a second time begins a new one.
    pass: u64,
    /// Always draws at full quality.
    best: bool,
}

/// What one canvas has for itself.
struct Canvas {
    target: Target,
    texture: u64,
    own: SideResources,
    /// The right-hand side of a wipe.
    other: Option<Box<SideResources>>,
    marks: Vec<PositionMark>,
    drawn: Option<PictureKey>,
    used: u64,
}

/// Resources drawn with one snapshot.
#[derive(Default)]
struct SideResources {
    extras: Extras,
    paint: SkinPaint,
    colors: Option<(Arc<MeshModel>, MeshColors)>,
    legend: Option<Legend>,
}

/// All inputs of a picture; equal keys give equal pictures.
#[derive(Debug, Clone, PartialEq)]
struct PictureKey {
    size: [u32; 2],
    scale: f32,
    camera: Camera,
    state: Option<StateKey>,
    crowd: Option<StateKey>,
    compared: Option<(StateKey, Compare, Option<f32>)>,
    ghosts: [Option<StateKey>; 2],
    selected: Vec<usize>,
    hovered: Option<usize>,
    look: Look,
    marks: Option<Arc<[PositionMark]>>,
    ground_height: f32,
}

impl PictureKey {
    fn of(picture: &Picture<'_>) -> Self {
        // Hidden items must not affect the key.
        let bones = picture.look.bones;
        let chosen = bones || picture.look.colors == SkinColors::Weights;
        Self {
            size: picture.size,
            scale: picture.scale,
            camera: *picture.camera,
            // Overlays of a crowd move with it.
            state: picture
                .snapshot
                .filter(|_| picture.crowd.is_none())
                .map(StateKey::of),
            crowd: picture.crowd.map(StateKey::of_crowd),
            compared: picture
                .compare
                .map(|compare| (StateKey::of(compare.with), compare.how, compare.max_mm)),
            ghosts: [
                picture.ghosts,
                picture.compare.and_then(|compare| compare.ghosts),
            ]
            .map(|ghosts| {
                ghosts
                    .filter(|_| picture.look.ghosts.any())
                    .map(StateKey::of_ghosts)
            }),
            selected: if chosen {
                picture.selected.to_vec()
            } else {
                Vec::new()
            },
            hovered: picture.hovered.filter(|_| bones),
            look: *picture.look,
            marks: picture.marks.filter(|_| picture.look.findings).cloned(),
            ground_height: picture.ground_height,
        }
    }
}

impl GpuPainter {
    /// A painter that draws with this renderer.
    #[must_use]
    pub fn with(renderer: Renderer) -> Self {
        Self {
            renderer,
            pool: Pool::default(),
            canvases: BTreeMap::new(),
            pass: 1,
            best: false,
        }
    }

    /// Draws pictures for export, at full quality.
    pub(crate) fn set_best(&mut self, best: bool) {
        self.best = best;
    }

    /// Reads the picture of a canvas back. Waits for it.
    ///
    /// # Errors
    /// [`GpuError::Readback`] if the canvas has not been painted, or the device was lost.
    pub fn image(&self, canvas: u32) -> Result<image::RgbaImage, GpuError> {
        let canvas = self
            .canvases
            .get(&canvas)
            .ok_or_else(|| GpuError::Readback {
                reason: "the canvas has not been painted".into(),
            })?;
        canvas.target.read(self.renderer.gpu())
    }

    /// The painter and its texture registry.
    pub fn on<'a>(&'a mut self, textures: &'a mut dyn Textures) -> PainterOn<'a> {
        PainterOn {
            painter: self,
            textures,
        }
    }

    /// Number of states uploaded to the device so far.
    #[cfg(test)]
    pub(super) fn states_written(&self) -> u64 {
        self.pool.writes()
    }

    /// Begins a pass if the canvas has been painted in this one, and drops what nobody has looked at for a while.
    fn enter_pass(&mut self, canvas: u32, textures: &mut dyn Textures) {
        if self
            .canvases
            .get(&canvas)
            .is_some_and(|canvas| canvas.used >= self.pass)
        {
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

    /// The canvas's picture in the size wanted.
    fn prepare(&mut self, number: u32, size: [u32; 2], textures: &mut dyn Textures) {
        let canvas = self.canvases.remove(&number);
        let canvas = match canvas {
            Some(canvas) if canvas.target.size() == size => canvas,
            Some(canvas) => {
                let target = Target::new(&self.renderer, size[0], size[1]);
                textures.replace(canvas.texture, target.gamma_view());
                Canvas {
                    target,
                    drawn: None,
                    ..canvas
                }
            }
            None => {
                let target = Target::new(&self.renderer, size[0], size[1]);
                Canvas::new(textures.register(target.gamma_view()), target)
            }
        };
        self.canvases.insert(
            number,
            Canvas {
                used: self.pass,
                ..canvas
            },
        );
    }

    fn draw(&mut self, picture: &Picture<'_>) {
        let Self {
            renderer,
            pool,
            canvases,
            pass,
            best,
        } = self;
        let Some(canvas) = canvases.get_mut(&picture.canvas) else {
            return;
        };
        let model = picture
            .snapshot
            .map(|snapshot| pool.model(renderer, &snapshot.subject.character, *pass));
        let own = match picture.crowd {
            Some(crowd) => pool.crowd(renderer, crowd, *pass),
            None => picture
                .snapshot
                .map(|snapshot| pool.state(renderer, snapshot, *pass)),
        };
        let wiped = match picture.compare {
            Some(Comparison {
                with,
                how: Compare::Wipe(at),
                ghosts,
                ..
            }) => Some((pool.state(renderer, with, *pass), ghosts, at)),
            _ => None,
        };
        let mut ghosts_of = |ghosts: Option<&Arc<GhostSkins>>| {
            let ghosts = ghosts.filter(|_| picture.look.ghosts.any());
            ghosts.map_or_else(Vec::new, |ghosts| pool.ghosts(renderer, ghosts, *pass))
        };
        let ghosts = ghosts_of(picture.ghosts);
        let wiped = wiped.map(|(state, ghosts, at)| (state, ghosts_of(ghosts), at));
        canvas.update(renderer, model.as_ref(), picture);
        let occlusion = *best || !renderer.gpu().is_software();
        let shown = SceneInputs {
            pool,
            picture,
            occlusion,
        };
        let Canvas {
            target,
            own: left,
            other: right,
            ..
        } = canvas;
        match wiped.zip(right.as_deref()) {
            None => renderer.render(target, picture.camera, &shown.scene(own, &ghosts, left)),
            Some(((other, others_ghosts, at), right)) => {
                let column = (at.clamp(0.0, 1.0) * picture.size[0] as f32).round() as u32;
                renderer.render_wiped(
                    target,
                    picture.camera,
                    &shown.scene(own, &ghosts, left),
                    &shown.scene(Some(other), &others_ghosts, right),
                    column,
                );
            }
        }
    }

    fn paint(&mut self, picture: &Picture<'_>, textures: &mut dyn Textures) -> Option<Painted> {
        if picture.size.contains(&0) {
            return None;
        }
        let start = Instant::now();
        self.enter_pass(picture.canvas, textures);
        self.prepare(picture.canvas, picture.size, textures);
        let key = PictureKey::of(picture);
        let drawn = self
            .canvases
            .get(&picture.canvas)
            .is_some_and(|canvas| canvas.drawn.as_ref() == Some(&key));
        if drawn {
            let shown = picture
                .snapshot
                .into_iter()
                .chain(picture.compare.as_ref().map(|compare| compare.with));
            let shown = shown
                .map(StateKey::of)
                .chain(picture.crowd.map(StateKey::of_crowd));
            shown.for_each(|state| self.pool.keep(state, self.pass));
        } else {
            self.draw(picture);
        }
        let canvas = self.canvases.get_mut(&picture.canvas)?;
        canvas.drawn = Some(key);
        let ms = if drawn {
            0.0
        } else {
            start.elapsed().as_secs_f64() * 1e3
        };
        let legends = canvas
            .own
            .legend
            .iter()
            .chain(canvas.own.extras.legends())
            .cloned()
            .collect();
        Some(Painted {
            texture: canvas.texture,
            ms,
            legends,
        })
    }
}

/// Common inputs of a picture's scenes.
struct SceneInputs<'a> {
    pool: &'a Pool,
    picture: &'a Picture<'a>,
    occlusion: bool,
}

impl<'a> SceneInputs<'a> {
    /// A state of the flesh with what is drawn with it.
    fn scene(
        &self,
        state: Option<usize>,
        ghosts: &[(usize, MeshStyle)],
        side: &'a SideResources,
    ) -> Scene<'a> {
        let look = self.picture.look;
        let ghosts = ghosts.iter().map(|&(ghost, style)| MeshDraw {
            mesh: self.pool.frame(ghost),
            colors: None,
            style,
        });
        let style = if side.legend.is_some() {
            look.data_style()
        } else {
            look.mesh_style()
        };
        let colors = side
            .colors
            .as_ref()
            .filter(|_| side.legend.is_some())
            .map(|(_, colors)| colors);
        let skin = state.filter(|_| look.skin).map(|state| MeshDraw {
            mesh: self.pool.frame(state),
            colors,
            style,
        });
        Scene {
            meshes: ghosts.chain(skin).collect(),
            overlays: side.extras.overlays().to_vec(),
            ground: ground_of(self.picture),
            background: look.backdrop.background(),
            // A software renderer uses the cores that the simulation needs.
            occlusion: self.occlusion,
            scale: self.picture.scale,
            ..Scene::default()
        }
    }
}

impl Canvas {
    fn new(texture: u64, target: Target) -> Self {
        Self {
            target,
            texture,
            own: SideResources::default(),
            other: None,
            marks: Vec::new(),
            drawn: None,
            used: 0,
        }
    }

    /// Computes colours and overlays of both sides, and uploads the colours.
    fn update(
        &mut self,
        renderer: &Renderer,
        model: Option<&Arc<MeshModel>>,
        picture: &Picture<'_>,
    ) {
        self.marks.clear();
        if let (true, Some(marks)) = (picture.look.findings, picture.marks) {
            self.marks.extend_from_slice(marks);
        }
        self.own.update(picture, picture.snapshot, &self.marks);
        match picture.compare {
            Some(Comparison {
                with,
                how: Compare::Wipe(_),
                ..
            }) => {
                let other = self.other.get_or_insert_default();
                other.update(picture, Some(with), &self.marks);
                // One legend serves both sides.
                if let (Some(own), Some(others)) = (&mut self.own.legend, &mut other.legend) {
                    let range = if own.range[1] >= others.range[1] {
                        own.range
                    } else {
                        others.range
                    };
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

impl SideResources {
    fn update(
        &mut self,
        picture: &Picture<'_>,
        snapshot: Option<&Arc<Snapshot>>,
        marks: &[PositionMark],
    ) {
        // Colours by number belong to one character, which is not drawn in a crowd.
        let quantity = snapshot
            .filter(|_| picture.crowd.is_none())
            .and_then(|snapshot| Some((snapshot, quantity_of(picture, snapshot)?)));
        self.legend = quantity.map(|(snapshot, quantity)| {
            self.paint
                .update(&snapshot.subject, &quantity, picture.look.color_map)
        });
        let marked = Marked {
            selected: picture.selected,
            hovered: picture.hovered,
            marks,
        };
        self.extras.update(
            picture.look,
            snapshot
                .map(|snapshot| moment_of(snapshot, picture.look))
                .as_ref(),
            &marked,
        );
    }

    /// Uploads the colours, if there are any.
    fn upload(&mut self, renderer: &Renderer, model: Option<&Arc<MeshModel>>) {
        let Some(model) = model.filter(|_| self.legend.is_some()) else {
            return;
        };
        if self
            .colors
            .as_ref()
            .is_none_or(|(mine, _)| !Arc::ptr_eq(mine, model))
        {
            self.colors = Some((model.clone(), MeshColors::new(renderer, model)));
        }
        if let Some((_, colors)) = &mut self.colors {
            colors.update(renderer.gpu(), self.paint.colors());
        }
    }
}

/// Whether what is drawn over the skin must know where it is; the skin itself is drawn from wherever it was made.
#[must_use]
pub fn needs_numbers(look: &Look) -> bool {
    look.normals || look.velocities || look.findings || look.shows_flesh()
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

/// What the skin is coloured by: a comparison goes before what the look asks for.
fn quantity_of<'a>(picture: &Picture<'a>, snapshot: &'a Arc<Snapshot>) -> Option<SkinQuantity<'a>> {
    if let Some(Comparison {
        with,
        how: Compare::Difference,
        max_mm,
        ..
    }) = picture.compare
    {
        let methods = [snapshot.method.label(), with.method.label()];
        return Some(SkinQuantity::Difference {
            positions: snapshot.positions(),
            others: with.positions(),
            methods,
            max_mm,
        });
    }
    match picture.look.colors {
        SkinColors::Material => None,
        SkinColors::Weights => picture
            .selected
            .last()
            .map(|&joint| SkinQuantity::Weights { joint }),
        // In a cut, the cells show it.
        SkinColors::Strain if picture.look.tets && picture.look.cut.is_some() => None,
        SkinColors::Strain => Some(SkinQuantity::Strain {
            positions: snapshot.positions(),
        }),
    }
}

fn ground_of(picture: &Picture<'_>) -> Option<Ground> {
    let grid = picture
        .look
        .grid
        .then(|| Ground::grid_step(picture.character_size));
    picture.look.ground.then_some(Ground {
        height: picture.ground_height,
        grid,
    })
}

/// A painter with a texture registry.
pub struct PainterOn<'a> {
    painter: &'a mut GpuPainter,
    textures: &'a mut dyn Textures,
}

impl ViewportPainter for PainterOn<'_> {
    fn paint(&mut self, picture: &Picture<'_>) -> Option<Painted> {
        self.painter.paint(picture, self.textures)
    }
}
