#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""export --to sqlite, read by Python's own sqlite3: its views compared with the
output of `top`, `lines` and folded stacks for the same capture, its tables by sums in
SQL. Opened again, it has the figures of the same capture as .flambeau."""

import collections
import contextlib
import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import unittest

root = pathlib.Path(__file__).resolve().parent.parent.parent
build = pathlib.Path(os.environ.get("FLAM_BUILD_ROOT", root / "_test"))
cli = build / "app/cli/flambeau-cli"
captures = root / "tests/captures"


def ask(*words):
    done = subprocess.run([cli, *words], check=True, capture_output=True, text=True)
    return done.stdout


class Sqlite(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="flam-sqlite.")
        self.addCleanup(folder.cleanup)
        self.scratch = pathlib.Path(folder.name)

    def open(self, capture, *selection):
        path = self.scratch / "out.sqlite"
        ask("export", captures / capture, "--to", "sqlite", "--output", path, *selection)
        self.assertEqual(sorted(self.scratch.iterdir()), [path])
        base = self.enterContext(contextlib.closing(sqlite3.connect(path)))
        self.assertEqual(base.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        return base

    def hold(self, capture, *selection):
        base = self.open(capture, *selection)
        rows = json.loads(ask("top", captures / capture, "--json", *selection))["rows"]
        self.assertEqual(
            collections.Counter(base.execute("SELECT * FROM functions")),
            collections.Counter((row["function"], row["module"], row["file"], row["self"],
                                 row["total"]) for row in rows))
        folded = collections.Counter()
        for line in ask("export", captures / capture, "--to", "folded", *selection).splitlines():
            text, weight = line.rsplit(" ", 1)
            folded[text] += int(weight)
        ours = base.execute("SELECT text, sum(self) FROM stacks GROUP BY text")
        self.assertEqual(dict(ours), {text: n for text, n in folded.items() if text})
        return base

    def test_family(self):
        capture = "flambeau/family.flambeau"
        base = self.hold(capture)
        info = json.loads(ask("info", captures / capture, "--json"))
        [samples] = base.execute("SELECT count(*) FROM sample").fetchone()
        self.assertEqual(samples, info["samples"])
        # Of measures that weigh each sample differently.
        names = [row[1] for row in base.execute("PRAGMA table_info(sample)")]
        for measure in info["measures"]:
            sums = f"\"weight {measure['id']}\"" if measure["id"] != "samples" else "1"
            self.assertIn(sums.strip('"'), [*names, "1"])
            self.assertEqual(base.execute(f"SELECT sum({sums}) FROM sample").fetchone(),
                             (measure["total"],))
        # A thread's total in SQL.
        sums = base.execute(
            "SELECT pid, tid, count(*) FROM sample JOIN thread ON thread.id = sample.thread"
            " JOIN process ON process.id = thread.process GROUP BY pid, tid")
        self.assertEqual(
            collections.Counter(sums),
            collections.Counter((one["pid"], one["tid"], one["samples"])
                                for one in info["threads"] if one["samples"]))
        [file] = base.execute(
            "SELECT file FROM lines GROUP BY file ORDER BY sum(self) DESC LIMIT 1").fetchone()
        lines = json.loads(ask("lines", captures / capture, "--source", file, "--json"))
        lines = lines["rows"] if isinstance(lines, dict) else lines
        self.assertEqual(
            set(base.execute("SELECT line, self, total FROM lines WHERE file = ?", (file,))),
            {(row["line"], row["self"], row["total"]) for row in lines})

    def test_selection(self):
        base = self.hold("flambeau/family.flambeau", "--thread", "#1")
        self.assertEqual(len(base.execute("SELECT DISTINCT thread FROM sample").fetchall()), 1)

    def test_memory(self):
        base = self.hold("heaptrack/raw.heaptrack", "--measure", "allocated")
        [allocated] = base.execute("SELECT sum(size * count) FROM allocation").fetchone()
        [total] = base.execute("SELECT sum(self) FROM stack_cost").fetchone()
        self.assertEqual(allocated, total)

    def test_fractions(self):
        """Weights with fractions are real numbers."""
        base = self.open("folded/fractions.folded")
        [total] = base.execute("SELECT sum(self) FROM functions").fetchone()
        self.assertNotEqual(total, int(total))

    def test_opened(self):
        """Every figure of each measure: of threads, events, labels, memory, fractions."""
        for capture in ("flambeau/family.flambeau", "perf-data/off-cpu@little-endian.perf.data",
                        "pprof/labels.pb", "heaptrack/v3.heaptrack", "folded/fractions.folded"):
            with self.subTest(capture):
                files = [self.scratch / f"again.{format}" for format in ("sqlite", "flambeau")]
                for file in files:
                    ask("export", captures / capture, "--to", file.suffix[1:], "--output", file,
                        "--force")
                again, expected = (json.loads(ask("info", file, "--json")) for file in files)
                self.assertEqual(again.pop("format"), "sqlite")
                self.assertEqual(expected.pop("format"), "flambeau")
                self.assertEqual(again, expected)
                for measure in expected["measures"]:
                    self.assertEqual(*(ask("tree", file, "--by", "thread", "--json", "--measure",
                                           measure["id"]) for file in files))

    def test_changed(self):
        """Other programs may change the tables: rows that refer to none are left
        out, and counted."""
        path = self.scratch / "changed.sqlite"
        ask("export", captures / "flambeau/family.flambeau", "--to", "sqlite", "--output", path)
        before = json.loads(ask("info", path, "--json"))
        with contextlib.closing(sqlite3.connect(path)) as base, base:
            [kept] = base.execute("SELECT count(*) FROM sample WHERE time < 100000000").fetchone()
            base.execute("DELETE FROM sample WHERE time >= 100000000")
            base.execute("UPDATE stack SET frame = 1 << 40 WHERE id = 0")
            base.execute("CREATE VIEW evil AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL"
                         " SELECT x FROM n) SELECT x FROM n")
        after = json.loads(ask("info", path, "--json"))
        self.assertLess(after["samples"], kept + 1)
        self.assertTrue(any("does not exist" in text or "do not exist" in text
                            for text in after["warnings"]), after["warnings"])
        self.assertFalse(before["warnings"])
        for statement in ("ALTER TABLE stack RENAME TO other", "DELETE FROM measure"):
            with contextlib.closing(sqlite3.connect(path)) as base, base:
                base.execute(statement)
            done = subprocess.run([cli, "top", path], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)

    def history(self, *words):
        return json.loads(ask("history", *words, "--json"))

    def test_store(self):
        """history --store: every run has the figures of the capture itself, and
        the costs that `top` prints."""
        store = self.scratch / "runs.sqlite"
        files = [captures / "flambeau/family.flambeau", self.scratch / "twice.flambeau"]
        ask("merge", files[0], files[0], "--output", files[1])
        self.history(files[0], "--store", store, "--commit", "c1", "--job", "nightly")
        # The first one is in it already, and keeps its labels.
        found = self.history(files[0], files[1], "--store", store, "--commit", "c2")
        # In order of their dates, and then of their names, which are paths.
        labels = {run["file"]: (run.pop("commit"), run.pop("job", None)) for run in found}
        self.assertEqual(labels, {str(files[0]): ("c1", "nightly"), str(files[1]): ("c2", None)})
        self.assertEqual(found, self.history(*files))
        self.assertEqual([run["file"] for run in self.history("--store", store)],
                         [run["file"] for run in found])
        by_count = self.history("--store", store, "--measure", "samples", "--function", "main")
        self.assertEqual(by_count, [
            dict(run, commit=stored["commit"], **{"job": stored["job"]} if "job" in stored else {})
            for run, stored in zip(
                self.history(*files, "--measure", "samples", "--function", "main"), by_count)])
        base = self.enterContext(contextlib.closing(sqlite3.connect(store)))
        self.assertEqual(base.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        self.assertEqual(base.execute("SELECT count(*) FROM run").fetchone(), (2,))
        for commit, file in (("c1", files[0]), ("c2", files[1])):
            rows = json.loads(ask("top", file, "--json", "--measure", "samples"))["rows"]
            ours = dict(base.execute(
                'SELECT name, self FROM functions WHERE "commit" = ? AND measure = ?',
                (commit, "samples")))
            sums = collections.Counter()
            for row in rows:
                sums[row["function"]] += row["self"]
            del sums["[no stack]"]  # which is not a function
            self.assertEqual(ours, dict(sums))

    def test_store_of_before(self):
        """Stores of earlier versions are read, and get the new columns with the next
        run."""
        capture = captures / "flambeau/family.flambeau"
        store = self.scratch / "runs.sqlite"
        self.history(capture, "--store", store)
        expected = self.history("--store", store)
        columns = {"run_measure": ["least_self", "least_total"]}
        for version in (2, 1):
            with contextlib.closing(sqlite3.connect(store)) as base, base:
                if version == 1:
                    columns["run_measure"] += ["total_error", "total_samples", "rest_error",
                                               "rest_samples"]
                    columns["run_function"] = ["self_error", "self_samples", "total_error",
                                               "total_samples"]
                for table, names in columns.items():
                    for name in names:
                        base.execute(f"ALTER TABLE {table} DROP COLUMN {name}")
                base.execute(f"PRAGMA user_version = {version}")
            self.assertEqual(self.history("--store", store), expected)
            self.assertEqual(self.history(capture, "--store", store), expected)
            with contextlib.closing(sqlite3.connect(store)) as base:
                self.assertEqual(base.execute("PRAGMA user_version").fetchone(), (3,))

    def test_store_hostile(self):
        """Other files, and one that has been tampered with: one error message
        each."""
        def refuse(*words):
            done = subprocess.run([cli, "history", *words], capture_output=True, text=True)
            self.assertIn(done.returncode, (1, 2))
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            return done.stderr

        capture = captures / "flambeau/family.flambeau"
        other, text, store = (self.scratch / name for name in ("other", "text", "store"))
        with contextlib.closing(sqlite3.connect(other)) as base:
            base.execute("CREATE TABLE run (id)")
        text.write_text("not a database, but long enough to be taken for one " * 40)
        self.assertIn("not a store", refuse("--store", other))
        self.assertIn("not a database", refuse("--store", text))
        self.assertIn("unable to open", refuse("--store", self.scratch / "none"))
        self.assertIn("--measure is the only selection",
                      refuse(capture, "--store", store, "--filter", "x"))
        self.history(capture, "--store", store)
        with contextlib.closing(sqlite3.connect(store)) as base, base:
            base.execute("UPDATE run SET measure = 9223372036854775807, duration_ns = -5")
            base.execute("UPDATE run_measure SET unit = 77, denominator = 0, total = -1")
            base.execute("CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END")
        self.assertEqual(len(self.history("--store", store)), 1)
        with contextlib.closing(sqlite3.connect(store)) as base, base:
            base.execute("DROP TABLE run_measure")
            base.execute("CREATE VIEW run_measure AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL"
                         " SELECT x FROM n) SELECT x AS run FROM n")
        refuse("--store", store)

    def test_full(self):
        """If it cannot be written: one error message, and no file."""
        done = subprocess.run(
            [cli, "export", captures / "flambeau/family.flambeau", "--to", "sqlite",
             "--output", self.scratch / "x"],
            env=dict(os.environ, TMPDIR=str(self.scratch / "none")), capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertEqual(list(self.scratch.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
