//! The compact field of a part, on a grid in its own box.
//!
//! Vaillant et al., "Implicit Skinning: Real-Time Skin Deformation with Contact Modeling", SIGGRAPH 2013, section 3 and appendix A.

use rayon::prelude::*;

use super::hrbf::{Hrbf, Sample};
use super::motions::dot;
use super::rod::Rod;
use super::samples::PartShape;
use crate::math::{Point64, Vec64};
use crate::mesh::closest_on_segment;
use crate::numerics::lanes::{Padded, add, scaled, sub};

/// Nodes along an axis of the grid of a part.
pub(super) const NODES: usize = 32;
/// Nodes along an axis of the coarser grid on which the distance to the skin is found.
const COARSE: usize = 9;
/// A field may lie so far outside of the skin at rest, in radii of the part, before it is held back.
const SLACK: f64 = 0.25;
/// −x on the bones: the compact value there is 0.97, and its gradient still has a direction.
pub(super) const DEEPEST: f64 = 0.7;
/// x of the vertices of a part at most: there the compact value is above 0.1.
const FARTHEST: f64 = 0.5;
/// x outside of the surface is divided at most by this factor for them.
const LARGEST_GROWTH: f64 = 2.0;
/// The local radius is at least this part of the radius of the part.
const LEAST_RADIUS: f64 = 0.1;
/// The box of a part reaches so far beyond its samples, in radii.
const MARGIN: f64 = 1.0;

/// A value between 0 (outside) and 1 (inside), ½ on the skin, and its gradient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Valued {
    pub(super) value: f32,
    pub(super) gradient: [f32; 3],
}

/// The field of a part in the bind pose, relative to the centre of the skin.
#[derive(Debug, PartialEq)]
pub(super) struct PartField {
    /// The joint that moves it.
    pub(super) joint: u32,
    /// r: the field is 0 from here on outside of the surface and 1 inside.
    pub(super) radius: f32,
    low: [f32; 3],
    high: [f32; 3],
    per_cell: [f32; 3],
    /// x and its gradient; z fastest.
    nodes: Vec<[f32; 4]>,
    /// A bit for every cell: whether the field is not 0 in all of it. Along z from the lowest bit on; y fastest.
    filled: Vec<u32>,
    /// A cylinder around its bones, outside of which it is 0.
    rod: Rod,
}

/// The compact value for x, and its derivative by x: C², 1 up to −1 and 0 from 1 on.
pub(super) fn compact(x: f32) -> [f32; 2] {
    if x >= 1.0 {
        return [0.0, 0.0];
    }
    if x <= -1.0 {
        return [1.0, 0.0];
    }
    let square = x * x;
    let value = 0.5 - x * (0.9375 + square * (-0.625 + 0.1875 * square));
    let fall = 1.0 - square;
    [value, -0.9375 * fall * fall]
}

impl PartField {
    /// Fits and tabulates a part. `vertices` are those of its skin; the radius grows until they lie where the field has a gradient.
    /// `outside` is the signed distance of a point from the skin, positive outside. `None` if its samples have no field.
    pub(super) fn of(
        shape: &PartShape,
        vertices: &[Point64],
        outside: &(impl Fn(&Point64) -> f64 + Sync),
    ) -> Option<Self> {
        let unit = shape.radius;
        if !(unit.is_finite() && unit > 0.0) {
            return None;
        }
        let (low, high) = bounds(&shape.samples)?;
        // In units of the limb about the middle, so that values are well scaled.
        let middle = (low + high) * 0.5;
        let scaled: Vec<Sample> = shape
            .samples
            .iter()
            .map(|sample| Sample {
                at: Point64::from((sample.at.coords - middle) / unit),
                normal: sample.normal,
            })
            .collect();
        let fitted = Hrbf::fit(&scaled)?;
        let relative = Relative {
            fitted: &fitted,
            middle,
            unit,
            bones: &shape.bones,
        };
        let farthest = vertices
            .iter()
            .map(|vertex| relative.at(vertex.coords).0)
            .fold(0.0, f64::max);
        let growth = (farthest / FARTHEST).clamp(1.0, LARGEST_GROWTH);
        let radius = unit * growth;
        let margin = Vec64::repeat(MARGIN * radius);
        let (low, high) = (low - margin, high + margin);
        let guard = Guard::of(low, high, radius, outside);
        let node = |index: usize| {
            let place = place(index, NODES);
            let share = place.map(|k| k as f64 / (NODES - 1) as f64);
            let at: Vec64 = mixed(&low, &high, share);
            let (value, gradient) = relative.at(at);
            let (value, gradient) = if value > 0.0 {
                (value / growth, gradient / growth)
            } else {
                (value, gradient)
            };
            let (held, slope) = guard.at(share);
            let is_border = place.iter().any(|&k| k == 0 || k == NODES - 1);
            let (value, gradient) = if held > value {
                (held, slope)
            } else {
                (value, gradient)
            };
            let value = if is_border { value.max(1.0) } else { value };
            [value, gradient.x, gradient.y, gradient.z].map(|c| c as f32)
        };
        let nodes: Vec<[f32; 4]> = (0..NODES.pow(3)).into_par_iter().map(node).collect();
        let per_cell = |c: usize| ((NODES - 1) as f64 / (high[c] - low[c])) as f32;
        let mut field = Self {
            joint: shape.joint,
            radius: radius as f32,
            low: [0, 1, 2].map(|c| low[c] as f32),
            high: [0, 1, 2].map(|c| high[c] as f32),
            per_cell: [0, 1, 2].map(per_cell),
            nodes,
            filled: vec![0; NODES * NODES],
            rod: axis(&shape.bones),
        };
        let finite = field.nodes.iter().flatten().all(|c| c.is_finite());
        if !finite {
            return None;
        }
        field.measure_extent();
        Some(field)
    }

    /// The corners of the box outside of which the field is 0.
    pub(super) fn corners(&self) -> [[f32; 3]; 2] {
        [self.low, self.high]
    }

    /// A cylinder around its bones outside of which the field is 0.
    pub(super) fn rod(&self) -> Rod {
        self.rod
    }

    /// Finds the cells where the field is not 0.
    fn measure_extent(&mut self) {
        for (index, node) in self.nodes.iter().enumerate() {
            if node[0] >= 1.0 {
                continue;
            }
            let [i, j, k] = place(index, NODES);
            let at = |c: usize, place: usize| self.low[c] + place as f32 / self.per_cell[c];
            self.rod.include([at(0, i), at(1, j), at(2, k)]);
            // Never at a border of the box.
            let cells = 0b11 << (k - 1);
            for row in [i - 1, i].map(|i| i * NODES) {
                self.filled[row + j - 1] |= cells;
                self.filled[row + j] |= cells;
            }
        }
        let cell = self.per_cell.map(|per_cell| 1.0 / per_cell);
        self.rod = self.rod.grown(dot(cell, cell).sqrt());
    }

    /// The value and the gradient at a point.
    #[inline]
    pub(super) fn at(&self, point: [f32; 3]) -> Valued {
        let Some([x, gx, gy, gz]) = self.relative(point) else {
            return Valued {
                value: 0.0,
                gradient: [0.0; 3],
            };
        };
        let [value, slope] = compact(x);
        Valued {
            value,
            gradient: [slope * gx, slope * gy, slope * gz],
        }
    }

    /// x and its gradient, trilinear between the nodes; `None` outside of the box and in cells where the field is 0.
    #[inline]
    fn relative(&self, point: [f32; 3]) -> Option<Padded> {
        let at = |c: usize| (point[c] - self.low[c]) * self.per_cell[c];
        let (x, y, z) = (at(0), at(1), at(2));
        // False for NaN as well.
        let is_inside = |at: f32| at >= 0.0 && at < (NODES - 1) as f32;
        if !(is_inside(x) && is_inside(y) && is_inside(z)) {
            return None;
        }
        // Without loops over the axes, which the compiler keeps as calls.
        let (i, j, k) = (x as i32, y as i32, z as i32);
        let (s, t, u) = (x - i as f32, y - j as f32, z - k as f32);
        let row = i as usize * NODES + j as usize;
        if self.filled.get(row)? >> k & 1 == 0 {
            return None;
        }
        let first = row * NODES + k as usize;
        let v = self.nodes.get(first..first + NODES * NODES + NODES + 2)?;
        let mix = |a: Padded, b: Padded, t: f32| add(a, scaled(sub(b, a), t));
        let line = |at: usize| mix(v[at], v[at + 1], u);
        let low = mix(line(0), line(NODES), t);
        let high = mix(line(NODES * NODES), line(NODES * NODES + NODES), t);
        Some(mix(low, high, s))
    }
}

/// x: how far a point is from the surface of a part, relative to the part's own radius there, so that parts of any thickness press each other
/// by the same share.
///
/// ```text
/// x = a f / (d − f),   a = 0.7
/// ```
///
/// f is the HRBF (negative inside) and d the distance from the bones of the part: x is 0 on the surface and −a on the bones.
struct Relative<'a> {
    fitted: &'a Hrbf,
    middle: Vec64,
    /// The radius of the part.
    unit: f64,
    bones: &'a [[Point64; 2]],
}

impl Relative<'_> {
    /// x and its gradient.
    fn at(&self, at: Vec64) -> (f64, Vec64) {
        let (f, slope) = self
            .fitted
            .at(&Point64::from((at - self.middle) / self.unit));
        let from_bone = self.bones.iter().map(|[a, b]| {
            let along = closest_on_segment(&Point64::from(at), a, b);
            at - (a + (b - a) * along).coords
        });
        let nearest = from_bone.min_by(|a, b| a.norm_squared().total_cmp(&b.norm_squared()));
        let nearest = nearest.unwrap_or_else(Vec64::zeros) / self.unit;
        let distance = nearest.norm();
        let radius = distance - f;
        if radius <= LEAST_RADIUS {
            let scale = DEEPEST / LEAST_RADIUS;
            return (scale * f, slope * (scale / self.unit));
        }
        let away = nearest.try_normalize(1e-9).unwrap_or_else(Vec64::zeros);
        let scale = DEEPEST / (radius * radius * self.unit);
        (DEEPEST * f / radius, (slope * distance - away * f) * scale)
    }
}

/// Lower bounds of x from the distance to the skin: keeps fields of open patches from reaching out of the body.
struct Guard {
    /// x at least, on the coarse grid.
    least: Vec<f64>,
    size: Vec64,
}

impl Guard {
    fn of(
        low: Vec64,
        high: Vec64,
        radius: f64,
        outside: &(impl Fn(&Point64) -> f64 + Sync),
    ) -> Self {
        let at = |index: usize| {
            let share = place(index, COARSE).map(|k| k as f64 / (COARSE - 1) as f64);
            outside(&Point64::from(mixed(&low, &high, share))) / radius - SLACK
        };
        Self {
            least: (0..COARSE.pow(3)).into_par_iter().map(at).collect(),
            size: high - low,
        }
    }

    /// The bound and its gradient at a place of the box, 0 to 1 along every axis.
    fn at(&self, share: [f64; 3]) -> (f64, Vec64) {
        let cells = (COARSE - 1) as f64;
        let cell = share.map(|s| ((s * cells) as usize).min(COARSE - 2));
        let t: [f64; 3] = std::array::from_fn(|c| share[c] * cells - cell[c] as f64);
        let (mut value, mut slope) = (0.0, Vec64::zeros());
        for corner in 0..8_usize {
            let bit = |c: usize| (corner >> c) & 1;
            let weight = |c: usize| if bit(c) == 1 { t[c] } else { 1.0 - t[c] };
            let sign = |c: usize| if bit(c) == 1 { 1.0 } else { -1.0 };
            let k: [usize; 3] = std::array::from_fn(|c| cell[c] + bit(c));
            let least = self.least[(k[0] * COARSE + k[1]) * COARSE + k[2]];
            value += weight(0) * weight(1) * weight(2) * least;
            slope.x += sign(0) * weight(1) * weight(2) * least;
            slope.y += weight(0) * sign(1) * weight(2) * least;
            slope.z += weight(0) * weight(1) * sign(2) * least;
        }
        (value, slope.component_div(&self.size) * cells)
    }
}

/// A cylinder about bones that begin at one joint.
fn axis(bones: &[[Point64; 2]]) -> Rod {
    let array = |v: Vec64| [v.x, v.y, v.z].map(|c| c as f32);
    let first = bones
        .first()
        .map_or_else(Vec64::zeros, |bone| bone[0].coords);
    let along: Vec64 = bones.iter().map(|bone| bone[1] - bone[0]).sum();
    Rod::about(array(first), array(along))
}

fn place(index: usize, nodes: usize) -> [usize; 3] {
    [
        index / (nodes * nodes),
        index / nodes % nodes,
        index % nodes,
    ]
}

fn mixed(low: &Vec64, high: &Vec64, share: [f64; 3]) -> Vec64 {
    low + (high - low).component_mul(&Vec64::from(share))
}

fn bounds(samples: &[Sample]) -> Option<(Vec64, Vec64)> {
    let first = samples.first()?.at.coords;
    let grow =
        |(low, high): (Vec64, Vec64), s: &Sample| (low.inf(&s.at.coords), high.sup(&s.at.coords));
    let (low, high) = samples.iter().fold((first, first), grow);
    (low.iter().chain(high.iter()).all(|c| c.is_finite())).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compact_value_has_its_known_values_and_slope() {
        assert_eq!(
            (compact(0.0)[0], compact(1.0)[0], compact(-1.0)[0]),
            (0.5, 0.0, 1.0)
        );
        assert!((compact(0.0)[1] + 15.0 / 16.0).abs() < 1e-7);
        for k in -9..=9 {
            let x = k as f32 / 10.0;
            let change = (compact(x + 1e-3)[0] - compact(x - 1e-3)[0]) / 2e-3;
            assert!((compact(x)[1] - change).abs() < 1e-3, "{x}");
        }
        assert!(compact(1.0)[1] == 0.0 && compact(-1.0)[1] == 0.0);
    }

    /// Samples of a ball.
    fn ball(radius: f64) -> PartShape {
        let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
        let samples = (0..50).map(|k| {
            let z = 1.0 - 2.0 * (f64::from(k) + 0.5) / 50.0;
            let (sin, cos) = (golden * f64::from(k)).sin_cos();
            let across = (1.0 - z * z).sqrt();
            let normal = Vec64::new(across * cos, across * sin, z);
            Sample {
                at: Point64::from(normal * radius),
                normal,
            }
        });
        PartShape {
            joint: 0,
            samples: samples.collect(),
            radius,
            bones: vec![[Point64::origin(); 2]],
        }
    }

    #[test]
    fn a_ball_is_a_half_on_its_surface_and_nothing_far_away() {
        for radius in [0.01, 1.0, 100.0] {
            let field =
                PartField::of(&ball(radius), &[], &|p| p.coords.norm() - radius).expect("fits");
            let r = radius as f32;
            for direction in [[1.0, 0.0, 0.0], [0.6, 0.0, 0.8], [0.0, -0.6, 0.8]] {
                let on = field.at(direction.map(|c: f32| c * r));
                assert!((on.value - 0.5).abs() < 0.01, "{radius}: {}", on.value);
                let slope: f32 = (0..3).map(|c| on.gradient[c] * direction[c]).sum();
                assert!(
                    (slope * r + 0.9375 * DEEPEST as f32).abs() < 0.03,
                    "{radius}: {slope}"
                );
                assert_eq!(field.at(direction.map(|c: f32| c * 2.5 * r)).value, 0.0);
            }
            // The grid rounds off the tip in the middle.
            let deepest = compact(-DEEPEST as f32)[0];
            let middle = field.at([0.0; 3]).value;
            assert!(middle > 0.85 && middle <= deepest, "{middle}");
            assert_eq!(field.at([f32::NAN, 0.0, 0.0]).value, 0.0);
        }
    }
}
