#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Missing debug information, offered, downloaded and used: a stripped program
was recorded, and a server on this machine has the stripped data."""

import functools
import http.server
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from flamwindow import BUILD, SOURCE, Window, wait_for  # noqa: E402

PROGRAM = BUILD / "tests/record/shares"
CLI = BUILD / "app/cli/flambeau-cli"
LIBRARY = "libdebuginfod.so.1"


def ends(word):
    """A button's name has its mnemonic's underline."""
    return lambda name: name.endswith(word)


class Server(http.server.ThreadingHTTPServer):
    """Serves a folder; answers when `gate` is open."""

    def __init__(self, folder):
        server = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_arguments):
                pass

            def do_GET(self):
                server.asked.append(self.path)
                server.gate.wait(120)
                super().do_GET()

        super().__init__(
            ("127.0.0.1", 0), functools.partial(Handler, directory=folder)
        )
        self.asked = []
        self.gate = threading.Event()
        self.gate.set()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class DownloadTest(unittest.TestCase):
    def setUp(self):
        for tool in ("objcopy", "strip", "readelf"):
            if shutil.which(tool) is None:
                self.skipTest(f"no {tool}")
        if LIBRARY not in subprocess.run(
            ["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True
        ).stdout:
            self.skipTest(f"no {LIBRARY}")
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        notes = subprocess.run(
            ["readelf", "-n", PROGRAM], capture_output=True, text=True, check=True
        ).stdout
        self.build_id = re.search(r"Build ID: (\w+)", notes)[1]
        served = self.folder / "served/buildid" / self.build_id
        served.mkdir(parents=True)
        self.debug = served / "debuginfo"
        subprocess.run(
            ["objcopy", "--only-keep-debug", PROGRAM, self.debug], check=True
        )
        program = self.folder / "program"
        subprocess.run(["strip", "-o", program, PROGRAM], check=True)
        self.capture = self.folder / "program.flambeau"
        subprocess.run(
            [CLI, "record", "--output", self.capture, "--", program, "40"],
            check=True, stdout=subprocess.DEVNULL,
        )
        self.server = Server(self.folder / "served")
        self.addCleanup(self.server.shutdown)
        self.env = {
            "DEBUGINFOD_URLS": f"http://127.0.0.1:{self.server.server_port}/",
            "DEBUGINFOD_CACHE_PATH": str(self.folder / "cache"),
        }

    def top(self, *options):
        return subprocess.run(
            [CLI, "top", self.capture, *options],
            env={**os.environ, **self.env},
            capture_output=True, text=True, check=True,
        ).stdout

    def test_command_line(self):
        self.assertNotIn("compute", self.top())
        self.assertEqual(self.server.asked, [])
        self.assertIn("compute", self.top("--debuginfod"))
        self.assertIn(
            f"/buildid/{self.build_id}/debuginfo", self.server.asked
        )

    def offer(self, window):
        return window.wait_label(
            lambda text: text.startswith("Debug information is missing")
        )

    def test_asks_first(self):
        with Window(self.capture, env=self.env) as window:
            self.assertIn("program", self.offer(window))
            self.assertEqual(self.server.asked, [])
            window.action("win.search")
            window.type(window.find("Search functions"), "compute")
            window.wait_label(lambda text: text == "no match")
            window.click(ends("Download"), "push button")
            # In place: the search now finds functions that were missing before.
            window.wait_label(lambda text: text.startswith("matched "))
            wait_for(
                "the bar to go",
                lambda: not any(
                    node.has_state("SHOWING")
                    for node in window.find_all(ends("Cancel"), "push button")
                ),
            )
            self.assertEqual(window.title(), "program.flambeau")

    def test_cancel(self):
        """Cancel takes effect while the server is still silent."""
        self.server.gate.clear()
        with Window(self.capture, env=self.env) as window:
            self.offer(window)
            window.click(ends("Download"), "push button")
            window.wait_label(lambda text: text.startswith("Downloading"))
            wait_for("the question", lambda: self.server.asked)
            window.click(ends("Cancel"), "push button")
            window.action("win.search")
            window.type(window.find("Search functions"), "no such name")
            window.wait_label(lambda text: text == "no match")
            self.assertFalse(self.server.gate.is_set())
            self.server.gate.set()

    def test_nothing_there(self):
        self.debug.unlink()
        with Window(self.capture, env=self.env) as window:
            self.offer(window)
            window.click(ends("Download"), "push button")
            window.wait_label(lambda text: "have nothing for program" in text)

    def test_never(self):
        with Window(
            self.capture, env=self.env, settings={"debuginfod": "'never'"}
        ) as window:
            window.wait_label(lambda text: text.startswith("total "))
            self.assertEqual(self.server.asked, [])

    def test_always(self):
        with Window(
            self.capture, env=self.env, settings={"debuginfod": "'always'"}
        ) as window:
            window.action("win.search")
            window.type(window.find("Search functions"), "compute")
            window.wait_label(lambda text: text.startswith("matched "))
            self.assertTrue(self.server.asked)

    def test_unseen(self):
        """A tab that was read before it was seen offers it, too."""
        example = SOURCE / "data/example/example.flambeau"
        with Window(self.capture, example, env=self.env) as window:
            window.wait_label(lambda text: text.startswith("total "))
            self.assertEqual(window.title(), "example.flambeau")
            # Until the other one was read as well.
            window.find("program.flambeau")
            time.sleep(2)
            window.take_keyboard()
            window.key("ctrl+Page_Up")
            self.assertIn("program", self.offer(window))

    def test_preferences(self):
        """Servers that are only set in the preferences; and a choice there
        applies to the open capture."""
        urls = self.env.pop("DEBUGINFOD_URLS")
        os.environ.pop("DEBUGINFOD_URLS", None)
        with Window(
            self.capture, env=self.env,
            settings={"debuginfod": "'never'", "debuginfod-urls": f"'{urls}'"}
        ) as window:
            window.wait_label(lambda text: text.startswith("total "))
            window.key("ctrl+comma")
            choice = window.find("Missing Debug Information", "combo box")
            window.focus(choice)
            for key in ("space", "Up", "Up", "Return"):
                window.key(key)
            self.assertIn("program", self.offer(window))
            self.assertEqual(self.server.asked, [])
            for key in ("space", "Down", "Return"):
                window.key(key)
            wait_for("the question", lambda: self.server.asked)


if __name__ == "__main__":
    unittest.main(verbosity=2)
