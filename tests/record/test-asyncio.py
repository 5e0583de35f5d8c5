#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Python's asyncio tasks as roots of the stacks, compared with what each task
measures of itself."""

import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from ground_truth import recorder, top  # noqa: E402

program = pathlib.Path(__file__).resolve().parent / "targets/tasks.py"
# The interpreters of pyenv, which developers have.
VERSIONS = pathlib.Path.home() / ".pyenv/versions"
NAMES = ("größer", "lesser", "aside")


def pythons():
    versions = range(8, 14) if os.environ.get("FLAM_TEST_ALL") else (8, 12)
    kept = [path for minor in versions for path in VERSIONS.glob(f"3.{minor}.*/bin/python3")]
    return [sys.executable, *map(str, kept)]


def sums(capture, *selection):
    return {row["function"]: row["total"] / 1e9
            for row in top(capture, "--measure", "cpu-time", *selection)["rows"]}


class Tasks(unittest.TestCase):
    def hold(self, python):
        with tempfile.TemporaryDirectory(prefix="flam-asyncio.") as folder:
            capture = pathlib.Path(folder) / "tasks.flambeau"
            done = subprocess.run(
                [recorder, "--output", capture, "--", python, program, "1.2"], check=True,
                timeout=60, stdout=subprocess.PIPE, encoding="utf-8")
            truth = {name: float(seconds) for name, seconds in
                     (line.split("\t") for line in done.stdout.splitlines())}
            tasks = sums(capture, "--by", "label:task")
            coroutines = sums(capture, "--by", "label:coroutine")
            inside = sums(capture, "--by", "label:task", "--focus", "^turn$")
        self.assertEqual(set(truth), set(NAMES))
        whole = sum(inside[name] for name in NAMES)
        for name in NAMES:
            share = truth[name] / sum(truth.values())
            # The samples of this time at 997 Hz.
            noise = 3 * math.sqrt(share * (1 - share) / (997 * whole))
            self.assertAlmostEqual(inside[name] / whole, share, delta=0.03 + noise, msg=name)
            self.assertGreaterEqual(tasks[name], inside[name])
        self.assertAlmostEqual(
            coroutines["worker"], sum(tasks[name] for name in NAMES), delta=0.01 * whole)
        # The time until asyncio is found in use.
        self.assertLess(inside.get("[no label]", 0), 0.1 * whole)


for number, path in enumerate(pythons()):
    setattr(Tasks, f"test_{number}_{pathlib.Path(path).parent.parent.name}",
            lambda self, python=path: self.hold(python))

if __name__ == "__main__":
    unittest.main(verbosity=2)
