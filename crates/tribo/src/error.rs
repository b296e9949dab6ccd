//! The one error type of the library.
//!
//! Every variant carries what went wrong, where, and the numbers needed to say so; none is a bare string.
//! A failed *evaluation* of the user's function is not an error, it is an outcome. A factorisation that fails
//! inside training is handled there (the optimiser backs off) and reaches the caller only when nothing worked.

/// Result of the library.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong, with the place and the numbers.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A container that must hold something is empty.
    #[error("{what} is empty; give at least one")]
    Empty {
        /// Name of the argument.
        what: &'static str,
    },
    /// Two sizes that must agree do not.
    #[error("{what}: expected {expected}, found {found}")]
    Size {
        /// Which size, e.g. "length of y (rows of X)".
        what: &'static str,
        /// The size that was needed.
        expected: usize,
        /// The size that was given.
        found: usize,
    },
    /// A number is NaN or infinite.
    #[error("{what}[{row}, {column}] is {value}; every entry must be finite")]
    NotFinite {
        /// Name of the array.
        what: &'static str,
        /// Row of the first bad entry.
        row: usize,
        /// Column of the first bad entry.
        column: usize,
        /// The entry.
        value: f64,
    },
    /// A number lies outside the range where it has a meaning.
    #[error("{what} is {value}; it must lie in [{low}, {high}]")]
    OutOfRange {
        /// Name of the argument.
        what: &'static str,
        /// The value that was given.
        value: f64,
        /// Smallest value allowed.
        low: f64,
        /// Largest value allowed.
        high: f64,
    },
    /// A box has a side of zero or negative width.
    #[error("side {index} of {what} is [{low}, {high}]; low must be below high")]
    EmptyBox {
        /// Name of the box.
        what: &'static str,
        /// Which coordinate.
        index: usize,
        /// Its lower end.
        low: f64,
        /// Its upper end.
        high: f64,
    },
    /// A symmetric matrix could not be factored, not even with the largest jitter.
    #[error(
        "{matrix} ({size} x {size}) is not positive definite: pivot {pivot} failed with a relative jitter of \
         {jitter:e}; look for non-finite or wildly scaled inputs"
    )]
    NotPositiveDefinite {
        /// Which matrix.
        matrix: &'static str,
        /// Its size.
        size: usize,
        /// Index of the first pivot that was not positive.
        pivot: usize,
        /// The last relative jitter that was tried.
        jitter: f64,
    },
    /// The caller asked to stop before there was any result to return.
    #[error("stopped before the first result of {what}")]
    Stopped {
        /// What was being computed.
        what: &'static str,
    },
}
