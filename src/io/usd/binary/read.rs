//! Reads layers from binary files, versions 0.4.0 to 0.99.
//!
//! Every count is checked against the bytes that it must take before memory is reserved, and every index against its table.

use std::cell::Cell;
use std::collections::HashMap;

use super::super::layer::{
    DEEPEST, Layer, MOST_SPECS, Prim, Property, Specifier, Value, composed, is_composition,
    keeps_samples,
};
use super::values::FieldValue;
use super::{HEADER, MAGIC, ValueRep, coding, spec};
use crate::io::error::{ParseProblem, Parsed, bad};

/// The tables of a file.
pub(super) struct BinaryFile<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) version: [u8; 3],
    pub(super) tokens: Vec<String>,
    /// Tokens of strings.
    pub(super) strings: Vec<u32>,
    fields: Vec<(usize, ValueRep)>,
    sets: Vec<i64>,
    /// The parent and last name of each path.
    pub(super) paths: Vec<PathNode>,
    /// Bytes that values may still take: many fields may share one array.
    left: Cell<u64>,
}

/// Bytes that the values of a file of so many bytes may take.
fn budget(bytes: usize) -> u64 {
    (bytes as u64 * 48 + (256 << 20)).min(3 << 30)
}

/// Longest path, bytes.
const LONGEST_PATH: usize = 4096;

/// A path as a node of the tree of all paths.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PathNode {
    parent: Option<u32>,
    token: u32,
    is_property: bool,
    depth: u32,
    /// Whether the file gives it; the others are empty.
    is_given: bool,
}

/// Bytes at a place, number by number.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

pub(super) fn broken() -> ParseProblem {
    ParseProblem::new("the file ends where more data is expected; export it again")
}

impl<'a> Cursor<'a> {
    pub(super) fn take(&mut self, count: usize) -> Parsed<&'a [u8]> {
        let end = self.at.checked_add(count).ok_or_else(broken)?;
        let bytes = self.bytes.get(self.at..end).ok_or_else(broken)?;
        self.at = end;
        Ok(bytes)
    }

    pub(super) fn u64(&mut self) -> Parsed<u64> {
        let bytes = self.take(8)?;
        Ok(u64::from_le_bytes(std::array::from_fn(|i| bytes[i])))
    }

    pub(super) fn u32(&mut self) -> Parsed<u32> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes(std::array::from_fn(|i| bytes[i])))
    }

    /// A number of things of which each takes at least `bytes` of the rest of the file; 0: nothing is known.
    pub(super) fn count(&mut self, bytes: usize) -> Parsed<usize> {
        let count = self.u64()?;
        let rest = self.bytes.len().saturating_sub(self.at) as u64;
        if count.saturating_mul(bytes as u64) > rest || count > MOST_SPECS as u64 * 64 {
            return Err(broken());
        }
        Ok(count as usize)
    }

    /// Jumps by the signed distance that is stored here, from the place where it is.
    pub(super) fn jump(&mut self) -> Parsed<()> {
        let start = self.at as i64;
        let distance = self.u64()? as i64;
        let target = start.checked_add(distance).ok_or_else(broken)?;
        self.at = usize::try_from(target).map_err(|_| broken())?;
        Ok(())
    }

    /// Compressed bytes of at most `size`.
    fn packed(&mut self, size: usize) -> Parsed<Vec<u8>> {
        let length = self.count(1)?;
        coding::decompress(self.take(length)?, size)
    }

    /// Compressed integers.
    pub(super) fn integers(&mut self, count: usize, width: usize) -> Parsed<Vec<i64>> {
        let packed = self.count(1)?;
        let data = self.take(packed)?;
        // A run of equal differences takes two bits for each, before LZ4.
        if count / 4 > data.len().saturating_mul(256) {
            return bad("a list claims more numbers than it can have");
        }
        let encoded = coding::encoded_size(count, width);
        let bytes = coding::decompress(data, encoded.min(data.len().saturating_mul(256)))?;
        coding::decode(&bytes, count, width)
    }
}

/// Reads a layer.
pub(in crate::io::usd) fn read(bytes: &[u8]) -> Parsed<Layer> {
    if bytes.len() < HEADER || !bytes.starts_with(MAGIC) {
        return bad("the header of the binary USD file is damaged");
    }
    let version = [bytes[8], bytes[9], bytes[10]];
    if version[0] != 0 || version < [0, 4, 0] {
        let [major, minor, patch] = version;
        return bad(format!(
            "binary USD of version {major}.{minor}.{patch} is not read; versions from 0.4.0 are: save the file by a newer program"
        ));
    }
    let mut file = BinaryFile {
        bytes,
        version,
        tokens: Vec::new(),
        strings: Vec::new(),
        fields: Vec::new(),
        sets: Vec::new(),
        paths: Vec::new(),
        left: Cell::new(budget(bytes.len())),
    };
    let specs = file.sections()?;
    file.layer(&specs)
}

impl<'a> BinaryFile<'a> {
    pub(super) fn at(&self, place: u64) -> Cursor<'a> {
        Cursor {
            bytes: self.bytes,
            at: usize::try_from(place).unwrap_or(usize::MAX),
        }
    }

    pub(super) fn token(&self, index: usize) -> Parsed<&str> {
        let token = self.tokens.get(index);
        token
            .map(String::as_str)
            .ok_or_else(|| ParseProblem::new(format!("there is no token {index}")))
    }

    /// A copy of a token.
    pub(super) fn owned_token(&self, index: usize) -> Parsed<String> {
        let token = self.token(index)?;
        self.spend(token.len())?;
        Ok(token.to_owned())
    }

    /// Counts memory that a value takes.
    pub(super) fn spend(&self, bytes: usize) -> Parsed<()> {
        let left = self.left.get().checked_sub(bytes as u64 + 32);
        let Some(left) = left else {
            return bad("the values of the file take more memory than a character can need");
        };
        self.left.set(left);
        Ok(())
    }

    /// Reads all tables; returns path, field set and type of every spec.
    fn sections(&mut self) -> Parsed<Vec<[i64; 3]>> {
        let contents = self.at(16).u64()?;
        let mut cursor = self.at(contents);
        let count = cursor.count(32)?;
        let mut places = HashMap::new();
        for _ in 0..count.min(64) {
            let name = cursor.take(16)?;
            let length = name.iter().position(|&b| b == 0).unwrap_or(16);
            let start = cursor.u64()?;
            cursor.u64()?;
            places.insert(&name[..length], start);
        }
        let section = |name: &str| match places.get(name.as_bytes()) {
            Some(&start) => Ok(start),
            None => bad(format!("the section {name} is missing")),
        };
        self.read_tokens(section("TOKENS")?)?;
        let mut cursor = self.at(section("STRINGS")?);
        let count = cursor.count(4)?;
        self.strings = (0..count).map(|_| cursor.u32()).collect::<Parsed<_>>()?;
        let mut cursor = self.at(section("FIELDS")?);
        let count = cursor.count(0)?;
        let tokens = cursor.integers(count, 4)?;
        let reps = cursor.packed(count.saturating_mul(8))?;
        let rep = |bytes: &[u8]| ValueRep(u64::from_le_bytes(std::array::from_fn(|i| bytes[i])));
        let reps = reps.chunks_exact(8).map(rep);
        self.fields = (tokens.iter().map(|&token| token as usize))
            .zip(reps)
            .collect();
        let mut cursor = self.at(section("FIELDSETS")?);
        let count = cursor.count(0)?;
        self.sets = cursor.integers(count, 4)?;
        self.read_paths(section("PATHS")?)?;
        let mut cursor = self.at(section("SPECS")?);
        let count = cursor.count(0)?;
        if count > MOST_SPECS {
            return bad(format!(
                "the file has {count} prims and properties, more than {MOST_SPECS}"
            ));
        }
        let mut lists = Vec::new();
        for _ in 0..3 {
            lists.push(cursor.integers(count, 4)?);
        }
        let spec = |i: usize| [lists[0][i], lists[1][i], lists[2][i]];
        Ok((0..count).map(spec).collect())
    }

    fn read_tokens(&mut self, start: u64) -> Parsed<()> {
        let mut cursor = self.at(start);
        let count = cursor.count(0)?;
        let size = cursor.u64()? as usize;
        let text = cursor.packed(size)?;
        let words = text.split(|&byte| byte == 0).take(count);
        self.tokens = words
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect();
        Ok(())
    }

    /// The tree of paths: depth first, each with a jump to the next sibling.
    fn read_paths(&mut self, start: u64) -> Parsed<()> {
        let mut cursor = self.at(start);
        let total = cursor.count(0)?;
        let count = cursor.count(0)?;
        if total > MOST_SPECS || count > MOST_SPECS {
            return bad(format!("the file has more than {MOST_SPECS} paths"));
        }
        let indices = cursor.integers(count, 4)?;
        let tokens = cursor.integers(count, 4)?;
        let jumps = cursor.integers(count, 4)?;
        self.paths = vec![PathNode::default(); total];
        // Entries that are still to be visited, with the path above each. Every entry is visited at most once.
        let mut pending: Vec<(usize, Option<u32>)> = vec![(0, None)];
        let mut seen = vec![false; count];
        while let Some((entry, parent)) = pending.pop() {
            let Some(seen) = seen.get_mut(entry) else {
                continue;
            };
            if std::mem::replace(seen, true) {
                return bad("the tree of paths has a loop");
            }
            let depth = parent.map_or(0, |parent| self.paths[parent as usize].depth + 1);
            let index = indices[entry] as u32;
            let Some(node) = self.paths.get_mut(index as usize) else {
                return bad(format!("there is no path {index}"));
            };
            if depth as usize > DEEPEST + 1 {
                return bad(format!("there are more than {DEEPEST} levels of prims"));
            }
            if node.is_given {
                return bad(format!("path {index} is given twice"));
            }
            *node = PathNode {
                parent,
                token: tokens[entry].unsigned_abs() as u32,
                is_property: tokens[entry] < 0,
                depth,
                is_given: true,
            };
            let jump = jumps[entry];
            if jump >= 0 && parent.is_some() {
                let sibling = if jump == 0 { 1 } else { jump as usize };
                pending.push((entry + sibling, parent));
            }
            if jump > 0 || jump == -1 {
                pending.push((entry + 1, Some(index)));
            }
        }
        Ok(())
    }

    /// A path as text, as "/a/b.c"; "/" for one that is longer than any real one.
    pub(super) fn path(&self, index: u32) -> String {
        let mut names = Vec::new();
        let mut length = 0;
        let mut next = Some(index);
        while let Some(node) = next.and_then(|index| self.paths.get(index as usize)) {
            if node.parent.is_some() {
                let name = self.tokens.get(node.token as usize);
                let name = name.map_or("", String::as_str);
                length += name.len() + 1;
                if length > LONGEST_PATH {
                    return "/".to_owned();
                }
                names.push((node.is_property, name));
            }
            next = node.parent;
        }
        let mut text = String::new();
        for (is_property, name) in names.iter().rev() {
            text.push(if *is_property { '.' } else { '/' });
            text.push_str(name);
        }
        if text.is_empty() {
            text.push('/');
        }
        text
    }

    /// The fields of a set, with their names.
    fn fields_of(&self, set: i64) -> impl Iterator<Item = (&str, ValueRep)> {
        let start = usize::try_from(set).unwrap_or(usize::MAX);
        let rest = self.sets.get(start..).unwrap_or_default();
        let fields = rest.iter().take_while(|&&field| field >= 0);
        fields.filter_map(|&field| {
            let &(token, rep) = self.fields.get(field as usize)?;
            Some((self.tokens.get(token)?.as_str(), rep))
        })
    }

    /// Prims and properties from their specs.
    fn layer(&self, specs: &[[i64; 3]]) -> Parsed<Layer> {
        let mut layer = Layer::default();
        // By path; prims are put into their parents afterwards, the deepest first.
        let mut prims: HashMap<u32, Prim> = HashMap::new();
        let mut properties: HashMap<u32, Vec<(u32, Property)>> = HashMap::new();
        let mut order: Vec<u32> = Vec::new();
        for &[path, set, kind] in specs {
            let path = path as u32;
            let Some(node) = self.paths.get(path as usize).filter(|node| node.is_given) else {
                return bad(format!("there is no path {path}"));
            };
            match kind as u32 {
                spec::ROOT => layer.meta = self.root_meta(set)?,
                spec::PRIM => {
                    if prims.insert(path, self.prim(path, set)?).is_none() {
                        order.push(path);
                    }
                }
                spec::ATTRIBUTE | spec::RELATIONSHIP => {
                    let property = self.property(node, set)?;
                    let parent = node.parent.unwrap_or(0);
                    properties.entry(parent).or_default().push((path, property));
                }
                10 | 11 => return composed("variants", &format!("prim {}", self.path(path))),
                _ => {}
            }
        }
        for (path, mut list) in properties {
            if let Some(prim) = prims.get_mut(&path) {
                list.sort_by_key(|(path, _)| *path);
                prim.properties = list.into_iter().map(|(_, property)| property).collect();
            }
        }
        self.nest(order, prims, &mut layer)?;
        Ok(layer)
    }

    fn nest(
        &self,
        mut order: Vec<u32>,
        mut prims: HashMap<u32, Prim>,
        layer: &mut Layer,
    ) -> Parsed<()> {
        order.sort_by_key(|&path| std::cmp::Reverse(self.paths[path as usize].depth));
        for path in order {
            let Some(mut prim) = prims.remove(&path) else {
                continue;
            };
            // All prims below it are in it already.
            sort_children(&mut prim.children, &prim.meta)?;
            let node = &self.paths[path as usize];
            match node.parent.filter(|_| node.depth > 1) {
                None => layer.roots.push(prim),
                Some(parent) => {
                    if let Some(parent) = prims.get_mut(&parent) {
                        parent.children.push(prim);
                    }
                }
            }
        }
        sort_children(&mut layer.roots, &layer.meta)
    }

    fn root_meta(&self, set: i64) -> Parsed<Vec<(String, Value)>> {
        let mut meta = Vec::new();
        for (name, rep) in self.fields_of(set) {
            if is_composition(name) && !self.is_empty_list(rep) {
                return composed(name, "the file");
            }
            if let FieldValue::Plain(value) = self.field_value(rep)? {
                meta.push((name.to_owned(), value));
            }
        }
        Ok(meta)
    }

    /// Whether a list of sublayers or the like has no entry.
    fn is_empty_list(&self, rep: ValueRep) -> bool {
        let count = self.at(rep.payload()).u64();
        rep.kind() == 50 && count.is_ok_and(|count| count == 0)
    }

    fn prim(&self, path: u32, set: i64) -> Parsed<Prim> {
        let node = self.paths[path as usize];
        let mut prim = Prim {
            name: self.owned_token(node.token as usize)?,
            specifier: Specifier::Over,
            ..Prim::default()
        };
        for (name, rep) in self.fields_of(set) {
            if is_composition(name) || name == "variantSetNames" {
                return composed(name, &format!("prim {}", self.path(path)));
            }
            match (name, self.field_value(rep)?) {
                ("specifier", FieldValue::Plain(value)) => {
                    prim.specifier = match value.numbers().first() {
                        Some(0.0) => Specifier::Def,
                        Some(2.0) => Specifier::Class,
                        _ => Specifier::Over,
                    };
                }
                ("typeName", FieldValue::Plain(value)) => {
                    prim.kind = value.texts().first().cloned().unwrap_or_default();
                }
                ("properties", _) => {}
                (name, FieldValue::Plain(value)) => prim.meta.push((name.to_owned(), value)),
                _ => {}
            }
        }
        Ok(prim)
    }

    fn property(&self, node: &PathNode, set: i64) -> Parsed<Property> {
        let mut property = Property {
            name: self.owned_token(node.token as usize)?,
            ..Property::default()
        };
        for (name, rep) in self.fields_of(set) {
            match name {
                "timeSamples" => {
                    let all = keeps_samples(&property.name);
                    property.samples = self.samples(rep, all)?;
                    continue;
                }
                "targetPaths" | "connectionPaths" => {
                    property.targets = self.path_list(rep)?;
                    continue;
                }
                _ => {}
            }
            let FieldValue::Plain(value) = self.field_value(rep)? else {
                continue;
            };
            match name {
                "typeName" => property.kind = value.texts().first().cloned().unwrap_or_default(),
                "variability" => property.uniform = value.numbers() == [1.0],
                "default" => property.value = Some(value),
                _ => property.meta.push((name.to_owned(), value)),
            }
        }
        Ok(property)
    }
}

/// Puts prims in the order in which their parent lists them.
fn sort_children(prims: &mut [Prim], meta: &[(String, Value)]) -> Parsed<()> {
    let listed = meta.iter().find(|(name, _)| name == "primChildren");
    let names = listed.map_or(&[][..], |(_, value)| value.texts());
    if names.len() > MOST_SPECS {
        return Err(broken());
    }
    let places: HashMap<&str, usize> = (names.iter().enumerate())
        .map(|(place, name)| (name.as_str(), place))
        .collect();
    prims.sort_by_key(|prim| places.get(prim.name.as_str()).copied());
    Ok(())
}
