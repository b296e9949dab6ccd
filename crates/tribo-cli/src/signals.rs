//! Signals, counted by a thread. Ctrl-C once stops, twice cancels, three times ends at once: the journal survives that.
//! TERM and HUP (a logout, the end of a login session) leave everything under way to go on by itself.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tribo_study::driver::{Interrupt, Interrupts};

/// Interrupted, everything is saved.
const INTERRUPTED: u8 = 130;
/// Terminated, everything is saved.
const TERMINATED: u8 = 143;

/// The signals so far.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    interrupts: AtomicUsize,
    terminations: AtomicUsize,
}

impl Signals {
    /// Catches signals from now on. `say` is called after each, with the wish it stands for; `leave` before the third ends
    /// the process.
    pub(crate) fn catch(
        say: impl Fn(Interrupt) + Send + 'static,
        leave: impl Fn() + Send + 'static,
    ) -> io::Result<Arc<Signals>> {
        let signals = Arc::new(Signals::default());
        let counted = Arc::clone(&signals);
        let mut source = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in source.forever() {
                let counter = if signal == SIGINT { &counted.interrupts } else { &counted.terminations };
                if counter.fetch_add(1, Ordering::SeqCst) >= 2 {
                    leave();
                    std::process::exit(i32::from(counted.exit_code()));
                }
                say(counted.interrupt());
            }
        })?;
        Ok(signals)
    }

    /// The exit code of a run that ended early.
    pub(crate) fn exit_code(&self) -> u8 {
        let interrupted = self.interrupts.load(Ordering::SeqCst) > 0;
        let terminated = self.terminations.load(Ordering::SeqCst) > 0;
        if terminated && !interrupted { TERMINATED } else { INTERRUPTED }
    }
}

impl Interrupts for Signals {
    fn interrupt(&self) -> Interrupt {
        match (self.interrupts.load(Ordering::SeqCst), self.terminations.load(Ordering::SeqCst)) {
            (2.., _) => Interrupt::Cancel,
            (_, 1..) => Interrupt::Detach,
            (1, 0) => Interrupt::Stop,
            (0, 0) => Interrupt::None,
        }
    }
}
