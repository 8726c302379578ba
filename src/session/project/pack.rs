//! Packed projects: a zip of the project's content and all files of the character.
//!
//! In the archive the files keep their relative positions (`archive_names`), so that references between them remain valid. To open it,
//! it is unpacked into a folder that is named by the archive's hash; existing files with the same content are not written again.

use std::io::{Cursor, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::archive_names::ArchiveNames;
use crate::cache::{Cache, UserFolder};
use crate::files::{make_writable, random_digits, read_limited};
use crate::io::write_atomically;
use crate::progress::Progress;

/// Name of the project's content in the archive.
pub(super) const CONTENT: &str = "project.json";
/// Limits of total size and number of the character's files.
const LARGEST: u64 = 1 << 30;
const MOST_FILES: usize = 10_000;
const TOO_LARGE: &str = "the packed project is larger than allowed (1 GB)";
/// Ratio of unpacked to packed bytes above which an archive of more than so many bytes is refused:
/// meshes and pictures shrink to a third or a tenth, an archive made to do harm to a thousandth.
const MOST_RATIO: u64 = 200;
const HARMLESS: u64 = 64 << 20;
/// A folder that was being unpacked so long ago has no owner.
const UNPACKING: Duration = Duration::from_hours(1);
/// Unpacked projects that have not been opened for this long are removed; the archive can be unpacked again.
const KEPT: Duration = Duration::from_hours(24 * 30);

/// Whether the bytes are a zip archive.
pub(super) fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04")
}

/// Writes the archive.
pub(super) fn pack(
    out: impl Write + Seek,
    content: &str,
    files: &[(String, Vec<u8>)],
    progress: &Progress,
) -> std::io::Result<()> {
    let mut zip = ZipWriter::new(out);
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    zip.start_file(CONTENT, options)
        .map_err(std::io::Error::other)?;
    zip.write_all(content.as_bytes())?;
    for (done, (name, bytes)) in files.iter().enumerate() {
        progress.check().map_err(std::io::Error::other)?;
        progress.report(done as f32 / files.len() as f32, "Packing");
        zip.start_file(name.as_str(), options)
            .map_err(std::io::Error::other)?;
        zip.write_all(bytes)?;
    }
    zip.finish().map_err(std::io::Error::other)?;
    Ok(())
}

/// Folders for unpacking, the first that can be written to: beside the cache, or this user's folder in
/// the system's temporary folder.
fn folder_of(cache: &Cache) -> Result<PathBuf, String> {
    let beside = cache.path().map(|folder| folder.join("unpacked"));
    if let Some(folder) = beside
        && make_writable(&folder).is_ok()
    {
        return Ok(folder);
    }
    let folder = UserFolder::Cache.writable();
    let folder = folder.map_err(|reason| format!("the packed project can't be unpacked: {reason}"));
    Ok(folder?.path.join("unpacked"))
}

/// Unpacks an archive and returns the folder; the error is a sentence without the file's name.
pub(super) fn unpack(bytes: &[u8], cache: &Cache, progress: &Progress) -> Result<PathBuf, String> {
    unpack_into(&folder_of(cache)?, bytes, LARGEST, progress)
}

/// As [`unpack`], into a subfolder of the given one, with a limit of bytes. A refused archive leaves
/// nothing: it is unpacked into a folder of another name, which is renamed in the end.
fn unpack_into(
    all: &Path,
    bytes: &[u8],
    largest: u64,
    progress: &Progress,
) -> Result<PathBuf, String> {
    let mut archive = ZipArchive::new(Cursor::new(bytes))
        .map_err(|error| format!("the packed project is damaged: {error}"))?;
    let names = names_in(&mut archive, bytes.len() as u64, largest)?;
    let hash = blake3::hash(bytes).to_hex();
    let folder = all.join(&hash[..32]);
    remove_old(all, &folder);
    let is_new = !folder.is_dir();
    let unpacked = if is_new {
        UnpackFolder(all.join(format!("{}.{}", &hash[..32], random_digits())))
    } else {
        UnpackFolder(PathBuf::new())
    };
    let place = if is_new { &unpacked.0 } else { &folder };
    let mut left = largest;
    for (number, inside) in &names {
        if progress.is_cancelled() {
            return Err("opening was cancelled".to_owned());
        }
        let entry = archive.by_index(*number);
        let entry = entry.map_err(|error| format!("the packed project is damaged: {error}"))?;
        left -= put(entry, &place.join(inside), left)?;
    }
    // Another program may have unpacked the same archive in the meantime: that is as good.
    if is_new
        && let Err(error) = std::fs::rename(place, &folder)
        && !folder.is_dir()
    {
        return Err(format!("the packed project can't be unpacked: {error}"));
    }
    Ok(folder)
}

/// The places of all files in an archive, in its order; refuses the archive by what it declares.
fn names_in(
    archive: &mut ZipArchive<Cursor<&[u8]>>,
    packed: u64,
    largest: u64,
) -> Result<Vec<(usize, PathBuf)>, String> {
    if archive.len() > MOST_FILES {
        return Err(format!(
            "the packed project has {} files; no character has more than {MOST_FILES}",
            archive.len()
        ));
    }
    let (mut names, mut rule, mut total) = (Vec::new(), ArchiveNames::default(), 0_u64);
    for number in 0..archive.len() {
        let entry = archive
            .by_index_raw(number)
            .map_err(|error| format!("the packed project is damaged: {error}"))?;
        if entry.is_dir() {
            continue;
        }
        let refused = |why: &dyn std::fmt::Display| {
            let name = String::from_utf8_lossy(entry.name_raw()).replace(char::is_control, " ");
            format!("the packed project has an entry \"{name}\" that {why}, so it is not opened")
        };
        let name = entry.name().map_err(|_| refused(&"is not Unicode"))?;
        rule.add(&name).map_err(|problem| refused(&problem))?;
        let inside = entry.enclosed_name().filter(|_| !entry.is_symlink());
        let inside = inside.ok_or_else(|| refused(&"would be written outside its folder"))?;
        total = total.saturating_add(entry.size());
        names.push((number, inside));
    }
    if total > largest {
        return Err(TOO_LARGE.to_owned());
    }
    if total > HARMLESS && total / MOST_RATIO > packed {
        return Err(format!(
            "the packed project would become {} times larger, so it is not opened",
            total / packed.max(1)
        ));
    }
    if names.iter().all(|(_, inside)| inside != Path::new(CONTENT)) {
        return Err(format!(
            "it is an archive without {CONTENT}, so it is not a packed project"
        ));
    }
    Ok(names)
}

/// Refuses an archive that could not be opened again.
pub(super) fn check_sizes(content: &str, files: &[(String, Vec<u8>)]) -> Result<(), String> {
    let bytes = files.iter().map(|(_, bytes)| bytes.len() as u64);
    if bytes.sum::<u64>() + content.len() as u64 > LARGEST {
        return Err("the character's files are larger than a packed project can be (1 GB)".into());
    }
    if files.len() >= MOST_FILES {
        return Err(format!(
            "the character has {} files, more than a packed project can have",
            files.len()
        ));
    }
    Ok(())
}

/// A folder that is removed with all that is in it, unless it was renamed. An empty path is none.
struct UnpackFolder(PathBuf);

impl Drop for UnpackFolder {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            // After it was renamed there is nothing to remove.
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

/// Writes an entry unless it exists with the same content; returns its length, at most `left`.
fn put(mut entry: impl Read, path: &Path, left: u64) -> Result<u64, String> {
    let failed = |error: std::io::Error| format!("the packed project can't be unpacked: {error}");
    let damaged = |error| {
        format!(
            "the packed project is damaged in {}: {error}",
            path.display()
        )
    };
    let present = read_limited(path, left).ok();
    let mut unpacked = Vec::new();
    let mut limited = entry.by_ref().take(left + 1);
    limited.read_to_end(&mut unpacked).map_err(damaged)?;
    let length = unpacked.len() as u64;
    if length > left {
        return Err(TOO_LARGE.to_owned());
    }
    if present.is_some_and(|present| present == unpacked) {
        return Ok(length);
    }
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).map_err(failed)?;
    if path.exists() {
        write_atomically(path, |out| out.write_all(&unpacked))
            .map_err(|error| error.to_string())?;
    } else {
        std::fs::write(path, &unpacked).map_err(failed)?;
    }
    Ok(length)
}

/// Removes old unpacked folders, and marks the present one as used.
fn remove_old(all: &Path, present: &Path) {
    let Ok(listing) = std::fs::read_dir(all) else {
        return;
    };
    for entry in listing.flatten() {
        let path = entry.path();
        let name = entry
            .file_name()
            .to_str()
            .map(str::to_owned)
            .unwrap_or_default();
        let (hash, unfinished) = name.split_once('.').unwrap_or((&name, ""));
        let is_hex = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit());
        let is_ours = hash.len() == 32 && is_hex(hash) && matches!(unfinished.len(), 0 | 16);
        let kept = if unfinished.is_empty() {
            KEPT
        } else {
            UNPACKING
        };
        let used = entry
            .metadata()
            .ok()
            .filter(std::fs::Metadata::is_dir)
            .and_then(|about| about.modified().ok());
        let old = used
            .and_then(|used| SystemTime::now().duration_since(used).ok())
            .is_some_and(|age| age > kept);
        if is_ours && old && path != present {
            // A folder that cannot be removed is kept.
            let _ = std::fs::remove_dir_all(path);
        }
    }
    // The folder's time stamp is its last use; where it cannot be set, the creation time counts.
    let _ = std::fs::File::open(present).and_then(|folder| folder.set_modified(SystemTime::now()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        let mut zip = ZipWriter::new(&mut bytes);
        for (name, content) in entries {
            zip.start_file(*name, SimpleFileOptions::default()).unwrap();
            zip.write_all(content).unwrap();
        }
        zip.finish().unwrap();
        bytes.into_inner()
    }

    fn write_and_unpack(
        entries: &[(&str, &[u8])],
        largest: u64,
    ) -> (Result<PathBuf, String>, PathBuf) {
        static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let all = std::env::temp_dir().join(format!(
            "sinew-unpack-{}-{number}/in/deep",
            std::process::id()
        ));
        (
            unpack_into(&all, &archive(entries), largest, &Progress::new()),
            all,
        )
    }

    fn clean(all: &Path) {
        // The folder must be empty.
        let _ = std::fs::remove_dir_all(all.parent().and_then(Path::parent).unwrap());
    }

    #[test]
    fn an_archive_can_not_write_outside_its_folder() {
        for name in [
            "../evil",
            "files/../../evil",
            "/evil",
            "..\\evil",
            "files/../../../evil",
            "C:\\evil",
            "a/./b",
            "a//b",
            "con",
            "a. /b",
            "PROJECT.JSON",
            "project.json/b",
        ] {
            // The zip writer would normalize the name.
            let harmless = "x".repeat(name.len());
            let mut bytes = archive(&[(CONTENT, b"{}"), (&harmless, b"evil")]);
            while let Some(at) = bytes
                .windows(name.len())
                .position(|window| window == harmless.as_bytes())
            {
                bytes[at..at + name.len()].copy_from_slice(name.as_bytes());
            }
            let all = std::env::temp_dir()
                .join(format!("sinew-unpack-evil-{}/in/deep", std::process::id()));
            let result = unpack_into(&all, &bytes, 100, &Progress::new());
            assert!(
                result
                    .as_ref()
                    .is_err_and(|error| error.contains("so it is not opened")),
                "{name}: {result:?}"
            );
            assert!(
                !all.join("evil").exists() && !all.parent().unwrap().join("evil").exists(),
                "{name}"
            );
            clean(&all);
        }
        assert!(!Path::new("/evil").exists());
    }

    #[test]
    fn a_decompression_bomb_is_rejected_before_it_is_unpacked() {
        let zeros = vec![0; 5_000_000];
        let (result, all) = write_and_unpack(&[(CONTENT, b"{}"), ("files/a", &zeros)], 1_000_000);
        assert!(result.unwrap_err().contains("1 GB"));
        assert_eq!(std::fs::read_dir(&all).map_or(0, Iterator::count), 0);
        // Too large only in sum, by what is in it, whatever it declares.
        let many = [
            (CONTENT, &b"{}"[..]),
            ("files/a", &zeros[..600]),
            ("files/b", &zeros[..600]),
        ];
        let mut bytes = archive(&many);
        let length = 600_u32.to_le_bytes();
        while let Some(at) = bytes.windows(4).position(|window| window == length) {
            bytes[at..at + 4].copy_from_slice(&6_u32.to_le_bytes());
        }
        let lying = unpack_into(&all, &bytes, 1000, &Progress::new());
        assert!(lying.is_err(), "{lying:?}");
        assert_eq!(std::fs::read_dir(&all).map_or(0, Iterator::count), 0);
        clean(&all);
    }

    #[test]
    fn a_file_that_is_no_packed_project_is_rejected() {
        let (result, all) = write_and_unpack(&[("readme", b"x")], 100);
        assert!(result.unwrap_err().contains(CONTENT));
        clean(&all);
        let (result, all) = write_and_unpack(
            &[(CONTENT, b"{}"), ("files/a", b"a"), ("files/b/c", b"bc")],
            100,
        );
        let folder = result.unwrap();
        assert_eq!(std::fs::read(folder.join("files/b/c")).unwrap(), b"bc");
        clean(&all);
    }

    #[test]
    fn damaged_archives_are_refused_without_panic() {
        let whole = archive(&[
            (CONTENT, b"{\"format\": \"sinew\"}"),
            ("files/a", &[7; 300]),
        ]);
        let all = std::env::temp_dir().join(format!("sinew-unpack-damaged-{}", std::process::id()));
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x5a;
            let _ = unpack_into(&all, &damaged, 1000, &Progress::new());
            let _ = unpack_into(&all, &whole[..at], 1000, &Progress::new());
        }
        // Lengths and offsets in the directory.
        for at in 0..whole.len() - 4 {
            for number in [0x7fff_ffff_u32, 0x8000_0000, 0xffff_fffe, 0xffff_ffff] {
                let mut damaged = whole.clone();
                damaged[at..at + 4].copy_from_slice(&number.to_le_bytes());
                let _ = unpack_into(&all, &damaged, 1000, &Progress::new());
            }
        }
        let _ = std::fs::remove_dir_all(all);
    }
}
