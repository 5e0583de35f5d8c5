#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs of musl, whose C library has no CFI: stacks through its functions and
through a signal handler on an alternate stack reach their root, and the shares are
those of the program's own clock. The same with a program that has no CFI itself."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from ground_truth import ask, recorder, top  # noqa: E402

source = pathlib.Path(__file__).resolve().parent / "targets/musl.c"


@unittest.skipUnless(shutil.which("musl-gcc"), "musl-gcc is not installed")
class Musl(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="flam-musl.")
        cls.addClassCleanup(folder.cleanup)
        cls.scratch = pathlib.Path(folder.name)

    def hold(self, *flags):
        program, capture = self.scratch / "musl", self.scratch / "musl.flambeau"
        subprocess.run(["musl-gcc", "-O2", "-fno-builtin", *flags, "-o", program, source], check=True)
        done = subprocess.run([recorder, "--force", "--output", capture, "--", program, "2"],
                              check=True, timeout=100, stdout=subprocess.PIPE, text=True)
        spent = {name: int(ns) for name, ns in map(str.split, done.stdout.splitlines())}
        answer = top(capture, "--measure", "cpu-time", "--sort", "total")
        ours = {row["function"]: row["total"] for row in answer["rows"]}
        for name, ns in spent.items():
            share = ns / sum(spent.values())
            self.assertAlmostEqual(ours[name] / answer["total"], share, delta=0.05, msg=name)
        info = ask("info", capture)
        self.assertLess(info["truncated_stacks"], 0.02 * info["samples"])

    def test_dynamic(self):
        self.hold("-g")

    def test_static(self):
        self.hold("-g", "-static")

    def test_without_cfi(self):
        self.hold("-static", "-fomit-frame-pointer", "-fno-asynchronous-unwind-tables")


if __name__ == "__main__":
    unittest.main(verbosity=2)
