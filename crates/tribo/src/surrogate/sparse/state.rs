//! A fitted process as plain numbers, and back: what a program needs to keep one, send it or copy it.
//!
//! Both factors are kept although Luu follows from Z_u and the hyper-parameters. LB is whitened by Luu, and on a machine
//! that rounds differently a factor made anew would not be the one that LB belongs to; Kuu being ill-conditioned, the
//! difference shows. What is cheap and does not amplify rounding (scaled Z_u, μ, β, a) is computed again, by the same
//! lines as in a fit: on one type of machine the restored process has the same bits. 2m² + O(m) numbers.
//!
//! Formats on disk are the caller's business.

use super::super::data::{check_number, check_points};
use super::super::exact::first_row;
use super::super::hyper::{Hyperparameters, Mean};
use super::super::kernel::Scaled;
use super::Approximation;
use super::evidence::{Evidence, Fit};
use super::posterior::SparsePosterior;
use super::statistics::{Frame, Statistics};
use crate::error::{Error, Result};
use crate::linalg::cholesky::Factor;
use faer::Mat;
use std::sync::Arc;

/// Everything that a [`SparsePosterior`] is.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// How the prior is approximated.
    pub approximation: Approximation,
    /// The constant mean.
    pub mean: Mean,
    /// The hyper-parameters in force.
    pub hyper: Hyperparameters,
    /// Z_u, [m, d].
    pub inducing: Mat<f64>,
    /// Luu, [m, m], of which the lower triangle has a meaning.
    pub luu: Mat<f64>,
    /// Relative jitter that Kuu needed.
    pub luu_jitter: f64,
    /// LB, [m, m], of which the lower triangle has a meaning.
    pub lb: Mat<f64>,
    /// Relative jitter that B needed.
    pub lb_jitter: f64,
    /// Subtracted from y before anything else.
    pub y_shift: f64,
    /// V Λ^(-1/2) y, m numbers.
    pub v_y: Vec<f64>,
    /// V Λ^(-1/2) 1, m numbers.
    pub v_one: Vec<f64>,
    /// yᵀΛ⁻¹y, yᵀΛ⁻¹1, 1ᵀΛ⁻¹1, log det Λ, tr(Kff - Qff), n.
    pub sums: [f64; 6],
}

impl SparsePosterior {
    /// The process as plain numbers.
    pub fn state(&self) -> State {
        let Evidence { hyper, mean, frame, sums, lb, .. } = &self.state;
        State {
            approximation: self.approximation,
            mean: *mean,
            hyper: hyper.clone(),
            inducing: frame.inducing.clone(),
            luu: lower(frame.luu.l().to_owned()),
            luu_jitter: frame.luu.jitter(),
            lb: lower(lb.l().to_owned()),
            lb_jitter: lb.jitter(),
            y_shift: frame.y_shift,
            v_y: sums.v_y.clone(),
            v_one: sums.v_one.clone(),
            sums: [sums.y_y, sums.y_one, sums.one_one, sums.log_det_lambda, sums.residual, sums.n],
        }
    }

    /// The process that [`SparsePosterior::state`] was called on. Numbers no fit could have left are refused.
    pub fn from_state(state: State) -> Result<SparsePosterior> {
        let State { approximation, mean, hyper, inducing, .. } = state;
        check_points("inducing points", inducing.as_ref())?;
        hyper.check(inducing.ncols())?;
        mean.check()?;
        let m = inducing.nrows();
        for (what, found) in [
            ("rows of Luu", state.luu.nrows()),
            ("columns of Luu", state.luu.ncols()),
            ("rows of LB", state.lb.nrows()),
            ("columns of LB", state.lb.ncols()),
            ("length of v_y", state.v_y.len()),
            ("length of v_one", state.v_one.len()),
        ] {
            if found != m {
                return Err(Error::Size { what, expected: m, found });
            }
        }
        check_number("y_shift", (0, 0), state.y_shift)?;
        for (what, values) in [("v_y", &state.v_y[..]), ("v_one", &state.v_one), ("sums", &state.sums)] {
            if let Some((row, &value)) = values.iter().enumerate().find(|(_, value)| !value.is_finite()) {
                return Err(Error::NotFinite { what, row, column: 0, value });
            }
        }
        let luu = Factor::from_lower("Luu", state.luu, state.luu_jitter)?;
        let lb = Factor::from_lower("LB", state.lb, state.lb_jitter)?;
        let origin = first_row(inducing.as_ref());
        let z = Scaled::new(&hyper.kernel, inducing.as_ref(), &origin);
        let frame = Arc::new(Frame { inducing, origin, z, luu, y_shift: state.y_shift });
        let [y_y, y_one, one_one, log_det_lambda, residual, n] = state.sums;
        let sums = Statistics {
            gram: Mat::zeros(0, 0),
            v_y: state.v_y,
            v_one: state.v_one,
            y_y,
            y_one,
            one_one,
            log_det_lambda,
            residual,
            n,
            precision: n,
        };
        let fit = Fit::new(&frame, &sums, &lb, mean);
        let noise = approximation.noise();
        Ok(SparsePosterior { approximation, state: Evidence { hyper, mean, noise, frame, sums, lb, fit } })
    }
}

/// Zeros above the diagonal, where a factorisation leaves what it likes.
fn lower(mut l: Mat<f64>) -> Mat<f64> {
    for j in 1..l.ncols() {
        l.col_as_slice_mut(j)[..j].fill(0.0);
    }
    l
}
