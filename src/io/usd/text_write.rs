//! Layers as text (`.usda`).

use std::io::{Read, Seek, SeekFrom, Write};

use super::layer::{Layer, Prim, Property, Scalar, Shape, Specifier, Value};

/// Writes a layer; stored values are in `stored`.
pub(super) fn write<W: Write, S: Read + Seek>(
    layer: &Layer,
    out: &mut W,
    stored: &mut S,
) -> std::io::Result<()> {
    let mut writer = TextWriter { out, stored };
    writer.layer(layer)
}

struct TextWriter<'a, W, S> {
    out: &'a mut W,
    stored: &'a mut S,
}

impl<W: Write, S: Read + Seek> TextWriter<'_, W, S> {
    fn layer(&mut self, layer: &Layer) -> std::io::Result<()> {
        writeln!(self.out, "#usda 1.0\n(")?;
        for (key, value) in &layer.meta {
            write!(self.out, "    {key} = ")?;
            self.value(value, meta_shape(key))?;
            writeln!(self.out)?;
        }
        writeln!(self.out, ")")?;
        for prim in &layer.roots {
            writeln!(self.out)?;
            self.prim(prim, 0)?;
        }
        Ok(())
    }

    fn prim(&mut self, prim: &Prim, depth: usize) -> std::io::Result<()> {
        let indent = " ".repeat(4 * depth);
        let specifier = match prim.specifier {
            Specifier::Def => "def",
            Specifier::Over => "over",
            Specifier::Class => "class",
        };
        let kind = if prim.kind.is_empty() { "" } else { " " };
        write!(
            self.out,
            "{indent}{specifier}{kind}{} \"{}\"",
            prim.kind, prim.name
        )?;
        if !prim.meta.is_empty() {
            writeln!(self.out, " (")?;
            for (key, value) in &prim.meta {
                let is_list = key == "apiSchemas";
                let prepend = if is_list { "prepend " } else { "" };
                write!(self.out, "{indent}    {prepend}{key} = ")?;
                self.value(value, meta_shape(key))?;
                writeln!(self.out)?;
            }
            write!(self.out, "{indent})")?;
        }
        writeln!(self.out, "\n{indent}{{")?;
        for property in &prim.properties {
            self.property(property, depth + 1)?;
        }
        for child in &prim.children {
            writeln!(self.out)?;
            self.prim(child, depth + 1)?;
        }
        writeln!(self.out, "{indent}}}")
    }

    fn property(&mut self, property: &Property, depth: usize) -> std::io::Result<()> {
        let indent = " ".repeat(4 * depth);
        let name = &property.name;
        if property.is_relationship() {
            let targets: Vec<String> = (property.targets.iter())
                .map(|target| format!("<{target}>"))
                .collect();
            return match &targets[..] {
                [target] => writeln!(self.out, "{indent}rel {name} = {target}"),
                several => writeln!(self.out, "{indent}rel {name} = [{}]", several.join(", ")),
            };
        }
        let uniform = if property.uniform { "uniform " } else { "" };
        let declared = format!("{indent}{uniform}{} {name}", property.kind);
        let shape = Shape::of(&property.kind);
        if let Some(target) = property.targets.first() {
            writeln!(self.out, "{declared}.connect = <{target}>")?;
            return Ok(());
        }
        // Metadata belongs to the declaration, not to the samples.
        let is_declared = property.value.is_some() || !property.meta.is_empty();
        if property.samples.is_empty() || is_declared {
            write!(self.out, "{declared}")?;
            if let Some(value) = &property.value {
                write!(self.out, " = ")?;
                self.value(value, shape)?;
            }
            self.property_meta(property, &indent)?;
        }
        if !property.samples.is_empty() {
            writeln!(self.out, "{declared}.timeSamples = {{")?;
            for (time, value) in &property.samples {
                write!(self.out, "{indent}    {time}: ")?;
                self.value(value, shape)?;
                writeln!(self.out, ",")?;
            }
            writeln!(self.out, "{indent}}}")?;
        }
        Ok(())
    }

    fn property_meta(&mut self, property: &Property, indent: &str) -> std::io::Result<()> {
        if property.meta.is_empty() {
            return writeln!(self.out);
        }
        writeln!(self.out, " (")?;
        for (key, value) in &property.meta {
            write!(self.out, "{indent}    {key} = ")?;
            self.value(value, meta_shape(key))?;
            writeln!(self.out)?;
        }
        writeln!(self.out, "{indent})")
    }

    fn value(&mut self, value: &Value, shape: Shape) -> std::io::Result<()> {
        match value {
            Value::Numbers(numbers) => self.numbers(numbers, shape),
            Value::Texts(texts) => {
                let texts = texts.iter().map(|text| quoted(text, shape.scalar));
                let joined = texts.collect::<Vec<_>>().join(", ");
                if shape.is_array {
                    write!(self.out, "[{joined}]")
                } else {
                    write!(self.out, "{joined}")
                }
            }
            Value::Stored { at, count } => {
                let mut bytes = vec![0; count * shape.width * 4];
                self.stored.seek(SeekFrom::Start(at + 8))?;
                self.stored.read_exact(&mut bytes)?;
                let number = |b: &[u8]| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
                let numbers: Vec<f64> = bytes.chunks_exact(4).map(number).collect();
                self.numbers(&numbers, shape)
            }
        }
    }

    fn numbers(&mut self, numbers: &[f64], shape: Shape) -> std::io::Result<()> {
        if shape.is_array {
            write!(self.out, "[")?;
        }
        for (i, element) in numbers.chunks(shape.width).enumerate() {
            if i > 0 {
                write!(self.out, ", ")?;
            }
            match shape.width {
                1 => self.number(element[0], shape.scalar)?,
                16 => {
                    write!(self.out, "(")?;
                    for (row, numbers) in element.chunks(4).enumerate() {
                        if row > 0 {
                            write!(self.out, ", ")?;
                        }
                        self.tuple(numbers, shape.scalar)?;
                    }
                    write!(self.out, ")")?;
                }
                _ => self.tuple(element, shape.scalar)?,
            }
        }
        if shape.is_array {
            write!(self.out, "]")?;
        }
        Ok(())
    }

    fn tuple(&mut self, numbers: &[f64], scalar: Scalar) -> std::io::Result<()> {
        write!(self.out, "(")?;
        for (i, &number) in numbers.iter().enumerate() {
            if i > 0 {
                write!(self.out, ", ")?;
            }
            self.number(number, scalar)?;
        }
        write!(self.out, ")")
    }

    /// The shortest text that reads back equal.
    fn number(&mut self, number: f64, scalar: Scalar) -> std::io::Result<()> {
        match scalar {
            Scalar::Bool | Scalar::Int => write!(self.out, "{}", number as i64),
            Scalar::Double => write!(self.out, "{number}"),
            _ => write!(self.out, "{}", number as f32),
        }
    }
}

/// Types of metadata.
pub(super) fn meta_shape(key: &str) -> Shape {
    Shape::of(match key {
        "apiSchemas" => "token[]",
        "metersPerUnit" | "timeCodesPerSecond" | "framesPerSecond" | "startTimeCode"
        | "endTimeCode" => "double",
        "elementSize" => "int",
        "doc" | "displayName" | "comment" => "string",
        _ => "token",
    })
}

fn quoted(text: &str, scalar: Scalar) -> String {
    if scalar == Scalar::Asset {
        return format!("@{text}@");
    }
    let mut made = String::with_capacity(text.len() + 2);
    made.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => made.extend(['\\', c]),
            '\n' => made.push_str("\\n"),
            c if c.is_control() => made.push(' '),
            c => made.push(c),
        }
    }
    made.push('"');
    made
}
