//! Morph targets and expressions of the source: named displacements of vertices in the bind pose.
//!
//! A [`Morph`] displaces vertices of the meshes of one node (glTF 2.0, 3.7.2.2) or of one mesh with the in-between shapes of an
//! FBX blend channel. An [`Expression`] (VRM) is a named combination of morphs. Poses and clips know both as *controls*, by index:
//! morphs first, expressions after them ([`crate::rig::MorphWeights`]).
//!
//! Readers add the displacements of rest weights to the positions, so that the bind pose is what the file shows at rest, and all
//! that is built on it is right; poses hold weights relative to that.

mod controls;
mod finish;
mod tracks;

use nalgebra::Matrix3;

use super::{Attachment, SourceMesh};
use crate::math::{Vec3, linear_part};
use crate::rig::Skeleton;

/// Displacements of vertices of one mesh.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MorphTarget {
    /// Index into [`Character::meshes`](crate::character::Character::meshes).
    pub mesh: usize,
    /// The vertices that move or turn, ascending.
    pub vertices: Vec<u32>,
    /// Their displacements, in mesh space.
    pub offsets: Vec<Vec3>,
    /// The differences of their normals; empty if the file has none.
    pub normals: Vec<Vec3>,
}

/// The displacements of a morph at one weight.
#[derive(Debug, Clone, PartialEq)]
pub struct MorphShape {
    /// The weight at which it applies fully, not 0.
    pub at: f64,
    /// At most one for each mesh.
    pub targets: Vec<MorphTarget>,
}

/// A named displacement with a weight.
#[derive(Debug, Clone, PartialEq)]
pub struct Morph {
    /// Its name, unique among those of its mesh.
    pub name: String,
    /// Name of the mesh or node.
    pub mesh: String,
    /// Weight at rest; its displacement is part of the positions.
    pub rest_weight: f64,
    /// By ascending weight; usually one, at 1.
    pub shapes: Vec<MorphShape>,
}

/// A named combination of morphs.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// Its name, unique among the expressions; presets as in VRM 1: `happy`, `aa`, `blink`, …
    pub name: String,
    /// Whether it is on above one half, and else off.
    pub is_binary: bool,
    /// Index of a morph, and what is added to its weight at full expression.
    pub binds: Vec<(usize, f64)>,
}

/// What a pose sets beside joints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MorphControl<'a> {
    /// Its name.
    pub name: &'a str,
    /// The mesh of a morph; `None` for an expression.
    pub mesh: Option<&'a str>,
    /// Weight at rest.
    pub rest_weight: f64,
    /// Whether it is either on or off.
    pub is_binary: bool,
}

impl MorphControl<'_> {
    /// A name that no other control has.
    #[must_use]
    pub fn id(&self) -> String {
        match self.mesh {
            Some(mesh) => format!("{mesh}/{}", self.name),
            None => self.name.to_owned(),
        }
    }
}

impl Morph {
    /// The factor of a shape at a weight: shapes are interpolated linearly, with no displacement at weight 0, and the outer
    /// intervals go on beyond their ends, as in FBX. With one shape at 1 it is the weight.
    #[must_use]
    pub fn share(&self, shape: usize, weight: f64) -> f64 {
        let knot = |index: usize| self.shapes[index].at;
        let zero = self.shapes.partition_point(|shape| shape.at < 0.0);
        // The knots are the shapes with the zero between them.
        let at = |k: usize| match k.cmp(&zero) {
            std::cmp::Ordering::Less => knot(k),
            std::cmp::Ordering::Equal => 0.0,
            std::cmp::Ordering::Greater => knot(k - 1),
        };
        let last = self.shapes.len();
        let own = if shape < zero { shape } else { shape + 1 };
        let after = (1..=last).find(|&k| at(k) > weight).unwrap_or(last);
        let (from, to) = (at(after - 1), at(after));
        let part = (weight - from) / (to - from);
        if own == after {
            part
        } else if own + 1 == after {
            1.0 - part
        } else {
            0.0
        }
    }

    /// How much the displacement of a shape at a weight exceeds that at rest.
    #[must_use]
    pub fn share_beyond_rest(&self, shape: usize, weight: f64) -> f64 {
        if weight == self.rest_weight {
            return 0.0;
        }
        self.share(shape, weight) - self.share(shape, self.rest_weight)
    }
}

impl Expression {
    /// The factor of its binds at a weight.
    #[must_use]
    pub fn factor(&self, weight: f64) -> f64 {
        if self.is_binary {
            return f64::from(u8::from(weight > 0.5));
        }
        weight
    }
}

impl SourceMesh {
    /// The derivative of a vertex's position in the bind pose (world) by its position in mesh space.
    #[must_use]
    pub fn bind_linear(&self, skeleton: &Skeleton, vertex: usize) -> Matrix3<f64> {
        match &self.attachment {
            Attachment::Skinned {
                weights,
                joint_from_mesh,
            } => weights
                .of(vertex)
                .map(|(joint, weight)| {
                    let world_from_mesh =
                        skeleton.joints()[joint].world_from_bind * joint_from_mesh[joint];
                    linear_part(&world_from_mesh) * f64::from(weight)
                })
                .sum(),
            Attachment::Rigid {
                joint,
                joint_from_mesh,
            } => linear_part(&(skeleton.joints()[*joint].world_from_bind * joint_from_mesh)),
            Attachment::Static { world_from_mesh } => linear_part(world_from_mesh),
            Attachment::Unweighted => Matrix3::identity(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::Character;
    use crate::math::Point;
    use crate::rig::{Clip, Curve, MorphTrack, MorphWeights, Pose};

    fn morph(at: &[f64]) -> Morph {
        Morph {
            name: "m".into(),
            mesh: "mesh".into(),
            rest_weight: 0.0,
            shapes: at
                .iter()
                .map(|&at| MorphShape {
                    at,
                    targets: Vec::new(),
                })
                .collect(),
        }
    }

    #[test]
    fn shapes_are_interpolated_between_their_weights() {
        let one = morph(&[1.0]);
        for weight in [-0.5, 0.0, 0.3, 1.0, 2.5] {
            assert_eq!(one.share(0, weight), weight);
        }
        let three = morph(&[-1.0, 0.5, 1.0]);
        let shares = |weight: f64| [0, 1, 2].map(|shape| three.share(shape, weight));
        for (weight, expected) in [
            (0.0, [0.0, 0.0, 0.0]),
            (0.25, [0.0, 0.5, 0.0]),
            (0.5, [0.0, 1.0, 0.0]),
            (0.75, [0.0, 0.5, 0.5]),
            (1.0, [0.0, 0.0, 1.0]),
            (1.5, [0.0, -1.0, 2.0]),
            (-0.5, [0.5, 0.0, 0.0]),
            (-2.0, [2.0, 0.0, 0.0]),
        ] {
            assert_eq!(shares(weight), expected, "at {weight}");
        }
    }

    #[test]
    fn names_become_unique_and_rest_weights_part_of_the_positions() {
        let mesh = SourceMesh::bare("a", vec![Point::origin(); 3], vec![[0, 1, 2]]);
        let mut mesh = mesh;
        mesh.positions[1].x = 1.0;
        let mut character = Character {
            meshes: vec![mesh],
            ..Character::default()
        };
        let made = |name: &str, rest_weight: f64, x: f32| Morph {
            name: name.into(),
            mesh: "a".into(),
            rest_weight,
            shapes: vec![MorphShape {
                at: 1.0,
                targets: vec![MorphTarget {
                    vertices: vec![2],
                    offsets: vec![Vec3::new(x, 0.0, 0.0)],
                    ..MorphTarget::default()
                }],
            }],
        };
        let given = vec![
            made("x", 0.5, 2.0),
            made("x", 0.0, 1.0),
            made("", 0.0, f32::NAN),
            made("x", f64::INFINITY, 1.0),
        ];
        character.finish_morphs(given, Vec::new());
        let names: Vec<&str> = character.morph_controls().map(|c| c.name).collect();
        assert_eq!(names.len(), 4);
        let mut sorted = names.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), 4, "{names:?}");
        assert_eq!(character.meshes[0].positions[2].x, 1.0);
        assert_eq!(character.positions_without_morphs(0)[2].x, 0.0);
        assert!(character.morphs[2].shapes[0].targets.is_empty());
        assert_eq!(character.notes[0].count, 2);
        let mut pose = Pose::default();
        character.set_morph(&mut pose, "x", 1.0).unwrap();
        assert_eq!(pose.morphs.get(0), 0.5, "relative to rest");
        let missing = character.find_morphs("xx").unwrap_err().to_string();
        assert!(missing.contains("did you mean \"x\""), "{missing}");
        assert_eq!(character.morphs_by_id(&pose.morphs)["a/x"], 1.0);
    }

    #[test]
    fn expressions_add_to_morphs() {
        let mut character = Character {
            morphs: vec![morph(&[1.0]), morph(&[1.0])].into(),
            ..Character::default()
        };
        let expression = |is_binary| Expression {
            name: format!("e{is_binary}"),
            is_binary,
            binds: vec![(1, 0.5)],
        };
        character.expressions = vec![expression(false), expression(true)].into();
        let mut pose = MorphWeights::default();
        pose.set(1, 0.1);
        pose.set(2, 0.4);
        pose.set(3, 0.4);
        let mut weights = Vec::new();
        character.morph_weights_into(&pose, &mut weights);
        assert!((weights[1] - 0.3).abs() < 1e-12);
        pose.set(3, 0.6);
        character.morph_weights_into(&pose, &mut weights);
        assert!((weights[1] - 0.8).abs() < 1e-12);
    }

    #[test]
    fn clips_of_another_file_keep_the_morphs_of_the_same_name() {
        let named = |names: &[&str]| Character {
            morphs: names
                .iter()
                .map(|name| Morph {
                    name: (*name).to_owned(),
                    ..morph(&[1.0])
                })
                .collect(),
            ..Character::default()
        };
        let (own, other) = (named(&["a", "b"]), named(&["c", "b", "a"]));
        let track = |control| MorphTrack {
            control,
            curve: Curve::linear(vec![0.0], vec![control as f64]),
        };
        let mut clip = Clip {
            morphs: (0..4).map(track).collect(),
            ..Clip::default()
        };
        own.take_morphs(&mut clip, &other.morph_ids());
        let kept: Vec<(usize, f64)> = (clip.morphs.iter())
            .map(|track| (track.control, track.curve.values[0]))
            .collect();
        assert_eq!(kept, [(1, 1.0), (0, 2.0)]);
    }
}
