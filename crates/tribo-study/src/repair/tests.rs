//! Journals of studies by hand, which leave nothing but the journal, damaged in every way.

use super::*;
use crate::by_hand::ByHand;
use crate::job::Finding;
use crate::outputs::VALUE;
use std::path::Path;
use tribo::surrogate::watch::Unwatched;

const FILE: &str = "study_version = 1\ndirection = \"maximize\"\nseed = 5\n[[parameter]]\nname = \"x\"\n\
                    type = \"float\"\nlow = 0\nhigh = 1\n[strategy]\nname = \"bo\"\ninitial = 3\n";

/// A study with eight trials, of which the last is pending, and the lines of its journal.
fn study(folder: &Path) -> (Layout, Vec<Vec<u8>>) {
    let layout = Layout::of(&folder.join("study.toml"));
    fs::write(layout.file(), FILE).unwrap();
    let mut study = ByHand::take_new(&layout).unwrap();
    for trial in 0..8 {
        let asked = study.ask(1, &Unwatched).unwrap();
        let x = asked[0].point.numbers()[0];
        if trial < 7 {
            study.tell(trial, &Finding::answered(VALUE, x * (1.0 - x))).unwrap();
        }
    }
    study.close("test").unwrap();
    let bytes = fs::read(layout.journal()).unwrap();
    (layout, bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect())
}

/// Points and outcomes of all trials.
fn trials(layout: &Layout) -> Vec<(u64, Option<Finding>)> {
    let mut study = ByHand::read(layout).unwrap();
    let (ledger, points) = study.both().unwrap();
    let point = |id| points.at(id).unwrap().1.numbers()[0].to_bits();
    ledger.trials().map(|(id, state)| (point(id), state.outcome.clone())).collect()
}

fn repaired(layout: &Layout, lines: &[Vec<u8>]) -> Repaired {
    fs::write(layout.journal(), lines.concat()).unwrap();
    let repaired = repair(layout).unwrap();
    assert!(repair(layout).unwrap().is_nothing());
    repaired
}

#[test]
fn one_damaged_record_costs_at_most_what_it_said() {
    let folder = tempfile::tempdir().unwrap();
    let (layout, lines) = study(folder.path());
    let before = trials(&layout);
    for record in 0..lines.len() {
        let mut damaged = lines.clone();
        let middle = damaged[record].len() / 2;
        damaged[record][middle] ^= 1;
        let repaired = repaired(&layout, &damaged);
        let after = trials(&layout);
        // A trial whose asking is lost is asked again, and nothing else is missing: it is the same.
        let lost: Vec<usize> =
            (0..before.len()).filter(|&trial| after.get(trial) != Some(&before[trial])).collect();
        let holds = |what: &str| String::from_utf8_lossy(&lines[record]).contains(what);
        let last = record + 2 == lines.len();
        assert_eq!(lost.len(), usize::from(holds("\"told\"") || last), "record {record}: {repaired:?}");
        assert_eq!(repaired.lost.len(), 1, "{repaired:?}");
        ByHand::read(&layout).unwrap().ask(1, &Unwatched).unwrap();
    }
}

/// The line of a record with something replaced.
fn replaced(line: &[u8], from: &str, to: &str) -> Vec<u8> {
    let line = String::from_utf8(line.to_vec()).unwrap();
    let json = line.splitn(3, ' ').nth(2).unwrap().trim_end().replace(from, to);
    format!("{:08x} {} {json}\n", crc32c::crc32c(json.as_bytes()), json.len()).into_bytes()
}

#[test]
fn an_outcome_whose_point_is_not_certain_is_named_and_not_told() {
    let folder = tempfile::tempdir().unwrap();
    let (layout, mut lines) = study(folder.path());
    let before = trials(&layout);
    let version = format!("\"tribo\":\"{}\"", env!("CARGO_PKG_VERSION"));
    // Another program may have asked for another point.
    for line in &mut lines[..2] {
        *line = replaced(line, &version, "\"tribo\":\"0.0.9\"");
    }
    lines[2] = b"damaged\n".to_vec();
    let repaired = repaired(&layout, &lines);
    let after = trials(&layout);
    let values =
        |trials: &[(u64, Option<Finding>)]| trials.iter().filter(|(_, finding)| finding.is_some()).count();
    assert_eq!((after.len(), values(&after)), (before.len(), values(&before) - 1));
    assert!(
        repaired.lost.iter().any(|text| text.contains("of trial 0, whose point is not certain")),
        "{repaired:?}"
    );
}

#[test]
fn what_follows_a_hole_keeps_its_points_and_values() {
    let folder = tempfile::tempdir().unwrap();
    let (layout, lines) = study(folder.path());
    let before = trials(&layout);
    for record in 2..lines.len() - 6 {
        let mut damaged = lines.clone();
        damaged.splice(record..record + 3, [vec![b'?'; 200]]);
        let repaired = repaired(&layout, &damaged);
        let after = trials(&layout);
        let lost = before.iter().filter(|trial| !after.contains(trial)).count();
        assert!(
            lost <= 2 && after.len() == before.len(),
            "record {record}: {repaired:?} {before:?} {after:?}"
        );
        ByHand::read(&layout).unwrap().ask(1, &Unwatched).unwrap();
    }
}

#[test]
fn garbage_and_repetitions_cost_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (layout, lines) = study(folder.path());
    let before = trials(&layout);
    for at in 1..lines.len() {
        for what in
            [b"garbage".to_vec(), vec![0; 5_000], b"\n\n".to_vec(), lines[at - 1].clone(), lines[1].clone()]
        {
            let mut damaged = lines.clone();
            damaged.insert(at, what);
            let repaired = repaired(&layout, &damaged);
            assert_eq!(trials(&layout), before, "before record {at}: {repaired:?}");
            assert_eq!(repaired.lost, [""; 0]);
        }
    }
}

#[test]
fn the_damaged_journal_stays_and_copies_are_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let (layout, lines) = study(folder.path());
    let mut written = vec![];
    for cut in [5, 9] {
        let damaged = [&lines.concat()[..], &lines[cut][..cut]].concat();
        repaired(&layout, std::slice::from_ref(&damaged));
        written.push(damaged);
    }
    for (number, bytes) in (1..).zip(written) {
        assert_eq!(fs::read(layout.store().join(format!("journal.damaged-{number}"))).unwrap(), bytes);
    }
}

#[test]
fn a_whole_journal_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (layout, lines) = study(folder.path());
    assert!(repair(&layout).unwrap().is_nothing());
    assert_eq!(fs::read(layout.journal()).unwrap(), lines.concat());
}

#[test]
fn a_journal_of_a_newer_version_is_not_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let (layout, lines) = study(folder.path());
    let line = replaced(&lines[0], &format!("\"version\":{}", Format::NEWEST.version), "\"version\":99");
    let newer = [line, lines[1..].concat()].concat();
    fs::write(layout.journal(), &newer).unwrap();
    assert!(matches!(repair(&layout), Err(Error::Newer { .. })));
    assert_eq!(fs::read(layout.journal()).unwrap(), newer);
}

/// A study of two chapters, the second in narrower bounds, and the lines of its journal.
fn two_chapters(folder: &Path) -> (Layout, Vec<Vec<u8>>) {
    let layout = Layout::of(&folder.join("study.toml"));
    fs::write(layout.file(), FILE).unwrap();
    let evaluate = |study: &mut ByHand, n: usize| {
        for _ in 0..n {
            let asked = study.ask(1, &Unwatched).unwrap();
            let x = asked[0].point.numbers()[0];
            study.tell(asked[0].id.0, &Finding::answered(VALUE, x * (1.0 - x))).unwrap();
        }
    };
    let mut study = ByHand::take_new(&layout).unwrap();
    evaluate(&mut study, 6);
    study.close("test").unwrap();
    fs::write(layout.file(), FILE.replace("low = 0", "low = 0.25")).unwrap();
    let how = owned::How { take_over: false, new_chapter: true };
    let mut study = ByHand::take_as(&layout, how).unwrap();
    evaluate(&mut study, 4);
    study.close("test").unwrap();
    let bytes = fs::read(layout.journal()).unwrap();
    (layout, bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect())
}

#[test]
fn chapters_survive_the_damage_of_any_record() {
    let folder = tempfile::tempdir().unwrap();
    let (layout, lines) = two_chapters(folder.path());
    let before = trials(&layout);
    assert_eq!(before.len(), 10);
    // The first record is another matter: the study file that it held is gone.
    for record in 1..lines.len() {
        let mut damaged = lines.clone();
        let middle = damaged[record].len() / 2;
        damaged[record][middle] ^= 1;
        let repaired = repaired(&layout, &damaged);
        let after = trials(&layout);
        let told = String::from_utf8_lossy(&lines[record]).contains("\"told\"");
        let missing = before.iter().filter(|one| !after.contains(one)).count();
        assert!(missing <= usize::from(told), "record {record}: {repaired:?}\n{before:?}\n{after:?}");
        assert_eq!(ByHand::read(&layout).unwrap().both().unwrap().0.chapters().len(), 2, "record {record}");
    }
}
