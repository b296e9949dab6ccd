//! Repairing a store: a damaged journal is cut where it must be, and what was cut off is brought back as far as the disk
//! still has it.
//!
//! In this order, as the owner of the study:
//!   1. the journal is read up to the damage; whole records after it are taken again, one by one, if they still add up and
//!      the optimiser can be rebuilt with them (`rebuild`);
//!   2. trials whose records are gone are asked again: at the same state the optimiser proposes the same point, and the
//!      digest of its parameters, which is in the attempt's folder and in its answer, proves it (`again`);
//!   3. attempts that are on disk and not in the journal are taken up, and answers that nobody has taken in go back to the
//!      spool, for the next `tribo run`;
//!   4. measured values that none of this could place are imported if their point is known, and else named.
//!
//! The damaged journal stays beside the new one, which takes its place as a whole. A study file that is missing is written
//! again from the journal. What is whole is left as it is.

mod again;
mod rebuild;
#[cfg(test)]
mod tests;

use crate::config::Config;
use crate::layout::Layout;
use crate::report::text::count;
use crate::store::disk::{absolute, make_folders, opened, require_existing, utc_ms};
use crate::store::evidence::{self, Evidence};
use crate::store::format::Format;
use crate::store::journal::{self, Journal, Salvage};
use crate::store::lease::Lease;
use crate::store::ledger::Ledger;
use crate::store::process::Process;
use crate::store::record::{Engine, Entry, Record};
use crate::tag::AttemptId;
use crate::{Error, Result, owned, replay};
use rebuild::Rebuilt;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};

/// What was repaired, in words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repaired {
    /// What was found and done.
    pub done: Vec<String>,
    /// What could not be brought back.
    pub lost: Vec<String>,
}

impl Repaired {
    /// Whether all was well.
    pub fn is_nothing(&self) -> bool {
        self.done.is_empty() && self.lost.is_empty()
    }
}

/// Repairs the store of a study, which no driver may own meanwhile.
pub fn repair(layout: &Layout) -> Result<Repaired> {
    let layout = absolute(layout)?;
    require_existing(&layout)?;
    make_folders(&layout)?;
    let me = Process::current()?;
    let mut lease = Lease::acquire(&layout, &me, false, utc_ms())?;
    let salvage = journal::salvage(&layout.journal())?;
    let mut repaired = Repaired::default();
    say_damage(&salvage, &mut repaired);

    let (ledger, first) = beginning(&layout, &salvage, &mut repaired)?;
    let epochs = salvage.rest.iter().map(|entry| entry.epoch);
    lease.raise(epochs.fold(ledger.epoch, u64::max))?;
    let config = config(&layout, &ledger, &salvage.rest)?;
    let evidence = evidence::find(&layout, &ledger.study)?;
    let mut rebuilt = Rebuilt::new(config, ledger, &evidence, repaired, salvage.tribo.clone())?;
    if let Some(chapter) = lost_chapter(&layout, &rebuilt.config, &salvage.rest) {
        rebuilt.begin_chapter(chapter, salvage.rest[0].ms)?;
    }
    rebuilt.take_rest(&salvage.rest)?;
    rebuilt.epoch = lease.epoch();
    rebuilt.take_up_attempts();
    rebuilt.ask_lost_trials()?;
    let orphans = rebuilt.orphans();
    rebuilt.import(&orphans)?;

    let Rebuilt { ledger, added, mut repaired, .. } = rebuilt;
    give_back(&layout, &ledger, &evidence)?;
    write(&layout, &me, &lease, &salvage, first.into_iter().chain(added).collect(), &mut repaired)?;
    set_aside(&layout, &orphans, &evidence, &mut repaired)?;
    restore_file(&layout, &ledger, &mut repaired)?;
    lease.release()?;
    Ok(repaired)
}

/// Says what is wrong with the journal, and which records are missing.
fn say_damage(salvage: &Salvage, repaired: &mut Repaired) {
    let Some(damage) = &salvage.damage else { return };
    repaired.done.push(format!("the journal is damaged at byte {}: {}", damage.offset, damage.what));
    let present: BTreeSet<u64> = salvage.rest.iter().map(|entry| entry.n).collect();
    let from = salvage.ledger.as_ref().map_or(0, |ledger| ledger.next);
    let missing: Vec<u64> =
        (from..present.last().map_or(from, |last| *last)).filter(|n| !present.contains(n)).collect();
    match missing[..] {
        [] if salvage.rest.is_empty() => {
            repaired
                .lost
                .push(format!("what comes after record {}, if there was more", from.saturating_sub(1)));
        }
        [] => {}
        [one] => repaired.lost.push(format!("record {one}")),
        [first, .., last] => {
            repaired.lost.push(format!("{} from {first} to {last}", count(missing.len(), "record")));
        }
    }
}

/// The state before the damage. If the first record is hit, it is made again from the study file and the names of jobs.
fn beginning(layout: &Layout, salvage: &Salvage, repaired: &mut Repaired) -> Result<(Ledger, Option<Entry>)> {
    if let Some(ledger) = &salvage.ledger {
        return Ok((ledger.clone(), None));
    }
    let config = fs::read_to_string(layout.file()).map_err(Error::io("cannot read", layout.file()))?;
    Config::parse(layout.file(), &config)?;
    let named = salvage.rest.iter().find_map(|entry| match &entry.record {
        Record::Intended { tag, .. } => tag.study(),
        _ => None,
    });
    let study = match named {
        Some(study) => study,
        None => evidence::study_id(layout)?.unwrap_or_else(owned::random_id),
    };
    let (epoch, ms) = salvage.rest.first().map_or((1, utc_ms()), |entry| (entry.epoch, entry.ms));
    let tribo = env!("CARGO_PKG_VERSION").to_owned();
    let record = Record::Created { format: Format::NEWEST, study, config, engine: None, tribo };
    let entry = Entry { n: 0, epoch, ms, record };
    let ledger = Ledger::begin(&entry).map_err(Error::Usage)?;
    repaired.done.push("its first record is made again from the study file".to_owned());
    Ok((ledger, Some(entry)))
}

/// The study file in force after all records: the last that can be read.
fn config(layout: &Layout, ledger: &Ledger, rest: &[Entry]) -> Result<Config> {
    let begun = Config::parse(layout.file(), &ledger.config)?;
    let first_chapter = rest.iter().take_while(|entry| !matches!(entry.record, Record::Chapter { .. }));
    let later = first_chapter.collect::<Vec<_>>().into_iter().rev().find_map(|entry| match &entry.record {
        Record::Configured { config } => Config::parse(layout.file(), config).ok(),
        _ => None,
    });
    Ok(later.filter(|config| begun.identity_difference(config).is_none()).unwrap_or(begun))
}

/// The record of a chapter whose beginning is lost: the study file is no longer that of the journal, and no record after the
/// damage says since when.
fn lost_chapter(layout: &Layout, before: &Config, rest: &[Entry]) -> Option<Record> {
    let (now, text) = Config::read_with_text(layout.file()).ok()?;
    let told = rest.iter().any(|entry| matches!(entry.record, Record::Chapter { .. }));
    if rest.is_empty() || told || before.identity_difference(&now).is_none() {
        return None;
    }
    let engine = Engine::of(&replay::fresh(&now).ok()?);
    Some(Record::Chapter { config: text, engine, tribo: env!("CARGO_PKG_VERSION").to_owned() })
}

/// Leaves answers that nobody has taken in to the next driver.
fn give_back(layout: &Layout, ledger: &Ledger, evidence: &BTreeMap<AttemptId, Evidence>) -> Result<()> {
    let live = ledger.live().filter_map(|attempt| evidence.get(&attempt.id)?.answer.as_ref());
    live.filter(|answer| !answer.is_stop()).try_for_each(|answer| evidence::give(layout, answer))
}

/// Writes what was brought back: a new journal if the old one is damaged, and else at its end.
fn write(
    layout: &Layout,
    me: &Process,
    lease: &Lease,
    salvage: &Salvage,
    mut added: Vec<Entry>,
    repaired: &mut Repaired,
) -> Result<()> {
    if salvage.damage.is_none() && added.is_empty() {
        return Ok(());
    }
    let next = salvage.ledger.as_ref().map_or(0, |ledger| ledger.next) + added.len() as u64;
    let closed = Record::Closed { why: "repaired".to_owned() };
    for (n, record) in (next..).zip([opened(me), closed]) {
        added.push(Entry { n, epoch: lease.epoch(), ms: utc_ms(), record });
    }
    lease.check()?;
    let path = layout.journal();
    if salvage.damage.is_some() {
        let copy = journal::rewrite(&path, salvage.whole, &added)?;
        repaired.done.push(format!("the damaged journal is kept as {}", copy.display()));
        return Ok(());
    }
    let mut journal = Journal::open(&path, salvage.whole, salvage.length)?;
    added.iter().try_for_each(|entry| journal.append(entry))?;
    journal.sync()
}

/// Moves attempts out of the way that have ended and belong to no trial. One that may be running keeps its folder; the
/// driver steps past it.
fn set_aside(
    layout: &Layout,
    orphans: &[AttemptId],
    evidence: &BTreeMap<AttemptId, Evidence>,
    repaired: &mut Repaired,
) -> Result<()> {
    let mut moved = 0;
    for id in orphans {
        let found = &evidence[id];
        if found.answer.is_some() {
            evidence::set_aside(layout, *id, found)?;
            moved += 1;
        } else if found.claimed {
            repaired.lost.push(format!("attempt {id} has no trial and no answer; it may still be running"));
        }
    }
    if moved > 0 {
        let (attempts, place) = (count(moved, "attempt"), evidence::aside(layout));
        repaired.done.push(format!("{attempts} without a trial: set aside in {}", place.display()));
    }
    Ok(())
}

/// Writes the study file again if it is not there.
fn restore_file(layout: &Layout, ledger: &Ledger, repaired: &mut Repaired) -> Result<()> {
    let path = layout.file();
    let file = fs::OpenOptions::new().write(true).create_new(true).open(path);
    let written = match file {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        file => file.and_then(|mut file| {
            file.write_all(ledger.config.as_bytes())?;
            file.sync_all()
        }),
    };
    written.map_err(Error::io("cannot write", path))?;
    repaired.done.push(format!("{} was missing and is written again from the journal", path.display()));
    Ok(())
}
