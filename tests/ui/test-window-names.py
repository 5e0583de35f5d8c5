#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every control and every row has an accessible name: on each page of captures
of all kinds, and in each dialog, menu and panel."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from accessible import GLib, Look  # noqa: E402
from flamwindow import BUILD, ITEMS_SPEAK, SOURCE, wait_for  # noqa: E402
from windowtest import RECORDER, WindowTest as Base  # noqa: E402

KITCHEN = SOURCE / "tests/captures/flambeau/kitchen.flambeau"
CONTROLS = {
    "push button", "toggle button", "check box", "radio button",
    "text", "entry", "password text", "combo box", "spin button", "slider",
    "link", "page tab", "image", "canvas", "table", "tree table",
    "table row", "list item", "tree item", "menu item",
}
if not ITEMS_SPEAK:
    CONTROLS.remove("menu item")
PAGES = [f"ctrl+{number % 10}" for number in range(1, 11)]


def says_something(look, node):
    """Newer GTKs give no name to widgets with a tooltip or with a text inside."""
    return node.name or node.description or any(
        label.role == "label" and label.name for label in look.walk(node))


def is_raw(look, node):
    plain = node.name.replace("_", "", 1)
    # A row's name is everything in it, including names of functions.
    return node.role != "table row" and plain != node.name and any(
        label.role == "label" and label.name
        and label.name in (plain, plain.rpartition(" ")[2])
        for label in look.walk(node)
    )


class NamesTest(Base):
    def setUp(self):
        super().setUp()
        self.named = set()  # examined, and correct

    def nameless(self, toolkits=()):
        """Controls that have no name of their own: none, that of a class, or
        a mnemonic as it is written, with its underscore. Pages that were not
        looked at yet have no size."""
        look = Look(self.window.top)
        for node in look.walk(self.window.top):
            if node.role not in CONTROLS or (node, node.name) in self.named:
                continue
            try:
                if min(node.extents()[2:]) <= 0:
                    continue
            except GLib.Error:
                continue  # gone meanwhile
            if node.role == "image" and not node.has_state("FOCUSABLE"):
                continue  # an icon beside words
            # Of the toolkit's own window: a button that newer releases name, and a page
            # that they number.
            if node.name in toolkits:
                continue
            if (
                not says_something(look, node)
                or re.match("(Gtk|Adw|Flam)[A-Z]", node.name)
                or is_raw(look, node)
            ):
                parent = node.get_parent()
                yield f"{node.role} {node.name!r} in {parent.role} {parent.name!r}"
            else:
                self.named.add((node, node.name))

    def check(self, where, at_least=1, toolkits=()):
        """A check of too few widgets would not notice anything."""
        with self.subTest(where):
            known = len(self.named)
            end = time.monotonic() + 5
            # During layout, a widget exists, but gets its name a moment later.
            while (
                (faults := sorted(set(self.nameless(toolkits))))
                or len(self.named) - known < at_least
            ) and time.monotonic() < end:
                time.sleep(0.3)
            self.assertEqual(faults, [])
            self.assertGreaterEqual(len(self.named) - known, at_least)

    def dialog(self, opening, seen, role=None, toolkits=()):
        opening()
        self.window.find(seen, role)
        self.check(seen, toolkits=toolkits)
        # A key before the dialog has the keyboard focus is lost.
        self.press_until("Escape", lambda: not self.is_shown(seen, role))

    def is_shown(self, name, role=None):
        return any(
            min(node.extents()[2:]) > 0 for node in self.window.find_all(name, role))

    def panel(self, button, seen, role=None):
        """A popover of a button stays in the tree when it is closed."""
        self.window.click(button)
        wait_for(seen, lambda: self.is_shown(seen, role))
        self.check(button)
        self.window.key("Escape")
        time.sleep(0.3)

    def test_start(self):
        window = self.open()
        window.find("See Where Time and Memory Go")
        self.check("start page", 5)
        with tempfile.NamedTemporaryFile(suffix=".bin") as file:
            file.write(bytes(range(256)) * 40)
            file.flush()
            window.__exit__()
            window = self.open(file.name)
            window.wait_label(lambda text: text == "Cannot Open This File")
            self.check("error page", 5)

    def test_pages(self):
        window = self.open_example()
        window.action("win.search")
        window.find("Search functions")
        for side in ("CPU", "Memory"):
            window.click(side)
            for page in PAGES:
                window.key(page)
                self.check(f"{side}, {page}", 0)
            self.assertGreater(len(self.named), 100)
        self.assertEqual([node.role for node in window.find_all("GtkPaned")], [])
        # Of an empty label, GTK gives the name of its class.
        self.assertEqual([node.parent.name for node in window.find_all("GtkLabel")
                          if min(node.extents()[2:]) > 0], [])

    def test_difference(self):
        """With a comparison: its page then has tables."""
        window = self.open(KITCHEN)
        window.wait_label(lambda text: text.startswith("total 3.19"))
        self.panel("What threads were doing: Running and waiting", "Running", "push button")
        window.action("win.compare-file")
        window.choose_file(KITCHEN)
        window.wait_label(lambda text: "Before: kitchen" in text)
        self.check("difference")
        window.click("Table")
        self.check("difference, table")

    def test_dialogs(self):
        window = self.open_example()
        self.dialog(lambda: window.key("ctrl+comma"), "Sibling Order")
        self.dialog(lambda: window.key("ctrl+e"), "Format")
        # The source pane has "Select a function to see …", and shown widgets keep their
        # place in the tree.
        self.dialog(lambda: window.action("win.notes"),
                    lambda name: name.startswith("Select a function or a range"))
        self.dialog(lambda: window.action("win.growth"), "From, in Seconds")
        self.dialog(lambda: window.action("win.compare"), "Search what to compare with")
        # Newer GTKs create only the visible one of its pages.
        self.dialog(lambda: window.key("ctrl+question"), "Keyboard shortcuts",
                    toolkits=("GtkImage", "_1", "_2"))
        if ITEMS_SPEAK:
            self.dialog(lambda: window.key("F10"), "About Flambeau")

    @unittest.skipUnless(ITEMS_SPEAK, "GTK does not tell the items of menus here")
    def test_about(self):
        window = self.open()
        window.find("See Where Time and Memory Go")
        window.key("F10")
        self.dialog(lambda: window.click("About Flambeau"),
                    lambda name: name in ("Legal", "Details"), toolkits=("GtkButton",))

    def test_rules(self):
        """Rules for leaks that do not count, and a button to remove each."""
        with tempfile.NamedTemporaryFile("w", suffix=".supp") as rules:
            rules.write("leak:nobody\n")
            rules.flush()
            window = self.open_example(
                settings={"leak-suppressions": f"['{rules.name}']"})
            self.dialog(lambda: window.action("win.suppressions"),
                        "Remove These Rules", "push button")

    @unittest.skipUnless(ITEMS_SPEAK, "GTK does not tell the items of menus here")
    def test_tab_menu(self):
        other = SOURCE / "tests/captures/folded/annotated.folded"
        window = self.open(KITCHEN, other)
        wait_for("both tabs", lambda: window.title() == other.name)
        # The title is in the header bar, too.
        tab = wait_for("the tab", lambda: [
            node for node in window.find_all(other.name)
            if node.extents()[1] > 40 and min(node.extents()[2:]) > 0])[0]
        window.mouse(tab, button="b3c")
        window.find("Move to New Window")
        self.check("tab menu")

    def test_download(self):
        """The question before debug information is downloaded."""
        if not pathlib.Path(RECORDER).is_file() or shutil.which("strip") is None:
            raise unittest.SkipTest("no recorder, or no strip")
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "program")
            capture = pathlib.Path(folder, "program.flambeau")
            subprocess.run(
                ["strip", "-o", program, BUILD / "tests/record/shares"], check=True)
            subprocess.run(
                [BUILD / "app/cli/flambeau-cli", "record", "--output", capture, "--",
                 program, "40"], check=True, stdout=subprocess.DEVNULL)
            window = self.open(capture, env={"DEBUGINFOD_URLS": "http://127.0.0.1:9/"})
            window.wait_label(
                lambda text: text.startswith("Debug information is missing"))
            self.check("download bar", 3)

    def test_history(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("main", "next"):
                path = pathlib.Path(folder, name, "one.folded")
                path.parent.mkdir()
                path.write_text("main;parse 100\nmain;lex 20\n")
            window = self.open(folder)
            window.find(lambda name: name.startswith("Samples"), "image")
            self.check("history", 5)
            window.click(lambda name: name.startswith("Function: "), "push button")
            window.find("Part of a function’s name")
            self.check("history, functions")

    def test_panels(self):
        window = self.open_example()
        self.panel("Capture Quality", "What These Figures Mean", "push button")
        self.panel("Threads: All threads", "Search threads")
        if ITEMS_SPEAK:
            self.panel("Recent captures", "example.flambeau", "menu item")
        window.key("ctrl+5")
        window.find("Chart", "image")
        window.key("Down")
        self.panel("Calls", "The Longest Calls", "list")
        window.page("Heat Map")
        self.check("heat map")

    def test_record(self):
        window = self.open(settings={"record-mode": "'both'"})
        window.find("See Where Time and Memory Go")
        window.action("win.record")
        window.mouse(window.find("Options", "label"))
        window.find("Allocation Sampling", "combo box")
        self.check("record", 15)
        # The focus in the row of a field is reported, with the field's name.
        window.focus(next(
            node for node in window.find_all("Working Folder", "text")
            if node.get_parent().role != "list"))
        window.click("Attach", "page tab")
        window.find(lambda name: ", process " in name)
        self.check("attach", 5)

    def test_recording(self):
        """During a recording, and after it."""
        if not pathlib.Path(RECORDER).is_file():
            raise unittest.SkipTest(f"{RECORDER or 'the recorder'} is not here")
        window = self.open("--record", "--", "/bin/sh", "-c",
            "echo one; i=0; while [ $i -lt 1500000 ]; do i=$((i+1)); done")
        window.click(lambda name: name.endswith("Output"), "push button")
        window.find("Output of sh", "text")
        self.check("recording", 10)
        window.wait_label(lambda text: text == "sh ended without an error")
        self.check("recorded", 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
