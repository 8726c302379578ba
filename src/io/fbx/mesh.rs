//! Mesh nodes → source meshes, materials.

use std::path::Path;
use std::sync::Arc;

use super::skeleton::FbxJoints;
use super::{FbxNodes, affine_of, number, usable};
use crate::character::{Attachment, Character, Image, Material, Severity, SourceMesh};
use crate::io::error::{ParseProblem, Parsed, bad};
use crate::io::gltf::give_to_nearest_bone;
use crate::io::picture::PictureBudget;
use crate::io::polygon::Triangulator;
use crate::io::referenced::{abridged, read_referenced};
use crate::math::{Affine, Point, Vec3, linear_part};
use crate::weights::SkinWeights;

/// Maximum number of vertices of a character.
const MOST_VERTICES: usize = 20_000_000;

/// Counts of omitted and repaired items over all meshes.
#[derive(Default)]
struct MeshRepairs {
    hidden: usize,
    shapes: usize,
    materials: usize,
    seams: usize,
    skins: usize,
    empty: usize,
    polygons: Triangulator,
}

/// Reads all visible meshes (or all meshes, if none is visible), nodes depth-first.
pub(super) fn read(
    scene: &ufbx::Scene,
    tree: &FbxNodes,
    rig: &FbxJoints,
    folder: Option<&Path>,
    character: &mut Character,
) -> Parsed<()> {
    character.materials = materials(scene, folder, character);
    let holders: Vec<usize> = tree
        .order
        .iter()
        .copied()
        .filter(|&n| scene.nodes[n].mesh.is_some())
        .collect();
    let any_visible = holders.iter().any(|&n| scene.nodes[n].visible);
    let mut tally = MeshRepairs::default();
    let mut vertices = 0;
    for node in holders {
        let Some(mesh) = scene.nodes[node].mesh.as_ref() else {
            continue;
        };
        if any_visible && !scene.nodes[node].visible {
            tally.hidden += 1;
            continue;
        }
        // A small mesh may be instanced by many nodes.
        vertices += mesh.num_vertices + mesh.num_indices;
        if vertices > MOST_VERTICES {
            return bad(format!(
                "the file has more than {MOST_VERTICES} vertices, the maximum for a character"
            ));
        }
        character
            .meshes
            .extend(read_mesh(scene, tree, rig, node, mesh, &mut tally)?);
    }
    tally.note(character);
    Ok(())
}

fn read_mesh(
    scene: &ufbx::Scene,
    tree: &FbxNodes,
    rig: &FbxJoints,
    node: usize,
    mesh: &ufbx::Mesh,
    tally: &mut MeshRepairs,
) -> Parsed<Option<SourceMesh>> {
    let positions: Vec<Point> = mesh
        .vertices
        .iter()
        .map(|v| Point::new(v.x as f32, v.y as f32, v.z as f32))
        .collect();
    let name = scene.nodes[node].element.name.to_string();
    let mut triangles = Vec::with_capacity(mesh.num_triangles.min(mesh.num_indices));
    for (i, face) in mesh.faces.iter().enumerate() {
        let (start, count) = (face.index_begin as usize, face.num_indices as usize);
        let ring = mesh
            .vertex_indices
            .get(start..start.saturating_add(count))
            .unwrap_or(&[]);
        if ring.iter().any(|&v| v as usize >= positions.len()) {
            return bad(format!(
                "face {i} of mesh \"{name}\" refers to a vertex beyond its {}",
                positions.len()
            ));
        }
        if !mesh.face_hole.get(i).copied().unwrap_or(false) {
            tally.polygons.add(ring, &positions, &mut triangles);
        }
    }
    if triangles.is_empty() {
        return Ok(None);
    }
    tally.shapes += usize::from(!mesh.blend_deformers.is_empty());
    let normals = at_vertices(mesh, &mesh.vertex_normal.indices, |i| {
        mesh.vertex_normal
            .values
            .get(i)
            .map(|n| Vec3::new(n.x as f32, n.y as f32, n.z as f32))
    });
    let unit = |n: &Vec3| {
        n.try_normalize(1e-6)
            .filter(|n| n.iter().all(|c| c.is_finite()))
    };
    let normals = normals.and_then(|normals| normals.iter().map(unit).collect());
    let tex_coords = at_vertices(mesh, &mesh.vertex_uv.indices, |i| {
        // FBX measures v from the bottom of the image, glTF and this crate from the top.
        mesh.vertex_uv
            .values
            .get(i)
            .map(|uv| [uv.x as f32, 1.0 - uv.y as f32])
            .filter(|uv| uv.iter().all(|c| c.is_finite()))
    });
    tally.seams += usize::from(mesh.vertex_uv.exists && tex_coords.is_none());
    let attachment = attachment(scene, tree, rig, node, mesh, &positions, tally);
    let placed = match &attachment {
        Attachment::Skinned {
            weights,
            joint_from_mesh,
        } => {
            let joint = weights.joints.first().map_or(0, |&joint| joint as usize);
            rig.skeleton.joints()[joint].world_from_bind * joint_from_mesh[joint]
        }
        _ => tree.world[node] * affine_of(&scene.nodes[node].geometry_to_node),
    };
    if linear_part(&placed).determinant() < 0.0 {
        for triangle in &mut triangles {
            triangle.swap(1, 2);
        }
    }
    let material = material_of(scene, node, mesh, tally);
    Ok(Some(SourceMesh {
        name,
        positions,
        triangles,
        normals,
        tex_coords,
        material,
        attachment,
    }))
}

/// A per-corner property as a per-vertex one, if all corners of each vertex agree.
fn at_vertices<T: PartialEq + Copy + Default>(
    mesh: &ufbx::Mesh,
    indices: &[u32],
    value: impl Fn(usize) -> Option<T>,
) -> Option<Vec<T>> {
    if indices.len() != mesh.vertex_indices.len() || indices.is_empty() {
        return None;
    }
    let mut found: Vec<Option<T>> = vec![None; mesh.num_vertices];
    for (&vertex, &index) in mesh.vertex_indices.iter().zip(indices) {
        let value = value(index as usize)?;
        let slot = found.get_mut(vertex as usize)?;
        if slot.is_some_and(|known| known != value) {
            return None;
        }
        *slot = Some(value);
    }
    Some(found.into_iter().map(Option::unwrap_or_default).collect())
}

fn attachment(
    scene: &ufbx::Scene,
    tree: &FbxNodes,
    rig: &FbxJoints,
    node: usize,
    mesh: &ufbx::Mesh,
    positions: &[Point],
    tally: &mut MeshRepairs,
) -> Attachment {
    tally.skins += mesh.skin_deformers.len().saturating_sub(1);
    if let Some(skin) = mesh
        .skin_deformers
        .iter()
        .find(|skin| !skin.clusters.is_empty())
    {
        return skinned(rig, skin, positions, tally);
    }
    let geometry = affine_of(&scene.nodes[node].geometry_to_node);
    let carrier = rig.joint_of_node[node].or(rig.above.joint[node]);
    match carrier {
        Some(joint) if rig.joint_of_node[node].is_some() => Attachment::Rigid {
            joint,
            joint_from_mesh: geometry,
        },
        Some(joint) => {
            let joint_from_node = rig.above.between[node] * tree.local[node].to_affine();
            Attachment::Rigid {
                joint,
                joint_from_mesh: joint_from_node * geometry,
            }
        }
        None => Attachment::Static {
            world_from_mesh: tree.world[node] * geometry,
        },
    }
}

fn skinned(
    rig: &FbxJoints,
    skin: &ufbx::SkinDeformer,
    positions: &[Point],
    tally: &mut MeshRepairs,
) -> Attachment {
    let mut joint_from_mesh = vec![Affine::identity(); rig.skeleton.len()];
    let joint_of_cluster: Vec<Option<usize>> = skin
        .clusters
        .iter()
        .map(|cluster| {
            let joint = rig.joint_of_node[number(&cluster.bone_node.as_ref()?.element)]?;
            let matrix = affine_of(&cluster.geometry_to_bone);
            // A singular matrix would collapse the flesh.
            usable(&matrix)
                .then(|| joint_from_mesh[joint] = matrix)
                .map(|()| joint)
        })
        .collect();
    let row = |vertex: usize| {
        let found = skin.vertices.get(vertex);
        let range = found.map_or(0..0, |v| {
            v.weight_begin as usize
                ..(v.weight_begin as usize).saturating_add(v.num_weights as usize)
        });
        let influence = |w: &ufbx::SkinWeight| {
            Some((
                *joint_of_cluster.get(w.cluster_index as usize)?.as_ref()? as u32,
                w.weight as f32,
            ))
        };
        skin.weights
            .get(range)
            .unwrap_or(&[])
            .iter()
            .filter_map(influence)
            .collect::<Vec<_>>()
    };
    let (weights, empty) = SkinWeights::from_rows((0..positions.len()).map(row));
    tally.empty += empty.len();
    let weights = give_to_nearest_bone(weights, &empty, positions, &rig.skeleton);
    Attachment::Skinned {
        weights,
        joint_from_mesh,
    }
}

/// The material of most faces.
fn material_of(
    scene: &ufbx::Scene,
    node: usize,
    mesh: &ufbx::Mesh,
    tally: &mut MeshRepairs,
) -> Option<usize> {
    let own = &scene.nodes[node].materials;
    let materials = if own.is_empty() { &mesh.materials } else { own };
    let mut faces = vec![0_usize; materials.len()];
    mesh.face_material.iter().for_each(|&m| {
        faces
            .iter_mut()
            .skip(m as usize)
            .take(1)
            .for_each(|count| *count += 1);
    });
    tally.materials += usize::from(faces.iter().filter(|&&count| count > 0).count() > 1);
    let most = (0..faces.len()).max_by_key(|&m| (faces[m], std::cmp::Reverse(m)))?;
    Some(number(&materials[most].element)).filter(|&m| m < scene.materials.len())
}

fn materials(
    scene: &ufbx::Scene,
    folder: Option<&Path>,
    character: &mut Character,
) -> Vec<Material> {
    let mut budget = PictureBudget::default();
    let mut read = |material: &ufbx::Material| {
        let map = if material.pbr.base_color.has_value {
            &material.pbr.base_color
        } else {
            &material.fbx.diffuse_color
        };
        let textures = [
            &material.pbr.base_color.texture,
            &material.fbx.diffuse_color.texture,
        ];
        let texture = textures.into_iter().flatten().next();
        let image = texture.and_then(|texture| {
            let image = picture_of(texture, folder, &mut budget);
            if let Err(problem) = &image {
                let file = abridged(&texture.filename);
                let text =
                    format!("the texture \"{file}\" {problem}; the mesh is drawn without it");
                character.note(Severity::Warning, 1, text);
            }
            image.ok()
        });
        let c = map.value_vec4;
        let color = if map.has_value {
            [c.x, c.y, c.z].map(|c| (c as f32).clamp(0.0, 1.0))
        } else {
            [0.8; 3]
        };
        let [r, g, b] = if image.is_some() {
            [1.0; 3]
        } else {
            color.map(|c| if c.is_finite() { c } else { 0.8 })
        };
        Material {
            name: material.element.name.to_string(),
            base_color: [r, g, b, 1.0],
            base_color_image: image.map(Arc::new),
            double_sided: false,
            alpha_cutoff: None,
        }
    };
    let materials = scene
        .materials
        .iter()
        .map(|material| read(material))
        .collect();
    budget.note(character);
    materials
}

/// The image embedded in the file, or stored beside it.
fn picture_of(
    texture: &ufbx::Texture,
    folder: Option<&Path>,
    budget: &mut PictureBudget,
) -> Parsed<Image> {
    let embedded: &[u8] = &texture.content;
    if !embedded.is_empty() {
        return budget.decode(embedded);
    }
    let names: [&str; 2] = [&texture.relative_filename, &texture.filename];
    let mut read = Err(ParseProblem::new("has no file name"));
    for name in names.into_iter().filter(|name| !name.is_empty()) {
        read = read.or_else(|_| read_referenced(folder, name));
    }
    budget.decode(&read?)
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
            "meshes omitted because they are hidden",
        );
        note(
            Severity::Info,
            self.shapes,
            "meshes with blend shapes, which are not supported",
        );
        note(
            Severity::Info,
            self.materials,
            "meshes with several materials, drawn with the most used one",
        );
        note(
            Severity::Info,
            self.seams,
            "meshes whose texture has seams at shared vertices and is not drawn",
        );
        note(
            Severity::Warning,
            self.skins,
            "additional skins of a mesh, which are ignored",
        );
        note(
            Severity::Mended,
            self.empty,
            "vertices without a usable skin weight, bound to the nearest bone",
        );
    }
}
