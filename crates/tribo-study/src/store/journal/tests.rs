//! Torn tails, damage at every byte, failing media, and the time a replay takes.

use super::*;
use crate::job::{Finding, Kind};
use crate::outputs::VALUE;
use crate::store::record::Record;
use crate::tag::{AttemptId, StudyId, Tag};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};
use tribo::trial::{Purpose, Trial, TrialId};

/// A study with `told` trials that have an outcome and `running` that have none.
fn study(told: u64, running: u64) -> Vec<Entry> {
    let id = StudyId::from_bits(4711);
    let text = |text: &str| text.to_owned();
    let mut records = vec![
        Record::Created {
            format: Format::FIRST,
            study: id.clone(),
            config: text("seed = 1\n"),
            engine: None,
            tribo: text("0.1.0"),
        },
        Record::Opened { host: text("login1"), pid: 4000, tribo: text("0.1.0") },
    ];
    for trial in 0..told + running {
        let attempt = AttemptId { trial, attempt: 1 };
        let coordinate = |i: u64| ((trial * 10 + i) as f64 * 0.618_033_988_749_894_9).fract();
        let z = (0..10).map(coordinate).collect();
        let value = coordinate(10);
        records.push(Record::Asked {
            trial: Trial {
                id: TrialId(trial),
                embedding: 0,
                z,
                purpose: Purpose::Exploit,
                recipe: None,
                decision: None,
            },
            by_hand: false,
        });
        records.push(Record::Intended { id: attempt, tag: Tag::new(&id, attempt).unwrap() });
        records.push(Record::Submitted { id: attempt, job: trial.to_string() });
        if trial < told {
            records.push(Record::Ended {
                id: attempt,
                finding: Finding::answered(VALUE, value),
                wall_s: Some(465.25),
                host: text("node17"),
            });
            records.push(Record::Told { trial, finding: Finding::answered(VALUE, value) });
        }
    }
    let ms = 1_700_000_000_000;
    let number = |(n, record)| Entry { n: n as u64, epoch: 1, ms: ms + n as u64, record };
    records.into_iter().enumerate().map(number).collect()
}

/// The lines of records, and where each begins.
fn lines(entries: &[Entry]) -> (Vec<u8>, Vec<usize>) {
    let (mut bytes, mut starts) = (vec![], vec![]);
    for entry in entries {
        starts.push(bytes.len());
        encode(entry, &mut bytes).unwrap();
    }
    (bytes, starts)
}

fn fold(entries: &[Entry]) -> Ledger {
    let mut ledger = Ledger::begin(&entries[0]).unwrap();
    entries[1..].iter().for_each(|entry| ledger.apply(entry).unwrap());
    ledger
}

fn read(bytes: &[u8]) -> Result<Replay> {
    replay_from(Path::new("journal"), bytes, bytes.len() as u64)
}

#[test]
fn a_journal_reads_back_and_is_readable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let entries = study(3, 2);
    let mut journal = Journal::create(&path, &entries[..2]).unwrap();
    for entry in &entries[2..] {
        journal.append(entry).unwrap();
    }
    assert_eq!(replay(&path).unwrap().ledger, fold(&entries[..2]), "nothing is written before a sync");
    journal.sync().unwrap();
    assert!(journal.is_synced());
    let replay = replay(&path).unwrap();
    assert_eq!(replay.ledger, fold(&entries));
    assert_eq!(replay.whole, replay.length);
    let text = std::fs::read_to_string(&path).unwrap();
    let line = text.lines().nth(3).unwrap();
    let json = r#"{"n":3,"epoch":1,"ms":1700000000003,"type":"intended","trial":0,"attempt":1,"tag":"s0003mve00000a1"}"#;
    let checksum = crc32c::crc32c(json.as_bytes());
    assert_eq!(line, format!("{checksum:08x} {} {json}", json.len()));
}

#[test]
fn a_last_record_cut_at_any_byte_is_dropped_and_appending_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let entries = study(1, 0);
    let (bytes, starts) = lines(&entries);
    let last = *starts.last().unwrap();
    let before = fold(&entries[..entries.len() - 1]);
    for cut in last..bytes.len() {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        let replay_cut = replay(&path).unwrap();
        assert_eq!((&replay_cut.ledger, replay_cut.whole), (&before, last as u64), "cut at {cut}");
        assert_eq!(replay_cut.length, cut as u64);
        assert_eq!(std::fs::read(&path).unwrap(), bytes[..cut], "a reader changes nothing");
        let mut journal = Journal::open(&path, replay_cut.whole, replay_cut.length).unwrap();
        journal.append(entries.last().unwrap()).unwrap();
        journal.sync().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "cut at {cut}");
    }
}

#[test]
fn a_tail_of_zeros_or_rubbish_is_torn_too() {
    let entries = study(1, 0);
    let (bytes, _) = lines(&entries);
    for tail in [&[0; 4096][..], b"\n", b"deadbeef 99999999999 {", &bytes[..bytes.len() / 16]] {
        let replay = read(&[&bytes, tail].concat()).unwrap();
        assert_eq!((replay.ledger, replay.whole), (fold(&entries), bytes.len() as u64));
    }
}

#[test]
fn any_flipped_bit_before_the_last_record_is_found_at_its_offset() {
    let entries = study(1, 0);
    let (bytes, starts) = lines(&entries);
    // Also the last but one: then a single whole record follows the damage.
    for record in [0, 3, starts.len() - 2] {
        for byte in starts[record]..starts[record + 1] {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[byte] ^= 1 << bit;
                match read(&damaged) {
                    Err(Error::Corrupt { offset, .. }) => {
                        assert_eq!(offset, starts[record] as u64, "byte {byte} bit {bit}");
                    }
                    other => panic!("byte {byte} bit {bit}: {other:?}"),
                }
            }
        }
    }
}

#[test]
fn a_flipped_bit_in_the_last_record_drops_it() {
    let entries = study(1, 0);
    let (bytes, starts) = lines(&entries);
    let before = fold(&entries[..entries.len() - 1]);
    for byte in *starts.last().unwrap()..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[byte] ^= 4;
        assert_eq!(read(&damaged).unwrap().ledger, before, "byte {byte}");
    }
}

#[test]
fn records_that_do_not_add_up_are_refused_with_their_offset() {
    let mut entries = study(2, 0);
    entries.remove(5);
    let (bytes, starts) = lines(&entries);
    let error = read(&bytes).unwrap_err();
    assert!(matches!(&error, Error::Corrupt { offset, .. } if *offset == starts[5] as u64), "{error}");
    for (text, what) in [("", "no whole record"), ("x\n", "no whole record")] {
        assert!(read(text.as_bytes()).unwrap_err().to_string().contains(what));
    }
    // Whole, but not a record this program knows: not a torn tail.
    let mut bytes = lines(&study(1, 0)).0;
    let json = br#"{"n":7,"epoch":1,"ms":0,"type":"renamed"}"#;
    write!(bytes, "{:08x} {} ", crc32c::crc32c(json), json.len()).unwrap();
    bytes.extend_from_slice(json);
    bytes.push(b'\n');
    assert!(read(&bytes).unwrap_err().to_string().contains("renamed"));
}

#[test]
fn a_newer_version_is_named() {
    let json = br#"{"n":0,"epoch":1,"ms":0,"type":"made","version":3,"study":{"id":"new"}}"#;
    let mut bytes = format!("{:08x} {} ", crc32c::crc32c(json), json.len()).into_bytes();
    bytes.extend_from_slice(json);
    bytes.push(b'\n');
    let said = read(&bytes).unwrap_err().to_string();
    assert!(
        said.contains("was written by a newer tribo (format 3.0; this program reads up to 2.5)"),
        "{said}"
    );
}

#[test]
fn a_record_that_a_newer_program_added_is_no_damage() {
    let journal = |records: &[&str]| {
        let mut bytes = vec![];
        for json in records {
            writeln!(bytes, "{:08x} {} {json}", crc32c::crc32c(json.as_bytes()), json.len()).unwrap();
        }
        read(&bytes)
    };
    let created = r#"{"n":0,"epoch":1,"ms":5,"type":"created","version":1,"study":"abc123","config":"x"}"#;
    let raised = r#"{"n":1,"epoch":1,"ms":5,"type":"raised","version":2,"minor":9,"tribo":"7.0.0"}"#;
    let unknown = r#"{"n":2,"epoch":1,"ms":5,"type":"chapter","engine":"bo"}"#;
    assert_eq!(journal(&[created, raised]).unwrap().ledger.format, Format { version: 2, minor: 9 });
    let said = journal(&[created, raised, unknown]).unwrap_err().to_string();
    assert!(said.contains("newer tribo (format 2.9; this program reads up to 2.5)"), "{said}");
    let here = raised.replace(",\"minor\":9", "");
    assert!(matches!(journal(&[created, &here, unknown]), Err(Error::Corrupt { .. })));
    assert!(matches!(
        journal(&[created, &here, &here.replace("\"n\":1", "\"n\":2")]),
        Err(Error::Corrupt { .. })
    ));
}

#[test]
fn an_old_journal_with_unknown_and_without_optional_members_replays() {
    let records = [
        r#"{"type":"created","n":0,"epoch":1,"ms":5,"version":1,"study":"abc123","config":"x","mood":[1,{"n":2}]}"#,
        r#"{"n":1,"epoch":1,"ms":6,"type":"opened"}"#,
        r#"{"n":2,"epoch":1,"ms":7,"type":"asked","trial":{"id":0,"embedding":0,"z":[1],"purpose":"initial","eta":2}}"#,
        r#"{"n":3,"epoch":1,"ms":8,"type":"intended","trial":0,"attempt":1,"tag":"sabc123e00000a1"}"#,
        r#"{"n":4,"epoch":1,"ms":9,"type":"ended","trial":0,"attempt":1,"kind":"lost"}"#,
        r#"{"n":5,"epoch":1,"ms":10,"type":"told","trial":0,"outcome":"failed"}"#,
    ];
    let mut bytes = vec![];
    for json in records {
        writeln!(bytes, "{:08x} {} {json}", crc32c::crc32c(json.as_bytes()), json.len()).unwrap();
    }
    let ledger = read(&bytes).unwrap().ledger;
    assert_eq!((ledger.created_ms, ledger.last_ms, ledger.next), (5, 10, 6));
    let end = ledger.attempt(AttemptId { trial: 0, attempt: 1 }).unwrap().end.clone().unwrap();
    assert_eq!((end.finding, end.wall_s), (Finding::none(Kind::Lost, ""), None));
    assert_eq!(ledger.trial(0).unwrap().outcome, Some(Finding::failed("")));
}

#[test]
fn a_record_that_json_cannot_hold_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let entries = study(0, 0);
    let mut journal = Journal::create(&path, &entries).unwrap();
    let finding = Finding::measured(crate::outputs::Outputs::one(VALUE, f64::NAN));
    let bad = Entry { n: 2, epoch: 1, ms: 0, record: Record::Told { trial: 0, finding } };
    assert!(journal.append(&bad).is_err());
    journal.sync().unwrap();
    assert_eq!(replay(&path).unwrap().ledger, fold(&entries));
}

/// A file in memory whose operations fail on demand.
#[derive(Default)]
struct Faulty {
    bytes: Vec<u8>,
    /// Writes stop with "no space" at this length.
    capacity: Option<usize>,
    sync_error: Option<io::ErrorKind>,
    truncate_fails: bool,
}

impl Medium for Arc<Mutex<Faulty>> {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.lock().unwrap();
        let room = file.capacity.map_or(usize::MAX, |capacity| capacity.saturating_sub(file.bytes.len()));
        file.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if bytes.len() > room { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn sync(&mut self) -> io::Result<()> {
        self.lock().unwrap().sync_error.map_or(Ok(()), |kind| Err(kind.into()))
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        let mut file = self.lock().unwrap();
        if file.truncate_fails {
            return Err(io::ErrorKind::Other.into());
        }
        file.bytes.truncate(length as usize);
        Ok(())
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.lock().unwrap().bytes.len() as u64)
    }
}

fn faulty() -> (Journal, Arc<Mutex<Faulty>>, Vec<Entry>) {
    let entries = study(2, 1);
    let file = Arc::new(Mutex::new(Faulty { bytes: lines(&entries[..2]).0, ..Faulty::default() }));
    let length = file.lock().unwrap().bytes.len() as u64;
    (Journal::over(Path::new("journal"), Box::new(Arc::clone(&file)), length), file, entries)
}

#[test]
fn a_full_disk_is_taken_back_and_written_when_there_is_space() {
    let (mut journal, file, entries) = faulty();
    let start = file.lock().unwrap().bytes.len();
    let (all, _) = lines(&entries);
    for entry in &entries[2..] {
        journal.append(entry).unwrap();
    }
    for room in 0..all.len() - start {
        file.lock().unwrap().capacity = Some(start + room);
        // Every third time the truncation fails as well, and is made up for later.
        file.lock().unwrap().truncate_fails = room % 3 == 0;
        let error = journal.sync().unwrap_err();
        assert!(matches!(&error, Error::Io { source, .. } if is_full(source) || room % 3 == 1), "{error}");
        file.lock().unwrap().truncate_fails = false;
        if room % 3 != 0 {
            assert_eq!(file.lock().unwrap().bytes.len(), start, "room {room}");
        }
        assert!(!journal.is_synced());
    }
    file.lock().unwrap().capacity = None;
    journal.sync().unwrap();
    assert_eq!(file.lock().unwrap().bytes, all);
}

#[test]
fn a_sync_that_finds_the_disk_full_is_taken_back_too() {
    let (mut journal, file, entries) = faulty();
    journal.append(&entries[2]).unwrap();
    file.lock().unwrap().sync_error = Some(io::ErrorKind::QuotaExceeded);
    assert!(journal.sync().is_err());
    assert_eq!(file.lock().unwrap().bytes, lines(&entries[..2]).0);
    file.lock().unwrap().sync_error = None;
    journal.sync().unwrap();
    assert_eq!(file.lock().unwrap().bytes, lines(&entries[..3]).0);
}

#[test]
fn a_sync_that_fails_otherwise_ends_the_writer() {
    let (mut journal, file, entries) = faulty();
    journal.append(&entries[2]).unwrap();
    file.lock().unwrap().sync_error = Some(io::ErrorKind::Other);
    assert!(journal.sync().is_err());
    file.lock().unwrap().sync_error = None;
    let error = journal.sync().unwrap_err();
    assert!(error.to_string().contains("an earlier sync failed"), "{error}");
}

#[test]
fn a_journal_that_someone_else_changes_is_left_alone() {
    let (mut journal, file, entries) = faulty();
    journal.append(&entries[2]).unwrap();
    file.lock().unwrap().bytes.push(b'x');
    let found = file.lock().unwrap().bytes.clone();
    let error = journal.sync().unwrap_err();
    assert!(error.to_string().contains("someone else"), "{error}");
    assert_eq!(file.lock().unwrap().bytes, found);
}

proptest! {
    #[test]
    fn random_bytes_are_never_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        prop_assert!(read(&bytes).is_err());
    }

    /// Damage of any length anywhere, also where a header, a length or an end of line stood.
    #[test]
    fn rubbish_within_a_journal_is_never_a_panic(
        at in any::<prop::sample::Index>(),
        rubbish in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'9'), Just(b' '), Just(b'\n')], 0..60),
        removed in 0..60usize,
    ) {
        let entries = study(2, 1);
        let (bytes, starts) = lines(&entries);
        let at = at.index(bytes.len());
        let damaged = [&bytes[..at], &rubbish, &bytes[(at + removed).min(bytes.len())..]].concat();
        let first_hit = starts.iter().filter(|&&start| start <= at).count() - 1;
        match read(&damaged) {
            // Nothing before the damage is lost, and nothing is made up.
            Ok(replay) => prop_assert!(replay.ledger.next as usize >= first_hit && replay.ledger.next <= 15),
            Err(Error::Corrupt { offset, .. }) => prop_assert!(offset >= starts[first_hit] as u64),
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}

/// Seconds this thread has been on a processor: other tests, and other people, do not count.
fn processor_seconds() -> f64 {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    schedstat.split(' ').next().unwrap().parse::<f64>().unwrap() * 1e-9
}

/// The bar is the 3 s that a study of this size may take to resume as a whole in a release build, which `tribo-bench local`
/// measures. This build takes 1.2 s alone, and up to half more beside other tests; what is caught here is a replay whose
/// time grows faster than its journal.
#[test]
fn a_study_of_a_hundred_thousand_trials_replays_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let entries = study(100_000, 1_000);
    Journal::create(&path, &entries).unwrap();
    let seconds = [(); 3].map(|()| {
        let start = processor_seconds();
        let replay = replay(&path).unwrap();
        assert_eq!(replay.ledger.next as usize, entries.len());
        assert_eq!(replay.ledger.open().len(), 1_000);
        processor_seconds() - start
    });
    let best = seconds.into_iter().fold(f64::INFINITY, f64::min);
    println!("{} records: {best:.3} s", entries.len());
    assert!(best < 3.0, "{seconds:?} s");
}
