#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drags from the window into another program."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
from accessible import Gio, GLib  # noqa: E402
from flamwindow import LIMIT, plain, wait_for  # noqa: E402
from windowtest import WindowTest as Base  # noqa: E402

# The position of the other program's window: beside the tested one.
BESIDE = (1350, 400)


class DragTest(Base):
    def setUp(self):
        super().setUp()
        self.box = None

    def tearDown(self):
        super().tearDown()
        if self.box is not None:
            self.box.terminate()
            self.box.wait(LIMIT)
            self.box.stdout.close()

    def open_box(self, *arguments):
        self.box = subprocess.Popen(
            ["/usr/bin/python3", "-W", "ignore", str(HERE / "dropbox.py"), *arguments],
            env={**os.environ, "GTK_A11Y": "none"}, stdout=subprocess.PIPE, text=True,
        )
        self.dropped = []
        threading.Thread(
            target=lambda: self.dropped.extend(map(json.loads, self.box.stdout)),
            daemon=True).start()
        found = wait_for("the other window", lambda: subprocess.run(
            ["xdotool", "search", "--onlyvisible", "--name", "^Dropbox$"],
            capture_output=True, text=True).stdout.split())
        subprocess.run(
            ["xdotool", "windowmove", found[0], *map(str, BESIDE)], check=True)

    def open_source(self, path):
        """The other way: drags this file from there."""
        self.open_box("source", str(path))

    def move(self, x, y):
        subprocess.run(["xdotool", "mousemove", str(x), str(y)], check=True)
        time.sleep(0.2)

    def drag(self, node, x=0.5, y=0.5, keys=(), shot=None):
        """Drags from a fraction of the node's size to the other program."""
        left, top, width, height = self.window.extents(node)
        start = int(left + x * width), int(top + y * height)
        try:
            self.move(*start)
            for key in keys:
                subprocess.run(["xdotool", "keydown", key], check=True)
            subprocess.run(["xdotool", "mousedown", "1"], check=True)
            for step in range(1, 6):
                self.move(start[0] + 8 * step, start[1] + 4 * step)
            if shot:
                self.move(start[0] + 120, start[1] + 60)
                self.window.screenshot(shot)
            for step in range(3):
                self.move(BESIDE[0] + 90 + step, BESIDE[1] + 90 + step)
        finally:
            subprocess.run(["xdotool", "mouseup", "1"], check=True)
            for key in keys:
                subprocess.run(["xdotool", "keyup", key], check=True)

    def drag_out(self, *arguments, **options):
        """The dropped data."""
        before = len(self.dropped)
        self.drag(*arguments, **options)
        wait_for("what was dropped", lambda: len(self.dropped) > before)
        return self.dropped[-1]

    def shot(self, name):
        folder = os.environ.get("FLAM_TEST_PICTURES")
        return pathlib.Path(folder, name) if folder else None

    def cell(self, name):
        return wait_for(f"a row {name}", lambda: next(
            (node for node in self.window.find_all(name, "label")
             if node.get_parent().role == "table cell"
             and node.extents()[2] > 0 and node.extents()[1] > 55), None))

    def test_row(self):
        """A function of a table, with its costs as in the table."""
        window = self.open_example()
        # The other program takes the keyboard focus, too.
        window.key("ctrl+3")
        self.open_box("text")
        text = plain(self.drag_out(
            self.cell("escape_time"), x=0.1, shot=self.shot("drag-row.png")))
        self.assertRegex(
            text,
            r"^escape_time(\(.*\))?: self [\d.]+ m?s \([\d.]+ %\), "
            r"total [\d.]+ m?s \([\d.]+ %\)$")

    def test_path(self):
        """A button of the path brings its whole stack along."""
        window = self.open_example()
        self.open_box("text")
        self.search("^escape_time")
        crumb = window.find("escape_time", "push button")
        lines = plain(self.drag_out(crumb)).split("\n")
        self.assertRegex(lines[0], r"^escape_time.*: self .*, total .* \([\d.]+ %\)$")
        self.assertEqual(lines[1], "paint_row")

    def test_graph(self):
        """With Ctrl the frame is dragged, without it the view moves."""
        window = self.open_example()
        self.open_box("text")
        graph = self.graph()
        # The root is at the bottom, and as wide as the graph.
        text = plain(self.drag_out(
            graph, y=0.985, keys=("ctrl",), shot=self.shot("drag-frame.png")))
        self.assertTrue(re.match(r"all: self 0 .*, total .* \(100.0 %\)$", text), text)
        before = len(self.dropped)
        self.drag(graph, y=0.985)
        time.sleep(1)
        self.assertEqual(len(self.dropped), before)

    def test_folder(self):
        """A folder that is dropped on the window is plotted as a history."""
        with tempfile.TemporaryDirectory() as folder:
            runs = pathlib.Path(folder, "runs")
            runs.mkdir()
            (runs / "one.folded").write_text("main;parse 100\n")
            window = self.open_example()
            self.open_source(runs)
            start = BESIDE[0] + 90, BESIDE[1] + 90
            self.move(*start)
            subprocess.run(["xdotool", "mousedown", "1"], check=True)
            try:
                for step in range(1, 6):
                    self.move(start[0] - 8 * step, start[1] + 4 * step)
                for step in range(3):
                    self.move(600 + step, 500 + step)
            finally:
                subprocess.run(["xdotool", "mouseup", "1"], check=True)
            wait_for("the folder", lambda: window.title() == "runs")
            window.find(lambda name: name.startswith("Samples"), "image")

    def open_export(self, kind):
        window = self.open_example(settings={"export-format": "'svg'"})
        window.key("ctrl+e")
        window.find("Format", "label")
        wait_for("a document", lambda: next(window.find_all(
            lambda name: name.endswith("Export…"), "push button")).has_state("SENSITIVE"))
        self.open_box(kind)
        return window.find("Preview", "image")

    def test_document(self):
        """The preview brings the file along, which is removed with the program."""
        preview = self.open_export("files")
        ((path, contents),) = self.drag_out(preview, shot=self.shot("drag-document.png"))
        self.assertTrue(path.endswith("/example.flambeau.svg"), path)
        self.assertIn(b"escape_time", bytes.fromhex(contents))
        self.assertTrue(pathlib.Path(path).exists())
        self.box.terminate()
        # The dialog's own button: the page shown while the capture was loading has such
        # a button, too, and keeps its place on GTK 4.8.
        header = self.window.find(lambda name: name.endswith("Export…"), "push button")
        while not (buttons := list(
                self.window.find_all("Cancel", "push button", below=header))):
            header = header.get_parent()
        self.window.act(buttons[0])
        # A newer libadwaita does not close a window whose dialog is still closing.
        wait_for("no dialog", lambda: not self.window.seen("Preview", "image"))
        time.sleep(1)
        # The other program had the keyboard focus, and without a window manager nothing
        # has it now.
        Gio.bus_get_sync(Gio.BusType.SESSION).call_sync(
            "dev.flambeau.Flambeau", "/dev/flambeau/Flambeau", "org.gtk.Actions",
            "Activate", GLib.Variant("(sava{sv})", ("quit", [], {})),
            None, Gio.DBusCallFlags.NONE, -1, None)
        self.assertEqual(self.window.process.wait(LIMIT), 0)
        self.assertFalse(pathlib.Path(path).parent.exists())
        self.ended()

    def test_picture(self):
        """A program that accepts pictures gets a picture."""
        width, height = self.drag_out(self.open_export("picture"))
        self.assertEqual(width, 2400)
        self.assertGreater(height, 300)


if __name__ == "__main__":
    unittest.main()
