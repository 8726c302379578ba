// The normal of the triangles from `begin` to `end`, weighted by their areas, in a fixed order; upwards where there is none. The pass says
// where corners are.
fn normal_around(instance: u32, begin: u32, end: u32) -> vec3<f32> {
    var sum = vec3(0.0);
    for (var t = begin; t < end; t += 1u) {
        let a = corner_at(instance, 3u * t);
        sum += cross(corner_at(instance, 3u * t + 1u) - a, corner_at(instance, 3u * t + 2u) - a);
    }
    let size = length(sum);
    return select(vec3(0.0, 1.0, 0.0), sum / size, size > SHORTEST);
}
