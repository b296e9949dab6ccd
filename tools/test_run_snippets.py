"""Tests of run-snippets: each writes a README into a fresh directory and runs the program on it."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent / "run-snippets"
FENCE = "```"


def block(info, body):
    return f"{FENCE}{info}\n{body}\n{FENCE}\n"


class RunSnippets(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name)

    def run_on(self, readme, *options):
        (self.root / "README.md").write_text(readme, encoding="utf-8")
        command = [sys.executable, "-B", str(PROGRAM), "--root", str(self.root), *options]
        environment = {name: value for name, value in os.environ.items() if name != "CARGO_TARGET_DIR"}
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)

    def test_blocks_run_in_order_in_a_copy(self):
        done = self.run_on(block("sh", "echo one > made") + block("rust", "not shell") + block("sh", "grep one made"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("ok README.md"), 2)
        self.assertFalse((self.root / "made").exists())
        self.assertTrue((self.root / "target" / "snippets" / "made").exists())

    def test_a_failing_command_names_its_line(self):
        done = self.run_on("text\n\n" + block("sh", "echo before\nfalse\necho after"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("README.md:3: exit code 1", done.stderr.splitlines()[-1])
        self.assertNotIn("\nafter\n", done.stderr.split("--- output")[1])

    def test_time_limit_ends_the_block_and_its_children(self):
        done = self.run_on(block("sh", "sleep 30 & sleep 30"), "--limit", "0.5")
        self.assertEqual(done.returncode, 1)
        self.assertIn("took longer than 0.5 s", done.stderr)

    def test_check_is_never_called(self):
        done = self.run_on(block("sh", "./check") + block("sh", "./check quick\ntrue"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("skipped README.md:1", done.stdout)
        self.assertIn("ok README.md:4", done.stdout)

    def test_what_was_built_is_called_by_its_name(self):
        build = "\n".join([
            'program="$CARGO_TARGET_DIR/release/made-by-a-block"',
            'mkdir -p "$(dirname "$program")"',
            "printf '#!/bin/sh\\n' > \"$program\"",
            'chmod +x "$program"',
        ])
        done = self.run_on(block("sh", build) + block("sh", "made-by-a-block"))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_studies_begin_afresh(self):
        (self.root / "study.tribo").mkdir()
        done = self.run_on(block("sh", "test ! -e study.tribo"))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_skipping_needs_a_reason(self):
        done = self.run_on(block("sh no-run: needs a cluster", "false"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("needs a cluster", done.stdout)
        self.assertEqual(self.run_on(block("sh no-run", "false")).returncode, 1)

    def test_python_runs_in_the_copy_with_the_interpreter_asked_for(self):
        wrote = block("python", "import sys\nopen('made', 'w').write(sys.executable)")
        done = self.run_on(wrote + block("sh", "test -s made"), "--python", sys.executable)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.root / "target" / "snippets" / "made").read_text(), sys.executable)
        self.assertFalse((self.root / "made").exists())
        other = self.root / "other-python"
        other.write_text("#!/bin/sh\necho other >&2; exit 3\n")
        other.chmod(0o755)
        done = self.run_on(wrote, "--python", str(other))
        self.assertIn("README.md:1: exit code 3", done.stderr)

    def test_python_without_an_environment_says_what_makes_it(self):
        done = self.run_on(block("python", "1"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("tools/check-python makes it", done.stderr)

    def test_python_that_raises_names_its_line(self):
        done = self.run_on("text\n\n" + block("python", "1 / 0"), "--python", sys.executable)
        self.assertEqual(done.returncode, 1)
        self.assertIn("ZeroDivisionError", done.stderr)
        self.assertIn("README.md:3: exit code 1", done.stderr.splitlines()[-1])

    def test_python_can_be_skipped_with_a_reason(self):
        done = self.run_on(block("python no-run: needs a cluster", "1 / 0"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("needs a cluster", done.stdout)

    def test_blocks_that_would_escape_are_refused(self):
        self.assertIn("tag the block `python`, not `py`", self.run_on(block("py", "1")).stderr)
        self.assertIn("not `bash`", self.run_on(block("bash", "true")).stderr)
        self.assertIn("never closed", self.run_on(FENCE + "sh\ntrue\n").stderr)


if __name__ == "__main__":
    unittest.main()
