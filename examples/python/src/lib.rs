//! The Python module `sinew`.

use pyo3::prelude::*;

/// Character skinning: poses, skinning methods and metrics as NumPy arrays.
#[pymodule]
fn sinew(module: &Bound<'_, PyModule>) -> PyResult<()> {
    ::sinew::python::fill(module)
}
