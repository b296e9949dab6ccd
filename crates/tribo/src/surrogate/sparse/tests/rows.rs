//! Rows with weights and with a noise of their own.

use super::*;

/// Every kind but PITC, which takes neither.
fn kinds() -> impl Iterator<Item = (Approximation, Objective)> {
    super::kinds()
        .into_iter()
        .filter(|(approximation, _)| !matches!(approximation, Approximation::Pitc { .. }))
}

/// Positive numbers between 0.2 and 3.
fn factors(n: usize, id: u64) -> Vec<f64> {
    let mut stream = Stream::new(SEED, "factors of rows", id);
    (0..n).map(|_| 0.2 + 2.8 * stream.uniform()).collect()
}

fn model<'a>(data: Data<'a>, z: &'a Mat<f64>, kind: (Approximation, Objective)) -> Model<'a> {
    Model::new(data, z.as_ref(), kind.0, kind.1, Mean::Estimated).unwrap()
}

#[test]
fn weight_two_is_a_row_given_twice() {
    let case = case(50, 9, 2, 70);
    let weights: Vec<f64> = (0..50).map(|i| if i % 3 == 0 { 2.0 } else { 1.0 }).collect();
    let noise = factors(50, 0);
    let rows: Vec<usize> = (0..50).flat_map(|i| vec![i; weights[i] as usize]).collect();
    let hyper = hyper(Shape::Matern52, &[0.4, 0.9]);
    let plain = Data::new(case.x.as_ref(), &case.y).unwrap();
    let (x_twice, y_twice) = plain.rows(&rows);
    let noise_twice: Vec<f64> = rows.iter().map(|&i| noise[i]).collect();
    let twice = Data::new(x_twice.as_ref(), &y_twice).unwrap();
    let weighted = plain.with_weights(&weights).unwrap();
    let with_noise = (twice.with_noise(&noise_twice).unwrap(), weighted.with_noise(&noise).unwrap());
    for (twice, weighted) in [(twice, weighted), with_noise] {
        for kind in kinds() {
            let what = format!("{kind:?}");
            let (plain, short) = (model(twice, &case.z, kind), model(weighted, &case.z, kind));
            let (value, gradient) = plain.evidence_gradient(&hyper, &Unwatched).unwrap();
            let (same, same_gradient) = short.evidence_gradient(&hyper, &Unwatched).unwrap();
            close(same, value, 1e-8, &what);
            (0..4).for_each(|p| close(same_gradient[p], gradient[p], 1e-8, &what));
            let (plain, short) =
                (plain.posterior(&hyper, &Unwatched).unwrap(), short.posterior(&hyper, &Unwatched).unwrap());
            assert_eq!(plain.n_observations(), short.n_observations());
            let truth = plain.predict(case.queries.as_ref()).unwrap();
            let found = short.predict(case.queries.as_ref()).unwrap();
            for i in 0..7 {
                close(found.mean[i], truth.mean[i], 1e-8, &what);
                close(found.var[i], truth.var[i], 1e-8, &what);
            }
        }
    }
}

#[test]
fn with_noise_of_each_row_inducing_points_at_the_data_give_the_exact_process() {
    let case = case(40, 1, 2, 71);
    let noise = factors(40, 1);
    let data = Data::new(case.x.as_ref(), &case.y).unwrap().with_noise(&noise).unwrap();
    let hyper = hyper(Shape::Matern32, &[0.4, 0.9]);
    let exact = ExactPosterior::new(&data, &hyper, Mean::Estimated).unwrap();
    let truth = exact.predict(case.queries.as_ref()).unwrap();
    let slopes = exact.log_evidence_gradient();
    for kind in kinds() {
        let what = format!("{kind:?}");
        let model = model(data, &case.x, kind);
        let (value, gradient) = model.evidence_gradient(&hyper, &Unwatched).unwrap();
        // As without: the jitter of 1e-10 on Kuu, magnified by a condition of about 1e3.
        close(value, exact.log_evidence(), 1e-6, &what);
        (0..4).for_each(|p| close(gradient[p], slopes[p], 1e-5, &what));
        let found = model.posterior(&hyper, &Unwatched).unwrap().predict(case.queries.as_ref()).unwrap();
        for i in 0..7 {
            close(found.mean[i], truth.mean[i], 1e-6, &what);
            if kind.0 != Approximation::Sor {
                close(found.var[i], truth.var[i], 1e-6, &what);
            }
        }
    }
}

#[test]
fn less_noise_is_worth_more_rows() {
    // The mean of c measurements is a measurement with 1/c of the noise variance.
    let case = case(20, 1, 2, 72);
    let rows: Vec<usize> = (0..20).flat_map(|i| vec![i; 1 + i % 4]).collect();
    let noise: Vec<f64> = (0..20).map(|i| 1.0 / (1 + i % 4) as f64).collect();
    let single = Data::new(case.x.as_ref(), &case.y).unwrap();
    let (x_all, y_all) = single.rows(&rows);
    let hyper = hyper(Shape::Matern52, &[0.5]);
    // The shift of y is the mean of the rows, which differs; a fixed mean does not see it.
    let process = |data: Data<'_>| ExactPosterior::new(&data, &hyper, Mean::Fixed(1.5)).unwrap();
    let all = process(Data::new(x_all.as_ref(), &y_all).unwrap());
    let few = process(single.with_noise(&noise).unwrap());
    let [all, few] = [all, few].map(|posterior| posterior.predict(case.queries.as_ref()).unwrap());
    for i in 0..7 {
        close(few.mean[i], all.mean[i], 1e-9, "mean");
        close(few.var[i], all.var[i], 1e-9, "variance");
    }
}

#[test]
fn gradients_with_weights_and_noise_agree_with_differences() {
    let case = case(50, 8, 2, 73);
    let (weights, noise) = (factors(50, 2), factors(50, 3));
    let plain = Data::new(case.x.as_ref(), &case.y).unwrap();
    let noisy = plain.with_noise(&noise).unwrap();
    let hyper = hyper(Shape::Matern52, &[0.4, 0.9]);
    let log = hyper.to_log();
    let check = |value: &dyn Fn(&Hyperparameters) -> f64, gradient: &[f64], what: &str| {
        for p in 0..log.len() {
            let moved = |step: f64| {
                let mut log = log.clone();
                log[p] += step;
                value(&Hyperparameters::from_log(Shape::Matern52, &log))
            };
            let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            close(gradient[p], difference, 1e-6, &format!("{what}, parameter {p}"));
        }
    };
    let exact = |hyper: &Hyperparameters| ExactPosterior::new(&noisy, hyper, Mean::Estimated).unwrap();
    check(&|hyper| exact(hyper).log_evidence(), &exact(&hyper).log_evidence_gradient(), "exact");
    for data in [noisy, plain.with_weights(&weights).unwrap(), noisy.with_weights(&weights).unwrap()] {
        for kind in kinds() {
            let model = model(data, &case.z, kind).weighted(3.0);
            let (_, gradient) = model.evidence_gradient(&hyper, &Unwatched).unwrap();
            let value = |hyper: &Hyperparameters| model.evidence(hyper, &Unwatched).unwrap().value(kind.1);
            check(&value, &gradient, &format!("{kind:?}"));
        }
    }
}

#[test]
fn weights_and_noise_that_mean_nothing_are_refused() {
    let case = case(3, 1, 2, 74);
    let data = Data::new(case.x.as_ref(), &case.y).unwrap();
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let values = [1.0, bad, 1.0];
        assert!(matches!(data.with_weights(&values), Err(Error::OutOfRange { what: "weight of a row", .. })));
        assert!(matches!(data.with_noise(&values), Err(Error::OutOfRange { what: "noise of a row", .. })));
    }
    assert!(matches!(data.with_weights(&[1.0]), Err(Error::Size { expected: 3, found: 1, .. })));
    assert!(matches!(data.with_noise(&[1.0]), Err(Error::Size { expected: 3, found: 1, .. })));
    let weighted = data.with_weights(&[1.0, 2.0, 1.0]).unwrap();
    let hyper = hyper(Shape::Matern52, &[0.5]);
    assert!(matches!(ExactPosterior::new(&weighted, &hyper, Mean::Estimated), Err(Error::Source { .. })));
}
