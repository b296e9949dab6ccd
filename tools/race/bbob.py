"""The 24 functions of BBOB [Hansen, Finck, Ros and Auger, 2009], noise-free, from the package `ioh`."""

from .problems import Problem
from .space import box

NAMES = [f"f{number}" for number in range(1, 25)]
INPUTS = 5
FIXED = {}
EVALUATIONS = 100

# The groups of the functions' authors.
GROUPS = {
    "separable": range(1, 6),
    "low or moderate conditioning": range(6, 10),
    "high conditioning": range(10, 15),
    "many optima, strong structure": range(15, 20),
    "many optima, weak structure": range(20, 25),
}


def group_of(name):
    return next(group for group, numbers in GROUPS.items() if int(name[1:]) in numbers)


def make(name, inputs, instance):
    import ioh

    function = ioh.get_problem(int(name[1:]), instance=instance, dimension=inputs, problem_class=ioh.ProblemClass.BBOB)
    return Problem(box(inputs, -5.0, 5.0), lambda point: float(function(point)), optimum=float(function.optimum.y))
