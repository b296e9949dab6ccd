//! A posterior with any mean and variance, for tests: what a Gaussian process would never give can be asked for.

use crate::error::{Error, Result};
use crate::surrogate::{Posterior, Prediction, PredictionGradient};
use faer::{Mat, MatRef};

/// A function of the input with its gradient.
pub(super) type Field = Box<dyn Fn(&[f64]) -> (f64, Vec<f64>) + Send + Sync>;

/// Mean and variance as given, points independent of each other; takes in no data.
pub(super) struct Toy {
    pub(super) d: usize,
    pub(super) mean: Field,
    pub(super) var: Field,
}

impl Toy {
    pub(super) fn new(
        d: usize,
        mean: impl Fn(&[f64]) -> (f64, Vec<f64>) + Send + Sync + 'static,
        var: impl Fn(&[f64]) -> (f64, Vec<f64>) + Send + Sync + 'static,
    ) -> Toy {
        Toy { d, mean: Box::new(mean), var: Box::new(var) }
    }
}

fn row(x: MatRef<'_, f64>, i: usize) -> Vec<f64> {
    (0..x.ncols()).map(|k| x[(i, k)]).collect()
}

impl Posterior for Toy {
    fn dim(&self) -> usize {
        self.d
    }

    fn n_observations(&self) -> usize {
        0
    }

    fn predict(&self, x: MatRef<'_, f64>) -> Result<Prediction> {
        let rows: Vec<Vec<f64>> = (0..x.nrows()).map(|i| row(x, i)).collect();
        let mean = rows.iter().map(|row| (self.mean)(row).0).collect();
        Ok(Prediction { mean, var: rows.iter().map(|row| (self.var)(row).0).collect() })
    }

    fn predict_gradient(&self, x: MatRef<'_, f64>) -> Result<PredictionGradient> {
        let gradient = |field: &Field| {
            let rows: Vec<Vec<f64>> = (0..x.nrows()).map(|i| field(&row(x, i)).1).collect();
            Mat::from_fn(x.nrows(), x.ncols(), |i, k| rows[i][k])
        };
        Ok(PredictionGradient {
            prediction: self.predict(x)?,
            mean_gradient: gradient(&self.mean),
            var_gradient: gradient(&self.var),
        })
    }

    fn joint(&self, x: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>)> {
        let Prediction { mean, var } = self.predict(x)?;
        let covariance = Mat::from_fn(var.len(), var.len(), |i, j| if i == j { var[i] } else { 0.0 });
        Ok((mean, covariance))
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
        Err(Error::Empty { what: "data of the toy posterior" })
    }

    fn hallucinate(&self, _x: MatRef<'_, f64>) -> Result<Box<dyn Posterior>> {
        Err(Error::Empty { what: "data of the toy posterior" })
    }
}
