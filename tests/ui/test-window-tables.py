#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables and search: what fits, what is on top, which match of how many."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from flamwindow import wait_for  # noqa: E402
from windowtest import WindowTest as Base  # noqa: E402


class TablesTest(Base):
    def cells(self, name):
        return [
            node.get_parent()
            for node in self.window.find_all(name, "label")
            if node.get_parent().role == "table cell"
            and self.is_seen(node)
        ]

    def is_seen(self, node):
        """Pages that are not shown have no place."""
        left, top, width, height = node.extents()
        return width > 0 and left > 5 and top > 55

    def header(self, name):
        return wait_for(
            f"the title {name}",
            lambda: [
                node
                for node in self.window.find_all(name, "label")
                if node.get_parent().role != "table cell"
                and self.is_seen(node)
            ],
        )[0]

    def test_narrow(self):
        """At 360 pixels the names keep 200 of them, and all of it fits."""
        window = self.open_example(
            settings={"window-width": 360, "window-height": 640}
        )
        window.key("ctrl+3")
        cell = wait_for("a row", lambda: self.cells("escape_time"))[0]

        def fits():
            left, _, width, _ = window.extents(cell)
            frame = window.extents(window.find("example.flambeau", "frame"))
            return width >= 185 and left + width <= frame[2] + 15

        wait_for("a name with room", fits)
        self.assertFalse(self.cells("libm.so.6"))

    def test_order_and_search(self):
        window = self.open_example()
        window.key("ctrl+3")
        wait_for("a row", lambda: self.cells("escape_time"))

        def height_of(name):
            cells = self.cells(name)
            return window.extents(cells[0])[1] if cells else 10**6

        window.mouse(self.header("Total"))
        wait_for(
            "the largest on top",
            lambda: height_of("clone3") < height_of("escape_time"),
        )
        # The next click turns it around.
        window.mouse(self.header("Total"))
        wait_for(
            "the smallest on top",
            lambda: self.cells("IO_validate_vtable"),
        )
        self.search("SPARKS")
        window.wait_label(lambda text: ", 1 of " in text)
        window.action("win.search-next")
        window.wait_label(lambda text: ", 2 of " in text)
        window.mouse(window.find("Match Case"))
        window.wait_label(lambda text: text == "no match")
        window.type(window.find("Search functions"), "sort_.*s")
        window.wait_label(lambda text: text.startswith("matched "))
        window.mouse(window.find("Regular Expression"))
        window.wait_label(lambda text: text == "no match")
        window.find("No Matching Functions", "label")


if __name__ == "__main__":
    unittest.main(verbosity=2)
