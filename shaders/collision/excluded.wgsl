// Pairs that never collide: neighbours on the surface, and pairs that intersect at rest.

// A pair that intersects at rest excludes all pairs within this many local edge lengths, too.
const REST_PAIR_EDGES: f32 = 5.0;

fn is_excluded(row: u32, triangle: u32) -> bool {
    var low = tables[dims.excluded_at + row];
    let end = tables[dims.excluded_at + row + 1u];
    var high = end;
    while low < high {
        let middle = (low + high) / 2u;
        if tables[middle] < triangle {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    if low < end && tables[low] == triangle {
        return true;
    }
    let first = tables[dims.ignored_at + row];
    let last = tables[dims.ignored_at + row + 1u];
    if first == last {
        return false;
    }
    let reach = REST_PAIR_EDGES * max(max(edge_at(row), edge_of(triangle)), 0.5 * dims.mean_edge);
    let center = rest_center(triangle);
    for (var k = first; k < last; k++) {
        if tables[k] == triangle || length(rest_center(tables[k]) - center) <= reach {
            return true;
        }
    }
    return false;
}
