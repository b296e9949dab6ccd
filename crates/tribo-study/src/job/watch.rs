//! A command while it runs: one loop waits for its output, its end, a time limit, a signal or a file that asks for a stop.
//!
//! The loop polls the command's two pipes and the wake-up of the signal handlers, so it costs nothing while nothing
//! happens and sees the end at once. Time is the monotonic clock's. When the command is over, or has to be, everything it
//! started is ended with it:
//!
//! 1. if it has to stop: SIGTERM to its process group, and some grace;
//! 2. SIGTERM to all other descendants, and a little grace;
//! 3. SIGKILL to the group, all descendants, and every process with our cookie in its environment, until none is left.
//!
//! The job is a subreaper: a daemon whose parents are gone becomes our child, in whatever session it hides. The cookie
//! finds what is no descendant: what the last incarnation of a job left, and everything on kernels without subreapers.
//! Looking into every process of a machine for it takes milliseconds, so it is left out where it can find nothing: after a
//! command that ended by itself and left no descendants. What survives (a process stuck in the kernel) is reported.
//!
//! A scheduler may suspend a job: it stops all its processes, this one too, and lets them go on later. What was asked of the
//! clock then takes longer than it should, and that time counts against no limit.
//!
//! Peak memory is sampled from `/proc`, since what the system counts for dead children cannot be had without unsafe code:
//! often at first, then once a second. It is the kernel's own high-water mark, so only growth after the last sample is
//! missed. Processor time is exact to a hundredth of a second.

use super::capture::Capture;
use super::heartbeat::Heartbeat;
use super::signals::{Request, Signals};
use super::{CANCEL_FILE, Kind, TOLD_TO_STOP, proc};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, kill_process_group, wait};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(10);
/// The same when the scheduler is about to kill us too, and the answer still has to be written.
const GRACE_AT_WALLTIME: Duration = Duration::from_secs(2);
/// For what a command left behind.
const GRACE_OF_LEFTOVERS: Duration = Duration::from_secs(1);
/// How long SIGKILL is repeated. Processes that live on are stuck in the kernel.
const SWEEP: Duration = Duration::from_secs(5);
/// How long our own signal is waited for when the command was ended by one.
const TOLD_TOGETHER: Duration = Duration::from_millis(500);
/// The same under a scheduler when the command ended in another way: a script whose program was killed may go on to print
/// what it takes for a result, before its own signal comes.
const TOLD_AFTER: Duration = Duration::from_millis(100);
/// How long output is read after the end, if somebody keeps writing.
const DRAIN: Duration = Duration::from_secs(1);
/// Between two looks for the file that asks for a stop, and between two samples of memory in the long run.
const LOOK: Duration = Duration::from_secs(1);
/// A wait that takes this much longer than asked for was a suspension: seconds of a machine that is short of time are none.
const SUSPENDED: Duration = Duration::from_secs(3);
/// Until the first sample of memory; the time doubles with each.
const FIRST_SAMPLE: Duration = Duration::from_millis(2);

/// What ends a command other than itself.
pub(super) struct Limits<'a> {
    pub(super) signals: &'a Signals,
    /// The attempt's folder.
    pub(super) dir: &'a Path,
    /// The study's limit, from the command's start.
    pub(super) timeout: Option<Duration>,
    /// Some time before the scheduler's limit.
    pub(super) walltime: Option<Instant>,
    /// From then on SIGTERM is taken for the scheduler's limit.
    pub(super) near_walltime: Option<Instant>,
    /// How long before the next limit the command is warned.
    pub(super) warning: Option<Duration>,
    /// Whether a scheduler runs this job, and signals all its processes when it stops it.
    pub(super) scheduled: bool,
}

/// Why a command was stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stop {
    pub(super) kind: Kind,
    pub(super) reason: String,
}

impl Limits<'_> {
    /// A reason to stop now, from outside the study.
    fn reached(&self, now: Instant) -> Option<Stop> {
        let stop = |kind, reason: String| Some(Stop { kind, reason });
        let past = |limit: Option<Instant>| limit.is_some_and(|limit| now >= limit);
        match self.signals.request() {
            Some(Request::NearLimit(name)) => {
                return stop(Kind::Walltime, format!("{name} said that the scheduler's time limit is near"));
            }
            // What the study asked for needs no other reason.
            Some(Request::Stop(name)) => {
                return self.cancelled().or_else(|| match past(self.near_walltime) {
                    true => stop(Kind::Walltime, format!("{name} came at the scheduler's time limit")),
                    false => stop(Kind::Stopped, format!("{TOLD_TO_STOP}{name}")),
                });
            }
            None => {}
        }
        if past(self.walltime) {
            return stop(Kind::Walltime, "the scheduler's time limit is near; ask for more time".into());
        }
        None
    }

    fn cancelled(&self) -> Option<Stop> {
        let reason = || "the study asked the job to stop".into();
        self.dir.join(CANCEL_FILE).exists().then(|| Stop { kind: Kind::Cancelled, reason: reason() })
    }

    /// A reason not to start at all.
    pub(super) fn before_start(&self) -> Option<Stop> {
        self.reached(Instant::now()).or_else(|| self.cancelled())
    }
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ending {
    /// None if it was ended by a signal, or would not end.
    pub(super) exit_code: Option<i32>,
    pub(super) signal: Option<i32>,
    /// Why it was stopped, if it was.
    pub(super) stop: Option<Stop>,
    pub(super) wall_s: f64,
    pub(super) cpu_s: f64,
    pub(super) max_rss: u64,
    /// Processes that would not end.
    pub(super) survivors: Vec<String>,
}

/// A command that was started, the leader of its process group.
pub(super) struct Running<'a> {
    limits: &'a Limits<'a>,
    heartbeat: Heartbeat,
    /// What the environments of the command and of its kin hold.
    cookies: [&'a str; 2],
    /// Whether kin may be no descendants: look for cookies in any case.
    strays: bool,
    pid: Pid,
    streams: Vec<Stream>,
    buffer: Vec<u8>,
    began: Instant,
    /// The end of the study's limit.
    timeout: Option<Instant>,
    ended: Option<(WaitStatus, Instant)>,
    /// For how long the job was suspended, and when the clock was looked at last.
    suspended: Duration,
    looked: Instant,
    /// When the command is warned of its limit, once.
    warn_at: Option<Instant>,
    peak: u64,
}

struct Stream {
    pipe: Option<File>,
    capture: Capture,
}

impl<'a> Running<'a> {
    /// Takes a command over right after its start.
    pub(super) fn new(
        pid: Pid,
        pipes: [(Option<OwnedFd>, Capture); 2],
        limits: &'a Limits<'a>,
        heartbeat: Heartbeat,
        cookies: [&'a str; 2],
        strays: bool,
    ) -> Running<'a> {
        let stream = |(pipe, capture): (Option<OwnedFd>, _)| Stream { pipe: pipe.map(File::from), capture };
        let streams = pipes.map(stream).into();
        let began = Instant::now();
        let timeout = limits.timeout.and_then(|limit| began.checked_add(limit));
        let limit = [timeout, limits.walltime].into_iter().flatten().min();
        let warn_at = limits.warning.and_then(|warning| limit?.checked_sub(warning));
        Running {
            limits,
            heartbeat,
            cookies,
            strays,
            pid,
            streams,
            buffer: vec![0; 1 << 16],
            began,
            timeout,
            ended: None,
            suspended: Duration::ZERO,
            looked: began,
            warn_at,
            peak: 0,
        }
    }

    /// Waits for the end, or brings it about.
    pub(super) fn watch(mut self) -> Ending {
        let stop = self.until_over();
        let grace = match &stop {
            Some(stop) if stop.kind == Kind::Walltime => GRACE_AT_WALLTIME,
            _ => GRACE,
        };
        if self.ended.is_none() {
            self.sample();
        }
        let left = self.ask_to_end(grace);
        let survivors = if left || stop.is_some() || self.strays { self.sweep() } else { Vec::new() };
        self.drain();
        self.reap();
        let over = self.ended.map_or_else(Instant::now, |(_, at)| at);
        let status = self.ended.map(|(status, _)| status);
        for stream in self.streams {
            // The answer does not depend on it, and the marks in the file tell what is missing.
            let _ = stream.capture.finish();
        }
        Ending {
            exit_code: status.and_then(WaitStatus::exit_status),
            signal: status.and_then(WaitStatus::terminating_signal),
            stop,
            wall_s: over.duration_since(self.began).saturating_sub(self.suspended).as_secs_f64(),
            cpu_s: proc::children_cpu(),
            max_rss: self.peak,
            survivors,
        }
    }

    /// A scheduler that cancels a job signals all its processes, in any order: a command that was told to end may be seen to
    /// have ended before our own signal is.
    fn stopped_with_us(&mut self) -> Option<Stop> {
        let (status, _) = self.ended?;
        let told =
            |signal: i32| [Signal::TERM, Signal::INT, Signal::KILL].iter().any(|s| s.as_raw() == signal);
        let by_signal = status.terminating_signal().is_some_and(told);
        // How a shell reports that of its own command.
        let by_relay = status.exit_status().is_some_and(|code| told(code - 128));
        if !by_signal && !by_relay {
            if !self.limits.scheduled {
                return None;
            }
            let stopped = |running: &Self| matches!(running.limits.signals.request(), Some(Request::Stop(_)));
            self.pump_until(TOLD_AFTER, stopped);
            return stopped(self).then(|| self.limits.reached(self.counted_now())).flatten();
        }
        self.pump_until(TOLD_TOGETHER, |running| running.limits.signals.request().is_some());
        self.limits.signals.request().and_then(|_| self.limits.reached(self.counted_now()))
    }

    /// Now, without the time for which the job was suspended: what limits are compared with.
    fn counted_now(&self) -> Instant {
        let now = Instant::now();
        now.checked_sub(self.suspended).unwrap_or(now)
    }

    /// Waits until then as [`Running::pump`] does, and takes note if much more time has gone by since the clock was looked at
    /// last: a job is stopped wherever it is, also between two waits.
    fn pump_until_then(&mut self, then: Instant) {
        self.pump(then.saturating_duration_since(Instant::now()));
        let expected = then.max(self.looked);
        self.looked = Instant::now();
        let longer = self.looked.saturating_duration_since(expected);
        if longer >= SUSPENDED {
            self.suspended += longer;
        }
    }

    /// Returns when the command has ended, or with the reason why it has to.
    fn until_over(&mut self) -> Option<Stop> {
        let mut interval = FIRST_SAMPLE;
        let mut next_sample = self.began + interval;
        let mut next_look = self.began + LOOK;
        loop {
            let beat = self.heartbeat.next();
            let limits = [self.timeout, self.limits.walltime, self.warn_at].into_iter().flatten();
            let limits = limits.filter_map(|limit| limit.checked_add(self.suspended));
            let next = limits.chain([next_sample, next_look, beat]).min().unwrap_or(next_look);
            self.pump_until_then(next);
            if self.ended.is_some() {
                return self.stopped_with_us();
            }
            let now = Instant::now();
            self.heartbeat.beat(now);
            let counted = self.counted_now();
            if let Some(stop) = self.limits.reached(counted) {
                return Some(stop);
            }
            if self.timeout.is_some_and(|limit| counted >= limit) {
                return Some(Stop {
                    kind: Kind::Timeout,
                    reason: "it took longer than `timeout` in the study file allows".into(),
                });
            }
            if self.warn_at.is_some_and(|warn_at| counted >= warn_at) {
                self.warn_at = None;
                // It has ended meanwhile if there is nobody to tell.
                let _ = kill_process_group(self.pid, Signal::USR1);
            }
            if now >= next_sample {
                self.sample();
                interval = (2 * interval).min(LOOK);
                next_sample = now + interval;
            }
            if now >= next_look {
                next_look = now + LOOK;
                if let Some(stop) = self.limits.cancelled() {
                    return Some(stop);
                }
            }
        }
    }

    /// Waits for at most this long, reads what is there, and takes note of the dead.
    fn pump(&mut self, timeout: Duration) {
        let mut waiting = vec![PollFd::from_borrowed_fd(self.limits.signals.wake(), PollFlags::IN)];
        waiting.extend(
            self.streams.iter().filter_map(|s| s.pipe.as_ref()).map(|pipe| PollFd::new(pipe, PollFlags::IN)),
        );
        let timeout = Timespec::try_from(timeout).ok();
        // An error is an interruption by a signal: the events are then empty and the next turn sees what happened.
        let ready = poll(&mut waiting, timeout.as_ref()).is_ok();
        let events: Vec<bool> = waiting.iter().map(|fd| ready && !fd.revents().is_empty()).collect();
        if events[0] {
            self.limits.signals.clear();
        }
        let open = self.streams.iter_mut().filter(|stream| stream.pipe.is_some());
        for (stream, _) in open.zip(&events[1..]).filter(|(_, ready)| **ready) {
            stream.read(&mut self.buffer);
        }
        self.reap();
    }

    /// Waits for all dead children, adopted ones included: nothing else would.
    fn reap(&mut self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid == self.pid {
                self.ended = Some((status, Instant::now()));
            }
        }
    }

    fn sample(&mut self) {
        let peaks = proc::descendants().into_iter().filter_map(proc::peak_memory);
        self.peak = peaks.fold(self.peak, u64::max);
    }

    /// SIGTERM, first to the command, then to what it left behind. True if it left anything.
    fn ask_to_end(&mut self, grace: Duration) -> bool {
        if self.ended.is_none() {
            // It may end in between, and its group with it.
            let _ = kill_process_group(self.pid, Signal::TERM);
            self.pump_until(grace, |running| running.ended.is_some());
        }
        let left = proc::descendants();
        if self.ended.is_some() && !left.is_empty() {
            kill_all(&left, Signal::TERM);
            self.pump_until(GRACE_OF_LEFTOVERS, |_| proc::descendants().is_empty());
        }
        !left.is_empty()
    }

    /// SIGKILL until nothing is left; names what does not go.
    fn sweep(&mut self) -> Vec<String> {
        let began = Instant::now();
        loop {
            let mut left = proc::descendants();
            left.extend(proc::with_environment(&self.cookies));
            if left.is_empty() {
                return Vec::new();
            }
            if began.elapsed() > SWEEP {
                return left.into_iter().filter_map(describe).collect();
            }
            // Only while the command has not been waited for: its number is not given to another group before.
            if self.ended.is_none() {
                let _ = kill_process_group(self.pid, Signal::KILL);
            }
            kill_all(&left, Signal::KILL);
            self.pump(Duration::from_millis(5));
        }
    }

    fn pump_until(&mut self, limit: Duration, over: impl Fn(&Self) -> bool) {
        let until = Instant::now() + limit;
        while !over(self) && Instant::now() < until {
            self.pump(Duration::from_millis(20));
        }
    }

    /// Reads what is still in the pipes, without waiting for whoever holds their other end.
    fn drain(&mut self) {
        let until = Instant::now() + DRAIN;
        for stream in &mut self.streams {
            while let Some(pipe) = &stream.pipe {
                let mut waiting = [PollFd::new(pipe, PollFlags::IN)];
                let ready = poll(&mut waiting, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
                if ready != Ok(1) || Instant::now() > until {
                    break;
                }
                stream.read(&mut self.buffer);
            }
        }
    }
}

impl Stream {
    /// Takes what is there; at the end of the stream the pipe is closed.
    fn read(&mut self, buffer: &mut [u8]) {
        match self.pipe.as_mut().map(|pipe| pipe.read(buffer)) {
            Some(Ok(length)) if length > 0 => self.capture.feed(&buffer[..length]),
            Some(Err(error)) if error.kind() == std::io::ErrorKind::Interrupted => {}
            _ => self.pipe = None,
        }
    }
}

/// Ends what an earlier incarnation of the job has left on this machine, before the command is started again.
pub(super) fn end_strays(cookies: &[&str]) {
    let began = Instant::now();
    let mut strays = proc::with_environment(cookies);
    while !strays.is_empty() && began.elapsed() < SWEEP {
        kill_all(&strays, Signal::KILL);
        std::thread::sleep(Duration::from_millis(5));
        strays = proc::with_environment(cookies);
    }
}

/// Whoever has ended in the meantime is not missed.
fn kill_all(pids: &BTreeSet<u32>, signal: Signal) {
    for pid in pids.iter().filter_map(|&pid| Pid::from_raw(i32::try_from(pid).ok()?)) {
        let _ = kill_process(pid, signal);
    }
}

fn describe(pid: u32) -> Option<String> {
    proc::stat(pid).map(|stat| format!("{pid} ({})", stat.name))
}
