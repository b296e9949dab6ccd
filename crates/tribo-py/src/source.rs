//! A process fitted to a table in a file, which is read in every pass and never held.

use crate::gp::{Ends, Observer, Searched, ends, prior, searched};
use crate::{error, gp_state, interrupt, kernel};
use faer::Mat;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use tribo::surrogate::edges::{Clipped, Edges};
use tribo::surrogate::hyper::{Mean, Priors, Ranges};
use tribo::surrogate::inducing::Inducing;
use tribo::surrogate::sparse::Objective;
use tribo::surrogate::train::{SparseGp, Training};
use tribo::surrogate::watch::Watch;
use tribo_study::table::Table;
use tribo_study::table::numbers::{BadRows, Numbers};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(fit_table, module)?)?;
    module.add_function(wrap_pyfunction!(table_columns, module)?)
}

/// Settings of a `SparseGP`, as its `fit` has them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Settings {
    kernel: String,
    ard: bool,
    approximation: String,
    group: usize,
    objective: String,
    inducing: usize,
    inducing_points: InducingPoints,
    inducing_box: Option<Vec<(f64, f64)>>,
    mean: Option<f64>,
    ranges: [(f64, f64); 3],
    priors: [Option<(String, f64, f64)>; 3],
    seed: u64,
}

/// A name, or the points themselves.
#[derive(FromPyObject)]
enum InducingPoints {
    Named(String),
    Given(Vec<Vec<f64>>),
}

impl Settings {
    fn process(self) -> PyResult<SparseGp> {
        let unknown = |argument: &str, name: &str| {
            error::argument(format!("{argument} is {name:?}, which is not for a source"))
        };
        let [length_scale, signal_var, noise_var] = self.priors;
        Ok(SparseGp {
            shape: kernel::shape(&self.kernel)?,
            ard: self.ard,
            mean: self.mean.map_or(Mean::Estimated, Mean::Fixed),
            approximation: gp_state::approximation(&self.approximation, self.group)
                .ok_or_else(|| unknown("approximation", &self.approximation))?,
            objective: match self.objective.as_str() {
                "bound" => Objective::Bound,
                "marginal" => Objective::Marginal,
                other => return Err(unknown("objective", other)),
            },
            inducing: match (self.inducing_points, self.inducing_box) {
                (InducingPoints::Given(rows), _) => {
                    let d = rows.first().map_or(0, Vec::len);
                    Inducing::Given(Mat::from_fn(rows.len(), d, |i, k| rows[i][k]))
                }
                (InducingPoints::Named(name), sides) => match (name.as_str(), sides) {
                    ("latin_hypercube", Some(sides)) => {
                        let (low, high) = sides.into_iter().unzip();
                        Inducing::LatinHypercube { low, high }
                    }
                    ("latin_hypercube", None) => {
                        return Err(error::argument(
                            "inducing_points is \"latin_hypercube\", which needs inducing_box for a source",
                        ));
                    }
                    ("subset", _) => Inducing::Subset,
                    ("greedy", _) => Inducing::Greedy,
                    ("random_pivots", _) => Inducing::RandomPivots,
                    (other, _) => return Err(unknown("inducing_points", other)),
                },
            },
            n_inducing: self.inducing,
            training: Training {
                ranges: Ranges {
                    length_scale: self.ranges[0],
                    signal_var: self.ranges[1],
                    noise_var: self.ranges[2],
                },
                priors: Priors {
                    length_scale: length_scale.map(prior).transpose()?,
                    signal_var: signal_var.map(prior).transpose()?,
                    noise_var: noise_var.map(prior).transpose()?,
                },
                seed: self.seed,
                ..Training::default()
            },
        })
    }
}

/// The columns of a table.
#[pyfunction]
fn table_columns(path: PathBuf) -> PyResult<Vec<String>> {
    interrupt::guard(|| Ok(Table::open(&path).map_err(error::study)?.columns().to_vec()))
}

/// What a fit of a table leaves: the process as plain numbers, what the search did, the edges of its columns, rows left out, and
/// the first of them.
type Fitted<'py> = (Bound<'py, PyDict>, Searched, Option<Ends>, usize, Vec<String>);

/// Fits a process to columns of a table, clipped at strays, or that part of the entries at each end.
#[pyfunction]
#[pyo3(signature = (path, inputs, output, skip_bad, part, settings, progress))]
fn fit_table<'py>(
    py: Python<'py>,
    path: PathBuf,
    inputs: Vec<String>,
    output: String,
    skip_bad: bool,
    part: Option<f64>,
    settings: Settings,
    progress: Option<Py<PyAny>>,
) -> PyResult<Fitted<'py>> {
    let gp = settings.process()?;
    let bad_rows = if skip_bad { BadRows::Skip } else { BadRows::Refuse };
    let (posterior, searched, edges, n_bad, faults) = interrupt::run(py, |flag| {
        let table = Table::open(&path).map_err(error::study)?;
        let numbers = Numbers::open(table, &inputs, Some(&output), bad_rows, &|_| !flag.cancelled())
            .map_err(error::study)?;
        let watch = Observer { flag, progress, failed: Mutex::new(None) };
        let fit = || {
            let edges = match part {
                None => Edges::without_strays(&numbers, &watch)?,
                Some(part) => Edges::at_quantiles(&numbers, part, &watch)?,
            };
            let (posterior, report) = match edges.is_none() {
                true => gp.fit_source(&numbers, &watch)?,
                false => gp.fit_source(&Clipped::new(&numbers, &edges)?, &watch)?,
            };
            Ok((posterior, report, edges))
        };
        let outcome = fit();
        if let Some(raised) = watch.failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(raised);
        }
        let (posterior, report, edges) = outcome.map_err(error::library)?;
        numbers.check_unchanged().map_err(error::study)?;
        Ok((posterior, searched(&report), ends(&edges), numbers.n_bad(), numbers.faults().to_vec()))
    })?;
    Ok((gp_state::to_dict(py, &posterior)?, searched, edges, n_bad, faults))
}
