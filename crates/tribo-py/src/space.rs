//! Points as Python sees them. Numbers cross exactly.

use crate::error;
use numpy::PyArray1;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tribo::space::{Kind, Parameter, Point, Space, Values};

/// The dictionary of a point: a number or a category for each parameter; for a vector an array, or a list of categories.
pub(crate) fn to_dict<'py>(py: Python<'py>, space: &Space, point: &Point) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (parameter, values) in space.parameters().iter().zip(point.columns()) {
        dict.set_item(parameter.name(), to_object(py, parameter, values)?)?;
    }
    Ok(dict)
}

fn to_object<'py>(py: Python<'py>, parameter: &Parameter, values: &Values) -> PyResult<Bound<'py, PyAny>> {
    let scalar = parameter.size().is_none();
    match values {
        Values::Float(numbers) if scalar => numbers.first().into_bound_py_any(py),
        Values::Float(numbers) => PyArray1::from_slice(py, numbers).into_bound_py_any(py),
        Values::Int(numbers) if scalar => numbers.first().into_bound_py_any(py),
        Values::Int(numbers) => PyArray1::from_slice(py, numbers).into_bound_py_any(py),
        Values::Category(indices) => {
            let Kind::Categorical { categories } = parameter.kind() else {
                return Err(error::internal(format!("parameter `{}` has categories", parameter.name())));
            };
            let mut names = indices.iter().map(|&index| &categories[index]);
            match scalar {
                true => names.next().into_bound_py_any(py),
                false => PyList::new(py, names)?.into_bound_py_any(py),
            }
        }
    }
}
