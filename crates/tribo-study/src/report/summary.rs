//! A study at a glance: where it stands, what is best, how fast it goes, what fails and why, and what to do about it.

use super::failures::{self, Group};
use super::limits::{self, LeastViolated, Standing};
use super::row::{self, Begun, Row, State};
use super::text;
use crate::Result;
use crate::config::{Budget, Config};
use crate::job::Kind;
use crate::layout::{Layout, shell_word};
use crate::outputs::Outputs;
use crate::point;
use crate::recalled::Recalled;
use crate::replay::{Points, Rebuilt};
use crate::store::ledger::{Ledger, Source};
use crate::waiting::Waiting;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use tribo::analysis;
use tribo::space::Direction;
use tribo::strategy::LimitState;
use tribo::surrogate::watch::Unwatched;

/// Version of the summary as JSON.
pub const SUMMARY_VERSION: u32 = 2;
/// Trials of which the pace is taken.
const RECENT: usize = 50;
/// Results up to which [`elsewhere`] looks: a fit to so many takes a part of a second.
const LOOKED_AT: usize = 800;
/// Trials in a row without a value that are worth a warning.
const FAILING: usize = 5;
/// An attempt that waits this long without beginning is worth a warning.
const LONG_WAIT_MS: u64 = 3_600_000;

/// What was seen outside the journal, at the time of the summary.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Seen {
    /// The time, ms since 1970.
    pub now_ms: u64,
    /// The driver at work, if there is one.
    pub driver: Option<Driver>,
    /// Attempts that have begun.
    pub begun: Begun,
    /// Why the others wait, by the driver's last look at the queue.
    pub waiting: Vec<Waiting>,
    /// What reading the journal and the study file brought up.
    pub warnings: Vec<String>,
}

/// A driver at work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Driver {
    /// Its host.
    pub host: String,
    /// Its process.
    pub pid: u32,
}

/// Where a study stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Phase {
    /// A driver is at work.
    Running(Driver),
    /// The budget is spent, or the target is reached.
    Finished {
        /// Which.
        why: String,
    },
    /// The last driver left in good order.
    Stopped {
        /// Why.
        why: String,
    },
    /// The last driver ended without a word.
    Interrupted,
    /// Nobody drives it: points are asked for and told.
    ByHand,
}

/// How many trials are in which state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// All.
    pub trials: usize,
    /// With a value.
    pub measured: usize,
    /// Broken.
    pub failed: usize,
    /// Not allowed.
    pub infeasible: usize,
    /// With an answer that is not one finite number.
    pub invalid: usize,
    /// Lost by accidents; they are no part of the budget.
    pub lost: usize,
    /// Begun.
    pub running: usize,
    /// Not begun.
    pub waiting: usize,
    /// Attempts beyond the first of their trials.
    pub retries: usize,
    /// With a value, of those evaluated elsewhere; they are no part of the budget.
    pub imported: usize,
}

impl Counts {
    /// Trials of the budget that have an outcome.
    pub fn done(&self) -> usize {
        self.measured + self.failed + self.infeasible + self.invalid - self.imported
    }
}

/// The best trial.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Best {
    /// Its number.
    pub trial: u64,
    /// Its value, in the user's direction.
    pub value: f64,
    /// All its outputs.
    pub outputs: Map<String, Json>,
    /// Its point.
    pub params: Map<String, Json>,
}

/// A better value may be away from the best point.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Elsewhere {
    /// How probable that is by functions drawn from a coarse model.
    pub chance: f64,
    /// By how much it is better, at least.
    pub worth: f64,
    /// Where it is most likely.
    pub params: Map<String, Json>,
}

/// The trial whose point the model recommends.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recommended {
    /// Its number.
    pub trial: u64,
    /// What is expected there, in the user's direction; what was measured, if results carry no noise.
    pub value: f64,
    /// Where the value without noise is with a probability of 90 %; null if results carry no noise.
    pub interval: Option<(f64, f64)>,
    /// The probability that all limits are met there; not there if limited outputs carry no noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within_limits: Option<f64>,
    /// Its point.
    pub params: Map<String, Json>,
}

/// How fast trials end.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pace {
    /// Trials in an hour, over the last ones.
    pub per_hour: f64,
    /// Seconds of an evaluation, the median of the last ones.
    pub evaluation_s: Option<f64>,
    /// Seconds until the budget of evaluations is spent.
    pub left_s: Option<f64>,
}

/// Earlier results that are not trials.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecalledRows {
    /// The file they were in.
    pub file: String,
    /// How many.
    pub rows: usize,
    /// Inputs that they name.
    pub inputs: Vec<String>,
    /// Part of the variance that those explain.
    pub explained: f64,
}

impl RecalledRows {
    fn of(recalled: &Recalled) -> RecalledRows {
        let Recalled { file, rows, inputs, explained, .. } = recalled.clone();
        RecalledRows { file, rows, inputs, explained }
    }
}

/// A study at a glance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// [`SUMMARY_VERSION`].
    pub version: u32,
    /// Its name.
    pub name: String,
    /// Its id.
    pub study: String,
    /// The output that is optimised.
    pub objective: String,
    /// `minimize` or `maximize`.
    pub direction: &'static str,
    /// What the strategy is and why.
    pub strategy: String,
    /// Its chapters: one more for each time that it went on with another study file or engine.
    pub chapters: usize,
    /// Where it stands.
    pub phase: Phase,
    /// When it was made, UTC; empty for a study in memory, which has no clock.
    pub created: String,
    /// When something last happened, UTC; likewise.
    pub last: String,
    /// How many trials are in which state.
    pub counts: Counts,
    /// Rows of earlier results that were read for what they say and are not trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recalled: Option<RecalledRows>,
    /// The number of evaluations to make, if it is given.
    pub evaluations: Option<usize>,
    /// The best trial, if one has a value and meets all limits.
    pub best: Option<Best>,
    /// That the search may be in a side valley, where the model holds that for likely; [`elsewhere`] looks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<Elsewhere>,
    /// Trials that have a value and meet all limits; None if there are no limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feasible: Option<usize>,
    /// How the study stands to each limit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Standing>,
    /// The trial that is least beyond the limits, where none meets them all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_violated: Option<LeastViolated>,
    /// Where none meets all limits, the probability by the models that the most promising point does: as far as they know, that
    /// there is a feasible point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
    /// How fast trials end, once two have.
    pub pace: Option<Pace>,
    /// Why evaluations wait, in the scheduler's words, by the driver's last look at the queue.
    pub waiting: Vec<Waiting>,
    /// What fails, and why.
    pub failures: Vec<Group>,
    /// What is wrong and what to do about it.
    pub warnings: Vec<String>,
}

/// The summary; `points` are those of its trials, made from the ledger, and `layout` is None for a study in memory.
pub fn summary(
    config: &Config,
    ledger: &Ledger,
    points: Points<'_>,
    layout: Option<&Layout>,
    seen: &Seen,
) -> Result<Summary> {
    let counts = counts(ledger, &seen.begun);
    let best = best(config, ledger, points, 1)?.pop();
    let (feasible, limits, least_violated) = match config.limits.is_empty() {
        true => (None, vec![], None),
        false => {
            let states = points.study.limits_so_far();
            let limits = limits::standings(config, states, best.as_ref().map(|best| best.value));
            let nearest = match best {
                Some(_) => None,
                None => limits::least_violated(config, ledger, points)?,
            };
            (Some(measured(config, ledger, points).count()), limits, nearest)
        }
    };
    let phase = phase(config, ledger, &counts, best.as_ref(), seen);
    let pace = pace(ledger, &counts, &config.budget);
    let mut warnings = seen.warnings.clone();
    warnings.extend(concerns(ledger, &counts, &phase, layout, seen));
    Ok(Summary {
        version: SUMMARY_VERSION,
        name: config.name.clone(),
        study: ledger.study.as_str().to_owned(),
        objective: config.objective().to_owned(),
        direction: match config.direction {
            Direction::Minimize => "minimize",
            Direction::Maximize => "maximize",
        },
        strategy: points.study.explanation().to_owned(),
        chapters: ledger.chapters().len(),
        phase,
        created: time(ledger.created_ms),
        last: time(ledger.last_ms),
        recalled: ledger.recalled().map(RecalledRows::of),
        evaluations: config.budget.evaluations,
        best,
        elsewhere: None,
        feasible,
        limits,
        least_violated,
        chance: None,
        pace,
        waiting: if counts.waiting > 0 { seen.waiting.clone() } else { Vec::new() },
        failures: failures::groups(ledger),
        warnings,
        counts,
    })
}

fn time(ms: u64) -> String {
    if ms == 0 { String::new() } else { row::time(ms) }
}

/// How many trials are in which state.
pub fn counts(ledger: &Ledger, begun: &Begun) -> Counts {
    let mut counts = Counts::default();
    for (trial, state) in ledger.trials() {
        let row = Row::new(trial, state, begun);
        counts.trials += 1;
        counts.imported += usize::from(matches!(state.source, Source::Imported(_)));
        counts.retries += row.attempts.saturating_sub(1);
        *match row.state {
            State::Waiting => &mut counts.waiting,
            State::Running => &mut counts.running,
            State::Measured => &mut counts.measured,
            State::Failed => &mut counts.failed,
            State::Infeasible => &mut counts.infeasible,
            State::Invalid => &mut counts.invalid,
            State::Lost => &mut counts.lost,
        } += 1;
    }
    counts
}

impl Summary {
    /// Takes in what the models say about the limits.
    pub fn know_limits(&mut self, config: &Config, states: Vec<LimitState>) {
        let best = self.best.as_ref().map(|best| best.value);
        self.limits = limits::standings(config, states, best);
        self.chance = self.least_violated.as_ref().and_then(|_| limits::chance(&self.limits));
    }

    /// Why there is no best trial.
    pub fn no_best(&self) -> &'static str {
        why_no_best(self.limits.is_empty(), &self.counts)
    }
}

/// Why a study has no best trial, if it has none.
pub fn no_best(config: &Config, counts: &Counts) -> &'static str {
    why_no_best(config.limits.is_empty(), counts)
}

fn why_no_best(is_unlimited: bool, counts: &Counts) -> &'static str {
    match is_unlimited || counts.measured == 0 {
        true => NO_VALUE,
        false => NOT_FEASIBLE,
    }
}

/// Why there may be no best trial.
pub const NO_VALUE: &str = "no trial has a value yet";
/// The same, where trials have values.
pub const NOT_FEASIBLE: &str = "no trial meets all limits yet";

/// Trials that have a value, meet all limits and are in the space of the present chapter, in the order told.
fn measured<'a>(
    config: &'a Config,
    ledger: &'a Ledger,
    points: Points<'a>,
) -> impl Iterator<Item = (u64, f64, &'a Outputs)> {
    ledger.told().filter_map(move |(trial, state)| {
        let finding = state.outcome.as_ref()?;
        let is_here = points.earlier.point(trial).is_none() || points.earlier.now(trial).is_some();
        let value = finding.value(config.objective()).filter(|_| is_here)?;
        config.meets_limits(&finding.outputs).then_some((trial, value, &finding.outputs))
    })
}

/// The best trials that meet all limits and are in the space of the present chapter, at most `top`, the best first; of equals the one told first.
pub fn best(config: &Config, ledger: &Ledger, points: Points<'_>, top: usize) -> Result<Vec<Best>> {
    let direction = config.direction;
    let mut measured: Vec<(usize, (u64, f64, &Outputs))> =
        measured(config, ledger, points).enumerate().collect();
    let worth = |value: f64| direction.to_internal(value);
    let order = |a: &(usize, (u64, f64, &Outputs)), b: &(usize, (u64, f64, &Outputs))| {
        worth(a.1.1).total_cmp(&worth(b.1.1)).then(a.0.cmp(&b.0))
    };
    // Of a hundred thousand only those that are wanted are sorted.
    if measured.len() > top {
        measured.select_nth_unstable_by(top, order);
        measured.truncate(top);
    }
    measured.sort_by(order);
    let with_point = |(_, (trial, value, outputs)): (usize, (u64, f64, &Outputs))| {
        best_of(config, ledger, points, trial, value, outputs)
    };
    measured.into_iter().map(with_point).collect()
}

/// A trial with its point in the space of the present chapter.
pub(super) fn best_of(
    config: &Config,
    ledger: &Ledger,
    points: Points<'_>,
    trial: u64,
    value: f64,
    outputs: &Outputs,
) -> Result<Best> {
    let space = points.study.space();
    // The optimiser keeps places between bounds; what was given it may know but for the last digit.
    let given = match ledger.trial(trial).map(|state| &state.source) {
        Some(Source::Imported(written)) => written.point(space).ok(),
        _ => None,
    };
    let params = match given.map_or_else(|| points.now(trial), |point| Ok(Some(point)))? {
        Some(point) => point::to_json(space, &point),
        None => points.params(trial)?,
    };
    Ok(Best { trial, value, outputs: outputs.to_json(&config.outputs), params })
}

/// Whether the search may be in a side valley: a look at the model of a study without limits, which takes a moment. None if
/// not, if there is no model of all inputs, or if there are too few results to say, or too many for a moment.
pub fn elsewhere(rebuilt: &mut Rebuilt) -> Result<Option<Elsewhere>> {
    let study = &mut rebuilt.study;
    // Under `auto` the model is that of the inputs named.
    let coordinates = match study.insight().active.len() {
        0 => study.space().dim(),
        named => named,
    };
    let results = study.history().measured().count();
    let is_quick = results <= LOOKED_AT && analysis::speaks_of(coordinates, results);
    if !is_quick || !study.limits_so_far().is_empty() {
        return Ok(None);
    }
    let Some(look) = study.look(&Unwatched)? else { return Ok(None) };
    let Some(found) = analysis::elsewhere(&look, 0)?.filter(analysis::Elsewhere::may_be_better) else {
        return Ok(None);
    };
    let point = study.space().decode(&look.whole(&found.place)?)?;
    let params = point::to_json(study.space(), &point);
    Ok(Some(Elsewhere { chance: found.chance, worth: found.worth, params }))
}

/// The trial whose point the model recommends, if anything was measured.
pub fn recommended(rebuilt: &mut Rebuilt) -> Result<Option<Recommended>> {
    let Some(recommended) = rebuilt.study.recommended(&Unwatched)? else { return Ok(None) };
    let params = crate::point::to_json(rebuilt.study.space(), &recommended.point);
    let tribo::strategy::Recommended { id, value, interval, within_limits, .. } = recommended;
    Ok(Some(Recommended { trial: id.0, value, interval, within_limits, params }))
}

fn phase(config: &Config, ledger: &Ledger, counts: &Counts, best: Option<&Best>, seen: &Seen) -> Phase {
    let (budget, direction) = (&config.budget, config.direction);
    // A driver that has said how it ended is about to leave.
    if let Some(driver) = seen.driver.as_ref().filter(|_| ledger.closed.is_none()) {
        return Phase::Running(driver.clone());
    }
    if let (Some(target), Some(best)) = (budget.target, best)
        && direction.to_internal(best.value) <= direction.to_internal(target)
    {
        return Phase::Finished { why: "the target is reached".to_owned() };
    }
    if budget.evaluations.is_some_and(|n| counts.done() >= n) {
        return Phase::Finished { why: "the evaluations are spent".to_owned() };
    }
    let age_ms = u128::from(seen.now_ms.saturating_sub(ledger.created_ms));
    if budget.wall_time.is_some_and(|limit| age_ms >= limit.as_millis()) {
        return Phase::Finished { why: "the wall time is spent".to_owned() };
    }
    if config.run.is_none() && ledger.trials().all(|(_, trial)| trial.attempts.is_empty()) {
        return Phase::ByHand;
    }
    match &ledger.closed {
        Some(why) => Phase::Stopped { why: why.clone() },
        None => Phase::Interrupted,
    }
}

/// The pace over the last trials that were evaluated here; those taken in from elsewhere took no time.
fn pace(ledger: &Ledger, counts: &Counts, budget: &Budget) -> Option<Pace> {
    let evaluated = ledger.told().rev().filter(|(_, state)| !state.attempts.is_empty()).take(RECENT);
    let recent: Vec<(u64, Option<f64>)> = evaluated
        .map(|(_, state)| (state.told_ms, state.deciding().and_then(|attempt| attempt.end.as_ref()?.wall_s)))
        .collect();
    let (last, first) = (recent.first()?.0, recent.last()?.0);
    let seconds = last.saturating_sub(first) as f64 / 1e3;
    if recent.len() < 2 || seconds <= 0.0 {
        return None;
    }
    let per_second = (recent.len() - 1) as f64 / seconds;
    let mut walls: Vec<f64> = recent.iter().filter_map(|(_, wall)| *wall).collect();
    walls.sort_by(f64::total_cmp);
    let left = budget.evaluations.map(|n| n.saturating_sub(counts.done()) as f64 / per_second);
    Some(Pace {
        per_hour: per_second * 3_600.0,
        evaluation_s: walls.get(walls.len() / 2).copied(),
        left_s: left,
    })
}

/// What is wrong and what to do about it.
fn concerns(
    ledger: &Ledger,
    counts: &Counts,
    phase: &Phase,
    layout: Option<&Layout>,
    seen: &Seen,
) -> Vec<String> {
    let mut concerns = Vec::new();
    let study = layout.map(|layout| shell_word(layout.file()));
    concerns.extend(row_of_failures(ledger, phase, study.as_deref()));
    concerns.extend(makeshift(ledger));
    // What follows is about evaluations that a driver runs.
    let Some(study) = study else { return concerns };
    let live = ledger.live().count();
    let driven = matches!(phase, Phase::Running(_));
    if live > 0 && !driven {
        let jobs = text::count(live, "evaluation");
        concerns.push(format!(
            "{jobs} may be under way and no driver takes in what they give; `tribo run {study}` takes them over, `tribo cancel {study} --all` ends them"
        ));
    }
    let waits = |since_ms: u64| since_ms > 0 && seen.now_ms.saturating_sub(since_ms) > LONG_WAIT_MS;
    let stuck: Vec<_> =
        ledger.live().filter(|a| !seen.begun.contains(&a.id) && waits(a.submitted_ms)).collect();
    if let Some(first) = stuck.first() {
        let job = first.job.as_deref().unwrap_or("unknown");
        concerns.push(format!(
            "{} submitted over an hour ago and not begun; ask the scheduler why, e.g. about job {job} named {}",
            text::count(stuck.len(), "evaluation"),
            first.tag
        ));
    }
    let attempts = counts.trials + counts.retries;
    if counts.retries >= 5 && counts.retries * 5 >= attempts {
        concerns.push(format!(
            "{} of {attempts} attempts were retries; `tribo trials {study} --failed` shows what goes wrong",
            counts.retries
        ));
    }
    if *phase == Phase::Interrupted && live == 0 && counts.trials > 0 {
        concerns.push(format!(
            "the last driver ended without a word, nothing is lost; `tribo run {study}` goes on"
        ));
    }
    concerns
}

/// What to say of the last trials, if many in a row gave no value. A point that is not allowed is an answer.
fn row_of_failures(ledger: &Ledger, phase: &Phase, study: Option<&str>) -> Option<String> {
    let told = ledger.told().rev().filter_map(|(_, trial)| Some(trial.outcome.as_ref()?.kind));
    let row: Vec<Kind> = told.take_while(|kind| *kind != Kind::Ok).collect();
    if row.len() < FAILING {
        return None;
    }
    let (n, are_all) = (row.len(), row.len() == ledger.told().len());
    let which = if are_all { format!("all {n}") } else { format!("the last {n}") };
    if row.iter().all(|kind| *kind == Kind::Infeasible) {
        return Some(format!("{which} points were not allowed; do the bounds leave room for one that is?"));
    }
    if row.iter().all(|kind| *kind == Kind::Lost) {
        let next = study.map(|study| format!("; when the cause is gone, `tribo run {study}` goes on"));
        return Some(format!("{which} evaluations were lost and are not spent{}", next.unwrap_or_default()));
    }
    let n = row.iter().take_while(|kind| **kind != Kind::Infeasible).count();
    if n < FAILING {
        return None;
    }
    Some(match (are_all, phase, study) {
        (true, Phase::ByHand, _) | (true, _, None) => format!("{which} evaluations failed; see the causes"),
        (true, _, Some(study)) => format!(
            "{which} evaluations failed; see the causes and run `tribo check --run {study}`, which tries one evaluation"
        ),
        (false, _, _) => format!(
            "the last {n} evaluations failed, earlier ones did not: a full disk, a licence or a file that is gone?"
        ),
    })
}

/// Trials at makeshift points, which is a fault of ours.
fn makeshift(ledger: &Ledger) -> Option<String> {
    let why = ledger.trials().filter_map(|(_, state)| match &state.source {
        Source::Asked { trial, .. } => trial.decision.as_ref()?.fell_back.as_deref(),
        Source::Imported(_) => None,
    });
    let why: Vec<&str> = why.collect();
    let last = why.last()?;
    Some(format!(
        "the strategy broke {} and went on with makeshift points, please report it: {last}",
        if why.len() == 1 { "once".to_owned() } else { format!("{} times", why.len()) }
    ))
}

#[cfg(test)]
mod tests;
