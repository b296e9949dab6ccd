"""Tests of tools/race: its arithmetic with known answers, its problems, and a small race of tribo against random points.

Run it with the Python that has tribo, as ./check does; no other package is needed. BBOB comes from the package `ioh` where it
is installed, else two functions of the tool stand in for it; BBOB-constrained from `coco-experiment`, else it is left out.
"""

import gzip
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from race import bbob, chart, environment, failures, limits, limits_page, methods, one, page, problems, run, score
from race import space, stand_in, table


def record(method="tribo", problem="f1", told=(3.0, 1.0, 2.0), **changed):
    made = dict(zip(run.KEY, ("bbob", problem, 5, 1, 0.0, len(told), 1, method)))
    return {**made, "version": "1", "ended": "finished", "optimum": 0.0, "told": list(told), **changed}


class Score(unittest.TestCase):
    def test_ranks_are_shared_and_none_is_last(self):
        self.assertEqual(score.ranks([3.0, 1.0, 3.0, None]), [2.5, 1.0, 2.5, 4.0])
        self.assertEqual(score.ranks([None, None]), [1.5, 1.5])

    def test_value_is_the_lowest_until_then(self):
        self.assertEqual([score.value_at(record(), k) for k in (1, 2, 3, 9)], [3.0, 1.0, 1.0, 1.0])

    def test_failures_have_no_value(self):
        run_of_failures = record(told=[None, 4.0, None])
        self.assertEqual([score.value_at(run_of_failures, k) for k in (1, 2, 3)], [None, 4.0, 4.0])

    def test_under_noise_the_last_recommended_point_counts(self):
        noisy = record(noise=0.05, recommended={"25": 1.0, "50": 7.0, "100": 2.0})
        self.assertEqual([score.value_at(noisy, k) for k in (10, 25, 60, 100)], [None, 1.0, 7.0, 2.0])

    def test_gap_has_a_floor(self):
        self.assertAlmostEqual(score.log_gap(103.0, 3.0), 2.0)
        self.assertEqual(score.log_gap(3.0, 3.0), -8.0)
        self.assertEqual(score.log_gap(2.9999999999, 3.0), -8.0)

    def test_means_and_distance_to_the_best_other(self):
        records = [
            record("tribo", "f1", [10.0, 1.0]),
            record("cma", "f1", [100.0, 10.0]),
            record("random", "f1", [1.0, 1.0]),
            record("tribo", "f2", [10.0, 1.0]),
            record("cma", "f2", [1000.0, 100.0]),
            record("random", "f2", [100.0, 100.0]),
        ]
        names = ["tribo", "cma", "random"]
        tasks = score.common(records, names)
        self.assertEqual(score.mean_ranks(tasks, names, 2), [1.25, 2.75, 2.0])
        self.assertEqual(score.mean_gaps(tasks, names, 2), [0.0, 1.5, 1.0])
        self.assertEqual(score.behind([0.0, 1.5, 1.0], names), (-1.0, "random"))
        self.assertEqual(score.behind([1.2, 0.25, 1.0], names), (0.95, "cma"))
        self.assertIsNone(score.behind([1.5, 1.0], ["cma", "random"]))

    def test_a_task_that_broke_for_one_method_is_left_out(self):
        records = [record("tribo"), record("cma", ended="error: x"), record("tribo", "f2"), record("cma", "f2")]
        self.assertEqual(list(score.common(records, ["tribo", "cma"])), [("f2", 1, 1)])

    def test_two_builds_of_tribo_are_told_apart(self):
        found = score.name_versions([record(version="a"), record(version="b"), record("cma")])
        self.assertEqual([each["method"] for each in found], ["tribo a", "tribo b", "cma"])
        self.assertEqual(table.methods_of(found), ["tribo a", "tribo b", "cma"])
        self.assertEqual(score.behind([0.0, 0.5, 0.25], ["tribo a", "tribo b", "cma"]), (0.25, "cma"))

    def test_groups_are_those_of_bbob(self):
        self.assertEqual([len(numbers) for numbers in bbob.GROUPS.values()], [5, 4, 5, 5, 5])
        self.assertEqual(sorted(n for numbers in bbob.GROUPS.values() for n in numbers), list(range(1, 25)))
        self.assertEqual(bbob.group_of("f9"), "low or moderate conditioning")
        self.assertEqual(bbob.group_of("f20"), "many optima, weak structure")


class Table(unittest.TestCase):
    def test_groups_and_what_did_not_finish(self):
        records = [
            record("tribo", "f1", [10.0, 1.0]),
            record("cma", "f1", [100.0, 10.0]),
            record("tribo", "f20", [10.0, 10.0]),
            record("cma", "f20", [10.0], evaluations=2, ended="timed out after 5 s"),
        ]
        text = table.tables(records)
        self.assertIn("2 tasks of 2 problems", text)
        self.assertIn("- cma on f20, instance 1, seed 1: timed out after 5 s, after 1 evaluation.", text)
        cells = [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in text.splitlines()]
        self.assertIn(["separable", "2", "0.00", "1.00", "-1.00", "cma"], cells)
        self.assertIn(["many optima, weak structure", "2", "1.00", "1.00", "+0.00", "cma"], cells)
        self.assertIn(["all", "2", "0.50", "1.00", "-0.50", "cma"], cells)

    def test_shares_without_a_value_and_medians(self):
        told = [None] * 20 + [5.0] * 5 + [None] * 5 + [1.0, None, None, None]
        others = [record("tribo", "beam", [value] * 34, suite="failures", instance=i) for i, value in ((2, 2.0), (3, 9.0))]
        text = table.tables([record("tribo", "beam", told, suite="failures"), *others])
        cells = [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in text.splitlines()]
        self.assertIn(["beam", "34", "2"], cells)
        self.assertIn(["beam", "no value, after the 20th", "19 %"], cells)
        self.assertIn(["beam", "no value, after the 30th", "25 %"], cells)

    def test_a_page_says_how_its_runs_were_made(self):
        runs = [("tribo a", "f1"), ("tribo b", "f1"), ("cma", "f1"), ("cma", "f2")]
        records = [record(method, problem, noise=0.05) for method, problem in runs]
        self.assertEqual(
            page.run_command(("bbob", 5, 0.05, 3), records),
            "python3 tools/race run --suite bbob --inputs 5 --functions f1,f2 --instances 1 --evaluations 3 "
            "--methods tribo,cma --seed 1 --noise 0.05 --out race.jsonl",
        )

    def test_ticks_are_round(self):
        self.assertEqual(chart.ticks(-2.0, 3.0), [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0])
        self.assertEqual(chart.ticks(0.0, 100.0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0])
        self.assertEqual(chart.apart([30.0, 10.0, 12.0]), [44.0, 10.0, 27.0])


class Space(unittest.TestCase):
    MIXED = [
        space.Real("a", -5.0, 5.0),
        space.Real("b", 1e-4, 1.0, log=True),
        space.Whole("c", 1, 4),
        space.Choice("d", ("x", "y", "z")),
    ]

    def test_cube_and_back(self):
        point = space.from_cube(self.MIXED, [0.25, 0.5, 0.999, 0.1, 0.9, 0.3])
        self.assertAlmostEqual(point[1], 1e-2)
        self.assertEqual([point[0], *point[2:]], [-2.5, 4, "y"])
        self.assertEqual(space.n_coordinates(self.MIXED), 6)
        there = space.to_cube(self.MIXED, point)
        for found, wanted in zip(there, [0.25, 0.5, 0.875, 0.0, 1.0, 0.0], strict=True):
            self.assertAlmostEqual(found, wanted)

    def test_whole_numbers_have_equal_shares(self):
        found = [space.from_cube([space.Whole("n", 1, 4)], [(i + 0.5) / 400])[0] for i in range(400)]
        self.assertEqual([found.count(n) for n in (1, 2, 3, 4)], [100] * 4)

    def test_outside_is_the_border(self):
        self.assertEqual(space.from_cube([space.Real("a", -5.0, 5.0)], [1.5]), [5.0])


class Failing(unittest.TestCase):
    def test_beam(self):
        h = math.sqrt(1000.0)
        self.assertAlmostEqual(failures.beam([5.0, h * (1.0 + 1e-9)]), failures.make("beam", 2, 1).optimum, places=5)
        with self.assertRaises(problems.Failure) as caught:
            failures.beam([5.0, h * (1.0 - 1e-9)])
        self.assertEqual(caught.exception.kind, "infeasible")

    def test_branin_has_its_three_optima(self):
        for point in ([-math.pi, 12.275], [math.pi, 2.275], [9.42478, 2.475]):
            self.assertAlmostEqual(failures.branin(point), failures.make("branin-lost", 2, 1).optimum, places=5)

    def test_balls_fill_their_share_and_the_optima_are_known(self):
        import numpy as np

        for n_inputs in (2, 4, 6):
            for name in ("disc-beside", "disc-edge"):
                problem = failures.make(name, n_inputs, 7)
                values = []
                for point in np.random.default_rng(1).random((4000, n_inputs)):
                    try:
                        values.append(problem.value(list(point)))
                    except problems.Failure:
                        pass
                # Three standard deviations of a share of 30 % among 4,000.
                self.assertAlmostEqual(1.0 - len(values) / 4000, failures.SHARE, delta=0.022)
                self.assertGreater(min(values), problem.optimum)
            centre, radius, direction = failures.ball(n_inputs, 7, 0.0)
            edge = failures.make("disc-edge", n_inputs, 7)
            self.assertAlmostEqual(edge.value(list(centre + (radius + 1e-9) * direction)), edge.optimum, places=6)
            centre, radius, direction = failures.ball(n_inputs, 7, 0.05)
            beside = failures.make("disc-beside", n_inputs, 7)
            self.assertAlmostEqual(beside.value(list(centre + (radius + 0.05) * direction)), 0.0)

    def test_a_method_is_told_the_worst_so_far(self):
        class Listening(methods.Method):
            def start(self):
                self.heard = []

            def learn(self, point, value):
                self.heard.append((point, value))

        method = Listening([], 1, 10, False)
        method.fail("a", "failed")
        method.tell("b", 2.0)
        method.tell("c", 1.0)
        method.fail("d", "infeasible")
        method.fail("e", "lost")
        self.assertEqual(method.heard, [("a", 2.0), ("b", 2.0), ("c", 1.0), ("d", 2.0)])
        self.assertEqual(method.recommend(), "c")


class Limited(unittest.TestCase):
    """A point beyond a limit has no value, as one that failed."""

    def runs(self, suite, problem, told, **changed):
        return record(told=told, suite=suite, problem=problem, optimum=-2.0, own_seconds=0.1, **changed)

    def test_what_is_beyond_is_counted_in_sizes_of_the_limit(self):
        bounds = [("a", None, 200.0), ("b", 0.9, 1.5), ("c", None, 0.0)]
        found = limits.excesses(bounds, [210.0, 0.6, -3.0])
        for excess, wanted in zip(found, [0.05, 0.2, -3.0], strict=True):
            self.assertAlmostEqual(excess, wanted)

    def test_optima_are_those_of_their_points(self):
        # From the papers that have them: to the digits that are printed there, so limits are met but for those.
        points = {
            "g04": [78.0, 33.0, 29.995256025682, 45.0, 36.775812905788],
            "g06": [14.095, 0.8429607892154796],
            "g08": [1.227971352607526, 4.245373366122749],
            "g24": [2.329520197477623, 3.178493073884],
        }
        for name, point in points.items():
            problem = limits.make(name, None, 1)
            value, outputs = problem.outputs(point)
            self.assertAlmostEqual(value / problem.optimum, 1.0, places=6, msg=name)
            self.assertLess(max(limits.excesses(problem.limits, outputs)), 1e-6, name)

    def test_evaluations_until_a_gap(self):
        one = self.runs("limits", "g24", [None, -1.0, -1.99, -2.0, -2.0])
        self.assertEqual([limits_page.until(one, gap) for gap in (1.0, 1e-2, 1e-3)], [2, 3, 4])
        self.assertEqual(limits_page.until(self.runs("limits", "g24", [None, -1.0]), 1e-3), math.inf)
        self.assertEqual([limits_page.counted(each, 20) for each in (3.0, 7.5, math.inf)], ["3", "7.5", "> 20"])

    def test_the_page_has_both_suites(self):
        records = [
            self.runs("limits", "g24", [None, -1.0, -2.0], method="tribo"),
            self.runs("limits", "g24", [-1.0, -1.0, -1.5], method="egobox"),
            # A seed that egobox has not ended counts for nobody.
            self.runs("limits", "g24", [-2.0, -2.0, -2.0], method="tribo", seed=2),
            self.runs("bbob-constrained", "f5", [5.0, 2.0, -2.0], method="tribo", instance=1, evaluations=300),
            self.runs("bbob-constrained", "f5", [None, 2.0, 2.0], method="tribo", instance=2, evaluations=300),
            self.runs("bbob-constrained", "f5", [3.0, 3.0, 2.5], method="tribo", instance=3, evaluations=300),
        ]
        with tempfile.TemporaryDirectory() as folder:
            limits_page.write(Path(folder), records, ["limits", "limits.jsonl", "-o", "docs"])
            text = (Path(folder) / "race-limits.md").read_text()
        cells = [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in text.splitlines()]
        self.assertIn(["g24", "2, 2", "20", "< 1e-06 (< 1e-06)", "2e-01 (2e-01)"], cells)
        self.assertIn(["g24", "1e-03", "3", "> 20"], cells)
        self.assertIn("\n1 seed of each problem.", text)
        # 0, 4 and 4.5 above the optimum.
        self.assertIn(["f5", "100", "4 (4.5)", "9.2"], cells)
        self.assertIn("--suite bbob-constrained --functions 5 --instances 1-3 --seed 1 --methods tribo ", text)

    def test_ranges_are_short(self):
        self.assertEqual(limits_page.ranges({803, 801, 802, 807}), "801-803,807")


class Race(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.out = self.folder / "race.jsonl"

    def race(self, *arguments):
        command = [sys.executable, "-B", str(environment.FOLDER), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=300)

    def run_on(self, suite, *arguments):
        given = ["--suite", suite, "--instances", "1", "--python", sys.executable, "--out", str(self.out)]
        return self.race("run", *given, *arguments)

    def has(self, package):
        code = f"import sys; sys.path.append({environment.own_packages()!r} or '.'); import {package}"
        return subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0

    def test_tribo_and_random_points(self):
        has_ioh = self.has("ioh")
        suite, functions = ("bbob", "1,8") if has_ioh else ("stand-in", "bowl,valley")
        if not has_ioh:
            print("ioh is not installed: two functions of the tool stand in for BBOB", file=sys.stderr)
        given = ["--functions", functions, "--inputs", "2", "--evaluations", "20"]
        for noise in ("0", "0.05"):
            done = self.run_on(suite, *given, "--noise", noise, "--methods", "tribo,random")
            self.assertEqual(done.returncode, 0, done.stderr)
        records = run.read([self.out])
        self.assertEqual({each["ended"] for each in records}, {"finished"})
        self.assertEqual([len(each["told"]) for each in records], [20] * 8)
        self.assertEqual(["recommended" in each for each in records], [False] * 4 + [True] * 4)
        # The first is a bowl, where any model finds lower values than chance.
        tribo, chance, *_ = records
        self.assertLess(min(tribo["told"]), min(chance["told"]))
        for each in records:
            lowest = min(each["recommended"].values() if each["noise"] else each["told"])
            self.assertGreater(lowest, each["optimum"] - 1e-9)
        done = self.race("page", str(self.out), "-o", str(self.folder / "page"))
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (self.folder / "page" / "race.md").read_text()
        self.assertEqual(page.count("Mean rank"), 2)
        for figure in (self.folder / "page").glob("*.svg"):
            self.assertIn(f"({figure.name})", page)

    def test_tribo_and_random_points_under_limits(self):
        given = ["--methods", "tribo,random", "--evaluations", "20"]
        done = self.run_on("limits", "--functions", "g24", *given)
        self.assertEqual(done.returncode, 0, done.stderr)
        if self.has("cocoex"):
            done = self.run_on("bbob-constrained", "--functions", "5", "--inputs", "2", *given)
            self.assertEqual(done.returncode, 0, done.stderr)
        else:
            print("coco-experiment is not installed: BBOB-constrained is left out", file=sys.stderr)
        records = run.read([self.out])
        self.assertEqual({each["ended"] for each in records}, {"finished"})
        for tribo, chance in zip(records[::2], records[1::2], strict=True):
            gaps = [limits_page.gap_at(each, 20) for each in (tribo, chance)]
            self.assertLess(gaps[0], 1e-3, tribo["problem"])
            self.assertLess(gaps[0], gaps[1], tribo["problem"])
            # A tolerance of a millionth may bring some millionths.
            self.assertGreater(min(filter(None, tribo["told"])), tribo["optimum"] - 1e-4)
        done = self.race("limits", str(self.out), "-o", str(self.folder / "docs"))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_finished_runs_are_skipped_and_broken_ones_are_not(self):
        given = ["--methods", "random", "--evaluations", "5"]
        self.assertEqual(self.run_on("stand-in", *given).returncode, 0)
        lines = self.out.read_text().splitlines()
        self.assertEqual(len(lines), 2)
        broken = {**json.loads(lines[1]), "ended": "error: no memory"}
        # The last line is cut, as of a run that was killed while it wrote.
        self.out.write_text(f"{lines[0]}\n{json.dumps(broken)}\n{lines[0][:50]}")
        done = self.run_on("stand-in", *given)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 runs, 1 of them", done.stderr)
        self.assertEqual([each["told"] for each in run.read([self.out])], [json.loads(line)["told"] for line in lines])
        self.assertIn("2 runs, 2 of them", self.run_on("stand-in", *given).stderr)
        packed = self.folder / "runs.jsonl.gz"
        packed.write_bytes(gzip.compress(self.out.read_bytes()))
        self.assertEqual(run.read([packed]), run.read([self.out]))

    def test_another_version_needs_another_file(self):
        self.run_on("stand-in", "--methods", "random", "--evaluations", "5")
        self.out.write_text(self.out.read_text().replace('"version": "1"', '"version": "0"'))
        done = self.run_on("stand-in", "--methods", "random", "--evaluations", "5")
        self.assertEqual(done.returncode, 1)
        self.assertIn("has runs of random 0, and this is 1; give another --out", done.stderr)

    def test_inputs_that_a_problem_decides_are_there_once(self):
        done = self.run_on("failures", "--functions", "beam,disc-edge", "--inputs", "3-4", "--methods", "random", "--evaluations", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = [(each["problem"], each["inputs"]) for each in run.read([self.out])]
        self.assertEqual(found, [("beam", 2), ("disc-edge", 3), ("disc-edge", 4)])

    def test_a_python_without_tribo_does_not_get_another_one(self):
        # The environment's packages, with a tribo, stand behind those of the Python that is given.
        (self.folder / "race" / "venv" / "lib" / f"python3.{sys.version_info.minor}" / "site-packages" / "tribo").mkdir(parents=True)
        bare = self.folder / "bare"
        bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -E "$@"\n')
        bare.chmod(0o755)
        command = [sys.executable, "-B", str(environment.FOLDER), "run", "--suite", "stand-in", "--instances", "1"]
        command += ["--methods", "tribo", "--python", str(bare), "--out", str(self.out)]
        variables = {**os.environ, "CARGO_TARGET_DIR": str(self.folder)}
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=variables)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot run tribo: this Python has no package tribo", done.stderr)

    def test_what_is_imported_is_compiled_once(self):
        with unittest.mock.patch.dict(os.environ, {"PYTHONDONTWRITEBYTECODE": "1", "CARGO_TARGET_DIR": str(self.folder)}):
            done = self.run_on("stand-in", "--functions", "bowl", "--methods", "random", "--evaluations", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(list((self.folder / "race" / "bytecode").rglob("stand_in.*.pyc")))

    def test_a_run_that_takes_too_long_says_so(self):
        done = self.run_on("stand-in", "--functions", "bowl", "--methods", "random", "--time-limit", "0.001")
        self.assertEqual(done.returncode, 0, done.stderr)
        [found] = run.read([self.out])
        self.assertEqual((found["ended"], found["told"]), ("timed out after 0.001 s", []))
        self.assertIn("timed out", self.race("table", str(self.out)).stdout)

    def test_accidents_are_the_same_for_all(self):
        spec = dict(zip(run.KEY, ("failures", "branin-lost", 2, 1, 0.0, 60, 1, "random")))
        lost = {}
        for method in ("random", "tribo"):
            lines = []
            one.run({**spec, "method": method}, lines.append)
            lost[method] = [line.get("failure") == "lost" for line in lines[1:]]
        self.assertEqual(lost["random"], lost["tribo"])
        # 12 of 60 are expected, and three standard deviations are 9.
        self.assertTrue(3 <= sum(lost["random"]) <= 21, lost)

    def test_stand_in_is_zero_at_its_optimum_only(self):
        for name in stand_in.NAMES:
            self.assertGreater(stand_in.make(name, 2, 1).value([4.9, 4.9]), 0.0)


if __name__ == "__main__":
    unittest.main()
