"""normal.json: functions of the normal distribution, right in both tails.

    log_cdf       log Phi(x)
    log_h         log h(x), h(x) = phi(x) + x Phi(x), the kernel of expected improvement
    ratio         phi(x) / Phi(x)
    log_h_slope   d/dx log h(x) = Phi(x) / h(x)
    erfcx         exp(x^2) erfc(x)

At x = -1e8 the sum in h loses 16 digits and Phi is about 10^-2e15, which mpmath's
unbounded exponents hold. Every value is computed again with twice the digits.
"""

import math

from mpmath import erfc, exp, log, log1p, mp, mpf, ncdf, npdf
from scipy import special

from record import f64, provenance, write

DIGITS = 60

# The tails, and both sides of the places where implementations change formula.
MAGNITUDES = [
    1e-300, 1e-16, 1e-8, 1e-3, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0, 1.0000001, 1.5, 2.0, 3.0,
    4.0, 5.0, 6.0, 7.0, 8.0, 8.5, 10.0, 12.0, 15.0, 20.0, 25.0, 30.0, 37.0, 38.0, 40.0,
    50.0, 100.0, 300.0, 1e3, 1e4, 1e5, 1e6, 1e7, 6.7e7, 1e8,
]  # fmt: skip
GRID = [-x for x in reversed(MAGNITUDES)] + [0.0] + MAGNITUDES
ERFCX_GRID = [x for x in GRID if x >= -5.0]


def log_cdf(x):
    # Near one the logarithm of the rounded value would be zero.
    return log(ncdf(x)) if x < 0 else log1p(-ncdf(-x))


def h(x):
    return npdf(x) + x * ncdf(x)


def log_h(x):
    return log(h(x))


def ratio(x):
    return npdf(x) / ncdf(x)


def log_h_slope(x):
    return ncdf(x) / h(x)


def erfcx(x):
    return exp(x**2) * erfc(x)


def evaluate(function, grid):
    """f64 values, the same whether rounded from DIGITS or twice as many."""
    rounded = []
    for digits in (DIGITS, 2 * DIGITS):
        with mp.workdps(digits):
            rounded.append([f64(function(mpf(x))) for x in grid])
    assert rounded[0] == rounded[1]
    return rounded[0]


def check(values):
    """SciPy's f64 functions and limits written down by hand agree."""
    for x, value in zip(GRID, values["log_cdf"]):
        assert math.isclose(value, special.log_ndtr(x), rel_tol=1e-13, abs_tol=1e-300), x
    for x, value in zip(ERFCX_GRID, values["erfcx"]):
        assert math.isclose(value, special.erfcx(x), rel_tol=1e-14), x
    for x, value, slope, inverse_mills in zip(
        GRID, values["log_h"], values["log_h_slope"], values["ratio"]
    ):
        if x <= -1e4:
            # h = phi / x^2 (1 - 3 / x^2 + ...), Phi = phi / |x| (1 - 1 / x^2 + ...).
            limit = -x * x / 2 - math.log(2 * math.pi) / 2 - 2 * math.log(-x) - 3 / x**2
            assert math.isclose(value, limit, rel_tol=1e-15), x
            assert math.isclose(slope, -x + 2 / -x, rel_tol=1e-14), x
            assert math.isclose(inverse_mills, -x + 1 / -x, rel_tol=1e-14), x
        if x >= 40.0:
            assert math.isclose(value, math.log(x), rel_tol=1e-15), x
            assert math.isclose(slope, 1 / x, rel_tol=1e-15), x


def main():
    functions = (log_cdf, log_h, ratio, log_h_slope)
    values = {f.__name__: evaluate(f, GRID) for f in functions}
    values["erfcx"] = evaluate(erfcx, ERFCX_GRID)
    check(values)
    erfcx_values = values.pop("erfcx")
    write(
        "normal.json",
        {
            "provenance": provenance(
                "normal.py",
                ["mpmath", "scipy"],
                f"{DIGITS} digits, rounded to f64 and unchanged with {2 * DIGITS}; "
                "a value below the smallest subnormal is written 0.0",
                "log_cdf = log Phi(x); log_h = log(phi(x) + x Phi(x)); "
                "ratio = phi(x) / Phi(x); log_h_slope = Phi(x) / (phi(x) + x Phi(x)); "
                "erfcx = exp(x^2) erfc(x)",
                check="SciPy's log_ndtr to 1e-13 and erfcx to 1e-14; tail expansions",
            ),
            "normal": {"x": GRID, **values},
            "erfcx": {"x": ERFCX_GRID, "erfcx": erfcx_values},
        },
    )


if __name__ == "__main__":
    main()
