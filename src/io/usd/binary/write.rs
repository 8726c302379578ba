//! Writes layers as binary files, version 0.8.0. Values of frames are written as they come, the structure at the end.

use std::collections::HashMap;
use std::io::{Seek, Write};

use super::super::layer::{Layer, Prim, Property, Scalar, Shape, Specifier, Value};
use super::super::text_write::meta_shape;
use super::encode::{Table, half_of, kind_of, signed};
use super::{HEADER, Kind, MAGIC, ValueRep, coding, spec};

const VERSION: [u8; 8] = [0, 8, 0, 0, 0, 0, 0, 0];

/// Token 0, which must not name a property: names of properties are negative numbers.
const NO_TOKEN: &str = ";-)";

/// Moves to a multiple of eight bytes, as arrays need it.
pub(in crate::io::usd) fn align(out: &mut (impl Write + Seek)) -> std::io::Result<u64> {
    let at = out.stream_position()?;
    let fill = at.next_multiple_of(8) - at;
    out.write_all(&[0; 8][..fill as usize])?;
    Ok(at + fill)
}

/// The tables of a file.
pub(in crate::io::usd) struct BinaryWriter<'a, W> {
    out: &'a mut W,
    tokens: Table<String>,
    strings: Table<u32>,
    fields: Table<(u32, ValueRep)>,
    sets: Vec<i32>,
    specs: Vec<[i32; 3]>,
    /// Of each path in the order of writing: token of its last name (negative for a property), and its jump.
    paths: Vec<[i32; 2]>,
    path_of: HashMap<String, u32>,
    sections: Vec<(&'static str, u64, u64)>,
}

impl<'a, W: Write + Seek> BinaryWriter<'a, W> {
    /// Leaves room for the header at the start of a file.
    pub(in crate::io::usd) fn start(out: &mut W) -> std::io::Result<()> {
        out.write_all(&[0; HEADER])
    }

    /// Writes a layer behind the header and the values that it refers to.
    pub(in crate::io::usd) fn write(layer: &Layer, out: &'a mut W) -> std::io::Result<()> {
        let mut writer = Self {
            out,
            tokens: Table::new(),
            strings: Table::new(),
            fields: Table::new(),
            sets: Vec::new(),
            specs: Vec::new(),
            paths: Vec::new(),
            path_of: HashMap::new(),
            sections: Vec::new(),
        };
        writer.tokens.number(NO_TOKEN.to_owned());
        writer.number_paths("/", "", false, &layer.roots, &[]);
        writer.root(layer)?;
        for prim in &layer.roots {
            writer.prim(prim, "")?;
        }
        writer.finish()
    }

    /// Numbers a path and all below it, depth first; returns nothing, the jump is set by what follows.
    fn number_paths(
        &mut self,
        path: &str,
        name: &str,
        has_sibling: bool,
        children: &[Prim],
        properties: &[Property],
    ) {
        let index = self.paths.len();
        let token = if name.is_empty() {
            0
        } else {
            self.tokens.number(name.to_owned()).cast_signed()
        };
        self.paths.push([token, 0]);
        self.path_of.insert(path.to_owned(), index as u32);
        let base = if path == "/" { "" } else { path };
        for (i, property) in properties.iter().enumerate() {
            let token = self.tokens.number(property.name.clone()).cast_signed();
            let is_last = i + 1 == properties.len() && children.is_empty();
            let place = self.paths.len() as u32;
            self.path_of
                .insert(format!("{base}.{}", property.name), place);
            self.paths.push([-token, if is_last { -2 } else { 0 }]);
        }
        for (i, child) in children.iter().enumerate() {
            let path = format!("{base}/{}", child.name);
            let has_sibling = i + 1 < children.len();
            self.number_paths(
                &path,
                &child.name,
                has_sibling,
                &child.children,
                &child.properties,
            );
        }
        let has_child = self.paths.len() > index + 1;
        self.paths[index][1] = match (has_child, has_sibling) {
            (true, true) => signed(self.paths.len() - index),
            (true, false) => -1,
            (false, true) => 0,
            (false, false) => -2,
        };
    }

    fn root(&mut self, layer: &Layer) -> std::io::Result<()> {
        let mut fields = Vec::new();
        for (key, value) in &layer.meta {
            fields.push((key.as_str(), self.value(value, meta_shape(key))?));
        }
        fields.push(("primChildren", self.names(&layer.roots)?));
        self.spec("/", spec::ROOT, fields);
        Ok(())
    }

    /// The names of prims.
    fn names(&mut self, prims: &[Prim]) -> std::io::Result<ValueRep> {
        let tokens = prims.iter().map(|prim| prim.name.clone()).collect();
        self.token_vector(tokens)
    }

    fn token_vector(&mut self, names: Vec<String>) -> std::io::Result<ValueRep> {
        let numbers = self.numbers_of(names);
        let at = self.listed(None, &numbers)?;
        Ok(ValueRep::of(Kind::TokenVector, 0, at))
    }

    fn numbers_of(&mut self, names: Vec<String>) -> Vec<u32> {
        (names.into_iter())
            .map(|name| self.tokens.number(name))
            .collect()
    }

    /// A list of numbers with their count, after the header of a list operation if there is one.
    fn listed(&mut self, header: Option<u8>, numbers: &[u32]) -> std::io::Result<u64> {
        let at = align(self.out)?;
        if let Some(header) = header {
            self.out.write_all(&[header])?;
        }
        self.out.write_all(&(numbers.len() as u64).to_le_bytes())?;
        self.out.write_all(bytemuck::cast_slice(numbers))?;
        Ok(at)
    }

    fn prim(&mut self, prim: &Prim, parent: &str) -> std::io::Result<()> {
        let path = format!("{parent}/{}", prim.name);
        let specifier = match prim.specifier {
            Specifier::Def => 0,
            Specifier::Over => 1,
            Specifier::Class => 2,
        };
        let inlined = |kind, value| ValueRep::of(kind, ValueRep::INLINED, value);
        let mut fields = vec![("specifier", inlined(Kind::Specifier, specifier))];
        if !prim.kind.is_empty() {
            let token = self.tokens.number(prim.kind.clone());
            fields.push(("typeName", inlined(Kind::Token, token.into())));
        }
        for (key, value) in &prim.meta {
            let rep = if key == "apiSchemas" {
                let numbers = self.numbers_of(value.texts().to_vec());
                // Prepended items.
                let at = self.listed(Some(1 << 5), &numbers)?;
                ValueRep::of(Kind::TokenListOp, 0, at)
            } else {
                self.value(value, meta_shape(key))?
            };
            fields.push((key.as_str(), rep));
        }
        if !prim.properties.is_empty() {
            let names = prim.properties.iter().map(|p| p.name.clone()).collect();
            fields.push(("properties", self.token_vector(names)?));
        }
        if !prim.children.is_empty() {
            fields.push(("primChildren", self.names(&prim.children)?));
        }
        self.spec(&path, spec::PRIM, fields);
        for property in &prim.properties {
            self.property(property, &path)?;
        }
        for child in &prim.children {
            self.prim(child, &path)?;
        }
        Ok(())
    }

    fn property(&mut self, property: &Property, prim: &str) -> std::io::Result<()> {
        let path = format!("{prim}.{}", property.name);
        let inlined = |kind, value| ValueRep::of(kind, ValueRep::INLINED, value);
        let mut fields = Vec::new();
        if property.uniform || property.is_relationship() {
            fields.push(("variability", inlined(Kind::Variability, 1)));
        }
        if !property.targets.is_empty() {
            let targets: Vec<u32> = (property.targets.iter())
                .filter_map(|target| self.path_of.get(target).copied())
                .collect();
            // An explicit list.
            let at = self.listed(Some(0b11), &targets)?;
            let key = if property.is_relationship() {
                "targetPaths"
            } else {
                "connectionPaths"
            };
            fields.push((key, ValueRep::of(Kind::PathListOp, 0, at)));
        }
        if property.is_relationship() {
            self.spec(&path, spec::RELATIONSHIP, fields);
            return Ok(());
        }
        let shape = Shape::of(&property.kind);
        let token = self.tokens.number(property.kind.clone());
        fields.push(("typeName", inlined(Kind::Token, token.into())));
        for (key, value) in &property.meta {
            fields.push((key.as_str(), self.value(value, meta_shape(key))?));
        }
        if let Some(value) = &property.value {
            fields.push(("default", self.typed(value, shape, &property.kind)?));
        }
        if !property.samples.is_empty() {
            let rep = self.samples(property, shape)?;
            fields.push(("timeSamples", rep));
        }
        self.spec(&path, spec::ATTRIBUTE, fields);
        Ok(())
    }

    fn samples(&mut self, property: &Property, shape: Shape) -> std::io::Result<ValueRep> {
        let mut reps = Vec::with_capacity(property.samples.len());
        for (_, value) in &property.samples {
            reps.push(self.typed(value, shape, &property.kind)?.0);
        }
        let times_at = align(self.out)?;
        self.out.write_all(&(reps.len() as u64).to_le_bytes())?;
        for (time, _) in &property.samples {
            self.out.write_all(&time.to_le_bytes())?;
        }
        let at = align(self.out)?;
        // The nested values are before this place; the distance to what follows is that of the number itself.
        self.out.write_all(&8_i64.to_le_bytes())?;
        let times = ValueRep::of(Kind::DoubleVector, 0, times_at);
        self.out.write_all(&times.0.to_le_bytes())?;
        self.out.write_all(&8_i64.to_le_bytes())?;
        self.out.write_all(&(reps.len() as u64).to_le_bytes())?;
        self.out.write_all(bytemuck::cast_slice(&reps))?;
        Ok(ValueRep::of(Kind::TimeSamples, 0, at))
    }

    fn spec(&mut self, path: &str, kind: u32, fields: Vec<(&str, ValueRep)>) {
        let set = signed(self.sets.len());
        for (key, rep) in fields {
            let token = self.tokens.number(key.to_owned());
            let field = self.fields.number((token, rep));
            self.sets.push(field.cast_signed());
        }
        self.sets.push(-1);
        let path = self.path_of.get(path).copied().unwrap_or(0);
        self.specs
            .push([path.cast_signed(), set, kind.cast_signed()]);
    }

    fn value(&mut self, value: &Value, shape: Shape) -> std::io::Result<ValueRep> {
        self.typed(value, shape, "")
    }

    fn typed(&mut self, value: &Value, shape: Shape, name: &str) -> std::io::Result<ValueRep> {
        let array = if shape.is_array { ValueRep::ARRAY } else { 0 };
        let kind = kind_of(shape, name);
        match value {
            Value::Stored { at, .. } => Ok(ValueRep::of(kind, array, *at)),
            Value::Texts(texts) => {
                let mut numbers = self.numbers_of(texts.clone());
                if shape.scalar == Scalar::String {
                    let number = |token: u32| self.strings.number(token);
                    numbers = numbers.into_iter().map(number).collect();
                }
                if shape.is_array {
                    let at = self.listed(None, &numbers)?;
                    return Ok(ValueRep::of(kind, array, at));
                }
                let number = numbers.first().copied().unwrap_or(0);
                Ok(ValueRep::of(kind, ValueRep::INLINED, number.into()))
            }
            Value::Numbers(numbers) => {
                let inlined = |payload| Ok(ValueRep::of(kind, ValueRep::INLINED, payload));
                match (shape.is_array, shape.width, shape.scalar, numbers.first()) {
                    (false, 1, Scalar::Bool, Some(&n)) => return inlined(u64::from(n != 0.0)),
                    (false, 1, Scalar::Int, Some(&n)) => return inlined((n as i32 as u32).into()),
                    (false, 1, Scalar::Float, Some(&n)) => {
                        return inlined((n as f32).to_bits().into());
                    }
                    _ => {}
                }
                let at = align(self.out)?;
                if shape.is_array {
                    let count = (numbers.len() / shape.width) as u64;
                    self.out.write_all(&count.to_le_bytes())?;
                }
                for element in numbers.chunks(shape.width) {
                    self.element(element, shape.scalar, kind)?;
                }
                Ok(ValueRep::of(kind, array, at))
            }
        }
    }

    fn element(&mut self, numbers: &[f64], scalar: Scalar, kind: Kind) -> std::io::Result<()> {
        let mut order: Vec<f64> = numbers.to_vec();
        if kind == Kind::Quatf {
            // The real part is last in files.
            order.rotate_left(1);
        }
        for number in order {
            match scalar {
                Scalar::Int => self.out.write_all(&(number as i32).to_le_bytes())?,
                Scalar::Bool => self.out.write_all(&[u8::from(number != 0.0)])?,
                Scalar::Half => self.out.write_all(&half_of(number as f32).to_le_bytes())?,
                Scalar::Double => self.out.write_all(&number.to_le_bytes())?,
                _ => self.out.write_all(&(number as f32).to_le_bytes())?,
            }
        }
        Ok(())
    }

    fn finish(mut self) -> std::io::Result<()> {
        align(self.out)?;
        self.section("TOKENS", |writer| {
            let mut text = Vec::new();
            for token in &writer.tokens.list {
                text.extend_from_slice(token.as_bytes());
                text.push(0);
            }
            writer.count(writer.tokens.list.len())?;
            writer.count(text.len())?;
            writer.packed(&text)
        })?;
        self.section("STRINGS", |writer| {
            writer.count(writer.strings.list.len())?;
            let strings = std::mem::take(&mut writer.strings.list);
            writer.out.write_all(bytemuck::cast_slice(&strings))
        })?;
        self.section("FIELDS", |writer| {
            let fields = std::mem::take(&mut writer.fields.list);
            writer.count(fields.len())?;
            writer.integers(fields.iter().map(|(token, _)| token.cast_signed()))?;
            let reps = fields.iter().flat_map(|(_, rep)| rep.0.to_le_bytes());
            writer.packed(&reps.collect::<Vec<u8>>())
        })?;
        self.section("FIELDSETS", |writer| {
            let sets = std::mem::take(&mut writer.sets);
            writer.count(sets.len())?;
            writer.integers(sets.into_iter())
        })?;
        self.section("PATHS", |writer| {
            let paths = std::mem::take(&mut writer.paths);
            writer.count(paths.len())?;
            writer.count(paths.len())?;
            writer.integers(0..signed(paths.len()))?;
            writer.integers(paths.iter().map(|path| path[0]))?;
            writer.integers(paths.iter().map(|path| path[1]))
        })?;
        self.section("SPECS", |writer| {
            let specs = std::mem::take(&mut writer.specs);
            writer.count(specs.len())?;
            (0..3).try_for_each(|part| writer.integers(specs.iter().map(|spec| spec[part])))
        })?;
        let contents = self.out.stream_position()?;
        self.count(self.sections.len())?;
        for (name, start, size) in &self.sections {
            let mut bytes = [0; 16];
            bytes[..name.len()].copy_from_slice(name.as_bytes());
            self.out.write_all(&bytes)?;
            self.out.write_all(&start.to_le_bytes())?;
            self.out.write_all(&size.to_le_bytes())?;
        }
        self.out.rewind()?;
        self.out.write_all(MAGIC)?;
        self.out.write_all(&VERSION)?;
        self.out.write_all(&contents.to_le_bytes())?;
        self.out.seek(std::io::SeekFrom::End(0)).map(drop)
    }

    fn section(
        &mut self,
        name: &'static str,
        write: impl FnOnce(&mut Self) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        let start = self.out.stream_position()?;
        write(self)?;
        let size = self.out.stream_position()? - start;
        self.sections.push((name, start, size));
        Ok(())
    }

    fn count(&mut self, count: usize) -> std::io::Result<()> {
        self.out.write_all(&(count as u64).to_le_bytes())
    }

    fn packed(&mut self, data: &[u8]) -> std::io::Result<()> {
        let packed = coding::compress(data);
        self.count(packed.len())?;
        self.out.write_all(&packed)
    }

    fn integers(&mut self, values: impl Iterator<Item = i32>) -> std::io::Result<()> {
        self.packed(&coding::encode(values))
    }
}
