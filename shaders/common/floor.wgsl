// The square of the floor that receives the shadow: x and z of its centre on the stage, and half its side.
fn shadow_square() -> vec3<f32> {
    let key = on_stage(frame.key.xyz);
    let center = on_stage(frame.center.xyz);
    let steep = max(key.y, 0.2);
    let middle = center - key * ((center.y - frame.ground.x) / steep);
    return vec3(middle.xz, frame.center.w * 1.12 / steep);
}

// A point of the floor, in the world.
fn floor_place(at: vec2<f32>) -> vec3<f32> {
    return (frame.world_from_stage * vec4(at.x, frame.ground.x, at.y, 0.0)).xyz;
}
