//! The model of one output: a Gaussian process, or a polynomial that is known exactly.

use super::near::Frame;
use super::polynomial::Polynomial;
use super::sight::Sight;
use crate::error::Result;
use crate::surrogate::exact::ExactPosterior;
use crate::surrogate::{Posterior, Prediction, PredictionGradient};
use faer::{Mat, MatRef};

/// What is believed of an output, as its sight sees it.
#[derive(Clone)]
pub(super) enum Model {
    Process(Box<ExactPosterior>),
    Known(Known),
}

/// An output that is a polynomial.
#[derive(Clone)]
pub(super) struct Known {
    pub(super) polynomial: Polynomial,
    pub(super) sight: Sight,
    /// The coordinates of points, if they are not those of the cube.
    pub(super) frame: Option<Frame>,
}

/// The noise of a process that has none, from and to: what its factorisation needs.
pub(super) const WITHOUT_NOISE: (f64, f64) = (1e-10, 1e-9);
/// The variance that acquisition functions are shown where there is none, so that they have slopes.
const SHOWN_VAR: f64 = 1e-8;

impl Model {
    /// The mean at the rows of x, and its slopes.
    pub(super) fn mean_gradient(&self, x: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>)> {
        match self {
            Model::Process(process) => process.mean_gradient(x),
            Model::Known(known) => Ok(known.mean_gradient(x)),
        }
    }

    /// The standard deviation at one point: none of what is known, and none where a process without noise was measured, though its
    /// factorisation needs a little.
    pub(super) fn deviation(&self, x: MatRef<'_, f64>) -> Result<f64> {
        match self {
            Model::Process(process) => {
                let noise_var = process.hyperparameters().noise_var;
                let least = if noise_var <= WITHOUT_NOISE.1 { noise_var } else { 0.0 };
                Ok((process.predict(x)?.var[0] - least).max(0.0).sqrt())
            }
            Model::Known(_) => Ok(0.0),
        }
    }

    /// Itself to predict with.
    pub(super) fn posterior(&self) -> &dyn Posterior {
        match self {
            Model::Process(process) => process.as_ref(),
            Model::Known(known) => known,
        }
    }
}

impl Known {
    fn mean_gradient(&self, x: MatRef<'_, f64>) -> (Vec<f64>, Mat<f64>) {
        let (mut mean, mut gradient) = (vec![0.0; x.nrows()], Mat::zeros(x.nrows(), x.ncols()));
        for i in 0..x.nrows() {
            let t: Vec<f64> = (0..x.ncols()).map(|k| x[(i, k)]).collect();
            let (value, slope) = match &self.frame {
                Some(frame) => self.polynomial.at(&frame.beyond(&t)),
                None => self.polynomial.at(&t),
            };
            mean[i] = self.sight.standardise(value);
            for k in 0..x.ncols() {
                let width = self.frame.as_ref().map_or(1.0, |frame| frame.width[k]);
                gradient[(i, k)] = slope[k] * width / self.sight.scale();
            }
        }
        (mean, gradient)
    }
}

impl Posterior for Known {
    fn dim(&self) -> usize {
        self.polynomial.dim()
    }

    fn n_observations(&self) -> usize {
        0
    }

    fn predict(&self, x: MatRef<'_, f64>) -> Result<Prediction> {
        Ok(Prediction { mean: self.mean_gradient(x).0, var: vec![SHOWN_VAR; x.nrows()] })
    }

    fn predict_gradient(&self, x: MatRef<'_, f64>) -> Result<PredictionGradient> {
        let (mean, mean_gradient) = self.mean_gradient(x);
        let prediction = Prediction { mean, var: vec![SHOWN_VAR; x.nrows()] };
        Ok(PredictionGradient { prediction, mean_gradient, var_gradient: Mat::zeros(x.nrows(), x.ncols()) })
    }

    fn joint(&self, x: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>)> {
        Ok((self.mean_gradient(x).0, Mat::zeros(x.nrows(), x.nrows())))
    }

    fn covariance(&self, x: MatRef<'_, f64>, others: MatRef<'_, f64>) -> Result<Mat<f64>> {
        Ok(Mat::zeros(x.nrows(), others.nrows()))
    }

    fn covariance_gradient(
        &self,
        x: MatRef<'_, f64>,
        _others: MatRef<'_, f64>,
        _weights: MatRef<'_, f64>,
    ) -> Result<Mat<f64>> {
        Ok(Mat::zeros(x.nrows(), x.ncols()))
    }

    fn observe(&mut self, _x: &[f64], _y: f64) -> Result<()> {
        Ok(())
    }

    fn hallucinate(&self, _x: MatRef<'_, f64>) -> Result<Box<dyn Posterior>> {
        Ok(Box::new(self.clone()))
    }
}
