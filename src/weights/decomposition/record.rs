//! Drivers in plain numbers, for files.

use serde::Serialize;

use super::Decomposition;
use crate::math::Quat;

/// A linear function of the pose: output = middle + coefficientsᵀ (x − mean). The numbers x are the entries, column by column, of
/// R − I for each input, with R = rotation · rest⁻¹ of its local rotation.
#[derive(Debug, Clone, Serialize)]
pub struct DriverRecord {
    /// The helper joint, or the morph.
    pub drives: String,
    /// The joints whose rotations are the numbers, nine of each.
    pub inputs: Vec<InputRecord>,
    /// Subtracted from the numbers; zero if left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mean: Vec<f32>,
    /// Added to the outputs; zero if left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub middle: Vec<f32>,
    /// A row per number. The outputs of a helper are a rotation vector and a translation, local; that of a morph is its weight.
    pub coefficients: Vec<Vec<f32>>,
}

/// A joint that drives.
#[derive(Debug, Clone, Serialize)]
pub struct InputRecord {
    /// Name of the joint.
    pub joint: String,
    /// Local rotation at rest: x, y, z, w.
    pub rest: [f32; 4],
}

impl Decomposition {
    /// The drivers of the helpers, then those of the morphs.
    #[must_use]
    pub fn driver_records(&self) -> Vec<DriverRecord> {
        let joints = self.skeleton.joints();
        let inputs = |list: &[(usize, Quat)]| -> Vec<InputRecord> {
            let record = |(joint, rest): &(usize, Quat)| InputRecord {
                joint: joints[*joint].name.clone(),
                rest: [rest.i, rest.j, rest.k, rest.w].map(|x| x as f32),
            };
            list.iter().map(record).collect()
        };
        let first = joints.len() - self.drivers.len();
        let helpers = joints[first..].iter().zip(&self.drivers);
        let helpers = helpers.map(|(joint, driver)| {
            let (list, mean, middle, coefficients) = driver.numbers_of_file();
            DriverRecord {
                drives: joint.name.clone(),
                inputs: inputs(list),
                mean,
                middle,
                coefficients,
            }
        });
        let morphs = (1..).zip(&self.morphs).map(|(number, morph)| DriverRecord {
            drives: format!("corrective{number}"),
            inputs: inputs(&morph.driver.joints),
            mean: Vec::new(),
            middle: Vec::new(),
            coefficients: morph
                .driver
                .coefficients
                .iter()
                .map(|c| vec![*c as f32])
                .collect(),
        });
        helpers.chain(morphs).collect()
    }
}
