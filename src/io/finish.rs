//! The last look at a freshly read character: impossible places refused, its unit guessed.

use super::error::{Parsed, bad};
use crate::character::{Attachment, Character, Severity, SourceMesh};
use crate::math::Point;
use crate::mesh::Bounds;

/// What a format says of its unit of length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Unit {
    /// Metres, unless that would be absurd (glTF).
    Metres,
    /// So many metres, unless that would be absurd (FBX).
    Said(f64),
    /// Nothing (OBJ, OFF).
    Unknown,
}

/// Coordinates beyond this are taken for damage: their squares must fit into `f32`.
const LARGEST: f32 = 1e15;

/// Mends and checks; may be called again after meshes or skeleton have been exchanged.
pub(super) fn finish(character: &mut Character, unit: Unit) -> Parsed<()> {
    for mesh in &character.meshes {
        check_used(mesh)?;
    }
    let unused: usize = character.meshes.iter_mut().map(mend_unused).sum();
    if unused > 0 {
        let text = format!("coordinates that are not finite, on vertices that no triangle uses, put to the origin: {unused}");
        character.note(Severity::Mended, unused, text);
    }
    let rest = character.skeleton.world_from_joint(&character.skeleton.rest_pose());
    for mesh in &character.meshes {
        let (at_bind, at_rest) = (mesh.bind_positions(&character.skeleton), mesh.positions_at(&rest));
        if at_bind.iter().chain(&at_rest).any(|p| !is_sane(p)) {
            return bad(format!("the joints put vertices of mesh \"{}\" infinitely far away", mesh.name));
        }
    }
    guess_unit(character, unit);
    Ok(())
}

fn is_sane(point: &Point) -> bool {
    point.iter().all(|c| c.abs() < LARGEST)
}

/// Refuses a mesh whose triangles stand on vertices without a place: nobody can tell where they belong.
fn check_used(mesh: &SourceMesh) -> Parsed<()> {
    let broken = |v: &usize| !is_sane(&mesh.positions[*v]);
    let mut used: Vec<usize> = mesh.triangles.iter().flatten().map(|&v| v as usize).filter(broken).collect();
    used.sort_unstable();
    used.dedup();
    let Some(first) = used.first() else { return Ok(()) };
    let name = if mesh.name.is_empty() { String::new() } else { format!(" of mesh \"{}\"", mesh.name) };
    let [x, y, z] = mesh.positions[*first].coords.into();
    bad(format!(
        "vertices with triangles need finite coordinates, but {} of {} have none, first vertex {first}{name} at {x} {y} {z}; export the mesh again",
        used.len(),
        mesh.positions.len()
    ))
}

/// Puts vertices without a place that no triangle uses to the origin; returns how many.
fn mend_unused(mesh: &mut SourceMesh) -> usize {
    let broken = mesh.positions.iter_mut().filter(|p| !is_sane(p));
    broken.map(|position| *position = Point::origin()).count()
}

/// Sets `metres_per_unit`: the power of ten that brings the largest extent of the skin into (0.55, 5.5] m; what the
/// format says stays if that makes the largest extent 0.05 to 5.5 m. A wolf modelled 6 units long is more likely small than a giant, whose flesh would
/// sag and lag as a giant's does.
fn guess_unit(character: &mut Character, unit: Unit) {
    let has_skin = character.meshes.iter().any(SourceMesh::is_skin);
    let counted = character.meshes.iter().filter(|m| !has_skin || m.is_skin());
    let positions: Vec<Point> = counted.flat_map(|m| m.bind_positions(&character.skeleton)).collect();
    let extent = f64::from(Bounds::of(&positions).extent().max());
    character.metres_per_unit = metres_per_unit(extent, unit);
    if character.metres_per_unit != 1.0 {
        let metres = character.metres_per_unit;
        let text = if unit == Unit::Said(metres) {
            format!("1 unit of the file is taken for {metres} m, as it says")
        } else {
            format!("1 unit of the file is taken for {metres} m, because the longest side of the character is {extent:.4} units")
        };
        character.notes.retain(|note| !note.text.starts_with("1 unit of the file is taken"));
        character.note(Severity::Info, 0, text);
    }
}

fn metres_per_unit(extent: f64, unit: Unit) -> f64 {
    let said = match unit {
        Unit::Metres => Some(1.0),
        Unit::Said(metres) => Some(metres).filter(|metres| *metres > 0.0 && metres.is_finite()),
        Unit::Unknown => None,
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

/// Meshes that hang on nothing become skin without weights, in world space: for a skeleton that comes from another file.
pub(super) fn static_to_unweighted(character: &mut Character) {
    for mesh in &mut character.meshes {
        if matches!(mesh.attachment, Attachment::Static { .. }) {
            let (positions, attachment) = (mesh.positions_at(&[]), Attachment::Unweighted);
            (mesh.positions, mesh.attachment) = (positions, attachment);
            mesh.normals = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_ten() {
        for (extent, expected) in [(1.7, 1.0), (170.0, 0.01), (14.36, 0.1), (5.5, 1.0), (0.55, 10.0), (1700.0, 0.001), (0.0, 1.0)] {
            assert!((metres_per_unit(extent, Unit::Unknown) / expected - 1.0).abs() < 1e-9, "{extent}");
        }
        assert!((metres_per_unit(0.2, Unit::Metres) - 1.0).abs() < 1e-12);
        assert!((metres_per_unit(6.0, Unit::Metres) - 0.1).abs() < 1e-12);
        assert!((metres_per_unit(150.0, Unit::Metres) - 0.01).abs() < 1e-12);
        assert!((metres_per_unit(67.0, Unit::Said(0.0254)) - 0.0254).abs() < 1e-12);
        assert!((metres_per_unit(1.7, Unit::Said(0.01)) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_vertex_without_a_place_is_refused_if_it_is_used_and_mended_if_not() {
        let mut mesh = SourceMesh {
            name: "blob".to_owned(),
            positions: [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [f32::NAN, 0.0, 0.0]].map(Point::from).to_vec(),
            triangles: vec![[0, 1, 2], [1, 3, 2]],
            normals: None,
            tex_coords: None,
            material: None,
            attachment: Attachment::Unweighted,
        };
        let sentence = check_used(&mesh).expect_err("vertex 3 is used").to_string();
        assert!(sentence.contains("1 of 4") && sentence.contains("vertex 3") && sentence.contains("blob"), "{sentence}");
        mesh.triangles.pop();
        assert!(check_used(&mesh).is_ok());
        assert_eq!(mend_unused(&mut mesh), 1);
        assert_eq!(mesh.positions[3], Point::origin());
    }
}
