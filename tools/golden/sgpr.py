"""sgpr.json: the collapsed bound by GPflow's SGPR, checked against mpmath."""

import gpflow
from mpmath import mp

import gpflow_model
from dense import Model, condition, diagonal, split_gradient
from record import f64, provenance, relative_difference, vector, write
from regression_data import inputs, outputs

mp.dps = 50

N, M, D, N_QUERY = 30, 8, 2, 6
# GPflow adds this to the diagonal of Kuu; the reference has none.
JITTER = 0.0
# Four by two points spread over the square keep Kuu well conditioned.
Z = [[a, b] for a in (0.125, 0.375, 0.625, 0.875) for b in (0.25, 0.75)]
LARGEST_CONDITION = 1e4
# As in exact.py: rounding times the condition number, with room to spare.
TOLERANCE = 1e-11


def cases():
    for kernel in ("se", "matern32", "matern52"):
        for scales, mean in (([0.25, 0.5], 0.0), ([0.2, 0.7], 0.7)):
            yield {
                "kernel": kernel,
                "length_scales": scales,
                "signal_var": 1.4,
                "noise_var": 0.06,
                "mean": mean,
            }


def gpflow_values(model, S):
    value, slopes = gpflow_model.objective_and_gradient(model)
    mean, cov = gpflow_model.predict(model, S)
    return {
        "elbo": value,
        "gradient": split_gradient(slopes),
        "predict_mean": mean,
        "predict_var": [cov[i][i] for i in range(len(S))],
    }


def mpmath_values(model, S):
    mean, cov = model.predict(S)
    return {
        "elbo": f64(model.objective()),
        "gradient": split_gradient(vector(model.gradient())),
        "predict_mean": vector(mean),
        "predict_var": vector(diagonal(cov)),
    }


def main():
    gpflow.config.set_default_jitter(JITTER)
    assert len(Z) == M
    X, S = inputs(21, N, D), inputs(22, N_QUERY, D)
    y = outputs(23, X)
    done, worst, worst_fic = [], 0.0, 0.0
    for case in cases():
        dense = Model(case, X, y, "elbo", Z)
        condition_Kuu = f64(condition(dense.k(Z, Z)))
        assert condition_Kuu < LARGEST_CONDITION
        values = gpflow_values(gpflow_model.build(case, X, y, Z), S)
        difference = relative_difference(values, mpmath_values(dense, S))
        # GPflow's FITC has no file of its own; it checks fic in sparse_dense.json.
        fitc = gpflow_values(gpflow_model.build(case, X, y, Z, gpflow.models.GPRFITC), S)
        difference_fic = relative_difference(fitc, mpmath_values(Model(case, X, y, "fic", Z), S))
        print(
            f"{case['kernel']} {case['length_scales']}: condition {condition_Kuu:.0f}, "
            f"GPflow - mpmath {difference:.1e}, fic {difference_fic:.1e}"
        )
        worst, worst_fic = max(worst, difference), max(worst_fic, difference_fic)
        done.append({**case, "condition_Kuu": condition_Kuu, **values})
    assert worst < TOLERANCE and worst_fic < TOLERANCE
    write(
        "sgpr.json",
        {
            "provenance": provenance(
                "sgpr.py",
                ["gpflow", "tensorflow", "mpmath"],
                "f64",
                "GPflow SGPR: log N(y | mean, Q + s2 I) - tr(Kff - Q) / (2 s2), gradient by "
                "automatic differentiation in the logs of the parameters; predictions are of "
                "the latent f, without noise",
                jitter=JITTER,
                check="same quantities in 50-digit mpmath, |a - b| / max(1, |b|)",
                check_worst=worst,
                check_worst_fic=worst_fic,
            ),
            "X": X,
            "y": y,
            "Z": Z,
            "X_query": S,
            "cases": done,
        },
    )


if __name__ == "__main__":
    main()
