//! A fit that is made beside the asks: what it needs, as a value that can go to another thread.
//!
//! It holds the results that were known when it fell due and shares their memory until more come in. What it makes is the
//! model that an ask would have made at that moment, bit for bit.

use super::fit_record::Fitted;
use super::model::{Basis, Known, Model};
use super::results::Results;
use crate::error::Result;
use crate::strategy::settings::Settings;
use crate::surrogate::watch::Watch;
use std::sync::Arc;

/// A fit to be made.
pub(in crate::strategy) struct Fitting {
    pub(super) settings: Settings,
    pub(super) results: Results,
    pub(super) spacing: f64,
    pub(super) seed: u64,
    /// The fit before.
    pub(super) last: Arc<Fitted>,
    pub(super) known: Known,
    /// Whose it is.
    pub(super) identity: Arc<()>,
}

/// A fit that was made.
pub(in crate::strategy) struct Refitted {
    pub(super) model: Model,
    /// Whose it is.
    pub(super) identity: Arc<()>,
}

impl Fitting {
    /// Results that it is made of.
    pub(in crate::strategy) fn n_results(&self) -> usize {
        self.results.values.len()
    }

    /// Makes it.
    pub(in crate::strategy) fn run(self, watch: &dyn Watch) -> Result<Refitted> {
        let Fitting { settings, results, spacing, seed, last, known, identity } = self;
        let (settings, results, crowded) = (&settings, &results, known.crowded);
        let basis = Basis { settings, results, spacing, crowded, seed, watch };
        Ok(Refitted { model: Model::fit(basis, Some(&last), known)?, identity })
    }
}
