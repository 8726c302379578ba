//! Frames as arrays of `NumPy` (`.npz`): a zip archive of `.npy` files, version 1.0 of the format, little endian.
//!
//! | array              | shape         | type  | what                                                                |
//! |--------------------|---------------|-------|---------------------------------------------------------------------|
//! | `positions`        | F × V × 3     | `f4`  | of the file's vertices, in its order, units and world              |
//! | `normals`          | F × V × 3     | `f4`  | unit vectors                                                        |
//! | `times`            | F             | `f8`  | seconds                                                             |
//! | `world_from_joint` | F × J × 4 × 4 | `f8`  | affine transforms that act on columns                               |
//! | `faces`            | T × 3         | `u4`  | vertices                                                            |
//! | `rest`             | V × 3         | `f4`  | positions in the bind pose                                          |
//! | `weights`          | V × J         | `f4`  | rows sum to 1, or to 0 where no joint moves a vertex                |
//! | `joints`           | J             | `U`   | names                                                               |
//! | `parents`          | J             | `i4`  | −1 for roots                                                        |
//! | `metres_per_unit`  | scalar        | `f8`  |                                                                     |
//!
//! Arrays of all frames are spooled to temporary files beside the target, so that memory holds one frame.

use std::io::{Read, Seek, Write};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::error::IoError;
use super::write::AtomicFile;
use crate::character::{Attachment, Character};
use crate::math::{Affine, Point, Vec3};
use crate::weights::SkinWeights;

/// A `.npz` file, frame by frame.
#[derive(Debug)]
pub struct NpzFrames {
    positions: AtomicFile,
    normals: AtomicFile,
    transforms: AtomicFile,
    times_secs: Vec<f64>,
}

impl NpzFrames {
    /// Starts a file.
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub fn create(path: &Path) -> Result<Self, IoError> {
        Ok(Self {
            positions: AtomicFile::create(path)?,
            normals: AtomicFile::create(path)?,
            transforms: AtomicFile::create(path)?,
            times_secs: Vec::new(),
        })
    }

    /// Appends a frame: values at the file's vertices, and the transforms of all joints.
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub fn frame(
        &mut self,
        time_secs: f64,
        positions: &[Point],
        normals: &[Vec3],
        world_from_joint: &[Affine],
    ) -> Result<(), IoError> {
        self.times_secs.push(time_secs);
        let points = positions.iter().map(|point| &point.coords);
        self.positions.write(|out| write_vectors(out, points))?;
        self.normals.write(|out| write_vectors(out, normals))?;
        self.transforms.write(|out| {
            let mut numbers = world_from_joint.iter().flat_map(|transform| {
                let matrix = transform.matrix();
                (0..4).flat_map(move |row| (0..4).map(move |column| matrix[(row, column)]))
            });
            numbers.try_for_each(|number| out.write_all(&number.to_le_bytes()))
        })
    }

    /// Completes the file for a character; `weights` are those of its meshes, where they have any.
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub fn finish(
        mut self,
        path: &Path,
        character: &Character,
        weights: &[Option<SkinWeights>],
    ) -> Result<(), IoError> {
        let mut target = AtomicFile::create(path)?;
        let [positions, normals, transforms] = [
            self.positions.rewound()?,
            self.normals.rewound()?,
            self.transforms.rewound()?,
        ];
        let times_secs = &self.times_secs;
        target.write(|out| {
            let mut archive = Archive(ZipWriter::new(out));
            let (frames, vertices) = (times_secs.len(), character.file_vertices());
            let joints = character.skeleton.joints();
            archive.spooled("positions", "<f4", &[frames, vertices, 3], positions)?;
            archive.spooled("normals", "<f4", &[frames, vertices, 3], normals)?;
            archive.spooled(
                "world_from_joint",
                "<f8",
                &[frames, joints.len(), 4, 4],
                transforms,
            )?;
            let bytes = times_secs.iter().flat_map(|time| time.to_le_bytes());
            archive.array("times", "<f8", &[frames], &bytes.collect::<Vec<u8>>())?;
            archive.character(character, weights)?;
            archive
                .0
                .finish()
                .map(|_| ())
                .map_err(std::io::Error::other)
        })?;
        target.commit()
    }
}

fn write_vectors<'a>(
    out: &mut impl Write,
    vectors: impl IntoIterator<Item = &'a Vec3>,
) -> std::io::Result<()> {
    vectors
        .into_iter()
        .flatten()
        .try_for_each(|number| out.write_all(&number.to_le_bytes()))
}

struct Archive<W: Write + Seek>(ZipWriter<W>);

impl<W: Write + Seek> Archive<W> {
    fn start(&mut self, name: &str, kind: &str, shape: &[usize]) -> std::io::Result<()> {
        // Not compressed, so that NumPy can map it. The date is the same in every file.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(zip::DateTime::default())
            .large_file(true);
        (self.0.start_file(format!("{name}.npy"), options)).map_err(std::io::Error::other)?;
        self.0.write_all(&header(kind, shape))
    }

    fn array(
        &mut self,
        name: &str,
        kind: &str,
        shape: &[usize],
        bytes: &[u8],
    ) -> std::io::Result<()> {
        self.start(name, kind, shape)?;
        self.0.write_all(bytes)
    }

    fn spooled(
        &mut self,
        name: &str,
        kind: &str,
        shape: &[usize],
        bytes: &mut impl Read,
    ) -> std::io::Result<()> {
        self.start(name, kind, shape)?;
        std::io::copy(bytes, &mut self.0).map(|_| ())
    }

    fn character(
        &mut self,
        character: &Character,
        weights: &[Option<SkinWeights>],
    ) -> std::io::Result<()> {
        let (vertices, joints) = (character.file_vertices(), character.skeleton.joints());
        let mut faces = Vec::with_capacity(character.source_triangles() * 12);
        let mut first = 0;
        for mesh in &character.meshes {
            let corner = |v: &u32| (first + mesh.file_vertex(*v as usize)) as u32;
            let corners = mesh.triangles.iter().flatten().map(corner);
            faces.extend(corners.flat_map(u32::to_le_bytes));
            first += mesh.file_vertices();
        }
        self.array("faces", "<u4", &[character.source_triangles(), 3], &faces)?;
        self.start("rest", "<f4", &[vertices, 3])?;
        let rest = character.bind_positions();
        let rest = character.at_file_vertices(&rest);
        write_vectors(&mut self.0, rest.iter().map(|point| &point.coords))?;
        self.start("weights", "<f4", &[vertices, joints.len()])?;
        let mut row = vec![0.0_f32; joints.len()];
        for (index, mesh) in character.meshes.iter().enumerate() {
            let of_mesh = weights.get(index).and_then(Option::as_ref);
            for vertex in 0..mesh.file_vertices() {
                row.fill(0.0);
                match (of_mesh, &mesh.attachment) {
                    (Some(weights), _) | (None, Attachment::Skinned { weights, .. }) => weights
                        .of(vertex)
                        .for_each(|(joint, weight)| row[joint] = weight),
                    (None, Attachment::Rigid { joint, .. }) => row[*joint] = 1.0,
                    (None, _) => {}
                }
                self.0.write_all(bytemuck::cast_slice(&row))?;
            }
        }
        let names: Vec<Vec<char>> = (joints.iter())
            .map(|joint| joint.name.chars().collect())
            .collect();
        let longest = names.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let padded = names.iter().flat_map(|name| {
            let codes = name.iter().map(|&c| u32::from(c));
            codes.chain(std::iter::repeat(0)).take(longest)
        });
        let bytes: Vec<u8> = padded.flat_map(u32::to_le_bytes).collect();
        self.array("joints", &format!("<U{longest}"), &[joints.len()], &bytes)?;
        let parent = |joint: &crate::rig::Joint| {
            (joint.parent).map_or(-1, |parent| i32::try_from(parent).unwrap_or(i32::MAX))
        };
        let parents = joints.iter().map(parent).flat_map(i32::to_le_bytes);
        self.array(
            "parents",
            "<i4",
            &[joints.len()],
            &parents.collect::<Vec<u8>>(),
        )?;
        let metres = character.metres_per_unit.to_le_bytes();
        self.array("metres_per_unit", "<f8", &[], &metres)
    }
}

/// The head of an `.npy` file: its length with everything before it is a multiple of 64.
fn header(kind: &str, shape: &[usize]) -> Vec<u8> {
    let mut sizes = String::new();
    for size in shape {
        sizes.push_str(&size.to_string());
        sizes.push(',');
    }
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({sizes}), }}");
    let padded = (10 + text.len() + 1).next_multiple_of(64) - 11;
    text.extend(std::iter::repeat_n(' ', padded - text.len()));
    text.push('\n');
    let mut head = b"\x93NUMPY\x01\x00".to_vec();
    head.extend((text.len() as u16).to_le_bytes());
    head.extend(text.bytes());
    head
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::load;
    use crate::progress::Progress;
    use crate::test_folder::TestFolder;

    #[test]
    fn heads_are_aligned() {
        for shape in [&[][..], &[3], &[10, 200, 3], &[usize::MAX; 5]] {
            let head = header("<f4", shape);
            assert_eq!(head.len() % 64, 0);
            let length = u16::from_le_bytes([head[8], head[9]]) as usize;
            assert_eq!(length + 10, head.len());
            assert_eq!(head.last(), Some(&b'\n'));
        }
        let head = String::from_utf8_lossy(&header("<u4", &[7])).into_owned();
        assert!(head.contains("'shape': (7,)"), "{head}");
    }

    #[test]
    fn arrays_have_the_values() {
        let character = load(&["builtin:arm".into()], &Progress::new()).unwrap();
        let folder = TestFolder::new("npz");
        let path = folder.file("a.npz");
        let rest = character.bind_positions();
        let world = character.skeleton.bind_transforms();
        let normals = vec![Vec3::y(); rest.len()];
        let mut frames = NpzFrames::create(&path).unwrap();
        for time in [0.0, 0.5] {
            frames.frame(time, &rest, &normals, &world).unwrap();
        }
        frames.finish(&path, &character, &[]).unwrap();
        assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1);
        let file = std::fs::File::open(&path).unwrap();
        let mut archive = zip::ZipArchive::new(file).unwrap();
        let mut read = |name: &str| {
            let mut bytes = Vec::new();
            let mut entry = archive.by_name(&format!("{name}.npy")).unwrap();
            entry.read_to_end(&mut bytes).unwrap();
            let head = u16::from_le_bytes([bytes[8], bytes[9]]) as usize + 10;
            bytes.split_off(head)
        };
        let floats = |bytes: &[u8]| -> Vec<f32> {
            (bytes.chunks_exact(4))
                .map(|word| f32::from_le_bytes(word.try_into().unwrap()))
                .collect()
        };
        let flat: Vec<f32> = rest.iter().flat_map(|p| [p.x, p.y, p.z]).collect();
        assert_eq!(
            floats(&read("positions")),
            [flat.clone(), flat.clone()].concat()
        );
        assert_eq!(floats(&read("rest")), flat);
        let weights = floats(&read("weights"));
        let joints = character.skeleton.len();
        assert_eq!(weights.len(), rest.len() * joints);
        for row in weights.chunks_exact(joints) {
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        }
        assert_eq!(read("world_from_joint").len(), 2 * joints * 16 * 8);
        assert_eq!(read("faces").len(), character.source_triangles() * 12);
        assert_eq!(read("times"), [0.0_f64, 0.5].map(f64::to_le_bytes).concat());
        let names = read("joints");
        let first = u32::from_le_bytes(names[..4].try_into().unwrap());
        let expected = character.skeleton.joints()[0].name.chars().next();
        assert_eq!(char::from_u32(first), expected);
    }
}
