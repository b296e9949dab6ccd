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
pub(in crate::strategy) struct Warp {
    pub(super) log: Option<Log>,
    pub(super) shift: f64,
    pub(super) scale: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Log {
    pub(super) base: f64,
    pub(super) unit: f64,
}

/// Values seen through a warp.
pub(super) struct Warped {
    pub(super) warp: Warp,
    /// The values that the model sees.
    pub(super) values: Vec<f64>,
    /// Σ log w'(y): what an evidence of these values needs to be compared with one of others.
    pub(super) log_jacobian: f64,
}

impl Log {
    fn apply(self, y: f64) -> f64 {
        if y > self.base { self.logarithm(y) } else { (y - self.base) / self.unit }
    }

    fn log_slope(self, y: f64) -> f64 {
        -self.unit.ln() - self.logarithm(y.max(self.base))
    }

    /// log(1 + (y - base)/unit) for y at or above base, also where the quotient overflows.
    fn logarithm(self, y: f64) -> f64 {
        let t = (y - self.base) / self.unit;
        if t.is_finite() {
            t.ln_1p()
        } else {
            (y / 2.0 - self.base / 2.0).ln() + std::f64::consts::LN_2 - self.unit.ln()
        }
    }
}

impl Warp {
    /// The values under each warp worth trying on them.
    pub(super) fn try_on(values: &[f64], allow_log: bool) -> Vec<Warped> {
        let warped = |warp: Warp| Warped {
            warp,
            values: values.iter().map(|&y| warp.apply(y)).collect(),
            log_jacobian: warp.log_jacobian(values),
        };
        Warp::candidates(values, allow_log).into_iter().map(warped).collect()
    }

    /// Warps worth trying on these values: the linear one first; two logarithmic ones if the upper half of the values
    /// spreads much further than the lower.
    fn candidates(values: &[f64], allow_log: bool) -> Vec<Warp> {
        let mut warps = vec![Warp::standardised(values, None)];
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        if !allow_log || n < 4 {
            return warps;
        }
        let (low, median, high) = (sorted[0], sorted[n / 2], sorted[n - 1]);
        // A normal sample of any size seen here has a ratio below 3. In eighths, since differences may overflow.
        if high / 8.0 - median / 8.0 > 4.0 * (median / 8.0 - low / 8.0) {
            for quantile in [n / 2, n / 8] {
                let unit = sorted[quantile.max(1)] - low;
                // Measured by the lower half: the upper may be as far away as a penalty of 1e300.
                if unit.is_finite() && unit > 1e-12 * (median - low) {
                    warps.push(Warp::standardised(values, Some(Log { base: low, unit })));
                }
            }
        }
        warps
    }

    fn standardised(values: &[f64], log: Option<Log>) -> Warp {
        let n = values.len() as f64;
        // Made anew in each pass: of a million values a copy is 8 MB.
        let warped = || values.iter().map(|&y| log.map_or(y, |log| log.apply(y)));
        let shift = warped().map(|w| w / n).sum::<f64>();
        // Squares of very large and very small values leave the range of numbers; those of their ratios do not.
        let largest = warped().map(f64::abs).fold(0.0, f64::max);
        let unit = if largest == 0.0 || (1e-100..1e100).contains(&largest) { 1.0 } else { largest };
        let var = warped().map(|w| (w / unit - shift / unit).powi(2) / n).sum::<f64>();
        let scale = unit * var.sqrt();
        // Values that differ by rounding only are constant.
        let scale =
            if scale > 1e-14 * shift.abs() && scale > 0.0 { scale } else { (1e-14 * shift.abs()).max(1.0) };
        Warp { log, shift, scale }
    }

    /// The value the model sees.
    pub(in crate::strategy) fn apply(&self, y: f64) -> f64 {
        // In halves: exact, and the difference of the largest numbers of either sign does not overflow.
        let half = self.log.map_or(y, |log| log.apply(y)) / 2.0 - self.shift / 2.0;
        2.0 * (half / self.scale)
    }

    /// The value that the model sees as `w`, and the slope of this map.
    pub(in crate::strategy) fn invert(&self, w: f64) -> (f64, f64) {
        let t = self.shift + self.scale * w;
        match self.log {
            None => (t, self.scale),
            Some(Log { base, unit }) if t > 0.0 => (base + unit * t.exp_m1(), unit * t.exp() * self.scale),
            Some(Log { base, unit }) => (base + unit * t, unit * self.scale),
        }
    }

    /// Σ log w'(y).
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
    fn no_size_of_values_leaves_the_range_of_numbers() {
        let ordinary = [3.0, 1.0, 4.0, 1.5, 9.0, 2.6, 5.3];
        let with = |extra: &[f64]| [&ordinary[..], extra].concat();
        let samples = [
            with(&[f64::MAX]),
            with(&[f64::MAX, f64::MIN]),
            with(&[f64::MIN, 1e200]),
            vec![1e200; 9],
            ordinary.map(|y| y * 1e-200).to_vec(),
        ];
        for values in samples {
            for warp in Warp::candidates(&values, true) {
                let seen: Vec<f64> = values.iter().map(|&y| warp.apply(y)).collect();
                // n values of mean zero and unit variance lie within √n.
                assert!(seen.iter().all(|w| w.abs() <= 3.1), "{warp:?}: {seen:?}");
                assert!(warp.log_jacobian(&values).is_finite(), "{warp:?}");
            }
        }
        // A penalty as large as can be leaves the order of the others to be seen through the logarithm.
        let values = with(&[f64::MAX]);
        let warps = Warp::candidates(&values, true);
        assert_eq!(warps.len(), 3);
        assert!(warps[1..].iter().all(|warp| warp.apply(1.0) < warp.apply(1.5)));
    }

    #[test]
    fn the_inverse_undoes_the_warp_and_its_slope_is_the_reciprocal() {
        let values: Vec<f64> = (0..20).map(|i| 10_f64.powf(i as f64 * 0.45)).collect();
        for warp in Warp::candidates(&values, true) {
            for i in -50..400 {
                let y = i as f64 * 3.3;
                let (back, slope) = warp.invert(warp.apply(y));
                // A few roundings of the shift, which is some ten units at most.
                assert!((back - y).abs() < 1e-11 * y.abs().max(warp.scale), "{warp:?} at {y}: {back}");
                assert!((slope.ln() + warp.log_jacobian(&[y])).abs() < 1e-11, "{warp:?} at {y}");
            }
        }
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
