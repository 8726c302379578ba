//! A stand-in character until files can be read: a cylinder on two bones.

use super::{OpenError, Source};
use crate::character::{Attachment, Character, SourceMesh};
use crate::math::{Affine, Point, Point64, Quat, Vec64};
use crate::rig::{Channel, Clip, Curve, Interpolation, Skeleton, Track};
use crate::weights::SkinWeights;

/// Loads `builtin:*` as the cylinder and refuses everything else.
pub(super) fn load(source: &Source) -> Result<Character, OpenError> {
    let name = source.title();
    if !name.starts_with("builtin:") {
        return Err(OpenError::Load(format!("{source}: this kind of file can't be read yet")));
    }
    cylinder().ok_or_else(|| OpenError::Load(format!("{source}: there is no such character")))
}

fn cylinder() -> Option<Character> {
    let (rings, around, radius, length) = (41_u32, 32_u32, 0.2_f32, 2.0_f32);
    let skeleton = Skeleton::from_positions(&[
        ("lower".to_owned(), None, Point64::new(0.0, 0.0, 0.0)),
        ("upper".to_owned(), Some(0), Point64::new(0.0, 1.0, 0.0)),
    ])
    .ok()?;
    let mut positions = Vec::new();
    let mut rows = Vec::new();
    for ring in 0..rings {
        let y = length * ring as f32 / (rings - 1) as f32;
        for k in 0..around {
            let angle = k as f32 / around as f32 * std::f32::consts::TAU;
            positions.push(Point::new(radius * angle.cos(), y, -radius * angle.sin()));
            let upper = ((y - 0.7) / 0.6).clamp(0.0, 1.0);
            rows.push([(0, 1.0 - upper), (1, upper)]);
        }
    }
    let mut triangles = Vec::new();
    for ring in 0..rings - 1 {
        for k in 0..around {
            let next = (k + 1) % around;
            let [a, b, c, d] = [ring * around + k, ring * around + next, (ring + 1) * around + k, (ring + 1) * around + next];
            triangles.extend([[a, b, c], [b, d, c]]);
        }
    }
    let joint_from_mesh = skeleton.joints().iter().map(|j| j.world_from_bind.try_inverse().unwrap_or_else(Affine::identity)).collect();
    let bend = |angle: f64| Quat::from_axis_angle(&Vec64::z_axis(), angle).into_inner();
    let curve =
        Curve { times_secs: vec![0.0, 0.8, 1.6], values: vec![bend(0.0), bend(1.6), bend(0.0)], interpolation: Interpolation::Linear };
    let clip = Clip { name: "bend".into(), duration_secs: 1.6, tracks: vec![Track { joint: 1, channel: Channel::Rotation(curve) }] };
    Some(Character {
        name: "cylinder".into(),
        meshes: vec![SourceMesh {
            name: "cylinder".into(),
            positions,
            triangles,
            normals: None,
            tex_coords: None,
            material: None,
            attachment: Attachment::Skinned { weights: SkinWeights::from_rows(rows).0, joint_from_mesh },
        }],
        skeleton,
        clips: vec![clip],
        metres_per_unit: 1.0,
        ..Character::default()
    })
}
