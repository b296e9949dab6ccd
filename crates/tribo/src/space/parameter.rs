//! One parameter as the user declares it, and the check that it makes sense.
//!
//! A vector parameter is one entry with a size: a million elements cost what one costs. A parameter that can
//! take one value only (an int with low = high, a single category) is refused like an empty one: it would
//! cost a coordinate and search nothing; such a constant belongs in the user's command.

use crate::error::{Error, ParameterFault, Result};
use std::collections::BTreeSet;

/// Largest size of an int bound: every such integer is a double, and survives JSON.
const MAX_INT: i64 = 1 << 53;
/// Most values of a linear int: above, the rounding of a cell's centre could leave the cell.
const MAX_INT_COUNT: i64 = 1 << 50;
/// Largest bound of a log int: there a cell is 2^-41 wide in the logarithm, 2^-46 the spacing of doubles.
const MAX_LOG_INT: i64 = 1 << 40;

/// How the values of a range are spread over the unit interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// Evenly in the logarithm.
    Log,
}

/// The values a parameter can take.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Any number in [low, high].
    Float {
        /// The lower bound, included.
        low: f64,
        /// The upper bound, included.
        high: f64,
        /// Linear or log.
        scale: Scale,
    },
    /// Any integer in [low, high].
    Int {
        /// The lower bound, included.
        low: i64,
        /// The upper bound, included.
        high: i64,
        /// Linear or log.
        scale: Scale,
    },
    /// One of several names, without order.
    Categorical {
        /// The names.
        categories: Vec<String>,
    },
}

impl Kind {
    /// The word for it in messages and study files.
    pub fn word(&self) -> &'static str {
        match self {
            Kind::Float { .. } => "float",
            Kind::Int { .. } => "int",
            Kind::Categorical { .. } => "categorical",
        }
    }
}

/// A named parameter, scalar or vector. Checked when a [`Space`](super::Space) is built from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    name: String,
    kind: Kind,
    size: Option<usize>,
}

impl Parameter {
    /// A scalar parameter of any kind.
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        Parameter { name: name.into(), kind, size: None }
    }

    /// A number in [low, high].
    pub fn float(name: impl Into<String>, low: f64, high: f64) -> Self {
        Self::new(name, Kind::Float { low, high, scale: Scale::Linear })
    }

    /// A positive number in [low, high], searched in its logarithm.
    pub fn log_float(name: impl Into<String>, low: f64, high: f64) -> Self {
        Self::new(name, Kind::Float { low, high, scale: Scale::Log })
    }

    /// An integer in [low, high], both included.
    pub fn int(name: impl Into<String>, low: i64, high: i64) -> Self {
        Self::new(name, Kind::Int { low, high, scale: Scale::Linear })
    }

    /// A positive integer in [low, high], both included, searched in its logarithm.
    pub fn log_int(name: impl Into<String>, low: i64, high: i64) -> Self {
        Self::new(name, Kind::Int { low, high, scale: Scale::Log })
    }

    /// One of several names.
    pub fn categorical<S: Into<String>>(
        name: impl Into<String>,
        categories: impl IntoIterator<Item = S>,
    ) -> Self {
        let categories = categories.into_iter().map(Into::into).collect();
        Self::new(name, Kind::Categorical { categories })
    }

    /// The same as a vector of `size` elements. A vector of one element is still a vector: `x[0]`, not `x`.
    #[must_use]
    pub fn with_size(mut self, size: usize) -> Self {
        self.size = Some(size);
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The values an element can take.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The number of elements of a vector, `None` for a scalar.
    pub fn size(&self) -> Option<usize> {
        self.size
    }

    /// The number of values it stands for.
    pub fn n_elements(&self) -> usize {
        self.size.unwrap_or(1)
    }

    /// How an element is written: `x` for a scalar, `x[3]` in a vector.
    pub fn element_name(&self, element: usize) -> String {
        match self.size {
            None => self.name.clone(),
            Some(_) => format!("{}[{element}]", self.name),
        }
    }

    /// An error about this parameter.
    pub(super) fn error(&self, fault: ParameterFault) -> Error {
        Error::Parameter { name: self.name.clone(), fault }
    }

    /// Everything about it that can be checked without the others; `index` is its place in the list.
    pub(super) fn check(&self, index: usize) -> Result<()> {
        if self.name.is_empty() {
            return Err(self.error(ParameterFault::EmptyName { index }));
        }
        if let Some(character) = self.name.chars().find(|c| matches!(c, '[' | ']' | '=')) {
            return Err(self.error(ParameterFault::NameCharacter { character }));
        }
        if self.size == Some(0) {
            return Err(self.error(ParameterFault::NoElements));
        }
        let checked = match &self.kind {
            Kind::Float { low, high, scale } => check_float(*low, *high, *scale),
            Kind::Int { low, high, scale } => check_int(*low, *high, *scale),
            Kind::Categorical { categories } => check_categories(categories),
        };
        checked.map_err(|fault| self.error(fault))
    }
}

fn check_float(low: f64, high: f64, scale: Scale) -> std::result::Result<(), ParameterFault> {
    if !low.is_finite() || !high.is_finite() {
        return Err(ParameterFault::NotFinite { low, high });
    }
    if low >= high {
        return Err(ParameterFault::EmptyRange { low, high });
    }
    match scale {
        Scale::Log if low <= 0.0 => Err(ParameterFault::LogOfNonPositive { low }),
        Scale::Linear if !(high - low).is_finite() => Err(ParameterFault::TooWide { low, high }),
        _ => Ok(()),
    }
}

fn check_int(low: i64, high: i64, scale: Scale) -> std::result::Result<(), ParameterFault> {
    if low >= high {
        return Err(ParameterFault::EmptyIntRange { low, high });
    }
    if scale == Scale::Log && low <= 0 {
        return Err(ParameterFault::LogOfNonPositive { low: low as f64 });
    }
    let fits = low >= -MAX_INT
        && high <= MAX_INT
        && match scale {
            Scale::Linear => high - low < MAX_INT_COUNT,
            Scale::Log => high <= MAX_LOG_INT,
        };
    if fits { Ok(()) } else { Err(ParameterFault::IntTooWide { low, high }) }
}

fn check_categories(categories: &[String]) -> std::result::Result<(), ParameterFault> {
    if categories.len() < 2 {
        return Err(ParameterFault::TooFewCategories { count: categories.len() });
    }
    let mut seen = BTreeSet::new();
    for (index, category) in categories.iter().enumerate() {
        if category.is_empty() {
            return Err(ParameterFault::EmptyCategory { index });
        }
        if !seen.insert(category) {
            return Err(ParameterFault::DuplicateCategory { category: category.clone() });
        }
    }
    Ok(())
}
