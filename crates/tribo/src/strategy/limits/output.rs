//! Finding the model of one output: a Gaussian process on what a sight makes of its values, or a polynomial of them.
//!
//! A model is a function of the results in the order told, whatever was asked in between: sight and shape of the kernel are
//! chosen at some numbers of results, hyper-parameters are fitted at more of them, and between these the model is conditioned
//! on what is new. So nothing has to be written down to make it again.

use super::model::{Known, Model, WITHOUT_NOISE};
use super::near::Frame;
use super::polynomial::Polynomial;
use super::sight::Sight;
use crate::error::{Error, Result};
use crate::surrogate::data::Data;
use crate::surrogate::exact::ExactPosterior;
use crate::surrogate::hyper::{Hyperparameters, Mean, Prior, Priors, Ranges};
use crate::surrogate::kernel::Shape;
use crate::surrogate::train::{ExactGp, Training};
use crate::surrogate::watch::Watch;
use faer::Mat;

/// Evaluations of the evidence at most in a fit, and in one that starts from another.
const EVALUATIONS: usize = 40;
const EVALUATIONS_AGAIN: usize = 20;
/// Inputs up to which each has a length scale of its own: beyond, a fit would take minutes.
const ARD_UNTIL: usize = 60;
/// Nats per result that noise must explain to be believed in, of the objective and of limited outputs. The objective's ripples
/// may pass for noise: models of what is near see through them later. With 0.4 for both Ackley's function of ten inputs with
/// two limits ends at 2.8 after 150 evaluations, with this at 0.4 to 1.6.
pub(super) const NOISE_MUST_EXPLAIN: (f64, f64) = (0.05, 0.4);

/// What a fit found.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fitted {
    Process(Process),
    Known(Sight, Polynomial),
}

/// The shape of a kernel, and whether there is noise.
pub(super) type Kind = (Shape, bool);

/// Kinds of processes that are compared.
pub(super) const KINDS: [Kind; 3] =
    [(Shape::SquaredExponential, false), (Shape::Matern52, false), (Shape::Matern52, true)];

/// A Gaussian process.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Process {
    sight: Sight,
    hyper: Hyperparameters,
    noisy: bool,
}

impl Fitted {
    /// The kind of process it is, if it is one.
    pub(super) fn kind(&self) -> Option<Kind> {
        match self {
            Fitted::Process(process) => Some((process.hyper.kernel.shape, process.noisy)),
            Fitted::Known(..) => None,
        }
    }

    pub(super) fn sight(&self) -> Sight {
        match self {
            Fitted::Process(process) => process.sight,
            Fitted::Known(sight, _) => *sight,
        }
    }
}

/// An output's measured points and values.
pub(super) struct Rows<'a> {
    pub(super) points: Vec<&'a [f64]>,
    pub(super) values: Vec<f64>,
    /// Where sights are centred: the limit.
    pub(super) centre: f64,
    /// Nats per result that noise must explain to be believed in.
    pub(super) noise_must_explain: f64,
    /// Whether squares of the values say the same: limits are not negative.
    pub(super) may_be_squared: bool,
}

impl Rows<'_> {
    fn matrix(&self) -> Mat<f64> {
        Mat::from_fn(self.points.len(), self.points.first().map_or(0, |p| p.len()), |i, k| self.points[i][k])
    }
}

/// Chooses sight and one of these kinds by evidence.
pub(super) fn choose(rows: &Rows<'_>, kinds: &[Kind], watch: &dyn Watch) -> Result<Fitted> {
    let (x, n) = (rows.matrix(), rows.values.len() as f64);
    let mut best: Option<(f64, Process)> = None;
    for sight in Sight::candidates(&rows.values, rows.centre) {
        let y: Vec<f64> = rows.values.iter().map(|&value| sight.apply(value)).collect();
        let jacobian = sight.log_jacobian(&rows.values);
        for &(shape, noisy) in kinds {
            let gp = process(shape, x.ncols(), noisy, None);
            let (hyper, report) = match Data::new(x.as_ref(), &y).and_then(|data| gp.search(&data, watch)) {
                Ok(fitted) => fitted,
                Err(error @ Error::Stopped { .. }) => return Err(error),
                Err(_) => continue,
            };
            let handicap = if noisy { rows.noise_must_explain * n } else { 0.0 };
            let evidence = report.objective * n + jacobian - handicap;
            if best.as_ref().is_none_or(|(other, _)| evidence > *other) {
                best = Some((evidence, Process { sight, hyper, noisy }));
            }
        }
    }
    best.map(|(_, process)| Fitted::Process(process)).ok_or(Error::Empty { what: "models of an output" })
}

/// Fits the hyper-parameters anew, from those of another fit.
pub(super) fn refit(rows: &Rows<'_>, last: &Fitted, watch: &dyn Watch) -> Result<Fitted> {
    let Fitted::Process(last) = last else { return choose(rows, &KINDS, watch) };
    let x = rows.matrix();
    let y: Vec<f64> = rows.values.iter().map(|&value| last.sight.apply(value)).collect();
    let gp = process(last.hyper.kernel.shape, x.ncols(), last.noisy, Some(&last.hyper));
    match Data::new(x.as_ref(), &y).and_then(|data| gp.search(&data, watch)) {
        Ok((hyper, _)) => Ok(Fitted::Process(Process { hyper, ..last.clone() })),
        Err(error @ Error::Stopped { .. }) => Err(error),
        Err(_) => Ok(Fitted::Process(last.clone())),
    }
}

/// The model of a fit, given these rows in the coordinates of a frame.
pub(super) fn condition(rows: &Rows<'_>, fitted: &Fitted, frame: Option<&Frame>) -> Result<Model> {
    let fitted = match fitted {
        Fitted::Process(process) => process,
        Fitted::Known(sight, polynomial) => {
            let (polynomial, sight, frame) = (polynomial.clone(), *sight, frame.cloned());
            return Ok(Model::Known(Known { polynomial, sight, frame }));
        }
    };
    let x = rows.matrix();
    let y: Vec<f64> = rows.values.iter().map(|&value| fitted.sight.apply(value)).collect();
    let data = Data::new(x.as_ref(), &y)?;
    ExactPosterior::new(&data, &fitted.hyper, Mean::Estimated)
        .map(|process| Model::Process(Box::new(process)))
}

fn process(shape: Shape, d: usize, noisy: bool, last: Option<&Hyperparameters>) -> ExactGp {
    let noise_var = if noisy { (1e-6, 1.0) } else { WITHOUT_NOISE };
    let around = |centre: f64, scale: f64| Some(Prior::LogNormal { location: centre + scale * scale, scale });
    let priors = Priors {
        length_scale: around(0.5 * (d as f64).ln(), 1.5),
        signal_var: around(1.0, 2.0),
        noise_var: around(-4.6, 2.0).filter(|_| noisy),
    };
    let ard = d <= ARD_UNTIL;
    let mut log = vec![(0.5 * (d as f64).sqrt()).ln(); if ard { d } else { 1 }];
    log.extend([0.0, if noisy { 1e-2_f64 } else { WITHOUT_NOISE.0 }.ln()]);
    let first = Hyperparameters::from_log(shape, &log);
    let training = Training {
        ranges: Ranges { length_scale: (1e-2, 3e1), signal_var: (5e-2, 1e5), noise_var },
        priors,
        starts: last.cloned().into_iter().chain([first]).collect(),
        evaluations: if last.is_some() { EVALUATIONS_AGAIN } else { EVALUATIONS },
        ..Training::default()
    };
    ExactGp { shape, ard, mean: Mean::Estimated, training }
}
