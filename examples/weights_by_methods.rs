//! All weight methods by all methods that follow joints, on any characters: what binding and a frame take, how far the skin is from that
//! of linear blending by the file's own weights, and what happens to volume and folds.
//!
//! `cargo run --release --example weights_by_methods -- [POSES] FILE…`; POSES is how many poses of the range of motion count (12).
//!
//! Set-up is the time of the weights and of binding; all stages are computed, none is read from a cache. Distances are root mean squares
//! over the vertices, in mm, the median of the poses; volumes the mean of the changes, and pairs the sum of new pairs of intersecting
//! triangles, over the poses. Frames are the median over the poses. Characters whose file has no weights have no distances.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use sinew::dynamics::Params;
use sinew::math::Point;
use sinew::methods::{Actor, Capability, Frame, MethodId, Requirement, Subject};
use sinew::metrics::{METRICS, Meter, MeterFrame, RestSkin};
use sinew::progress::Progress;
use sinew::rig::{Pose, motion_range};
use sinew::session::{Source, load};
use sinew::weights::{WeightMethod, registry};

/// Poses unless told otherwise.
const POSES: usize = 12;

/// Positions in every pose, and what they took.
struct Moved {
    bind_ms: f64,
    frames_ms: Vec<f64>,
    positions: Vec<Vec<Point>>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let poses = match words.first().and_then(|word| word.parse().ok()) {
        Some(count) => {
            words.remove(0);
            count
        }
        None => POSES,
    };
    for file in words {
        table(&file, poses)?;
    }
    Ok(())
}

fn table(file: &str, count: usize) -> Result<(), Box<dyn Error>> {
    let progress = Progress::new();
    let character = Arc::new(load(&Source::of_files(vec![file.into()]), &progress)?);
    let subject = Arc::new(Subject::build(character, &progress)?);
    let range = motion_range(&subject.character.skeleton);
    // Evenly from the whole range, and the far ends of the movements before the near ones.
    let step = (range.len() / count.max(1)).max(1);
    let poses: Vec<Pose> = range
        .iter()
        .skip(step - 1)
        .step_by(step)
        .take(count)
        .map(|pose| pose.pose.clone())
        .collect();
    println!(
        "\n**{}**: {} vertices, {} joints, {} poses\n",
        subject.character.name,
        subject.bind_positions.len(),
        subject.character.skeleton.len(),
        poses.len()
    );
    println!(
        "| weights | method | weights ms | bind ms | frame ms | mm to the artist | volume % | new pairs |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let artist = subject
        .file_weights()
        .is_some()
        .then(|| moved(&subject, MethodId::LBS, &poses))
        .transpose()?;
    for weights in registry() {
        let (weighted, weights_ms) = with_weights(&subject, weights)?;
        for method in sinew::methods::registry() {
            let follows_weights = method.needs(Requirement::Weights);
            let is_direct = !method.needs(Requirement::Tissue) && !method.has(Capability::Offline);
            // Methods without need of weights are the same for all.
            if !is_direct || !follows_weights && weights != WeightMethod::default() {
                continue;
            }
            let made = moved(&weighted, method, &poses)?;
            let row = row(&subject, &poses, &made, artist.as_ref())?;
            let name = if follows_weights { weights.id() } else { "–" };
            println!("| {name} | {method} | {weights_ms:.0} | {row}");
        }
    }
    Ok(())
}

/// The character with weights that are computed now, and the milliseconds that this took.
fn with_weights(
    subject: &Subject,
    weights: WeightMethod,
) -> Result<(Arc<Subject>, f64), Box<dyn Error>> {
    let progress = Progress::new();
    // A subject of its own: nothing that other weights found is shared.
    let fresh = Subject::build(subject.character.clone(), &progress)?;
    let weighted = Arc::new(fresh.with_weights(weights));
    let start = Instant::now();
    weighted.make_weights(&progress)?;
    Ok((weighted, start.elapsed().as_secs_f64() * 1e3))
}

fn moved(
    subject: &Arc<Subject>,
    method: MethodId,
    poses: &[Pose],
) -> Result<Moved, Box<dyn Error>> {
    let start = Instant::now();
    let mut actor = Actor::bind(subject, method, &Params::default(), &Progress::new())?;
    let mut moved = Moved {
        bind_ms: start.elapsed().as_secs_f64() * 1e3,
        frames_ms: Vec::new(),
        positions: Vec::new(),
    };
    for pose in poses {
        let world = subject.character.skeleton.world_from_joint(pose);
        let frame = Frame {
            world_from_joint: &world,
            dt_secs: 0.0,
        };
        // The first of several frames warms the caches.
        for _ in 0..5 {
            actor.advance(&frame)?;
        }
        moved.frames_ms.push(actor.times().total_ms);
        moved.positions.push(actor.positions().to_vec());
    }
    Ok(moved)
}

/// The numbers of a method.
fn row(
    subject: &Subject,
    poses: &[Pose],
    made: &Moved,
    artist: Option<&Moved>,
) -> Result<String, Box<dyn Error>> {
    let progress = Progress::new();
    let wanted = ["volume_change", "new_pairs"];
    let is_wanted = |metric: &&'static sinew::metrics::Metric| {
        let mut quantities = metric.quantities.iter();
        quantities.any(|quantity| wanted.contains(&quantity.id))
    };
    let mut meter = Meter::new(
        RestSkin::of(subject),
        METRICS.iter().copied().filter(is_wanted),
        &progress,
    )?;
    let (mut volumes, mut pairs, mut distances) = (Vec::new(), 0, Vec::new());
    let mm = subject.character.metres_per_unit * 1e3;
    for (index, (pose, positions)) in poses.iter().zip(&made.positions).enumerate() {
        let world = subject.character.skeleton.world_from_joint(pose);
        let frame = MeterFrame {
            positions,
            world_from_joint: &world,
            ..MeterFrame::default()
        };
        let measured = meter.measure(&frame, &progress)?;
        volumes.extend(measured.get("volume_change"));
        pairs += measured.count("new_pairs");
        if let Some(artist) = artist {
            let pairs = positions.iter().zip(&artist.positions[index]);
            let squares: f64 = pairs.map(|(a, b)| f64::from((a - b).norm_squared())).sum();
            distances.push((squares / positions.len().max(1) as f64).sqrt() * mm);
        }
    }
    let volume = volumes.iter().sum::<f64>() / volumes.len().max(1) as f64;
    let distance = median(distances).map_or_else(|| "–".to_owned(), |mm| format!("{mm:.1}"));
    Ok(format!(
        "{:.0} | {:.2} | {distance} | {:+.1} | {pairs} |",
        made.bind_ms,
        median(made.frames_ms.clone()).unwrap_or(0.0),
        100.0 * volume,
    ))
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
