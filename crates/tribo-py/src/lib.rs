//! `tribo._core`: what the Python package `tribo` calls.
//!
//! No logic of its own: arguments are checked and turned into the library's types, long work runs without Python's lock
//! (`interrupt`), answers become numpy arrays and plain objects. The public face, with its words and its defaults, is
//! Python (`python/tribo`).

mod arrays;
mod durable;
mod error;
mod gp;
mod gp_state;
mod interrupt;
mod kernel;
mod picture;
mod source;
mod space;
mod study;

use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    // Not `add`, which would export it.
    #[cfg(debug_assertions)]
    module.setattr("_panic", wrap_pyfunction!(interrupt::_panic, module)?)?;
    error::register(module)?;
    study::register(module)?;
    source::register(module)?;
    kernel::register(module)?;
    gp::register(module)
}
