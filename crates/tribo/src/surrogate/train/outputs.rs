//! Fitting several outputs at the same inputs.
//!
//! Each output is brought to mean 0 and variance 1; then all have one kernel and one noise, and the search maximises the sum
//! of their objectives, at their number times the cost of one on each subset. All data are passed over once for all outputs.
//! For outputs that want kernels of their own, fit each by itself.

use super::{Kept, Search, SparseGp, Stage, Told};
use crate::error::{Error, Result};
use crate::surrogate::data::Data;
use crate::surrogate::hyper::{Hyperparameters, Mean};
use crate::surrogate::sparse::{Approximation, SparsePosterior};
use crate::surrogate::train::Report;
use crate::surrogate::watch::Watch;
use faer::MatRef;

/// An output brought to mean 0 and variance 1.
struct Standard {
    shift: f64,
    sd: f64,
    y: Vec<f64>,
    mean: Mean,
}

impl SparseGp {
    /// As [`SparseGp::fit`], to several outputs `ys` at the rows of X `[n, d]`: one process for each, with the same inducing
    /// points, length scales and relation of noise to signal. Not for PITC.
    pub fn fit_outputs(
        &self,
        x: MatRef<'_, f64>,
        ys: &[&[f64]],
        watch: &dyn Watch,
    ) -> Result<(Vec<SparsePosterior>, Report)> {
        if ys.is_empty() {
            return Err(Error::Empty { what: "outputs" });
        }
        if let Approximation::Pitc { .. } = self.approximation {
            let reason = "it takes one output; choose FIC".to_owned();
            return Err(Error::Source { name: "PITC".to_owned(), reason });
        }
        let outputs: Vec<Standard> = ys.iter().map(|y| self.standard(x, y)).collect::<Result<_>>()?;
        let kept: Vec<Kept<'_>> =
            outputs.iter().map(|output| Kept::Given(Data::unchecked(x, &output.y))).collect();
        let mut search = Search::new(&kept[0].scale(), self.shape, self.ard, &self.training, watch)?;
        let (n, training) = (x.nrows(), &self.training);
        let mut chosen_at = search.best();
        let mut n_searched = 0;
        while let Some(rows) = training.subset(n_searched, n) {
            let m = self.n_inducing_on(rows.len());
            let inducing = self.choose_inducing(&kept[0], m, &chosen_at, watch)?;
            let part = picked(&kept, &rows, watch)?;
            let sum =
                |hyper: &Hyperparameters| self.summed(&outputs, &part, n, inducing.as_ref(), hyper, watch);
            search.run(n, training.tolerance, training.evaluations, Stage::Subset, sum)?;
            chosen_at = search.best();
            n_searched += 1;
        }
        let inducing = self.choose_inducing(&kept[0], self.n_inducing, &chosen_at, watch)?;
        if n_searched == 0 {
            let sum =
                |hyper: &Hyperparameters| self.summed(&outputs, &kept, n, inducing.as_ref(), hyper, watch);
            search.run(n, training.tolerance, training.evaluations, Stage::Only, sum)?;
        } else if training.full_evaluations > 0 {
            let sample = training.check(n).map(|rows| picked(&kept, &rows, watch)).transpose()?;
            let stage = if sample.is_some() { Stage::Check } else { Stage::AfterSubset };
            let part = sample.as_ref().unwrap_or(&kept);
            let sum =
                |hyper: &Hyperparameters| self.summed(&outputs, part, n, inducing.as_ref(), hyper, watch);
            search.run(n, training.full_tolerance, training.full_evaluations, stage, sum)?;
        }
        let first = SparseGp { mean: outputs[0].mean, ..self.clone() };
        let others: Vec<(&[f64], Mean)> =
            outputs[1..].iter().map(|output| (&output.y[..], output.mean)).collect();
        let standard = first.with_model(&kept[0], inducing.as_ref(), watch, |model| {
            model.posteriors(&search.best(), &others, watch)
        })?;
        let posteriors = standard
            .iter()
            .zip(&outputs)
            .map(|(posterior, output)| posterior.in_units(output.shift, output.sd))
            .collect::<Result<_>>()?;
        Ok((posteriors, Report { chosen_at: Some(chosen_at), ..search.report }))
    }

    fn standard(&self, x: MatRef<'_, f64>, y: &[f64]) -> Result<Standard> {
        self.mean.check()?;
        let scale = Data::new(x, y)?.scale();
        let (shift, sd) = (scale.y_mean, scale.y_scale_var().sqrt());
        let mean = match self.mean {
            Mean::Estimated => Mean::Estimated,
            Mean::Fixed(value) => Mean::Fixed((value - shift) / sd),
        };
        Ok(Standard { shift, sd, y: y.iter().map(|y| (y - shift) / sd).collect(), mean })
    }

    /// The sum of the objectives of all outputs, and its gradient, on rows that stand for `n`.
    fn summed(
        &self,
        outputs: &[Standard],
        rows: &[Kept<'_>],
        n: usize,
        inducing: MatRef<'_, f64>,
        hyper: &Hyperparameters,
        watch: &dyn Watch,
    ) -> Result<Told> {
        let (mut value, mut gradient) = (0.0, vec![0.0; hyper.to_log().len()]);
        for (output, rows) in outputs.iter().zip(rows) {
            let gp = SparseGp { mean: output.mean, ..self.clone() };
            let weight = n as f64 / rows.len() as f64;
            let told = gp.with_model(rows, inducing, watch, |model| {
                model.weighted(weight).evidence_gradient(hyper, watch)
            })?;
            value += told.0;
            gradient.iter_mut().zip(&told.1).for_each(|(sum, slope)| *sum += slope);
        }
        Ok((value, gradient))
    }
}

/// Some rows of each.
fn picked<'a>(kept: &[Kept<'a>], rows: &[usize], watch: &dyn Watch) -> Result<Vec<Kept<'a>>> {
    kept.iter().map(|kept| Ok(Kept::Own(kept.pick(rows, watch)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use crate::surrogate::Posterior;
    use crate::surrogate::inducing::Inducing;
    use crate::surrogate::kernel::Shape;
    use crate::surrogate::sparse::Objective;
    use crate::surrogate::train::Training;
    use crate::surrogate::watch::Unwatched;
    use faer::Mat;

    const SEED: u64 = 77;

    fn gp(approximation: Approximation, mean: Mean) -> SparseGp {
        let training = Training { subsets: vec![300], ..Training::default() };
        let (shape, inducing, objective) = (Shape::Matern52, Inducing::Greedy, Objective::Bound);
        SparseGp { shape, ard: true, mean, approximation, objective, inducing, n_inducing: 30, training }
    }

    fn data(n: usize) -> (Mat<f64>, Vec<f64>, Vec<f64>) {
        let mut stream = Stream::new(SEED, "outputs", 0);
        let x = Mat::from_fn(n, 2, |_, _| stream.uniform());
        let first = (0..n).map(|i| 1e3 + 20.0 * (5.0 * x[(i, 0)]).sin() + stream.normal()).collect();
        let second = (0..n).map(|i| (4.0 * x[(i, 1)]).cos() - x[(i, 0)] + 0.05 * stream.normal()).collect();
        (x, first, second)
    }

    #[test]
    fn each_output_is_the_process_fitted_alone_at_the_same_hyper_parameters() {
        let (x, first, second) = data(700);
        let queries = Mat::from_fn(9, 2, |i, k| ((i * (k + 2)) % 9) as f64 / 8.0);
        for (approximation, mean) in [
            (Approximation::Fic, Mean::Estimated),
            (Approximation::Dtc, Mean::Estimated),
            (Approximation::Fic, Mean::Fixed(3.0)),
        ] {
            let gp = gp(approximation, mean);
            let (posteriors, report) = gp.fit_outputs(x.as_ref(), &[&first, &second], &Unwatched).unwrap();
            assert!(report.subset_evaluations > 1 && report.full_evaluations > 0, "{report:?}");
            for (posterior, y) in posteriors.iter().zip([&first, &second]) {
                let hyper = posterior.hyperparameters();
                let alone =
                    SparseGp { inducing: Inducing::Given(posterior.inducing().to_owned()), ..gp.clone() };
                let alone = alone.condition(x.as_ref(), y, hyper, hyper, &Unwatched).unwrap();
                let sd = hyper.kernel.signal_var.sqrt();
                let [a, b] = [posterior, &alone].map(|p| p.predict(queries.as_ref()).unwrap());
                for i in 0..9 {
                    // Rounding, magnified by the condition of Kuu.
                    assert!((a.mean[i] - b.mean[i]).abs() < 1e-7 * sd, "seed {SEED}: {a:?} {b:?}");
                    assert!((a.var[i] - b.var[i]).abs() < 1e-7 * sd * sd, "seed {SEED}: {a:?} {b:?}");
                }
                let (a, b) = (posterior.log_marginal(), alone.log_marginal());
                assert!((a - b).abs() < 1e-7 * b.abs(), "seed {SEED}: {a} {b}");
            }
            // One kernel, whatever the units.
            let [a, b] = [&posteriors[0], &posteriors[1]].map(|p| p.hyperparameters().clone());
            assert_eq!(a.kernel.length_scales, b.kernel.length_scales);
            let ratio = (a.noise_var / a.kernel.signal_var) / (b.noise_var / b.kernel.signal_var);
            assert!((ratio - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn one_output_is_fitted_as_always() {
        let (x, first, _) = data(700);
        let gp = gp(Approximation::Fic, Mean::Estimated);
        let (outputs, report) = gp.fit_outputs(x.as_ref(), &[&first], &Unwatched).unwrap();
        let (alone, same) = gp.fit(x.as_ref(), &first, &Unwatched).unwrap();
        assert_eq!(report.subset_evaluations, same.subset_evaluations);
        let [a, b] = [&outputs[0], &alone].map(|p| p.predict(x.as_ref().subrows(0, 20)).unwrap());
        for i in 0..20 {
            // Two searches that differ in rounding end within their tolerance of each other.
            assert!(
                (a.mean[i] - b.mean[i]).abs() < 1e-3 && (a.var[i] - b.var[i]).abs() < 1e-3,
                "seed {SEED}"
            );
        }
    }

    #[test]
    fn outputs_that_do_not_fit_are_refused() {
        let (x, first, second) = data(50);
        let fic = gp(Approximation::Fic, Mean::Estimated);
        assert!(matches!(fic.fit_outputs(x.as_ref(), &[], &Unwatched), Err(Error::Empty { .. })));
        let short = fic.fit_outputs(x.as_ref(), &[&first, &second[1..]], &Unwatched);
        assert!(matches!(short, Err(Error::Size { expected: 50, found: 49, .. })));
        let pitc = gp(Approximation::Pitc { group: 9 }, Mean::Estimated);
        assert!(matches!(pitc.fit_outputs(x.as_ref(), &[&first], &Unwatched), Err(Error::Source { .. })));
    }
}
