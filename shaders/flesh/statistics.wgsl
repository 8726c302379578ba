// Statistics of an instance's step. Lengths are stored as bits of non-negative numbers, which have the same order as the
// numbers.
struct StepStatistics {
    // Largest displacement of a row relative to its base in the step.
    farthest: atomic<u32>,
    // Largest displacement of a row in the last iteration.
    last_change: atomic<u32>,
    // Not 0 if a value was non-finite, in this step or any since the state was restored.
    broken: atomic<u32>,
    // Accelerated iterates that were rejected.
    rejected: atomic<u32>,
    // Contacts that the device found, also those beyond what it solves for; those with a load; and the largest depth.
    watched: atomic<u32>,
    pressing: atomic<u32>,
    deepest: atomic<u32>,
    unused: u32,
}

@group(0) @binding(16) var<storage, read_write> statistics: array<StepStatistics>;
