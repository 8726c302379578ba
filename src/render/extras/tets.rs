//! The tissue cut open: the tets on one side of a plane as solid cells, shrunk to leave gaps.

use crate::math::{Point, Vec3};
use crate::methods::Subject;
use crate::render::colormap::ColorMap;
use crate::render::legend::{Legend, SteadyRange};
use crate::render::look::CutPlane;
use crate::render::overlay::{Overlay, Rgba};
use crate::tissue::{Tet, Tissue};

/// Scale of a cell about its centre.
const SHRUNKEN: f32 = 0.82;
/// The tets of a cell, from the skin inwards.
const TONES: [Rgba; 3] = [
    [226, 168, 142, 255],
    [206, 134, 116, 255],
    [178, 98, 92, 255],
];
/// Minimum range of the stretch colours.
const LEAST_STRAIN: f32 = 0.05;
/// Fraction of the tets above the end of the colour range.
const SPIKES: f32 = 0.01;
/// Faces of a tet by its corners, outward for a tet of positive volume.
const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// The cells drawn, and their stretch.
#[derive(Default)]
pub(super) struct Cells {
    /// The cut that `kept` is for.
    of: Option<CutPlane>,
    /// Layer and number of every tet on the kept side.
    kept: Vec<(u32, u32)>,
    strains: Vec<f32>,
    sorted: Vec<f32>,
    range: SteadyRange,
}

impl Cells {
    /// Adds the cells. They are selected in the bind pose, so that the selection does not change
    /// with the pose.
    pub(super) fn add(
        &mut self,
        overlay: &mut Overlay,
        subject: &Subject,
        tissue: &Tissue,
        [skin, base]: [&[Point]; 2],
        cut: &CutPlane,
        by_strain: bool,
    ) -> Option<Legend> {
        if self.of != Some(*cut) {
            self.choose(subject, tissue, cut);
            self.of = Some(*cut);
        }
        let legend = by_strain.then(|| self.measure(tissue, skin, base));
        for (index, &(layer, number)) in self.kept.iter().enumerate() {
            let tet = tet_of(tissue, layer, number);
            let Some(corners) = tet.and_then(|tet| tet.points(skin, base)) else {
                continue;
            };
            let color = match &legend {
                Some(legend) => legend
                    .map
                    .rgba(f32::midpoint(self.strains[index] / legend.range[1], 1.0)),
                None => TONES[tone_of(tissue, layer, number)],
            };
            add_cell(overlay, &corners, color);
        }
        legend
    }

    fn choose(&mut self, subject: &Subject, tissue: &Tissue, cut: &CutPlane) {
        let axis = cut.axis.min(2);
        let bounds = subject.bounds;
        let plane =
            bounds.min[axis] + (bounds.max[axis] - bounds.min[axis]) * cut.offset.clamp(0.0, 1.0);
        let skin = &subject.sim().mesh.positions;
        let base: Vec<Point> = tissue.base.iter().map(|p| p.cast()).collect();
        self.kept.clear();
        for (index, layer) in (0..).zip(&tissue.layers) {
            for (number, tet) in (0..).zip(&layer.tets).filter(|(_, tet)| tet.is_usable()) {
                let Some(corners) = tet.points(skin, &base) else {
                    continue;
                };
                let below = middle(&corners)[axis] < plane;
                if below != cut.flipped {
                    self.kept.push((index, number));
                }
            }
        }
    }

    /// Stretch of every cell, percent.
    fn measure(&mut self, tissue: &Tissue, skin: &[Point], base: &[Point]) -> Legend {
        self.strains.clear();
        for &(layer, number) in &self.kept {
            let tet = tet_of(tissue, layer, number);
            let strain = tet
                .and_then(|tet| strain_of(tet, skin, base))
                .unwrap_or(0.0);
            self.strains.push(strain * 100.0);
        }
        self.sorted.clear();
        self.sorted
            .extend(self.strains.iter().map(|strain| strain.abs()));
        let rank = ((self.sorted.len() as f32 * (1.0 - SPIKES)) as usize)
            .min(self.sorted.len().saturating_sub(1));
        let largest = if self.sorted.is_empty() {
            0.0
        } else {
            *self.sorted.select_nth_unstable_by(rank, f32::total_cmp).1
        };
        let top = self.range.follow(largest, LEAST_STRAIN * 100.0);
        Legend {
            title: "Stretch of tets".to_owned(),
            unit: "%",
            range: [-top, top],
            map: ColorMap::Diverging,
        }
    }
}

/// Root mean square of the principal stretches of F (rest shape to present shape), minus one.
fn strain_of(tet: &Tet, skin: &[Point], base: &[Point]) -> Option<f32> {
    let corners = tet.points(skin, base)?;
    let rest_inverse = tet.rest_inverse?.cast::<f32>();
    let edges = nalgebra::Matrix3::from_columns(&[
        corners[1] - corners[0],
        corners[2] - corners[0],
        corners[3] - corners[0],
    ]);
    let stretched = edges * rest_inverse;
    let strain = stretched.norm() / 3.0_f32.sqrt() - 1.0;
    strain.is_finite().then_some(strain)
}

fn tet_of(tissue: &Tissue, layer: u32, number: u32) -> Option<&Tet> {
    tissue.layers.get(layer as usize)?.tets.get(number as usize)
}

/// A tet's place in its cell, from the skin inwards.
fn tone_of(tissue: &Tissue, layer: u32, number: u32) -> usize {
    let cell = |number: u32| tet_of(tissue, layer, number).map(|tet| tet.cell);
    let before = (1..TONES.len() as u32).take_while(|&k| {
        number
            .checked_sub(k)
            .is_some_and(|other| cell(other) == cell(number))
    });
    before.count()
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
