//! Every kind of posterior of the same data, and hyper-parameters that suit the data.

use faer::{Mat, MatRef};
use tribo::error::Result;
use tribo::surrogate::data::Data;
use tribo::surrogate::exact::ExactPosterior;
use tribo::surrogate::hyper::{Hyperparameters, Mean, Ranges, SearchBox};
use tribo::surrogate::inducing::Inducing;
use tribo::surrogate::kernel::{Kernel, Shape};
use tribo::surrogate::posterior::Posterior;
use tribo::surrogate::sparse::{Approximation, Groups, Model, Objective};
use tribo::surrogate::train::{ExactGp, SparseGp, Training};
use tribo::surrogate::watch::Unwatched;

/// Every sparse approximation.
pub(crate) const SPARSE: [Approximation; 4] =
    [Approximation::Sor, Approximation::Dtc, Approximation::Fic, Approximation::Pitc { group: 4 }];

/// A posterior of some kind.
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) posterior: Box<dyn Posterior>,
}

/// The start of training, with the noise variance a given part of the signal variance.
pub(crate) fn hyperparameters(data: &Data<'_>, shape: Shape, noise_ratio: f64) -> Hyperparameters {
    let search = SearchBox::new(data, shape, true, &Ranges::default()).expect("search box");
    let start = search.hyperparameters(shape, &search.start);
    let Kernel { length_scales, terms, signal_var, .. } = start.kernel;
    let kernel = Kernel::sum(shape, length_scales, terms, signal_var, data.dim()).expect("kernel");
    Hyperparameters::new(kernel, noise_ratio * signal_var).expect("hyper-parameters")
}

/// Calls `with` with the sparse model of that approximation.
pub(crate) fn with_model<T>(
    data: Data<'_>,
    inducing: MatRef<'_, f64>,
    (approximation, objective): (Approximation, Objective),
    mean: Mean,
    with: impl FnOnce(&Model<'_>) -> Result<T>,
) -> Result<T> {
    match approximation {
        Approximation::Pitc { group } => {
            let groups = Groups::new(&data, group, &Unwatched)?;
            with(&Model::grouped(&groups, inducing, objective, mean)?)
        }
        _ => with(&Model::new(data, inducing, approximation, objective, mean)?),
    }
}

/// The exact posterior and all sparse ones.
pub(crate) fn posteriors(
    data: Data<'_>,
    inducing: MatRef<'_, f64>,
    hyper: &Hyperparameters,
    mean: Mean,
) -> Vec<Named> {
    let exact = ExactPosterior::new(&data, hyper, mean).unwrap_or_else(|error| panic!("exact: {error}"));
    let mut all = vec![Named { name: "exact".to_owned(), posterior: Box::new(exact) }];
    for approximation in SPARSE {
        let kind = (approximation, Objective::Marginal);
        let name = format!("{approximation:?} on {} inducing points", inducing.nrows());
        let posterior = with_model(data, inducing, kind, mean, |model| model.posterior(hyper, &Unwatched))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        all.push(Named { name, posterior: Box::new(posterior) });
    }
    all
}

/// An exact process to be fitted.
pub(crate) fn exact_gp(training: Training) -> ExactGp {
    ExactGp { shape: Shape::Matern52, ard: true, mean: Mean::Estimated, training }
}

/// A sparse process to be fitted.
pub(crate) fn sparse_gp(
    (approximation, objective): (Approximation, Objective),
    inducing: Inducing,
    n_inducing: usize,
    training: Training,
) -> SparseGp {
    let (shape, mean) = (Shape::Matern52, Mean::Estimated);
    SparseGp { shape, ard: true, mean, approximation, objective, inducing, n_inducing, training }
}

/// `x` and below it `more`.
pub(crate) fn stacked(x: MatRef<'_, f64>, more: MatRef<'_, f64>) -> Mat<f64> {
    let n = x.nrows();
    let entry = |i: usize, k: usize| if i < n { x[(i, k)] } else { more[(i - n, k)] };
    Mat::from_fn(n + more.nrows(), x.ncols(), entry)
}
