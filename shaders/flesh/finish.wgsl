// End of a step: x + f, velocities, and statistics. GPU version of finish in dynamics/simulation/step.rs.
@group(0) @binding(7) var<storage, read_write> x: array<vec4f>;
@group(0) @binding(8) var<storage, read> increment: array<vec4f>;
@group(0) @binding(10) var<storage, read> rows: array<vec4u>;
@group(0) @binding(12) var<storage, read_write> memory: array<vec4f>;
@group(0) @binding(13) var<storage, read> states: array<Anderson>;

var<workgroup> farthest: atomic<u32>;
var<workgroup> last_change: atomic<u32>;
var<workgroup> broken: atomic<u32>;

@compute @workgroup_size(64)
fn finish(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) thread: u32) {
    let row = id.x;
    let instance = id.y;
    if row < dims.rows {
        finish_row(instance, row);
    }
    workgroupBarrier();
    if thread == 0u {
        atomicMax(&statistics[instance].farthest, atomicLoad(&farthest));
        atomicMax(&statistics[instance].last_change, atomicLoad(&last_change));
        atomicMax(&statistics[instance].broken, atomicLoad(&broken));
        if row == 0u {
            atomicStore(&statistics[instance].rejected, states[state_at(instance, turn.iteration)].rejected_so_far);
        }
    }
}

fn finish_row(instance: u32, row: u32) {
    let i = row_at(instance, row);
    let h = motion.step_secs;
    let f = increment[i].xyz;
    let is_carried = (rows[row].w & CARRIED) != 0u;
    let goal = select(x[i].xyz + f, memory[remembered_at(GOAL, instance, row)].xyz, is_carried);
    // Non-finite results are not written: the row keeps its position until the host restores a state.
    let sound = all_finite(f) && all_finite(goal);
    let now = select(memory[remembered_at(BEFORE, instance, row)].xyz, goal, sound);
    let speed = (now - memory[remembered_at(BEFORE, instance, row)].xyz) * (1.0 / h);
    let base_at = remembered_at(BASE_VELOCITY, instance, row);
    let base_speed = select(memory[base_at].xyz, speed, is_carried);
    let relative = speed - base_speed;
    let own_speed = length(relative);
    var kept = bitcast<f32>(rows[row].z);
    if own_speed > motion.fastest {
        kept *= motion.fastest / own_speed;
    }
    let velocity = base_speed + relative * kept;
    x[i] = vec4f(now, 0.0);
    memory[base_at] = vec4f(base_speed, 0.0);
    memory[remembered_at(VELOCITY, instance, row)] = vec4f(velocity, 0.0);
    atomicMax(&farthest, bitcast<u32>(own_speed * h));
    atomicMax(&last_change, bitcast<u32>(length(f)));
    if !sound || !all_finite(velocity) {
        atomicMax(&broken, 1u);
    }
}
