# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared by the tests of the whole window: one window at a time, a picture of
the end of each failed test, and methods with the words of a user."""

import functools
import os
import pathlib
import re
import subprocess
import time
import unittest

from flamwindow import (
    BUILD,
    CAPTURES,
    SOURCE,
    Window,
    wait_for,
)

EXAMPLE = SOURCE / "data/example/example.flambeau"
RECORDER = os.environ.get("FLAMBEAU_RECORDER", "")
SHOTS = pathlib.Path(os.environ.get("FLAM_UI_SHOTS") or BUILD / "ui-shots")


def capture(name):
    path = CAPTURES / name
    if not path.is_file():
        raise unittest.SkipTest(f"{path} is not here")
    return path


@functools.cache
def total_of(path):
    """The total of its default measure, as the command line prints it."""
    says = subprocess.run(
        [BUILD / "app/cli/flambeau-cli", "info", path],
        check=True, capture_output=True, text=True,
    ).stdout
    return re.search(r"^measures +\S+ +(.*) \(", says, re.M)[1]


class WindowTest(unittest.TestCase):
    def setUp(self):
        self.window = None

    def tearDown(self):
        if self.window is None:
            return
        # Taking a picture costs as much as a third of starting the window.
        if not self._outcome.success or "FLAM_UI_SHOTS" in os.environ:
            name = self.id().rsplit(".", 1)[-1]
            self.window.screenshot(SHOTS / f"{name}.png")
        status = self.window.process.poll()
        try:
            self.window.__exit__()
        finally:
            self.assertIsNone(status, "flambeau crashed")

    def ended(self):
        """The window was closed by the test. A warning fails it here, too."""
        window, self.window = self.window, None
        window.__exit__()

    def open(self, *arguments, **options):
        self.window = Window(*arguments, **options)
        return self.window

    def graph(self):
        """The flame graph; its name contains the selected frame."""
        return self.window.find(
            lambda name: name == "Flame graph" or ", total " in name, "image"
        )

    def graph_says(self, start):
        return wait_for(
            f"the graph to say {start!r}",
            lambda: self.graph().name.startswith(start),
        )

    def open_example(self, **options):
        window = self.open(EXAMPLE, **options)
        total = total_of(EXAMPLE)
        window.wait_label(lambda text: text == f"total {total}")
        return window

    def press_until(self, key, condition):
        for _ in range(8):
            self.window.key(key)
            try:
                wait_for(f"what {key} does", condition, limit=5)
                return
            except AssertionError:
                self.window.take_keyboard(newest=True)
        self.fail(f"{key} does nothing")

    def focused(self):
        """The name of what has the keyboard; of a row, that of its list, and of what
        scrolls an empty list, which has no name from GTK 4.10 on, that of the list."""
        node = next((node for node in self.window.find_all() if node.focused), None)
        if node is not None and node.role == "scroll pane" and not node.name:
            node = next(self.window.find_all(bool, "tree table", node), node)
        while node is not None and (
                node.role in ("table row", "list item") or node.role == "list" and not node.name):
            node = node.get_parent()
        return node and (node.name or node.description)

    def stops(self, key, last):
        """Where the keyboard comes to by pressing a key, until it is at `last`."""
        found = [self.focused()]
        while found[-1] != last:
            self.window.key(key)
            found.append(wait_for(
                f"where {key} leads to from {found[-1]}",
                lambda: next(name for name in [self.focused()] if name not in (None, found[-1]))))
            self.assertLess(len(found), 40, found)
        return found[1:]

    def search(self, pattern):
        """Goes to the first match, through the search bar."""
        window = self.window
        window.action("win.search")
        window.type(window.find("Search functions"), pattern)
        # Typed text takes effect a moment later.
        time.sleep(0.5)
        window.wait_label(lambda text: text.startswith("matched "))
        window.action("win.search-next")

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

    def do(self, action):
        """An action of whichever widget has it: node.focus ..."""
        node = next(
            node
            for node in self.window.find_all()
            if action in node.actions()
        )
        self.window.act(node, action)
