#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Export dialog: its options are those of the command line, and so are its
documents."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from flamwindow import BUILD, NotSeen, wait_for  # noqa: E402
from windowtest import EXAMPLE, WindowTest as Base  # noqa: E402


class ExportTest(Base):
    def shot(self, name):
        folder = os.environ.get("FLAM_TEST_PICTURES")
        if folder:
            self.window.screenshot(pathlib.Path(folder, name))

    def open_dialog(self, **settings):
        window = self.open_example(settings=settings)
        window.key("ctrl+e")
        window.find("Format", "label")
        return window

    def wait_document(self):
        wait_for(
            "a document to save",
            lambda: next(self.window.find_all(
                lambda name: name.endswith("Export…"), "push button"
            )).has_state("SENSITIVE"),
        )

    def unfold(self):
        self.window.focus(self.window.find("Options", "list item"))
        self.window.key("space")
        wait_for("the options", lambda: next(
            self.window.find_all("Title", "text")).extents()[2] > 0)

    def shown(self, name, role):
        return any(node.extents()[2] > 0 for node in self.window.find_all(name, role))

    def choose(self, name, steps):
        self.window.focus(self.window.find(name, "combo box"))
        self.window.key("space")
        for _ in range(abs(steps)):
            self.window.key("Down" if steps > 0 else "Up")
        self.window.key("Return")

    def opens_chooser(self):
        self.window.key("alt+e")
        try:
            return wait_for("a button to save",
                            lambda: self.window.seen("Save", "push button"), limit=5)
        except NotSeen:
            return False

    def save_as(self, path):
        # An earlier key may still change the document, which cannot be saved meanwhile.
        wait_for("the file chooser", self.opens_chooser)
        self.window.choose_file(path)
        self.window.wait_label(lambda text: text == "Exported")

    def cli(self, folder, *options):
        """The document of the window's initial selection."""
        path = pathlib.Path(folder, "cli.svg")
        subprocess.run(
            [BUILD / "app/cli/flambeau-cli", "export", EXAMPLE, "--to", "svg",
             "--hide-irrelevant", "--hide-imports", *options,
             "--output", path, "--force"], check=True)
        return path.read_bytes()

    def test_options(self):
        """The dialog's choices give the same document as on the command line;
        its initial choices are the window's look."""
        with tempfile.TemporaryDirectory() as folder:
            window = self.open_dialog(**{
                "flame-direction": "'icicle'", "sibling-order": "'name'",
                "export-format": "'svg'"})
            self.wait_document()
            first = pathlib.Path(folder, "first.svg")
            self.save_as(first)
            self.assertEqual(
                first.read_bytes(),
                self.cli(folder, "--direction", "icicle", "--order", "name"))

            window.key("ctrl+e")
            window.find("Format", "label")
            self.unfold()
            self.shot("export-options.png")
            window.type(window.find("Title", "text"), "Sparks & stars")
            window.type(window.find("Subtitle", "text"), "a night")
            window.focus(window.find("Width", "spin button"))
            window.key("ctrl+a")
            window.write("800")
            window.key("Tab")
            self.choose("Palette", 9)
            hash_row = "Similar Names, Similar Colors"
            wait_for("what the palette has",
                     lambda: self.shown(hash_row, "check box"))
            window.toggle(hash_row, "check box")
            self.wait_document()
            self.shot("export-chosen.png")
            second = pathlib.Path(folder, "second.svg")
            self.save_as(second)
            self.assertEqual(
                second.read_bytes(),
                self.cli(folder, "--direction", "icicle", "--order", "name",
                         "--title", "Sparks & stars", "--subtitle", "a night",
                         "--width", "800", "--palette", "hot", "--hash"))

    def test_parts(self):
        """Only options that have an effect are shown: a treemap has no order
        and no direction, folded stacks have no look."""
        window = self.open_dialog(**{"graph-shape": "'treemap'"})
        self.unfold()
        order, root = "Sibling Order", "Root of the Flame Graph"
        self.assertFalse(self.shown(order, "combo box"))
        self.assertFalse(self.shown(root, "combo box"))
        self.assertTrue(self.shown("Palette", "combo box"))
        self.choose("Shape of the Graph", -2)
        wait_for("what a flame graph has", lambda: self.shown(order, "combo box")
                 and self.shown(root, "combo box"))

    def test_rules(self):
        """Color rules: typed in the preferences, with messages about errors,
        kept in a file, and used by exports."""
        rules = pathlib.Path(os.environ["XDG_CONFIG_HOME"], "flambeau/color-rules")
        rules.parent.mkdir(exist_ok=True)
        rules.write_text("# mine\n^sort_=#00ff00\n")
        self.addCleanup(rules.unlink)
        window = self.open_example(settings={"export-format": "'svg'"})
        window.key("ctrl+comma")
        title = "Names That Match (Regular Expression)"
        window.find(title, "text")
        window.click("Add a rule")
        entries = wait_for("another rule", lambda: [
            node for node in window.find_all(title, "text")][1:])
        window.type(entries[0], "escape(")
        window.find(lambda name: name.startswith("missing "))
        self.shot("rules-error.png")
        # It matches names of the capture, and would take years on others.
        window.type(entries[0], "^(((\\w+)*)*)*[!?]")
        slow = "the regular expression takes too long on “"
        window.find(lambda name: name.startswith(slow), "text")
        self.shot("rules-slow.png")
        window.type(entries[0], "escape(")
        window.find(lambda name: name.startswith("missing "))
        self.assertNotIn("escape", rules.read_text())
        self.assertFalse(self.shown(slow, "text"))
        window.type(entries[0], "^(escape_time|main)$")
        wait_for("the rule in the file", lambda: rules.read_text() ==
                 "# mine\n^sort_=#00ff00\n^(escape_time|main)$=#3584e4\n")
        self.shot("rules.png")
        window.click("Move up")
        wait_for("the other order", lambda: rules.read_text() ==
                 "# mine\n^(escape_time|main)$=#3584e4\n^sort_=#00ff00\n")
        with tempfile.TemporaryDirectory() as folder:
            window.take_keyboard()
            window.key("Escape")
            wait_for("the preferences gone",
                     lambda: not self.shown("Sibling Order", "combo box"))
            window.action("win.export")
            window.find("Format", "label")
            self.wait_document()
            drawn = pathlib.Path(folder, "drawn.svg")
            self.save_as(drawn)
            self.assertEqual(
                drawn.read_bytes(), self.cli(
                    folder, "--direction", "flame", "--color-rules", rules))
        window.key("ctrl+comma")
        for left in (1, 0):
            window.click("Remove", "push button")
            wait_for("one less", lambda left=left: rules.read_text().count("=") == left)


if __name__ == "__main__":
    unittest.main(verbosity=2)
