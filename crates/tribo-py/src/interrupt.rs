//! Long work without Python's lock, that Ctrl-C ends.
//!
//! The work runs on a thread of its own while the calling one, which may be the one that signals are delivered to, looks
//! for them twenty times a second. After a signal the work is told to give up, which it does between blocks of data, and the
//! signal's exception is raised. A panic becomes an `InternalError`: it never reaches Python.

use crate::error;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use tribo::surrogate::watch::Watch;

/// How often signals are looked for.
const LOOK: Duration = Duration::from_millis(50);

/// Tells the work to give up.
#[derive(Default)]
pub(crate) struct Flag(AtomicBool);

impl Watch for Flag {
    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs `work` without the lock; Ctrl-C ends it.
pub(crate) fn run<T, F>(py: Python<'_>, work: F) -> PyResult<T>
where
    T: Send,
    F: FnOnce(&Flag) -> PyResult<T> + Send,
{
    py.detach(|| {
        let flag = Flag::default();
        let (done, result) = channel();
        std::thread::scope(|scope| {
            let flag = &flag;
            scope.spawn(move || {
                let outcome = catch_unwind(AssertUnwindSafe(|| work(flag)));
                // The receiver waits for as long as the scope lasts.
                let _ = done.send(outcome);
            });
            let mut signal = None;
            loop {
                match result.recv_timeout(LOOK) {
                    Ok(outcome) => {
                        return match (signal, outcome) {
                            (Some(signal), _) => Err(signal),
                            (None, Ok(answer)) => answer,
                            (None, Err(panic)) => Err(error::internal(message(&*panic))),
                        };
                    }
                    Err(RecvTimeoutError::Timeout) if signal.is_none() => {
                        if let Err(raised) = Python::attach(|py| py.check_signals()) {
                            flag.0.store(true, Ordering::Relaxed);
                            signal = Some(raised);
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(error::internal("the computing thread ended without an answer"));
                    }
                }
            }
        })
    })
}

/// Runs short work; a panic becomes an `InternalError`.
pub(crate) fn guard<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(error::internal(message(&*panic))))
}

/// Panics, in long work or in short, so that a test can see what Python sees. Only in builds with debug assertions.
#[cfg(debug_assertions)]
#[pyfunction]
pub(crate) fn _panic(py: Python<'_>, long: bool) -> PyResult<()> {
    match long {
        true => run(py, |_| panic!("as asked")),
        false => guard(|| panic!("as asked")),
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    format!("a defect of tribo: {text}; please report it")
}
