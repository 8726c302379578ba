// Tests the bits, because a compiler may assume that there are no NaNs.
fn is_finite(number: f32) -> bool {
    return (bitcast<u32>(number) & 0x7f800000u) != 0x7f800000u;
}

fn all_finite(v: vec3f) -> bool {
    return is_finite(v.x) && is_finite(v.y) && is_finite(v.z);
}
