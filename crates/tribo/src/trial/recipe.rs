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
        /// Where it began. Trials of 0.1.0 do not say; only the strategy that asked them knows.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        began: Option<Box<RoundStart>>,
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
    /// Inputs are pairs in a row, and the pairs are so many runs: in each run all first inputs of a pair are one coordinate of the
    /// trial's z, and all second ones the next.
    Pairs {
        /// How many runs.
        runs: usize,
        /// Whether the first inputs of all pairs come before all second ones, instead of the two of a pair beside each other.
        #[cfg_attr(feature = "serde", serde(default))]
        halves: bool,
    },
    /// A point that someone else chose: z is all of it.
    Given,
}

/// Where a round of screening began, and which inputs it moves, in an order that follows from the seed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RoundStart {
    /// The point that inputs are moved from.
    pub base: TrialId,
    /// Which way they move.
    pub moves: Moves,
    /// Inputs that are not part of it since they were named before, in increasing order.
    pub named: Vec<usize>,
}

/// Which way the inputs of a round move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Moves {
    /// Up, or down where up leaves the cube.
    Inside,
    /// Towards the far side; categories to the next.
    Far,
    /// Up and down in turn, so that the sum over the group stays; what is left of it is spread over all coordinates.
    SumKept,
}

impl Recipe {
    /// Whether both make the same point; where one does not say where its round began, that is left aside.
    pub(crate) fn is_same(&self, other: &Recipe) -> bool {
        match (self, other) {
            (
                Recipe::Move { round, began: None, parts, chunk, step },
                Recipe::Move {
                    round: other_round,
                    parts: other_parts,
                    chunk: other_chunk,
                    step: other_step,
                    ..
                },
            ) => (round, parts, chunk, step) == (other_round, other_parts, other_chunk, other_step),
            _ => self == other,
        }
    }
}
