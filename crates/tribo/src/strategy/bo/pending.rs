//! The posterior that proposals are made on: the model's, and what is on its way.
//!
//! Pending points are hallucinated at their means `[@desautels2014]`. Points that gave no value, where `chance` does not deal
//! with them, count as no better than the median result: at their means, where the model expects much of them, the search
//! would return to them for ever. The fit of the model sees neither.
//!
//! It is kept between the asks of a burst and grows by one point for each, when the next ask needs it: a worker that
//! tells before it asks again pays for none of that, and with nothing to take in there is not even a copy of the model's
//! posterior. A study that goes on after a restart makes it again in the same steps, since sums in another order are
//! other bits: the points that were pending when it was first needed at once, then the points without a value, then
//! those asked since one by one.

use super::model::Model;
use crate::error::Result;
use crate::surrogate::Posterior;
use faer::Mat;

/// A point without an outcome.
pub(super) struct Pending {
    pub(super) u: Vec<f64>,
    /// The local search it belongs to; None if it was proposed in the whole cube, in turn.
    pub(super) search: Option<usize>,
    /// Whether it was evaluated outside the study.
    pub(super) is_added: bool,
}

/// The model with pending points and points without a value taken in.
pub(super) struct Ahead {
    /// None while nothing was taken in: the model's own posterior serves.
    pub(super) posterior: Option<Box<dyn Posterior>>,
    /// The lowest mean at a pending point of the current search, as the model sees it; infinite if there is none.
    pub(super) promised: f64,
    /// Pending points taken in.
    n_taken: usize,
}

impl Ahead {
    /// Takes in the first `n_at_once` pending points in one go, then `barren` ones, then the other pending ones. `search`
    /// is the current one.
    pub(super) fn new(
        model: &Model,
        pending: &[&Pending],
        n_at_once: usize,
        barren: &[Vec<f64>],
        search: usize,
    ) -> Result<Ahead> {
        let mut ahead = Ahead { posterior: None, promised: f64::INFINITY, n_taken: n_at_once };
        let at_once = &pending[..n_at_once];
        if !at_once.is_empty() {
            let x = Mat::from_fn(n_at_once, model.posterior.dim(), |i, k| at_once[i].u[k]);
            let means = model.posterior.predict(x.as_ref())?.mean;
            let own = at_once.iter().zip(means).filter(|(pending, _)| pending.search == Some(search));
            ahead.promised = own.map(|(_, mean)| mean).fold(f64::INFINITY, f64::min);
            match model.posterior.hallucinate(x.as_ref()) {
                Ok(posterior) => ahead.posterior = Some(posterior),
                // Points that are too close to each other to be taken in together; one of each lot can be.
                Err(_) => {
                    for pending in at_once {
                        ahead.observe(model, &pending.u, |mean| mean)?;
                    }
                }
            }
        }
        let median = || model.fitted.warp.apply(model.fitted.median);
        for u in barren {
            ahead.observe(model, u, |mean| mean.max(median()))?;
        }
        ahead.catch_up(model, pending, search)?;
        Ok(ahead)
    }

    /// Takes in the pending points that were asked since, one by one.
    pub(super) fn catch_up(&mut self, model: &Model, pending: &[&Pending], search: usize) -> Result<()> {
        for pending in &pending[self.n_taken..] {
            let mean = self.observe(model, &pending.u, |mean| mean)?;
            if pending.search == Some(search) {
                self.promised = self.promised.min(mean);
            }
            self.n_taken += 1;
        }
        Ok(())
    }

    /// Takes in a point with a value made of its mean, and returns the mean. A point so close to others that it cannot be
    /// taken in is known well enough.
    fn observe(&mut self, model: &Model, u: &[f64], value: impl FnOnce(f64) -> f64) -> Result<f64> {
        let x = Mat::from_fn(1, u.len(), |_, k| u[k]);
        let posterior = match &mut self.posterior {
            Some(posterior) => posterior,
            empty => empty.insert(model.posterior.hallucinate(Mat::zeros(0, u.len()).as_ref())?),
        };
        let mean = posterior.predict(x.as_ref())?.mean[0];
        posterior.observe(u, value(mean)).ok();
        Ok(mean)
    }
}
