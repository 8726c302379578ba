// The local step: for every tet the closest rotation, for every prism the pulls towards it on its three skin points. The twin of
// dynamics/local.rs.
//
// A prism is a chain of six points; tet t is made of the points t … t + 3. A workgroup has 32 prisms, a thread one tet: thread
// 32 t + p works on tet t of prism p, and on the t-th skin and base point of its chain.

override VOLUME: bool = false;
override ENERGY: bool = false;

// Groups of 32 prisms: the six points of the chains (rows, then base points), point by point.
@group(0) @binding(3) var<storage, read> chains: array<u32>;
// Groups of 96 tets: Ē⁻¹ column by column, then stiffness times volume, number by number.
@group(0) @binding(4) var<storage, read> elements: array<f32>;
@group(0) @binding(5) var<storage, read> base: array<vec4f>;
// Instances: pulls on the first, second, third skin point of all prisms.
@group(0) @binding(6) var<storage, read_write> forces: array<vec4f>;
@group(0) @binding(14) var<storage, read_write> energies: array<f32>;

const TETS: u32 = 96u;

var<workgroup> points: array<vec3f, 192>;
var<workgroup> pulls: array<vec3f, 192>;
var<workgroup> energy_of: array<f32, TETS>;

// The row of the skin point that a thread loads.
fn skin_row(group: u32, thread: u32) -> u32 {
    return chains[group * 2u * TETS + thread];
}

fn element(group: u32, thread: u32, number: u32) -> f32 {
    return elements[(group * 10u + number) * TETS + thread];
}

// All of it, where the thread's skin point is at `corner`; energies go to a region.
fn local_step(group: u32, instance: u32, thread: u32, corner: vec3f, region: u32) {
    points[thread] = corner;
    points[TETS + thread] = base[instance * dims.base_stride + chains[group * 2u * TETS + TETS + thread]].xyz;
    workgroupBarrier();
    energy_of[thread] = pull(group, thread);
    workgroupBarrier();
    // Only the edges that end at a skin point pull on one.
    let prism = thread % PRISMS;
    let edge0 = pulls[prism];
    let edge1 = pulls[PRISMS + prism] + pulls[3u * PRISMS + prism];
    let edge2 = pulls[2u * PRISMS + prism] + pulls[4u * PRISMS + prism] + pulls[5u * PRISMS + prism];
    let corner_index = thread / PRISMS;
    var force = edge0;
    if corner_index == 1u {
        force = edge1 - edge0;
    } else if corner_index == 2u {
        force = edge2 - edge1;
    }
    forces[(3u * instance + corner_index) * dims.prism_stride + group * PRISMS + prism] = vec4f(force, 0.0);
    if ENERGY {
        if thread < PRISMS {
            energy_of[thread] += energy_of[thread + PRISMS] + energy_of[thread + 2u * PRISMS];
        }
        for (var half = PRISMS / 2u; half > 0u; half >>= 1u) {
            workgroupBarrier();
            if thread < half {
                energy_of[thread] += energy_of[thread + half];
            }
        }
        if thread == 0u {
            energies[energies_at(region, instance) + group] = energy_of[0];
        }
    }
}

// With E the edges of the thread's tet along the chain and F = E Ē⁻¹: the columns of w (F − R) Ē⁻ᵀ, one an edge, of which the first
// 3 − t belong to edges that end at skin points. Returns w/2 (‖F − R‖² + volume ‖F − F*‖²).
fn pull(group: u32, thread: u32) -> f32 {
    let tet = thread / PRISMS;
    let prism = thread % PRISMS;
    let weight = element(group, thread, 9u);
    var columns = mat3x3f();
    var energy = 0.0;
    if weight > 0.0 {
        let rest_inverse = mat3x3f(
            element(group, thread, 0u), element(group, thread, 1u), element(group, thread, 2u),
            element(group, thread, 3u), element(group, thread, 4u), element(group, thread, 5u),
            element(group, thread, 6u), element(group, thread, 7u), element(group, thread, 8u),
        );
        let first = thread;
        let a = points[first];
        let b = points[first + PRISMS];
        let c = points[first + 2u * PRISMS];
        let d = points[first + 3u * PRISMS];
        let f = mat3x3f(b - a, c - b, d - c) * rest_inverse;
        let strain = f - closest_rotation(f);
        var stress = strain;
        energy = norm2(strain);
        if VOLUME {
            let bulge = f - project_volume(f);
            stress = stress + bulge * motion.volume;
            energy += motion.volume * norm2(bulge);
        }
        columns = (stress * weight) * transpose(rest_inverse);
        energy *= 0.5 * weight;
    }
    // Places 0 1 2 are of the first tet's edges, 3 4 of the second's, 5 of the third's.
    if tet == 0u {
        pulls[prism] = columns[0];
        pulls[PRISMS + prism] = columns[1];
        pulls[2u * PRISMS + prism] = columns[2];
    } else if tet == 1u {
        pulls[3u * PRISMS + prism] = columns[0];
        pulls[4u * PRISMS + prism] = columns[1];
    } else {
        pulls[5u * PRISMS + prism] = columns[0];
    }
    return energy;
}
