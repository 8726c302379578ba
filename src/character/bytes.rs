//! How much memory a character takes.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Attachment, Character, Image, SourceMesh};

impl Character {
    /// Bytes of the large lists: meshes, weights, images with their mip levels, and the source
    /// document. An image of several materials counts once.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let mut seen = HashSet::new();
        let images = self.materials.iter().flat_map(|material| {
            let normals = material.normal_map.as_ref().map(|map| &map.image);
            material.base_color_image.iter().chain(normals)
        });
        let images = images.filter(|image| seen.insert(Arc::as_ptr(image)));
        let document = self.document.as_ref().map_or(0, |document| {
            let buffers = document.buffers.iter().flatten().map(Vec::len);
            document.json.len() + buffers.sum::<usize>()
        });
        let meshes: u64 = self.meshes.iter().map(bytes_of_mesh).sum();
        let targets = (self.morphs.iter().flat_map(|morph| &morph.shapes)).flat_map(|s| &s.targets);
        let targets: usize = targets
            .map(|target| {
                4 * target.vertices.len() + 12 * (target.offsets.len() + target.normals.len())
            })
            .sum();
        meshes
            + targets as u64
            + images.map(|image| bytes_of_image(image)).sum::<u64>()
            + document as u64
    }
}

fn bytes_of_mesh(mesh: &SourceMesh) -> u64 {
    let weights = match &mesh.attachment {
        Attachment::Skinned {
            weights,
            joint_from_mesh,
        } => {
            let numbers = weights.offsets.len() + weights.joints.len() + weights.values.len();
            4 * numbers + size_of_val(&joint_from_mesh[..])
        }
        _ => 0,
    };
    let normals = mesh.normals.as_deref().map_or(0, size_of_val);
    let tex_coords = mesh.tex_coords.as_deref().map_or(0, size_of_val);
    let shape = size_of_val(&mesh.positions[..]) + size_of_val(&mesh.triangles[..]);
    let polygons = mesh.faces.polygons.as_deref().map_or(0, |polygons| {
        size_of_val(&polygons.corners[..]) + size_of_val(&polygons.ends[..])
    });
    let faces = size_of_val(&mesh.faces.copies[..]) + polygons;
    (weights + normals + tex_coords + shape + faces) as u64
}

fn bytes_of_image(image: &Image) -> u64 {
    let levels = image.halvings.iter().map(|level| level.rgba.len());
    (image.rgba.len() + levels.sum::<usize>()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::Material;
    use crate::math::Point;

    #[test]
    fn meshes_and_images_count_once() {
        let mesh = SourceMesh::bare("a", vec![Point::origin(); 10], vec![[0, 1, 2]; 4]);
        let image = Arc::new(Image::new(2, 2, vec![0; 16]));
        let material = Material {
            base_color_image: Some(image),
            ..Material::default()
        };
        let character = Character {
            meshes: vec![mesh],
            materials: vec![material.clone(), material],
            ..Character::default()
        };
        // 10 positions and 4 triangles of 12 bytes, 4 + 1 pixels of 4 bytes.
        assert_eq!(character.bytes(), 168 + 20);
    }
}
