"""sparse_dense.json: sparse approximations from their definitions in mpmath."""

from mpmath import mp, mpf

from dense import SPARSE, Model, condition, diagonal, split_gradient
from record import f64, provenance, vector, write
from regression_data import inputs, outputs

mp.dps = 50

N, M, D, N_QUERY = 24, 6, 2, 6
GROUP = 6
GROUPS = [list(range(i, i + GROUP)) for i in range(0, N, GROUP)]
# A grid of three by two, well inside the square, so that Kuu is well conditioned.
Z = [[a, b] for a in (0.125, 0.5, 0.875) for b in (0.25, 0.75)]
CASES = [
    {
        "kernel": kernel,
        "length_scales": [0.3, 0.45],
        "signal_var": 1.3,
        "noise_var": 0.07,
        "mean": 0.3,
    }
    for kernel in ("se", "matern32")
]


def values(model, S):
    mean, cov = model.predict(S)
    return {
        "objective": f64(model.objective()),
        "gradient": split_gradient(vector(model.gradient())),
        "predict_mean": vector(mean),
        "predict_var": vector(diagonal(cov)),
        "gls": {
            "mean": f64(model.gls_mean()),
            "objective": f64(model.objective(gls=True)),
            "gradient": split_gradient(vector(model.gradient(gls=True))),
        },
    }


def close(a, b):
    return abs(a - b) < mpf(10) ** -40


def check_identities(case, X, y, S):
    """Where the approximations must be exact, they are, to 40 digits."""
    exact = Model(case, X, y)
    mean, cov = exact.predict(S)

    def equals_exact(model, also_predictions=True):
        assert close(model.objective(), exact.objective())
        assert close(model.gls_mean(), exact.gls_mean())
        if also_predictions:
            m, c = model.predict(S)
            assert all(close(p, q) for p, q in zip(m, mean))
            assert all(close(p, q) for p, q in zip(c, cov))

    for method in ("dtc", "fic", "pitc", "elbo"):
        equals_exact(Model(case, X, y, method, Z=X, groups=GROUPS))
    # One group holds all of Kff, whatever Z; predictions still pass through u.
    one_group = Model(case, X, y, "pitc", Z=Z, groups=[list(range(N))])
    equals_exact(one_group, also_predictions=False)
    assert Model(case, X, y, "elbo", Z=Z).objective() < exact.objective()


def main():
    assert len(Z) == M
    X, S = inputs(11, N, D), inputs(12, N_QUERY, D)
    y = outputs(13, X)
    done = []
    for case in CASES:
        check_identities(case, X, y, S)
        methods = {m: values(Model(case, X, y, m, Z=Z, groups=GROUPS), S) for m in SPARSE}
        Kuu = Model(case, X, y).k(Z, Z)
        done.append({**case, "condition_Kuu": f64(condition(Kuu)), **methods})
    write(
        "sparse_dense.json",
        {
            "provenance": provenance(
                "sparse_dense.py",
                ["mpmath"],
                "50 digits, rounded to f64; gradients by central differences with step 1e-14",
                "Q = Kfu Kuu^-1 Kuf, no jitter; objective log N(y | mean, Q + Lambda), "
                "for elbo - tr(Kff - Q) / (2 s2) more; Lambda = s2 I (sor, dtc, elbo), "
                "diag(Kff - Q) + s2 I (fic), blockdiag(Kff - Q) + s2 I (pitc); "
                "predict_mean = mean + Ksu Sigma Kuf Lambda^-1 (y - mean) with "
                "Sigma = (Kuu + Kuf Lambda^-1 Kfu)^-1; predict_var = ksu Sigma kus, "
                "plus kss - Qss except for sor; "
                "gls.mean = 1' C^-1 y / 1' C^-1 1 with C = Q + Lambda, gls.objective and "
                "gls.gradient at that mean",
                check="dtc, fic, pitc, elbo at Z = X and pitc with one group equal exact "
                "regression to 40 digits",
            ),
            "X": X,
            "y": y,
            "Z": Z,
            "X_query": S,
            "pitc_groups": GROUPS,
            "cases": done,
        },
    )


if __name__ == "__main__":
    main()
