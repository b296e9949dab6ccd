//! A few fixed seeds, to notice when a strategy stops working. Thresholds are far from what is usual.

use super::{branin, run, study_of};
use tribo::problems::{Problem, by_name};
use tribo::strategy::{Settings, Strategy};

/// Best value less the optimum.
fn regret(problem: &Problem, strategy: Strategy, evaluations: usize, seed: u64) -> f64 {
    let mut study = study_of(problem, strategy, seed);
    run(&mut study, evaluations, |x| problem.evaluate(x));
    study.best().expect("a best trial").expect("a measured one").value - problem.optimum_value()
}

#[test]
fn bo_solves_branin() {
    for seed in [1, 2, 3] {
        let regret = regret(&branin(), Strategy::Bo(Settings::bo()), 40, seed);
        assert!(regret <= 1e-2, "regret {regret} with seed {seed}");
    }
}

#[test]
fn bo_beats_random_on_hartmann6() {
    let problem = by_name("hartmann6", 6).unwrap();
    for seed in [1, 2, 3] {
        let [bo, random] = [Strategy::Bo(Settings::bo()), Strategy::Random]
            .map(|strategy| regret(&problem, strategy, 40, seed));
        assert!(bo < random, "bo {bo}, random {random} with seed {seed}");
    }
}

#[test]
fn the_paper_improves_on_its_design_under_heavy_tails() {
    // Values span four decades and one lucky design point of four can stand for long, so means of logarithms over
    // three seeds are compared.
    let problem = by_name("zdt2", 100).unwrap();
    let log_mean = |evaluations| {
        let logs = [1, 2, 3]
            .map(|seed| regret(&problem, Strategy::Paper(Settings::paper(4)), evaluations, seed).ln());
        logs.iter().sum::<f64>() / 3.0
    };
    let (design, all) = (log_mean(4), log_mean(40));
    assert!(all < design, "{design} after the design, {all} in the end");
}
