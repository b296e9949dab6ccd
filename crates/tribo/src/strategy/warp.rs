//! How a model sees the values: standardised, and through a logarithm where their tail is heavy.
//!
//! A Gaussian process with one length scale per input cannot follow values that span nine decades: the largest set
//! the scale and the differences near the optimum drown. The logarithmic warp
//!   w(y) = log(1 + (y - base)/unit) above base,  (y - base)/unit below
//! keeps the best values on a linear scale and compresses the rest; base is the lowest value seen when it was made, and
//! unit the distance from there to a low quantile. It is once differentiable, so values below base, which come later,
//! are no special case. Which warp is used is decided by the evidence of the model under each, the Jacobian included.

/// A monotone map of values to about zero mean and unit variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Warp {
    log: Option<Log>,
    shift: f64,
    scale: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Log {
    base: f64,
    unit: f64,
}

impl Log {
    fn apply(self, y: f64) -> f64 {
        let t = (y - self.base) / self.unit;
        if t > 0.0 { t.ln_1p() } else { t }
    }

    fn log_slope(self, y: f64) -> f64 {
        let t = ((y - self.base) / self.unit).max(0.0);
        -self.unit.ln() - t.ln_1p()
    }
}

impl Warp {
    /// Warps worth trying on these values: the linear one first; two logarithmic ones if the upper half of the values
    /// spreads much further than the lower.
    pub(super) fn candidates(values: &[f64], allow_log: bool) -> Vec<Warp> {
        let mut warps = vec![Warp::standardised(values, None)];
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        if !allow_log || n < 4 {
            return warps;
        }
        let (low, median, high) = (sorted[0], sorted[n / 2], sorted[n - 1]);
        // A normal sample of any size seen here has a ratio below 3.
        if high - median > 4.0 * (median - low) {
            for quantile in [n / 2, n / 8] {
                let unit = sorted[quantile.max(1)] - low;
                if unit > 1e-12 * (high - low) {
                    warps.push(Warp::standardised(values, Some(Log { base: low, unit })));
                }
            }
        }
        warps
    }

    fn standardised(values: &[f64], log: Option<Log>) -> Warp {
        let n = values.len() as f64;
        let warped: Vec<f64> = values.iter().map(|&y| log.map_or(y, |log| log.apply(y))).collect();
        let shift = warped.iter().map(|w| w / n).sum::<f64>();
        let var = warped.iter().map(|w| (w - shift) * (w - shift) / n).sum::<f64>();
        let scale = var.sqrt();
        // Values that differ by rounding only are constant.
        let scale = if scale > 1e-14 * shift.abs() && scale > 0.0 { scale } else { 1.0 };
        Warp { log, shift, scale }
    }

    /// The value the model sees.
    pub(super) fn apply(&self, y: f64) -> f64 {
        (self.log.map_or(y, |log| log.apply(y)) - self.shift) / self.scale
    }

    /// Σ log w'(y): what an evidence of warped values needs to be compared with one of others.
    pub(super) fn log_jacobian(&self, values: &[f64]) -> f64 {
        values.iter().map(|&y| self.log.map_or(0.0, |log| log.log_slope(y)) - self.scale.ln()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_heavy_tails_get_a_logarithm() {
        let light: Vec<f64> = (0..20).map(|i| (i as f64 * 0.7).sin()).collect();
        assert_eq!(Warp::candidates(&light, true).len(), 1);
        let heavy: Vec<f64> = (0..20).map(|i| 10_f64.powf(i as f64 * 0.45)).collect();
        assert_eq!(Warp::candidates(&heavy, true).len(), 3);
        assert_eq!(Warp::candidates(&heavy, false).len(), 1);
        assert_eq!(Warp::candidates(&[3.0; 9], true), vec![Warp { log: None, shift: 3.0, scale: 1.0 }]);
    }

    #[test]
    fn every_warp_is_increasing_and_its_slope_is_its_derivative() {
        let values: Vec<f64> = (0..20).map(|i| 10_f64.powf(i as f64 * 0.45)).collect();
        for warp in Warp::candidates(&values, true) {
            let mut last = f64::NEG_INFINITY;
            for i in -50..400 {
                let y = i as f64 * 3.3;
                assert!(warp.apply(y) > last);
                last = warp.apply(y);
                let step = 1e-4;
                let slope = (warp.apply(y + step) - warp.apply(y - step)) / (2.0 * step);
                assert!((warp.log_jacobian(&[y]) - slope.ln()).abs() < 1e-4, "{warp:?} at {y}");
            }
        }
    }
}
