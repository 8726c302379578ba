//! Primitives of mesh nodes → source meshes.

use gltf::json::Root;
use gltf::json::mesh::{Mode, Primitive, Semantic};
use gltf::json::validation::Checked;

use super::accessor::Accessors;
use super::document::{attribute, number};
use super::material::GltfMaterials;
use super::scene::NodeTree;
use super::skeleton::GltfJoints;
use super::weights;
use crate::character::{Attachment, Character, Severity, SourceFaces, SourceMesh, SourcePrimitive};
use crate::io::error::{Parsed, bad};
use crate::math::{Point, Vec3, linear_part};
use crate::progress::Progress;

/// Inputs for reading a primitive.
pub struct MeshReader<'a> {
    pub root: &'a Root,
    pub scene: &'a NodeTree,
    pub accessors: &'a Accessors<'a>,
    pub rig: &'a GltfJoints,
    pub materials: &'a GltfMaterials,
}

/// Counts of omitted and repaired items over all primitives.
#[derive(Default)]
pub struct PrimitiveRepairs {
    no_surface: usize,
    no_positions: usize,
    bad_indices: usize,
    bad_normals: usize,
    /// Repairs of weights.
    pub weights: weights::WeightRepairs,
}

impl MeshReader<'_> {
    /// All meshes of the scene, and their origins: nodes depth-first, primitives in order.
    pub fn meshes(
        &self,
        character: &mut Character,
        progress: &Progress,
    ) -> Parsed<(Vec<SourceMesh>, Vec<SourcePrimitive>)> {
        let mut tally = PrimitiveRepairs::default();
        let (mut meshes, mut places) = (Vec::new(), Vec::new());
        for &node in &self.scene.visible {
            let Some(mesh) = self.root.nodes[node]
                .mesh
                .and_then(|mesh| self.root.get(mesh))
            else {
                continue;
            };
            for (i, primitive) in mesh.primitives.iter().enumerate() {
                if progress.is_cancelled() {
                    return Ok((meshes, places));
                }
                let own = self.root.nodes[node].name.as_ref().or(mesh.name.as_ref());
                let name = own
                    .cloned()
                    .unwrap_or_else(|| format!("mesh{}", meshes.len()));
                let name = if i == 0 {
                    name
                } else {
                    format!("{name}.{}", i + 1)
                };
                let Some(read) = self.primitive(node, primitive, name, &mut tally)? else {
                    continue;
                };
                places.push(SourcePrimitive {
                    node,
                    primitive: i,
                    turned: self.is_mirrored(node, &read.attachment),
                });
                meshes.push(read);
            }
        }
        tally.note(character);
        Ok((meshes, places))
    }

    fn primitive(
        &self,
        node: usize,
        primitive: &Primitive,
        name: String,
        tally: &mut PrimitiveRepairs,
    ) -> Parsed<Option<SourceMesh>> {
        let Checked::Valid(mode @ (Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan)) =
            primitive.mode
        else {
            tally.no_surface += 1;
            return Ok(None);
        };
        let Some(positions) = attribute(primitive, Semantic::Positions) else {
            tally.no_positions += 1;
            return Ok(None);
        };
        let positions: Vec<Point> = self
            .accessors
            .reals::<3>(positions)?
            .into_iter()
            .map(Point::from)
            .collect();
        let corners = match number(primitive.indices) {
            Some(indices) => self
                .accessors
                .indices::<1>(indices)?
                .into_iter()
                .map(|[i]| i)
                .collect(),
            None => (0..positions.len() as u32).collect::<Vec<_>>(),
        };
        let attachment = self.attachment(node, primitive, &positions, &mut tally.weights)?;
        let mut triangles = triangles_of(mode, &corners);
        let declared = triangles.len();
        triangles.retain(|t| t.iter().all(|&v| (v as usize) < positions.len()));
        let dropped = declared - triangles.len();
        if dropped * 10 > declared {
            return bad(format!(
                "{dropped} of {declared} triangles of mesh \"{name}\" refer to vertices beyond its {}",
                positions.len()
            ));
        }
        tally.bad_indices += dropped;
        if self.is_mirrored(node, &attachment) {
            for triangle in &mut triangles {
                triangle.swap(1, 2);
            }
        }
        let normals = self.normals(primitive, tally)?;
        let tex_coords = self.tex_coords(primitive)?;
        let material = number(primitive.material).filter(|&m| m < self.materials.all.len());
        Ok(Some(SourceMesh {
            name,
            positions,
            triangles,
            normals,
            tex_coords,
            faces: SourceFaces::default(),
            material,
            attachment,
        }))
    }

    /// Only a mesh without skin is transformed by its own node (glTF 2.0, 3.7.3.3 and 3.7.4).
    fn attachment(
        &self,
        node: usize,
        primitive: &Primitive,
        positions: &[Point],
        tally: &mut weights::WeightRepairs,
    ) -> Parsed<Attachment> {
        if let Some(skin) = number(self.root.nodes[node].skin).and_then(|s| self.rig.skins.get(s))
            && let Some(attachment) = weights::read(
                primitive,
                positions,
                self.accessors,
                &self.rig.skeleton,
                skin,
                tally,
            )?
        {
            return Ok(attachment);
        }
        let (scene, above) = (self.scene, &self.rig.above);
        let carrier = self.rig.joint_of_node[node].or(above.joint[node]);
        Ok(match carrier {
            Some(joint) if self.rig.joint_of_node[node].is_some() => Attachment::Rigid {
                joint,
                joint_from_mesh: crate::math::Affine::identity(),
            },
            Some(joint) => Attachment::Rigid {
                joint,
                joint_from_mesh: above.between[node] * scene.local[node],
            },
            None => Attachment::Static {
                world_from_mesh: scene.world[node],
            },
        })
    }

    /// Whether the mesh is mirrored in the world, so that its triangle winding is reversed (glTF
    /// 2.0, 3.7.4).
    fn is_mirrored(&self, node: usize, attachment: &Attachment) -> bool {
        let placed = match attachment {
            Attachment::Skinned { .. } => {
                match number(self.root.nodes[node].skin).and_then(|s| self.rig.skins.get(s)) {
                    Some(skin) => &skin.world_from_mesh,
                    None => return false,
                }
            }
            _ => &self.scene.world[node],
        };
        linear_part(placed).determinant() < 0.0
    }

    /// Normals; none if some are degenerate, in which case they are recomputed.
    fn normals(
        &self,
        primitive: &Primitive,
        tally: &mut PrimitiveRepairs,
    ) -> Parsed<Option<Vec<Vec3>>> {
        let Some(accessor) = attribute(primitive, Semantic::Normals) else {
            return Ok(None);
        };
        if self.accessors.width(accessor) != 3 {
            tally.bad_normals += 1;
            return Ok(None);
        }
        let normals: Vec<Vec3> = self
            .accessors
            .reals::<3>(accessor)?
            .into_iter()
            .map(Vec3::from)
            .collect();
        let usable = normals.iter().all(|n| (0.5..2.0).contains(&n.norm()));
        if !usable {
            tally.bad_normals += 1;
        }
        Ok(usable.then_some(normals))
    }

    fn tex_coords(&self, primitive: &Primitive) -> Parsed<Option<Vec<[f32; 2]>>> {
        let material = number(primitive.material);
        let transform = material
            .and_then(|m| self.materials.transforms.get(m))
            .copied()
            .flatten();
        let set = material
            .and_then(|m| self.materials.tex_coord_set.get(m))
            .copied()
            .unwrap_or(0);
        let set = transform
            .and_then(|transform| transform.tex_coord)
            .unwrap_or(set);
        let found = attribute(primitive, Semantic::TexCoords(set))
            .or_else(|| attribute(primitive, Semantic::TexCoords(0)));
        let Some(accessor) = found.filter(|&a| self.accessors.width(a) == 2) else {
            return Ok(None);
        };
        let mut coords = self.accessors.reals::<2>(accessor)?;
        if let Some(transform) = transform {
            for uv in &mut coords {
                *uv = transform.apply(*uv);
            }
        }
        Ok(coords
            .iter()
            .flatten()
            .all(|c| c.is_finite())
            .then_some(coords))
    }
}

/// Triangles of a list, strip or fan; every other triangle of a strip is reversed (glTF 2.0,
/// 3.7.2.1). Points and lines have none.
fn triangles_of(mode: Mode, corners: &[u32]) -> Vec<[u32; 3]> {
    match mode {
        Mode::Triangles => corners
            .chunks_exact(3)
            .map(|c| [c[0], c[1], c[2]])
            .collect(),
        Mode::TriangleStrip => corners
            .windows(3)
            .enumerate()
            .map(|(i, c)| {
                if i % 2 == 0 {
                    [c[0], c[1], c[2]]
                } else {
                    [c[1], c[0], c[2]]
                }
            })
            .collect(),
        Mode::TriangleFan => corners
            .get(1..)
            .unwrap_or(&[])
            .windows(2)
            .map(|c| [corners[0], c[0], c[1]])
            .collect(),
        Mode::Points | Mode::Lines | Mode::LineLoop | Mode::LineStrip => Vec::new(),
    }
}

impl PrimitiveRepairs {
    fn note(&self, character: &mut Character) {
        let mut note = |severity, count: usize, text: String| {
            if count > 0 {
                character.note(severity, count, text);
            }
        };
        note(
            Severity::Info,
            self.no_surface,
            format!(
                "primitives omitted because they are points or lines: {}",
                self.no_surface
            ),
        );
        note(
            Severity::Mended,
            self.no_positions,
            format!(
                "primitives omitted because they have no positions: {}",
                self.no_positions
            ),
        );
        let text = format!(
            "triangles omitted because they refer to missing vertices: {}",
            self.bad_indices
        );
        note(Severity::Mended, self.bad_indices, text);
        let text = format!(
            "meshes with degenerate normals, which are recomputed: {}",
            self.bad_normals
        );
        note(Severity::Mended, self.bad_normals, text);
        self.weights.note(character);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_keep_their_orientation() {
        assert_eq!(
            triangles_of(Mode::TriangleStrip, &[0, 1, 2, 3, 4]),
            [[0, 1, 2], [2, 1, 3], [2, 3, 4]]
        );
        assert_eq!(
            triangles_of(Mode::TriangleFan, &[0, 1, 2, 3]),
            [[0, 1, 2], [0, 2, 3]]
        );
        assert_eq!(triangles_of(Mode::Triangles, &[0, 1, 2, 3]), [[0, 1, 2]]);
        assert!(
            triangles_of(Mode::TriangleFan, &[]).is_empty()
                && triangles_of(Mode::TriangleStrip, &[1]).is_empty()
        );
    }
}
