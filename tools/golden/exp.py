"""exp.json: the exponential, correctly rounded, over the whole f64 range.

Arguments and results are given as decimals and as the 16 hexadecimal digits of
their bits, most significant first.
"""

import math
import random
import struct

from mpmath import exp, mp, mpf

from record import f64, provenance, write

# The hardest f64 arguments of exp need about 160 bits (50 digits) to round.
DIGITS = 60
SEED = 31
LOWEST, HIGHEST = -745.0, 709.0
# The arguments of the largest finite, the smallest normal and the smallest
# positive result; main checks that the next f64 outwards no longer gives one.
EDGES = (709.782712893384, -708.3964185322641, -745.1332191019411)


def bits(x):
    return struct.pack(">d", x).hex()


def neighbours(x):
    return [math.nextafter(x, -math.inf), x, math.nextafter(x, math.inf)]


def arguments():
    """Sorted, without repetition; -0.0 and 0.0 both stay."""
    powers = [2.0**k for k in (-1074, -1022, -500, -100, *range(-56, -50), *range(-40, 10, 2))]
    powers += [2.0**k for k in range(-9, 9, 2)]
    decades = [10.0**k for k in (-300, -20, *range(-16, 3))]
    xs = [s * v for v in powers + decades for s in (-1.0, 1.0)]
    xs += [float(k) for k in range(-20, 21)]
    # Where a reduction by multiples of log 2 changes its integer part.
    for k in (-1073, -1022, -500, -64, -3, -2, -1, 1, 2, 3, 64, 500, 1022):
        xs += neighbours(k * math.log(2.0)) + neighbours((k + 0.5) * math.log(2.0))
    draw = random.Random(SEED)
    xs += [draw.uniform(LOWEST, HIGHEST) for _ in range(80)]
    xs += [draw.uniform(-1.0, 1.0) for _ in range(40)]
    # Results below 2^-1022 have fewer bits and must not be rounded twice.
    xs += [draw.uniform(LOWEST, -708.4) for _ in range(25)]
    xs += [LOWEST, HIGHEST]
    kept = {bits(x): x for x in xs if LOWEST <= x <= HIGHEST}
    for x in EDGES:
        kept[bits(x)] = x
    kept[bits(0.0)], kept[bits(-0.0)] = 0.0, -0.0
    return sorted(kept.values(), key=lambda x: (x, math.copysign(1.0, x)))


def rounded(xs, digits):
    with mp.workdps(digits):
        return [f64(exp(mpf(x))) for x in xs]


def main():
    xs = arguments()
    results = rounded(xs, DIGITS)
    assert results == rounded(xs, 2 * DIGITS)
    for x, result in zip(xs, results):
        # A good C library is within one unit in the last place.
        assert abs(result - math.exp(x)) <= math.ulp(result), x
    last_finite, last_normal, last_positive = EDGES
    assert exp(mpf(math.nextafter(last_finite, math.inf))) > mpf(2) ** 1024
    outside = [math.nextafter(x, -math.inf) for x in (last_normal, last_positive)]
    assert rounded([last_normal, outside[0]], DIGITS)[1] < 2.0**-1022 <= math.exp(last_normal)
    assert rounded([last_positive, outside[1]], DIGITS) == [5e-324, 0.0]
    write(
        "exp.json",
        {
            "provenance": provenance(
                "exp.py",
                ["mpmath"],
                f"{DIGITS} digits, rounded to the nearest f64, ties to even, and unchanged "
                f"with {2 * DIGITS}",
                "exp(x); x_bits and exp_bits are the f64 bits as 16 hexadecimal digits",
                check="the C library's exp to one unit in the last place",
            ),
            "x": xs,
            "x_bits": [bits(x) for x in xs],
            "exp": results,
            "exp_bits": [bits(r) for r in results],
        },
    )
    print(f"{len(xs)} arguments")


if __name__ == "__main__":
    main()
