//! The pictures of `render`, on one sheet.

use std::sync::Arc;

use image::RgbaImage;

use super::looks::Compare;
use super::{Posed, Render, Shown};
use crate::cli::{Failure, stderr};
use crate::gpu::GpuContext;
use crate::math::{Affine, Point, Point64};
use crate::mesh::Bounds;
use crate::render::{
    Camera, Extras, Ground, Legend, Look, Margins, Mark, Marked, MeshColors, MeshDraw, MeshFrame, MeshModel, MeshStyle, Moment, NamedView,
    Quantity, Renderer, Scene, Sheet, SkinColors, SkinPaint, Target, straighten_alpha,
};
use crate::session::Checkup;
use crate::skin::Subject;

/// Lines are drawn for pictures of this height; in larger ones they are wider.
pub(super) const LINE_HEIGHT: f32 = 900.0;
/// Part of the width that a colour bar needs.
const BAR_SHARE: f32 = 0.17;

/// Everything that the pictures of a sheet share.
pub(super) struct Drawing<'a> {
    render: &'a Render,
    shown: &'a Shown,
    subject: &'a Arc<Subject>,
    world_from_joint: Vec<Affine>,
    posed: &'a [Posed],
    look: Look,
    joint: Option<usize>,
    marks: Vec<Mark>,
    renderer: Renderer,
    model: Arc<MeshModel>,
    sheet: Sheet,
    camera: Camera,
    ground_height: f32,
}

impl<'a> Drawing<'a> {
    pub(super) fn new(
        render: &'a Render,
        shown: &'a Shown,
        subject: &'a Arc<Subject>,
        world_from_joint: Vec<Affine>,
        posed: &'a [Posed],
    ) -> Result<Self, Failure> {
        let look = shown.look;
        if let (true, Err(error)) = (look.shows_flesh(), &subject.tissue) {
            return Err(Failure::Undone(format!("{}: {error}", subject.character.name)));
        }
        let joint = render.look.joint(subject)?;
        let marks = if look.findings { marks_of(subject) } else { Vec::new() };
        let gpu = stderr::without_wayland_noise(GpuContext::headless)?;
        let pictures = match shown.compare {
            None => posed.len(),
            Some(Compare::Wipe(_)) => 1,
            Some(Compare::Difference(_)) => posed.len() - 1,
        };
        let size = render.size.unwrap_or(if pictures == 1 { [900, 900] } else { Sheet::around([640, 900], pictures) });
        gpu.check_size(size[0], size[1])?;
        let renderer = Renderer::new(&gpu);
        let model = MeshModel::of_character(&renderer, &subject.character);
        let sheet = Sheet::new(size, pictures);
        let points: Vec<Point> = posed.iter().flat_map(|posed| &posed.positions).copied().collect();
        let has_bar = look.colors != SkinColors::Material || matches!(shown.compare, Some(Compare::Difference(_)));
        let has_captions = pictures > 1 || shown.compare.is_some();
        let camera = shown.camera.unwrap_or_else(|| camera(render, &points, &sheet, has_captions, has_bar));
        let ground_height = Bounds::of(&points).min.y;
        Ok(Self { render, shown, subject, world_from_joint, posed, look, joint, marks, renderer, model, sheet, camera, ground_height })
    }

    /// Sees all of these points from now on.
    pub(super) fn see(&mut self, points: &[Point]) {
        let has_bar = self.look.colors != SkinColors::Material || matches!(self.shown.compare, Some(Compare::Difference(_)));
        let has_captions = self.sheet.cell(0) != self.size() || self.shown.compare.is_some();
        let framed = || camera(self.render, points, &self.sheet, has_captions, has_bar);
        self.camera = self.shown.camera.unwrap_or_else(framed);
        self.ground_height = Bounds::of(points).min.y;
    }

    /// Shows another moment from now on.
    pub(super) fn show(&mut self, posed: &'a [Posed], world_from_joint: Vec<Affine>) {
        (self.posed, self.world_from_joint) = (posed, world_from_joint);
    }

    /// Goes round by an angle in radians.
    pub(super) fn turn(&mut self, radians: f32) {
        self.camera.orbit(radians, 0.0);
    }

    /// Width and height of the sheet.
    pub(super) fn size(&self) -> [u32; 2] {
        self.sheet.size()
    }

    /// All pictures.
    pub(super) fn sheet(&self) -> Result<RgbaImage, Failure> {
        let (pictures, labels): (Vec<_>, Vec<_>) = match self.shown.compare {
            None => {
                let drawn: Result<Vec<_>, _> = (0..self.posed.len()).map(|index| self.lone(index)).collect();
                // A lone picture says nothing that the command did not.
                let labels =
                    if self.posed.len() > 1 { self.posed.iter().map(|p| p.method.label().to_owned()).collect() } else { Vec::new() };
                (drawn?, labels)
            }
            Some(Compare::Wipe(at)) => {
                let [left, right] = [0, 1].map(|index| self.posed[index].method.label());
                (vec![self.wiped(at)?], vec![format!("{left} | {right}")])
            }
            Some(Compare::Difference(max_mm)) => self.differences(max_mm)?,
        };
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        Ok(self.sheet.compose(&pictures, &labels))
    }

    /// One method by itself.
    fn lone(&self, index: usize) -> Result<RgbaImage, Failure> {
        let posed = &self.posed[index];
        let quantity = match (self.look.colors, self.joint) {
            (SkinColors::Weights, Some(joint)) => Some(Quantity::Weights { joint }),
            // Cut open, the cells show it.
            (SkinColors::Strain, _) if self.look.cut.is_none() => Some(Quantity::Strain { positions: &posed.positions }),
            _ => None,
        };
        self.picture(self.sheet.cell(index), posed, quantity.as_ref())
    }

    /// The first method left of a line, the second right of it.
    fn wiped(&self, at: f32) -> Result<RgbaImage, Failure> {
        let size = self.sheet.cell(0);
        let frames = [0, 1].map(|index| self.frame(&self.posed[index]));
        let extras = [0, 1].map(|index| self.extras(&self.posed[index]));
        let ghosts = [0, 1].map(|index| self.ghosts(&self.posed[index]));
        let [left, right] = [0, 1].map(|index| self.scene(&frames[index], &ghosts[index], None, &extras[index], size));
        let mut target = Target::new(&self.renderer, size[0], size[1]);
        let column = (at * size[0] as f32).round() as u32;
        self.renderer.render_wiped(&mut target, &self.camera, &left, &right, column);
        let mut image = target.read(self.renderer.gpu())?;
        if !left.background.visible {
            straighten_alpha(&mut image);
        }
        if column > 0 && column < size[0] {
            for y in 0..size[1] {
                image.put_pixel(column, y, image::Rgba([255, 255, 255, 255]));
            }
        }
        Ok(image)
    }

    /// Every method but the first, coloured by its distance to the first, all with the same range; and their captions.
    fn differences(&self, max_mm: Option<f32>) -> Result<(Vec<RgbaImage>, Vec<String>), Failure> {
        let (first, others) = self.posed.split_first().ok_or_else(|| Failure::Usage("no method was given".to_owned()))?;
        let quantity = |posed: &'a Posed, max_mm: Option<f32>| Quantity::Difference {
            positions: &posed.positions,
            others: &first.positions,
            methods: [posed.method.label(), first.method.label()],
            max_mm,
        };
        let top = |posed: &'a Posed| SkinPaint::default().update(self.subject, &quantity(posed, None), self.look.color_map).range[1];
        let max_mm = max_mm.or_else(|| others.iter().map(top).reduce(f32::max));
        let draw = |(index, posed)| self.picture(self.sheet.cell(index), posed, Some(&quantity(posed, max_mm)));
        let pictures: Result<Vec<_>, _> = others.iter().enumerate().map(draw).collect();
        let labels = others.iter().map(|posed| format!("{} against {}", posed.method.label(), first.method.label()));
        Ok((pictures?, labels.collect()))
    }

    fn picture(&self, size: [u32; 2], posed: &Posed, quantity: Option<&Quantity<'_>>) -> Result<RgbaImage, Failure> {
        let frame = self.frame(posed);
        let mut paint = SkinPaint::default();
        let legend = quantity.map(|quantity| paint.update(self.subject, quantity, self.look.color_map));
        let colors = legend.as_ref().map(|_| {
            let mut colors = MeshColors::new(&self.renderer, &self.model);
            colors.update(self.renderer.gpu(), paint.colors());
            colors
        });
        let extras = self.extras(posed);
        let ghosts = self.ghosts(posed);
        let scene = self.scene(&frame, &ghosts, colors.as_ref(), &extras, size);
        let mut image = self.renderer.render_to_image(&self.camera, &scene, size[0], size[1])?;
        let legends: Vec<&Legend> = legend.iter().chain(extras.legends()).collect();
        Legend::draw(&legends, &mut image, self.look.backdrop.background().ink());
        Ok(image)
    }

    fn frame(&self, posed: &Posed) -> MeshFrame {
        let mut frame = MeshFrame::new(&self.renderer, &self.model);
        frame.update(self.renderer.gpu(), &posed.positions, &posed.normals);
        frame
    }

    /// Skins of other moments, with their styles.
    fn ghosts(&self, posed: &Posed) -> Vec<(MeshFrame, MeshStyle)> {
        let drawn = posed.ghosts.iter().map(|ghost| {
            let mut frame = MeshFrame::new(&self.renderer, &self.model);
            frame.update(self.renderer.gpu(), &ghost.positions, &ghost.normals);
            (frame, MeshStyle::ghost(ghost.offset_secs))
        });
        drawn.collect()
    }

    fn extras(&self, posed: &Posed) -> Extras {
        let moment = Moment {
            subject: self.subject,
            positions: &posed.positions,
            normals: &posed.normals,
            simulated: &posed.simulated,
            world_from_joint: &self.world_from_joint,
            contacts: &posed.contacts,
            velocities: &[],
        };
        let mut extras = Extras::default();
        let selected = self.joint.as_slice();
        extras.update(&self.look, Some(&moment), &Marked { selected, hovered: None, marks: &self.marks });
        extras
    }

    fn scene<'s>(
        &self,
        mesh: &'s MeshFrame,
        ghosts: &'s [(MeshFrame, MeshStyle)],
        colors: Option<&'s MeshColors>,
        extras: &'s Extras,
        size: [u32; 2],
    ) -> Scene<'s> {
        let style = if colors.is_some() { self.look.data_style() } else { self.look.mesh_style() };
        let grid = self.look.grid.then(|| Ground::grid_step(self.subject.size));
        let ghosts = ghosts.iter().map(|(mesh, style)| MeshDraw { mesh, colors: None, style: *style });
        Scene {
            meshes: ghosts.chain(self.look.skin.then_some(MeshDraw { mesh, colors, style })).collect(),
            overlays: extras.overlays().to_vec(),
            ground: self.look.ground.then_some(Ground { height: self.ground_height, grid }),
            background: self.look.backdrop.background(),
            scale: (size[1] as f32 / LINE_HEIGHT).max(1.0),
            ..Scene::default()
        }
    }
}

/// A camera that sees what every method made of the character, above the captions and beside the colour bar.
fn camera(render: &Render, points: &[Point], sheet: &Sheet, has_captions: bool, has_bar: bool) -> Camera {
    let [width, height] = sheet.cell(0).map(|side| side as f32);
    let mut margins = Margins::default();
    if has_captions {
        margins.bottom = sheet.caption_share() + 0.02;
    }
    if has_bar {
        margins.sides = BAR_SHARE;
    }
    let mut camera = Camera { projection: render.projection(), ..Camera::default() };
    camera.look_from(render.view.unwrap_or(NamedView::ThreeQuarter));
    camera.frame_points_within(points, width / height, margins);
    camera
}

fn marks_of(subject: &Subject) -> Vec<Mark> {
    let checkup = Checkup::of(subject);
    let spots = checkup.findings.iter().flat_map(|finding| finding.spots.iter().map(|spot| (spot, finding.severity)));
    let mark = |(spot, severity): (&crate::session::Spot, _)| Mark {
        vertex: spot.vertex,
        joint: spot.joint,
        at_rest: Point64::from(spot.position).cast::<f32>(),
        radius: spot.radius as f32,
        color: Mark::color_of(severity),
    };
    spots.map(mark).collect()
}
