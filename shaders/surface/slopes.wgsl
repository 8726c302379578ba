// What normals from joint transforms need of the rest pose (src/methods/blend_normals), and unit vectors.

struct BlendNormal {
    // Rest position and unit normal, in the space that the transforms are applied to.
    rest: vec3<f32>,
    // The first of its slopes, or UNMOVED.
    first: u32,
    normal: vec3<f32>,
    pad0: u32,
    // The first tangent, zero where weights have no gradient; the second is normal × tangent.
    tangent: vec3<f32>,
    pad1: u32,
}

struct WeightSlope {
    // The transform's number, with the highest bit on the vertex' last slope.
    name: u32,
    weight: f32,
    // Derivatives of the weight along the two tangents.
    along_u: f32,
    along_v: f32,
}

// Two tangents of a surface.
struct Tangents {
    u: vec3<f32>,
    v: vec3<f32>,
}

@group(0) @binding(1) var<storage, read> vertices: array<BlendNormal>;
@group(0) @binding(2) var<storage, read> slopes: array<WeightSlope>;
@group(0) @binding(3) var<storage, read> palette: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> normals: array<f32>;

const LAST: u32 = 0x80000000u;
// No joint moves the vertex.
const UNMOVED: u32 = 0xffffffffu;
// Division by a larger number is inexact.
const LONGEST: f32 = 8e37;

fn rest_tangents(own: BlendNormal) -> Tangents {
    return Tangents(own.tangent, cross(own.normal, own.tangent));
}

// The unit vector of that direction; zero for vectors without one. Scaled first, so that squares neither overflow nor vanish.
fn unit_or_zero(v: vec3<f32>) -> vec3<f32> {
    let a = abs(v);
    let largest = max(a.x, max(a.y, a.z));
    if !(largest >= SHORTEST && largest <= LONGEST) {
        return vec3(0.0);
    }
    let scaled = v / largest;
    let size = length(scaled);
    if !(size > 0.5 && size < 2.0) {
        return vec3(0.0);
    }
    return scaled / size;
}

// The unit image of a normal under the matrix with these rows: cof(A) n with A scaled to entries of 1 at most.
fn unit_cofactor(x: vec3<f32>, y: vec3<f32>, z: vec3<f32>, n: vec3<f32>) -> vec3<f32> {
    let a = max(abs(x), max(abs(y), abs(z)));
    let largest = max(a.x, max(a.y, a.z));
    if !(largest >= SHORTEST && largest <= LONGEST) {
        return vec3(0.0);
    }
    let r = x / largest;
    let s = y / largest;
    let t = z / largest;
    return unit_or_zero(vec3(dot(cross(s, t), n), dot(cross(t, r), n), dot(cross(r, s), n)));
}
