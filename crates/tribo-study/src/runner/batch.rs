//! What SLURM and PBS have in common: a study's jobs are scripts that end in `tribo job`, and are known by their names.

use super::array;
use super::command::{Commands, Trouble};
use super::local::LOG_FILE;
use super::{Attempt, JobRef, Submission};
use crate::job::Array;
use crate::layout::Layout;
use crate::tag::{AttemptId, StudyId, Tag};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The script of a job, in the attempt's folder or beside the array's file.
const SCRIPT_FILE: &str = "job.sh";

/// Bytes at the end of a log that are looked at.
const LAST_WORDS: usize = 2000;

/// What a runner has to know to submit jobs of a study and to find them again.
#[derive(Debug)]
pub struct Batch {
    study: StudyId,
    layout: Layout,
    program: PathBuf,
    wall: Option<Duration>,
    pub(crate) commands: Commands,
    /// Array files read so far, by tag. They never change once their array is in the queue.
    arrays: BTreeMap<String, Array>,
}

/// Shell lines around a job.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Around<'a> {
    /// Before it; the first that fails ends it.
    pub(crate) setup: &'a [String],
    /// After it, whatever came of it.
    pub(crate) epilogue: &'a [String],
}

/// One submission, on disk.
pub(crate) struct Prepared {
    /// The job name.
    pub(crate) tag: Tag,
    /// The script to submit.
    pub(crate) script: PathBuf,
    /// The folder the job belongs to.
    pub(crate) folder: PathBuf,
    /// Number of elements, if it is an array.
    pub(crate) elements: Option<usize>,
    /// Hosts to avoid.
    pub(crate) avoid: BTreeSet<String>,
    /// How often the evaluation ran out of memory before.
    pub(crate) memory_kills: u32,
}

impl Batch {
    /// Jobs of this study run `program job ...`, with a time limit of `wall` for each. Scheduler programs are on PATH.
    pub fn new(study: StudyId, layout: &Layout, program: PathBuf, wall: Option<Duration>) -> Batch {
        // Jobs start in other folders. Without a current folder there is nothing to be done about a relative path.
        let layout =
            std::path::absolute(layout.file()).map_or_else(|_| layout.clone(), |file| Layout::of(&file));
        Batch { study, layout, program, wall, commands: Commands::new(), arrays: BTreeMap::new() }
    }

    /// With scheduler programs from elsewhere, or with other time limits.
    #[must_use]
    pub fn with_commands(self, commands: Commands) -> Batch {
        Batch { commands, ..self }
    }

    /// A line for a shell that succeeds on machines where jobs of this study could run.
    pub(crate) fn is_there(&self) -> String {
        let (folder, program) = (self.layout.folder().as_os_str(), self.program.as_os_str());
        format!("test -d {} && test -x {}", quoted_text(folder), quoted_text(program))
    }

    /// The time limit of a job.
    pub(crate) fn wall(&self) -> Option<Duration> {
        self.wall
    }

    /// Whether a job name is of this study.
    pub(crate) fn owns(&self, name: &str) -> bool {
        name.strip_prefix(&Tag::prefix(&self.study)).is_some_and(|rest| rest.starts_with(['e', 'y']))
    }

    /// Whether the store has a path of plain characters, which every scheduler takes as the place of a log.
    pub(crate) fn is_plain(&self) -> bool {
        self.layout.store().as_os_str().is_ascii()
    }

    /// The line of a script that opens its log itself; `index` is the variable of an array's element.
    pub(crate) fn log_line(&self, group: &[Attempt], index: &str) -> String {
        let array = || array::array(&self.study, group).map(|array| self.layout.array(&array.tag));
        match group {
            [attempt] => format!("exec >>{} 2>&1", quoted_text(attempt.dir.join(LOG_FILE).as_os_str())),
            _ => {
                let stem = array().unwrap_or_default().with_extension("");
                format!("exec >>{}.\"${index}\".log 2>&1", quoted_text(stem.as_os_str()))
            }
        }
    }

    /// Writes the script, and the list of elements of an array, for a group of attempts.
    pub(crate) fn prepare(&mut self, group: &[Attempt], around: Around<'_>) -> Result<Prepared, Submission> {
        let unwritten =
            |error: io::Error| Submission::Unavailable(format!("cannot write a job script: {error}"));
        let memory_kills = group.iter().map(|attempt| attempt.memory_kills).max().unwrap_or(0);
        let avoid = group.iter().flat_map(|attempt| attempt.avoid.iter().cloned()).collect();
        if let [attempt] = group {
            let arguments = [OsStr::new("--dir"), attempt.dir.as_os_str()];
            let path = attempt.dir.join(SCRIPT_FILE);
            fs::write(&path, script(&attempt.tag, around, &self.program, arguments))
                // Some schedulers start the script as it is.
                .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o755)))
                .map_err(unwritten)?;
            let (tag, folder) = (attempt.tag.clone(), attempt.dir.clone());
            return Ok(Prepared { tag, script: path, folder, elements: None, avoid, memory_kills });
        }
        let Some(array) = array::array(&self.study, group) else {
            return Err(Submission::Refused("there is nothing to submit".to_owned()));
        };
        let list = self.layout.array(&array.tag);
        let path = list.with_extension("sh");
        let folder = list.parent().unwrap_or(Path::new("/")).to_owned();
        let arguments = [OsStr::new("--array"), list.as_os_str()];
        let script = script(&array.tag, around, &self.program, arguments);
        fs::create_dir_all(&folder)
            .and_then(|()| write_whole(&list, &serde_json::to_vec(&array)?))
            .and_then(|()| fs::write(&path, script))
            .map_err(unwritten)?;
        let tag = array.tag.clone();
        self.arrays.insert(tag.to_string(), array);
        Ok(Prepared { tag, script: path, folder, elements: Some(group.len()), avoid, memory_kills })
    }

    /// The attempt behind a job name, and an index if it is of an array.
    pub(crate) fn attempt(&mut self, name: &str, index: Option<usize>) -> Option<AttemptId> {
        match index {
            None => Tag::parse(&self.study, name),
            Some(index) => self.array(name)?.elements.get(index).copied(),
        }
    }

    fn array(&mut self, name: &str) -> Option<&Array> {
        if !self.owns(name) {
            return None;
        }
        if !self.arrays.contains_key(name) {
            // Job names come from a listing: only those that are file names are looked up.
            let path = name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric())
                .then(|| self.layout.store().join("arrays").join(format!("{name}.json")))?;
            let array = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
            self.arrays.insert(name.to_owned(), array);
        }
        self.arrays.get(name)
    }

    /// The log of the job itself, outside of its command, and how it ends: why a job did not begin is written there.
    pub(crate) fn last_words(&mut self, job: &JobRef) -> Option<String> {
        let log = Some(job.dir.join(LOG_FILE)).filter(|log| log.exists());
        words_of(&log.or_else(|| self.array_log(job.id))?)
    }

    /// The log of an element of an array.
    fn array_log(&mut self, id: AttemptId) -> Option<PathBuf> {
        self.names(&BTreeSet::from([id])).into_iter().find_map(|name| {
            let index = self.arrays.get(&name)?.elements.iter().position(|element| *element == id)?;
            Some(self.layout.store().join("arrays").join(format!("{name}.{index}.log")))
                .filter(|log| log.exists())
        })
    }

    /// The names under which attempts may be in the queue: their own, and those of the arrays that hold them.
    pub(crate) fn names(&mut self, ids: &BTreeSet<AttemptId>) -> BTreeSet<String> {
        let mut names: BTreeSet<String> =
            ids.iter().filter_map(|id| Tag::new(&self.study, *id)).map(|tag| tag.to_string()).collect();
        if ids.is_empty() {
            return names;
        }
        let files = fs::read_dir(self.layout.store().join("arrays")).into_iter().flatten().flatten();
        for file in files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|e| e == "json"))
        {
            let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            if self.array(&name).is_some_and(|array| array.elements.iter().any(|id| ids.contains(id))) {
                names.insert(name);
            }
        }
        names
    }
}

/// A log and how it ends; None if it is not there.
pub(crate) fn words_of(log: &Path) -> Option<String> {
    let bytes = fs::read(log).ok()?;
    let end = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(LAST_WORDS)..]).into_owned();
    let line = end.lines().rev().map(str::trim).find(|line| !line.is_empty());
    Some(match line {
        Some(line) => format!("see {}, which ends with: {line}", log.display()),
        None => format!("see {}, which is empty", log.display()),
    })
}

/// What a command that did not answer means for a submission.
pub(crate) fn untold(trouble: &Trouble) -> Submission {
    match trouble {
        Trouble::Unstarted { .. } => Submission::Unavailable(trouble.to_string()),
        Trouble::TimedOut { .. } | Trouble::TooLong { .. } => Submission::Ambiguous(trouble.to_string()),
    }
}

/// A script that becomes the job, so that signals to it reach `tribo`; with an epilogue it passes them on. Setup lines such as
/// `module load` need a shell that knows them, which is bash where there are modules. The first of them that fails ends the
/// setup, and the job says so in its answer; what a shell function such as `module` does inside is its own matter.
fn script(tag: &Tag, around: Around<'_>, program: &Path, arguments: [&OsStr; 2]) -> Vec<u8> {
    let words = [program.as_os_str(), OsStr::new("job"), arguments[0], arguments[1]];
    let run = words.map(quoted).join(&b' ');
    let Around { setup, epilogue } = around;
    if setup.is_empty() && epilogue.is_empty() {
        return [format!("#!/bin/sh\n# {tag}\nexec ").into_bytes(), run, b"\n".to_vec()].concat();
    }
    let lines =
        |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes();
    // The line of the script, since the shell's own name for it may be a command inside a function.
    let told = b" --unready \"exit code $?: $(sed -n ${LINENO}p \"$0\")\"".to_vec();
    let unready = quoted(OsStr::from_bytes(&[b"exec ".to_vec(), run.clone(), told].concat()));
    let head = format!("#!/bin/bash\n# {tag}\ntrap ").into_bytes();
    let setup = [head, unready, b" ERR\n".to_vec(), lines(setup), b"trap - ERR\n".to_vec()].concat();
    if epilogue.is_empty() {
        return [setup, b"exec ".to_vec(), run, b"\n".to_vec()].concat();
    }
    [setup, run, PASS_ON.to_vec(), lines(epilogue), b"exit $code\n".to_vec()].concat()
}

/// Waits for the job in the background and passes signals on to it. A signal ends a wait, not the job.
const PASS_ON: &[u8] = b" &
job=$!
for signal in TERM INT USR1 XCPU; do trap \"kill -$signal $job 2>/dev/null\" $signal; done
while wait $job; code=$?; [ $code -gt 128 ] && kill -0 $job 2>/dev/null; do :; done
trap - TERM INT USR1 XCPU
";

/// A word as a shell reads it back.
fn quoted(word: &OsStr) -> Vec<u8> {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"/._-+=:,@%".contains(b);
    let bytes = word.as_bytes();
    if !bytes.is_empty() && bytes.iter().all(plain) {
        return bytes.to_vec();
    }
    let mut text = vec![b'\''];
    for byte in bytes {
        match byte {
            b'\'' => text.extend_from_slice(b"'\\''"),
            _ => text.push(*byte),
        }
    }
    text.push(b'\'');
    text
}

/// A word as a shell reads it back, as text: what is not text is not kept.
pub(crate) fn quoted_text(word: &OsStr) -> String {
    String::from_utf8_lossy(&quoted(word)).into_owned()
}

/// Never seen half-written under its name.
fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let part = path.with_extension("part");
    fs::write(&part, bytes)?;
    fs::rename(part, path)
}

/// `--name=` and a path, which need not be text.
pub(crate) fn option(name: &str, value: impl AsRef<OsStr>) -> OsString {
    let mut option = OsString::from(name);
    option.push(value);
    option
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(setup: &[String]) -> Around<'_> {
        Around { setup, epilogue: &[] }
    }

    #[test]
    fn an_epilogue_follows_whatever_came_of_the_job_and_signals_are_passed_on() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("tribo");
        let log = folder.path().join("log");
        let log = log.display();
        fs::write(
            &program,
            format!("#!/bin/bash\ntrap 'echo told >>{log}; exit 3' TERM\necho began >>{log}\nwhile :; do sleep 0.05; done\n"),
        )
        .unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let epilogue = [format!("echo \"cleaned up after $code\" >>{log}")];
        let path = folder.path().join("job.sh");
        let arguments = [OsStr::new("--dir"), OsStr::new("/a")];
        let tag = Tag::array(&StudyId::from_bits(1), 3);
        fs::write(&path, script(&tag, Around { setup: &[], epilogue: &epilogue }, &program, arguments))
            .unwrap();
        let mut job = std::process::Command::new("bash").arg(&path).spawn().unwrap();
        let read = || fs::read_to_string(folder.path().join("log")).unwrap_or_default();
        while !read().contains("began") {
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut kill = std::process::Command::new("kill");
        assert!(kill.args(["-TERM", &job.id().to_string()]).status().unwrap().success());
        assert_eq!(job.wait().unwrap().code(), Some(3));
        assert_eq!(read(), "began\ntold\ncleaned up after 3\n");
    }

    #[test]
    fn scripts_quote_what_a_shell_would_read() {
        let tag = Tag::array(&StudyId::from_bits(1), 3);
        let program = Path::new("/opt/it's here/tribo");
        let arguments = [OsStr::new("--dir"), OsStr::new("/plain/a1")];
        let text =
            String::from_utf8(script(&tag, around(&["module load gcc".to_owned()]), program, arguments))
                .unwrap();
        let end = "module load gcc\ntrap - ERR\nexec '/opt/it'\\''s here/tribo' job --dir /plain/a1\n";
        assert!(text.starts_with(&format!("#!/bin/bash\n# {tag}\ntrap ")) && text.ends_with(end), "{text}");
        assert_eq!(quoted(OsStr::new("")), b"''");
        assert!(script(&tag, around(&[]), program, arguments).starts_with(b"#!/bin/sh\n"));
    }

    #[test]
    fn a_setup_that_fails_is_told_to_the_job() {
        let folder = tempfile::tempdir().unwrap();
        // What `tribo` is told, in the place of `tribo`.
        let program = folder.path().join("it's tribo");
        fs::write(&program, "#!/bin/sh\nprintf '%s|' \"$@\"\n").unwrap();
        fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let tag = Tag::array(&StudyId::from_bits(1), 3);
        let told = |setup: &[&str]| {
            let setup: Vec<String> = setup.iter().map(|line| line.to_string()).collect();
            let path = folder.path().join("job.sh");
            let arguments = [OsStr::new("--dir"), OsStr::new("/a b")];
            fs::write(&path, script(&tag, around(&setup), &program, arguments)).unwrap();
            let output = std::process::Command::new("bash").arg(&path).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let module = "module() { false; [ \"$2\" = gcc ]; }";
        assert_eq!(told(&[module, "module load gcc", "test -e /x || true"]), "job|--dir|/a b|");
        assert_eq!(
            told(&[module, "module load icc", "echo not reached"]),
            "job|--dir|/a b|--unready|exit code 1: module load icc|"
        );
        assert_eq!(
            told(&["no-such-program 'a b'"]),
            "job|--dir|/a b|--unready|exit code 127: no-such-program 'a b'|"
        );
    }

    #[test]
    fn only_names_of_the_study_are_its_own() {
        let study = StudyId::from_bits(0x5eed);
        let mut batch = Batch::new(study.clone(), &Layout::of(Path::new("s.toml")), "tribo".into(), None);
        let id = AttemptId { trial: 3, attempt: 1 };
        let tag = Tag::new(&study, id).unwrap();
        assert!(batch.owns(tag.as_str()) && batch.owns(Tag::array(&study, 1).as_str()));
        assert!(!batch.owns("bash") && !batch.owns(&format!("{}x", Tag::prefix(&study))));
        assert_eq!(batch.attempt(tag.as_str(), None), Some(id));
        assert_eq!(batch.attempt(&format!("{}y/../../etc", Tag::prefix(&study)), Some(0)), None);
    }
}
