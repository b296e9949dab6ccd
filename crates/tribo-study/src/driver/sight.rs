//! What the driver believes about one attempt that is under way, and when it stops believing.
//!
//! A scheduler gives negative evidence only, and may be wrong for a while: lists come back empty after a restart of the
//! controller, a finished job's answer takes a minute to cross a network file system. So an attempt is given up only when
//! two successful polls, a time of grace apart, went without it and none in between saw it; and a job that is reported as
//! ended still has that time for its answer to arrive.
//!
//! A job may also be told to stop by somebody who is not the study, and answer just that. Only the scheduler knows what
//! follows, so it is looked at soon and often:
//! - waiting in the queue again: the stop is forgotten, the job runs once more under the same name and answers then;
//! - over: what the scheduler tells of it counts at once, since the answer is here; if it tells of a good end, then it did
//!   not stop the job, and somebody did by hand, unless a later run of the job answers in time;
//! - held in the queue: it may never run again, so the attempt is over and the job not wanted any more;
//! - running: proves nothing, for a job that was told to stop is shown like that for a while, and so is one that runs again;
//! - not there: it is missed like any other job, and lost if it stays away.
//!
//! What was seen before the stop says nothing about what followed it. The answer stays in the spool until one of these is
//! certain, so the next driver finds it there and comes to the same end.
//!
//! A job that the queue does not show and whose heartbeat goes on is under another name there, or in no list; it runs.
//!
//! Pure functions of times; nothing here touches a file or a scheduler.

use crate::job::Kind;
use crate::runner::{Ending, Patience, State};
use crate::waiting::Prospect;

/// What is known of an attempt under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Sight {
    /// Since when it has been watched by this driver.
    since: f64,
    /// Whether the scheduler acknowledged it or it was found there.
    known: bool,
    /// Its last state.
    state: Option<State>,
    /// Since when the scheduler calls it ended.
    ended: Option<(f64, Ending)>,
    /// When a poll first and last went without it, and how many did.
    missing: Option<(f64, f64, u32)>,
    /// Its last sign of life, looked for only while it is missing.
    beat: Option<u64>,
    /// It ran and waits again, so that what its folder shows is of an earlier run.
    requeued: bool,
    /// The stop it told of, and that nobody has explained yet.
    stop: Option<Stop>,
    /// Why its end was asked for.
    pub cancelled: Option<String>,
}

/// A job was told to stop, and not by the study.
#[derive(Debug, Clone, PartialEq)]
struct Stop {
    since: f64,
    /// Which run of the job.
    incarnation: u32,
    /// In the job's words.
    reason: String,
}

/// What should be done about an attempt.
#[derive(Debug, Clone, PartialEq)]
pub enum Judgement {
    /// Go on watching.
    Watch,
    /// It probably never reached the scheduler: claim it, so that it never will.
    Revoke,
    /// It seems to have ended without having begun: if it can be claimed, that is certain.
    Unbegun(Ending),
    /// It is over without an answer.
    Over(Ending),
    /// It is over, and a job of it is left in the queue.
    Unwanted(Ending),
}

/// Seconds from a stop to the first look at the queue, between looks, and until looks become as rare as usual.
const STOP_LOOKS: (f64, f64, f64) = (2.0, 5.0, 60.0);

impl Sight {
    /// An attempt that was acknowledged (`known`), or may not have been, at this time.
    pub fn new(since: f64, known: bool) -> Sight {
        Sight {
            since,
            known,
            state: None,
            ended: None,
            missing: None,
            beat: None,
            requeued: false,
            stop: None,
            cancelled: None,
        }
    }

    /// The job says that it was told to stop: what was seen before is of no use any more. Of two runs of the job the later
    /// one counts; true if that is this one.
    pub fn told_to_stop(&mut self, now: f64, incarnation: u32, reason: &str) -> bool {
        if self.stop.as_ref().is_some_and(|stop| stop.incarnation > incarnation) {
            return false;
        }
        (self.state, self.ended, self.missing) = (None, None, None);
        self.stop = Some(Stop { since: now, incarnation, reason: reason.to_owned() });
        self.known = true;
        true
    }

    /// The run of the job that told of a stop which nobody has explained yet.
    pub fn stopped(&self) -> Option<u32> {
        self.stop.as_ref().map(|stop| stop.incarnation)
    }

    /// Whether something waits for the next look at the queue.
    pub fn is_awaited(&self) -> bool {
        !self.known || self.stop.is_some()
    }

    /// When the queue is to be looked at for its sake, at the latest.
    pub fn look_by(&self, now: f64, patience: &Patience) -> f64 {
        let (first, next, often) = STOP_LOOKS;
        match &self.stop {
            None => f64::INFINITY,
            Some(stop) if now - stop.since < first => stop.since + first,
            Some(stop) if now - stop.since < often => now + next.min(patience.poll_min),
            Some(_) => now + patience.poll_min,
        }
    }

    /// Whether the scheduler acknowledged it or it was seen there.
    pub fn is_known(&self) -> bool {
        self.known
    }

    /// Whether it was last seen running.
    pub fn is_running(&self) -> bool {
        matches!(self.state, Some(State::Running | State::Suspended | State::Unknown(_)))
    }

    /// Takes note of a sighting. True if it changed.
    pub fn seen(&mut self, now: f64, state: State) -> bool {
        self.known = true;
        self.missing = None;
        match &state {
            State::Ended(ending) => {
                let since = self.ended.as_ref().map_or(now, |(since, _)| *since);
                self.ended = Some((since, ending.clone()));
            }
            _ => self.ended = None,
        }
        let waits = matches!(state, State::Queued(_) | State::Held(_) | State::Impossible(_));
        self.requeued |= waits && (self.stop.is_some() || self.is_running());
        if matches!(state, State::Queued(_)) {
            self.stop = None;
        }
        let changed = self.state.as_ref() != Some(&state);
        self.state = Some(state);
        changed
    }

    /// It did begin, though its scheduler says that it failed before: its answer has the usual time to arrive.
    pub fn failed_after_beginning(&mut self) {
        if let Some((_, ending)) = &mut self.ended {
            ending.kind = Kind::Failed;
        }
    }

    /// Its folder shows that it has begun, which is known before the queue is looked at again. True if that is news.
    pub fn begun(&mut self) -> bool {
        let news =
            !self.requeued && self.stop.is_none() && matches!(self.state, None | Some(State::Queued(_)));
        if news {
            (self.known, self.state) = (true, Some(State::Running));
        }
        news
    }

    /// Takes note of a successful poll without it. A job whose sign of life has moved since the last such poll runs,
    /// whatever the scheduler calls it.
    pub fn missed(&mut self, now: f64, beat: Option<u64>) {
        let before = std::mem::replace(&mut self.beat, beat);
        if before.is_some() && beat.is_some() && before != beat {
            (self.known, self.missing, self.state) = (true, None, Some(State::Running));
            return;
        }
        let (since, _, polls) = self.missing.unwrap_or((now, now, 0));
        self.missing = Some((since, now, polls + 1));
    }

    /// Why it waits, if it does and the scheduler says so.
    pub fn waits(&self) -> Option<(Prospect, &str)> {
        match self.state.as_ref()? {
            State::Queued(reason) => reason.as_deref().map(|reason| (Prospect::Waits, reason)),
            State::Held(reason) => Some((Prospect::Held, reason)),
            State::Impossible(reason) => Some((Prospect::Never, reason)),
            State::Running | State::Suspended | State::Unknown(_) | State::Ended(_) => None,
        }
    }

    /// What to do now.
    pub fn judge(&self, now: f64, patience: &Patience) -> Judgement {
        if let (Some(_), Some(State::Held(reason))) = (&self.stop, &self.state) {
            let reason = format!("told to stop, and held in the queue: {reason}");
            return Judgement::Unwanted(Ending { kind: Kind::Infrastructure, reason, host: None });
        }
        if let Some((since, ending)) = &self.ended {
            if self.stop.is_some() && ending.kind != Kind::Ok {
                // A job that says it was stopped ends well: what failed is a later run that could not begin.
                let lost = matches!(ending.kind, Kind::Failed | Kind::Unstarted);
                let kind = if lost { Kind::Lost } else { ending.kind };
                return Judgement::Over(Ending { kind, ..ending.clone() });
            }
            if ending.kind == Kind::Unstarted {
                return Judgement::Unbegun(ending.clone());
            }
            if now - since < patience.lost {
                return Judgement::Watch;
            }
            let mut ending = ending.clone();
            if let (Kind::Ok, Some(stop)) = (ending.kind, &self.stop) {
                ending.kind = Kind::Cancelled;
                ending.reason = format!("{}, and not by the scheduler ({})", stop.reason, ending.reason);
            } else if ending.kind == Kind::Ok {
                ending.kind = Kind::Lost;
                ending.reason = format!("the job ended without an answer ({})", ending.reason);
            }
            return Judgement::Over(ending);
        }
        let Some((since, last, polls)) = self.missing else { return Judgement::Watch };
        if !self.known {
            let due = polls >= 2 && last - self.since >= patience.lookup;
            return if due { Judgement::Revoke } else { Judgement::Watch };
        }
        if polls >= 2 && last - since >= patience.lost {
            let reason = match &self.stop {
                Some(stop) => format!("{}, and the scheduler no longer knows why", stop.reason),
                None => "the job vanished from the queue and left no answer".to_owned(),
            };
            return Judgement::Over(Ending { kind: Kind::Lost, reason, host: None });
        }
        Judgement::Watch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Patience =
        Patience { spool: 1.0, poll_min: 30.0, poll_max: 180.0, lost: 120.0, lookup: 90.0, detachable: true };

    fn ended(kind: Kind) -> State {
        State::Ended(Ending { kind, reason: "TIMEOUT".into(), host: None })
    }

    #[test]
    fn fault_12_a_job_that_reappears_is_kept() {
        let mut sight = Sight::new(0.0, true);
        sight.missed(100.0, None);
        assert_eq!(sight.judge(300.0, &PATIENCE), Judgement::Watch, "one poll proves nothing");
        sight.seen(310.0, State::Running);
        sight.missed(400.0, None);
        sight.missed(430.0, None);
        assert_eq!(sight.judge(900.0, &PATIENCE), Judgement::Watch, "nobody has looked since");
        sight.missed(520.0, None);
        assert!(matches!(sight.judge(520.0, &PATIENCE), Judgement::Over(Ending { kind: Kind::Lost, .. })));
    }

    #[test]
    fn fault_5_an_unacknowledged_job_is_looked_for_then_revoked() {
        let mut sight = Sight::new(10.0, false);
        sight.missed(15.0, None);
        sight.missed(45.0, None);
        assert_eq!(sight.judge(99.0, &PATIENCE), Judgement::Watch);
        sight.missed(100.0, None);
        assert_eq!(sight.judge(100.0, &PATIENCE), Judgement::Revoke);
        assert!(sight.seen(101.0, State::Queued(None)), "found after all");
        assert_eq!(sight.judge(1e6, &PATIENCE), Judgement::Watch);
    }

    #[test]
    fn fault_25_an_ended_job_has_time_for_its_answer() {
        let mut sight = Sight::new(0.0, true);
        sight.seen(50.0, ended(Kind::Walltime));
        sight.seen(110.0, ended(Kind::Walltime));
        assert_eq!(sight.judge(169.0, &PATIENCE), Judgement::Watch);
        assert!(matches!(
            sight.judge(170.0, &PATIENCE),
            Judgement::Over(Ending { kind: Kind::Walltime, .. })
        ));
        sight.seen(60.0, ended(Kind::Ok));
        assert!(matches!(sight.judge(170.0, &PATIENCE), Judgement::Over(Ending { kind: Kind::Lost, .. })));
    }

    #[test]
    fn fault_16_a_requeued_job_is_no_longer_ended() {
        let mut sight = Sight::new(0.0, true);
        sight.seen(50.0, ended(Kind::Infrastructure));
        sight.seen(80.0, State::Queued(Some("requeued".into())));
        assert_eq!(sight.judge(1e5, &PATIENCE), Judgement::Watch);
    }

    fn stopped() -> Sight {
        let mut sight = Sight::new(0.0, true);
        sight.seen(50.0, State::Running);
        assert!(sight.told_to_stop(100.0, 0, "told to stop by SIGTERM"));
        sight
    }

    #[test]
    fn a_stop_is_explained_by_what_the_scheduler_says_of_the_end() {
        for (told, kind) in [
            (Kind::Infrastructure, Kind::Infrastructure),
            (Kind::Cancelled, Kind::Cancelled),
            (Kind::Walltime, Kind::Walltime),
            (Kind::Memory, Kind::Memory),
            // SLURM cannot start a requeued job: "Job credential revoked", and the job has failed.
            (Kind::Failed, Kind::Lost),
            (Kind::Unstarted, Kind::Lost),
        ] {
            let mut sight = stopped();
            sight.seen(102.0, State::Running);
            assert_eq!(sight.judge(1e6, &PATIENCE), Judgement::Watch, "running proves nothing");
            sight.seen(107.0, ended(told));
            assert!(
                matches!(sight.judge(107.0, &PATIENCE), Judgement::Over(end) if end.kind == kind),
                "{kind:?}"
            );
        }
    }

    #[test]
    fn a_stop_is_forgotten_when_the_job_waits_again() {
        let mut sight = stopped();
        assert_eq!((sight.stopped(), sight.is_awaited()), (Some(0), true));
        sight.seen(102.0, State::Queued(Some("BeginTime".into())));
        assert_eq!((sight.stopped(), sight.is_awaited()), (None, false));
        // The second run ends like any other.
        sight.seen(300.0, ended(Kind::Ok));
        assert_eq!(sight.judge(301.0, &PATIENCE), Judgement::Watch);
        assert!(matches!(sight.judge(420.0, &PATIENCE), Judgement::Over(Ending { kind: Kind::Lost, .. })));
    }

    #[test]
    fn a_stop_that_the_scheduler_did_not_order_was_somebody_s_unless_a_later_run_answers() {
        let mut sight = stopped();
        sight.seen(102.0, ended(Kind::Ok));
        assert_eq!(sight.judge(221.0, &PATIENCE), Judgement::Watch);
        assert!(matches!(
            sight.judge(222.0, &PATIENCE),
            Judgement::Over(Ending { kind: Kind::Cancelled, .. })
        ));
    }

    #[test]
    fn a_stop_and_a_hold_are_no_way_to_get_a_value() {
        let mut sight = Sight::new(0.0, true);
        sight.seen(50.0, State::Held("JobHeldUser".into()));
        assert!(sight.told_to_stop(100.0, 0, "SIGTERM"));
        assert_eq!(sight.judge(100.0, &PATIENCE), Judgement::Watch, "held before it ran");
        sight.seen(102.0, State::Held("job requeued in held state".into()));
        assert!(matches!(
            sight.judge(102.0, &PATIENCE),
            Judgement::Unwanted(Ending { kind: Kind::Infrastructure, .. })
        ));
    }

    #[test]
    fn a_stop_that_nobody_can_explain_is_a_loss() {
        let mut sight = stopped();
        sight.missed(102.0, None);
        sight.missed(107.0, None);
        assert_eq!(sight.judge(200.0, &PATIENCE), Judgement::Watch);
        sight.missed(222.0, None);
        assert!(matches!(sight.judge(222.0, &PATIENCE), Judgement::Over(Ending { kind: Kind::Lost, .. })));
    }

    #[test]
    fn after_a_stop_the_queue_is_looked_at_often_for_a_minute() {
        let sight = stopped();
        let looks: Vec<f64> =
            [100.0, 101.9, 102.0, 130.0, 161.0].map(|now| sight.look_by(now, &PATIENCE)).into();
        assert_eq!(looks, [102.0, 102.0, 107.0, 135.0, 191.0]);
        assert_eq!(Sight::new(0.0, true).look_by(5.0, &PATIENCE), f64::INFINITY);
    }

    #[test]
    fn of_two_stops_the_later_run_s_counts() {
        let mut sight = stopped();
        assert!(sight.told_to_stop(130.0, 2, "SIGTERM"));
        assert!(!sight.told_to_stop(131.0, 1, "SIGTERM"));
        assert_eq!(sight.stopped(), Some(2));
    }

    #[test]
    fn a_job_that_beats_is_not_lost_whatever_the_queue_shows() {
        let mut sight = Sight::new(0.0, true);
        for poll in 1..20u64 {
            sight.missed(60.0 * poll as f64, Some(4 * poll));
            assert_eq!(sight.judge(60.0 * poll as f64, &PATIENCE), Judgement::Watch, "poll {poll}");
        }
        assert!(sight.is_running());
        for poll in 20..23u64 {
            sight.missed(60.0 * poll as f64, Some(76));
        }
        assert!(matches!(sight.judge(1_320.0, &PATIENCE), Judgement::Over(Ending { kind: Kind::Lost, .. })));
    }

    #[test]
    fn a_folder_shows_the_first_run_only() {
        let mut sight = Sight::new(0.0, true);
        assert!(sight.begun() && sight.is_running() && !sight.begun());
        sight.seen(50.0, State::Queued(Some("BeginTime".into())));
        assert!(!sight.begun() && !sight.is_running(), "what is there is of the run before");
    }

    #[test]
    fn fault_22_a_held_job_is_watched_and_says_why_it_waits() {
        let mut sight = Sight::new(0.0, true);
        sight.seen(0.0, State::Held("JobHeldAdmin".into()));
        assert_eq!(sight.waits(), Some((Prospect::Held, "JobHeldAdmin")));
        assert_eq!(sight.judge(9_000.0, &PATIENCE), Judgement::Watch);
        sight.seen(9_000.0, State::Impossible("PartitionTimeLimit".into()));
        assert_eq!(sight.waits(), Some((Prospect::Never, "PartitionTimeLimit")));
        sight.seen(9_001.0, State::Running);
        assert_eq!(sight.waits(), None);
    }
}
