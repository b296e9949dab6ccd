//! Hyper-parameters of a Gaussian process as one vector of logarithms, with bounds and priors.
//!
//! Order: log ℓ (one, or one for each input), of a sum log λ, log w and log v of its terms, log s², log σ². Everything positive
//! is searched in logarithms: the likelihood is closer to quadratic there and no constraint is needed. A prior is a density of
//! the parameter itself, not of its logarithm (no Jacobian term), as in GPyTorch, so published priors carry over.

use super::data::{Data, Scale, check_magnitude};
use super::kernel::{Kernel, Parts, Shape, Terms, check_positive};
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

    /// The vector of logarithms. The centre of a linear term is no part of it.
    pub fn to_log(&self) -> Vec<f64> {
        let Kernel { length_scales, terms, signal_var, .. } = &self.kernel;
        let mut terms = terms.clone();
        let numbers = length_scales.iter().chain(terms.numbers_mut().map(|number| &*number));
        numbers.chain([signal_var, &self.noise_var]).map(|number| number.ln()).collect()
    }

    /// Hyper-parameters of the same shape from a vector of logarithms. A linear term is centred at zero.
    pub fn from_log(shape: Shape, log: &[f64]) -> Hyperparameters {
        let (of_kernel, rest) = log.split_at(log.len() - 2);
        let (Parts { additive, pairs, constant, linear }, d) = (shape.parts(), n_inputs(shape, log));
        let each = |is_there: bool| vec![1.0; if is_there { d } else { 0 }];
        let mut terms = Terms {
            length_scales: each(additive || pairs),
            weights: each(additive),
            pairs: pairs.then_some(1.0),
            constant: constant.then_some(1.0),
            slopes: each(linear),
            centre: vec![0.0; if linear { d } else { 0 }],
        };
        let n_terms = terms.numbers_mut().count();
        let (lengths, of_terms) = of_kernel.split_at(of_kernel.len() - n_terms);
        terms.numbers_mut().zip(of_terms).for_each(|(number, log)| *number = log.exp());
        let length_scales = lengths.iter().map(|l| l.exp()).collect();
        let kernel = Kernel { shape, length_scales, signal_var: rest[0].exp(), terms };
        Hyperparameters { kernel, noise_var: rest[1].exp() }
    }
}

/// d, by the log-parameters of a sum, which has a length scale for each input.
fn n_inputs(shape: Shape, log: &[f64]) -> usize {
    let parts = shape.parts();
    let single = usize::from(parts.pairs) + usize::from(parts.constant);
    let each =
        1 + usize::from(parts.of_one_input()) + usize::from(parts.additive) + usize::from(parts.linear);
    (log.len() - 2 - single) / each
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
    /// On every length scale, those of terms as well.
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
    pub fn add_log_density(&self, shape: Shape, log: &[f64], gradient: &mut [f64]) -> f64 {
        let n_kernel = log.len() - 2;
        let n_lengths = match shape.is_sum() {
            true => n_inputs(shape, log) * (1 + usize::from(shape.parts().of_one_input())),
            false => n_kernel,
        };
        let mut total = 0.0;
        for (p, &value) in log.iter().enumerate() {
            let prior = if p < n_lengths {
                self.length_scale
            } else if p < n_kernel {
                None
            } else if p == n_kernel {
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

/// Where the weight of a term is searched, and the variance of a slope over the width of its input: from nothing that shows to
/// nearly everything.
const TERM_WEIGHTS: (f64, f64) = (1e-6, 1e3);
/// Where the weight of a constant starts: an estimated mean leaves nothing for it.
const CONSTANT: f64 = 0.1;

/// A box of log-parameters and a start inside it.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchBox {
    /// Lower ends.
    pub low: Vec<f64>,
    /// Upper ends.
    pub high: Vec<f64>,
    /// Start: half an input's width times √d for length scales (random points of a d-dimensional box are that
    /// far apart), half its width for that of a term, the variance of y for the signal, as much in the inputs alone as in all
    /// together and as much in their pairs, as much again in a linear term, a thousandth of it for the noise.
    pub start: Vec<f64>,
    /// The middle of each input, where a linear term has its centre.
    pub middles: Vec<f64>,
}

impl SearchBox {
    /// The box for `data`; `ard` asks for one length scale for each input, which a sum must have.
    pub fn new(data: &Data<'_>, shape: Shape, ard: bool, ranges: &Ranges) -> Result<SearchBox> {
        SearchBox::at(&data.scale(), shape, ard, ranges)
    }

    /// The box for data of this scale.
    pub fn at(scale: &Scale, shape: Shape, ard: bool, ranges: &Ranges) -> Result<SearchBox> {
        ranges.check()?;
        let widths = &scale.x_ranges;
        if shape.is_sum() && !ard && widths.len() > 1 {
            let what = "number of length scales of a sum (one for each input)";
            return Err(Error::Size { what, expected: widths.len(), found: 1 });
        }
        let d = widths.len() as f64;
        let log_widths: Vec<f64> = widths.iter().map(|w| w.ln()).collect();
        let centres = if ard { log_widths } else { vec![log_widths.iter().sum::<f64>() / d] };
        let log_var = scale.y_scale_var().ln();
        let middles = scale.x_middles.clone();
        let mut search = SearchBox { low: vec![], high: vec![], start: vec![], middles };
        let mut push = |centre: f64, (low, high): (f64, f64), start: f64| {
            search.low.push(centre + low.ln());
            search.high.push(centre + high.ln());
            search.start.push(centre + start.clamp(low, high).ln());
        };
        for &centre in &centres {
            push(centre, ranges.length_scale, 0.5 * d.sqrt());
        }
        let parts = shape.parts();
        let each = |is_there: bool| if is_there { &centres[..] } else { &[] };
        each(parts.of_one_input()).iter().for_each(|&centre| push(centre, ranges.length_scale, 0.5));
        each(parts.additive).iter().for_each(|_| push(0.0, TERM_WEIGHTS, 1.0 / d));
        if parts.pairs {
            push(0.0, TERM_WEIGHTS, 1.0);
        }
        if parts.constant {
            push(0.0, TERM_WEIGHTS, CONSTANT);
        }
        // A twelfth of the square of its width is the variance of an input that is spread evenly.
        each(parts.linear).iter().for_each(|&centre| push(-2.0 * centre, TERM_WEIGHTS, 12.0 / d));
        push(log_var, ranges.signal_var, 1.0);
        push(log_var, ranges.noise_var, 1e-3);
        Ok(search)
    }

    /// Hyper-parameters at a vector of logarithms, a linear term centred in the middle of the inputs.
    pub fn hyperparameters(&self, shape: Shape, log: &[f64]) -> Hyperparameters {
        let mut hyper = Hyperparameters::from_log(shape, log);
        if shape.parts().linear {
            hyper.kernel.terms.centre.clone_from(&self.middles);
        }
        hyper
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
        let shape = Shape::from_name("se+additive+pairs+constant+linear").unwrap();
        let terms = Terms {
            length_scales: vec![0.5, 4.0],
            weights: vec![2.0, 0.25],
            pairs: Some(3.0),
            constant: Some(0.7),
            slopes: vec![9.0, 0.01],
            centre: vec![0.0; 2],
        };
        let kernel = Kernel::sum(shape, vec![1.0, 2.0], terms, 8.0, 2).unwrap();
        let hyper = Hyperparameters::new(kernel, 1.0).unwrap();
        let back = Hyperparameters::from_log(shape, &hyper.to_log());
        assert!(back.check(2).is_ok());
        for (back, log) in back.to_log().iter().zip(hyper.to_log()) {
            assert!((back - log).abs() < 1e-14);
        }
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
        let search = SearchBox::new(&data, Shape::Matern32, true, &Ranges::default()).unwrap();
        assert!((search.start[1] - search.start[0] - 1e6_f64.ln()).abs() < 1e-12);
        for p in 0..4 {
            assert!(search.low[p] < search.start[p] && search.start[p] < search.high[p]);
        }
        let shape = Shape::from_name("matern32+additive+linear").unwrap();
        let sum = SearchBox::new(&data, shape, true, &Ranges::default()).unwrap();
        let start = sum.hyperparameters(shape, &sum.start);
        assert!(start.check(2).is_ok());
        assert!((start.kernel.shares().inputs.iter().sum::<f64>() - 0.5).abs() < 1e-12);
        assert_eq!(start.kernel.terms.centre, [2.0, 2e6]);
        // The same function of the width in both inputs.
        let [first, second] = [0, 1].map(|k| start.kernel.terms.slopes[k]);
        assert!((first / second / 1e12 - 1.0).abs() < 1e-12);
        let shared = SearchBox::new(&data, shape, false, &Ranges::default());
        assert!(matches!(shared, Err(Error::Size { expected: 2, found: 1, .. })));
    }
}
