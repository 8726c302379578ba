//! Several methods at one time on one sheet: side by side, as a wipe, or coloured by their differences.

use std::sync::Arc;

use image::{Rgba, RgbaImage};

use super::painter::{Comparison, Picture};
use super::{Compare, Drawing, GhostSkins, JointFocus, Snapshot};
use crate::gpu::{GpuContext, GpuError};
use crate::math::{Point, Turn, Vec3, origin_of};
use crate::render::{
    Camera, Look, Margins, NamedView, PictureSheet, PositionMark, Projection, SkinColors,
    SkinPaint, SkinQuantity,
};

/// Line widths are for pictures of this height; in larger ones they are scaled.
pub const LINE_HEIGHT: f32 = 900.0;
/// Fraction of the width for a colour bar.
const BAR_SHARE: f32 = 0.17;

/// Settings of a sheet.
#[derive(Debug, Clone)]
pub struct SheetSettings {
    /// Width and height of the sheet in pixels; by default 900 × 900 for one picture and about 640 × 900 for each of several.
    pub size: Option<[u32; 2]>,
    /// Display settings.
    pub look: Look,
    /// The comparison: a wipe needs two methods, a difference at least two. `None` draws them side by side.
    pub compare: Option<Compare>,
    /// End of the colour range of a difference, millimetres; by default the largest difference of the sheet.
    pub max_mm: Option<f32>,
    /// The joint whose weights are shown, if the look shows weights, and that the cut through fields goes through.
    pub joint: Option<usize>,
    /// Positions that are marked, if the look shows findings.
    pub marks: Arc<[PositionMark]>,
    /// The camera; by default one that frames all points from `view`.
    pub camera: Option<Camera>,
    /// View direction, without a camera.
    pub view: NamedView,
    /// Projection, without a camera.
    pub projection: Projection,
    /// The stage, without a camera: [`Subject::world_from_stage`](crate::methods::Subject::world_from_stage) of the character.
    pub world_from_stage: Turn,
    /// The joint at the centre of the pictures, in every frame; `None` frames the whole character.
    pub focus: Option<JointFocus>,
    /// Magnification about the centre of the picture: 1 for none.
    pub zoom: f32,
}

/// The state of one method, with its onion skins.
#[derive(Debug, Clone)]
pub struct SheetState {
    /// The state.
    pub snapshot: Arc<Snapshot>,
    /// Onion skins, if the look shows any.
    pub ghosts: Option<Arc<GhostSkins>>,
}

/// Draws sheets that share size, camera and look.
pub struct SheetDrawing {
    settings: SheetSettings,
    sheet: PictureSheet,
    drawing: Drawing,
    camera: Camera,
    ground_height: f32,
}

impl SheetDrawing {
    /// A drawing of sheets for this number of methods, at least one. Call [`SheetDrawing::frame`] next.
    ///
    /// # Errors
    /// [`GpuError`] if the device cannot draw pictures of this size.
    pub fn new(
        gpu: &GpuContext,
        settings: SheetSettings,
        methods: usize,
    ) -> Result<Self, GpuError> {
        let pictures = match settings.compare {
            None | Some(Compare::Flicker) => methods,
            Some(Compare::Wipe(_)) => 1,
            Some(Compare::Difference) => methods.saturating_sub(1),
        };
        let size = settings.size.unwrap_or(if pictures == 1 {
            [900, 900]
        } else {
            PictureSheet::around([640, 900], pictures)
        });
        gpu.check_size(size[0], size[1])?;
        Ok(Self {
            sheet: PictureSheet::new(size, pictures),
            drawing: Drawing::new(gpu),
            camera: settings.camera.unwrap_or_default(),
            ground_height: 0.0,
            settings,
        })
    }

    /// Sets up the camera to frame all of these points, unless one was given, or the surroundings of the joint in focus; puts the floor
    /// below the points.
    pub fn frame(&mut self, points: &[Point]) {
        let settings = &self.settings;
        let [width, height] = self.sheet.cell(0).map(|side| side as f32);
        let mut margins = Margins::default();
        if self.sheet.cell(0) != self.size() || settings.compare.is_some() {
            margins.bottom = self.sheet.caption_share() + 0.02;
        }
        let has_bar = settings.look.colors != SkinColors::Material
            || settings.compare == Some(Compare::Difference);
        if has_bar {
            margins.sides = BAR_SHARE;
        }
        let aspect = width / height;
        let mut camera = settings.camera.unwrap_or_else(|| {
            let mut camera = Camera {
                projection: settings.projection,
                ..Camera::default()
            };
            camera.world_from_stage = settings.world_from_stage;
            camera.look_from(settings.view);
            camera.frame_points_within(points, aspect, margins);
            camera
        });
        if let Some(focus) = &settings.focus {
            // The clipping planes contain the whole character. `draw` moves the target to the joint.
            camera.frame_points_within(points, aspect, margins);
            camera.frame_sphere(Point::origin(), focus.radius, aspect, margins);
        }
        camera.magnify(settings.zoom);
        self.camera = camera;
        self.ground_height = lowest(points, &camera.up());
    }

    /// Orbits the camera by an angle in radians.
    pub fn orbit(&mut self, radians: f32) {
        self.camera.orbit(radians, 0.0);
    }

    /// Width and height of the sheet in pixels.
    #[must_use]
    pub fn size(&self) -> [u32; 2] {
        self.sheet.size()
    }

    /// Draws one sheet: a state for each method.
    ///
    /// # Errors
    /// [`GpuError`] if a picture cannot be read back.
    pub fn draw(&mut self, states: &[SheetState]) -> Result<RgbaImage, GpuError> {
        let label = |state: &SheetState| state.snapshot.method.label();
        self.follow_focus(states);
        let (pictures, labels) = match (self.settings.compare, states) {
            (Some(Compare::Wipe(at)), [left, right, ..]) => {
                let caption = format!("{} | {}", label(left), label(right));
                (vec![self.wipe(left, right, at)?], vec![caption])
            }
            (Some(Compare::Difference), [first, others @ ..]) => {
                let captions = others
                    .iter()
                    .map(|other| format!("{} against {}", label(other), label(first)));
                (self.differences(first, others)?, captions.collect())
            }
            _ => {
                let drawn: Result<Vec<_>, _> = (0..)
                    .zip(states)
                    .map(|(cell, state)| self.cell(cell, state, None, self.settings.look))
                    .collect();
                // A single picture needs no caption.
                let captions = states.iter().filter(|_| states.len() > 1);
                (
                    drawn?,
                    captions.map(|state| label(state).to_owned()).collect(),
                )
            }
        };
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        Ok(self.sheet.compose(&pictures, &labels))
    }

    /// Centres the camera on the joint in focus, which is at the same position for all methods.
    fn follow_focus(&mut self, states: &[SheetState]) {
        let Some((focus, state)) = self.settings.focus.zip(states.first()) else {
            return;
        };
        if let Some(world_from_joint) = state.snapshot.world_from_joint.get(focus.joint) {
            self.camera.target = origin_of(world_from_joint).cast();
        }
    }

    /// The first method left of a white line, the second right of it.
    fn wipe(
        &mut self,
        left: &SheetState,
        right: &SheetState,
        at: f32,
    ) -> Result<RgbaImage, GpuError> {
        // The skins of a wipe show their material.
        let look = Look {
            colors: SkinColors::Material,
            ..self.settings.look
        };
        let size = self.sheet.cell(0);
        let compare = Comparison {
            with: &right.snapshot,
            how: Compare::Wipe(at),
            max_mm: None,
            ghosts: right.ghosts.as_ref(),
        };
        let picture = picture(
            &self.settings,
            &self.camera,
            self.ground_height,
            left,
            &look,
        );
        let picture = Picture {
            size,
            scale: scale_of(size),
            compare: Some(compare),
            ..picture
        };
        let (mut image, _) = self.drawing.image(&picture)?;
        let column = (at * size[0] as f32).round() as u32;
        if column > 0 && column < size[0] {
            for y in 0..size[1] {
                image.put_pixel(column, y, Rgba([255; 4]));
            }
        }
        Ok(image)
    }

    /// Every method but the first, coloured by its distance to the first, all with the same range.
    fn differences(
        &mut self,
        first: &SheetState,
        others: &[SheetState],
    ) -> Result<Vec<RgbaImage>, GpuError> {
        let look = self.settings.look;
        let range_of = |state: &SheetState| {
            let quantity = SkinQuantity::Difference {
                positions: state.snapshot.positions(),
                others: first.snapshot.positions(),
                methods: [state, first].map(|state| state.snapshot.method.label()),
                max_mm: None,
            };
            let subject = &state.snapshot.subject;
            let legend = SkinPaint::default().update(subject, &quantity, look.color_map);
            legend.range[1]
        };
        let largest = || others.iter().map(range_of).reduce(f32::max);
        let max_mm = self.settings.max_mm.or_else(largest);
        let compare = Comparison {
            with: &first.snapshot,
            how: Compare::Difference,
            max_mm,
            ghosts: None,
        };
        (0..)
            .zip(others)
            .map(|(cell, state)| self.cell(cell, state, Some(compare), look))
            .collect()
    }

    /// The picture of one cell, with its legends.
    fn cell(
        &mut self,
        cell: u32,
        state: &SheetState,
        compare: Option<Comparison<'_>>,
        look: Look,
    ) -> Result<RgbaImage, GpuError> {
        let size = self.sheet.cell(cell as usize);
        let look = Look {
            fields: look.fields && state.snapshot.body_field.is_some(),
            ..look
        };
        let picture = picture(
            &self.settings,
            &self.camera,
            self.ground_height,
            state,
            &look,
        );
        self.drawing.with_legends(&Picture {
            canvas: cell,
            size,
            scale: scale_of(size),
            compare,
            ..picture
        })
    }
}

fn picture<'a>(
    settings: &'a SheetSettings,
    camera: &'a Camera,
    ground_height: f32,
    state: &'a SheetState,
    look: &'a Look,
) -> Picture<'a> {
    Picture {
        canvas: 0,
        size: [1, 1],
        scale: 1.0,
        camera,
        snapshot: Some(&state.snapshot),
        crowd: None,
        compare: None,
        selected: settings.joint.as_slice(),
        hovered: None,
        look,
        marks: Some(&settings.marks),
        ghosts: state.ghosts.as_ref(),
        fields: None,
        paint: None,
        ground_height,
        character_size: state.snapshot.subject.size,
    }
}

/// Smallest coordinate of some points along the unit vector `up`; infinite without points.
pub(super) fn lowest(points: &[Point], up: &Vec3) -> f32 {
    points
        .iter()
        .map(|p| p.coords.dot(up))
        .fold(f32::INFINITY, f32::min)
}

/// Scale of line widths in a picture of this size.
pub(super) fn scale_of(size: [u32; 2]) -> f32 {
    (size[1] as f32 / LINE_HEIGHT).max(1.0)
}
