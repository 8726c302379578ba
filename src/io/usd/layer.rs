//! A layer of USD in memory: prims with properties, before they mean anything.

use crate::io::error::{Parsed, bad};

/// Deepest nesting of prims.
pub(super) const DEEPEST: usize = 200;

/// Most prims and properties of a file.
pub(super) const MOST_SPECS: usize = 2_000_000;

/// A file: metadata and the prims at its root.
#[derive(Debug, Default)]
pub(super) struct Layer {
    pub(super) meta: Vec<(String, Value)>,
    pub(super) roots: Vec<Prim>,
}

/// How a prim is specified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Specifier {
    #[default]
    Def,
    Over,
    Class,
}

/// A prim with its properties and children.
#[derive(Debug, Default)]
pub(super) struct Prim {
    pub(super) name: String,
    /// Type, as "Mesh"; empty without one.
    pub(super) kind: String,
    pub(super) specifier: Specifier,
    pub(super) meta: Vec<(String, Value)>,
    pub(super) properties: Vec<Property>,
    pub(super) children: Vec<Prim>,
}

/// An attribute or a relationship.
#[derive(Debug, Default)]
pub(super) struct Property {
    pub(super) name: String,
    /// Type, as "point3f[]"; empty for a relationship.
    pub(super) kind: String,
    pub(super) uniform: bool,
    pub(super) value: Option<Value>,
    /// Values at time codes, ascending.
    pub(super) samples: Vec<(f64, Value)>,
    /// Targets of a relationship, or what an attribute is connected to.
    pub(super) targets: Vec<String>,
    pub(super) meta: Vec<(String, Value)>,
}

/// A value of any type: its numbers, or its texts. Tuples and arrays are flat; quaternions have their real part first, matrices are
/// row by row. The type is that of the property.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Numbers(Vec<f64>),
    Texts(Vec<String>),
    /// An array of `count` elements of `f32` numbers in the file that is being written, or in the temporary file beside it: its length
    /// as `u64` at offset `at`, then the numbers.
    Stored {
        at: u64,
        count: usize,
    },
}

impl Value {
    pub(super) fn number(value: f64) -> Self {
        Self::Numbers(vec![value])
    }

    pub(super) fn text(value: impl Into<String>) -> Self {
        Self::Texts(vec![value.into()])
    }

    pub(super) fn numbers(&self) -> &[f64] {
        match self {
            Self::Numbers(numbers) => numbers,
            _ => &[],
        }
    }

    pub(super) fn texts(&self) -> &[String] {
        match self {
            Self::Texts(texts) => texts,
            _ => &[],
        }
    }
}

fn find<'a>(list: &'a [(String, Value)], name: &str) -> Option<&'a Value> {
    list.iter()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value)
}

impl Layer {
    pub(super) fn meta(&self, name: &str) -> Option<&Value> {
        find(&self.meta, name)
    }
}

impl Prim {
    pub(super) fn new(kind: &str, name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind: kind.to_owned(),
            ..Self::default()
        }
    }

    pub(super) fn meta(&self, name: &str) -> Option<&Value> {
        find(&self.meta, name)
    }

    pub(super) fn property(&self, name: &str) -> Option<&Property> {
        self.properties
            .iter()
            .find(|property| property.name == name)
    }

    /// The value of an attribute, or its first sample.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.property(name)?.first()
    }

    /// Its numbers, none if there is no such attribute.
    pub(super) fn numbers(&self, name: &str) -> &[f64] {
        self.value(name).map_or(&[], Value::numbers)
    }

    /// Its texts, none if there is no such attribute.
    pub(super) fn texts(&self, name: &str) -> &[String] {
        self.value(name).map_or(&[], Value::texts)
    }

    /// The first target of a relationship or connection.
    pub(super) fn target(&self, name: &str) -> Option<&str> {
        let property = self.property(name)?;
        property.targets.first().map(String::as_str)
    }

    /// The name for users: what a writer stored, or that of the prim.
    pub(super) fn title(&self) -> String {
        let shown = self.meta("displayName").and_then(|v| v.texts().first());
        shown
            .filter(|shown| !shown.is_empty())
            .unwrap_or(&self.name)
            .clone()
    }
}

impl Property {
    /// An attribute with a value.
    pub(super) fn of(kind: &str, name: &str, value: Value) -> Self {
        Self {
            name: name.to_owned(),
            kind: kind.to_owned(),
            value: Some(value),
            ..Self::default()
        }
    }

    /// An attribute with a value that does not change over time by its schema.
    pub(super) fn uniform(kind: &str, name: &str, value: Value) -> Self {
        Self {
            uniform: true,
            ..Self::of(kind, name, value)
        }
    }

    /// A relationship.
    pub(super) fn relationship(name: &str, target: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            targets: vec![target.into()],
            ..Self::default()
        }
    }

    /// An attribute that is connected to another one.
    pub(super) fn connected(kind: &str, name: &str, target: impl Into<String>) -> Self {
        Self {
            kind: kind.to_owned(),
            ..Self::relationship(name, target)
        }
    }

    /// The same with metadata.
    pub(super) fn with(mut self, key: &str, value: Value) -> Self {
        self.meta.push((key.to_owned(), value));
        self
    }

    pub(super) fn meta(&self, name: &str) -> Option<&Value> {
        find(&self.meta, name)
    }

    pub(super) fn is_relationship(&self) -> bool {
        self.kind.is_empty()
    }

    /// Its value, or its first sample.
    pub(super) fn first(&self) -> Option<&Value> {
        self.value
            .as_ref()
            .or_else(|| self.samples.first().map(|(_, value)| value))
    }

    /// The value of `interpolation`, empty without one.
    pub(super) fn interpolation(&self) -> &str {
        let value = self.meta("interpolation");
        value
            .and_then(|value| value.texts().first())
            .map_or("", String::as_str)
    }
}

/// Attributes of which all samples are read; of the others, which may be point caches, only the first.
pub(super) fn keeps_samples(name: &str) -> bool {
    matches!(
        name,
        "translations" | "rotations" | "scales" | "blendShapeWeights"
    )
}

/// Metadata that adds prims from elsewhere.
pub(super) fn is_composition(key: &str) -> bool {
    matches!(
        key,
        "references" | "payload" | "inherits" | "specializes" | "subLayers" | "variantSets"
    )
}

/// A problem for a layer that is composed of several.
pub(super) fn composed<T>(what: &str, place: &str) -> Parsed<T> {
    bad(format!(
        "{place} is composed of other layers or prims ({what}), which Sinew does not resolve; flatten the file first, as by usdcat --flatten"
    ))
}

/// How a number is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    Bool,
    Int,
    Half,
    Float,
    Double,
    Token,
    String,
    Asset,
}

/// What a type name stands for: the scalar, how many make an element, and whether it is an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) scalar: Scalar,
    pub(super) width: usize,
    pub(super) is_array: bool,
}

impl Shape {
    /// Of the types that are written.
    pub(super) fn of(kind: &str) -> Self {
        let element = kind.strip_suffix("[]");
        let (scalar, width) = match element.unwrap_or(kind) {
            "bool" => (Scalar::Bool, 1),
            "int" => (Scalar::Int, 1),
            "float" => (Scalar::Float, 1),
            "double" => (Scalar::Double, 1),
            "string" => (Scalar::String, 1),
            "asset" => (Scalar::Asset, 1),
            "float2" | "texCoord2f" => (Scalar::Float, 2),
            "float3" | "point3f" | "normal3f" | "color3f" | "vector3f" => (Scalar::Float, 3),
            "float4" | "quatf" => (Scalar::Float, 4),
            "half3" => (Scalar::Half, 3),
            "matrix4d" => (Scalar::Double, 16),
            _ => (Scalar::Token, 1),
        };
        Self {
            scalar,
            width,
            is_array: element.is_some(),
        }
    }
}
