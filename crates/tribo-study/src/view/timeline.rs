//! Who worked when: attempts as bars on lanes, a lane for each evaluation that ran at the same time as others.
//!
//! The journal knows when an attempt was submitted and when it ended, and how long the job itself took. What lies between
//! submission and start is the wait in a queue.

use super::View;
use super::numbers::{Column, Columns};
use crate::job::Kind;
use crate::report::row::Begun;
use crate::report::text;
use crate::store::ledger::{AttemptState, Ledger};
use crate::tag::AttemptId;
use std::collections::HashMap;
use tribo_chart::{Bar, Schedule};

/// Attempts that are drawn at most, the last ones.
const SHOWN_ATTEMPTS: usize = 1_200;
/// A wait that is shown, in seconds and as a part of the whole time.
const SHOWN_WAIT_S: f64 = 1.0;
const SHOWN_WAIT: f64 = 0.002;

/// A piece of work on its lane; times in seconds since the first.
#[derive(Debug, Clone, PartialEq)]
struct Work {
    lane: usize,
    submitted: f64,
    start: f64,
    end: f64,
    kind: usize,
    id: AttemptId,
    /// The host, by its number among those of the machine.
    host: Option<usize>,
}

/// Who worked when.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Machine {
    work: Vec<Work>,
    /// Evaluations that ran at once, at most.
    pub lanes: usize,
    /// Seconds from the first start to the last end.
    pub span_s: f64,
    /// Part of that time, over all lanes, in which something ran.
    pub busy: f64,
    /// Seconds that all evaluations took together.
    pub work_s: f64,
    /// Seconds that an attempt waited to begin, the median.
    pub wait_s: f64,
    /// Hosts that did the work, by name, with the number of attempts.
    hosts: Vec<(String, usize)>,
}

const KINDS: [&str; 4] = ["with a value", "without a value", "waiting to begin", "under way"];

impl Machine {
    /// All attempts of a journal.
    pub fn of(ledger: &Ledger, begun: &Begun, now_ms: u64, is_driven: bool) -> Machine {
        let attempts = || ledger.trials().flat_map(|(_, state)| &state.attempts);
        let Some(first) = attempts().map(submitted_ms).min() else { return Machine::default() };
        let seconds = |ms: u64| ms.saturating_sub(first) as f64 / 1e3;
        let mut work: Vec<Work> = Vec::new();
        let mut hosts: Vec<(String, usize)> = Vec::new();
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut waits = Vec::new();
        for attempt in attempts() {
            let submitted = seconds(submitted_ms(attempt));
            let (start, end, kind, host) = match &attempt.end {
                Some(done) => {
                    let end = seconds(done.ms);
                    // Its own time, if it told; else all of it.
                    let start = done.wall_s.map_or(submitted, |wall| (end - wall).max(submitted));
                    (start, end, usize::from(done.finding.kind != Kind::Ok), done.host.as_str())
                }
                // Of a study that nobody drives it is not known whether anything goes on.
                None if !is_driven => continue,
                None if begun.contains(&attempt.id) => (submitted, seconds(now_ms), 3, ""),
                None => (seconds(now_ms), seconds(now_ms), 2, ""),
            };
            let host = (!host.is_empty()).then(|| {
                let number = *numbers.entry(host).or_insert_with(|| {
                    hosts.push((host.to_owned(), 0));
                    hosts.len() - 1
                });
                hosts[number].1 += 1;
                number
            });
            if kind < 2 {
                waits.push(start - submitted);
            }
            work.push(Work { lane: 0, submitted, start, end, kind, id: attempt.id, host });
        }
        let lanes = assign(&mut work);
        let begin = work.iter().map(|work| work.start).fold(f64::INFINITY, f64::min);
        let end = work.iter().map(|work| work.end).fold(f64::NEG_INFINITY, f64::max);
        let span_s = (end - begin).max(0.0);
        let work_s: f64 = work.iter().map(|work| work.end - work.start).sum();
        let busy = if span_s > 0.0 { (work_s / (span_s * lanes as f64)).min(1.0) } else { 0.0 };
        let middle = waits.len() / 2;
        let wait_s = match waits.is_empty() {
            true => 0.0,
            false => *waits.select_nth_unstable_by(middle, f64::total_cmp).1,
        };
        Machine {
            work,
            lanes,
            span_s: if span_s.is_finite() { span_s } else { 0.0 },
            busy,
            work_s,
            wait_s,
            hosts,
        }
    }
}

impl Machine {
    /// Hosts that did the work, by name, with the number of attempts; the busiest first.
    pub fn hosts(&self) -> Vec<&(String, usize)> {
        let mut hosts: Vec<&(String, usize)> = self.hosts.iter().collect();
        hosts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        hosts
    }

    /// A piece of work in words.
    fn title(&self, work: &Work) -> String {
        let at = work.host.map(|host| format!(" on {}", self.hosts[host].0)).unwrap_or_default();
        let AttemptId { trial, attempt } = work.id;
        format!("trial {trial}, attempt {attempt}{at}: {}", text::duration(work.end - work.start))
    }

    /// All attempts as columns, times in seconds since the first was submitted; None if there were none.
    pub(super) fn columns(&self) -> Option<Columns> {
        let work = &self.work;
        let seconds = |of: fn(&Work) -> f64| Column::Numbers(work.iter().map(of).collect());
        (!work.is_empty()).then(|| {
            vec![
                ("trial", Column::Whole(work.iter().map(|work| work.id.trial as i64).collect())),
                ("worker", Column::Whole(work.iter().map(|work| work.lane as i64).collect())),
                ("submitted", seconds(|work| work.submitted)),
                ("start", seconds(|work| work.start)),
                ("end", seconds(|work| work.end)),
                ("state", Column::Names(work.iter().map(|work| KINDS[work.kind].to_owned()).collect())),
            ]
        })
    }
}

fn submitted_ms(attempt: &AttemptState) -> u64 {
    if attempt.submitted_ms > 0 { attempt.submitted_ms } else { attempt.intended_ms }
}

/// Gives each piece of work the first lane that is free, and returns how many there are.
fn assign(work: &mut [Work]) -> usize {
    work.sort_by(|a, b| a.start.total_cmp(&b.start).then(a.end.total_cmp(&b.end)));
    let mut free: Vec<f64> = Vec::new();
    for one in work.iter_mut() {
        // Ends and starts are written at different moments: a hundredth of a second is none.
        let lane = free.iter().position(|end| *end <= one.start + 0.01);
        one.lane = lane.unwrap_or(free.len());
        match lane {
            Some(lane) => free[lane] = one.end,
            None => free.push(one.end),
        }
    }
    free.len()
}

impl View {
    /// Attempts on their lanes; None if there were none, as in a study that is asked and told by hand.
    pub fn timeline(&self) -> Option<Schedule> {
        let machine = &self.machine;
        let shown = &machine.work[machine.work.len().saturating_sub(SHOWN_ATTEMPTS)..];
        let first = shown.iter().map(|work| work.start).reduce(f64::min)?;
        let (unit, label) = match machine.span_s {
            span if span < 180.0 => (1.0, "time [s]"),
            span if span < 10_800.0 => (60.0, "time [min]"),
            span if span < 4.0 * 86_400.0 => (3_600.0, "time [h]"),
            _ => (86_400.0, "time [d]"),
        };
        let least_wait = SHOWN_WAIT_S.max(SHOWN_WAIT * machine.span_s);
        let mut bars = Vec::new();
        for work in shown {
            let place = |at: f64| (at - first).max(0.0) / unit;
            let (worker, kind, title) = (work.lane, work.kind, machine.title(work));
            bars.push(Bar { worker, start: place(work.start), end: place(work.end), kind, title });
            let wait = work.start - work.submitted;
            if wait >= least_wait && work.submitted >= first {
                let title = format!("waited {}", text::duration(wait));
                bars.insert(
                    bars.len() - 1,
                    Bar { worker, start: place(work.submitted), end: place(work.start), kind: 2, title },
                );
            }
        }
        let used = bars.iter().map(|bar| bar.kind).max().unwrap_or(0);
        Some(Schedule {
            title: format!("{}, {:.0} % busy", text::count(machine.lanes, "worker"), 100.0 * machine.busy),
            description: format!(
                "Evaluations took {} in all, on at most {} at once, {:.0} % of the time in use.",
                text::duration(machine.work_s),
                text::count(machine.lanes, "worker"),
                100.0 * machine.busy
            ),
            time_label: label.to_owned(),
            n_workers: machine.lanes,
            kinds: KINDS[..=used].iter().map(|kind| (*kind).to_owned()).collect(),
            bars,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_at_the_same_time_is_on_different_lanes() {
        let id = AttemptId { trial: 0, attempt: 1 };
        let work = |start, end| Work { lane: 9, submitted: start, start, end, kind: 0, id, host: None };
        let mut all = vec![work(0.0, 5.0), work(1.0, 2.0), work(2.0, 4.0), work(5.005, 6.0), work(3.0, 3.5)];
        assert_eq!(assign(&mut all), 3);
        assert_eq!(all.iter().map(|work| work.lane).collect::<Vec<_>>(), [0, 1, 1, 2, 0]);
        assert_eq!(assign(&mut []), 0);
    }
}
