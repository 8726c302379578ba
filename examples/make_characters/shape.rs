//! Reads a character's description: a text file with one primitive or joint per line.
//!
//! ```text
//! # a comment
//! mesh GRID EDGE GROWTH DETAIL    spacing of the polygonising grid; largest edge; its growth per metre from finer parts; factor on
//!                                 all edges
//! whole                           the character is not symmetrical: nothing is mirrored
//! group BLEND … end               parts blended among themselves first, then with what came before
//! both BLEND … end                the same, and mirrored to the other side (x → −x)
//! frame x y z ax ay az … end      what is inside is moved by the vector and turned by the angles
//! ball BLEND EDGE  x y z  rx ry rz  [ax ay az]              ellipsoid, turned by angles in degrees about x, then y, then z
//! cone BLEND EDGE  x y z r  x y z r                         hull of two spheres
//! loft BLEND EDGE  x y z  x y z  ux uy uz  N                cross-sections along an axis; u is "outward"; exponent N
//!   | T OUTER INNER FRONT BACK [OFFSET_OUT OFFSET_FRONT]    one cross-section (after its loft)
//! carve …                         takes the primitive away
//! joint NAME PARENT x y z         PARENT "-" for the root; a name ending in .L makes the .R joint too
//! bone JOINT x y z  x y z         a further line through the flesh that the joint moves (leaf tails, ribs, …)
//! ```
//! Lengths are in metres.

use nalgebra::{Isometry3, Rotation3, Translation3};
use sinew::math::{Point64, Vec64};

use crate::field::{Field, Loft, Part, Section, Shape};

/// A described character.
pub struct Description {
    /// The solid.
    pub field: Field,
    /// Spacing of the polygonising grid.
    pub grid: f64,
    /// Whether the half x ≥ 0 is made and mirrored.
    pub symmetric: bool,
    /// Joints, parents first: name, parent, position.
    pub joints: Vec<(String, Option<usize>, Point64)>,
    /// Further segments: joint, from, to.
    pub bones: Vec<(usize, Point64, Point64)>,
}

/// Parses a description.
///
/// # Errors
/// A sentence with the line's number.
pub fn parse(text: &str) -> Result<Description, String> {
    let mut parser = Parser {
        out: Description {
            field: Field {
                parts: Vec::new(),
                edge: 0.02,
                growth: 0.5,
            },
            grid: 0.005,
            symmetric: true,
            joints: Vec::new(),
            bones: Vec::new(),
        },
        open: Vec::new(),
        frame: Isometry3::identity(),
        detail: 1.0,
    };
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some((verb, rest)) = words.split_first() {
            parser
                .line(verb, rest)
                .map_err(|what| format!("line {}: {what}", number + 1))?;
        }
    }
    if parser.open.is_empty() {
        Ok(parser.out)
    } else {
        Err("a group is not closed".to_owned())
    }
}

/// What the next `end` closes.
enum Open {
    Group {
        blend: f64,
        both: bool,
        parts: Vec<Part>,
    },
    /// The frame that was valid before.
    Frame(Isometry3<f64>),
}

struct Parser {
    out: Description,
    open: Vec<Open>,
    frame: Isometry3<f64>,
    detail: f64,
}

impl Parser {
    fn line(&mut self, verb: &str, rest: &[&str]) -> Result<(), String> {
        match verb {
            "mesh" => {
                let [grid, edge, growth, detail] = take(&numbers(rest)?, 0)?;
                self.out.grid = grid;
                (self.out.field.edge, self.out.field.growth, self.detail) =
                    (edge * detail, growth, detail);
            }
            "whole" => self.out.symmetric = false,
            "group" | "both" => {
                let [blend] = take(&numbers(rest)?, 0)?;
                self.open.push(Open::Group {
                    blend,
                    both: verb == "both",
                    parts: Vec::new(),
                });
            }
            "frame" => {
                let [x, y, z, ax, ay, az] = take(&numbers(rest)?, 0)?;
                let local = Isometry3::from_parts(
                    Translation3::new(x, y, z),
                    rotation([ax, ay, az]).into(),
                );
                self.open.push(Open::Frame(self.frame));
                self.frame *= local;
            }
            "end" => match self.open.pop().ok_or("nothing to end")? {
                Open::Frame(before) => self.frame = before,
                Open::Group { blend, both, parts } => {
                    let finest = parts
                        .iter()
                        .map(|part| part.edge)
                        .fold(f64::INFINITY, f64::min);
                    let part = Part::new(Shape::Group(parts), false, blend, finest);
                    let other = both.then(|| part.mirrored());
                    self.parts().push(part);
                    self.parts().extend(other);
                }
            },
            "carve" => {
                let (verb, rest) = rest.split_first().ok_or("carve what?")?;
                self.primitive(verb, rest, true)?;
            }
            "|" => self.section(&numbers(rest)?)?,
            "joint" => self.joint(rest)?,
            "bone" => self.bone(rest)?,
            _ => self.primitive(verb, rest, false)?,
        }
        Ok(())
    }

    fn parts(&mut self) -> &mut Vec<Part> {
        let groups = self.open.iter_mut().rev().filter_map(|open| {
            if let Open::Group { parts, .. } = open {
                Some(parts)
            } else {
                None
            }
        });
        groups
            .into_iter()
            .next()
            .unwrap_or(&mut self.out.field.parts)
    }

    fn primitive(&mut self, verb: &str, rest: &[&str], carve: bool) -> Result<(), String> {
        let n = numbers(rest)?;
        let [blend, edge] = take(&n, 0)?;
        let shape = match verb {
            "ball" => {
                let turn = rotation(if n.len() > 8 { take(&n, 8)? } else { [0.0; 3] });
                let axes =
                    [Vec64::x(), Vec64::y(), Vec64::z()].map(|axis| self.frame * (turn * axis));
                Shape::Ball {
                    center: self.frame * Point64::from(take::<3>(&n, 2)?),
                    axes,
                    radii: take(&n, 5)?,
                }
            }
            "cone" => {
                let [ax, ay, az, ra, bx, by, bz, rb] = take(&n, 2)?;
                Shape::Cone {
                    a: (self.frame * Point64::new(ax, ay, az), ra),
                    b: (self.frame * Point64::new(bx, by, bz), rb),
                }
            }
            "loft" => Shape::Loft(loft(&n, &self.frame)?),
            _ => return Err(format!("unknown word \"{verb}\"")),
        };
        let edge = edge * self.detail;
        self.parts().push(Part::new(shape, carve, blend, edge));
        Ok(())
    }

    fn section(&mut self, n: &[f64]) -> Result<(), String> {
        let [t, outer, inner, front, back] = take(n, 0)?;
        let [du, dv] = if n.len() > 5 { take(n, 5)? } else { [0.0; 2] };
        let part = self.parts().last_mut().ok_or("a section without a loft")?;
        let Shape::Loft(loft) = &mut part.shape else {
            return Err("a section without a loft".to_owned());
        };
        loft.sections
            .push(Section([t, outer, inner, front, back, du, dv]));
        *part = Part::new(part.shape.clone(), part.carve, part.blend, part.edge);
        Ok(())
    }

    fn joint(&mut self, rest: &[&str]) -> Result<(), String> {
        let [name, parent, place @ ..] = rest else {
            return Err("joint NAME PARENT x y z".to_owned());
        };
        let place = self.frame * Point64::from(take::<3>(&numbers(place)?, 0)?);
        let parent_of = |joints: &[(String, Option<usize>, Point64)], parent: &str| {
            if parent == "-" {
                return Ok(None);
            }
            joints
                .iter()
                .position(|joint| joint.0 == parent)
                .map(Some)
                .ok_or_else(|| format!("no joint \"{parent}\" yet"))
        };
        let joints = &mut self.out.joints;
        let own = (*name).to_owned();
        let found = parent_of(joints, parent)?;
        joints.push((own, found, place));
        if let Some(stem) = name.strip_suffix(".L") {
            let other = parent
                .strip_suffix(".L")
                .map_or((*parent).to_owned(), |stem| format!("{stem}.R"));
            let found = parent_of(joints, &other)?;
            joints.push((
                format!("{stem}.R"),
                found,
                Point64::new(-place.x, place.y, place.z),
            ));
        }
        Ok(())
    }

    fn bone(&mut self, rest: &[&str]) -> Result<(), String> {
        let (name, place) = rest.split_first().ok_or("bone JOINT from to")?;
        let [ax, ay, az, bx, by, bz] = take(&numbers(place)?, 0)?;
        let find = |name: &str| {
            self.out
                .joints
                .iter()
                .position(|joint| joint.0 == name)
                .ok_or_else(|| format!("no joint \"{name}\""))
        };
        let mirrored = match name.strip_suffix(".L") {
            Some(stem) => Some(find(&format!("{stem}.R"))?),
            None if self.out.symmetric && (ax != 0.0 || bx != 0.0) => Some(find(name)?),
            None => None,
        };
        let own = find(name)?;
        let (a, b) = (
            self.frame * Point64::new(ax, ay, az),
            self.frame * Point64::new(bx, by, bz),
        );
        self.out.bones.push((own, a, b));
        self.out.bones.extend(mirrored.map(|joint| {
            (
                joint,
                Point64::new(-a.x, a.y, a.z),
                Point64::new(-b.x, b.y, b.z),
            )
        }));
        Ok(())
    }
}

/// Turned by angles in degrees about x, then y, then z.
fn rotation([ax, ay, az]: [f64; 3]) -> Rotation3<f64> {
    Rotation3::from_euler_angles(ax.to_radians(), ay.to_radians(), az.to_radians())
}

fn loft(n: &[f64], frame: &Isometry3<f64>) -> Result<Loft, String> {
    let [ax, ay, az, bx, by, bz, ux, uy, uz, exponent] = take(n, 2)?;
    let (origin, end) = (
        frame * Point64::new(ax, ay, az),
        frame * Point64::new(bx, by, bz),
    );
    let length = (end - origin).norm();
    let axis = (end - origin) / length;
    let hint = frame * Vec64::new(ux, uy, uz);
    let side = (hint - axis * hint.dot(&axis)).normalize();
    // The front is the remaining axis, towards +z (or +y for a horizontal side view of it).
    let mut front = axis.cross(&side);
    if front.z < -1e-9 || (front.z.abs() < 1e-9 && front.y < 0.0) {
        front = -front;
    }
    Ok(Loft {
        origin,
        axis,
        length,
        side,
        front,
        exponent,
        sections: Vec::new(),
    })
}

fn numbers(words: &[&str]) -> Result<Vec<f64>, String> {
    words
        .iter()
        .map(|word| word.parse().map_err(|_| format!("\"{word}\" is no number")))
        .collect()
}

fn take<const N: usize>(numbers: &[f64], from: usize) -> Result<[f64; N], String> {
    numbers
        .get(from..from + N)
        .and_then(|s| s.try_into().ok())
        .ok_or_else(|| format!("expected at least {} numbers", from + N))
}
