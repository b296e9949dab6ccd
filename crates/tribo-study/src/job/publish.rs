//! Answers on their way to the driver.
//!
//! The answer is written beside the claim under a temporary name, renamed, synced, and only then linked into `spool/done`.
//! So whoever sees it in the spool sees all of it, whatever happens later. The one sync is the whole durable cost of a job:
//! syncing a new file writes its names too, on the journalling file systems of Linux, and network file systems keep names
//! on their server. The name in the spool itself is not synced. A power cut in the seconds after may take it back, but not
//! the answer in the attempt's folder, where [`Answer::read`] finds it; and one that was cut off there does not parse.
//!
//! A full disk may have room again in a while: publishing is tried for a minute before the job gives up. A folder that was
//! deleted does not come back: the answer goes to the spool alone, and if that is gone, to nobody.

use super::claim::no_links;
use super::{ANSWER_FILE, Answer, Spec};
use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

/// Bytes without room for which a disk is full.
const ROOM: usize = 4096;
/// How often publishing is tried, and how long is waited in between.
const TRIES: u32 = 60;
const PAUSE: Duration = Duration::from_secs(1);

/// Publishes the answer of an attempt, patiently.
pub(super) fn publish(dir: &Path, spool: &Path, answer: &Answer) -> io::Result<()> {
    let name = Spec::spool_name(answer.id, answer.incarnation);
    patiently(spool, || {
        if is_gone(dir) {
            return write_into(spool, answer, &name);
        }
        let temporary = dir.join(format!("{ANSWER_FILE}.tmp"));
        let path = dir.join(ANSWER_FILE);
        // Closed before it is renamed: that is when a network file system sends it.
        write_closed(&temporary, answer)?;
        fs::rename(&temporary, &path)?;
        File::open(&path)?.sync_all()?;
        link_into(spool, &path, &name)
    })
}

/// What befell the folder of an attempt, so that its failure says nothing about the point.
pub(super) fn accident(dir: &Path) -> Option<String> {
    if is_gone(dir) {
        return Some(format!("its folder {} was deleted while it ran", dir.display()));
    }
    let path = dir.join(".room");
    let is_full = fs::write(&path, [0; ROOM])
        .is_err_and(|error| matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded));
    // What is left of a write that failed is in nobody's way.
    let _ = fs::remove_file(&path);
    is_full.then(|| "it failed while the disk was full".to_owned())
}

/// Whether a folder was deleted, for certain.
fn is_gone(folder: &Path) -> bool {
    fs::symlink_metadata(folder).is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

/// Publishes again what an earlier incarnation of the job has left in the folder.
pub(super) fn publish_again(dir: &Path, spool: &Path, answer: &Answer) -> io::Result<()> {
    patiently(spool, || {
        link_into(spool, &dir.join(ANSWER_FILE), &Spec::spool_name(answer.id, answer.incarnation))
    })
}

/// Publishes the answer of a job that has no right to the attempt's folder. `job` makes its name one that no answer has.
pub(super) fn publish_duplicate(spool: &Path, answer: &Answer, job: &str) -> io::Result<()> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || ".-_".contains(c) { c } else { '-' };
    let job: String = job.chars().map(plain).collect();
    let name = format!("{}.i{}.dup-{job}.json", answer.id, answer.incarnation);
    patiently(spool, || write_into(spool, answer, &name))
}

/// Writes an answer into the spool itself.
fn write_into(spool: &Path, answer: &Answer, name: &str) -> io::Result<()> {
    let temporary = spool.join("tmp").join(name);
    write_closed(&temporary, answer)?;
    File::open(&temporary)?.sync_all()?;
    fs::rename(&temporary, spool.join("done").join(name))
}

/// Writes an answer that nobody else can change, whatever the umask: the driver of a store that others may read takes no
/// other.
fn write_closed(path: &Path, answer: &Answer) -> io::Result<()> {
    fs::write(path, serde_json::to_vec(answer)?)?;
    fs::set_permissions(path, Permissions::from_mode(0o644))
}

fn patiently(spool: &Path, mut attempt: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    for _ in 1..TRIES {
        match attempt() {
            Err(_) if !is_gone(spool) => std::thread::sleep(PAUSE),
            done => return done,
        }
    }
    attempt()
}

/// Makes a finished file visible in the spool. A name that is there already is left as it is.
fn link_into(spool: &Path, path: &Path, name: &str) -> io::Result<()> {
    match fs::hard_link(path, spool.join("done").join(name)) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) if no_links(&error) => copy_into(spool, path, name),
        linked => linked,
    }
}

/// For file systems without hard links.
fn copy_into(spool: &Path, path: &Path, name: &str) -> io::Result<()> {
    let temporary = spool.join("tmp").join(name);
    fs::copy(path, &temporary)?;
    File::open(&temporary)?.sync_all()?;
    fs::rename(&temporary, spool.join("done").join(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Finding, JOB_VERSION};
    use crate::outputs::VALUE;
    use crate::tag::{AttemptId, StudyId, Tag};

    fn answer(value: f64) -> Answer {
        let id = AttemptId { trial: 12, attempt: 1 };
        Answer {
            version: JOB_VERSION,
            id,
            tag: Tag::new(&StudyId::from_bits(7), id).unwrap(),
            incarnation: 0,
            params_digest: "00".into(),
            finding: Finding::answered(VALUE, value),
            exit_code: Some(0),
            signal: None,
            stderr_tail: String::new(),
            started: "2000-01-01T00:00:00Z".into(),
            wall_s: 1.0,
            cpu_s: 1.0,
            max_rss: 1,
            host: "node".into(),
        }
    }

    fn spool(store: &Path) -> std::path::PathBuf {
        for part in ["tmp", "done"] {
            fs::create_dir_all(store.join("spool").join(part)).unwrap();
        }
        store.join("spool")
    }

    fn read(path: &Path) -> Answer {
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    }

    #[test]
    fn folders_that_were_deleted_are_not_waited_for() {
        let store = tempfile::tempdir().unwrap();
        let (spool, gone, began) =
            (spool(store.path()), store.path().join("gone"), std::time::Instant::now());
        publish(&gone, &spool, &answer(2.5)).unwrap();
        assert_eq!(read(&spool.join("done/000012.a1.i0.json")), answer(2.5));
        fs::remove_dir_all(&spool).unwrap();
        assert!(publish(&gone, &spool, &answer(2.5)).is_err());
        assert!(began.elapsed() < 10 * PAUSE, "{:?}", began.elapsed());
    }

    #[test]
    fn fault_24_answers_are_whole_and_nothing_else_is_left() {
        let store = tempfile::tempdir().unwrap();
        let spool = spool(store.path());
        let value = f64::from_bits(0x3fb9_9999_9999_999b);
        publish(store.path(), &spool, &answer(value)).unwrap();
        let done = spool.join("done/000012.a1.i0.json");
        assert_eq!(read(&done), answer(value));
        assert_eq!(Answer::read(store.path()), Some(answer(value)));
        assert_eq!(fs::read_dir(spool.join("tmp")).unwrap().count(), 0);
        assert_eq!(fs::read_dir(store.path()).unwrap().count(), 2);
        let whole = fs::read(&done).unwrap();
        for length in 0..whole.len() {
            let torn = tempfile::tempdir().unwrap();
            fs::write(torn.path().join(ANSWER_FILE), &whole[..length]).unwrap();
            assert_eq!(Answer::read(torn.path()), None, "the first {length} bytes");
        }
        publish_again(store.path(), &spool, &answer(value)).unwrap();
        assert_eq!(fs::read_dir(spool.join("done")).unwrap().count(), 1);
    }

    #[test]
    fn duplicates_have_names_of_their_own() {
        let store = tempfile::tempdir().unwrap();
        let spool = spool(store.path());
        publish(store.path(), &spool, &answer(1.0)).unwrap();
        publish_duplicate(&spool, &answer(2.0), "pbs:7[3].head/x").unwrap();
        assert_eq!(read(&spool.join("done/000012.a1.i0.json")).finding.value(VALUE), Some(1.0));
        assert_eq!(
            read(&spool.join("done/000012.a1.i0.dup-pbs-7-3-.head-x.json")).finding.value(VALUE),
            Some(2.0)
        );
    }

    #[test]
    fn without_hard_links_the_answer_is_copied() {
        let store = tempfile::tempdir().unwrap();
        let spool = spool(store.path());
        fs::write(store.path().join("answer"), "{}").unwrap();
        copy_into(&spool, &store.path().join("answer"), "name").unwrap();
        assert_eq!(fs::read(spool.join("done/name")).unwrap(), b"{}");
        assert_eq!(fs::read_dir(spool.join("tmp")).unwrap().count(), 0);
    }

    #[test]
    fn a_spool_that_comes_back_is_waited_for() {
        let store = tempfile::tempdir().unwrap();
        let spool = store.path().join("spool");
        // One that is not there at all was deleted with its study, and is not waited for.
        fs::create_dir(&spool).unwrap();
        std::thread::scope(|scope| {
            let publishing = scope.spawn(|| publish(store.path(), &spool, &answer(3.0)));
            // The answer in the folder shows that publishing has begun; most often it has met what is missing by then.
            while !store.path().join(ANSWER_FILE).exists() {
                std::thread::yield_now();
            }
            fs::create_dir(spool.join("done")).unwrap();
            publishing.join().unwrap().unwrap();
        });
        assert_eq!(read(&spool.join("done/000012.a1.i0.json")).finding.value(VALUE), Some(3.0));
    }
}
