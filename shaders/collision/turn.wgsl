// Which bones a step searches: half of them in turn, the others keep their hits.
struct SearchTurn {
    // Bit 0: bones with even numbers, bit 1: those with odd ones.
    searched: u32,
    unused_a: u32,
    unused_b: u32,
    unused_c: u32,
}

@group(0) @binding(18) var<uniform> turn: SearchTurn;

fn is_searched(half: u32) -> bool {
    return ((turn.searched >> half) & 1u) == 1u;
}
