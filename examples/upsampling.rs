//! A strong bend, simulated at full resolution and on a reduced mesh that the skin follows in two ways: pictures side by side, and how far
//! each is from the first.
//!
//! `cargo run --release --example upsampling -- out.png [FILE|BUILTIN JOINT X,Y,Z VERTICES]`

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sinew::character::{
    Attachment, Character, FleshSettings, SimVertices, SourceFaces, SourceMesh,
};
use sinew::dynamics::Params;
use sinew::gpu::GpuContext;
use sinew::math::{Affine, Point, Vec3, origin_of};
use sinew::mesh::TriMesh;
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::progress::Progress;
use sinew::render::{
    Background, Camera, CharacterPicture, Margins, MeshStyle, PictureSheet, Renderer, WIRE_COLOR,
};
use sinew::session::{Source, open, set_joint_angles_deg};
use sinew::upsample::{Directions, Upsampling, UpsamplingKind, UpsamplingSettings};

/// One picture.
struct Shown {
    label: String,
    mesh: TriMesh,
    normals: Vec<Vec3>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize, default: &str| {
        arguments
            .get(index)
            .map_or(default, String::as_str)
            .to_owned()
    };
    let out = arguments.first().map_or_else(
        || std::env::temp_dir().join("upsampling.png"),
        PathBuf::from,
    );
    let file = argument(1, "mannequin");
    let source = if Path::new(&file).exists() {
        Source::of_files(vec![PathBuf::from(&file)])
    } else {
        Source::builtin(&file)
    };
    let angles = argument(3, "0,-90,0")
        .split(',')
        .map(str::parse)
        .collect::<Result<Vec<f64>, _>>()?;
    let angles: [f64; 3] = angles
        .try_into()
        .map_err(|_| "three angles in degrees, as in 0,-90,0")?;
    let vertices = argument(4, "1000").parse()?;

    let progress = Progress::new();
    let subject = open(&source, &progress)?;
    let skeleton = &subject.character.skeleton;
    let joint = skeleton.find_or_suggest(&argument(2, "forearm.L"))?;
    let mut pose = skeleton.rest_pose();
    set_joint_angles_deg(skeleton, &mut pose, joint, angles);
    let world = skeleton.world_from_joint(&pose);

    let (full, full_positions) = simulated(&subject, SimVertices::All, &world)?;
    let (reduced, coarse_positions) = simulated(&subject, SimVertices::About(vertices), &world)?;
    let (fine, coarse) = (&full.body().flesh, &reduced.sim().mesh);
    println!(
        "{} vertices, simulated with {}",
        fine.positions.len(),
        coarse.positions.len()
    );

    let mut shown = vec![
        Shown::of(
            "full resolution".to_owned(),
            TriMesh {
                positions: full_positions.clone(),
                ..fine.clone()
            },
        ),
        Shown::of(
            format!("{} vertices", coarse.positions.len()),
            TriMesh {
                positions: coarse_positions.clone(),
                ..coarse.clone()
            },
        ),
    ];
    for (label, kind) in [
        ("moving least squares", UpsamplingKind::MovingLeastSquares),
        ("normal displacement", UpsamplingKind::NormalDisplacement),
    ] {
        let (positions, normals) = upsampled(fine, coarse, kind, &coarse_positions)?;
        let apart: Vec<f32> = positions
            .iter()
            .zip(&full_positions)
            .map(|(a, b)| 100.0 * (a - b).norm() / full.size)
            .collect();
        let (mean, most) = (
            apart.iter().sum::<f32>() / apart.len() as f32,
            apart.iter().copied().fold(0.0, f32::max),
        );
        let shown_here = Shown {
            label: label.to_owned(),
            mesh: TriMesh {
                positions,
                ..fine.clone()
            },
            normals,
        };
        let recomputed = shown_here.mesh.vertex_normals();
        let mut leaning: Vec<f32> = shown_here
            .normals
            .iter()
            .zip(recomputed)
            .map(|(a, b)| a.angle(&b).to_degrees())
            .collect();
        leaning.sort_by(f32::total_cmp);
        println!(
            "{label}: {mean:.3} % of the size from the full resolution, at most {most:.3} %; carried normals lean by {:.2} degrees from \
             those of the triangles (1 % of them by more than {:.1})",
            leaning[leaning.len() / 2],
            leaning[leaning.len() * 99 / 100],
        );
        shown.push(shown_here);
    }

    let center = origin_of(&world[joint]).cast::<f32>();
    let near = |p: &&Point| (*p - center).norm() < 0.11 * full.size;
    let around: Vec<Point> = full_positions.iter().filter(near).copied().collect();
    draw(&shown, &around)?.save(&out)?;
    println!("wrote {}", out.display());
    Ok(())
}

/// The subject with so fine a simulation mesh, and its flesh's positions in the pose.
fn simulated(
    subject: &Subject,
    sim_vertices: SimVertices,
    world: &[Affine],
) -> Result<(Arc<Subject>, Vec<Point>), Box<dyn Error>> {
    let progress = Progress::new();
    let settings = FleshSettings {
        sim_vertices,
        ..(*subject.settings).clone()
    };
    let subject = Arc::new(subject.with_settings(&settings));
    let mut actor = Actor::bind(&subject, MethodId::PD, &Params::default(), &progress)?;
    // No time passes: the equilibrium in this pose.
    actor.advance(&Frame {
        world_from_joint: world,
        dt_secs: 0.0,
    })?;
    let positions = actor
        .projective()
        .ok_or("not simulated")?
        .simulation()
        .positions()
        .to_vec();
    Ok((subject, positions))
}

/// The fine mesh after the coarse one.
fn upsampled(
    fine: &TriMesh,
    coarse: &TriMesh,
    kind: UpsamplingKind,
    moved: &[Point],
) -> Result<(Vec<Point>, Vec<Vec3>), Box<dyn Error>> {
    let upsampling = Upsampling::build(
        fine,
        coarse,
        &UpsamplingSettings {
            kind,
            ..UpsamplingSettings::default()
        },
        &Progress::new(),
    )?;
    let (mut frames, mut positions, mut normals) = (
        upsampling.frames(),
        fine.positions.clone(),
        fine.vertex_normals(),
    );
    upsampling.positions_into(&coarse.positions, &mut frames, &mut positions);
    let every: Vec<Option<u32>> = (0..normals.len() as u32).map(Some).collect();
    let directions = Directions::normals(&frames, &every, &normals);
    upsampling.positions_into(moved, &mut frames, &mut positions);
    directions.directions_into(&frames, &mut normals);
    Ok((positions, normals))
}

impl Shown {
    fn of(label: String, mesh: TriMesh) -> Self {
        let normals = mesh.vertex_normals();
        Self {
            label,
            mesh,
            normals,
        }
    }
}

/// All by the same camera; with their edges if the environment has EDGES.
fn draw(shown: &[Shown], around: &[Point]) -> Result<image::RgbaImage, Box<dyn Error>> {
    let gpu = GpuContext::headless()?;
    let renderer = Renderer::new(&gpu);
    let sheet = PictureSheet::new(PictureSheet::around([560, 560], shown.len()), shown.len());
    let [width, height] = sheet.cell(0).map(|side| side as f32);
    let mut camera = Camera {
        yaw: 0.5,
        pitch: 0.5,
        ..Camera::default()
    };
    camera.frame_points_within(
        around,
        width / height,
        Margins {
            bottom: sheet.caption_share(),
            ..Margins::default()
        },
    );
    let mut pictures = Vec::new();
    for (
        index,
        Shown {
            label: _,
            mesh,
            normals,
        },
    ) in shown.iter().enumerate()
    {
        let skin = SourceMesh {
            name: String::new(),
            positions: mesh.positions.clone(),
            triangles: mesh.triangles.clone(),
            normals: None,
            tex_coords: None,
            faces: SourceFaces::default(),
            material: None,
            attachment: Attachment::Unweighted,
        };
        let character = Character {
            meshes: vec![skin],
            metres_per_unit: 1.0,
            ..Character::default()
        };
        let edges = std::env::var_os("EDGES").map(|_| WIRE_COLOR);
        pictures.push(renderer.picture(&CharacterPicture {
            character: &character,
            positions: &mesh.positions,
            normals,
            overlays: &[],
            camera: &camera,
            style: MeshStyle {
                wireframe: edges,
                ..MeshStyle::default()
            },
            background: Background::STUDIO,
            ground: None,
            size: sheet.cell(index),
        })?);
    }
    let labels: Vec<&str> = shown.iter().map(|shown| shown.label.as_str()).collect();
    Ok(sheet.compose(&pictures, &labels))
}
