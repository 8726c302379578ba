//! A point of the skin, explained in words and numbers: who moves it, what the method computes there, and what became of the skin around it.

use std::fmt::Write as _;

use serde::Serialize;

use crate::math::{Point, Vec3};
use crate::methods::{Explanation, MethodId, Subject, Term, TermValue};

/// Influences below this weight are not named in sentences.
const NAMED: f32 = 0.01;
/// At most this many influences are named in a sentence.
const MOST_NAMED: usize = 4;
/// An angle between joints that is worth a sentence, degrees.
const WIDE: f64 = 45.0;
/// A volume of the mixed matrices that is worth a sentence.
const SHRUNKEN: f64 = 0.9;
/// A stretch of the skin that is worth a sentence: this, or its inverse.
const STRETCHED: f64 = 1.25;
/// A change of the angle between triangles that is worth a sentence, degrees.
const CREASED: f64 = 30.0;

/// A source vertex in a frame of a method.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PointReport {
    /// The method.
    pub method: MethodId,
    /// The source vertex, counted over all meshes.
    pub vertex: usize,
    /// Its mesh.
    pub mesh: String,
    /// Its number in the mesh.
    pub vertex_of_mesh: usize,
    /// Position, world units.
    pub position: [f32; 3],
    /// Who moves it, largest weight first.
    pub joints: Vec<PointJoint>,
    /// The method's numbers, then those of the skin around the vertex.
    pub terms: Vec<Term>,
    /// The same in words, for the ones that say something.
    pub sentences: Vec<String>,
}

/// A joint that moves a vertex.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PointJoint {
    /// Its name.
    pub name: String,
    /// Its weight.
    pub weight: f32,
    /// Its rotation since the bind pose, degrees.
    pub turned_deg: f64,
}

/// Reports on a vertex. `positions` are those of all source vertices in the frame that was explained.
///
/// # Panics
/// If there is no such vertex, or there are other positions than the subject has.
#[must_use]
pub fn point_report(
    subject: &Subject,
    method: MethodId,
    positions: &[Point],
    vertex: usize,
    explanation: &Explanation,
) -> PointReport {
    let character = &subject.character;
    let mut vertex_of_mesh = vertex;
    let mesh = character.meshes.iter().find(|mesh| {
        let here = vertex_of_mesh < mesh.positions.len();
        if !here {
            vertex_of_mesh -= mesh.positions.len();
        }
        here
    });
    let joints: Vec<PointJoint> = explanation
        .influences
        .iter()
        .map(|influence| PointJoint {
            name: character.skeleton.joints()[influence.joint].name.clone(),
            weight: influence.weight,
            turned_deg: influence.turned_deg,
        })
        .collect();
    let mut terms = explanation.terms.clone();
    terms.extend(skin_terms(subject, positions, vertex));
    let mm = subject.metres_per_unit() * 1e3;
    PointReport {
        method,
        vertex,
        mesh: mesh.map(|mesh| mesh.name.clone()).unwrap_or_default(),
        vertex_of_mesh,
        position: positions[vertex].coords.into(),
        sentences: sentences(&joints, &terms, method, mm),
        joints,
        terms,
    }
}

/// The source vertex nearest to a world position in a frame.
#[must_use]
pub fn nearest_vertex(positions: &[Point], at: &Point) -> Option<usize> {
    let distances = positions.iter().map(|p| (p - at).norm_squared());
    distances
        .enumerate()
        .filter(|(_, distance)| distance.is_finite())
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(vertex, _)| vertex)
}

/// A term's value for people; lengths in millimetres.
#[must_use]
pub fn shown_term(value: TermValue, metres_per_unit: f64) -> String {
    match value {
        TermValue::Factor(factor) => format!("{factor:.2} ×"),
        TermValue::Part(part) if part > 0.0 && part < 0.001 => "under 0.1 %".to_owned(),
        TermValue::Part(part) => format!("{:.1} %", part * 100.0),
        TermValue::Degrees(degrees) => format!("{degrees:.0}°"),
        TermValue::Length(length) => {
            let mm = length * metres_per_unit * 1e3;
            let digits = usize::from(mm < 99.95) + usize::from(mm < 0.995);
            format!("{mm:.digits$} mm")
        }
        TermValue::Count(count) => count.to_string(),
    }
}

/// What became of the skin around a vertex: stretch of its edges, area and angles of its triangles.
fn skin_terms(subject: &Subject, positions: &[Point], vertex: usize) -> Vec<Term> {
    let skin = &subject.skin;
    let Some(own) = skin.skin_from_source.get(vertex).copied().flatten() else {
        return Vec::new();
    };
    let source_of = skin.source_from_skin();
    let now = |v: u32| positions[source_of[v as usize] as usize];
    let rest = |v: u32| skin.mesh.positions[v as usize];
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    let (mut area, mut rest_area) = (0.0, 0.0);
    // Each edge at the vertex with the normals of its two triangles, at rest and now.
    let mut sides: Vec<(u32, [Vec3; 2])> = Vec::new();
    let mut crease = 0.0_f64;
    for triangle in &skin.mesh.triangles {
        let Some(at) = triangle.iter().position(|&v| v == own) else {
            continue;
        };
        let others = [triangle[(at + 1) % 3], triangle[(at + 2) % 3]];
        let normal = |place: &dyn Fn(u32) -> Point| {
            let own = place(own);
            (place(others[0]) - own).cross(&(place(others[1]) - own))
        };
        let normals = [normal(&rest), normal(&now)];
        rest_area += f64::from(normals[0].norm());
        area += f64::from(normals[1].norm());
        for other in others {
            let [before, after] =
                [rest(other) - rest(own), now(other) - now(own)].map(|edge| f64::from(edge.norm()));
            if before > 0.0 {
                least = least.min(after / before);
                most = most.max(after / before);
            }
            match sides.iter().find(|(end, _)| *end == other) {
                Some((_, beside)) => {
                    let angle = |k: usize| f64::from(beside[k].angle(&normals[k]));
                    crease = crease.max((angle(1) - angle(0)).abs().to_degrees());
                }
                None => sides.push((other, normals)),
            }
        }
    }
    if rest_area <= 0.0 || !least.is_finite() {
        return Vec::new();
    }
    let term = |id, label: &str, value, meaning| Term {
        id,
        label: label.to_owned(),
        value,
        meaning,
    };
    vec![
        term(
            "edge_stretch_least",
            "Most squeezed edge",
            TermValue::Factor(least),
            "Length of the edges at the vertex relative to rest: the smallest.",
        ),
        term(
            "edge_stretch_most",
            "Most stretched edge",
            TermValue::Factor(most),
            "Length of the edges at the vertex relative to rest: the largest.",
        ),
        term(
            "area",
            "Area around it",
            TermValue::Factor(area / rest_area),
            "Area of the triangles at the vertex relative to rest.",
        ),
        term(
            "crease_deg",
            "Change of angle across an edge",
            TermValue::Degrees(crease),
            "Largest change of the angle between two neighbouring triangles at the vertex since rest.",
        ),
    ]
}

/// Sentences for what is worth one.
fn sentences(joints: &[PointJoint], terms: &[Term], method: MethodId, mm: f64) -> Vec<String> {
    let number = |id: &str| {
        let term = terms.iter().find(|term| term.id == id)?;
        Some(match term.value {
            TermValue::Factor(value) | TermValue::Part(value) | TermValue::Degrees(value) => value,
            TermValue::Length(value) => value * mm,
            TermValue::Count(value) => value as f64,
        })
    };
    let mut out = vec![by_whom(joints)];
    let wide = number("rotation_spread_deg").filter(|spread| *spread >= WIDE);
    if let (Some(spread), Some(volume)) = (wide, number("matrix_volume"))
        && volume < SHRUNKEN
    {
        out.push(format!(
            "Its joints are {spread:.0}° apart: mixing their matrices leaves {:.0} % of the volume, which linear blending shows.",
            volume.max(0.0) * 100.0
        ));
    }
    if let Some(far) = number("from_linear").filter(|far| *far >= 1.0)
        && method != MethodId::LBS
    {
        out.push(format!(
            "The method puts it {far:.0} mm from where linear blending would."
        ));
    }
    if let Some(far) = number("from_guide").filter(|far| *far >= 1.0) {
        out.push(format!(
            "Elasticity and contact move the flesh here by {far:.0} mm from where the weights alone put it."
        ));
    }
    if let (Some(least), Some(volume)) = (number("least_stretch"), number("flesh_volume"))
        && least < 1.0 / STRETCHED
    {
        out.push(format!(
            "The flesh is squeezed to {least:.2} of its length in one direction and has {:.0} % of its volume.",
            volume * 100.0
        ));
    }
    if let Some(count) = number("inverted_tets").filter(|count| *count > 0.0) {
        out.push(format!(
            "{count:.0} of the tets at it are turned inside out: the flesh there is not sound in this pose."
        ));
    }
    if let (Some(pressing), depth) = (number("contacts"), number("contact_depth"))
        && pressing > 0.0
    {
        let contact = terms.iter().find(|term| term.id == "contact_depth");
        let with = contact.and_then(|term| term.label.split_once(" with ").map(|(_, with)| with));
        let with = with.map_or_else(|| "other skin".to_owned(), str::to_owned);
        out.push(match depth.filter(|depth| *depth >= 0.1) {
            Some(depth) => format!("It presses against {with}, {depth:.1} mm deep."),
            None => format!("It touches {with}."),
        });
    }
    let most = number("edge_stretch_most").filter(|most| *most > STRETCHED);
    let least = number("edge_stretch_least").filter(|least| *least < 1.0 / STRETCHED);
    match (least, most) {
        (Some(least), Some(most)) => out.push(format!(
            "The skin around it is stretched to {most:.2} in one direction and squeezed to {least:.2} in another."
        )),
        (Some(least), None) => {
            out.push(format!("The skin around it is squeezed to {least:.2} of its length."));
        }
        (None, Some(most)) => {
            out.push(format!("The skin around it is stretched to {most:.2} of its length."));
        }
        (None, None) => {}
    }
    if let Some(crease) = number("crease_deg").filter(|crease| *crease > CREASED) {
        out.push(format!(
            "It lies in a crease: two of its triangles have turned by {crease:.0}° against each other."
        ));
    }
    out
}

/// Who moves the vertex.
fn by_whom(joints: &[PointJoint]) -> String {
    let named = joints
        .iter()
        .filter(|joint| joint.weight >= NAMED)
        .take(MOST_NAMED);
    let mut text = String::new();
    for joint in named {
        let separator = if text.is_empty() { "" } else { ", " };
        let _ = write!(
            text,
            "{separator}{} {:.0} % (turned by {:.0}°)",
            joint.name,
            joint.weight * 100.0,
            joint.turned_deg
        );
    }
    if text.is_empty() {
        "No joint moves it.".to_owned()
    } else {
        format!("Moved by {text}.")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::dynamics::Params;
    use crate::methods::{Actor, Frame};
    use crate::progress::Progress;
    use crate::rig::motion_range;

    fn report(method: MethodId, pose: &str) -> PointReport {
        let character = crate::io::builtin::load_builtin("mannequin").unwrap();
        let subject = Subject::build(Arc::new(character), &Progress::new()).unwrap();
        let subject = Arc::new(subject);
        let skeleton = &subject.character.skeleton;
        let range = motion_range(skeleton);
        let pose = range.iter().find(|other| other.id == pose);
        let pose = pose.map_or_else(|| skeleton.rest_pose(), |found| found.pose.clone());
        let world = skeleton.world_from_joint(&pose);
        let mut actor =
            Actor::bind(&subject, method, &Params::default(), &Progress::new()).unwrap();
        let frame = Frame {
            world_from_joint: &world,
            dt_secs: 0.0,
        };
        actor.advance(&frame).unwrap();
        // The vertex at the inside of the elbow whose weights are the most divided.
        let elbow = skeleton.find("forearm.L").unwrap();
        let divided = |vertex: &usize| {
            let weights = &subject.skin_weights();
            let skin = subject.skin.skin_from_source[*vertex].map(|skin| skin as usize);
            let own = skin.and_then(|skin| weights.of(skin).find(|(joint, _)| *joint == elbow));
            own.map_or(1.0, |(_, weight)| (weight - 0.5).abs())
        };
        let vertex = (0..subject.bind_positions.len())
            .min_by(|a, b| divided(a).total_cmp(&divided(b)))
            .unwrap();
        let explanation = actor.explain(vertex, &world);
        point_report(&subject, method, actor.positions(), vertex, &explanation)
    }

    fn says(report: &PointReport, words: &str) -> bool {
        report.sentences.iter().any(|text| text.contains(words))
    }

    #[test]
    fn words_say_what_happens_in_a_bent_elbow() {
        let linear = report(MethodId::LBS, "elbow.l-150");
        assert!(says(&linear, "Moved by "), "{:?}", linear.sentences);
        assert!(says(&linear, "forearm.L") && says(&linear, "apart: mixing their matrices"));
        assert!(!says(&linear, "from where linear blending would"));
        let dual = report(MethodId::DQS, "elbow.l-150");
        assert!(
            says(&dual, "from where linear blending would"),
            "{:?}",
            dual.sentences
        );
        let flesh = report(MethodId::PD, "elbow.l-150");
        assert!(flesh.terms.iter().any(|term| term.id == "energy_share"));
    }

    #[test]
    fn nothing_remarkable_is_said_at_rest() {
        for method in [MethodId::LBS, MethodId::PD] {
            let still = report(method, "rest");
            assert_eq!(still.sentences.len(), 1, "{:?}", still.sentences);
        }
    }

    #[test]
    fn values_are_printed_with_their_units() {
        assert_eq!(shown_term(TermValue::Length(0.0123), 1.0), "12.3 mm");
        assert_eq!(shown_term(TermValue::Length(0.5), 0.001), "0.50 mm");
        assert_eq!(shown_term(TermValue::Length(0.5), 1.0), "500 mm");
        assert_eq!(shown_term(TermValue::Part(0.0004), 1.0), "under 0.1 %");
        assert_eq!(shown_term(TermValue::Factor(1.5), 1.0), "1.50 ×");
    }
}
