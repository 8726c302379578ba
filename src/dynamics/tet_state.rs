//! The elements one by one: how far each tet is from its shape at rest.

use nalgebra::Matrix3;

use super::Simulation;
use super::equations::EquationChain;
use crate::math::{Point, closest_rotation};
use crate::numerics::determinant::project_volume;
use crate::tissue::Corner;

/// A tet of the tissue in a deformed state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TetState {
    /// Its corners.
    pub corners: [Corner; 4],
    /// Deformation gradient F: rest to deformed edges.
    pub gradient: Matrix3<f64>,
    /// Stiffness times volume at rest.
    pub weight: f64,
    /// Elastic energy as a part of the weight: ½ ‖F − R‖² + volume/2 ‖F − F*‖², R the nearest rotation, F* the nearest map of determinant 1.
    pub energy: f64,
}

impl EquationChain {
    /// Its tets that have a weight. `unknowns` are the positions by what its corners count, rows or unknowns; `volume` is the resistance
    /// to changes of volume, relative to that to changes of shape. Tets with a corner that is missing are left out.
    pub fn tets<'a>(
        &'a self,
        unknowns: &[Point],
        prescribed: &[Point],
        volume: f32,
    ) -> impl Iterator<Item = TetState> + 'a {
        let points = self.corners.map(|corner| corner.of(unknowns, prescribed));
        let weighted = self.rest_inverse.iter().zip(self.weights).enumerate();
        weighted.filter_map(move |(tet, (inverse, weight))| {
            let weight = f64::from(weight);
            if weight <= 0.0 {
                return None;
            }
            let edge = |k: usize| Some((points[tet + k + 1]? - points[tet + k]?).cast::<f64>());
            let edges = Matrix3::from_columns(&[edge(0)?, edge(1)?, edge(2)?]);
            let gradient = edges * Matrix3::from_column_slice(inverse).cast::<f64>();
            let shape = (gradient - closest_rotation(&gradient)).norm_squared();
            let dilation = if volume > 0.0 {
                (gradient - project_volume(&gradient)).norm_squared()
            } else {
                0.0
            };
            let [a, b, c, d] = [0, 1, 2, 3].map(|k| self.corners[tet + k]);
            Some(TetState {
                corners: [a, b, c, d],
                gradient,
                weight,
                energy: 0.5 * (shape + f64::from(volume) * dilation),
            })
        })
    }
}

impl Simulation {
    /// All tets, with the corners as unknowns and prescribed points of this simulation, where these have the given positions.
    #[must_use]
    pub fn tets(&self, unknowns: &[Point], prescribed: &[Point]) -> Vec<TetState> {
        let params = self.params();
        let chains = self.system().chains_by_unknown(params, self.materials());
        let volume = params.volume as f32;
        chains
            .iter()
            .flat_map(|chain| chain.tets(unknowns, prescribed, volume))
            .collect()
    }
}
