#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Differences: the choice of the baseline, three linked graphs, lines."""

import pathlib
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from flamwindow import ITEMS_SPEAK, SOURCE, plain, wait_for  # noqa: E402
from windowtest import EXAMPLE, WindowTest as Base  # noqa: E402

KITCHEN = SOURCE / "tests/captures/flambeau/kitchen.flambeau"
BEFORE = "main;parse;lex 20\nmain;old 40\nmain 5\n"
NOW = "main;parse;lex 35\nmain;fresh 12\nmain 5\n"


class DifferenceTest(Base):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    def says(self, text):
        self.window.wait_label(lambda label: text in plain(label).split("\n"))

    def compare(self, before=BEFORE, now=NOW, settings=None):
        window = self.open(self.file("now.folded", now), settings=settings)
        window.action("win.compare-file")
        window.choose_file(self.file("before.folded", before))
        window.wait_label(lambda text: "Before: before.folded" in text)
        return window

    def graph(self, start):
        return self.window.find(
            lambda name: plain(name).startswith(start), "image"
        )

    def choose(self, menu, rows):
        """From a drop-down."""
        self.window.mouse(self.window.find(menu, "combo box"))
        time.sleep(0.5)
        for key in ["Down"] * rows + ["Return"]:
            self.window.key(key)
            time.sleep(0.3)

    def test_side_by_side(self):
        """Before, now and the difference: a frame that is selected or pointed
        at in one is marked in all, and gone frames are visible."""
        window = self.compare()
        window.click("Side by Side")
        before = self.graph("Before: ")
        self.graph("Now: ")
        both = self.graph("Difference: ")
        left, top, width, height = window.extents(before)
        self.assertLess(left + width, window.extents(both)[2] + 1)
        self.assertGreater(window.extents(both)[1], top + height / 2)
        window.focus(before)
        for key in ("Down", "Up"):
            window.key(key)
        self.graph("Before: main, ")
        self.graph("Now: main, ")
        # The heaviest previous callee is gone: the current side has no such frame.
        window.key("Up")
        self.graph("Before: old, ")
        self.graph("Difference: old, before 40, now 0, change −40, gone")
        self.says("old, before 40, now 0, change −40, gone")
        self.assertFalse(window.seen(lambda name: name.startswith("Now: old"), "image"))
        # The pointer on another frame: its figures from all three.
        window.mouse(both, 0.5, 0.98, button="")
        window.wait_label(lambda text: plain(text).startswith("all, before 65, now 52"))

    def follow(self, sentence, links):
        """The link of the sentence on what changed most that is so many after the one
        with the keyboard, or after the first."""
        window = self.window
        label = window.find(lambda name: name.startswith(sentence), "label")
        window.focus(label)
        for key in ["Tab"] * links + ["Return"]:
            window.key(key)
            time.sleep(0.2)

    def test_link_to_gone(self):
        """The function with the largest change is gone: its box is in the previous
        graph."""
        self.compare()
        self.follow("\u2068old\u2069: \u206840\u2069 less", 0)
        self.graph("old, total 61.5 %, self 61.5 %, change −40, gone")

    def test_link_to_line(self):
        """Function, figure and place of the largest change lead to the function, and the
        place to its line, in a source pane that was hidden."""
        source = SOURCE / "data/example/flambeau-example.c"
        text = "events: Ir\nfl={}\nfn=main\n200 10\nfn=escape_time\n49 {}\n".format
        before = self.file("before.callgrind", text(source, 100))
        window = self.open(self.file("now.callgrind", text(source, 150)),
                           settings={"source-pane-shown": "false"})
        window.action("win.compare-file")
        window.choose_file(before)
        sentence = ("\u2068escape_time\u2069: \u206850\u2069 more "
                    "(\u2068flambeau-example.c:49\u2069)")
        window.wait_label(lambda text: text == sentence)
        self.follow(sentence, 1)
        self.graph("escape_time, total 93.8 %, self 93.8 %, change +50")
        self.assertFalse(window.seen("line 49", "label"))
        self.follow(sentence, 1)
        window.wait_label(lambda text: text == "line 49")
        self.graph("escape_time, total 93.8 %")

    def test_stacked(self):
        """At 360 pixels they stand one below another, and all is in the window."""
        window = self.compare(
            settings={"window-width": 360, "window-height": 760}
        )
        window.click("Side by Side")
        places = [
            window.extents(self.graph(name))
            for name in ("Before: ", "Now: ", "Difference: ")
        ]
        self.assertEqual(len({left for left, *_ in places}), 1)
        tops = [top for _, top, *_ in places]
        self.assertEqual(tops, sorted(tops))
        self.assertGreater(tops[2], tops[0])
        frame = window.extents(window.find("now.folded", "frame"))
        self.assertLessEqual(frame[2], 360)
        for left, _top, width, _height in places:
            self.assertLessEqual(left + width, frame[0] + frame[2])

    def two_columns(self, width, height):
        window = self.open(
            self.file("two.folded", "main;a 10 30\nmain;gone 5 0\nmain;b 0 7\n"),
            settings={"window-width": width, "window-height": height},
        )
        window.key("ctrl+7")
        self.says("Before: Before, 15. Now: Samples, 37: +22 (+146.7 %).")
        return window, window.extents(window.find("two.folded", "frame"))

    def test_small(self):
        """At 800 by 600, the graph has half of the window: the difference has a
        sentence of its own, and its controls are in one line."""
        window, frame = self.two_columns(800, 600)
        graph = wait_for("the graph", lambda: next(
            node for node in window.find_all(
                lambda name: name.startswith("Flame graph"), "image")
            if min(node.extents()[2:]) > 0))
        self.assertGreaterEqual(2 * window.extents(graph)[3], frame[3])
        def headline():
            return [node for node in window.find_all(lambda name: "takes" in name, "label")
                    if node.extents()[3] > 0]

        self.assertEqual(headline(), [])
        window.key("ctrl+1")
        wait_for("the headline", headline)

    def test_controls_at_360(self):
        window, frame = self.two_columns(360, 720)
        for name in ("Scale", "Cost", "Widths", "Colors"):
            left, _, wide, _ = window.extents(window.find(name, "combo box"))
            self.assertLessEqual(left + wide, frame[0] + frame[2], name)

    def test_two_columns(self):
        """Such a file is a difference by itself."""
        window = self.open(
            self.file("two.folded", "main;a 10 30\nmain;gone 5 0\nmain;b 0 7\n")
        )
        self.says("Before: Before, 15. Now: Samples, 37: +22 (+146.7 %).")
        window.find("Remove: compared with: before")

    def test_only_what_changed(self):
        """The heaviest frame is as before: the third graph leaves it out."""
        window = self.open(
            self.file("two.folded", "main;same 90 90\nmain;a 10 30\n")
        )
        self.says("Before: Before, 100. Now: Samples, 120: +20 (+20.0 %).")
        window.click("Side by Side")
        window.focus(self.graph("Difference: "))
        for key in ("Down", "Up", "Up"):
            window.key(key)
        self.graph("Difference: a, before 10, now 30, ")
        window.focus(self.graph("Before: "))
        for key in ("Down", "Up"):
            window.key(key)
        self.graph("Before: same, ")
        window.wait_label(lambda text: plain(text).startswith("same, total "))

    def test_narrow(self):
        """No page makes the window wider than 360 pixels, shown or hidden: the
        texts of the Difference page are long, and wrap."""
        window = self.open(
            self.file("now.folded", "main;parse 40 20\nmain;old 20 0\nmain;new 0 30\n"),
            settings={"window-width": 360, "window-height": 640})
        window.wait_label(lambda text: "Before: " in text)
        for page in ("ctrl+2", "ctrl+1", "ctrl+7"):
            window.key(page)
            time.sleep(1)
            with self.subTest(page):
                self.assertLessEqual(
                    window.extents(window.find("now.folded", "frame"))[2], 360)

    def test_choice(self):
        """A baseline without a common unit is refused."""
        window = self.open(SOURCE / "tests/captures/heaptrack/v3.heaptrack")
        window.action("win.compare-file")
        window.choose_file(self.file("samples.folded", NOW))
        window.wait_label(lambda text: "and no other measure fits" in text)

    def test_choice_of_measures(self):
        """Measures with a common unit are offered."""
        window = self.open(KITCHEN)
        window.action("win.compare-file")
        window.choose_file(self.file("samples.folded", NOW))
        window.wait_label(lambda text: "Choose another measure:" in text)
        window.click("Samples", "push button")
        window.wait_label(lambda text: "Before: samples.folded, 52." in text)

    def test_threads(self):
        """Threads are the baseline for others."""
        window = self.open(KITCHEN)
        window.wait_label(lambda text: plain(text).startswith("total 3.19"))
        window.action("win.set-baseline")
        window.wait_label(lambda text: text.startswith("Select a time range or threads"))
        window.page("Difference")
        window.click("Compare…", "push button")
        window.mouse(wait_for("a thread", lambda: next(window.find_all_but_lanes(
            lambda name: name.startswith("cook"), "list item"))))
        window.find("Remove: compared with: cook")
        window.wait_label(lambda text: "Before: cook, " in text)

    def test_nothing_yet(self):
        """Without a baseline, the keyboard focus is on the button that opens
        the choice of one; the tab key leaves it."""
        window = self.open(self.file("now.folded", NOW))
        window.wait_label(lambda text: text.startswith("total 52"))
        window.key("ctrl+7")
        button = window.find("Compare…", "push button")
        wait_for("the keyboard at the button", lambda: button.has_state("FOCUSED"))
        window.key("Tab")
        wait_for("another place", lambda: not button.has_state("FOCUSED"))

    def test_lines(self):
        """Lines of both, in the table and beside the source."""
        window = self.open_example()
        window.action("win.compare-file")
        window.choose_file(EXAMPLE)
        window.wait_label(lambda text: "Before: example" in text)
        window.click("Table")
        self.choose("Rows", 1)
        row = window.find(lambda name: name.startswith("flambeau-example.c:"), "label")
        window.mouse(row)
        wait_for(
            "both costs of a line",
            lambda: [
                node
                for node in window.find_all(role="text")
                if ": before " in node.description and ", change " in node.description
            ],
        )

    def test_line_is_shown(self):
        """A line of the table is the one that the source shows and the status
        bar names, and its function is current, wherever most of the function's
        cost is."""
        window = self.open_example()
        window.action("win.compare-file")
        window.choose_file(EXAMPLE)
        window.wait_label(lambda text: "Before: example" in text)
        window.click("Table")
        self.choose("Rows", 1)

        def lines():
            return list(dict.fromkeys(
                node.name for node in window.find_all(role="label")
                if node.name.startswith("flambeau-example.c:")))

        def settled():
            """A click on rows that are being replaced is lost."""
            before = lines()
            time.sleep(0.5)
            return before if len(before) > 5 and before == lines() else None

        for name in wait_for("the lines", settled)[:6]:
            wait_for("the lines", settled)
            window.mouse(window.find(name, "label"))
            line = name.rpartition(":")[2]
            window.wait_label(lambda text, line=line: text == f"line {line}")
            window.wait_label(
                lambda text, name=name: text == f"flambeau-example  {name}")
            wait_for("its function", lambda: "escape_time" in window.labels())

    def compare_with(self, name):
        """In the dialog, which has the open and the recent captures: by typing a
        part of the name."""
        window = self.window
        window.action("win.compare")
        window.type(window.find("Search what to compare with"), name[:5].upper())
        # Typed text takes effect a moment later.
        time.sleep(0.7)
        window.take_keyboard(newest=True)
        window.key("Return")

    def test_tab(self):
        """Compares with the capture of another tab, chosen in the dialog, which has the
        names of the tabs: they tell files of the same name apart."""
        window = self.open(self.file("before.folded", BEFORE),
                           self.file("old/now.folded", BEFORE),
                           self.file("now.folded", NOW))
        window.wait_label(lambda text: text.startswith("total 52"))
        # It is a recent capture, too.
        window.action("win.compare")
        window.find("Open in another tab", "label")
        window.find("now.folded (old)", "list item")
        self.assertEqual(len(list(window.find_all("before.folded", "list item"))), 1)
        window.type(window.find("Search what to compare with"), "like nothing")
        wait_for("no match", lambda: any(
            node.extents()[3] > 0 for node in window.find_all("No matches", "label")))
        window.key("Escape")
        self.compare_with("before.folded")
        self.says("Before: before.folded, 65. Now: now.folded, 52: −13 (−20.0 %).")

    def test_recent(self):
        """With a capture that was open some time ago."""
        before = self.file("before.folded", BEFORE)
        window = self.open(before)
        window.wait_label(lambda text: text.startswith("total 65"))
        window.action("win.open")
        window.choose_file(self.file("now.folded", NOW))
        wait_for("the second tab", lambda: window.title() == "now.folded")
        window.key("ctrl+Page_Up")
        wait_for("the first tab", lambda: window.title() == "before.folded")
        window.key("ctrl+w")
        wait_for("the second tab alone", lambda: window.title() == "now.folded")
        self.compare_with("before.folded")
        self.says("Before: before.folded, 65. Now: now.folded, 52: −13 (−20.0 %).")

    def test_from_functions(self):
        """The functions lead to their changes, while there are some."""
        window = self.open(self.file("now.folded", NOW))
        window.wait_label(lambda text: text.startswith("total 52"))
        window.key("ctrl+3")
        window.find("Copy the rows as text", "push button")
        self.assertFalse(window.seen("Show Changes", "push button"))
        window.action("win.compare-file")
        window.choose_file(self.file("before.folded", BEFORE))
        window.wait_label(lambda text: "Before: before.folded" in text)
        window.key("ctrl+3")
        window.click("Show Changes", "push button")
        for cell in ("−40", "+15", "fresh"):
            self.says(cell)

    def test_export(self):
        """A comparison is exported as a page."""
        window = self.compare()
        page = self.folder / "difference.html"
        window.click("Export Difference…")
        window.choose_file(page)
        wait_for("the page", lambda: page.exists() and "</html>" in page.read_text())
        self.assertEqual(page.read_text().count("<svg"), 3)
        # The file chooser remembers it, but it is not a recent capture.
        self.ended()
        window = self.open()
        window.find("now.folded", "label")
        self.assertFalse(window.seen(page.name))


if __name__ == "__main__":
    unittest.main(verbosity=2)
