//! Fits of the optimiser's model, made on a thread beside whoever asks and tells, which is the driver.
//!
//! With a million results a fit takes ten seconds, with ten thousand one. Proposals go on with the model as it was, and the
//! first trial that is asked with the new one carries its record: the journal says which model made which proposal, and a
//! study that is opened again makes the same one. A fit that is not done when its process ends is due again in the next.
//!
//! The thread has a pool of its own, all threads of the others but one: an ask in the same pool would wait for whole passes
//! over the data.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use tribo::strategy::{Refit, Refitted, Study};
use tribo::surrogate::watch::Watch;

/// Makes the fits of one study beside its asks.
#[derive(Default)]
pub struct Beside {
    running: Option<Running>,
    /// A fit could not be made: asks make them again, and say what is wrong.
    is_broken: bool,
}

/// A fit under way.
struct Running {
    done: Receiver<tribo::Result<Refitted>>,
    stop: Stop,
    /// The process whose thread it is: one that was forked has none.
    process: u32,
}

/// Whether nobody waits for a fit any more.
#[derive(Clone, Default)]
struct Stop(Arc<AtomicBool>);

impl Watch for Stop {
    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Beside {
    /// Brings a fit that is done to the study and begins one that is due. To be called before asks; it costs next to nothing.
    pub fn serve(&mut self, study: &mut Study) {
        self.running.take_if(|running| running.process != std::process::id());
        if let Some(running) = &self.running {
            match running.done.try_recv() {
                Err(TryRecvError::Empty) => {}
                Ok(Ok(refitted)) => {
                    study.take_refit(refitted);
                    self.running = None;
                }
                Ok(Err(_)) | Err(TryRecvError::Disconnected) => (self.running, self.is_broken) = (None, true),
            }
        }
        study.refit_beside(!self.is_broken);
        if self.running.is_none()
            && let Some(refit) = study.refit()
        {
            self.running = begin(refit);
            self.is_broken = self.running.is_none();
        }
    }

    /// Whether a fit is under way.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It ends at its next look, and nobody waits for that.
        self.stop.0.store(true, Ordering::Relaxed);
    }
}

/// Makes a fit on a thread of its own; None if there is none to be had.
fn begin(refit: Refit) -> Option<Running> {
    let (tell, done) = mpsc::channel();
    let stop = Stop::default();
    let running = Running { done, stop: stop.clone(), process: std::process::id() };
    let threads = rayon::current_num_threads().saturating_sub(1).max(1);
    let fit = move || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let fitted = match pool {
            Ok(pool) => pool.install(|| refit.run(&stop)),
            Err(_) => refit.run(&stop),
        };
        // Nobody may be there to take it.
        let _ = tell.send(fitted);
    };
    std::thread::Builder::new().name("fit beside".to_owned()).spawn(fit).ok().map(|_| running)
}
