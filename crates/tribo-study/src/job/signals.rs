//! Signals to the job, as flags and a wake-up.
//!
//! Handlers only set a flag and write a byte; the loop that watches the command does the rest. They are set before the
//! attempt is claimed, so a job that is told to stop never dies with a claim and without an answer. Commands are started
//! with the default handlers again.

use signal_hook::consts::{SIGCHLD, SIGINT, SIGTERM, SIGUSR1, SIGXCPU};
use signal_hook::{flag, low_level::pipe};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why the job is told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Request {
    /// SIGUSR1, which we ask SLURM to send ahead of the time limit, or SIGXCPU.
    NearLimit(&'static str),
    /// SIGTERM or SIGINT: a cancelled, preempted or requeued job, a failing node, or the end of the time limit.
    Stop(&'static str),
}

impl Request {
    /// The signal.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Request::NearLimit(name) | Request::Stop(name) => name,
        }
    }
}

/// The signals that have arrived.
pub(crate) struct Signals {
    wake: UnixStream,
    near_limit: [(&'static str, Arc<AtomicBool>); 2],
    stop: [(&'static str, Arc<AtomicBool>); 2],
}

impl Signals {
    /// Sets the handlers, for the rest of this process.
    pub(crate) fn catch() -> io::Result<Signals> {
        let (wake, sender) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let watch = |name: &'static str, signal| -> io::Result<_> {
            let arrived = Arc::new(AtomicBool::new(false));
            // The flag first: whoever is woken must find it set.
            flag::register(signal, Arc::clone(&arrived))?;
            pipe::register(signal, sender.try_clone()?)?;
            Ok((name, arrived))
        };
        pipe::register(SIGCHLD, sender.try_clone()?)?;
        Ok(Signals {
            wake,
            near_limit: [watch("SIGUSR1", SIGUSR1)?, watch("SIGXCPU", SIGXCPU)?],
            stop: [watch("SIGTERM", SIGTERM)?, watch("SIGINT", SIGINT)?],
        })
    }

    /// What the signals so far ask for.
    pub(crate) fn request(&self) -> Option<Request> {
        let arrived = |signals: &[(&'static str, Arc<AtomicBool>)]| {
            signals.iter().find(|(_, flag)| flag.load(Ordering::SeqCst)).map(|(name, _)| *name)
        };
        arrived(&self.near_limit).map(Request::NearLimit).or_else(|| arrived(&self.stop).map(Request::Stop))
    }

    /// Becomes readable when a signal arrives, the death of a child included.
    pub(crate) fn wake(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Forgets the wake-ups so far.
    pub(crate) fn clear(&self) {
        let mut bytes = [0; 64];
        while matches!((&self.wake).read(&mut bytes), Ok(n) if n > 0) {}
    }
}
