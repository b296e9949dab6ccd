//! How a point among very many inputs was made of a few numbers and of points before it.
//!
//! A study of ten thousand inputs does not write ten thousand numbers for every trial. A recipe says which earlier trial a
//! point departs from and what was changed; with the study's seed it makes the same point again, bit for bit. Recipes are
//! those of `auto`; other strategies have model coordinates, which serve the same end.

use super::TrialId;

/// How a point was made.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Recipe {
    /// The centre of the cube.
    Centre,
    /// All coordinates 0.
    Low,
    /// All coordinates 1.
    High,
    /// A row of a Latin hypercube in all coordinates.
    Latin {
        /// Which hypercube.
        batch: usize,
        /// Its rows.
        count: usize,
        /// The row.
        row: usize,
    },
    /// Uniform, from the trial's own id.
    Uniform,
    /// Another point moved by next to nothing, to see whether the value stays: noise.
    Jitter {
        /// The other point.
        base: TrialId,
        /// Whether the moves add up to nothing.
        balanced: bool,
    },
    /// Another point, every coordinate moved by a part of a step, from the trial's own id.
    Scatter {
        /// The other point.
        base: TrialId,
        /// By how much.
        step: f64,
    },
    /// A group of inputs moved from where a round of screening began.
    Move {
        /// Which round.
        round: usize,
        /// The group: ranges of places in the round's order of inputs, ends excluded.
        parts: Vec<(usize, usize)>,
        /// All move alike without it; with it, chunks of so many inputs move by 1/n, 2/n, ..., 1 of the step.
        chunk: Option<usize>,
        /// How far, in the unit cube.
        step: f64,
    },
    /// Another point with some inputs set to the trial's z.
    Set {
        /// The other point.
        base: TrialId,
        /// The inputs, in increasing order.
        inputs: Vec<usize>,
    },
    /// Another point with all inputs but some uniform, from the trial's own id.
    Others {
        /// The other point.
        base: TrialId,
        /// Inputs that stay, in increasing order.
        kept: Vec<usize>,
    },
    /// Another point, all coordinates moved alike.
    Line {
        /// The other point.
        base: TrialId,
        /// By how much.
        shift: f64,
    },
    /// Another point, the inputs of each bin moved by the trial's z of that bin less a half.
    Bins {
        /// The other point.
        base: TrialId,
        /// Which draw of the bins.
        #[cfg_attr(feature = "serde", serde(default))]
        number: usize,
    },
}
