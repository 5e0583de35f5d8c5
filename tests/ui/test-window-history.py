#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The history of a folder: the plot, the texts of its points, and comparing two
captures."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from flamwindow import BUILD, SOURCE, wait_for  # noqa: E402
from windowtest import WindowTest as Base  # noqa: E402

NOON = 1793534400  # 2026-11-01 12:00 UTC
DAY = 86400
CAPTURES = {
    "main/1.folded": ("main;parse 100\nmain;lex 20\n", 0),
    "main/2.folded": ("main;parse 130\nmain;lex 20\nmain;fresh 9\n", 2),
    "next/1.folded": ("main;parse 90\n", 1),
}


class HistoryTest(Base):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.runs = pathlib.Path(self.folder.name, "runs")
        self.runs.mkdir()
        for name, (text, day) in CAPTURES.items():
            path = self.runs / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            os.utime(path, (NOON + day * DAY,) * 2)

    def open_runs(self, **options):
        window = self.open(self.runs, **options)
        self.chart_says(lambda name: name.startswith("Samples"))
        return window

    def chart_says(self, test):
        """The chart's name contains the plotted measure and the current point."""
        return wait_for(
            "what the chart says",
            lambda: [node for node in self.window.find_all(role="image")
                     if test(node.name)],
        )[0]

    def walk(self, key, *words):
        self.window.key(key)
        self.chart_says(
            lambda name: all(word in name.replace("\u00a0", " ") for word in words))

    def test_plot(self):
        """Folders name the series; keys go from point to point."""
        window = self.open_runs()
        self.assertEqual(window.title(), "runs")
        window.wait_label(lambda text: text.replace("\u00a0", " ") == "● main")
        window.wait_label(lambda text: text.replace("\u00a0", " ") == "■ next")
        window.focus(self.chart_says(lambda name: name.startswith("Samples")))
        self.walk("Home", "main/1.folded", "120", "date of the file")
        self.walk("Right", "main/2.folded", "159", "+39 (+32.5 %)")
        self.walk("Down", "next/1.folded", "90", "Series: next")
        self.walk("Up", "main/", "Series: main")

        # A function, found by a part of its name.
        window.click("Function: All functions")
        window.type(window.find("Part of a function’s name"), "res")
        window.key("Return")
        window.find("Function: fresh")
        window.focus(self.chart_says(
            lambda name: name.startswith("Samples of fresh")))
        self.walk("End", "main/2.folded", "9")

        # An invalid regex is reported, and the previous series stay.
        entry = window.find("Series by Regular Expression", "text")
        window.type(entry, "^(")
        window.wait_label(lambda text: "missing" in text)
        window.type(entry, "([0-9])")
        window.wait_label(lambda text: "● 1" in text.replace("\u00a0", " "))

    def test_series(self):
        """The legend hides a series: its line, its rows and its share of the
        scale; and all of them."""
        window = self.open_runs()
        rows = lambda: len(list(window.find_all(
            lambda name: name.endswith(".folded"), "label")))
        wait_for("three captures", lambda: rows() == 3)
        window.click("next", "push button")
        wait_for("two captures", lambda: rows() == 2)
        window.focus(self.chart_says(lambda name: name.startswith("Samples")))
        self.walk("Home", "main/1.folded")
        window.key("Down")
        self.walk("End", "main/2.folded")
        window.click("main", "push button")
        wait_for("no capture", lambda: rows() == 0)
        window.click("next", "push button")
        wait_for("the other capture", lambda: rows() == 1)
        # Hidden series stay hidden with another measure or function.
        window.click("Function: All functions")
        window.type(window.find("Part of a function’s name"), "parse")
        window.key("Return")
        window.find("Function: parse")
        wait_for("the other capture", lambda: rows() == 1)

    def test_compare(self):
        """Two captures: the later one opens, with the earlier as its baseline."""
        window = self.open_runs()
        window.focus(self.chart_says(lambda name: name.startswith("Samples")))
        self.walk("End", "main/2.folded")
        self.walk("space", "Marked")
        self.walk("Left", "main/1.folded")
        window.key("space")
        window.wait_label(lambda text: "1.folded" in text and "2.folded" in text
                          and "159" in text)
        self.assertEqual(window.title(), "2.folded")

    def test_open(self):
        """Enter opens the capture of the current point."""
        window = self.open_runs()
        window.focus(self.chart_says(lambda name: name.startswith("Samples")))
        self.walk("Down", "next/1.folded")
        window.key("Return")
        wait_for("the capture", lambda: window.title() == "1.folded")
        window.wait_label(lambda text: text.startswith("total 90"))

    def open_trace(self, name):
        window = self.open(SOURCE / "tests/captures" / name)
        wait_for("the capture", lambda: window.title() == name.split("/")[1])
        window.wait_label(lambda text: text.startswith("total "))

    def test_store(self):
        """The figures that the command line keeps in one file, without the captures."""
        store = pathlib.Path(self.folder.name, "runs & more.sqlite")
        subprocess.run([BUILD / "app/cli/flambeau-cli", "history", "--store", store, "--commit", "4a5b",
                        self.runs / "main"], check=True, stdout=subprocess.DEVNULL)
        for name in CAPTURES:
            (self.runs / name).unlink()
        window = self.open(store)
        chart = self.chart_says(lambda name: name.startswith("Samples"))
        self.assertEqual(window.title(), store.name)
        window.focus(chart)
        self.walk("Home", "main/1.folded", "120", "Commit: 4a5b")
        self.walk("Right", "main/2.folded", "159", "+39 (+32.5 %)")
        window.click("Function: All functions")
        window.type(window.find("Part of a function’s name"), "res")
        window.key("Return")
        window.find("Function: fresh")

    def test_damaged_store(self):
        store = pathlib.Path(self.folder.name, "runs & more.sqlite")
        store.write_bytes(b"SQLite format 3\0" + bytes(52) + b"FLAM" + bytes(900))
        window = self.open(store)
        window.find("No Capture Could Be Read")
        window.wait_label(lambda text: "runs & more.sqlite" in text)

    def test_folder_of_uftrace(self):
        """The folder of a trace is a capture."""
        self.open_trace("uftrace/calls")

    def test_folder_of_ctf(self):
        """Also if its files are in folders of it."""
        self.open_trace("ctf/session")

    def test_mouse(self):
        """Pointing at a point shows its text; two clicks compare."""
        window = self.open_runs()
        chart = self.chart_says(lambda name: name.startswith("Samples"))
        x, y, width, height = window.extents(chart)

        def at(share, value):
            """The position of a point: the margins of the plot are 14 wide, 22
            and 24 high; its axis ends at 160."""
            across = (14 + share * (width - 28)) / width
            down = (22 + (height - 46) * (1 - value / 160)) / height
            return across, down

        window.mouse(chart, *at(0, 120), button="abs")
        window.wait_label(lambda text: text.startswith("main/1.folded"))
        window.mouse(chart, *at(0, 120))
        self.chart_says(lambda name: "Marked" in name)
        window.mouse(chart, *at(1, 159))
        window.wait_label(lambda text: "1.folded" in text and "2.folded" in text
                          and "159" in text)

    def test_table(self):
        """The same as a table, as text."""
        window = self.open_runs()
        window.find("Captures", "tree table")
        window.labels()
        window.click("Copy the table as text")

    def test_slow_key(self):
        """A regular expression that would not end is refused."""
        (self.runs / "main/nightly-of-all-branches.folded").write_text("main 1\n")
        window = self.open_runs()
        window.wait_label(lambda text: text.replace("\u00a0", " ") == "● main")
        window.type(window.find("Series by Regular Expression", "text"), "^(((\\w+)*)*/?)*[!?]")
        window.wait_label(lambda text: text.startswith(
            "The regular expression takes too long on “"))

    def test_bad(self):
        """Files that cannot be read are listed, and the others are shown."""
        (self.runs / "bad.heaptrack").write_text("v 20000 4\nX ./demo\nt 1 0\n")
        window = self.open_runs()
        window.wait_label(lambda text: text == "1 file could not be read")
        for name in CAPTURES:
            (self.runs / name).unlink()
        window.key("F5")
        window.find("No Capture Could Be Read")
        (self.runs / "bad.heaptrack").unlink()
        window.key("F5")
        window.find("No Captures in This Folder")


if __name__ == "__main__":
    unittest.main()
