use super::*;

fn counts(text: &str) -> (usize, usize, usize) {
    let character = read(text.as_bytes(), None).unwrap();
    (
        character.meshes.len(),
        character.source_vertices(),
        character.source_triangles(),
    )
}

const QUAD: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

#[test]
fn faces_of_all_forms() {
    for face in [
        "f 1 2 3 4",
        "f -4 -3 -2 -1",
        "f\t1\t2\t3\t4",
        "f 1 2 \\\n3 4",
        "f 1//1 2//1 3//1 4//1",
        "f 1/1/1 2/1 3// 4 # x",
    ] {
        assert_eq!(
            counts(&format!("{QUAD}vt 0 0\nvn 0 0 1\n{face}\n")),
            (1, 4, 2),
            "{face}"
        );
    }
    for face in [
        "f 1 2 5",
        "f 0 1 2",
        "f -5 1 2",
        "f a b c",
        "f 1 2 99999999999999999999",
    ] {
        assert!(
            read(format!("{QUAD}{face}").as_bytes(), None).is_err(),
            "{face}"
        );
    }
}

#[test]
fn vertices_keep_their_order_and_number() {
    let text =
        format!("{QUAD}o second\nf 3 2 1\nv 5 0 0\nv 6 0 0\nv 6 1 0\nv 9 9 9\no first\nf 5 6 7\n");
    let character = read(text.as_bytes(), None).unwrap();
    assert_eq!(character.meshes.len(), 2);
    assert_eq!(character.meshes[0].name, "second");
    assert_eq!(character.meshes[0].positions.len(), 4);
    assert_eq!(character.meshes[1].positions.len(), 4);
    let x: Vec<f32> = character.bind_positions().iter().map(|p| p.x).collect();
    assert_eq!(x, [0.0, 1.0, 1.0, 0.0, 5.0, 6.0, 6.0, 9.0]);
    // Shared vertices: one mesh.
    assert_eq!(
        counts(&format!("{QUAD}g a\nf 1 2 3\ng b\nf 1 3 4\n")),
        (1, 4, 2)
    );
}

/// Two quads that share an edge: a seam of the texture, and two materials.
#[test]
fn a_seam_keeps_the_vertices_and_splits_the_texture() {
    let text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 0 0\nv 2 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n\
        o cloth\ng left\nusemtl a\nf 1/1 2/2 3/3 4/4\ng right\nusemtl b\nf 2/1 5/2 6/3 3/4\n";
    let character = read(text.as_bytes(), None).unwrap();
    let mesh = &character.meshes[0];
    assert_eq!(
        (
            character.meshes.len(),
            mesh.positions.len(),
            mesh.file_vertices()
        ),
        (1, 8, 6)
    );
    assert_eq!(mesh.faces.copies, [1, 2]);
    let uvs = mesh.tex_coords.as_ref().unwrap();
    let of_triangle = |triangle: usize| mesh.triangles[triangle].map(|v| uvs[v as usize]);
    assert_eq!(of_triangle(2)[0], [0.0, 1.0]);
    let polygons = mesh.faces.polygons.as_ref().unwrap();
    assert_eq!(
        (polygons.ring(0), polygons.ring(1)),
        (&[0, 1, 2, 3][..], &[6, 4, 5, 7][..])
    );
    let names = polygons
        .groups
        .iter()
        .map(|group| (group.group.as_str(), group.material.as_str()));
    assert_eq!(names.collect::<Vec<_>>(), [("left", "a"), ("right", "b")]);
    // Written and read again it is the same, in another place, too.
    let folder = crate::test_folder::TestFolder::new("obj-seam");
    let path = folder.file("out.obj");
    let moved: Vec<Point> = (mesh.positions.iter())
        .map(|p| p + Vec3::y() * 3.0)
        .collect();
    crate::io::write_obj(&path, &character, &moved, &[]).unwrap();
    let written = std::fs::read_to_string(&path).unwrap();
    for line in ["g right", "usemtl b", "f 1/1 2/2 3/3 4/4", "v 2 4 0"] {
        assert!(
            written.lines().any(|known| known == line),
            "{line}: {written}"
        );
    }
    assert_eq!(written.matches("\nv ").count(), 6);
    assert_eq!(written.matches("\nvt ").count(), 4);
    let again = read(written.as_bytes(), None).unwrap();
    assert_eq!(again.meshes[0].positions, moved);
    assert_eq!(again.meshes[0].faces, mesh.faces);
    assert_eq!(again.meshes[0].tex_coords, mesh.tex_coords);
}

/// An apex with a million normals of its own must not take forever.
#[test]
fn a_fan_of_many_normals_is_read_in_time() {
    use std::fmt::Write;
    let count = 60_000;
    let mut text = String::from("v 0 1 0\n");
    for i in 0..count {
        let (sin, cos) = (i as f32 / count as f32 * std::f32::consts::TAU).sin_cos();
        let _ = write!(text, "v {cos} 0 {sin}\nvn {cos} {} {sin}\n", i as f32);
    }
    for i in 0..count {
        let (a, b) = (i + 2, (i + 1) % count + 2);
        let n = i + 1;
        let _ = writeln!(text, "f 1//{n} {b}//{n} {a}//{n}");
    }
    let start = std::time::Instant::now();
    let character = read(text.as_bytes(), None).unwrap();
    assert_eq!(character.file_vertices(), count + 1);
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}
