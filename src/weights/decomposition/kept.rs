//! A decomposition in plain numbers, for project files: all that moves the skin, without the frames that it was fitted to.

use nalgebra::{DMatrix, DVector, Matrix4};
use serde::{Deserialize, Serialize};

use super::drive::{Driver, OUTPUTS, PER_JOINT};
use super::{Decomposition, DrivenMorph, WeightDriver};
use crate::math::{Affine, Quat, Vec3};
use crate::rig::{Joint, Skeleton, SkeletonError};
use crate::weights::SkinWeights;

/// A decomposition as it is kept in files. Joints are indices into [`KeptDecomposition::joints`]; those of the weights go on with the
/// helpers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptDecomposition {
    /// Names of the character's joints.
    pub joints: Vec<String>,
    /// The helpers, in order.
    pub helpers: Vec<KeptHelper>,
    /// Weights of all vertices of the skin.
    pub weights: SkinWeights,
    /// The corrective morphs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub morphs: Vec<KeptMorph>,
}

/// A helper joint and its driver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptHelper {
    /// Name of the helper.
    pub name: String,
    /// The joint it is a child of.
    pub parent: usize,
    /// World transform in the bind pose: three axes and the origin.
    pub bind: [f64; 12],
    /// The joints that drive it.
    pub driven_by: Vec<usize>,
    /// Mean of the driving numbers, nine per joint.
    pub mean: Vec<f64>,
    /// Output at the mean: a rotation vector, then a translation.
    pub middle: [f64; OUTPUTS],
    /// Six outputs for each number, number after number.
    pub coefficients: Vec<f64>,
}

/// A corrective morph and its driver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptMorph {
    /// Displacements x, y, z of all vertices, world, bind pose.
    pub offsets: Vec<f32>,
    /// The joints that drive it.
    pub driven_by: Vec<usize>,
    /// A coefficient for each number, nine per joint.
    pub coefficients: Vec<f64>,
}

/// Why kept numbers are no decomposition of a character.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KeptError {
    /// Another skeleton.
    #[error("the character has no joint \"{0}\"")]
    Joint(String),
    /// Another skin.
    #[error("it was made for a skin of {found} vertices, and the character has {expected}")]
    Vertices {
        /// Those of the file.
        found: usize,
        /// Those of the skin.
        expected: usize,
    },
    /// Numbers that contradict each other, or are not finite.
    #[error("its numbers are damaged ({0})")]
    Damaged(&'static str),
    /// The helpers are not joints.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
}

impl Decomposition {
    /// In plain numbers.
    #[must_use]
    pub fn kept(&self) -> KeptDecomposition {
        let joints = self.skeleton.joints();
        let (given, helpers) = joints.split_at(joints.len() - self.drivers.len());
        let of_helper = |(joint, driver): (&Joint, &Driver)| {
            let bind = joint.world_from_bind.matrix();
            KeptHelper {
                name: joint.name.clone(),
                parent: joint.parent.unwrap_or_default(),
                bind: std::array::from_fn(|i| bind[(i % 3, i / 3)]),
                driven_by: driver.joints.iter().map(|(joint, _)| *joint).collect(),
                mean: driver.mean.iter().copied().collect(),
                middle: driver.middle,
                coefficients: driver.coefficients.transpose().iter().copied().collect(),
            }
        };
        let of_morph = |morph: &DrivenMorph| KeptMorph {
            offsets: morph.offsets.iter().flat_map(|o| [o.x, o.y, o.z]).collect(),
            driven_by: morph.driver.joints.iter().map(|(j, _)| *j).collect(),
            coefficients: morph.driver.coefficients.clone(),
        };
        KeptDecomposition {
            joints: given.iter().map(|joint| joint.name.clone()).collect(),
            helpers: helpers.iter().zip(&self.drivers).map(of_helper).collect(),
            weights: self.weights.clone(),
            morphs: self.morphs.iter().map(of_morph).collect(),
        }
    }
}

impl KeptDecomposition {
    /// The decomposition for a character with this skeleton, whose skin has so many vertices. It has no fitted frames.
    ///
    /// # Errors
    /// [`KeptError`]
    pub fn restore(
        &self,
        skeleton: &Skeleton,
        vertices: usize,
    ) -> Result<Decomposition, KeptError> {
        let find = |name: &String| {
            let found = skeleton.find(name);
            found.ok_or_else(|| KeptError::Joint(name.replace(char::is_control, " ")))
        };
        let places: Vec<usize> = self.joints.iter().map(find).collect::<Result<_, _>>()?;
        let given = Given { skeleton, places };
        let mut joints = skeleton.joints().to_vec();
        let mut drivers = Vec::with_capacity(self.helpers.len());
        for helper in &self.helpers {
            let driver = given.driver(helper)?;
            joints.push(given.joint(helper, &driver)?);
            drivers.push(driver);
        }
        let weights = self.weights_for(&given, vertices)?;
        let morph = |morph: &KeptMorph| given.morph(morph, vertices);
        Ok(Decomposition {
            skeleton: Skeleton::new(joints)?,
            weights,
            drivers,
            fitted: Vec::new(),
            morphs: self.morphs.iter().map(morph).collect::<Result<_, _>>()?,
            inputs: Vec::new(),
        })
    }

    fn weights_for(&self, given: &Given<'_>, vertices: usize) -> Result<SkinWeights, KeptError> {
        let mut weights = self.weights.clone();
        let SkinWeights {
            offsets,
            joints,
            values,
        } = &mut weights;
        let found = offsets.len().saturating_sub(1);
        if found != vertices {
            let expected = vertices;
            return Err(KeptError::Vertices { found, expected });
        }
        let ends = (offsets.first(), offsets.last().map(|&last| last as usize));
        let sound = ends == (Some(&0), Some(joints.len()))
            && offsets.windows(2).all(|pair| pair[0] < pair[1])
            && joints.len() == values.len()
            && values.iter().all(|value| (0.0..=1.0).contains(value));
        if !sound {
            return Err(KeptError::Damaged("weights"));
        }
        let own = given.places.len();
        for joint in joints {
            let index = *joint as usize;
            let place = match index.checked_sub(own) {
                Some(helper) if helper < self.helpers.len() => given.skeleton.len() + helper,
                Some(_) => return Err(KeptError::Damaged("weights")),
                None => given.places[index],
            };
            *joint = place as u32;
        }
        Ok(weights)
    }
}

/// The character's joints.
struct Given<'a> {
    skeleton: &'a Skeleton,
    /// Index of each joint of the file.
    places: Vec<usize>,
}

impl Given<'_> {
    fn place(&self, joint: usize) -> Result<usize, KeptError> {
        let place = self.places.get(joint).copied();
        place.ok_or(KeptError::Damaged("joints"))
    }

    /// Joints with their rotations at rest.
    fn inputs(&self, joints: &[usize]) -> Result<Vec<(usize, Quat)>, KeptError> {
        let input = |&joint: &usize| {
            let place = self.place(joint)?;
            Ok((place, self.skeleton.joints()[place].rest.rotation))
        };
        joints.iter().map(input).collect()
    }

    fn driver(&self, helper: &KeptHelper) -> Result<Driver, KeptError> {
        let joints = self.inputs(&helper.driven_by)?;
        let numbers = joints.len() * PER_JOINT;
        let sound = helper.mean.len() == numbers
            && helper.coefficients.len() == numbers * OUTPUTS
            && all_finite(&helper.mean)
            && all_finite(&helper.middle)
            && all_finite(&helper.coefficients);
        if !sound {
            return Err(KeptError::Damaged("helpers"));
        }
        Ok(Driver {
            joints,
            mean: DVector::from_column_slice(&helper.mean),
            middle: helper.middle,
            coefficients: DMatrix::from_row_slice(numbers, OUTPUTS, &helper.coefficients),
        })
    }

    fn joint(&self, helper: &KeptHelper, driver: &Driver) -> Result<Joint, KeptError> {
        let parent = self.place(helper.parent)?;
        let mut bind = Matrix4::identity();
        bind.fixed_view_mut::<3, 4>(0, 0)
            .copy_from_slice(&helper.bind);
        Ok(Joint {
            name: helper.name.clone(),
            parent: Some(parent),
            parent_from_base: Affine::identity(),
            rest: driver.rest(),
            world_from_bind: Affine::from_matrix_unchecked(bind),
            deforms: true,
            tail: None,
        })
    }

    fn morph(&self, morph: &KeptMorph, vertices: usize) -> Result<DrivenMorph, KeptError> {
        let joints = self.inputs(&morph.driven_by)?;
        let (offsets, rest) = morph.offsets.as_chunks::<3>();
        let sound = offsets.len() == vertices
            && rest.is_empty()
            && morph.coefficients.len() == joints.len() * PER_JOINT
            && all_finite(&morph.coefficients)
            && morph.offsets.iter().all(|x| x.is_finite());
        if !sound {
            return Err(KeptError::Damaged("morphs"));
        }
        Ok(DrivenMorph {
            offsets: offsets.iter().map(|&offset| Vec3::from(offset)).collect(),
            driver: WeightDriver {
                joints,
                coefficients: morph.coefficients.clone(),
            },
        })
    }
}

fn all_finite(numbers: &[f64]) -> bool {
    numbers.iter().all(|number| number.is_finite())
}
