//! The flesh cut open: the tets on one side of a plane as solid cells, shrunken so that one sees between them.

use crate::math::{Point, Vec3};
use crate::render::colormap::ColorMap;
use crate::render::legend::{Legend, SteadyRange};
use crate::render::look::Cut;
use crate::render::overlay::{Overlay, Rgba};
use crate::skin::Subject;
use crate::tissue::Tissue;

/// How large a cell is drawn, about its middle.
const SHRUNKEN: f32 = 0.82;
/// The three tets of a prism, from the skin inwards.
const TONES: [Rgba; 3] = [[226, 168, 142, 255], [206, 134, 116, 255], [178, 98, 92, 255]];
/// Colours of stretch don't get finer than this.
const LEAST_STRAIN: f32 = 0.05;
/// Colours reach their end where all but this part of the tets lie below.
const SPIKES: f32 = 0.01;
/// Faces of a tet by its corners, outward for a tet of positive volume.
const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// Which cells are drawn, and their stretch.
#[derive(Default)]
pub(super) struct Cells {
    /// The cut that `kept` is for.
    of: Option<Cut>,
    /// Prism and tet of every cell on the side that is kept.
    kept: Vec<(u32, u8)>,
    strains: Vec<f32>,
    sorted: Vec<f32>,
    range: SteadyRange,
}

impl Cells {
    /// Adds the cells. They are chosen in the bind pose, so that the same ones are seen while the character moves.
    pub(super) fn add(
        &mut self,
        overlay: &mut Overlay,
        subject: &Subject,
        tissue: &Tissue,
        [skin, base]: [&[Point]; 2],
        cut: &Cut,
        by_strain: bool,
    ) -> Option<Legend> {
        if self.of != Some(*cut) {
            self.choose(subject, tissue, cut);
            self.of = Some(*cut);
        }
        let legend = by_strain.then(|| self.measure(tissue, skin, base));
        for (index, &(prism, tet)) in self.kept.iter().enumerate() {
            let Some(corners) = corners_of(tissue, prism, tet, skin, base) else { continue };
            let color = match &legend {
                Some(legend) => legend.map.rgba(f32::midpoint(self.strains[index] / legend.range[1], 1.0)),
                None => TONES[usize::from(tet)],
            };
            add_cell(overlay, &corners, color);
        }
        legend
    }

    fn choose(&mut self, subject: &Subject, tissue: &Tissue, cut: &Cut) {
        let axis = cut.axis.min(2);
        let bounds = subject.bounds;
        let plane = bounds.min[axis] + (bounds.max[axis] - bounds.min[axis]) * cut.offset.clamp(0.0, 1.0);
        let skin = &subject.sim().mesh.positions;
        let base: Vec<Point> = tissue.base.iter().map(|p| p.cast()).collect();
        self.kept.clear();
        for (index, prism) in (0..).zip(&tissue.prisms.prisms) {
            for tet in (0..3).filter(|tet| prism.rest_inverse[usize::from(*tet)].is_some()) {
                let Some(corners) = corners_of(tissue, index, tet, skin, &base) else { continue };
                let below = middle(&corners)[axis] < plane;
                if below != cut.flipped {
                    self.kept.push((index, tet));
                }
            }
        }
    }

    /// Stretch of every cell, percent.
    fn measure(&mut self, tissue: &Tissue, skin: &[Point], base: &[Point]) -> Legend {
        self.strains.clear();
        for &(prism, tet) in &self.kept {
            let strain = strain_of(tissue, prism, tet, skin, base).unwrap_or(0.0);
            self.strains.push(strain * 100.0);
        }
        self.sorted.clear();
        self.sorted.extend(self.strains.iter().map(|strain| strain.abs()));
        let rank = ((self.sorted.len() as f32 * (1.0 - SPIKES)) as usize).min(self.sorted.len().saturating_sub(1));
        let largest = if self.sorted.is_empty() { 0.0 } else { *self.sorted.select_nth_unstable_by(rank, f32::total_cmp).1 };
        let top = self.range.follow(largest, LEAST_STRAIN * 100.0);
        Legend { title: "Stretch of tets".to_owned(), unit: "%", range: [-top, top], map: ColorMap::Diverging }
    }
}

/// The root mean square of the principal stretches, less one: those of F, which maps the rest shape to the present one.
fn strain_of(tissue: &Tissue, prism: u32, tet: u8, skin: &[Point], base: &[Point]) -> Option<f32> {
    let corners = corners_of(tissue, prism, tet, skin, base)?;
    let rest_inverse = tissue.prisms.prisms[prism as usize].rest_inverse[usize::from(tet)]?.cast::<f32>();
    let edges = nalgebra::Matrix3::from_columns(&[corners[1] - corners[0], corners[2] - corners[0], corners[3] - corners[0]]);
    let stretched = edges * rest_inverse;
    let strain = stretched.norm() / 3.0_f32.sqrt() - 1.0;
    strain.is_finite().then_some(strain)
}

fn corners_of(tissue: &Tissue, prism: u32, tet: u8, skin: &[Point], base: &[Point]) -> Option<[Point; 4]> {
    let corners = tissue.prisms.prisms.get(prism as usize)?.corners;
    let at = |entry: usize| {
        let from = if entry < 3 { skin } else { base };
        from.get(corners[entry % 3] as usize).copied()
    };
    let first = usize::from(tet);
    Some([at(first)?, at(first + 1)?, at(first + 2)?, at(first + 3)?])
}

fn middle(corners: &[Point; 4]) -> Point {
    Point::from(corners.iter().map(|corner| corner.coords).sum::<Vec3>() / 4.0)
}

fn add_cell(overlay: &mut Overlay, corners: &[Point; 4], color: Rgba) {
    let middle = middle(corners);
    let shrunken = corners.map(|corner| middle + (corner - middle) * SHRUNKEN);
    for face in FACES {
        overlay.flat_triangle(face.map(|corner| shrunken[corner]), color);
    }
}
