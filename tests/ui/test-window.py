#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole window, as a blind person uses it: opening, finding, the keyboard,
closing."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from flamwindow import wait_for  # noqa: E402
from windowtest import BUILD, EXAMPLE, SHOTS, WindowTest as Base  # noqa: E402


class WindowTest(Base):
    def test_start_page(self):
        window = self.open()
        window.find("See Where Time and Memory Go", "label")
        sentence = window.wait_label(lambda text: "open or drop" in text)
        self.assertIn("folded stacks", sentence)
        # From the header to the page, and back.
        window.take_keyboard()
        for place in "page", "header":
            window.key("F6")
            wait_for(place, lambda place=place: any(
                node.focused and (node.extents()[1] > 100) == (place == "page")
                for node in window.find_all(role="push button")))

    def test_no_drivers(self):
        """The cairo renderer is requested here, so OpenGL is not needed."""
        window = self.open()
        window.find("See Where Time and Memory Go")
        maps = pathlib.Path(f"/proc/{window.process.pid}/maps").read_text()
        self.assertTrue("libgtk-4" in maps)
        self.assertEqual([], re.findall(r"libGLX_\w+|libEGL_\w+|\w+_dri\.so", maps))

    def test_open(self):
        window = self.open_example()
        self.assertEqual(window.title(), "example.flambeau")
        window.find("All threads", "label")
        self.assertTrue(window.find("CPU", "push button").has_state("SENSITIVE"))

    def test_error(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "nothing")
            path.write_bytes(bytes(range(256)) * 40)
            window = self.open(path)
            window.wait_label(lambda text: text == "Cannot Open This File")
            window.wait_label(lambda text: text.startswith(f"{path}: "))
            window.click(lambda name: name.endswith("Back"), "push button")
            wait_for("the start page", lambda: window.title() == "Flambeau")

    def test_partial_file_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "cut.flambeau")
            data = EXAMPLE.read_bytes()
            path.write_bytes(data[: len(data) * 2 // 3])
            window = self.open(path)
            window.wait_label(lambda text: text.startswith("This file is incomplete"))

    def test_cancel(self):
        """A file that never comes to its end: Cancel still answers at once."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "endless.folded")
            os.mkfifo(path)
            window = self.open(path)
            window.wait_label(lambda text: text == "Opening endless.folded")
            window.click(lambda name: name.endswith("Cancel"), "push button")
            wait_for("the start page", lambda: window.title() == "Flambeau")

    def test_zoom_and_back(self):
        window = self.open_example()
        window.mouse(self.graph(), 0.2, 0.90)
        name = wait_for(
            "a frame in the path",
            lambda: next(
                (
                    text
                    for text in window.labels()
                    if text in ("clone3", "start_thread", "painter")
                ),
                None,
            ),
        )
        self.graph_says(("clone3", "start_thread", "painter"))
        self.assertTrue(name)
        window.click("All", "push button")
        wait_for(
            "the way back", lambda: self.graph().name.startswith(("all", "Flame"))
        )

    def test_search(self):
        window = self.open_example()
        window.action("win.search")
        window.type(window.find("Search functions"), "escape_time")
        text = window.wait_label(lambda text: text.startswith("matched "))
        self.assertRegex(text, r"matched 4\d\.\d.%, \d+ places?$")
        window.action("win.search-next")
        self.graph_says("escape_time")
        window.click("Keep Only", "push button")
        window.click("Remove: only through: escape_time")
        window.action("win.search")
        window.type(window.find("Search functions"), "nothing is called this")
        window.wait_label(lambda text: text == "no match")
        window.click("Functions")
        window.find("No function matches the search.", "label")

    def test_export(self):
        """Every exporter, with the current selection; the size is known before
        saving."""
        window = self.open_example()
        window.key("ctrl+e")
        window.find("Format", "label")
        # Return would press Cancel if the focus were there, since it comes first.
        dialog = window.find("Export", ("filler", "frame", "dialog"))
        wait_for(
            "the focus on a choice",
            lambda: any(
                node.has_state("FOCUSED")
                and not node.name.endswith(("Cancel", "Export…"))
                for node in window.find_all(below=dialog)
            ),
        )
        window.wait_label(lambda text: text.endswith(("kB", "MB")))
        wait_for(
            "a document to save",
            lambda: window.find(
                lambda name: name.endswith("Export…"), "push button"
            ).has_state("SENSITIVE"),
        )
        window.key("Escape")
        window.action("win.copy-picture")
        window.wait_label(lambda text: text == "Picture copied")

    def test_share(self):
        """A capture for sharing reveals nothing about this computer, has a
        summary of its content, and contains its sources."""
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "sort.c")
            source.write_text("int\nquick_sort (void)\n{\n  return 4242;\n}\n")
            document = pathlib.Path(folder, "one.speedscope.json")
            document.write_text(json.dumps({
                "$schema": "https://www.speedscope.app/file-format-schema.json",
                "shared": {"frames": [
                    {"name": "quick_sort", "file": str(source), "line": 4}]},
                "profiles": [{
                    "type": "sampled", "name": "t", "unit": "milliseconds",
                    "startValue": 0, "endValue": 1, "samples": [[0]],
                    "weights": [1]}]}))
            window = self.open(document)
            window.wait_label(lambda text: text.startswith("total 1.00"))
            window.key("ctrl+e")
            window.toggle("Save for Sharing", "check box")
            window.find("What the File Reveals", "label")
            window.find("Private Names", "label")
            window.wait_label(
                lambda text: "Functions: 1\n" in text
                and text.endswith("Home folder, user or host: no"))
            window.screenshot(SHOTS / "test_share_dialog.png")
            window.key("Escape")
            window.__exit__()

            shared = pathlib.Path(folder, "shared.flambeau")
            subprocess.run(
                [BUILD / "app/cli/flambeau-cli", "export", document, "--to", "flambeau",
                 "--with-sources", "--output", shared],
                check=True, capture_output=True)
            source.unlink()
            window = self.open(shared)
            window.wait_label(lambda text: text.startswith("total 1.00"))
            wait_for(
                "the source that is inside",
                lambda: any("return 4242" in node.text()
                            for node in window.find_all(role="text")))

    def test_keyboard(self):
        """Down the tree and back with nothing but keys."""
        window = self.open_example()
        self.press_until("Up", lambda: ", total " in self.graph().name)
        self.press_until("Up", lambda: self.graph().name.startswith("start"))
        window.key("Return")
        window.find("start_thread", "push button")
        window.key("f")
        window.find("Remove: focus: start_thread", "push button")
        window.key("u")
        wait_for(
            "the chip gone",
            lambda: not window.seen(lambda name: name.startswith("Remove: ")),
        )

    def test_close(self):
        """Everything that was opened is freed without a warning."""
        window = self.open_example(env={"G_DEBUG": "fatal-criticals"})
        window.click("Call Tree")
        window.click("Functions")
        window.click(lambda name: name.startswith("Threads: "))
        window.find("Search threads")
        window.key("Escape")
        window.action("win.record")
        window.click("Attach")
        window.find("Search processes")
        window.key("Escape")

        def closed():
            window.key("ctrl+w")
            return window.process.poll() is not None

        wait_for("the end", closed)
        self.assertEqual(window.process.returncode, 0)
        self.ended()

    def test_every_control_has_a_name(self):
        window = self.open_example()
        window.action("win.search")
        window.find("Search functions")
        nameless = [
            (node.role, node.get_parent().name)
            for node in window.find_all()
            if node.role in ("push button", "check box", "text", "combo box")
            and re.match("$|(Gtk|Adw|Flam)[A-Z]", node.name)
            # The inside of a drop-down or a split button, which is named.
            and node.name not in ("GtkToggleButton", "GtkMenuButton")
        ]
        self.assertEqual(nameless, [])

    def test_dark_and_narrow(self):
        window = self.open_example(
            env={"ADW_DEBUG_COLOR_SCHEME": "prefer-dark"},
            settings={"window-width": 360, "window-height": 640},
        )
        frame = window.find("example.flambeau", "frame")
        self.assertLessEqual(window.extents(frame)[2], 360)
        window.action("win.search")
        window.find("Search functions")
        self.assertLessEqual(window.extents(frame)[2], 360)


if __name__ == "__main__":
    unittest.main(verbosity=2)
