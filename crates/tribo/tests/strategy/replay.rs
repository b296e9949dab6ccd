//! The same asks and tells give the same bits.

use super::{bits, branin, numbers, run_parallel, study_of};
use tribo::problems::{Problem, by_name, embed_active};
use tribo::strategy::{Settings, Strategy};

/// Runs the traffic twice, and in pools of 1 and of 2 threads.
fn check_replay(name: &str, problem: &Problem, strategy: &Strategy, evaluations: usize) {
    let seed = 17;
    let traffic = || {
        let mut study = study_of(problem, strategy.clone(), seed);
        bits(&run_parallel(&mut study, evaluations, seed, |x| problem.evaluate(x)))
    };
    let first = traffic();
    assert!(first.len() >= evaluations);
    assert!(traffic() == first, "{name}: the second run differs");
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        assert!(pool.install(traffic) == first, "{name}: {threads} thread(s) differ");
    }
}

#[test]
fn random_replays() {
    check_replay("random", &branin(), &Strategy::Random, 20);
}

#[test]
fn bo_replays() {
    check_replay("bo", &by_name("hartmann6", 6).unwrap(), &Strategy::Bo(Settings::bo()), 28);
}

#[test]
fn paper_replays() {
    check_replay("paper", &by_name("zdt1", 100).unwrap(), &Strategy::Paper(Settings::paper(5)), 24);
}

#[test]
fn auto_replays_in_many_dimensions() {
    for dim in [60, 1_000] {
        let problem = embed_active(&branin(), dim, 3).unwrap();
        check_replay(&format!("auto, D = {dim}"), &problem, &Strategy::auto(), 24);
    }
}

#[test]
fn one_ask_for_many_is_as_many_asks_for_one() {
    let problem = branin();
    let [mut at_once, mut one_by_one] = [0, 1].map(|_| study_of(&problem, Strategy::Bo(Settings::bo()), 5));
    for _ in 0..4 {
        let many = at_once.ask(WORKERS_ASKING).unwrap();
        let single: Vec<_> = (0..WORKERS_ASKING).flat_map(|_| one_by_one.ask(1).unwrap()).collect();
        assert_eq!(many, single);
        for suggestion in many {
            let value = problem.evaluate(&numbers(&suggestion.point));
            at_once.tell(suggestion.id, value).unwrap();
            one_by_one.tell(suggestion.id, value).unwrap();
        }
    }
}

/// Points of one ask.
const WORKERS_ASKING: usize = 3;

#[test]
fn the_point_of_a_trial_can_be_looked_up_bit_for_bit() {
    let problem = embed_active(&branin(), 80, 3).unwrap();
    for strategy in [Strategy::Random, Strategy::auto(), Strategy::Paper(Settings::paper(3))] {
        let mut study = study_of(&problem, strategy, 2);
        for suggestion in study.ask(6).unwrap() {
            assert_eq!(study.point(suggestion.id).unwrap(), suggestion.point);
        }
    }
}

#[test]
fn another_seed_gives_other_points() {
    for strategy in [Strategy::Random, Strategy::Bo(Settings::bo()), Strategy::Paper(Settings::paper(2))] {
        let [one, two] = [1, 2].map(|seed| study_of(&branin(), strategy.clone(), seed).ask(3).unwrap());
        assert!(one.iter().zip(&two).all(|(a, b)| a.point != b.point));
    }
}
