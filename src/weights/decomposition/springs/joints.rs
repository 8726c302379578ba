//! Springs as joints of a skeleton.

use super::super::Decomposition;
use super::Spring;
use crate::math::{Affine, Vec64};
use crate::rig::{Joint, Skeleton, SkeletonError, Trs};
use crate::weights::SkinWeights;

impl Decomposition {
    /// The skeleton with two joints for each spring after all others: one below its helper, which takes over the helper's weights, and its
    /// tail. And the weights.
    ///
    /// # Errors
    /// [`SkeletonError::TooMany`].
    pub fn sprung(&self, springs: &[Spring]) -> Result<(Skeleton, SkinWeights), SkeletonError> {
        if springs.is_empty() {
            return Ok((self.skeleton.clone(), self.weights.clone()));
        }
        let mut joints = self.skeleton.joints().to_vec();
        let mut weights = self.weights.clone();
        let first = joints.len() - self.drivers.len();
        for spring in springs {
            let helper = first + spring.helper;
            let (name, joint) = (joints[helper].name.clone(), joints.len());
            let bind = joints[helper].world_from_bind;
            let child = |parent: usize, end: &str, from: Vec64, to: Vec64| Joint {
                name: format!("{name}_{end}"),
                parent: Some(parent),
                parent_from_base: Affine::identity(),
                rest: Trs::at(to - from),
                world_from_bind: bind * Trs::at(to).to_affine(),
                deforms: end == SPRING,
                tail: None,
            };
            joints.push(child(helper, SPRING, Vec64::zeros(), spring.pivot));
            joints.push(child(joint, "spring_end", spring.pivot, spring.tail));
            let moved = weights.joints.iter_mut();
            moved
                .filter(|bone| **bone as usize == helper)
                .for_each(|bone| *bone = joint as u32);
        }
        Ok((Skeleton::new(joints)?, weights))
    }

    /// The joint of a spring in the skeleton of [`Decomposition::sprung`], by its place in the list; its tail is the next one.
    #[must_use]
    pub fn spring_joint(&self, place: usize) -> usize {
        self.skeleton.len() + 2 * place
    }
}

/// End of the name of a spring's joint.
const SPRING: &str = "spring";
