//! Answers good and bad, in numbers, and in order.

use super::*;
use crate::job::Finding;
use crate::store::Store;
use crate::store::fixture::{Study, answer, first_attempt, names, study_id};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

fn json(answer: &Answer) -> Vec<u8> {
    serde_json::to_vec(answer).unwrap()
}

/// The study rejects this file, for this reason, and sets it aside.
fn rejects(study: &mut Study, name: &str, reason: &str) {
    let (answers, complaints) = study.disk.harvest().unwrap();
    assert_eq!(answers, [], "{reason}");
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    assert!(complaints[0].contains(reason) && complaints[0].contains(name), "{complaints:?}");
    assert_eq!(names(&study.layout.spool("done")), [""; 0]);
    assert!(study.layout.spool("seen").join(format!("rejected-{name}")).symlink_metadata().is_ok());
    assert_eq!(study.disk.harvest().unwrap(), (vec![], vec![]), "a complaint is made once");
}

#[test]
fn an_answer_is_given_once_and_again_to_the_next_driver_until_it_is_settled() {
    let mut study = Study::with(2);
    study.leave_answer(0);
    study.leave_answer(1);
    let (answers, complaints) = study.disk.harvest().unwrap();
    assert_eq!((answers.len(), complaints.len()), (2, 0));
    assert_eq!(study.disk.harvest().unwrap().0, []);
    study.disk.settle(&answers[0]).unwrap();
    study.disk.settle(&answers[0]).unwrap();
    assert_eq!(names(&study.layout.spool("seen")), ["000000.a1.i0.json"]);
    let Study { layout, disk, folder: _folder } = study;
    drop(disk);
    let (mut disk, _, _) = crate::store::Disk::open(&layout, false).unwrap();
    assert_eq!(disk.harvest().unwrap().0, answers[1..]);
    // Also one that this driver never gave.
    disk.settle(&answers[1]).unwrap();
    assert_eq!(names(&layout.spool("done")), [""; 0]);
}

#[test]
fn a_thousand_answers_come_in_one_harvest_oldest_first() {
    let mut study = Study::with(1200);
    let now = SystemTime::now();
    for trial in 0..1000 {
        let path = study.leave_answer(trial);
        // The later the trial, the older its answer; ten at a time share a moment and come by name.
        let time = now - Duration::from_secs(trial / 10);
        File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }
    let (answers, complaints) = study.disk.harvest().unwrap();
    assert_eq!(complaints, [""; 0]);
    let trials: Vec<u64> = answers.iter().map(|answer| answer.id.trial).collect();
    let expected: Vec<u64> = (0..100).rev().flat_map(|ten| (0..10).map(move |one| 10 * ten + one)).collect();
    assert_eq!(trials, expected);
    answers.iter().for_each(|answer| study.disk.settle(answer).unwrap());
    assert_eq!(names(&study.layout.spool("seen")).len(), 1000);
    // Another two hundred push the oldest out.
    for trial in 1000..1200 {
        study.leave_answer(trial);
    }
    for answer in study.disk.harvest().unwrap().0 {
        study.disk.settle(&answer).unwrap();
    }
    let seen = names(&study.layout.spool("seen"));
    assert!((1000..=1100).contains(&seen.len()), "{}", seen.len());
    assert!(seen.iter().any(|name| name.starts_with("001199")), "the newest stay");
    assert!(!seen.iter().any(|name| name.starts_with("000990")), "the oldest go");
}

#[test]
fn duplicates_and_late_answers_are_for_the_driver_to_judge() {
    let mut study = Study::with(1);
    let id = first_attempt(0);
    let good = answer(&study_id(), id);
    let duplicate = Answer { finding: Finding::none(Kind::Duplicate, ""), ..good.clone() };
    let later = Answer { incarnation: 1, ..good.clone() };
    study.leave_answer(0);
    study.leave("000000.a1.i0.dup-99.json", json(&duplicate));
    study.leave("000000.a1.i1.json", json(&later));
    let (answers, complaints) = study.disk.harvest().unwrap();
    assert_eq!((answers.len(), complaints.len()), (3, 0));
    for record in crate::store::fixture::ended(&good) {
        study.disk.append(&record).unwrap();
    }
    study.disk.sync().unwrap();
    for answer in [&good, &duplicate, &later] {
        assert!(answers.contains(answer));
        study.disk.settle(answer).unwrap();
    }
    assert_eq!(names(&study.layout.spool("done")), [""; 0]);
    study.leave("000000.a1.i2.json", json(&Answer { incarnation: 2, ..good }));
    assert_eq!(study.disk.harvest().unwrap().0.len(), 1, "after its attempt has ended");
}

#[test]
fn what_is_under_way_or_left_by_nfs_is_not_looked_at() {
    let mut study = Study::with(1);
    study.leave(".nfs0000000000001", "half");
    fs::write(study.layout.spool("tmp").join("000000.a1.i0.json"), "half").unwrap();
    assert_eq!(study.disk.harvest().unwrap(), (vec![], vec![]));
}

#[test]
fn files_that_are_not_answers_are_set_aside_with_a_reason() {
    let name = "000000.a1.i0.json";
    let mut study = Study::with(2);
    let good = answer(&study_id(), first_attempt(0));
    let study_of_another = crate::tag::StudyId::from_bits(8);
    let wrong_tag = answer(&study_of_another, first_attempt(0));
    let other_trial = Answer { tag: answer(&study_id(), first_attempt(1)).tag, ..good.clone() };
    let unknown = answer(&study_id(), first_attempt(9));
    let second = answer(&study_id(), AttemptId { trial: 0, attempt: 2 });
    let newer = Answer { version: JOB_VERSION + 1, ..good.clone() };
    let bytes = json(&good);
    let large = [&bytes[..], &vec![b' '; LARGEST as usize]].concat();
    let cases: [(&str, &[u8], &str); 9] = [
        (name, &json(&wrong_tag), "not that of attempt"),
        (name, &json(&other_trial), "not that of attempt"),
        (name, &json(&unknown), "never submitted"),
        ("000000.a2.i0.json", &json(&second), "never submitted"),
        ("000001.a1.i0.json", &bytes, "its name does not say"),
        (name, &json(&newer), "version 2"),
        (name, &bytes[..bytes.len() - 1], "cannot be parsed"),
        (name, b"", "cannot be parsed"),
        (name, &large, "larger than"),
    ];
    for (name, content, reason) in cases {
        study.leave(name, content);
        rejects(&mut study, name, reason);
    }
    let largest = [&bytes[..], &vec![b' '; LARGEST as usize - bytes.len()]].concat();
    study.leave(name, largest);
    assert_eq!(study.disk.harvest().unwrap().0.len(), 1);
}

#[test]
fn links_folders_and_pipes_are_not_opened() {
    let name = "000000.a1.i0.json";
    let mut study = Study::with(1);
    let good = study.folder.path().join("good.json");
    fs::write(&good, json(&answer(&study_id(), first_attempt(0)))).unwrap();
    let path = study.layout.spool("done").join(name);
    std::os::unix::fs::symlink(&good, &path).unwrap();
    rejects(&mut study, name, "a symbolic link");
    fs::remove_file(study.layout.spool("seen").join(format!("rejected-{name}"))).unwrap();
    fs::create_dir(&path).unwrap();
    rejects(&mut study, name, "not a regular file");
    fs::remove_dir(study.layout.spool("seen").join(format!("rejected-{name}"))).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    rejects(&mut study, name, "not a regular file");
}

#[test]
fn a_file_of_another_user_is_rejected() {
    let name = "000000.a1.i0.json";
    let mut study = Study::with(1);
    let path = study.leave_answer(0);
    if std::os::unix::fs::chown(&path, Some(65534), None).is_err() {
        println!("skipped: giving a file away takes root");
        return;
    }
    rejects(&mut study, name, "belongs to user 65534");
}

#[test]
fn a_file_that_others_may_write_is_rejected_if_they_can_enter_the_store() {
    let name = "000000.a1.i0.json";
    let mut study = Study::with(2);
    let writable = || fs::Permissions::from_mode(0o664);
    fs::set_permissions(study.leave_answer(1), writable()).unwrap();
    let (answers, _) = study.disk.harvest().unwrap();
    assert_eq!(answers.len(), 1, "as a umask of 002 leaves it, in a closed store");
    study.disk.settle(&answers[0]).unwrap();
    fs::set_permissions(study.leave_answer(0), writable()).unwrap();
    fs::set_permissions(study.layout.store(), fs::Permissions::from_mode(0o750)).unwrap();
    rejects(&mut study, name, "others may write it");
}
