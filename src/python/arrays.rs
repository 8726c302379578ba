//! Arrays of `NumPy` from and to the types of this crate.

use numpy::{
    Element, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray2, PyReadonlyArray3,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use super::wrong;
use crate::math::{Affine, Point, Vec3};

/// Rows of a fixed length.
pub(super) fn rows<T: Element, const N: usize>(
    py: Python<'_>,
    rows: impl IntoIterator<Item = [T; N]>,
) -> PyResult<Bound<'_, PyArray2<T>>> {
    let flat: Vec<T> = rows.into_iter().flatten().collect();
    let count = flat.len() / N;
    PyArray1::from_vec(py, flat).reshape([count, N])
}

pub(super) fn points<'py>(
    py: Python<'py>,
    points: &[Point],
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    rows(py, points.iter().map(|point| point.coords.into()))
}

pub(super) fn vectors<'py>(
    py: Python<'py>,
    vectors: &[Vec3],
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    rows(py, vectors.iter().map(|vector| (*vector).into()))
}

/// J × 4 × 4.
pub(super) fn transforms<'py>(
    py: Python<'py>,
    transforms: &[Affine],
) -> PyResult<Bound<'py, PyArray3<f64>>> {
    let numbers = transforms.iter().flat_map(|transform| {
        let matrix = transform.matrix();
        (0..4).flat_map(move |row| (0..4).map(move |column| matrix[(row, column)]))
    });
    let flat: Vec<f64> = numbers.collect();
    PyArray1::from_vec(py, flat).reshape([transforms.len(), 4, 4])
}

/// Transforms of all joints from an array J × 4 × 4.
pub(super) fn read_transforms(
    array: &PyReadonlyArray3<'_, f64>,
    joints: usize,
) -> PyResult<Vec<Affine>> {
    let shape = array.shape();
    if shape != [joints, 4, 4] {
        return Err(wrong(format!(
            "the pose has the shape {shape:?}; expected [{joints}, 4, 4], a matrix for each joint"
        )));
    }
    let array = array.as_array();
    let matrix = |joint: usize| {
        let entry = |row, column| array[[joint, row, column]];
        Affine::from_matrix_unchecked(nalgebra::Matrix4::from_fn(entry))
    };
    let made: Vec<Affine> = (0..joints).map(matrix).collect();
    let is_affine = |transform: &Affine| {
        let last = transform.matrix().row(3).transpose();
        (last - nalgebra::Vector4::w()).amax() < 1e-9
    };
    match made.iter().position(|transform| !is_affine(transform)) {
        Some(joint) => Err(wrong(format!(
            "the last row of matrix {joint} of the pose is not 0, 0, 0, 1"
        ))),
        None => Ok(made),
    }
}

/// Positions from an array V × 3.
pub(super) fn read_points(array: &PyReadonlyArray2<'_, f32>) -> PyResult<Vec<Point>> {
    let shape = array.shape();
    if shape[1] != 3 {
        return Err(wrong(format!(
            "the positions have the shape {shape:?}; expected three columns"
        )));
    }
    let array = array.as_array();
    let rows = array.rows();
    Ok((rows.into_iter())
        .map(|row| Point::new(row[0], row[1], row[2]))
        .collect())
}
