//! The program `tribo` as a benchmark sees it: where it is, and a `tribo run` whose events come with their times.
//!
//! Everything that a run starts carries a variable of its study in its environment, so that what is left behind can be
//! found (`processes`). A run that is dropped is killed: a benchmark that fails leaves no driver behind.

use crate::seeds::Failure;
use serde_json::Value;
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Names the folder of the study in the environment of all that is started for it.
pub const COOKIE: &str = "TRIBO_BENCH_STUDY";
/// What a driver says on standard error, in the folder of its study.
const LOG_FILE: &str = "driver.log";

/// Which program is measured.
#[derive(Debug, Clone, clap::Args)]
pub struct Program {
    /// The program tribo; by default the one beside this program.
    #[arg(long, value_name = "PATH")]
    tribo: Option<PathBuf>,
}

impl Program {
    /// Where it is. The error says how to build it.
    pub fn find(&self) -> Result<PathBuf, Failure> {
        let path = match &self.tribo {
            Some(path) => path.clone(),
            None => std::env::current_exe()?.with_file_name("tribo"),
        };
        if !path.is_file() {
            let advice = "build it with `cargo build --release -p tribo-cli`, or name another with --tribo";
            return Err(format!("there is no program {}; {advice}", path.display()).into());
        }
        // It is started from elsewhere, and hands its own path on.
        Ok(path.canonicalize()?)
    }
}

/// A line that the driver printed.
#[derive(Debug, Clone)]
pub struct Event {
    /// When it was read.
    pub at: Instant,
    /// The line.
    pub json: Value,
}

impl Event {
    /// Whether it is of this kind.
    pub fn is(&self, name: &str) -> bool {
        self.json["event"] == name
    }
}

/// What came of waiting for an event.
#[derive(Debug)]
pub enum Heard {
    /// An event.
    Event(Event),
    /// None in time.
    Nothing,
    /// The driver has closed its output: it is over.
    End,
}

/// A `tribo run` under way.
#[derive(Debug)]
pub struct Run {
    child: Child,
    events: Receiver<Event>,
    folder: PathBuf,
    /// When it was started.
    pub begun: Instant,
}

impl Run {
    /// Starts or resumes the study in `folder`.
    pub fn start(program: &Path, folder: &Path) -> Result<Run, Failure> {
        Run::start_with(program, folder, &[])
    }

    /// The same, with more options on the command line.
    pub fn start_with(program: &Path, folder: &Path, options: &[&str]) -> Result<Run, Failure> {
        let log = OpenOptions::new().create(true).append(true).open(folder.join(LOG_FILE))?;
        let begun = Instant::now();
        let mut child = Command::new(program)
            .args(["run", "--json"])
            .arg(folder)
            .args(options)
            .env(COOKIE, folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        let output = child.stdout.take();
        let (heard, events) = channel();
        std::thread::Builder::new().name("events".to_owned()).spawn(move || {
            for line in output.into_iter().flat_map(|output| BufReader::new(output).lines()) {
                let at = Instant::now();
                // The last line of a driver that was killed may be cut.
                let Some(json) = line.ok().and_then(|line| serde_json::from_str(&line).ok()) else {
                    continue;
                };
                if heard.send(Event { at, json }).is_err() {
                    break;
                }
            }
        })?;
        Ok(Run { child, events, folder: folder.to_owned(), begun })
    }

    /// Waits for the next event, until `deadline` at most.
    pub fn next(&self, deadline: Instant) -> Heard {
        match self.events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(event) => Heard::Event(event),
            Err(RecvTimeoutError::Timeout) => Heard::Nothing,
            Err(RecvTimeoutError::Disconnected) => Heard::End,
        }
    }

    /// Kills it with SIGKILL. The status tells whether it was still running.
    pub fn kill(&mut self) -> Result<ExitStatus, Failure> {
        self.child.kill()?;
        Ok(self.child.wait()?)
    }

    /// The status of a driver that is over.
    pub fn wait(&mut self) -> Result<ExitStatus, Failure> {
        Ok(self.child.wait()?)
    }

    /// The last lines it wrote to standard error.
    pub fn last_words(&self) -> String {
        let text = std::fs::read_to_string(self.folder.join(LOG_FILE)).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(3)..].join("; ")
    }

    /// All events until the driver has ended well. An error if it ends otherwise, or is silent for `patience`.
    pub fn to_end(&mut self, patience: Duration) -> Result<Vec<Event>, Failure> {
        let mut events = vec![];
        loop {
            match self.next(Instant::now() + patience) {
                Heard::Event(event) => events.push(event),
                Heard::Nothing => {
                    return Err(format!("the driver has said nothing for {} s", patience.as_secs()).into());
                }
                Heard::End => break,
            }
        }
        match self.wait()? {
            status if status.success() => Ok(events),
            status => Err(format!("the driver ended with {status}: {}", self.last_words()).into()),
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // Both do nothing to a process that has been waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    /// A script in the place of the program. Another process makes the file that is executed: one that a thread of this
    /// process has open for writing while another thread forks is busy.
    fn script(folder: &Path, text: &str) -> PathBuf {
        let (source, path) = (folder.join("source"), folder.join("tribo"));
        std::fs::write(&source, format!("#!/bin/sh\n{text}\n")).unwrap();
        let installed = Command::new("install").args(["-m", "755"]).args([&source, &path]).status();
        assert!(installed.unwrap().success());
        path
    }

    #[test]
    fn events_are_read_and_cut_lines_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let text = r#"echo '{"event":"opened"}'; echo "{\"event\":\"$2\",\"study\":\"$3\"}"; echo '{"ev'; echo broken >&2"#;
        let program = script(folder.path(), text);
        let mut run = Run::start(&program, folder.path()).unwrap();
        let events = run.to_end(Duration::from_secs(60)).unwrap();
        assert!(events[0].is("opened") && events[1].is("--json"), "{events:?}");
        assert_eq!(events[1].json["study"], folder.path().to_str().unwrap());
        assert_eq!((events.len(), run.last_words().as_str()), (2, "broken"));
    }

    #[test]
    fn failures_and_kills_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let program = script(folder.path(), "echo no store >&2; exit 4");
        let failure = Run::start(&program, folder.path()).unwrap().to_end(Duration::from_secs(60));
        assert!(failure.unwrap_err().to_string().contains("no store"));
        let program = script(folder.path(), "echo '{}'; exec sleep 600");
        let mut run = Run::start(&program, folder.path()).unwrap();
        assert!(matches!(run.next(Instant::now() + Duration::from_secs(60)), Heard::Event(_)));
        assert_eq!(run.kill().unwrap().signal(), Some(9));
    }

    #[test]
    fn a_missing_program_is_explained() {
        let program = Program { tribo: Some(PathBuf::from("/nowhere/tribo")) };
        assert!(program.find().unwrap_err().to_string().contains("cargo build --release -p tribo-cli"));
    }
}
