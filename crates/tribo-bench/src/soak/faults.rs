//! What goes wrong, how often, and how often it did.
//!
//! Every fault has a largest rate; a soak draws the rate of each between nothing and that. So one seed has many preempted
//! jobs and hardly an outage, another the reverse, and none of them is the average that somebody had in mind.

use std::collections::BTreeMap;
use tribo::rng::Stream;
use tribo_study::job::Kind;

/// What becomes of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It gives its value.
    Good,
    /// It answers this instead.
    Answers(Kind),
    /// It fails before it has begun.
    NotBegun,
    /// It is gone, and nobody has heard of it.
    Vanishes,
    /// The scheduler ends it, without an answer, and says this.
    Killed(Kind, &'static str),
    /// Its value crosses the file system slowly.
    Late,
    /// It is told to stop half-way, says so, and then this.
    Stopped(Then),
    /// It runs to a good end under a name that no list shows.
    Hidden,
    /// It is stopped for a while and goes on.
    Suspended,
    /// Its value is there, and the scheduler starts it once more.
    RunsAgain,
    /// It is held at first, and released.
    HeldBack,
    /// It leaves its value, and the scheduler never stops to show it as running.
    Lingers,
}

/// What the scheduler does with a job that it told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    Preempted,
    CancelledByHand,
    Requeued,
    RequeuedAndHeld,
    Forgotten,
}

/// How a submission goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Submit {
    Good,
    /// Nothing answers.
    Away,
    /// Half of it is taken, and then no more.
    Full,
    /// No answer in time, and it was taken; or it was not.
    Unclear {
        taken: bool,
    },
}

/// How a look at the queue goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Good,
    Away,
    /// An empty list, as after a restart of the controller.
    Empty,
    /// Every other job.
    Half,
}

/// Fates with their names and largest rates, which add up to one half.
const FATES: [(&str, Fate, f64); 23] = [
    ("failed", Fate::Answers(Kind::Failed), 0.04),
    ("infeasible", Fate::Answers(Kind::Infeasible), 0.04),
    ("invalid", Fate::Answers(Kind::Invalid), 0.02),
    ("transient", Fate::Answers(Kind::Transient), 0.04),
    ("timeout", Fate::Answers(Kind::Timeout), 0.02),
    ("memory", Fate::Answers(Kind::Memory), 0.02),
    ("not begun", Fate::NotBegun, 0.02),
    ("vanished", Fate::Vanishes, 0.03),
    ("wall time", Fate::Killed(Kind::Walltime, "TIMEOUT"), 0.02),
    ("out of memory", Fate::Killed(Kind::Memory, "OUT_OF_MEMORY"), 0.02),
    ("boot failure", Fate::Killed(Kind::Infrastructure, "BOOT_FAIL"), 0.02),
    ("preempted unheard", Fate::Killed(Kind::Infrastructure, "PREEMPTED"), 0.02),
    ("late", Fate::Late, 0.03),
    ("preempted", Fate::Stopped(Then::Preempted), 0.03),
    ("cancelled by hand", Fate::Stopped(Then::CancelledByHand), 0.01),
    ("requeued", Fate::Stopped(Then::Requeued), 0.03),
    ("requeued and held", Fate::Stopped(Then::RequeuedAndHeld), 0.01),
    ("stopped and forgotten", Fate::Stopped(Then::Forgotten), 0.01),
    ("hidden", Fate::Hidden, 0.02),
    ("suspended", Fate::Suspended, 0.02),
    ("run again", Fate::RunsAgain, 0.01),
    ("held back", Fate::HeldBack, 0.01),
    ("lingering", Fate::Lingers, 0.01),
];

const SUBMITS: [(&str, Submit, f64); 4] = [
    ("submission unanswered", Submit::Away, 0.03),
    ("queue full", Submit::Full, 0.02),
    ("submission unclear, taken", Submit::Unclear { taken: true }, 0.02),
    ("submission unclear, not taken", Submit::Unclear { taken: false }, 0.02),
];

const LOOKS: [(&str, Look, f64); 3] = [
    ("look unanswered", Look::Away, 0.1),
    ("empty list", Look::Empty, 0.05),
    ("half a list", Look::Half, 0.05),
];

/// Things that happen by themselves, with the shortest mean time between two, in seconds.
const EVENTS: [(&str, Happening, f64); 5] = [
    ("outage of the scheduler", Happening::Outage, 1200.0),
    ("failed node", Happening::NodeFails, 300.0),
    ("full disk", Happening::DiskFull, 900.0),
    ("driver killed", Happening::DriverKilled, 120.0),
    ("cancelled by tribo", Happening::CancelAsked, 300.0),
];

/// Something that happens to the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Happening {
    Outage,
    NodeFails,
    DiskFull,
    DriverKilled,
    CancelAsked,
}

/// The faults of one soak.
#[derive(Debug)]
pub(super) struct Faults {
    fates: Vec<f64>,
    submits: Vec<f64>,
    looks: Vec<f64>,
    between: Vec<f64>,
    stream: Stream,
    /// How often each has happened.
    pub(super) seen: BTreeMap<&'static str, usize>,
}

impl Faults {
    pub(super) fn new(seed: u64) -> Faults {
        let mut stream = Stream::new(seed, "rates of faults", 0);
        let mut below = |largest: f64| largest * stream.uniform();
        let fates = FATES.map(|(_, _, largest)| below(largest)).to_vec();
        let submits = SUBMITS.map(|(_, _, largest)| below(largest)).to_vec();
        let looks = LOOKS.map(|(_, _, largest)| below(largest)).to_vec();
        // At a quarter of the largest rate or more: a soak is short, and should see each.
        let between = EVENTS.map(|(_, _, shortest)| shortest / (0.25 + 0.75 * stream.uniform())).to_vec();
        let stream = Stream::new(seed, "faults", 0);
        Faults { fates, submits, looks, between, stream, seen: BTreeMap::new() }
    }

    pub(super) fn fate(&mut self) -> Fate {
        self.draw(&FATES, |faults| &faults.fates).unwrap_or(Fate::Good)
    }

    pub(super) fn submit(&mut self) -> Submit {
        self.draw(&SUBMITS, |faults| &faults.submits).unwrap_or(Submit::Good)
    }

    pub(super) fn look(&mut self) -> Look {
        self.draw(&LOOKS, |faults| &faults.looks).unwrap_or(Look::Good)
    }

    /// All that happens by itself, with the time until each happens first.
    pub(super) fn happenings(&mut self) -> Vec<(Happening, f64)> {
        EVENTS.map(|(_, happening, _)| (happening, self.until(happening))).to_vec()
    }

    /// Seconds until something happens again.
    pub(super) fn until(&mut self, happening: Happening) -> f64 {
        let mean = EVENTS.iter().zip(&self.between).find(|((_, each, _), _)| *each == happening);
        let mean = mean.map_or(f64::INFINITY, |(_, mean)| *mean);
        -mean * (1.0 - self.stream.uniform()).ln()
    }

    pub(super) fn happened(&mut self, happening: Happening) {
        if let Some((name, ..)) = EVENTS.iter().find(|(_, each, _)| *each == happening) {
            *self.seen.entry(name).or_default() += 1;
        }
    }

    /// Between these.
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.stream.uniform()
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        self.stream.below(n)
    }

    fn draw<T: Copy>(&mut self, table: &[(&'static str, T, f64)], rates: fn(&Faults) -> &[f64]) -> Option<T> {
        let mut left = self.stream.uniform();
        let index = rates(self).iter().position(|rate| {
            left -= rate;
            left < 0.0
        })?;
        let (name, fault, _) = table[index];
        *self.seen.entry(name).or_default() += 1;
        Some(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_below_their_largest_and_differ_between_seeds() {
        let total: f64 = FATES.iter().map(|(_, _, largest)| largest).sum();
        assert!((total - 0.5).abs() < 1e-12, "{total}");
        let (mut one, two) = (Faults::new(1), Faults::new(2));
        assert_ne!(one.fates, two.fates);
        let bad = (0..20_000).filter(|_| one.fate() != Fate::Good).count() as f64 / 20_000.0;
        let expected: f64 = one.fates.iter().sum();
        // Four standard errors.
        assert!((bad - expected).abs() < 4.0 * (0.25f64 / 20_000.0).sqrt(), "{bad} for {expected}");
        assert_eq!(one.seen.len(), FATES.len(), "{:?}", one.seen);
    }
}
