//! What all rounds of screening have in common: a round asks questions and is told answers, and names inputs.
//!
//! Which trials the questions are is not its business. With small steps answers add up and codes can be read (`coded`).
//! With large ones, for noise, integers and plateaus, nothing adds up and groups are halved by significance (`halving`).

use super::coded::Coded;
use super::group::Group;
use super::halving::Halving;
use crate::trial::{Recipe, RoundStart};

/// Workers from which tests are asked ahead of need.
pub(super) const MANY: usize = 8;

/// A question: the value with this group moved.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Test {
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
pub(super) struct Found {
    /// Its place in the round's order.
    pub(super) place: usize,
    /// What it answered.
    pub(super) answer: f64,
    /// What an idle input would answer at most.
    pub(super) threshold: f64,
}

/// How the round goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
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
pub(super) struct Surroundings {
    /// Standard deviation of a value.
    pub(super) sigma: f64,
    /// Workers, as far as they were seen.
    pub(super) workers: usize,
    /// Evaluations of the study.
    pub(super) budget: usize,
}

impl Surroundings {
    /// Groups a round begins with.
    pub(super) fn n_groups(&self) -> usize {
        if self.workers >= MANY { 16 } else { 8 }
    }

    /// Tests a round may take.
    pub(super) fn most_tests(&self) -> usize {
        (self.budget / 2).max(30)
    }
}

/// A round of either kind.
pub(super) enum Round {
    Coded(Coded),
    Halving(Halving),
}

impl Round {
    /// How far inputs move.
    pub(super) fn step(&self) -> f64 {
        match self {
            Round::Coded(round) => round.step,
            Round::Halving(round) => round.step,
        }
    }

    /// How the next test of round `number` is made.
    pub(super) fn recipe(&self, number: usize, start: &RoundStart) -> Recipe {
        match self.next() {
            Some(Test { group, chunk, part, .. }) => {
                let (parts, step) = (group.0.clone(), self.step() * part);
                let began = Some(Box::new(start.clone()));
                Recipe::Move { round: number, began, parts, chunk: *chunk, step }
            }
            None => Recipe::Uniform,
        }
    }

    /// The next test, which stays until it is taken.
    pub(super) fn next(&self) -> Option<&Test> {
        match self {
            Round::Coded(round) => round.next(),
            Round::Halving(round) => round.next(),
        }
    }

    /// Takes the next test.
    pub(super) fn take(&mut self) -> Option<Test> {
        match self {
            Round::Coded(round) => round.take(),
            Round::Halving(round) => round.take(),
        }
    }

    /// Takes the answer to a test: the value, or none if the evaluation broke.
    pub(super) fn told(&mut self, test: Test, value: Option<f64>, around: Surroundings) {
        match self {
            Round::Coded(round) => round.told(test, value, around),
            Round::Halving(round) => round.told(test, value, around),
        }
    }

    /// Gives work to open groups and says where the round stands. `sign_of` is the sense of a group's move.
    pub(super) fn advance(&mut self, lined: bool, sign_of: impl Fn(&Group) -> f64) -> State {
        match self {
            Round::Coded(round) => round.advance(lined, sign_of),
            Round::Halving(round) => round.advance(),
        }
    }

    /// Inputs found since the last call.
    pub(super) fn found(&mut self) -> Vec<Found> {
        match self {
            Round::Coded(round) => round.found(),
            Round::Halving(round) => round.found(),
        }
    }

    /// Tests so far.
    pub(super) fn n_tests(&self) -> usize {
        match self {
            Round::Coded(round) => round.n_tests,
            Round::Halving(round) => round.n_tests,
        }
    }

    /// Groups that answer weakly and wait.
    pub(super) fn n_waiting(&self) -> usize {
        match self {
            Round::Coded(round) => round.n_waiting(),
            Round::Halving(_) => 0,
        }
    }
}
