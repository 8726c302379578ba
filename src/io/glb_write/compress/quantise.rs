//! Attributes as small integers.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::super::draft::set;
use super::OpenGlb;
use super::grid::{Grid, Grids};
use crate::io::error::Parsed;
use crate::io::gltf::accessor::Accessors;

const I8: u32 = 5120;
const I16: u32 = 5122;
const U16: u32 = 5123;
const F32: u64 = 5126;

/// Makes accessors of integers, each once.
pub(super) struct Quantiser<'f, 'a, R: Fn() -> Accessors<'a>> {
    file: &'f mut OpenGlb,
    grids: &'f Grids,
    accessors: &'f R,
    positions: HashMap<(usize, usize), usize>,
    displacements: HashMap<(usize, usize, usize), usize>,
    others: HashMap<usize, Option<usize>>,
    weights: HashMap<Vec<usize>, Vec<usize>>,
}

impl<'f, 'a, R: Fn() -> Accessors<'a>> Quantiser<'f, 'a, R> {
    pub(super) fn new(file: &'f mut OpenGlb, grids: &'f Grids, accessors: &'f R) -> Self {
        Self {
            file,
            grids,
            accessors,
            positions: HashMap::new(),
            displacements: HashMap::new(),
            others: HashMap::new(),
            weights: HashMap::new(),
        }
    }

    /// All primitives and their targets.
    pub(super) fn meshes(&mut self) -> Parsed<()> {
        let mut meshes = self.file.take("meshes");
        for (index, mesh) in meshes.iter_mut().enumerate() {
            let grid = self.grids.get(index);
            for primitive in mesh["primitives"].as_array_mut().into_iter().flatten() {
                if !primitive["extensions"]["KHR_draco_mesh_compression"].is_object() {
                    self.primitive(primitive, grid)?;
                }
            }
        }
        self.file.put("meshes", meshes);
        Ok(())
    }

    fn primitive(&mut self, primitive: &mut Value, grid: Option<(usize, Grid)>) -> Parsed<()> {
        let base = primitive["attributes"]["POSITION"]
            .as_u64()
            .map(|at| at as usize);
        if let (Some(base), Some(grid)) = (base, grid) {
            let targets = primitive.get_mut("targets").and_then(Value::as_array_mut);
            for target in targets.into_iter().flatten() {
                if let Some(moved) = target["POSITION"].as_u64() {
                    let stored = self.displacement(base, moved as usize, grid)?;
                    set(target, "POSITION", json!(stored));
                }
            }
            let stored = self.position(base, grid)?;
            set(&mut primitive["attributes"], "POSITION", json!(stored));
            self.file.require("KHR_mesh_quantization");
        }
        self.weights(&mut primitive["attributes"])?;
        let targets = primitive.get_mut("targets").and_then(Value::as_array_mut);
        for target in targets.into_iter().flatten() {
            self.attributes(target)?;
        }
        self.attributes(&mut primitive["attributes"])
    }

    /// Unit vectors and texture coordinates.
    fn attributes(&mut self, attributes: &mut Value) -> Parsed<()> {
        for (name, at) in attributes.as_object_mut().into_iter().flatten() {
            let Some(index) = at.as_u64().map(|index| index as usize) else {
                continue;
            };
            if !self.is_plain(index) {
                continue;
            }
            if !self.others.contains_key(&index) {
                let stored = match name.as_str() {
                    "NORMAL" | "TANGENT" if self.width(index) == Some("VEC3") => {
                        self.units::<3>(index)?
                    }
                    "TANGENT" => self.units::<4>(index)?,
                    _ if name.starts_with("TEXCOORD_") => self.tex_coords(index)?,
                    _ => None,
                };
                self.others.insert(index, stored);
            }
            if let Some(Some(stored)) = self.others.get(&index) {
                *at = json!(stored);
            }
        }
        Ok(())
    }

    fn is_plain(&self, accessor: usize) -> bool {
        let accessor = self.file.list("accessors").get(accessor);
        accessor.is_some_and(|accessor| accessor["componentType"].as_u64() == Some(F32))
    }

    fn width(&self, accessor: usize) -> Option<&str> {
        self.file.list("accessors").get(accessor)?["type"].as_str()
    }

    fn position(&mut self, base: usize, (group, grid): (usize, Grid)) -> Parsed<usize> {
        if let Some(&known) = self.positions.get(&(base, group)) {
            return Ok(known);
        }
        let positions = (self.accessors)().reals::<3>(base)?;
        let points: Vec<[i32; 3]> = (positions.iter())
            .map(|position| grid.nearest(position.map(f64::from)))
            .collect();
        let bytes = packed(
            &points,
            |point| point.map(|c| c.clamp(0, 65535) as u16),
            u16::to_le_bytes,
        );
        let stored = self.accessor(
            bytes,
            8,
            points.len(),
            (U16, "VEC3", false),
            bounds(&points),
        );
        self.positions.insert((base, group), stored);
        Ok(stored)
    }

    /// Points of the grid that are nearest to the displaced positions, minus those nearest to the positions.
    fn displacement(
        &mut self,
        base: usize,
        moved: usize,
        (group, grid): (usize, Grid),
    ) -> Parsed<usize> {
        if let Some(&known) = self.displacements.get(&(base, moved, group)) {
            return Ok(known);
        }
        let positions = (self.accessors)().reals::<3>(base)?;
        let offsets = (self.accessors)().reals::<3>(moved)?;
        let points: Vec<[i32; 3]> = (positions.iter().zip(&offsets))
            .map(|(position, offset)| {
                let there = std::array::from_fn(|c| f64::from(position[c]) + f64::from(offset[c]));
                let (from, to) = (grid.nearest(position.map(f64::from)), grid.nearest(there));
                std::array::from_fn(|c| to[c] - from[c])
            })
            .collect();
        let bytes = packed(&points, |point| point.map(|c| c as i16), i16::to_le_bytes);
        let stored = self.accessor(
            bytes,
            8,
            points.len(),
            (I16, "VEC3", false),
            bounds(&points),
        );
        self.displacements.insert((base, moved, group), stored);
        Ok(stored)
    }

    /// Unit vectors, or differences of some; `None` if a difference is too large.
    fn units<const N: usize>(&mut self, index: usize) -> Parsed<Option<usize>> {
        let vectors = (self.accessors)().reals::<N>(index)?;
        // The fourth number of a tangent is a sign.
        let is_small = |c: &f32| c.abs() <= 1.0001;
        if !vectors.iter().flatten().all(is_small) {
            return Ok(None);
        }
        let round = |vector: &[f32; N]| vector.map(|c| (c.clamp(-1.0, 1.0) * 127.0).round() as i8);
        let bytes = packed(&vectors, round, i8::to_le_bytes);
        let shape = if N == 3 { "VEC3" } else { "VEC4" };
        let stored = self.accessor(bytes, 4, vectors.len(), (I8, shape, true), None);
        self.file.require("KHR_mesh_quantization");
        Ok(Some(stored))
    }

    /// `None` if some are outside 0…1.
    fn tex_coords(&mut self, index: usize) -> Parsed<Option<usize>> {
        let vectors = (self.accessors)().reals::<2>(index)?;
        if vectors.iter().flatten().any(|c| !(0.0..=1.0).contains(c)) {
            return Ok(None);
        }
        let round = |vector: &[f32; 2]| vector.map(|c| (c * 65535.0).round() as u16);
        let bytes = packed(&vectors, round, u16::to_le_bytes);
        Ok(Some(self.accessor(
            bytes,
            4,
            vectors.len(),
            (U16, "VEC2", true),
            None,
        )))
    }

    /// All sets of weights of a primitive, which together add up to one at each vertex.
    fn weights(&mut self, attributes: &mut Value) -> Parsed<()> {
        let names = (0..).map(|set| format!("WEIGHTS_{set}"));
        let sets: Vec<usize> = names
            .map_while(|name| Some(attributes[name.as_str()].as_u64()? as usize))
            .collect();
        if sets.is_empty() || !sets.iter().all(|&set| self.is_plain(set)) {
            return Ok(());
        }
        if !self.weights.contains_key(&sets) {
            let stored = self.new_weights(&sets)?;
            self.weights.insert(sets.clone(), stored);
        }
        for (set_number, stored) in self.weights[&sets].iter().enumerate() {
            set(attributes, &format!("WEIGHTS_{set_number}"), json!(stored));
        }
        Ok(())
    }

    fn new_weights(&mut self, sets: &[usize]) -> Parsed<Vec<usize>> {
        let read: Vec<Vec<[f32; 4]>> = (sets.iter())
            .map(|&set| (self.accessors)().reals::<4>(set))
            .collect::<Parsed<_>>()?;
        let count = read.iter().map(Vec::len).min().unwrap_or(0);
        let mut rounded = vec![Vec::with_capacity(count); read.len()];
        for vertex in 0..count {
            let weights: Vec<f32> = read.iter().flat_map(|set| set[vertex]).collect();
            let integers = in_65535(&weights);
            for (set, four) in rounded.iter_mut().zip(integers.as_chunks::<4>().0) {
                set.push(*four);
            }
        }
        let mut stored = Vec::with_capacity(rounded.len());
        for set in rounded {
            let bytes = packed(&set, |four| *four, u16::to_le_bytes);
            stored.push(self.accessor(bytes, 8, set.len(), (U16, "VEC4", true), None));
        }
        Ok(stored)
    }

    fn accessor(
        &mut self,
        bytes: Vec<u8>,
        stride: usize,
        count: usize,
        (component, shape, normalized): (u32, &str, bool),
        bounds: Option<[[i32; 3]; 2]>,
    ) -> usize {
        let view = self.file.view(bytes, Some(stride));
        let mut accessor =
            json!({"bufferView": view, "componentType": component, "count": count, "type": shape});
        if normalized {
            accessor["normalized"] = json!(true);
        }
        if let Some([min, max]) = bounds {
            accessor["min"] = json!(min);
            accessor["max"] = json!(max);
        }
        self.file.push("accessors", accessor)
    }
}

/// Elements of integers, each padded to a multiple of four bytes.
fn packed<T, I: Copy, const N: usize, const B: usize>(
    elements: &[T],
    round: impl Fn(&T) -> [I; N],
    bytes_of: impl Fn(I) -> [u8; B],
) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(elements.len() * (N * B).next_multiple_of(4));
    for element in elements {
        bytes.extend(round(element).into_iter().flat_map(&bytes_of));
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    bytes
}

fn bounds(points: &[[i32; 3]]) -> Option<[[i32; 3]; 2]> {
    let of = |pick: fn(i32, i32) -> i32| {
        let all = points.iter().copied();
        all.reduce(|a, b| std::array::from_fn(|c| pick(a[c], b[c])))
    };
    Some([of(i32::min)?, of(i32::max)?])
}

/// Weights as parts of 65535: rounded down, and what is missing goes to those with the largest remainders.
fn in_65535(weights: &[f32]) -> Vec<u16> {
    let sum: f64 = weights.iter().map(|w| f64::from(w.max(0.0))).sum();
    if !(sum > 0.0 && sum.is_finite()) {
        return vec![0; weights.len()];
    }
    let exact: Vec<f64> = (weights.iter())
        .map(|w| f64::from(w.max(0.0)) / sum * 65535.0)
        .collect();
    let mut parts: Vec<u16> = exact.iter().map(|e| e.floor() as u16).collect();
    let given: u32 = parts.iter().map(|&part| u32::from(part)).sum();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by(|&a, &b| (exact[b] - exact[b].floor()).total_cmp(&(exact[a] - exact[a].floor())));
    for &at in order
        .iter()
        .take(65535_usize.saturating_sub(given as usize))
    {
        parts[at] += 1;
    }
    parts
}
