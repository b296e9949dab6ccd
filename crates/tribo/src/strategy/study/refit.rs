//! Fits beside the asks.
//!
//! With many results a fit takes seconds, and whoever asks would wait for it. A caller with threads says
//! [`Study::refit_beside`], takes the work that falls due as a value ([`Study::refit`]), does it wherever it likes
//! ([`Refit::run`]) and brings it back ([`Study::take_refit`]). Meanwhile asks go on with the model as it was, with new
//! results taken in. Whoever says nothing has fits made in front, by the ask that needs one; so is the first fit of all,
//! before which there is no model.
//!
//! The trial that is asked first with a fit carries its record, with the number of results it was made of: a study that is
//! restored makes the same model of it, to the same bits, whenever it arrived.

use super::Study;
use crate::error::Result;
use crate::strategy::bo;
use crate::surrogate::watch::Watch;

/// A fit that is due: owned, so that it can go to another thread.
pub struct Refit(bo::Fitting);

/// A fit that was made.
pub struct Refitted(bo::Refitted);

impl Refit {
    /// How many results it is made of.
    pub fn n_results(&self) -> usize {
        self.0.n_results()
    }

    /// Makes the fit: seconds with very many results, in the caller's thread pool.
    pub fn run(self, watch: &dyn Watch) -> Result<Refitted> {
        self.0.run(watch).map(Refitted)
    }
}

impl Study {
    /// Whether the caller makes fits to many results beside the asks; if not, an ask makes them. It does not at first.
    pub fn refit_beside(&mut self, beside: bool) {
        self.engine.refit_beside(beside);
    }

    /// A fit that is due, if one is: until a trial is asked with it, this says the same again.
    pub fn refit(&self) -> Option<Refit> {
        self.engine.refit().map(Refit)
    }

    /// Takes a fit that was made; proposals are made with it from now on. False if it is of no use any more: it is of another
    /// study, or a later one was made.
    pub fn take_refit(&mut self, refitted: Refitted) -> bool {
        self.engine.take_refit(refitted.0)
    }
}
