//! Vertex colours of the skin for weights, strain, painted materials and distances between methods, with their legend.

use std::sync::Arc;

use super::colormap::ColorMap;
use super::legend::{Legend, SteadyRange};
use crate::character::{Attachment, PaintMap};
use crate::math::Point;
use crate::mesh::Topology;
use crate::methods::Subject;

/// Fraction of the vertices above the end of the colour range, so that outliers do not compress it.
const SPIKES: f32 = 0.005;
/// Minimum ranges: 5 % of strain, and this fraction of the size for distances.
const LEAST_STRAIN: f32 = 0.05;
const LEAST_DISTANCE: f32 = 5e-4;

/// Linear-blend weight of a joint for every source vertex, 0 to 1: by the file's weights, or
/// computed ones where it has none. A vertex without weights has 0 for all joints.
#[must_use]
pub fn weights_of(subject: &Subject, joint: usize) -> Vec<f32> {
    let mut weights = Vec::with_capacity(subject.bind_positions.len());
    weights_into(subject, joint, &mut weights);
    weights
}

fn weights_into(subject: &Subject, joint: usize, out: &mut Vec<f32>) {
    out.clear();
    for (index, mesh) in subject.character.meshes.iter().enumerate() {
        let count = mesh.positions.len();
        let table = match &mesh.attachment {
            Attachment::Skinned { .. } | Attachment::Unweighted => subject.weights_of_mesh(index),
            Attachment::Rigid { joint: own, .. } => {
                out.extend(std::iter::repeat_n(
                    f32::from(u8::from(*own == joint)),
                    count,
                ));
                continue;
            }
            Attachment::Static { .. } => None,
        };
        let of = |vertex: usize| {
            let table = table.filter(|table| vertex < table.len())?;
            table
                .of(vertex)
                .find(|(other, _)| *other == joint)
                .map(|(_, weight)| weight)
        };
        out.extend((0..count).map(|vertex| of(vertex).unwrap_or(0.0)));
    }
}

/// The weight of a joint minus that in the same character with other weights.
fn weight_differences_into(subject: &Subject, against: &Subject, joint: usize, out: &mut Vec<f32>) {
    weights_into(against, joint, out);
    let others = std::mem::take(out);
    weights_into(subject, joint, out);
    for (number, other) in out.iter_mut().zip(others) {
        *number -= other;
    }
}

/// Distance of corresponding points, millimetres.
fn distances_into(a: &[Point], b: &[Point], mm_per_unit: f32, out: &mut Vec<f32>) {
    out.clear();
    out.extend(a.iter().zip(b).map(|(a, b)| (a - b).norm() * mm_per_unit));
}

/// Mean length change of the edges around every vertex of a skin, relative to rest.
struct Strain {
    subject: Arc<Subject>,
    edges: Vec<[u32; 2]>,
    /// Reciprocals of the rest lengths; 0 for edges of zero length, which are ignored.
    per_length: Vec<f32>,
    source_from_skin: Vec<u32>,
    /// Sum and count per vertex of the skin.
    sums: Vec<[f32; 2]>,
}

impl Strain {
    fn of(subject: &Arc<Subject>) -> Self {
        let mesh = &subject.skin.mesh;
        let edges = Topology::of(mesh).edges;
        let least = subject.size * 1e-6;
        let per_length = edges.iter().map(|[a, b]| {
            let length = (mesh.positions[*a as usize] - mesh.positions[*b as usize]).norm();
            if length > least { 1.0 / length } else { 0.0 }
        });
        Self {
            per_length: per_length.collect(),
            source_from_skin: subject.skin.source_from_skin(),
            sums: vec![[0.0; 2]; mesh.positions.len()],
            edges,
            subject: subject.clone(),
        }
    }

    /// Props and vertices without triangles have none.
    fn numbers_into(&mut self, positions: &[Point], out: &mut Vec<f32>) {
        self.sums.fill([0.0; 2]);
        let at = |skin: u32| positions.get(self.source_from_skin[skin as usize] as usize);
        for ([a, b], per_length) in self.edges.iter().zip(&self.per_length) {
            if let (Some(from), Some(to), true) = (at(*a), at(*b), *per_length > 0.0) {
                let strain = (to - from).norm() * per_length - 1.0;
                for end in [*a, *b] {
                    let [sum, count] = &mut self.sums[end as usize];
                    *sum += strain;
                    *count += 1.0;
                }
            }
        }
        out.clear();
        out.extend(self.subject.skin.skin_from_source.iter().map(|skin| {
            match skin.map(|skin| self.sums[skin as usize]) {
                Some([sum, count]) if count > 0.0 => sum / count,
                _ => 0.0,
            }
        }));
    }
}

/// The quantity that colours a skin.
#[derive(Debug, Clone, Copy)]
pub enum SkinQuantity<'a> {
    /// The weights of a joint.
    Weights {
        /// The joint, by index.
        joint: usize,
    },
    /// The weights of a joint minus those by other weights.
    WeightDifference {
        /// The joint, by index.
        joint: usize,
        /// The same character with the other weights, which are known.
        against: &'a Subject,
    },
    /// Edge strain.
    Strain {
        /// Current source vertices.
        positions: &'a [Point],
    },
    /// A painted map, by source vertex; nothing is painted without codes.
    Painted {
        /// Which.
        map: PaintMap,
        /// Its codes.
        codes: Option<&'a [i16]>,
    },
    /// Distance between two shapes of the character.
    Difference {
        /// Source vertices of the first shape.
        positions: &'a [Point],
        /// Source vertices of the second shape.
        others: &'a [Point],
        /// Both methods, for the legend.
        methods: [&'a str; 2],
        /// End of the colour range, millimetres; automatic if absent.
        max_mm: Option<f32>,
    },
}

/// Title, range and colours of a painted map; `amounts` are those of amounts.
fn painted_scale(painted: PaintMap, amounts: ColorMap) -> (&'static str, [f32; 2], ColorMap) {
    let doublings = ([-4.0, 4.0], ColorMap::Diverging);
    let ((range, map), title) = match painted {
        PaintMap::Stiffness => (doublings, "Painted stiffness, doublings"),
        PaintMap::Thickness => (doublings, "Painted thickness, doublings"),
        PaintMap::Held => (([0.0, 1.0], amounts), "Painted hold"),
        PaintMap::Relaxation => (([0.0, 1.0], amounts), "Painted relaxation"),
    };
    (title, range, map)
}

/// Colours of one view's skin; reused between frames to avoid allocation.
#[derive(Default)]
pub struct SkinPaint {
    numbers: Vec<f32>,
    sorted: Vec<f32>,
    colors: Vec<[u8; 4]>,
    strain: Option<Strain>,
    range: SteadyRange,
    /// The quantity of `range`.
    of: Option<(u8, *const Subject)>,
}

impl SkinPaint {
    /// Colours of all source vertices, after [`SkinPaint::update`].
    #[must_use]
    pub fn colors(&self) -> &[[u8; 4]] {
        &self.colors
    }

    /// The underlying numbers, in the legend's unit.
    #[must_use]
    pub fn numbers(&self) -> &[f32] {
        &self.numbers
    }

    /// Computes the colours of a quantity; `map` is used for amounts. Returns the legend.
    pub fn update(
        &mut self,
        subject: &Arc<Subject>,
        quantity: &SkinQuantity<'_>,
        map: ColorMap,
    ) -> Legend {
        let of = (kind_of(quantity), Arc::as_ptr(subject));
        if self.of != Some(of) {
            self.range.reset();
            self.of = Some(of);
        }
        let legend = match *quantity {
            SkinQuantity::Weights { joint } => {
                weights_into(subject, joint, &mut self.numbers);
                Legend {
                    title: format!("Weight of {}", name_of(subject, joint)),
                    unit: "",
                    range: [0.0, 1.0],
                    map,
                }
            }
            SkinQuantity::WeightDifference { joint, against } => {
                weight_differences_into(subject, against, joint, &mut self.numbers);
                let [one, other] = [subject.as_ref(), against].map(|s| s.weight_method().label());
                Legend {
                    title: format!("Weight of {}: {one} minus {other}", name_of(subject, joint)),
                    unit: "",
                    range: [-1.0, 1.0],
                    map: ColorMap::Diverging,
                }
            }
            SkinQuantity::Strain { positions } => {
                let strain = match self.strain.take() {
                    Some(strain) if Arc::ptr_eq(&strain.subject, subject) => strain,
                    _ => Strain::of(subject),
                };
                self.strain
                    .insert(strain)
                    .numbers_into(positions, &mut self.numbers);
                self.numbers.iter_mut().for_each(|number| *number *= 100.0);
                let top = self.follow(LEAST_STRAIN * 100.0);
                Legend {
                    title: "Stretch of edges".to_owned(),
                    unit: "%",
                    range: [-top, top],
                    map: ColorMap::Diverging,
                }
            }
            SkinQuantity::Painted {
                map: painted,
                codes,
            } => {
                self.numbers.clear();
                let codes = codes.unwrap_or_default().iter();
                // Codes of relaxation count down from 1.
                let is_part = painted == PaintMap::Relaxation;
                let offset = f32::from(u8::from(is_part));
                self.numbers
                    .extend(codes.map(|&code| f32::from(code) / 1000.0 + offset));
                self.numbers.resize(subject.bind_positions.len(), offset);
                let (title, range, map) = painted_scale(painted, map);
                Legend {
                    title: title.to_owned(),
                    unit: "",
                    range,
                    map,
                }
            }
            SkinQuantity::Difference {
                positions,
                others,
                methods: [one, other],
                max_mm,
            } => {
                let mm_per_unit = (subject.metres_per_unit() * 1e3) as f32;
                let mm_per_unit = if mm_per_unit.is_finite() && mm_per_unit > 0.0 {
                    mm_per_unit
                } else {
                    1e3
                };
                distances_into(positions, others, mm_per_unit, &mut self.numbers);
                let auto = self.follow(LEAST_DISTANCE * subject.size * mm_per_unit);
                let top = max_mm
                    .filter(|max| max.is_finite() && *max > 0.0)
                    .unwrap_or(auto);
                Legend {
                    title: format!("{one} to {other}"),
                    unit: "mm",
                    range: [0.0, top],
                    map,
                }
            }
        };
        self.recolor(&legend);
        legend
    }

    /// Colours the current numbers by another legend, such as one shared by several pictures.
    pub(crate) fn recolor(&mut self, legend: &Legend) {
        let [low, high] = legend.range;
        let per_unit = 1.0 / (high - low).max(f32::MIN_POSITIVE);
        self.colors.clear();
        self.colors.extend(
            self.numbers
                .iter()
                .map(|number| legend.map.rgba((number - low) * per_unit)),
        );
    }

    /// A colour range for the magnitude of the numbers.
    fn follow(&mut self, least: f32) -> f32 {
        self.sorted.clear();
        self.sorted.extend(
            self.numbers
                .iter()
                .map(|number| number.abs())
                .filter(|number| number.is_finite()),
        );
        let rank = (self.sorted.len() as f32 * (1.0 - SPIKES)) as usize;
        let rank = rank.min(self.sorted.len().saturating_sub(1));
        let largest = if self.sorted.is_empty() {
            0.0
        } else {
            *self.sorted.select_nth_unstable_by(rank, f32::total_cmp).1
        };
        self.range.follow(largest, least)
    }
}

fn name_of(subject: &Subject, joint: usize) -> &str {
    let joint = subject.character.skeleton.joints().get(joint);
    joint.map_or("?", |joint| joint.name.as_str())
}

/// What tells kinds of quantities apart.
fn kind_of(quantity: &SkinQuantity<'_>) -> u8 {
    match quantity {
        SkinQuantity::Weights { .. } => 0,
        SkinQuantity::WeightDifference { .. } => 1,
        SkinQuantity::Strain { .. } => 2,
        SkinQuantity::Difference { .. } => 3,
        SkinQuantity::Painted { .. } => 4,
    }
}
