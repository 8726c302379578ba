//! Small files that ask for much time or memory.

use sinew::io::load_from_memory;
use sinew::progress::Progress;

use super::guarded;

fn survive(name: &str, bytes: &[u8]) {
    let _ = guarded(name, || {
        load_from_memory(&[(name, bytes)], &Progress::new())
    });
}

/// Faces of many corners in disorder: cutting ears off them takes long.
#[test]
fn tangled_polygons() {
    for corners in [1999_usize, 2001, 20_000] {
        let vertices = |at: &dyn Fn(usize) -> [usize; 2]| -> String {
            (0..corners).map(at).fold(String::new(), |all, [x, y]| {
                all + "v " + &x.to_string() + " " + &y.to_string() + " 0\n"
            })
        };
        let face = (1..=corners).fold("f".to_owned(), |all, i| all + " " + &i.to_string()) + "\n";
        let wild = vertices(&|i| [3, 5].map(|k| (i * i * k + 7 * i) % 1009));
        survive("tangle.obj", format!("{wild}{}", face.repeat(4)).as_bytes());
        // A comb: half of its corners are reflex.
        let comb = vertices(&|i| [i, if i % 2 == 0 { 0 } else { 1000 + i }]);
        survive("comb.obj", format!("{comb}{face}").as_bytes());
    }
}

#[test]
fn endless_empty_elements() {
    let header = |elements: &str| {
        format!("ply\nformat binary_little_endian 1.0\n{elements}end_header\n").into_bytes()
    };
    let mut lists = header(
        "element vertex 3\nproperty uchar x\nproperty uchar y\nproperty uchar z\nelement face 8000000\nproperty list uchar uchar vertex_indices\n",
    );
    lists.resize(lists.len() + 9 + 8_000_000, 0);
    survive("lists.ply", &lists);
    survive(
        "nothing.ply",
        &header(
            "element vertex 3\nproperty uchar x\nelement junk 18446744073709551615\nelement face 1\nproperty list uchar int vertex_indices\n",
        ),
    );
    let strips = header(
        "element vertex 3\nproperty uchar x\nproperty uchar y\nproperty uchar z\nelement tristrips 1\nproperty list uint uchar vertex_indices\n",
    );
    let mut strips = [
        strips,
        vec![0, 0, 0, 1, 0, 0, 0, 1, 0],
        8_000_000_u32.to_le_bytes().to_vec(),
    ]
    .concat();
    strips.resize(strips.len() + 8_000_000, 1);
    survive("strips.ply", &strips);
}

/// A megabyte of nothing, as every format that is text.
#[test]
fn long_lines_and_endless_lists() {
    for fill in [
        "0 ",
        "1\n",
        "f 1 1 1\n",
        "solid x\n",
        "vertex 0 0 0\nendfacet\n",
        "#",
        "{",
        "[",
        "a: {\n",
        "Vertices 1 0 0 0 0\n",
        "\\\n",
    ] {
        let text = fill.repeat((1 << 20) / fill.len());
        for name in [
            "a.obj", "a.off", "a.ply", "a.stl", "a.mesh", "a.gltf", "a.fbx", "a.ini",
        ] {
            let start = match name {
                "a.stl" => "solid a\n",
                "a.mesh" => "MeshVersionFormatted 1\n",
                "a.obj" => "v 0 0 0\n",
                "a.fbx" => "; FBX 7.4.0 project file\nFBXHeaderExtension: {\nFBXVersion: 7400\n}\n",
                _ => "",
            };
            survive(name, format!("{start}{text}").as_bytes());
        }
        for name in ["a.skel", "a.tgf", "a.dmat", "a.anim"] {
            let mesh: &[u8] = b"v 0 0 0\nv 2 0 0\nv 2 2 0\nf 1 2 3\n";
            let skeleton: &[u8] = b"1\n1 1 0 a root\n";
            let (files, what): (&[(&str, &[u8])], _) = match name {
                "a.skel" | "a.tgf" => (&[(name, text.as_bytes()), ("m.obj", mesh)], name),
                _ => (
                    &[
                        (name, text.as_bytes()),
                        ("m.obj", mesh),
                        ("s.skel", skeleton),
                    ],
                    name,
                ),
            };
            let _ = guarded(what, || load_from_memory(files, &Progress::new()));
        }
    }
}
