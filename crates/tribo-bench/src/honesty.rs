//! `honesty`: is what a report says about a model true?
//!
//! The verdict: after 40 results of Branin's function a model is good, and of pure noise it is not to be trusted. The shares
//! of the inputs: those of Hartmann-6, of Ishigami's function, and of Hartmann-6 among very many inputs, against the shares of
//! the functions themselves, which `tools/golden/shares.py` knows. A run agrees if every share, first-order and total, lies in
//! the interval that a report draws, two standard errors to either side. The recommended point under noise: its true value, and
//! whether its interval holds that (`recommended`).

mod recommended;

use crate::dimension::parse_positive;
use crate::objective;
use crate::seeds::{Failure, Spread, side_by_side};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use tribo::analysis::{Share, Trust, Validation, sensitivity, validation};
use tribo::problems;
use tribo::rng::Stream;
use tribo::space::{Direction, Parameter, Space};
use tribo::strategy::{AutoSettings, Settings, Strategy, Study};
use tribo::surrogate::watch::Unwatched;

/// Standard errors from a bar to either end of its interval.
const INTERVAL: f64 = 2.0;

/// What to run.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Cases: branin, noise, hartmann6, ishigami, wide, recommended; the last only where it is named.
    #[arg(long, value_delimiter = ',', default_value = "branin,noise,hartmann6,ishigami,wide")]
    pub cases: Vec<String>,
    /// Seeds of each.
    #[arg(long, default_value_t = 50, value_parser = parse_positive)]
    pub seeds: usize,
    /// The first of them.
    #[arg(long, default_value_t = 1)]
    pub first_seed: u64,
    /// Results of the verdicts.
    #[arg(long, default_value_t = 40, value_parser = parse_positive)]
    pub results: usize,
    /// Results of the shares.
    #[arg(long, default_value_t = 100, value_parser = parse_positive)]
    pub share_results: usize,
    /// Inputs of the case `wide`.
    #[arg(long, default_value_t = 10_000, value_parser = parse_positive)]
    pub inputs: usize,
    /// Results of the case `wide`.
    #[arg(long, default_value_t = 300, value_parser = parse_positive)]
    pub wide_results: usize,
    /// Results of the case `recommended`.
    #[arg(long, default_value_t = 200, value_parser = parse_positive)]
    pub noisy_results: usize,
    /// Standard deviations of its noise.
    #[arg(long, value_delimiter = ',', default_value = "0.1,0.5")]
    pub noise: Vec<f64>,
    /// Threads.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: u16,
}

/// What came of a case.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Row {
    /// How often which verdict was given.
    Verdict {
        /// The case.
        case: String,
        /// Runs.
        runs: usize,
        /// It can be trusted.
        good: usize,
        /// It tells good from bad.
        fair: usize,
        /// It is not to be trusted, or nothing is said.
        none: usize,
        /// What the model explains of results left out.
        explained: Option<Spread>,
        /// The part of them inside their intervals.
        inside: Option<Spread>,
    },
    /// How good the recommended point is, and how often its interval held the truth.
    Recommended {
        /// The case.
        case: String,
        /// Standard deviation of the noise.
        noise_sd: f64,
        /// Runs.
        runs: usize,
        /// Values without noise at the recommended points.
        truth: Spread,
        /// Runs whose interval held that value.
        covered: usize,
        /// Runs without an interval.
        silent: usize,
        /// Widths of the intervals.
        width: Option<Spread>,
    },
    /// How often shares agreed.
    Shares {
        /// The case.
        case: String,
        /// Runs.
        runs: usize,
        /// Runs in which every share was in its interval.
        agree: usize,
        /// Runs in which there was nothing to say.
        silent: usize,
        /// The part of all shares, first-order and total, that was in its interval.
        inside: f64,
        /// Standard errors of total shares.
        sd: Option<Spread>,
        /// Their true errors.
        error: Option<Spread>,
    },
}

/// The shares of a function.
#[derive(Debug, Clone, Deserialize)]
struct Known {
    first: Vec<f64>,
    total: Vec<f64>,
}

#[derive(Deserialize)]
struct Golden {
    hartmann6: Known,
    ishigami: Known,
}

/// One share: what was said and what is so.
struct Checked {
    error: f64,
    sd: f64,
    is_total: bool,
}

impl Checked {
    fn is_inside(&self) -> bool {
        self.error.abs() <= INTERVAL * self.sd
    }
}

/// Runs all cases.
pub fn run(options: &Options) -> Result<Vec<Row>, Failure> {
    let golden: Golden = serde_json::from_str(include_str!("../../tribo/tests/golden/shares.json"))?;
    let mut rows = Vec::new();
    for case in &options.cases {
        match case.as_str() {
            "recommended" => {
                for &noise_sd in &options.noise {
                    rows.push(recommended::row(options, noise_sd)?);
                }
            }
            _ => rows.push(one_case(options, case, &golden)?),
        }
    }
    Ok(rows)
}

fn one_case(options: &Options, case: &str, golden: &Golden) -> Result<Row, Failure> {
    let each = |known: &Known, run: &(dyn Fn(u64) -> Result<Named, Failure> + Sync)| {
        let runs = side_by_side(options.seeds, options.threads.into(), |index| {
            let (shares, active) = run(options.first_seed + index as u64)?;
            Ok(shares.map(|shares| checked(&shares, &active, known)))
        })?;
        Ok(shares_row(case, &runs))
    };
    match case {
        "branin" | "noise" => {
            let found = side_by_side(options.seeds, options.threads.into(), |index| {
                verdict(options, case, options.first_seed + index as u64)
            })?;
            Ok(verdict_row(case, &found))
        }
        "hartmann6" => each(&golden.hartmann6, &|seed| few(options.share_results, 6, seed, &hartmann6)),
        "ishigami" => each(&golden.ishigami, &|seed| few(options.share_results, 3, seed, &ishigami)),
        "wide" => each(&golden.hartmann6, &|seed| wide(options, seed)),
        other => {
            let known = "branin, noise, hartmann6, ishigami, wide, recommended";
            Err(format!("there is no case `{other}`; there are {known}").into())
        }
    }
}

fn hartmann6(x: &[f64]) -> f64 {
    // Whoever asks has six inputs.
    problems::by_name("hartmann6", 6).map_or(f64::NAN, |problem| problem.evaluate(x))
}

/// Ishigami's function, from the unit cube.
fn ishigami(u: &[f64]) -> f64 {
    let x = |k: usize| PI * (2.0 * u[k] - 1.0);
    x(0).sin() + 7.0 * x(1).sin().powi(2) + 0.1 * x(2).powi(4) * x(0).sin()
}

fn verdict(options: &Options, case: &str, seed: u64) -> Result<Option<Validation>, Failure> {
    let strategy = Strategy::Bo(Settings::bo());
    let mut noise = Stream::new(seed, "noise", 0);
    let branin = problems::by_name("branin", 2)?;
    let space = match case {
        "noise" => Space::new(vec![Parameter::float("x", 0.0, 1.0).with_size(3)])?,
        _ => objective::space(&branin)?,
    };
    let mut study = Study::new(space, Direction::Minimize, strategy, None, seed)?;
    for _ in 0..options.results {
        let asked = study.ask(1)?.remove(0);
        let value = match case {
            "noise" => noise.normal(),
            _ => objective::evaluate(&branin, &asked.point),
        };
        study.tell(asked.id, value)?;
    }
    Ok(study.look(&Unwatched)?.and_then(|look| validation(&look)))
}

fn verdict_row(case: &str, found: &[Option<Validation>]) -> Row {
    let trust = |one: &Option<Validation>| one.as_ref().map_or(Trust::None, |one| one.trust);
    let count = |wanted: Trust| found.iter().filter(|one| trust(one) == wanted).count();
    let spread = |of: fn(&Validation) -> f64| {
        let values: Vec<f64> = found.iter().flatten().map(of).collect();
        (!values.is_empty()).then(|| Spread::of(values))
    };
    Row::Verdict {
        case: case.to_owned(),
        runs: found.len(),
        good: count(Trust::Good),
        fair: count(Trust::Fair),
        none: count(Trust::None),
        explained: spread(|one| one.explained),
        inside: spread(|one| one.inside),
    }
}

/// Shares, if there is something to say, and the inputs that the function has.
type Named = (Option<Vec<Share>>, Vec<usize>);

/// A study of a function of the unit cube, all of whose inputs are modelled.
fn few(results: usize, dim: usize, seed: u64, function: &dyn Fn(&[f64]) -> f64) -> Result<Named, Failure> {
    let space = Space::new(vec![Parameter::float("x", 0.0, 1.0).with_size(dim)])?;
    let mut study = Study::new(space, Direction::Minimize, Strategy::Bo(Settings::bo()), None, seed)?;
    for _ in 0..results {
        let asked = study.ask(1)?.remove(0);
        study.tell(asked.id, function(&asked.point.numbers()))?;
    }
    Ok((shares(&mut study, seed)?, (0..dim).collect()))
}

/// Hartmann-6 somewhere among very many inputs.
fn wide(options: &Options, seed: u64) -> Result<Named, Failure> {
    let active = Stream::new(seed, "active", 0).choose(options.inputs, 6);
    let space = Space::new(vec![Parameter::float("x", 0.0, 1.0).with_size(options.inputs)])?;
    let strategy = Strategy::Auto(AutoSettings::default());
    let mut study = Study::new(space, Direction::Minimize, strategy, Some(options.wide_results), seed)?;
    for _ in 0..options.wide_results {
        let asked = study.ask(1)?.remove(0);
        let x = asked.point.numbers();
        let own: Vec<f64> = active.iter().map(|&input| x[input]).collect();
        study.tell(asked.id, hartmann6(&own))?;
    }
    Ok((shares(&mut study, seed)?, active))
}

fn shares(study: &mut Study, seed: u64) -> Result<Option<Vec<Share>>, Failure> {
    Ok(match study.look(&Unwatched)? {
        Some(look) => sensitivity(&look, seed)?,
        None => None,
    })
}

/// The shares of the function's inputs, and of inputs that it does not have. One that is not named is said to have none.
fn checked(shares: &[Share], active: &[usize], known: &Known) -> Vec<Checked> {
    let mut checked = Vec::new();
    let mut check = |said: Option<&Share>, first: f64, total: f64| {
        let (said_first, first_sd) = said.map_or((0.0, 0.0), |share| (share.first, share.first_sd));
        let (said_total, total_sd) = said.map_or((0.0, 0.0), |share| (share.total, share.total_sd));
        checked.push(Checked { error: said_first - first, sd: first_sd, is_total: false });
        checked.push(Checked { error: said_total - total, sd: total_sd, is_total: true });
    };
    for (&input, (&first, &total)) in active.iter().zip(known.first.iter().zip(&known.total)) {
        check(shares.iter().find(|share| share.input == input), first, total);
    }
    for share in shares.iter().filter(|share| !active.contains(&share.input)) {
        check(Some(share), 0.0, 0.0);
    }
    checked
}

fn shares_row(case: &str, runs: &[Option<Vec<Checked>>]) -> Row {
    let said = || runs.iter().flatten();
    let all = || said().flatten();
    let totals = || all().filter(|one| one.is_total);
    let spread = |values: Vec<f64>| (!values.is_empty()).then(|| Spread::of(values));
    let agree = said().filter(|run| run.iter().all(Checked::is_inside)).count();
    Row::Shares {
        case: case.to_owned(),
        runs: runs.len(),
        agree,
        silent: runs.iter().filter(|run| run.is_none()).count(),
        inside: all().filter(|one| one.is_inside()).count() as f64 / all().count().max(1) as f64,
        sd: spread(totals().map(|one| one.sd).collect()),
        error: spread(totals().map(|one| one.error.abs()).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_that_are_not_named_and_those_that_do_not_exist_count() {
        let share = |input, total| Share { input, first: 0.1, first_sd: 0.1, total, total_sd: 0.05 };
        let known = Known { first: vec![0.2, 0.3], total: vec![0.4, 0.5] };
        let found = checked(&[share(7, 0.45), share(9, 0.2)], &[7, 8], &known);
        let totals: Vec<bool> = found.iter().filter(|one| one.is_total).map(Checked::is_inside).collect();
        assert_eq!(totals, [true, false, false], "one found, one not named, one that is not there");
        let Row::Shares { runs, agree, silent, .. } = shares_row("case", &[Some(found), None]) else {
            panic!()
        };
        assert_eq!((runs, agree, silent), (2, 0, 1));
    }

    #[test]
    fn the_shares_known_belong_to_the_functions_here() {
        // By the variances, over points drawn at random.
        let golden: serde_json::Value =
            serde_json::from_str(include_str!("../../tribo/tests/golden/shares.json")).unwrap();
        type Function = fn(&[f64]) -> f64;
        let cases: [(&str, usize, Function); 2] = [("hartmann6", 6, hartmann6), ("ishigami", 3, ishigami)];
        for (name, dim, function) in cases {
            let mut stream = Stream::new(1, "points", 0);
            let values: Vec<f64> = (0..20_000)
                .map(|_| function(&(0..dim).map(|_| stream.uniform()).collect::<Vec<f64>>()))
                .collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64;
            let known = golden[name]["variance"].as_f64().unwrap();
            // The standard error of a variance of 20,000 values of such laws is about 1.5 %.
            assert!((variance / known - 1.0).abs() < 0.06, "{name}: {variance} and {known}");
        }
    }
}
