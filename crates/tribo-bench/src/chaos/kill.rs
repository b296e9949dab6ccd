//! Drivers that are killed, one after the other, until their study is over.
//!
//! A third of the moments are within 30 ms of the start, where the store is taken and the journal is read; a third are
//! uniform over 400 ms; a third come right after an event, where the driver has just written, submitted or put away
//! something. While there is no journal all are within 30 ms of the start. SIGKILL leaves no time for anything, and the next
//! driver starts at once.
//!
//! With chapters, the study file is changed before every other driver. A sixth of those are killed within 8 ms, about what it
//! takes to begin a chapter on a quiet machine, and a third when they have just written to the journal, once or twice.

use super::study::Bed;
use crate::program::{Heard, Run};
use crate::seeds::Failure;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::{Duration, Instant};
use tribo::rng::Stream;
use tribo_study::layout::Layout;

/// A driver that says nothing for this long hangs; it reports every ten seconds at least.
const SILENCE: Duration = Duration::from_secs(60);
/// The longest wait for the event after which a driver is to be killed, so that a slow machine does not stop the kills.
const EVENT_WAIT: Duration = Duration::from_secs(3);
/// Between two looks at the journal, for a kill right after a write.
const BETWEEN_LOOKS: Duration = Duration::from_micros(200);

/// When a driver is killed: so long after its start, after an event, or after it has written to the journal.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Moment {
    Start(Duration),
    Event { number: usize, delay: Duration },
    Write { number: usize, delay: Duration },
}

impl Moment {
    fn draw(stream: &mut Stream, existed: bool, changed: bool) -> Moment {
        let kind = match (existed, changed) {
            (false, _) => 0,
            (true, false) => stream.below(3),
            (true, true) => stream.below(6),
        };
        let mut within = |seconds: f64| Duration::from_secs_f64(seconds * stream.uniform());
        match kind {
            0 => Moment::Start(within(0.03)),
            1 => Moment::Start(within(0.4)),
            2 => {
                let delay = within(0.02);
                Moment::Event { number: 1 + stream.below(20), delay }
            }
            3 => Moment::Start(within(0.008)),
            _ => {
                let delay = within(0.001);
                Moment::Write { number: 1 + stream.below(2), delay }
            }
        }
    }
}

/// What the kills hit.
#[derive(Debug, Default)]
pub(super) struct Toll {
    /// Drivers killed.
    pub(super) kills: usize,
    /// Of those, before the journal was there.
    pub(super) before_first_record: usize,
    /// Of those, before the driver had said that it has the study.
    pub(super) during_start: usize,
    /// Of those, with a study file that had been changed.
    pub(super) during_change: usize,
    /// Seconds from the start of a driver on an existing study until it said that it has it.
    pub(super) resumes: Vec<f64>,
}

/// Runs the study in `bed` to its end, killing drivers until `toll` counts `kills`. With `chapters` its file is changed in
/// between. An error is a driver that ended otherwise, or hangs.
pub(super) fn run_under_fire(
    program: &Path,
    bed: &mut Bed,
    kills: usize,
    chapters: bool,
    stream: &mut Stream,
    toll: &mut Toll,
) -> Result<(), Failure> {
    let journal = Layout::of(bed.folder()).journal();
    let options: &[&str] = if chapters { &["--new-chapter"] } else { &[] };
    loop {
        let existed = journal.exists();
        let changed = chapters && existed && stream.below(2) == 0;
        if changed {
            bed.change(stream)?;
        }
        let moment = (toll.kills < kills).then(|| Moment::draw(stream, existed, changed));
        let mut growth = Growth::new(&journal);
        let mut run = Run::start_with(program, bed.folder(), options)?;
        let opened = live(&run, moment, &mut growth)?;
        if let Some(opened) = opened.filter(|_| existed) {
            toll.resumes.push(opened.duration_since(run.begun).as_secs_f64());
        }
        let status = match moment {
            Some(_) => run.kill()?,
            None => run.wait()?,
        };
        match status.signal() {
            Some(9) if moment.is_some() => {
                toll.kills += 1;
                toll.during_start += usize::from(opened.is_none());
                toll.during_change += usize::from(opened.is_none() && changed);
                toll.before_first_record += usize::from(!journal.exists());
            }
            _ => return ended(status, &run),
        }
    }
}

/// How often a journal has become longer, as far as one can see.
struct Growth<'a> {
    journal: &'a Path,
    length: u64,
    number: usize,
}

impl<'a> Growth<'a> {
    fn new(journal: &'a Path) -> Growth<'a> {
        Growth { journal, length: length(journal), number: 0 }
    }

    /// Looks again, and says how often.
    fn look(&mut self) -> usize {
        let now = length(self.journal);
        self.number += usize::from(now > self.length);
        self.length = now;
        self.number
    }
}

fn length(journal: &Path) -> u64 {
    std::fs::metadata(journal).map_or(0, |metadata| metadata.len())
}

/// Waits until the moment has come or the driver is over. Returns when it said that it has the study.
fn live(run: &Run, moment: Option<Moment>, growth: &mut Growth<'_>) -> Result<Option<Instant>, Failure> {
    let (mut opened, mut n_events) = (None, 0);
    let mut deadline = moment.map(|moment| match moment {
        Moment::Start(delay) => run.begun + delay,
        Moment::Event { .. } | Moment::Write { .. } => run.begun + EVENT_WAIT,
    });
    let mut awaited = match moment {
        Some(Moment::Write { number, delay }) => Some((number, delay)),
        _ => None,
    };
    loop {
        let until = deadline.unwrap_or_else(|| Instant::now() + SILENCE);
        let look = awaited.map(|_| Instant::now() + BETWEEN_LOOKS);
        match run.next(look.map_or(until, |look| look.min(until))) {
            Heard::Event(event) => {
                n_events += 1;
                if event.is("opened") {
                    opened = Some(event.at);
                }
                if let Some(Moment::Event { number, delay }) = moment
                    && n_events == number
                {
                    deadline = Some(event.at + delay);
                }
            }
            Heard::Nothing if Instant::now() < until => {}
            Heard::Nothing if deadline.is_some() => return Ok(opened),
            Heard::Nothing => {
                return Err(format!("a driver has said nothing for {} s", SILENCE.as_secs()).into());
            }
            Heard::End => return Ok(opened),
        }
        if let Some((number, delay)) = awaited
            && growth.look() >= number
        {
            deadline = Some(Instant::now() + delay);
            awaited = None;
        }
    }
}

fn ended(status: ExitStatus, run: &Run) -> Result<(), Failure> {
    match status.success() {
        true => Ok(()),
        false => Err(format!("a driver ended by itself with {status}: {}", run.last_words()).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_of_all_kinds_and_in_range() {
        let mut stream = Stream::new(3, "moments", 0);
        let moments: Vec<Moment> = (0..300).map(|_| Moment::draw(&mut stream, true, false)).collect();
        let early = |moment: &&Moment| matches!(moment, Moment::Start(delay) if delay.as_millis() < 30);
        let late = |moment: &&Moment| matches!(moment, Moment::Start(delay) if delay.as_millis() >= 30);
        // Binomial, 300 draws: a third, and a third of 0.925; 60 is more than 4 standard deviations below either.
        assert!(moments.iter().filter(early).count() > 60);
        assert!(moments.iter().filter(late).count() > 60);
        let longest = Duration::from_millis(400);
        assert!(moments.iter().all(|moment| match *moment {
            Moment::Start(delay) => delay < longest,
            Moment::Event { number, delay } => (1..=20).contains(&number) && delay.as_millis() < 20,
            Moment::Write { .. } => false,
        }));
        let moments: Vec<Moment> = (0..300).map(|_| Moment::draw(&mut stream, true, true)).collect();
        for write in 1..=2 {
            // Binomial, 300 draws of a sixth: 24 is 4 standard deviations below.
            let writes = |m: &&Moment| matches!(m, Moment::Write { number, .. } if *number == write);
            assert!(moments.iter().filter(writes).count() > 24, "{write}");
        }
    }

    #[test]
    fn a_journal_that_grows_is_seen_to_grow() {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("journal");
        std::fs::write(&journal, "one").unwrap();
        let mut growth = Growth::new(&journal);
        assert_eq!(growth.look(), 0);
        std::fs::write(&journal, "one two").unwrap();
        assert_eq!((growth.look(), growth.look()), (1, 1));
        // A torn record that is cut off is no growth; what is written in its place is.
        std::fs::write(&journal, "one").unwrap();
        assert_eq!(growth.look(), 1);
        std::fs::write(&journal, "one t").unwrap();
        assert_eq!(growth.look(), 2);
    }
}
