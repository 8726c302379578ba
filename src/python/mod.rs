//! The Python module `sinew`: characters, poses, skinning and metrics as arrays of `NumPy`.
//!
//! `examples/python` builds it as a wheel. Classes: [`PyCharacter`], an opened character; [`PySkinner`], a method bound to it.
//! Arrays: positions V × 3 (`float32`) of the file's vertices in its order, faces T × 3 (`uint32`), transforms J × 4 × 4 (`float64`) that act
//! on columns.

#![expect(
    clippy::needless_pass_by_value,
    reason = "what Python passes is converted into values"
)]

mod arrays;
mod character;
mod skinner;

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

pub use character::PyCharacter;
pub use skinner::PySkinner;

use crate::methods::{MethodId, registry};
use crate::progress::Progress;
use crate::stages::Subject;

/// What the user said is wrong.
fn wrong(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// What could not be done.
fn failed(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// Opens a character: a mesh or scene file, possibly with a skeleton, weights and motions in further files; or `builtin:NAME`.
#[pyfunction]
#[pyo3(signature = (*files))]
fn open(py: Python<'_>, files: Vec<PathBuf>) -> PyResult<PyCharacter> {
    let subject = py.detach(|| {
        let progress = Progress::new();
        let character = crate::io::load(&files, &progress).map_err(wrong)?;
        Subject::build(Arc::new(character), &progress).map_err(wrong)
    });
    Ok(PyCharacter::of(Arc::new(subject?)))
}

/// The ids of all skinning methods.
#[pyfunction]
fn methods() -> Vec<&'static str> {
    registry().into_iter().map(MethodId::id).collect()
}

/// Adds the functions and classes to a Python module.
///
/// # Errors
/// Errors of Python.
pub fn fill(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(open, module)?)?;
    module.add_function(wrap_pyfunction!(methods, module)?)?;
    module.add_class::<PyCharacter>()?;
    module.add_class::<PySkinner>()
}
