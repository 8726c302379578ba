//! Edge collapses: cost, admissibility, execution.

mod setup;

use super::kind::VertexKind;
use super::live::{EdgeTriangles, LiveMesh};
use super::quadric::{PointQuadric, Quadric};
use super::queue::{Candidate, CandidateQueue};
use crate::math::Vec64;
use crate::progress::{Cancelled, Progress};

/// Merging two patches costs more if the cosine of the angle between their normals is below the
/// first value…
const BENT_FROM: f64 = 0.85;
/// …and costs `1 + BENT_COST` times as much below the second, in a component with at least `LARGE`
/// of the area; less in smaller components.
const BENT_TO: f64 = 0.3;
const BENT_COST: f64 = 1000.0;
const LARGE: f64 = 0.25;
/// Weight of the distances to points when the optimal position of a vertex is solved for: just
/// enough for a unique minimum, so that edges and corners stay sharp.
const PULL: f64 = 0.01;
/// Maximum distance from the edge's midpoint, in edge lengths.
const REACH: f64 = 1.5;
/// A collapse that leaves a triangle below this quality is postponed.
const GOOD: f64 = 0.6;
/// Fraction of its quality that a triangle below the limit must keep, if it is still above this
/// fraction of the limit.
const SLIVER_LOSS: f64 = 0.7;
const SLIVER: f64 = 0.2;
/// How often a rejected edge is requeued, and the factor on its cost each time.
const TRIES: u8 = 6;
const LATER: f32 = 4.0;
/// Collapses whose two rings have more triangles in total are skipped.
const CROWD: usize = 256;

/// Constraints on a collapse.
#[derive(Debug, Clone, Copy)]
pub(super) struct CollapseLimits {
    /// Minimum quality (see [`quality`]) of every triangle, unless one was worse before.
    pub quality: f64,
    /// Cosine of the maximum rotation of a triangle's normal.
    pub turn_cos: f64,
    /// Maximum number of triangles around a vertex, unless one of the two had more before.
    pub degree: usize,
    /// Minimum number of vertices of a connected component.
    pub floor: u32,
}

#[derive(Debug, Clone, Copy)]
struct Vertex {
    position: Vec64,
    /// Quadrics of the distances to the planes of the input, and to its points.
    planes: Quadric,
    points: PointQuadric,
    /// Sum of the area vectors of the merged input triangles, a third of each.
    area: Vec64,
    kind: VertexKind,
    part: u32,
    stamp: u32,
    /// The input vertex at or near this vertex.
    origin: u32,
    moved: bool,
}

/// A connected component.
#[derive(Debug, Clone, Copy)]
struct ComponentState {
    /// Number of remaining vertices.
    size: u32,
    area: f64,
    /// Factor of [`BENT_COST`].
    bent_cost: f64,
}

/// The state of a decimation.
#[derive(Debug)]
pub(super) struct Collapser {
    live: LiveMesh,
    vertices: Vec<Vertex>,
    /// For every vertex itself, or the vertex it was merged into.
    merged_into: Vec<u32>,
    parts: Vec<ComponentState>,
    count: usize,
    /// Weight of the distances to points in the cost.
    evenness: f64,
    queue: CandidateQueue,
    edge: EdgeTriangles,
    neighbors: Vec<u32>,
}

/// A remaining vertex.
#[derive(Debug, Clone, Copy)]
pub(super) struct Survivor {
    /// Its index in the input.
    pub index: u32,
    /// Its position, in the frame of the collapser.
    pub position: Vec64,
    /// A nearby input vertex of the same component; the vertex of equal position unless moved.
    pub origin: u32,
    /// Whether its position differs from that of `origin`.
    pub moved: bool,
}

/// Quality of a triangle: 4 √3 area / Σ lengths²; 1 if equilateral, 0 without area.
fn quality(twice_area: f64, [a, b, c]: &[Vec64; 3]) -> f64 {
    let lengths = (b - a).norm_squared() + (c - b).norm_squared() + (a - c).norm_squared();
    if lengths > 0.0 {
        2.0 * 3.0_f64.sqrt() * twice_area / lengths
    } else {
        0.0
    }
}

/// Twice the area times the normal.
fn cross([a, b, c]: &[Vec64; 3]) -> Vec64 {
    (b - a).cross(&(c - a))
}

/// Cost factor of merging two patches, from their area vectors; between 1 and `1 + most`.
fn bend_factor(a: &Vec64, b: &Vec64, most: f64) -> f64 {
    let lengths = (a.norm_squared() * b.norm_squared()).sqrt();
    let cosine = if lengths > 0.0 {
        a.dot(b) / lengths
    } else {
        0.0
    };
    let t = ((BENT_FROM - cosine) / (BENT_FROM - BENT_TO)).clamp(0.0, 1.0);
    1.0 + most * t * t
}

impl Collapser {
    /// Position and cost of the merged vertex; `None` if both ends are fixed.
    fn target(&self, [u, v]: [u32; 2]) -> Option<(Vec64, f64)> {
        let (a, b) = (&self.vertices[u as usize], &self.vertices[v as usize]);
        let (planes, points) = (a.planes + &b.planes, a.points + &b.points);
        let cost = |x: &Vec64| planes.at(x) + self.evenness * points.at(x);
        let position = match a.kind.cmp(&b.kind) {
            std::cmp::Ordering::Less => b.position,
            std::cmp::Ordering::Greater => a.position,
            std::cmp::Ordering::Equal if a.kind == VertexKind::Fixed => return None,
            std::cmp::Ordering::Equal => {
                let (middle, reach) = (
                    (a.position + b.position) / 2.0,
                    (b.position - a.position).norm(),
                );
                let least = planes.minimiser(&points, PULL.min(self.evenness));
                // Falls back to an end or the midpoint if the optimum is far from the edge.
                least
                    .filter(|least| (least - middle).norm() <= REACH * reach)
                    .unwrap_or_else(|| {
                        let cheaper = |best: Vec64, other: Vec64| {
                            if cost(&other) < cost(&best) {
                                other
                            } else {
                                best
                            }
                        };
                        cheaper(cheaper(middle, a.position), b.position)
                    })
            }
        };
        Some((
            position,
            cost(&position) * bend_factor(&a.area, &b.area, self.parts[a.part as usize].bent_cost),
        ))
    }

    fn stamp([u, v]: [u32; 2], vertices: &[Vertex]) -> u32 {
        vertices[u as usize]
            .stamp
            .wrapping_add(vertices[v as usize].stamp)
    }

    fn candidate(&self, u: u32, v: u32) -> Option<Candidate> {
        let ends = [u.min(v), u.max(v)];
        let (_, cost) = self.target(ends)?;
        Candidate::new(cost, ends, Self::stamp(ends, &self.vertices))
    }

    /// Collapses edges, cheapest first, until `target` vertices remain or no collapse is
    /// admissible.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub(super) fn run(
        &mut self,
        target: usize,
        limits: &CollapseLimits,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        if self.count <= target {
            return Ok(());
        }
        self.fill_queue();
        progress.check()?;
        let start = self.count;
        let mut steps = 0_u32;
        while self.count > target {
            steps += 1;
            if steps.is_multiple_of(4096) {
                progress.check()?;
                progress.set_fraction((start - self.count) as f32 / (start - target) as f32);
            }
            let Some(candidate) = self.queue.pop() else {
                break;
            };
            let [u, v] = candidate.ends;
            let out_of_date = candidate.stamp != Self::stamp(candidate.ends, &self.vertices);
            if out_of_date || self.live.degree(u) == 0 || self.live.degree(v) == 0 {
                continue;
            }
            match self.try_collapse(candidate, limits) {
                Ok(()) => {}
                Err(factor) if candidate.tries < TRIES => self.queue.put_back(candidate, factor),
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn fill_queue(&mut self) {
        let (mut queue, mut neighbors) = (
            std::mem::take(&mut self.queue),
            std::mem::take(&mut self.neighbors),
        );
        let mut edges = Vec::with_capacity(self.count * 3);
        for u in 0..self.vertices.len() as u32 {
            self.live.neighbors_into(u, &mut neighbors);
            edges.extend(neighbors.iter().filter(|&&v| u < v).map(|&v| [u, v]));
        }
        queue.fill(edges.into_iter().filter_map(|[u, v]| self.candidate(u, v)));
        (self.queue, self.neighbors) = (queue, neighbors);
    }

    /// Collapses an edge, or returns the factor on its cost before it is tried again.
    fn try_collapse(&mut self, candidate: Candidate, limits: &CollapseLimits) -> Result<(), f32> {
        let [u, v] = candidate.ends;
        if !self.is_allowed(u, v, limits) {
            return Err(LATER);
        }
        let (position, _) = self.target(candidate.ends).ok_or(LATER)?;
        let worst = self.fits(u, v, &position, limits).ok_or(LATER)?;
        if worst < GOOD && candidate.tries == 0 {
            return Err((GOOD / worst.max(0.05)).powi(2) as f32);
        }
        self.collapse(u, v, position);
        Ok(())
    }

    /// Whether the collapse preserves topology (link condition).
    fn is_allowed(&mut self, u: u32, v: u32, limits: &CollapseLimits) -> bool {
        let (a, b) = (&self.vertices[u as usize], &self.vertices[v as usize]);
        let [du, dv] = [u, v].map(|w| self.live.degree(w));
        if self.parts[a.part as usize].size <= limits.floor
            || du + dv > CROWD
            || du + dv > 4 + limits.degree.max(du).max(dv)
        {
            return false;
        }
        self.live.edge_into(u, v, &mut self.edge);
        let on_curves = a.kind.min(b.kind) != VertexKind::Regular;
        if self.edge.faces.is_empty() || on_curves != self.edge.is_feature() {
            return false;
        }
        if on_curves {
            // A boundary triangle may have one other edge on a curve, not two.
            let mut side = EdgeTriangles::default();
            for index in 0..self.edge.faces.len() {
                let (_, opposite) = self.edge.faces[index];
                if self.vertices[opposite as usize].kind == VertexKind::Regular {
                    continue;
                }
                let mut is_feature = |end: u32| {
                    self.live.edge_into(end, opposite, &mut side);
                    side.is_feature()
                };
                if is_feature(u) && is_feature(v) {
                    return false;
                }
            }
        }
        self.live.link_condition(u, v, &self.edge)
    }

    /// Minimum quality of the triangles around the collapsed edge; `None` if one rotates too far or
    /// is below the limit.
    fn fits(&self, u: u32, v: u32, position: &Vec64, limits: &CollapseLimits) -> Option<f64> {
        let (mut worst, mut worst_before) = (1.0_f64, f64::INFINITY);
        for (end, other_end) in [(u, v), (v, u)] {
            let from = &self.vertices[end as usize].position;
            for (_, [p, q]) in self.live.ring(end) {
                if p == other_end || q == other_end {
                    continue;
                }
                let [p, q] = [p, q].map(|w| self.vertices[w as usize].position);
                let (before, after) = ([*from, p, q], [*position, p, q]);
                let (old, new) = (cross(&before), cross(&after));
                let (old_length, new_length) = (old.norm(), new.norm());
                let old_quality = quality(old_length, &before);
                // The normal of a sliver is not meaningful.
                if old_quality > 1e-3 && old.dot(&new) < limits.turn_cos * old_length * new_length {
                    return None;
                }
                worst = worst.min(quality(new_length, &after));
                worst_before = worst_before.min(old_quality);
            }
        }
        // Slivers may get slightly worse: otherwise a band of slivers could never be decimated.
        let least = limits
            .quality
            .min(worst_before)
            .min((SLIVER_LOSS * worst_before).max(SLIVER * limits.quality));
        (worst >= least).then_some(worst)
    }

    /// Merges the second end, which has the larger index, into the first.
    fn collapse(&mut self, u: u32, v: u32, position: Vec64) {
        self.live.merge(u, v, &self.edge, &mut self.neighbors);
        let gone = self.vertices[v as usize];
        let vertex = &mut self.vertices[u as usize];
        let near = |of: &Vertex| (of.position - position).norm_squared();
        if near(&gone) < near(vertex) {
            (vertex.origin, vertex.moved) = (gone.origin, gone.moved || gone.position != position);
        } else {
            vertex.moved |= vertex.position != position;
        }
        vertex.position = position;
        vertex.planes += &gone.planes;
        vertex.points += &gone.points;
        vertex.area += gone.area;
        vertex.kind = vertex.kind.max(gone.kind);
        vertex.stamp += 1;
        self.merged_into[v as usize] = u;
        self.parts[gone.part as usize].size -= 1;
        self.count -= 1;
        let mut neighbors = std::mem::take(&mut self.neighbors);
        self.live.neighbors_into(u, &mut neighbors);
        for &w in &neighbors {
            if let Some(candidate) = self.candidate(u, w) {
                self.queue.push(candidate);
            }
        }
        self.neighbors = neighbors;
    }

    /// Vertices with a triangle, ascending.
    pub(super) fn survivors(&self) -> Vec<Survivor> {
        let alive = (0..self.vertices.len() as u32).filter(|&v| self.live.degree(v) > 0);
        alive
            .map(|index| {
                let Vertex {
                    position,
                    origin,
                    moved,
                    ..
                } = self.vertices[index as usize];
                Survivor {
                    index,
                    position,
                    origin,
                    moved,
                }
            })
            .collect()
    }

    /// The remaining triangles, with input indices.
    pub(super) fn triangles(&self) -> Vec<[u32; 3]> {
        self.live.triangles().collect()
    }

    /// For every input vertex the vertex it was merged into.
    pub(super) fn roots(mut self) -> Vec<u32> {
        for v in 0..self.merged_into.len() {
            let mut root = v;
            while self.merged_into[root] as usize != root {
                root = self.merged_into[root] as usize;
            }
            let mut at = v;
            while self.merged_into[at] as usize != root {
                at = std::mem::replace(&mut self.merged_into[at], root as u32) as usize;
            }
        }
        self.merged_into
    }
}
