// Updates the contacts of every vertex, removes those that have ended, and adds new ones at its hits: collision/contact_list.rs and
// contact_search.rs for a time step of flesh without targets. The contacts of a vertex do not depend on those of others.
@group(0) @binding(8) var<storage, read> hits: array<u32>;
@group(0) @binding(9) var<storage, read_write> slots: array<Slot>;
// Per row, its number of contacts; then per group of rows.
@group(0) @binding(10) var<storage, read_write> counts: array<u32>;
@group(0) @binding(11) var<storage, read> loads: array<f32>;

const KEEP_DISTANCE: f32 = 0.6;
const SAME_POINT: f32 = 2.0;
const MAX_INSIDE_DISTANCE: f32 = 2.0;
const STICK_DISTANCE: f32 = 0.01;
const NORMAL_RATE: f32 = 0.1;
const MIN_DEPTH: f32 = 0.03;
const MAX_FACING_COSINE: f32 = 0.5;
const SMOOTH_COSINE: f32 = 0.8;
const MIN_OUTWARD_COSINE: f32 = 0.1;
const MAX_LATERAL: f32 = 0.7;
const MAX_LATERAL_EXISTING: f32 = 1.5;

// State of a pair.
const NEW: u32 = 0u;
const EXISTING: u32 = 1u;
const LOADED: u32 = 2u;

var<private> kept: array<Slot, MOST_PER_VERTEX>;
var<private> kept_count: u32;
var<workgroup> total: atomic<u32>;

fn absent() -> Slot {
    return Slot(vec3f(), NONE, vec3f(), 0.0, 0.0, NONE, 0u, 0u);
}

fn point_of(slot: Slot) -> vec3f {
    let corners = corners_of(slot.triangle);
    return x[corners.x].xyz * slot.weights.x + x[corners.y].xyz * slot.weights.y + x[corners.z].xyz * slot.weights.z;
}

fn shares_bone(row: u32, corners: vec3u) -> bool {
    let bone = bone_of(row);
    return bone_of(corners.x) == bone || bone_of(corners.y) == bone || bone_of(corners.z) == bone;
}

fn is_on_fold(row: u32, corners: vec3u) -> bool {
    return may_fold(row) || may_fold(corners.x) || may_fold(corners.y) || may_fold(corners.z);
}

fn may_collide(row: u32, triangle: u32) -> bool {
    let corners = corners_of(triangle);
    return !any(corners == vec3u(row)) && (may_fold(row) || !shares_bone(row, corners)) && !is_excluded(row, triangle);
}

// Whether a new pair's surfaces do not face each other.
fn is_aligned(row: u32, corners: vec3u, outward_cosine: f32, normal_cosine: f32, is_outward: bool, other_cosine: f32) -> bool {
    if is_on_fold(row, corners) {
        let side_by_side = outward_cosine >= 0.0 && normal_cosine <= -MAX_FACING_COSINE;
        return normal_cosine > MAX_FACING_COSINE
            || (!side_by_side && (outward_cosine > MAX_FACING_COSINE || shares_bone(row, corners)));
    }
    return normal_cosine > MAX_FACING_COSINE || outward_cosine > MAX_FACING_COSINE || !is_outward || other_cosine < MIN_OUTWARD_COSINE;
}

// The contact with a point of the skin; absent if the surface there does not face the vertex.
fn contact_at(row: u32, own: vec3f, closest: Closest, state: u32) -> Slot {
    let corners = corners_of(closest.triangle);
    let outward = unit_or_zero(
        posed[corners.x].outward.xyz * closest.weights.x + posed[corners.y].outward.xyz * closest.weights.y
            + posed[corners.z].outward.xyz * closest.weights.z,
        1e-3,
    );
    if all(outward == vec3f()) {
        return absent();
    }
    let own_outward = posed[row].outward.xyz;
    let surface = smooth_normal(closest.triangle, closest.weights);
    let normal_cosine = dot(own, surface);
    let is_outward = dot(own, own_outward) >= MIN_OUTWARD_COSINE;
    if state == NEW && is_aligned(row, corners, dot(own_outward, outward), normal_cosine, is_outward, dot(surface, outward)) {
        return absent();
    }
    if normal_cosine > SMOOTH_COSINE && !is_on_fold(row, corners) {
        return absent();
    }
    let normal = select(surface, unit_or_zero(surface - own, 1e-3), is_outward);
    if all(normal == vec3f()) {
        return absent();
    }
    let offset = -closest.offset;
    let gap = dot(normal, offset);
    let lateral = length(offset - surface * dot(surface, offset));
    let reach = select(MAX_LATERAL_EXISTING, MAX_LATERAL, state == NEW);
    if state != LOADED && lateral > reach * edge_of(closest.triangle) + 0.5 * abs(gap) {
        return absent();
    }
    return Slot(closest.weights, closest.triangle, normal, 0.0, gap, NONE, 0u, 0u);
}

fn find_contact_point(row: u32, start: u32, state: u32) -> Slot {
    let own = unit_or_zero(posed[row].normal.xyz, 1e-30);
    if all(own == vec3f()) {
        return absent();
    }
    let p = x[row].xyz;
    let closest = closest_from(p, start, row, false);
    if closest.triangle == start || may_collide(row, closest.triangle) {
        let found = contact_at(row, own, closest, state);
        if found.triangle != NONE {
            return found;
        }
    }
    // The closest point may lie on the vertex's own side of a crease.
    if is_on_fold(row, corners_of(start)) {
        return contact_at(row, own, closest_from(p, start, row, true), state);
    }
    return contact_at(row, own, closest_on(start, p), state);
}

// The same contact with an updated normal, if its vertex has hardly moved sideways.
fn keep_contact_point(row: u32, slot: Slot) -> Slot {
    let offset = x[row].xyz - point_of(slot);
    let lateral = length(offset - slot.normal * dot(slot.normal, offset));
    let own = unit_or_zero(posed[row].normal.xyz, 1e-30);
    if lateral > STICK_DISTANCE * edge_of(slot.triangle) || all(own == vec3f()) {
        return absent();
    }
    let surface = smooth_normal(slot.triangle, slot.weights);
    let normal = unit_or_zero(surface - own, 1e-3);
    if (dot(own, surface) > SMOOTH_COSINE && !is_on_fold(row, corners_of(slot.triangle))) || all(normal == vec3f()) {
        return absent();
    }
    var next = slot;
    next.normal = normal;
    return next;
}

fn is_within_reach(row: u32, slot: Slot, is_inside: bool) -> bool {
    let apart = length(x[row].xyz - point_of(slot));
    let edge = edge_of(slot.triangle);
    if slot.gap >= 0.0 {
        return slot.gap <= KEEP_DISTANCE * edge && apart <= MAX_LATERAL_EXISTING * edge;
    }
    return is_inside || apart <= MAX_INSIDE_DISTANCE * edge;
}

// Where an existing contact is now; absent if there is none any more.
fn next_contact(row: u32, slot: Slot, is_inside: bool) -> Slot {
    let loaded = slot.load > 0.0;
    var next = keep_contact_point(row, slot);
    if next.triangle == NONE {
        next = find_contact_point(row, slot.triangle, select(EXISTING, LOADED, loaded));
    }
    if next.triangle == NONE || (!loaded && !is_within_reach(row, next, is_inside)) {
        return absent();
    }
    let blended = unit_or_zero(next.normal * NORMAL_RATE + slot.normal * (1.0 - NORMAL_RATE), 1e-3);
    next.normal = select(blended, next.normal, all(blended == vec3f()));
    next.gap = dot(next.normal, x[row].xyz - point_of(next));
    next.load = slot.load;
    return next;
}

fn is_known(next: Slot) -> bool {
    let point = point_of(next);
    let reach = SAME_POINT * edge_of(next.triangle);
    for (var k = 0u; k < kept_count; k++) {
        if length(point_of(kept[k]) - point) <= reach {
            return true;
        }
    }
    return false;
}

// Keeps a contact, sorted by triangle.
fn keep(slot: Slot) {
    var rest = slot;
    for (var k = 0u; k < kept_count; k++) {
        if rest.triangle < kept[k].triangle {
            let next = kept[k];
            kept[k] = rest;
            rest = next;
        }
    }
    kept[kept_count] = rest;
    kept_count++;
}

fn hit_at(row: u32, half: u32, k: u32) -> u32 {
    if k < MOST_HITS {
        return hits[hits_at(row, half) + k];
    }
    return NONE;
}

fn refresh_row(row: u32) {
    kept_count = 0u;
    let is_inside = min(hits[hits_at(row, 0u)], hits[hits_at(row, 1u)]) != NONE;
    let first = row * MOST_PER_VERTEX;
    for (var k = 0u; k < MOST_PER_VERTEX; k++) {
        var slot = slots[first + k];
        if slot.triangle == NONE {
            break;
        }
        if slot.index != NONE {
            slot.load = loads[slot.index];
        }
        let next = next_contact(row, slot, is_inside);
        if next.triangle != NONE && !is_known(next) {
            keep(next);
        }
    }
    var even = 0u;
    var odd = 0u;
    while kept_count < MOST_PER_VERTEX {
        let triangle_even = hit_at(row, 0u, even);
        let triangle_odd = hit_at(row, 1u, odd);
        let triangle = min(triangle_even, triangle_odd);
        if triangle == NONE {
            break;
        }
        even += select(0u, 1u, triangle == triangle_even);
        odd += select(0u, 1u, triangle == triangle_odd);
        let next = find_contact_point(row, triangle, NEW);
        if next.triangle != NONE && next.gap < -MIN_DEPTH * edge_of(next.triangle) && !is_known(next) {
            keep(next);
        }
    }
    for (var k = 0u; k < MOST_PER_VERTEX; k++) {
        if k < kept_count {
            slots[first + k] = kept[k];
        } else {
            slots[first + k] = absent();
        }
    }
    counts[row] = kept_count;
    atomicAdd(&total, kept_count);
}

@compute @workgroup_size(ROWS)
fn refresh(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) thread: u32) {
    if id.x < dims.rows {
        refresh_row(id.x);
    }
    workgroupBarrier();
    if thread == 0u {
        counts[dims.row_groups * ROWS + id.x / ROWS] = atomicLoad(&total);
    }
}
