use super::*;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("sinew-write-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn no_partial_file_is_left() {
    let folder = folder("half");
    let path = folder.join("out.txt");
    std::fs::write(&path, "old").unwrap();
    let failed = write_atomically(&path, |out| {
        out.write_all(b"new")?;
        Err(std::io::Error::other("the disk is full"))
    });
    assert!(
        failed
            .unwrap_err()
            .to_string()
            .contains("out.txt cannot be written")
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    write_atomically(&path, |out| out.write_all(b"new")).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
    assert!(AtomicFile::create(&folder.join("no/such/folder.txt")).is_err());
    assert!(AtomicFile::create(&folder).is_err());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_point_cache_stores_its_frame_count() {
    let folder = folder("pc2");
    let path = folder.join("a.pc2");
    let mut cache = PointCache::create(&path, 2, 0.0, 1.0).unwrap();
    let points = [Point::new(1.0, 2.0, 3.0), Point::new(4.0, 5.0, 6.0)];
    (0..3).for_each(|_| cache.frame(&points).unwrap());
    cache.finish().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes.len(), 32 + 3 * 2 * 12);
    assert_eq!(bytes[16..20], 2_i32.to_le_bytes());
    assert_eq!(bytes[28..32], 3_i32.to_le_bytes());
    assert_eq!(bytes[bytes.len() - 4..], 6_f32.to_le_bytes());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn frames_are_numbered() {
    assert_eq!(
        FrameNames::new(Path::new("d/walk.obj"), 12).path(3),
        PathBuf::from("d/walk.0003.obj")
    );
    assert_eq!(
        FrameNames::new(Path::new("walk"), 123_456).path(3),
        PathBuf::from("walk.000003")
    );
    let placed = |name: &str, frame| FrameNames::new(Path::new(name), 9).path(frame);
    assert_eq!(placed("d/a####.png", 12), PathBuf::from("d/a0012.png"));
    assert_eq!(placed("a##_x.png", 123), PathBuf::from("a123_x.png"));
    assert_eq!(placed("#1#.png", 5), PathBuf::from("#15.png"));
    assert!(
        FrameNames::has_place(Path::new("a#.png")) && !FrameNames::has_place(Path::new("#/a.png"))
    );
}

#[cfg(unix)]
#[test]
fn permissions_and_links_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder("manners");
    let (file, link, dangling) = (folder.join("a"), folder.join("b"), folder.join("c"));
    std::fs::write(&file, "old").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink("a", &link).unwrap();
    symlink("d", &dangling).unwrap();
    for path in [&link, &dangling] {
        write_atomically(path, |out| out.write_all(b"new")).unwrap();
        assert!(std::fs::symlink_metadata(path).unwrap().is_symlink());
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "new");
    assert_eq!(std::fs::read_to_string(folder.join("d")).unwrap(), "new");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o440)).unwrap();
    let refused = AtomicFile::create(&file).unwrap_err().to_string();
    assert!(refused.contains("write-protected"), "{refused}");
    symlink("circle", folder.join("circle")).unwrap();
    for path in [&folder.join("circle"), Path::new("/dev/null")] {
        assert!(AtomicFile::create(path).is_err(), "{path:?}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}
