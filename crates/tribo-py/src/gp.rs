//! A sparse Gaussian process for Python.
//!
//! A `FittedGp` never changes, so that threads may share one; what takes in results is a new one. Names and defaults belong
//! to the Python class `SparseGP`, which keeps the settings and the latest `FittedGp`.

use crate::{arrays, error, gp_state, interrupt, kernel as kernels};
use faer::MatRef;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use tribo::Error;
use tribo::rng::Stream;
use tribo::surrogate::Posterior;
use tribo::surrogate::data::Data;
use tribo::surrogate::edges::Edges;
use tribo::surrogate::hyper::{Hyperparameters, Mean, Prior, Priors, Ranges};
use tribo::surrogate::inducing::Inducing;
use tribo::surrogate::kernel::Kernel;
use tribo::surrogate::sparse::{Objective, QUERIES, SparsePosterior};
use tribo::surrogate::train::{Report, SparseGp, Training};
use tribo::surrogate::watch::{Progress, Watch};
use tribo_study::model_file::NamedModel;

/// How much wider than the data the box of inducing points is, as a part of its width on every side. At its border half of
/// a basis function's neighbours are missing; measured in `tribo-bench data`.
const MARGIN: f64 = 0.15;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(input_edges, module)?)?;
    module.add_class::<FittedGp>()
}

/// A vector of Python's.
type Vector<'py> = Bound<'py, PyArray1<f64>>;

/// What the search did: evaluations on subsets and on all data, the objective per point, whether it converged.
pub(crate) type Searched = (usize, usize, f64, bool);

/// Lower and upper edges of columns.
pub(crate) type Ends = (Vec<f64>, Vec<f64>);

/// The edges, if there are any.
pub(crate) fn ends(edges: &Edges) -> Option<Ends> {
    let (low, high) = edges.ends();
    (!edges.is_none()).then(|| (low.to_vec(), high.to_vec()))
}

/// The edges that keep strays out of the columns of `x`, or `part` of its entries at each end; None if nothing is to be clipped. `y` are
/// values at its rows.
#[pyfunction]
fn input_edges(
    py: Python<'_>,
    x: PyReadonlyArray2<'_, f64>,
    y: PyReadonlyArray1<'_, f64>,
    part: Option<f64>,
) -> PyResult<Option<Ends>> {
    let (points, y) = (arrays::points("X", &x)?, arrays::values("y", &y)?);
    let edges = interrupt::run(py, |flag| {
        let watch = Observer { flag, progress: None, failed: Mutex::new(None) };
        Data::new(points, y)
            .and_then(|data| match part {
                None => Edges::without_strays(&data, &watch),
                Some(part) => Edges::at_quantiles(&data, part, &watch),
            })
            .map_err(error::library)
    })?;
    Ok(ends(&edges))
}

/// What a search did.
pub(crate) fn searched(report: &Report) -> Searched {
    let has_converged = report.stop.is_some_and(|stop| stop.converged());
    (report.subset_evaluations, report.full_evaluations, report.objective, has_converged)
}

/// Hyper-parameters that are not trained: length scales, signal and noise variances, and those of a sum's terms by name.
type Fixed = (Vec<f64>, f64, f64, BTreeMap<String, Vec<f64>>);

/// A fitted process.
#[pyclass(frozen, module = "tribo._core")]
struct FittedGp {
    posterior: SparsePosterior,
    /// None where hyper-parameters were given.
    searched: Option<Searched>,
}

#[pymethods]
impl FittedGp {
    /// Fits one process for each of `ys`, or several with the same inducing points and length scales, which have neither weights
    /// nor noise of rows, nor `fixed`. `weights` says how often each row counts and `noise` is the noise variance of each, which is then not searched;
    /// `inducing_points` is a name or the points, `ranges` and `priors` are for length scale, signal and noise,
    /// `fixed` holds length scales, signal and noise variance, which are then not searched.
    #[staticmethod]
    #[pyo3(signature = (x, ys, *, weights, noise, kernel, ard, approximation, group, objective, inducing, inducing_points, inducing_box, mean, ranges, priors, fixed, seed, progress))]
    fn fit(
        py: Python<'_>,
        x: PyReadonlyArray2<'_, f64>,
        ys: Vec<PyReadonlyArray1<'_, f64>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        noise: Option<PyReadonlyArray1<'_, f64>>,
        kernel: &str,
        ard: bool,
        approximation: &str,
        group: usize,
        objective: &str,
        inducing: usize,
        inducing_points: InducingPoints<'_>,
        inducing_box: Option<Vec<(f64, f64)>>,
        mean: Option<f64>,
        ranges: [(f64, f64); 3],
        priors: [Option<(String, f64, f64)>; 3],
        fixed: Option<Fixed>,
        seed: u64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<FittedGp>> {
        let points = arrays::points("X", &x)?;
        let outputs = match &ys[..] {
            [y] => vec![arrays::values("y", y)?],
            ys => {
                let of_column = |(k, y)| arrays::values(&format!("column {k} of y"), y);
                ys.iter().enumerate().map(of_column).collect::<PyResult<_>>()?
            }
        };
        let [length_scale, signal_var, noise_var] = priors;
        let unknown = |argument: &str, name: &str| {
            error::argument(format!("{argument} is {name:?}, which is no name here"))
        };
        let shape = kernels::shape(kernel)?;
        let weights = weights.as_ref().map(|weights| arrays::values("sample_weight", weights)).transpose()?;
        let noise = noise.as_ref().map(|noise| arrays::values("noise_variance", noise)).transpose()?;
        let mut gp = SparseGp {
            shape,
            ard,
            mean: mean.map_or(Mean::Estimated, Mean::Fixed),
            approximation: gp_state::approximation(approximation, group)
                .ok_or_else(|| unknown("approximation", approximation))?,
            objective: match objective {
                "bound" => Objective::Bound,
                "marginal" => Objective::Marginal,
                other => return Err(unknown("objective", other)),
            },
            inducing: match &inducing_points {
                InducingPoints::Given(given) => {
                    arrays::points("inducing_points", given)?;
                    Inducing::Given(arrays::owned(given))
                }
                InducingPoints::Named(name) => match name.as_str() {
                    "latin_hypercube" => latin_hypercube(points, inducing_box),
                    "subset" => Inducing::Subset,
                    "greedy" => Inducing::Greedy,
                    "random_pivots" => Inducing::RandomPivots,
                    other => return Err(unknown("inducing_points", other)),
                },
            },
            n_inducing: inducing,
            training: Training {
                ranges: Ranges { length_scale: ranges[0], signal_var: ranges[1], noise_var: ranges[2] },
                priors: Priors {
                    length_scale: length_scale.map(prior).transpose()?,
                    signal_var: signal_var.map(prior).transpose()?,
                    noise_var: noise_var.map(prior).transpose()?,
                },
                seed,
                ..Training::default()
            },
        };
        // The noise of each row is a part of one that is held: of their mean, unless another one was given.
        let held = noise.map(|noise| match &fixed {
            Some((_, _, noise_var, _)) => *noise_var,
            None => noise.iter().map(|var| var / noise.len() as f64).sum(),
        });
        let parts: Option<Vec<f64>> =
            noise.zip(held).map(|(noise, held)| noise.iter().map(|var| var / held).collect());
        let values = outputs.first().copied().unwrap_or_default();
        let mut data = Data::new(points, values).map_err(error::library)?;
        if let Some(weights) = weights {
            data = data.with_weights(weights).map_err(error::library)?;
        }
        if let (Some(parts), Some(held)) = (&parts, held) {
            data = data.with_noise(parts).map_err(error::library)?;
            gp.training.ranges = gp.training.ranges.hold_noise(held, &data.scale());
        }
        interrupt::run(py, |flag| {
            let watch = Observer { flag, progress, failed: Mutex::new(None) };
            let outcome = match fixed {
                Some((length_scales, signal_var, noise_var, given)) => {
                    let number = |name: &str| Ok(given.get(name).cloned().unwrap_or_default());
                    let terms = kernels::terms(shape, number)?;
                    let kernel = Kernel { shape, length_scales, signal_var, terms };
                    let hyper = Hyperparameters { kernel, noise_var };
                    gp.condition_data(data, &hyper, &hyper, &watch).map(|posterior| (vec![posterior], None))
                }
                None if outputs.len() > 1 => gp
                    .fit_outputs(points, &outputs, &watch)
                    .map(|(posteriors, report)| (posteriors, Some(searched(&report)))),
                None => gp
                    .fit_data(data, &watch)
                    .map(|(posterior, report)| (vec![posterior], Some(searched(&report)))),
            };
            if let Some(raised) = watch.failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
                return Err(raised);
            }
            let (posteriors, searched) = outcome.map_err(error::library)?;
            Ok(posteriors.into_iter().map(|posterior| FittedGp { posterior, searched }).collect())
        })
    }

    /// Means, and variances if asked for, of the latent function at the rows of `x`.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'_, f64>,
        variance: bool,
    ) -> PyResult<(Vector<'py>, Option<Vector<'py>>)> {
        let points = arrays::points("X", &x)?;
        let n = points.nrows();
        let (mut mean, mut var) = (vec![0.0; n], vec![0.0; if variance { n } else { 0 }]);
        interrupt::run(py, |flag| {
            let block = |number: usize, rows: usize| match flag.cancelled() {
                true => Err(Error::Stopped { what: "a prediction" }),
                false => Ok(points.subrows(number * QUERIES, rows)),
            };
            let means = mean.par_chunks_mut(QUERIES).enumerate();
            let outcome = if variance {
                means.zip(var.par_chunks_mut(QUERIES)).try_for_each(|((number, mean), var)| {
                    let prediction = self.posterior.predict(block(number, mean.len())?)?;
                    mean.copy_from_slice(&prediction.mean);
                    var.copy_from_slice(&prediction.var);
                    Ok(())
                })
            } else {
                means
                    .map(|(number, mean)| {
                        mean.copy_from_slice(&self.posterior.predict_mean(block(number, mean.len())?)?);
                        Ok(())
                    })
                    .collect()
            };
            outcome.map_err(error::library)
        })?;
        Ok((arrays::vector(py, mean), variance.then(|| arrays::vector(py, var))))
    }

    /// Means and joint covariance of the latent function at the rows of `x`.
    fn joint<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<(Vector<'py>, Bound<'py, PyArray2<f64>>)> {
        let points = arrays::points("X", &x)?;
        let (mean, covariance) =
            interrupt::run(py, |_| self.posterior.joint(points).map_err(error::library))?;
        Ok((arrays::vector(py, mean), arrays::matrix(py, covariance.as_ref())))
    }

    /// The process that knows the results `y` at the rows of `x` as well. All are taken in, or none.
    fn observe(
        &self,
        py: Python<'_>,
        x: PyReadonlyArray2<'_, f64>,
        y: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<FittedGp> {
        let (points, values) = (arrays::points("x", &x)?, arrays::values("y", &y)?);
        interrupt::run(py, |flag| {
            let mut posterior = self.posterior.clone();
            for (row, &value) in values.iter().enumerate() {
                if flag.cancelled() {
                    return Err(error::library(Error::Stopped { what: "an update" }));
                }
                let point: Vec<f64> = (0..points.ncols()).map(|k| points[(row, k)]).collect();
                posterior.observe(&point, value).map_err(error::library)?;
            }
            Ok(FittedGp { posterior, searched: self.searched })
        })
    }

    /// Joint samples of the latent function at the rows of `x`, one a row.
    fn sample<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'_, f64>,
        n: usize,
        seed: u64,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let points = arrays::points("X", &x)?;
        let samples = interrupt::run(py, |_| {
            let mut stream = Stream::new(seed, "posterior samples", 0);
            self.posterior.sample(points, n, &mut stream).map_err(error::library)
        })?;
        Ok(arrays::matrix(py, samples.transpose()))
    }

    /// Length scales, signal variance, noise variance, mean constant.
    #[getter]
    fn hyperparameters<'py>(&self, py: Python<'py>) -> (Vector<'py>, f64, f64, f64) {
        let hyper = self.posterior.hyperparameters();
        let length_scales = arrays::vector(py, hyper.kernel.length_scales.clone());
        (length_scales, hyper.kernel.signal_var, hyper.noise_var, self.posterior.mean_constant())
    }

    #[getter]
    fn inducing_points<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        arrays::matrix(py, self.posterior.inducing())
    }

    #[getter]
    fn log_evidence(&self) -> f64 {
        self.posterior.log_marginal()
    }

    #[getter]
    fn n_observations(&self) -> usize {
        self.posterior.n_observations()
    }

    #[getter]
    fn n_inputs(&self) -> usize {
        self.posterior.dim()
    }

    #[getter]
    fn searched(&self) -> Option<Searched> {
        self.searched
    }

    #[staticmethod]
    fn restore(state: &Bound<'_, PyDict>, searched: Option<Searched>) -> PyResult<FittedGp> {
        Ok(FittedGp { posterior: gp_state::from_dict(state)?, searched })
    }

    /// Writes the file that `tribo fit` writes, with names of the inputs and of the output.
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        inputs: Vec<String>,
        output: String,
        edges: Option<(Vec<f64>, Vec<f64>)>,
    ) -> PyResult<()> {
        let edges = match edges {
            Some((low, high)) => Edges::new(low, high).map_err(error::library)?,
            None => Edges::none(inputs.len()),
        };
        let model = NamedModel { inputs, output, edges, posterior: self.posterior.clone() };
        interrupt::run(py, |_| model.save(&path).map_err(error::study))
    }

    /// Reads such a file: the process, its inputs, its output, and the edges of its columns, if there are any.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<(FittedGp, Vec<String>, String, Option<Ends>)> {
        let NamedModel { inputs, output, edges, posterior } =
            interrupt::run(py, |_| NamedModel::load(&path).map_err(error::study))?;
        Ok((FittedGp { posterior, searched: None }, inputs, output, ends(&edges)))
    }

    /// The numbers of the terms of a sum, by name.
    #[getter]
    fn terms<'py>(&self, py: Python<'py>) -> BTreeMap<&'static str, Vector<'py>> {
        let kernel = &self.posterior.hyperparameters().kernel;
        let numbers = kernels::numbers(kernel.shape, &kernel.terms);
        numbers.into_iter().map(|(name, numbers)| (name, arrays::vector(py, numbers))).collect()
    }

    #[getter]
    fn kernel(&self) -> String {
        self.posterior.hyperparameters().kernel.shape.name()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let restore = py.get_type::<FittedGp>().getattr("restore")?;
        let arguments = (gp_state::to_dict(py, &self.posterior)?, self.searched).into_pyobject(py)?;
        Ok((restore, arguments))
    }
}

/// A name, or the points themselves.
#[derive(FromPyObject)]
enum InducingPoints<'py> {
    Named(String),
    Given(PyReadonlyArray2<'py, f64>),
}

/// A Latin hypercube in the box given, or in one a little wider than the data.
fn latin_hypercube(x: MatRef<'_, f64>, sides: Option<Vec<(f64, f64)>>) -> Inducing {
    let sides = sides.unwrap_or_else(|| {
        (0..x.ncols())
            .map(|k| {
                let (low, high) = (0..x.nrows())
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), i| {
                        (low.min(x[(i, k)]), high.max(x[(i, k)]))
                    });
                // An input that does not vary still needs a box with an inside.
                let width = if high > low { high - low } else { low.abs().max(1.0) };
                (low - MARGIN * width, high + MARGIN * width)
            })
            .collect()
    });
    let (low, high) = sides.into_iter().unzip();
    Inducing::LatinHypercube { low, high }
}

pub(crate) fn prior((name, first, second): (String, f64, f64)) -> PyResult<Prior> {
    match name.as_str() {
        "log_normal" => Ok(Prior::LogNormal { location: first, scale: second }),
        "gamma" => Ok(Prior::Gamma { shape: first, rate: second }),
        other => Err(error::argument(format!("priors: {other:?} is no name here"))),
    }
}

/// Follows a fit: Ctrl-C, and a Python function that is told of the progress. What it raises ends the fit.
pub(crate) struct Observer<'a> {
    pub(crate) flag: &'a interrupt::Flag,
    pub(crate) progress: Option<Py<PyAny>>,
    pub(crate) failed: Mutex<Option<PyErr>>,
}

impl Watch for Observer<'_> {
    fn cancelled(&self) -> bool {
        self.flag.cancelled() || self.failed.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn progress(&self, told: &Progress) {
        let Some(progress) = &self.progress else { return };
        let outcome = Python::attach(|py| {
            progress.call1(py, (told.subset_evaluations, told.full_evaluations, told.best))
        });
        if let Err(raised) = outcome {
            self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(raised);
        }
    }
}
