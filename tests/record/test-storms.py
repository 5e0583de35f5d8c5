#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Managed programs whose functions are deoptimised, thrown out of, moved, dropped and
left by a fork or an exec in the middle of a sample: what they compute is the same as
alone, and the capture has whole stacks and no name but theirs.

  test-storms.py [Storms].test_LANGUAGE_ENGINE..."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from ground_truth import ask, cli, interpreter, may_use_perf, recorder, script_command  # noqa: E402

storms = pathlib.Path(__file__).resolve().parent / "targets/storms"
RATE = 4000
TRUNCATED = 0.03
# The rounds of each, for half a second to a second; what its functions are called.
ROUNDS = {".js": 200, ".java": 200, ".py": 60, ".rb": 150, ".php": 300, ".pl": 200, ".lua": 500}
NAMES = {
    ".js": {"(anonymous)", "add", "deoptimise", "fail", "survive", "litter", "fresh", "valueOf"},
    ".java": {f"Storm{name}" for name in
              (".main", ".sum", ".fail", ".survive", ".litter", "$Square.area", "$Circle.area",
               ".<init>", "$Square.<init>", "$Circle.<init>")},
    ".py": {"<module>", "fail", "survive", "litter", "litter.<locals>.<listcomp>", "fresh",
            "fork"},
    ".rb": {"<main>", "fail_at", "survive", "litter", "fresh", "children"},
    ".php": {"{main}", "fail", "survive", "litter", "fresh"},
    ".pl": {"(main)", "main::fail_at", "main::survive", "main::litter", "main::fresh",
            "main::children"},
    ".lua": {"main chunk", "fail", "survive", "litter", "fresh", "cross"},
}
# The others: with FLAM_TEST_ALL.
QUICK = {(".js", "ptrace"), (".js", "perf"), (".java", "ptrace"), (".py", "ptrace"), (".py", "perf"),
         (".lua", "ptrace")}
# An inner function has the name of the one around it, and its own kind.
INNER = re.compile(r"(block in |rescue in |eval in |function <.*>|\(eval\)|for iterator)")


def own_functions(capture, script):
    """The names of functions that the capture has of a file."""
    text = subprocess.run([cli, "dump", capture, "--stage", "profile"], check=True,
                          stdout=subprocess.PIPE, encoding="utf-8").stdout
    found = re.findall(r"^function \d+ (.*) (?:interpreted|jit|native) at (.*?):\d+ ", text, re.M)
    return {name for name, file in found if pathlib.Path(file).name == script.name}


class Storms(unittest.TestCase):
    def hold(self, suffix, engine):
        script = storms / f"storm{suffix}"
        if not interpreter(suffix) or not (words := script_command(script)):
            self.skipTest(f"nothing here runs {script.name}")
        if engine == "perf" and not may_use_perf():
            self.skipTest("the system does not permit perf_event_open with the kernel's functions")
        words = [*map(str, words), str(ROUNDS[suffix])]
        alone = subprocess.run(words, check=True, stdout=subprocess.PIPE, timeout=60).stdout
        with tempfile.TemporaryDirectory(prefix="flam-storms.") as folder:
            capture = pathlib.Path(folder) / "storm.flambeau"
            done = subprocess.run(
                [recorder, "--output", capture, "--engine", engine, "--rate", str(RATE), "--", *words],
                check=True, stdout=subprocess.PIPE, timeout=120)
            facts, names = ask("info", capture), own_functions(capture, script)
        self.assertEqual(done.stdout, alone)
        self.assertEqual({name for name in names - NAMES[suffix] if not INNER.match(name)}, set())
        self.assertGreater(len(names & NAMES[suffix]), 2)
        self.assertLessEqual(facts["truncated_stacks"], 5 + TRUNCATED * facts["samples"])


for suffix in ROUNDS:
    for engine in ("ptrace", "perf"):
        if (suffix, engine) not in QUICK and not os.environ.get("FLAM_TEST_ALL"):
            continue
        setattr(Storms, f"test_{suffix[1:]}_{engine}",
                lambda self, one=(suffix, engine): self.hold(*one))

if __name__ == "__main__":
    unittest.main(verbosity=2)
