"""Problems with limits on other outputs than the objective: those of the library that have known optima.

The formulas are written here once more, from the papers and not from the library, so that neither can be wrong alone. Each limit
is `(name, low, high)`, one end of which may be None. A point is feasible if no output is beyond its limit by more than a
millionth of the limit's size (1e-6 where that is zero), for every method.
"""

import math

from .problems import Problem
from .space import Real

INPUTS = None
# How far beyond a limit is feasible, in sizes of the limit.
TOLERANCE = 1e-6
EVALUATIONS = 100
SQRT2 = math.sqrt(2.0)


def welded_beam(x):
    h, l, t, b = x
    load, length, young, shear = 6000.0, 14.0, 30e6, 12e6
    half = (h + t) / 2.0
    r = math.sqrt(l * l / 4.0 + half * half)
    j = 2.0 * SQRT2 * h * l * (l * l / 12.0 + half * half)
    primary = load / (SQRT2 * h * l)
    secondary = load * (length + l / 2.0) * r / j
    tau = math.sqrt(primary**2 + primary * secondary * l / r + secondary**2)
    critical = 4.013 * young * t * b**3 / (6.0 * length**2) * (1.0 - t / (2.0 * length) * math.sqrt(young / (4.0 * shear)))
    bar = 0.04811 * t * b * (14.0 + l)
    limited = [tau, 6.0 * load * length / (b * t * t), h - b, 0.10471 * h * h + bar, 4.0 * load * length**3 / (young * t**3 * b)]
    return 1.10471 * h * h * l + bar, [*limited, critical]


def spring(x):
    d, coil, n = x
    stress = (4.0 * coil**2 - d * coil) / (12566.0 * (coil * d**3 - d**4)) + 1.0 / (5108.0 * d**2)
    return (n + 2.0) * coil * d * d, [coil**3 * n / (71785.0 * d**4), stress, 140.45 * d / (coil**2 * n), d + coil]


def speed_reducer(x):
    b, m, z, l1, l2, d1, d2 = x
    value = 0.7854 * b * m * m * (3.3333 * z * z + 14.9334 * z - 43.0934) - 1.508 * b * (d1 * d1 + d2 * d2)
    value += 7.4777 * (d1**3 + d2**3) + 0.7854 * (l1 * d1 * d1 + l2 * d2 * d2)
    limited = [27.0 / (b * m * m * z), 397.5 / (b * m * m * z * z)]
    limited += [1.93 * l1**3 / (m * z * d1**4), 1.93 * l2**3 / (m * z * d2**4)]
    limited += [math.hypot(745.0 * l / (m * z), math.sqrt(other)) / (0.1 * d**3) for l, d, other in ((l1, d1, 16.9e6), (l2, d2, 157.5e6))]
    return value, [*limited, m * z, b / m, (1.5 * d1 + 1.9) / l1, (1.1 * d2 + 1.9) / l2]


def pressure_vessel(x):
    shell, head, r, length = x
    value = 0.6224 * shell * r * length + 1.7781 * head * r * r + 3.1661 * shell**2 * length + 19.84 * shell**2 * r
    volume = math.pi * r * r * length + 4.0 / 3.0 * math.pi * r**3
    return value, [shell - 0.0193 * r, head - 0.00954 * r, volume, length]


def g04(x):
    a, b, c, d, e = x
    first = 85.334407 + 0.0056858 * b * e + 0.0006262 * a * d - 0.0022053 * c * e
    second = 80.51249 + 0.0071317 * b * e + 0.0029955 * a * b + 0.0021813 * c * c
    third = 9.300961 + 0.0047026 * c * e + 0.0012547 * a * c + 0.0019085 * c * d
    return 5.3578547 * c * c + 0.8356891 * a * e + 37.293239 * a - 40792.141, [first, second, third]


def g06(x):
    a, b = x
    return (a - 10.0) ** 3 + (b - 20.0) ** 3, [(a - 5.0) ** 2 + (b - 5.0) ** 2, (a - 6.0) ** 2 + (b - 5.0) ** 2]


def g07(x):
    a, b, c, d, e, f, g, h, i, j = x
    value = a * a + b * b + a * b - 14.0 * a - 16.0 * b + (c - 10.0) ** 2 + 4.0 * (d - 5.0) ** 2 + (e - 3.0) ** 2
    value += 2.0 * (f - 1.0) ** 2 + 5.0 * g * g + 7.0 * (h - 11.0) ** 2 + 2.0 * (i - 10.0) ** 2 + (j - 7.0) ** 2 + 45.0
    limited = [4.0 * a + 5.0 * b - 3.0 * g + 9.0 * h, 10.0 * a - 8.0 * b - 17.0 * g + 2.0 * h, -8.0 * a + 2.0 * b + 5.0 * i - 2.0 * j]
    limited.append(3.0 * (a - 2.0) ** 2 + 4.0 * (b - 3.0) ** 2 + 2.0 * c * c - 7.0 * d)
    limited.append(5.0 * a * a + 8.0 * b + (c - 6.0) ** 2 - 2.0 * d)
    limited.append(a * a + 2.0 * (b - 2.0) ** 2 - 2.0 * a * b + 14.0 * e - 6.0 * f)
    limited.append(0.5 * (a - 8.0) ** 2 + 2.0 * (b - 4.0) ** 2 + 3.0 * e * e - f)
    return value, [*limited, -3.0 * a + 6.0 * b + 12.0 * (i - 8.0) ** 2 - 7.0 * j]


def g08(x):
    a, b = x
    below = a**3 * (a + b)
    value = 0.0 if below == 0.0 else -(math.sin(2.0 * math.pi * a) ** 3) * math.sin(2.0 * math.pi * b) / below
    return value, [a * a - b, -a + (b - 4.0) ** 2]


def g09(x):
    a, b, c, d, e, f, g = x
    value = (a - 10.0) ** 2 + 5.0 * (b - 12.0) ** 2 + c**4 + 3.0 * (d - 11.0) ** 2 + 10.0 * e**6 + 7.0 * f * f + g**4
    value += -4.0 * f * g - 10.0 * f - 8.0 * g
    limited = [2.0 * a * a + 3.0 * b**4 + c + 4.0 * d * d + 5.0 * e, 7.0 * a + 3.0 * b + 10.0 * c * c + d - e]
    limited.append(23.0 * a + b * b + 6.0 * f * f - 8.0 * g)
    return value, [*limited, 4.0 * a * a + b * b - 3.0 * a * b + 2.0 * c * c + 5.0 * f - 11.0 * g]


def g10(x):
    limited = [0.0025 * (x[3] + x[5]), 0.0025 * (x[4] + x[6] - x[3]), 0.01 * (x[7] - x[4])]
    limited.append(-x[0] * x[5] + 833.33252 * x[3] + 100.0 * x[0])
    limited.append(-x[1] * x[6] + 1250.0 * x[4] + x[1] * x[3] - 1250.0 * x[3])
    return x[0] + x[1] + x[2], [*limited, -x[2] * x[7] + x[2] * x[4] - 2500.0 * x[4]]


def g24(x):
    a, b = x
    first = -2.0 * a**4 + 8.0 * a**3 - 8.0 * a * a + b
    return -a - b, [first, -4.0 * a**4 + 32.0 * a**3 - 88.0 * a * a + 96.0 * a + b]


def below(*ends):
    """Limits that are only upper ones."""
    return [(f"c{k + 1}", None, end) for k, end in enumerate(ends)]


# Function, bounds, limits, optimum.
TABLE = {
    "welded_beam": (
        welded_beam,
        [(0.125, 10.0), (0.1, 10.0), (0.1, 10.0), (0.1, 10.0)],
        [*below(13600.0, 30000.0, 0.0, 5.0, 0.25), ("c6", 6000.0, None)],
        1.724852309,
    ),
    "spring": (
        spring,
        [(0.05, 1.0), (0.25, 1.3), (2.0, 15.0)],
        [("c1", 1.0, None), ("c2", None, 1.0), ("c3", 1.0, None), ("c4", None, 1.5)],
        0.012665233,
    ),
    "speed_reducer": (
        speed_reducer,
        [(2.6, 3.6), (0.7, 0.8), (17.0, 28.0), (7.3, 8.3), (7.8, 8.3), (2.9, 3.9), (5.0, 5.5)],
        [*below(1.0, 1.0, 1.0, 1.0, 1100.0, 850.0, 40.0), ("c8", 5.0, 12.0), ("c9", None, 1.0), ("c10", None, 1.0)],
        2996.348165,
    ),
    "pressure_vessel": (
        pressure_vessel,
        [(0.0625, 6.1875), (0.0625, 6.1875), (10.0, 200.0), (10.0, 200.0)],
        [("c1", 0.0, None), ("c2", 0.0, None), ("c3", 1296000.0, None), ("c4", None, 240.0)],
        5885.3327736,
    ),
    "g04": (
        g04,
        [(78.0, 102.0), (33.0, 45.0), (27.0, 45.0), (27.0, 45.0), (27.0, 45.0)],
        [("c1", 0.0, 92.0), ("c2", 90.0, 110.0), ("c3", 20.0, 25.0)],
        -30665.538672,
    ),
    "g06": (g06, [(13.0, 100.0), (0.0, 100.0)], [("c1", 100.0, None), ("c2", None, 82.81)], -6961.813876),
    "g07": (g07, [(-10.0, 10.0)] * 10, below(105.0, 0.0, 12.0, 120.0, 40.0, 0.0, 30.0, 0.0), 24.306209068),
    "g08": (g08, [(0.0, 10.0)] * 2, below(-1.0, -1.0), -0.0958250414),
    "g09": (g09, [(-10.0, 10.0)] * 7, below(127.0, 282.0, 196.0, 0.0), 680.630057374),
    "g10": (
        g10,
        [(100.0, 10000.0), (1000.0, 10000.0), (1000.0, 10000.0)] + [(10.0, 1000.0)] * 5,
        below(1.0, 1.0, 1.0, 83333.333, 0.0, -1250000.0),
        7049.2480205,
    ),
    "g24": (g24, [(0.0, 3.0), (0.0, 4.0)], below(2.0, 36.0), -5.5080132716),
}
NAMES = list(TABLE)
FIXED = {name: len(entry[1]) for name, entry in TABLE.items()}
# After how many evaluations each is judged.
MARKS = {
    "pressure_vessel": [30],
    "g04": [30],
    "g06": [30],
    "g24": [20],
    "spring": [50],
    "speed_reducer": [50],
    "g10": [50],
    "g08": [50],
    "welded_beam": [60, 100],
    "g09": [80],
    "g07": [100],
}


def make(name, inputs, instance):
    function, bounds, limits, optimum = TABLE[name]
    space = [Real(f"x{i}", low, high) for i, (low, high) in enumerate(bounds)]
    return Problem(space, lambda point: function(point)[0], optimum=optimum, limits=limits, outputs=function)


def size(low, high):
    """What violations of a limit are counted in."""
    return max(abs(end) for end in (low, high) if end is not None) or 1.0


def excesses(limits, outputs):
    """How far each output is beyond its limit, in sizes of the limit; negative inside."""
    found = []
    for (_, low, high), value in zip(limits, outputs, strict=True):
        above = -math.inf if high is None else value - high
        under = -math.inf if low is None else low - value
        found.append(max(above, under) / size(low, high))
    return found
