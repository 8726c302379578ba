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
}

@group(0) @binding(16) var<storage, read_write> statistics: array<StepStatistics>;
