//! The class `_core.Study`: a study in memory or on disk, asked and told from Python.
//!
//! Everything it does is [`ByHand`]'s. A lock, not Python's, is held while it works, so that other threads wait for their
//! turn; they look for signals meanwhile. Long work (`ask`, `posterior`) runs without Python's lock.

use crate::durable;
use crate::error;
use crate::interrupt;
use crate::picture::{self, Kept};
use crate::space::{to_dict, to_point};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;
use tribo::limit::Limit;
use tribo::space::{Direction, Kind, Parameter, Scale};
use tribo::surrogate::watch::Watch;
use tribo_study::by_hand::ByHand;
use tribo_study::config::{Config, ConfigError};
use tribo_study::job::Finding;
use tribo_study::page;
use tribo_study::report::columns::output_names;
use tribo_study::report::limits;
use tribo_study::report::row::State;
use tribo_study::table::Table;
use tribo_study::table::hints::{self, Hints};
use tribo_study::view::View;

/// A trial, what is expected at its point, and an interval.
type Advice = (u64, f64, Option<(f64, f64)>, Option<f64>);

/// How long a thread waits between two tries to get its turn.
const TURN: Duration = Duration::from_millis(2);

/// What `tribo tell` puts before a reason, so that reasons in a journal begin with a kind.
const FAILED: &str = "failed: ";
const LOST: &str = "lost: ";

#[pyclass(frozen, module = "tribo._core", name = "Study")]
pub(crate) struct Study {
    hand: Mutex<ByHand>,
    /// The last look at it. Locked only by those who have the study itself.
    kept: Mutex<Option<Kept>>,
}

/// A numpy array of a number for each point.
type Numbers<'py> = Bound<'py, PyArray1<f64>>;

/// Id, parameters, state, value, outputs, reason, whether it meets all limits, those that it violates.
type Record<'py> = (
    u64,
    Bound<'py, PyDict>,
    &'static str,
    Option<f64>,
    Bound<'py, PyDict>,
    Option<String>,
    Option<bool>,
    Vec<String>,
);

#[pymethods]
impl Study {
    /// A study in memory. `text` is a study file; `places` has the Python argument that each of its lines is made of.
    #[new]
    #[pyo3(signature = (text, places, /))]
    fn new(text: &str, places: Vec<String>) -> PyResult<Study> {
        interrupt::guard(|| {
            let config = Config::parse(Path::new("study"), text).map_err(at_place(&places))?;
            Ok(Study::over(ByHand::in_memory(config, text).map_err(error::study)?))
        })
    }

    /// A new study on disk: the study file at `path`, which must not exist, and its store.
    #[staticmethod]
    #[pyo3(signature = (path, text, places, /))]
    fn create(py: Python<'_>, path: PathBuf, text: &str, places: Vec<String>) -> PyResult<Study> {
        Config::parse(&path, text).map_err(at_place(&places))?;
        interrupt::run(py, |_| durable::create(&path, text).map(Study::over))
    }

    /// A study on disk, to be looked at; the first ask or tell takes it. With a new chapter it is taken at once.
    #[staticmethod]
    #[pyo3(signature = (path, new_chapter, /))]
    fn open(py: Python<'_>, path: PathBuf, new_chapter: bool) -> PyResult<Study> {
        interrupt::run(py, |_| durable::open(&path, new_chapter).map(Study::over))
    }

    /// Ids and parameters of `k` new trials, or fewer; with fits to many results `beside`, if that is asked for.
    #[pyo3(signature = (k, beside, /))]
    fn ask<'py>(&self, py: Python<'py>, k: usize, beside: bool) -> PyResult<Vec<(u64, Bound<'py, PyDict>)>> {
        let mut hand = self.lock(py)?;
        let by_hand = &mut *hand;
        let suggestions = interrupt::run(py, |flag| {
            let asked = if beside { by_hand.ask_beside(k, flag) } else { by_hand.ask(k, flag) };
            asked.map_err(error::study)
        })?;
        let space = &hand.config().space;
        suggestions.iter().map(|each| Ok((each.id.0, to_dict(py, space, &each.point)?))).collect()
    }

    /// Reads a table for what its rows say: rows, inputs that matter, and the part of the variance that those explain.
    #[pyo3(signature = (path, value, skip_outside, /))]
    fn recall(
        &self,
        py: Python<'_>,
        path: PathBuf,
        value: Option<String>,
        skip_outside: bool,
    ) -> PyResult<(usize, Vec<String>, f64)> {
        let mut hand = self.lock(py)?;
        let by_hand = &mut *hand;
        interrupt::run(py, |flag| {
            by_hand.may_recall().map_err(error::study)?;
            let table = Table::open(&path).map_err(error::study)?;
            let config = by_hand.config();
            let (inputs, place) = hints::places(config, &table, value.as_deref())
                .map_err(|fault| error::argument(format!("{}: {fault}", path.display())))?;
            let go_on = |_| !flag.cancelled();
            let read = Hints::read(config, table, (&inputs, place), skip_outside, &go_on, flag);
            let Hints { recalled, .. } = read.map_err(error::study)?;
            by_hand.recall(&recalled).map_err(error::study)?;
            Ok((recalled.rows, recalled.inputs, recalled.explained))
        })
    }

    /// The id of a new trial at a point that someone else chose: one object for each parameter.
    #[pyo3(signature = (point, /))]
    fn adopt(&self, py: Python<'_>, point: Vec<Bound<'_, PyAny>>) -> PyResult<u64> {
        let mut hand = self.lock(py)?;
        let point = to_point(&hand.config().space, &point, "x")?;
        let by_hand = &mut *hand;
        py.detach(|| interrupt::guard(|| by_hand.adopt(&point).map(|id| id.0).map_err(error::study)))
    }

    /// Tells what came of a trial: exactly one of the objective's value, a reason of failure, `infeasible`, and the accident it
    /// was lost by; and other outputs by name, of which those that are not finite are left out. With `replace`, in the place
    /// of what was told before.
    #[pyo3(signature = (trial, value, outputs, failed, infeasible, lost, replace, /))]
    #[allow(clippy::too_many_arguments, reason = "each is an argument of the Python method")]
    fn tell(
        &self,
        py: Python<'_>,
        trial: u64,
        value: Option<f64>,
        outputs: BTreeMap<String, f64>,
        failed: Option<String>,
        infeasible: bool,
        lost: Option<String>,
        replace: bool,
    ) -> PyResult<()> {
        let mut hand = self.lock(py)?;
        let mut finding = match (value, failed, infeasible, lost) {
            (Some(value), None, false, None) => Finding::answered(hand.config().objective(), value),
            (None, Some(reason), false, None) => Finding::failed(format!("{FAILED}{reason}")),
            (None, None, true, None) => Finding::infeasible(),
            (None, None, false, Some(reason)) => Finding::lost(format!("{LOST}{reason}")),
            _ => {
                return Err(error::argument(
                    "say what came of the trial with one of `value`, `failed`, `infeasible` and `lost`",
                ));
            }
        };
        for (name, value) in outputs {
            finding.outputs.insert(name, value);
        }
        let by_hand = &mut *hand;
        py.detach(|| {
            interrupt::guard(|| {
                let told = match replace {
                    true => by_hand.replace(trial, &finding),
                    false => by_hand.tell(trial, &finding),
                };
                told.map(drop).map_err(error::study)
            })
        })
    }

    /// All trials, or one.
    #[pyo3(signature = (trial=None, /))]
    fn trials<'py>(&self, py: Python<'py>, trial: Option<u64>) -> PyResult<Vec<Record<'py>>> {
        let mut hand = self.lock(py)?;
        interrupt::guard(|| {
            let (declared, objective) = (hand.config().outputs.clone(), hand.config().objective().to_owned());
            let limits = hand.config().limits.clone();
            let (ledger, points) = hand.both().map_err(error::study)?;
            let mut records = vec![];
            for (id, state) in ledger.trials().filter(|(id, _)| trial.is_none_or(|trial| trial == *id)) {
                let (space, point) = points.at(id).map_err(error::study)?;
                let (word, reason) = in_words(state.outcome.as_ref());
                let value = state.outcome.as_ref().and_then(|finding| finding.value(&objective));
                let outputs = PyDict::new(py);
                for (name, number) in state.outcome.iter().flat_map(|f| f.outputs.in_order(&declared)) {
                    outputs.set_item(name, number)?;
                }
                let told = state.outcome.as_ref().map(|finding| &finding.outputs);
                let is_feasible = told.map(|told| value.is_some() && told.meet(&limits));
                let violated = told.into_iter().flat_map(|told| told.violate(&limits));
                let violated = violated.map(|limit| limit.name().to_owned()).collect();
                let params = to_dict(py, space, &point)?;
                records.push((id, params, word, value, outputs, reason, is_feasible, violated));
            }
            Ok(records)
        })
    }

    /// How the study stands to each of its limits, as JSON.
    fn limits(&self, py: Python<'_>) -> PyResult<String> {
        let mut hand = self.lock(py)?;
        let by_hand = &mut *hand;
        let (states, best) = interrupt::run(py, |flag| {
            let study = by_hand.optimiser().map_err(error::study)?;
            let states = study.limit_states(flag).map_err(error::library)?;
            Ok((states, study.best().map_err(error::library)?.map(|best| best.value)))
        })?;
        let standings = limits::standings(hand.config(), states, best);
        serde_json::to_string(&standings).map_err(|fault| error::internal(fault.to_string()))
    }

    /// The id of the trial that is least beyond the limits, if all limited outputs were measured somewhere.
    fn least_violated(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        let mut hand = self.lock(py)?;
        interrupt::guard(|| {
            let least = hand.optimiser().map_err(error::study)?.least_violated();
            Ok(least.map(|(trial, _)| trial.0))
        })
    }

    /// The id of the best trial that meets all limits, if there is one.
    fn best(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        let mut hand = self.lock(py)?;
        interrupt::guard(|| {
            let best = hand.optimiser().map_err(error::study)?.history().best();
            Ok(best.map(|(trial, _)| trial.id.0))
        })
    }

    /// The id of the recommended trial, what is expected there, its interval of 90 % under noise, and under noise in limited
    /// outputs the probability that all limits are met there.
    fn recommended(&self, py: Python<'_>) -> PyResult<Option<Advice>> {
        let mut hand = self.lock(py)?;
        let by_hand = &mut *hand;
        interrupt::run(py, |flag| {
            let study = by_hand.optimiser().map_err(error::study)?;
            let recommended = study.recommended(flag).map_err(error::library)?;
            Ok(recommended.map(|point| (point.id.0, point.value, point.interval, point.within_limits)))
        })
    }

    /// What the strategy is, and why.
    fn explanation(&self, py: Python<'_>) -> PyResult<String> {
        let mut hand = self.lock(py)?;
        interrupt::guard(|| Ok(hand.optimiser().map_err(error::study)?.explanation().to_owned()))
    }

    /// What is known about the inputs, as JSON; a sentence for each finding; all of it as text.
    fn insight(&self, py: Python<'_>) -> PyResult<(String, Vec<String>, String)> {
        let mut hand = self.lock(py)?;
        interrupt::guard(|| {
            let objective = hand.config().objective().to_owned();
            let insight = hand.optimiser().map_err(error::study)?.insight().with_objective(&objective);
            let data = serde_json::to_string(&insight).map_err(|fault| error::internal(fault.to_string()))?;
            let sentences = insight.findings.iter().map(|finding| finding.fact.to_string()).collect();
            Ok((data, sentences, insight.to_string()))
        })
    }

    /// Mean and standard deviation at points, each with one object for each parameter.
    #[pyo3(signature = (points, /))]
    fn posterior<'py>(
        &self,
        py: Python<'py>,
        points: Vec<Vec<Bound<'py, PyAny>>>,
    ) -> PyResult<(Numbers<'py>, Numbers<'py>)> {
        let mut hand = self.lock(py)?;
        let space = &hand.config().space;
        let point = |(row, columns): (usize, &Vec<_>)| to_point(space, columns, &format!("X[{row}]"));
        let points = points.iter().enumerate().map(point).collect::<PyResult<Vec<_>>>()?;
        let by_hand = &mut *hand;
        let predicted = interrupt::run(py, |flag| {
            let study = by_hand.optimiser().map_err(error::study)?;
            study.posterior(&points, flag).map_err(|fault| match fault {
                tribo::Error::Empty { .. } => {
                    error::argument("the study has no measured value; tell one first")
                }
                fault => error::library(fault),
            })
        })?;
        Ok((PyArray1::from_vec(py, predicted.mean), PyArray1::from_vec(py, predicted.sd)))
    }

    /// A picture by the name of its kind, of inputs by their names: SVG, and the numbers behind it.
    #[pyo3(signature = (kind, inputs, /))]
    fn picture<'py>(
        &self,
        py: Python<'py>,
        kind: &str,
        inputs: Vec<String>,
    ) -> PyResult<(String, Bound<'py, PyDict>)> {
        let kind = picture::kind(kind)?;
        let draw = |view: &View| Ok((view.picture(kind, &inputs)?.to_svg(), view.numbers(kind, &inputs)?));
        let (svg, columns) = self.look(py, draw)?;
        Ok((svg, picture::arrays(py, columns)?))
    }

    /// Writes the report.
    #[pyo3(signature = (path, /))]
    fn report(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.look(py, |view| page::write(&path, &page::report(view)?))
    }

    /// The study as a piece of HTML.
    fn card(&self, py: Python<'_>) -> PyResult<String> {
        let mut hand = self.lock(py)?;
        let by_hand = &mut *hand;
        interrupt::run(py, |_| picture::glance(by_hand, page::card).map_err(error::study))
    }

    /// Name, kind, size, and bounds or choices of each parameter.
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let hand = self.lock(py)?;
        let describe = |parameter: &Parameter| {
            let dict = PyDict::new(py);
            dict.set_item("name", parameter.name())?;
            dict.set_item("type", parameter.kind().word())?;
            dict.set_item("size", parameter.size())?;
            match parameter.kind() {
                Kind::Float { low, high, scale } => {
                    dict.set_item("low", low)?;
                    dict.set_item("high", high)?;
                    dict.set_item("log", *scale == Scale::Log)?;
                }
                Kind::Int { low, high, scale } => {
                    dict.set_item("low", low)?;
                    dict.set_item("high", high)?;
                    dict.set_item("log", *scale == Scale::Log)?;
                }
                Kind::Categorical { categories } => dict.set_item("choices", categories)?,
            }
            Ok(dict)
        };
        hand.config().space.parameters().iter().map(describe).collect()
    }

    /// Names of all outputs: those of the study file in their order, then whatever else was told.
    fn outputs(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let mut hand = self.lock(py)?;
        interrupt::guard(|| {
            let declared = hand.config().outputs.clone();
            Ok(output_names(&declared, hand.ledger().map_err(error::study)?))
        })
    }

    /// Direction, objective, budget, path, number of trials and best value.
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut hand = self.lock(py)?;
        interrupt::guard(|| {
            let dict = PyDict::new(py);
            let maximize = hand.config().direction == Direction::Maximize;
            dict.set_item("direction", if maximize { "maximize" } else { "minimize" })?;
            dict.set_item("objective", hand.config().objective())?;
            dict.set_item("evaluations", hand.config().budget.evaluations)?;
            dict.set_item("is_limited", !hand.config().limits.is_empty())?;
            dict.set_item("path", hand.layout().map(|layout| layout.file().display().to_string()))?;
            let optimiser = hand.optimiser().map_err(error::study)?;
            dict.set_item("trials", optimiser.history().len())?;
            let best = optimiser.best().map_err(error::library)?;
            dict.set_item("best", best.map(|best| best.value))?;
            Ok(dict)
        })
    }

    /// Gives a study on disk back.
    #[pyo3(signature = (why, /))]
    fn close(&self, py: Python<'_>, why: &str) -> PyResult<()> {
        let mut hand = self.lock(py)?;
        let by_hand = &mut *hand;
        py.detach(|| interrupt::guard(|| by_hand.close(why).map_err(error::study)))
    }
}

impl Study {
    fn over(hand: ByHand) -> Study {
        Study { hand: Mutex::new(hand), kept: Mutex::new(None) }
    }

    /// Looks at results and model.
    fn look<T: Send>(
        &self,
        py: Python<'_>,
        draw: impl FnOnce(&View) -> tribo_study::Result<T> + Send,
    ) -> PyResult<T> {
        let mut hand = self.lock(py)?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (by_hand, last) = (&mut *hand, &mut *kept);
        interrupt::run(py, |_| picture::look(by_hand, last, draw).map_err(error::study))
    }

    /// Waits for its turn, without Python's lock and with an eye on signals.
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, ByHand>> {
        loop {
            match self.hand.try_lock() {
                Ok(hand) => return Ok(hand),
                // Whoever panicked left it unsettled, which it puts right itself.
                Err(TryLockError::Poisoned(hand)) => return Ok(hand.into_inner()),
                Err(TryLockError::WouldBlock) => {
                    py.check_signals()?;
                    py.detach(|| std::thread::sleep(TURN));
                }
            }
        }
    }
}

impl Drop for Study {
    fn drop(&mut self) {
        let hand = match self.hand.get_mut() {
            Ok(hand) => hand,
            Err(poisoned) => poisoned.into_inner(),
        };
        if hand.is_taken() {
            // A journal that cannot be written any more keeps what it has; there is no one to tell.
            let _ = interrupt::guard(|| hand.close("left by a Python program").map_err(error::study));
        }
    }
}

/// A complaint about a line of the study file, as one about the argument it was made of.
fn at_place(places: &[String]) -> impl FnOnce(ConfigError) -> PyErr {
    move |ConfigError { line, message, .. }| match places.get(line - 1).filter(|place| !place.is_empty()) {
        Some(place) => error::argument(format!("{place}: {message}")),
        None => error::argument(message),
    }
}

/// State and reason of an outcome.
fn in_words(outcome: Option<&Finding>) -> (&'static str, Option<String>) {
    let Some(Finding { kind, reason, .. }) = outcome else { return ("pending", None) };
    match State::of(*kind) {
        State::Failed => ("failed", Some(reason.strip_prefix(FAILED).unwrap_or(reason).to_owned())),
        State::Lost => ("lost", Some(reason.strip_prefix(LOST).unwrap_or(reason).to_owned())),
        State::Invalid => ("invalid", Some(reason.clone())),
        state => (state.name(), None),
    }
}

/// The output of a limit as people write it, and its ends.
#[pyfunction]
#[pyo3(signature = (text, /))]
fn parse_limit(text: &str) -> PyResult<(String, Option<f64>, Option<f64>)> {
    let limit = Limit::parse(text).map_err(error::library)?;
    Ok((limit.name().to_owned(), limit.low(), limit.high()))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(parse_limit, module)?)?;
    module.add_class::<Study>()
}
