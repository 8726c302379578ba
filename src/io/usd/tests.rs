//! Round trips, and refusals of what is not read.

mod blend_shapes;

use super::*;
use crate::character::{Attachment, SourceMesh};
use crate::io::{load, load_from_memory};
use crate::math::{Affine, Point, Vec3};

fn builtin(name: &str) -> Character {
    load(&[format!("builtin:{name}").into()], &Progress::new()).unwrap()
}

fn read_back(bytes: &[u8], name: &str) -> Character {
    load_from_memory(&[(name, bytes)], &Progress::new()).unwrap()
}

fn furthest(a: &Affine, b: &Affine) -> f64 {
    (a.matrix() - b.matrix()).amax()
}

const FORMATS: [(UsdFormat, &str); 2] =
    [(UsdFormat::Text, "a.usda"), (UsdFormat::Binary, "a.usdc")];

#[test]
fn a_written_character_reads_back_equal() {
    for name in crate::io::builtin::NAMES {
        let character = builtin(name);
        for (format, file) in FORMATS {
            let read = read_back(&usd_bytes(&character, format).unwrap(), file);
            assert_same(&character, &read, &format!("{name} {file}"));
        }
    }
}

fn assert_same(character: &Character, read: &Character, what: &str) {
    assert_eq!(
        read.declared_metres_per_unit,
        Some(character.export_metres_per_unit())
    );
    let (joints, same) = (character.skeleton.joints(), read.skeleton.joints());
    assert_eq!(joints.len(), same.len(), "{what}");
    for (joint, same) in joints.iter().zip(same) {
        assert_eq!(
            (&joint.name, joint.parent),
            (&same.name, same.parent),
            "{what}"
        );
        assert!(
            furthest(&joint.world_from_bind, &same.world_from_bind) < 1e-12,
            "{what}"
        );
    }
    let (rest, same) = (character.skeleton.rest_pose(), read.skeleton.rest_pose());
    let (rest, same) = (
        character.skeleton.world_from_joint(&rest),
        read.skeleton.world_from_joint(&same),
    );
    assert!(
        rest.iter().zip(&same).all(|(a, b)| furthest(a, b) < 1e-9),
        "{what}"
    );
    assert_eq!(character.clips.len(), read.clips.len(), "{what}");
    for (clip, same) in character.clips.iter().zip(&read.clips) {
        assert_eq!(clip.name, same.name, "{what}");
        assert!(
            (clip.duration_secs - same.duration_secs).abs() < 1e-9,
            "{what}"
        );
        for part in 0..=20 {
            let time = clip.duration_secs * f64::from(part) / 20.0;
            let poses = [(clip, character), (same, read)].map(|(clip, character)| {
                let pose = clip.sample(&character.skeleton, time);
                character.skeleton.world_from_joint(&pose)
            });
            // Rotations and translations of samples are floats.
            let error = poses[0].iter().zip(&poses[1]).map(|(a, b)| furthest(a, b));
            let worst = error.fold(0.0, f64::max);
            assert!(
                worst < 2e-5,
                "{what}, clip {} at {time} s: {worst}",
                clip.name
            );
        }
    }
    assert_eq!(character.meshes.len(), read.meshes.len(), "{what}");
    for (mesh, same) in character.meshes.iter().zip(&read.meshes) {
        assert_same_mesh(mesh, same, what);
    }
    assert_eq!(
        character.bind_positions().len(),
        read.bind_positions().len()
    );
    let far = |(a, b): (&Point, &Point)| (a - b).norm();
    let (all, same) = (character.bind_positions(), read.bind_positions());
    assert!(
        all.iter().zip(&same).map(far).fold(0.0, f32::max) < 1e-5,
        "{what}"
    );
}

fn assert_same_mesh(mesh: &SourceMesh, same: &SourceMesh, what: &str) {
    assert_eq!(mesh.name, same.name, "{what}");
    let count = mesh.file_vertices();
    assert_eq!(
        mesh.positions[..count],
        same.positions[..same.file_vertices()],
        "{what}"
    );
    assert_eq!(mesh.triangles.len(), same.triangles.len(), "{what}");
    let corners = |mesh: &SourceMesh| {
        let corners = mesh.triangles.iter().flatten();
        corners
            .map(|&v| mesh.file_vertex(v as usize))
            .collect::<Vec<_>>()
    };
    assert_eq!(corners(mesh), corners(same), "{what}");
    if let (Some(uv), Some(same_uv)) = (&mesh.tex_coords, &same.tex_coords) {
        let at = |mesh: &SourceMesh, uv: &[[f32; 2]]| {
            let corners = mesh.triangles.iter().flatten();
            corners.flat_map(|&v| uv[v as usize]).collect::<Vec<_>>()
        };
        let pairs = at(mesh, uv).into_iter().zip(at(same, same_uv));
        // v is stored as 1 − v.
        assert!(
            pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max) < 1e-6,
            "{what}"
        );
    } else {
        assert_eq!(
            mesh.tex_coords.is_some(),
            same.tex_coords.is_some(),
            "{what}"
        );
    }
    match (&mesh.attachment, &same.attachment) {
        (Attachment::Skinned { weights, .. }, Attachment::Skinned { weights: same, .. }) => {
            for vertex in 0..count {
                let sorted = |list: Vec<(u32, f32)>| {
                    let mut list = list;
                    list.sort_by_key(|(joint, _)| *joint);
                    list
                };
                let (a, b) = (sorted(weights.row(vertex)), sorted(same.row(vertex)));
                assert_eq!(a.len(), b.len(), "{what}");
                // Weights are normalised again.
                assert!(
                    a.iter()
                        .zip(&b)
                        .all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < 1e-6),
                    "{what}"
                );
            }
        }
        (Attachment::Rigid { joint, .. }, Attachment::Rigid { joint: same, .. }) => {
            assert_eq!(joint, same, "{what}");
        }
        // Without a skeleton nothing says that a mesh belongs to one.
        (Attachment::Static { .. } | Attachment::Unweighted, Attachment::Static { .. })
        | (Attachment::Unweighted, Attachment::Unweighted) => {}
        other => panic!("{what}: {other:?}"),
    }
}

/// Two squares that share an edge, with a seam there, and two materials.
const SEAM: &str = "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 0 0\nv 2 1 0\nvt 0 0\nvt 0.5 0\nvt 0.5 1\nvt 0 1\nvt 0.6 0\n\
    vt 1 0\nvt 1 1\nvt 0.6 1\nf 1/1 2/2 3/3 4/4\nf 2/5 5/6 6/7 3/8\n";

#[test]
fn polygons_and_seams_read_back() {
    let character = load_from_memory(&[("seam.obj", SEAM.as_bytes())], &Progress::new()).unwrap();
    let mesh = &character.meshes[0];
    assert_eq!((mesh.file_vertices(), mesh.faces.copies.len()), (6, 2));
    for (format, file) in FORMATS {
        let read = read_back(&usd_bytes(&character, format).unwrap(), file);
        assert_same_mesh(mesh, &read.meshes[0], file);
        let polygons = read.meshes[0].faces.polygons.as_ref().unwrap();
        assert_eq!(polygons.len(), 2);
        assert_eq!(polygons.ring(0).len(), 4);
        assert_eq!(read.meshes[0].faces.copies.len(), 2);
    }
}

#[test]
fn frames_are_time_samples() {
    let character = load_from_memory(&[("seam.obj", SEAM.as_bytes())], &Progress::new()).unwrap();
    let folder = crate::test_folder::TestFolder::new("usd frames");
    let rest = character.bind_positions();
    let normals = vec![Vec3::z(); rest.len()];
    for (format, file) in FORMATS {
        let path = folder.0.join(file);
        let mut frames = UsdFrames::create(&path, format, &character).unwrap();
        for frame in 0..3 {
            let moved = |p: &Point| p + Vec3::new(0.0, 0.0, frame as f32 / 3.0);
            let positions: Vec<Point> = rest.iter().map(moved).collect();
            frames
                .frame(f64::from(frame), &character, &positions, &normals)
                .unwrap();
        }
        assert_eq!(
            frames.finish(&character, 25.0).unwrap(),
            std::slice::from_ref(&path)
        );
        let bytes = std::fs::read(&path).unwrap();
        let layer = match format {
            UsdFormat::Text => text::read(&bytes),
            UsdFormat::Binary => binary::read(&bytes),
        };
        let layer = layer.unwrap();
        let number = |key: &str| layer.meta(key).unwrap().numbers()[0];
        assert_eq!([number("startTimeCode"), number("endTimeCode")], [0.0, 2.0]);
        assert_eq!(number("timeCodesPerSecond"), 25.0);
        let mesh = layer.roots[0]
            .children
            .iter()
            .find(|prim| prim.kind == "Mesh")
            .unwrap();
        // Of point caches the first frame is read.
        let points: Vec<f64> = rest[..6]
            .iter()
            .flat_map(|p| [p.x, p.y, p.z])
            .map(f64::from)
            .collect();
        assert_eq!(mesh.numbers("points"), points);
        assert_eq!(mesh.numbers("extent"), [0.0, 0.0, 0.0, 2.0, 1.0, 0.0]);
        assert_eq!(mesh.numbers("faceVertexCounts"), [4.0, 4.0]);
        // Nothing is left beside it.
        assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1);
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_skeleton_in_another_place_with_z_up_stands_upright() {
    // Bones along +Z; the skeleton is moved, and the bind pose is in its space.
    let text = r#"#usda 1.0
( "a comment"
  upAxis = "Z"
  metersPerUnit = 0.01
  customData = { string tool = "x"; dictionary d = { int a = 1 } }
)
def SkelRoot "root" ( prepend apiSchemas = ["SkelBindingAPI"] )
{
    def Skeleton "skel"
    {
        uniform token[] joints = ["a", "a/b"]
        uniform matrix4d[] bindTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,50,1))]
        uniform matrix4d[] restTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,50,1))]
        double3 xformOp:translate = (7, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        rel skel:animationSource = </root/anim>
    }
    def SkelAnimation "anim"
    {
        uniform token[] joints = ["a/b"]
        quatf[] rotations.timeSamples = { 24: [(1, 0, 0, 0)], 48: [(0.5, 0.5, 0.5, 0.5)], }
    }
    def Mesh "m" ( prepend apiSchemas = ["SkelBindingAPI"] )
    {
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points = [(0, 0, 0), (10, 0, 100), (-10, 0, 100)]
        int[] primvars:skel:jointIndices = [0, 1, 1] ( elementSize = 1 interpolation = "vertex" )
        float[] primvars:skel:jointWeights = [1, 1, 1] ( elementSize = 1
            interpolation = "vertex" )
        rel skel:skeleton = </root/skel>
    }
}
"#;
    let read = read_back(text.as_bytes(), "z.usda");
    assert_eq!(read.skeleton.joints()[1].name, "b");
    let at = read.skeleton.bind_position(1);
    assert!(
        (at - crate::math::Point64::new(7.0, 50.0, 0.0)).norm() < 1e-9,
        "{at}"
    );
    let placed = read.bind_positions();
    assert!(
        (placed[1] - Point::new(17.0, 100.0, 0.0)).norm() < 1e-5,
        "{placed:?}"
    );
    assert_eq!(read.clips[0].duration_secs, 1.0);
    let pose = read.clips[0].sample(&read.skeleton, 1.0);
    let world = read.skeleton.world_from_joint(&pose);
    let moved = read.meshes[0].positions_at(&world);
    // (0.5, 0.5, 0.5, 0.5) takes x to y to z to x: (10, 0, 50) from the joint to (50, 10, 0), in the file's axes.
    assert!(
        (moved[1] - Point::new(57.0, 50.0, -10.0)).norm() < 1e-4,
        "{moved:?}"
    );
}

#[test]
fn what_is_not_read_gives_one_sentence_with_the_line() {
    let composed = "#usda 1.0\ndef Xform \"a\" (\n  prepend references = @b.usda@</b>\n)\n{\n}\n";
    let cases = [
        (composed, "line 3: prim \"a\" is composed"),
        (
            "#usda 1.0\n( subLayers = [@a.usda@] )",
            "the file is composed",
        ),
        (
            "#usda 1.0\ndef Mesh \"m\"\n{\n  int[] x = [1, 2\n}\n",
            "line 5: expected \",\" or \"]\"",
        ),
        (
            "#usda 1.0\ndef \"m\" { float a = \"x }",
            "line 2: expected the end of",
        ),
        ("#usda 1.0\ndef \"m\" {", "found the end of the file"),
        ("#usda 1.0\nfoo", "expected a prim"),
        ("PXR-USDC", "header"),
        ("hello", "not a USD file"),
        ("PK\x03\x04", "archive is damaged"),
    ];
    for (text, part) in cases {
        let problem = read(text.as_bytes(), None, &Progress::new()).map(|_| ());
        let sentence = problem.unwrap_err().to_string();
        assert!(
            sentence.contains(part) && !sentence.contains('\n'),
            "{sentence}"
        );
    }
    let deep = format!("#usda 1.0\n{}", "def \"a\" {".repeat(10_000));
    assert!(text::read(deep.as_bytes()).is_err());
    let deep = format!("#usda 1.0\ndef \"a\" {{ int a = {}", "[".repeat(100_000));
    assert!(text::read(deep.as_bytes()).is_err());
}

#[test]
fn a_package_holds_layer_and_textures() {
    let character = builtin("cylinder");
    let layer = usd_bytes(&character, UsdFormat::Binary).unwrap();
    let archive = stored_zip(&[("a.usdc", &layer), ("t/x.png", b"pixels")]);
    let read_one = read_back(&archive, "a.usdz");
    assert_eq!(read_one.meshes[0].positions, character.meshes[0].positions);
    let package = Package::read(&archive).unwrap();
    assert_eq!(package.file("./t/x.png"), Some(&b"pixels"[..]));
    for length in 0..archive.len().min(300) {
        assert!(Package::read(&archive[..length]).is_err());
    }
}

/// A zip archive without compression.
fn stored_zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in files {
        let at = out.len() as u32;
        let mut sizes = [0; 4].to_vec();
        sizes.extend((bytes.len() as u32).to_le_bytes().repeat(2));
        sizes.extend((name.len() as u16).to_le_bytes());
        sizes.extend([0, 0]);
        out.extend(b"PK\x03\x04\x0a\0\0\0\0\0\0\0\0\0");
        out.extend(&sizes);
        out.extend(name.as_bytes());
        out.extend(*bytes);
        directory.extend(b"PK\x01\x02\x0a\0\x0a\0\0\0\0\0\0\0\0\0");
        directory.extend(&sizes);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let at = out.len() as u32;
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend((files.len() as u16).to_le_bytes().repeat(2));
    out.extend((directory.len() as u32).to_le_bytes());
    out.extend(at.to_le_bytes());
    out.extend([0, 0]);
    out
}

#[test]
fn textures_are_written_beside_the_file_and_read_back() {
    use crate::character::{Image, Material, NormalMap};
    let mut character = builtin("cylinder");
    let image = |red| std::sync::Arc::new(Image::new(2, 1, vec![red, 0, 9, 255, 0, 128, 64, 255]));
    character.materials = vec![Material {
        name: "Skin tone".to_owned(),
        base_color: [0.5, 1.0, 0.25, 1.0],
        base_color_image: Some(image(200)),
        double_sided: true,
        alpha_cutoff: Some(0.5),
        normal_map: Some(NormalMap {
            image: image(127),
            scale: 0.75,
        }),
    }];
    character.meshes[0].tex_coords = Some(vec![[0.25, 0.75]; character.meshes[0].positions.len()]);
    character.meshes[0].material = Some(0);
    let folder = crate::test_folder::TestFolder::new("usd textures");
    for (format, file) in FORMATS {
        let path = folder.0.join(file);
        let written = write_refitted_usd(&path, format, &character, &[], 64, &[]);
        assert_eq!(written.unwrap().0.len(), 3);
        let read = load(&[path], &Progress::new()).unwrap();
        let [material] = &read.materials[..] else {
            panic!("{:?}", read.materials)
        };
        let expected = &character.materials[0];
        assert_eq!(material.name, expected.name);
        assert_eq!(material.base_color, expected.base_color);
        assert_eq!(material.alpha_cutoff, expected.alpha_cutoff);
        assert!(material.double_sided);
        let pixels = |material: &Material| {
            let normals = material.normal_map.clone().unwrap();
            let color = material.base_color_image.clone().unwrap();
            (
                color.rgba.clone(),
                normals.image.rgba.clone(),
                normals.scale,
            )
        };
        assert_eq!(pixels(material), pixels(expected));
    }
}
