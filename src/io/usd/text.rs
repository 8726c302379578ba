//! Reads layers as text (`.usda`).
//!
//! The grammar is that of `OpenUSD`'s text format 1.0: prims, properties, values, time samples, metadata. Composition (references,
//! payloads, inherits, specializes, sublayers, variants) is refused.

use super::layer::{
    DEEPEST, Layer, MOST_SPECS, Prim, Property, Specifier, Value, composed, is_composition,
    keeps_samples,
};
use crate::io::error::{ParseProblem, Parsed};

/// Deepest nesting of brackets in a value.
const DEEPEST_VALUE: usize = 64;

/// Reads a layer.
pub(super) fn read(bytes: &[u8]) -> Parsed<Layer> {
    let mut parser = TextParser {
        bytes,
        at: 0,
        specs: 0,
    };
    match parser.layer() {
        Ok(layer) => Ok(layer),
        Err(problem) => {
            let before = &bytes[..parser.at.min(bytes.len())];
            let line = before.split(|&byte| byte == b'\n').count();
            Err(ParseProblem::new(format!("line {line}: {problem}")))
        }
    }
}

struct TextParser<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Prims and properties so far.
    specs: usize,
}

/// The numbers and texts of a value, in order.
#[derive(Default)]
struct Flat {
    numbers: Vec<f64>,
    texts: Vec<String>,
}

impl Flat {
    fn value(self) -> Value {
        if self.texts.is_empty() {
            Value::Numbers(self.numbers)
        } else {
            Value::Texts(self.texts)
        }
    }
}

fn expected<T>(what: &str, found: &str) -> Parsed<T> {
    Err(ParseProblem::new(format!(
        "expected {what}, but found {found}"
    )))
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'-' | b'|') || byte >= 0x80
}

impl TextParser<'_> {
    fn layer(&mut self) -> Parsed<Layer> {
        let mut layer = Layer::default();
        self.skip();
        if self.peek() == Some(b'(') {
            layer.meta = self.metadata("the file")?;
        }
        while self.peek().is_some() {
            match self.word()?.as_str() {
                word @ ("def" | "over" | "class") => {
                    let prim = self.prim(word, 0)?;
                    layer.roots.push(prim);
                }
                "reorder" => self.skip_statement()?,
                word => return expected("a prim, as def Mesh \"name\"", &quote(word)),
            }
        }
        Ok(layer)
    }

    /// Skips white space and comments.
    fn skip(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'#' => {
                    let rest = &self.bytes[self.at..];
                    let line = rest.iter().position(|&b| b == b'\n');
                    self.at += line.unwrap_or(rest.len());
                }
                b if b.is_ascii_whitespace() || b == b';' || b == 0xEF && self.is_mark() => {
                    self.at += 1;
                }
                0xBB | 0xBF if self.at < 3 => self.at += 1,
                _ => break,
            }
        }
    }

    /// Whether a byte-order mark starts here.
    fn is_mark(&self) -> bool {
        self.at == 0 && self.bytes.starts_with(b"\xEF\xBB\xBF")
    }

    /// The next byte that is not blank.
    fn peek(&mut self) -> Option<u8> {
        self.skip();
        self.bytes.get(self.at).copied()
    }

    fn next_is(&mut self, byte: u8) -> bool {
        let is = self.peek() == Some(byte);
        self.at += usize::from(is);
        is
    }

    fn take(&mut self, byte: u8) -> Parsed<()> {
        if self.next_is(byte) {
            return Ok(());
        }
        expected(&format!("\"{}\"", byte as char), &self.found())
    }

    /// What comes next, for a message.
    fn found(&self) -> String {
        let rest = &self.bytes[self.at.min(self.bytes.len())..];
        if rest.is_empty() {
            return "the end of the file".to_owned();
        }
        let end = rest.iter().take(24).position(u8::is_ascii_whitespace);
        let word = &rest[..end.unwrap_or(rest.len().min(24)).max(1)];
        quote(&String::from_utf8_lossy(word))
    }

    /// A name or keyword.
    fn word(&mut self) -> Parsed<String> {
        self.skip();
        let rest = &self.bytes[self.at..];
        let length = rest.iter().take_while(|&&byte| is_name(byte)).count();
        if length == 0 {
            return expected("a name", &self.found());
        }
        self.at += length;
        Ok(String::from_utf8_lossy(&rest[..length]).into_owned())
    }

    fn count_spec(&mut self) -> Parsed<()> {
        self.specs += 1;
        if self.specs > MOST_SPECS {
            return expected(
                &format!("at most {MOST_SPECS} prims and properties"),
                "more",
            );
        }
        Ok(())
    }

    fn prim(&mut self, specifier: &str, depth: usize) -> Parsed<Prim> {
        self.count_spec()?;
        if depth >= DEEPEST {
            return expected(&format!("at most {DEEPEST} levels of prims"), "more");
        }
        let mut prim = Prim {
            specifier: match specifier {
                "over" => Specifier::Over,
                "class" => Specifier::Class,
                _ => Specifier::Def,
            },
            ..Prim::default()
        };
        if self.peek() != Some(b'"') {
            prim.kind = self.word()?;
        }
        prim.name = self.string()?;
        if self.peek() == Some(b'(') {
            let place = format!("prim \"{}\"", prim.name);
            prim.meta = self.metadata(&place)?;
        }
        self.take(b'{')?;
        while !self.next_is(b'}') {
            let word = self.word()?;
            match word.as_str() {
                "def" | "over" | "class" => {
                    let child = self.prim(&word, depth + 1)?;
                    prim.children.push(child);
                }
                "variantSet" => return composed("variants", &format!("prim \"{}\"", prim.name)),
                "reorder" => self.skip_statement()?,
                _ => self.property(word, &mut prim)?,
            }
        }
        Ok(prim)
    }

    /// A statement as `reorder nameChildren = […]`, whose words do not matter.
    fn skip_statement(&mut self) -> Parsed<()> {
        self.word()?;
        self.take(b'=')?;
        self.value().map(drop)
    }

    /// `custom uniform TYPE NAME = VALUE (…)`, `TYPE NAME.timeSamples = {…}`, `rel NAME = <…>` and the like.
    fn property(&mut self, mut word: String, prim: &mut Prim) -> Parsed<()> {
        self.count_spec()?;
        let mut uniform = false;
        while let "custom" | "uniform" | "varying" | "config" | "prepend" | "append" | "add"
        | "delete" = word.as_str()
        {
            uniform |= word == "uniform";
            word = self.word()?;
        }
        let mut kind = String::new();
        if word != "rel" {
            kind = word;
            if self.next_is(b'[') {
                self.take(b']')?;
                kind.push_str("[]");
            }
        }
        let name = self.word()?;
        let known = prim.properties.iter().position(|p| p.name == name);
        let index = known.unwrap_or(prim.properties.len());
        if known.is_none() {
            prim.properties.push(Property {
                name,
                kind,
                uniform,
                ..Property::default()
            });
        }
        let property = &mut prim.properties[index];
        let field = if self.next_is(b'.') {
            self.word()?
        } else {
            String::new()
        };
        if self.next_is(b'=') {
            match field.as_str() {
                "timeSamples" => self.samples(property)?,
                "connect" => property.targets = self.value()?.texts().to_vec(),
                "" if property.is_relationship() => {
                    property.targets = self.value()?.texts().to_vec();
                }
                "" => property.value = self.opinion()?,
                _ => self.value().map(drop)?,
            }
        }
        if self.peek() == Some(b'(') {
            let place = format!("property \"{}\"", property.name);
            let mut meta = self.metadata(&place)?;
            property.meta.append(&mut meta);
        }
        Ok(())
    }

    /// A value, or `None`, which is none.
    fn opinion(&mut self) -> Parsed<Option<Value>> {
        self.skip();
        if self.bytes[self.at..].starts_with(b"None") {
            self.at += 4;
            return Ok(None);
        }
        self.value().map(Some)
    }

    fn samples(&mut self, property: &mut Property) -> Parsed<()> {
        self.take(b'{')?;
        let all = keeps_samples(&property.name);
        while !self.next_is(b'}') {
            let time = self.number()?;
            self.take(b':')?;
            if let Some(value) = self.opinion()?
                && (all || property.samples.is_empty())
            {
                property.samples.push((time, value));
            }
            self.next_is(b',');
        }
        property.samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(())
    }

    /// `( KEY = VALUE … )`.
    fn metadata(&mut self, place: &str) -> Parsed<Vec<(String, Value)>> {
        self.take(b'(')?;
        let mut list = Vec::new();
        while !self.next_is(b')') {
            self.next_is(b',');
            if matches!(self.peek(), Some(b'"' | b'\'')) {
                list.push(("doc".to_owned(), Value::text(self.string()?)));
                continue;
            }
            let mut key = self.word()?;
            while let "prepend" | "append" | "add" | "delete" | "reorder" = key.as_str() {
                key = self.word()?;
            }
            if !self.next_is(b'=') {
                continue;
            }
            self.skip();
            if is_composition(&key) && !self.bytes[self.at..].starts_with(b"None") {
                return composed(&key, place);
            }
            let value = self.opinion()?;
            list.extend(value.map(|value| (key, value)));
        }
        Ok(list)
    }

    fn value(&mut self) -> Parsed<Value> {
        let mut flat = Flat::default();
        self.flat(&mut flat, 0)?;
        Ok(flat.value())
    }

    fn flat(&mut self, into: &mut Flat, depth: usize) -> Parsed<()> {
        if depth > DEEPEST_VALUE {
            return expected("fewer nested brackets", "more");
        }
        match self.peek() {
            Some(open @ (b'[' | b'(')) => {
                self.at += 1;
                let close = if open == b'[' { b']' } else { b')' };
                while !self.next_is(close) {
                    self.flat(into, depth + 1)?;
                    if !self.next_is(b',') && self.peek() != Some(close) {
                        return expected(&format!("\",\" or \"{}\"", close as char), &self.found());
                    }
                }
            }
            Some(b'{') => self.dictionary(depth)?,
            Some(b'"' | b'\'') => into.texts.push(self.string()?),
            Some(b'@') => into.texts.push(self.asset()?),
            Some(b'<') => into.texts.push(self.delimited(b'>')?),
            Some(b'0'..=b'9' | b'-' | b'+' | b'.') => into.numbers.push(self.number()?),
            Some(byte) if is_name(byte) => match self.word()?.as_str() {
                "true" => into.numbers.push(1.0),
                "false" => into.numbers.push(0.0),
                "inf" => into.numbers.push(f64::INFINITY),
                "nan" => into.numbers.push(f64::NAN),
                "None" => {}
                word => into.texts.push(word.to_owned()),
            },
            _ => return expected("a value", &self.found()),
        }
        Ok(())
    }

    /// `{ TYPE NAME = VALUE … }` or `{ KEY: VALUE, … }`, whose contents are not needed.
    fn dictionary(&mut self, depth: usize) -> Parsed<()> {
        self.take(b'{')?;
        while !self.next_is(b'}') {
            if !self.next_is(b',') && !self.next_is(b'=') && !self.next_is(b':') {
                self.flat(&mut Flat::default(), depth + 1)?;
            }
        }
        Ok(())
    }

    fn number(&mut self) -> Parsed<f64> {
        self.skip();
        let rest = &self.bytes[self.at..];
        let is_part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
        let length = rest.iter().take_while(|b| is_part(b)).count();
        let text = std::str::from_utf8(&rest[..length]).unwrap_or_default();
        match text.parse() {
            Ok(number) => {
                self.at += length;
                Ok(number)
            }
            Err(_) => expected("a number", &self.found()),
        }
    }

    /// A string in quotes, single or triple.
    fn string(&mut self) -> Parsed<String> {
        self.skip();
        let Some(quote @ (b'"' | b'\'')) = self.peek() else {
            return expected("a name in quotes", &self.found());
        };
        let is_long = self.bytes[self.at..].starts_with(&[quote; 3]);
        let end = &[quote; 3][..if is_long { 3 } else { 1 }];
        let start = self.at;
        self.at += end.len();
        let mut made = Vec::new();
        loop {
            let rest = &self.bytes[self.at..];
            if rest.starts_with(end) {
                self.at += end.len();
                return Ok(String::from_utf8_lossy(&made).into_owned());
            }
            match rest {
                [b'\\', b'n', ..] => made.push(b'\n'),
                [b'\\', b't', ..] => made.push(b'\t'),
                [b'\\', other, ..] => made.push(*other),
                [b'\n', ..] if !is_long => {
                    return expected("the end of a string", "the end of the line");
                }
                [byte, ..] => made.push(*byte),
                [] => {
                    self.at = start;
                    return expected("the end of the string", "the end of the file");
                }
            }
            self.at += if rest[0] == b'\\' && rest.len() > 1 {
                2
            } else {
                1
            };
        }
    }

    /// `@path@` or `@@@path@@@`, possibly followed by `<prim>`.
    fn asset(&mut self) -> Parsed<String> {
        if !self.bytes[self.at..].starts_with(b"@@@") {
            return self.delimited(b'@');
        }
        let start = self.at + 3;
        let rest = &self.bytes[start..];
        let Some(end) = rest.windows(3).position(|bytes| bytes == b"@@@") else {
            return expected("the end of the path @@@", "the end of the file");
        };
        self.at = start + end + 3;
        Ok(String::from_utf8_lossy(&rest[..end]).into_owned())
    }

    /// The text from here, after its first byte, to `end`.
    fn delimited(&mut self, end: u8) -> Parsed<String> {
        let rest = &self.bytes[self.at + 1..];
        match rest.iter().position(|&byte| byte == end || byte == b'\n') {
            Some(length) if rest[length] == end => {
                self.at += length + 2;
                Ok(String::from_utf8_lossy(&rest[..length]).into_owned())
            }
            _ => expected(&format!("\"{}\" on the same line", end as char), "none"),
        }
    }
}

fn quote(text: &str) -> String {
    format!("\"{text}\"")
}
