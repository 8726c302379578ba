//! The turn of a field about a hinge, by direction.

use std::f32::consts::TAU;

/// Nodes around the hinge; a multiple of 4, so that directions along the axes are among them.
const NODES: usize = 128;
/// Those of one side of the square.
const SIDE: usize = NODES / 4;
/// The distance between two of them along the square.
const STEP: f32 = 4.0 / NODES as f32;

/// An angle as a function of the direction from the hinge, as a table of cubic pieces: polar angles and the function itself would take most of
/// the time that a field takes.
///
/// A direction (x, y) stands for a place t, 0 to 4, on the square |x| + |y| = 1, which takes no arcus tangent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TurnTable {
    /// The angle, rad, and [`STEP`] times its derivative by t.
    nodes: [[f32; 2]; NODES + 1],
}

impl TurnTable {
    pub(super) const NONE: Self = Self {
        nodes: [[0.0; 2]; NODES + 1],
    };

    /// `turn`: the angle at a polar angle, 0 to 2π, and its derivative.
    pub(super) fn of(turn: impl Fn(f32) -> [f32; 2]) -> Self {
        let node = |index: usize| {
            let (side, part) = (index % NODES / SIDE, index % SIDE);
            let part = part as f32 * STEP;
            let [x, y] = match side {
                0 => [1.0 - part, part],
                1 => [-part, 1.0 - part],
                2 => [part - 1.0, -part],
                _ => [part, part - 1.0],
            };
            // The last node is the first one after a whole turn.
            let polar = if index == NODES {
                TAU
            } else {
                y.atan2(x).rem_euclid(TAU)
            };
            let [angle, slope] = turn(polar);
            [angle, STEP * slope / (x * x + y * y)]
        };
        Self {
            nodes: std::array::from_fn(node),
        }
    }

    /// The angle in a direction, and its derivative by the polar angle, divided by x² + y²; `None` where both are 0.
    #[inline]
    pub(super) fn at(&self, x: f32, y: f32) -> Option<[f32; 2]> {
        let length = x.abs() + y.abs();
        let part = y / length;
        let place = if x < 0.0 {
            2.0 - part
        } else if part < 0.0 {
            4.0 + part
        } else {
            part
        };
        let place = place * (1.0 / STEP);
        // 0 for NaN.
        let cell = (place as usize).min(NODES - 1);
        let [[a, from], [b, until]] = [self.nodes[cell], self.nodes[cell + 1]];
        if a == 0.0 && b == 0.0 && from == 0.0 && until == 0.0 {
            return None;
        }
        let t = place - cell as f32;
        let (bend, twist) = (
            3.0 * (b - a) - 2.0 * from - until,
            from + until - 2.0 * (b - a),
        );
        let angle = a + t * (from + t * (bend + t * twist));
        let slope = from + t * (2.0 * bend + 3.0 * t * twist);
        Some([angle, slope / (STEP * length * length)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_function_of_the_polar_angle() {
        // Not periodic: every node must have its own turn.
        let table = TurnTable::of(|angle| {
            let (sin, cos) = (2.0 * angle).sin_cos();
            [angle + sin, 1.0 + 2.0 * cos]
        });
        for k in 0..200_u16 {
            let polar = f32::from(k) / 200.0 * TAU;
            let (sin, cos) = polar.sin_cos();
            let [angle, slope] = table.at(0.3 * cos, 0.3 * sin).expect("not 0");
            assert!(
                (angle - polar - (2.0 * polar).sin()).abs() < 1e-5,
                "{polar}"
            );
            let wanted = (1.0 + 2.0 * (2.0 * polar).cos()) / 0.09;
            assert!((slope - wanted).abs() < 2e-3 * 22.0, "{polar}");
        }
        assert_eq!(TurnTable::NONE.at(1.0, 0.5), None);
        assert_eq!(TurnTable::NONE.at(f32::NAN, 0.0), None);
    }
}
