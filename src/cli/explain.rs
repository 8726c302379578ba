//! `sinew explain`: why a point of the skin is where it is.

use clap::Args;
use serde::Serialize;

use super::options::{CharacterOptions, Options, method_ids, parse_method};
use super::pose::PoseOptions;
use super::weights::WeightsOption;
use super::{CommandResult, Failure, character, print_json, print_lines, stderr};
use crate::math::Point;
use crate::methods::{MethodId, SkinError};
use crate::progress::Progress;
use crate::report::{PointReport, nearest_vertex, point_report, shown_term};

/// Options of the verb.
#[derive(Debug, Args)]
pub(super) struct Explain {
    #[command(flatten)]
    character: CharacterOptions,
    #[arg(long, visible_alias = "methods", value_parser = parse_method, value_delimiter = ',', required = true, help = methods_help())]
    method: Vec<MethodId>,
    /// The vertex of the source meshes, counted from 0 over all meshes.
    #[arg(long, value_name = "N", required_unless_present = "near")]
    vertex: Option<usize>,
    /// The vertex nearest to this position in the bind pose, in the character's units.
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_position, allow_hyphen_values = true, conflicts_with = "vertex")]
    near: Option<[f32; 3]>,
    #[command(flatten)]
    weights: WeightsOption,
    #[command(flatten)]
    pose: PoseOptions,
    /// Print a JSON report.
    #[arg(help_heading = "Output", long)]
    json: bool,
}

fn methods_help() -> String {
    format!("The methods to explain; there are {}", method_ids())
}

fn parse_position(text: &str) -> Result<[f32; 3], String> {
    let numbers: Option<Vec<f32>> = text
        .split(',')
        .map(|part| part.trim().parse().ok().filter(|c: &f32| c.is_finite()))
        .collect();
    numbers
        .and_then(|numbers| <[f32; 3]>::try_from(numbers).ok())
        .ok_or_else(|| "expected three numbers, as in 0.2,1.4,0".to_owned())
}

#[derive(Serialize)]
struct ExplainReport<'a> {
    character: &'a str,
    /// One for each method.
    points: &'a [PointReport],
}

impl Explain {
    pub(super) fn run(&self, options: &Options) -> CommandResult {
        let subject = self.character.open(options)?;
        let saved = self.character.saved(&subject, options)?;
        let subject = self.weights.on(&subject, saved.as_ref())?;
        let options = &options.with_saved(saved.as_ref());
        let pose = self.pose.with_saved(saved.as_ref());
        let name = &subject.character.name;
        let count = subject.bind_positions.len();
        let vertex = match (self.vertex, self.near) {
            (Some(vertex), _) if vertex < count => vertex,
            (Some(vertex), _) => {
                return Err(Failure::Undone(format!(
                    "{name} has no vertex {vertex}: its {count} vertices count from 0"
                )));
            }
            (None, near) => {
                let at = Point::from(near.unwrap_or_default());
                nearest_vertex(&subject.bind_positions, &at)
                    .ok_or_else(|| Failure::Undone(format!("{name} has no vertices")))?
            }
        };
        let take = pose.take_to_draw(&subject.character)?;
        let mut points = Vec::new();
        for &method in &self.method {
            let mut actor = character::bind(&subject, method, options)?;
            let mut world = Vec::new();
            let work = |progress: &Progress| {
                let actors = std::slice::from_mut(&mut actor);
                take.play_together(actors, progress, |_, joints, _| {
                    world.clear();
                    world.extend_from_slice(joints);
                    Ok::<(), SkinError>(())
                })
            };
            stderr::with_progress(options, method.label(), work)?;
            let explanation = actor.explain(vertex, &world);
            let report = point_report(&subject, method, actor.positions(), vertex, &explanation);
            points.push(report);
        }
        if self.json {
            return print_json(&ExplainReport {
                character: name,
                points: &points,
            });
        }
        let metres = subject.metres_per_unit();
        print_lines(points.iter().flat_map(|point| lines(point, metres)))
    }
}

/// The report as lines.
fn lines(point: &PointReport, metres_per_unit: f64) -> Vec<String> {
    let mut lines = vec![format!(
        "{}: vertex {} of {}",
        point.method.label(),
        point.vertex_of_mesh,
        if point.mesh.is_empty() {
            "the mesh"
        } else {
            &point.mesh
        }
    )];
    lines.extend(point.sentences.iter().map(|text| format!("  {text}")));
    lines.extend(point.terms.iter().map(|term| {
        let value = shown_term(term.value, metres_per_unit);
        format!("  {value:>12}  {}", term.label)
    }));
    lines
}
