//! Drivers that are killed, one after the other, until their study is over.
//!
//! A third of the moments are within 30 ms of the start, where the store is taken and the journal is read; a third are
//! uniform over 400 ms; a third come right after an event, where the driver has just written, submitted or put away
//! something. While there is no journal all are within 30 ms of the start. SIGKILL leaves no time for anything, and the next
//! driver starts at once.

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

/// When a driver is killed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Moment {
    AfterStart(Duration),
    AfterEvent { number: usize, delay: Duration },
}

impl Moment {
    fn draw(stream: &mut Stream, existed: bool) -> Moment {
        let kind = if existed { stream.below(3) } else { 0 };
        let mut within = |seconds: f64| Duration::from_secs_f64(seconds * stream.uniform());
        match kind {
            0 => Moment::AfterStart(within(0.03)),
            1 => Moment::AfterStart(within(0.4)),
            _ => {
                let delay = within(0.02);
                Moment::AfterEvent { number: 1 + stream.below(20), delay }
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
    /// Seconds from the start of a driver on an existing study until it said that it has it.
    pub(super) resumes: Vec<f64>,
}

/// Runs the study in `folder` to its end, killing drivers until `toll` counts `kills`. An error is a driver that ended
/// otherwise, or hangs.
pub(super) fn run_under_fire(
    program: &Path,
    folder: &Path,
    kills: usize,
    stream: &mut Stream,
    toll: &mut Toll,
) -> Result<(), Failure> {
    let journal = Layout::of(folder).journal();
    loop {
        let existed = journal.exists();
        let mut run = Run::start(program, folder)?;
        let moment = (toll.kills < kills).then(|| Moment::draw(stream, existed));
        let opened = live(&run, moment)?;
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
                toll.before_first_record += usize::from(!journal.exists());
            }
            _ => return ended(status, &run),
        }
    }
}

/// Waits until the moment has come or the driver is over. Returns when it said that it has the study.
fn live(run: &Run, moment: Option<Moment>) -> Result<Option<Instant>, Failure> {
    let (mut opened, mut n_events) = (None, 0);
    let mut deadline = moment.map(|moment| match moment {
        Moment::AfterStart(delay) => run.begun + delay,
        Moment::AfterEvent { .. } => run.begun + EVENT_WAIT,
    });
    loop {
        match run.next(deadline.unwrap_or_else(|| Instant::now() + SILENCE)) {
            Heard::Event(event) => {
                n_events += 1;
                if event.is("opened") {
                    opened = Some(event.at);
                }
                if let Some(Moment::AfterEvent { number, delay }) = moment
                    && n_events == number
                {
                    deadline = Some(event.at + delay);
                }
            }
            Heard::Nothing if deadline.is_some() => return Ok(opened),
            Heard::Nothing => {
                return Err(format!("a driver has said nothing for {} s", SILENCE.as_secs()).into());
            }
            Heard::End => return Ok(opened),
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
        let moments: Vec<Moment> = (0..300).map(|_| Moment::draw(&mut stream, true)).collect();
        let early = |moment: &&Moment| matches!(moment, Moment::AfterStart(delay) if delay.as_millis() < 30);
        let late = |moment: &&Moment| matches!(moment, Moment::AfterStart(delay) if delay.as_millis() >= 30);
        // Binomial, 300 draws: a third, and a third of 0.925; 60 is more than 4 standard deviations below either.
        assert!(moments.iter().filter(early).count() > 60);
        assert!(moments.iter().filter(late).count() > 60);
        let longest = Duration::from_millis(400);
        assert!(moments.iter().all(|moment| match *moment {
            Moment::AfterStart(delay) => delay < longest,
            Moment::AfterEvent { number, delay } => (1..=20).contains(&number) && delay.as_millis() < 20,
        }));
    }
}
