//! The spring on a helper that leaves the least distance to simulated frames.

use nalgebra::Matrix3;
use rayon::prelude::*;

use super::moments::Moments;
use super::rule::{Rule, Tail};
use crate::math::{Quat, Vec64};

/// Numbers that are searched for.
const NUMBERS: usize = 4;
/// Where they may be: the lever and the length in units of the lever at the start, logarithms; the stiffness, a logarithm; the drag.
const BOUNDS: [[f64; 2]; NUMBERS] = [[-1.4, 1.4], [-0.7, 1.8], [-7.0, 3.0], [0.0, 1.0]];
/// Widths of the first steps.
const STEPS: [f64; NUMBERS] = [0.5, 0.5, 0.8, 0.2];
/// Rounds, each of half the width of the last.
const HALVINGS: usize = 7;
/// Most moves within a round.
const MOVES: usize = 12;

/// A helper in a motion: where it is in every tick, and what is left over in the frames.
pub(super) struct Course {
    /// Its rotation and centre.
    pub places: Vec<(Quat, Vec64)>,
    pub frames: Vec<Moments>,
    /// The tick of each frame.
    pub at: Vec<f64>,
}

/// A spring in the frame of the helper, in world units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shape {
    /// From the joint to the tail, a unit vector.
    pub axis: Vec64,
    /// Distance from the joint to the centre of the helper, along the axis.
    pub lever: f64,
    /// Distance from the joint to the tail.
    pub length: f64,
    pub rule: Rule,
}

impl Course {
    /// The change of the square error by a spring.
    pub fn change(&self, shape: &Shape) -> f64 {
        let pivots = self.places.iter().map(|(turn, centre)| {
            let axis = turn * shape.axis;
            let pivot = centre - axis * shape.lever;
            (pivot, pivot + axis * shape.length)
        });
        let directions = directions(&shape.rule, pivots);
        let lever = shape.axis * shape.lever;
        let frames = self.frames.iter().zip(&self.at);
        frames
            .map(|(moments, &at)| {
                let tick = at.floor() as usize;
                let turn = self.places[tick.min(self.places.len() - 1)].0;
                let local = turn.inverse() * direction_at(&directions, at);
                let less_one = turned(&shape.axis, &local) - Matrix3::identity();
                moments.change(&less_one, &lever)
            })
            .sum()
    }
}

/// The directions of a tail, tick by tick, for the places of joint and tail at rest. It starts still.
pub(super) fn directions(rule: &Rule, places: impl Iterator<Item = (Vec64, Vec64)>) -> Vec<Vec64> {
    let mut tail = None;
    let step = |(pivot, rest): (Vec64, Vec64)| {
        let tail = tail.get_or_insert_with(|| Tail::still(rest));
        tail.step(rule, &pivot, &rest)
    };
    places.map(step).collect()
}

/// The direction between ticks.
pub(super) fn direction_at(directions: &[Vec64], at: f64) -> Vec64 {
    let last = directions.len() - 1;
    let tick = (at.max(0.0).floor() as usize).min(last);
    let part = (at - tick as f64).clamp(0.0, 1.0);
    let mixed = directions[tick].lerp(&directions[(tick + 1).min(last)], part);
    mixed.try_normalize(1e-9).unwrap_or(directions[tick])
}

/// The shortest rotation from one unit vector to another one; none between opposite ones.
pub(super) fn turned(from: &Vec64, to: &Vec64) -> Matrix3<f64> {
    let cosine = from.dot(to);
    if cosine < -1.0 + 1e-9 {
        return Matrix3::identity();
    }
    let cross = from.cross(to).cross_matrix();
    Matrix3::identity() + cross + cross * cross / (1.0 + cosine)
}

/// The best spring, and by how much it changes the square error. Pattern search from each start.
pub(super) fn best(courses: &[Course], starts: &[Shape]) -> Option<(Shape, f64)> {
    let found: Vec<(Shape, f64)> = (starts.par_iter())
        .map(|start| descend(courses, start))
        .collect();
    found.into_iter().min_by(|a, b| a.1.total_cmp(&b.1))
}

fn descend(courses: &[Course], start: &Shape) -> (Shape, f64) {
    let shape = |x: &[f64; NUMBERS]| {
        let lever = start.lever * x[0].exp();
        Shape {
            axis: start.axis,
            lever,
            length: lever * x[1].exp(),
            rule: Rule {
                stiffness: x[2].exp(),
                drag: x[3],
            },
        }
    };
    let change = |x: &[f64; NUMBERS]| -> f64 {
        let shape = shape(x);
        courses.iter().map(|course| course.change(&shape)).sum()
    };
    let mut x = [
        0.0,
        (start.length / start.lever).ln(),
        start.rule.stiffness.max(f64::MIN_POSITIVE).ln(),
        start.rule.drag,
    ];
    let clamped = |x: &mut [f64; NUMBERS], number: usize| {
        x[number] = x[number].clamp(BOUNDS[number][0], BOUNDS[number][1]);
    };
    (0..NUMBERS).for_each(|number| clamped(&mut x, number));
    let mut least = change(&x);
    let mut width = 1.0;
    for _ in 0..HALVINGS {
        for _ in 0..MOVES {
            let before = least;
            for number in 0..NUMBERS {
                for sign in [1.0, -1.0] {
                    let mut tried = x;
                    tried[number] += sign * width * STEPS[number];
                    clamped(&mut tried, number);
                    let value = change(&tried);
                    if value < least {
                        (x, least) = (tried, value);
                        break;
                    }
                }
            }
            if least >= before {
                break;
            }
        }
        width *= 0.5;
    }
    (shape(&x), least)
}
