// The accelerated iterate x + f − Σ γₖ Δ(x + f)ₖ.
fn mixed_place(instance: u32, row: u32) -> vec3f {
    let own = state_at(instance, turn.iteration);
    var place = memory[remembered_at(PLAIN, instance, row)].xyz;
    for (var k = 0u; k < states[own].count; k++) {
        place -= states[own].gamma[k] * memory[remembered_at(DIFFERENCES + dims.memory + k, instance, row)].xyz;
    }
    return place;
}
