#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""node's JavaScript functions, without a flag of node's: the stack of a waiting
program beside Error.stack, those of a busy one beside node's own map of its code,
and the shares of two functions beside their own clocks, launched and attached.
FLAM_NODE is the node, or that of PATH.

  test-node.py [Stacks|Map|Shares|Threads|Regular][.test_NAME]..."""

import collections
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from ground_truth import Condition, cli, hold, recorder  # noqa: E402

node = os.environ.get("FLAM_NODE") or shutil.which("node")
targets = pathlib.Path(__file__).resolve().parent / "targets"
blocked, callbacks = targets / "blocked.js", targets / "callbacks.js"
# Their functions' names, which Error.stack adorns with classes.
NAMES = ["stop", "deep", "deep", "deep", "deep", "get rest", "method", "arrow", "inMap", "middle",
         "outer", "Counter.viaPrototype", "crowded", "größe", "大きさ", "(anonymous)",
         "(anonymous)", "(anonymous)"]
NAMED = 0.95


def rows(text, kind):
    """The rows of one kind in a dump, as dictionaries of their "key=value"."""
    for line in text.splitlines():
        if line.startswith(kind + " "):
            yield line, dict(re.findall(r"(\w+)=(\S*)", line))


class Capture:
    """The parts of a capture that describe its stacks."""

    def __init__(self, path):
        done = subprocess.run([cli, "dump", path, "--stage", "profile"], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8")
        text = done.stdout
        self.functions = [self.function(line) for line, _ in rows(text, "function")]
        self.frames = [(int(row["function"]), int(row["line"])) for _, row in rows(text, "frame")]
        self.stacks = [(row["prefix"], int(row["frame"])) for _, row in rows(text, "stack")]

    @staticmethod
    def function(line):
        found = re.match(r"function \d+ (.*) (?:interpreted|jit) at (.*?):\d+ ", line)
        return found and (found[1], found[2])

    def javascript(self, stack):
        """Its JavaScript frames, innermost first: name, "file:line"."""
        found = []
        while stack not in ("-", None):
            stack, frame = self.stacks[int(stack)]
            function, line = self.frames[frame]
            if self.functions[function]:
                name, file = self.functions[function]
                found.append((name, f"{file}:{line}"))
        return found

    def innermost(self, name):
        """The longest stack in which this JavaScript function is the innermost."""
        found = [self.javascript(str(i)) for i in range(len(self.stacks))]
        return max((frames for frames in found if frames and frames[0][0] == name), key=len)


def error_stack(text):
    """The "file:line" of each frame that has one."""
    return [
        re.sub("^file://", "", found[1])
        for found in re.finditer(r"^    at (?:.*\()?(\S+:\d+):\d+\)?$", text, re.MULTILINE)
    ]


@unittest.skipUnless(node, "there is no node")
class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="flam-node.")
        self.addCleanup(folder.cleanup)
        self.capture = pathlib.Path(folder.name) / "node.flambeau"


class Stacks(Scratch):
    """Frame by frame, in the file and line of each."""

    def record(self, *words):
        return [recorder, "--output", self.capture, "--mode", "wall", "--rate", "100", *words]

    def compare(self, said):
        frames = Capture(self.capture).innermost("stop")
        self.assertEqual([place for _, place in frames], error_stack(said))
        self.assertEqual([name for name, place in frames if str(blocked) in place], NAMES)

    def test_launched(self):
        done = subprocess.run(self.record("--", node, blocked, "0.5"), check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8")
        self.compare(done.stdout)

    def test_attached(self):
        with subprocess.Popen([node, blocked, "60"], stdout=subprocess.PIPE,
                              encoding="utf-8") as process:
            try:
                said = "".join(iter(process.stdout.readline, "\n"))
                subprocess.run(self.record("--pid", str(process.pid), "--duration", "0.5"),
                               check=True, stderr=subprocess.DEVNULL)
            finally:
                process.send_signal(signal.SIGKILL)
        self.compare(said)


class Map(Scratch):
    """The stacks of functions that builtins and C++ call, which are read here, and
    those that the unwinder finds, with the names of node's map (perf-PID.map). It has
    one for machine code alone, so the interpreter gets a copy of its own for each
    function, and nothing is inlined."""

    FLAGS = ["--perf-basic-prof", "--interpreted-frames-native-stack", "--no-logfile-per-isolate"]

    def setUp(self):
        super().setUp()
        self.own = set(re.findall(r"^ *(?:function (\w+)\(|(?:get )?(\w+)\(.*\) {$)", callbacks.read_text(), re.M))
        known = subprocess.run([node, "--v8-options"], check=True, stdout=subprocess.PIPE,
                               encoding="utf-8").stdout
        self.not_inlined = [f"--no-{name}" for name in ("turbo-inlining", "maglev-inlining")
                            if re.search(f"--{name}\\b", known)]
        self.own = {"".join(names) for names in self.own} - {"constructor", "for"}

    def chains(self, flags, *options):
        """How often each chain of the program's functions was seen, leaf first, a
        recursion as one."""
        maps = set(pathlib.Path("/tmp").glob("perf-*.map"))
        subprocess.run([recorder, "--output", self.capture, "--force", *options, "--", node,
                        *self.not_inlined, *flags, callbacks, "1"],
                       check=True, cwd=self.capture.parent, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        for path in set(pathlib.Path("/tmp").glob("perf-*.map")) - maps:
            path.unlink()
        text = subprocess.run([cli, "export", self.capture, "--to", "folded", "--measure", "samples"],
                              check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              encoding="utf-8").stdout
        chains = collections.Counter()
        for line in text.splitlines():
            stack, count = line.rsplit(" ", 1)
            # "JS:*mapValue /a/b.js:1:2" (to node 16 "LazyCompile:"), "get twice", "Value.toJSON"
            names = [re.sub(r"^(?:\w+:)?[*~^+']*(?:get )?(?:\w+\.)?(\w*).*", r"\1", name)
                     for name in stack.split(";")[::-1]]
            chain = tuple(name for name, _ in itertools.groupby(filter(self.own.__contains__, names)))
            if chain:
                chains[chain] += int(count)
        return chains

    def test_callbacks(self):
        ours = self.chains([])
        theirs = self.chains(self.FLAGS, "--no-runtimes")
        self.assertGreater(len(theirs), 7)
        for some, others in ((ours, theirs), (theirs, ours)):
            # A caller was seen at work, too.
            others = {chain[i:] for chain in others for i in range(len(chain))}
            known = sum(n for chain, n in some.items() if chain in others)
            self.assertGreaterEqual(known, 0.95 * sum(some.values()), set(some) - others)


class Shares(Scratch):
    """heavyWork() and lightWork() of burst.js, and the part without any name."""

    @staticmethod
    def wrong(measured):
        """If others used the CPU, only one function is compared with the other:
        the visible part of the kernel's work around waits varies then."""
        faults = measured.work_faults() if measured.disturbed else measured.faults()
        unnamed = sum(row["self"] for row in measured.rows if row["function"].startswith("["))
        named = 1 - unnamed / 1e9 / measured.total
        return [*map(str, faults), *([f"named {named:.1%}"] if named < NAMED else [])]

    def hold(self, condition):
        hold(self, condition, self.capture.parent, self.wrong)

    def test_launched(self):
        self.hold(Condition("burst.js", seconds=3))

    def test_attached(self):
        self.hold(Condition("burst.js", attached=True, seconds=3))


class Threads(Scratch):
    """Each thread by what it is for: a worker by its number, whose own function runs in
    no other one."""

    def threads_of(self, function):
        done = subprocess.run([cli, "top", self.capture, "--by", "thread", "--focus", function,
                               "--json"], check=True, stdout=subprocess.PIPE)
        rows = json.loads(done.stdout)["rows"]
        return {row["function"] for row in rows if row["total"] > 0}

    def test_workers(self):
        subprocess.run([recorder, "--output", self.capture, "--", node, targets / "workers.js"],
                       check=True, stderr=subprocess.DEVNULL)
        done = subprocess.run([cli, "info", self.capture, "--json"], check=True,
                              stdout=subprocess.PIPE)
        names = [row["name"] for row in json.loads(done.stdout)["threads"]]
        self.assertEqual([names.count(f"Worker {n}") for n in (2, 3, 4)], [1, 1, 0], names)
        self.assertIn("libuv-worker", names)
        self.assertEqual(self.threads_of("second"), {"Worker 2"})
        self.assertEqual(self.threads_of("third"), {"Worker 3"})


class Regular(Scratch):
    """The machine code of regular expressions, by their text as in DevTools: called by a
    builtin, and by C++."""

    PROGRAM = r"""
        const words = "the quick brown fox jumps over the lazy dog ".repeat(50);
        const end = Date.now() + 1000;
        let n = 0;
        while (Date.now() < end) {
          n += /(\w+)\s+(\w+)\s+zebra/.test(words);
          n += words.replace(/[^q]\w{3}ö?/g, "").length;
        }"""

    def test_names(self):
        subprocess.run([recorder, "--output", self.capture, "--", node, "-e", self.PROGRAM],
                       check=True, stderr=subprocess.DEVNULL)
        done = subprocess.run([cli, "top", self.capture, "--json"], check=True,
                              stdout=subprocess.PIPE)
        answer = json.loads(done.stdout)
        rows = {row["function"]: row["self"] for row in answer["rows"]}
        named = [r"RegExp: (\w+)\s+(\w+)\s+zebra", r"RegExp: [^q]\w{3}ö?"]
        self.assertLessEqual(set(named), set(rows))
        self.assertGreater(rows[named[0]], 0.3 * answer["total"])
        unnamed = sum(value for name, value in rows.items() if name.startswith("[generated"))
        self.assertLess(unnamed, 0.02 * answer["total"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
