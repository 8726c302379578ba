//! Temporary folders of tests.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder of one test, removed when the value is dropped.
pub struct TestFolder(pub PathBuf);

impl TestFolder {
    /// A new folder; `name` tells the tests' folders apart.
    pub fn new(name: &str) -> Self {
        let folder = Self::absent(name);
        std::fs::create_dir_all(&folder.0).expect("the folder of temporary files can be written");
        folder
    }

    /// The path of a folder that does not exist yet.
    pub fn absent(name: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let own = format!("sinew-{name}-{}-{number}", std::process::id());
        Self(std::env::temp_dir().join(own))
    }

    /// The path of a file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
