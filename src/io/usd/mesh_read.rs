//! `Mesh` prims → source meshes with weights and materials.

use super::influences_read::{Influences, index_of};
use super::layer::{Prim, Property};
use super::look_read::Looks;
use super::scene::{Scene, affine_of};
use super::shapes_read::UsdShapes;
use super::skeleton_read::UsdJoints;
use crate::character::{Attachment, Character, Polygons, Severity, SourceFaces, SourceMesh};
use crate::io::by_material::TrianglesByMaterial;
use crate::io::corners::{SplitVertices, split};
use crate::io::error::{Parsed, bad};
use crate::io::gltf::give_to_nearest_bone;
use crate::io::polygon::Triangulator;
use crate::math::{Affine, Point, Vec3, linear_part};
use crate::weights::SkinWeights;

/// Maximum number of vertices of a character.
const MOST_VERTICES: usize = 20_000_000;

/// Counts of omitted and repaired items over all meshes.
#[derive(Default)]
struct MeshRepairs {
    hidden: usize,
    unreadable_shapes: usize,
    dual_quaternions: usize,
    empty: usize,
    polygons: Triangulator,
}

/// Reads all meshes that are drawn, or all if none is, and their morphs.
pub(super) fn read(
    scene: &Scene<'_>,
    joints: &UsdJoints<'_>,
    looks: &Looks,
    character: &mut Character,
) -> Parsed<UsdShapes> {
    let holders: Vec<usize> = scene.of_kind("Mesh").collect();
    let any_drawn = holders.iter().any(|&prim| scene.is_drawn[prim]);
    let mut tally = MeshRepairs::default();
    let mut shapes = UsdShapes::default();
    let mut vertices = 0;
    for index in holders {
        if any_drawn && !scene.is_drawn[index] {
            tally.hidden += 1;
            continue;
        }
        let faces = UsdFaces::of(scene.prims[index])?;
        vertices += faces.points.len() + faces.corners.len();
        if vertices > MOST_VERTICES {
            return bad(format!(
                "the file has more than {MOST_VERTICES} vertices, the maximum for a character"
            ));
        }
        let mesh = read_mesh(scene, joints, looks, index, &faces, &mut tally);
        if let (Some(mesh), [1.0]) = (&mesh, scene.prims[index].numbers("doubleSided")) {
            for material in mesh.sections().filter_map(|(_, material)| material) {
                character.materials[material].double_sided = true;
            }
        }
        if let Some(mesh) = &mesh {
            shapes.add(scene, index, (character.meshes.len(), mesh))?;
        }
        character.meshes.extend(mesh);
    }
    tally.unreadable_shapes = shapes.unreadable;
    tally.note(character);
    Ok(shapes)
}

/// The topology of a mesh.
struct UsdFaces {
    points: Vec<Point>,
    counts: Vec<usize>,
    corners: Vec<u32>,
}

impl UsdFaces {
    fn of(prim: &Prim) -> Parsed<Self> {
        let name = &prim.name;
        let numbers = prim.numbers("points");
        let point = |p: &[f64]| Point::new(p[0] as f32, p[1] as f32, p[2] as f32);
        let points: Vec<Point> = numbers.chunks_exact(3).map(point).collect();
        let whole = |list: &[f64]| list.iter().map(|&n| n as usize).collect::<Vec<_>>();
        let counts = whole(prim.numbers("faceVertexCounts"));
        let corners = prim.numbers("faceVertexIndices");
        let sum = (counts.iter()).try_fold(0_usize, |sum, &count| sum.checked_add(count));
        if sum != Some(corners.len()) {
            return bad(format!(
                "mesh \"{name}\" has {} corners, but its faces need {}",
                corners.len(),
                sum.unwrap_or(usize::MAX)
            ));
        }
        let is_vertex = |&&v: &&f64| v >= 0.0 && v < points.len() as f64;
        if let Some(beyond) = corners.iter().find(|v| !is_vertex(v)) {
            return bad(format!(
                "mesh \"{name}\" refers to vertex {beyond}, and it has {}",
                points.len()
            ));
        }
        Ok(Self {
            corners: corners.iter().map(|&v| v as u32).collect(),
            points,
            counts,
        })
    }

    /// Ranges of corners of the faces.
    fn faces(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.counts.iter().scan(0, |end, count| {
            let start = *end;
            *end += count;
            Some(start..*end)
        })
    }

    /// Values of all corners from a primvar; `None` if it does not fit.
    fn at_corners<const N: usize>(
        &self,
        prim: &Prim,
        property: &Property,
    ) -> Option<Vec<[f64; N]>> {
        let numbers = property.first()?.numbers();
        let elements: Vec<[f64; N]> = (numbers.chunks_exact(N))
            .filter_map(|element| element.try_into().ok())
            .collect();
        let indices = prim.numbers(&format!("{}:indices", property.name));
        let values: Vec<[f64; N]> = if indices.is_empty() {
            elements
        } else {
            let value = |&i: &f64| elements.get(index_of(i)?).copied();
            indices.iter().map(value).collect::<Option<_>>()?
        };
        let by_vertex = || (self.corners.iter()).map(|&v| values[v as usize]).collect();
        let by_face = || {
            let faces = self.counts.iter().zip(&values);
            faces
                .flat_map(|(&count, &value)| std::iter::repeat_n(value, count))
                .collect()
        };
        let fits = |count: usize| values.len() == count;
        match property.interpolation() {
            "vertex" | "varying" if fits(self.points.len()) => Some(by_vertex()),
            "uniform" if fits(self.counts.len()) => Some(by_face()),
            "constant" if fits(1) => Some(vec![values[0]; self.corners.len()]),
            _ if fits(self.corners.len()) => Some(values),
            _ if fits(self.points.len()) => Some(by_vertex()),
            _ => None,
        }
    }
}

fn read_mesh(
    scene: &Scene<'_>,
    joints: &UsdJoints<'_>,
    looks: &Looks,
    index: usize,
    faces: &UsdFaces,
    tally: &mut MeshRepairs,
) -> Option<SourceMesh> {
    let prim = scene.prims[index];
    let split = split_vertices(prim, faces);
    let all = faces.points.len() + split.copies.len();
    let file_vertex = |vertex: usize| {
        let copy = vertex.checked_sub(faces.points.len());
        copy.map_or(vertex, |copy| split.copies[copy] as usize)
    };
    let positions: Vec<Point> = (0..all).map(|v| faces.points[file_vertex(v)]).collect();
    let attachment = attachment(scene, joints, index, (&positions, &file_vertex), tally);
    let placed = match &attachment {
        Attachment::Skinned {
            weights,
            joint_from_mesh,
        } => {
            let joint = weights.joints.first().map_or(0, |&joint| joint as usize);
            joints.skeleton.joints()[joint].world_from_bind * joint_from_mesh[joint]
        }
        _ => scene.world[index],
    };
    let is_mirrored = linear_part(&placed).determinant() < 0.0;
    let is_left = prim.texts("orientation") == ["leftHanded"];
    let materials = material_of_faces(scene, looks, index, faces.counts.len());
    let mut by_material = TrianglesByMaterial::new();
    let mut polygons = Polygons::default();
    let mut is_hole = vec![false; faces.counts.len()];
    for &hole in prim.numbers("holeIndices") {
        if let Some(is_hole) = index_of(hole).and_then(|hole| is_hole.get_mut(hole)) {
            *is_hole = true;
        }
    }
    let title = prim.title();
    for (face, range) in faces.faces().enumerate() {
        let mut ring = split.of_corner[range].to_vec();
        if ring.len() < 3 || is_hole[face] {
            continue;
        }
        if is_mirrored != is_left {
            ring.reverse();
        }
        let material = materials[face];
        polygons.name(&title, "", looks.name(material));
        polygons.push(ring.iter().copied());
        tally
            .polygons
            .add(&ring, &positions, by_material.of(material));
    }
    let grouped = by_material.finish(|material| *material);
    if grouped.triangles.is_empty() {
        return None;
    }
    let is_triangles = polygons.len() == grouped.triangles.len() && grouped.sections.is_empty();
    Some(SourceMesh {
        name: title,
        positions,
        triangles: grouped.triangles,
        normals: split.normals,
        tex_coords: split.tex_coords,
        material: grouped.material,
        faces: SourceFaces {
            copies: split.copies,
            sections: grouped.sections,
            polygons: (!is_triangles).then(|| polygons.into()),
        },
        attachment,
    })
}

/// Gives every combination of a point, a texture coordinate and a normal a vertex.
fn split_vertices(prim: &Prim, faces: &UsdFaces) -> SplitVertices {
    let is_uv = |p: &&Property| p.name.starts_with("primvars:") && p.kind.starts_with("texCoord2");
    let st = prim.property("primvars:st");
    let uv = st.or_else(|| prim.properties.iter().find(is_uv));
    // The image's lower edge is v = 0 in USD, and v = 1 here.
    let uv = uv.and_then(|property| {
        let values = faces.at_corners::<2>(prim, property)?;
        let flipped = values.iter().map(|&[u, v]| [u as f32, 1.0 - v as f32]);
        let flipped: Vec<[f32; 2]> = flipped.collect();
        flipped
            .iter()
            .flatten()
            .all(|c| c.is_finite())
            .then_some(flipped)
    });
    let named = prim.property("primvars:normals");
    let normals = named.or_else(|| prim.property("normals"));
    let normals = normals.and_then(|property| {
        let values = faces.at_corners::<3>(prim, property)?;
        let unit = |&[x, y, z]: &[f64; 3]| {
            let normal = Vec3::new(x as f32, y as f32, z as f32);
            // A unit vector stays as it is.
            if (normal.norm() - 1.0).abs() < 1e-5 {
                return Some(normal);
            }
            let unit = normal.try_normalize(1e-6)?;
            unit.iter().all(|c| c.is_finite()).then_some(unit)
        };
        values.iter().map(unit).collect::<Option<Vec<_>>>()
    });
    split(
        faces.points.len(),
        &faces.corners,
        uv.as_deref(),
        normals.as_deref(),
    )
}

/// The material of every face: of the subset that has it, or of the mesh.
fn material_of_faces(
    scene: &Scene<'_>,
    looks: &Looks,
    index: usize,
    faces: usize,
) -> Vec<Option<usize>> {
    let mut materials = vec![looks.inherited(scene, index); faces];
    // Those below follow it, and have a parent that is not before it.
    let below = (index + 1..scene.prims.len()).take_while(|&i| scene.parent[i] >= Some(index));
    for child in below.filter(|&i| scene.parent[i] == Some(index)) {
        let subset = scene.prims[child];
        let bound = looks.bound(scene, child);
        if subset.kind != "GeomSubset" || bound.is_none() {
            continue;
        }
        for &face in subset.numbers("indices") {
            if let Some(material) = index_of(face).and_then(|face| materials.get_mut(face)) {
                *material = bound;
            }
        }
    }
    materials
}

fn attachment(
    scene: &Scene<'_>,
    joints: &UsdJoints<'_>,
    index: usize,
    vertices: (&[Point], &dyn Fn(usize) -> usize),
    tally: &mut MeshRepairs,
) -> Attachment {
    let prim = scene.prims[index];
    let fallback = Attachment::Static {
        world_from_mesh: scene.world[index],
    };
    let Some(influences) = Influences::of(scene, joints, index) else {
        return fallback;
    };
    let method = prim.texts("primvars:skel:skinningMethod");
    tally.dual_quaternions += usize::from(method == ["DualQuaternion"]);
    let geometry = affine_of(prim.numbers("primvars:skel:geomBindTransform"));
    let geometry = geometry.unwrap_or_else(Affine::identity);
    let source = influences.source;
    let from_mesh = |from_bind: &Affine| from_bind * geometry;
    if let Some(joint) = influences.only_joint() {
        return Attachment::Rigid {
            joint,
            joint_from_mesh: from_mesh(&source.joint_from_bind[joint]),
        };
    }
    let (positions, file_vertex) = vertices;
    let row = |vertex: usize| influences.row(file_vertex(vertex));
    let (weights, empty) = SkinWeights::from_rows((0..positions.len()).map(row));
    let of_file = |&&vertex: &&usize| file_vertex(vertex) == vertex;
    tally.empty += empty.iter().filter(of_file).count();
    let mut joint_from_mesh = vec![Affine::identity(); joints.skeleton.len()];
    for &joint in &source.joints {
        joint_from_mesh[joint] = from_mesh(&source.joint_from_bind[joint]);
    }
    let placed: Vec<Point> = if empty.is_empty() {
        Vec::new()
    } else {
        let world = source.world * geometry;
        let place = |p: &Point| crate::math::transform_point(&world, p);
        positions.iter().map(place).collect()
    };
    let weights = give_to_nearest_bone(weights, &empty, &placed, &joints.skeleton);
    Attachment::Skinned {
        weights,
        joint_from_mesh,
    }
}

impl MeshRepairs {
    fn note(&self, character: &mut Character) {
        let mut note = |severity, count: usize, text: &str| {
            if count > 0 {
                character.note(severity, count, format!("{text}: {count}"));
            }
        };
        note(
            Severity::Info,
            self.hidden,
            "meshes omitted because they are not drawn",
        );
        note(
            Severity::Mended,
            self.unreadable_shapes,
            "blend shapes omitted because they are missing or do not fit their mesh",
        );
        note(
            Severity::Info,
            self.dual_quaternions,
            "meshes that the file skins by dual quaternions, as --method dqs does",
        );
        note(
            Severity::Mended,
            self.empty,
            "vertices without a usable skin weight, bound to the nearest bone",
        );
    }
}
