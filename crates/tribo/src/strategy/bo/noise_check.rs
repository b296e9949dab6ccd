//! Whether results carry noise: a point evaluated once again says it for certain.
//!
//! Evidence alone cannot: the ripples of a deterministic simulator look like noise, and a model that takes them for it
//! stops half-way, while noise that is taken for structure leads from one lucky value to the next. So where a model with noise
//! is the more likely one, the best point is repeated, once, before anything else is believed. A smooth function never
//! costs that evaluation.

use super::model::Noise;

/// Repeats asked for at most, if the first ones give no value.
const TRIES: usize = 2;
/// Differences that are none, as a part of what separates the lowest value from the median: a solver on several processors
/// adds up in another order each time.
const SAME: f64 = 1e-6;

/// The repeats of one embedding.
#[derive(Default)]
pub(super) struct NoiseCheck {
    n_asked: usize,
    /// The trial under way, and the value of the point before.
    open: Option<(u64, f64)>,
}

impl NoiseCheck {
    /// Whether another repeat may be asked for.
    pub(super) fn may_ask(&self) -> bool {
        self.open.is_none() && self.n_asked < TRIES
    }

    /// Trial `id` repeats a point that gave `before`.
    pub(super) fn asked(&mut self, id: u64, before: f64) {
        self.n_asked += 1;
        self.open = Some((id, before));
    }

    /// What the outcome of a trial says, where `spread` separates the lowest value from the median.
    pub(super) fn told(&mut self, id: u64, value: Option<f64>, spread: f64) -> Option<Noise> {
        let (_, before) = self.open.take_if(|(open, _)| *open == id)?;
        let value = value?;
        Some(if (value - before).abs() > SAME * spread { Noise::Some } else { Noise::None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeat_says_it_once_and_is_tried_twice() {
        let mut check = NoiseCheck::default();
        assert!(check.may_ask());
        check.asked(7, 1.0);
        assert!(!check.may_ask());
        assert_eq!(check.told(6, Some(3.0), 10.0), None, "another trial");
        assert_eq!(check.told(7, None, 10.0), None, "it gave no value");
        assert!(check.may_ask());
        check.asked(9, 1.0);
        assert_eq!(check.told(9, Some(1.0 + 1e-6), 10.0), Some(Noise::None));
        assert!(!check.may_ask(), "that was the last one");
        let mut other = NoiseCheck::default();
        other.asked(1, 1.0);
        assert_eq!(other.told(1, Some(1.0 + 1e-4), 10.0), Some(Noise::Some));
    }
}
