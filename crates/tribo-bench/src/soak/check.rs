//! The journal of a study that is over, held against what truly happened: nothing lost, nothing doubled, nothing left.

use super::cluster::{Cluster, Truth};
use serde::Serialize;
use tribo_study::driver::notice::Finish;
use tribo_study::job::Kind;
use tribo_study::layout::Layout;
use tribo_study::outputs::VALUE;
use tribo_study::store::ledger::{Ledger, TrialState};

/// Figures of a study that is over.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Trials that were asked.
    pub trials: usize,
    /// Of those, trials with a value.
    pub measured: usize,
    /// Of those, trials that only accidents ended; their evaluations are not spent.
    pub given_up: usize,
    /// Attempts at them.
    pub attempts: usize,
    /// Commands that began.
    pub executions: usize,
    /// Values that came after their trial was decided without one, since nobody had heard of their jobs for minutes.
    pub values_too_late: usize,
    /// Values left by jobs whose trials had not got them.
    pub lost: usize,
    /// Attempts that were submitted or begun twice.
    pub doubled: usize,
    /// Jobs, answers and trials that the study left behind.
    pub left: usize,
}

/// Looks at all that a study left. The strings say what is wrong.
pub(super) fn check(
    layout: &Layout,
    ledger: &Ledger,
    cluster: &Cluster,
    finish: Option<&Finish>,
    evaluations: usize,
) -> (Tally, Vec<String>) {
    let truth = &cluster.truth;
    let mut complaints: Vec<String> = truth.trouble.clone();
    if finish != Some(&Finish::Evaluations) {
        complaints.push(format!("the study ended with {finish:?}"));
    }
    let spent = ledger.told().len() - ledger.n_lost();
    if spent != evaluations || ledger.n_spent() != evaluations {
        complaints.push(format!("{spent} of {evaluations} evaluations have an outcome"));
    }
    let lost = lost(ledger, truth);
    let doubled = doubled(truth);
    let left = left(layout, ledger, cluster);
    let is = |kind: Kind| move |trial: &TrialState| trial.outcome.as_ref().is_some_and(|o| o.kind == kind);
    let count = |is: &dyn Fn(&TrialState) -> bool| ledger.trials().filter(|(_, trial)| is(trial)).count();
    let tally = Tally {
        trials: ledger.trials().len(),
        measured: count(&is(Kind::Ok)),
        given_up: count(&is(Kind::Lost)),
        attempts: ledger.trials().map(|(_, trial)| trial.attempts.len()).sum(),
        executions: truth.begun.values().sum(),
        values_too_late: ledger.trials().filter(|(id, trial)| is_too_late(*id, trial, truth)).count(),
        lost: lost.len(),
        doubled: doubled.len(),
        left: left.len(),
    };
    complaints.extend([lost, doubled, left].concat());
    (tally, complaints)
}

/// A trial that had a value by the time of its outcome has that value; and no trial has another.
fn lost(ledger: &Ledger, truth: &Truth) -> Vec<String> {
    let mut complaints = vec![];
    for (id, trial) in ledger.trials() {
        let values = truth.values.get(&id).map_or(&[][..], Vec::as_slice);
        let told = trial.outcome.as_ref();
        let value = told.and_then(|finding| finding.value(VALUE));
        if let Some(value) = value
            && !values.iter().any(|(given, _)| given.to_bits() == value.to_bits())
        {
            complaints.push(format!("made up: trial {id} was told {value}, its jobs gave {values:?}"));
        }
        if value.is_none() && values.iter().any(|(_, ms)| *ms <= trial.told_ms) {
            let ms = trial.told_ms;
            complaints.push(format!("lost: trial {id} was told {told:?} at {ms}, its jobs gave {values:?}"));
        }
    }
    complaints
}

fn is_too_late(id: u64, trial: &TrialState, truth: &Truth) -> bool {
    let value = trial.outcome.as_ref().and_then(|finding| finding.value(VALUE));
    value.is_none() && truth.values.contains_key(&id)
}

/// No attempt is submitted twice, and no start of a job runs its command twice.
fn doubled(truth: &Truth) -> Vec<String> {
    let taken = truth.taken.iter().filter(|(_, times)| **times > 1);
    let taken = taken.map(|(id, times)| format!("doubled: attempt {id} was submitted {times} times"));
    let begun = truth.begun.iter().filter(|(_, times)| **times > 1);
    let begun = begun.map(|((id, restart), times)| {
        format!("doubled: attempt {id} began {times} times after {restart} restarts")
    });
    taken.chain(begun).collect()
}

/// Nothing is in the queue, under way, without an outcome, or in the spool.
fn left(layout: &Layout, ledger: &Ledger, cluster: &Cluster) -> Vec<String> {
    let mut complaints = vec![];
    let mut complain = |n: usize, what: &str| {
        if n > 0 {
            complaints.push(format!("left: {n} {what}"));
        }
    };
    complain(cluster.active(), "jobs in the queue");
    complain(ledger.live().count(), "attempts under way");
    complain(ledger.open().len(), "trials without an outcome");
    complain(std::fs::read_dir(layout.spool("done")).map_or(1, Iterator::count), "answers in the spool");
    complaints
}
