//! Findings of the check-up: what was found, what Sinew does about it, and how the user can change that.

mod flesh;
mod joints;
mod parts;
mod surface;

use std::borrow::Cow;

use serde::Serialize;

use super::UpAxis;
use crate::character::{Attachment, Severity};
use crate::math::Point64;
use crate::mesh::{MeshCheckup, SkinMesh, TriMesh};
use crate::methods::Subject;
use crate::progress::{Cancelled, Progress};
use crate::tissue::Parts;
use crate::weights::WeightMethod;

/// Largest number of places kept per finding.
const PLACES: usize = 8;
/// Largest number of names in a sentence.
const NAMES: usize = 4;

/// Kind of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// The unit of length.
    Unit,
    /// The up axis.
    UpAxis,
    /// More than one connected part.
    Parts,
    /// Parts without a bone inside.
    PartsWithoutBone,
    /// Joints that move skin but lie outside it.
    JointsOutside,
    /// Joints at one place that share the skin around them.
    CoincidentJoints,
    /// Skin without weights.
    MissingWeights,
    /// Boundary edges.
    Boundaries,
    /// Edges with more than two faces (non-manifold).
    NonManifoldEdges,
    /// Vertices with several fans of faces (non-manifold).
    NonManifoldVertices,
    /// Faces with zero area.
    DegenerateFaces,
    /// Duplicate faces.
    DuplicateFaces,
    /// Vertices at the same position as another.
    DuplicateVertices,
    /// Unreferenced vertices.
    UnreferencedVertices,
    /// Adjacent faces with opposite orientation.
    FlippedFaces,
    /// Closed parts whose normals point inwards.
    InsideOut,
    /// Faces that intersect others in the bind pose.
    SelfIntersections,
    /// Tets that are inverted or flat at rest.
    InvertedFlesh,
}

/// A place to mark and to look at.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FindingPlace {
    /// The source vertex, if it is on the skin.
    pub vertex: Option<u32>,
    /// The joint.
    pub joint: Option<usize>,
    /// World position in the bind pose.
    pub position: [f64; 3],
    /// Radius of the region to show, world units.
    pub radius: f64,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Its kind.
    pub kind: FindingKind,
    /// Its severity.
    pub severity: Severity,
    /// Count.
    pub count: usize,
    /// What was found: a sentence without a full stop.
    pub text: String,
    /// What Sinew does about it automatically.
    pub remedy: String,
    /// How the user can change that.
    pub option: Option<String>,
    /// Some of the places, most important first.
    #[serde(rename = "spots")]
    pub places: Vec<FindingPlace>,
}

/// Input of the check-up.
pub(super) struct CheckupInput<'a> {
    pub(super) subject: &'a Subject,
    pub(super) parts: &'a Parts,
    /// The surface that is checked: the skin, or all meshes if none is skinned.
    pub(super) surface: Cow<'a, SkinMesh>,
    source_from_skin: Vec<u32>,
}

impl<'a> CheckupInput<'a> {
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

    /// All findings, most severe first.
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
        findings.extend(self.coincident_joints());
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
    fn skin_place(&self, vertex: u32, radius: f64) -> FindingPlace {
        let position = self.surface.mesh.positions[vertex as usize]
            .cast::<f64>()
            .coords
            .into();
        FindingPlace {
            vertex: Some(self.source_from_skin[vertex as usize]),
            joint: None,
            position,
            radius: radius.max(0.03 * self.size()),
        }
    }

    fn distinct_places(&self, vertices: impl IntoIterator<Item = u32>) -> Vec<FindingPlace> {
        let mut places: Vec<FindingPlace> = Vec::new();
        for vertex in vertices {
            let place = self.skin_place(vertex, 0.0);
            let apart = |other: &FindingPlace| {
                (Point64::from(other.position) - Point64::from(place.position)).norm()
                    > place.radius
            };
            if places.iter().all(apart) {
                places.push(place);
            }
            if places.len() == PLACES {
                break;
            }
        }
        places
    }

    fn unit(&self) -> Option<Finding> {
        let unit = self.subject.metres_per_unit();
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
            text: format!("{count} vertices have no skinning weights"),
            remedy: format!(
                "they are computed: {}",
                WeightMethod::AUTOMATIC.label().to_lowercase()
            ),
            option: Some("--weights".to_owned()),
            ..finding(FindingKind::MissingWeights, Severity::Info, count)
        })
    }

    /// A finding about source vertices.
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
        let copies = character.source_vertices() - character.file_vertices();
        let doubles = on_skin.saturating_sub(self.surface.mesh.positions.len() + copies);
        let mut found = Vec::new();
        if doubles > 0 {
            found.push(Finding {
                text: format!(
                    "{} at the position of another one",
                    counted(doubles, "vertex", "vertices")
                ),
                remedy: "they move together; the file's vertices are kept".to_owned(),
                ..finding(FindingKind::DuplicateVertices, Severity::Info, doubles)
            });
        }
        if !unused.is_empty() {
            let place = |&vertex: &u32| FindingPlace {
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
                places: unused.iter().take(PLACES).map(place).collect(),
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
        places: Vec::new(),
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
