//! The steps of a job, one after the other.
//!
//! Errors of this file are those after which there can be no answer: a folder without a specification, a claim that cannot
//! be made, a spool that stays unwritable. Everything else that goes wrong is an answer.

use super::claim::{self, Claimed, Started};
use super::command::{self, Places};
use super::heartbeat::Heartbeat;
use super::identity::{self, Stamp};
use super::params::Params;
use super::scratch::{Scratch, is_in_a_hurry};
use super::signals::Signals;
use super::watch::{Ending, Limits, Running, end_strays};
use super::{
    ANSWER_FILE, Answer, Array, Finding, JOB_VERSION, Kind, SPEC_FILE, STARTED_FILE, STDERR_FILE,
    STDOUT_FILE, Spec, Target,
};
use super::{capture::Capture, extract, judge, memory, prepare, publish};
use crate::pool::Pool;
use crate::tag::{AttemptId, Tag};
use crate::{Error, Result};
use rustix::process::{Pid, child_subreaper, getpid, set_child_subreaper, setsid};
use serde::Deserialize;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// The part of a specification that all versions share, enough to say that the rest cannot be used.
#[derive(Debug, Deserialize)]
struct Header {
    version: u32,
    #[serde(flatten)]
    id: AttemptId,
    tag: Tag,
    params_digest: String,
}

/// One attempt in the hands of this process.
struct Job {
    dir: PathBuf,
    spool: PathBuf,
    header: Header,
    /// What `job.json` says, or why it cannot be used.
    spec: std::result::Result<Spec, String>,
    by: Stamp,
    incarnation: u32,
    began: Instant,
}

/// Does the whole job. When it returns Ok the answer is in the spool, or none is due.
pub(super) fn perform(target: &Target, unready: Option<&str>) -> Result<()> {
    let began = Instant::now();
    let signals = Signals::catch().map_err(Error::io("cannot catch signals for", "tribo job"))?;
    let (dir, array) = resolve(target)?;
    let mut job = Job::read(dir, array.as_ref(), began)?;
    let claimed = claim::take(&job.dir, &job.header.tag, &job.by);
    match claimed.map_err(Error::io("cannot claim", &job.dir))? {
        Claimed::First => job.incarnation = job.by.restarts(),
        Claimed::Again => {
            if job.answered_before()? {
                return Ok(());
            }
        }
        Claimed::ByDriver => return Ok(()),
        Claimed::ByOther(owner) => return job.leave_to(&owner),
    }
    let mut answer = match job.start() {
        Ok(_) if unready.is_some() => job.unready(unready.unwrap_or_default()),
        Ok(heartbeat) => job.evaluate(&signals, heartbeat),
        Err(error) => {
            job.answer(Finding::none(Kind::Unstarted, format!("{STARTED_FILE} cannot be written: {error}")))
        }
    };
    if matches!(answer.finding.kind, Kind::Failed | Kind::Invalid | Kind::Unstarted)
        && let Some(accident) = publish::accident(&job.dir)
    {
        answer.finding = Finding::none(Kind::Transient, accident);
    }
    publish::publish(&job.dir, &job.spool, &answer)
        .map_err(Error::io("cannot publish the answer of", &job.dir))
}

/// The attempt's folder and, for an element of an array, the array's name.
pub(super) fn resolve(target: &Target) -> Result<(PathBuf, Option<Tag>)> {
    match target {
        Target::Dir(dir) => Ok((absolute(dir)?, None)),
        Target::Array(path) => {
            let path = absolute(path)?;
            let array = Array::read(&path)?;
            let id = array.element(&path)?;
            let store = path.parent().and_then(Path::parent).unwrap_or(&path);
            Ok((folder(store, id), Some(array.tag)))
        }
    }
}

/// The folder of a job: in a list of pilots there are no attempts.
fn folder(store: &Path, id: AttemptId) -> PathBuf {
    match id.is_pilot() {
        true => Pool::of(store).worker(&Pool::pilot(id.trial)),
        false => store.join("trials").join(format!("{:06}", id.trial)).join(format!("a{}", id.attempt)),
    }
}

/// Absolute, with `..` taken literally: a store may be a link to another disk, and its parent is still the study folder.
fn absolute(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path).map_err(Error::io("cannot find", path))?;
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    Ok(plain)
}

impl Job {
    fn read(dir: PathBuf, array: Option<&Tag>, began: Instant) -> Result<Job> {
        let path = dir.join(SPEC_FILE);
        let text = fs::read(&path).map_err(Error::io("cannot read", &path))?;
        let broken = |error: serde_json::Error| Error::Missing {
            path: path.clone(),
            what: format!("not a job specification ({error}); the driver writes it before it submits"),
        };
        let header: Header = serde_json::from_slice(&text).map_err(broken)?;
        let spec = match header.version {
            JOB_VERSION => {
                serde_json::from_slice(&text).map_err(|error| format!("{SPEC_FILE} cannot be used: {error}"))
            }
            other => Err(format!(
                "{SPEC_FILE} has version {other}, this tribo reads {JOB_VERSION}; use the same on all machines"
            )),
        };
        let names: Vec<&Tag> = array.into_iter().chain([&header.tag]).collect();
        let by = Stamp::here(&names);
        let spool = dir.ancestors().nth(3).unwrap_or(&dir).join("spool");
        Ok(Job { dir, spool, header, spec, by, incarnation: 0, began })
    }

    /// After a restart: true if the attempt has an answer that stands. Otherwise what the last incarnation left is moved
    /// out of the way, and this one is the next.
    fn answered_before(&mut self) -> Result<bool> {
        let last = Started::read(&self.dir).map_or(0, |started| started.incarnation);
        self.incarnation = self.by.restarts().max(last + 1);
        // The scheduler stopped the last incarnation and restarts it: the stop is not the end.
        let stands = |answer: &Answer| {
            !matches!(answer.finding.kind, Kind::Cancelled | Kind::Stopped | Kind::Walltime)
        };
        if let Some(answer) = Answer::read(&self.dir).filter(stands) {
            let published = publish::publish_again(&self.dir, &self.spool, &answer);
            return published.map(|()| true).map_err(Error::io("cannot publish the answer of", &self.dir));
        }
        for name in [STDOUT_FILE, STDERR_FILE, ANSWER_FILE] {
            // What is not there need not be moved.
            let _ = fs::rename(self.dir.join(name), self.dir.join(format!("{name}.i{last}")));
        }
        Ok(false)
    }

    /// Says that another job has the attempt, under a name that no answer has.
    fn leave_to(&self, owner: &str) -> Result<()> {
        let reason = format!("{} found the attempt claimed by {owner}", self.by.job);
        let answer = self.answer(Finding::none(Kind::Duplicate, reason));
        let published = publish::publish_duplicate(&self.spool, &answer, &self.by.job);
        published.map_err(Error::io("cannot write to", &self.spool))
    }

    /// Tells the world which process this is, and the kernel that orphans are ours.
    fn start(&self) -> io::Result<Heartbeat> {
        if !identity::in_allocation() {
            // A leader of a group has no need of it. PBS follows a job by its session, so none is made there.
            let _ = setsid();
        }
        // Without it the cookie in the environment still finds what escapes.
        let _ = set_child_subreaper(Some(getpid()));
        Started { by: self.by.clone(), incarnation: self.incarnation }.write(&self.dir)?;
        Ok(Heartbeat::start(&self.dir))
    }

    /// The answer of a job whose setup failed. Its complaints are in the log of the job, which is our own standard error and
    /// may be on another machine's disk: they are copied to where those of a command would be.
    fn unready(&self, what: &str) -> Answer {
        let complaints = judge::tail_of(Path::new("/proc/self/fd/2"));
        // Without it the answer says enough.
        let _ = fs::write(self.dir.join(STDERR_FILE), &complaints);
        let finding = Finding::none(Kind::Unstarted, format!("the setup of the job failed with {what}"));
        Answer { stderr_tail: complaints, ..self.answer(finding) }
    }

    /// Everything from the folder's preparation to the finding.
    fn evaluate(&self, signals: &Signals, heartbeat: Heartbeat) -> Answer {
        match &self.spec {
            Ok(spec) => self.run(spec, signals, heartbeat),
            Err(reason) => self.answer(Finding::none(Kind::Unstarted, reason)),
        }
    }

    fn run(&self, spec: &Spec, signals: &Signals, heartbeat: Heartbeat) -> Answer {
        let unstarted = |reason: String| self.answer(Finding::none(Kind::Unstarted, reason));
        let study = match absolute(&self.dir.join(&spec.folder)) {
            Ok(study) => study,
            Err(error) => return unstarted(error.to_string()),
        };
        let mut scratch = match extract::check(&spec.evaluation).and_then(|()| Scratch::make(spec, &self.dir))
        {
            Ok(scratch) => scratch,
            Err(reason) => return unstarted(reason),
        };
        let work = scratch.as_ref().map_or(self.dir.clone(), |scratch| scratch.folder().to_owned());
        let prepared = prepare::prepare(spec, &self.dir, &work, &study)
            .and_then(|prepared| scratch.as_mut().map_or(Ok(()), Scratch::filled).map(|()| prepared));
        let (params, params_file) = match prepared {
            Ok(prepared) => prepared,
            Err(reason) => return unstarted(reason),
        };
        let result_file = work.join(extract::result_file(&spec.evaluation.result));
        let places = Places {
            params: &params_file,
            result: &result_file,
            dir: &work,
            study: &study,
            trial: spec.id.trial,
            attempt: spec.id.attempt,
            search: search_path(spec),
        };
        let limits = self.limits(spec, signals);
        if let Some(stop) = limits.before_start() {
            return self.answer(Finding::none(stop.kind, format!("{} (before it started)", stop.reason)));
        }
        let started = now();
        let kills = memory::kills();
        match self.spawn(spec, &places, &params, &limits, heartbeat) {
            Ok(ending) => {
                let out_of_memory = memory::kills() > kills && kills.is_some();
                let hurry = ending.stop.as_ref().is_some_and(|stop| is_in_a_hurry(stop.kind));
                let back = match &scratch {
                    Some(scratch) if !hurry => scratch.bring_back(&spec.evaluation, &self.dir),
                    _ => Ok(()),
                };
                let finding = match back {
                    Ok(()) => judge::judge(&spec.evaluation, &ending, &self.dir, out_of_memory),
                    Err(reason) => Finding::none(Kind::Transient, reason),
                };
                self.answer_of(finding, ending, started)
            }
            Err(reason) => unstarted(reason),
        }
    }

    fn limits<'a>(&'a self, spec: &Spec, signals: &'a Signals) -> Limits<'a> {
        let near =
            spec.wall_limit_s.and_then(|s| Duration::try_from_secs_f64((s - 120.0).max(0.75 * s)).ok());
        let after_begin = |limit: Option<Duration>| limit.and_then(|limit| self.began.checked_add(limit));
        Limits {
            signals,
            dir: &self.dir,
            timeout: spec.evaluation.timeout,
            walltime: after_begin(spec.wall()),
            near_walltime: after_begin(near),
            warning: spec.warning_s.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            scheduled: !self.by.job.starts_with("local:"),
        }
    }

    /// Runs the command to its end.
    fn spawn(
        &self,
        spec: &Spec,
        places: &Places<'_>,
        params: &Params,
        limits: &Limits<'_>,
        heartbeat: Heartbeat,
    ) -> std::result::Result<Ending, String> {
        let mut command = command::build(&spec.evaluation.command, places)?;
        let tag = format!("TRIBO_TAG={}", spec.tag);
        let dir = format!("TRIBO_DIR={}", self.dir.display());
        self.environment(&mut command, spec, places, params);
        command
            .current_dir(places.dir)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let capture = |name: &str| {
            let created = Capture::create(&self.dir.join(name), spec.evaluation.capture);
            created.map_err(|error| format!("{name} cannot be written: {error}"))
        };
        let (stdout, stderr) = (capture(STDOUT_FILE)?, capture(STDERR_FILE)?);
        if self.incarnation > 0 {
            end_strays(&[&tag, &dir]);
        }
        let mut child =
            command.spawn().map_err(|error| command::explain(&spec.evaluation.command, &error))?;
        // The command holds copies of the write ends of its pipes.
        drop(command);
        let pipes =
            [(child.stdout.take().map(Into::into), stdout), (child.stderr.take().map(Into::into), stderr)];
        let strays = !matches!(child_subreaper(), Ok(Some(_)));
        let pid = pid_of(&child).ok_or("the command has no process number")?;
        Ok(Running::new(pid, pipes, limits, heartbeat, [&tag, &dir], strays).watch())
    }

    fn environment(&self, command: &mut Command, spec: &Spec, places: &Places<'_>, params: &Params) {
        command.envs(params.environment(&spec.evaluation.command));
        command.env("TRIBO_TRIAL", spec.id.trial.to_string());
        command.env("TRIBO_ATTEMPT", spec.id.attempt.to_string());
        command.env("TRIBO_PARAMS", places.params);
        command.env("TRIBO_RESULT", places.result);
        command.env("TRIBO_STUDY_DIR", places.study);
        command.envs(&spec.evaluation.env);
        // Last, because what the command leaves behind is found by them.
        command.env("TRIBO_TAG", spec.tag.as_str());
        command.env("TRIBO_DIR", &self.dir);
    }

    /// The answer of a command that ran.
    fn answer_of(&self, finding: Finding, ending: Ending, started: String) -> Answer {
        let stderr_tail =
            if finding.kind != Kind::Ok { judge::stderr_tail(&self.dir) } else { String::new() };
        Answer {
            exit_code: ending.exit_code,
            signal: ending.signal,
            stderr_tail,
            started,
            wall_s: ending.wall_s,
            cpu_s: ending.cpu_s,
            max_rss: ending.max_rss,
            ..self.answer(finding)
        }
    }

    /// The answer of a command that did not run.
    fn answer(&self, finding: Finding) -> Answer {
        Answer {
            version: JOB_VERSION,
            id: self.header.id,
            tag: self.header.tag.clone(),
            incarnation: self.incarnation,
            params_digest: self.header.params_digest.clone(),
            finding,
            exit_code: None,
            signal: None,
            stderr_tail: String::new(),
            started: now(),
            wall_s: 0.0,
            cpu_s: 0.0,
            max_rss: 0,
            host: self.by.host.clone(),
        }
    }
}

/// Where programs are looked for: the command's own PATH, if the study file gives it one.
fn search_path(spec: &Spec) -> OsString {
    let own = spec.evaluation.env.get("PATH").map(OsString::from);
    own.or_else(|| std::env::var_os("PATH")).unwrap_or_default()
}

fn now() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}

fn pid_of(child: &Child) -> Option<Pid> {
    Pid::from_raw(i32::try_from(child.id()).ok()?)
}
