//! Packages (`.usdz`): zip archives whose files are stored without compression, the first of them the layer.

use crate::io::error::{ParseProblem, Parsed, bad};

/// Start of a package, as of every zip archive.
pub(super) const MAGIC: &[u8] = b"PK\x03\x04";

/// The files of a package.
#[derive(Debug, Default)]
pub(super) struct Package<'a> {
    files: Vec<(String, &'a [u8])>,
}

fn broken() -> ParseProblem {
    ParseProblem::new("the .usdz archive is damaged; export it again")
}

fn number(bytes: &[u8], at: usize, length: usize) -> Parsed<usize> {
    let end = at.checked_add(length).ok_or_else(broken)?;
    let part = bytes.get(at..end).ok_or_else(broken)?;
    let place = |(i, &byte): (usize, &u8)| (byte as usize) << (8 * i);
    Ok(part.iter().enumerate().map(place).sum())
}

impl<'a> Package<'a> {
    /// Reads the directory at the end of an archive.
    pub(super) fn read(bytes: &'a [u8]) -> Parsed<Self> {
        // The end record has 22 bytes and a comment of at most 65535.
        let first = bytes.len().saturating_sub(22 + 0xFFFF);
        let tail = &bytes[first..];
        let end = tail.windows(4).rposition(|window| window == b"PK\x05\x06");
        let end = first + end.ok_or_else(broken)?;
        let count = number(bytes, end + 10, 2)?;
        let mut entry = number(bytes, end + 16, 4)?;
        let mut files = Vec::new();
        for _ in 0..count {
            if bytes
                .get(entry..)
                .is_none_or(|b| !b.starts_with(b"PK\x01\x02"))
            {
                return Err(broken());
            }
            let method = number(bytes, entry + 10, 2)?;
            let size = number(bytes, entry + 24, 4)?;
            let [name, extra, comment] = [28, 30, 32].map(|at| number(bytes, entry + at, 2));
            let (name, extra, comment) = (name?, extra?, comment?);
            let local = number(bytes, entry + 42, 4)?;
            let text = bytes
                .get(entry + 46..entry + 46 + name)
                .ok_or_else(broken)?;
            let text = String::from_utf8_lossy(text).into_owned();
            if method != 0 {
                return bad(format!(
                    "\"{text}\" in the .usdz archive is compressed, which the format forbids; pack it again, as by usdzip"
                ));
            }
            let skipped = number(bytes, local + 26, 2)? + number(bytes, local + 28, 2)?;
            let start = local + 30 + skipped;
            let end = start.checked_add(size).ok_or_else(broken)?;
            files.push((text, bytes.get(start..end).ok_or_else(broken)?));
            entry += 46 + name + extra + comment;
        }
        Ok(Self { files })
    }

    /// The first layer.
    pub(super) fn layer(&self) -> Parsed<&'a [u8]> {
        let is_layer = |name: &str| {
            let extension = name.rsplit('.').next().unwrap_or_default();
            ["usd", "usda", "usdc"]
                .iter()
                .any(|known| extension.eq_ignore_ascii_case(known))
        };
        let found = self.files.iter().find(|(name, _)| is_layer(name));
        match found {
            Some((_, bytes)) => Ok(bytes),
            None => bad("the .usdz archive has no layer (.usda or .usdc)"),
        }
    }

    /// A file by the path that a layer gives.
    pub(super) fn file(&self, path: &str) -> Option<&'a [u8]> {
        let path = path.trim_start_matches("./");
        let found = self.files.iter().find(|(name, _)| name == path);
        found.map(|(_, bytes)| *bytes)
    }
}
