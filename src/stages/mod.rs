//! Stages: everything that is derived from a character and shared by all methods, each computed when it is first asked for.
//!
//! | stage           | made from                                   | computed for                       |
//! |-----------------|---------------------------------------------|------------------------------------|
//! | welded skin     | the source meshes                           | everybody, at once                 |
//! | weights         | welded skin, skeleton                       | methods that blend joints          |
//! | body            | welded skin, file's weights, settings       | everything below                   |
//! | simulation mesh | body                                        | everything below                   |
//! | tissue          | simulation mesh, skeleton, settings         | simulations, views of the inside   |
//! | equations       | tissue                                      | simulations                        |
//! | upsampling      | body, simulation mesh                       | simulations of a reduced mesh      |
//!
//! A stage's output is immutable and shared (`Arc`); it is made again only when an input of its own changed. [`Lazy`] computes each
//! once for all who ask, with progress, and can be cancelled and asked again. What was computed is kept in the user's cache under a
//! hash of its inputs.

mod body;
mod cached;
mod computed;
mod flesh;
mod guide;
mod lazy;
mod source_weights;
mod subject;

pub use body::Body;
pub(crate) use body::weights_of_file;
pub use lazy::Lazy;
pub use subject::{BindError, Flesh, SetupTimes, Subject};
