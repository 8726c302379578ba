//! Overlays on the skin: normals, velocities, marks.

use super::{Moment, PositionMark, place_of};
use crate::math::Vec3;
use crate::mesh::TriMesh;
use crate::render::colormap::ColorMap;
use crate::render::legend::{Legend, SteadyRange};
use crate::render::overlay::{Overlay, Rgba};

const NORMAL: Rgba = [110, 176, 255, 220];
/// Length of a normal's line, relative to the mean edge length of the skin, and its limits relative
/// to the character's size.
const NORMAL_EDGES: f32 = 1.0;
const NORMAL_LENGTHS: [f32; 2] = [0.003, 0.02];
/// Number of triangles sampled for the mean edge length.
const MEASURED: usize = 2000;
/// Length of a velocity's line: the distance in this time, at most this fraction of the size.
const VELOCITY_SECS: f32 = 0.08;
const LONGEST: f32 = 0.35;
/// Speeds below this fraction of the size per second count as zero.
const STANDING: f32 = 2e-3;
/// Approximate maximum number of velocities drawn, for legibility.
const VELOCITIES: usize = 6000;
/// Minimum range of the speed colours, in sizes per second.
const LEAST_SPEED: f32 = 0.02;

/// A short line at every vertex.
pub(super) fn add_normals(overlay: &mut Overlay, moment: &Moment<'_>) {
    let [least, most] = NORMAL_LENGTHS.map(|part| part * moment.subject.size);
    let length = (NORMAL_EDGES * mean_edge(&moment.subject.skin.mesh)).clamp(least, most);
    for (position, normal) in moment.positions.iter().zip(moment.normals) {
        overlay.line(position, &(position + normal * length), NORMAL, 1.0);
    }
}

/// Mean rest length of the edges, over a sample of the triangles.
fn mean_edge(mesh: &TriMesh) -> f32 {
    let step = mesh.triangles.len().div_ceil(MEASURED).max(1);
    let (mut sum, mut count) = (0.0, 0.0);
    for corners in mesh
        .triangles
        .iter()
        .step_by(step)
        .map(|corners| corners.map(|v| mesh.positions[v as usize]))
    {
        sum += (0..3)
            .map(|i| (corners[i] - corners[(i + 1) % 3]).norm())
            .sum::<f32>();
        count += 3.0;
    }
    if count > 0.0 { sum / count } else { 0.0 }
}

/// A line along every velocity, or every n-th of a fine skin; its colour is the speed.
pub(super) fn add_velocities(
    overlay: &mut Overlay,
    moment: &Moment<'_>,
    steady: &mut SteadyRange,
) -> Option<Legend> {
    if moment.velocities.is_empty() {
        return None;
    }
    let size = moment.subject.size;
    let metres = moment.subject.metres_per_unit() as f32;
    let metres = if metres.is_finite() && metres > 0.0 {
        metres
    } else {
        1.0
    };
    let largest = moment
        .velocities
        .iter()
        .map(Vec3::norm_squared)
        .filter(|speed| speed.is_finite())
        .fold(0.0, f32::max)
        .sqrt();
    let top = steady.follow(largest * metres, LEAST_SPEED * size * metres);
    let legend = Legend {
        title: "Speed".to_owned(),
        unit: "m/s",
        range: [0.0, top],
        map: ColorMap::Even,
    };
    let step = moment.positions.len().div_ceil(VELOCITIES).max(1);
    for (position, velocity) in moment.positions.iter().zip(moment.velocities).step_by(step) {
        let speed = velocity.norm();
        if !(speed.is_finite() && speed > STANDING * size) {
            continue;
        }
        let length = (speed * VELOCITY_SECS).min(LONGEST * size);
        let color = legend.map.rgba(speed * metres / top);
        overlay.line(
            position,
            &(position + velocity * (length / speed)),
            color,
            1.4,
        );
    }
    Some(legend)
}

/// A dot and three rings at every mark, visible through the skin.
pub(super) fn add_marks(overlay: &mut Overlay, moment: &Moment<'_>, marks: &[PositionMark]) {
    for mark in marks {
        let center = place_of(mark, moment);
        let radius = if mark.radius.is_finite() {
            mark.radius
                .clamp(0.008 * moment.subject.size, 0.06 * moment.subject.size)
        } else {
            0.0
        };
        for axis in [Vec3::x(), Vec3::y(), Vec3::z()] {
            overlay.ring(&center, &axis, radius, mark.color, 1.4);
        }
        overlay.line(&center, &center, mark.color, 7.0);
    }
}
