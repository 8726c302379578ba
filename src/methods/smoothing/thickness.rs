//! The local thickness of the body: how far the skin is from the bones inside.

use rayon::prelude::*;

use super::Surface;
use crate::numerics::{Cholesky, FactorError, Ordering};
use crate::rig::Skeleton;
use crate::weights::{Segment, SkinWeights};

/// Radii are within these parts of the size: bones that touch the skin, and bones far from it.
const RANGE: [f64; 2] = [2e-3, 0.12];
/// Radii are averaged over so many of themselves.
const AVERAGED_OVER: f64 = 0.5;

/// The limb radius at every vertex, a length: the distance to the nearest bone that moves some of the skin, within [`RANGE`] of the
/// size, averaged over the surface.
///
/// # Errors
/// [`FactorError`] if the averaging cannot be factored.
pub(in crate::methods) fn limb_radii(
    surface: &Surface,
    skeleton: &Skeleton,
    weights: &SkinWeights,
) -> Result<Vec<f64>, FactorError> {
    let mut moves_skin = vec![false; skeleton.len()];
    for &joint in &weights.joints {
        if let Some(moves) = moves_skin.get_mut(joint as usize) {
            *moves = true;
        }
    }
    let bones: Vec<Segment> = Segment::of(skeleton)
        .into_iter()
        .filter(|bone| moves_skin[bone.joint as usize])
        .collect();
    let [low, high] = RANGE.map(|part| part * surface.size);
    let nearest = |position: &crate::math::Point64| {
        let point = position + surface.center.coords;
        bones
            .iter()
            .map(|bone| (bone.nearest_to(&point) - point).norm())
            .fold(high, f64::min)
            .max(low)
    };
    let mut radii: Vec<f64> = surface.positions.par_iter().map(nearest).collect();
    if radii.is_empty() {
        return Ok(radii);
    }
    let times: Vec<f64> = radii.iter().map(|r| (AVERAGED_OVER * r).powi(2)).collect();
    let factor = Cholesky::<f64>::factor(&surface.implicit(&times), Ordering::default())?;
    for (radius, area) in radii.iter_mut().zip(&surface.areas) {
        *radius *= area;
    }
    factor.solve(&mut radii);
    for radius in &mut radii {
        *radius = radius.clamp(low, high);
    }
    Ok(radii)
}
