//! The pictures of a report: every method in the same poses by the same cameras.

use std::sync::Arc;

use image::RgbaImage;

use crate::gpu::{GpuContext, GpuError};
use crate::math::{Point, Turn};
use crate::methods::Subject;
use crate::progress::{Cancelled, Progress};
use crate::render::{Backdrop, Camera, Look, Margins, NamedView, Shading, SkinPaint, SkinQuantity};
use crate::studio::painter::{Comparison, Picture};
use crate::studio::{Compare, Drawing, LINE_HEIGHT, Snapshot};

/// Size of a picture in the page, pixels, unless another is asked for.
pub const PICTURE_SIZE: [u32; 2] = [320, 400];
/// At most this many poses are drawn, unless more are asked for.
pub const MOST_DRAWN: usize = 8;
/// Number of clips, unless another is asked for.
pub const CLIPS: usize = 3;
/// Quality of the pictures in the page, of 100.
const JPEG_QUALITY: u8 = 88;
/// A close-up shows the vertices that differ by at least this part of the largest difference, …
const CLOSE_UP_PART: f32 = 0.5;
/// … with this much around them, …
const CLOSE_UP_MARGIN: f32 = 1.5;
/// … but a ball of at least and at most these radii, as parts of the character's size.
const CLOSE_UP_RADII: [f32; 2] = [0.03, 0.1];

/// What a picture shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureKind {
    /// The whole character.
    Skin,
    /// The whole character, coloured by its distance to another method, with one scale for all pictures.
    Difference,
    /// A close-up of the place where the methods of this pose differ most.
    Inset,
}

/// A picture of the page.
pub struct PictureCell {
    /// Row of the comparison.
    pub method: usize,
    /// Column of the comparison.
    pub pose: usize,
    /// What it shows.
    pub kind: PictureKind,
    /// The file's bytes, JPEG.
    pub jpeg: Vec<u8>,
    /// Width and height, pixels.
    pub size: [u32; 2],
    /// What it shows, for people.
    pub caption: String,
}

/// One picture of a report.
pub struct ReportPicture {
    /// Row of the comparison.
    pub method: usize,
    /// Column of the comparison.
    pub pose: usize,
    /// What it shows.
    pub kind: PictureKind,
    /// The pixels.
    pub image: RgbaImage,
}

impl ReportPicture {
    /// The picture as the page shows it.
    ///
    /// # Errors
    /// [`image::ImageError`] if it cannot be encoded.
    pub fn cell(&self, comparison: &super::Comparison) -> Result<PictureCell, image::ImageError> {
        let method = &comparison.methods[self.method].label;
        let pose = &comparison.poses[self.pose].label;
        let caption = match self.kind {
            PictureKind::Skin => format!("{method}: {pose}"),
            PictureKind::Difference => format!("{method}: {pose}, distance"),
            PictureKind::Inset => format!("{method}: {pose}, close-up of the largest difference"),
        };
        let rgb = image::DynamicImage::ImageRgba8(self.image.clone()).to_rgb8();
        let mut jpeg = Vec::new();
        image::codecs::jpeg::JpegEncoder::new_with_quality(&mut jpeg, JPEG_QUALITY)
            .encode_image(&rgb)?;
        Ok(PictureCell {
            method: self.method,
            pose: self.pose,
            kind: self.kind,
            jpeg,
            size: self.image.dimensions().into(),
            caption,
        })
    }
}

/// What is drawn.
#[derive(Clone, Copy)]
pub struct PictureSettings<'a> {
    /// Of each method, the states in the drawn columns; `None` where it failed.
    pub states: &'a [Vec<Option<Arc<Snapshot>>>],
    /// The drawn columns, by index.
    pub columns: &'a [usize],
    /// The row that differences are drawn against.
    pub against: usize,
    /// Width and height of a picture, pixels.
    pub size: [u32; 2],
    /// View direction of the pictures of the whole character.
    pub view: NamedView,
}

/// Why pictures could not be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PictureError {
    /// The graphics device failed.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// A clip could not be encoded.
    #[error(transparent)]
    Encode(#[from] image::ImageError),
    /// The work was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Draws all pictures, column by column, each passed to `receive`.
///
/// # Errors
/// [`PictureError`].
pub fn draw_pictures(
    gpu: &GpuContext,
    subject: &Subject,
    settings: &PictureSettings<'_>,
    progress: &Progress,
    mut receive: impl FnMut(ReportPicture),
) -> Result<(), PictureError> {
    let mut drawer = Drawer::new(gpu, subject, settings);
    let count = settings.columns.len();
    for (index, &pose) in settings.columns.iter().enumerate() {
        progress.check()?;
        progress.report(index as f32 / count as f32, "Drawing");
        let shown = settings.states.iter().enumerate();
        let shown: Vec<(usize, &Arc<Snapshot>)> = shown
            .filter_map(|(row, states)| Some((row, states[index].as_ref()?)))
            .collect();
        drawer.column(&shown, |method, kind, image| {
            receive(ReportPicture {
                method,
                pose,
                kind,
                image,
            });
        })?;
    }
    Ok(())
}

/// Draws states, each framed by itself from the same direction.
///
/// # Errors
/// [`PictureError`].
pub fn draw_each(
    gpu: &GpuContext,
    subject: &Subject,
    states: &[Arc<Snapshot>],
    (size, view): ([u32; 2], NamedView),
    progress: &Progress,
) -> Result<Vec<RgbaImage>, PictureError> {
    let settings = PictureSettings {
        states: &[],
        columns: &[],
        against: 0,
        size,
        view,
    };
    let mut drawer = Drawer::new(gpu, subject, &settings);
    let mut images = Vec::with_capacity(states.len());
    for (index, state) in states.iter().enumerate() {
        progress.check()?;
        progress.report(index as f32 / states.len() as f32, "Drawing");
        let camera = drawer.camera(state.positions());
        images.push(drawer.picture(state, &camera, None)?);
    }
    Ok(images)
}

pub(super) struct Drawer<'a> {
    drawing: Drawing,
    settings: &'a PictureSettings<'a>,
    look: Look,
    world_from_stage: Turn,
    size: f32,
    /// End of the colour range of all differences, millimetres.
    max_mm: Option<f32>,
}

impl<'a> Drawer<'a> {
    pub(super) fn new(
        gpu: &GpuContext,
        subject: &Subject,
        settings: &'a PictureSettings<'a>,
    ) -> Self {
        // Textures hide what the methods do.
        let look = Look {
            shading: Shading::Studio,
            ground: false,
            grid: false,
            backdrop: Backdrop::White,
            ..Look::default()
        };
        let mut drawer = Self {
            drawing: Drawing::new(gpu),
            settings,
            look,
            world_from_stage: subject.world_from_stage(),
            size: subject.size,
            max_mm: None,
        };
        drawer.max_mm = drawer.largest_difference();
        drawer
    }

    /// The automatic colour range that is the largest of all differences.
    fn largest_difference(&self) -> Option<f32> {
        let against = self.settings.states.get(self.settings.against)?;
        let others = self.settings.states.iter().enumerate();
        let pairs = others
            .filter(|(row, _)| *row != self.settings.against)
            .flat_map(|(_, states)| states.iter().zip(against))
            .filter_map(|(state, against)| Some((state.as_ref()?, against.as_ref()?)));
        let range = |(state, against): (&Arc<Snapshot>, &Arc<Snapshot>)| {
            let quantity = SkinQuantity::Difference {
                positions: state.positions(),
                others: against.positions(),
                methods: [state, against].map(|state| state.method.label()),
                max_mm: None,
            };
            let legend =
                SkinPaint::default().update(&state.subject, &quantity, self.look.color_map);
            legend.range[1]
        };
        pairs.map(range).reduce(f32::max)
    }

    /// Draws one column: for each method the whole, its difference and a close-up.
    fn column(
        &mut self,
        shown: &[(usize, &Arc<Snapshot>)],
        mut receive: impl FnMut(usize, PictureKind, RgbaImage),
    ) -> Result<(), GpuError> {
        let points: Vec<Point> = shown
            .iter()
            .flat_map(|(_, state)| state.positions().iter().copied())
            .collect();
        let camera = self.camera(&points);
        let against = shown
            .iter()
            .find(|(row, _)| *row == self.settings.against)
            .map(|(_, state)| *state);
        let close_up = self.close_up(shown, &camera);
        for &(row, state) in shown {
            receive(row, PictureKind::Skin, self.picture(state, &camera, None)?);
            if let Some(close_up) = &close_up {
                receive(
                    row,
                    PictureKind::Inset,
                    self.picture(state, close_up, None)?,
                );
            }
            if let Some(against) = against.filter(|_| row != self.settings.against) {
                let compare = Comparison {
                    with: against,
                    how: Compare::Difference,
                    max_mm: self.max_mm,
                    ghosts: None,
                };
                let image = self.picture(state, &camera, Some(compare))?;
                receive(row, PictureKind::Difference, image);
            }
        }
        Ok(())
    }

    pub(super) fn camera(&self, points: &[Point]) -> Camera {
        let mut camera = Camera {
            world_from_stage: self.world_from_stage,
            ..Camera::default()
        };
        camera.look_from(self.settings.view);
        camera.frame_points_within(points, self.aspect(), Margins::default());
        camera
    }

    fn aspect(&self) -> f32 {
        self.settings.size[0] as f32 / self.settings.size[1] as f32
    }

    /// The camera that looks onto the place where two methods differ most, along the skin's normal there.
    fn close_up(&self, shown: &[(usize, &Arc<Snapshot>)], whole: &Camera) -> Option<Camera> {
        let [(_, first), others @ ..] = shown else {
            return None;
        };
        let differences: Vec<f32> = first
            .positions()
            .iter()
            .enumerate()
            .map(|(vertex, position)| {
                let of = |(_, state): &(usize, &Arc<Snapshot>)| {
                    (state.positions()[vertex] - position).norm()
                };
                others.iter().map(of).fold(0.0, f32::max)
            })
            .collect();
        let (vertex, &largest) = differences
            .iter()
            .enumerate()
            .max_by(|(_, a), (_, b)| a.total_cmp(b))
            .filter(|(_, largest)| **largest > 0.0)?;
        let target = first.positions()[vertex];
        let extent = first
            .positions()
            .iter()
            .zip(&differences)
            .filter(|(_, difference)| **difference >= CLOSE_UP_PART * largest)
            .map(|(position, _)| (position - target).norm())
            .fold(0.0, f32::max);
        let [least, most] = CLOSE_UP_RADII.map(|part| part * self.size);
        let radius = (CLOSE_UP_MARGIN * extent).clamp(least, most);
        let mut camera = *whole;
        camera.look_along(&-first.normals()[vertex]);
        camera.frame_sphere(target, radius, self.aspect(), Margins::default());
        Some(camera)
    }

    pub(super) fn picture(
        &mut self,
        state: &Arc<Snapshot>,
        camera: &Camera,
        compare: Option<Comparison<'_>>,
    ) -> Result<RgbaImage, GpuError> {
        let size = self.settings.size;
        let picture = Picture {
            canvas: 0,
            size,
            scale: (size[1] as f32 / LINE_HEIGHT).max(1.0),
            camera,
            snapshot: Some(state),
            crowd: None,
            compare,
            selected: &[],
            hovered: None,
            look: &self.look,
            marks: None,
            ghosts: None,
            fields: None,
            paint: None,
            ground_height: 0.0,
            character_size: self.size,
        };
        self.drawing.with_legends(&picture)
    }
}
