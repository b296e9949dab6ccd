//! Results from before a search, and what an earlier search had found, where inputs are very many.

use super::space_of;
use tribo::problems::{Problem, by_name, embed_active};
use tribo::rng::Stream;
use tribo::space::{Direction, Values};
use tribo::strategy::{Fact, Hint, Strategy, Study, Verdict};
use tribo::trial::{Purpose, Recipe};

const INPUTS: usize = 2_000;

fn problem(seed: u64) -> Problem {
    let plain = by_name("hartmann6", 6).expect("a problem");
    embed_active(&plain, INPUTS, seed).expect("a problem")
}

fn value(study: &Study, problem: &Problem, id: tribo::trial::TrialId) -> f64 {
    problem.evaluate(&study.point(id).expect("a point").numbers())
}

/// A study with `n` results at uniform points.
fn with_known(problem: &Problem, n: usize, seed: u64) -> Study {
    let mut study = Study::new(space_of(problem), Direction::Minimize, Strategy::auto(), Some(100), seed)
        .expect("a study");
    let mut stream = Stream::new(seed, "known", 0);
    for _ in 0..n {
        let x: Vec<f64> = (0..INPUTS).map(|_| stream.uniform()).collect();
        let columns = x.iter().map(|&x| Values::Float(vec![x])).collect();
        study.add(&study.space().point(columns).expect("a point"), problem.evaluate(&x)).expect("added");
    }
    study
}

fn run(study: &mut Study, problem: &Problem, n: usize) {
    for _ in 0..n {
        let asked = study.ask(1).expect("a point");
        let value = value(study, problem, asked[0].id);
        study.tell(asked[0].id, value).expect("told");
    }
}

#[test]
fn known_results_take_the_place_of_the_first_points_and_teach_the_model() {
    let seed = 3;
    let problem = problem(seed);
    let mut study = with_known(&problem, 120, seed);
    let known = study.best().unwrap().unwrap();
    run(&mut study, &problem, 60);
    // One evaluation shows the noise, at the best of what is known; then inputs are screened from there.
    let own = |k: u64| study.history().get(tribo::trial::TrialId(120 + k)).unwrap().0;
    assert_eq!(own(0).recipe.as_deref(), Some(&Recipe::Jitter { base: known.id, balanced: false }));
    assert!(matches!(own(1).recipe.as_deref(), Some(Recipe::Move { .. })), "{:?}", own(1).recipe);
    let best = study.best().unwrap().unwrap();
    assert!(best.value < known.value - 0.5, "seed {seed}: {} from {}", best.value, known.value);
    // Few results are no start.
    let mut study = with_known(&problem, 4, seed);
    run(&mut study, &problem, 1);
    assert_eq!(
        study.history().get(tribo::trial::TrialId(4)).unwrap().0.recipe.as_deref(),
        Some(&Recipe::Centre)
    );
}

#[test]
fn what_an_earlier_search_had_found_is_checked_and_used() {
    let seed = 5;
    let problem = problem(seed);
    let mut earlier = with_known(&problem, 60, seed);
    run(&mut earlier, &problem, 60);
    let insight = earlier.insight();
    assert_eq!(insight.verdict, Verdict::Sparse);
    let mut named: Vec<usize> = insight.active.iter().map(|input| input.input).collect();
    let idle = (0..INPUTS).find(|input| !named.contains(input)).unwrap();
    named.push(idle);
    named.sort_unstable();
    let mut study = with_known(&problem, 60, seed);
    study.hint(Hint::Named(named.clone()));
    run(&mut study, &problem, 40);
    let insight = study.insight();
    let dropped: Vec<&str> = insight
        .findings
        .iter()
        .filter_map(|finding| match &finding.fact {
            Fact::Dropped { name, .. } => Some(&name[..]),
            _ => None,
        })
        .collect();
    assert_eq!(dropped, [format!("x{idle}")], "seed {seed}");
    assert_eq!(insight.active.len(), named.len() - 1, "seed {seed}: {insight}");
    // No input was looked for again: the rest check found nothing.
    let tests = study
        .history()
        .iter()
        .filter(|(trial, _)| matches!(trial.recipe.as_deref(), Some(Recipe::Move { .. })));
    assert_eq!(tests.count(), 0);
    let probes = study.history().iter().filter(|(trial, _)| trial.purpose == Purpose::Probe).count();
    assert!(probes <= named.len() + 3, "{probes} probes");
}

#[test]
fn a_dense_search_goes_on_as_one() {
    let seed = 7;
    let problem = problem(seed);
    let mut study = with_known(&problem, 30, seed);
    study.hint(Hint::Dense);
    run(&mut study, &problem, 30);
    assert_eq!(study.insight().verdict, Verdict::Dense);
    assert!(
        study.history().iter().any(|(trial, _)| matches!(trial.recipe.as_deref(), Some(Recipe::Bins { .. })))
    );
}
