//! What a strategy can be told. Every choice of the paper is a key here, so that it can be run as it was written and
//! changed one thing at a time.

use super::bo::Quota;
use crate::acquisition::maximize::{CmaesSearch, Search};
use crate::embed;
use crate::error::{Error, Result};
use crate::space::Space;
use crate::surrogate::kernel::Shape;
use crate::surrogate::sparse::{Approximation, Objective};

/// Points of `bo`'s initial design at least and at most; between, three for each coordinate. More than four lets a first fit
/// tell slopes from noise; more than 20 would take too much of a budget of a hundred evaluations, and the model's own
/// points tell more by then. Chosen, not measured.
const INITIAL_POINTS: (usize, usize) = (4, 20);

/// Which strategy, with its settings.
#[derive(Debug, Clone, PartialEq)]
pub enum Strategy {
    /// Uniform points.
    Random,
    /// Classical Bayesian optimisation, [`Settings::bo`] unless changed.
    Bo(Settings),
    /// The paper's method, [`Settings::paper`] unless changed.
    Paper(Settings),
    /// Finds the inputs that matter and optimises those; `bo` where they are few.
    Auto(AutoSettings),
}

/// What `auto` can be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutoSettings {
    /// Whether to look for the inputs that matter. Without it many inputs are searched in random embeddings.
    pub screen: bool,
    /// The inputs that matter, by name, such as `x[3]`: nothing is looked for, and the others stay where they are.
    pub active: Vec<String>,
}

impl Default for AutoSettings {
    fn default() -> Self {
        AutoSettings { screen: true, active: vec![] }
    }
}

impl AutoSettings {
    /// Refuses names that the space does not have.
    pub fn check(&self, space: &Space) -> Result<()> {
        super::auto::inputs_of(space, &self.active).map(|_| ())
    }
}

impl Strategy {
    /// `auto` as it comes.
    pub fn auto() -> Strategy {
        Strategy::Auto(AutoSettings::default())
    }
}

/// Settings of the model-based strategies.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// How model coordinates become inputs.
    pub embedding: embed::Kind,
    /// Independent embeddings, each with its own model; trials take turns, and every other one goes to the
    /// embedding that holds the best value.
    pub n_embeddings: usize,
    /// The initial design.
    pub initial: Initial,
    /// The Gaussian process.
    pub surrogate: SurrogateSettings,
    /// What an exploiting proposal maximises.
    pub acquisition: Acquisition,
    /// How it is maximised.
    pub maximizer: Maximizer,
    /// How workers are shared between exploiting and exploring.
    pub quota: Quota,
    /// Up to this many results hyper-parameters are fitted anew for every burst of results.
    pub refit_always_until: usize,
    /// Beyond, they are fitted when the number of results has grown by this factor since the last fit, at most once per
    /// ask; in between, results enter by updates.
    pub refit_growth: f64,
    /// Whether the acquisition is maximised in a box around the best point that shrinks while nothing improves.
    pub trust_region: bool,
    /// Whether heavy-tailed values are seen through a logarithm when the evidence favours it.
    pub warp: bool,
}

/// The initial design of each embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Initial {
    /// Number of points; None means three times the model dimension, between 4 and 20.
    pub count: Option<usize>,
    /// How they are placed.
    pub design: Design,
}

/// How initial points are placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Design {
    /// Scrambled Sobol sequence.
    Sobol,
    /// Independent uniform points (the paper).
    Uniform,
}

/// The Gaussian process of a strategy, on model coordinates scaled to the unit cube.
#[derive(Debug, Clone, PartialEq)]
pub struct SurrogateSettings {
    /// Shape of the kernel.
    pub shape: Shape,
    /// One length scale for each coordinate.
    pub ard: bool,
    /// Weak priors, that of the length scales growing with the dimension; without them maximum likelihood.
    pub priors: bool,
    /// Exact, sparse, or exact first.
    pub process: Process,
}

/// When the exact process is used and when a sparse one.
#[derive(Debug, Clone, PartialEq)]
pub enum Process {
    /// Exact at any size: the inducing points are the data.
    Exact,
    /// Sparse with more than `exact_until` results.
    Sparse {
        /// The largest number of results the exact process is used for.
        exact_until: usize,
        /// Inducing points at most.
        n_inducing: usize,
        /// Where they come from.
        inducing: InducingPoints,
        /// How the prior is approximated.
        approximation: Approximation,
        /// What training maximises.
        objective: Objective,
    },
}

/// Where inducing points come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InducingPoints {
    /// A Latin hypercube in the search box, drawn anew at every fit (the paper).
    LatinHypercube,
    /// A random subset of the data.
    Subset,
    /// The data points of greatest conditional variance.
    Greedy,
}

/// What an exploiting proposal maximises.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Acquisition {
    /// Logarithm of the expected improvement.
    LogEi,
    /// Expected improvement.
    Ei,
    /// Probability of improvement.
    Pi,
    /// Confidence bound with κ = sqrt(2 log(t^(d/2+2) π²/(3δ))), d the model dimension.
    Ucb {
        /// δ in (0, 1); the paper's program uses 0.95.
        delta: f64,
    },
    /// GP-Hedge: the expected improvement, the paper's confidence bound and the probability of improvement each nominate a
    /// point, and the one whose nominees were the better ones so far is followed more often.
    Portfolio,
    /// Knowledge gradient over the measured points and a design of as many as 64 points.
    Kg,
}

/// How an acquisition is maximised.
#[derive(Debug, Clone, PartialEq)]
pub enum Maximizer {
    /// Raw candidates, then bounded quasi-Newton from the best of them.
    Gradient(Search),
    /// CMA-ES from a random mixture of the best point and a uniform one (the paper).
    Cmaes(CmaesSearch),
}

impl Settings {
    /// Classical Bayesian optimisation.
    pub fn bo() -> Settings {
        Settings {
            embedding: embed::Kind::Identity,
            n_embeddings: 1,
            initial: Initial { count: None, design: Design::Sobol },
            surrogate: SurrogateSettings {
                shape: Shape::Matern52,
                ard: true,
                priors: true,
                process: Process::Sparse {
                    exact_until: 1_000,
                    n_inducing: 300,
                    inducing: InducingPoints::Greedy,
                    approximation: Approximation::Fic,
                    objective: Objective::Bound,
                },
            },
            acquisition: Acquisition::LogEi,
            maximizer: Maximizer::Gradient(Search::default()),
            quota: Quota::default(),
            refit_always_until: 200,
            refit_growth: 1.05,
            trust_region: true,
            warp: true,
        }
    }

    /// The paper's method in `dim` model dimensions `[@tran2021]`, with three corrections:
    /// κ from the model dimension, the embedding's box of half width 1, pending points hallucinated without a second
    /// fit of the hyper-parameters. While there are no more results than inducing points the process is exact: as many
    /// inducing points as data, but not at the data, would cost the same and blur what is known.
    pub fn paper(dim: usize) -> Settings {
        Settings {
            embedding: embed::Kind::Gaussian { dim, half_width: 1.0 },
            n_embeddings: 1,
            initial: Initial { count: Some(dim.max(2)), design: Design::Uniform },
            surrogate: SurrogateSettings {
                shape: Shape::Matern32,
                ard: false,
                priors: false,
                process: Process::Sparse {
                    exact_until: 400,
                    n_inducing: 400,
                    inducing: InducingPoints::LatinHypercube,
                    approximation: Approximation::Fic,
                    objective: Objective::Bound,
                },
            },
            acquisition: Acquisition::Ucb { delta: 0.95 },
            maximizer: Maximizer::Cmaes(CmaesSearch::default()),
            quota: Quota::default(),
            refit_always_until: 50,
            refit_growth: 1.05,
            trust_region: false,
            warp: true,
        }
    }

    /// Refuses numbers without a meaning, by name.
    pub fn check(&self) -> Result<()> {
        let range = |what, value: f64, low: f64, high: f64| {
            if value >= low && value <= high {
                Ok(())
            } else {
                Err(Error::OutOfRange { what, value, low, high })
            }
        };
        range("n_embeddings", self.n_embeddings as f64, 1.0, 1e6)?;
        if self.surrogate.shape.is_sum() {
            let what = "terms of surrogate.shape (a search takes a single kernel)";
            return Err(Error::Size { what, expected: 0, found: 1 });
        }
        range("refit_growth", self.refit_growth, 1.0, 1e6)?;
        if let Some(count) = self.initial.count {
            range("initial.count", count as f64, 1.0, 1e9)?;
        }
        if let Acquisition::Ucb { delta } = self.acquisition {
            range("acquisition.delta", delta, f64::MIN_POSITIVE, 1.0 - f64::EPSILON)?;
        }
        if let Process::Sparse { n_inducing, .. } = self.surrogate.process {
            range("n_inducing", n_inducing as f64, 1.0, 1e5)?;
        }
        self.quota.check()
    }

    /// Initial points of an embedding with this model dimension.
    pub(super) fn n_initial(&self, dim: usize) -> usize {
        let (least, most) = INITIAL_POINTS;
        self.initial.count.unwrap_or((3 * dim).clamp(least, most))
    }
}
