//! Binary files are what text files say.

use std::io::Cursor;

use super::super::layer::{Layer, Prim, Property, Value};
use super::super::text;
use super::*;

fn binary_of(layer: &Layer) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    BinaryWriter::start(&mut out).unwrap();
    BinaryWriter::write(layer, &mut out).unwrap();
    out.into_inner()
}

const TEXT: &str = r#"#usda 1.0
( defaultPrim = "a"
  metersPerUnit = 0.01 )
def Xform "z" ( displayName = "Zed" ) { }
def Xform "a" ( prepend apiSchemas = ["One", "Two"] )
{
    uniform token[] joints = ["a", "a/b"]
    string text = "some \"text\""
    asset file = @./x.png@
    bool flag = true
    int count = -7
    float half = 0.5
    double long = 0.1
    float3 vector = (1, 2.5, -3)
    quatf turn = (0.5, 0.1, 0.2, 0.3)
    int[] none = []
    half3[] scales.timeSamples = { 1: [(1, 0.5, 2)], 3.5: [(0.25, 1, 1)] }
    point3f[] points.timeSamples = { 1: [(1, 2, 3)], 2: [(4, 5, 6)] }
    token outputs:surface.connect = </a/b.x>
    rel target = </a/b>
    def "b" { float x = 1 }
    def "aa" { }
}
"#;

#[test]
fn a_layer_survives_the_binary_form() {
    let layer = text::read(TEXT.as_bytes()).unwrap();
    let read = read(&binary_of(&layer)).unwrap();
    assert_eq!(read.meta("defaultPrim"), layer.meta("defaultPrim"));
    assert_eq!(read.meta("metersPerUnit"), layer.meta("metersPerUnit"));
    assert_eq!(read.roots.len(), 2);
    for (prim, same) in layer.roots.iter().zip(&read.roots) {
        assert_prim(prim, same);
    }
}

fn assert_prim(prim: &Prim, same: &Prim) {
    assert_eq!((&prim.name, &prim.kind), (&same.name, &same.kind));
    assert_eq!(prim.specifier, same.specifier);
    for (key, value) in &prim.meta {
        assert_eq!(same.meta(key), Some(value), "{key}");
    }
    assert_eq!(prim.properties.len(), same.properties.len());
    for property in &prim.properties {
        assert_property(property, same.property(&property.name).unwrap());
    }
    assert_eq!(prim.children.len(), same.children.len());
    for (child, same) in prim.children.iter().zip(&same.children) {
        assert_prim(child, same);
    }
}

fn assert_property(property: &Property, same: &Property) {
    assert_eq!(property.kind, same.kind);
    // Relationships are uniform in files.
    assert!(property.is_relationship() || property.uniform == same.uniform);
    assert_eq!(property.targets, same.targets);
    // Numbers of the text are doubles, those of the file of its type.
    let close = |a: &Value, b: &Value| {
        let (x, y) = (a.numbers(), b.numbers());
        a.texts() == b.texts()
            && x.len() == y.len()
            && x.iter().zip(y).all(|(x, y)| (x - y).abs() < 1e-6)
    };
    match (&property.value, &same.value) {
        (Some(a), Some(b)) => assert!(close(a, b), "{a:?} {b:?}"),
        (a, b) => assert_eq!(a.is_some(), b.is_some(), "{}", property.name),
    }
    assert_eq!(
        property.samples.len(),
        same.samples.len(),
        "{}",
        property.name
    );
    for (a, b) in property.samples.iter().zip(&same.samples) {
        assert!(a.0 == b.0 && close(&a.1, &b.1), "{a:?} {b:?}");
    }
}

#[test]
fn damaged_files_are_refused_or_read_without_harm() {
    let layer = text::read(TEXT.as_bytes()).unwrap();
    let whole = binary_of(&layer);
    for length in 0..whole.len() {
        let _ = read(&whole[..length]);
    }
    for at in 0..whole.len() {
        for value in [0, 1, 0x7F, 0x80, 0xFF] {
            let mut changed = whole.clone();
            changed[at] = value;
            let _ = read(&changed);
        }
    }
}
