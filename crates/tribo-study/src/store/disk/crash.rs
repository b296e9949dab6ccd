//! A driver is killed after every single step of its work, and another one goes on with what is left.
//!
//! One run is made, and at each step the whole folder is copied, as kill -9 would leave it. Each copy is then also cut
//! back to what was synced, as a power failure would leave it at worst. Every one of them must open, with every record
//! that was acknowledged, no record that was never written, and the answer either in the spool or in the journal.

use super::*;
use crate::store::fixture::{answer, asked, copy, ended, first_attempt, intended, spec, study_id};
use crate::store::journal::replay;
use std::cell::RefCell;
use std::fs;
use std::rc::Rc;
use tempfile::TempDir;

/// What the run had been promised when the folder was copied.
#[derive(Clone, Default)]
struct Promised {
    /// Records that a sync has acknowledged, and the length of the journal then.
    synced: usize,
    length: u64,
    /// Whether the job's answer had been left.
    answered: bool,
}

/// The state of a run, watched step by step.
struct Run {
    folder: TempDir,
    copies: TempDir,
    promised: Promised,
    taken: Vec<(&'static str, PathBuf, Promised)>,
}

/// A process of this host that is not running any more.
fn dead() -> Process {
    let me = Process::current().unwrap();
    Process { starttime: me.starttime + 1, ..me }
}

fn fold_all(entries: &[Entry]) -> Ledger {
    let mut ledger = Ledger::begin(&entries[0]).unwrap();
    entries[1..].iter().for_each(|entry| ledger.apply(entry).unwrap());
    ledger
}

/// Runs one trial from creation to closing; returns all records.
fn work(run: &Rc<RefCell<Run>>) -> Vec<Entry> {
    let layout = Layout::of(run.borrow().folder.path());
    let clock: UtcMs = Box::new(|| 5);
    let (mut disk, _) = Disk::create_as(&dead(), &layout, "seed = 1\n", &study_id(), None, clock).unwrap();
    let mut entries = vec![];
    let created = Record::Created {
        format: Format::NEWEST,
        study: study_id(),
        config: "seed = 1\n".to_owned(),
        engine: None,
        tribo: env!("CARGO_PKG_VERSION").to_owned(),
    };
    for (n, record) in [created, opened(&dead())].into_iter().enumerate() {
        entries.push(Entry { n: n as u64, epoch: 1, ms: 5, record });
    }
    let sync = |disk: &mut Disk, entries: &[Entry]| {
        disk.sync().unwrap();
        let mut run = run.borrow_mut();
        run.promised.synced = entries.len();
        run.promised.length = fs::metadata(layout.journal()).unwrap().len();
    };
    sync(&mut disk, &entries);
    entries.push(disk.append(&asked(0)).unwrap());
    entries.push(disk.append(&intended(0)).unwrap());
    sync(&mut disk, &entries);
    let id = first_attempt(0);
    disk.prepare(&spec(id), b"{\"x\":1}").unwrap();
    entries.push(disk.append(&Record::Submitted { id, job: "17".to_owned() }).unwrap());
    let answer = answer(&study_id(), id);
    let name = Spec::spool_name(id, 0);
    fs::write(layout.spool("done").join(name), serde_json::to_vec(&answer).unwrap()).unwrap();
    run.borrow_mut().promised.answered = true;
    files::step("answer left");
    let (answers, complaints) = disk.harvest().unwrap();
    assert_eq!((answers.len(), complaints.len()), (1, 0));
    for record in ended(&answer) {
        entries.push(disk.append(&record).unwrap());
    }
    sync(&mut disk, &entries);
    disk.settle(&answer).unwrap();
    disk.discard(id, false).unwrap();
    drop(disk);
    // The next driver has a torn record to cut off, and may be killed just as well.
    let mut journal = fs::File::options().append(true).open(layout.journal()).unwrap();
    std::io::Write::write_all(&mut journal, b"0123abcd 500 {").unwrap();
    let clock: UtcMs = Box::new(|| 5);
    entries.push(Entry { n: entries.len() as u64, epoch: 2, ms: 5, record: opened(&dead()) });
    let (mut disk, _, notes) = Disk::open_as(&dead(), &layout, false, |_| clock).unwrap();
    assert_eq!(notes.len(), 1);
    sync(&mut disk, &entries);
    let record = Record::Closed { why: "enough".to_owned() };
    entries.push(Entry { n: disk.next, epoch: 2, ms: 5, record });
    disk.close("enough").unwrap();
    entries
}

/// Goes on with what a crash left, and checks that nothing promised is missing.
fn go_on(what: &str, folder: &Path, promised: &Promised, entries: &[Entry]) {
    let layout = Layout::of(folder);
    let me = Process::current().unwrap();
    let clock: UtcMs = Box::new(|| 6);
    if !layout.journal().exists() {
        assert_eq!(promised.synced, 0, "{what}: a synced journal is gone");
        let (_, ledger) = Disk::create_as(&me, &layout, "", &study_id(), None, clock).unwrap();
        assert_eq!(ledger.next, 2, "{what}");
        return;
    }
    let found = replay(&layout.journal()).unwrap().ledger;
    let n = found.next as usize;
    assert!((promised.synced..=entries.len()).contains(&n), "{what}: {n} records");
    assert_eq!(found, fold_all(&entries[..n]), "{what}");

    let (mut disk, ledger, _) = Disk::open_as(&me, &layout, false, |_| clock).unwrap();
    let id = first_attempt(0);
    let recorded = ledger.attempt(id).is_some_and(|attempt| attempt.end.is_some());
    let (answers, complaints) = disk.harvest().unwrap();
    assert_eq!(complaints, [""; 0], "{what}");
    assert!(!promised.answered || recorded || answers.len() == 1, "{what}: the answer is lost");
    for answer in &answers {
        if !recorded {
            ended(answer).iter().for_each(|record| drop(disk.append(record).unwrap()));
            disk.sync().unwrap();
        }
        disk.settle(answer).unwrap();
    }
    if promised.answered {
        let (now, _) = read(&layout).unwrap();
        assert_eq!(
            now.told().map(|(trial, _)| trial).collect::<Vec<_>>(),
            [0],
            "{what}: not told exactly once"
        );
    }
    assert_eq!(disk.harvest().unwrap().0.len(), 0, "{what}");
    disk.close("after").unwrap();
    assert_eq!(read(&layout).unwrap().0.closed.as_deref(), Some("after"), "{what}");
}

#[test]
fn a_kill_or_a_power_failure_after_any_step_loses_nothing() {
    let run = Rc::new(RefCell::new(Run {
        folder: tempfile::tempdir().unwrap(),
        copies: tempfile::tempdir().unwrap(),
        promised: Promised::default(),
        taken: vec![],
    }));
    let watching = Rc::clone(&run);
    files::on_step(Some(Box::new(move |what| {
        let mut run = watching.borrow_mut();
        let target = run.copies.path().join(run.taken.len().to_string());
        copy(run.folder.path(), &target);
        let promised = run.promised.clone();
        run.taken.push((what, target, promised));
    })));
    let entries = work(&run);
    files::on_step(None);
    let run = run.borrow();
    // Folders, lease, journal, three syncs, one attempt, one answer, the end: fewer would mean that some went unseen.
    assert!(run.taken.len() >= 30, "{} steps", run.taken.len());
    for (number, (what, folder, promised)) in run.taken.iter().enumerate() {
        let what = format!("step {number}, {what}");
        let journal = Layout::of(folder).journal();
        let length = fs::metadata(&journal).map_or(0, |metadata| metadata.len());
        // A file that was renamed into place was synced before.
        let kept = if promised.synced == 0 { length } else { promised.length };
        for (part, cut) in [("synced", kept), ("half", kept + (length - kept) / 2)] {
            let after_power_failure = folder.with_extension(part);
            copy(folder, &after_power_failure);
            if journal.exists() {
                let file = fs::File::options().write(true).open(Layout::of(&after_power_failure).journal());
                file.unwrap().set_len(cut).unwrap();
            }
            go_on(&format!("{what}, cut at {cut} of {length}"), &after_power_failure, promised, &entries);
        }
        go_on(&what, folder, promised, &entries);
    }
}
