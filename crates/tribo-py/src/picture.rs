//! A study to be looked at: its pictures with their numbers, its report, its card in a notebook.
//!
//! Everything drawn is a [`View`]'s. A study of this process is looked at as it is, one on disk that belongs to someone else
//! as its journal is now. The last view is kept: several pictures of the same results cost one look at the model.

use crate::error;
use numpy::ndarray::Array2;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tribo_study::Result;
use tribo_study::by_hand::ByHand;
use tribo_study::reading::Reading;
use tribo_study::view::{Column, Columns, Depth, PictureKind, Source, View};

/// A view, with the number and the time of the last record that it knows.
pub(crate) struct Kept {
    last: (u64, u64),
    view: View,
}

/// Looks at a study, results and model.
pub(crate) fn look<T>(
    hand: &mut ByHand,
    kept: &mut Option<Kept>,
    draw: impl FnOnce(&View) -> Result<T>,
) -> Result<T> {
    let reading = reading(hand)?;
    // While someone drives it, what is under way changes without a record.
    let is_driven = reading.as_ref().is_some_and(|reading| reading.driver().is_some());
    let source = source(hand, reading.as_ref())?;
    let last = (source.ledger().next, source.ledger().last_ms);
    if is_driven || kept.as_ref().is_none_or(|kept| kept.last != last) {
        *kept = Some(Kept { last, view: View::new(&source, Depth::Model)? });
    }
    match kept {
        Some(kept) => draw(&kept.view),
        None => draw(&View::new(&source, Depth::Model)?),
    }
}

/// Looks at the results of a study only, which is quick.
pub(crate) fn glance<T>(hand: &mut ByHand, draw: impl FnOnce(&View) -> T) -> Result<T> {
    let reading = reading(hand)?;
    Ok(draw(&View::new(&source(hand, reading.as_ref())?, Depth::Results)?))
}

/// The journal of a study that is on disk and not this process's.
fn reading(hand: &ByHand) -> Result<Option<Reading>> {
    let layout = hand.layout().filter(|layout| !hand.is_taken() && layout.journal().exists());
    layout.map(Reading::open).transpose()
}

fn source<'a>(hand: &'a mut ByHand, reading: Option<&'a Reading>) -> Result<Source<'a>> {
    match reading {
        Some(reading) => Ok(Source::Journal(reading)),
        None => Source::own(hand),
    }
}

/// The kind of a picture by the name of its method.
pub(crate) fn kind(name: &str) -> PyResult<PictureKind> {
    Ok(match name {
        "convergence" => PictureKind::Convergence,
        "slice" => PictureKind::Slice,
        "contour" => PictureKind::Contour,
        "importance" => PictureKind::Importance,
        "validation" => PictureKind::Validation,
        "parallel" => PictureKind::Parallel,
        "timeline" => PictureKind::Timeline,
        _ => return Err(error::argument(format!("there is no picture {name:?}"))),
    })
}

/// Columns as numpy arrays by name.
pub(crate) fn arrays(py: Python<'_>, columns: Columns) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (name, column) in columns {
        match column {
            Column::Numbers(numbers) => dict.set_item(name, PyArray1::from_vec(py, numbers))?,
            Column::Whole(numbers) => dict.set_item(name, PyArray1::from_vec(py, numbers))?,
            Column::Rows(length, numbers) => {
                let shape = (numbers.len() / length.max(1), length);
                let rows = Array2::from_shape_vec(shape, numbers);
                let rows = rows.map_err(|fault| error::internal(fault.to_string()))?;
                dict.set_item(name, PyArray2::from_owned_array(py, rows))?;
            }
            Column::Names(names) => {
                let numpy = py.import("numpy")?;
                let names = PyList::new(py, names)?;
                dict.set_item(name, numpy.call_method1("array", (names, numpy.getattr("str_")?))?)?;
            }
        }
    }
    Ok(dict)
}
