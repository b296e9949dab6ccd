//! Hyper-parameters of a Gaussian process as one vector of logarithms, with bounds and priors.
//!
//! Order: log ℓ (one, or one for each input), log s², log σ². Everything positive is searched in logarithms:
//! the likelihood is closer to quadratic there and no constraint is needed. A prior is a density of the
//! parameter itself, not of its logarithm (no Jacobian term), as in GPyTorch, so published priors carry over.

use super::data::{Data, Scale, check_magnitude};
use super::kernel::{Kernel, Shape, check_positive};
use crate::error::{Error, Result};

/// Hyper-parameters: the kernel's and the noise variance σ².
#[derive(Debug, Clone, PartialEq)]
pub struct Hyperparameters {
    /// Shape, length scales and signal variance.
    pub kernel: Kernel,
    /// σ².
    pub noise_var: f64,
}

impl Hyperparameters {
    /// Checked hyper-parameters.
    pub fn new(kernel: Kernel, noise_var: f64) -> Result<Hyperparameters> {
        check_positive("noise variance", noise_var)?;
        Ok(Hyperparameters { kernel, noise_var })
    }

    /// Refuses what the constructors would not make, for inputs of dimension `d`.
    pub(super) fn check(&self, d: usize) -> Result<()> {
        self.kernel.check(d)?;
        check_positive("noise variance", self.noise_var)
    }

    /// The vector of logarithms.
    pub fn to_log(&self) -> Vec<f64> {
        let mut log: Vec<f64> = self.kernel.length_scales.iter().map(|l| l.ln()).collect();
        log.push(self.kernel.signal_var.ln());
        log.push(self.noise_var.ln());
        log
    }

    /// Hyper-parameters of the same shape from a vector of logarithms.
    pub fn from_log(shape: Shape, log: &[f64]) -> Hyperparameters {
        let n_lengths = log.len() - 2;
        Hyperparameters {
            kernel: Kernel {
                shape,
                length_scales: log[..n_lengths].iter().map(|l| l.exp()).collect(),
                signal_var: log[n_lengths].exp(),
            },
            noise_var: log[n_lengths + 1].exp(),
        }
    }
}

/// How the constant mean is found.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Mean {
    /// Generalised least squares, μ = 1ᵀC⁻¹y / 1ᵀC⁻¹1: the maximum-likelihood constant, in closed form.
    #[default]
    Estimated,
    /// A given number.
    Fixed(f64),
}

impl Mean {
    /// A given mean must be a number that y could be.
    pub(super) fn check(self) -> Result<()> {
        match self {
            Mean::Estimated => Ok(()),
            Mean::Fixed(value) => check_magnitude("mean", value),
        }
    }
}

/// A prior density of one positive hyper-parameter θ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Prior {
    /// log θ ~ N(location, scale²).
    LogNormal {
        /// Mean of log θ.
        location: f64,
        /// Standard deviation of log θ.
        scale: f64,
    },
    /// Density ∝ θ^(shape-1) e^(-rate θ).
    Gamma {
        /// Shape.
        shape: f64,
        /// Rate.
        rate: f64,
    },
}

impl Prior {
    /// A scale, a shape and a rate must be positive: without that there is no density, and the search would follow NaN.
    fn check(&self) -> Result<()> {
        match *self {
            Prior::LogNormal { location, scale } => {
                check_magnitude("location of a log-normal prior", location)?;
                check_positive("scale of a log-normal prior", scale)
            }
            Prior::Gamma { shape, rate } => {
                check_positive("shape of a gamma prior", shape)?;
                check_positive("rate of a gamma prior", rate)
            }
        }
    }

    /// Log density of θ up to a constant, and its derivative in log θ.
    pub fn log_density(&self, log_theta: f64) -> (f64, f64) {
        match *self {
            Prior::LogNormal { location, scale } => {
                let z = (log_theta - location) / scale;
                (-0.5 * z * z - log_theta, -z / scale - 1.0)
            }
            Prior::Gamma { shape, rate } => {
                let theta = log_theta.exp();
                ((shape - 1.0) * log_theta - rate * theta, (shape - 1.0) - rate * theta)
            }
        }
    }
}

/// Optional priors; none means maximum likelihood.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Priors {
    /// On every length scale.
    pub length_scale: Option<Prior>,
    /// On the signal variance.
    pub signal_var: Option<Prior>,
    /// On the noise variance.
    pub noise_var: Option<Prior>,
}

impl Priors {
    pub(super) fn check(&self) -> Result<()> {
        [self.length_scale, self.signal_var, self.noise_var].iter().flatten().try_for_each(Prior::check)
    }

    /// Sum of the log densities at the log-parameters; adds its gradient to `gradient`.
    pub fn add_log_density(&self, log: &[f64], gradient: &mut [f64]) -> f64 {
        let n_lengths = log.len() - 2;
        let mut total = 0.0;
        for (p, &value) in log.iter().enumerate() {
            let prior = if p < n_lengths {
                self.length_scale
            } else if p == n_lengths {
                self.signal_var
            } else {
                self.noise_var
            };
            if let Some(prior) = prior {
                let (density, slope) = prior.log_density(value);
                total += density;
                gradient[p] += slope;
            }
        }
        total
    }
}

/// Where to search, relative to the scale of the data: each a (low, high) factor of the width of an input's
/// range, or of the variance of y.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranges {
    /// Length scale over the input's width.
    pub length_scale: (f64, f64),
    /// Signal variance over var(y).
    pub signal_var: (f64, f64),
    /// Noise variance over var(y). The floor of 1e-8 keeps Kff + σ²I factorisable for noise-free data.
    pub noise_var: (f64, f64),
}

impl Ranges {
    /// These ranges with the noise variance held at `noise_var`, for data of this scale.
    pub fn hold_noise(self, noise_var: f64, scale: &Scale) -> Ranges {
        let held = noise_var / scale.y_scale_var();
        Ranges { noise_var: (held, held), ..self }
    }

    /// Both ends must be positive and in order; where they are equal the parameter is held.
    fn check(&self) -> Result<()> {
        for (index, (low, high)) in
            [self.length_scale, self.signal_var, self.noise_var].into_iter().enumerate()
        {
            check_positive("low end of a search range", low)?;
            check_positive("high end of a search range", high)?;
            if low > high {
                return Err(Error::EmptyBox { what: "the search ranges", index, low, high });
            }
        }
        Ok(())
    }
}

impl Default for Ranges {
    fn default() -> Self {
        Ranges { length_scale: (1e-3, 1e2), signal_var: (1e-3, 1e5), noise_var: (1e-8, 1.0) }
    }
}

/// A box of log-parameters and a start inside it.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchBox {
    /// Lower ends.
    pub low: Vec<f64>,
    /// Upper ends.
    pub high: Vec<f64>,
    /// Start: half an input's width times √d for length scales (random points of a d-dimensional box are that
    /// far apart), the variance of y for the signal, a thousandth of it for the noise.
    pub start: Vec<f64>,
}

impl SearchBox {
    /// The box for `data`; `ard` asks for one length scale for each input.
    pub fn new(data: &Data<'_>, ard: bool, ranges: &Ranges) -> Result<SearchBox> {
        SearchBox::at(&data.scale(), ard, ranges)
    }

    /// The box for data of this scale.
    pub fn at(scale: &Scale, ard: bool, ranges: &Ranges) -> Result<SearchBox> {
        ranges.check()?;
        let widths = &scale.x_ranges;
        let d = widths.len() as f64;
        let log_widths: Vec<f64> = widths.iter().map(|w| w.ln()).collect();
        let centres = if ard { log_widths } else { vec![log_widths.iter().sum::<f64>() / d] };
        let log_var = scale.y_scale_var().ln();
        let mut search = SearchBox { low: vec![], high: vec![], start: vec![] };
        let mut push = |centre: f64, (low, high): (f64, f64), start: f64| {
            search.low.push(centre + low.ln());
            search.high.push(centre + high.ln());
            search.start.push(centre + start.clamp(low, high).ln());
        };
        for &centre in &centres {
            push(centre, ranges.length_scale, 0.5 * d.sqrt());
        }
        push(log_var, ranges.signal_var, 1.0);
        push(log_var, ranges.noise_var, 1e-3);
        Ok(search)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn logarithms_round_trip() {
        let kernel = Kernel::new(Shape::Matern32, vec![0.1, 20.0], 3.0, 2).unwrap();
        let hyper = Hyperparameters::new(kernel, 1e-4).unwrap();
        let back = Hyperparameters::from_log(Shape::Matern32, &hyper.to_log());
        assert!((back.noise_var - 1e-4).abs() < 1e-18);
        assert!((back.kernel.length_scales[1] - 20.0).abs() < 1e-13);
    }

    #[test]
    fn prior_slopes_agree_with_differences() {
        let priors = [Prior::LogNormal { location: 0.4, scale: 1.7 }, Prior::Gamma { shape: 1.5, rate: 0.3 }];
        for prior in priors {
            for log_theta in [-3.0, -0.2, 1.1] {
                let step = 1e-6;
                let (up, down) =
                    (prior.log_density(log_theta + step).0, prior.log_density(log_theta - step).0);
                let slope = prior.log_density(log_theta).1;
                assert!((slope - (up - down) / (2.0 * step)).abs() < 1e-7);
            }
        }
        // The mode of a log-normal density of θ is exp(location - scale²): the slope vanishes there.
        assert!(priors[0].log_density(0.4 - 1.7 * 1.7).1.abs() < 1e-12);
    }

    #[test]
    fn the_box_follows_the_units() {
        let x = Mat::from_fn(5, 2, |i, k| i as f64 * [1.0, 1e6][k]);
        let y = [1e12, 2e12, 0.0, 5e12, 1e11];
        let data = Data::new(x.as_ref(), &y).unwrap();
        let search = SearchBox::new(&data, true, &Ranges::default()).unwrap();
        assert!((search.start[1] - search.start[0] - 1e6_f64.ln()).abs() < 1e-12);
        for p in 0..4 {
            assert!(search.low[p] < search.start[p] && search.start[p] < search.high[p]);
        }
    }
}
