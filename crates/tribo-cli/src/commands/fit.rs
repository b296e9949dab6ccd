//! `tribo fit`: a sparse Gaussian process of a table of any length, tried on rows held out, in a file.
//!
//! The table is read in every pass and never held. Ctrl-C ends it at once, and leaves no half file.

use super::{fit_kernel, fit_report};
use crate::failure::{Failure, OK, Outcome};
use crate::output;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;
use tribo::rng::Stream;
use tribo::surrogate::Posterior;
use tribo::surrogate::edges::{Clipped, Edges};
use tribo::surrogate::hyper::Mean;
use tribo::surrogate::inducing::Inducing;
use tribo::surrogate::kernel::Shape;
use tribo::surrogate::source::{self, Source};
use tribo::surrogate::sparse::{Approximation, Objective, SparsePosterior};
use tribo::surrogate::train::{Report, SparseGp, Training};
use tribo::surrogate::watch::{Progress, Unwatched, Watch};
use tribo_study::model_file::NamedModel;
use tribo_study::page;
use tribo_study::report::text;
use tribo_study::table::numbers::{BadRows, Numbers};
use tribo_study::table::{Table, Without};

/// Rows held out at most: of so many an error is known to a hundredth of itself.
const HELD_OUT: usize = 5_000;
/// Rows up to which those held out are taken into the model afterwards; of more they are too few to matter.
const FEW: usize = 100_000;
/// Rows of which some can be spared.
const SPARED: usize = 20;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The table: .csv, .jsonl, .parquet or .npy, whose columns are called 0, 1, ...
    file: PathBuf,
    /// Columns of the inputs, with commas between them; by default all but the output.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    inputs: Vec<String>,
    /// The column to be predicted.
    #[arg(long, value_name = "COLUMN")]
    output: String,
    /// The file of the model.
    #[arg(short = 'o', long, value_name = "FILE", default_value = "model.tribo")]
    model: PathBuf,
    /// Inducing points: more follow the data more closely, and cost their square.
    #[arg(short = 'm', long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    inducing: u32,
    /// Kernel: matern12, matern32, matern52 or se, and after it any of +additive (a kernel of each input alone), +pairs (products
    /// of those of two inputs), +constant and +linear.
    #[arg(long, default_value = "matern52", value_parser = Shape::from_name)]
    kernel: Shape,
    /// Move the outermost entries of each input to the next one inside: strays (the default: those beyond a hole of a third of
    /// the width of their column, if the model explains them better so), or a part of the rows at each end, such as 0.002; 0
    /// moves none.
    #[arg(long, value_name = "PART", default_value = "strays", value_parser = parse_clip)]
    clip_inputs: Clip,
    /// Leave out rows with a missing or non-finite number, instead of refusing the table.
    #[arg(long)]
    skip_bad: bool,
    /// Seed of the subsets, of the inducing points and of the rows held out.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Write a page with pictures: predicted against measured, which inputs matter, slices.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Which entries of the inputs are moved inside.
#[derive(Debug, Clone, Copy)]
enum Clip {
    Strays,
    Part(f64),
}

fn parse_clip(text: &str) -> Result<Clip, String> {
    match text.parse::<f64>() {
        Ok(part) if (0.0..0.5).contains(&part) => Ok(Clip::Part(part)),
        Err(_) if text == "strays" => Ok(Clip::Strays),
        _ => Err("expected \"strays\" or a part of the rows in [0, 0.5)".into()),
    }
}

/// Tells people how far it is, on a terminal.
struct Shown(output::Passing);

impl Shown {
    fn line(&self, text: &str) {
        self.0.line(text);
    }
}

impl Watch for Shown {
    fn progress(&self, progress: &Progress) {
        let n_tried = progress.subset_evaluations + progress.full_evaluations;
        self.line(&format!("fitting: {n_tried} choices of length scales and noise tried"));
    }
}

pub(crate) fn run(options: &Options) -> Outcome {
    let begin = Instant::now();
    let shown = Shown(output::Passing::new());
    let table = Table::open(&options.file)?;
    let inputs = match options.inputs.as_slice() {
        [] => table.columns().iter().filter(|name| **name != options.output).cloned().collect(),
        named => named.to_vec(),
    };
    if inputs.contains(&options.output) {
        return Err(Failure::usage(format!("{:?} is an input and the output", options.output)));
    }
    let bad_rows = if options.skip_bad { BadRows::Skip } else { BadRows::Refuse };
    let looked = |n: usize| {
        shown.line(&format!("reading: {n} rows"));
        true
    };
    let numbers = Numbers::open(table, &inputs, Some(&options.output), bad_rows, &looked)?;
    let n = numbers.len();
    let held_out = if n < SPARED { 0 } else { HELD_OUT.min(n / 10) };
    let held_out = Stream::new(options.seed, "rows held out", 0).choose(n, held_out);
    let gp = SparseGp {
        shape: options.kernel,
        ard: true,
        mean: Mean::Estimated,
        approximation: Approximation::Fic,
        objective: Objective::Bound,
        inducing: Inducing::RandomPivots,
        n_inducing: options.inducing as usize,
        training: Training { seed: options.seed, ..Training::default() },
    };
    let training = Without::new(&numbers, held_out.clone());
    let edges = match options.clip_inputs {
        Clip::Strays => Edges::without_strays(&training, &shown)?,
        Clip::Part(part) => Edges::at_quantiles(&training, part, &shown)?,
    };
    let (mut posterior, report) = match edges.is_none() {
        true => gp.fit_source(&training, &shown)?,
        false => gp.fit_source(&Clipped::new(&training, &edges)?, &shown)?,
    };
    let check = Check::new(&Clipped::new(&numbers, &edges)?, &held_out, &posterior)?;
    if n <= FEW {
        for (point, &y) in check.points.iter().zip(&check.y) {
            posterior.observe(point, y)?;
        }
    }
    shown.line("");
    numbers.check_unchanged()?;
    let output = options.output.clone();
    let model = NamedModel { inputs, output, edges, posterior };
    model.save(&options.model)?;
    let seconds = begin.elapsed().as_secs_f64();
    let fit = Fit { numbers: &numbers, model: &model, report: &report, check: &check, seconds };
    if let Some(report) = &options.report {
        let facts = fit.facts(options);
        let title = format!("{} from {}", model.output, options.file.display());
        page::write(report, &fit_report::page(&model, &check, &title, &facts)?)?;
    }
    match options.json {
        true => output::print_json(&fit.json())?,
        false => output::print(&fit.page(options))?,
    }
    Ok(OK)
}

/// How the model does on rows that it has not seen.
pub(super) struct Check {
    pub(super) points: Vec<Vec<f64>>,
    pub(super) y: Vec<f64>,
    /// What the model says of them, and the variance of a measurement.
    pub(super) mean: Vec<f64>,
    var: Vec<f64>,
    /// Root mean square error of the mean.
    rmse: f64,
    /// The part of the variance that is explained.
    pub(super) explained: f64,
    /// Of the 95 % intervals of a measurement, the part that has it.
    pub(super) covered: f64,
}

impl Check {
    fn new(numbers: &dyn Source, rows: &[usize], posterior: &SparsePosterior) -> Result<Check, Failure> {
        let (x, y) = source::pick(numbers, rows, &Unwatched)?;
        let prediction = posterior.predict(x.as_ref())?;
        let noise_var = posterior.hyperparameters().noise_var;
        let n = y.len() as f64;
        let mean = y.iter().sum::<f64>() / n;
        let measured_var: Vec<f64> = prediction.var.iter().map(|var| var + noise_var).collect();
        let (mut squares, mut var, mut covered) = (0.0, 0.0, 0.0);
        for (i, y) in y.iter().enumerate() {
            let error = y - prediction.mean[i];
            squares += error * error / n;
            var += (y - mean) * (y - mean) / n;
            covered += f64::from(is_inside(error, measured_var[i])) / n;
        }
        let points = (0..x.nrows()).map(|i| (0..x.ncols()).map(|k| x[(i, k)]).collect()).collect();
        let (mean, var_explained) = (prediction.mean, 1.0 - squares / var);
        Ok(Check {
            points,
            y,
            mean,
            var: measured_var,
            rmse: squares.sqrt(),
            explained: var_explained,
            covered,
        })
    }

    /// Whether a row lies in its 95 % interval.
    pub(super) fn is_inside(&self, row: usize) -> bool {
        is_inside(self.y[row] - self.mean[row], self.var[row])
    }
}

fn is_inside(error: f64, var: f64) -> bool {
    error.abs() <= 1.959_964 * var.sqrt()
}

/// The inputs that have edges, and where these are.
fn clipped(model: &NamedModel) -> String {
    let ends = model.edges.columns().map(|(k, low, high)| {
        format!("{} to {} ... {}", model.inputs[k], text::number(low), text::number(high))
    });
    format!("{}; entries beyond are read as the edge", ends.collect::<Vec<_>>().join(", "))
}

/// What is said of a fit.
struct Fit<'a> {
    numbers: &'a Numbers,
    model: &'a NamedModel,
    report: &'a Report,
    check: &'a Check,
    seconds: f64,
}

impl Fit<'_> {
    /// Name and value of what there is to say.
    fn facts(&self, options: &Options) -> Vec<(&'static str, String)> {
        let Fit { numbers, model, report, check, seconds } = self;
        let hyper = model.posterior.hyperparameters();
        let mut facts = vec![
            ("rows", text::number(numbers.len() as f64)),
            ("inducing points", model.posterior.n_inducing().to_string()),
            ("kernel", fit_kernel::words(model)),
            (
                "fitted in",
                format!(
                    "{}, after {} choices of length scales and noise",
                    text::duration(*seconds),
                    report.subset_evaluations + report.full_evaluations
                ),
            ),
            ("noise", text::number(hyper.noise_var.sqrt())),
        ];
        if numbers.n_bad() > 0 {
            let first = &numbers.faults()[0];
            facts.insert(
                1,
                ("left out", format!("{}, the first: {first}", text::count(numbers.n_bad(), "row"))),
            );
        }
        if !model.edges.is_none() {
            facts.push(("clipped", clipped(model)));
        }
        if !check.y.is_empty() {
            facts.push((
                "held out",
                format!(
                    "{}: error {}, {:.1} % of the variance explained, 95 % intervals cover {:.1} %",
                    text::count(check.y.len(), "row"),
                    text::number(check.rmse),
                    100.0 * check.explained,
                    100.0 * check.covered
                ),
            ));
        }
        facts.push(("model", options.model.display().to_string()));
        facts
    }

    fn page(&self, options: &Options) -> String {
        let facts = self.facts(options).into_iter();
        let rows: Vec<Vec<String>> = facts.map(|(name, fact)| vec![name.to_owned(), fact]).collect();
        let (head, inputs) = fit_kernel::table(&fit_kernel::inputs(self.model));
        let table = text::columns(&head, &inputs);
        format!("{}\n{table}", text::columns(&["", ""], &rows).trim_start_matches([' ', '\n']))
    }

    fn json(&self) -> serde_json::Value {
        let Fit { numbers, model, report, check, seconds } = self;
        let hyper = model.posterior.hyperparameters();
        let edge =
            |(k, low, high): (usize, f64, f64)| json!({ "input": model.inputs[k], "low": low, "high": high });
        let edges: Vec<_> = model.edges.columns().map(edge).collect();
        let tried = |value: f64| if check.y.is_empty() { serde_json::Value::Null } else { value.into() };
        json!({
            "rows": numbers.len(),
            "left_out": numbers.n_bad(),
            "inducing": model.posterior.n_inducing(),
            "seconds": seconds,
            "subset_evaluations": report.subset_evaluations,
            "full_evaluations": report.full_evaluations,
            "kernel": hyper.kernel.shape.name(),
            "noise_sd": hyper.noise_var.sqrt(),
            "signal_sd": hyper.kernel.signal_var.sqrt(),
            "held_out": check.y.len(),
            "rmse": tried(check.rmse),
            "explained": tried(check.explained),
            "covered_95": tried(check.covered),
            "inputs": fit_kernel::json(&fit_kernel::inputs(model)),
            "clipped": edges,
        })
    }
}
