#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures are whole in every language and with large letters, and lines are at their
reported places."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from flamwindow import BUILD, wait_for  # noqa: E402
from windowtest import EXAMPLE, WindowTest as Base  # noqa: E402

MOST, REST = 5 * 10**18, 4 * 10**18 + 1
LOCALES = pathlib.Path("/usr/share/i18n/locales")


def digits(text):
    return re.sub(r"\D", "", text)


class FiguresTest(Base):
    def setUp(self):
        super().setUp()
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def installed(self, language):
        """A copy of the program that finds that translation, beside
        share/locale."""
        program = self.folder / "bin/flambeau"
        program.parent.mkdir()
        shutil.copy2(BUILD / "app/ui/flambeau", program)
        words = self.folder / "share/locale" / language / "LC_MESSAGES"
        words.mkdir(parents=True)
        shutil.copy2(BUILD / "po" / language / "LC_MESSAGES/flambeau.mo", words)
        return program

    def figures(self, value):
        """The visible labels of that figure in a table."""
        found = []
        for label in self.window.find_all(lambda name: digits(name) == str(value), "label"):
            cell = label.get_parent().get_parent()
            if cell.role == "table cell" and min(label.extents()[2:]) > 0:
                found.append((label, cell))
        return found

    def shares(self):
        """The labels of the total, beside the figures."""
        return [label for label in self.window.find_all(
            lambda name: name.startswith("100.0"), "label")
            if label.get_parent().get_parent().role == "table cell"
            and min(label.extents()[2:]) > 0]

    def is_whole(self, label, cell):
        """The whole figure is in its cell, with room for all of its digits."""
        left, _, width, height = label.extents()
        outer, _, room, _ = cell.extents()
        return (left >= outer and left + width <= outer + room
                and width > 19 * height * 0.3)

    def check(self, large=False, **options):
        capture = self.folder / "a.folded"
        capture.write_text(f"main;one;twice {MOST}\nmain;two;twice {REST}\n")
        window = self.open(capture, **options)
        wait_for("the total", lambda: any(
            digits(text) == str(MOST + REST) for text in window.labels()))
        for page, value in ("ctrl+2", MOST), ("ctrl+3", MOST + REST):
            window.key(page)
            wait_for(f"{value} in a table", lambda value=value: self.figures(value))
            wait_for("whole figures", lambda value=value: all(
                self.is_whole(*one) for one in self.figures(value)))
        if not large:
            wait_for("the shares of them", self.shares)

    def test_german(self):
        self.check(program=self.installed("de"), env={"LANGUAGE": "de"},
                   settings={"window-width": 1400})

    def test_japanese(self):
        self.check(program=self.installed("ja"), env={"LANGUAGE": "ja"},
                   settings={"window-width": 1400})

    def test_one_share(self):
        """Where there is room for the shares of one column, the first has them."""
        window = self.open_example(settings={"window-width": 1280, "window-height": 800})
        window.key("ctrl+3")
        table = window.find("Functions", "tree table")

        def columns():
            """The left edges of cells that contain a share."""
            for label in window.find_all(
                    lambda name: re.fullmatch(r"[\d.]+\s%", name), "label", table):
                left, _, width, _ = label.extents()
                outer, _, room, _ = label.get_parent().get_parent().extents()
                if width > 0 and outer <= left and left + width <= outer + room:
                    yield outer

        wait_for("shares in the first column", lambda: len(set(columns())) == 1)

    def test_shares_before_modules(self):
        """Where there is no room for all, the column of modules goes first."""
        self.check(settings={"window-width": 760, "window-height": 600})

    def test_large_letters(self):
        """Letters half as large again, as set by people with weak eyesight."""
        folder = pathlib.Path(os.environ["XDG_CONFIG_HOME"], "gtk-4.0")
        folder.mkdir(parents=True, exist_ok=True)
        settings = folder / "settings.ini"
        settings.write_text("[Settings]\ngtk-font-name=Sans 17\n")
        self.addCleanup(settings.unlink)
        self.check(large=True)
        label, _cell = self.figures(MOST + REST)[0]
        self.assertGreater(label.extents()[3], 22)

    def test_arabic(self):
        """Lines of other scripts have other heights: the source pane still
        shows the line that it names."""
        if not (LOCALES / "ar_EG").is_file() or not shutil.which("localedef"):
            raise unittest.SkipTest("the sources of the locales are not installed")
        subprocess.run(
            ["localedef", "-i", "ar_EG", "-f", "UTF-8", self.folder / "ar_EG.UTF-8"],
            check=True)
        window = self.open_example(
            env={"LOCPATH": str(self.folder), "LC_ALL": "", "LC_CTYPE": "ar_EG.UTF-8"})
        line = int(digits(window.wait_label(
            lambda text: re.fullmatch(r"line \d+", text))))
        self.assertGreater(line, 30)
        source = wait_for("the source", lambda: next((
            node for node in window.find_all(role="text")
            if "escape_time" in node.text()), None))

        self.wait_still()
        # A click puts the cursor where it points to, which the description names.
        window.mouse(source, 0.9, 0.5)
        time.sleep(0.5)
        middle = int(re.match(r"line (\d+)", source.get_description())[1])
        self.assertLess(abs(middle - line), 4)

    def wait_still(self):
        """Until the screen has been the same for two seconds."""
        seen = []

        def is_still():
            with open(os.environ["FLAM_FRAMEBUFFER"], "rb") as file:
                seen.append(zlib.crc32(file.read()))
            time.sleep(0.2)
            return len(seen) > 10 and len(set(seen[-10:])) == 1

        wait_for("a still picture", is_still)


if __name__ == "__main__":
    unittest.main(verbosity=2)
