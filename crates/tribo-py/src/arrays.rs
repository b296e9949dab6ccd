//! numpy in and out.
//!
//! In: float64 arrays of any layout (rows or columns first, slices, steps, read-only) are looked at where they are; nothing is
//! copied. The Python side (`_arrays.py`) has turned everything else into such arrays and has checked shapes. What is left to
//! check is that every number is finite.
//!
//! A `PyReadonlyArray` keeps an array alive and keeps other users of it in Rust from writing while Python's lock is released.
//! Python code of another thread can still write to the array: it then gets a fit of whatever was read, as with numpy itself.
//!
//! Out: arrays that own their memory, rows first.

use crate::error;
use faer::{Mat, MatRef};
use faer_ext::IntoFaer;
use numpy::ndarray::Array2;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// Points, one a row, looked at where they are. `name` is the argument's.
pub(crate) fn points<'a>(name: &str, array: &'a PyReadonlyArray2<'_, f64>) -> PyResult<MatRef<'a, f64>> {
    let view: MatRef<'a, f64> = array.as_array().into_faer();
    for column in 0..view.ncols() {
        for row in 0..view.nrows() {
            let value = view[(row, column)];
            if !value.is_finite() {
                return Err(error::argument(format!(
                    "{name}[{row}, {column}] is {value}; every entry must be finite"
                )));
            }
        }
    }
    Ok(view)
}

/// Values, looked at where they are. `name` is the argument's.
pub(crate) fn values<'a>(name: &str, array: &'a PyReadonlyArray1<'_, f64>) -> PyResult<&'a [f64]> {
    let Ok(values) = array.as_slice() else {
        return Err(error::argument(format!("{name} is not contiguous; use numpy.ascontiguousarray")));
    };
    match values.iter().position(|value| !value.is_finite()) {
        Some(row) => {
            Err(error::argument(format!("{name}[{row}] is {}; every entry must be finite", values[row])))
        }
        None => Ok(values),
    }
}

/// A vector as an array.
pub(crate) fn vector(py: Python<'_>, values: Vec<f64>) -> Bound<'_, PyArray1<f64>> {
    PyArray1::from_vec(py, values)
}

/// A matrix as an array.
pub(crate) fn matrix<'py>(py: Python<'py>, matrix: MatRef<'_, f64>) -> Bound<'py, PyArray2<f64>> {
    let array = Array2::from_shape_fn((matrix.nrows(), matrix.ncols()), |(i, j)| matrix[(i, j)]);
    PyArray2::from_owned_array(py, array)
}

/// A copy that outlives the array.
pub(crate) fn owned(array: &PyReadonlyArray2<'_, f64>) -> Mat<f64> {
    let view: MatRef<'_, f64> = array.as_array().into_faer();
    view.to_owned()
}
