//! Shader assembly: a pass is one WGSL file after the common parts that it uses.

/// A complete WGSL source: the parts in order.
#[derive(Debug, Clone, Copy)]
pub struct ShaderSource {
    /// Name in error messages; also the file in `shaders/`.
    pub name: &'static str,
    /// Path in `shaders/` and text of each part; the pass comes last.
    pub parts: &'static [(&'static str, &'static str)],
}

impl ShaderSource {
    /// The assembled WGSL. Files in the folder `SINEW_SHADER_DIR` replace the built-in ones, so that shaders can be edited
    /// without rebuilding.
    #[must_use]
    pub fn wgsl(&self) -> String {
        let folder = std::env::var_os("SINEW_SHADER_DIR").map(std::path::PathBuf::from);
        let text = |&(path, built_in): &(&str, &str)| {
            let edited = folder
                .as_ref()
                .and_then(|folder| std::fs::read_to_string(folder.join(path)).ok());
            edited.unwrap_or_else(|| built_in.to_owned())
        };
        self.parts.iter().map(text).collect::<Vec<_>>().join("\n")
    }

    /// Compiles it.
    #[must_use]
    pub(crate) fn compile(&self, device: &wgpu::Device) -> wgpu::ShaderModule {
        device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(self.name),
            source: wgpu::ShaderSource::Wgsl(self.wgsl().into()),
        })
    }
}

macro_rules! source {
    ($name:literal: $($part:literal),+) => {
        ShaderSource { name: $name, parts: &[$(($part, include_str!(concat!("../../shaders/", $part)))),+] }
    };
}

/// Studio backdrop.
pub(crate) const BACKGROUND: ShaderSource =
    source!("background": "common/frame.wgsl", "common/tone.wgsl", "background.wgsl");
/// Floor with grid and shadow.
pub(crate) const GROUND: ShaderSource = source!("ground": "common/frame.wgsl", "common/tone.wgsl", "common/shadow.wgsl", "common/floor.wgsl", "ground.wgsl");
/// Shadow on the floor, from above.
pub(crate) const FLOOR_SHADOW: ShaderSource =
    source!("floor_shadow": "common/frame.wgsl", "common/floor.wgsl", "floor_shadow.wgsl");
/// Shaded character surface.
pub const SKIN: ShaderSource = source!("skin": "common/frame.wgsl", "common/tone.wgsl", "common/shadow.wgsl", "common/light.wgsl", "common/matcap.wgsl", "skin.wgsl");
/// Depth of the character only, from the light or from the eye.
pub(crate) const DEPTH: ShaderSource = source!("depth": "common/frame.wgsl", "depth.wgsl");
/// Ambient occlusion from the depth of the character.
pub(crate) const OCCLUSION: ShaderSource =
    source!("occlusion": "common/frame.wgsl", "occlusion.wgsl");
/// Smoothing of the occlusion along surfaces.
pub(crate) const OCCLUSION_BLUR: ShaderSource =
    source!("occlusion_blur": "common/frame.wgsl", "occlusion_blur.wgsl");
/// Lines of constant width on screen.
pub(crate) const LINES: ShaderSource = source!("lines": "common/frame.wgsl", "lines.wgsl");
/// Coloured triangles.
pub(crate) const TRIANGLES: ShaderSource =
    source!("triangles": "common/frame.wgsl", "common/tone.wgsl", "triangles.wgsl");
/// Copies of buffers.
pub(crate) const COPY_BUFFER: ShaderSource = source!("copy_buffer": "copy.wgsl");
/// Contact forces.
pub(crate) const FLESH_CONTACT_KERNEL: ShaderSource =
    source!("press": "flesh/numbers.wgsl", "flesh/contacts.wgsl", "flesh/contact_kernel.wgsl");
/// Flesh: prediction.
pub(crate) const FLESH_PREDICT: ShaderSource = source!("flesh_predict": "flesh/dims.wgsl", "flesh/memory.wgsl", "flesh/anderson.wgsl", "flesh/statistics.wgsl", "flesh/predict.wgsl");
/// Flesh: the local step after a plain iteration.
pub(crate) const FLESH_LOCAL_PLAIN: ShaderSource = source!("flesh_local_plain": "flesh/dims.wgsl", "flesh/numbers.wgsl", "flesh/polar.wgsl",
    "flesh/volume.wgsl", "flesh/constants.wgsl", "flesh/tet.wgsl", "flesh/local.wgsl", "flesh/local_plain.wgsl");
/// Flesh: the local step after an accelerated iteration.
pub(crate) const FLESH_LOCAL_MIXED: ShaderSource = source!("flesh_local_mixed": "flesh/dims.wgsl", "flesh/memory.wgsl", "flesh/anderson.wgsl",
    "flesh/numbers.wgsl", "flesh/polar.wgsl", "flesh/volume.wgsl", "flesh/constants.wgsl", "flesh/tet.wgsl", "flesh/local.wgsl",
    "flesh/mixed_place.wgsl", "flesh/local_mixed.wgsl", "flesh/local_untouched.wgsl");
/// Flesh: the same with contacts.
pub(crate) const FLESH_LOCAL_TOUCHING: ShaderSource = source!("flesh_local_touching": "flesh/dims.wgsl", "flesh/memory.wgsl",
    "flesh/anderson.wgsl", "flesh/numbers.wgsl", "flesh/polar.wgsl", "flesh/volume.wgsl", "flesh/constants.wgsl", "flesh/tet.wgsl",
    "flesh/local.wgsl", "flesh/mixed_place.wgsl", "flesh/local_mixed.wgsl", "flesh/contacts.wgsl", "flesh/local_touching.wgsl");
/// Flesh: coefficients of the acceleration.
pub(crate) const FLESH_MIX: ShaderSource = source!("flesh_mix": "flesh/dims.wgsl", "flesh/anderson.wgsl", "flesh/numbers.wgsl", "flesh/mix.wgsl");
/// Flesh: the right-hand side after a plain iteration.
pub(crate) const FLESH_GATHER_PLAIN: ShaderSource = source!("flesh_gather_plain": "flesh/dims.wgsl", "flesh/memory.wgsl",
    "flesh/constants.wgsl", "flesh/gather.wgsl", "flesh/gather_plain.wgsl");
/// Flesh: the right-hand side after an accelerated iteration, or after its rejection.
pub(crate) const FLESH_GATHER_MIXED: ShaderSource = source!("flesh_gather_mixed": "flesh/dims.wgsl", "flesh/memory.wgsl", "flesh/anderson.wgsl",
    "flesh/numbers.wgsl", "flesh/polar.wgsl", "flesh/volume.wgsl", "flesh/constants.wgsl", "flesh/tet.wgsl", "flesh/gather.wgsl",
    "flesh/mixed_place.wgsl", "flesh/gather_mixed.wgsl");
/// Flesh: history of Anderson acceleration.
pub(crate) const FLESH_RECORD: ShaderSource = source!("flesh_record": "flesh/dims.wgsl", "flesh/memory.wgsl", "flesh/anderson.wgsl", "flesh/record.wgsl");
/// Flesh: end of a step.
pub(crate) const FLESH_FINISH: ShaderSource = source!("flesh_finish": "flesh/dims.wgsl", "flesh/memory.wgsl", "flesh/anderson.wgsl",
    "flesh/statistics.wgsl", "flesh/numbers.wgsl", "flesh/finish.wgsl");
/// Flesh: polar decomposition alone, for tests.
pub const FLESH_POLAR_TEST: ShaderSource =
    source!("flesh_polar_test": "flesh/numbers.wgsl", "flesh/polar.wgsl", "flesh/polar_test.wgsl");

/// Contacts: the base of adjacent bones is separated.
pub(crate) const COLLISION_SEPARATE: ShaderSource = source!("collision_separate": "collision/tables.wgsl", "collision/bones.wgsl",
    "collision/separate.wgsl");
/// Contacts: foot points and normals.
pub(crate) const COLLISION_POSE: ShaderSource = source!("collision_pose": "collision/tables.wgsl", "collision/bones.wgsl",
    "collision/posed.wgsl", "collision/turn.wgsl", "collision/pose.wgsl");
/// Contacts: bounding boxes of patches.
pub(crate) const COLLISION_BOXES: ShaderSource =
    source!("collision_boxes": "collision/tables.wgsl", "collision/boxes.wgsl");
/// Contacts: vertices inside wedges.
pub(crate) const COLLISION_HITS: ShaderSource = source!("collision_hits": "collision/tables.wgsl", "collision/excluded.wgsl",
    "collision/posed.wgsl", "collision/turn.wgsl", "collision/hits.wgsl");
/// Contacts: those of every vertex.
pub(crate) const COLLISION_REFRESH: ShaderSource = source!("collision_refresh": "collision/tables.wgsl", "collision/excluded.wgsl",
    "collision/posed.wgsl", "collision/slots.wgsl", "collision/closest.wgsl", "collision/refresh.wgsl");
/// Contacts: one list of them.
pub(crate) const COLLISION_LIST: ShaderSource = source!("collision_list": "collision/tables.wgsl", "collision/slots.wgsl",
    "flesh/contacts.wgsl", "flesh/statistics.wgsl", "collision/list.wgsl");
/// Contacts: matrix of their loads.
pub(crate) const COLLISION_MATRIX: ShaderSource = source!("collision_matrix": "collision/tables.wgsl", "flesh/contacts.wgsl",
    "collision/matrix.wgsl");
/// Contacts: what their forces move.
pub(crate) const COLLISION_PUSH: ShaderSource = source!("collision_push": "collision/tables.wgsl", "flesh/contacts.wgsl",
    "collision/push.wgsl");
/// Contacts: end of a step.
pub(crate) const COLLISION_END: ShaderSource = source!("collision_end": "collision/tables.wgsl", "collision/slots.wgsl",
    "flesh/contacts.wgsl", "flesh/statistics.wgsl", "collision/end.wgsl");
/// Contacts: inverse of the system's matrix.
pub(crate) const COLLISION_INVERSE: ShaderSource =
    source!("collision_inverse": "collision/inverse.wgsl");

/// Surfaces: positions of source vertices.
pub(crate) const SURFACE_PLACE: ShaderSource = source!(
    "surface_place": "surface/dims.wgsl", "surface/local_frame.wgsl", "surface/sources.wgsl", "surface/linear.wgsl",
    "surface/stretch.wgsl", "surface/dual.wgsl", "surface/place.wgsl"
);
/// Surfaces: source vertices about their centres of rotation.
pub(crate) const SURFACE_CENTERS: ShaderSource = source!(
    "surface_centers": "surface/dims.wgsl", "surface/sources.wgsl", "surface/linear.wgsl", "surface/stretch.wgsl", "surface/centers.wgsl"
);
/// Surfaces: source vertices by direct delta mush.
pub(crate) const SURFACE_SMOOTHED: ShaderSource = source!(
    "surface_smoothed": "surface/dims.wgsl", "surface/sources.wgsl", "surface/transforms.wgsl", "surface/linear.wgsl",
    "surface/stretch.wgsl", "flesh/numbers.wgsl", "flesh/polar.wgsl", "surface/smoothed.wgsl"
);
/// Surfaces: source vertices by deformers that swing and twist.
pub(crate) const SURFACE_DEFORMERS: ShaderSource = source!(
    "surface_deformers": "surface/dims.wgsl", "surface/sources.wgsl", "surface/transforms.wgsl", "surface/stretch.wgsl",
    "surface/deformers.wgsl"
);
/// Surfaces: passes over simulated rows.
pub(crate) const SURFACE_ROWS: ShaderSource =
    source!("surface_rows": "surface/dims.wgsl", "surface/around.wgsl", "surface/rows.wgsl");
/// Surfaces: cloth on the flesh.
pub(crate) const SURFACE_RIDE: ShaderSource =
    source!("surface_ride": "surface/dims.wgsl", "surface/ride.wgsl");
/// Surfaces: rigid parts.
pub(crate) const SURFACE_STIFF: ShaderSource =
    source!("surface_stiff": "surface/dims.wgsl", "surface/stiff.wgsl");
/// Surfaces: normals from adjacent triangles.
pub(crate) const SURFACE_NORMALS: ShaderSource =
    source!("surface_normals": "surface/dims.wgsl", "surface/around.wgsl", "surface/normals.wgsl");
/// Surfaces: normals of linear blending.
pub(crate) const SURFACE_LINEAR_NORMALS: ShaderSource = source!(
    "surface_linear_normals": "surface/dims.wgsl", "surface/slopes.wgsl", "surface/transforms.wgsl", "surface/joint_normals.wgsl",
    "surface/linear_normals.wgsl", "surface/blend_normals.wgsl"
);
/// Surfaces: normals from the edges of the deformed surface.
pub(crate) const SURFACE_EDGE_NORMALS: ShaderSource = source!(
    "surface_edge_normals": "surface/dims.wgsl", "surface/slopes.wgsl", "surface/transforms.wgsl", "surface/joint_normals.wgsl",
    "surface/edge_normals.wgsl", "surface/blend_normals.wgsl"
);
/// Surfaces: normals of dual quaternions.
pub(crate) const SURFACE_DUAL_NORMALS: ShaderSource = source!(
    "surface_dual_normals": "surface/dims.wgsl", "surface/slopes.wgsl", "surface/stretch.wgsl", "surface/stretched_normals.wgsl",
    "surface/dual_normals.wgsl", "surface/blend_normals.wgsl"
);
/// Surfaces: normals of centres of rotation.
pub(crate) const SURFACE_CENTERS_NORMALS: ShaderSource = source!(
    "surface_centers_normals": "surface/dims.wgsl", "surface/slopes.wgsl", "surface/transforms.wgsl", "surface/stretch.wgsl",
    "surface/stretched_normals.wgsl", "surface/centers_normals.wgsl", "surface/edge_normals.wgsl", "surface/blend_normals.wgsl"
);
/// The base under the flesh.
pub(crate) const SURFACE_BASE: ShaderSource = source!("surface_base": "surface/base.wgsl");

/// Conjugate gradients, the first pass.
pub(crate) const SOLVE_BEGIN: ShaderSource =
    source!("solve_begin": "flesh/solve_hybrid.wgsl", "flesh/solve_begin.wgsl");
/// Conjugate gradients, an iteration.
pub(crate) const SOLVE_ITERATE: ShaderSource =
    source!("solve_iterate": "flesh/solve_hybrid.wgsl", "flesh/solve_iterate.wgsl");
/// Products with inverse factors, by groups of rows.
pub(crate) const SOLVE_ROWS: ShaderSource =
    source!("solve_rows": "flesh/solve_lines.wgsl", "flesh/solve_rows.wgsl");
/// Products with transposed inverse factors, by blocks of columns.
pub(crate) const SOLVE_COLUMNS: ShaderSource =
    source!("solve_columns": "flesh/solve_lines.wgsl", "flesh/solve_columns.wgsl");

/// Every shader of the crate, for the tests.
pub const ALL: &[ShaderSource] = &[
    BACKGROUND,
    GROUND,
    FLOOR_SHADOW,
    SKIN,
    DEPTH,
    OCCLUSION,
    OCCLUSION_BLUR,
    LINES,
    TRIANGLES,
    COPY_BUFFER,
    FLESH_CONTACT_KERNEL,
    FLESH_PREDICT,
    FLESH_LOCAL_PLAIN,
    FLESH_LOCAL_MIXED,
    FLESH_LOCAL_TOUCHING,
    FLESH_MIX,
    FLESH_GATHER_PLAIN,
    FLESH_GATHER_MIXED,
    FLESH_RECORD,
    FLESH_FINISH,
    FLESH_POLAR_TEST,
    COLLISION_SEPARATE,
    COLLISION_POSE,
    COLLISION_BOXES,
    COLLISION_HITS,
    COLLISION_REFRESH,
    COLLISION_LIST,
    COLLISION_MATRIX,
    COLLISION_PUSH,
    COLLISION_END,
    COLLISION_INVERSE,
    SOLVE_BEGIN,
    SOLVE_ITERATE,
    SOLVE_ROWS,
    SOLVE_COLUMNS,
    SURFACE_PLACE,
    SURFACE_CENTERS,
    SURFACE_SMOOTHED,
    SURFACE_DEFORMERS,
    SURFACE_ROWS,
    SURFACE_RIDE,
    SURFACE_STIFF,
    SURFACE_NORMALS,
    SURFACE_LINEAR_NORMALS,
    SURFACE_EDGE_NORMALS,
    SURFACE_DUAL_NORMALS,
    SURFACE_CENTERS_NORMALS,
    SURFACE_BASE,
];
