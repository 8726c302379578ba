//! Writes a small FBX 7.4 as text: a tube along +Z, in centimetres with +Z up, on two joints, that bends by 90° about X in a second.

use std::fmt::Write;

/// Height of the tube, and of its upper joint, in the file's units.
pub const HEIGHT: f64 = 170.0;
pub const JOINT: f64 = 85.0;
const RADIUS: f64 = 20.0;
const SIDES: u32 = 8;
const RINGS: u32 = 11;
/// FBX counts time in these.
const TICKS_PER_SEC: i64 = 46_186_158_000;

/// Places of the control points in the file's world.
pub fn points() -> Vec<[f64; 3]> {
    let ring = |ring: u32| {
        let z = HEIGHT * f64::from(ring) / f64::from(RINGS - 1);
        (0..SIDES).map(move |side| {
            let angle = std::f64::consts::TAU * f64::from(side) / f64::from(SIDES);
            [RADIUS * angle.cos(), RADIUS * angle.sin(), z]
        })
    };
    (0..RINGS).flat_map(ring).collect()
}

/// Quads around and a polygon at each end; the last corner of each is written as −1 − index.
fn polygons() -> Vec<i64> {
    let mut out = Vec::new();
    for ring in 0..RINGS - 1 {
        for side in 0..SIDES {
            let next = (side + 1) % SIDES;
            let [a, b] = [ring * SIDES + side, ring * SIDES + next];
            out.extend([a, b, b + SIDES].map(i64::from));
            out.push(-1 - i64::from(a + SIDES));
        }
    }
    let sides = i64::from(SIDES);
    let last = i64::from(RINGS - 1) * sides;
    out.extend((1..sides).rev());
    out.push(-1);
    out.extend(last..last + sides - 1);
    out.push(-1 - (last + sides - 1));
    out
}

fn array<T: ToString>(name: &str, values: impl IntoIterator<Item = T>) -> String {
    let values: Vec<String> = values.into_iter().map(|v| v.to_string()).collect();
    format!(
        "{name}: *{} {{\n a: {}\n}}\n",
        values.len(),
        values.join(",")
    )
}

/// A translation, column by column.
fn at([x, y, z]: [f64; 3]) -> [f64; 16] {
    [
        1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, x, y, z, 1.0,
    ]
}

fn cluster(id: usize, points: &[usize], mesh: [f64; 3], link: [f64; 3]) -> String {
    let from_link: [f64; 3] = std::array::from_fn(|c| mesh[c] - link[c]);
    format!(
        "Deformer: {id}, \"SubDeformer::c{id}\", \"Cluster\" {{\nVersion: 100\n{}{}{}{}}}\n",
        array("Indexes", points),
        array("Weights", points.iter().map(|_| 1)),
        array("Transform", at(from_link)),
        array("TransformLink", at(link)),
    )
}

fn model(id: usize, name: &str, kind: &str, [x, y, z]: [f64; 3]) -> String {
    format!(
        "Model: {id}, \"Model::{name}\", \"{kind}\" {{\nVersion: 232\nProperties70: {{\nP: \"Lcl Translation\", \"Lcl Translation\", \"\", \"A\",{x},{y},{z}\n}}\n}}\n"
    )
}

/// The file, with the mesh's node somewhere, which must not matter.
pub fn bending_tube(mesh_at: [f64; 3]) -> String {
    let axes = [
        ("UpAxis", 2),
        ("UpAxisSign", 1),
        ("FrontAxis", 1),
        ("FrontAxisSign", -1),
        ("CoordAxis", 0),
        ("CoordAxisSign", 1),
    ];
    let axes: String = axes
        .map(|(name, value)| format!("P: \"{name}\", \"int\", \"Integer\", \"\",{value}\n"))
        .concat();
    let mut out = format!(
        "; FBX 7.4.0 project file\nFBXHeaderExtension: {{\nFBXHeaderVersion: 1003\nFBXVersion: 7400\n}}\nGlobalSettings: {{\nVersion: 1000\nProperties70: {{\n{axes}P: \"UnitScaleFactor\", \"double\", \"Number\", \"\",1\n}}\n}}\nObjects: {{\n"
    );
    let points = points();
    let in_mesh = points
        .iter()
        .flat_map(|p| std::array::from_fn::<f64, 3, _>(|c| p[c] - mesh_at[c]));
    let _ = write!(
        out,
        "Geometry: 1000, \"Geometry::tube\", \"Mesh\" {{\n{}{}GeometryVersion: 124\n}}\n",
        array("Vertices", in_mesh),
        array("PolygonVertexIndex", polygons())
    );
    out += &model(2000, "tube", "Mesh", mesh_at);
    out += &model(3000, "lower", "LimbNode", [0.0; 3]);
    out += &model(3001, "upper", "LimbNode", [0.0, 0.0, JOINT]);
    out += &model(3002, "tip", "LimbNode", [0.0, 0.0, HEIGHT - JOINT]);
    for id in [4000, 4001, 4002] {
        let _ = write!(
            out,
            "NodeAttribute: {id}, \"NodeAttribute::\", \"LimbNode\" {{\nTypeFlags: \"Skeleton\"\n}}\n"
        );
    }
    out += "Deformer: 5000, \"Deformer::skin\", \"Skin\" {\nVersion: 101\n}\n";
    let (below, above): (Vec<usize>, Vec<usize>) =
        (0..points.len()).partition(|&v| points[v][2] <= JOINT);
    out += &cluster(5001, &below, mesh_at, [0.0; 3]);
    out += &cluster(5002, &above, mesh_at, [0.0, 0.0, JOINT]);
    let _ = write!(
        out,
        "AnimationStack: 6000, \"AnimStack::bend\", \"\" {{\nProperties70: {{\nP: \"LocalStop\", \"KTime\", \"Time\", \"\",{TICKS_PER_SEC}\n}}\n}}\nAnimationLayer: 6001, \"AnimLayer::base\", \"\" {{\n}}\nAnimationCurveNode: 6002, \"AnimCurveNode::R\", \"\" {{\nProperties70: {{\nP: \"d|X\", \"Number\", \"\", \"A\",0\nP: \"d|Y\", \"Number\", \"\", \"A\",0\nP: \"d|Z\", \"Number\", \"\", \"A\",0\n}}\n}}\nAnimationCurve: 6003, \"AnimCurve::\", \"\" {{\nDefault: 0\nKeyVer: 4008\n{}{}{}{}{}}}\n",
        array("KeyTime", [0, TICKS_PER_SEC]),
        array("KeyValueFloat", [0, 90]),
        array("KeyAttrFlags", [4]),
        array("KeyAttrDataFloat", [0, 0, 0, 0]),
        array("KeyAttrRefCount", [2])
    );
    out += "}\nConnections: {\n";
    let links = [
        (2000, 0),
        (1000, 2000),
        (3000, 0),
        (3001, 3000),
        (3002, 3001),
        (4000, 3000),
        (4001, 3001),
        (4002, 3002),
    ];
    let skin = [
        (5000, 1000),
        (5001, 5000),
        (5002, 5000),
        (3000, 5001),
        (3001, 5002),
        (6001, 6000),
        (6002, 6001),
    ];
    for (child, parent) in links.into_iter().chain(skin) {
        let _ = writeln!(out, "C: \"OO\",{child},{parent}");
    }
    out += "C: \"OP\",6002,3001, \"Lcl Rotation\"\nC: \"OP\",6003,6002, \"d|X\"\n}\n";
    out
}

/// The tube with texture coordinates that meet in a seam at the first side, and with a material for the sides and one for the ends.
pub fn seamed_tube() -> String {
    let sides = SIDES as usize;
    let quads = (RINGS as usize - 1) * sides;
    let mut uvs: Vec<f64> = Vec::new();
    for quad in 0..quads {
        let [u, next] = [quad % sides, quad % sides + 1].map(|side| side as f64 / sides as f64);
        let [v, above] = [quad / sides, quad / sides + 1].map(|ring| ring as f64 / 10.0);
        uvs.extend([u, v, next, v, next, above, u, above]);
    }
    uvs.extend([0.5; 4 * SIDES as usize]);
    let materials = (0..quads + 2).map(|face| usize::from(face >= quads));
    let layers = format!(
        "LayerElementUV: 0 {{\nVersion: 101\nName: \"uv\"\nMappingInformationType: \"ByPolygonVertex\"\nReferenceInformationType: \"Direct\"\n{}}}\n\
         LayerElementMaterial: 0 {{\nVersion: 101\nName: \"\"\nMappingInformationType: \"ByPolygon\"\nReferenceInformationType: \"IndexToDirect\"\n{}}}\n\
         Layer: 0 {{\nVersion: 100\nLayerElement: {{\nType: \"LayerElementUV\"\nTypedIndex: 0\n}}\nLayerElement: {{\nType: \"LayerElementMaterial\"\nTypedIndex: 0\n}}\n}}\n\
         GeometryVersion: 124\n",
        array("UV", uvs),
        array("Materials", materials)
    );
    let described = |(id, name): (u32, &str)| {
        format!(
            "Material: {id}, \"Material::{name}\", \"\" {{\nVersion: 102\nShadingModel: \"lambert\"\n}}\n"
        )
    };
    let materials = [(7000, "side"), (7001, "end")].map(described).concat();
    bending_tube([0.0; 3])
        .replacen("GeometryVersion: 124\n", &layers, 1)
        .replacen("Model: 2000,", &format!("{materials}Model: 2000,"), 1)
        .replacen(
            "C: \"OO\",1000,2000\n",
            "C: \"OO\",1000,2000\nC: \"OO\",7000,2000\nC: \"OO\",7001,2000\n",
            1,
        )
}

/// The tube with a blend channel of two shapes, at 50 and 100 %, whose percentage goes from 0 to 100 in the clip. Both move the first
/// control point along X, by 4 and by 10 units.
pub fn smiling_tube() -> String {
    let shape = |id: usize, by: f64| {
        format!(
            "Geometry: {id}, \"Geometry::shape{id}\", \"Shape\" {{\nVersion: 100\n{}{}}}\n",
            array("Indexes", [0]),
            array("Vertices", [by, 0.0, 0.0]),
        )
    };
    let objects = format!(
        "{}{}Deformer: 8100, \"Deformer::faces\", \"BlendShape\" {{\nVersion: 100\n}}\n\
         Deformer: 8101, \"SubDeformer::smile\", \"BlendShapeChannel\" {{\nVersion: 100\nDeformPercent: 0\n{}Properties70: {{\nP: \"DeformPercent\", \"Number\", \"\", \"A\",0\n}}\n}}\n\
         AnimationCurveNode: 8200, \"AnimCurveNode::DeformPercent\", \"\" {{\nProperties70: {{\nP: \"d|DeformPercent\", \"Number\", \"\", \"A\",0\n}}\n}}\n\
         AnimationCurve: 8201, \"AnimCurve::\", \"\" {{\nDefault: 0\nKeyVer: 4008\n{}{}{}{}{}}}\n",
        shape(8000, 4.0),
        shape(8001, 10.0),
        array("FullWeights", [50, 100]),
        array("KeyTime", [0, TICKS_PER_SEC]),
        array("KeyValueFloat", [0, 100]),
        array("KeyAttrFlags", [4]),
        array("KeyAttrDataFloat", [0, 0, 0, 0]),
        array("KeyAttrRefCount", [2])
    );
    let links = "C: \"OO\",8100,1000\nC: \"OO\",8101,8100\nC: \"OO\",8000,8101\nC: \"OO\",8001,8101\n\
         C: \"OO\",8200,6001\nC: \"OP\",8200,8101, \"DeformPercent\"\nC: \"OP\",8201,8200, \"d|DeformPercent\"\n";
    bending_tube([0.0; 3]).replacen(
        "}\nConnections: {\n",
        &format!("{objects}}}\nConnections: {{\n{links}"),
        1,
    )
}
