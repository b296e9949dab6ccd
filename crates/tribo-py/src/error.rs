//! The exception tree, and the way of the libraries' errors into it.
//!
//! Everything is a `TriboError`. Those that say an argument is wrong are also `ValueError`s, those about files `OSError`s,
//! so that code which knows nothing of tribo catches what it expects to catch.

use pyo3::exceptions::{PyException, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};

static TREE: PyOnceLock<Tree> = PyOnceLock::new();

struct Tree {
    argument: Py<PyType>,
    trial: Py<PyType>,
    store: Py<PyType>,
    internal: Py<PyType>,
}

/// Makes the exceptions and adds them to the module.
pub(crate) fn register<'py>(module: &Bound<'py, PyModule>) -> PyResult<()> {
    let py = module.py();
    let make = |name: &str, bases: Vec<Bound<'py, PyType>>, doc: &str| -> PyResult<Bound<'py, PyType>> {
        let namespace = PyDict::new(py);
        namespace.set_item("__doc__", doc)?;
        namespace.set_item("__module__", "tribo")?;
        let bases = PyTuple::new(py, bases)?;
        let class = py.get_type::<PyType>().call1((name, bases, namespace))?.cast_into::<PyType>()?;
        module.add(name, &class)?;
        Ok(class)
    };
    let value_error = py.get_type::<PyValueError>();
    let root = make("TriboError", vec![py.get_type::<PyException>()], "Anything that goes wrong in tribo.")?;
    let argument = make(
        "ArgumentError",
        vec![root.clone(), value_error.clone()],
        "An argument is wrong: a space, a setting, an array. The message names it.",
    )?;
    let trial = make(
        "TrialError",
        vec![root.clone(), value_error],
        "A trial is unknown, or was told something else before.",
    )?;
    let store = make(
        "StoreError",
        vec![root.clone(), py.get_type::<PyOSError>()],
        "A study on disk is missing, in use, damaged, or cannot be written.",
    )?;
    let internal = make(
        "InternalError",
        vec![root, py.get_type::<PyRuntimeError>()],
        "A defect of tribo itself. Please report it, with the message.",
    )?;
    let tree = Tree {
        argument: argument.unbind(),
        trial: trial.unbind(),
        store: store.unbind(),
        internal: internal.unbind(),
    };
    // A second import finds the first one's.
    let _ = TREE.set(py, tree);
    Ok(())
}

fn raise(class: impl Fn(&Tree) -> &Py<PyType>, message: String) -> PyErr {
    Python::attach(|py| match TREE.get(py) {
        Some(tree) => PyErr::from_type(class(tree).bind(py).clone(), message),
        None => PyRuntimeError::new_err(message),
    })
}

/// An argument is wrong.
pub(crate) fn argument(message: impl Into<String>) -> PyErr {
    raise(|tree| &tree.argument, message.into())
}

/// A defect of tribo.
pub(crate) fn internal(message: impl Into<String>) -> PyErr {
    raise(|tree| &tree.internal, message.into())
}

/// What the library says.
pub(crate) fn library(error: tribo::Error) -> PyErr {
    use tribo::Error;
    let message = error.to_string();
    match error {
        Error::UnknownTrial { .. } | Error::AlreadyTold { .. } | Error::DuplicateTrial { .. } => {
            raise(|tree| &tree.trial, message)
        }
        _ => argument(message),
    }
}

/// What a durable study says.
pub(crate) fn study(error: tribo_study::Error) -> PyErr {
    use tribo_study::Error;
    let message = error.to_string();
    match error {
        Error::Optimiser(error) => library(error),
        Error::Trial(_) => raise(|tree| &tree.trial, message),
        Error::Config(_) | Error::Usage(_) | Error::Changed { .. } => argument(message),
        _ => raise(|tree| &tree.store, message),
    }
}
