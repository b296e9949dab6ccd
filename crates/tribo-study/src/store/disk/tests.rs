//! The life of a store on disk: creation, ownership, full and read-only disks, and moving house.

use super::*;
use crate::store::fixture::{Mounted, Study, asked, ended, first_attempt, intended, names, spec, study_id};
use crate::store::{lease, request};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

fn elsewhere() -> Process {
    Process { host: "login2".to_owned(), boot_id: "other".to_owned(), pid: 4321, starttime: 1 }
}

#[test]
fn a_study_is_created_once_private_and_reads_back() {
    let Study { layout, disk, folder } = Study::with(2);
    assert_eq!(fs::metadata(layout.store()).unwrap().mode() & 0o777, 0o700);
    assert_eq!(fs::metadata(layout.journal()).unwrap().mode() & 0o777, 0o600);
    let store = names(layout.store());
    assert_eq!(store, ["arrays", "journal", "lease", "requests", "spool", "trials"]);
    let (ledger, notes) = read(&layout).unwrap();
    assert_eq!(
        (ledger.next, ledger.study, ledger.config.as_str(), notes.len()),
        (6, study_id(), "seed = 1\n", 0)
    );
    let error = Disk::create(&layout, "", &study_id()).unwrap_err();
    assert!(matches!(error, Error::Usage(_)), "{error}");
    disk.close("enough").unwrap();
    assert_eq!(read(&layout).unwrap().0.closed.as_deref(), Some("enough"));
    drop(folder);
}

#[test]
fn where_there_is_no_study_a_command_says_how_to_make_one() {
    let folder = tempfile::tempdir().unwrap();
    let layout = Layout::of(folder.path());
    let errors = [
        Disk::open(&layout, false).unwrap_err(),
        read(&layout).unwrap_err(),
        request(&layout, &Request::Stop).unwrap_err(),
    ];
    for error in errors {
        assert!(
            matches!(error, Error::Missing { .. }) && error.to_string().contains("tribo init"),
            "{error}"
        );
    }
    assert_eq!(names(folder.path()), [""; 0], "asking leaves nothing behind");
}

#[test]
fn a_virtual_clock_dates_the_records() {
    let folder = tempfile::tempdir().unwrap();
    let layout = Layout::of(folder.path());
    let (mut disk, ledger) = Disk::create_with(&layout, "", &study_id(), None, Box::new(|| 5)).unwrap();
    assert_eq!(ledger.created_ms, 5);
    assert_eq!(disk.append(&asked(0)).unwrap().ms, 5);
    drop(disk);
    let (_disk, ledger, _) = Disk::open_with(&layout, false, |_| Box::new(|| 9)).unwrap();
    assert_eq!((ledger.last_ms, ledger.next), (9, 3), "what was not synced is gone");
}

#[test]
fn a_second_driver_is_refused_and_a_reader_is_not() {
    let Study { layout, mut disk, folder: _folder } = Study::with(1);
    let error = Disk::open(&layout, true).unwrap_err();
    assert!(matches!(error, Error::Locked { .. }), "{error}");
    read(&layout).unwrap();
    disk.append(&asked(1)).unwrap();
    disk.sync().unwrap();
    drop(disk);
    let (disk, ledger, notes) = Disk::open(&layout, false).unwrap();
    assert_eq!((ledger.next, ledger.epoch, notes.len()), (6, 2, 0));
    assert_eq!(disk.next, 6);
}

#[test]
fn a_driver_that_was_taken_over_stops_at_its_next_sync_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let layout = Layout::of(folder.path());
    let (mut first, _) =
        Disk::create_as(&elsewhere(), &layout, "", &study_id(), None, Box::new(utc_ms)).unwrap();
    let file = fs::File::options().write(true).open(layout.lease().join("000001")).unwrap();
    file.set_modified(SystemTime::now() - lease::SILENCE - Duration::from_secs(1)).unwrap();
    let (mut second, ledger, _) = Disk::open(&layout, true).unwrap();
    assert_eq!((ledger.epoch, ledger.next), (2, 3));

    first.append(&asked(0)).unwrap();
    assert!(matches!(first.sync(), Err(Error::TakenOver { epoch: 2, .. })));
    assert!(matches!(first.harvest(), Err(Error::TakenOver { epoch: 2, .. })));
    drop(first);
    second.append(&asked(0)).unwrap();
    second.sync().unwrap();
    assert_eq!(read(&layout).unwrap().0.next, 4);
}

#[test]
fn a_torn_tail_is_cut_with_a_note_by_a_driver_and_noted_by_a_reader() {
    let Study { layout, disk, folder: _folder } = Study::with(1);
    let torn = |on: &str| {
        let mut bytes = fs::read(layout.journal()).unwrap();
        bytes.extend_from_slice(on.as_bytes());
        fs::write(layout.journal(), bytes).unwrap();
    };
    torn("0123abcd 17 {\"n\":");
    assert_eq!(read(&layout).unwrap().1, [""; 0], "a driver is at work");
    drop(disk);
    let (ledger, notes) = read(&layout).unwrap();
    assert_eq!(ledger.next, 4);
    assert!(notes[0].contains("17 B") && notes[0].contains("ignored"), "{notes:?}");
    let (disk, ledger, notes) = Disk::open(&layout, false).unwrap();
    assert_eq!(ledger.next, 5);
    assert!(notes[0].contains("17 B") && notes[0].contains("cut off"), "{notes:?}");
    drop(disk);
    assert_eq!(read(&layout).unwrap(), (ledger, vec![]));
}

#[test]
fn a_damaged_journal_is_refused_and_the_study_given_back() {
    let Study { layout, disk, folder: _folder } = Study::with(1);
    drop(disk);
    let mut bytes = fs::read(layout.journal()).unwrap();
    bytes[20] ^= 1;
    fs::write(layout.journal(), &bytes).unwrap();
    for error in [Disk::open(&layout, false).unwrap_err(), read(&layout).unwrap_err()] {
        assert!(matches!(error, Error::Corrupt { offset: 0, .. }), "{error}");
    }
    assert_eq!(fs::read(layout.journal()).unwrap(), bytes, "nothing was changed");
    bytes[20] ^= 1;
    fs::write(layout.journal(), &bytes).unwrap();
    Disk::open(&layout, false).unwrap();
}

#[test]
fn a_study_can_be_moved_and_copied_without_its_empty_folders() {
    let mut study = Study::with(1);
    study.disk.prepare(&spec(first_attempt(0)), b"{}").unwrap();
    study.leave_answer(0);
    let Study { layout, disk, folder } = study;
    disk.close("moving").unwrap();
    let new_home = folder.path().join("elsewhere/deep");
    fs::create_dir_all(&new_home).unwrap();
    fs::rename(layout.store(), new_home.join("study.tribo")).unwrap();
    let layout = Layout::of(&new_home);
    fs::remove_dir(layout.spool("seen")).unwrap();
    fs::remove_dir(layout.requests()).unwrap();
    fs::remove_dir_all(layout.lease()).unwrap();
    let (mut disk, ledger, notes) = Disk::open(&layout, false).unwrap();
    assert_eq!((ledger.study.clone(), ledger.next, notes.len()), (study_id(), 6, 0));
    assert_eq!(ledger.epoch, 2, "epochs go on from the journal's, whatever lease files are left");
    assert!(disk.dir(first_attempt(0)).starts_with(&new_home) && disk.dir(first_attempt(0)).is_dir());
    assert_eq!(disk.harvest().unwrap().0.len(), 1, "tags do not depend on the place");
}

#[test]
fn a_full_disk_stops_nothing_for_good() {
    let Some(mounted) = Mounted::new("256k") else { return };
    let layout = Layout::of(mounted.0.path());
    let (mut disk, before) = Disk::create(&layout, "", &study_id()).unwrap();
    let filler = mounted.0.path().join("filler");
    // As much as there is space for: the error is the point.
    let error = fs::write(&filler, vec![0; 1 << 20]).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    let config = "x".repeat(20_000);
    let entry = disk.append(&Record::Configured { config }).unwrap();
    let is_full = |error: &Error| matches!(error, Error::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull);
    for _ in 0..3 {
        let error = disk.sync().unwrap_err();
        assert!(is_full(&error), "{error}");
        assert_eq!(journal::replay(&layout.journal()).unwrap().ledger, before);
    }
    let error = disk.prepare(&spec(first_attempt(0)), &[b' '; 10_000]).unwrap_err();
    assert!(is_full(&error), "{error}");
    disk.harvest().unwrap();
    fs::remove_file(&filler).unwrap();
    disk.sync().unwrap();
    let mut after = before;
    after.apply(&entry).unwrap();
    assert_eq!(read(&layout).unwrap().0, after);
    disk.prepare(&spec(first_attempt(0)), &[b' '; 10_000]).unwrap();
    disk.close("done").unwrap();
}

#[test]
fn a_full_disk_leaves_no_half_made_study() {
    let Some(mounted) = Mounted::new("16k") else { return };
    let layout = Layout::of(mounted.0.path());
    let config = "x".repeat(20_000);
    Disk::create(&layout, &config, &study_id()).unwrap_err();
    assert!(!layout.journal().exists());
    assert!(matches!(Disk::open(&layout, false), Err(Error::Missing { .. })));
    Disk::create(&layout, "small", &study_id()).unwrap();
}

#[test]
fn a_read_only_study_can_be_read_and_not_run() {
    let Some(mounted) = Mounted::new("1m") else { return };
    let layout = Layout::of(mounted.0.path());
    let (disk, _) = Disk::create(&layout, "", &study_id()).unwrap();
    disk.close("archived").unwrap();
    mounted.make_read_only();
    let (ledger, _) = read(&layout).unwrap();
    assert_eq!(ledger.closed.as_deref(), Some("archived"));
    let error = Disk::open(&layout, false).unwrap_err();
    assert!(matches!(&error, Error::Io { source, .. } if source.kind() == io::ErrorKind::ReadOnlyFilesystem));
    assert!(error.to_string().contains("study.tribo"), "{error}");
}

#[test]
fn time_that_jumps_does_not_change_the_order() {
    use std::cell::Cell;
    let folder = tempfile::tempdir().unwrap();
    let layout = Layout::of(folder.path());
    let calls = Cell::new(0);
    let hour = 3_600_000;
    let jumping = move || {
        calls.set(calls.get() + 1);
        10 * hour + if calls.get() % 2 == 0 { hour } else { 0 } - hour / 2
    };
    let (mut disk, _) = Disk::create_with(&layout, "", &study_id(), None, Box::new(jumping)).unwrap();
    for trial in 0..4 {
        disk.append(&asked(trial)).unwrap();
        disk.append(&intended(trial)).unwrap();
        let answer = crate::store::fixture::answer(&study_id(), first_attempt(trial));
        ended(&answer).iter().for_each(|record| drop(disk.append(record).unwrap()));
        disk.harvest().unwrap();
        disk.sync().unwrap();
    }
    let (ledger, _) = read(&layout).unwrap();
    assert_eq!(ledger.told().map(|(trial, _)| trial).collect::<Vec<_>>(), [0, 1, 2, 3]);
}
