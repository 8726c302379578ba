//! Safe handling of files: what may be opened, where a name in a file may lead, which paths name
//! the same file, and names that nobody else uses.
//!
//! - [`open_regular`] and [`read_limited`] open regular files only. A pipe, a device, a folder or a
//!   file of the kernel is refused at once, without waiting.
//! - [`inside`] resolves a name that stands in a file of unknown origin. It never leads out of that
//!   file's folder.
//! - [`FileIdentity`] compares files by identity, not by spelling.
//! - [`random_digits`] makes names for temporary files and folders.
//! - [`safe_name`] makes a file's name of a name in a file.
//! - [`make_writable`] and [`temporary_folder`] find a folder that can be written to.
//!
//! Outputs are written by [`AtomicFile`](crate::io::AtomicFile): symbolic links are followed and
//! permissions kept, by bakes and saved projects alike.

mod identity;
mod inside;
mod open;
mod random;
mod safe_name;
mod temporary;

pub use identity::{FileIdentity, without_parents};
pub use inside::{NameProblem, inside};
pub use open::{open_regular, read_limited};
pub use random::random_digits;
pub use safe_name::safe_name;
pub use temporary::{make_writable, temporary_folder};
