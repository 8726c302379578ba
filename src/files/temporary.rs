//! Folders that can be written to, and one in the system's temporary folder for when the user's cannot.

use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::random_digits;

/// Prefix of the name. The nanoseconds since 1970 follow, in 16 hexadecimal digits, and 16 random ones.
const PREFIX: &str = "sinew-";

/// Creates a folder if it is missing, and checks that files can be created in it.
///
/// # Errors
/// Those of the file system.
pub fn make_writable(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let probe = folder.join(format!(".sinew-{}.part", random_digits()));
    fs::File::create_new(&probe)?;
    // A file that stays is removed with other unfinished files.
    let _ = fs::remove_file(probe);
    Ok(())
}

/// This user's folder in the system's temporary folder. Its name is random, because everybody can
/// create folders there. One of an earlier run is used again.
///
/// # Errors
/// If no folder can be created there.
pub fn temporary_folder() -> io::Result<PathBuf> {
    temporary_folder_in(&std::env::temp_dir())
}

fn temporary_folder_in(system: &Path) -> io::Result<PathBuf> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let nanos = since.map_or(0, |since| since.as_nanos() as u64);
    let new = system.join(format!("{PREFIX}{nanos:016x}-{}", random_digits()));
    // Fails if it exists, also as a symbolic link.
    create_private(&new)?;
    let own = fs::symlink_metadata(&new)?;
    let mut earlier: Vec<PathBuf> = fs::read_dir(system)?
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(is_name))
        .map(|entry| entry.path())
        .filter(|path| fs::symlink_metadata(path).is_ok_and(|about| is_alike(&about, &own)))
        .collect();
    // The oldest, so that programs that start together agree on one.
    earlier.sort();
    match earlier.into_iter().next() {
        Some(first) if first != new => {
            let _ = fs::remove_dir(new);
            Ok(first)
        }
        _ => Ok(new),
    }
}

fn is_name(name: &str) -> bool {
    let is_hex = |text: &str| text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    name.strip_prefix(PREFIX)
        .and_then(|rest| rest.split_once('-'))
        .is_some_and(|(time, digits)| is_hex(time) && is_hex(digits))
}

#[cfg(unix)]
fn create_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    DirBuilder::new().mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn create_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().create(folder)
}

/// Whether it is a folder of the same user that nobody else may read or write: the six lowest bits of
/// the mode are those of the group and of others.
#[cfg(unix)]
fn is_alike(about: &Metadata, own: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    about.is_dir() && about.uid() == own.uid() && about.mode().trailing_zeros() >= 6
}

/// Elsewhere the temporary folder belongs to one user.
#[cfg(not(unix))]
fn is_alike(about: &Metadata, _: &Metadata) -> bool {
    about.is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_below_a_file_can_not_be_written_to() {
        let all = std::env::temp_dir().join(format!("sinew-writable-{}", random_digits()));
        make_writable(&all.join("deep")).unwrap();
        assert_eq!(fs::read_dir(all.join("deep")).unwrap().count(), 0);
        fs::write(all.join("file"), "").unwrap();
        make_writable(&all.join("file/deep")).unwrap_err();
        fs::remove_dir_all(all).unwrap();
    }

    #[test]
    fn the_temporary_folder_is_private_and_found_again() {
        let system = std::env::temp_dir().join(format!("sinew-temporary-{}", random_digits()));
        fs::create_dir(&system).unwrap();
        // What somebody else may have prepared.
        let name = |last: u8| system.join(format!("sinew-0000000000000000-000000000000000{last}"));
        fs::write(name(0), "").unwrap();
        fs::create_dir(system.join("sinew-cache")).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::os::unix::fs::symlink("/", name(1)).unwrap();
            let open = name(2);
            fs::create_dir(&open).unwrap();
            fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        }
        let first = temporary_folder_in(&system).unwrap();
        let count = fs::read_dir(&system).unwrap().count();
        let own = first.file_name().unwrap().to_str().unwrap();
        assert!(is_name(own) && !own.contains("0000000000000000-"), "{own}");
        for _ in 0..10 {
            assert_eq!(temporary_folder_in(&system).unwrap(), first);
        }
        assert_eq!(fs::read_dir(&system).unwrap().count(), count);
        temporary_folder_in(&system.join("none")).unwrap_err();
        fs::remove_dir_all(system).unwrap();
    }
}
