use super::*;

const HEADER: &str = "element vertex 5\nproperty float x\nproperty double y\nproperty short z\nproperty uchar s\nproperty char t\n\
    element edge 1\nproperty list uchar short whatever\nelement face 2\nproperty int id\nproperty list uchar uint vertex_indices\nend_header\n";

fn binary(big: bool) -> Vec<u8> {
    let format = if big { "big" } else { "little" };
    let mut out =
        format!("ply\nformat binary_{format}_endian 1.0\ncomment hello\n{HEADER}").into_bytes();
    let mut put = |mut bytes: Vec<u8>| {
        if big {
            bytes.reverse();
        }
        out.extend(bytes);
    };
    for [x, y, z] in [[0_i8, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, -1]] {
        put(f32::from(x).to_le_bytes().to_vec());
        put(f64::from(y).to_le_bytes().to_vec());
        put(i16::from(z).to_le_bytes().to_vec());
        put(vec![x.cast_unsigned()]);
        put(vec![y.cast_unsigned()]);
    }
    put(vec![1]);
    put(7_i16.to_le_bytes().to_vec());
    for ring in [&[0_u32, 1, 2, 3][..], &[0, 4, 1]] {
        put((-1_i32).to_le_bytes().to_vec());
        put(vec![ring.len() as u8]);
        for v in ring {
            put(v.to_le_bytes().to_vec());
        }
    }
    out
}

fn text(end: &str) -> String {
    let body =
        "0 0 0 0 0\n1 0 0 1 0\n1 1 0 1 1\n0 1 0 0 1\n0 0 -1 0 0\n1 7\n-1 4 0 1 2 3\n-1 3 0 4 1";
    format!("ply\nformat ascii 1.0\n{HEADER}{body}").replace('\n', end)
}

#[test]
fn all_encodings_read_equal() {
    let whole = read(text("\n").as_bytes(), None).unwrap();
    assert_eq!((whole.source_vertices(), whole.source_triangles()), (5, 3));
    assert_eq!(whole.meshes[0].positions[4], Point::new(0.0, 0.0, -1.0));
    assert_eq!(whole.meshes[0].tex_coords.as_ref().unwrap()[2], [1.0, 0.0]);
    for bytes in [
        binary(false),
        binary(true),
        text("\r\n").into_bytes(),
        text("\r").into_bytes(),
    ] {
        assert_eq!(read(&bytes, None).unwrap().meshes, whole.meshes);
    }
}

#[test]
fn truncation_anywhere_is_rejected() {
    for whole in [binary(true), text("\n").into_bytes()] {
        for end in 0..whole.len() {
            // The rest of a truncated number may itself be a number.
            assert!(
                read(&whole[..end], None).is_err() || end + 1 == whole.len(),
                "{end} of {}",
                whole.len()
            );
        }
    }
}

#[test]
fn excessive_counts_are_rejected_before_allocating() {
    for (from, to) in [
        ("vertex 5", "vertex 5000000000"),
        ("vertex 5", "vertex 99999999999999999999"),
        ("edge 1", "edge 4294967295"),
    ] {
        assert!(
            read(text("\n").replacen(from, to, 1).as_bytes(), None).is_err(),
            "{to}"
        );
    }
    assert!(
        read(
            text("\n").replacen("-1 4 0", "-1 400 0", 1).as_bytes(),
            None
        )
        .unwrap_err()
        .to_string()
        .contains("400")
    );
    assert!(
        read(
            text("\n").replacen("4 0 1 2 3", "4 0 1 2 9", 1).as_bytes(),
            None
        )
        .unwrap_err()
        .to_string()
        .contains("vertex 9")
    );
    let nothing = "ply\nformat ascii 1.0\nelement vertex 18446744073709551615\nend_header\n";
    assert_eq!(read(nothing.as_bytes(), None).unwrap().source_vertices(), 0);
}

#[test]
fn strips_are_split_at_minus_one() {
    let strip = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
        element tristrips 1\nproperty list int int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n8 0 1 2 3 -1 1 2 3\n";
    assert_eq!(
        read(strip.as_bytes(), None).unwrap().meshes[0].triangles,
        [[0, 1, 2], [2, 1, 3], [1, 2, 3]]
    );
}
