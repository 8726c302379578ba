//! What the check-up found, what Sinew does about it, and how the user can have it otherwise.

mod flesh;
mod surface;

use std::borrow::Cow;

use serde::Serialize;

use super::UpAxis;
use crate::character::{Attachment, Place, Severity};
use crate::math::{Point64, origin_of};
use crate::mesh::{MeshCheckup, SkinMesh, TriMesh};
use crate::methods::Subject;
use crate::progress::{Cancelled, Progress};
use crate::tissue::Parts;

/// Places that a finding remembers at most.
const PLACES: usize = 8;
/// Names that a sentence gives at most.
const NAMES: usize = 4;

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// The unit of length.
    Unit,
    /// The way that is up.
    UpAxis,
    /// More than one connected part.
    Parts,
    /// Parts that no bone runs through.
    PartsWithoutBone,
    /// Joints that move skin but lie outside of it.
    JointsOutside,
    /// Skin without weights.
    MissingWeights,
    /// Open borders.
    Boundaries,
    /// Edges with more than two faces.
    NonManifoldEdges,
    /// Vertices where several fans of faces touch.
    NonManifoldVertices,
    /// Faces without an area.
    DegenerateFaces,
    /// Faces that repeat another.
    DuplicateFaces,
    /// Vertices at the place of another.
    DuplicateVertices,
    /// Vertices that no face uses.
    UnreferencedVertices,
    /// Neighbours turned against each other.
    FlippedFaces,
    /// Closed parts that are inside out.
    InsideOut,
    /// Faces that cut through others at rest.
    SelfIntersections,
    /// Flesh that is inside out or flat at rest.
    InvertedFlesh,
}

/// Where something is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spot {
    /// The source vertex there, if it is on the skin.
    pub vertex: Option<u32>,
    /// The joint there.
    pub joint: Option<usize>,
    /// World position in the bind pose.
    pub position: [f64; 3],
    /// How far around it there is something to see, world units.
    pub radius: f64,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// What it is about.
    pub kind: FindingKind,
    /// How much it matters.
    pub severity: Severity,
    /// How many.
    pub count: usize,
    /// What was found: a sentence without its end.
    pub text: String,
    /// What Sinew does about it by itself.
    pub remedy: String,
    /// How the user can have it otherwise.
    pub option: Option<String>,
    /// Some of the places, the most important first.
    pub spots: Vec<Spot>,
}

/// A character being looked at.
pub(super) struct Patient<'a> {
    pub(super) subject: &'a Subject,
    pub(super) parts: &'a Parts,
    /// What is looked at: the skin, or everything if nothing is skin.
    pub(super) surface: Cow<'a, SkinMesh>,
    source_from_skin: Vec<u32>,
}

impl<'a> Patient<'a> {
    pub(super) fn new(subject: &'a Subject, parts: &'a Parts) -> Self {
        let surface = if subject.skin.mesh.triangles.is_empty() {
            let all = vec![true; subject.bind_positions.len()];
            Cow::Owned(SkinMesh::weld(
                &subject.bind_positions,
                &subject.character.triangles(),
                &all,
            ))
        } else {
            Cow::Borrowed(&*subject.skin)
        };
        Self {
            subject,
            parts,
            source_from_skin: surface.source_from_skin(),
            surface,
        }
    }

    /// Everything that is not as in a textbook, what matters most first.
    pub(super) fn findings(
        &self,
        up: &UpAxis,
        progress: &Progress,
    ) -> Result<Vec<Finding>, Cancelled> {
        let mesh = self.as_in_the_file();
        let checkup = MeshCheckup::of(&mesh, progress)?;
        let mut findings = Vec::new();
        findings.extend(self.unit());
        findings.extend(up_axis(up));
        findings.extend(self.missing_weights());
        findings.extend(self.joints_outside());
        findings.extend(self.several_parts(checkup.parts));
        findings.extend(self.without_bone());
        findings.extend(self.flesh());
        findings.extend(self.surface(&mesh, &checkup));
        findings.extend(self.vertices());
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        Ok(findings)
    }

    /// The welded surface with all faces of the file, in its order.
    fn as_in_the_file(&self) -> TriMesh {
        let skin = &self.surface;
        let on_skin = |t: [u32; 3]| {
            let [a, b, c] = t.map(|v| skin.skin_from_source[v as usize]);
            Some([a?, b?, c?])
        };
        let triangles = self
            .subject
            .character
            .triangles()
            .into_iter()
            .filter_map(on_skin)
            .collect();
        TriMesh {
            positions: skin.mesh.positions.clone(),
            triangles,
        }
    }

    fn size(&self) -> f64 {
        f64::from(self.subject.size)
    }

    /// A vertex of the skin.
    fn spot(&self, vertex: u32, radius: f64) -> Spot {
        let position = self.surface.mesh.positions[vertex as usize]
            .cast::<f64>()
            .coords
            .into();
        Spot {
            vertex: Some(self.source_from_skin[vertex as usize]),
            joint: None,
            position,
            radius: radius.max(0.03 * self.size()),
        }
    }

    fn spots(&self, vertices: impl IntoIterator<Item = u32>) -> Vec<Spot> {
        let mut spots: Vec<Spot> = Vec::new();
        for vertex in vertices {
            let spot = self.spot(vertex, 0.0);
            let apart = |other: &Spot| {
                (Point64::from(other.position) - Point64::from(spot.position)).norm() > spot.radius
            };
            if spots.iter().all(apart) {
                spots.push(spot);
            }
            if spots.len() == PLACES {
                break;
            }
        }
        spots
    }

    fn unit(&self) -> Option<Finding> {
        let unit = self.subject.character.metres_per_unit;
        if unit == 1.0 {
            return None;
        }
        let known = [
            (1e-3, "a millimetre"),
            (1e-2, "a centimetre"),
            (1e-1, "a decimetre"),
            (0.0254, "an inch"),
            (0.3048, "a foot"),
        ];
        let name = known
            .iter()
            .find(|(metres, _)| (unit / metres - 1.0).abs() < 1e-6);
        let name = name.map_or_else(|| format!("{unit} m"), |(_, name)| (*name).to_owned());
        Some(Finding {
            text: format!(
                "one unit of the file is taken for {name}: the character is {:.4} units large, {:.2} m",
                self.size(),
                self.size() * unit
            ),
            remedy: "only physics counts in metres; everything else keeps the file's units"
                .to_owned(),
            option: Some("--unit METRES".to_owned()),
            ..finding(FindingKind::Unit, Severity::Info, 0)
        })
    }

    fn missing_weights(&self) -> Option<Finding> {
        let character = &self.subject.character;
        let bare = character
            .meshes
            .iter()
            .filter(|mesh| matches!(mesh.attachment, Attachment::Unweighted));
        let count: usize = bare.map(|mesh| mesh.positions.len()).sum();
        (count > 0 && !character.skeleton.is_empty()).then(|| Finding {
            text: format!("{count} vertices come without skinning weights"),
            remedy:
                "the flesh needs none; lbs, dqs and rigid get weights by the distance to the bones"
                    .to_owned(),
            ..finding(FindingKind::MissingWeights, Severity::Info, count)
        })
    }

    fn joints_outside(&self) -> Option<Finding> {
        let (skin, skeleton) = (&self.subject.skin.mesh, &self.subject.character.skeleton);
        if skin.triangles.is_empty() {
            return None;
        }
        let mut moves = vec![false; skeleton.len()];
        for mesh in &self.subject.character.meshes {
            match &mesh.attachment {
                Attachment::Skinned { weights, .. } => weights
                    .joints
                    .iter()
                    .for_each(|&joint| moves[joint as usize] = true),
                Attachment::Unweighted => moves
                    .iter_mut()
                    .zip(skeleton.joints())
                    .for_each(|(moves, joint)| *moves |= joint.deforms),
                Attachment::Rigid { .. } | Attachment::Static { .. } => {}
            }
        }
        let asked: Vec<usize> = (0..skeleton.len()).filter(|&joint| moves[joint]).collect();
        let places: Vec<Point64> = asked
            .iter()
            .map(|&joint| skeleton.bind_position(joint))
            .collect();
        let inside = skin.winding_numbers(&places);
        let tree = crate::mesh::TriangleTree::new(skin);
        // On the surface, or at the end of a finger, is no matter.
        let near = |place: &Point64| tree.closest(place, 0.01 * self.size(), |_| true).is_some();
        let outside: Vec<usize> = (0..asked.len())
            .filter(|&k| inside[k].abs() < 0.3 && !near(&places[k]))
            .map(|k| asked[k])
            .collect();
        if outside.is_empty() {
            return None;
        }
        let names = some_names(
            outside
                .iter()
                .map(|&joint| skeleton.joints()[joint].name.as_str()),
        );
        let many = outside.len() * 3 > asked.len();
        Some(Finding {
            text: format!(
                "{} outside of it: {names}",
                counted(
                    outside.len(),
                    "joint that moves skin lies",
                    "joints that move skin lie"
                )
            ),
            remedy:
                "bones that leave the skin are used as they are, bones far from it are left out"
                    .to_owned(),
            option: many.then(|| {
                "check that mesh and skeleton have the same unit, axes and place".to_owned()
            }),
            spots: outside
                .iter()
                .take(PLACES)
                .map(|&joint| self.joint_spot(joint))
                .collect(),
            ..finding(
                FindingKind::JointsOutside,
                if many {
                    Severity::Warning
                } else {
                    Severity::Info
                },
                outside.len(),
            )
        })
    }

    fn joint_spot(&self, joint: usize) -> Spot {
        let position = origin_of(&self.subject.character.skeleton.joints()[joint].world_from_bind)
            .coords
            .into();
        Spot {
            vertex: None,
            joint: Some(joint),
            position,
            radius: 0.08 * self.size(),
        }
    }

    fn several_parts(&self, count: usize) -> Option<Finding> {
        let parts = &self.parts.parts;
        let flesh = parts
            .iter()
            .filter(|part| part.place == Place::Flesh)
            .count();
        let remedy = match flesh {
            _ if parts.is_empty() => "which doesn't matter without a skeleton".to_owned(),
            _ if flesh == parts.len() => "all of them are flesh".to_owned(),
            1 => "the one with bones inside is flesh".to_owned(),
            _ => format!("{flesh} with bones inside are flesh"),
        };
        (count > 1).then(|| Finding {
            text: format!("the skin is {count} connected parts"),
            remedy,
            option: (!parts.is_empty()).then(|| "--part NAME=flesh|ride|rigid:JOINT".to_owned()),
            ..finding(FindingKind::Parts, Severity::Info, count)
        })
    }

    fn without_bone(&self) -> Option<Finding> {
        let others: Vec<usize> = (0..self.parts.parts.len())
            .filter(|&part| self.parts.parts[part].place != Place::Flesh)
            .collect();
        if others.is_empty() {
            return None;
        }
        let rides = others
            .iter()
            .filter(|&&part| self.parts.parts[part].place == Place::Rides)
            .count();
        let how = [
            (rides, "ride on the flesh next to them"),
            (others.len() - rides, "are rigid with a joint"),
        ];
        let how: Vec<String> = how
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, how)| format!("{count} {how}"))
            .collect();
        let mut largest = others.clone();
        largest.sort_by(|&a, &b| {
            self.parts.parts[b]
                .area
                .total_cmp(&self.parts.parts[a].area)
                .then(a.cmp(&b))
        });
        let mut first = vec![u32::MAX; self.parts.parts.len()];
        for (vertex, &part) in self.parts.part_of_vertex.iter().enumerate().rev() {
            first[part as usize] = vertex as u32;
        }
        let names = some_names(
            largest
                .iter()
                .map(|&part| self.parts.parts[part].name.as_str()),
        );
        let spot = |&part: &usize| self.spot(first[part], self.parts.parts[part].size());
        Some(Finding {
            text: format!(
                "{} without a bone of their own: {names}",
                counted(others.len(), "part", "parts")
            ),
            remedy: how.join(", "),
            option: Some("--part NAME=flesh|ride|rigid:JOINT".to_owned()),
            spots: largest
                .iter()
                .take(PLACES)
                .filter(|&&part| first[part] != u32::MAX)
                .map(spot)
                .collect(),
            ..finding(FindingKind::PartsWithoutBone, Severity::Info, others.len())
        })
    }

    /// What is about vertices of the file.
    fn vertices(&self) -> Vec<Finding> {
        let character = &self.subject.character;
        let mut used = vec![false; character.source_vertices()];
        character
            .triangles()
            .iter()
            .flatten()
            .for_each(|&v| used[v as usize] = true);
        let unused: Vec<u32> = (0..used.len() as u32)
            .filter(|&v| !used[v as usize])
            .collect();
        let on_skin = self
            .surface
            .skin_from_source
            .iter()
            .filter(|skin| skin.is_some())
            .count();
        let doubles = on_skin.saturating_sub(self.surface.mesh.positions.len());
        let mut found = Vec::new();
        if doubles > 0 {
            found.push(Finding {
                text: format!(
                    "{} at the place of another one",
                    counted(doubles, "vertex", "vertices")
                ),
                remedy: "they move together; the file's vertices stay as they are".to_owned(),
                ..finding(FindingKind::DuplicateVertices, Severity::Info, doubles)
            });
        }
        if !unused.is_empty() {
            let spot = |&vertex: &u32| Spot {
                vertex: Some(vertex),
                joint: None,
                position: self.subject.bind_positions[vertex as usize]
                    .cast::<f64>()
                    .coords
                    .into(),
                radius: 0.03 * self.size(),
            };
            found.push(Finding {
                text: format!(
                    "{} that no face uses",
                    counted(unused.len(), "vertex", "vertices")
                ),
                remedy: "kept, but not simulated".to_owned(),
                spots: unused.iter().take(PLACES).map(spot).collect(),
                ..finding(
                    FindingKind::UnreferencedVertices,
                    Severity::Info,
                    unused.len(),
                )
            });
        }
        found
    }
}

fn finding(kind: FindingKind, severity: Severity, count: usize) -> Finding {
    Finding {
        kind,
        severity,
        count,
        text: String::new(),
        remedy: String::new(),
        option: None,
        spots: Vec::new(),
    }
}

fn up_axis(up: &UpAxis) -> Option<Finding> {
    (!up.is_y()).then(|| Finding {
        text: format!("{} seems to be up in this file (by its {})", up.name(), up.by),
        remedy: "the file's axes are kept, and gravity, where it is switched on, pulls down along this one".to_owned(),
        ..finding(FindingKind::UpAxis, Severity::Info, 0)
    })
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The first few names.
fn some_names<'a>(names: impl Iterator<Item = &'a str> + Clone) -> String {
    let more = names.clone().count().saturating_sub(NAMES);
    let shown = names.take(NAMES).collect::<Vec<_>>().join(", ");
    if more > 0 {
        format!("{shown} and {more} more")
    } else {
        shown
    }
}
