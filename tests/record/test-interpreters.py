#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ruby, PHP, Perl, Lua and LuaJIT: the stack at which a program sleeps, compared with
the program's own account of it. The shares of functions are in test-ground-truth.py.

  test-interpreters.py [Stacks|Compiled][.test_LANGUAGE]..."""

import itertools
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from ground_truth import (  # noqa: E402
    ask,
    interpreter,
    interpreters,
    recorder,
    traced,
    wait_until,
)

targets = pathlib.Path(__file__).resolve().parent / "targets"

# The suffixes of programs.
LANGUAGES = {"ruby": ".rb", "php": ".php", "perl": ".pl", "lua": ".lua"}


def heaviest(capture):
    """The frames of interpreted functions that took most of the time, innermost
    first, as "name TAB line"."""
    node = ask("tree", capture, "--depth", "1000", "--measure", "wall-time", "--no-native",
               "--thread", "#1", "--states", "io,lock,sleep")
    frames = []
    while node["self"] < node["total"] / 2:
        node = max(node["children"], key=lambda child: child["total"])
        frames.append((node["function"], node["line"]))
    return frames[::-1]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="flam-interpreters.")
        self.addCleanup(folder.cleanup)
        self.scratch = pathlib.Path(folder.name)

    def require(self, language):
        suffix = LANGUAGES[language]
        if not interpreter(suffix):
            self.skipTest(f"{language} is not installed")
        return suffix


class Stacks(Case):
    def record(self, program, attached):
        said, capture = self.scratch / "said", self.scratch / "capture.flambeau"
        words = [*program, str(said), "1.5" if attached else "1"]
        record = [recorder, "--output", capture, "--force", "--mode", "wall", "--rate", "200"]
        if not attached:
            subprocess.run([*record, "--", *words], check=True, timeout=60)
            return said, capture
        with subprocess.Popen(words) as target:
            self.addCleanup(target.kill)
            wait_until(lambda: said.exists() or target.poll() is not None, "it does not begin")
            with subprocess.Popen([*record, "--pid", str(target.pid)]) as ours:
                wait_until(lambda: traced(target.pid) or ours.poll() is not None, "it is not traced")
                self.assertEqual(ours.wait(timeout=60), 0)
        return said, capture

    def hold(self, language):
        suffix = self.require(language)
        for runs, attached in itertools.product(interpreters(suffix), (False, True)):
            said, capture = self.record([runs, str(targets / f"asleep{suffix}")], attached)
            wanted = [line.split("\t") for line in said.read_text().splitlines()]
            ours = heaviest(capture)
            # The function that waits is in C; in Perl it has no frame.
            ours = ours[language != "perl":]
            if language == "ruby":
                # Its own names are without the class until 3.4.
                self.assertIn("Worker#down", [name for name, _ in ours])
                self.assertIn("Base.run", [name for name, _ in ours])
                ours = [(re.sub(r"\w+[#.]", "", name), line) for name, line in ours]
            with self.subTest(runs=runs, attached=attached):
                self.assertEqual([name for name, _ in ours], [name for name, _ in wanted])
                for (name, line), (_, number) in zip(ours, wanted):
                    # Functions in C have no line.
                    if line:
                        self.assertEqual(line, int(number), f"{name}: {ours} {wanted}")
                self.assertGreater(sum(line > 0 for _, line in ours), len(ours) / 2)
            said.unlink()


class Compiled(Case):
    """PHP's just-in-time compiler."""

    def test_php(self):
        suffix = self.require("php")
        compiler = ["-dopcache.enable_cli=1", "-dopcache.jit_buffer_size=32M"]
        if b"Zend OPcache" not in subprocess.run(
                [interpreter(suffix), "-m"], check=True, stdout=subprocess.PIPE).stdout:
            self.skipTest("PHP's opcache is not installed")
        for mode in ("function", "tracing"):
            capture = self.scratch / "capture.flambeau"
            subprocess.run(
                [recorder, "--output", capture, "--force", "--", interpreter(suffix), *compiler,
                 f"-dopcache.jit={mode}", targets / "compiled.php", "1"],
                check=True, timeout=60)
            tree = ask("tree", capture, "--depth", "100", "--measure", "samples",
                       "--filter", "^work$")
            sorts = ask("tree", capture, "--depth", "100", "--measure", "samples", "--no-native",
                        "--focus", "^usort$")
            with self.subTest(mode=mode):
                # From the root on, and into the compiled code that C calls.
                roots = {child["function"]: child["total"] for child in tree["children"]}
                self.assertGreaterEqual(
                    roots.get("_start", 0), 0.98 * tree["total"] - 2, roots)
                names = [child["function"] for child in sorts["children"][0]["children"]]
                self.assertIn("Numbers::compare", names)


for language in LANGUAGES:
    setattr(Stacks, f"test_{language}", lambda self, language=language: self.hold(language))

if __name__ == "__main__":
    unittest.main(verbosity=2)
