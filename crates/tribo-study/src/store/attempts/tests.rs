//! Attempt folders and requests.

use super::*;
use crate::config::Deck;
use crate::job::ANSWER_FILE;
use crate::store::fixture::{Study, first_attempt, names, spec};
use crate::store::{Request, Store, request};
use std::os::unix::fs::symlink;

#[test]
fn a_prepared_attempt_has_its_two_files_and_nothing_old() {
    let Study { layout, mut disk, folder: _folder } = Study::with(1);
    let id = first_attempt(0);
    let folder = disk.dir(id);
    assert_eq!(disk.prepare(&spec(id), b"{\"x\":1}").unwrap(), Prepared::Ready(folder.clone()));
    assert!(folder.is_absolute() && folder == layout.attempt(id));
    fs::write(folder.join("results.out"), "stale").unwrap();
    disk.prepare(&spec(id), b"{\"x\":2}").unwrap();
    assert_eq!(names(&folder), [SPEC_FILE, PARAMS_FILE]);
    assert_eq!(fs::read(folder.join(PARAMS_FILE)).unwrap(), b"{\"x\":2}");
    let job = fs::read(folder.join(SPEC_FILE)).unwrap();
    assert_eq!(serde_json::from_slice::<Spec>(&job).unwrap(), spec(id));
    // A job may be in there: the one that is wanted, or another.
    fs::write(folder.join(CLAIM_FILE), "{}").unwrap();
    assert_eq!(disk.prepare(&spec(id), b"").unwrap(), Prepared::Claimed { same: true });
    let other = Spec { params_digest: "other".to_owned(), ..spec(id) };
    assert_eq!(disk.prepare(&other, b"").unwrap(), Prepared::Claimed { same: false });
    assert_eq!(names(&folder), [CLAIM_FILE, SPEC_FILE, PARAMS_FILE]);
}

#[test]
fn an_attempt_is_revoked_unless_a_job_was_first() {
    let Study { layout, mut disk, folder: _folder } = Study::with(1);
    let [one, two, three] = [1, 2, 3].map(|attempt| AttemptId { trial: 0, attempt });
    // Before its folder was made, and again after a crash.
    assert_eq!(disk.revoke(one).unwrap(), Claim::Taken);
    assert_eq!(disk.revoke(one).unwrap(), Claim::Taken);
    assert_eq!(names(&layout.attempt(one)), [CLAIM_FILE]);
    // A job's claim, and one that is only being written.
    for (id, claim) in [(two, r#"{"owner":"sab12cde00000a2","job":"17"}"#), (three, "")] {
        let folder = disk.dir(id);
        disk.prepare(&spec(id), b"{}").unwrap();
        fs::write(folder.join(CLAIM_FILE), claim).unwrap();
        assert_eq!(disk.revoke(id).unwrap(), Claim::Held);
        assert_eq!(fs::read_to_string(folder.join(CLAIM_FILE)).unwrap(), claim);
    }
}

#[test]
fn discarding_takes_the_bulk_or_everything_and_nothing_outside() {
    let Study { layout, mut disk, folder: home } = Study::with(1);
    let [one, two] = [1, 2].map(|attempt| AttemptId { trial: 0, attempt });
    let outside = home.path().join("precious");
    fs::write(&outside, vec![b' '; 100_000]).unwrap();
    let deck = |to: &str| Deck { template: "t".into(), to: to.into(), open: "{{".into(), close: "}}".into() };
    let mut spec_one = spec(one);
    spec_one.evaluation.decks =
        ["large.in", "small.in", "absent.in", "link.in", "../../../../precious", "/"].map(deck).to_vec();
    spec_one.evaluation.decks.push(deck(outside.to_str().unwrap()));
    let folder = disk.dir(one);
    disk.prepare(&spec_one, b"{}").unwrap();
    fs::write(folder.join("large.in"), vec![b' '; SMALL as usize + 1]).unwrap();
    fs::write(folder.join("small.in"), vec![b' '; SMALL as usize]).unwrap();
    fs::write(folder.join(ANSWER_FILE), "{}").unwrap();
    symlink(&outside, folder.join("link.in")).unwrap();
    for _ in 0..2 {
        disk.discard(one, false).unwrap();
        assert_eq!(names(&folder), [SPEC_FILE, "link.in", PARAMS_FILE, ANSWER_FILE, "small.in"]);
    }
    disk.prepare(&spec(two), b"{}").unwrap();
    disk.discard(one, true).unwrap();
    assert_eq!(names(&layout.trial(0)), ["a2"]);
    disk.discard(two, true).unwrap();
    disk.discard(two, true).unwrap();
    disk.discard(two, false).unwrap();
    assert!(!layout.trial(0).exists());
    assert_eq!(fs::metadata(&outside).unwrap().len(), 100_000);
}

#[test]
fn requests_are_given_once_in_order_and_others_set_aside() {
    let Study { layout, mut disk, folder: _folder } = Study::with(1);
    assert_eq!(disk.requests().unwrap(), []);
    let asked = [Request::Cancel(3), Request::CancelAll, Request::Stop];
    asked.iter().for_each(|asked| request(&layout, asked).unwrap());
    assert_eq!(disk.requests().unwrap(), asked);
    assert_eq!(names(&layout.requests()), [""; 0]);
    fs::write(layout.requests().join("1.json"), r#"{"request":"cancel","trial":3,"why":"new"}"#).unwrap();
    fs::write(layout.requests().join("2.json"), r#"{"request":"dance"}"#).unwrap();
    fs::write(layout.requests().join(".3.json"), "half").unwrap();
    assert_eq!(disk.requests().unwrap(), [Request::Cancel(3)]);
    assert_eq!(disk.requests().unwrap(), []);
    assert_eq!(names(&layout.requests()), [".3.json", "2.rejected"]);
}
