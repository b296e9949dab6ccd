//! A study opened for reading, beside whoever drives it: nothing is taken and nothing changed.
//!
//! The journal decides: the study file in force is its copy, and the one on disk is only compared with it. A reader that
//! stays calls [`Reading::refresh`] and [`Reading::point`], which cost what was added since.

use crate::Result;
use crate::config::Config;
use crate::job::STARTED_FILE;
use crate::layout::{Layout, shell_word};
use crate::replay::{self, Rebuilt};
use crate::report::row::Begun;
use crate::report::summary::{Driver, Seen};
use crate::store::disk::{torn_end, utc_ms};
use crate::store::lease::Owner;
use crate::store::ledger::Ledger;
use crate::store::process::Process;
use crate::store::{Follower, News};
use crate::tag::AttemptId;
use std::fs;
use std::io::ErrorKind;
use tribo::space::Point;
use tribo::strategy::Study;

/// A study as its journal tells it.
pub struct Reading {
    /// Its paths.
    pub layout: Layout,
    /// The study file in force, which is that of the journal.
    pub config: Config,
    follower: Follower,
    /// An optimiser that is never asked, for the points of trials, and how many events of the journal it knows.
    kept: Option<(Rebuilt, usize)>,
}

impl Reading {
    /// Opens a study, also while it runs.
    pub fn open(layout: &Layout) -> Result<Reading> {
        let follower = Follower::open(layout)?;
        let config = Config::parse(layout.file(), &follower.ledger().config)?;
        Ok(Reading { layout: layout.clone(), config, follower, kept: None })
    }

    /// Reads what was added to the journal.
    pub fn refresh(&mut self) -> Result<News> {
        // An outcome that is revised in a chapter that has only begun moves its beginning.
        let began = |ledger: &Ledger| ledger.chapters().last().map(|chapter| chapter.first_event);
        let recalls = |ledger: &Ledger| ledger.recalled().is_some();
        let state = |ledger: &Ledger| {
            (ledger.config.clone(), ledger.chapters().len(), began(ledger), recalls(ledger))
        };
        let before = state(self.follower.ledger());
        let news = self.follower.refresh()?;
        let after = &self.follower.ledger().config;
        if news.restarted || state(self.follower.ledger()) != before {
            self.config = Config::parse(self.layout.file(), after)?;
            self.kept = None;
        }
        Ok(news)
    }

    /// Its state.
    pub fn ledger(&self) -> &Ledger {
        self.follower.ledger()
    }

    /// The optimiser, rebuilt.
    pub fn optimiser(&self) -> Result<Study> {
        replay::study(&self.config, self.ledger())
    }

    /// The points of all trials that were asked, by an optimiser that knows no more than it must.
    pub fn glance(&self) -> Result<Rebuilt> {
        replay::glance(&self.config, self.ledger())
    }

    /// The optimiser, and the points of earlier chapters.
    pub fn rebuilt(&self) -> Result<Rebuilt> {
        replay::rebuild(&self.config, self.ledger())
    }

    /// The point of a trial, in the space of the chapter that asked it. It costs what was added to the journal since the
    /// last one.
    pub fn point(&mut self, trial: u64) -> Result<Point> {
        Ok(self.current()?.1.points().at(trial)?.1)
    }

    /// The state, and an optimiser that is never asked, for the points of trials. It is kept from one call to the next, and
    /// costs what was added to the journal since.
    pub fn current(&mut self) -> Result<(&Ledger, &Rebuilt)> {
        let ledger = self.follower.ledger();
        // What an engine of another version has asked since is no trial of this one.
        let goes_on =
            |(kept, known): &(Rebuilt, usize)| !kept.is_of_another || *known == ledger.events().len();
        let (mut rebuilt, known) = match self.kept.take().filter(goes_on) {
            Some(kept) => kept,
            None => replay::begin(&self.config, ledger)?,
        };
        replay::catch_up(&mut rebuilt.study, &self.config, ledger, known)?;
        let (rebuilt, _) = self.kept.insert((rebuilt, ledger.events().len()));
        Ok((ledger, rebuilt))
    }

    /// Attempts under way that have begun, by what is in their folders.
    pub fn begun(&self) -> Begun {
        let begun = |id: &AttemptId| self.layout.attempt(*id).join(STARTED_FILE).exists();
        self.ledger().live().map(|attempt| attempt.id).filter(begun).collect()
    }

    /// The driver at work, if there may be one.
    pub fn driver(&self) -> Option<Driver> {
        // A lease that cannot be read says nothing; whoever takes the study finds out.
        let owner = Process::current().and_then(|me| Owner::find(&self.layout, &me)).ok()??;
        let process = owner.process.as_ref().filter(|_| owner.may_write())?;
        Some(Driver { host: process.host.clone(), pid: process.pid })
    }

    /// What a summary needs to know besides the journal.
    pub fn seen(&self) -> Result<Seen> {
        let warnings = torn_end(&self.layout, &self.follower)?.into_iter().chain(self.changed()).collect();
        let driver = self.driver();
        // Without a driver nobody has looked.
        let waiting = if driver.is_some() { crate::store::waiting(&self.layout) } else { vec![] };
        Ok(Seen { now_ms: utc_ms(), driver, begun: self.begun(), waiting, warnings })
    }

    /// What is to say about the study file, if it is not the one in force.
    fn changed(&self) -> Option<String> {
        let file = self.layout.file();
        let text = match fs::read_to_string(file) {
            Ok(text) if text == self.ledger().config => return None,
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Some(format!(
                    "the study file {} is missing; the journal has a copy, which `tribo repair {}` writes",
                    file.display(),
                    shell_word(file)
                ));
            }
            Err(error) => return Some(format!("the study file {} cannot be read: {error}", file.display())),
        };
        Some(match Config::parse(file, &text) {
            Err(error) => format!("the study file was changed and has an error: {error}"),
            Ok(new) => match self.config.identity_difference(&new) {
                Some(what) => format!(
                    "{} was changed: {what}; `tribo run --new-chapter{}` goes on with it, or undo the change",
                    file.display(),
                    self.layout.named()
                ),
                None => format!("{} was changed; the next `tribo run` uses it", file.display()),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_hand::ByHand;
    use crate::job::Finding;
    use crate::outputs::VALUE;
    use tribo::surrogate::watch::Unwatched;

    const FILE: &str = "study_version = 1\ndirection = \"minimize\"\nseed = 5\n[[parameter]]\nname = \"x\"\n\
                        type = \"float\"\nlow = 0\nhigh = 1\n[strategy]\nname = \"bo\"\ninitial = 4\n";

    #[test]
    fn a_reader_that_stays_sees_points_and_outcomes_as_they_come() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::of(&folder.path().join("study.toml"));
        fs::write(layout.file(), FILE).unwrap();
        let mut study = ByHand::take_new(&layout).unwrap();
        let mut reading = Reading::open(&layout).unwrap();
        for trial in 0..7 {
            let asked = study.ask(1, &Unwatched).unwrap();
            assert_eq!(reading.refresh().unwrap().entries.len(), 1);
            let point = reading.point(trial).unwrap();
            assert_eq!(point.numbers(), asked[0].point.numbers());
            study.tell(trial, &Finding::answered(VALUE, point.numbers()[0])).unwrap();
            assert_eq!(reading.refresh().unwrap().entries.len(), 1);
            let best = reading.optimiser().unwrap().best().unwrap().map(|best| best.value);
            assert_eq!(best, study.optimiser().unwrap().best().unwrap().map(|best| best.value));
        }
        assert_eq!(reading.seen().unwrap().driver.map(|driver| driver.pid), Some(std::process::id()));
        study.close("test").unwrap();
        assert_eq!(reading.refresh().unwrap().entries.len(), 1);
        assert!(reading.seen().unwrap().driver.is_none());
    }
}
