#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
""".NET's methods, without a flag of .NET's: the stacks of a program that waits, beside
its own System.Diagnostics.StackTrace, and shares by the program's own clock.

FLAM_DOTNETS is a folder with runtimes from npm's packages (dotnets.py); without it, the
`dotnet` of PATH is used, if it has a compiler.

  test-dotnet.py [Stacks|Shares][.test_NAME]..."""

import itertools
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import dotnets
from ground_truth import Condition, cli, hold, recorder

waits = pathlib.Path(__file__).resolve().parent / "targets/waits.cs"
SECONDS = 0.3
# Of a program that waits for a fifth of a second in each of its stacks.
LEAST = 0.5


def runtimes():
    """The shared ones: a single file has only the parts of the library that it needs."""
    folder = os.environ.get("FLAM_DOTNETS")
    found = dotnets.from_packages(pathlib.Path(folder)) if folder else []
    if found:
        dotnets.compiler = found[0]
        return [path for path in found if path.name == "dotnet"]
    return [*filter(None, [shutil.which("dotnet")])]


def programs(source):
    return [words for words in (dotnets.program(source, str(runs)) for runs in runtimes()) if words]


def without_repetitions(names):
    return [name for name, _ in itertools.groupby(names)]


def own_stacks(said):
    """As the program printed them. That of a method in the runtime, in C++, has no
    name of .NET's for us."""
    return [without_repetitions(name for name in stack.splitlines()
                                if name != "System.RuntimeMethodHandle.InvokeMethod")
            for stack in said.strip().split("\n\n")]


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="flam-dotnet.")
        self.addCleanup(folder.cleanup)
        self.capture = pathlib.Path(folder.name) / "dotnet.flambeau"


class Stacks(Scratch):
    def recorded(self):
        """The managed frames of stacks with a long wait, from Sleep() on. Between the
        handler of an exception and its method, there is what calls it."""
        text = subprocess.run([cli, "export", self.capture, "--to", "folded", "--measure", "wall-time"],
                              check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              encoding="utf-8").stdout
        stacks = []
        for line in text.splitlines():
            stack, ns = line.rsplit(" ", 1)
            frames = stack.split(";")[::-1]
            if int(ns) < LEAST * SECONDS * 1e9 or "Some.Space.Waits.Sleep" not in frames:
                continue
            frames = frames[frames.index("Some.Space.Waits.Sleep"):]
            stacks.append(without_repetitions(
                name for name in frames if name.startswith(("Some.", "System."))
                and not name.startswith("System.Runtime.EH.")))
        return stacks

    def record(self, *words):
        return [recorder, "--output", self.capture, "--force", "--mode", "wall", "--rate", "100", *words]

    def compare(self, said, stacks):
        theirs = own_stacks(said)
        self.assertGreater(len(theirs), 9)
        self.assertEqual(sorted(stacks), sorted(stack for stack, _ in itertools.groupby(sorted(theirs))))

    def test_launched(self):
        for words in programs(waits) or self.skipTest("there is no .NET with a compiler"):
            done = subprocess.run(self.record("--", *words, str(SECONDS)), check=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8")
            self.compare(done.stdout, self.recorded())

    def test_attached(self):
        """In the first of its stacks."""
        for words in programs(waits) or self.skipTest("there is no .NET with a compiler"):
            with subprocess.Popen([*words, "60"], stdout=subprocess.PIPE, encoding="utf-8") as process:
                try:
                    said = "".join(iter(process.stdout.readline, "\n"))
                    subprocess.run(self.record("--pid", str(process.pid), "--duration", str(SECONDS)),
                                   check=True, stderr=subprocess.DEVNULL)
                finally:
                    process.kill()
            self.assertEqual(self.recorded(), own_stacks(said))


class Shares(Scratch):
    """heavy() and light() of burst.cs."""

    @staticmethod
    def wrong(measured):
        return [*map(str, measured.work_faults() if measured.disturbed else measured.faults())]

    def hold(self, attached):
        for runs in runtimes() or self.skipTest("there is no .NET"):
            condition = Condition("burst.cs", attached=attached, seconds=3, runs=str(runs))
            hold(self, condition, self.capture.parent, self.wrong)

    def test_launched(self):
        self.hold(False)

    def test_attached(self):
        self.hold(True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
