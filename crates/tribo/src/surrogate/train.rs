//! Finding hyper-parameters: bounded quasi-Newton on the log-parameters, on subsets first, then on all data.
//!
//! Minimised is -(log evidence + log prior)/n, nats per point, so that tolerances mean the same at every n. With a
//! million points an evaluation costs seconds, so subsets do the searching. Each point of a subset stands for n/size
//! points: the subset then estimates the objective on all data, and its optimum and curvature serve there. A check
//! asks the gradient how much a further quasi-Newton step promises; below the tolerance the search is over, after one
//! evaluation. The optimum of p parameters on s points is worse on all data by p/(2s) nats a point in the mean, so the check
//! need not see all data either: at s = 50,000 that is below the tolerance for ten parameters.
//!
//! A factorisation that fails is a place where the objective is infinite; this file is where that is decided, and
//! the optimiser backs off from it.

mod outputs;

use super::data::{Data, OwnRows, Scale};
use super::exact::ExactPosterior;
use super::extremes::Extremes;
use super::hyper::{Hyperparameters, Mean, Priors, Ranges, SearchBox};
use super::inducing::{self, Inducing};
use super::kernel::Shape;
use super::repeats;
use super::source::{self, Source};
use super::sparse::{Approximation, Groups, Model, Objective, SparsePosterior};
use super::watch::{Progress, Watch};
use crate::error::{Error, Result};
use crate::opt::lbfgs::{Lbfgs, LbfgsOptions};
use crate::opt::{Status, Stop};
use crate::rng::Stream;
use faer::{Mat, MatRef};
use std::sync::OnceLock;

/// Inducing points on a subset at most, by the root of its size: 223 on 2,000 points and 500 on 10,000. That halves the time of a
/// fit of 45,000 points with m = 1,000, at the same error.
const ON_SUBSET: f64 = 5.0;

/// How hyper-parameters are searched.
#[derive(Debug, Clone, PartialEq)]
pub struct Training {
    /// Where to search, relative to the scale of the data.
    pub ranges: Ranges,
    /// Optional priors.
    pub priors: Priors,
    /// Places to start from; the search begins at the best of them. None means the default start.
    pub starts: Vec<Hyperparameters>,
    /// Evaluations at most on each subset, or on all data where there is no subset.
    pub evaluations: usize,
    /// Evaluations at most after the subsets. One checks; more follow if the gradient asks for them. With 0
    /// the optimum of the last subset is believed, and all data are passed over once, to condition on them.
    pub full_evaluations: usize,
    /// Rows of the check after the subsets, drawn at random where there are more than twice as many, else all.
    pub checked: usize,
    /// Sizes of the subsets, increasing; one is used if the data are at least twice as many.
    pub subsets: Vec<usize>,
    /// Relative change of the objective per point that ends a search without subsets, or on one.
    pub tolerance: f64,
    /// The same in the check after the subsets.
    pub full_tolerance: f64,
    /// Seed of the subsets and of the inducing points.
    pub seed: u64,
}

impl Default for Training {
    fn default() -> Self {
        Training {
            ranges: Ranges::default(),
            priors: Priors::default(),
            starts: vec![],
            evaluations: 60,
            full_evaluations: 6,
            checked: 50_000,
            subsets: vec![2_000, 10_000],
            tolerance: 1e-5,
            full_tolerance: 1e-4,
            seed: 0,
        }
    }
}

impl Training {
    /// Rows of subset `number` of `n` points; None if there is no such subset, or the points are fewer than twice as many.
    fn subset(&self, number: usize, n: usize) -> Option<Vec<usize>> {
        let size = self.subset_size(number, n)?;
        Some(Stream::new(self.seed, "training subset", number as u64).choose(n, size))
    }

    /// Rows that the optimum of the last subset is checked on; None if that is all `n`.
    fn check(&self, n: usize) -> Option<Vec<usize>> {
        let size = self.checked.max(1);
        (n > 2 * size).then(|| Stream::new(self.seed, "training check", 0).choose(n, size))
    }

    /// How many there are.
    fn subset_size(&self, number: usize, n: usize) -> Option<usize> {
        self.subsets.get(number).copied().filter(|&size| size > 0 && n >= 2 * size)
    }
}

/// What training did.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Objective evaluations on subsets of the data.
    pub subset_evaluations: usize,
    /// Objective evaluations on all data; none where a sample was enough of a check.
    pub full_evaluations: usize,
    /// The objective per point at the result, on all data; on the last subset if it was not evaluated on all.
    pub objective: f64,
    /// Why the last search ended; None if the deadline did it.
    pub stop: Option<Stop>,
    /// Hyper-parameters at which the inducing points were chosen, which [`SparseGp::condition`] needs to choose the same
    /// ones; None where there are none.
    pub chosen_at: Option<Hyperparameters>,
}

/// An exact Gaussian process to be fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactGp {
    /// Shape of the kernel.
    pub shape: Shape,
    /// One length scale for each input instead of one for all.
    pub ard: bool,
    /// The constant mean.
    pub mean: Mean,
    /// How hyper-parameters are searched.
    pub training: Training,
}

impl ExactGp {
    /// Fits hyper-parameters by log marginal likelihood and conditions on the data X `[n, d]`, y `[n]`.
    pub fn fit(&self, x: MatRef<'_, f64>, y: &[f64], watch: &dyn Watch) -> Result<(ExactPosterior, Report)> {
        self.fit_data(&Data::new(x, y)?, watch)
    }

    /// As [`ExactGp::fit`], to rows that may have a noise of their own.
    pub fn fit_data(&self, data: &Data<'_>, watch: &dyn Watch) -> Result<(ExactPosterior, Report)> {
        let (hyper, report) = self.search(data, watch)?;
        Ok((ExactPosterior::new(data, &hyper, self.mean)?, report))
    }

    /// The hyper-parameters of [`ExactGp::fit_data`], not conditioned on anything.
    pub fn search(&self, data: &Data<'_>, watch: &dyn Watch) -> Result<(Hyperparameters, Report)> {
        let mut search = Search::new(&data.scale(), self.shape, self.ard, &self.training, watch)?;
        search.run(data.len(), self.training.tolerance, self.training.evaluations, Stage::Only, |hyper| {
            ExactPosterior::evidence(data, hyper, self.mean)
        })?;
        Ok((search.best(), search.report))
    }
}

/// A sparse Gaussian process to be fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseGp {
    /// Shape of the kernel.
    pub shape: Shape,
    /// One length scale for each input instead of one for all.
    pub ard: bool,
    /// The constant mean.
    pub mean: Mean,
    /// How the prior is approximated when predicting.
    pub approximation: Approximation,
    /// What training maximises.
    pub objective: Objective,
    /// How inducing points are chosen.
    pub inducing: Inducing,
    /// Inducing points at most.
    pub n_inducing: usize,
    /// How hyper-parameters are searched.
    pub training: Training,
}

impl SparseGp {
    /// The paper's surrogate: Matern-3/2 with one length scale, Latin-hypercube inducing points in the search box,
    /// trained by the variational bound, predicting with FIC `[@tran2021]`.
    pub fn paper(n_inducing: usize, low: &[f64], high: &[f64]) -> SparseGp {
        SparseGp {
            shape: Shape::Matern32,
            ard: false,
            mean: Mean::Estimated,
            approximation: Approximation::Fic,
            objective: Objective::Bound,
            inducing: Inducing::LatinHypercube { low: low.to_vec(), high: high.to_vec() },
            n_inducing,
            training: Training::default(),
        }
    }

    /// Chooses inducing points, fits hyper-parameters and conditions on the data X `[n, d]`, y `[n]`.
    pub fn fit(&self, x: MatRef<'_, f64>, y: &[f64], watch: &dyn Watch) -> Result<(SparsePosterior, Report)> {
        self.begin(x, y, watch)?.finish()
    }

    /// As [`SparseGp::fit`], to rows that may have weights and a noise of their own. Not for PITC.
    pub fn fit_data(&self, data: Data<'_>, watch: &dyn Watch) -> Result<(SparsePosterior, Report)> {
        self.begin_with(self.kept(data)?, watch)?.finish()
    }

    /// Begins a fit that goes on a step at a time, so that several can be compared before one sees all data.
    pub fn begin<'a>(
        &'a self,
        x: MatRef<'a, f64>,
        y: &'a [f64],
        watch: &'a dyn Watch,
    ) -> Result<SparseFit<'a>> {
        self.begin_with(self.kept(Data::new(x, y)?)?, watch)
    }

    /// As [`SparseGp::fit`], to data that are read anew in every pass over them. Not for PITC, which keeps its data.
    pub fn fit_source(&self, source: &dyn Source, watch: &dyn Watch) -> Result<(SparsePosterior, Report)> {
        if let Approximation::Pitc { .. } = self.approximation {
            let reason =
                "it keeps a copy of its data, and a source may be too large for that; choose FIC".to_owned();
            return Err(Error::Source { name: "PITC".to_owned(), reason });
        }
        let (scale, extremes) = source::survey(source, watch)?;
        let kept = Kept::Streamed { source, scale, extremes, candidates: OnceLock::new() };
        self.begin_with(kept, watch)?.finish()
    }

    fn begin_with<'a>(&'a self, kept: Kept<'a>, watch: &'a dyn Watch) -> Result<SparseFit<'a>> {
        let search = Search::new(&kept.scale(), self.shape, self.ard, &self.training, watch)?;
        let chosen_at = search.best();
        let first = self.training.subset_size(0, kept.len());
        let m = first.map_or(self.n_inducing, |size| self.n_inducing_on(size));
        let inducing = self.choose_inducing(&kept, m, &chosen_at, watch)?;
        Ok(SparseFit { gp: self, kept, watch, search, chosen_at, inducing, n_searched: 0 })
    }

    /// The data, repeated inputs merged where that pays.
    fn kept<'a>(&self, data: Data<'a>) -> Result<Kept<'a>> {
        let merged = match self.approximation {
            Approximation::Pitc { .. } if data.is_weighted() || !data.noise().is_empty() => {
                let reason = "it takes neither weights nor a noise of each row; choose FIC".to_owned();
                return Err(Error::Source { name: "PITC".to_owned(), reason });
            }
            Approximation::Pitc { .. } => None,
            _ => repeats::merged(&data),
        };
        Ok(merged.map_or(Kept::Given(data), Kept::Own))
    }

    /// Whether a fit to `n` points begins on a subset of them.
    pub(crate) fn begins_on_subset(&self, n: usize) -> bool {
        self.training.subset(0, n).is_some()
    }

    /// The posterior of a fit, made again without the search: bit for bit, given the same data, the hyper-parameters
    /// found and those the inducing points were chosen at ([`Report::chosen_at`]).
    pub fn condition(
        &self,
        x: MatRef<'_, f64>,
        y: &[f64],
        hyper: &Hyperparameters,
        chosen_at: &Hyperparameters,
        watch: &dyn Watch,
    ) -> Result<SparsePosterior> {
        self.condition_data(Data::new(x, y)?, hyper, chosen_at, watch)
    }

    /// As [`SparseGp::condition`], on rows that may have weights and a noise of their own. Not for PITC.
    pub fn condition_data(
        &self,
        data: Data<'_>,
        hyper: &Hyperparameters,
        chosen_at: &Hyperparameters,
        watch: &dyn Watch,
    ) -> Result<SparsePosterior> {
        let kept = self.kept(data)?;
        let inducing = self.choose_inducing(&kept, self.n_inducing, chosen_at, watch)?;
        self.with_model(&kept, inducing.as_ref(), watch, |model| model.posterior(hyper, watch))
    }

    fn choose_inducing(
        &self,
        kept: &Kept<'_>,
        m: usize,
        hyper: &Hyperparameters,
        watch: &dyn Watch,
    ) -> Result<Mat<f64>> {
        let mut stream = Stream::new(self.training.seed, "inducing points", 0);
        let (size, kernel) = ((kept.len(), kept.dim()), &hyper.kernel);
        let points = |rows: &[usize]| kept.candidates(rows, watch);
        let extremes = || kept.extremes();
        inducing::choose_from(&self.inducing, size, points, extremes, m, kernel, &mut stream, watch)
    }

    /// Inducing points in a search on a subset of `size` points. Such a search wants hyper-parameters, for which fewer points do,
    /// and its cost grows with their square. The older rules keep to all.
    fn n_inducing_on(&self, size: usize) -> usize {
        match self.inducing {
            Inducing::RandomPivots => self.n_inducing.min((ON_SUBSET * (size as f64).sqrt()) as usize).max(1),
            _ => self.n_inducing,
        }
    }

    fn with_model<T>(
        &self,
        kept: &Kept<'_>,
        inducing: MatRef<'_, f64>,
        watch: &dyn Watch,
        work: impl FnOnce(&Model<'_>) -> Result<T>,
    ) -> Result<T> {
        let (approximation, objective, mean) = (self.approximation, self.objective, self.mean);
        let data = match kept {
            Kept::Streamed { source, scale, .. } => {
                let y_mean = scale.y_mean;
                return work(&Model::streamed(*source, y_mean, inducing, approximation, objective, mean)?);
            }
            Kept::Given(data) => *data,
            Kept::Own(rows) => rows.data(),
        };
        match approximation {
            Approximation::Pitc { group } => {
                let groups = Groups::new(&data, group, watch)?;
                work(&Model::grouped(&groups, inducing, objective, mean)?)
            }
            _ => work(&Model::new(data, inducing, approximation, objective, mean)?),
        }
    }
}

/// What a fit is made to.
enum Kept<'a> {
    /// Rows as they were given.
    Given(Data<'a>),
    /// Some of them, or one for each site.
    Own(OwnRows),
    /// Rows that are read anew in every pass.
    Streamed {
        source: &'a dyn Source,
        scale: Scale,
        extremes: Extremes,
        /// Those that inducing points are chosen among, which are the same every time.
        candidates: OnceLock<Mat<f64>>,
    },
}

impl Kept<'_> {
    fn len(&self) -> usize {
        match self {
            Kept::Given(data) => data.len(),
            Kept::Own(rows) => rows.data().len(),
            Kept::Streamed { source, .. } => source.len(),
        }
    }

    fn dim(&self) -> usize {
        match self {
            Kept::Given(data) => data.dim(),
            Kept::Own(rows) => rows.data().dim(),
            Kept::Streamed { source, .. } => source.dim(),
        }
    }

    /// Rows, each counted as often as it was measured.
    fn n_points(&self) -> usize {
        match self {
            // Weights may be so small that their sum is not even one.
            Kept::Given(data) => (data.n_points() as usize).max(1),
            Kept::Own(rows) => (rows.data().n_points() as usize).max(1),
            Kept::Streamed { .. } => self.len(),
        }
    }

    fn scale(&self) -> Scale {
        match self {
            Kept::Given(data) => data.scale(),
            Kept::Own(rows) => rows.data().scale(),
            Kept::Streamed { scale, .. } => scale.clone(),
        }
    }

    /// The rows at the ends of each input.
    fn extremes(&self) -> Vec<usize> {
        match self {
            Kept::Given(data) => Extremes::of(data).rows(),
            Kept::Own(rows) => Extremes::of(&rows.data()).rows(),
            Kept::Streamed { extremes, .. } => extremes.rows(),
        }
    }

    /// The rows named, in increasing order.
    fn pick(&self, rows: &[usize], watch: &dyn Watch) -> Result<OwnRows> {
        match self {
            Kept::Given(data) => Ok(data.pick(rows)),
            Kept::Own(own) => Ok(own.data().pick(rows)),
            Kept::Streamed { source, .. } => {
                let (x, y) = source::pick(*source, rows, watch)?;
                Ok(OwnRows::new(x, y))
            }
        }
    }

    /// The points that inducing points are chosen among.
    fn candidates(&self, rows: &[usize], watch: &dyn Watch) -> Result<Mat<f64>> {
        let Kept::Streamed { candidates, .. } = self else { return Ok(self.pick(rows, watch)?.x) };
        if let Some(candidates) = candidates.get() {
            return Ok(candidates.clone());
        }
        let points = self.pick(rows, watch)?.x;
        Ok(candidates.get_or_init(|| points).clone())
    }
}

/// A fit of a sparse process under way: on one subset after the other, then on all data.
pub struct SparseFit<'a> {
    gp: &'a SparseGp,
    kept: Kept<'a>,
    watch: &'a dyn Watch,
    search: Search<'a>,
    /// Hyper-parameters at which the inducing points were chosen.
    chosen_at: Hyperparameters,
    /// Z_u, `[m, d]`.
    inducing: Mat<f64>,
    /// Subsets that were searched.
    n_searched: usize,
}

impl SparseFit<'_> {
    /// Searches on the next subset and returns its rows; None if there is none left.
    pub fn search_subset(&mut self) -> Result<Option<Vec<usize>>> {
        let (gp, training, watch) = (self.gp, &self.gp.training, self.watch);
        let (n_rows, n_points) = (self.kept.len(), self.kept.n_points());
        let Some(rows) = training.subset(self.n_searched, n_rows) else { return Ok(None) };
        self.choose_again(gp.n_inducing_on(rows.len()))?;
        let subset = Kept::Own(self.kept.pick(&rows, watch)?);
        let weight = n_rows as f64 / rows.len() as f64;
        let search = &mut self.search;
        gp.with_model(&subset, self.inducing.as_ref(), watch, |model| {
            let model = model.weighted(weight);
            search.run(n_points, training.tolerance, training.evaluations, Stage::Subset, |hyper| {
                model.evidence_gradient(hyper, watch)
            })
        })?;
        self.n_searched += 1;
        Ok(Some(rows))
    }

    /// The objective per point on the last subset, which estimates that on all data.
    pub fn objective(&self) -> f64 {
        self.search.report.objective
    }

    /// Searches the subsets that are left and then on all data, and conditions on these.
    pub fn finish(mut self) -> Result<(SparsePosterior, Report)> {
        while self.search_subset()?.is_some() {}
        self.choose_again(self.gp.n_inducing)?;
        let checked = self.check_on_sample()?;
        let SparseFit { gp, kept, watch, mut search, chosen_at, inducing, n_searched } = self;
        let training = &gp.training;
        let (stage, tolerance, evaluations) = if n_searched > 0 {
            (Stage::AfterSubset, training.full_tolerance, training.full_evaluations)
        } else {
            (Stage::Only, training.tolerance, training.evaluations)
        };
        gp.with_model(&kept, inducing.as_ref(), watch, |model| {
            if stage == Stage::Only || (evaluations > 0 && !checked) {
                search.run(kept.n_points(), tolerance, evaluations, stage, |hyper| {
                    model.evidence_gradient(hyper, watch)
                })?;
            }
            let posterior = model.posterior(&search.best(), watch)?;
            Ok((posterior, Report { chosen_at: Some(chosen_at), ..search.report }))
        })
    }

    /// Checks the optimum of the last subset on a sample of very many rows, and goes on there if it pays. False if there was
    /// no subset, nothing is to be checked, or the check is for all data.
    fn check_on_sample(&mut self) -> Result<bool> {
        let (gp, training, watch) = (self.gp, &self.gp.training, self.watch);
        if self.n_searched == 0 || training.full_evaluations == 0 {
            return Ok(false);
        }
        let Some(rows) = training.check(self.kept.len()) else { return Ok(false) };
        let sample = Kept::Own(self.kept.pick(&rows, watch)?);
        let (n_points, weight) = (self.kept.n_points(), self.kept.len() as f64 / rows.len() as f64);
        let (tolerance, evaluations) = (training.full_tolerance, training.full_evaluations);
        let search = &mut self.search;
        gp.with_model(&sample, self.inducing.as_ref(), watch, |model| {
            let model = model.weighted(weight);
            search.run(n_points, tolerance, evaluations, Stage::Check, |hyper| {
                model.evidence_gradient(hyper, watch)
            })
        })?;
        Ok(true)
    }

    /// After a subset inducing points that depend on the kernel follow the hyper-parameters it found: `m` of them.
    fn choose_again(&mut self, m: usize) -> Result<()> {
        if self.n_searched > 0 && matches!(self.gp.inducing, Inducing::Greedy | Inducing::RandomPivots) {
            self.chosen_at = self.search.best();
            self.inducing = self.gp.choose_inducing(&self.kept, m, &self.chosen_at, self.watch)?;
        }
        Ok(())
    }
}

/// Where a search stands among those on subsets and on all data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// On a subset.
    Subset,
    /// On a sample of all data, started from a subset's optimum.
    Check,
    /// On all data, started from a subset's optimum.
    AfterSubset,
    /// On all data, from the beginning.
    Only,
}

/// A value and its gradient.
type Told = (f64, Vec<f64>);

fn options(tolerance: f64, evaluations: usize) -> LbfgsOptions {
    LbfgsOptions {
        max_evaluations: evaluations.max(1),
        max_iterations: evaluations.max(1),
        decrease_tolerance: tolerance,
        gradient_tolerance: 1e-6,
        // A factor e^0.5 in every hyper-parameter: neither timid nor off the map.
        initial_step: 0.5,
        ..LbfgsOptions::default()
    }
}

/// The state of a search for hyper-parameters across its stages.
struct Search<'a> {
    shape: Shape,
    training: &'a Training,
    watch: &'a dyn Watch,
    /// Where it searches.
    space: SearchBox,
    /// Places to start from; one after the first stage.
    starts: Vec<Vec<f64>>,
    /// The last stage's optimiser, for its curvature.
    last: Option<Lbfgs>,
    report: Report,
}

impl<'a> Search<'a> {
    fn new(
        scale: &Scale,
        shape: Shape,
        ard: bool,
        training: &'a Training,
        watch: &'a dyn Watch,
    ) -> Result<Search<'a>> {
        training.priors.check()?;
        let space = SearchBox::at(scale, shape, ard, &training.ranges)?;
        let SearchBox { low, high, start, .. } = &space;
        let mut starts: Vec<Vec<f64>> = Vec::new();
        for given in &training.starts {
            given.check(scale.x_ranges.len())?;
            let log = given.to_log();
            if log.len() != start.len() {
                return Err(Error::Size {
                    what: "hyper-parameters of a start (one length scale or one for each input, signal, noise)",
                    expected: start.len(),
                    found: log.len(),
                });
            }
            starts.push(log.iter().zip(low.iter().zip(high)).map(|(v, (l, h))| v.clamp(*l, *h)).collect());
        }
        if starts.is_empty() {
            starts.push(start.clone());
        }
        let report = Report {
            subset_evaluations: 0,
            full_evaluations: 0,
            objective: f64::NEG_INFINITY,
            stop: None,
            chosen_at: None,
        };
        Ok(Search { shape, training, watch, space, starts, last: None, report })
    }

    /// The best hyper-parameters so far (the first start before anything was evaluated).
    fn best(&self) -> Hyperparameters {
        self.space.hyperparameters(self.shape, &self.starts[0])
    }

    /// Minimises -(objective + prior)/n from the best start, and leaves its optimum as the only start.
    fn run(
        &mut self,
        n: usize,
        tolerance: f64,
        evaluations: usize,
        stage: Stage,
        mut objective: impl FnMut(&Hyperparameters) -> Result<Told>,
    ) -> Result<()> {
        let mut evaluate = |search: &mut Search<'a>, log: &[f64]| -> Result<Told> {
            let told = search.evaluate(n, log, &mut objective)?;
            match stage {
                Stage::Subset | Stage::Check => search.report.subset_evaluations += 1,
                Stage::AfterSubset | Stage::Only => search.report.full_evaluations += 1,
            }
            Ok(told)
        };
        let (start, told) = self.best_start(&mut evaluate)?;
        let options = options(tolerance, evaluations);
        let mut run = match &self.last {
            Some(last) => last.warm(&start, 1.0, options)?,
            None => Lbfgs::new(&start, &self.space.low, &self.space.high, options)?,
        };
        let promised = run.predicted_decrease(&told.1);
        let mut status = run.tell(told.0, &told.1);
        self.tell_progress(run.best().1);
        if matches!(stage, Stage::Check | Stage::AfterSubset) && promised <= tolerance * told.0.abs().max(1.0)
        {
            status = Status::Stopped(Stop::DecreaseSmall);
        }
        while status == Status::Continue && !self.watch.deadline_passed() {
            let (value, gradient) = evaluate(self, run.point())?;
            status = run.tell(value, &gradient);
            self.tell_progress(run.best().1);
        }
        let stop = match status {
            Status::Stopped(reason) => Some(reason),
            Status::Continue => None,
        };
        self.starts = vec![run.best().0.to_vec()];
        self.report.stop = stop;
        self.report.objective = -run.best().1;
        if stop == Some(Stop::StartNotFinite) && matches!(stage, Stage::AfterSubset | Stage::Only) {
            // Nothing could be factored, not even at the start: say why.
            objective(&self.best())?;
        }
        self.last = Some(run);
        Ok(())
    }

    /// The best of the places to start from, and what was found there.
    fn best_start(
        &mut self,
        evaluate: &mut impl FnMut(&mut Search<'a>, &[f64]) -> Result<Told>,
    ) -> Result<(Vec<f64>, Told)> {
        let (first, others) = (self.starts[0].clone(), self.starts[1..].to_vec());
        let told = evaluate(self, &first)?;
        let mut best = (first, told);
        for other in others {
            let told = evaluate(self, &other)?;
            if told.0 < best.1.0 || best.1.0.is_nan() {
                best = (other, told);
            }
        }
        Ok(best)
    }

    /// -(objective + prior)/n and its gradient; infinite where a factorisation fails.
    fn evaluate(
        &self,
        n: usize,
        log: &[f64],
        objective: &mut impl FnMut(&Hyperparameters) -> Result<Told>,
    ) -> Result<Told> {
        match objective(&self.space.hyperparameters(self.shape, log)) {
            Ok((value, mut gradient)) => {
                let prior = self.training.priors.add_log_density(self.shape, log, &mut gradient);
                let scale = -1.0 / n as f64;
                gradient.iter_mut().for_each(|slope| *slope *= scale);
                Ok(((value + prior) * scale, gradient))
            }
            Err(Error::NotPositiveDefinite { .. }) => Ok((f64::INFINITY, vec![0.0; log.len()])),
            Err(error) => Err(error),
        }
    }

    fn tell_progress(&self, lowest: f64) {
        self.watch.progress(&Progress {
            subset_evaluations: self.report.subset_evaluations,
            full_evaluations: self.report.full_evaluations,
            best: -lowest,
        });
    }
}

#[cfg(test)]
mod tests;
