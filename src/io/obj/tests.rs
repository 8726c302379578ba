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
