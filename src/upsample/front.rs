//! The nearest coarse vertices of every fine vertex, by geodesic distance on the fine surface.
//!
//! A front propagates from every coarse vertex over the fine mesh, triangle by triangle (Dijkstra
//! order; a triangle is crossed by unfolding it, as in Novotni and Klein, "Computing geodesic
//! distances on triangular meshes", WSCG 2002, instead of the first-order update of Kimmel and
//! Sethian 1998). It stops where it cannot be among the k nearest: a vertex's distance to its k-th
//! nearest coarse vertex is at most the distance to its nearest one, plus the distance from there
//! to that one's k-th nearest; the latter is bounded from above in the graph of neighbouring
//! Voronoi cells. Each front therefore covers little more than the vertices that keep it, and
//! fronts run in parallel.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use rayon::prelude::*;

use super::surface::FrontMesh;
use crate::progress::{Cancelled, Progress};

/// Fronts per batch, after which the results are merged. Fixed, because results must not depend on the number of
/// threads.
const BATCH: usize = 512;
/// Number of fronts that run concurrently.
const CONCURRENT_FRONTS: usize = 8;
/// Fine vertices whose lists are merged together.
const RANGE: usize = 1 << 14;
/// Factor on bounds, for rounding.
const SLACK: f32 = 1.0 + 1e-4;
const NO_COARSE: u32 = u32::MAX;

/// Position of a coarse vertex on the fine mesh: surrounding fine vertices and their distances.
pub(super) type Start = [(u32, f32); 3];

/// A coarse vertex within reach of a fine one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Near {
    pub(super) distance: f32,
    pub(super) coarse: u32,
}

/// For every fine vertex its nearest coarse vertices, nearest first.
pub(super) struct Neighbourhoods {
    width: usize,
    near: Vec<Near>,
    count: Vec<u16>,
}

impl Neighbourhoods {
    /// Up to `width` nearest; fewer in components that have fewer.
    pub(super) fn of(&self, vertex: usize) -> &[Near] {
        &self.near[vertex * self.width..][..self.count[vertex] as usize]
    }

    /// Whether `width` coarse vertices are closer than this distance, so that a front need not go on.
    fn is_complete_within(&self, vertex: u32, distance: f32) -> bool {
        let near = self.of(vertex as usize);
        near.len() == self.width && near[self.width - 1].distance <= distance
    }
}

/// A coarse vertex with all fine vertices it reached, and their distances.
type Reached = (u32, Vec<(u32, f32)>);

/// Priority queue of vertices by distance; distances are non-negative, so their bits are ordered
/// like the values.
#[derive(Default)]
struct DistanceQueue(BinaryHeap<Reverse<u64>>);

impl DistanceQueue {
    fn push(&mut self, vertex: u32, distance: f32) {
        self.0.push(Reverse(
            u64::from(distance.to_bits()) << 32 | u64::from(vertex),
        ));
    }

    fn pop(&mut self) -> Option<(u32, f32)> {
        self.0
            .pop()
            .map(|Reverse(key)| (key as u32, f32::from_bits((key >> 32) as u32)))
    }
}

/// Finds the `width` nearest coarse vertices of every fine vertex. Coarse vertices without a start are ignored.
pub(super) fn neighbourhoods(
    surface: &FrontMesh<'_>,
    starts: &[Option<Start>],
    width: usize,
    progress: &Progress,
) -> Result<Neighbourhoods, Cancelled> {
    let n = surface.len();
    let bound = bounds(surface, starts, width);
    progress.check()?;
    let mut found = Neighbourhoods {
        width,
        near: vec![
            Near {
                distance: f32::INFINITY,
                coarse: NO_COARSE
            };
            n * width
        ],
        count: vec![0; n],
    };
    let all: Vec<(u32, Start)> = starts
        .iter()
        .enumerate()
        .filter_map(|(c, start)| start.map(|start| (c as u32, start)))
        .collect();
    let mut fronts: Vec<Front> = (0..CONCURRENT_FRONTS.min(all.len()))
        .into_par_iter()
        .map(|_| Front::new(n))
        .collect();
    let base = progress.fraction();
    for (done, batch) in all.chunks(BATCH).enumerate() {
        progress.check()?;
        progress.set_fraction(base + (0.6 - base) * (done * BATCH) as f32 / all.len() as f32);
        let run = |(front, sources): (&mut Front, &[(u32, Start)])| -> Vec<Reached> {
            sources
                .iter()
                .map(|(coarse, start)| {
                    (*coarse, front.run(surface, *coarse, start, &bound, &found))
                })
                .collect()
        };
        let results: Vec<Vec<Reached>> = fronts
            .par_iter_mut()
            .zip(batch.par_chunks(BATCH / CONCURRENT_FRONTS))
            .map(run)
            .collect();
        let ranges = found
            .near
            .par_chunks_mut(RANGE * width)
            .zip(found.count.par_chunks_mut(RANGE))
            .enumerate();
        ranges
            .for_each(|(range, (near, count))| merge(&results, range * RANGE, width, near, count));
    }
    Ok(found)
}

/// Merges the fronts' results into the lists of the vertices from `first` on.
fn merge(
    results: &[Vec<Reached>],
    first: usize,
    width: usize,
    near: &mut [Near],
    count: &mut [u16],
) {
    for (coarse, reached) in results.iter().flatten() {
        for &(vertex, distance) in reached {
            let at = (vertex as usize).wrapping_sub(first);
            if at >= count.len() {
                continue;
            }
            let list = &mut near[at * width..(at + 1) * width];
            let before = |other: &Near| (other.distance, other.coarse) < (distance, *coarse);
            let filled = count[at] as usize;
            if filled == width && before(&list[width - 1]) {
                continue;
            }
            let place = list[..filled].partition_point(before);
            let end = (filled + 1).min(width);
            list.copy_within(place..end - 1, place + 1);
            list[place] = Near {
                distance,
                coarse: *coarse,
            };
            count[at] = end as u16;
        }
    }
}

/// Buffers of one front.
struct Front {
    /// Distance, and a stamp of the front it belongs to: 2 × its number + 2, plus 1 once the distance is final.
    cells: Vec<(f32, u32)>,
    queue: DistanceQueue,
}

impl Front {
    fn new(n: usize) -> Self {
        Self {
            cells: vec![(f32::INFINITY, 0); n],
            queue: DistanceQueue::default(),
        }
    }

    /// The vertices for which this coarse vertex may be among the nearest, with their distances.
    fn run(
        &mut self,
        surface: &FrontMesh<'_>,
        coarse: u32,
        start: &Start,
        bound: &[f32],
        found: &Neighbourhoods,
    ) -> Vec<(u32, f32)> {
        let open = 2 * coarse + 2;
        let mut reached = Vec::new();
        for &(vertex, distance) in start {
            self.relax(vertex, distance, open, bound);
        }
        while let Some((v, distance)) = self.queue.pop() {
            let cell = &mut self.cells[v as usize];
            if cell.1 != open || distance > cell.0 {
                continue;
            }
            cell.1 = open + 1;
            if found.is_complete_within(v, distance) {
                continue;
            }
            reached.push((v, distance));
            for &[a, b] in surface.opposite_edges(v) {
                for (w, o) in [(a, b), (b, a)] {
                    if self.cells[w as usize].1 == open + 1 {
                        continue;
                    }
                    let (at_o, stamp) = self.cells[o as usize];
                    let at_o = if stamp >= open { at_o } else { f32::INFINITY };
                    let candidate = surface.propagated(v, distance, o, at_o, w);
                    self.relax(w, candidate, open, bound);
                }
            }
        }
        reached
    }

    fn relax(&mut self, vertex: u32, distance: f32, open: u32, bound: &[f32]) {
        let cell = &mut self.cells[vertex as usize];
        let known = if cell.1 >= open {
            cell.0
        } else {
            f32::INFINITY
        };
        if distance < known && distance <= bound[vertex as usize] {
            *cell = (distance, open);
            self.queue.push(vertex, distance);
        }
    }
}

/// For every fine vertex an upper bound of the distance to its `width`-th nearest coarse vertex.
fn bounds(surface: &FrontMesh<'_>, starts: &[Option<Start>], width: usize) -> Vec<f32> {
    let (label, distance) = nearest(surface, starts);
    let reach = distance_bounds(&links(surface, &label, &distance), starts.len(), width);
    let bound = |(&label, &distance): (&u32, &f32)| {
        if label == NO_COARSE {
            0.0
        } else {
            (reach[label as usize] + distance) * SLACK
        }
    };
    label.iter().zip(&distance).map(bound).collect()
}

/// The nearest coarse vertex of every fine vertex, and its distance.
fn nearest(surface: &FrontMesh<'_>, starts: &[Option<Start>]) -> (Vec<u32>, Vec<f32>) {
    let mut label = vec![NO_COARSE; surface.len()];
    let mut distance = vec![f32::INFINITY; surface.len()];
    let mut queue = DistanceQueue::default();
    for (coarse, start) in starts.iter().enumerate() {
        for &(vertex, d) in start.iter().flatten() {
            if d < distance[vertex as usize] {
                (label[vertex as usize], distance[vertex as usize]) = (coarse as u32, d);
                queue.push(vertex, d);
            }
        }
    }
    while let Some((v, d)) = queue.pop() {
        if d > distance[v as usize] {
            continue;
        }
        let own = label[v as usize];
        for &[a, b] in surface.opposite_edges(v) {
            for (w, o) in [(a, b), (b, a)] {
                if distance[w as usize] <= d {
                    continue;
                }
                let at_o = if label[o as usize] == own {
                    distance[o as usize]
                } else {
                    f32::INFINITY
                };
                let candidate = surface.propagated(v, d, o, at_o, w);
                if candidate < distance[w as usize] {
                    (label[w as usize], distance[w as usize]) = (own, candidate);
                    queue.push(w, candidate);
                }
            }
        }
    }
    (label, distance)
}

/// Pairs of coarse vertices with adjacent Voronoi cells, in both directions, and the length of a
/// path between them; sorted, the shortest of each pair first.
fn links(surface: &FrontMesh<'_>, label: &[u32], distance: &[f32]) -> Vec<(u32, u32, f32)> {
    let mut links = Vec::new();
    for v in 0..surface.len() as u32 {
        let own = label[v as usize];
        for w in surface.opposite_edges(v).as_flattened() {
            let other = label[*w as usize];
            if other != own && other != NO_COARSE && own != NO_COARSE {
                let step = (surface.positions[v as usize] - surface.positions[*w as usize]).norm();
                links.push((
                    own,
                    other,
                    distance[v as usize] + step + distance[*w as usize],
                ));
            }
        }
    }
    links.par_sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
    links.dedup_by_key(|link| (link.0, link.1));
    links
}

/// For every coarse vertex a distance within which `width` coarse vertices lie, including itself;
/// infinite if there are fewer.
fn distance_bounds(links: &[(u32, u32, f32)], coarse: usize, width: usize) -> Vec<f32> {
    let mut offsets = vec![0_u32; coarse + 1];
    for link in links {
        offsets[link.0 as usize + 1] += 1;
    }
    for c in 0..coarse {
        offsets[c + 1] += offsets[c];
    }
    let from = |c: u32| &links[offsets[c as usize] as usize..offsets[c as usize + 1] as usize];
    let reach = |(queue, best): &mut (DistanceQueue, HashMap<u32, f32>), source: u32| {
        queue.0.clear();
        best.clear();
        queue.push(source, 0.0);
        best.insert(source, 0.0);
        let mut left = width;
        while let Some((c, d)) = queue.pop() {
            if best.get(&c).is_some_and(|&known| d > known) {
                continue;
            }
            left -= 1;
            if left == 0 {
                return d;
            }
            for &(_, other, length) in from(c) {
                let known = best.entry(other).or_insert(f32::INFINITY);
                if d + length < *known {
                    *known = d + length;
                    queue.push(other, d + length);
                }
            }
        }
        f32::INFINITY
    };
    (0..coarse as u32)
        .into_par_iter()
        .with_min_len(64)
        .map_init(Default::default, reach)
        .collect()
}
