//! The strategies as a user meets them: ask, tell, and what must hold between the two.
//!
//! - `replay`: the seed and the order of asks and tells decide every bit, at any number of threads.
//! - `restore`: a study made again from its records goes on with the same bits.
//! - `beside`: fits that are made beside the asks, and the records of them.
//! - `records`: how trials and outcomes are written, how fast they are taken, which ones are refused.
//! - `broken`: an ask never fails for a reason of ours.
//! - `known`: results from before, where inputs are very many.
//! - `earlier`: very many results from before, as rows that are never held.
//! - `lost`: an accident says nothing about its point.
//! - `failures`: evaluations that give no value.
//! - `constraints`: what holds between inputs, which every proposal meets.
//! - `cancelled`: an ask that is cancelled leaves no trace.
//! - `tells`: outcomes in any order, repeated, wrong, broken, and of any size.
//! - `proposals`: pending points, duplicates, finite spaces, quotas, the classical limit.
//! - `settings`: bad ones are refused by name, all others run.
//! - `quality`: a few fixed seeds; how good the strategies are is measured by `tribo-bench`, not here.

mod beside;
mod broken;
mod cancelled;
mod constraints;
mod earlier;
mod failures;
mod known;
mod lost;
mod proposals;
mod quality;
mod records;
mod replay;
mod restore;
mod settings;
mod tells;

use tribo::problems::{Problem, by_name};
use tribo::rng::Stream;
use tribo::space::{Direction, Parameter, Point, Space, Values};
use tribo::strategy::{Settings, Strategy, Study, Suggestion};

/// Results still out while the next points are asked for.
const WORKERS: usize = 4;

/// A float parameter for each input of the problem.
fn space_of(problem: &Problem) -> Space {
    let sides = problem.low().iter().zip(problem.high()).enumerate();
    Space::new(sides.map(|(i, (&low, &high))| Parameter::float(format!("x{i}"), low, high)).collect())
        .expect("a space")
}

fn branin() -> Problem {
    by_name("branin", 2).expect("a problem")
}

/// A study that minimises the problem.
fn study_of(problem: &Problem, strategy: Strategy, seed: u64) -> Study {
    Study::new(space_of(problem), Direction::Minimize, strategy, Some(50), seed).expect("a study")
}

/// A study of ten floats with `bo`.
fn ten_floats() -> Study {
    let space = Space::new(vec![Parameter::float("x", -1.0, 1.0).with_size(10)]).expect("a space");
    Study::new(space, Direction::Minimize, Strategy::Bo(Settings::bo()), None, 1).expect("a study")
}

/// The values of a point, all kinds as numbers.
fn numbers(point: &Point) -> Vec<f64> {
    let column = |values: &Values| match values {
        Values::Float(values) => values.clone(),
        Values::Int(values) => values.iter().map(|&i| i as f64).collect(),
        Values::Category(values) => values.iter().map(|&i| i as f64).collect(),
    };
    point.columns().iter().flat_map(column).collect()
}

/// The bits of a list of points.
fn bits(points: &[Vec<f64>]) -> Vec<Vec<u64>> {
    points.iter().map(|point| point.iter().map(|x| x.to_bits()).collect()).collect()
}

/// Evaluates one point after the other; the points in the order asked.
fn run(study: &mut Study, evaluations: usize, f: impl Fn(&[f64]) -> f64) -> Vec<Vec<f64>> {
    let mut points = Vec::new();
    for _ in 0..evaluations {
        for suggestion in study.ask(1).expect("a proposal") {
            let x = numbers(&suggestion.point);
            study.tell(suggestion.id, f(&x)).expect("taken");
            points.push(x);
        }
    }
    points
}

/// Keeps as many as `WORKERS` trials pending and tells them in an order drawn from `seed`; every seventh fails.
fn run_parallel(
    study: &mut Study,
    evaluations: usize,
    seed: u64,
    f: impl Fn(&[f64]) -> f64,
) -> Vec<Vec<f64>> {
    let mut order = Stream::new(seed, "order of tells", 0);
    let mut pending: Vec<Suggestion> = Vec::new();
    let mut points = Vec::new();
    while points.len() < evaluations {
        let asked = study.ask(WORKERS - pending.len()).expect("proposals");
        points.extend(asked.iter().map(|suggestion| numbers(&suggestion.point)));
        pending.extend(asked);
        for _ in 0..=order.below(pending.len()) {
            let done = pending.swap_remove(order.below(pending.len()));
            if done.id.0 % 7 == 6 {
                study.tell_failed(done.id, "killed").expect("taken");
            } else {
                study.tell(done.id, f(&numbers(&done.point))).expect("taken");
            }
        }
    }
    points
}
