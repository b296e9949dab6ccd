"""The 54 functions of BBOB-constrained [Dufossé, Hansen, Brockhoff, Sampaio, Atamna and Auger, 2022], from `coco-experiment`.

The package gives constraints that must not be positive, and no value of the optimum: it writes the optimum's point to a file in
the folder that it is in. That point is feasible, and most constraints are exactly zero there.
"""

import os
import tempfile
from pathlib import Path

from .problems import Problem
from .space import box

NAMES = [f"f{number}" for number in range(1, 55)]
INPUTS = 10
FIXED = {}
EVALUATIONS = 300

# After how many evaluations runs are judged.
AFTER = [100, 200, 300]
# FuRBO's regret with ten inputs after as many, medians of ten runs on each of the instances 1 to 3: from the data that its
# authors published (paoloascia/FuRBO), counted again.
FURBO = {"f5": [9.2, 7.4, 7.1], "f35": [97.0, 70.0, 67.0], "f53": [1029.0, 816.0, 742.0]}


def make(name, inputs, instance):
    import cocoex

    suite = cocoex.Suite("bbob-constrained", f"instances:{instance}", f"dimensions:{inputs}")
    function = suite.get_problem_by_function_dimension_instance(int(name[1:]), inputs, instance)

    def outputs(point):
        # The suite is kept as long as the function is: what it has made goes with it.
        assert suite
        return float(function(point)), [float(value) for value in function.constraint(point)]

    limits = [(f"c{k + 1}", None, 0.0) for k in range(function.number_of_constraints)]
    optimum, _ = outputs(best_point(function))
    return Problem(box(inputs, -5.0, 5.0), lambda point: outputs(point)[0], optimum=optimum, limits=limits, outputs=outputs)


def best_point(function):
    """The optimum's point."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            function._best_parameter("print")
            return [float(x) for x in Path("._bbob_problem_best_parameter.txt").read_text().split()]
        finally:
            os.chdir(before)
