//! Growing, torn, shortened and replaced journals, and what a look costs.

use super::*;
use crate::store::fixture::{Study, asked, intended};
use crate::store::journal::{encode, replay, rewrite};
use crate::store::record::Record;
use crate::store::{Store, read};
use std::io::Write;

/// Adds bytes to a file.
fn add(path: &Path, bytes: &[u8]) {
    fs::OpenOptions::new().append(true).open(path).unwrap().write_all(bytes).unwrap();
}

fn next_line(follower: &Follower, record: Record) -> Vec<u8> {
    let ledger = follower.ledger();
    let mut line = vec![];
    encode(&Entry { n: ledger.next, epoch: ledger.epoch, ms: ledger.last_ms + 1, record }, &mut line)
        .unwrap();
    line
}

#[test]
fn a_follower_sees_what_a_reader_sees() {
    let mut study = Study::with(2);
    let mut follower = Follower::open(&study.layout).unwrap();
    for trial in 2..30 {
        assert_eq!(follower.refresh().unwrap(), News { restarted: false, entries: vec![] });
        let entries = [asked(trial), intended(trial)].map(|record| study.disk.append(&record).unwrap());
        study.disk.sync().unwrap();
        assert_eq!(follower.refresh().unwrap(), News { restarted: false, entries: entries.to_vec() });
        assert_eq!(*follower.ledger(), read(&study.layout).unwrap().0);
    }
}

#[test]
fn a_record_that_is_being_written_is_waited_for() {
    let study = Study::with(2);
    let mut follower = Follower::open(&study.layout).unwrap();
    let line = next_line(&follower, asked(2));
    let path = study.layout.journal();
    let before = fs::read(&path).unwrap();
    for cut in 1..line.len() {
        fs::write(&path, &before).unwrap();
        add(&path, &line[..cut]);
        assert_eq!(follower.refresh().unwrap().entries, [], "{cut} bytes");
        assert_eq!(follower.torn(), cut as u64);
        add(&path, &line[cut..]);
        let news = follower.refresh().unwrap();
        assert_eq!((news.restarted, news.entries.len(), follower.torn()), (false, 1, 0), "{cut} bytes");
        fs::write(&path, &before).unwrap();
        assert!(follower.refresh().unwrap().restarted);
    }
}

#[test]
fn a_journal_that_is_another_or_shorter_is_read_anew() {
    let study = Study::with(3);
    let path = study.layout.journal();
    let mut follower = Follower::open(&study.layout).unwrap();
    let all = fs::read(&path).unwrap();
    let ends: Vec<usize> = (0..all.len()).filter(|&at| all[at] == b'\n').map(|at| at + 1).collect();
    // Cut, and grown again to the same length with other records.
    let cut = ends[ends.len() - 3];
    fs::write(&path, &all[..cut]).unwrap();
    let shorter = Follower::open(&study.layout).unwrap();
    let mut other = next_line(&shorter, Record::Closed { why: "x".repeat(200) });
    let room = all.len() - cut;
    other = next_line(&shorter, Record::Closed { why: "x".repeat(200 + room - other.len().min(room + 200)) });
    add(&path, &other);
    let news = follower.refresh().unwrap();
    assert!(news.restarted);
    assert_eq!(news.entries.len() as u64, follower.ledger().next);
    assert_eq!(*follower.ledger(), replay(&path).unwrap().ledger);
    // Repaired.
    rewrite(&path, ends[2] as u64, &[]).unwrap();
    assert!(follower.refresh().unwrap().restarted);
    assert_eq!(follower.ledger().next, 3);
    assert!(!follower.refresh().unwrap().restarted);
}

#[test]
fn what_is_good_before_a_damage_is_given_and_then_the_damage_is_told() {
    let study = Study::with(1);
    let path = study.layout.journal();
    let mut follower = Follower::open(&study.layout).unwrap();
    let good = next_line(&follower, asked(1));
    add(&path, &good);
    add(&path, b"garbage\n");
    add(&path, &good);
    assert_eq!(follower.refresh().unwrap().entries.len(), 1);
    for _ in 0..2 {
        assert!(matches!(follower.refresh(), Err(Error::Corrupt { .. })));
    }
    assert_eq!(follower.ledger().next, 5);
}

#[test]
fn a_look_costs_what_is_new() {
    let mut study = Study::with(2_000);
    let mut follower = Follower::open(&study.layout).unwrap();
    let bytes = |trace: &str| -> u64 {
        let io = fs::read_to_string("/proc/thread-self/io").unwrap();
        let line = io.lines().find_map(|line| line.strip_prefix("rchar: ")).expect(trace);
        line.parse().unwrap()
    };
    study.disk.append(&asked(2_000)).unwrap();
    study.disk.sync().unwrap();
    let whole = fs::metadata(study.layout.journal()).unwrap().len();
    let before = bytes("counts of this thread");
    assert_eq!(follower.refresh().unwrap().entries.len(), 1);
    assert_eq!(follower.refresh().unwrap().entries.len(), 0);
    let read = bytes("counts of this thread") - before;
    assert!(read < 8_000 && whole > 400_000, "{read} of {whole} bytes read");
}
