#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recording on another machine from the window: an sshd of the test's own on
loopback, and a container's client that runs its command here."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "record"))
from flamwindow import ITEMS_SPEAK, wait_for  # noqa: E402
from windowtest import RECORDER, WindowTest as Base  # noqa: E402
import sshd  # noqa: E402

BUSY = """import time

def spin_there():
    e = time.time() + 900
    while time.time() < e:
        sum(range(99))

spin_there()
"""


@unittest.skipUnless(pathlib.Path(RECORDER).is_file(), "the recorder is not here")
class HostTest(Base):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="flam-host.")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in "bin", "there", ".ssh":
            (self.folder / name).mkdir()
        self.env = {"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "HOME": str(self.folder),
                    "XDG_CACHE_HOME": str(self.folder / "cache")}

    def start_daemon(self):
        daemon = sshd.Sshd(self.folder, self.folder / "there", self.folder / "bin")
        self.addCleanup(daemon.close)
        wait_for("sshd", daemon.answers)
        shutil.copy(self.folder / "config", self.folder / ".ssh/config")
        return daemon

    def start_busy(self):
        (self.folder / "busy.py").write_text(BUSY)
        busy = subprocess.Popen([sys.executable, self.folder / "busy.py"])
        self.addCleanup(busy.wait)
        self.addCleanup(busy.kill)
        return busy

    def begin(self):
        window = self.open(env=self.env)
        window.find("See Where Time and Memory Go", "label")
        window.action("win.record")
        return window

    @staticmethod
    def rows_of(window, text):
        return list(window.find_all(
            lambda name: ", process " in name and text in name))

    @staticmethod
    def choose_host(window, name):
        """It is connected to when its processes are to be seen."""
        window.click("Launch")
        window.type(window.find("Host", "text"), name)
        window.click("Attach")

    @unittest.skipUnless(sshd.IS_HERE, "openssh-server is not installed")
    def test_attach(self):
        """A host of ssh's configuration: its processes, the picture while one is
        recorded, a lost connection, and Stop."""
        daemon = self.start_daemon()
        busy = self.start_busy()
        window = self.begin()
        window.mouse(window.find("Options", "label"))
        self.choose_host(window, "tests-own")
        window.wait_label(lambda text: text == "Host: tests-own")
        search = window.find("Search processes")
        wait_for("the focus", lambda: search.has_state("FOCUSED"))
        # This window is a process there like all others.
        for pid in window.process.pid, busy.pid:
            window.key("ctrl+a")
            window.write(str(pid))
            wait_for("its row", lambda pid=pid: len(
                self.rows_of(window, f"process {pid}")) == 1)
        window.key("Return")
        window.wait_label(lambda text: text.startswith("total "))
        os.kill(daemon.client_process(), signal.SIGKILL)
        window.wait_label(lambda text: text == "Recording python3 on tests-own")
        window.wait_label(lambda text: text.endswith("busy.py on tests-own"))
        window.click(lambda name: name.endswith("Stop"), "push button")
        window.wait_label(lambda text: text.startswith("Recorded python3"))
        self.assertIsNone(busy.poll())

    @unittest.skipUnless(sshd.IS_HERE, "openssh-server is not installed")
    def test_attach_refused(self):
        """The reason is in the place of the list; this machine's comes back."""
        daemon = self.start_daemon()
        daemon.client("stranger", "known")
        window = self.begin()
        window.mouse(window.find("Options", "label"))
        self.choose_host(window, "tests-own")
        window.wait_label(lambda text: text.startswith("tests-own: ")
                          and "Permission denied" in text)
        self.choose_host(window, "podman:-x")
        window.wait_label(lambda text: "expected an SSH host" in text)
        self.choose_host(window, "")
        wait_for("the processes here", lambda: self.rows_of(window, ""))
        if ITEMS_SPEAK:
            window.click("Choose a host")
            window.find("tests-own", "menu item")

    @unittest.skipUnless(os.geteuid() == 0, "only root can mount")
    def test_source(self):
        """A source that only the host has is fetched when a person wants it, and kept."""
        source = self.folder / "elsewhere/busy.py"
        source.parent.mkdir()
        (self.folder / "sources").mkdir()
        (self.folder / "sources/busy.py").write_text(BUSY.replace("900", "1"))
        sshd.write_script(self.folder / "bin/podman", f"""shift 3
export XDG_CACHE_HOME={self.folder}/there
exec unshare --mount sh -c 'mount --bind {self.folder}/sources {source.parent}; exec "$@"' - "$@" """)
        window = self.begin()
        window.type(window.find(lambda name: name.startswith("Command Line"), "text"),
                    f"/usr/bin/python3 {source}")
        window.mouse(window.find("Options", "label"))
        window.type(window.find("Host", "text"), "podman:box")
        window.act(next(node for node in window.find_all(
            lambda name: name.endswith("Record"), "push button",
            window.find("Record", ("filler", "frame", "dialog"))) if "click" in node.actions()))
        window.wait_label(lambda text: text == "python3 ended without an error")
        window.action("win.search")
        window.type(window.find("Search functions"), "spin_there")
        window.wait_label(lambda text: text.startswith("matched "))
        window.action("win.search-next")
        window.wait_label(lambda text: text == "Source Not Found")
        self.assertFalse(list(self.folder.glob("cache/flambeau/sources/**/*.py")))
        window.click("Fetch from podman:box", "push button")
        text = window.find("Source", "text")
        wait_for("the text", lambda: "def spin_there" in text.text())
        kept, = self.folder.glob("cache/flambeau/sources/**/*.py")
        self.assertTrue(str(kept).startswith(
            f"{self.folder}/cache/flambeau/sources/on-podman%3Abox/build-"), kept)
        self.assertTrue(str(kept).endswith(str(source)), kept)


if __name__ == "__main__":
    unittest.main(verbosity=2)
