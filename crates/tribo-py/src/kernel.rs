//! Kernels by name, and the numbers of a sum's terms under the names that Python has for them.

use crate::error;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use tribo::surrogate::kernel::{Parts, Shape, Terms};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(kernel_terms, module)?)
}

/// Names of what a sum has beside the hyper-parameters of a single kernel. A name of no kernel is refused.
#[pyfunction]
fn kernel_terms(kernel: &str) -> PyResult<Vec<&'static str>> {
    Ok(names(shape(kernel)?.parts()))
}

/// The shape of that name.
pub(crate) fn shape(kernel: &str) -> PyResult<Shape> {
    Shape::from_name(kernel).map_err(error::library)
}

fn names(parts: Parts) -> Vec<&'static str> {
    let each = [
        ("term_length_scales", parts.additive || parts.pairs),
        ("term_weights", parts.additive),
        ("pair_weight", parts.pairs),
        ("constant_weight", parts.constant),
        ("slope_variances", parts.linear),
        ("slope_centre", parts.linear),
    ];
    each.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name).collect()
}

/// The numbers of terms by these names.
pub(crate) fn numbers(shape: Shape, terms: &Terms) -> BTreeMap<&'static str, Vec<f64>> {
    let of = |name: &str| match name {
        "term_length_scales" => terms.length_scales.clone(),
        "term_weights" => terms.weights.clone(),
        "pair_weight" => terms.pairs.into_iter().collect(),
        "constant_weight" => terms.constant.into_iter().collect(),
        "slope_variances" => terms.slopes.clone(),
        _ => terms.centre.clone(),
    };
    names(shape.parts()).into_iter().map(|name| (name, of(name))).collect()
}

/// The terms whose numbers those are.
pub(crate) fn terms(shape: Shape, number: impl Fn(&str) -> PyResult<Vec<f64>>) -> PyResult<Terms> {
    let mut terms = Terms::default();
    for name in names(shape.parts()) {
        let numbers = number(name)?;
        match name {
            "term_length_scales" => terms.length_scales = numbers,
            "term_weights" => terms.weights = numbers,
            "pair_weight" => terms.pairs = numbers.first().copied(),
            "constant_weight" => terms.constant = numbers.first().copied(),
            "slope_variances" => terms.slopes = numbers,
            _ => terms.centre = numbers,
        }
    }
    Ok(terms)
}
