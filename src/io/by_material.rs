//! Triangles by material, whatever the order of the faces in a file.

use std::collections::HashMap;
use std::hash::Hash;

use crate::character::MaterialSection;

/// Triangles of every material, in the order of its first face. `K` identifies a material in the file.
#[derive(Debug)]
pub(super) struct TrianglesByMaterial<K> {
    places: HashMap<K, usize>,
    lists: Vec<(K, Vec<[u32; 3]>)>,
}

/// Triangles, material after material.
#[derive(Debug, Default, PartialEq)]
pub(super) struct GroupedTriangles {
    pub(super) triangles: Vec<[u32; 3]>,
    /// Empty if all triangles have one material.
    pub(super) sections: Vec<MaterialSection>,
    /// The first material.
    pub(super) material: Option<usize>,
}

impl<K: Clone + Eq + Hash> TrianglesByMaterial<K> {
    pub(super) fn new() -> Self {
        Self {
            places: HashMap::new(),
            lists: Vec::new(),
        }
    }

    /// The triangles of a material, to be added to.
    pub(super) fn of(&mut self, material: K) -> &mut Vec<[u32; 3]> {
        let place = *self.places.entry(material.clone()).or_insert_with(|| {
            self.lists.push((material, Vec::new()));
            self.lists.len() - 1
        });
        &mut self.lists[place].1
    }

    /// All triangles; `index_of` is the index of a material among those of the character.
    pub(super) fn finish(self, index_of: impl Fn(&K) -> Option<usize>) -> GroupedTriangles {
        let mut sections: Vec<MaterialSection> = self
            .lists
            .iter()
            .map(|(material, triangles)| MaterialSection {
                triangles: triangles.len(),
                material: index_of(material),
            })
            .collect();
        let material = sections.first().and_then(|section| section.material);
        if sections.iter().all(|section| section.material == material) {
            sections.clear();
        }
        let lists = self.lists.into_iter();
        GroupedTriangles {
            triangles: lists.flat_map(|(_, triangles)| triangles).collect(),
            sections,
            material,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_are_in_the_order_of_first_faces() {
        let mut made = TrianglesByMaterial::new();
        for (corner, name) in (0..).zip(["red", "blue", "red"]) {
            made.of(name).push([corner; 3]);
        }
        let made = made.finish(|name| (*name == "blue").then_some(7));
        assert_eq!(made.triangles, [[0; 3], [2; 3], [1; 3]]);
        let sections = made.sections.iter().map(|s| (s.triangles, s.material));
        assert_eq!(sections.collect::<Vec<_>>(), [(2, None), (1, Some(7))]);
        assert_eq!(made.material, None);
    }

    #[test]
    fn one_material_has_no_sections() {
        let mut made = TrianglesByMaterial::new();
        made.of("red").push([1; 3]);
        made.of("also red").push([2; 3]);
        let made = made.finish(|_| Some(3));
        assert_eq!((made.sections.len(), made.material), (0, Some(3)));
    }
}
