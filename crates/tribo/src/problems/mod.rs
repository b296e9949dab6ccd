//! Test problems with known optima, to measure the optimiser by.
//!
//! A problem is a function on a box, to be minimised, with its smallest value and at least one point where it
//! is taken. [`by_name`] makes the plain ones; [`embed_active`], [`shift`], [`rotate`] and [`Noisy`] make
//! harder ones of them. The formulas are in `classic` and `paper`, each with its citation.
//!
//! One test checks every problem, plain and wrapped: the stated optimum is taken at the stated points, no
//! random point is below it, and the gradient there vanishes or points out of the box. Evaluation costs O(D).
//!
//! [`Walk`] and [`Rough`] are apart: problems as real ones are, rough and failing, whose optima nobody knows.
//!
//! [`limited`] makes problems with limits on other outputs.
//!
//! Not here: problems that need data files.

mod classic;
mod limited;
mod paper;
mod path;
mod rough;
mod walk;
mod wrap;

pub use limited::{LIMITED_NAMES, Limited, limited};
pub use paper::product;
pub use rough::Rough;
pub use walk::Walk;
pub use wrap::{Noisy, active_inputs, embed_active, rotate, shift};

use crate::error::{Error, Result};
use std::fmt;
use std::sync::Arc;

/// A function of a point.
type Function = dyn Fn(&[f64]) -> f64 + Send + Sync;

/// A function on a box with a known minimum.
#[derive(Clone)]
pub struct Problem {
    name: String,
    citation: &'static str,
    low: Vec<f64>,
    high: Vec<f64>,
    optimum_value: f64,
    optimisers: Vec<Vec<f64>>,
    /// Whether the formula holds outside the box too, with nothing there below the optimum.
    everywhere: bool,
    function: Arc<Function>,
}

impl Problem {
    /// Says that the formula holds outside the box, with nothing there below the optimum.
    fn holds_everywhere(self) -> Problem {
        Problem { everywhere: true, ..self }
    }

    /// The name, with what the wrappers did.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Keys of the sources, as in `docs/refs.bib`.
    pub fn citation(&self) -> &'static str {
        self.citation
    }

    /// Number of inputs.
    pub fn dim(&self) -> usize {
        self.low.len()
    }

    /// Lower bounds.
    pub fn low(&self) -> &[f64] {
        &self.low
    }

    /// Upper bounds.
    pub fn high(&self) -> &[f64] {
        &self.high
    }

    /// The smallest value on the box.
    pub fn optimum_value(&self) -> f64 {
        self.optimum_value
    }

    /// Points where it is taken; not all of them where there are infinitely many.
    pub fn optimisers(&self) -> &[Vec<f64>] {
        &self.optimisers
    }

    /// The value at x. A point with another number of coordinates has no value: NaN. Plain formulas are
    /// evaluated outside the box as they stand; wrapped ones say what they do there.
    pub fn evaluate(&self, x: &[f64]) -> f64 {
        if x.len() == self.dim() { (self.function)(x) } else { f64::NAN }
    }
}

impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Problem({}, {} inputs)", self.name, self.dim())
    }
}

/// The names that [`by_name`] knows.
pub const NAMES: [&str; 15] = [
    "branin",
    "hartmann4",
    "hartmann6",
    "levy",
    "ackley",
    "rosenbrock",
    "rastrigin",
    "griewank",
    "styblinski_tang",
    "zdt1",
    "zdt2",
    "zdt3",
    "sphere",
    "sphere_unit",
    "product",
];

/// The problem of this name with this number of inputs: one of [`NAMES`]. `sphere` is the paper's on [-1,
/// 1]^D, `sphere_unit` the same on [0, 1]^D; `product` has two directions drawn with seed 0.
pub fn by_name(name: &str, dim: usize) -> Result<Problem> {
    let exactly =
        |n: usize| if dim == n { Ok(dim) } else { Err(wrong_dim(name, dim, format!("exactly {n}"))) };
    let at_least =
        |n: usize| if dim >= n { Ok(dim) } else { Err(wrong_dim(name, dim, format!("at least {n}"))) };
    Ok(match name {
        "branin" => exactly(2).map(|_| classic::branin())?,
        "hartmann4" => exactly(4).map(|_| classic::hartmann4())?,
        "hartmann6" => exactly(6).map(|_| classic::hartmann6())?,
        "levy" => classic::levy(at_least(1)?),
        "ackley" => classic::ackley(at_least(1)?),
        "rosenbrock" => classic::rosenbrock(at_least(2)?),
        "rastrigin" => classic::rastrigin(at_least(1)?),
        "griewank" => classic::griewank(at_least(1)?),
        "styblinski_tang" => classic::styblinski_tang(at_least(1)?),
        "zdt1" => paper::zdt1(at_least(2)?),
        "zdt2" => paper::zdt2(at_least(2)?),
        "zdt3" => paper::zdt3(at_least(2)?),
        "sphere" => paper::sphere(at_least(1)?),
        "sphere_unit" => paper::sphere_unit(at_least(1)?),
        "product" => product(at_least(1)?, 2, 0)?,
        _ => return Err(Error::UnknownProblem { name: name.to_string(), known: NAMES.join(", ") }),
    })
}

fn wrong_dim(name: &str, dim: usize, allowed: String) -> Error {
    Error::ProblemDimension { name: name.to_string(), dim, allowed }
}

/// A problem on the cube [low, high]^dim.
fn on_cube(
    name: &str,
    citation: &'static str,
    (low, high, dim): (f64, f64, usize),
    optimum_value: f64,
    optimisers: Vec<Vec<f64>>,
    function: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
) -> Problem {
    Problem {
        name: name.to_string(),
        citation,
        low: vec![low; dim],
        high: vec![high; dim],
        optimum_value,
        optimisers,
        everywhere: false,
        function: Arc::new(function),
    }
}

#[cfg(test)]
mod tests;
