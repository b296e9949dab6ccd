//! Where the points of a study are evaluated: the runner that the study file asks for, and the clock that goes with it.

use crate::study::Writing;
use std::fs;
use std::path::{Path, PathBuf};
use tribo_study::config::{On, Run};
use tribo_study::driver::clock::{Clock, SystemClock};
use tribo_study::job::{Answer, Spec};
use tribo_study::layout::Layout;
use tribo_study::pool::Terms;
use tribo_study::runner::batch::Batch;
use tribo_study::runner::local::Local;
use tribo_study::runner::pilots::Pilots;
use tribo_study::runner::pull::Pull;
use tribo_study::runner::simulated::{Simulated, VirtualTime};
use tribo_study::runner::{Runner, wall_limit};
use tribo_study::tag::StudyId;
use tribo_study::{Error, Result};

/// A clock that only jumps.
#[derive(Debug, Clone)]
pub(crate) struct Virtual {
    time: VirtualTime,
    /// Milliseconds since 1970 at its start.
    start_ms: u64,
}

impl Virtual {
    /// A clock that goes on where the journal ends, or starts now.
    pub(crate) fn after(last_ms: Option<u64>) -> Virtual {
        let start_ms = last_ms.unwrap_or_else(|| SystemClock::new().utc_ms());
        Virtual { time: VirtualTime::default(), start_ms }
    }
}

impl Clock for Virtual {
    fn now(&self) -> f64 {
        self.time.get()
    }

    fn utc_ms(&self) -> u64 {
        self.start_ms + (self.time.get() * 1e3) as u64
    }

    fn sleep(&self, seconds: f64) {
        self.time.set(self.time.get() + seconds.max(0.0));
    }

    fn passes(&self) -> bool {
        false
    }
}

/// How the points of this study are evaluated; an error if the study file does not say.
pub(crate) fn run(writing: &Writing) -> Result<Run> {
    writing.study.config.run.clone().ok_or_else(|| {
        let path = writing.study.layout.file().display();
        Error::Usage(format!(
            "{path} has no section [run]: its points are evaluated by hand, with `tribo ask` and `tribo tell`"
        ))
    })
}

/// The runner and the clock.
pub(crate) fn place(writing: &Writing, run: &Run) -> Result<(Box<dyn Runner>, Box<dyn Clock>)> {
    match (&run.on, &writing.virtual_time) {
        (On::Simulated(simulated), Some(clock)) => {
            let (config, time) = (&writing.study.config, clock.time.clone());
            let spool = [writing.study.layout.spool("tmp"), writing.study.layout.spool("done")];
            let sink = Box::new(move |answer| deliver(&spool, &answer));
            let runner = Simulated::new(simulated, &config.space, config.seed, time, sink)?;
            Ok((Box::new(runner), Box::new(clock.clone())))
        }
        _ => Ok((
            runner(&writing.study.layout, &writing.study.ledger.study, run)?,
            Box::new(SystemClock::new()),
        )),
    }
}

/// Leaves the answer of a simulated job where real ones leave theirs.
fn deliver([tmp, done]: &[PathBuf; 2], answer: &Answer) {
    let name = Spec::spool_name(answer.id, answer.incarnation);
    let bytes = serde_json::to_vec(answer).unwrap_or_default();
    // An answer that cannot be written is one that never came: the driver calls the job lost.
    let _ = fs::write(tmp.join(&name), bytes).and_then(|()| fs::rename(tmp.join(&name), done.join(&name)));
}

/// The runner of a study whose evaluations are real.
pub(crate) fn runner(layout: &Layout, study: &StudyId, run: &Run) -> Result<Box<dyn Runner>> {
    let program = program()?;
    let store = std::path::absolute(layout.store()).map_err(Error::io("cannot find", layout.store()))?;
    Ok(match &run.on {
        On::Batch(settings) => match &run.pilots {
            None => {
                let wall = wall_limit(&run.on, run.evaluation.timeout);
                settings.runner(Batch::new(study.clone(), layout, program, wall))
            }
            Some(pilots) => {
                let time = settings.time();
                let scheduler = settings.runner(Batch::new(study.clone(), layout, program, time));
                let terms = Terms { slots: pilots.slots, time, idle: pilots.idle };
                let pilots = Pilots::new(scheduler, study.clone(), terms, run.workers);
                Box::new(Pull::from_pilots(&store, run.ahead, pilots))
            }
        },
        On::Workers => Box::new(Pull::from_workers(&store, run.ahead)),
        On::Local | On::Simulated(_) => Box::new(Local::new(program)),
    })
}

/// This program, which is what runs in every job.
pub(crate) fn program() -> Result<PathBuf> {
    std::env::current_exe().map_err(Error::io("cannot find", Path::new("tribo")))
}
