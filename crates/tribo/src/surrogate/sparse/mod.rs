//! Sparse Gaussian processes: one implementation of SoR, DTC, FIC and PITC `[@quinonero2005]`.
//!
//! With inducing points Z_u, Q = Kfu Kuu⁻¹ Kuf and a noise model Λ, all of them are
//!   y ~ N(μ, Q + Λ)
//! and differ only in Λ and in the variance at a query:
//!   SoR   Λ = σ²I                              var(s) = k_su Σ k_us
//!   DTC   Λ = σ²I                              var(s) = k_ss - q_ss + k_su Σ k_us
//!   FIC   Λ = diag(Kff - Qff) + σ²I            as DTC
//!   PITC  Λ = blockdiag(Kff - Qff) + σ²I       as DTC
//! with Σ = (Kuu + Kuf Λ⁻¹ Kfu)⁻¹. What is maximised in training is a separate choice: the model's own log
//! likelihood, or the lower bound log N(y | μ, Q + σ²I) - tr(Kff - Qff)/(2σ²) of `[@titsias2009]`. The paper
//! `[@tran2021]` trains by the bound and predicts with FIC.
//!
//! With rows of a noise of their own, σ²I is σ² diag(ρ); a row of weight c is c equal rows. Neither costs anything, and PITC
//! takes neither.
//!
//! Numerically (everything whitened before it is summed, since Kuf Kfu squares the condition of Kuu):
//!   Luu = chol(Kuu + jitter)        V = Luu⁻¹ Kuf Λ^(-1/2)        B = I + V Vᵀ = LB LBᵀ
//!
//! The data are streamed in blocks and never held as an n x m matrix: memory O(m² · lanes + threads · block · m).
//! Cost of a value O(n m²), of value and gradient about 2.5 times that, of a new observation O(m²).
//!
//! `blocks` cuts the data and fixes the order of sums; `statistics` is the first pass, `evidence` the objective,
//! `gradient` the second pass, `groups` the blocks of PITC, `posterior` what remains, `state` the
//! same as plain numbers, `outputs` several processes from one pass. Choosing inducing points
//! and hyper-parameters belongs to `inducing` and `train`.

mod blocks;
mod evidence;
mod gradient;
mod groups;
mod outputs;
mod paths;
mod posterior;
mod state;
mod statistics;

pub use evidence::Evidence;
pub use groups::Groups;
pub use paths::SparsePaths;
pub use posterior::{QUERIES, SparsePosterior};
pub use state::State;

#[cfg(test)]
mod tests;

use super::data::{Data, check_points};
use super::hyper::{Hyperparameters, Mean};
use super::source::Source;
use super::watch::Watch;
use crate::error::{Error, Result};
use blocks::Spare;
use faer::MatRef;
use std::sync::Arc;

/// How the exact prior is approximated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approximation {
    /// Subset of regressors: a linear model; its variance vanishes far from the inducing points.
    Sor,
    /// Deterministic training conditional, the projected process.
    Dtc,
    /// Fully independent conditional (FITC): the prior variance at every data point is exact.
    Fic,
    /// Partially independent conditional: the prior covariance inside groups of neighbours is exact.
    Pitc {
        /// Largest number of points in a group.
        group: usize,
    },
}

/// What training maximises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objective {
    /// The approximation's own log marginal likelihood.
    Marginal,
    /// The variational lower bound on the exact log marginal likelihood.
    Bound,
}

/// The noise model Λ of a pass over the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noise {
    /// σ²I.
    Constant,
    /// diag(Kff - Qff) + σ²I.
    Diagonal,
    /// blockdiag(Kff - Qff) + σ²I.
    Blocks,
}

impl Approximation {
    pub(crate) fn noise(self) -> Noise {
        match self {
            Approximation::Sor | Approximation::Dtc => Noise::Constant,
            Approximation::Fic => Noise::Diagonal,
            Approximation::Pitc { .. } => Noise::Blocks,
        }
    }
}

/// Where the data come from.
#[derive(Clone, Copy)]
pub(crate) enum Rows<'a> {
    /// They are in memory.
    Held(Data<'a>),
    /// They are read anew in every pass.
    Streamed(&'a dyn Source),
}

impl Rows<'_> {
    fn len(&self) -> usize {
        match self {
            Rows::Held(data) => data.len(),
            Rows::Streamed(source) => source.len(),
        }
    }

    fn dim(&self) -> usize {
        match self {
            Rows::Held(data) => data.dim(),
            Rows::Streamed(source) => source.dim(),
        }
    }
}

/// Data, inducing points and the choices that do not change during training.
#[derive(Clone)]
pub struct Model<'a> {
    pub(crate) data: Rows<'a>,
    pub(crate) inducing: MatRef<'a, f64>,
    pub(crate) approximation: Approximation,
    pub(crate) objective: Objective,
    pub(crate) mean: Mean,
    /// The mean of y, subtracted before anything else so that sums of squares keep their digits.
    pub(crate) y_shift: f64,
    /// How many points each data point stands for: 1, or more when the data are a subset of all.
    pub(crate) weight: f64,
    /// Ends of PITC's groups of consecutive rows; empty otherwise.
    pub(crate) group_ends: &'a [usize],
    /// Buffers that the next pass over the data uses again.
    spare: Arc<Spare>,
}

impl<'a> Model<'a> {
    /// A model of `data` on the inducing points [m, d]. PITC takes its data from [`Groups`], see
    /// [`Model::grouped`].
    pub fn new(
        data: Data<'a>,
        inducing: MatRef<'a, f64>,
        approximation: Approximation,
        objective: Objective,
        mean: Mean,
    ) -> Result<Model<'a>> {
        let (y_shift, _) = data.y_moments();
        Model::over(Rows::Held(data), y_shift, inducing, approximation, objective, mean)
    }

    /// A model of data that are read anew in every pass, whose outputs have about the mean `y_shift`. Not for PITC, which
    /// keeps its data.
    pub fn streamed(
        source: &'a dyn Source,
        y_shift: f64,
        inducing: MatRef<'a, f64>,
        approximation: Approximation,
        objective: Objective,
        mean: Mean,
    ) -> Result<Model<'a>> {
        Model::over(Rows::Streamed(source), y_shift, inducing, approximation, objective, mean)
    }

    fn over(
        data: Rows<'a>,
        y_shift: f64,
        inducing: MatRef<'a, f64>,
        approximation: Approximation,
        objective: Objective,
        mean: Mean,
    ) -> Result<Model<'a>> {
        check_points("inducing points", inducing)?;
        mean.check()?;
        if inducing.ncols() != data.dim() {
            return Err(Error::Size {
                what: "columns of the inducing points (columns of X)",
                expected: data.dim(),
                found: inducing.ncols(),
            });
        }
        if let Approximation::Pitc { .. } = approximation {
            return Err(Error::Empty { what: "groups of PITC" });
        }
        Ok(Model {
            data,
            inducing,
            approximation,
            objective,
            mean,
            y_shift,
            weight: 1.0,
            group_ends: &[],
            spare: Arc::default(),
        })
    }

    /// A PITC model of data in groups.
    pub fn grouped(
        groups: &'a Groups,
        inducing: MatRef<'a, f64>,
        objective: Objective,
        mean: Mean,
    ) -> Result<Model<'a>> {
        let model = Model::new(groups.data(), inducing, Approximation::Fic, objective, mean)?;
        let approximation = Approximation::Pitc { group: groups.largest() };
        Ok(Model { approximation, group_ends: groups.ends(), ..model })
    }

    /// The same model with every point standing for `weight` equal ones. All the objectives are functions of sums
    /// over the data, so a random subset with weight n / (its size) estimates the objective on all n points, with
    /// its balance of fit and complexity; unweighted, a subset favours simpler models than the data deserve.
    pub fn weighted(&self, weight: f64) -> Model<'a> {
        Model { weight, ..self.clone() }
    }

    /// Λ of the training objective.
    pub(crate) fn objective_noise(&self) -> Noise {
        match self.objective {
            Objective::Bound => Noise::Constant,
            Objective::Marginal => self.approximation.noise(),
        }
    }

    /// The training objective at some hyper-parameters.
    pub fn evidence(&self, hyper: &Hyperparameters, watch: &dyn Watch) -> Result<Evidence> {
        Evidence::new(self, hyper, self.objective_noise(), watch)
    }

    /// The training objective and its gradient in the log-parameters.
    pub fn evidence_gradient(&self, hyper: &Hyperparameters, watch: &dyn Watch) -> Result<(f64, Vec<f64>)> {
        let evidence = self.evidence(hyper, watch)?;
        let gradient = gradient::gradient(self, &evidence, watch)?;
        Ok((evidence.value(self.objective), gradient))
    }

    /// Conditions on the data at fixed hyper-parameters.
    pub fn posterior(&self, hyper: &Hyperparameters, watch: &dyn Watch) -> Result<SparsePosterior> {
        let evidence = Evidence::new(self, hyper, self.approximation.noise(), watch)?;
        Ok(SparsePosterior::new(self, evidence))
    }
}
