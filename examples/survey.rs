//! Does every character live? Each is opened, checked up, bent until settled, played, written and read again; out comes a table and a
//! contact sheet.
//!
//! `cargo run --release --example survey -- [-o SHEET.png] CHARACTER…`, where a character is one file, several joined by commas
//! (`arm.obj,arm.tgf`), or `builtin:NAME`.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use image::RgbaImage;
use nalgebra::Unit;
use sinew::dynamics::Params;
use sinew::gpu::GpuContext;
use sinew::math::{Point, Quat, Vec64};
use sinew::mesh::Bounds;
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::progress::Progress;
use sinew::render::{
    Background, Camera, CharacterPicture, Ground, MeshStyle, PictureSheet, Renderer,
};
use sinew::rig::{Pose, Skeleton};
use sinew::session::{
    BakeFormat, BakeSettings, Checkup, DEFAULT_FPS, Moments, Motion, Source, Take, bake, open,
};

/// Every inner joint is bent by so much, rad.
const BEND: f64 = 0.5;
/// Pixels of a picture.
const CELL: [u32; 2] = [360, 400];

fn main() -> Result<(), Box<dyn Error>> {
    let (mut sheet, mut characters) = (None, Vec::new());
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "-o" {
            sheet = Some(PathBuf::from(words.next().ok_or("-o needs a file")?));
        } else {
            characters.push(Source::of_files(
                word.split(',').map(PathBuf::from).collect(),
            ));
        }
    }
    let gpu = GpuContext::headless()?;
    let renderer = Renderer::new(&gpu);
    println!(
        "| character | source vertices | simulated | findings | open s | first frame s | step ms | bend | clip | written and read again |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let (mut pictures, mut labels) = (Vec::new(), Vec::new());
    for source in characters {
        match survey(&source, &renderer) {
            Ok((row, picture)) => {
                println!("{row}");
                pictures.push(picture);
                labels.push(source.title());
            }
            Err(error) => println!("| {} | refused: {error} |", source.title()),
        }
    }
    if let (Some(path), false) = (sheet, pictures.is_empty()) {
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        PictureSheet::new(PictureSheet::around(CELL, pictures.len()), pictures.len())
            .compose(&pictures, &labels)
            .save(&path)?;
        println!("\nthe bends: {}", path.display());
    }
    Ok(())
}

/// One row of the table and one picture.
fn survey(source: &Source, renderer: &Renderer) -> Result<(String, RgbaImage), Box<dyn Error>> {
    let progress = Progress::new();
    let start = Instant::now();
    let subject = open(source, &progress)?;
    let open_secs = start.elapsed().as_secs_f64();
    let method = if subject.flesh().is_ok() {
        MethodId::PD
    } else {
        MethodId::LBS
    };
    let character = &subject.character;
    let mut actor = Actor::bind(&subject, method, &Params::default(), &progress)?;
    let world = character
        .skeleton
        .world_from_joint(&character.skeleton.rest_pose());
    actor.advance(&Frame {
        world_from_joint: &world,
        dt_secs: 0.0,
    })?;
    let first_secs = start.elapsed().as_secs_f64();

    let (clip, step_ms) = play(&mut actor)?;
    let bend = Take {
        motion: Motion::Pose(bent(&character.skeleton)),
        moments: Moments::Settled { time_secs: 0.0 },
    };
    bend.play(&mut actor, &progress, |_, _| {
        Ok::<_, std::convert::Infallible>(())
    })?;
    let bent = grown(&subject, &actor);
    let picture = draw(renderer, &subject, &actor)?;
    let again = write_and_read(&mut actor, &bend).unwrap_or_else(|error| error.to_string());
    let row = format!(
        "| {} | {} | {} | {} | {open_secs:.2} | {first_secs:.2} | {step_ms:.2} | {bent} | {clip} | {again} |",
        source.title(),
        character.source_vertices(),
        if method == MethodId::PD {
            subject.sim().mesh.positions.len().to_string()
        } else {
            "lbs".to_owned()
        },
        Checkup::of(&subject).findings.len(),
    );
    Ok((row, picture))
}

/// Every inner joint bent further the way it is bent already.
fn bent(skeleton: &Skeleton) -> Pose {
    let mut pose = skeleton.rest_pose();
    for joint in 0..skeleton.len() {
        let Some(parent) = skeleton.joints()[joint].parent else {
            continue;
        };
        let Some(child) =
            (0..skeleton.len()).find(|&child| skeleton.joints()[child].parent == Some(joint))
        else {
            continue;
        };
        let place = |joint: usize| skeleton.bind_position(joint).coords;
        let axis = (place(joint) - place(parent)).cross(&(place(child) - place(joint)));
        let axis = Unit::try_new(axis, 1e-12).unwrap_or_else(Vec64::x_axis);
        let world = skeleton.bind_transforms()[joint];
        let Some(local) = world
            .try_inverse()
            .and_then(|inverse| Unit::try_new(inverse.transform_vector(&axis), 1e-12))
        else {
            continue;
        };
        let turn = Quat::from_axis_angle(&local, BEND);
        pose.locals[joint].rotation *= turn;
    }
    pose
}

/// The first clip, or the way into the bend: whether every frame was finite, and the median time of a step.
fn play(actor: &mut Actor) -> Result<(String, f64), Box<dyn Error>> {
    let subject = actor.subject().clone();
    let character = &subject.character;
    let motion = if character.clips.is_empty() {
        Motion::Pose(bent(&character.skeleton))
    } else {
        Motion::Clip(0)
    };
    let mut take = Take::whole(motion, character, DEFAULT_FPS);
    if let Moments::Frames { last, .. } = &mut take.moments {
        *last = (*last).min(60);
    }
    let (mut times, mut farthest) = (Vec::new(), 0.0_f32);
    take.play(actor, &Progress::new(), |_, actor| {
        times.push(actor.times().total_ms / f64::from(actor.times().steps.max(1)));
        farthest = farthest.max(Bounds::of(actor.positions()).size() / subject.size);
        Ok::<_, std::convert::Infallible>(())
    })?;
    times.sort_by(f64::total_cmp);
    let name = character
        .clips
        .first()
        .map_or("into the bend", |clip| clip.name.as_str());
    Ok((
        format!(
            "{name}: {} frames, at most {farthest:.2} of the size",
            take.frame_count()
        ),
        times[times.len() / 2],
    ))
}

/// How much the size has changed, and the volume.
fn grown(subject: &Subject, actor: &Actor) -> String {
    let triangles = subject.character.triangles();
    let volume = |positions: &[Point]| {
        let corner = |v: u32| positions[v as usize].coords.cast::<f64>();
        triangles
            .iter()
            .map(|&[a, b, c]| corner(a).dot(&corner(b).cross(&corner(c))) / 6.0)
            .sum::<f64>()
    };
    format!(
        "volume {:+.1} %",
        100.0 * (volume(actor.positions()) / volume(&subject.bind_positions) - 1.0)
    )
}

fn draw(
    renderer: &Renderer,
    subject: &Subject,
    actor: &Actor,
) -> Result<RgbaImage, Box<dyn Error>> {
    let mut camera = Camera::default();
    camera.frame_points(actor.positions(), CELL[0] as f32 / CELL[1] as f32);
    let picture = CharacterPicture {
        character: &subject.character,
        positions: actor.positions(),
        normals: actor.normals(),
        overlays: &[],
        camera: &camera,
        style: MeshStyle::default(),
        background: Background::STUDIO,
        ground: Some(Ground {
            height: Bounds::of(actor.positions()).min.y,
            grid: None,
        }),
        size: CELL,
    };
    Ok(renderer.picture(&picture)?)
}

/// Largest difference between what was baked and what is read from the file.
fn write_and_read(actor: &mut Actor, take: &Take) -> Result<String, Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("survey-{}.ply", std::process::id()));
    bake(
        actor,
        take,
        Path::new(&path),
        &BakeSettings::of(BakeFormat::Ply),
        &Progress::new(),
    )?;
    let size = actor.subject().size;
    let read = open(&Source::of_files(vec![path.clone()]), &Progress::new())?;
    std::fs::remove_file(&path)?;
    let again = read.character.bind_positions();
    if again.len() != actor.positions().len() {
        return Err(format!(
            "{} vertices came back as {}",
            actor.positions().len(),
            again.len()
        )
        .into());
    }
    let off = again
        .iter()
        .zip(actor.positions())
        .map(|(a, b)| (a - b).norm())
        .fold(0.0_f32, f32::max);
    Ok(format!("off by {:.0e} of the size", off / size))
}
