//! Final checks of a character that was read: non-finite positions are rejected, the unit is
//! guessed.

use super::error::{Parsed, bad};
use crate::character::{Attachment, Character, Severity, SourceMesh};
use crate::math::{Affine, Point, Vec64, linear_part, origin_of};
use crate::mesh::Bounds;
use crate::rig::Channel;

/// What a format specifies about its unit of length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum LengthUnit {
    /// Metres, unless the size is implausible (glTF).
    Metres,
    /// A number of metres, unless the size is implausible (FBX).
    Said(f64),
    /// Not specified (OBJ, OFF).
    Unknown,
}

/// Coordinates above this are treated as damage: their squares must not overflow `f32`.
const LARGEST: f32 = 1e15;

/// Numbers in transforms above this, lengths in sizes of the character, are treated as damage.
const FARTHEST: f64 = 1e15;

/// Repairs and checks a character; may be repeated after meshes or skeleton were exchanged.
pub(super) fn finish(character: &mut Character, unit: LengthUnit) -> Parsed<()> {
    for mesh in &character.meshes {
        check_used(mesh)?;
    }
    let unused: usize = character.meshes.iter_mut().map(repair_unused).sum();
    if unused > 0 {
        let text =
            format!("non-finite coordinates of unused vertices, set to the origin: {unused}");
        character.note(Severity::Mended, unused, text);
    }
    let rest = character
        .skeleton
        .world_from_joint(&character.skeleton.rest_pose());
    for mesh in &character.meshes {
        let (at_bind, at_rest) = (
            mesh.bind_positions(&character.skeleton),
            mesh.positions_at(&rest),
        );
        if at_bind.iter().chain(&at_rest).any(|p| !is_sane(p)) {
            return bad(format!(
                "the joints move vertices of mesh \"{}\" to infinity",
                mesh.name
            ));
        }
    }
    let positions = character.bind_positions();
    check_transforms(character, f64::from(Bounds::of(&positions).size()))?;
    guess_unit(character, unit);
    Ok(())
}

/// Rejects joints with numbers far beyond the character, and drops such tracks of clips: products of
/// them are not finite.
fn check_transforms(character: &mut Character, size: f64) -> Parsed<()> {
    // A mesh without extent is rejected elsewhere.
    let farthest = FARTHEST * if size > 0.0 { size } else { 1.0 };
    let is_near = |vector: &Vec64| vector.iter().all(|c| c.abs() <= farthest);
    let is_usable = |transform: &Affine| {
        is_near(&origin_of(transform).coords)
            && linear_part(transform).iter().all(|c| c.abs() <= FARTHEST)
    };
    let skeleton = &character.skeleton;
    let at_rest = skeleton.world_from_joint(&skeleton.rest_pose());
    for (joint, world) in skeleton.joints().iter().zip(&at_rest) {
        let own = [joint.world_from_bind, joint.parent_from_base, *world];
        if !own.iter().all(is_usable) {
            return bad(format!(
                "the transform of joint \"{}\" has numbers beyond 1e15 times the size of the character; export it again",
                joint.name
            ));
        }
    }
    let mut dropped = 0;
    for clip in &mut character.clips {
        let before = clip.tracks.len();
        clip.tracks.retain(|track| match &track.channel {
            Channel::Translation(curve) => curve.values.iter().all(is_near),
            Channel::Scale(curve) => (curve.values.iter().flatten()).all(|c| c.abs() <= FARTHEST),
            Channel::Rotation(curve) => {
                (curve.values.iter()).all(|value| value.coords.iter().all(|c| c.is_finite()))
            }
        });
        dropped += before - clip.tracks.len();
    }
    if dropped > 0 {
        let text = format!(
            "animation channels omitted because of numbers beyond 1e15 times the size of the character: {dropped}"
        );
        character.note(Severity::Mended, dropped, text);
    }
    Ok(())
}

fn is_sane(point: &Point) -> bool {
    point.iter().all(|c| c.abs() < LARGEST)
}

/// Rejects a mesh in which triangles use vertices with non-finite coordinates: the surface is
/// undefined there.
fn check_used(mesh: &SourceMesh) -> Parsed<()> {
    let broken = |v: &usize| !is_sane(&mesh.positions[*v]);
    let mut used: Vec<usize> = mesh
        .triangles
        .iter()
        .flatten()
        .map(|&v| v as usize)
        .filter(broken)
        .collect();
    used.sort_unstable();
    used.dedup();
    let Some(first) = used.first() else {
        return Ok(());
    };
    let name = if mesh.name.is_empty() {
        String::new()
    } else {
        format!(" of mesh \"{}\"", mesh.name)
    };
    let [x, y, z] = mesh.positions[*first].coords.into();
    bad(format!(
        "{} of {} used vertices have non-finite coordinates, first vertex {first}{name} at {x} {y} {z}; export the mesh again",
        used.len(),
        mesh.positions.len()
    ))
}

/// Sets non-finite vertices that no triangle uses to the origin; returns their number.
fn repair_unused(mesh: &mut SourceMesh) -> usize {
    let broken = mesh.positions.iter_mut().filter(|p| !is_sane(p));
    broken.map(|position| *position = Point::origin()).count()
}

/// Sets `metres_per_unit`: the power of ten that brings the largest extent of the skin into (0.55,
/// 5.5] m. The unit of the format is kept if it gives a largest extent of 0.05 to 5.5 m. A wolf
/// modelled 6 units long is assumed small: at true scale its flesh would sag and lag like a
/// giant's.
fn guess_unit(character: &mut Character, unit: LengthUnit) {
    let has_skin = character.meshes.iter().any(SourceMesh::is_skin);
    let counted = character.meshes.iter().filter(|m| !has_skin || m.is_skin());
    let positions: Vec<Point> = counted
        .flat_map(|m| m.bind_positions(&character.skeleton))
        .collect();
    let extent = f64::from(Bounds::of(&positions).extent().max());
    character.metres_per_unit = metres_per_unit(extent, unit);
    if character.metres_per_unit != 1.0 {
        let metres = character.metres_per_unit;
        let text = if unit == LengthUnit::Said(metres) {
            format!("1 unit of the file is taken as {metres} m, as the file specifies")
        } else {
            format!(
                "1 unit of the file is taken as {metres} m, because the longest side of the character is {extent:.4} units"
            )
        };
        character
            .notes
            .retain(|note| !note.text.starts_with("1 unit of the file is taken"));
        character.note(Severity::Info, 0, text);
    }
}

fn metres_per_unit(extent: f64, unit: LengthUnit) -> f64 {
    let said = match unit {
        LengthUnit::Metres => Some(1.0),
        LengthUnit::Said(metres) => {
            Some(metres).filter(|metres| *metres > 0.0 && metres.is_finite())
        }
        LengthUnit::Unknown => None,
    };
    let plausible = said.filter(|said| (0.05..=5.5).contains(&(extent * said)));
    if let Some(said) = plausible {
        return said;
    }
    if !(extent > 0.0 && extent.is_finite()) {
        return 1.0;
    }
    10_f64.powi(-((extent / 5.5).log10().ceil() as i32))
}

/// Turns meshes without a joint into skin without weights, in world space: for a skeleton from
/// another file.
pub(super) fn static_to_unweighted(character: &mut Character) {
    for index in 0..character.meshes.len() {
        let before = character.meshes[index].clone();
        let mesh = &mut character.meshes[index];
        if matches!(mesh.attachment, Attachment::Static { .. }) {
            let (positions, attachment) = (mesh.positions_at(&[]), Attachment::Unweighted);
            (mesh.positions, mesh.attachment) = (positions, attachment);
            mesh.normals = None;
            let skeleton = character.skeleton.clone();
            character.place_morphs(index, &before, &skeleton);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::SourceFaces;

    #[test]
    fn units_are_powers_of_ten() {
        for (extent, expected) in [
            (1.7, 1.0),
            (170.0, 0.01),
            (14.36, 0.1),
            (5.5, 1.0),
            (0.55, 10.0),
            (1700.0, 0.001),
            (0.0, 1.0),
        ] {
            assert!(
                (metres_per_unit(extent, LengthUnit::Unknown) / expected - 1.0).abs() < 1e-9,
                "{extent}"
            );
        }
        assert!((metres_per_unit(0.2, LengthUnit::Metres) - 1.0).abs() < 1e-12);
        assert!((metres_per_unit(6.0, LengthUnit::Metres) - 0.1).abs() < 1e-12);
        assert!((metres_per_unit(150.0, LengthUnit::Metres) - 0.01).abs() < 1e-12);
        assert!((metres_per_unit(67.0, LengthUnit::Said(0.0254)) - 0.0254).abs() < 1e-12);
        assert!((metres_per_unit(1.7, LengthUnit::Said(0.01)) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn transforms_far_beyond_the_character_are_rejected() {
        use crate::math::Point64;
        use crate::rig::{Clip, Curve, Skeleton, Track};
        let made = |x: f64, key: f64| {
            let joints = [
                ("a".to_owned(), None, Point64::origin()),
                ("b".to_owned(), Some(0), Point64::new(x, 0.0, 0.0)),
            ];
            let corners = [[0.0, 0.0, 0.0], [1e-3, 0.0, 0.0], [0.0, 1e-3, 0.0]];
            let mesh = SourceMesh::bare("m", corners.map(Point::from).to_vec(), vec![[0, 1, 2]]);
            let curve = Curve::linear(vec![0.0], vec![Vec64::new(key, 0.0, 0.0)]);
            let channel = Channel::Translation(curve);
            let mut character = Character {
                meshes: vec![mesh],
                skeleton: Skeleton::from_positions(&joints).unwrap(),
                clips: vec![Clip {
                    name: "c".to_owned(),
                    duration_secs: 0.0,
                    tracks: vec![Track { joint: 0, channel }],
                    morphs: Vec::new(),
                }],
                ..Character::default()
            };
            let checked = finish(&mut character, LengthUnit::Metres);
            checked.map(|()| character.clips[0].tracks.len())
        };
        assert_eq!(made(1e9, 1e9), Ok(1));
        assert_eq!(made(1e9, 1e14), Ok(0));
        let refused = made(1e14, 0.0).unwrap_err().to_string();
        assert!(refused.contains("joint \"b\""), "{refused}");
    }

    #[test]
    fn a_non_finite_vertex_is_rejected_if_used_and_repaired_if_not() {
        let mut mesh = SourceMesh {
            name: "blob".to_owned(),
            positions: [
                [0.0, 0.0, 0.0],
                [1.0, 0.0, 0.0],
                [0.0, 1.0, 0.0],
                [f32::NAN, 0.0, 0.0],
            ]
            .map(Point::from)
            .to_vec(),
            triangles: vec![[0, 1, 2], [1, 3, 2]],
            normals: None,
            tex_coords: None,
            faces: SourceFaces::default(),
            material: None,
            attachment: Attachment::Unweighted,
        };
        let sentence = check_used(&mesh).expect_err("vertex 3 is used").to_string();
        assert!(
            sentence.contains("1 of 4")
                && sentence.contains("vertex 3")
                && sentence.contains("blob"),
            "{sentence}"
        );
        mesh.triangles.pop();
        assert!(check_used(&mesh).is_ok());
        assert_eq!(repair_unused(&mut mesh), 1);
        assert_eq!(mesh.positions[3], Point::origin());
    }
}
