//! Draws pictures with a device of its own on a thread of its own.
//!
//! A software renderer draws on the processor, and a device's queue is one: with the window's device, every pass of the window would wait
//! for the pictures before it. Here the window shows the newest finished pictures meanwhile. Those of one pass are exchanged together,
//! so that all views show the same moment.
//!
//! ```text
//! window: paint … paint, end_pass ─orders→ thread: draw, read back ─images→ window: upload with the next pass
//! ```

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::gpu::canvas::PictureKey;
use super::order::Order;
use super::pool::KEPT_PASSES;
use super::{GpuPainter, NoTextures, Painted, Picture, Textures, ViewportPainter};
use crate::gpu::{GpuContext, GpuError};
use crate::render::{Camera, Legend, Renderer};

/// Called on the thread when pictures are finished.
pub type PicturesWaker = Arc<dyn Fn() + Send + Sync>;

/// Draws on a thread. Pictures of crowds, which are computed on the window's device, are drawn there at once.
pub struct ThreadPainter {
    gpu: GpuContext,
    /// Draws at once with the window's device, when something has needed it.
    direct: Option<GpuPainter>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// The pictures of the current pass, and their canvases and inputs.
    orders: Vec<Order>,
    keys: Vec<(u32, PictureKey)>,
    /// Those ordered last.
    ordered: Vec<(u32, PictureKey)>,
    shown: BTreeMap<u32, Shown>,
    pass: u64,
}

/// What the window and the thread exchange.
struct Shared {
    exchange: Mutex<Exchange>,
    ordered: Condvar,
}

#[derive(Default)]
struct Exchange {
    /// The newest order; those before it that were not begun are dropped.
    orders: Option<Vec<Order>>,
    finished: Vec<Finished>,
    is_drawing: bool,
    /// The window has closed.
    is_over: bool,
    /// Drawing failed; the window's device draws from now on.
    has_failed: bool,
}

/// A picture that was drawn.
struct Finished {
    canvas: u32,
    /// `None` if it is empty.
    camera: Option<Camera>,
    image: image::RgbaImage,
    ms: f64,
    legends: Vec<Legend>,
}

/// A picture on the window's device.
struct Shown {
    picture: wgpu::Texture,
    /// `None` if it is empty.
    camera: Option<Camera>,
    /// Its number in the registry.
    texture: u64,
    ms: f64,
    legends: Vec<Legend>,
    used: u64,
}

impl Shared {
    fn exchange(&self) -> MutexGuard<'_, Exchange> {
        self.exchange.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Draws until the window closes or drawing fails.
    fn run(&self, waker: &PicturesWaker) {
        if let Err(error) = self.draw(waker) {
            log::warn!("pictures are drawn with the window from now on: {error}");
            let mut exchange = self.exchange();
            (exchange.has_failed, exchange.is_drawing) = (true, false);
            drop(exchange);
            waker();
        }
    }

    fn draw(&self, waker: &PicturesWaker) -> Result<(), GpuError> {
        let mut painter = GpuPainter::with(Renderer::new(&GpuContext::headless()?));
        while let Some(orders) = self.next_orders() {
            let drawn: Result<Vec<Finished>, GpuError> = orders
                .iter()
                .filter_map(|order| finished(&mut painter, order).transpose())
                .collect();
            let drawn = drawn?;
            let mut exchange = self.exchange();
            exchange.is_drawing = false;
            // Pictures that the window has not taken yet are replaced.
            exchange
                .finished
                .retain(|old| drawn.iter().all(|new| new.canvas != old.canvas));
            exchange.finished.extend(drawn);
            drop(exchange);
            waker();
        }
        Ok(())
    }

    /// Waits for orders; `None` when the window has closed.
    fn next_orders(&self) -> Option<Vec<Order>> {
        let mut exchange = self.exchange();
        loop {
            if exchange.is_over {
                return None;
            }
            if let Some(orders) = exchange.orders.take() {
                exchange.is_drawing = true;
                return Some(orders);
            }
            exchange = self
                .ordered
                .wait(exchange)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Draws a picture; `None` if it has not changed.
fn finished(painter: &mut GpuPainter, order: &Order) -> Result<Option<Finished>, GpuError> {
    let painted = painter.on(&mut NoTextures).paint(&order.picture());
    let Some(painted) = painted.filter(|painted| painted.ms > 0.0) else {
        return Ok(None);
    };
    Ok(Some(Finished {
        canvas: order.canvas,
        camera: Some(order.camera),
        image: painter.image(order.canvas)?,
        ms: painted.ms,
        legends: painted.legends,
    }))
}

impl ThreadPainter {
    /// Starts the thread, which opens a device of its own. `gpu`: the window's device.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn start(gpu: &GpuContext, waker: PicturesWaker) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            exchange: Mutex::default(),
            ordered: Condvar::new(),
        });
        let of_thread = shared.clone();
        let thread = std::thread::Builder::new()
            .name("pictures".to_owned())
            .spawn(move || of_thread.run(&waker))?;
        Ok(Self {
            gpu: gpu.clone(),
            direct: None,
            shared,
            thread: Some(thread),
            orders: Vec::new(),
            keys: Vec::new(),
            ordered: Vec::new(),
            shown: BTreeMap::new(),
            pass: 0,
        })
    }

    /// Starts a pass: takes over what is finished.
    pub fn begin_pass(&mut self, textures: &mut dyn Textures) {
        self.pass += 1;
        self.orders.clear();
        self.keys.clear();
        let finished = std::mem::take(&mut self.shared.exchange().finished);
        for picture in finished {
            self.show(picture, textures);
        }
        let pass = self.pass;
        self.shown.retain(|_, shown| {
            let is_kept = shown.used + KEPT_PASSES >= pass;
            if !is_kept {
                textures.free(shown.texture);
            }
            is_kept
        });
    }

    /// Ends a pass: orders its pictures, if they differ from those ordered last. Returns whether some are still to be drawn.
    pub fn end_pass(&mut self) -> bool {
        let mut exchange = self.shared.exchange();
        // Also after a panic.
        if self.thread.as_ref().is_none_or(JoinHandle::is_finished) {
            (exchange.has_failed, exchange.is_drawing) = (true, false);
        }
        if exchange.has_failed {
            return false;
        }
        if self.keys != self.ordered {
            std::mem::swap(&mut self.keys, &mut self.ordered);
            exchange.orders = Some(std::mem::take(&mut self.orders));
            self.shared.ordered.notify_one();
        }
        exchange.is_drawing || exchange.orders.is_some()
    }

    /// Uploads a finished picture.
    fn show(&mut self, finished: Finished, textures: &mut dyn Textures) {
        let (width, height) = finished.image.dimensions();
        let size = wgpu::Extent3d {
            width,
            height,
            depth_or_array_layers: 1,
        };
        let before = self.shown.remove(&finished.canvas);
        let fitting = before
            .as_ref()
            .filter(|shown| shown.picture.size() == size)
            .map(|shown| shown.picture.clone());
        let picture = fitting.unwrap_or_else(|| {
            self.gpu.device.create_texture(&wgpu::TextureDescriptor {
                label: Some("picture of the thread"),
                size,
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                // Not decoded on sampling, as egui expects.
                format: wgpu::TextureFormat::Rgba8Unorm,
                usage: wgpu::TextureUsages::TEXTURE_BINDING
                    | wgpu::TextureUsages::COPY_DST
                    | wgpu::TextureUsages::COPY_SRC,
                view_formats: &[],
            })
        });
        let texture = match &before {
            Some(shown) if shown.picture == picture => shown.texture,
            Some(shown) => {
                let view = picture.create_view(&wgpu::TextureViewDescriptor::default());
                textures.replace(shown.texture, &view);
                shown.texture
            }
            None => {
                textures.register(&picture.create_view(&wgpu::TextureViewDescriptor::default()))
            }
        };
        self.gpu.queue.write_texture(
            picture.as_image_copy(),
            finished.image.as_raw(),
            wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(4 * width),
                rows_per_image: Some(height),
            },
            size,
        );
        let shown = Shown {
            picture,
            camera: finished.camera,
            texture,
            ms: finished.ms,
            legends: finished.legends,
            used: before.map_or(self.pass, |shown| shown.used),
        };
        self.shown.insert(finished.canvas, shown);
    }

    /// Whether all finished pictures are shown.
    #[cfg(test)]
    pub(super) fn has_taken_all(&self) -> bool {
        self.shared.exchange().finished.is_empty()
    }

    /// The picture of a canvas as it is shown.
    #[cfg(test)]
    pub(super) fn shown_image(&self, canvas: u32) -> image::RgbaImage {
        crate::gpu::read_rgba(&self.gpu, &self.shown[&canvas].picture).expect("reads back")
    }

    /// The painter and its texture registry.
    pub fn on<'a>(&'a mut self, textures: &'a mut dyn Textures) -> impl ViewportPainter + 'a {
        ThreadPainterOn {
            painter: self,
            textures,
        }
    }
}

impl Drop for ThreadPainter {
    fn drop(&mut self) {
        self.shared.exchange().is_over = true;
        self.shared.ordered.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic on the thread has been reported.
            let _ = thread.join();
        }
    }
}

/// A painter with a texture registry.
struct ThreadPainterOn<'a> {
    painter: &'a mut ThreadPainter,
    textures: &'a mut dyn Textures,
}

impl ViewportPainter for ThreadPainterOn<'_> {
    fn paint(&mut self, picture: &Picture<'_>) -> Option<Painted> {
        let painter = &mut *self.painter;
        if picture.size.contains(&0) {
            return None;
        }
        let of_device = picture
            .snapshot
            .is_some_and(|state| state.on_device().is_some());
        if picture.crowd.is_some() || of_device || painter.shared.exchange().has_failed {
            let direct = painter
                .direct
                .get_or_insert_with(|| GpuPainter::with(Renderer::new(&painter.gpu)));
            return direct.on(self.textures).paint(picture);
        }
        painter.orders.push(Order::of(picture));
        let key = PictureKey::of(picture);
        painter.keys.push((picture.canvas, key));
        let pass = painter.pass;
        if !painter.shown.contains_key(&picture.canvas) {
            let empty = Finished {
                canvas: picture.canvas,
                camera: None,
                image: image::RgbaImage::new(1, 1),
                ms: 0.0,
                legends: Vec::new(),
            };
            painter.show(empty, self.textures);
        }
        let shown = painter.shown.get_mut(&picture.canvas)?;
        shown.used = pass;
        Some(Painted {
            texture: shown.texture,
            ms: shown.ms,
            legends: shown.legends.clone(),
            lags: shown.camera != Some(*picture.camera),
        })
    }
}
