//! Long work without Python's lock, that Ctrl-C ends.
//!
//! The work runs on a thread of its own while the calling one, which may be the one that signals are delivered to, looks
//! for them twenty times a second. After a signal the work is told to give up, which it does between blocks of data, and the
//! signal's exception is raised. A panic becomes an `InternalError`: it never reaches Python.
//!
//! A fork copies one thread and not those of rayon's pool: work in the child of a process that has computed something would
//! wait for them for ever. `multiprocessing` forks, so such a child gets a pool of its own.

use crate::error;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tribo::surrogate::watch::Watch;

/// How often signals are looked for.
const LOOK: Duration = Duration::from_millis(50);

/// The process that computed first, which has rayon's own pool.
static FIRST: OnceLock<u32> = OnceLock::new();
/// The pool of a forked child, with the child's id.
static FORKED: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

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
        let pool = pool_after_fork()?;
        let flag = Flag::default();
        let (done, result) = channel();
        std::thread::scope(|scope| {
            let flag = &flag;
            scope.spawn(move || {
                let outcome = catch_unwind(AssertUnwindSafe(|| match pool {
                    Some(pool) => pool.install(|| work(flag)),
                    None => work(flag),
                }));
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

/// None in the process whose pool is rayon's own.
fn pool_after_fork() -> PyResult<Option<Arc<ThreadPool>>> {
    let me = std::process::id();
    if *FIRST.get_or_init(|| me) == me {
        return Ok(None);
    }
    let mut forked = FORKED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((owner, pool)) = forked.as_ref()
        && *owner == me
    {
        return Ok(Some(pool.clone()));
    }
    let pool = ThreadPoolBuilder::new().build();
    let pool =
        Arc::new(pool.map_err(|error| error::internal(format!("no threads to compute with: {error}")))?);
    // A parent's pool has no threads here to be ended: it is left, not dropped.
    std::mem::forget(forked.replace((me, pool.clone())));
    Ok(Some(pool))
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    format!("a defect of tribo: {text}; please report it")
}
