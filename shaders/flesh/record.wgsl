// After the global step: the differences of this iteration for Anderson acceleration, and their scalar products, summed over
// a group of rows. GPU version of Rows::record in dynamics/rows.rs.
@group(0) @binding(7) var<storage, read> x: array<vec4f>;
@group(0) @binding(8) var<storage, read> increment: array<vec4f>;
@group(0) @binding(12) var<storage, read_write> memory: array<vec4f>;
@group(0) @binding(13) var<storage, read> states: array<Anderson>;
@group(0) @binding(15) var<storage, read_write> sums: array<vec4f>;

override MEMORY: u32 = 3u;
const VECTORS: u32 = 5u;
// Indices of the components: Direct3D's older compiler cannot write to vector components by computed indices.
const NUMBERS: u32 = 4u * VECTORS;

var<workgroup> partial: array<vec4f, ROWS>;

@compute @workgroup_size(64)
fn record(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    let instance = workgroup.y;
    let row = workgroup.x * ROWS + thread;
    // Newest difference with all, all with the increment, and the increment's square.
    var products: array<f32, NUMBERS>;
    if row < dims.rows {
        products = remember(instance, row);
    }
    for (var vector = 0u; vector < (2u * MEMORY + 4u) / 4u; vector++) {
        let first = 4u * vector;
        partial[thread] = vec4f(products[first], products[first + 1u], products[first + 2u], products[first + 3u]);
        for (var half = ROWS / 2u; half > 0u; half >>= 1u) {
            workgroupBarrier();
            if thread < half {
                partial[thread] += partial[thread + half];
            }
        }
        if thread == 0u {
            sums[(instance * row_groups() + workgroup.x) * VECTORS + vector] = partial[0];
        }
        workgroupBarrier();
    }
}

fn remember(instance: u32, row: u32) -> array<f32, NUMBERS> {
    let own = state_at(instance, turn.iteration);
    let i = row_at(instance, row);
    let f = increment[i].xyz;
    let plain = x[i].xyz + f;
    let plain_at = remembered_at(PLAIN, instance, row);
    let last_at = remembered_at(LAST, instance, row);
    var products: array<f32, NUMBERS>;
    products[2u * MEMORY] = dot(f, f);
    let forgotten = states[own].rejected == 1u;
    let slot = select(states[own].slot, 0u, forgotten);
    if states[own].started == 1u {
        let newest = f - memory[last_at].xyz;
        memory[remembered_at(DIFFERENCES + slot, instance, row)] = vec4f(newest, 0.0);
        memory[remembered_at(DIFFERENCES + MEMORY + slot, instance, row)] = vec4f(plain - memory[plain_at].xyz, 0.0);
        let count = min(select(states[own].count, 0u, forgotten) + 1u, MEMORY);
        for (var k = 0u; k < MEMORY; k++) {
            var difference = vec3f();
            if k == slot {
                difference = newest;
            } else if k < count {
                difference = memory[remembered_at(DIFFERENCES + k, instance, row)].xyz;
            }
            products[k] = dot(newest, difference);
            products[MEMORY + k] = dot(difference, f);
        }
    }
    memory[plain_at] = vec4f(plain, 0.0);
    memory[last_at] = vec4f(f, 0.0);
    return products;
}
