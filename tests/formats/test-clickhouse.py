#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A store of captures in a ClickHouse of its own: it adds pushed captures up to the
figures of `flambeau-cli merge`."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

import clickhouse
from server import captures, cli

ONE = captures / "flambeau/family.flambeau"
TWO = captures / "flambeau/kitchen.flambeau"


def run(*words, code=0):
    done = subprocess.run(
        [cli, *words], capture_output=True, text=True, timeout=60,
        env={**os.environ, "FLAMBEAU_TOKEN": clickhouse.TOKEN, "DBUS_SESSION_BUS_ADDRESS": "disabled:"})
    if done.returncode != code:
        raise AssertionError(f"{words}: {done.returncode}: {done.stderr}")
    return done.stderr if code else done.stdout


def top(*words):
    rows = json.loads(run("top", "--json", *words))
    return rows["total"], {(row["function"], row["file"], row["line"]): (row["self"], row["total"])
                           for row in rows["rows"]}


@unittest.skipUnless(clickhouse.PROGRAM, "ClickHouse is not installed")
class Store(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            server = clickhouse.ClickHouse()
        except AssertionError:
            raise unittest.SkipTest("ClickHouse does not start here") from None
        cls.addClassCleanup(server.stop)
        cls.server, cls.ask, cls.url = server, server.ask, server.url
        for name in "one", "labels", "again", "measures", "runs":
            if cls.ask(f"CREATE DATABASE {name}", post=True) is None:
                raise AssertionError(f"ClickHouse does not create {name}")

    def test_added_up(self):
        """Functions, files and lines with their self and total costs."""
        run("push", ONE, TWO, "--to", self.url("one", "service=shop"))
        with tempfile.TemporaryDirectory() as folder:
            both = pathlib.Path(folder, "both.flambeau")
            run("merge", ONE, TWO, "--output", both)
            for ours, theirs in (("cpu", "cpu-time"), ("wall", "wall-time")):
                with self.subTest(ours):
                    self.assertEqual(
                        top(self.url("one", "service=shop"), "--measure", ours),
                        top(both, "--measure", theirs))
            # Of all services: another one's captures add nothing to the table of stacks.
            stacks = self.ask("SELECT count() FROM one.stack")
            run("push", TWO, "--to", self.url("one", "service=other shop"))
            self.assertEqual(self.ask("SELECT count() FROM one.stack"), stacks)
            run("merge", ONE, TWO, TWO, "--force", "--output", both)
            self.assertEqual(top(self.url("one", "type=cpu")),
                             top(both, "--measure", "cpu-time"))
        self.assertIn("no such profile", run("info", self.url("one", "service=none"), code=1))
        self.assertEqual(self.ask("SELECT count(), uniq(service) FROM one.run"), "3\t2\n")

    def test_labels(self):
        """Two commits are kept apart, and can be compared."""
        for capture, commit in ((ONE, "a'b\\"), (TWO, "b")):
            run("push", capture, "--to",
                self.url("labels", "service=shop&commit=" + urllib.parse.quote(commit)))
        one, two = (self.url("labels", "type=cpu&commit=" + urllib.parse.quote(commit))
                    for commit in ("a'b\\", "b"))
        self.assertEqual(top(one), top(ONE, "--measure", "cpu-time"))
        self.assertEqual(top(two), top(TWO, "--measure", "cpu-time"))
        self.assertEqual(
            json.loads(run("diff", "--json", one, two))["rows"],
            json.loads(run("diff", "--json", ONE, TWO, "--measure", "cpu-time"))["rows"])
        # A capture is there once: a sum over all labels would count it twice.
        self.assertTrue(run("push", ONE, "--to", self.url("labels", "service=shop&commit=c"),
                            code=1).endswith("the capture is there already, with commit=a'b\\\n"))

    def test_measures(self):
        """Of several measures, the first that is not 0 is shown, unless another one
        is chosen."""
        run("push", ONE, "--to", self.url("measures", "commit=all"))
        for number, (commit, left_out, factor) in enumerate(
                (("later", "cpu", 1), ("idle", "none", "measure != 'cpu'")), 1):
            self.ask(f"INSERT INTO measures.sample SELECT run + {number}, service, measure, series,"
                     f" hour, stack, value * ({factor}) FROM measures.sample WHERE measure !="
                     f" '{left_out}' AND run IN (SELECT id FROM measures.run WHERE values[1] = 'all')",
                     post=True)
            kept = ", ".join(f"arrayFilter((v, m) -> m != '{left_out}', {values}, measures)"
                             for values in ("measures", "units", "series", "totals", "errors",
                                            "counts"))
            self.ask(f"INSERT INTO measures.run SELECT id + {number}, capture + {number}, time,"
                     " start, duration, service, host, job, command, name, build, format, peak,"
                     f" measure, {kept}, keys, ['{commit}'] FROM measures.run"
                     " WHERE values[1] = 'all'", post=True)
        whole, later, idle = (self.url("measures", "commit=" + commit)
                              for commit in ("all", "later", "idle"))
        for url, words, measure in (
                (whole, [], "cpu-time"), (whole, ["--measure", "wall"], "wall-time"),
                (later, [], "samples"), (idle, [], "samples")):
            with self.subTest(url=url, words=words):
                self.assertEqual(top(url, *words), top(ONE, "--measure", measure))
        self.assertEqual(top(idle, "--measure", "cpu")[0], 0)
        self.assertIn("there are: cpu samples wall",
                      run("top", "--measure", "energy", whole, code=1))
        for words, base, fresh in (([], whole, whole), (["--measure", "samples"], whole, later),
                                   (["--measure", "wall"], whole, later)):
            with self.subTest(words=words):
                rows = json.loads(run("diff", "--json", *words, base, fresh))["rows"]
                self.assertEqual({row["delta"] for row in rows}, {0})
        self.assertIn("choose others with --measure", run("diff", whole, later, code=1))

    def test_again(self):
        """A capture that is in the store already is not added again."""
        run("push", ONE, "--to", self.url("again"))
        self.assertIn("the capture is there already\n",
                      run("push", ONE, "--to", self.url("again"), code=1))
        # Nor is one whose push failed before its run, or that two pushed at the same time.
        self.ask("INSERT INTO again.sample SELECT bitXor(run, 1), service, measure, series,"
                 " hour, stack, value FROM again.sample", post=True)
        before = top(ONE, "--measure", "cpu-time")
        self.assertEqual(top(self.url("again", "type=cpu")), before)
        self.ask("INSERT INTO again.run SELECT bitXor(id, 1), capture, time, start, duration,"
                 " service, host, job, command, name, build, format, peak, measure, measures,"
                 " units, series, totals, errors, counts, keys, values FROM again.run", post=True)
        self.assertEqual(self.ask("SELECT count(), uniq(capture) FROM again.run"), "2\t1\n")
        self.assertEqual(top(self.url("again", "type=cpu")), before)

    def test_history(self):
        """One run per capture, with the figures and labels that a store in a file has."""
        store, names = self.url("runs").replace("from=0100000000&", ""), {"cpu-time": "cpu",
                                                                         "wall-time": "wall"}
        with tempfile.TemporaryDirectory() as folder:
            file = str(pathlib.Path(folder, "runs.sqlite"))
            for capture, words in ((ONE, ["--commit", "a'b", "--job", "7"]), (TWO, ["--commit", "c"]),
                                   (ONE, ["--commit", "again"])):
                for place in store, file:
                    run("history", "--store", place, capture, *words)
            for words in ([], ["--measure", "cpu"], ["--function", "slice"]):
                theirs = [w.replace("cpu", "cpu-time") for w in words]
                with self.subTest(words):
                    ours, file_s = (
                        json.loads(run("history", "--json", *all)) for all in
                        ((store, *words), (file, *theirs)))
                    self.assertEqual(len(ours), 2)
                    for one, other in zip(ours, file_s):
                        other["totals"] = {names.get(key, key): value
                                           for key, value in other["totals"].items()}
                    self.assertEqual(ours, file_s)
        for words in "service=x&commit=a%27b", "host=h":
            self.assertIn("no runs like these", run("history", self.url("runs", words), code=1))
        one = self.url("runs", "commit=a%27b&job=7")
        self.assertEqual(["a'b"], [r["commit"] for r in json.loads(run("history", "--json", one))])
        self.assertEqual(top(one), top(ONE, "--measure", "cpu-time"))
        self.assertIn("--measure is the only selection", run("history", "--thread", "main", store, code=2))

    def test_refused(self):
        self.assertIn("error 404", run("info", self.url("nowhere"), code=1))


if __name__ == "__main__":
    result = unittest.main(verbosity=2, exit=False).result
    if not result.wasSuccessful():
        print(Store.server.log[-4000:])
    reasons = {why for _, why in result.skipped}
    for why in reasons:
        print("ok 1 clickhouse # SKIP", why)
    sys.exit(not result.wasSuccessful() or (77 if reasons else 0))
