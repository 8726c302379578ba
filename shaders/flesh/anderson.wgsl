// Anderson acceleration (type II): GPU version of numerics/anderson.rs. Every instance has two states, for even and for odd
// iterations: all workgroups read one while the first of them writes the other.
struct Anderson {
    // Number of stored differences.
    count: u32,
    // The slot that is overwritten next.
    slot: u32,
    // Whether there was a previous iterate.
    started: u32,
    // Whether this iteration's iterate was rejected.
    rejected: u32,
    // Number of rejections in this step.
    rejected_so_far: u32,
    unused: u32,
    // ‖f‖ of the last iteration.
    norm: f32,
    // Energy at the start of the last iteration.
    energy: f32,
    // Coefficients of the stored differences.
    gamma: array<f32, 8>,
    // ⟨Δfᵢ, Δfⱼ⟩.
    gram: array<f32, 64>,
}

const MAX_MEMORY: u32 = 8u;
// A region of energies beside those of even and odd iterations.
const TAKEN_BACK: u32 = 2u;

fn state_at(instance: u32, iteration: u32) -> u32 {
    return 2u * instance + (iteration & 1u);
}
