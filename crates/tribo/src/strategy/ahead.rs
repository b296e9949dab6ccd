//! The posterior that proposals are made on: the model's, and what is on its way.
//!
//! Pending points are hallucinated at their means `[@desautels2014]`. Points that gave no value count as no better than
//! the middle result: at their means, where the model expects much of them, the search would return to them for ever.
//! The fit of the model sees neither.
//!
//! It is kept between the asks of a burst and grows by one point for each. A study that goes on after a restart makes it
//! again in the same steps, since sums in another order are other bits: the points that were pending when it was first
//! needed at once, then the points without a value, then those asked since one by one.

use super::model::Model;
use crate::error::Result;
use crate::surrogate::Posterior;
use faer::Mat;

/// A point without an outcome.
pub(super) struct Pending {
    pub(super) u: Vec<f64>,
    /// The local search it belongs to.
    pub(super) search: usize,
    /// Whether it was evaluated outside the study.
    pub(super) is_added: bool,
}

/// The model with pending points and points without a value taken in.
pub(super) struct Ahead {
    posterior: Box<dyn Posterior>,
    /// The lowest mean at a pending point of the current search, as the model sees it.
    promised: f64,
}

impl Ahead {
    /// Takes in `pending`, the first `n_at_once` of them in one go, and `barren` points. `search` is the current one.
    pub(super) fn new(
        model: &Model,
        pending: &[&Pending],
        n_at_once: usize,
        barren: &[Vec<f64>],
        search: usize,
    ) -> Result<Ahead> {
        let (at_once, one_by_one) = pending.split_at(n_at_once);
        let d = model.posterior().dim();
        let x = Mat::from_fn(at_once.len(), d, |i, k| at_once[i].u[k]);
        let means = model.posterior().predict(x.as_ref())?.mean;
        let own = at_once.iter().zip(means).filter(|(pending, _)| pending.search == search);
        let promised = own.map(|(_, mean)| mean).fold(f64::INFINITY, f64::min);
        let mut ahead = match model.posterior().hallucinate(x.as_ref()) {
            Ok(posterior) => Ahead { posterior, promised },
            Err(_) => {
                // Points that are too close to each other to be taken in together; one of each lot can be.
                let mut ahead =
                    Ahead { posterior: model.posterior().hallucinate(Mat::zeros(0, d).as_ref())?, promised };
                at_once.iter().for_each(|pending| ahead.observe(&pending.u, |mean| mean));
                ahead
            }
        };
        let middle = model.warp(model.fitted().middle);
        barren.iter().for_each(|u| ahead.observe(u, |mean| mean.max(middle)));
        for pending in one_by_one {
            ahead.take_in(&pending.u, pending.search == search);
        }
        Ok(ahead)
    }

    /// The posterior.
    pub(super) fn posterior(&self) -> &dyn Posterior {
        &*self.posterior
    }

    /// The lowest mean at a pending point of the current search, infinite if there is none.
    pub(super) fn promised(&self) -> f64 {
        self.promised
    }

    /// Takes in one more pending point, one of the current search or not.
    pub(super) fn take_in(&mut self, u: &[f64], is_own: bool) {
        let mut at = f64::INFINITY;
        self.observe(u, |mean| {
            at = mean;
            mean
        });
        if is_own {
            self.promised = self.promised.min(at);
        }
    }

    /// A local search begins, to which no pending point belongs.
    pub(super) fn begin_search(&mut self) {
        self.promised = f64::INFINITY;
    }

    /// Takes in a point with a value made of its mean. A point so close to others that it cannot be taken in is known
    /// well enough.
    fn observe(&mut self, u: &[f64], value: impl FnOnce(f64) -> f64) {
        let x = Mat::from_fn(1, u.len(), |_, k| u[k]);
        if let Ok(prediction) = self.posterior.predict(x.as_ref()) {
            self.posterior.observe(u, value(prediction.mean[0])).ok();
        }
    }
}
