#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ten tasks of a new user, each by keyboard alone and by mouse alone, using only
what the accessibility tree reports, in as few steps as tests/README.md claims. A
step is a key combination, a typed text or a click; for `install`, it is a command.
A task begins at the start page (open, record, attach) or with an open capture, and
ends when its result is seen. FLAM_FILM=FOLDER keeps a picture before each step and
of each result."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from accessible import application  # noqa: E402
from flamwindow import BUILD, ITEMS_SPEAK, SOURCE, wait_for  # noqa: E402
from windowtest import EXAMPLE, RECORDER, WindowTest as Base, total_of  # noqa: E402

# By keyboard; by mouse (text is typed there, too); and, counted by hand, by mouse in
# Hotspot 1.3 and Sysprof 3.46 (None: not possible there). The table in
# tests/README.md is generated from this one.
STEPS = {
    "install": (2, 2, 1, 1),
    "open": (3, 3, 3, 3),
    "record": (3, 3, 4, 4),
    "attach": (5, 6, 8, 6),
    "hottest line": (0, 0, 2, None),
    "filter a thread": (3, 2, 2, None),
    "compare": (3, 3, None, None),
    "export": (3, 4, 5, None),
    "leak": (1, 2, None, 2),
    "undo": (1, 1, 2, None),
}
CLI = BUILD / "app/cli/flambeau-cli"
FILM = os.environ.get("FLAM_FILM")
BUSY = "import time\nend = time.time() + 900\nwhile time.time() < end: sum(range(99))"


def told(*arguments):
    return subprocess.run(
        [CLI, *map(str, arguments)], check=True, capture_output=True, text=True
    ).stdout


@unittest.skipUnless(ITEMS_SPEAK, "GTK does not tell the items of menus here")
class TasksTest(Base):
    def setUp(self):
        super().setUp()
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        # The window's folder, where its file choosers begin.
        here = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, here)
        self.begin()

    def start(self):
        window = self.open()
        window.find("See Where Time and Memory Go")
        window.to_origin()
        self.begin()
        return window

    def start_with(self, path):
        window = self.open(path)
        window.wait_label(lambda text: text.startswith("total "))
        window.to_origin()
        self.begin()
        return window

    def begin(self):
        self.steps = 0
        self.film = []

    def take(self):
        if FILM and self.window:
            time.sleep(0.5)
            self.film.append(self.folder / f"film-{len(self.film)}.png")
            self.window.screenshot(self.film[-1])

    def step(self):
        self.take()
        self.steps += 1

    def key(self, chord):
        self.step()
        self.window.key(chord)

    def write(self, text):
        self.step()
        self.window.write(text)

    def click(self, name, role=None):
        self.step()
        self.window.click(name, role)

    def choose(self, name):
        """An item of a menu; in newer versions of GTK, only its label has the
        name."""
        item = wait_for(
            f"{name} in a menu",
            lambda: next(
                (node for node in self.window.find_all(name, ("menu item", "label"))
                 if min(node.extents()[2:]) > 0), None))
        self.step()
        self.window.act(item)

    def dialog(self, name):
        """Waits until it is there and has the keyboard focus, without a window
        manager."""
        self.window.find(name)
        time.sleep(0.7)

    def choose_row(self, row):
        """A row of a file chooser, the latest of the recent files first. GTK's list of
        files had no rows in the tree before 4.10, only its place and that of its
        titles."""
        window = self.window
        title = window.find("Name", "label")
        left, top, _, height = wait_for(
            "a list of files", lambda: title.extents() if title.extents()[3] else None)
        self.step()
        subprocess.run(
            ["xdotool", "mousemove", str(left + 60), str(top + height + 14 + 22 * row),
             "click", "1"], check=True)

    def done(self, task, how):
        self.take()
        for number, picture in enumerate(self.film):
            name = f"{task.replace(' ', '-')}-{('keys', 'mouse')[how]}-{number}.png"
            pathlib.Path(FILM).mkdir(parents=True, exist_ok=True)
            shutil.move(picture, pathlib.Path(FILM, name))
        self.film = []
        self.assertEqual(self.steps, STEPS[task][how], f"steps to {task}")

    def total(self, text):
        self.window.wait_label(lambda label: label.startswith(f"total {text}"))

    # --- from the start page ---------------------------------------------------

    def test_install(self):
        """The two commands in README.md; the desktop entry that they install starts
        the window."""
        text = (SOURCE / "README.md").read_text()
        commands = re.search(r"`(meson setup \S+ && meson install [^`]+)`", text)[1]
        self.steps = len(commands.split(" && "))
        self.done("install", 0)
        self.done("install", 1)
        subprocess.run(
            ["meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", self.folder],
            check=True, capture_output=True)
        (entry,) = self.folder.rglob("applications/*.desktop")
        prefix = entry.parents[2]
        # A staged installation does not compile schemas; a real one does.
        subprocess.run(
            ["glib-compile-schemas", prefix / "share/glib-2.0/schemas"], check=True)
        child = self.launch(entry, {
            "PATH": f"{prefix}/bin:{os.environ['PATH']}",
            "XDG_DATA_DIRS": f"{prefix}/share:/usr/share",
            "GSETTINGS_SCHEMA_DIR": f"{prefix}/share/glib-2.0/schemas",
        })
        wait_for("the window", lambda: application(child.pid))
        child.terminate()
        child.wait()

    @staticmethod
    def launch(entry, environment):
        words = re.search(r"^Exec=(\S+)", entry.read_text(), re.M)[1]
        return subprocess.Popen(
            [words], env={**os.environ, "GTK_A11Y": "atspi", **environment})

    def test_open(self):
        copy = self.folder / "run.flambeau"
        copy.write_bytes(EXAMPLE.read_bytes())
        window = self.start()
        self.key("ctrl+o")
        self.dialog("Open a Capture")
        self.write(str(copy))
        time.sleep(0.7)
        self.key("Return")
        self.total(total_of(EXAMPLE))
        self.assertEqual(window.title(), "run.flambeau")
        self.done("open", 0)
        window.__exit__()
        # It is now among the recent files, where the chooser begins.
        window = self.start()
        self.click(lambda name: name.endswith("Open…"), "push button")
        self.dialog("Open a Capture")
        self.choose_row(0)
        self.press_in("Open a Capture", "Open")
        self.total(total_of(EXAMPLE))
        self.assertEqual(window.title(), "run.flambeau")
        self.done("open", 1)

    def press_in(self, dialog, name):
        """A button of a dialog, whose name the window's own has, too."""
        window = self.window
        top = window.find(dialog, ("filler", "frame", "dialog"))
        button = wait_for(
            f"{name} in {dialog}",
            lambda: next(
                (node for node in window.find_all(
                    lambda text: text.endswith(name), "push button", top)
                 if "click" in node.actions() and node.has_state("SENSITIVE")),
                None))
        self.step()
        window.act(button)

    def check_capture(self, function):
        """The new capture contains the program that ran."""
        folder = pathlib.Path(os.environ["XDG_DATA_HOME"], "flambeau/recordings")
        (path,) = folder.glob("*.flambeau")
        self.assertRegex(told("top", path), function)
        path.unlink()

    def test_record(self):
        if not pathlib.Path(RECORDER).is_file():
            raise unittest.SkipTest(f"{RECORDER or 'the recorder'} is not here")
        program = f"{BUILD}/tests/record/shares 300"
        for how in 0, 1:
            window = self.start()
            if how == 0:
                self.key("ctrl+r")
            else:
                self.click(lambda name: name.endswith("Record…"), "push button")
            self.dialog("Command Line")
            self.write(program)
            if how == 0:
                self.key("Return")
            else:
                self.press_in("Record", "Record")
            window.wait_label(lambda text: text == "shares ended without an error")
            self.assertIn("shares", window.title())
            self.check_capture("spin_heavy")
            self.done("record", how)
            window.__exit__()
        self.window = None

    def test_attach(self):
        if not pathlib.Path(RECORDER).is_file():
            raise unittest.SkipTest(f"{RECORDER or 'the recorder'} is not here")
        program = self.folder / f"stranger{os.getpid()}"
        program.write_text(BUSY)
        busy = subprocess.Popen([sys.executable, program])
        self.addCleanup(busy.wait)
        self.addCleanup(busy.kill)
        for how in 0, 1:
            window = self.start()
            if how == 0:
                self.key("ctrl+r")
                self.dialog("Command Line")
                self.key("alt+a")
            else:
                self.click(lambda name: name.endswith("Record…"), "push button")
                self.dialog("Command Line")
                self.click("Attach", "page tab")
            search = window.find("Search processes")
            wait_for("the focus", lambda: search.has_state("FOCUSED"))
            self.write(program.name)
            # Until the list is filtered, rows come and go and move.
            row, = wait_for("it alone", lambda: (
                rows := list(window.find_all(lambda name: ", process " in name)))
                and all(f", process {busy.pid}, " in row.name for row in rows) and rows[:1])
            if how == 0:
                self.key("Return")
            else:
                self.click_at(row)
                self.press_in("Record", "Record")
            window.wait_label(
                lambda text: text.endswith(" samples") and text != "0 samples")
            if how == 0:
                self.key("alt+s")
            else:
                self.click(lambda name: name.endswith("Stop"), "push button")
            window.wait_label(lambda text: text.startswith("Recorded "))
            # Whatever the first picture showed.
            window.find("Remove: native code hidden")
            self.check_capture(r"\bsum|sum_|PyEval|<module>|range")
            self.assertIsNone(busy.poll())
            self.done("attach", how)
            window.__exit__()
        self.window = None

    def click_at(self, node):
        self.step()
        self.window.mouse(node)

    # --- with an open capture ---------------------------------------------------

    def test_look(self):
        """The hottest line, one thread and then all of them again, the
        leaks: one capture after the other in one window."""
        window = self.start_with(EXAMPLE)
        everything = total_of(EXAMPLE)
        self.hottest_line()
        for how in 0, 1:
            self.begin()
            if how == 0:
                self.key("ctrl+shift+t")
                self.dialog("Search threads")
                self.write("sparks")
                self.key("Return")
            else:
                self.click(lambda name: name.startswith("Threads: "))
                row = wait_for("its row", lambda: next(
                    (node for node in window.find_all("sparks (5228)")
                     if "thread.toggle" in node.actions()), None))
                self.step()
                window.act(row, "thread.toggle")
            window.find("sparks (5228)", "label")
            self.total(total_of_thread("sparks"))
            self.done("filter a thread", how)
            window.key("Escape")
            self.begin()
            if how == 0:
                self.key("ctrl+z")
            else:
                self.click("Undo")
            self.total(everything)
            self.done("undo", how)
        leaked = re.search(r"^leaked +(\S+)\s(\S+) in ", told("memory", EXAMPLE), re.M)
        for how in 0, 1:
            self.begin()
            if how == 0:
                self.key("l")
            else:
                self.click("Measure: CPU time")
                self.choose("Leaked memory")
            self.total(f"{leaked[1]}\u00a0{leaked[2]}")
            self.done("leak", how)
            window.click("CPU", "push button")
            self.total(everything)

    def hottest_line(self):
        """It is shown when a capture is opened; nothing has to be done."""
        window = self.window
        lines = re.findall(
            r"^ *(\d+)  self (\S+\s\S+)  total (.*)$",
            told("lines", EXAMPLE, "--source", "flambeau-example.c"), re.M)
        number, own, total = max(lines, key=lambda line: nanoseconds(line[1]))
        window.find(f"line {number}", "label")
        wait_for(
            "what the command line says",
            lambda: plain(window.find("Source", "text").get_description())
            == plain(f"line {number}: self {own}, total {total}"))
        for how in 0, 1:
            self.done("hottest line", how)

    def test_compare(self):
        before = self.folder / "before.folded"
        now = self.folder / "now.folded"
        before.write_text("main;parse 20\nmain;old 40\n")
        now.write_text("main;parse 35\nmain;fresh 12\n")
        self.start_with(before).__exit__()
        for how in 0, 1:
            window = self.start_with(now)
            if how == 0:
                self.key("ctrl+d")
            else:
                self.click("Main menu")
                self.choose("Compare…")
            self.dialog("Search what to compare with")
            row = window.find(lambda name: name.startswith("before.folded"), "list item")
            if how == 0:
                entry = window.find("Search what to compare with")
                wait_for("the keyboard in it", lambda: entry.has_state("FOCUSED"))
                self.write("before")
                time.sleep(0.7)
                self.key("Return")
            else:
                self.click_at(row)
            window.wait_label(
                lambda label: "Before: before.folded, 60. Now: now.folded, 47: −13" in label)
            self.done("compare", how)
            window.__exit__()
        self.window = None

    def test_export(self):
        for how in 0, 1:
            window = self.start_with(EXAMPLE)
            if how == 0:
                self.key("ctrl+e")
            else:
                self.click("Main menu")
                self.choose("Export…")
            self.dialog("Format")
            window.wait_label(lambda text: text.endswith(("kB", "MB")))
            if how == 0:
                self.key("alt+e")
            else:
                self.press_in("Export", "Export…")
            window.find("Name:", "text")
            time.sleep(1)
            if how == 0:
                self.key("Return")
            else:
                self.click(lambda name: name.endswith("Save"), "push button")
            window.wait_label(lambda text: text == "Exported")
            (made,) = self.folder.glob("*.svg")
            self.assertIn("escape_time", made.read_text())
            made.unlink()
            self.done("export", how)
            window.__exit__()
        self.window = None


def plain(text):
    return text.replace("\u00a0", " ")


def nanoseconds(text):
    number, unit = text.split()
    return float(number) * {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit]


def total_of_thread(name):
    says = told("info", EXAMPLE, "--thread", name)
    return re.search(r"^measures +\S+ +(.*) \(", says, re.M)[1]


if __name__ == "__main__":
    unittest.main(verbosity=2)
