// Local frames of the upsampling: two tangents and their unit normal (src/upsample/frames.rs).

struct LocalFrame {
    t1: vec3<f32>,
    t2: vec3<f32>,
    normal: vec3<f32>,
    area: f32,
}

// Tangents whose parallelogram is smaller than this say nothing about a direction; the axes of the world then do.
const FLAT_AREA: f32 = 1e-6;

fn local_frame(t1: vec3<f32>, t2: vec3<f32>) -> LocalFrame {
    let across = cross(t1, t2);
    let area = length(across);
    if area > FLAT_AREA {
        return LocalFrame(t1, t2, across / area, area);
    }
    return LocalFrame(vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(0.0, 0.0, 1.0), 1.0);
}

fn vector_in(frame: LocalFrame, local: vec3<f32>) -> vec3<f32> {
    return frame.t1 * local.x + frame.t2 * local.y + frame.normal * local.z;
}

// The unit normal with these components in the dual frame.
fn normal_in(frame: LocalFrame, local: vec3<f32>) -> vec3<f32> {
    let turned = cross(frame.t2, frame.normal) * local.x + cross(frame.normal, frame.t1) * local.y
        + frame.normal * (local.z * frame.area);
    let size = length(turned);
    if size > SHORTEST {
        return turned / size;
    }
    return frame.normal;
}
