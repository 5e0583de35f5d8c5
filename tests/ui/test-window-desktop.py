#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first experiences of a new user: missing programs, a capture without
files, reloading, the same file again, a list of processes, help, tips,
notifications."""

import bz2
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from flamwindow import BUILD, CAPTURES, SOURCE, has_library, wait_for  # noqa: E402
from notices import Desktop  # noqa: E402
from windowtest import EXAMPLE, RECORDER, WindowTest as Base, capture, total_of  # noqa: E402


def translated_locale():
    """glibc 2.41 takes C.UTF-8 for C, in which LANGUAGE does not count."""
    if tuple(map(int, platform.libc_ver()[1].split("."))) < (2, 41):
        return "C.UTF-8"
    names = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=True).stdout
    others = [name for name in names.split() if re.search(r"^(?!C\.).*\.utf-?8$", name, re.I)]
    return others[0] if others else None


class DesktopTest(Base):
    def test_programs_not_found(self):
        """A banner names the missing program; adding a folder names all
        functions at once."""
        window = self.open(capture("perf/nest-dwarf.perf.data"))
        window.wait_label(lambda text: re.fullmatch(
            r"No function names for \S+\s% of samples: /.* is missing", text))
        window.find(lambda name: name.endswith("Choose Folder…"), "push button")
        window.key("ctrl+3")
        keyfile = pathlib.Path(
            os.environ["XDG_CONFIG_HOME"], "glib-2.0/settings/keyfile"
        )
        with keyfile.open("a") as settings:
            settings.write(f"binaries-folders=['{CAPTURES / 'bin'}']\n")
        wait_for("a name", lambda: "spin_heavy" in window.labels())

    def test_reload(self):
        """F5 reads the file again; a capture without source files has no source
        pane."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "out.folded")
            path.write_text("main;one 10\n")
            window = self.open(path)
            window.wait_label(lambda text: text.startswith("total 10 "))
            self.assertFalse(window.seen("Source", "text"))
            path.write_text("main;one 10\nmain;two 20\n")
            window.key("F5")
            window.wait_label(lambda text: text.startswith("total 30 "))

    def test_growing(self):
        """The beginning of a large file is shown before the rest is read, which
        can be stopped; a reload reads all of it."""
        calls = "fn=work\n1 3\ncfn=rest\ncalls=1 5\n1 4\nfn=rest\n5 4\n\n"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "large.callgrind.bz2")
            path.write_bytes(bz2.compress(b"events: Ir\n\n")
                             + 200 * bz2.compress(calls.encode() * (1 << 14)))
            window = self.open(path)
            window.wait_label(lambda text: re.match(
                r"The first \S+\s% of the file is shown; the rest is being read", text))
            window.click("Stop Reading", "push button")
            window.wait_label(lambda text: re.match(
                r"This file is incomplete; \d+\s% of it was read", text))
            window.key("F5")
            wait_for("all of it", lambda: f"total {200 * (1 << 14) * 7:,}".replace(
                ",", "\u202f") in " ".join(window.labels()))

    def test_shortcuts(self):
        """The shortcuts of every page are shown first, on a laptop's screen;
        libadwaita 1.8 has a list to search and scroll instead."""
        window = self.open_example()
        window.key("ctrl+question")
        if has_library("libadwaita-1", "1.8"):
            for title in "Reload", "Keyboard shortcuts", "Next pane", "Undo":
                window.find(title, "label")
            self.assertTrue(window.seen("Flame Graph", "grouping"))
            return
        for title in "Reload", "Keyboard shortcuts", "Next pane":
            wait_for(f"{title} on the screen", lambda: [
                node for node in window.find_all(title, "label")
                if min(node.extents()[2:]) > 0 and sum(node.extents()[1::2]) < 700])

    def test_narrow_in_other_languages(self):
        """Longer words fit into 360 pixels, on whatever page."""
        locale = translated_locale()
        if locale is None:
            self.skipTest("this C library translates nothing in C.UTF-8")
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        for language in "de", "es", "fr", "pt_BR":
            if self.window:
                self.window.__exit__()
            # Translations are found beside the program.
            folder = pathlib.Path(scratch.name, language)
            program = folder / "bin/flambeau"
            mo = pathlib.Path(language, "LC_MESSAGES/flambeau.mo")
            for made, here in (
                (BUILD / "app/ui/flambeau", program),
                (BUILD / "po" / mo, folder / "share/locale" / mo),
            ):
                here.parent.mkdir(parents=True)
                shutil.copy2(made, here)
            window = self.open(
                EXAMPLE, program=program, env={"LC_ALL": locale, "LANGUAGE": language},
                settings={"window-width": 360, "window-height": 720})
            frame = window.find("example.flambeau", "frame")
            wait_for("a graph", lambda: window.seen(role="image"))
            self.assertFalse(window.seen("Call Tree"), language)
            self.assertLessEqual(window.extents(frame)[2], 360, language)

    def frames(self):
        return [node.name for node in self.window.find_all(role="frame")]

    def wait_frames(self, *titles):
        wait_for(
            f"windows {titles}", lambda: sorted(self.frames()) == sorted(titles)
        )

    def test_tabs(self):
        """Two files are two tabs of one window; the same file again, by another
        name, goes to its tab; the window's title is that of the tab in front,
        and it closes with the last one."""
        other = SOURCE / "tests/captures/folded/annotated.folded"
        again = EXAMPLE.parent / ".." / "example" / EXAMPLE.name
        window = self.open(EXAMPLE, other, env={"G_DEBUG": "fatal-criticals"})
        self.wait_frames(other.name)
        subprocess.run([BUILD / "app/ui/flambeau", again], check=True)
        self.wait_frames(EXAMPLE.name)
        # Exactly two: a third one cannot be reopened.
        for key, title in [
            ("ctrl+Page_Down", other.name),
            ("ctrl+Page_Up", EXAMPLE.name),
            ("alt+2", other.name),
            ("alt+3", other.name),
            ("ctrl+Page_Up", EXAMPLE.name),
        ]:
            window.key(key)
            self.wait_frames(title)
        # The start pages behind them are updated when they are shown.
        self.assertFalse(window.seen(other.name, "push button"))
        window.action("win.new-tab")
        self.wait_frames("Flambeau")
        window.find(other.name, "push button")
        window.key("ctrl+w")
        self.wait_frames(other.name)
        window.action("win.move-tab")
        self.wait_frames(EXAMPLE.name, other.name)
        # The same file goes to its tab, wherever that is now.
        subprocess.run([BUILD / "app/ui/flambeau", EXAMPLE], check=True)
        self.wait_frames(EXAMPLE.name, other.name)
        window.key("ctrl+q")
        wait_for("the end", lambda: window.process.poll() is not None)
        self.assertEqual(window.process.returncode, 0)
        self.ended()

    def test_same_name(self):
        """Two files of one name: their tabs have the folders in which they differ."""
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder, name, "run/one.folded") for name in ("old", "new")]
            for path in paths:
                path.parent.mkdir(parents=True)
                path.write_text("main;parse 100\n")
            window = self.open(*paths)
            for name in "one.folded (old)", "one.folded (new)":
                window.find(name)

    def test_recording_ends(self):
        """A recording shows what it waits for, the program's output, how it
        ended and where the capture is, and can be repeated; the dialog fits
        into a narrow window."""
        if not pathlib.Path(RECORDER).is_file():
            raise unittest.SkipTest(f"{RECORDER or 'the recorder'} is not here")
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        seen = pathlib.Path(scratch.name, "seen")
        program = (
            "import os, sys, time; print('\\33[1mone\\33[0m', flush=True)\n"
            f"e = time.time() + 60\nwhile not os.path.exists({str(seen)!r}) and time.time() < e:"
            " time.sleep(0.05)\n"
            "e = time.time() + 2\nwhile time.time() < e: sum(range(99))\n"
            "print('two', file=sys.stderr); sys.exit(3)"
        )
        window = self.open(
            "--record", "--", "/usr/bin/python3", "-c", program,
            settings={"window-width": 360, "window-height": 640},
        )
        # On a busy machine, the first samples may come before the first check.
        window.wait_label(
            lambda text: text.startswith(("Waiting for", "The first samples"))
            or text.endswith(" samples") and text != "0 samples"
        )
        window.click(lambda name: name.endswith("Output"), "push button")
        output = window.find("Output of python3", "text")
        wait_for("what it prints", lambda: output.text().startswith("one\n"))
        seen.touch()
        window.wait_label(lambda text: text == "python3 ended with exit status 3")
        folder = pathlib.Path(os.environ["XDG_DATA_HOME"], "flambeau/recordings")
        [path] = folder.glob("*.flambeau")
        window.wait_label(lambda text: text == f"Saved as {path}")
        self.assertEqual(output.text(), "one\ntwo\n")
        window.action("win.record")
        dialog = window.find("Record", ("filler", "frame", "dialog"))
        self.assertLessEqual(window.extents(dialog)[2], 360)
        window.key("Escape")
        window.click(lambda name: name.endswith("Again"), "push button")
        wait_for("a second capture", lambda: len(list(folder.glob("*.flambeau"))) > 1)

    def test_changed_file(self):
        """A file that was written again is reported, and can be reloaded."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "a.folded")
            file.write_text("main;work 3\n")
            window = self.open(file)
            window.wait_label(lambda text: text == "total 3 samples")
            file.write_text("main;work 5\n")
            window.find("a.folded has changed on disk", "label")
            window.click("Reload", "push button")
            window.wait_label(lambda text: text == "total 5 samples")

    def test_headline(self):
        """The headline is one line; the name is a link to its box, the place
        one to its line."""
        window = self.open_example()
        line = window.find(
            lambda name: name.startswith("\u2068escape_time\u2069 takes "), "label")
        self.assertIn("(\u2068flambeau-example.c:49\u2069)", line.name)
        window.mouse(line, x=20 / window.extents(line)[2])
        window.wait_label(lambda text: text == "escape_time")
        window.mouse(self.graph(), y=0.99)
        window.key("Escape")
        window.find(lambda name: name == "line 49", "label")

    def test_tips(self):
        """Two tips, one after the other, each once. They take no input: the first drag
        below a tip selects a range. Escape closes a tip and nothing else."""
        window = self.open_example(
            settings={"tips": "['range', 'menu']", "remember-captures": "false"})
        window.find(lambda name: name.startswith("Drag over"), "label")
        overview = window.find(lambda name: name.startswith("Overview"), "image")
        left, top, width, height = window.extents(overview)
        for place, *press in (0.2, "mousedown", 1), (0.4,), (0.5, "mouseup", 1):
            self.xdotool("mousemove", str(int(left + place * width)),
                         str(top + height // 2), *map(str, press))
        whole = total_of(EXAMPLE)
        part = window.wait_label(
            lambda text: text.startswith("total ") and text != f"total {whole}")
        self.assertFalse(window.seen(lambda name: name.startswith("Drag over"), "label"))
        window.find(lambda name: name.startswith("Right-click a box"), "label")
        window.key("Escape")
        wait_for("no tip", lambda: not window.seen("Got It"))
        self.assertIn(part, window.labels())
        self.ended()
        settings = pathlib.Path(
            os.environ["XDG_CONFIG_HOME"], "glib-2.0/settings/keyfile").read_text()
        self.assertRegex(settings, r"(?m)^tips=(@as )?\[\]$")
        # Without an overview, the tip about the graph comes alone. A right click shows
        # the menu and closes the tip.
        window = self.open(
            SOURCE / "tests/captures/folded/py-spy.folded",
            settings={"tips": "['range', 'menu']"})
        window.find(lambda name: name.startswith("Right-click a box"), "label")
        window.mouse(self.graph(), x=0.3, y=0.95, button="b3c")
        window.find("Zoom to This")
        self.assertFalse(window.seen("Got It"))

    def xdotool(self, *arguments):
        return subprocess.run(
            ["xdotool", *arguments], check=True, capture_output=True, text=True
        ).stdout.strip()

    def look(self, place, window):
        """Moves the pointer and the keyboard focus there, again whenever the
        window takes them back."""
        active = place != self.xdotool("search", "--maxdepth", "0", "--name", ".*")

        def there():
            self.xdotool("mousemove", *(("640", "400") if active else ("1500", "900")))
            self.xdotool("windowfocus", place)
            time.sleep(0.3)
            frame = next(window.find_all(role="frame"))
            return frame.has_state("ACTIVE") == active

        wait_for(f"the keyboard in {place}", there)

    def open_slowly(self, path, before_its_end=None):
        """It is read as soon as it is written, and not before."""
        os.mkfifo(path)
        subprocess.run([BUILD / "app/ui/flambeau", path], check=True)
        self.wait_frames(path.name)
        if before_its_end:
            before_its_end()
        path.write_text("main;one 10\n")

    def test_notifications(self):
        """There is no notification while the window is active. The end of a
        load that ends while it is not is shown on the desktop; a click brings
        its tab to the front, and activating the window withdraws the
        notification."""
        desktop = Desktop()
        window = self.open(settings={"notify-after": "uint32 0"})
        window.find("See Where Time and Memory Go", "label")
        here = self.xdotool("getwindowfocus")
        screen = self.xdotool("search", "--maxdepth", "0", "--name", ".*")
        with tempfile.TemporaryDirectory() as folder:
            seen, first, second = (
                pathlib.Path(folder, f"{name}.folded") for name in ("seen", "a", "b"))
            self.open_slowly(seen)
            window.wait_label(lambda text: text.startswith("total 10 "))
            self.open_slowly(first, lambda: self.look(screen, window))
            wait_for("news", lambda: desktop.told)
            window.action("win.new-tab")
            self.wait_frames("Flambeau")
            desktop.click(1)
            self.wait_frames(first.name)
            self.open_slowly(second, lambda: self.look(screen, window))
            wait_for("more", lambda: len(desktop.told) == 2)
            self.look(here, window)
            wait_for("an end of it", lambda: desktop.closed == [2])
        self.assertEqual(
            desktop.told, [("a.folded is open", ""), ("b.folded is open", "")])

    def reader(self, name, mime):
        """Registers a program for `mime` in place of a browser or Yelp; returns
        the file in which it notes the opened addresses."""
        data = pathlib.Path(os.environ["XDG_DATA_HOME"])
        program, noted = data / "bin" / name, data / f"{name}.noted"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f'#!/bin/sh\necho "$1" >>"{noted}"\n')
        program.chmod(0o755)
        noted.write_text("")
        applications = data / "applications"
        applications.mkdir(exist_ok=True)
        (applications / f"test-{name}.desktop").write_text(
            "[Desktop Entry]\nType=Application\nName=Reader\n"
            f"Exec={program} %u\nMimeType={mime};\n"
        )
        with open(pathlib.Path(os.environ["XDG_CONFIG_HOME"], "mimeapps.list"), "a") as apps:
            apps.write(f"[Default Applications]\n{mime}=test-{name}.desktop\n")
        return noted

    def helped(self, noted, uri):
        """F1 opens the page of the help."""
        noted.write_text("")
        self.window.key("F1")
        wait_for(f"help at {uri}", lambda: noted.read_text().strip().endswith(uri))

    def test_help(self):
        """F1 opens the topic of the visible page, in a browser."""
        noted = self.reader("browser", "text/html")
        window = self.open()
        window.find("See Where Time and Memory Go", "label")
        self.helped(noted, "/help.html#index")
        window.action("win.record")
        window.find("Options", "label")
        self.helped(noted, "/help.html#record")
        window.key("Escape")
        window.__exit__()
        window = self.open_example()
        self.helped(noted, "/help.html#flame-graph")
        window.key("ctrl+3")
        self.helped(noted, "/help.html#tables")
        # Figures are explained in place, and the help has the same texts.
        window.click("Capture Quality")
        row = window.find("Late Samples", "label")
        self.assertIn("the machine was busy", row.get_description())
        window.find("Lower the sampling rate, or leave a CPU free.", "label")
        noted.write_text("")
        # Tab goes round, past what scrolls.
        for stop in "What this picture cannot show", "What These Figures Mean":
            self.press_until("Tab", lambda stop=stop: self.focused() == stop)
        window.click(lambda name: name.endswith("What These Figures Mean"), "push button")
        wait_for("help", lambda: noted.read_text().strip().endswith("#quality"))

    def test_help_yelp(self):
        """Yelp, if it finds the pages; without any help, a message appears."""
        noted = self.reader("yelp", "x-scheme-handler/help")
        with tempfile.TemporaryDirectory() as folder:
            pages = pathlib.Path(folder, "help/C/flambeau")
            pages.parent.mkdir(parents=True)
            pages.symlink_to(SOURCE / "data/help/C")
            dirs = f"{folder}:/usr/local/share:/usr/share"
            window = self.open(env={"FLAMBEAU_HELP": "", "XDG_DATA_DIRS": dirs})
            window.find("See Where Time and Memory Go", "label")
            self.helped(noted, "help:flambeau/index")
            window.__exit__()
        window = self.open(env={"FLAMBEAU_HELP": "/nowhere/help.html"})
        window.find("See Where Time and Memory Go", "label")
        window.key("F1")
        window.wait_label(lambda text: text.startswith("The file /nowhere/"))

    def test_processes(self):
        """A row is one line, and its name contains its texts."""
        window = self.open()
        window.find("See Where Time and Memory Go", "label")
        window.action("win.record")
        window.click("Attach")
        window.type(window.find("Search processes"), str(os.getpid()))

        # The list is read again all the time, so rows do not stay.
        def height():
            rows = window.find_all(lambda name: f", process {os.getpid()}, " in name)
            return max((row.extents()[3] for row in rows), default=0)

        self.assertLess(wait_for("a place for the row", height), 34)


if __name__ == "__main__":
    unittest.main(verbosity=2)
