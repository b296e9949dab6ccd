//! A study that is asked and told from outside: by a person with `tribo ask` and `tribo tell`, or by a Python program.
//!
//! One type for studies in memory and on disk. On disk, an asked trial is durable before it is returned, and an outcome
//! before it is acknowledged. A study that is only looked at belongs to no one; the first ask or tell takes it, and
//! [`ByHand::close`] gives it back.
//!
//! An ask or a tell that fails, or is cancelled, or panics, changes nothing: what the optimiser has beyond the journal is
//! thrown away before anything else happens, and the optimiser is made again from the journal.

use crate::beside::Beside;
use crate::config::Config;
use crate::job::{Finding, Kind};
use crate::layout::Layout;
use crate::owned::{self, How, Owned, random_id};
use crate::recalled::Recalled;
use crate::replay::{self, Points, Rebuilt};
use crate::report::text::count;
use crate::store::disk::utc_ms;
use crate::store::format::Format;
use crate::store::ledger::{Ledger, TrialState};
use crate::store::record::{Entry, Record};
use crate::store::{self, Disk, Store};
use crate::table::hints::Taken;
use crate::{Error, Result};
use tribo::space::Point;
use tribo::strategy::{Study, Suggestion};
use tribo::surrogate::watch::Watch;
use tribo::trial::{Told, TrialId};

/// A study that is asked and told from outside.
pub struct ByHand {
    config: Config,
    ledger: Ledger,
    rebuilt: Rebuilt,
    /// Where it is on disk; None in memory.
    layout: Option<Layout>,
    /// Its store, while it belongs to this process.
    store: Option<Disk>,
    /// The process that took it: one forked from that has a copy of the store, which is not its own.
    taken_by: u32,
    /// The optimiser, or the state, may have something that was not recorded.
    unsettled: bool,
    /// Fits that are made beside the asks, if that is asked for.
    beside: Beside,
}

impl ByHand {
    /// A new study in memory. `text` is its study file, read as `config`.
    pub fn in_memory(config: Config, text: &str) -> Result<ByHand> {
        let (study, config_text) = (random_id(), text.to_owned());
        let (format, tribo) = (Format::NEWEST, String::new());
        let created = Record::Created { format, study, config: config_text, engine: None, tribo };
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
        let (config, text) = Config::read_with_text(layout.file())?;
        let mut study = ByHand::in_memory(config, &text)?;
        study.layout = Some(layout.clone());
        Ok(study)
    }

    /// A study that belongs to this process already.
    pub fn of(owned: Owned) -> Result<ByHand> {
        ByHand::over(owned.config, owned.ledger, Some(owned.layout), Some(owned.store))
    }

    /// Takes a study that has a study file and may have no store yet.
    pub fn take_new(layout: &Layout) -> Result<ByHand> {
        ByHand::take_as(layout, How::default())
    }

    /// As [`ByHand::take_new`], and how.
    pub fn take_as(layout: &Layout, how: How) -> Result<ByHand> {
        ByHand::of(Owned::open(layout, how, |_, _| Box::new(utc_ms))?)
    }

    fn over(config: Config, ledger: Ledger, layout: Option<Layout>, store: Option<Disk>) -> Result<ByHand> {
        let rebuilt = replay::rebuild(&config, &ledger)?;
        let taken_by = std::process::id();
        let beside = Beside::default();
        Ok(ByHand { config, ledger, rebuilt, layout, store, taken_by, unsettled: false, beside })
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
        self.store.is_some() && self.taken_by == std::process::id()
    }

    /// The study file in force, the state, and where it is on disk.
    pub fn parts(&mut self) -> Result<(&Config, &Ledger, Option<&Layout>)> {
        self.settle()?;
        Ok((&self.config, &self.ledger, self.layout.as_ref()))
    }

    /// The state.
    pub fn ledger(&mut self) -> Result<&Ledger> {
        self.settle()?;
        Ok(&self.ledger)
    }

    /// The optimiser.
    pub fn optimiser(&mut self) -> Result<&mut Study> {
        self.settle()?;
        Ok(&mut self.rebuilt.study)
    }

    /// The state, and the points of its trials.
    pub fn both(&mut self) -> Result<(&Ledger, Points<'_>)> {
        self.settle()?;
        Ok((&self.ledger, self.rebuilt.points()))
    }

    /// Proposes `k` points, fewer if the budget or the space has no more. The error says so if the budget is spent.
    pub fn ask(&mut self, k: usize, watch: &dyn Watch) -> Result<Vec<Suggestion>> {
        self.take()?;
        let asked = self.ledger.n_spent();
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
        let suggestions = match self.rebuilt.study.ask_watched(k.min(left), watch) {
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
            if let Some((trial, _)) = self.rebuilt.study.history().get(suggestion.id) {
                self.record(Record::Asked { trial: trial.clone(), by_hand: true })?;
            }
        }
        // Durable before anyone sees them: a point that is evaluated must be known.
        self.sync()?;
        self.unsettled = false;
        Ok(suggestions)
    }

    /// As [`ByHand::ask`]; fits to many results are made on a thread beside, and proposals go on with the model as it was. Which
    /// model made which proposal then depends on time, and the journal says it.
    pub fn ask_beside(&mut self, k: usize, watch: &dyn Watch) -> Result<Vec<Suggestion>> {
        self.take()?;
        self.beside.serve(&mut self.rebuilt.study);
        let asked = self.ask(k, watch);
        self.rebuilt.study.refit_beside(false);
        asked
    }

    /// Whether it takes what very many earlier results say; the error says why not.
    pub fn may_recall(&mut self) -> Result<()> {
        self.settle()?;
        match Taken::by(&self.rebuilt.study, self.ledger.recalled()) {
            Taken::AsHintsBeyond(_) => Ok(()),
            Taken::AsTrials | Taken::UpTo(..) => Err(Error::Usage(Taken::NO_HINTS.to_owned())),
        }
    }

    /// Takes what very many earlier results say, before the first ask. An error, and nothing has changed, if the study takes none.
    pub fn recall(&mut self, recalled: &Recalled) -> Result<()> {
        self.take()?;
        self.may_recall()?;
        self.unsettled = true;
        self.record(Record::Recalled(Box::new(recalled.clone())))?;
        self.sync()?;
        self.rebuilt = replay::rebuild(&self.config, &self.ledger)?;
        self.unsettled = false;
        Ok(())
    }

    /// Makes a trial of a point that someone else chose; it is pending until it is told.
    pub fn adopt(&mut self, point: &Point) -> Result<TrialId> {
        self.take()?;
        self.unsettled = true;
        let id = match self.rebuilt.study.adopt(point) {
            Ok(id) => id,
            // That changed nothing.
            Err(error) => {
                self.unsettled = false;
                return Err(error.into());
            }
        };
        if let Some((trial, _)) = self.rebuilt.study.history().get(id) {
            self.record(Record::Asked { trial: trial.clone(), by_hand: true })?;
        }
        self.sync()?;
        self.unsettled = false;
        Ok(id)
    }

    /// Tells the outcome of a trial. The same again is accepted and changes nothing; another is an error, and so are outputs
    /// without the one that is optimised.
    pub fn tell(&mut self, trial: u64, finding: &Finding) -> Result<Told> {
        self.take()?;
        self.require_objective(trial, finding)?;
        let study = self.layout.as_ref().map(Layout::named).unwrap_or_default();
        if !is_new(trial, self.known(trial)?, finding, &study)? {
            return Ok(Told::Repeated);
        }
        self.unsettled = true;
        // The optimiser checks what the journal would keep.
        replay::tell(&mut self.rebuilt.study, &self.config, trial, finding)?;
        self.record(Record::Told { trial, finding: finding.clone() })?;
        self.sync()?;
        self.unsettled = false;
        Ok(Told::New)
    }

    /// Replaces the outcome of a trial, which was wrong. A new chapter begins, which knows the right one; the same outcome again
    /// changes nothing.
    pub fn replace(&mut self, trial: u64, finding: &Finding) -> Result<Told> {
        self.take()?;
        self.require_objective(trial, finding)?;
        match &self.known(trial)?.outcome {
            None => {
                return Err(Error::Trial(format!(
                    "trial {trial} has no outcome that could be replaced; tell it without `replace`"
                )));
            }
            Some(known) if known == finding => return Ok(Told::Repeated),
            Some(_) => {}
        }
        self.unsettled = true;
        self.record(Record::Replaced { trial, finding: finding.clone() })?;
        self.sync()?;
        self.rebuilt = replay::rebuild(&self.config, &self.ledger)?;
        self.unsettled = false;
        Ok(Told::New)
    }

    /// Takes the outcomes of trials back, which are to be evaluated again. A new chapter begins, in which they are under way.
    pub fn reopen(&mut self, trials: &[u64]) -> Result<()> {
        self.take()?;
        trials.iter().try_for_each(|trial| self.ledger.may_reopen(*trial)).map_err(Error::Trial)?;
        self.unsettled = true;
        for trial in trials {
            self.record(Record::Reopened { trial: *trial })?;
        }
        self.sync()?;
        self.rebuilt = replay::rebuild(&self.config, &self.ledger)?;
        self.unsettled = false;
        Ok(())
    }

    /// A measurement has its objective.
    fn require_objective(&self, trial: u64, finding: &Finding) -> Result<()> {
        let objective = self.config.objective();
        if finding.kind == Kind::Ok && finding.value(objective).is_none() {
            let Finding { reason, .. } = finding.clone().with_objective(objective);
            return Err(Error::Trial(format!(
                "trial {trial}: {reason}; tell it together with the others, or that the trial failed"
            )));
        }
        Ok(())
    }

    /// A trial that there is.
    fn known(&self, trial: u64) -> Result<&TrialState> {
        self.ledger.trial(trial).ok_or_else(|| {
            let trials = count(self.ledger.trials().len(), "trial");
            Error::Trial(format!("there is no trial {trial}: the study has {trials}"))
        })
    }

    /// Gives a study on disk back; it can still be looked at, and the next ask or tell takes it again.
    pub fn close(&mut self, why: &str) -> Result<()> {
        self.settle()?;
        match self.store.take() {
            Some(store) => store.close(why),
            None => Ok(()),
        }
    }

    /// Takes a study on disk, if this process does not have it.
    fn take(&mut self) -> Result<()> {
        self.settle()?;
        let Some(layout) = self.layout.as_ref().filter(|_| self.store.is_none()) else { return Ok(()) };
        let owned = Owned::open(layout, How::default(), |_, _| Box::new(utc_ms))?;
        let state =
            |ledger: &Ledger| (ledger.events().len(), ledger.chapters().len(), ledger.recalled().is_some());
        if state(&owned.ledger) == state(&self.ledger) {
            (self.config, self.ledger, self.store) = (owned.config, owned.ledger, Some(owned.store));
            self.taken_by = std::process::id();
        } else {
            *self = ByHand::of(owned)?;
        }
        Ok(())
    }

    /// Undoes what was not recorded.
    fn settle(&mut self) -> Result<()> {
        self.leave_to_owner();
        if !self.unsettled {
            return Ok(());
        }
        // Records that were not synced go with the store.
        self.store = None;
        if let Some(layout) = &self.layout {
            (self.ledger, _) = store::read(layout)?;
        }
        self.rebuilt = replay::rebuild(&self.config, &self.ledger)?;
        self.unsettled = false;
        Ok(())
    }

    /// In a process forked from the owner, forgets the store without a word: it belongs to the other.
    fn leave_to_owner(&mut self) {
        if self.taken_by != std::process::id() {
            std::mem::forget(self.store.take());
        }
    }

    fn record(&mut self, record: Record) -> Result<()> {
        match &mut self.store {
            Some(store) => store::record(store, &mut self.ledger, &record),
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

impl Drop for ByHand {
    fn drop(&mut self) {
        self.leave_to_owner();
    }
}

/// Whether the outcome is news; an error if it contradicts what is known, or if a job is going to tell.
fn is_new(trial: u64, state: &TrialState, finding: &Finding, study: &str) -> Result<bool> {
    match &state.outcome {
        Some(known) if known == finding => return Ok(false),
        Some(known) => {
            return Err(Error::Trial(format!(
                "trial {trial} has an outcome already, {known}; if that is wrong, replace it: `tribo tell{study} {trial} VALUE --replace`, in Python `study.tell({trial}, value, replace=True)`"
            )));
        }
        None => {}
    }
    match state.attempts.iter().rev().find(|attempt| attempt.end.is_none()) {
        Some(attempt) => {
            let job = attempt.job.as_deref().map(|job| format!(" (job {job})")).unwrap_or_default();
            Err(Error::Trial(format!(
                "trial {trial} is being evaluated{job}, {} so far; `tribo cancel{study} {trial}` gives it up",
                count(state.attempts.len(), "attempt")
            )))
        }
        None => Ok(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outputs::{Outputs, VALUE};
    use std::path::Path;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tribo::surrogate::watch::Unwatched;

    const FILE: &str = "study_version = 1\ndirection = \"maximize\"\nseed = 5\n[[parameter]]\nname = \"x\"\n\
                        type = \"float\"\nlow = 0\nhigh = 1\n[strategy]\nname = \"bo\"\ninitial = 4\n";

    fn in_memory() -> ByHand {
        ByHand::in_memory(Config::parse(Path::new("study.toml"), FILE).unwrap(), FILE).unwrap()
    }

    fn on_disk(folder: &Path) -> (ByHand, Layout) {
        let layout = Layout::of(&folder.join("study.toml"));
        std::fs::write(layout.file(), FILE).unwrap();
        (ByHand::take_new(&layout).unwrap(), layout)
    }

    /// Asks `k` points and tells all of them; returns their bits.
    fn round(study: &mut ByHand, k: usize, watch: &dyn Watch) -> Result<Vec<u64>> {
        let asked = study.ask(k, watch)?;
        for each in &asked {
            let x = each.point.numbers()[0];
            study.tell(each.id.0, &Finding::answered(VALUE, -(x - 0.3) * (x - 0.3)))?;
        }
        Ok(asked.iter().map(|each| each.point.numbers()[0].to_bits()).collect())
    }

    /// Cancels when it has been asked so often.
    struct After(usize, AtomicUsize);

    impl Watch for After {
        fn cancelled(&self) -> bool {
            self.1.fetch_add(1, Ordering::Relaxed) >= self.0
        }
    }

    #[test]
    fn a_cancelled_ask_changes_nothing_wherever_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let mut expected = in_memory();
        let first = round(&mut expected, 6, &Unwatched).unwrap();
        let second = round(&mut expected, 3, &Unwatched).unwrap();
        let mut reached = 0;
        // From before the first point to the last ones: fifty take more looks than that.
        for looks in (0..1_000).step_by(97) {
            let path = folder.path().join(looks.to_string());
            std::fs::create_dir(&path).unwrap();
            for mut study in [in_memory(), on_disk(&path).0] {
                assert_eq!(round(&mut study, 6, &Unwatched).unwrap(), first);
                let cancelled = study.ask(50, &After(looks, AtomicUsize::new(0))).is_err();
                assert!(cancelled, "after {looks} looks");
                reached += usize::from(study.unsettled);
                assert_eq!(study.ledger().unwrap().trials().len(), 6);
                assert_eq!(round(&mut study, 3, &Unwatched).unwrap(), second, "after {looks} looks");
            }
        }
        assert!(reached > 0, "no ask was cancelled after its first point");
    }

    #[test]
    fn a_replaced_outcome_is_known_and_the_same_after_reopening() {
        let folder = tempfile::tempdir().unwrap();
        let (mut disk, layout) = on_disk(folder.path());
        let mut memory = in_memory();
        let mut points = vec![];
        for study in [&mut disk, &mut memory] {
            round(study, 6, &Unwatched).unwrap();
            let before = study.ask(1, &Unwatched).unwrap().remove(0);
            assert!(study.replace(before.id.0, &Finding::infeasible()).is_err(), "it is not over");
            study.tell(before.id.0, &Finding::answered(VALUE, 1e6)).unwrap();
            round(study, 2, &Unwatched).unwrap();
            assert_eq!(study.optimiser().unwrap().best().unwrap().unwrap().value, 1e6);
            let right = Finding::answered(VALUE, -0.5);
            assert!(matches!(study.tell(6, &right), Err(Error::Trial(_))));
            assert_eq!(study.replace(6, &right).unwrap(), Told::New);
            assert_eq!(study.replace(6, &right).unwrap(), Told::Repeated);
            assert_eq!(study.replace(5, &Finding::lost("a wrong deck")).unwrap(), Told::New);
            let ledger = study.ledger().unwrap();
            assert_eq!((ledger.chapters().len(), ledger.n_spent(), ledger.told().len()), (2, 8, 9));
            let best = study.optimiser().unwrap().best().unwrap().unwrap().value;
            assert!((-0.5..=0.0).contains(&best), "{best}");
            assert_eq!(study.optimiser().unwrap().history().measured().count(), 8);
            points.push(round(study, 3, &Unwatched).unwrap());
        }
        disk.close("test").unwrap();
        let mut again = ByHand::take_new(&layout).unwrap();
        points.push(round(&mut again, 3, &Unwatched).unwrap());
        points.push(round(&mut memory, 3, &Unwatched).unwrap());
        assert!(points[0] == points[1] && points[2] == points[3], "{points:?}");
    }

    #[test]
    fn a_reopened_trial_is_pending_again() {
        let folder = tempfile::tempdir().unwrap();
        let (mut study, layout) = on_disk(folder.path());
        round(&mut study, 6, &Unwatched).unwrap();
        let asked = study.ask(3, &Unwatched).unwrap();
        study.tell(asked[0].id.0, &Finding::failed("failed: no licence")).unwrap();
        study.tell(asked[1].id.0, &Finding::lost("lost: the power went")).unwrap();
        assert!(matches!(study.reopen(&[0]), Err(Error::Trial(_))), "it has a value");
        assert!(matches!(study.reopen(&[asked[2].id.0]), Err(Error::Trial(_))), "it is not over");
        study.reopen(&[asked[0].id.0, asked[1].id.0]).unwrap();
        let check = |study: &mut ByHand, expected: usize| {
            assert_eq!(study.optimiser().unwrap().history().pending().count(), expected);
            let ledger = study.ledger().unwrap();
            assert_eq!((ledger.open().len(), ledger.n_spent(), ledger.chapters().len()), (expected, 9, 2));
        };
        check(&mut study, 3);
        study.tell(asked[0].id.0, &Finding::answered(VALUE, -0.01)).unwrap();
        study.close("test").unwrap();
        let mut again = ByHand::take_new(&layout).unwrap();
        check(&mut again, 2);
        let rebuilt = again.optimiser().unwrap().point(asked[0].id).unwrap();
        assert_eq!(rebuilt, asked[0].point);
        let best = again.optimiser().unwrap().history().measured().count();
        assert_eq!(best, 7);
        again.tell(asked[1].id.0, &Finding::answered(VALUE, -0.02)).unwrap();
    }

    #[test]
    fn an_ask_that_cannot_be_recorded_is_undone() {
        let folder = tempfile::tempdir().unwrap();
        let (mut study, layout) = on_disk(folder.path());
        let mut expected = in_memory();
        assert_eq!(round(&mut study, 5, &Unwatched).unwrap(), round(&mut expected, 5, &Unwatched).unwrap());
        let journal = std::fs::read(layout.journal()).unwrap();
        std::fs::write(layout.journal(), [&journal[..], b"someone"].concat()).unwrap();
        assert!(matches!(study.ask(2, &Unwatched), Err(Error::Io { .. })));
        assert!(matches!(study.tell(7, &Finding::infeasible()), Err(Error::Trial(_))));
        assert_eq!(round(&mut study, 2, &Unwatched).unwrap(), round(&mut expected, 2, &Unwatched).unwrap());
        study.close("test").unwrap();
        assert_eq!(
            replay::study(study.config(), &store::read(&layout).unwrap().0).unwrap().history().len(),
            7
        );
    }

    #[test]
    fn outcomes_are_told_once() {
        let mut study = in_memory();
        study.ask(2, &Unwatched).unwrap();
        let value = Finding::answered(VALUE, 2.0);
        assert_eq!(study.tell(0, &value).unwrap(), Told::New);
        assert_eq!(study.tell(0, &value).unwrap(), Told::Repeated);
        // In the user's direction.
        let said = study.tell(0, &Finding::answered(VALUE, f64::NAN)).unwrap_err().to_string();
        assert!(said.contains("trial 0 has an outcome already, the value 2.0"), "{said}");
        let said = study.tell(5, &value).unwrap_err().to_string();
        assert!(said.contains("no trial 5: the study has 2 trials"), "{said}");
    }

    #[test]
    fn looking_takes_nothing_and_writing_takes_what_there_is() {
        let folder = tempfile::tempdir().unwrap();
        let (mut study, layout) = on_disk(folder.path());
        let mut other = ByHand::read(&layout).unwrap();
        study.ask(1, &Unwatched).unwrap();
        assert!(matches!(other.ask(1, &Unwatched), Err(Error::Locked { .. })));
        assert!(study.is_taken() && !other.is_taken());
        study.close("test").unwrap();
        assert_eq!(other.ask(1, &Unwatched).unwrap()[0].id.0, 1);
        assert!(other.is_taken());
    }

    #[test]
    fn a_journal_of_the_first_format_is_raised_when_it_must_be() {
        let folder = tempfile::tempdir().unwrap();
        let (mut study, layout) = on_disk(folder.path());
        study.ask(2, &Unwatched).unwrap();
        study.close("test").unwrap();
        // As an earlier program made it.
        let journal = std::fs::read_to_string(layout.journal()).unwrap();
        let first = journal.lines().map(|line| {
            let json =
                line.splitn(3, ' ').nth(2).unwrap().replace("\"version\":2,\"minor\":5", "\"version\":1");
            format!("{:08x} {} {json}\n", crc32c::crc32c(json.as_bytes()), json.len())
        });
        std::fs::write(layout.journal(), first.collect::<String>()).unwrap();
        let mut study = ByHand::read(&layout).unwrap();
        assert_eq!(study.ledger().unwrap().format, Format::FIRST);
        study.tell(0, &Finding::answered(VALUE, 1.0)).unwrap();
        assert_eq!(
            store::read(&layout).unwrap().0.format,
            Format::FIRST,
            "an earlier program can still read it"
        );
        let outputs: Outputs =
            [(VALUE, 2.0), ("stress", 180.0)].map(|(name, x)| (name.to_owned(), x)).into_iter().collect();
        study.tell(1, &Finding::measured(outputs.clone())).unwrap();
        let ledger = store::read(&layout).unwrap().0;
        assert_eq!(ledger.format, Format::OUTPUTS);
        assert_eq!(ledger.trial(1).unwrap().outcome.as_ref().unwrap().outputs, outputs);
        assert_eq!(&ledger, study.ledger().unwrap());
        study.replace(1, &Finding::lost("a wrong deck")).unwrap();
        assert_eq!(store::read(&layout).unwrap().0.format, Format::REVISED);
    }
}
