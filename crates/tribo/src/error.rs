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
    #[error("{what} is {value:?}; it must lie in [{low:?}, {high:?}]")]
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
    /// A name that is none of a kernel.
    #[error("there is no kernel {name:?}; a kernel is {known}")]
    UnknownKernel {
        /// The name that was given.
        name: String,
        /// How kernels are named.
        known: &'static str,
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
    /// Rows could not be read.
    #[error("{name}: {reason}")]
    Source {
        /// What they are read from, a file above all.
        name: String,
        /// What is wrong, and where.
        reason: String,
    },
    /// The caller asked to stop before there was any result to return.
    #[error("stopped before the first result of {what}")]
    Stopped {
        /// What was being computed.
        what: &'static str,
    },
    /// A parameter of the space is ill-defined, or a value does not fit it.
    #[error("parameter `{name}`: {fault}")]
    Parameter {
        /// Name of the parameter.
        name: String,
        /// What is wrong with it.
        fault: ParameterFault,
    },
    /// A trial with this id was asked before.
    #[error("trial {id} was asked before; every trial needs its own id")]
    DuplicateTrial {
        /// The id.
        id: u64,
    },
    /// A result came for a trial nobody asked for.
    #[error("trial {id} was never asked; tell only trials that were")]
    UnknownTrial {
        /// The id.
        id: u64,
    },
    /// A second, different result came for a trial.
    #[error("trial {id} already has the outcome `{first}`; the different outcome `{second}` was not taken")]
    AlreadyTold {
        /// The id.
        id: u64,
        /// The outcome that is kept.
        first: String,
        /// The outcome that was refused.
        second: String,
    },
    /// A recorded trial does not fit the study it is restored into.
    #[error(
        "trial {id} cannot be restored: {fault}; restore a study from its own records, all of them, in order"
    )]
    Restore {
        /// The id.
        id: u64,
        /// What does not fit.
        fault: RestoreFault,
    },
    /// There is no test problem of this name.
    #[error("no test problem is called `{name}`; there are {known}")]
    UnknownProblem {
        /// The name that was given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A limit on an output makes no sense.
    #[error("the limit on `{name}`: {why}")]
    Limit {
        /// The output, or what was written.
        name: String,
        /// What is wrong with it and what to do, in words.
        why: String,
    },
    /// A constraint between inputs cannot be read.
    #[error("constraint `{text}`, character {at}: {why}")]
    Formula {
        /// What was written.
        text: String,
        /// Where it goes wrong, counted in characters from 1.
        at: usize,
        /// What is wrong there and what to do, in words.
        why: String,
    },
    /// No point meets the constraints between inputs.
    #[error(
        "no point within the bounds meets {}; the nearest one found misses `{text}` by {}. Loosen \
         it, or widen the bounds of its parameters",
        if *n == 1 { "the constraint".to_owned() } else { format!("all {n} constraints together") },
        four_digits(*by)
    )]
    NothingAdmissible {
        /// How many constraints there are.
        n: usize,
        /// The one that is missed most where they are missed least.
        text: String,
        /// By how much, in its own units.
        by: f64,
    },
    /// A recorded trial does not say how its point was made.
    #[error("trial {id} does not say how its point was made; restore the study to make it")]
    NoRecipe {
        /// The trial.
        id: u64,
    },
    /// The model of a study does not reach every point of its space.
    #[error(
        "this study has no posterior over its space: its strategy does not model every coordinate in one model; use \
         `bo` with the identity embedding"
    )]
    NoPosterior,
    /// A test problem does not exist in this dimension.
    #[error("the test problem {name} does not exist in dimension {dim}; it needs {allowed}")]
    ProblemDimension {
        /// Name of the problem.
        name: String,
        /// The dimension that was given.
        dim: usize,
        /// The dimensions it exists in, in words.
        allowed: String,
    },
}

/// Why a recorded trial does not fit a study.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreFault {
    /// A later trial is there already.
    #[error("trial {last}, asked after it, is there already")]
    Order {
        /// The largest id so far.
        last: u64,
    },
    /// The study has no such embedding.
    #[error("its embedding is number {found}, counted from 0, and the study has {count}")]
    Embedding {
        /// Number of the embedding.
        found: usize,
        /// Embeddings of the study.
        count: usize,
    },
    /// A list of numbers has the wrong length.
    #[error("the length of its {what} is {found} and the study needs {expected}")]
    Length {
        /// Which list.
        what: &'static str,
        /// The length the study needs.
        expected: usize,
        /// The length it has.
        found: usize,
    },
    /// The study would have made another point.
    #[error("its point is made another way than this study would have made it")]
    Recipe,
    /// A number is not one that a study could have written.
    #[error("its {what} is {value:?}, which no study writes")]
    Number {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// It was decided on other results than are known now.
    #[error("the number of results known when it was decided is {recorded}, and now {known}")]
    Results {
        /// Results there were.
        recorded: usize,
        /// Results there are.
        known: usize,
    },
}

/// What is wrong with a parameter or with a value given for it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterFault {
    /// There is none of this name.
    #[error("the space has no such input; elements of vectors are written `x[3]`, counted from 0")]
    Unknown,
    /// The name is empty.
    #[error("number {index} (counted from 0) has no name; give it one")]
    EmptyName {
        /// Position in the list of parameters.
        index: usize,
    },
    /// The name is used twice.
    #[error("the name is used twice; give every parameter its own")]
    DuplicateName,
    /// The name has a character that elements of vectors and categories are written with.
    #[error(
        "the name contains '{character}', which writes elements as x[3] and categories as x=a; rename it"
    )]
    NameCharacter {
        /// The first such character.
        character: char,
    },
    /// A bound is NaN or infinite.
    #[error("the bounds are [{low}, {high}]; both must be finite")]
    NotFinite {
        /// The lower bound.
        low: f64,
        /// The upper bound.
        high: f64,
    },
    /// The range of a float is empty.
    #[error("the bounds are [{low}, {high}]; low must be below high")]
    EmptyRange {
        /// The lower bound.
        low: f64,
        /// The upper bound.
        high: f64,
    },
    /// The range of an int is empty or a single value.
    #[error("the bounds are [{low}, {high}]; low must be below high (a constant is not a parameter)")]
    EmptyIntRange {
        /// The lower bound.
        low: i64,
        /// The upper bound.
        high: i64,
    },
    /// high - low overflows.
    #[error("the range [{low}, {high}] is wider than the largest number; narrow it or use a log scale")]
    TooWide {
        /// The lower bound.
        low: f64,
        /// The upper bound.
        high: f64,
    },
    /// An int range is too wide for every value to have its own cell of the unit interval.
    #[error(
        "the range [{low}, {high}] is too wide for exact integers: bounds within ±2^53, at most 2^50 values, \
         high at most 2^40 on a log scale; use a float"
    )]
    IntTooWide {
        /// The lower bound.
        low: i64,
        /// The upper bound.
        high: i64,
    },
    /// A log scale needs positive bounds.
    #[error("a log scale needs low > 0, found low = {low}; raise low or use a linear scale")]
    LogOfNonPositive {
        /// The lower bound.
        low: f64,
    },
    /// A categorical parameter has no choice to offer.
    #[error("{count} categories; give at least two (a constant is not a parameter)")]
    TooFewCategories {
        /// How many were given.
        count: usize,
    },
    /// A category is the empty string.
    #[error("category {index} (counted from 0) is the empty string; name it")]
    EmptyCategory {
        /// Position in the list of categories.
        index: usize,
    },
    /// A category is given twice.
    #[error("the category `{category}` is given twice")]
    DuplicateCategory {
        /// The category.
        category: String,
    },
    /// A vector without elements.
    #[error("size is 0; a vector needs at least one element")]
    NoElements,
    /// The encoded dimension of the space overflows.
    #[error("size is {size}; the space has more coordinates than can be counted")]
    TooManyElements {
        /// The size that was given.
        size: usize,
    },
    /// A value of another kind was given.
    #[error("expected {expected} values, found {found} values")]
    WrongKind {
        /// Kind of the parameter.
        expected: &'static str,
        /// Kind of the values.
        found: &'static str,
    },
    /// The wrong number of values was given.
    #[error("the number of values is {found}; it must be {expected}")]
    WrongSize {
        /// Elements of the parameter.
        expected: usize,
        /// Values that were given.
        found: usize,
    },
    /// A float is outside its bounds or not a number.
    #[error("{}{value} is outside of [{low}, {high}]", of_element(*element))]
    FloatOutside {
        /// Which element; None for a scalar.
        element: Option<usize>,
        /// The value.
        value: f64,
        /// The lower bound.
        low: f64,
        /// The upper bound.
        high: f64,
    },
    /// An int is outside its bounds.
    #[error("{}{value} is outside of [{low}, {high}]", of_element(*element))]
    IntOutside {
        /// Which element; None for a scalar.
        element: Option<usize>,
        /// The value.
        value: i64,
        /// The lower bound.
        low: i64,
        /// The upper bound.
        high: i64,
    },
    /// A category index is too large.
    #[error("{}there is no category number {index}; there are {count}, counted from 0", of_element(*element))]
    CategoryOutside {
        /// Which element; None for a scalar.
        element: Option<usize>,
        /// The index that was given.
        index: usize,
        /// Number of categories.
        count: usize,
    },
}

/// Which element of a vector a fault is about, in front of it.
fn of_element(element: Option<usize>) -> String {
    element.map(|element| format!("element {element}: ")).unwrap_or_default()
}

/// A number with four digits.
fn four_digits(value: f64) -> String {
    format!("{value:.3e}").parse::<f64>().map_or_else(|_| value.to_string(), |rounded| format!("{rounded:?}"))
}
