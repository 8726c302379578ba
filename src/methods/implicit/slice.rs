//! The composed field in a plane: the regions of the parts, iso-lines, and where parts touch.

use super::composed::Field;
use super::model::{LEAST_DEPTH, NO_PART};
use super::motions::{Motions, columns, image};
use crate::math::{Affine, GridPoint, Point, Point64, Vec64, iso_line};
use crate::numerics::lanes::Padded;
use crate::progress::{Cancelled, Progress};

/// Nodes along a side of the plane.
const NODES: usize = 121;
/// Iso-values of the lines: the skin lies at [`SKIN`].
const LEVELS: [f32; 9] = [0.1, 0.2, 0.3, 0.4, SKIN, 0.6, 0.7, 0.8, 0.9];
/// The value on the surface of the parts.
const SKIN: f32 = 0.5;
/// Below this value a region ends.
const OUTER: f32 = 0.1;

/// A square in world space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FieldPlane {
    /// Its centre.
    pub center: Point64,
    /// Unit vectors along its sides.
    pub axes: [Vec64; 2],
    /// Half the length of a side.
    pub half: f64,
}

/// The composed field in a [`FieldPlane`], as shapes in world space.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FieldSlice {
    /// The corners of the plane, around it.
    pub outline: Vec<Point>,
    /// Where each part's own field is the largest.
    pub regions: Vec<FieldRegion>,
    /// The iso-lines of the composed field.
    pub lines: Vec<FieldLine>,
    /// Segments on which the surfaces of two parts press each other.
    pub contacts: Vec<[Point; 2]>,
}

/// A triangle of the region of one part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FieldRegion {
    /// The joint of the part.
    pub joint: u32,
    /// Whether it is inside of the body: the composed field is above ½.
    pub inside: bool,
    /// Its corners.
    pub corners: [Point; 3],
}

/// A segment of an iso-line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FieldLine {
    /// The value.
    pub level: f32,
    /// Its ends.
    pub ends: [Point; 2],
}

impl FieldLine {
    /// Whether it is on the surface of the body.
    #[must_use]
    pub fn is_surface(&self) -> bool {
        self.level == SKIN
    }
}

/// The field at the nodes of a plane.
pub(super) struct Sampled<'a> {
    field: &'a Field<'a>,
    plane: FieldPlane,
    /// Maps a point of the world to the space of the method.
    here_from_world: [Padded; 4],
    /// Rows of [`NODES`] nodes.
    values: Vec<f32>,
    /// The field that is the largest of all, or [`NO_PART`].
    strongest: Vec<u16>,
}

/// A corner of a polygon that is cut out of a cell.
#[derive(Debug, Clone, Copy)]
struct Corner {
    at: GridPoint,
    /// The composed field.
    value: f32,
    /// The fields of the parts that share the cell.
    parts: [f32; 4],
}

/// Cells of one row that are all of one region.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Run {
    field: u16,
    inside: bool,
    row: usize,
    columns: [usize; 2],
}

impl<'a> Sampled<'a> {
    pub(super) fn of(
        field: &'a Field<'a>,
        motions: &Motions,
        plane: &FieldPlane,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let inverse = motions.world_from_here.try_inverse();
        let mut sampled = Self {
            field,
            plane: *plane,
            here_from_world: columns(&inverse.unwrap_or_else(Affine::identity)),
            values: Vec::with_capacity(NODES * NODES),
            strongest: Vec::with_capacity(NODES * NODES),
        };
        for row in 0..NODES {
            progress.check()?;
            for column in 0..NODES {
                let at = sampled.here([column as f32, row as f32]);
                let near = field.near(NO_PART, at);
                let strongest = field.strongest(&near, at);
                let value = strongest.map_or(0.0, |_| field.at(&near, NO_PART, at).value);
                sampled.values.push(value);
                sampled
                    .strongest
                    .push(strongest.map_or(NO_PART, |(field, _)| field));
            }
        }
        Ok(sampled)
    }

    pub(super) fn slice(&self) -> FieldSlice {
        let last = (NODES - 1) as f32;
        let outline = [[0.0, 0.0], [last, 0.0], [last, last], [0.0, last]];
        let lines = LEVELS.into_iter().flat_map(|level| {
            let segments = iso_line(&self.values, NODES, level).into_iter();
            segments.map(move |ends| FieldLine {
                level,
                ends: ends.map(|end| self.world(end)),
            })
        });
        let mut slice = FieldSlice {
            outline: outline.map(|corner| self.world(corner)).to_vec(),
            lines: lines.collect(),
            ..FieldSlice::default()
        };
        for row in 0..NODES - 1 {
            let mut run: Option<Run> = None;
            for column in 0..NODES - 1 {
                let whole = self.whole([column, row]);
                match (&mut run, whole) {
                    (Some(run), Some(next))
                        if run.field == next.field && run.inside == next.inside =>
                    {
                        run.columns[1] = next.columns[1];
                        continue;
                    }
                    _ => {}
                }
                self.add_run(run.take(), &mut slice);
                run = whole;
                if whole.is_none() {
                    self.add_parts([column, row], &mut slice);
                    self.add_contact([column, row], &mut slice);
                }
            }
            self.add_run(run, &mut slice);
        }
        slice
    }

    fn world(&self, [column, row]: GridPoint) -> Point {
        let FieldPlane { center, axes, half } = &self.plane;
        let along = |k: f32| half * (f64::from(k) * 2.0 / (NODES - 1) as f64 - 1.0);
        (center + axes[0] * along(column) + axes[1] * along(row)).cast()
    }

    fn here(&self, at: GridPoint) -> [f32; 3] {
        image(&self.here_from_world, self.world(at).into())
    }

    /// The nodes of a cell, around it.
    fn nodes([column, row]: [usize; 2]) -> [([usize; 2], usize); 4] {
        [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[c, r]| {
            let at = [column + c, row + r];
            (at, at[1] * NODES + at[0])
        })
    }

    /// The run of a cell that one region fills.
    fn whole(&self, cell: [usize; 2]) -> Option<Run> {
        let nodes = Self::nodes(cell).map(|(_, node)| node);
        let (field, inside) = (self.strongest[nodes[0]], self.values[nodes[0]] >= SKIN);
        let is_same = |&node: &usize| {
            let value = self.values[node];
            self.strongest[node] == field && value >= OUTER && (value >= SKIN) == inside
        };
        let run = Run {
            field,
            inside,
            row: cell[1],
            columns: [cell[0], cell[0] + 1],
        };
        (field != NO_PART && nodes.iter().all(is_same)).then_some(run)
    }

    fn add_run(&self, run: Option<Run>, slice: &mut FieldSlice) {
        let Some(Run {
            field,
            inside,
            row,
            columns: [from, to],
        }) = run
        else {
            return;
        };
        let at = |column: usize, row: usize| [column as f32, row as f32];
        let around = [
            at(from, row),
            at(to, row),
            at(to, row + 1),
            at(from, row + 1),
        ];
        self.add_polygon(field, inside, &around, slice);
    }

    fn add_polygon(&self, field: u16, inside: bool, around: &[GridPoint], slice: &mut FieldSlice) {
        let joint = self.field.fields[usize::from(field)].joint;
        let around: Vec<Point> = around.iter().map(|&at| self.world(at)).collect();
        if let [first, others @ ..] = &around[..] {
            let triangles = others.windows(2).map(|pair| FieldRegion {
                joint,
                inside,
                corners: [*first, pair[0], pair[1]],
            });
            slice.regions.extend(triangles);
        }
    }

    /// Adds what each part has of a cell that is divided.
    fn add_parts(&self, cell: [usize; 2], slice: &mut FieldSlice) {
        let parts = self.parts_of(cell);
        let corner = |([column, row], node): ([usize; 2], usize)| {
            let at = [column as f32, row as f32];
            let here = self.here(at);
            let of = |k: usize| {
                parts
                    .get(k)
                    .map_or(0.0, |&part| self.field.value_of(part, here))
            };
            Corner {
                at,
                value: self.values[node],
                parts: [0, 1, 2, 3].map(of),
            }
        };
        // The cell is divided among the first two parts, each piece among its own and the third, and so on.
        let mut pieces = vec![(0, Self::nodes(cell).map(corner).to_vec())];
        for part in 1..parts.len() {
            let divided = pieces.into_iter().flat_map(|(own, piece)| {
                let lead = move |corner: &Corner| corner.parts[own] - corner.parts[part];
                let kept = clipped(&piece, lead);
                let lost = clipped(&piece, move |corner| -lead(corner));
                [(own, kept), (part, lost)]
            });
            pieces = divided.collect();
        }
        for (part, piece) in pieces {
            let Some(&part) = parts.get(part) else {
                continue;
            };
            let piece = clipped(&piece, |corner| corner.value - OUTER);
            for (inside, sign) in [(true, 1.0), (false, -1.0)] {
                let piece = clipped(&piece, |corner| sign * (corner.value - SKIN));
                let around: Vec<GridPoint> = piece.iter().map(|corner| corner.at).collect();
                self.add_polygon(part, inside, &around, slice);
            }
        }
    }

    /// The parts that are the strongest at a corner of a cell.
    fn parts_of(&self, cell: [usize; 2]) -> Vec<u16> {
        let mut parts = Self::nodes(cell)
            .map(|(_, node)| self.strongest[node])
            .to_vec();
        parts.sort_unstable();
        parts.dedup();
        parts.retain(|&part| part != NO_PART);
        parts
    }

    /// Adds where two parts press each other in a cell: both fields are equal there, and the composed one is ½.
    fn add_contact(&self, cell: [usize; 2], slice: &mut FieldSlice) {
        let nodes = Self::nodes(cell);
        let crossing = |k: usize| self.contact_on_edge([nodes[k], nodes[(k + 1) % 4]]);
        let met: Vec<GridPoint> = (0..4).filter_map(crossing).collect();
        let world = |at: GridPoint| self.world(at);
        match met[..] {
            [] | [_] => {}
            [a, b] => slice.contacts.push([world(a), world(b)]),
            _ => {
                let mean = |c: usize| met.iter().map(|at| at[c]).sum::<f32>() / met.len() as f32;
                let middle = world([mean(0), mean(1)]);
                let spokes = met.iter().map(|&at| [world(at), middle]);
                slice.contacts.extend(spokes);
            }
        }
    }

    /// Where the contact of the parts at the ends of an edge crosses it.
    fn contact_on_edge(&self, [(from, a), (to, b)]: [([usize; 2], usize); 2]) -> Option<GridPoint> {
        let parts = [self.strongest[a], self.strongest[b]];
        if parts[0] == parts[1] || parts.contains(&NO_PART) {
            return None;
        }
        let [from, to] = [from, to].map(|at| at.map(|k| k as f32));
        let difference = |at: GridPoint| {
            let here = self.here(at);
            self.field.value_of(parts[0], here) - self.field.value_of(parts[1], here)
        };
        let (first, second) = (difference(from), difference(to));
        let t = first / (first - second);
        let at: GridPoint = std::array::from_fn(|c| from[c] + t * (to[c] - from[c]));
        let here = self.here(at);
        let value = self.field.value_of(parts[0], here);
        if !(t.is_finite() && value >= SKIN) {
            return None;
        }
        let depth = self.field.depth_between(parts, here);
        let is_pressed =
            depth > LEAST_DEPTH && value <= SKIN + depth * std::f32::consts::FRAC_1_SQRT_2;
        is_pressed.then_some(at)
    }
}

/// The part of a polygon where a linear function of its corners is not negative.
fn clipped(polygon: &[Corner], of: impl Fn(&Corner) -> f32) -> Vec<Corner> {
    let mut clipped = Vec::with_capacity(polygon.len() + 1);
    for (k, corner) in polygon.iter().enumerate() {
        let next = &polygon[(k + 1) % polygon.len()];
        let (here, there) = (of(corner), of(next));
        if here >= 0.0 {
            clipped.push(*corner);
        }
        if (here >= 0.0) != (there >= 0.0) {
            let t = here / (here - there);
            let mix = |a: f32, b: f32| a + t * (b - a);
            clipped.push(Corner {
                at: [mix(corner.at[0], next.at[0]), mix(corner.at[1], next.at[1])],
                value: mix(corner.value, next.value),
                parts: std::array::from_fn(|k| mix(corner.parts[k], next.parts[k])),
            });
        }
    }
    clipped
}

#[cfg(test)]
mod tests;
