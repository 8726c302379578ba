//! Mesh nodes → source meshes, materials.

use std::path::Path;
use std::sync::Arc;

use super::corners::{self, FbxFaces};
use super::morphs::FbxMorphs;
use super::skeleton::FbxJoints;
use super::{FbxNodes, affine_of, number, usable};
use crate::character::{
    Attachment, Character, Image, Material, NormalMap, Severity, SourceFaces, SourceMesh,
};
use crate::io::by_material::GroupedTriangles;
use crate::io::error::{ParseProblem, Parsed, bad};
use crate::io::gltf::give_to_nearest_bone;
use crate::io::picture::PictureBudget;
use crate::io::polygon::Triangulator;
use crate::io::referenced::{abridged, read_referenced};
use crate::math::{Affine, Point, linear_part};
use crate::weights::SkinWeights;

/// Maximum number of vertices of a character.
const MOST_VERTICES: usize = 20_000_000;

/// Counts of omitted and repaired items over all meshes.
#[derive(Default)]
pub(super) struct MeshRepairs {
    hidden: usize,
    dual_quaternions: usize,
    skins: usize,
    empty: usize,
    polygons: Triangulator,
}

/// Reads all visible meshes (or all meshes, if none is visible), nodes depth-first. Returns their blend shapes.
pub(super) fn read(
    scene: &ufbx::Scene,
    tree: &FbxNodes,
    rig: &FbxJoints,
    folder: Option<&Path>,
    character: &mut Character,
) -> Parsed<FbxMorphs> {
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
    let mut morphs = FbxMorphs::default();
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
        if let Some(read) = read_mesh(scene, tree, rig, node, mesh, &mut tally)? {
            let index = character.meshes.len();
            morphs.add(mesh, index, &read.name, &read.faces.copies);
            character.meshes.push(read);
        }
    }
    tally.note(character);
    Ok(morphs)
}

fn read_mesh(
    scene: &ufbx::Scene,
    tree: &FbxNodes,
    rig: &FbxJoints,
    node: usize,
    mesh: &ufbx::Mesh,
    tally: &mut MeshRepairs,
) -> Parsed<Option<SourceMesh>> {
    let name = scene.nodes[node].element.name.to_string();
    let vertices = mesh.vertices.len();
    if let Some(&beyond) = mesh
        .vertex_indices
        .iter()
        .find(|&&v| v as usize >= vertices)
    {
        return bad(format!(
            "mesh \"{name}\" refers to vertex {beyond}, and it has {vertices}"
        ));
    }
    let split = corners::split_vertices(mesh);
    let file_vertex = |vertex: usize| {
        let copy = vertex.checked_sub(vertices);
        copy.map_or(vertex, |copy| split.copies[copy] as usize)
    };
    let position = |vertex| {
        let v = &mesh.vertices[file_vertex(vertex)];
        Point::new(v.x as f32, v.y as f32, v.z as f32)
    };
    let positions: Vec<Point> = (0..vertices + split.copies.len()).map(position).collect();
    let FbxFaces {
        grouped:
            GroupedTriangles {
                mut triangles,
                sections,
                material,
            },
        mut polygons,
    } = FbxFaces::of(
        scene,
        node,
        mesh,
        &split.of_corner,
        &positions,
        &mut tally.polygons,
    );
    if triangles.is_empty() {
        return Ok(None);
    }
    let attachment = attachment(
        scene,
        tree,
        rig,
        node,
        mesh,
        (&positions, &file_vertex),
        tally,
    );
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
        polygons.turn();
    }
    Ok(Some(SourceMesh {
        name,
        positions,
        triangles,
        normals: split.normals,
        tex_coords: split.tex_coords,
        material,
        faces: SourceFaces {
            copies: split.copies,
            sections,
            polygons: Some(polygons.into()),
        },
        attachment,
    }))
}

fn attachment(
    scene: &ufbx::Scene,
    tree: &FbxNodes,
    rig: &FbxJoints,
    node: usize,
    mesh: &ufbx::Mesh,
    vertices: (&[Point], &dyn Fn(usize) -> usize),
    tally: &mut MeshRepairs,
) -> Attachment {
    tally.skins += mesh.skin_deformers.len().saturating_sub(1);
    if let Some(skin) = mesh
        .skin_deformers
        .iter()
        .find(|skin| !skin.clusters.is_empty())
    {
        tally.dual_quaternions += usize::from(matches!(
            skin.skinning_method,
            ufbx::SkinningMethod::DualQuaternion | ufbx::SkinningMethod::BlendedDqLinear
        ));
        return skinned(rig, skin, vertices, tally);
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
    vertices: (&[Point], &dyn Fn(usize) -> usize),
    tally: &mut MeshRepairs,
) -> Attachment {
    let (positions, file_vertex) = vertices;
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
        let found = skin.vertices.get(file_vertex(vertex));
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
    let of_file = |&&vertex: &&usize| file_vertex(vertex) == vertex;
    tally.empty += empty.iter().filter(of_file).count();
    let weights = give_to_nearest_bone(weights, &empty, positions, &rig.skeleton);
    Attachment::Skinned {
        weights,
        joint_from_mesh,
    }
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
        let maps = [
            &material.pbr.normal_map.texture,
            &material.fbx.normal_map.texture,
        ];
        let normals = maps.into_iter().flatten().next();
        let normals = normals.and_then(|texture| picture_of(texture, folder, &mut budget).ok());
        let normal_map = normals.map(|image| NormalMap {
            image: Arc::new(image.of_data()),
            scale: 1.0,
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
            normal_map,
            ..Material::default()
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
            self.dual_quaternions,
            "meshes that the file skins by dual quaternions, wholly or in part, as --method dqs does",
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
