// What a step did to an instance, for the host to look at now and then. Lengths are bits of numbers that are not negative: these are
// in the order of the numbers.
struct Watch {
    // How far the row that moved most relative to its base went.
    farthest: atomic<u32>,
    // How far the row that moved most in the last iteration went.
    last_change: atomic<u32>,
    // Not 0 if a value was non-finite, in this step or any since the state was restored.
    broken: atomic<u32>,
    // Accelerated iterates that were rejected.
    rejected: atomic<u32>,
}

@group(0) @binding(16) var<storage, read_write> watch: array<Watch>;
