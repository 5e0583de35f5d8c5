#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""One selection in the whole window: a choice in one view applies to all, and
outlives transforms, undo and another measure."""

import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from flamwindow import SOURCE, wait_for  # noqa: E402
from windowtest import WindowTest as Base, capture  # noqa: E402


class SelectionTest(Base):
    def test_every_page_follows(self):
        window = self.open_example()
        window.click("Functions")
        window.click("Flame Graph")
        self.search("^paint_row$")
        self.graph_says("paint_row")
        window.click("Call Tree")
        self.wait_row("Call tree", "paint_row")
        window.click("Functions")
        # The search hides the other rows; the visible one is selected.
        self.wait_row("Functions", "paint_row")
        self.search("^escape_time$")
        self.wait_row("Functions", "escape_time")
        # The search bar does not cover the page.
        entry = window.find("Search functions").extents()
        wait_for("the page below", lambda: window.find("Copy the rows as text").extents()[1] >=
                 entry[1] + entry[3])
        window.click("Memory")
        self.search("^blur_columns")
        self.wait_row("Functions", "blur_columns.isra.0")

    def test_transforms_keep_the_frame(self):
        """Focus, hide and undo leave the selected function selected, and the
        zoom comes back; a change of the measure alone is not undone."""
        window = self.open_example()
        window.click("Memory")
        window.find("Peak memory", "label")
        window.click("CPU")
        window.find("CPU time", "label")
        self.assertFalse(window.seen("Undo", "push button"))
        self.search("^paint_row$")
        window.key("Escape")
        self.do("node.zoom")
        self.graph_says("paint_row")
        self.do("node.focus")
        window.find("Remove: focus: paint_row", "push button")
        self.graph_says("paint_row")
        undo = window.find("Undo", "push button")
        wait_for(
            "what is undone",
            lambda: "focus: paint_row" in (undo.get_description() or ""),
        )
        window.action("win.undo")
        wait_for(
            "the chip gone",
            lambda: not window.seen(lambda name: name.startswith("Remove: ")),
        )
        self.graph_says("paint_row")
        window.find("painter", "push button")

    def test_callers_between(self):
        """Callers that the path has no room for: they are listed on demand."""
        window = self.open_example()
        self.search("^sort_sparks$")
        for _ in range(6):
            window.action("win.search-next")
        window.find("…")
        self.assertFalse(window.seen("start_thread", "push button"))
        window.click("…")
        window.find("sparks", "push button")
        window.click("start_thread", "push button")
        self.graph_says("start_thread")

    def test_path_is_kept(self):
        """Another path has its texts in the same buttons."""
        window = self.open_example()
        self.search("^sort_sparks$")
        window.action("win.search-next")
        before = [window.find(name, "push button")
                  for name in ("All", "clone3", "start_thread", "sparks")]
        window.click("start_thread", "push button")
        self.graph_says("start_thread")
        wait_for("a shorter path", lambda: not window.seen("sparks", "push button"))
        self.search("^paint_row$")
        after = [window.find(name, "push button")
                 for name in ("All", "clone3", "start_thread", "painter")]
        self.assertEqual(before, after)

    def test_states(self):
        """A capture with waiting: running, waiting, or some of it."""
        window = self.open(SOURCE / "tests/captures/flambeau/kitchen.flambeau")
        window.wait_label(lambda text: text.startswith("total 3.19"))
        window.wait_label(lambda text: text == "Waiting for a lock")
        window.click(lambda name: name.startswith("What threads were doing"))
        window.click("Running", "push button")
        window.wait_label(lambda text: text.startswith("total 393"))
        window.click("Waiting", "push button")
        window.wait_label(lambda text: text.startswith("total 2.80"))
        # A check box has no action of its own; the keyboard reaches it, past the three
        # buttons and the three boxes before it.
        for _ in range(6):
            window.key("Tab")
        window.key("space")
        window.wait_label(lambda text: text.startswith("total 1.00"))
        window.find("Some states", "label")
        window.click("Both", "push button")
        window.wait_label(lambda text: text.startswith("total 3.19"))

    def test_no_states(self):
        window = self.open_example()
        self.assertFalse(
            any(
                node.has_state("SHOWING")
                for node in window.find_all(
                    lambda name: name.startswith("What threads were doing"))
            )
        )

    def test_processes(self):
        """Processes below the ones that started them, threads below those."""
        window = self.open(SOURCE / "tests/captures/flambeau/family.flambeau")
        window.wait_label(lambda text: text.startswith("total "))
        window.click(lambda name: name.startswith("Threads: "))
        cooks = lambda: sum(1 for _ in window.find_all_but_lanes(
            lambda name: name.startswith("cook ("), "label"))
        wait_for("both cooks", lambda: cooks() == 2)
        window.key("Tab")
        window.key("Left")
        wait_for("a folded tree", lambda: cooks() == 0)
        window.key("Right")
        wait_for("an unfolded tree", lambda: cooks() == 2)
        # A process represents everything that it started, including a child's.
        row = next(
            node
            for node in window.find_all("kitchen (18377)")
            if window.who_can(node, "thread.toggle")
        )
        root = next(
            node
            for node in window.find_all("family.sh (18374)")
            if window.who_can(node, "thread.toggle")
        )
        self.assertEqual(root.get_description(), "100.0\u00a0%")
        window.act(row, "thread.toggle")
        window.wait_label(lambda text: text == "3 threads")
        window.wait_label(lambda text: text.startswith("total 3.96"))
        # Removing the last one leaves none; then undo.
        window.act(row, "thread.toggle")
        window.wait_label(lambda text: text == "No threads")
        window.find("No thread is selected.", "label")
        window.click(lambda name: name.endswith("Reset"), "push button")
        window.wait_label(lambda text: text == "All threads")
        # One of them was called sh before: the search finds it by this name.
        window.type(window.find("Search threads"), "sh until")
        wait_for("the one that was sh", lambda: cooks() == 1)

    def test_threads(self):
        window = self.open(capture("perf/threads-dwarf.script.txt"))
        window.wait_label(lambda text: text.startswith("total 1.3"))
        window.click(lambda name: name.startswith("Threads: "))
        row = wait_for(
            "worker-3 in the list",
            lambda: next(
                (
                    node
                    for node in window.find_all(
                        lambda name: name.startswith("worker-3")
                    )
                    if window.who_can(node, "thread.toggle")
                ),
                None,
            ),
        )
        window.act(row, "thread.toggle")
        window.wait_label(
            lambda text: text.startswith("worker-3 (") and text.endswith(")")
        )
        window.wait_label(lambda text: text.startswith("total 5"))
        window.click(lambda name: name.endswith("Reset"), "push button")
        window.wait_label(lambda text: text.startswith("total 1.3"))

    def test_names_are_visible(self):
        """A character that turns the direction of writing is written out in the
        name of a thread: in the list, on the button and in the button's
        accessible name."""
        events = [{"ph": "M", "pid": 1, "tid": tid, "name": "thread_name",
                   "args": {"name": name}}
                  for tid, name in ((2, "work\u202ereb"), (3, "plain"))]
        events += [{"ph": "X", "pid": 1, "tid": tid, "ts": 0, "dur": 9,
                    "name": "f"} for tid in (2, 3)]
        with tempfile.NamedTemporaryFile("w", suffix=".trace.json") as file:
            json.dump({"traceEvents": events}, file)
            file.flush()
            window = self.open(file.name)
            window.wait_label(lambda text: text.startswith("total 18"))
            window.click(lambda name: name.startswith("Threads: "))
            row = wait_for("the thread's row", lambda: next(
                (node for node in window.find_all("work\\u202ereb (2)")
                 if window.who_can(node, "thread.toggle")), None))
            window.act(row, "thread.toggle")
            window.wait_label(lambda text: text == "work\\u202ereb (2)")
            self.assertFalse([text for text in window.labels()
                              if "\u202e" in text])

    def test_transform_and_undo(self):
        window = self.open_example()
        window.mouse(self.graph(), 0.2, 0.90)
        wait_for("a current frame", lambda: ", total " in self.graph().name)
        view = next(
            node
            for node in window.find_all()
            if "node.focus" in node.actions()
        )
        window.act(view, "node.focus")
        window.find(lambda name: name.startswith("Remove: focus"), "push button")
        window.click("Undo")
        wait_for(
            "the chip gone",
            lambda: not window.seen(lambda name: name.startswith("Remove: ")),
        )


if __name__ == "__main__":
    unittest.main(verbosity=2)
