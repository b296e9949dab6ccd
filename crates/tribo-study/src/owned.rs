//! A study on disk that belongs to this process: how it is taken, added to, and given back.
//!
//! The study file on disk may have changed since the journal was written. Changes that leave the proposals alone are
//! recorded. Others begin a new chapter, which knows all results so far, if the caller says so, and are refused if not. An
//! engine of another version begins one by itself: it could not go on from the records of the other.

use crate::config::Config;
use crate::layout::Layout;
use crate::report::text::count;
use crate::store::disk::UtcMs;
use crate::store::ledger::Ledger;
use crate::store::record::{Engine, Record};
use crate::store::{self, Disk};
use crate::tag::StudyId;
use crate::{Error, Result, replay};
use std::hash::{BuildHasher, Hasher, RandomState};

/// How a study is taken.
#[derive(Debug, Clone, Copy, Default)]
pub struct How {
    /// From a driver on another host that is known to be gone.
    pub take_over: bool,
    /// Also if the study file has changed in what decides proposals: a new chapter begins then.
    pub new_chapter: bool,
}

/// A study that belongs to this process.
#[derive(Debug)]
pub struct Owned {
    /// Its paths.
    pub layout: Layout,
    /// The study file.
    pub config: Config,
    /// Its state.
    pub ledger: Ledger,
    /// What was found and put right.
    pub notes: Vec<String>,
    /// If a new chapter began: what changed and what that means.
    pub began: Option<String>,
    /// Its store.
    pub store: Disk,
}

impl Owned {
    /// Takes a study; makes its store if there is none. `clock` is asked for the clock of records, given the study file and
    /// the state so far.
    pub fn open(
        layout: &Layout,
        how: How,
        clock: impl FnOnce(&Config, Option<&Ledger>) -> UtcMs,
    ) -> Result<Owned> {
        let (config, text) = Config::read_with_text(layout.file())?;
        let layout = layout.clone();
        if !store::exists(&layout)? {
            let utc_ms = clock(&config, None);
            let engine = Engine::of(&replay::fresh(&config)?);
            let (store, ledger) = Disk::create_with(&layout, &text, &random_id(), Some(engine), utc_ms)?;
            let mut owned = Owned { layout, config, ledger, notes: vec![], began: None, store };
            owned.let_read();
            return Ok(owned);
        }
        let clock = |ledger: &Ledger| clock(&config, Some(ledger));
        let (store, ledger, notes) = Disk::open_with(&layout, how.take_over, clock)?;
        let mut owned = Owned { layout, config, ledger, notes, began: None, store };
        owned.go_on(text, how.new_chapter)?;
        owned.let_read();
        Ok(owned)
    }

    /// Lets those read the store whom the study file names. A study that cannot do that goes on without them.
    fn let_read(&mut self) {
        if let Err(error) = store::open_to(&self.layout, self.config.readers) {
            self.notes.push(error.to_string());
        }
    }

    /// Goes on with the study file as it is now: in the same chapter, if that leaves the proposals alone, or in a new one.
    fn go_on(&mut self, text: String, new_chapter: bool) -> Result<()> {
        let engine = Engine::of(&replay::fresh(&self.config)?);
        let before = Config::parse(self.layout.file(), &self.ledger.config)?;
        let last = self.ledger.chapters().last().and_then(|chapter| chapter.engine.clone());
        let was = match last {
            Some(engine) => engine,
            None => Engine { version: 1, ..Engine::of(&replay::fresh(&before)?) },
        };
        let change = match before.identity_difference(&self.config) {
            Some(change) if new_chapter || self.ledger.trials().len() == 0 => change,
            Some(_) => return contradiction(&self.layout, &self.ledger, &self.config).map_or(Ok(()), Err),
            None if was != engine => {
                let (name, now) = (&engine.name, engine.version);
                format!(
                    "this program proposes by version {now} of `{name}`, the one before by {}",
                    was.version
                )
            }
            None if self.ledger.config == text => return Ok(()),
            None => {
                self.notes.extend(self.late_values()?);
                return self.append(Record::Configured { config: text });
            }
        };
        self.require_earlier_values(&before)?;
        let tribo = env!("CARGO_PKG_VERSION").to_owned();
        self.append(Record::Chapter { config: text, engine, tribo })?;
        self.began = Some(self.chapter_note(&change)?);
        Ok(())
    }

    /// A parameter that is new must say which value it had in the evaluations so far.
    fn require_earlier_values(&self, before: &Config) -> Result<()> {
        if self.ledger.trials().len() == 0 {
            return Ok(());
        }
        for parameter in self.config.space.parameters() {
            let name = parameter.name();
            let old = before.space.parameters().iter().find(|old| old.name() == name);
            let elements = old.map_or(0, |old| old.n_elements());
            if elements < parameter.n_elements() && !self.config.earlier.contains_key(name) {
                let advice = format!(
                    "write `earlier = ...` into its section, the value that it had in the {} so far",
                    count(self.ledger.trials().len(), "evaluation")
                );
                let what = format!("parameter `{name}` is new");
                return Err(Error::Changed { path: self.layout.file().to_owned(), what, advice });
            }
        }
        Ok(())
    }

    /// Says that values which parameters had before they were added come too late, if some are other than those that the
    /// present chapter began with.
    fn late_values(&self) -> Result<Vec<String>> {
        let Some(chapter) = self.ledger.chapters().last() else { return Ok(vec![]) };
        let began = Config::parse(self.layout.file(), &chapter.first_config)?;
        let changed = |(name, value): (&String, &serde_json::Value)| {
            let before = began.earlier.get(name).filter(|before| *before != value)?;
            Some(format!(
                "`earlier = {value}` of parameter `{name}` comes too late: this chapter began with {before} and goes on with it. To correct it, make a new study and `tribo import` what `tribo export` writes of this one, with a column `{name}`"
            ))
        };
        Ok(self.config.earlier.iter().filter_map(changed).collect())
    }

    /// What changed and what that means, in one sentence.
    fn chapter_note(&self, change: &str) -> Result<String> {
        let number = self.ledger.chapters().len();
        let study = replay::study(&self.config, &self.ledger)?;
        let (known, measured) = (study.history().len(), study.history().measured().count());
        let pending = study.history().pending().count();
        let out = self.ledger.trials().len() - known;
        let mut note =
            format!("chapter {number} begins ({change}): {} known to it", count(measured, "result"));
        if pending > 0 {
            note.push_str(&format!(", {} under way", count(pending, "evaluation")));
        }
        if out > 0 {
            note.push_str(&format!(", {} not in its space or without its output", count(out, "trial")));
        }
        Ok(note)
    }

    /// Takes a study that has a store.
    pub fn open_existing(
        layout: &Layout,
        clock: impl FnOnce(&Config, Option<&Ledger>) -> UtcMs,
    ) -> Result<Owned> {
        match store::exists(layout)? {
            true => Owned::open(layout, How::default(), clock),
            false => Err(layout.missing()),
        }
    }

    /// Adds a record and folds it into the state. It is durable after the store's sync.
    pub fn append(&mut self, record: Record) -> Result<()> {
        store::record(&mut self.store, &mut self.ledger, &record)
    }

    /// Makes everything durable and gives the study back.
    pub fn close(self, why: &str) -> Result<()> {
        self.store.close(why)
    }
}

/// The state of a study, if there is a store.
pub fn ledger(layout: &Layout) -> Result<Option<Ledger>> {
    match store::exists(layout)? {
        true => store::read(layout).map(|(ledger, _)| Some(ledger)),
        false => Ok(None),
    }
}

/// How a study file contradicts the study in the store, if it does.
pub fn contradiction(layout: &Layout, ledger: &Ledger, config: &Config) -> Option<Error> {
    let old = Config::parse(layout.file(), &ledger.config).ok()?;
    old.identity_difference(config).map(|what| Error::Changed {
        path: layout.file().to_owned(),
        what,
        advice: format!(
            "`tribo run --new-chapter{}` goes on with it, and with all results so far; or undo the change",
            layout.named()
        ),
    })
}

/// An id for a new study.
pub fn random_id() -> StudyId {
    // The hasher's keys are random; nothing else here is.
    StudyId::from_bits(RandomState::new().build_hasher().finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_hand::ByHand;
    use crate::store::disk::utc_ms;
    use std::fs;
    use tribo::surrogate::watch::Unwatched;

    const FILE: &str = "study_version = 1\ndirection = \"minimize\"\nseed = 5\n[[parameter]]\nname = \"x\"\n\
                        type = \"float\"\nlow = 0\nhigh = 1\n[strategy]\nname = \"random\"\n";

    #[test]
    fn taking_a_study_reads_its_journal_once() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::of(&folder.path().join("study.toml"));
        fs::write(layout.file(), FILE).unwrap();
        let mut study = ByHand::take_new(&layout).unwrap();
        study.ask(2_000, &Unwatched).unwrap();
        study.close("test").unwrap();
        let length = fs::metadata(layout.journal()).unwrap().len();
        let read = || -> u64 {
            let counts = fs::read_to_string("/proc/thread-self/io").unwrap();
            let line = counts.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap();
            line.parse().unwrap()
        };
        let before = read();
        let owned = Owned::open(&layout, How::default(), |_, _| Box::new(utc_ms)).unwrap();
        let bytes = read() - before;
        assert_eq!(owned.ledger.trials().len(), 2_000);
        assert!((length..length + length / 4).contains(&bytes), "{bytes} bytes read of {length}");
    }
}
