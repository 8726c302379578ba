//! Reads layers from binary files, versions 0.4.0 to 0.99.
//!
//! Every count is checked against the bytes that it must take before memory is reserved, and every index against its table.

use std::cell::Cell;
use std::collections::HashMap;

use super::super::layer::{
    DEEPEST, Layer, MOST_SPECS, Prim, Property, Specifier, Value, composed, is_composition,
    keeps_samples,
};
use super::file::{BinaryFile, PathNode, broken, budget};
use super::values::FieldValue;
use super::{HEADER, MAGIC, ValueRep, spec};
use crate::io::error::{Parsed, bad};

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

impl BinaryFile<'_> {
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
                    prims.insert(path, self.prim(path, set)?);
                    order.push(path);
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
