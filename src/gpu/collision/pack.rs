//! Packs the constants of a detection into one array of words, numbered by rows: `shaders/collision/tables.wgsl`.

use super::layout::{CollisionDims, PATCHES, ROW_WORDS, ROWS, TRIANGLE_WORDS};
use crate::collision::{CollisionBody, TriangleTable, VertexTable};
use crate::dynamics::Contacts;

/// The words and where the parts are.
pub(super) fn pack(contacts: &Contacts, row_of_vertex: &[u32]) -> (CollisionDims, Vec<u32>) {
    let body = contacts.body();
    let row = |vertex: u32| row_of_vertex[vertex as usize];
    let mut by_row: Vec<(u32, VertexTable)> = body
        .vertex_tables()
        .into_iter()
        .zip(0..)
        .map(|(table, vertex)| (vertex, table))
        .collect();
    by_row.sort_by_key(|&(vertex, _)| row(vertex));
    let mut words = Vec::new();
    let mut dims = CollisionDims {
        rows: by_row.len() as u32,
        row_groups: by_row.len().div_ceil(ROWS) as u32,
        mean_edge: body.mean_edge(),
        tolerance: contacts.gap_tolerance(),
        ..CollisionDims::default()
    };
    let triangles = body.triangle_tables();
    dims.triangles = triangles.len() as u32;
    dims.triangles_at = words.len() as u32;
    for triangle in &triangles {
        words.extend(triangle_words(triangle, &row));
    }
    dims.rows_at = words.len() as u32;
    for (vertex, table) in &by_row {
        words.extend(row_words(
            *vertex,
            table,
            contacts.stiffness()[*vertex as usize],
        ));
    }
    dims.fans_at = lists(
        &mut words,
        by_row.iter().map(|(_, table)| table.fan.clone()),
    );
    dims.excluded_at = lists(
        &mut words,
        by_row.iter().map(|(_, table)| table.neighbors.clone()),
    );
    dims.ignored_at = lists(
        &mut words,
        by_row.iter().map(|(_, table)| table.ignored.clone()),
    );
    dims.planes_at = lists(
        &mut words,
        by_row.iter().map(|(_, table)| plane_words(table)),
    );
    pack_patches(body, &row, &mut dims, &mut words);
    (dims, words)
}

fn triangle_words(triangle: &TriangleTable, row: &impl Fn(u32) -> u32) -> [u32; TRIANGLE_WORDS] {
    let [a, b, c] = triangle.corners.map(row);
    let [i, j, k] = triangle.sorted_corners.map(row);
    let [over_a, over_b, over_c] = triangle.neighbors;
    let center = triangle.center;
    [
        a,
        b,
        c,
        triangle.orientation.to_bits(),
        i,
        j,
        k,
        triangle.edge.to_bits(),
        over_a,
        over_b,
        over_c,
        0,
        center.x.to_bits(),
        center.y.to_bits(),
        center.z.to_bits(),
        0,
    ]
}

fn row_words(vertex: u32, table: &VertexTable, stiffness: f32) -> [u32; ROW_WORDS] {
    let (foot, outward) = (table.foot_point, table.outward);
    [
        table.bone,
        table.edge.to_bits(),
        u32::from(table.may_fold),
        vertex,
        foot.x.to_bits(),
        foot.y.to_bits(),
        foot.z.to_bits(),
        outward.x.to_bits(),
        outward.y.to_bits(),
        outward.z.to_bits(),
        (1.0 / stiffness).to_bits(),
        0,
    ]
}

fn plane_words(table: &VertexTable) -> Vec<u32> {
    let words = |side: &crate::collision::PlaneSide| {
        [side.plane, side.side.to_bits(), side.clearance.to_bits()]
    };
    table.planes.iter().flat_map(words).collect()
}

/// Appends where each list begins, then where the last one ends, then the lists. Returns where that is.
fn lists(words: &mut Vec<u32>, lists: impl Iterator<Item = Vec<u32>>) -> u32 {
    let lists: Vec<Vec<u32>> = lists.collect();
    let at = words.len();
    let mut next = (at + lists.len() + 1) as u32;
    words.push(next);
    for list in &lists {
        next += list.len() as u32;
        words.push(next);
    }
    words.extend(lists.into_iter().flatten());
    at as u32
}

/// Per patch, where its rows begin and its bone; after the last one, where they end; then all rows.
fn pack_patches(
    body: &CollisionBody,
    row: &impl Fn(u32) -> u32,
    dims: &mut CollisionDims,
    words: &mut Vec<u32>,
) {
    let count = body.patches().count();
    (dims.patches, dims.patch_groups) = (count as u32, count.div_ceil(PATCHES) as u32);
    dims.patches_at = words.len() as u32;
    let mut next = dims.patches_at + 2 * count as u32 + 1;
    for (bone, vertices) in body.patches() {
        words.extend([next, bone]);
        next += vertices.len() as u32;
    }
    words.push(next);
    for (_, vertices) in body.patches() {
        words.extend(vertices.iter().map(|&vertex| row(vertex)));
    }
}
