//! What all rounds of screening have in common: a round asks questions and is told answers, and names inputs.
//!
//! Which trials the questions are is not its business. With small steps answers add up and codes can be read (`coded`).
//! With large ones, for noise, integers and plateaus, nothing adds up and groups are halved by significance (`halving`).

use super::group::Group;
use crate::strategy::auto::tuning;

/// A question: the value with this group moved.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::strategy::auto) struct GroupTest {
    pub(super) group: Group,
    pub(super) chunk: Option<usize>,
    /// Part of the round's step, halved after a failure.
    pub(super) part: f64,
    pub(super) about: About,
}

/// What the answer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    /// The whole of group number ...
    Whole(usize),
    /// The code of group number ..., read at once.
    Code(usize),
    /// The code, asked ahead.
    CodeAhead(usize),
    /// The chunk of a group that its code names.
    Chunk(usize),
    /// The first half of a group.
    Half(usize),
    /// Group number ... of a round of halving.
    Node(usize),
}

/// An input that was found to matter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::strategy::auto) struct NamedPlace {
    /// Its place in the round's order.
    pub(in crate::strategy::auto) place: usize,
    /// What it answered.
    pub(in crate::strategy::auto) answer: f64,
    /// What an idle input would answer at most.
    pub(in crate::strategy::auto) threshold: f64,
}

/// How the round goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RoundState {
    /// Tests are under way or waiting.
    Going,
    /// Are the answers noise? The base should be evaluated again.
    Doubtful,
    /// All that can be told is told; weak groups may be left.
    Done,
    /// All groups answer alike, by their size: one direction of all inputs.
    Uniform,
    /// Too many inputs answer to name them.
    Dense,
}

/// What the round has to know from outside.
#[derive(Debug, Clone, Copy)]
pub(in crate::strategy::auto) struct Surroundings {
    /// Standard deviation of a value.
    pub(in crate::strategy::auto) sigma: f64,
    /// Workers, as far as they were seen.
    pub(in crate::strategy::auto) workers: usize,
    /// Evaluations of the study.
    pub(in crate::strategy::auto) budget: usize,
}

impl Surroundings {
    /// Groups a round begins with.
    pub(super) fn n_groups(&self) -> usize {
        if self.workers >= tuning::CROWD { tuning::FIRST_GROUPS.1 } else { tuning::FIRST_GROUPS.0 }
    }

    /// Tests a round may take.
    pub(super) fn most_tests(&self) -> usize {
        (self.budget / tuning::TESTS_IN_BUDGET).max(tuning::FEWEST_TESTS)
    }
}
