//! Draws pictures of views on the device.

pub(super) mod canvas;

use self::canvas::{Canvas, PictureKey, SideResources};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use super::pool::{KEPT_PASSES, Pool, StateKey};
use super::{Comparison, Painted, Picture, ViewportPainter};
use crate::gpu::GpuError;
use crate::render::{Ground, Look, MeshDraw, MeshStyle, RenderTarget, Renderer, Scene};
use crate::studio::{Compare, GhostSkins};

/// Registry of textures that a window can show.
pub trait Textures {
    /// Registers a texture and returns its number.
    fn register(&mut self, view: &wgpu::TextureView) -> u64;
    /// Replaces a texture.
    fn replace(&mut self, texture: u64, view: &wgpu::TextureView);
    /// Removes a texture.
    fn free(&mut self, texture: u64);
}

/// No registry: for pictures that are read back, or measured.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTextures;

impl Textures for NoTextures {
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
    /// Number of passes so far: painting a canvas a second time starts a new one.
    pass: u64,
    /// Always draws at full quality.
    best: bool,
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

    /// Reads back the picture of a canvas. Waits for it.
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

    /// Its device.
    #[cfg(test)]
    pub(super) fn gpu(&self) -> &crate::gpu::GpuContext {
        self.renderer.gpu()
    }

    /// Number of states uploaded to the device so far.
    #[cfg(test)]
    pub(super) fn states_written(&self) -> u64 {
        self.pool.writes()
    }

    /// Starts a pass if the canvas has been painted in this one, and drops canvases that were not used recently.
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

    /// The canvas's picture in the requested size.
    fn prepare(&mut self, number: u32, size: [u32; 2], textures: &mut dyn Textures) {
        let canvas = self.canvases.remove(&number);
        let canvas = match canvas {
            Some(canvas) if canvas.target.size() == size => canvas,
            Some(canvas) => {
                let target = RenderTarget::new(&self.renderer, size[0], size[1]);
                textures.replace(canvas.texture, target.gamma_view());
                Canvas {
                    target,
                    drawn: None,
                    ..canvas
                }
            }
            None => {
                let target = RenderTarget::new(&self.renderer, size[0], size[1]);
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
            lags: false,
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
    /// A state and the overlays drawn with it.
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

/// Whether overlays need the skin's positions on the CPU; the skin itself is drawn from the device.
#[must_use]
pub fn needs_numbers(look: &Look) -> bool {
    look.normals || look.velocities || look.sections || look.findings || look.shows_flesh()
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
