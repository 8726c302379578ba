// Bounding boxes of patches of vertices, and of groups of sixteen patches: a hierarchy that is refitted every step.
@group(0) @binding(5) var<storage, read> x: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> boxes: array<vec4f>;

const PATCHES: u32 = 16u;
const THREADS: u32 = 256u;
// Larger than any coordinate.
const FAR: f32 = 3e38;

var<workgroup> lows: array<vec3f, THREADS>;
var<workgroup> highs: array<vec3f, THREADS>;

// Sixteen threads a patch.
@compute @workgroup_size(THREADS)
fn boxes_of_patches(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    let patch_index = workgroup.x * PATCHES + thread / 16u;
    var low = vec3f(FAR);
    var high = vec3f(-FAR);
    if patch_index < dims.patches {
        let first = tables[dims.patches_at + 2u * patch_index];
        let end = tables[dims.patches_at + 2u * patch_index + 2u];
        for (var k = first + thread % 16u; k < end; k += 16u) {
            let place = x[tables[k]].xyz;
            low = min(low, place);
            high = max(high, place);
        }
    }
    lows[thread] = low;
    highs[thread] = high;
    for (var half = 8u; half > 0u; half >>= 1u) {
        workgroupBarrier();
        if thread % 16u < half {
            lows[thread] = min(lows[thread], lows[thread + half]);
            highs[thread] = max(highs[thread], highs[thread + half]);
        }
    }
    workgroupBarrier();
    if thread % 16u == 0u && patch_index < dims.patches {
        boxes[2u * patch_index] = vec4f(lows[thread], 0.0);
        boxes[2u * patch_index + 1u] = vec4f(highs[thread], 0.0);
    }
    if thread == 0u {
        for (var k = 16u; k < THREADS; k += 16u) {
            low = min(low, lows[k]);
            high = max(high, highs[k]);
        }
        low = min(low, lows[0]);
        high = max(high, highs[0]);
        let group = 2u * (dims.patches + workgroup.x);
        boxes[group] = vec4f(low, 0.0);
        boxes[group + 1u] = vec4f(high, 0.0);
    }
}
