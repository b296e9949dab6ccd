//! A fitted process as a dict of numbers, strings and arrays, and back: what Python pickles and copies.
//!
//! The dict is the library's `State` under the same names, with `version` for the day one of them changes.

use crate::{arrays, error, kernel};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tribo::surrogate::hyper::{Hyperparameters, Mean};
use tribo::surrogate::kernel::Kernel;
use tribo::surrogate::sparse::{Approximation, SparsePosterior, State};

const VERSION: u32 = 1;

/// The dict of a process.
pub(crate) fn to_dict<'py>(py: Python<'py>, posterior: &SparsePosterior) -> PyResult<Bound<'py, PyDict>> {
    let state = posterior.state();
    let dict = PyDict::new(py);
    dict.set_item("version", VERSION)?;
    let (approximation, group) = approximation_name(state.approximation);
    dict.set_item("approximation", approximation)?;
    dict.set_item("group", group)?;
    let mean = match state.mean {
        Mean::Estimated => None,
        Mean::Fixed(value) => Some(value),
    };
    dict.set_item("mean", mean)?;
    dict.set_item("kernel", state.hyper.kernel.shape.name())?;
    dict.set_item("length_scales", arrays::vector(py, state.hyper.kernel.length_scales))?;
    for (name, numbers) in kernel::numbers(state.hyper.kernel.shape, &state.hyper.kernel.terms) {
        dict.set_item(name, arrays::vector(py, numbers))?;
    }
    dict.set_item("signal_var", state.hyper.kernel.signal_var)?;
    dict.set_item("noise_var", state.hyper.noise_var)?;
    dict.set_item("inducing", arrays::matrix(py, state.inducing.as_ref()))?;
    dict.set_item("luu", arrays::matrix(py, state.luu.as_ref()))?;
    dict.set_item("luu_jitter", state.luu_jitter)?;
    dict.set_item("lb", arrays::matrix(py, state.lb.as_ref()))?;
    dict.set_item("lb_jitter", state.lb_jitter)?;
    dict.set_item("y_shift", state.y_shift)?;
    dict.set_item("v_y", arrays::vector(py, state.v_y))?;
    dict.set_item("v_one", arrays::vector(py, state.v_one))?;
    dict.set_item("sums", arrays::vector(py, state.sums.to_vec()))?;
    Ok(dict)
}

/// The process of a dict.
pub(crate) fn from_dict(dict: &Bound<'_, PyDict>) -> PyResult<SparsePosterior> {
    let version: u32 = item(dict, "version")?;
    if version != VERSION {
        return Err(error::argument(format!(
            "the fitted model was stored in format {version} and this tribo reads {VERSION}; fit it again"
        )));
    }
    let name: String = item(dict, "kernel")?;
    let shape = kernel::shape(&name).map_err(|_| damaged("kernel"))?;
    let kernel = Kernel {
        shape,
        length_scales: vector(dict, "length_scales")?,
        signal_var: item(dict, "signal_var")?,
        terms: kernel::terms(shape, |name| vector(dict, name))?,
    };
    let name: String = item(dict, "approximation")?;
    let Some(approximation) = approximation(&name, item(dict, "group")?) else {
        return Err(damaged("approximation"));
    };
    let mean: Option<f64> = item(dict, "mean")?;
    let state = State {
        approximation,
        mean: mean.map_or(Mean::Estimated, Mean::Fixed),
        hyper: Hyperparameters { kernel, noise_var: item(dict, "noise_var")? },
        inducing: matrix(dict, "inducing")?,
        luu: matrix(dict, "luu")?,
        luu_jitter: item(dict, "luu_jitter")?,
        lb: matrix(dict, "lb")?,
        lb_jitter: item(dict, "lb_jitter")?,
        y_shift: item(dict, "y_shift")?,
        v_y: vector(dict, "v_y")?,
        v_one: vector(dict, "v_one")?,
        sums: vector(dict, "sums")?.try_into().map_err(|_| damaged("sums"))?,
    };
    SparsePosterior::from_state(state).map_err(error::library)
}

/// Name of an approximation, and PITC's group.
fn approximation_name(approximation: Approximation) -> (&'static str, usize) {
    match approximation {
        Approximation::Sor => ("sor", 0),
        Approximation::Dtc => ("dtc", 0),
        Approximation::Fic => ("fic", 0),
        Approximation::Pitc { group } => ("pitc", group),
    }
}

/// The approximation of that name.
pub(crate) fn approximation(name: &str, group: usize) -> Option<Approximation> {
    match name {
        "sor" => Some(Approximation::Sor),
        "dtc" => Some(Approximation::Dtc),
        "fic" => Some(Approximation::Fic),
        "pitc" => Some(Approximation::Pitc { group }),
        _ => None,
    }
}

fn damaged(key: &str) -> PyErr {
    error::argument(format!("the stored model is damaged: `{key}` is missing or is not what tribo stored"))
}

fn item<'py, T>(dict: &Bound<'py, PyDict>, key: &str) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    dict.get_item(key)?.and_then(|value| value.extract().ok()).ok_or_else(|| damaged(key))
}

fn vector(dict: &Bound<'_, PyDict>, key: &str) -> PyResult<Vec<f64>> {
    let array: PyReadonlyArray1<'_, f64> = item(dict, key)?;
    Ok(array.as_array().to_vec())
}

fn matrix(dict: &Bound<'_, PyDict>, key: &str) -> PyResult<faer::Mat<f64>> {
    Ok(arrays::owned(&item(dict, key)?))
}
