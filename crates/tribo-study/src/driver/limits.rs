//! What holds submissions back: a scheduler that does not answer, one that takes no more jobs, a request to stop.
//!
//! A scheduler that does not answer is tried again after 2, 4, 8 and then every 10 seconds, whatever was to be submitted:
//! an array is one call. So a free worker waits no longer than that once it answers again, and a scheduler in trouble gets
//! at most six submissions a minute. Whatever it answers, a look at the queue included, ends the pause at once.
//!
//! A scheduler that takes no more jobs is sent as many as were in its hands when it said so: one for each that ends, a
//! moment later, since a job's answer is here before the scheduler has closed the job. With every look at the queue one
//! more is tried; if the moment was too short, such a look comes soon. So at most one submission is refused for each job
//! that ends and for each look.
//!
//! A scheduler that others use, too, gets a hundred submissions as fast as they come, and then one a second: what was to
//! be submitted meanwhile goes together, in arrays. Evaluations of seconds that need more are the work of pilots.
//!
//! Pure functions of times; nothing here touches a scheduler.

/// What holds the driver back.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Limits {
    /// Fewer workers than asked for, since the scheduler takes no more.
    pub(super) cap: Option<usize>,
    /// The scheduler takes no more before this time.
    full_until: f64,
    /// A job has ended, and the next waits only until the scheduler has closed it.
    closing: bool,
    /// The last submission was for the room that an end made.
    after_end: bool,
    /// That room was not there: the next look at the queue gives another chance.
    short: bool,
    /// The scheduler is left alone until this time.
    away_until: f64,
    /// Submissions that it may get at once, as of `counted_at`.
    credit: f64,
    counted_at: f64,
    /// Calls in a row that it did not answer.
    pub(super) failures: u32,
    /// A request to stop, or to cancel everything.
    pub(super) stop: bool,
    pub(super) cancel_all: bool,
}

/// First pause after a call that was not answered, and the longest, in seconds. The longest decides how long workers may
/// idle after an outage, and how often a scheduler in trouble is called.
const PAUSE: (f64, f64) = (2.0, 10.0);
/// From a job's answer until the scheduler has closed the job, in seconds: SLURM on one host takes 0.1.
const CLOSING: f64 = 0.3;
/// After that many seconds it has closed it if it works at all: time for a look at the queue if the room was not there.
pub(super) const CLOSED: f64 = 5.0;

/// Submissions that may come in quick succession, and seconds in which one more is earned. A study of some hundred short
/// evaluations never waits for it; a long one of short evaluations calls no more often than sites put up with.
const CREDIT: (f64, f64) = (100.0, 1.0);

/// The pause after this many calls in a row that were not answered.
pub(super) fn pause(failures: u32) -> f64 {
    (PAUSE.0 * 2f64.powi(failures.clamp(1, 20) as i32 - 1)).min(PAUSE.1)
}

impl Limits {
    pub(super) fn new() -> Limits {
        let (full_until, away_until) = (0.0, 0.0);
        Limits {
            cap: None,
            full_until,
            closing: false,
            after_end: false,
            short: false,
            away_until,
            credit: CREDIT.0,
            counted_at: 0.0,
            failures: 0,
            stop: false,
            cancel_all: false,
        }
    }

    /// Whether the scheduler may be called to change something.
    pub(super) fn may_call(&self, now: f64) -> bool {
        now >= self.away_until
    }

    /// How many jobs may be submitted now, with this many in the scheduler's hands.
    pub(super) fn room(&self, now: f64, under_way: usize) -> usize {
        match self.cap {
            _ if !self.may_call(now) || now < self.full_until => 0,
            None => usize::MAX,
            Some(cap) => cap.saturating_sub(under_way),
        }
    }

    /// How many submissions a scheduler that others use, too, may get.
    pub(super) fn credit(&self, now: f64) -> usize {
        self.credit_at(now).max(0.0) as usize
    }

    /// It got so many submissions.
    pub(super) fn called(&mut self, now: f64, calls: usize) {
        (self.credit, self.counted_at) = (self.credit_at(now) - calls as f64, now);
    }

    fn credit_at(&self, now: f64) -> f64 {
        (self.credit + (now - self.counted_at) / CREDIT.1).min(CREDIT.0)
    }

    /// A call was not answered, however many jobs it was about.
    pub(super) fn unanswered(&mut self, now: f64) {
        self.failures += 1;
        self.away_until = now + pause(self.failures);
    }

    /// A call was answered.
    pub(super) fn answered(&mut self) {
        (self.failures, self.away_until) = (0, 0.0);
    }

    /// The scheduler took no more than the jobs it has. Without an end among them, it is asked again after `wait`. True if
    /// it should have had room, since a job has just ended: then it is worth a look soon.
    pub(super) fn full(&mut self, now: f64, under_way: usize, wait: f64) -> bool {
        if !self.after_end {
            self.cap = Some(under_way.max(1));
        }
        (self.full_until, self.closing, self.short) = (now + wait, false, self.after_end);
        self.short
    }

    /// Whether a look at the queue is wanted, be it that nothing is there.
    pub(super) fn wants_look(&self) -> bool {
        self.short
    }

    /// A job has ended: there is room for another in a moment. More ends do not make that moment longer.
    pub(super) fn freed(&mut self, now: f64) {
        if self.cap.is_some() && !self.closing {
            (self.full_until, self.closing) = (now + CLOSING, true);
        }
    }

    /// Jobs are about to be submitted.
    pub(super) fn submitting(&mut self) {
        (self.after_end, self.closing) = (self.closing, false);
    }

    /// The queue was looked at: if it was full, one more may fit by now.
    pub(super) fn looked(&mut self, workers: usize) {
        self.answered();
        (self.full_until, self.closing) = (0.0, false);
        if !std::mem::take(&mut self.short) {
            self.cap = self.cap.map(|cap| cap + 1).filter(|cap| *cap < workers);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_probed_every_ten_seconds_and_forgotten_at_the_first_answer() {
        let mut limits = Limits::new();
        let mut tried = vec![];
        for tenth in 0..=600 {
            let now = 0.1 * f64::from(tenth);
            if limits.room(now, 0) > 0 {
                limits.unanswered(now);
                tried.push(now.round() as u32);
            }
        }
        assert_eq!(tried, [0, 2, 6, 14, 24, 34, 44, 54]);
        assert!(!limits.may_call(60.0));
        limits.answered();
        assert_eq!((limits.room(60.0, 0), limits.failures), (usize::MAX, 0));
        assert_eq!((pause(1), pause(3), pause(4), pause(u32::MAX)), (2.0, 8.0, 10.0, 10.0));
    }

    #[test]
    fn a_hundred_submissions_at_once_then_one_a_second() {
        let mut limits = Limits::new();
        let mut calls = vec![];
        for tenth in 0..3000 {
            let now = 1000.0 + 0.1 * f64::from(tenth);
            if limits.credit(now) > 0 {
                limits.called(now, 1);
                calls.push(now);
            }
        }
        let within = |seconds: f64| calls.iter().filter(|at| **at < 1000.0 + seconds).count();
        // Ten a second, of which one is earned back: the credit lasts for eleven seconds.
        assert!((108..=112).contains(&within(11.0)), "{}", within(11.0));
        assert!((398..=400).contains(&calls.len()), "{}", calls.len());
        assert!(limits.credit(1300.0) < 2 && limits.credit(1302.0) > 0);
        // What was not used is kept up to a hundred, however long it is.
        assert_eq!(limits.credit(1e6), 100);
    }

    #[test]
    fn a_full_queue_takes_one_for_each_that_ends_and_one_more_with_each_look() {
        let mut limits = Limits::new();
        assert!(!limits.full(100.0, 2, 30.0));
        assert_eq!(limits.room(129.0, 2), 0);
        limits.freed(101.0);
        assert_eq!((limits.room(101.2, 1), limits.room(101.5, 1), limits.room(101.5, 2)), (0, 1, 0));
        // Ends in quick succession are one wait, and after a submission the next end is another.
        limits.freed(101.5);
        assert_eq!(limits.room(101.5, 0), 2);
        limits.submitting();
        limits.freed(102.0);
        assert_eq!((limits.room(102.2, 1), limits.room(102.5, 1)), (0, 1));
        limits.submitting();
        assert!(limits.full(102.5, 1, 30.0) && limits.wants_look(), "the job that ended was not closed yet");
        assert_eq!(limits.room(107.0, 1), 0);
        limits.looked(4);
        assert_eq!((limits.room(107.5, 1), limits.cap, limits.wants_look()), (1, Some(2), false));
        limits.looked(4);
        assert_eq!((limits.room(107.5, 2), limits.cap), (1, Some(3)));
        limits.looked(4);
        assert_eq!(limits.cap, None, "as many as workers: no limit");
        limits.submitting();
        assert!(!limits.full(110.0, 0, 30.0));
        assert_eq!((limits.room(139.0, 0), limits.room(140.0, 0)), (0, 1), "others fill the queue");
    }
}
