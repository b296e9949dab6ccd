"""tribo against what users would take instead: Optuna, BoTorch, TuRBO, CMA-ES, random points.

    python3 tools/race setup [--wheel FILE]
    python3 tools/race run --suite bbob --inputs 5 --functions 1-24 --instances 1-3 --methods tribo,botorch --out race.jsonl
    python3 tools/race table race.jsonl
    python3 tools/race page race.jsonl -o docs/race
    python3 tools/race run --suite limits --instances 1 --seed 501-503 --methods tribo,egobox,cobyla --out limits.jsonl
    python3 tools/race run --suite bbob-constrained --functions 5,35,53 --instances 1-3 --methods tribo --out limits.jsonl
    python3 tools/race limits limits.jsonl -o docs

`setup` makes an environment of its own, below cargo's target directory, with the pinned packages and tribo. `run` adds a
line of JSON for each run to a file, and skips those that it has. `table` and `page` compare what is in such files.
"""

import argparse
import sys
from pathlib import Path

if __name__ == "__main__":
    # Run as a folder: the modules are those of the package `race`, not of its folder.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from race import environment, limits_page, methods, one, page, problems, run, step, table


def numbers(text):
    """`1-3,7` as a list."""
    found = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def names(text):
    found = text.split(",")
    for name in found:
        if name not in methods.METHODS:
            raise argparse.ArgumentTypeError(f"there is no method {name!r}; there are {', '.join(methods.METHODS)}")
    return found


def parser():
    top = argparse.ArgumentParser(
        prog="python3 tools/race", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = top.add_subparsers(dest="command", required=True)
    one_setup = commands.add_parser("setup", help="make the environment, and install tribo in it")
    one_setup.add_argument("--wheel", help="tribo's wheel; without it tribo is built from this repository")

    one_run = commands.add_parser("run", help="run methods on problems", formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    one_run.add_argument("--suite", default="bbob", choices=list(problems.SUITES))
    one_run.add_argument("--inputs", type=numbers, help="numbers of inputs, where the suite leaves them open")
    one_run.add_argument("--functions", help="1-24 of bbob, names of others; all without it")
    # No default: which instances are looked at, and which are kept for later, is for the caller to say.
    one_run.add_argument("--instances", type=numbers, required=True)
    one_run.add_argument("--evaluations", type=int, help="of each run; the suite's own without it")
    one_run.add_argument("--methods", type=names, default="tribo,random")
    one_run.add_argument("--seed", type=numbers, default="1")
    one_run.add_argument("--noise", type=float, default=0.0, help="standard deviation, as a share of the spread of values")
    one_run.add_argument("--out", required=True, help="the file that lines are added to")
    one_run.add_argument("--jobs", type=int, default=1)
    one_run.add_argument("--time-limit", type=float, default=1800.0, help="seconds a run may take")
    one_run.add_argument("--python", type=Path, help="the Python that has the tribo to run; the environment's without it")

    commands.add_parser("step", help="time a proposal of tribo and of egobox under eleven limits; by the environment's Python")

    one_table = commands.add_parser("table", help="print what files of runs say")
    one_page = commands.add_parser("page", help="write it as a page with figures")
    one_limits = commands.add_parser("limits", help="write runs of the suites limits and bbob-constrained as a page with figures")
    for each in (one_table, one_page, one_limits):
        each.add_argument("files", nargs="+", help="files that `run` wrote")
        each.add_argument("--methods", type=lambda text: text.split(","), help="only these")
        each.add_argument("--at", type=numbers, help="evaluations to compare after; half of the budget and all of it without")
    for each in (one_page, one_limits):
        each.add_argument("-o", "--out", type=Path, required=True, help="the folder of the page")
    return top


def main(arguments):
    # Before the parser: a run is started by `run` alone, and starts quickly.
    if arguments[:1] == ["one"]:
        return one.main(arguments[1])
    args = parser().parse_args(arguments)
    if args.command == "step":
        return step.main()
    if args.command == "setup":
        return environment.setup(args.wheel)
    if args.command == "run":
        return run.run(args)
    for path in args.files:
        if not Path(path).is_file():
            raise SystemExit(f"there is no file {path}; `run` writes such files")
    records = [record for record in run.read(args.files) if args.methods is None or record["method"] in args.methods]
    if not records:
        raise SystemExit("the files have no runs of these methods" if args.methods else "the files have no runs")
    if args.command == "limits":
        limits_page.write(args.out, [record for record in records if record["suite"] in ("limits", "bbob-constrained")], arguments)
    elif args.command == "table":
        print(table.tables(records, args.at))
    else:
        page.write(args.out, records, args.at, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
