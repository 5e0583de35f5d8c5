#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Go: the labels of goroutines. Under each label runs a function of its own, so
the time of the label is that of the function."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from ground_truth import ask, recorder, top  # noqa: E402

source = pathlib.Path(__file__).resolve().parent / "targets/labels.go"


def sums(capture, *selection):
    return {row["function"]: row["total"]
            for row in top(capture, "--measure", "cpu-time", *selection)["rows"]}


@unittest.skipUnless(shutil.which("go"), "Go is not installed")
class Labels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="flam-go.")
        cls.addClassCleanup(folder.cleanup)
        cls.scratch = pathlib.Path(folder.name)

    def build(self, *flags):
        program = self.scratch / "labels"
        subprocess.run(["go", "build", *flags, "-o", program, source], check=True,
                       env=dict(os.environ, GO111MODULE="off"))
        return program

    def hold(self, *record):
        capture = self.scratch / "labels.flambeau"
        subprocess.run([recorder, "--force", "--output", capture, *record], check=True, timeout=60)
        functions, labels = sums(capture), sums(capture, "--by", "label:part")
        whole = top(capture, "--measure", "cpu-time")["total"]
        for part in ("heavy", "light"):
            # The scheduler may stop a goroutine whose function the stack does not
            # contain, and a label is set before the function is called.
            self.assertAlmostEqual(labels[part] / whole, functions[f"main.{part}"] / whole, delta=0.02)
        self.assertGreater(labels["heavy"], 2 * labels["light"])
        self.assertGreater(labels["[no label]"], 0.9 * functions["main.plain"])
        self.assertEqual(set(labels), {"heavy", "light", "[no label]"})
        self.assertEqual(set(sums(capture, "--by", "label:worker")), {"0", "1", "2", "[no label]"})
        self.assertEqual(set(sums(capture, "--by", "label:site")), {"größer", "[no label]"})
        self.assertEqual(ask("info", capture)["warnings"], [])
        inside = sums(capture, "--by", "label:part", "--focus", "^main.heavy$")
        self.assertGreater(inside["heavy"], 0.98 * sum(inside.values()))

    def test_launched(self):
        self.hold("--", self.build(), "1.5")

    def test_attached(self):
        with subprocess.Popen([self.build("-ldflags=-s"), "4"]) as target:
            self.addCleanup(target.kill)
            self.hold("--duration", "1.5", "--pid", str(target.pid))

    def test_kernel_clock(self):
        """The first samples of a thread have no label: what leads to it is not known yet."""
        capture = self.scratch / "kernel.flambeau"
        subprocess.run([recorder, "--engine", "auto", "--output", capture, "--", self.build(), "1"],
                       check=True, timeout=60)
        if ask("info", capture)["engine"] != "perf":
            self.skipTest("the kernel's clock is not permitted")
        functions, labels = sums(capture), sums(capture, "--by", "label:part")
        self.assertGreater(labels.get("heavy", 0), 0.7 * functions["main.heavy"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
