"""exact.json: exact regression by GPflow, checked against mpmath."""

from mpmath import mp

import gpflow_model
from dense import Model, condition, split_gradient
from record import matrix, provenance, relative_difference, vector, write
from regression_data import inputs, outputs

mp.dps = 50

N, D, N_QUERY = 12, 3, 6
# Condition numbers of Kff + s2 I stay below LARGEST_CONDITION, which times 2^-53 is
# about 1e-13; the tolerance leaves ten times that for GPflow's rounding.
LARGEST_CONDITION = 1e3
TOLERANCE = 1e-12


def cases():
    for kernel in ("matern12", "matern32", "matern52", "se"):
        for scales in ([0.5], [0.25, 0.5, 2.0]):
            yield {
                "kernel": kernel,
                "length_scales": scales,
                "signal_var": 1.7,
                "noise_var": 0.05,
                "mean": 0.0,
            }
    yield {
        "kernel": "matern52",
        "length_scales": [0.5, 0.25, 1.0],
        "signal_var": 0.6,
        "noise_var": 0.013,
        "mean": 0.7,
    }


def gpflow_values(case, X, y, S):
    model = gpflow_model.build(case, X, y)
    value, slopes = gpflow_model.objective_and_gradient(model)
    mean, cov = gpflow_model.predict(model, S)
    return {
        "log_marginal_likelihood": value,
        "gradient": split_gradient(slopes),
        "predict_mean": mean,
        "predict_var": [cov[i][i] for i in range(len(S))],
        "predict_cov": cov,
    }


def mpmath_values(case, X, y, S):
    model = Model(case, X, y)
    assert condition(model.terms()[0]) < LARGEST_CONDITION
    mean, cov = model.predict(S)
    cov = matrix(cov)
    return {
        "log_marginal_likelihood": vector([model.objective()])[0],
        "gradient": split_gradient(vector(model.gradient())),
        "predict_mean": vector(mean),
        "predict_var": [cov[i][i] for i in range(len(S))],
        "predict_cov": cov,
    }


def main():
    X, S = inputs(1, N, D), inputs(2, N_QUERY, D)
    y = outputs(3, X)
    done, worst = [], 0.0
    for case in cases():
        values = gpflow_values(case, X, y, S)
        difference = relative_difference(values, mpmath_values(case, X, y, S))
        print(f"{case['kernel']} {case['length_scales']}: GPflow - mpmath {difference:.1e}")
        worst = max(worst, difference)
        done.append({**case, **values})
    assert worst < TOLERANCE, worst
    write(
        "exact.json",
        {
            "provenance": provenance(
                "exact.py",
                ["gpflow", "tensorflow", "mpmath"],
                "f64",
                "GPflow GPR, gradient by automatic differentiation in the logs of the "
                "parameters; predictions are of the latent f, without noise",
                check="same quantities in 50-digit mpmath, |a - b| / max(1, |b|)",
                check_worst=worst,
            ),
            "X": X,
            "y": y,
            "X_query": S,
            "cases": done,
        },
    )


if __name__ == "__main__":
    main()
