//! A study that is asked and told from outside: by a person with `tribo ask` and `tribo tell`, or by a Python program.
//!
//! One type for studies in memory and on disk. On disk, an asked trial is durable before it is returned, and an outcome
//! before it is acknowledged. A study that is only looked at belongs to no one; the first ask or tell takes it, and
//! [`ByHand::close`] gives it back.
//!
//! An ask or a tell that fails, or is cancelled, or panics, changes nothing: what the optimiser has beyond the journal is
//! thrown away before anything else happens, and the optimiser is made again from the journal.

use crate::config::Config;
use crate::layout::Layout;
use crate::owned::{self, Owned, append, random_id};
use crate::report::text::count;
use crate::store::ledger::{Ledger, TrialState};
use crate::store::record::{Entry, JOURNAL_VERSION, Record, Verdict};
use crate::store::{self, Disk, Store};
use crate::{Error, Result, replay};
use std::time::{SystemTime, UNIX_EPOCH};
use tribo::strategy::{Study, Suggestion};
use tribo::surrogate::watch::Watch;
use tribo::trial::Told;

/// A study that is asked and told from outside.
pub struct ByHand {
    config: Config,
    ledger: Ledger,
    optimiser: Study,
    /// Where it is on disk; None in memory.
    layout: Option<Layout>,
    /// Its store, while it belongs to this process.
    store: Option<Disk>,
    /// The optimiser, or the state, may have something that was not recorded.
    unsettled: bool,
}

impl ByHand {
    /// A new study in memory. `text` is its study file, read as `config`.
    pub fn in_memory(config: Config, text: &str) -> Result<ByHand> {
        let (study, config_text) = (random_id(), text.to_owned());
        let created =
            Record::Created { version: JOURNAL_VERSION, study, config: config_text, tribo: String::new() };
        let entry = Entry { n: 0, epoch: 1, ms: 0, record: created };
        let ledger = Ledger::begin(&entry).map_err(Error::Usage)?;
        ByHand::over(config, ledger, None, None)
    }

    /// A study on disk, as its journal is now. It is taken by the first ask or tell, which makes the store if there is none.
    pub fn read(layout: &Layout) -> Result<ByHand> {
        if let Some(ledger) = owned::ledger(layout)? {
            let config = Config::parse(layout.file(), &ledger.config)?;
            return ByHand::over(config, ledger, Some(layout.clone()), None);
        }
        let text = Config::read(layout.file()).and_then(|_| {
            std::fs::read_to_string(layout.file()).map_err(Error::io("cannot read", layout.file()))
        })?;
        let mut study = ByHand::in_memory(Config::parse(layout.file(), &text)?, &text)?;
        study.layout = Some(layout.clone());
        Ok(study)
    }

    /// A study that belongs to this process already.
    pub fn of(owned: Owned) -> Result<ByHand> {
        ByHand::over(owned.config, owned.ledger, Some(owned.layout), Some(owned.store))
    }

    /// Takes a study that has a study file and may have no store yet.
    pub fn take_new(layout: &Layout) -> Result<ByHand> {
        ByHand::of(Owned::open(layout, false, |_, _| Box::new(utc_ms))?)
    }

    fn over(config: Config, ledger: Ledger, layout: Option<Layout>, store: Option<Disk>) -> Result<ByHand> {
        let optimiser = replay::study(&config, &ledger)?;
        Ok(ByHand { config, ledger, optimiser, layout, store, unsettled: false })
    }

    /// The study file.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Where it is on disk; None in memory.
    pub fn layout(&self) -> Option<&Layout> {
        self.layout.as_ref()
    }

    /// Whether it is on disk and belongs to this process.
    pub fn is_taken(&self) -> bool {
        self.store.is_some()
    }

    /// The state.
    pub fn ledger(&mut self) -> Result<&Ledger> {
        self.settle()?;
        Ok(&self.ledger)
    }

    /// The optimiser.
    pub fn optimiser(&mut self) -> Result<&mut Study> {
        self.settle()?;
        Ok(&mut self.optimiser)
    }

    /// The state beside the optimiser.
    pub fn both(&mut self) -> Result<(&Ledger, &mut Study)> {
        self.settle()?;
        Ok((&self.ledger, &mut self.optimiser))
    }

    /// Proposes `k` points, fewer if the budget or the space has no more. The error says so if the budget is spent.
    pub fn ask(&mut self, k: usize, watch: &dyn Watch) -> Result<Vec<Suggestion>> {
        self.take()?;
        let asked = self.ledger.n_asked();
        let left = self.config.budget.evaluations.map_or(usize::MAX, |budget| budget.saturating_sub(asked));
        if left == 0 {
            let place = self.layout.as_ref().map(|layout| format!(" in {}", layout.file().display()));
            return Err(Error::Usage(format!(
                "the budget of {} is spent; raise `evaluations`{}",
                count(asked, "evaluation"),
                place.unwrap_or_default()
            )));
        }
        self.unsettled = true;
        let suggestions = match self.optimiser.ask_watched(k.min(left), watch) {
            Ok(suggestions) => suggestions,
            // That changed nothing.
            Err(error) => {
                self.unsettled = false;
                return Err(error.into());
            }
        };
        if watch.cancelled() {
            return Err(tribo::Error::Stopped { what: "ask" }.into());
        }
        for suggestion in &suggestions {
            if let Some((trial, _)) = self.optimiser.history().get(suggestion.id) {
                self.record(Record::Asked { trial: trial.clone(), by_hand: true })?;
            }
        }
        // Durable before anyone sees them: a point that is evaluated must be known.
        self.sync()?;
        self.unsettled = false;
        Ok(suggestions)
    }

    /// Tells the outcome of a trial. The same again is accepted and changes nothing; another is an error.
    pub fn tell(&mut self, trial: u64, verdict: &Verdict) -> Result<Told> {
        self.take()?;
        let state = self.ledger.trial(trial).ok_or_else(|| {
            let trials = count(self.ledger.trials().len(), "trial");
            Error::Trial(format!("there is no trial {trial}: the study has {trials}"))
        })?;
        if !is_new(trial, state, verdict)? {
            return Ok(Told::Repeated);
        }
        self.unsettled = true;
        // The optimiser checks what the journal would keep.
        replay::tell(&mut self.optimiser, trial, verdict)?;
        self.record(Record::Told { trial, verdict: verdict.clone() })?;
        self.sync()?;
        self.unsettled = false;
        Ok(Told::New)
    }

    /// Gives a study on disk back; it can still be looked at, and the next ask or tell takes it again.
    pub fn close(&mut self, why: &str) -> Result<()> {
        self.settle()?;
        match self.store.take() {
            Some(store) => store.close(why),
            None => Ok(()),
        }
    }

    /// Lets go of a study without a word, as a process does that was forked from its owner.
    pub fn abandon(&mut self) {
        std::mem::forget(self.store.take());
    }

    /// Takes a study on disk, if this process does not have it.
    fn take(&mut self) -> Result<()> {
        self.settle()?;
        let Some(layout) = self.layout.as_ref().filter(|_| self.store.is_none()) else { return Ok(()) };
        let owned = Owned::open(layout, false, |_, _| Box::new(utc_ms))?;
        if owned.ledger.events().len() == self.ledger.events().len() {
            (self.config, self.ledger, self.store) = (owned.config, owned.ledger, Some(owned.store));
        } else {
            *self = ByHand::of(owned)?;
        }
        Ok(())
    }

    /// Undoes what was not recorded.
    fn settle(&mut self) -> Result<()> {
        if !self.unsettled {
            return Ok(());
        }
        // Records that were not synced go with the store.
        self.store = None;
        if let Some(layout) = &self.layout {
            (self.ledger, _) = store::read(layout)?;
        }
        self.optimiser = replay::study(&self.config, &self.ledger)?;
        self.unsettled = false;
        Ok(())
    }

    fn record(&mut self, record: Record) -> Result<()> {
        match &mut self.store {
            Some(store) => append(store, &mut self.ledger, &record),
            None => {
                let entry = Entry { n: self.ledger.next, epoch: self.ledger.epoch, ms: 0, record };
                self.ledger.apply(&entry).map_err(Error::Usage)
            }
        }
    }

    fn sync(&mut self) -> Result<()> {
        self.store.as_mut().map_or(Ok(()), Store::sync)
    }
}

/// Whether the outcome is news; an error if it contradicts what is known, or if a job is going to tell.
fn is_new(trial: u64, state: &TrialState, verdict: &Verdict) -> Result<bool> {
    match &state.verdict {
        Some(known) if known == verdict => return Ok(false),
        Some(known) => {
            return Err(Error::Trial(format!(
                "trial {trial} has an outcome already, {known}; it cannot be changed"
            )));
        }
        None => {}
    }
    match state.attempts.iter().rev().find(|attempt| attempt.end.is_none()) {
        Some(attempt) => {
            let job = attempt.job.as_deref().map(|job| format!(" (job {job})")).unwrap_or_default();
            Err(Error::Trial(format!(
                "trial {trial} is being evaluated{job}, {} so far; `tribo cancel {trial}` gives it up",
                count(state.attempts.len(), "attempt")
            )))
        }
        None => Ok(true),
    }
}

fn utc_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
