#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a new user meets: programs that are not here, a capture without files,
reloading, the same file again, a list of processes."""

import os
import pathlib
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from flamwindow import CAPTURES, wait_for  # noqa: E402
from windowtest import EXAMPLE, WindowTest as Base, capture  # noqa: E402


class DesktopTest(Base):
    def test_programs_not_found(self):
        """A banner says which; a folder more names them at once."""
        window = self.open(capture("perf/nest-dwarf.perf.data"))
        window.wait_label(lambda text: "is in programs not found here: /" in text)
        window.find(lambda name: name.endswith("Choose Folder…"), "push button")
        window.key("ctrl+3")
        keyfile = pathlib.Path(
            os.environ["XDG_CONFIG_HOME"], "glib-2.0/settings/keyfile"
        )
        with keyfile.open("a") as settings:
            settings.write(f"binaries-folders=['{CAPTURES / 'bin'}']\n")
        wait_for("a name", lambda: "spin_heavy" in window.labels())

    def test_reload(self):
        """F5 reads the file again; one without files has no pane of source;
        opened again, it is where it is."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "out.folded")
            path.write_text("main;one 10\n")
            window = self.open(path)
            window.wait_label(lambda text: text.startswith("total 10 "))
            self.assertFalse(window.seen("Source", "text"))
            path.write_text("main;one 10\nmain;two 20\n")
            window.key("F5")
            window.wait_label(lambda text: text.startswith("total 30 "))

    def test_same_file_again(self):
        window = self.open(EXAMPLE, EXAMPLE)
        window.wait_label(lambda text: text.startswith("total "))
        time.sleep(1)
        self.assertEqual(len(list(window.find_all(role="frame"))), 1)

    def test_processes(self):
        """A row is a line, and says what it is."""
        window = self.open()
        window.find("See Where Time and Memory Go", "label")
        window.action("win.record")
        window.click("Attach")
        window.find("Search processes")
        row = window.find(
            lambda name: f", process {os.getpid()}, " in name
        )
        self.assertLess(window.extents(row)[3], 34)


if __name__ == "__main__":
    unittest.main(verbosity=2)
