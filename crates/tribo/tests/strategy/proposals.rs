//! What is proposed: different points while others are pending, none twice, shared by quota.

use super::{bits, branin, numbers, run, run_parallel, study_of};
use std::collections::BTreeSet;
use tribo::embed::Kind;
use tribo::problems::by_name;
use tribo::space::{Direction, Parameter, Space};
use tribo::strategy::{InducingPoints, Process, Quota, Settings, Strategy, Study};
use tribo::surrogate::sparse::{Approximation, Objective};
use tribo::trial::Purpose;

#[test]
fn a_burst_of_asks_gives_clearly_different_points() {
    let problem = branin();
    let mut study = study_of(&problem, Strategy::Bo(Settings::bo()), 9);
    run(&mut study, 10, |x| problem.evaluate(x));
    let burst: Vec<Vec<f64>> = study.ask(8).unwrap().iter().map(|s| numbers(&s.point)).collect();
    assert_eq!(burst.len(), 8);
    for i in 0..8 {
        for j in 0..i {
            // Both sides of the box are 15 long; a pair within a thousandth of that would be an evaluation lost.
            let distance = (burst[i][0] - burst[j][0]).hypot(burst[i][1] - burst[j][1]) / 15.0;
            assert!(distance > 1e-3, "points {j} and {i} are {distance} apart");
        }
    }
}

#[test]
fn maximising_is_minimising_the_negative() {
    let problem = by_name("hartmann4", 4).unwrap();
    for strategy in [Strategy::Bo(Settings::bo()), Strategy::Paper(Settings::paper(2)), Strategy::Random] {
        let mut down = study_of(&problem, strategy.clone(), 11);
        let mut up = Study::new(down.space().clone(), Direction::Maximize, strategy, Some(50), 11).unwrap();
        let below = run_parallel(&mut down, 20, 1, |x| problem.evaluate(x));
        let above = run_parallel(&mut up, 20, 1, |x| -problem.evaluate(x));
        assert!(bits(&below) == bits(&above));
        let (least, greatest) = (down.best().unwrap().unwrap(), up.best().unwrap().unwrap());
        assert_eq!((least.id, least.point, least.value), (greatest.id, greatest.point, -greatest.value));
    }
}

/// Spaces with so many points.
fn finite_spaces() -> Vec<(usize, Space)> {
    let spaces = [
        (12, vec![Parameter::int("n", 0, 5), Parameter::categorical("mode", ["slow", "fast"])]),
        (30, vec![Parameter::log_int("n", 1, 10), Parameter::categorical("solver", ["a", "b", "c"])]),
        (8, vec![Parameter::categorical("switch", ["off", "on"]).with_size(3)]),
    ];
    spaces.into_iter().map(|(count, parameters)| (count, Space::new(parameters).expect("a space"))).collect()
}

#[test]
fn a_finite_space_is_gone_through_once() {
    for strategy in [Strategy::Random, Strategy::Bo(Settings::bo()), Strategy::auto()] {
        for (count, space) in finite_spaces() {
            let mut study = Study::new(space, Direction::Minimize, strategy.clone(), None, 5).unwrap();
            let mut seen = BTreeSet::new();
            loop {
                let asked = study.ask(5).unwrap();
                for suggestion in &asked {
                    let x = numbers(&suggestion.point);
                    study.tell(suggestion.id, x.iter().map(|x| (x - 2.0).powi(2)).sum()).unwrap();
                    assert!(seen.insert(bits(&[x])), "proposed twice");
                }
                if asked.len() < 5 {
                    break;
                }
            }
            // The last few points are found by drawing; a thousand draws miss one of thirty with odds of 1e-14.
            assert_eq!(seen.len(), count);
            assert!(study.ask(1).unwrap().is_empty());
        }
    }
}

#[test]
fn mixed_spaces_are_searched_without_repeats() {
    let parameters = vec![
        Parameter::log_float("rate", 1e-5, 1.0),
        Parameter::log_int("width", 1, 64),
        Parameter::categorical("kind", ["a", "b", "c"]),
        Parameter::categorical("flag", ["off", "on"]),
    ];
    let space = Space::new(parameters).unwrap();
    let f = |x: &[f64]| (x[0].log10() + 3.0).powi(2) + (x[1].log2() - 4.0).powi(2) + x[2] + x[3];
    let mut study = Study::new(space, Direction::Minimize, Strategy::Bo(Settings::bo()), None, 3).unwrap();
    let points = run_parallel(&mut study, 60, 3, f);
    let different: BTreeSet<_> = bits(&points).into_iter().collect();
    assert_eq!(different.len(), points.len());
    for x in &points {
        assert!((1e-5..=1.0).contains(&x[0]) && (1.0..=64.0).contains(&x[1]) && x[2] <= 2.0 && x[3] <= 1.0);
    }
    // The first category of both, and each number within a factor of two or so: one in several hundred at random.
    let best = study.best().unwrap().unwrap();
    assert!(best.value < 0.5, "{best:?}");
}

#[test]
fn purposes_follow_the_quota() {
    let problem = branin();
    let quota = Quota { exploit: 2, explore: 1, border: 0 };
    let mut study = study_of(&problem, Strategy::Bo(Settings { quota, ..Settings::bo() }), 4);
    run(&mut study, 6, |x| problem.evaluate(x));
    let asked = study.ask(4).unwrap();
    let purpose = |study: &Study, id| study.history().get(id).unwrap().0.purpose;
    use Purpose::{Exploit, Explore};
    let purposes: Vec<Purpose> = asked.iter().map(|s| purpose(&study, s.id)).collect();
    // With both quotas full the fourth worker exploits rather than waits.
    assert_eq!(purposes, [Exploit, Exploit, Explore, Exploit]);
    // Whoever comes back is replaced by its like; one of three exploiting ones is one too many.
    for (back, next) in [(2, Explore), (0, Exploit), (1, Exploit)] {
        study.tell(asked[back].id, 1.0).unwrap();
        let id = study.ask(1).unwrap()[0].id;
        assert_eq!(purpose(&study, id), next, "after trial {back} of the burst");
    }
}

#[test]
fn without_an_embedding_the_paper_becomes_bo() {
    let problem = by_name("hartmann4", 4).unwrap();
    let points = |strategy| run(&mut study_of(&problem, strategy, 21), 20, |x| problem.evaluate(x));
    let with = |process| {
        let mut settings = Settings { embedding: Kind::Identity, ..Settings::bo() };
        settings.surrogate.process = process;
        settings
    };
    let exact = with(Process::Exact);
    let sparse_never = with(Process::Sparse {
        exact_until: usize::MAX,
        n_inducing: 10,
        inducing: InducingPoints::LatinHypercube,
        approximation: Approximation::Fic,
        objective: Objective::Bound,
    });
    let classical = bits(&points(Strategy::Bo(exact.clone())));
    assert!(bits(&points(Strategy::Paper(exact))) == classical);
    assert!(bits(&points(Strategy::Paper(sparse_never))) == classical);
}

#[test]
fn with_the_data_as_inducing_points_the_sparse_process_proposes_as_the_exact_one() {
    let problem = branin();
    let proposal = |process: Process| {
        let mut settings = Settings::bo();
        settings.surrogate.process = process;
        let mut study = study_of(&problem, Strategy::Bo(settings), 21);
        // The design only: both studies have seen the same points when the first model is made.
        run(&mut study, 4, |x| problem.evaluate(x));
        numbers(&study.ask(1).unwrap()[0].point)
    };
    let exact = proposal(Process::Exact);
    let sparse = proposal(Process::Sparse {
        exact_until: 0,
        n_inducing: 100,
        inducing: InducingPoints::Subset,
        approximation: Approximation::Fic,
        objective: Objective::Bound,
    });
    // Equal but for jitter and for where two maximisers stop: a hundredth of the box, whose sides are 15 long.
    for k in 0..2 {
        assert!((exact[k] - sparse[k]).abs() < 0.15, "{exact:?} and {sparse:?}");
    }
}

#[test]
fn a_crowd_of_workers_outlives_its_local_searches() {
    // Enough results for local searches to end and begin again while a dozen proposals are under way.
    let problem = branin();
    let mut study = study_of(&problem, Strategy::Bo(Settings::bo()), 5);
    let mut pending = std::collections::VecDeque::new();
    for _ in 0..150 {
        pending.extend(study.ask(12 - pending.len()).unwrap());
        let suggestion = pending.pop_front().unwrap();
        study.tell(suggestion.id, problem.evaluate(&suggestion.point.numbers())).unwrap();
    }
    assert!(study.best().unwrap().unwrap().value - problem.optimum_value() < 1e-3);
}
