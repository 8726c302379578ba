// Row arrays that only these kernels use are consecutive in one buffer.
const VELOCITY: u32 = 0u;
const BASE_VELOCITY: u32 = 1u;
// The row's prescribed point at the end of the last step.
const BASE: u32 = 2u;
// Positions before the step.
const BEFORE: u32 = 3u;
// Predicted position (inertia only), and M/h²; negative for a row that moves with its base.
const GOAL: u32 = 4u;
// x + f of the last iteration: the unaccelerated iterate.
const PLAIN: u32 = 5u;
// f of the last iteration.
const LAST: u32 = 6u;
// Differences of f between iterations, followed by those of x + f.
const DIFFERENCES: u32 = 7u;

// Set in the index of a row's prescribed point if the row moves with it instead of being simulated.
const CARRIED: u32 = 0x80000000u;

fn remembered_at(which: u32, instance: u32, row: u32) -> u32 {
    return which * dims.instances * dims.row_stride + row_at(instance, row);
}

fn inertia_energy(goal: vec4f, place: vec3f) -> f32 {
    let way = goal.xyz - place;
    return 0.5 * max(goal.w, 0.0) * dot(way, way);
}
