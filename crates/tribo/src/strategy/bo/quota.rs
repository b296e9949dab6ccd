//! Sharing workers between exploiting, exploring and, under limits, the border of what is feasible.
//!
//! The paper gives at most `exploit` of the pending trials to the acquisition function and at most `explore` to the
//! posterior variance `[@tran2021]`, after GP-UCB-PE `[@contal2013]`. A pending exploration is replaced as soon as it
//! returns; when both quotas are full the proposal exploits: a worker that asks is never left without work.

use crate::error::{Error, Result};
use crate::trial::{History, Purpose};

/// How many pending trials exploit and explore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// Trials that maximise the acquisition before any explores.
    pub exploit: usize,
    /// Trials that maximise the variance at the same time, at most.
    pub explore: usize,
    /// Under limits, trials that learn where they begin to be met, at most; never more than one in three.
    pub border: usize,
}

impl Default for Quota {
    /// Everyone exploits: hallucinated pending points already spread the proposals.
    fn default() -> Self {
        Quota { exploit: usize::MAX, explore: 0, border: 0 }
    }
}

impl Quota {
    pub(in crate::strategy) fn check(&self) -> Result<()> {
        if self.exploit == 0 && self.explore == 0 {
            return Err(Error::OutOfRange {
                what: "quota.exploit",
                value: 0.0,
                low: 1.0,
                high: f64::INFINITY,
            });
        }
        Ok(())
    }

    /// The purpose of the next proposal.
    pub(super) fn next(&self, history: &History) -> Purpose {
        if self.explore == 0 {
            return Purpose::Exploit;
        }
        let count = |purpose| history.pending().filter(|trial| trial.purpose == purpose).count();
        if count(Purpose::Exploit) >= self.exploit && count(Purpose::Explore) < self.explore {
            Purpose::Explore
        } else {
            Purpose::Exploit
        }
    }
}
