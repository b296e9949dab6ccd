//! How a model sees a limited output: standardised, and through a logarithm of both signs where its tails are long.
//!
//! A stress may be 1e6 in a corner of the box where 200 is the limit. What matters is the neighbourhood of the limit, so the
//! map
//!   t(v) = asinh((v - limit)/unit)
//! is linear there and a logarithm far away on either side. Which unit, or none of it, is decided by the evidence of the
//! model under each, the Jacobian included. The square t(v) = v² is for norms, which are roots of polynomials.

/// A monotone map of an output to about zero mean and unit variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sight {
    bend: Bend,
    shift: f64,
    scale: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Bend {
    /// The value itself.
    None,
    /// Centre and unit.
    Asinh(f64, f64),
    /// Of values that are not negative.
    Square,
}

/// Longest distance from the centre beside the median one, from which a bend is tried.
const LONG_TAIL: f64 = 6.0;

impl Sight {
    /// Maps worth trying on these values of an output whose limit is `centre`.
    pub(super) fn candidates(values: &[f64], centre: f64) -> Vec<Sight> {
        let mut sights = vec![Sight::standardised(values, Bend::None)];
        let mut far: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
        far.sort_by(f64::total_cmp);
        let Some(&furthest) = far.last() else { return sights };
        let median = far[far.len() / 2];
        if furthest > LONG_TAIL * median {
            for unit in [median, far[far.len() / 8]] {
                if unit.is_normal() && unit > 1e-9 * median {
                    sights.push(Sight::standardised(values, Bend::Asinh(centre, unit)));
                }
            }
        }
        sights
    }

    /// The value itself, standardised.
    pub(super) fn plain(values: &[f64]) -> Sight {
        Sight::standardised(values, Bend::None)
    }

    /// The square of values that are not negative, standardised.
    pub(super) fn square(values: &[f64]) -> Sight {
        Sight::standardised(values, Bend::Square)
    }

    fn standardised(values: &[f64], bend: Bend) -> Sight {
        let plain = Sight { bend, shift: 0.0, scale: 1.0 };
        let n = values.len().max(1) as f64;
        let shift = values.iter().map(|&value| plain.apply(value) / n).sum::<f64>();
        let var = values.iter().map(|&value| (plain.apply(value) - shift).powi(2) / n).sum::<f64>();
        let scale = var.sqrt();
        // What differs by rounding only is constant.
        let scale =
            if scale > 1e-13 * shift.abs() && scale.is_normal() { scale } else { shift.abs().max(1.0) };
        Sight { bend, shift, scale }
    }

    /// What the model sees.
    pub(super) fn apply(&self, value: f64) -> f64 {
        let bent = match self.bend {
            Bend::None => value,
            Bend::Asinh(centre, unit) => ((value - centre) / unit).asinh(),
            Bend::Square => value * value,
        };
        self.standardise(bent)
    }

    /// What the model sees of a value that is bent already.
    pub(super) fn standardise(&self, bent: f64) -> f64 {
        (bent - self.shift) / self.scale
    }

    /// How much of a bent value the model sees as one.
    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    /// The value that the model sees as `t`.
    pub(super) fn invert(&self, t: f64) -> f64 {
        let bent = t * self.scale + self.shift;
        match self.bend {
            Bend::None => bent,
            Bend::Asinh(centre, unit) => centre + unit * bent.sinh(),
            Bend::Square => bent.max(0.0).sqrt(),
        }
    }

    /// The slope of [`Sight::apply`].
    pub(super) fn slope(&self, value: f64) -> f64 {
        let bent = match self.bend {
            Bend::None => 1.0,
            Bend::Asinh(centre, unit) => 1.0 / (unit * (((value - centre) / unit).powi(2) + 1.0).sqrt()),
            Bend::Square => 2.0 * value,
        };
        bent / self.scale
    }

    /// Σ log t'(v).
    pub(super) fn log_jacobian(&self, values: &[f64]) -> f64 {
        values.iter().map(|&value| self.slope(value).ln()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_agree_with_differences_and_long_tails_are_bent() {
        let light: Vec<f64> = (0..20).map(|i| 190.0 + f64::from(i)).collect();
        assert_eq!(Sight::candidates(&light, 200.0).len(), 1);
        let heavy: Vec<f64> = (0..20).map(|i| 150.0 + 10_f64.powf(f64::from(i) * 0.4)).collect();
        let sights = Sight::candidates(&heavy, 200.0);
        assert_eq!(sights.len(), 3);
        for sight in sights {
            let n = heavy.len() as f64;
            let mean = heavy.iter().map(|&v| sight.apply(v)).sum::<f64>() / n;
            let var = heavy.iter().map(|&v| sight.apply(v).powi(2)).sum::<f64>() / n;
            assert!(mean.abs() < 1e-9 && (var - 1.0).abs() < 1e-9);
            for value in [100.0, 199.9, 200.0, 230.0, 1e6] {
                let step = 1e-4 * f64::max(1.0, value / 100.0);
                let slope = (sight.apply(value + step) - sight.apply(value - step)) / (2.0 * step);
                assert!((sight.slope(value) / slope - 1.0).abs() < 1e-4, "{value}");
                assert!((sight.invert(sight.apply(value)) / value - 1.0).abs() < 1e-9, "{value}");
            }
        }
        let square = Sight::square(&light);
        for value in [100.0, 190.0, 250.0] {
            let slope = (square.apply(value + 1e-2) - square.apply(value - 1e-2)) / 2e-2;
            assert!((square.slope(value) / slope - 1.0).abs() < 1e-8, "{value}");
            assert!((square.invert(square.apply(value)) / value - 1.0).abs() < 1e-9, "{value}");
        }
        let constant = Sight::candidates(&[5.0; 4], 0.0)[0];
        assert_eq!(constant.apply(5.0), 0.0);
    }
}
