// Writes the contacts of all vertices as one list, in the order of the rows: src/dynamics/contact_problem for flesh without targets.
@group(0) @binding(9) var<storage, read_write> slots: array<Slot>;
@group(0) @binding(10) var<storage, read> counts: array<u32>;
@group(0) @binding(11) var<storage, read_write> loads: array<f32>;
@group(0) @binding(12) var<storage, read_write> contacts: array<KernelContact>;
// As the kernel of the loads reads it: number of contacts, no touched rows, tolerance, unused.
@group(0) @binding(13) var<storage, read_write> header: array<u32>;

// Gap that contacts keep, and largest push of a contact in one step, local edge lengths.
const MARGIN: f32 = 0.05;
const MAX_PUSH: f32 = 2.0;
// Stiffness of a contact relative to that of the flesh at its vertices.
const RELATIVE_STIFFNESS: f32 = 30.0;

var<workgroup> before: array<u32, ROWS>;
var<workgroup> all_of_them: array<u32, ROWS>;
var<workgroup> own: array<u32, ROWS>;

fn write_contact(row: u32, slot: u32, index: u32) {
    let it = slots[slot];
    let corners = corners_of(it.triangle);
    let edge = edge_of(it.triangle);
    let weights = vec4f(1.0, -it.weights);
    let softness = softness_at(row) + it.weights.x * it.weights.x * softness_at(corners.x)
        + it.weights.y * it.weights.y * softness_at(corners.y) + it.weights.z * it.weights.z * softness_at(corners.z);
    contacts[index].rows = vec4u(row, corners);
    contacts[index].weights = weights;
    contacts[index].normal_target = vec4f(it.normal, min(MARGIN * edge, it.gap + MAX_PUSH * edge));
    contacts[index].stiffness = RELATIVE_STIFFNESS / max(softness, 1e-30);
    contacts[index].slot = slot;
    loads[index] = it.load;
    slots[slot].index = index;
}

@compute @workgroup_size(ROWS)
fn list_contacts(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    let first_total = dims.row_groups * ROWS;
    var sum_before = 0u;
    var sum = 0u;
    for (var k = thread; k < dims.row_groups; k += ROWS) {
        let count = counts[first_total + k];
        sum += count;
        sum_before += select(0u, count, k < workgroup.x);
    }
    let row = workgroup.x * ROWS + thread;
    var count = 0u;
    if row < dims.rows {
        count = counts[row];
    }
    before[thread] = sum_before;
    all_of_them[thread] = sum;
    own[thread] = count;
    for (var half = ROWS / 2u; half > 0u; half >>= 1u) {
        workgroupBarrier();
        if thread < half {
            before[thread] += before[thread + half];
            all_of_them[thread] += all_of_them[thread + half];
        }
    }
    workgroupBarrier();
    var index = before[0];
    for (var k = 0u; k < thread; k++) {
        index += own[k];
    }
    for (var k = 0u; k < count; k++) {
        if index + k < MOST {
            write_contact(row, row * MOST_PER_VERTEX + k, index + k);
        }
    }
    if workgroup.x == 0u && thread == 0u {
        let listed = min(all_of_them[0], MOST);
        contacts[0].count = listed;
        header[0] = listed;
        header[1] = 0u;
        header[2] = bitcast<u32>(dims.tolerance);
        atomicStore(&statistics[0].watched, all_of_them[0]);
    }
}
