//! Opens regular files only.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Opens a regular file for reading; symbolic links are followed.
///
/// # Errors
/// Those of the file system; [`ErrorKind::IsADirectory`] for a folder and
/// [`ErrorKind::InvalidInput`] for a pipe, a device, a socket or a file of the kernel (`/proc`,
/// `/sys`), all without waiting.
pub fn open_regular(path: &Path) -> io::Result<(File, Metadata)> {
    // Opening a device can have effects of its own, so the kind is checked before, too.
    check_kind(&std::fs::metadata(path)?)?;
    let mut options = File::options();
    options.read(true);
    without_waiting(&mut options);
    let file = options.open(path)?;
    let about = file.metadata()?;
    check_kind(&about)?;
    check_file_system(&file)?;
    Ok((file, about))
}

/// Reads a regular file of at most `most_bytes`.
///
/// # Errors
/// As [`open_regular`]; [`ErrorKind::FileTooLarge`].
pub fn read_limited(path: &Path, most_bytes: u64) -> io::Result<Vec<u8>> {
    let (file, about) = open_regular(path)?;
    let too_large = || {
        let megabytes = most_bytes >> 20;
        let text = format!("the file is larger than {megabytes} MB");
        io::Error::new(ErrorKind::FileTooLarge, text)
    };
    if about.len() > most_bytes {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(about.len() as usize + 1);
    // The file may have grown in the meantime.
    file.take(most_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most_bytes {
        return Err(too_large());
    }
    Ok(bytes)
}

fn check_kind(about: &Metadata) -> io::Result<()> {
    if about.is_dir() {
        return Err(io::Error::new(
            ErrorKind::IsADirectory,
            "the path is a folder",
        ));
    }
    if !about.is_file() {
        return Err(io::Error::new(
            ErrorKind::InvalidInput,
            "it is a pipe, a device or a socket; only regular files are read",
        ));
    }
    Ok(())
}

/// A pipe that took the file's place since its kind was checked must not be waited for.
#[cfg(unix)]
fn without_waiting(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    options.custom_flags(flags.bits().cast_signed());
}

#[cfg(not(unix))]
fn without_waiting(_: &mut OpenOptions) {}

/// Refuses the kernel's file systems: their files look regular, but have no length, and reading
/// some of them waits for ever or reveals memory.
#[cfg(target_os = "linux")]
fn check_file_system(file: &File) -> io::Result<()> {
    /// `f_type` of proc, sysfs, debugfs, tracefs, securityfs, configfs, bpf, cgroup, cgroup2,
    /// pstore, efivarfs, selinux (`linux/magic.h`).
    const KERNEL: [u64; 12] = [
        0x9fa0,
        0x6265_6572,
        0x6462_6720,
        0x7472_6163,
        0x7363_6673,
        0x6265_6570,
        0xcafe_4a11,
        0x0027_e0eb,
        0x6367_7270,
        0x6165_676c,
        0xde5e_81e4,
        0xf97c_ff8c,
    ];
    let kind = rustix::fs::fstatfs(file)?.f_type;
    if KERNEL.contains(&(kind as u64 & 0xffff_ffff)) {
        return Err(io::Error::new(
            ErrorKind::InvalidInput,
            "it is a file of the system's kernel; only regular files are read",
        ));
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "other systems can refuse a file")]
fn check_file_system(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::random_digits;

    #[test]
    fn folders_and_large_files_are_refused() {
        let folder = std::env::temp_dir().join(format!("sinew-open-{}", random_digits()));
        std::fs::create_dir(&folder).unwrap();
        let kind = |path: &Path, most| read_limited(path, most).map_err(|error| error.kind());
        assert_eq!(kind(&folder, 10), Err(ErrorKind::IsADirectory));
        let file = folder.join("a");
        assert_eq!(kind(&file, 10), Err(ErrorKind::NotFound));
        std::fs::write(&file, b"0123456789").unwrap();
        assert_eq!(kind(&file, 9), Err(ErrorKind::FileTooLarge));
        assert_eq!(kind(&file, 10).unwrap(), b"0123456789");
        std::fs::remove_dir_all(folder).unwrap();
    }

    /// Without the check this test never ends.
    #[cfg(target_os = "linux")]
    #[test]
    fn pipes_devices_and_kernel_files_are_refused() {
        let folder = std::env::temp_dir().join(format!("sinew-open-{}", random_digits()));
        std::fs::create_dir(&folder).unwrap();
        let pipe = folder.join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        let link = folder.join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        let special = ["/dev/zero", "/dev/random", "/proc/self/mem", "/proc/kmsg"].map(Path::new);
        for path in special.into_iter().chain([&*pipe, &*link]) {
            let refused = read_limited(path, 1000).expect_err("only regular files");
            // The system may refuse the reading of /proc/kmsg first.
            let kinds = [ErrorKind::InvalidInput, ErrorKind::PermissionDenied];
            assert!(kinds.contains(&refused.kind()), "{path:?}: {refused}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
