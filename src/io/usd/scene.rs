//! The prims of a layer with their places.

use std::collections::HashMap;

use super::layer::{Layer, Prim, Specifier};
use crate::io::error::{Parsed, bad};
use crate::math::{Affine, Quat, Vec64, linear_part, origin_of};
use crate::rig::Trs;

/// Numbers above this are treated as damage.
pub(super) const LARGEST: f64 = 1e15;

/// Time codes of a second where the file does not say.
const USUAL_RATE: f64 = 24.0;

/// The prims of a layer, parents before children, with their places.
pub(super) struct Scene<'a> {
    pub(super) prims: Vec<&'a Prim>,
    pub(super) parent: Vec<Option<usize>>,
    /// With +Y up.
    pub(super) world: Vec<Affine>,
    /// Neither invisible, inactive nor for other purposes than pictures.
    pub(super) is_drawn: Vec<bool>,
    /// By parent and name.
    places: HashMap<(Option<usize>, &'a str), usize>,
    /// Prims whose transforms change over time.
    pub(super) moving: usize,
    /// Rotation from the file's axes.
    pub(super) turn: Affine,
    /// Time codes a second, and the first one if the file says it.
    pub(super) rate: f64,
    pub(super) start: Option<f64>,
}

impl<'a> Scene<'a> {
    pub(super) fn of(layer: &'a Layer) -> Parsed<Self> {
        let is_z_up = (layer.meta("upAxis")).is_some_and(|axis| axis.texts() == ["Z"]);
        let quarter = Quat::from_axis_angle(&Vec64::x_axis(), -std::f64::consts::FRAC_PI_2);
        let number = |name: &str| Some(*layer.meta(name)?.numbers().first()?);
        let rate = number("timeCodesPerSecond").or_else(|| number("framesPerSecond"));
        let mut scene = Self {
            prims: Vec::new(),
            parent: Vec::new(),
            world: Vec::new(),
            is_drawn: Vec::new(),
            places: HashMap::new(),
            moving: 0,
            turn: if is_z_up {
                nalgebra::convert(quarter)
            } else {
                Affine::identity()
            },
            rate: rate.filter(|r| *r > 0.0 && *r < 1e9).unwrap_or(USUAL_RATE),
            start: number("startTimeCode").filter(|start| start.abs() < 1e9),
        };
        for root in &layer.roots {
            scene.add(root, None)?;
        }
        Ok(scene)
    }

    fn add(&mut self, prim: &'a Prim, parent: Option<usize>) -> Parsed<()> {
        if prim.specifier == Specifier::Class || is_off(prim, "active") {
            return Ok(());
        }
        let index = self.prims.len();
        let above = parent.map_or(self.turn, |parent| self.world[parent]);
        let (local, resets) = local_of(prim);
        let world = if resets {
            self.turn * local
        } else {
            above * local
        };
        if !world.matrix().iter().all(|c| c.abs() < LARGEST) {
            return bad(format!(
                "the transform of prim \"{}\" is not finite",
                prim.name
            ));
        }
        let is_shown = prim.texts("visibility") != ["invisible"]
            && !matches!(prim.texts("purpose"), [purpose] if purpose == "proxy" || purpose == "guide");
        self.prims.push(prim);
        self.parent.push(parent);
        self.world.push(world);
        let above = parent.is_none_or(|parent| self.is_drawn[parent]);
        self.is_drawn.push(above && is_shown);
        self.places.entry((parent, &prim.name)).or_insert(index);
        let is_moving = |name: &str| name.starts_with("xformOp:");
        let moves = |p: &super::layer::Property| is_moving(&p.name) && !p.samples.is_empty();
        self.moving += usize::from(prim.properties.iter().any(moves));
        prim.children
            .iter()
            .try_for_each(|child| self.add(child, Some(index)))
    }

    /// The prim at an absolute path, or of the property at one.
    pub(super) fn find(&self, path: &str) -> Option<usize> {
        let mut found = None;
        let path = path.split('.').next()?;
        for name in path.strip_prefix('/')?.split('/') {
            found = Some(*self.places.get(&(found, name))?);
        }
        found
    }

    /// A prim and those above it.
    pub(super) fn upwards(&self, prim: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(prim), |&prim| self.parent[prim])
    }

    /// The prims of a type.
    pub(super) fn of_kind(&self, kind: &str) -> impl Iterator<Item = usize> {
        let prims = self.prims.iter().enumerate();
        prims
            .filter(move |(_, prim)| prim.kind == kind)
            .map(|(i, _)| i)
    }
}

fn is_off(prim: &Prim, key: &str) -> bool {
    prim.meta(key).is_some_and(|value| value.numbers() == [0.0])
}

/// The transform of a prim, and whether it ignores those above.
fn local_of(prim: &Prim) -> (Affine, bool) {
    let mut local = Affine::identity();
    let mut resets = false;
    for name in prim.texts("xformOpOrder") {
        if name == "!resetXformStack!" {
            (local, resets) = (Affine::identity(), true);
            continue;
        }
        let (name, is_inverse) = match name.strip_prefix("!invert!") {
            Some(name) => (name, true),
            None => (name.as_str(), false),
        };
        let Some(operation) = operation_of(name, prim.numbers(name)) else {
            continue;
        };
        local *= if is_inverse {
            operation.try_inverse().unwrap_or_else(Affine::identity)
        } else {
            operation
        };
    }
    (local, resets)
}

/// One operation, as `xformOp:rotateXYZ:name`.
fn operation_of(name: &str, numbers: &[f64]) -> Option<Affine> {
    let kind = name.strip_prefix("xformOp:")?;
    let kind = kind.split(':').next().unwrap_or(kind);
    let turn = |axis: usize, degrees: f64| {
        let axes = [Vec64::x_axis(), Vec64::y_axis(), Vec64::z_axis()];
        Quat::from_axis_angle(&axes[axis], degrees.to_radians())
    };
    let axis_of = |letter: u8| usize::from(letter.wrapping_sub(b'X')).min(2);
    let rotation = |q: Quat| Some(nalgebra::convert::<_, Affine>(q));
    match (kind, numbers) {
        ("translate", &[x, y, z]) => Some(Trs::at(Vec64::new(x, y, z)).to_affine()),
        ("scale", &[x, y, z]) => Some(
            Trs {
                scale: Vec64::new(x, y, z),
                ..Trs::IDENTITY
            }
            .to_affine(),
        ),
        ("orient", &[w, x, y, z]) => {
            let q = nalgebra::Quaternion::new(w, x, y, z);
            rotation(Quat::try_new(q, 1e-12)?)
        }
        ("transform", numbers) => affine_of(numbers),
        (kind, numbers) => {
            let axes = kind.strip_prefix("rotate")?.as_bytes();
            if axes.len() != numbers.len() || axes.len() > 3 {
                return None;
            }
            // The first axis turns first.
            let turns = axes.iter().zip(numbers);
            rotation(turns.fold(Quat::identity(), |made, (&axis, &degrees)| {
                turn(axis_of(axis), degrees) * made
            }))
        }
    }
}

/// A matrix from its rows, which are for row vectors.
pub(super) fn affine_of(rows: &[f64]) -> Option<Affine> {
    let rows: &[f64; 16] = rows.try_into().ok()?;
    let matrix = nalgebra::Matrix4::from_column_slice(rows);
    let last = [3, 7, 11, 15].map(|i| rows[i]);
    let is_affine = (last.iter().zip([0.0, 0.0, 0.0, 1.0])).all(|(a, b)| (a - b).abs() < 1e-9);
    let is_sane = matrix.iter().all(|c| c.abs() < LARGEST);
    (is_affine && is_sane).then(|| Affine::from_matrix_unchecked(matrix))
}

/// Whether a transform can be inverted.
pub(super) fn is_usable(transform: &Affine) -> bool {
    crate::io::gltf::is_invertible(transform)
}

/// How far two transforms are from each other: of their origins in lengths, and of their axes.
pub(super) fn distance(a: &Affine, b: &Affine) -> f64 {
    let axes = (linear_part(a) - linear_part(b)).norm();
    (origin_of(a) - origin_of(b)).norm() + axes
}
