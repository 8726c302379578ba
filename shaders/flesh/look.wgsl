// The energy of the contacts where an iteration begins: sum w/2 max(0, target - gap)^2. One workgroup an instance.
@group(0) @binding(7) var<storage, read> x: array<vec4f>;
@group(0) @binding(13) var<storage, read> states: array<Anderson>;
@group(0) @binding(14) var<storage, read_write> energies: array<f32>;
@group(0) @binding(17) var<uniform> press_dims: PressDims;
@group(0) @binding(18) var<storage, read> contacts: array<PressContact>;
@group(0) @binding(19) var<storage, read> spread: array<u32>;

// Whether the iterate was taken back, and another one stands in its place.
override AGAIN: bool = false;

const THREADS: u32 = 128u;

var<workgroup> energy_of: array<f32, THREADS>;
var<workgroup> taken_back: u32;

@compute @workgroup_size(128)
fn look(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    let instance = workgroup.y;
    if AGAIN {
        if thread == 0u {
            taken_back = states[state_at(instance, turn.iteration)].taken_back;
        }
        if workgroupUniformLoad(&taken_back) == 0u {
            return;
        }
    }
    let count = min(spread[instance * press_dims.spread_stride], MOST);
    var energy = 0.0;
    for (var k = thread; k < count; k += THREADS) {
        energy += energy_at(contacts[instance * press_dims.contact_stride + k], instance);
    }
    energy_of[thread] = energy;
    for (var half = THREADS / 2u; half > 0u; half >>= 1u) {
        workgroupBarrier();
        if thread < half {
            energy_of[thread] += energy_of[thread + half];
        }
    }
    if thread == 0u {
        let region = select(turn.iteration & 1u, TAKEN_BACK, AGAIN);
        energies[energies_at(region, instance) + energy_count() - 1u] = energy_of[0];
    }
}

fn energy_at(contact: PressContact, instance: u32) -> f32 {
    var apart = vec3f();
    for (var k = 0u; k < 4u; k++) {
        apart += contact.weights[k] * x[row_at(instance, contact.rows[k])].xyz;
    }
    let missing = max(contact.normal_target.w - dot(contact.normal_target.xyz, apart), 0.0);
    return 0.5 * contact.stiffness * missing * missing;
}
