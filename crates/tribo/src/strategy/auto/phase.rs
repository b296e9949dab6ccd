//! The phases, and what can follow.
//!
//! ```text
//!          ┌── much noise ──> Noise ──┐ too noisy ─────────────> Optimise (bins)
//! Start ───┴──────────────────────────┴──> Screen ──> Optimise <── rest check fails: Screen
//!                                            │  └ all inputs alike ──> Line ──> Screen, sum kept ──> Optimise
//!                                            └── dense ──> Optimise (bins, all inputs, evolution in turn)
//! ```
//!
//! Each phase is a value that owns what only it needs. It is told the answers it asked for, and after every answer, whoever
//! asked for it, it *settles*: it looks at the context and says which step follows. Only `Auto::go` takes a step.

use super::line::JointMove;
use super::noise::MeasureNoise;
use super::optimise::Optimise;
use super::screening::{Base, Screening};
use super::start::Start;
use crate::trial::Moves;

/// What the machine is doing.
pub(super) enum Phase {
    /// First points.
    Start(Start),
    /// Repeats and rows tell how noisy the values are.
    Noise(MeasureNoise),
    /// A round of screening.
    Screen(Screening),
    /// All inputs are moved together.
    Line(JointMove),
    /// The search goes on in what was found.
    Optimise(Optimise),
}

impl Phase {
    /// The last round of screening, under way or with weak groups left.
    pub(super) fn screening(&self) -> Option<&Screening> {
        match self {
            Phase::Screen(screening) => Some(screening),
            Phase::Optimise(optimise) => optimise.round.as_ref(),
            _ => None,
        }
    }

    pub(super) fn screening_mut(&mut self) -> Option<&mut Screening> {
        match self {
            Phase::Screen(screening) => Some(screening),
            Phase::Optimise(optimise) => optimise.round.as_mut(),
            _ => None,
        }
    }

    /// The last round of screening, for the phase that follows.
    pub(super) fn take_screening(&mut self) -> Option<Screening> {
        match std::mem::replace(self, Phase::Optimise(Optimise::default())) {
            Phase::Screen(screening) => Some(screening),
            Phase::Optimise(optimise) => optimise.round,
            _ => None,
        }
    }

    pub(super) fn is_optimise(&self) -> bool {
        matches!(self, Phase::Optimise(_))
    }
}

/// What follows from an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// The phase goes on.
    Stay,
    /// The noise is measured.
    Noise(MeasureNoise),
    /// Inputs that are not named are screened.
    Screen(Base, Moves),
    /// All inputs are moved together; the value has this slope along them.
    Line { slope: f64 },
    /// Too many inputs matter to name them, or the noise hides them.
    Dense,
    /// The search over the inputs named has all evaluations from now on.
    Optimise(Opening),
}

/// What is asked first when optimising begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    /// Nothing but what the search proposes.
    Search,
    /// Points spread over the named inputs.
    Spread,
    /// Whether inputs named by an earlier search still matter.
    Checks,
    /// The same, while the others are screened: what named them turned out to be wrong.
    ChecksAndScreen,
    /// Whether inputs were missed.
    RestCheck,
}
