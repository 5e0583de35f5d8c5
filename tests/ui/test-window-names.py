#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A screen reader says something for every control: of each page of a capture
of CPU and memory, of the start page and of each dialog."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from flamwindow import wait_for  # noqa: E402
from windowtest import WindowTest as Base  # noqa: E402

CONTROLS = {
    "push button", "toggle button", "check box", "radio button", "switch",
    "text", "entry", "password text", "combo box", "spin button", "slider",
    "link", "page tab", "image", "canvas", "table", "tree table",
}
# The inside of a drop-down or a split button, which is named itself.
INSIDES = {"GtkToggleButton", "GtkMenuButton"}
PAGES = [f"ctrl+{number % 10}" for number in range(1, 11)]


class NamesTest(Base):
    def nameless(self):
        """Controls without a name of their own, with what they stand in."""
        for node in self.window.find_all():
            if node.role not in CONTROLS or node.name in INSIDES:
                continue
            if not re.match("$|(Gtk|Adw|Flam)[A-Z]", node.name):
                continue
            if node.role == "image" and not node.has_state("FOCUSABLE"):
                continue  # an icon beside words
            parent = node.get_parent()
            if parent.name == "GtkFontButton" or not node.has_state("SHOWING"):
                continue  # an inside, too; the preferences' own search bar
            yield f"{node.role} in {parent.role} {parent.name!r}"

    def check(self, where):
        with self.subTest(where):
            self.assertEqual(sorted(set(self.nameless())), [])

    def dialog(self, opening, seen):
        opening()
        self.window.find(seen)
        self.check(seen)
        self.window.key("Escape")
        wait_for(f"the end of {seen}", lambda: not self.window.seen(seen))

    def test_start(self):
        window = self.open()
        window.find("See Where Time and Memory Go")
        self.check("start page")

    def test_pages(self):
        window = self.open_example()
        window.action("win.search")
        window.find("Search functions")
        for side in ("CPU", "Memory"):
            window.click(side)
            for page in PAGES:
                window.key(page)
                self.check(f"{side}, {page}")

    def test_dialogs(self):
        window = self.open_example()
        self.dialog(lambda: window.action("win.record"), "Command Line")
        self.dialog(lambda: window.key("ctrl+comma"), "Sibling Order")
        self.dialog(lambda: window.key("ctrl+e"), "Format")


if __name__ == "__main__":
    unittest.main(verbosity=2)
