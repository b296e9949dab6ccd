//! A study made again from its records goes on as if it had never been interrupted.
//!
//! A driver makes random traffic: asks of one to four points, some of them cancelled half-way, tells out of order,
//! failures, answers that are no numbers, outside evaluations. Trials and outcomes are written as JSON, one record each.
//! Then studies are restored from the records up to some place, and must make the rest of the trials themselves, equal
//! in every bit, the fits that they carry included.

use super::cancelled::CancelAt;
use super::{numbers, space_of};
use serde::{Deserialize, Serialize};
use tribo::embed::Kind;
use tribo::problems::{Problem, by_name, embed_active, rotate, shift};
use tribo::rng::Stream;
use tribo::space::{Direction, Values};
use tribo::strategy::{
    Acquisition, DenseArm, Fact, InducingPoints, Process, Quota, Settings, Strategy, Study,
};
use tribo::surrogate::sparse::{Approximation, Objective};
use tribo::trial::{Outcome, Purpose, Recipe, Trial, TrialId};

/// A line of the journal.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Record {
    Asked(Box<Trial>),
    Told { id: TrialId, outcome: Outcome },
}

/// What is run, by name.
struct Case {
    name: &'static str,
    problem: Problem,
    strategy: Strategy,
    trials: usize,
    /// Standard deviation of a noise on the values.
    noise: f64,
}

/// Points under way at most, by the seed: a few workers in most runs, and more than a trust region is used with in some.
const WORKERS: [usize; 3] = [2, 4, 20];

/// A mixture of acquisition functions: what each nominated is part of the records.
fn portfolio() -> Strategy {
    Strategy::Bo(Settings { acquisition: Acquisition::Portfolio, ..Settings::bo() })
}

fn make(case: &Case, seed: u64) -> Study {
    Study::new(space_of(&case.problem), Direction::Maximize, case.strategy.clone(), None, seed)
        .expect("a study")
}

/// Random traffic; the records in order, and how many trials separable CMA-ES made.
fn traffic(case: &Case, seed: u64) -> (Vec<String>, usize) {
    let mut study = make(case, seed);
    let mut stream = Stream::new(seed, "traffic", 0);
    let (mut records, mut open, mut n_evolved) = (Vec::new(), Vec::new(), 0);
    let crowd = WORKERS[seed as usize % 3];
    let write = |record: Record| serde_json::to_string(&record).expect("JSON");
    let recorded =
        |study: &Study, id| study.history().get(id).map(|(trial, _)| trial.clone()).expect("a trial");
    while study.history().len() < case.trials {
        if stream.uniform() < 0.05 {
            let elsewhere = stream.uniform();
            let sides = case.problem.low().iter().zip(case.problem.high());
            let x: Vec<f64> = sides.map(|(low, high)| low + elsewhere * (high - low)).collect();
            let point = study.space().point(x.iter().map(|&x| Values::Float(vec![x])).collect());
            let value = if stream.uniform() < 0.2 { f64::NAN } else { -case.problem.evaluate(&x) };
            let id = study.add(&point.expect("a point"), value).expect("added");
            records.push(write(Record::Asked(Box::new(recorded(&study, id)))));
            let outcome = study.history().get(id).and_then(|(_, outcome)| outcome.cloned()).expect("told");
            records.push(write(Record::Told { id, outcome }));
        } else if open.is_empty() || (open.len() < crowd && stream.uniform() < 0.4) {
            let n = 1 + stream.below(4);
            let mut turns = study.insight().findings.into_iter().filter_map(|finding| match finding.fact {
                Fact::NextArm { to, .. } => Some(to),
                _ => None,
            });
            let evolves = turns.next_back() == Some(DenseArm::Evolution);
            let cancel = if stream.uniform() < 0.3 { stream.below(30) } else { usize::MAX };
            for suggestion in study.ask_watched(n, &CancelAt::question(cancel)).unwrap_or_default() {
                records.push(write(Record::Asked(Box::new(recorded(&study, suggestion.id)))));
                open.push(suggestion);
                n_evolved += usize::from(evolves);
            }
        } else {
            let done = open.swap_remove(stream.below(open.len()));
            let value = case.noise * stream.normal() - case.problem.evaluate(&numbers(&done.point));
            match stream.below(12) {
                0 => study.tell_failed(done.id, "killed \"by\" the queue").expect("taken"),
                1 => study.tell_infeasible(done.id).expect("taken"),
                2 => study.tell(done.id, f64::INFINITY).expect("taken"),
                _ => study.tell(done.id, value).expect("taken"),
            };
            let outcome =
                study.history().get(done.id).and_then(|(_, outcome)| outcome.cloned()).expect("told");
            records.push(write(Record::Told { id: done.id, outcome }));
        }
    }
    (records, n_evolved)
}

/// Makes the study of the first `cut` records again, goes on from there, and compares up to `more` records.
fn check_cut(case: &Case, seed: u64, records: &[String], cut: usize, more: usize) {
    let mut study = make(case, seed);
    for (line, record) in records.iter().enumerate().take(cut + more) {
        match serde_json::from_str(record).expect("a record") {
            Record::Asked(trial) if line < cut || trial.purpose == Purpose::Added => {
                study.restore_asked(*trial).expect("restored");
            }
            Record::Asked(trial) => {
                let asked = study.ask(1).expect("a proposal");
                let made = asked.first().and_then(|asked| study.history().get(asked.id)).expect("a trial").0;
                let made = serde_json::to_string(&Record::Asked(Box::new(made.clone()))).expect("JSON");
                assert!(
                    made == *record,
                    "{}, seed {seed}, cut at record {cut}: trial {} is\n{made}\nand was\n{record}",
                    case.name,
                    trial.id
                );
            }
            Record::Told { id, outcome } => {
                study.tell_outcome(id, outcome).expect("taken");
            }
        }
    }
}

fn sparse(exact_until: usize, inducing: InducingPoints, approximation: Approximation) -> Settings {
    let mut settings = Settings::bo();
    let objective = Objective::Bound;
    settings.surrogate.process =
        Process::Sparse { exact_until, n_inducing: 12, inducing, approximation, objective };
    (settings.refit_always_until, settings.refit_growth) = (16, 1.3);
    settings
}

fn cases() -> Vec<Case> {
    let bo = |change: fn(&mut Settings)| {
        let mut settings = Settings::bo();
        change(&mut settings);
        Strategy::Bo(settings)
    };
    let hartmann = || by_name("hartmann4", 4).expect("a problem");
    let branin = || by_name("branin", 2).expect("a problem");
    let wide = || by_name("ackley", 9).expect("a problem");
    let quota = |s: &mut Settings| s.quota = Quota { exploit: 2, explore: 1, border: 0 };
    let hashing = |s: &mut Settings| {
        (s.embedding, s.n_embeddings) = (Kind::Hashing { dim: 3, signs: true }, 2);
    };
    let updates = |s: &mut Settings| (s.refit_always_until, s.refit_growth) = (10, 1.5);
    let greedy = sparse(20, InducingPoints::Greedy, Approximation::Fic);
    let groups = sparse(14, InducingPoints::Subset, Approximation::Pitc { group: 5 });
    let mut paper = Settings::paper(3);
    (paper.refit_always_until, paper.quota) = (12, Quota { exploit: 2, explore: 2, border: 0 });
    let case = |name, problem, strategy, trials, noise| Case { name, problem, strategy, trials, noise };
    let hidden = || embed_active(&by_name("hartmann6", 6).expect("a problem"), 200, 3).expect("a problem");
    let ten = || {
        let moved = shift(&by_name("ackley", 10).expect("a problem"), 3, 0.5).expect("a problem");
        embed_active(&moved, 200, 3).expect("a problem")
    };
    let alike = || by_name("zdt2", 120).expect("a problem");
    let everywhere = || shift(&by_name("levy", 150).expect("a problem"), 3, 0.5).expect("a problem");
    // The centre is the optimum, so that arm after arm gives up.
    let at_best = || by_name("ackley", 110).expect("a problem");
    let rotated = || rotate(&hartmann(), 150, 3).expect("a problem");
    vec![
        case("random", branin(), Strategy::Random, 40, 0.0),
        case("portfolio", branin(), portfolio(), 40, 0.0),
        case("bo, branin", branin(), bo(|_| ()), 75, 0.0),
        case("bo, noise", hartmann(), bo(|_| ()), 50, 0.3),
        case("bo, quota and updates", branin(), bo(quota), 40, 0.0),
        case("bo, updates", hartmann(), bo(updates), 60, 0.0),
        case("bo, two embeddings", wide(), bo(hashing), 70, 0.0),
        case("bo, exact to sparse", hartmann(), Strategy::Bo(greedy), 60, 0.0),
        case("bo, PITC", branin(), Strategy::Bo(groups), 45, 0.0),
        case("paper", wide(), Strategy::Paper(paper), 50, 0.0),
        case("auto, few inputs matter", hidden(), Strategy::auto(), 110, 0.0),
        case("auto, ten inputs matter", ten(), Strategy::auto(), 90, 0.0),
        case("auto, noise", hidden(), Strategy::auto(), 90, 0.02),
        case("auto, much noise", hidden(), Strategy::auto(), 150, 0.4),
        case("auto, all alike", alike(), Strategy::auto(), 90, 0.0),
        case("auto, dense", rotated(), Strategy::auto(), 90, 0.0),
        case("auto, dense arms", everywhere(), Strategy::auto(), 210, 0.0),
        case("auto, no arm gains", at_best(), Strategy::auto(), 230, 0.0),
    ]
}

#[test]
fn a_restored_study_goes_on_with_the_same_bits() {
    let (mut n_fits, mut n_ended, mut n_updates, mut n_chosen, mut n_noisy, mut n_log) = (0, 0, 0, 0, 0, 0);
    // Fits of bins of a dense function, and trials of the arms that set all its inputs after them.
    let (mut n_metrics, mut n_whole, mut n_evolved) = (0, 0, 0);
    // Trials in bins that have moved on under noise.
    let mut n_moved = 0;
    // Probes of a round, and not of a crowd.
    let mut n_joint = 0;
    for case in cases() {
        for seed in [1, 2, 3] {
            let (records, evolved) = traffic(&case, seed);
            n_evolved += evolved;
            let mut stream = Stream::new(seed, "cuts", 0);
            for _ in 0..8 {
                check_cut(&case, seed, &records, stream.below(records.len()), 40);
            }
            // The last ones, where the arm is that came latest.
            check_cut(&case, seed, &records, records.len() - 40, 40);
            for record in &records {
                let Record::Asked(trial) = serde_json::from_str(record).expect("a record") else { continue };
                let modelled = matches!(trial.purpose, Purpose::Exploit | Purpose::Explore);
                let decision = trial.decision.as_ref();
                let fit = decision.and_then(|decision| decision.fit.as_ref());
                n_fits += usize::from(fit.is_some());
                n_updates += usize::from(modelled && fit.is_none());
                n_ended += usize::from(decision.is_some_and(|decision| decision.ended.is_some()));
                n_chosen += usize::from(fit.is_some_and(|fit| fit.chosen_at.is_some()));
                n_metrics += usize::from(fit.is_some_and(|fit| fit.metric.is_some()));
                n_noisy += usize::from(fit.is_some_and(|fit| fit.noisy));
                let all = |set: &Vec<usize>| set.len() == case.problem.low().len();
                n_whole += usize::from(
                    matches!(trial.recipe.as_deref(), Some(Recipe::Set { inputs, .. }) if all(inputs)),
                );
                n_log += usize::from(fit.is_some_and(|fit| fit.log.is_some()));
                let moved =
                    matches!(trial.recipe.as_deref(), Some(Recipe::Bins { number, .. }) if *number > 0);
                let probes = matches!(trial.recipe.as_deref(), Some(Recipe::Scatter { .. }));
                n_joint += usize::from(probes && WORKERS[seed as usize % 3] < 8);
                n_moved += usize::from(moved && case.noise > 0.0);
            }
        }
    }
    // Everything a trial can carry has been there.
    let seen = [
        n_fits, n_updates, n_ended, n_chosen, n_noisy, n_log, n_metrics, n_whole, n_evolved, n_moved, n_joint,
    ];
    assert!(seen.iter().all(|&n| n >= 5), "{seen:?}");
}
