#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""One selection in the whole window: what is picked in one view is picked in
all, and outlives transforms, undo and another measure."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from flamwindow import wait_for  # noqa: E402
from windowtest import WindowTest as Base  # noqa: E402


class SelectionTest(Base):
    def selected_row(self, table):
        """The names in the row that is selected in a table."""
        view = wait_for(
            f"the table {table}",
            lambda: [
                node
                for node in self.window.find_all(table)
                if node.role == "tree table"
            ],
        )[0]

        def found():
            for node in self.window.find_all(below=view):
                if node.has_state("SELECTED"):
                    return [one.name for one in self.window.find_all(below=node)]
            return None

        return wait_for(f"a selected row in {table}", found)

    def wait_row(self, table, name):
        wait_for(
            f"{name} selected in {table}",
            lambda: name in self.selected_row(table),
        )

    def test_every_page_follows(self):
        window = self.open_example()
        window.click("Functions")
        window.click("Flame Graph")
        self.search("^paint_row$")
        self.graph_says("paint_row")
        window.click("Call Tree")
        self.wait_row("Call tree", "paint_row")
        window.click("Functions")
        # The search hides the other rows; the one that is there is selected.
        self.wait_row("Functions", "paint_row")
        self.search("^escape_time$")
        self.wait_row("Functions", "escape_time")
        window.click("Memory")
        window.click("Allocations")
        self.search("^blur_columns")
        self.wait_row("Functions that allocate", "blur_columns.isra.0")

    def test_transforms_keep_the_frame(self):
        """Focus, hide and undo leave the selected function selected, and the
        zoom comes back; a mere measure is nothing to undo."""
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


if __name__ == "__main__":
    unittest.main(verbosity=2)
