//! Points between Python and the library. Numbers cross exactly.

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

/// The point with one object for each parameter. `place` names it in messages.
pub(crate) fn to_point(space: &Space, columns: &[Bound<'_, PyAny>], place: &str) -> PyResult<Point> {
    let (expected, found) = (space.parameters().len(), columns.len());
    if expected != found {
        return Err(error::argument(format!(
            "the length of {place} is {found}, but the number of parameters is {expected}"
        )));
    }
    let column = |(parameter, object): (&Parameter, &Bound<'_, PyAny>)| to_values(parameter, object, place);
    let columns = space.parameters().iter().zip(columns).map(column).collect::<PyResult<Vec<Values>>>()?;
    space.point(columns).map_err(|fault| error::argument(format!("{place}: {fault}")))
}

fn to_values(parameter: &Parameter, object: &Bound<'_, PyAny>, place: &str) -> PyResult<Values> {
    let elements = match parameter.size() {
        None => vec![object.clone()],
        Some(size) => object.try_iter().and_then(Iterator::collect::<PyResult<Vec<_>>>).map_err(|_| {
            let name = parameter.name();
            error::argument(format!("{place}: parameter `{name}` is a vector of {size}: give a list"))
        })?,
    };
    let wrong = |element: &Bound<'_, PyAny>| {
        let (name, word) = (parameter.name(), parameter.kind().word());
        error::argument(format!("{place}: parameter `{name}` is of type {word}, not {element}"))
    };
    Ok(match parameter.kind() {
        Kind::Float { .. } => {
            let number = |element: &Bound<'_, PyAny>| element.extract::<f64>().map_err(|_| wrong(element));
            Values::Float(elements.iter().map(number).collect::<PyResult<_>>()?)
        }
        Kind::Int { .. } => {
            // An array that holds floats as well gives 3 as 3.0.
            let whole = |element: &Bound<'_, PyAny>| {
                let number = element.extract::<f64>().ok()?;
                (number.fract() == 0.0 && number.abs() <= 2f64.powi(53)).then_some(number as i64)
            };
            let number = |element: &Bound<'_, PyAny>| {
                element.extract::<i64>().ok().or_else(|| whole(element)).ok_or_else(|| wrong(element))
            };
            Values::Int(elements.iter().map(number).collect::<PyResult<_>>()?)
        }
        Kind::Categorical { categories } => {
            let index = |element: &Bound<'_, PyAny>| {
                let name = element.extract::<String>().map_err(|_| wrong(element))?;
                categories.iter().position(|category| *category == name).ok_or_else(|| wrong(element))
            };
            Values::Category(elements.iter().map(index).collect::<PyResult<_>>()?)
        }
    })
}
