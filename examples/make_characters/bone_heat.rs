//! Which bones heat a vertex of the skin, seen through the implicit solid; the heat itself is [`sinew::weights::heat_equilibrium`].
//!
//! # Departures
//! - Visibility is asked of the implicit solid instead of the mesh, and a vertex whose nearest bone is hidden is heated by the nearest
//!   one that it sees.

use sinew::math::Point64;
use sinew::mesh::TriMesh;
use sinew::progress::Progress;
use sinew::weights::{HeatSource, Segment, heat_equilibrium};

use crate::field::Field;
use crate::polygonise::Mesh;

/// For every vertex its weights, one per joint, unlimited and summing to 1.
///
/// # Errors
/// If the skin has a part that no bone heats.
pub fn bone_heat(
    mesh: &Mesh,
    field: &Field,
    segments: &[Segment],
    joints: usize,
) -> Result<Vec<Vec<f64>>, String> {
    let sources: Vec<HeatSource> = mesh
        .positions
        .iter()
        .map(|p| nearest_visible(p, field, segments))
        .collect();
    // Positions were rounded to f32 when the skin was made.
    let skin = TriMesh {
        positions: mesh.positions.iter().map(|p| p.cast::<f32>()).collect(),
        triangles: mesh.triangles.clone(),
    };
    let rows = heat_equilibrium(&skin, &sources, joints, &Progress::new())
        .map_err(|error| error.to_string())?;
    if rows.iter().any(Vec::is_empty) {
        return Err("a part of the skin gets no heat from any bone".to_owned());
    }
    Ok(rows)
}

/// Joints of the nearest bones that are seen from the skin through the flesh, and their distance.
fn nearest_visible(p: &Point64, field: &Field, segments: &[Segment]) -> HeatSource {
    let mut feet: Vec<(f64, u32, Point64)> = segments
        .iter()
        .map(|segment| {
            let foot = segment.nearest_to(p);
            ((foot - p).norm().max(1e-3), segment.joint, foot)
        })
        .collect();
    feet.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let visible = |foot: &Point64| {
        (1..10).all(|i| field.distance(&(p + (foot - p) * (f64::from(i) / 10.0))) < 1e-3)
    };
    let Some(first) = feet
        .iter()
        .find(|(_, _, foot)| visible(foot))
        .or(feet.first())
        .copied()
    else {
        return HeatSource::default();
    };
    let near = feet
        .iter()
        .filter(|(d, _, foot)| *d >= first.0 - 1e-12 && *d < first.0 * 1.0001 && visible(foot));
    let mut joints: Vec<u32> = near.map(|&(_, joint, _)| joint).collect();
    joints.push(first.1);
    joints.sort_unstable();
    joints.dedup();
    HeatSource {
        joints,
        distance: first.0,
    }
}
