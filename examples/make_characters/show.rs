//! Pictures of a character at rest or in the frames of a clip, by its own weights.

use image::RgbImage;
use sinew::character::{Attachment, Character};
use sinew::math::{Point64, origin_of};
use sinew::mesh::Bounds;
use sinew::rig::Pose;

use crate::Args;
use crate::preview::{Picture, View, draw};

/// Draws what the arguments ask for.
///
/// # Errors
/// An unknown clip, view or joint.
pub fn show(character: &Character, args: &Args, view: &str) -> Result<RgbImage, String> {
    let mut rows = Vec::new();
    match &args.clip {
        None => rows.push(draw_pose(
            character,
            &character.skeleton.rest_pose(),
            args,
            view,
        )?),
        Some(name) => {
            let clip = character
                .clips
                .iter()
                .find(|clip| clip.name == *name)
                .ok_or_else(|| format!("no clip \"{name}\""))?;
            for frame in 0..args.frames {
                let time = clip.duration_secs * frame as f64 / args.frames as f64;
                rows.push(draw_pose(
                    character,
                    &clip.sample(&character.skeleton, time),
                    args,
                    view,
                )?);
            }
        }
    }
    // Frames side by side, two rows at most.
    let per_row = if rows.len() > 4 {
        rows.len().div_ceil(2)
    } else {
        rows.len()
    };
    let (w, h) = rows[0].dimensions();
    let mut sheet = RgbImage::new(w * per_row as u32, h * rows.len().div_ceil(per_row) as u32);
    for (i, tile) in rows.iter().enumerate() {
        image::imageops::replace(
            &mut sheet,
            tile,
            i64::from(w * (i % per_row) as u32),
            i64::from(h * (i / per_row) as u32),
        );
    }
    Ok(sheet)
}

fn draw_pose(
    character: &Character,
    pose: &Pose,
    args: &Args,
    view: &str,
) -> Result<RgbImage, String> {
    let world = character.skeleton.world_from_joint(pose);
    let mesh = &character.meshes[0];
    let positions: Vec<Point64> = mesh
        .positions_at(&world)
        .iter()
        .map(|p| p.cast::<f64>())
        .collect();
    let colors = colors(character, args.weights.as_deref())?;
    let places: Vec<Point64> = world.iter().map(origin_of).collect();
    let bones: Vec<(Point64, Point64)> = character
        .skeleton
        .joints()
        .iter()
        .zip(&places)
        .filter_map(|(joint, place)| Some((places[joint.parent?], *place)))
        .collect();
    let picture = Picture {
        positions: &positions,
        triangles: &mesh.triangles,
        colors: &colors,
        wireframe: args.wireframe,
        lines: if args.wireframe || args.weights.is_some() {
            &bones
        } else {
            &[]
        },
    };
    let bounds = Bounds::of(&mesh.positions);
    let (width, height) = match (args.clip.is_some(), view) {
        (true, _) => (380, 480),
        (false, "body") if character.name == "mannequin" => (500, 640),
        _ => (700, 800),
    };
    let views = views(
        view,
        &bounds,
        args.clip.is_some(),
        &character.name,
        f64::from(height) / f64::from(width),
    )?;
    Ok(draw(&picture, &views, width, height))
}

fn views(
    name: &str,
    bounds: &Bounds,
    moving: bool,
    character: &str,
    aspect: f64,
) -> Result<Vec<View>, String> {
    let center = bounds.center().cast::<f64>();
    let extent = bounds.extent().cast::<f64>();
    let wide = extent.x.max(extent.z) * aspect;
    let tall = extent.y.max(wide) * if moving { 1.25 } else { 1.06 };
    let at = |x: f64, y: f64, z: f64, height: f64, yaws: &[f64], pitch: f64| {
        yaws.iter()
            .map(|&yaw| View {
                yaw,
                pitch,
                center: Point64::new(x, y, z),
                height,
            })
            .collect()
    };
    let up = if character == "gecko" { 35.0 } else { 4.0 };
    Ok(match name {
        "body" if moving => at(center.x, center.y, center.z, tall, &[35.0, 90.0], up),
        "body" => at(
            center.x,
            center.y,
            center.z,
            tall,
            &[0.0, 90.0, 35.0, 180.0],
            up / 2.0,
        ),
        "top" => at(center.x, center.y, center.z, tall * 0.8, &[0.0, 30.0], 80.0),
        "low" => at(center.x, center.y, center.z, tall * 0.8, &[0.0, 60.0], 5.0),
        "head" => at(0.0, 1.58, 0.0, 0.34, &[0.0, 90.0, 35.0], 0.0),
        "torso" => at(0.0, 1.15, 0.0, 0.85, &[0.0, 40.0, 180.0], 0.0),
        "legs" => at(0.0, 0.5, 0.0, 1.1, &[0.0, 90.0, 40.0, 180.0], 0.0),
        "hand" => {
            let mut views: Vec<View> = at(0.64, 0.97, 0.0, 0.3, &[0.0, 90.0], 0.0);
            views.extend(at(0.64, 0.97, 0.0, 0.3, &[90.0], 50.0));
            views.extend(at(0.64, 0.97, 0.0, 0.3, &[-60.0], -30.0));
            views
        }
        "foot" => {
            let mut views: Vec<View> = at(0.1, 0.08, 0.04, 0.34, &[0.0, 90.0, 40.0], 10.0);
            views.extend(at(0.1, 0.08, 0.04, 0.34, &[20.0], 60.0));
            views
        }
        _ => return Err(format!("unknown view \"{name}\"")),
    })
}

fn colors(character: &Character, weights_of: Option<&str>) -> Result<Vec<[f64; 3]>, String> {
    let mesh = &character.meshes[0];
    let plain = character.materials[0].base_color;
    let plain = [plain[0], plain[1], plain[2]].map(f64::from);
    let (Some(name), Attachment::Skinned { weights, .. }) = (weights_of, &mesh.attachment) else {
        return Ok(vec![plain; mesh.positions.len()]);
    };
    if name == "all" {
        let hue = |joint: usize| {
            [0.0, 2.1, 4.2].map(|offset| 0.5 + 0.45 * (joint as f64 * 2.4 + offset).sin())
        };
        let mix = |v: usize| {
            weights.of(v).fold([0.0; 3], |sum, (joint, w)| {
                let color = hue(joint);
                [0, 1, 2].map(|c| sum[c] + color[c] * f64::from(w))
            })
        };
        return Ok((0..mesh.positions.len()).map(mix).collect());
    }
    let wanted = character
        .skeleton
        .find_or_suggest(name)
        .map_err(|error| error.to_string())?;
    let weight = |v: usize| {
        weights
            .of(v)
            .filter(|(joint, _)| *joint == wanted)
            .map(|(_, w)| f64::from(w))
            .sum::<f64>()
    };
    Ok((0..mesh.positions.len())
        .map(weight)
        .map(|w| {
            [
                0.1 + 0.9 * w,
                0.2 + 0.3 * (1.0 - (2.0 * w - 1.0).abs()),
                0.8 * (1.0 - w),
            ]
        })
        .collect())
}
