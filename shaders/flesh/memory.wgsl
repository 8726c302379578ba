// Row arrays that only these kernels know lie one after the other in one buffer, each as all row arrays.
const VELOCITY: u32 = 0u;
const BASE_VELOCITY: u32 = 1u;
// The prescribed point of a row in the step before.
const BASE: u32 = 2u;
// Positions before the step.
const BEFORE: u32 = 3u;
// Where inertia alone would go, and M/h²; less than 0 for a row that is carried.
const GOAL: u32 = 4u;
// x + f of the last iteration: where it would go without acceleration.
const PLAIN: u32 = 5u;
// f of the last iteration.
const LAST: u32 = 6u;
// Differences of f between iterations; after them those of x + f.
const DIFFERENCES: u32 = 7u;

// Set in the number of a row's prescribed point where the row is put there instead of simulated.
const CARRIED: u32 = 0x80000000u;

fn remembered_at(which: u32, instance: u32, row: u32) -> u32 {
    return which * dims.instances * dims.row_stride + row_at(instance, row);
}

fn inertia_energy(goal: vec4f, place: vec3f) -> f32 {
    let way = goal.xyz - place;
    return 0.5 * max(goal.w, 0.0) * dot(way, way);
}
