//! Runs the programs of a scheduler: with a time limit, in a process group of their own, with both streams captured.
//!
//! A program that hangs is killed with all it started, and what it may have done stays open: the caller is told that it
//! timed out. Output beyond a bound is an error, never cut off: a shortened listing would look as if jobs were gone.
//!
//! The driver may itself run inside a job. What the scheduler left in its environment (SLURM_*, SBATCH_*, PBS_*, PMI_*)
//! would change what is submitted, so it is taken out; what says where the scheduler is stays.
//!
//! Not here: retries and rates. Calls are counted by program, for those who limit them.

use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{ErrorKind, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// `sbatch` alone may sleep for 120 s while the queue is full; a minute more is for the network.
const SUBMIT_LIMIT: Duration = Duration::from_secs(180);
/// Any other command answers within seconds or not at all.
const OTHER_LIMIT: Duration = Duration::from_secs(60);
/// A listing of 100,000 jobs has about 10 MB.
const MAX_OUTPUT: usize = 64 << 20;
/// How long the streams may stay open after the program ended, because something it started holds them.
const STREAM_GRACE: Duration = Duration::from_secs(1);

/// What begins the names of variables that a scheduler sets inside a job.
const SCRUBBED: [&str; 4] = ["SLURM_", "SBATCH_", "PBS_", "PMI_"];
/// Those of them that say where the scheduler is.
const KEPT: [&str; 4] = ["SLURM_CONF", "PBS_CONF_FILE", "PBS_SERVER", "PBS_EXEC"];

/// What a program left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Its exit code; None if a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Output {
    /// Whether it ended with exit code 0.
    pub fn success(&self) -> bool {
        self.code == Some(0)
    }

    /// What it complained of, on one line.
    pub fn complaint(&self) -> String {
        let lines: Vec<&str> = self.stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        match (lines.is_empty(), self.code) {
            (false, _) => lines.join("; "),
            (true, Some(code)) => format!("exit code {code} without a message"),
            (true, None) => "ended by a signal".to_owned(),
        }
    }
}

/// Why a program left nothing to read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// It did not start, so it did nothing.
    #[error("cannot start {program}: {reason}")]
    Unstarted {
        /// The program.
        program: String,
        /// Why.
        reason: String,
    },
    /// It was killed at its time limit, whatever it had done by then.
    #[error("{program} did not answer within {} s and was killed", limit.as_secs_f64())]
    TimedOut {
        /// The program.
        program: String,
        /// The limit.
        limit: Duration,
    },
    /// It wrote more than anyone can want.
    #[error("{program} wrote more than {bytes} bytes")]
    TooLong {
        /// The program.
        program: String,
        /// The bound.
        bytes: usize,
    },
}

/// Runs scheduler programs and counts them.
#[derive(Debug, Clone)]
pub struct Commands {
    folder: Option<PathBuf>,
    env: BTreeMap<String, String>,
    submit_limit: Duration,
    other_limit: Duration,
    counts: BTreeMap<String, u64>,
}

impl Default for Commands {
    fn default() -> Self {
        Commands {
            folder: None,
            env: BTreeMap::new(),
            submit_limit: SUBMIT_LIMIT,
            other_limit: OTHER_LIMIT,
            counts: BTreeMap::new(),
        }
    }
}

impl Commands {
    /// Programs found on PATH.
    pub fn new() -> Commands {
        Commands::default()
    }

    /// Programs of one folder only.
    #[must_use]
    pub fn in_folder(self, folder: impl Into<PathBuf>) -> Commands {
        Commands { folder: Some(folder.into()), ..self }
    }

    /// With an addition to their environment.
    #[must_use]
    pub fn with_env(mut self, name: &str, value: &str) -> Commands {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    /// With other time limits, for submissions and for all else.
    #[must_use]
    pub fn with_limits(self, submit_limit: Duration, other_limit: Duration) -> Commands {
        Commands { submit_limit, other_limit, ..self }
    }

    /// How often each program was started.
    pub fn counts(&self) -> &BTreeMap<String, u64> {
        &self.counts
    }

    /// Runs a program that submits.
    pub fn submit<S: AsRef<OsStr>>(&mut self, program: &str, args: &[S]) -> Result<Output, Trouble> {
        self.run_within(program, args, self.submit_limit)
    }

    /// Runs any other program.
    pub fn run<S: AsRef<OsStr>>(&mut self, program: &str, args: &[S]) -> Result<Output, Trouble> {
        self.run_within(program, args, self.other_limit)
    }

    fn run_within<S: AsRef<OsStr>>(
        &mut self,
        program: &str,
        args: &[S],
        limit: Duration,
    ) -> Result<Output, Trouble> {
        *self.counts.entry(program.to_owned()).or_default() += 1;
        let path = self.folder.as_ref().map_or_else(|| PathBuf::from(program), |folder| folder.join(program));
        let mut command = Command::new(path);
        command
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        for name in scrubbed(std::env::vars_os().filter_map(|(name, _)| name.into_string().ok())) {
            command.env_remove(name);
        }
        command.envs(&self.env);
        let mut child = command.spawn().map_err(|error| Trouble::Unstarted {
            program: program.to_owned(),
            reason: match error.kind() {
                ErrorKind::NotFound => "it is not on PATH".to_owned(),
                _ => error.to_string(),
            },
        })?;
        let (stdout, stdout_end) = capture(child.stdout.take());
        let (stderr, stderr_end) = capture(child.stderr.take());
        let Some(status) = wait(&mut child, &stdout_end, limit) else {
            return Err(Trouble::TimedOut { program: program.to_owned(), limit });
        };
        // The ends are only hints; a descendant that holds a stream must not hold the driver.
        let deadline = Instant::now() + STREAM_GRACE;
        for end in [stdout_end, stderr_end] {
            let _ = end.recv_timeout(deadline.saturating_duration_since(Instant::now()));
        }
        match (text(&stdout), text(&stderr)) {
            (Some(stdout), Some(stderr)) => Ok(Output { code: status.code(), stdout, stderr }),
            _ => Err(Trouble::TooLong { program: program.to_owned(), bytes: MAX_OUTPUT }),
        }
    }
}

/// The names among these that must not reach a scheduler's programs.
fn scrubbed(names: impl Iterator<Item = String>) -> Vec<String> {
    names
        .filter(|name| {
            SCRUBBED.iter().any(|prefix| name.starts_with(prefix)) && !KEPT.contains(&name.as_str())
        })
        .collect()
}

type Buffer = Arc<Mutex<Vec<u8>>>;

/// Reads a stream to its end in a thread. The receiver hears (by a closed channel) when the end was reached. Bytes
/// beyond the bound are read and dropped but for one, which marks the excess.
fn capture(stream: Option<impl Read + Send + 'static>) -> (Buffer, Receiver<()>) {
    let buffer = Buffer::default();
    let (sender, end) = channel();
    if let Some(mut stream) = stream {
        let into = Arc::clone(&buffer);
        thread::spawn(move || {
            let _closed_at_the_end = sender;
            let mut chunk = [0_u8; 16 << 10];
            loop {
                match stream.read(&mut chunk) {
                    Ok(0) => break,
                    Ok(n) => {
                        let mut bytes = into.lock().unwrap_or_else(PoisonError::into_inner);
                        let room = (MAX_OUTPUT + 1).saturating_sub(bytes.len());
                        bytes.extend_from_slice(&chunk[..n.min(room)]);
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
        });
    }
    (buffer, end)
}

fn text(buffer: &Buffer) -> Option<String> {
    let bytes = std::mem::take(&mut *buffer.lock().unwrap_or_else(PoisonError::into_inner));
    (bytes.len() <= MAX_OUTPUT).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// Waits for the end of a child, woken by the end of its output; None if it had to be killed.
fn wait(child: &mut Child, output_end: &Receiver<()>, limit: Duration) -> Option<ExitStatus> {
    let start = Instant::now();
    let mut step = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if start.elapsed() < limit => {}
            _ => {
                if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                    let _ = kill_process_group(group, Signal::KILL);
                }
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
        let pause = step.min(limit.saturating_sub(start.elapsed()));
        if output_end.recv_timeout(pause) == Err(RecvTimeoutError::Disconnected) {
            thread::sleep(pause.min(Duration::from_millis(5)));
        }
        step = (step * 2).min(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_streams_and_the_exit_code_come_back() {
        let mut commands = Commands::new();
        let output = commands.run("sh", &["-c", "echo out; echo err >&2; exit 3"]).unwrap();
        assert_eq!(output, Output { code: Some(3), stdout: "out\n".into(), stderr: "err\n".into() });
        assert_eq!(output.complaint(), "err");
        assert_eq!(commands.counts().get("sh"), Some(&1));
    }

    #[test]
    fn a_missing_program_says_so() {
        let error = Commands::new().run("no-such-scheduler", &[""; 0]).unwrap_err();
        assert_eq!(error.to_string(), "cannot start no-such-scheduler: it is not on PATH");
    }

    #[test]
    fn a_hanging_program_is_killed_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        let script = format!("sleep 600 & echo $! > {}; wait", pid.display());
        let limit = Duration::from_millis(300);
        let mut commands = Commands::new().with_limits(limit, limit);
        let start = Instant::now();
        let error = commands.submit("sh", &["-c", &script]).unwrap_err();
        assert_eq!(error, Trouble::TimedOut { program: "sh".into(), limit });
        assert!(start.elapsed() < Duration::from_secs(30));
        // An orphan that was killed is a zombie until init takes it.
        let stat = format!("/proc/{}/stat", std::fs::read_to_string(pid).unwrap().trim());
        let gone = || std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "));
        let deadline = Instant::now() + Duration::from_secs(10);
        while !gone() && Instant::now() < deadline {
            thread::yield_now();
        }
        assert!(gone());
    }

    #[test]
    fn a_descendant_that_holds_the_streams_does_not_hold_us() {
        let start = Instant::now();
        let output = Commands::new().run("sh", &["-c", "echo id; sleep 30 & echo $!"]).unwrap();
        assert!(output.stdout.starts_with("id\n"));
        assert!(start.elapsed() < Duration::from_secs(20));
        let sleeper = output.stdout.lines().nth(1).and_then(|pid| pid.parse().ok()).and_then(Pid::from_raw);
        let _ = rustix::process::kill_process(sleeper.unwrap(), Signal::KILL);
    }

    #[test]
    fn what_a_job_inherits_is_scrubbed_but_for_the_way_to_the_scheduler() {
        let names =
            ["SLURM_JOB_ID", "SLURM_CONF", "SBATCH_PARTITION", "PBS_JOBID", "PBS_SERVER", "PMI_RANK", "HOME"];
        let gone = scrubbed(names.iter().map(|name| (*name).to_owned()));
        assert_eq!(gone, ["SLURM_JOB_ID", "SBATCH_PARTITION", "PBS_JOBID", "PMI_RANK"]);
    }

    #[test]
    fn output_beyond_the_bound_is_an_error() {
        let error = Commands::new().run("sh", &["-c", "head -c 70000000 /dev/zero"]).unwrap_err();
        assert_eq!(error, Trouble::TooLong { program: "sh".into(), bytes: MAX_OUTPUT });
    }
}
