//! Stages: all data derived from a character and shared by all methods, each computed on the first request.
//!
//! | stage           | inputs                                      | needed by                          |
//! |-----------------|---------------------------------------------|------------------------------------|
//! | welded skin     | the source meshes                           | all methods, computed at once      |
//! | weights         | welded skin, skeleton                       | methods that blend joints          |
//! | weights of skin | weights, welded skin                        | flesh that follows the weights     |
//! | body            | welded skin, file's weights, settings       | all stages below                   |
//! | simulation mesh | body                                        | all stages below                   |
//! | tissue          | simulation mesh, skeleton, settings         | simulations, views of the inside   |
//! | equations       | tissue                                      | simulations                        |
//! | upsampling      | body, simulation mesh                       | simulations of a reduced mesh      |
//!
//! A stage's output is immutable and shared (`Arc`); it is computed again only when one of its inputs changed. [`Lazy`] computes each
//! once for all callers, with progress; after a cancellation it can be requested again. Results are stored in the user's cache under a
//! hash of its inputs.

mod body;
mod cached;
mod computed;
mod flesh;
mod lazy;
mod source_weights;
mod subject;

pub use body::Body;
pub use lazy::Lazy;
pub use subject::{BindError, Flesh, SetupTimes, Subject};
