//! Very many earlier results, read as rows and never held: what they name, and whether they are believed.

use super::{numbers, run};
use faer::Mat;
use tribo::problems::{Problem, active_inputs, by_name, embed_active};
use tribo::rng::Stream;
use tribo::space::{Direction, Parameter, Space};
use tribo::strategy::{AutoSettings, Digest, Fact, Strategy, Study};
use tribo::surrogate::data::Data;
use tribo::surrogate::watch::Unwatched;

const INPUTS: usize = 300;

fn problem(seed: u64) -> Problem {
    embed_active(&by_name("hartmann6", 6).expect("a problem"), INPUTS, seed).expect("a problem")
}

/// Its value at a point of the unit cube.
fn value(problem: &Problem, u: &[f64]) -> f64 {
    let sides = problem.low().iter().zip(problem.high());
    problem.evaluate(&u.iter().zip(sides).map(|(u, (low, high))| low + u * (high - low)).collect::<Vec<_>>())
}

fn cube(n: usize) -> Space {
    Space::new(vec![Parameter::float("x", 0.0, 1.0).with_size(n)]).expect("a space")
}

fn uniform(n: usize, seed: u64) -> Mat<f64> {
    let mut stream = Stream::new(seed, "earlier", 0);
    Mat::from_fn(n, INPUTS, |_, _| stream.uniform())
}

fn digest(x: &Mat<f64>, space: &Space, direction: Direction, f: impl Fn(&[f64]) -> f64) -> Digest {
    let y: Vec<f64> = (0..x.nrows()).map(|i| f(&x.row(i).iter().copied().collect::<Vec<_>>())).collect();
    let data = Data::new(x.as_ref(), &y).expect("data");
    Digest::of(&data, space, direction, 1, &Unwatched).expect("a digest")
}

fn study(seed: u64) -> Study {
    Study::new(cube(INPUTS), Direction::Minimize, Strategy::auto(), Some(100), seed).expect("a study")
}

/// The last word on whether earlier values are believed.
fn believed(study: &Study) -> Option<bool> {
    let kept = |fact: &Fact| if let Fact::AskedAgain { kept, .. } = fact { Some(*kept) } else { None };
    study.insight().findings.iter().find_map(|finding| kept(&finding.fact))
}

#[test]
fn a_digest_names_the_inputs_and_keeps_the_best_rows() {
    let seed = 2;
    let (problem, x) = (problem(seed), uniform(20_000, seed));
    let found = digest(&x, &cube(INPUTS), Direction::Minimize, |x| value(&problem, x));
    let mut active = active_inputs(INPUTS, 6, seed);
    active.sort_unstable();
    assert_eq!(found.inputs, active, "seed {seed}");
    assert!(found.explained > 0.8 && found.log_chances.iter().all(|log| *log < -10.0), "{found:?}");
    // Rows are rows: six coordinates of one of them, and its value.
    for (point, measured) in found.points.iter().zip(&found.values) {
        let mut whole = vec![0.5; INPUTS];
        active.iter().zip(point).for_each(|(&input, &u)| whole[input] = u);
        assert!((value(&problem, &whole) - measured).abs() < 1e-12);
    }
    let promising = &found.values[..found.n_promising];
    let median = |values: &[f64]| {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    };
    // What was measured lowest is among the first two.
    let values = (0..x.nrows()).map(|i| value(&problem, &x.row(i).iter().copied().collect::<Vec<_>>()));
    assert!(promising[..2].contains(&values.fold(f64::INFINITY, f64::min)), "seed {seed}");
    let any = &found.values[found.n_promising..];
    assert!(median(promising) < median(any) - 1.0, "{} and {}", median(promising), median(any));
    // The other way round the best rows are others.
    let up = digest(&x, &cube(INPUTS), Direction::Maximize, |x| -value(&problem, x));
    let negative = |values: &[f64]| values.iter().map(|value| -value).collect::<Vec<_>>();
    assert_eq!((up.inputs, up.points, negative(&up.values)), (found.inputs, found.points, found.values));
}

#[test]
fn earlier_results_are_a_head_start() {
    for seed in [1, 2] {
        let (problem, x) = (problem(seed), uniform(20_000, seed));
        let earlier = digest(&x, &cube(INPUTS), Direction::Minimize, |x| value(&problem, x));
        let mut informed = study(seed);
        assert!(informed.recall(&earlier).unwrap());
        run(&mut informed, 40, |x| value(&problem, x));
        let mut plain = study(seed);
        run(&mut plain, 40, |x| value(&problem, x));
        let best = |study: &Study| study.best().unwrap().unwrap().value;
        assert_eq!(believed(&informed), Some(true), "seed {seed}");
        assert!(best(&informed) < -3.1, "seed {seed}: {} and {}", best(&informed), best(&plain));
        assert!(best(&informed) < best(&plain), "seed {seed}: {} and {}", best(&informed), best(&plain));
        // All inputs that are not named were moved at once.
        let insight = informed.insight();
        assert_eq!(insight.n_idle, INPUTS - 6, "seed {seed}: {:?}", insight.findings);
    }
}

#[test]
fn results_of_another_function_are_not_believed() {
    let seed = 3;
    let (problem, x) = (problem(seed), uniform(20_000, seed));
    let reflected = |x: &[f64]| value(&problem, &x.iter().map(|x| 1.0 - x).collect::<Vec<_>>());
    let earlier = digest(&x, &cube(INPUTS), Direction::Minimize, reflected);
    let mut misled = study(seed);
    assert!(misled.recall(&earlier).unwrap());
    run(&mut misled, 100, |x| value(&problem, x));
    assert_eq!(believed(&misled), Some(false));
    let best = misled.best().unwrap().unwrap().value;
    assert!(best < -2.9, "seed {seed}: {best}");
    // Other inputs: those named are dropped, all but one, and the others are screened.
    let other = embed_active(&by_name("hartmann6", 6).unwrap(), INPUTS, seed + 50).unwrap();
    let mut misled = study(seed);
    let earlier = digest(&x, &cube(INPUTS), Direction::Minimize, |x| value(&other, x));
    assert!(misled.recall(&earlier).unwrap());
    run(&mut misled, 100, |x| value(&problem, x));
    let named: Vec<usize> = misled.insight().active.iter().map(|active| active.input).collect();
    let missed = active_inputs(INPUTS, 6, seed).into_iter().filter(|input| !named.contains(input));
    assert_eq!(missed.count(), 0, "seed {seed}: {named:?}");
}

/// Twenty workers that answer in turn.
fn run_crowd(study: &mut Study, n: usize, f: impl Fn(&[f64]) -> f64) {
    let mut open = study.ask(20).expect("asked");
    for _ in 0..n {
        let done = open.remove(0);
        study.tell(done.id, f(&numbers(&done.point))).expect("told");
        open.extend(study.ask(1).expect("asked"));
    }
}

#[test]
fn rows_of_other_inputs_cost_a_crowd_little() {
    let seed = 8;
    let (problem, x) = (problem(seed), uniform(10_000, seed));
    let other = embed_active(&by_name("hartmann6", 6).unwrap(), INPUTS, seed + 50).unwrap();
    let earlier = digest(&x, &cube(INPUTS), Direction::Minimize, |x| value(&other, x));
    let (mut misled, mut plain) = (study(seed), study(seed));
    assert!(misled.recall(&earlier).unwrap());
    for study in [&mut misled, &mut plain] {
        run_crowd(study, 75, |x| value(&problem, x));
    }
    assert_eq!(believed(&misled), Some(false));
    for study in [&misled, &plain] {
        let mut named: Vec<usize> = study.insight().active.iter().map(|active| active.input).collect();
        named.sort_unstable();
        let mut active = active_inputs(INPUTS, 6, seed);
        active.sort_unstable();
        assert_eq!(named, active);
    }
}

#[test]
fn whatever_the_rows_are_no_ask_fails() {
    let seed = 4;
    let problem = problem(seed);
    let many = uniform(2_000, seed);
    let repeated = Mat::from_fn(2_000, INPUTS, |i, k| many[(i % 10, k)]);
    let few = uniform(3, seed);
    type Case<'a> = (&'a str, &'a Mat<f64>, &'a dyn Fn(&[f64]) -> f64);
    let cases: [Case<'_>; 6] = [
        ("constant", &many, &|_| 2.0),
        ("a step", &many, &|x| f64::from(x[7] > 0.5)),
        ("huge", &many, &|x| 1e60 * (x[7] - 0.5)),
        ("tiny", &many, &|x| 1e-300 * x[7]),
        ("repeated", &repeated, &|x| value(&problem, x)),
        ("few", &few, &|x| value(&problem, x)),
    ];
    for (name, x, f) in cases {
        let earlier = digest(x, &cube(INPUTS), Direction::Minimize, f);
        let mut study = study(seed);
        let taken = study.recall(&earlier).expect(name);
        assert_eq!(taken, !earlier.inputs.is_empty(), "{name}");
        run(&mut study, 30, |x| value(&problem, x));
        // Evaluations that give nothing, and twenty at once.
        let mut broken =
            super::Study::new(cube(INPUTS), Direction::Minimize, Strategy::auto(), Some(100), seed)
                .expect("a study");
        broken.recall(&earlier).expect(name);
        for _ in 0..3 {
            for asked in broken.ask(20).expect(name) {
                broken.tell_failed(asked.id, "no").expect(name);
            }
        }
        let makeshift = |study: &Study| {
            study.insight().findings.iter().any(|finding| matches!(finding.fact, Fact::FellBack { .. }))
        };
        assert!(!makeshift(&study) && !makeshift(&broken), "{name}: {:?}", study.insight().findings);
    }
}

#[test]
fn categories_and_integers_are_read_as_positions_and_numbers() {
    let parameters = vec![
        Parameter::float("x", -2.0, 2.0).with_size(60),
        Parameter::int("n", 1, 9),
        Parameter::categorical("solver", ["a", "b", "c"]),
        Parameter::log_float("rate", 1e-4, 1.0),
    ];
    let space = Space::new(parameters).unwrap();
    let mut stream = Stream::new(5, "mixed", 0);
    let x = Mat::from_fn(6_000, 63, |_, k| match k {
        60 => 1.0 + stream.below(9) as f64,
        61 => stream.below(3) as f64,
        62 => 10_f64.powf(-4.0 * stream.uniform()),
        _ => 4.0 * stream.uniform() - 2.0,
    });
    let f =
        |x: &[f64]| (x[17] - 0.5).powi(2) + 0.2 * (x[60] - 4.0).abs() + x[61] + (x[62].log10() + 2.0).abs();
    let found = digest(&x, &space, Direction::Minimize, f);
    assert_eq!(found.inputs, [17, 60, 61, 62]);
    // A float, an integer, three categories, a logarithm.
    assert!(found.points.iter().all(|point| point.len() == 6));
    let mut study = Study::new(space.clone(), Direction::Minimize, Strategy::auto(), Some(100), 5).unwrap();
    assert!(study.recall(&found).unwrap());
    run(&mut study, 40, f);
    assert!(study.best().unwrap().unwrap().value < 0.05, "{:?}", study.best());
    // A table that does not fit the space is refused.
    let narrow = Mat::from_fn(100, 62, |_, _| 0.5);
    let data = Data::new(narrow.as_ref(), &[0.0; 100]).unwrap();
    assert!(Digest::of(&data, &space, Direction::Minimize, 1, &Unwatched).is_err());
}

#[test]
fn a_digest_is_for_the_first_ask_and_for_those_who_look_for_inputs() {
    let seed = 6;
    let (problem, x) = (problem(seed), uniform(3_000, seed));
    let earlier = digest(&x, &cube(INPUTS), Direction::Minimize, |x| value(&problem, x));
    let mut late = study(seed);
    run(&mut late, 1, |x| value(&problem, x));
    assert!(!late.recall(&earlier).unwrap());
    let given = AutoSettings { active: vec!["x[3]".to_owned()], ..AutoSettings::default() };
    let mut given =
        Study::new(cube(INPUTS), Direction::Minimize, Strategy::Auto(given), Some(100), seed).unwrap();
    assert!(!given.recall(&earlier).unwrap());
    // One of another space is refused.
    let mut other = Study::new(cube(60), Direction::Minimize, Strategy::auto(), Some(100), seed).unwrap();
    assert!(other.recall(&earlier).is_err());
}

/// Records of a study with earlier results make the same study again, cut anywhere.
#[test]
fn an_interrupted_study_goes_on() {
    let seed = 7;
    let (problem, x) = (problem(seed), uniform(10_000, seed));
    let earlier = digest(&x, &cube(INPUTS), Direction::Minimize, |x| value(&problem, x));
    let written = serde_json::to_string(&earlier).unwrap();
    let read: Digest = serde_json::from_str(&written).unwrap();
    assert_eq!(read, earlier);
    let mut whole = study(seed);
    whole.recall(&earlier).unwrap();
    let (mut open, mut told) = (vec![], vec![]);
    while whole.history().len() < 50 {
        open.extend(whole.ask(4).unwrap());
        let done = open.remove(0);
        whole.tell(done.id, value(&problem, &numbers(&done.point))).unwrap();
        told.push((whole.history().len(), done.id));
    }
    for cut in [1, 6, 20, 38] {
        let mut again = study(seed);
        again.recall(&read).unwrap();
        // Trials in order, each outcome after the trials that were asked before it.
        let mut outcomes = told.iter().peekable();
        for (number, (trial, _)) in whole.history().iter().enumerate() {
            while let Some((_, id)) = outcomes.next_if(|(asked, _)| *asked <= number) {
                again.tell_outcome(*id, whole.history().get(*id).unwrap().1.unwrap().clone()).unwrap();
            }
            if number < cut {
                again.restore_asked(trial.clone()).unwrap();
            } else {
                let asked = again.ask(1).unwrap();
                assert_eq!(again.history().get(asked[0].id).unwrap().0, trial, "cut at {cut}");
            }
        }
    }
}
