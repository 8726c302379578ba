// Adds what the contact forces move: Δ += P⁻¹ U N λ. Eight threads a row, each for an eighth of the contacts.
@group(0) @binding(11) var<storage, read> loads: array<f32>;
@group(0) @binding(12) var<storage, read> contacts: array<KernelContact>;
@group(0) @binding(13) var<storage, read> header: array<u32>;
@group(0) @binding(14) var<storage, read> inverse: array<f32>;
@group(0) @binding(17) var<storage, read_write> increment: array<vec4f>;

const OWN_ROWS: u32 = 32u;
const PARTS: u32 = 8u;

var<workgroup> partial: array<vec3f, 256>;

@compute @workgroup_size(256)
fn push(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    let lane = thread % OWN_ROWS;
    let row = workgroup.x * OWN_ROWS + lane;
    let column = min(row, dims.rows - 1u);
    let count = header[0];
    var sum = vec3f();
    for (var k = thread / OWN_ROWS; k < count; k += PARTS) {
        let load = loads[k];
        if load > 0.0 {
            let rows = contacts[k].rows * dims.rows;
            let line = vec4f(inverse[rows.x + column], inverse[rows.y + column], inverse[rows.z + column], inverse[rows.w + column]);
            sum += contacts[k].normal_target.xyz * (load * dot(line, contacts[k].weights));
        }
    }
    partial[thread] = sum;
    for (var half = PARTS / 2u; half > 0u; half >>= 1u) {
        workgroupBarrier();
        if thread < half * OWN_ROWS {
            partial[thread] += partial[thread + half * OWN_ROWS];
        }
    }
    if thread < OWN_ROWS && row < dims.rows {
        increment[row] += vec4f(partial[thread], 0.0);
    }
}
