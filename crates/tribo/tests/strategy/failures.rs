//! Evaluations that give no value: the search learns where they fail, gets to an optimum on the border, and is not led astray
//! by accidents. Few seeds and wide margins; `tools/race` measures.

use super::numbers;
use tribo::rng::Stream;
use tribo::space::{Direction, Parameter, Space};
use tribo::strategy::{Settings, Strategy, Study};

/// What one study came to.
struct Run {
    /// The lowest value.
    best: f64,
    /// Evaluations without a value among those after the 20th.
    late_failures: usize,
    /// Evaluations after the 20th within a thousandth of the box of one that failed.
    repeats: usize,
}

/// Minimises `f` in the unit square; None is a failed evaluation.
fn run(seed: u64, evaluations: usize, f: &dyn Fn(&[f64], usize) -> Option<f64>) -> Run {
    let space =
        Space::new((0..2).map(|i| Parameter::float(format!("x{i}"), 0.0, 1.0)).collect()).expect("taken");
    let mut study =
        Study::new(space, Direction::Minimize, Strategy::Bo(Settings::bo()), None, seed).expect("taken");
    let mut run = Run { best: f64::INFINITY, late_failures: 0, repeats: 0 };
    let mut failed: Vec<Vec<f64>> = vec![];
    for turn in 0..evaluations {
        let asked = study.ask(1).expect("taken").remove(0);
        let u = numbers(&asked.point);
        let is_close = |other: &Vec<f64>| u.iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-3);
        run.repeats += usize::from(turn >= 20 && failed.iter().any(is_close));
        match f(&u, turn) {
            Some(value) => {
                run.best = run.best.min(value);
                study.tell(asked.id, value).expect("taken");
            }
            None => {
                run.late_failures += usize::from(turn >= 20);
                failed.push(u);
                study.tell_failed(asked.id, "diverged").expect("taken");
            }
        }
    }
    run
}

fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The area of a section of width w and height h that must be stiff enough: the optimum, 158.11, is on the border.
fn section(u: &[f64], _turn: usize) -> Option<f64> {
    let (w, h) = (5.0 + 95.0 * u[0], 5.0 + 195.0 * u[1]);
    (1e6 / (w * h * h) <= 200.0).then_some(w * h)
}

#[test]
fn an_optimum_on_the_border_of_what_fails_is_reached() {
    let runs: Vec<Run> = (0..5).map(|seed| run(seed, 40, &section)).collect();
    let best = median(runs.iter().map(|run| run.best));
    assert!(best < 159.5, "seeds 0 to 4: the median is {best}");
    for (seed, run) in runs.iter().enumerate() {
        assert!(run.best < 165.0, "seed {seed}: {}", run.best);
        assert!(run.late_failures <= 12, "seed {seed}: {} of 20 failed", run.late_failures);
        assert!(run.repeats <= 10, "seed {seed}: {} of 20 close to one that failed", run.repeats);
    }
}

#[test]
fn accidents_cost_little_more_than_their_evaluations() {
    let branin = tribo::problems::by_name("branin", 2).unwrap();
    let regret = |seed: u64, rate: f64| {
        let mut stream = Stream::new(seed, "accidents", 0);
        let accidents: Vec<bool> = (0..40).map(|_| stream.uniform() < rate).collect();
        let value = |u: &[f64]| branin.evaluate(&[15.0 * u[0] - 5.0, 15.0 * u[1]]);
        run(seed, 40, &|u, turn| (!accidents[turn]).then(|| value(u))).best - 0.397_887_357_729_739
    };
    let with = median((0..5).map(|seed| regret(seed, 0.2)));
    // The lowest point of a first model is about 0.1 above the optimum; before, the median was 0.02 to 0.05.
    assert!(with < 3e-3, "seeds 0 to 4: {with}");
}

#[test]
fn a_failing_disc_is_learned() {
    // Three tenths of the box, a tenth of its side away from the optimum.
    let value = |u: &[f64], _turn: usize| {
        let inside = (u[0] - 0.3).hypot(u[1] - 0.3 - 0.1 - 0.309) < 0.309;
        let (a, b) = (u[0] - 0.3, u[1] - 0.3);
        (!inside).then_some(a * a + 2.0 * b * b + 0.3 * (2.0 - (6.0 * a).cos() - (6.0 * b).cos()))
    };
    let runs: Vec<Run> = (0..3).map(|seed| run(seed, 100, &value)).collect();
    let failures = median(runs.iter().map(|run| run.late_failures as f64));
    assert!(failures <= 10.0, "seeds 0 to 2: {failures} of 80 failed");
    for (seed, run) in runs.iter().enumerate() {
        assert!(run.best < 1e-4, "seed {seed}: {}", run.best);
    }
}
