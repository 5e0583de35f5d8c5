#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Erlang: the shares of two functions compared with the program's own clock, and
the frames of a stack with the program's own account.

  test-erlang.py [Erlang.test_NAME]..."""

import math
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from ground_truth import allowed_error, ask, recorder, top  # noqa: E402

targets = pathlib.Path(__file__).resolve().parent / "targets"


def path_to(node, function):
    """The nodes of a tree from its root to the heaviest one of the function."""
    if node["function"] == function:
        return [node]
    paths = [[node, *found] for child in node["children"] if (found := path_to(child, function))]
    return max(paths, key=lambda path: path[-1]["total"], default=[])


@unittest.skipUnless(shutil.which("erl") and shutil.which("erlc"), "Erlang is not installed")
class Erlang(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="flam-erlang.")
        cls.addClassCleanup(folder.cleanup)
        scratch = pathlib.Path(folder.name)
        cls.capture, said = scratch / "capture.flambeau", scratch / "said"
        subprocess.run(["erlc", "-o", scratch, targets / "shares.erl"], check=True)
        subprocess.run([recorder, "--output", cls.capture, "--", "erl", "-noshell", "-pa", scratch,
                        "-s", "shares", "start", "3", str(said)], check=True, timeout=120)
        lines = [line.split("\t") for line in said.read_text().splitlines()]
        cls.parts = {words[1]: int(words[2]) for words in lines if words[0] == "part"}
        cls.frames = [words[1:] for words in lines if words[0] == "frame"]

    def test_shares(self):
        rows = {row["function"]: row["total"]
                for row in top(self.capture, "--measure", "cpu-time")["rows"]}
        ours = {name: rows[f"shares:{name}/2"] for name in self.parts}
        samples = {row["function"]: row["total"]
                   for row in top(self.capture, "--measure", "samples")["rows"]}
        n = sum(samples[f"shares:{name}/2"] for name in self.parts)
        # Four standard deviations of a share of 0.75, if there are few samples.
        bound = max(allowed_error(loaded=True), 4 * math.sqrt(0.75 * 0.25 / n))
        for name, own in self.parts.items():
            self.assertAlmostEqual(ours[name] / sum(ours.values()),
                                   own / sum(self.parts.values()), delta=bound)

    def test_stacks(self):
        tree = ask("tree", self.capture, "--depth", "1000", "--measure", "cpu-time")
        found = path_to(tree, "shares:heavy/2")[:0:-1]
        # heavy/1 calls heavy/2 last, and has no frame then.
        self.assertEqual([node["function"] for node in found[1:]],
                         [name for name, _, _ in self.frames])
        # In part/2 it was at another line.
        for node, (name, file, line) in list(zip(found[1:], self.frames))[1:]:
            self.assertEqual((pathlib.Path(node["file"]).name, node["line"]),
                             (pathlib.Path(file).name, int(line)), name)
        self.assertGreater(len(found), 5)

    def test_complete(self):
        """A stack that reaches the process's first function is whole."""
        tree = ask("tree", self.capture, "--depth", "1", "--measure", "samples")
        whole = sum(child["total"] for child in tree["children"]
                    if child["function"] == "init:do_boot/3")
        self.assertGreater(whole, 0.1 * tree["total"])
        self.assertLess(ask("info", self.capture)["truncated_stacks"],
                        1.02 * tree["total"] - whole + 5)

    def test_lines(self):
        """The work is in the two lines of the two functions, mostly in the second: a
        clause is chosen in the first."""
        text = (targets / "shares.erl").read_text().splitlines()
        lines = ask("lines", self.capture, "--source", "shares.erl", "--measure", "cpu-time")
        rows = lines["rows"] if isinstance(lines, dict) else lines
        whole = sum(row["self"] for row in rows)
        second = sum(row["self"] for row in rows if "band 16#ffffff" in text[row["line"] - 1])
        first = sum(row["self"] for row in rows if "(0, A) -> A" in text[row["line"] - 1])
        self.assertGreater(first + second, 0.97 * whole)
        self.assertGreater(second, 0.5 * whole)

    def test_called_c(self):
        """C runs on the scheduler's stack; the process that has called it is found."""
        with tempfile.TemporaryDirectory(prefix="flam-erlang.") as folder:
            capture = pathlib.Path(folder) / "capture.flambeau"
            subprocess.run(["erlc", "-o", folder, targets / "calls.erl"], check=True)
            subprocess.run([recorder, "--output", capture, "--", "erl", "-noshell", "-pa", folder,
                            "-s", "calls", "start", "3"], check=True, timeout=120)
            self.assertLess(ask("info", capture)["truncated_stacks"],
                            0.02 * ask("info", capture)["samples"] + 5)
            # The caller, its callers: init:start_em/1, init:do_boot/3.
            for function in ["phash2_1", "term_to_binary_1", "binary_to_term_1"]:
                tree = ask("tree", capture, "--depth", "1000", "--measure", "samples",
                           "--filter", f"^{function}$")
                names = [node["function"] for node in path_to(tree, function)[1:]]
                self.assertEqual(names[0], "init:do_boot/3")
                self.assertEqual(names[-3:], ["calls:until/1", "calls:work/2", function])


if __name__ == "__main__":
    unittest.main()
