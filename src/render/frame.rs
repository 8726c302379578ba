//! The uniforms of a picture, as in `shaders/common/frame.wgsl`.

use nalgebra::{Matrix4, Rotation3};

use super::camera::{Camera, Projection};
use super::scene::{Light, MeshStyle, Scene};
use crate::math::{Point, Vec3};
use crate::mesh::Bounds;

/// Side of the shadow map, pixels.
pub(super) const SHADOW_SIZE: u32 = 1024;

/// Radius of ambient occlusion, relative to the scene's radius.
const OCCLUSION_RADIUS: f32 = 0.22;
const OCCLUSION_STRENGTH: f32 = 3.4;
/// The extent of the shadow map changes in steps of this factor.
const REACH_STEP: f32 = 1.15;
/// Fade-out distance of the floor, in scene radii.
const GROUND_REACH: f32 = 4.0;
/// Lights, as rotation to the right of the camera and elevation, in degrees. The key light is at
/// the upper left.
const KEY: (f32, f32) = (-38.0, 48.0);
const FILL: (f32, f32) = (55.0, 12.0);
const RIM: (f32, f32) = (150.0, 35.0);

/// `struct Frame`.
#[repr(C)]
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub struct FrameUniform {
    clip_from_world: [[f32; 4]; 4],
    view_from_world: [[f32; 4]; 4],
    view_from_clip: [[f32; 4]; 4],
    shadow_from_world: [[f32; 4]; 4],
    world_from_stage: [[f32; 4]; 4],
    eye: [f32; 4],
    key: [f32; 4],
    fill: [f32; 4],
    rim: [f32; 4],
    size: [f32; 4],
    occlusion: [f32; 4],
    ground: [f32; 4],
    center: [f32; 4],
    background_top: [f32; 4],
    background_bottom: [f32; 4],
}

/// `struct Style`.
#[repr(C)]
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub struct StyleUniform {
    clay: [f32; 4],
    wire: [f32; 4],
    params: [f32; 4],
}

/// `struct Material`.
#[repr(C)]
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub struct MaterialUniform {
    /// Linear colour and opacity.
    pub base_color: [f32; 4],
    /// Alpha cutoff (negative: none), 1 with a texture, 1 for a material of the file, scale of the normal map (0: none).
    pub params: [f32; 4],
}

impl From<&MeshStyle> for StyleUniform {
    fn from(style: &MeshStyle) -> Self {
        let [r, g, b] = style.clay;
        // Numbered as in `skin.wgsl` and `matcap.wgsl`.
        let (shading, matcap) = match style.light {
            Light::Studio => (0.0, 0.0),
            Light::Matcap(matcap) => (1.0, f32::from(matcap as u8)),
            Light::Flat => (2.0, 0.0),
            Light::Data => (3.0, 0.0),
        };
        Self {
            clay: [r, g, b, f32::from(u8::from(style.materials))],
            wire: style.wireframe.unwrap_or([0.0; 4]),
            params: [
                style.opacity.clamp(0.0, 1.0),
                style.vertex_colors.clamp(0.0, 1.0),
                shading,
                matcap,
            ],
        }
    }
}

impl FrameUniform {
    /// All uniforms of a picture of `size` pixels.
    pub(super) fn new(camera: &Camera, scene: &Scene<'_>, bounds: &Bounds, size: [u32; 2]) -> Self {
        let [width, height] = size.map(|s| s.max(1) as f32);
        let aspect = width / height;
        let clip_from_view = camera.clip_from_view(aspect);
        let perspective = camera.projection == Projection::Perspective;
        let (eye, back) = (camera.eye(), camera.axes().2);
        let shape = if bounds.is_empty() {
            (Point::origin(), camera.radius)
        } else {
            (bounds.center(), bounds.size() / 2.0)
        };
        let (center, radius) = (shape.0, shape.1.max(1e-6));
        let key = light_direction(camera, KEY);
        let (shadow_from_world, texel) = shadow_projection(
            &key,
            &camera.up(),
            center,
            radius,
            scene.ground.map(|g| g.height),
        );
        let casts = scene.shadows && !bounds.is_empty();
        let occludes = scene.occlusion && !bounds.is_empty();
        let coarse = height / 2.0;
        let per_unit = if perspective {
            coarse / 2.0 / (camera.fov / 2.0).tan()
        } else {
            coarse / camera.view_height()
        };
        let ground = scene.ground.map_or([0.0; 4], |g| {
            [g.height, g.grid.unwrap_or(0.0), radius * GROUND_REACH, 1.0]
        });
        Self {
            clip_from_world: (clip_from_view * camera.view_from_world()).into(),
            view_from_world: camera.view_from_world().into(),
            view_from_clip: clip_from_view
                .try_inverse()
                .unwrap_or_else(Matrix4::identity)
                .into(),
            shadow_from_world: shadow_from_world.into(),
            world_from_stage: camera.world_from_stage.to_homogeneous().into(),
            eye: if perspective {
                [eye.x, eye.y, eye.z, 1.0]
            } else {
                [back.x, back.y, back.z, 0.0]
            },
            key: vec4(&key, f32::from(u8::from(casts))),
            fill: vec4(&light_direction(camera, FILL), scene.scale.max(0.1)),
            rim: vec4(&light_direction(camera, RIM), 0.0),
            size: [width, height, 1.0 / width, 1.0 / height],
            occlusion: [
                radius * OCCLUSION_RADIUS,
                if occludes { OCCLUSION_STRENGTH } else { 0.0 },
                per_unit,
                texel,
            ],
            ground,
            center: vec4(&center.coords, radius),
            background_top: srgb4(scene.background.top),
            background_bottom: srgb4(scene.background.bottom),
        }
    }
}

/// Direction of a light that rotates with the camera about the up axis, at constant elevation.
fn light_direction(camera: &Camera, (turn, height): (f32, f32)) -> Vec3 {
    let yaw = camera.yaw + turn.to_radians();
    let (sin, cos) = height.to_radians().sin_cos();
    camera.world_from_stage
        * (Rotation3::from_axis_angle(&Vec3::y_axis(), yaw) * Vec3::new(0.0, sin, cos))
}

/// An orthographic projection along the key light around the scene, and the size of one of its
/// texels.
fn shadow_projection(
    key: &Vec3,
    above: &Vec3,
    center: Point,
    radius: f32,
    ground: Option<f32>,
) -> (Matrix4<f32>, f32) {
    // Snapped to steps and whole texels, so that shadows of a moving character do not shimmer.
    let reach = REACH_STEP.powf((radius * 1.05).log(REACH_STEP).ceil());
    let texel = 2.0 * reach / SHADOW_SIZE as f32;
    // The depth range extends below the scene's sphere, because the floor may be lower.
    let drop = ground.map_or(0.0, |height| (center.coords.dot(above) - height).abs());
    let depth = 4.0 * radius + drop;
    let right = above.cross(key).try_normalize(1e-6).unwrap_or_else(Vec3::x);
    let up = key.cross(&right);
    let row = |axis: &Vec3, scale: f32, offset: f32, at: f32| {
        [
            axis.x * scale,
            axis.y * scale,
            axis.z * scale,
            offset - at * scale,
        ]
    };
    let along = |axis: &Vec3| axis.dot(&center.coords);
    let snapped = |axis: &Vec3| (along(axis) / texel).round() * texel;
    let rows = [
        row(&right, 1.0 / reach, 0.0, snapped(&right)),
        row(&up, 1.0 / reach, 0.0, snapped(&up)),
        row(key, -0.5 / depth, 0.5, along(key)),
        [0.0, 0.0, 0.0, 1.0],
    ];
    (Matrix4::from_fn(|r, c| rows[r][c]), texel)
}

fn vec4(v: &Vec3, w: f32) -> [f32; 4] {
    [v.x, v.y, v.z, w]
}

fn srgb4([r, g, b]: [u8; 3]) -> [f32; 4] {
    [r, g, b, 255].map(|c| f32::from(c) / 255.0)
}

/// Memory layout of a uniform struct, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UniformLayout {
    /// Name in the shaders.
    pub name: &'static str,
    /// Total size.
    pub size: usize,
    /// Names and offsets, in order.
    pub fields: Vec<(&'static str, usize)>,
}

/// The uniform structs, for the test that compares them with the shaders.
#[must_use]
pub fn uniform_layouts() -> Vec<UniformLayout> {
    macro_rules! layout {
        ($name:literal, $type:ty: $($field:ident),+) => {
            UniformLayout { name: $name, size: size_of::<$type>(), fields: vec![$((stringify!($field), std::mem::offset_of!($type, $field))),+] }
        };
    }
    vec![
        layout!("Frame", FrameUniform: clip_from_world, view_from_world, view_from_clip, shadow_from_world, world_from_stage,
            eye, key, fill, rim, size, occlusion, ground, center, background_top, background_bottom),
        layout!("Style", StyleUniform: clay, wire, params),
        layout!("Material", MaterialUniform: base_color, params),
    ]
}
