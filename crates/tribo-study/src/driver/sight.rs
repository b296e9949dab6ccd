//! What the driver believes about one attempt that is under way, and when it stops believing.
//!
//! A scheduler gives negative evidence only, and may be wrong for a while: lists come back empty after a restart of the
//! controller, a finished job's answer takes a minute to cross a network file system. So an attempt is given up only when
//! two successful polls, a time of grace apart, went without it and none in between saw it; and a job that is reported as
//! ended still has that time for its answer to arrive. Pure functions of times; nothing here touches a file or a scheduler.

use crate::job::Kind;
use crate::runner::{Ending, Patience, State};

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
    /// Since when it has been held, and whether that was reported.
    held: Option<(f64, bool)>,
    /// Why its end was asked for.
    pub cancelled: Option<String>,
}

/// What should be done about an attempt.
#[derive(Debug, Clone, PartialEq)]
pub enum Judgement {
    /// Go on watching.
    Watch,
    /// It probably never reached the scheduler: claim it, so that it never will.
    Revoke,
    /// It is over without an answer.
    Over(Ending),
}

/// A job held this long is reported.
const HELD_REPORTED: f64 = 3_600.0;

impl Sight {
    /// An attempt that was acknowledged (`known`), or may not have been, at this time.
    pub fn new(since: f64, known: bool) -> Sight {
        Sight { since, known, state: None, ended: None, missing: None, held: None, cancelled: None }
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
        self.held = match &state {
            State::Held(_) => Some(self.held.unwrap_or((now, false))),
            _ => None,
        };
        let changed = self.state.as_ref() != Some(&state);
        self.state = Some(state);
        changed
    }

    /// Takes note of a successful poll without it.
    pub fn missed(&mut self, now: f64) {
        let (since, _, polls) = self.missing.unwrap_or((now, now, 0));
        self.missing = Some((since, now, polls + 1));
    }

    /// The reason of a job that has been held for long, once.
    pub fn report_held(&mut self, now: f64) -> Option<String> {
        match (&mut self.held, &self.state) {
            (Some((since, reported)), Some(State::Held(reason)))
                if !*reported && now - *since >= HELD_REPORTED =>
            {
                *reported = true;
                Some(reason.clone())
            }
            _ => None,
        }
    }

    /// What to do now.
    pub fn judge(&self, now: f64, patience: &Patience) -> Judgement {
        if let Some((since, ending)) = &self.ended {
            if now - since < patience.lost {
                return Judgement::Watch;
            }
            let mut ending = ending.clone();
            if ending.kind == Kind::Ok {
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
            let reason = "the job vanished from the queue and left no answer".to_owned();
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
        sight.missed(100.0);
        assert_eq!(sight.judge(300.0, &PATIENCE), Judgement::Watch, "one poll proves nothing");
        sight.seen(310.0, State::Running);
        sight.missed(400.0);
        sight.missed(430.0);
        assert_eq!(sight.judge(900.0, &PATIENCE), Judgement::Watch, "nobody has looked since");
        sight.missed(520.0);
        assert!(matches!(sight.judge(520.0, &PATIENCE), Judgement::Over(Ending { kind: Kind::Lost, .. })));
    }

    #[test]
    fn fault_5_an_unacknowledged_job_is_looked_for_then_revoked() {
        let mut sight = Sight::new(10.0, false);
        sight.missed(15.0);
        sight.missed(45.0);
        assert_eq!(sight.judge(99.0, &PATIENCE), Judgement::Watch);
        sight.missed(100.0);
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

    #[test]
    fn fault_22_a_held_job_is_reported_once() {
        let mut sight = Sight::new(0.0, true);
        sight.seen(0.0, State::Held("JobHeldAdmin".into()));
        assert_eq!(sight.report_held(3_599.0), None);
        sight.seen(3_599.0, State::Held("JobHeldAdmin".into()));
        assert_eq!(sight.report_held(3_600.0), Some("JobHeldAdmin".into()));
        assert_eq!(sight.report_held(9_000.0), None);
        assert_eq!(sight.judge(9_000.0, &PATIENCE), Judgement::Watch);
    }
}
