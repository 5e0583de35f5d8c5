#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a capture that is kept until it is opened again: place,
selection, notes; and the tabs of the last window."""

import gzip
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from flamwindow import BUILD, SOURCE, wait_for  # noqa: E402
from windowtest import EXAMPLE, WindowTest as Base, total_of  # noqa: E402

STATE = pathlib.Path(os.environ["XDG_STATE_HOME"], "flambeau")


class KeptTest(Base):
    def setUp(self):
        super().setUp()
        shutil.rmtree(STATE, ignore_errors=True)

    def kept(self):
        return list(STATE.glob("captures/*.ini"))

    def close(self):
        """By the keyboard, as users do: Ctrl+Q."""
        window = self.window

        def closed():
            window.key("ctrl+q")
            return window.process.poll() is not None

        wait_for("the end", closed)
        self.assertEqual(window.process.returncode, 0)

    def end(self):
        """By a signal, as a logout does, at once after the last action."""
        self.window.process.terminate()
        self.window.process.wait(30)
        self.assertEqual(self.window.process.returncode, -signal.SIGTERM)

    def wait_page(self, name):
        """All pages exist; the switcher shows which one is visible."""
        wait_for(
            f"the page {name}",
            lambda: any(
                node.has_state(state)
                for node in self.window.find_all(name)
                for state in ("PRESSED", "CHECKED")
            ),
        )

    def leave(self, close=None):
        """Narrowed to main, zoomed, on another page."""
        window = self.open_example()
        self.search("^paint_row$")
        self.graph_says("paint_row")
        self.do("node.filter")
        window.find("Remove: only through: paint_row", "push button")
        self.do("node.zoom")
        window.find("paint_row", "push button")
        window.click("Call Tree")
        self.wait_page("Call Tree")
        (close or self.close)()

    def test_unmatched(self):
        """The kept transform matches no function any more, such as after the symbols are
        gone: every page gives the reason, and the way back."""
        self.leave()
        (kept,) = self.kept()
        kept.write_text(kept.read_text().replace("^paint_row$", "^renamed$"))
        window = self.open(EXAMPLE, keep_settings=True, keep_state=True)
        window.find("Remove: only through: renamed", "push button")
        reason = "A transform in the path matches no function of this capture."
        for page in ("ctrl+1", "ctrl+2", "ctrl+6"):
            window.key(page)
            window.wait_label(lambda text: text == reason)
            wait_for("the way back", lambda: any(
                min(node.extents()[2:]) > 0
                for node in window.find_all("Show Everything", "push button")))
        window.click("Show Everything", "push button")
        window.wait_label(lambda text: text == f"total {total_of(EXAMPLE)}")

    def test_place(self):
        """Selection, zoom, frame and page are as they were left."""
        self.leave(self.end)
        self.assertEqual(len(self.kept()), 1)
        self.assertEqual(self.kept()[0].stat().st_mode & 0o777, 0o600)
        window = self.open(EXAMPLE, keep_settings=True)
        window.find("Remove: only through: paint_row", "push button")
        window.wait_label(lambda text: text == "Shown as it was left: 1 transform")
        self.wait_page("Call Tree")
        window.find("paint_row", "push button")
        self.wait_row("Call tree", "paint_row")
        # If nothing is left, nothing is kept.
        window.click("Remove: only through: paint_row")
        window.click("Flame Graph")
        window.click("All", "push button")
        window.find("Flame graph", "image")
        window.mouse(self.graph(), 0.9, 0.02)
        wait_for("nothing to keep", lambda: not self.kept())

    def test_repl(self):
        """The frames of Julia's REPL stay hidden until their chip is removed."""
        path = SOURCE / "tests/captures/jlprof/wall.jlprof"
        chip = "Remove: REPL hidden"
        window = self.open(path)
        window.wait_label(lambda text: text.startswith("total "))
        window.click("Display")
        time.sleep(0.5)
        window.key("j")
        window.find(chip, "push button")
        self.close()
        window = self.open(path, keep_settings=True)
        window.find(chip, "push button")
        window.click(chip, "push button")
        wait_for("the chip gone", lambda: not window.seen(chip))

    def test_file(self):
        """By file, a transform is about the file; that and its figure are there again."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a.speedscope.json")
            frames = [{"name": name, "file": file} for name, file in
                      (("main", "a.c"), ("one", "b.c"), ("two", "c.c"))]
            path.write_text(json.dumps({
                "$schema": "https://www.speedscope.app/file-format-schema.json",
                "shared": {"frames": frames},
                "profiles": [{
                    "type": "sampled", "name": "t", "unit": "none", "startValue": 0,
                    "endValue": 50, "samples": [[0, 1], [0, 2]], "weights": [20, 30]}]}))
            window = self.open(path)
            window.wait_label(lambda text: text.startswith("total 50"))
            window.click("Functions")
            window.mouse(window.find("Group by", "combo box"))
            time.sleep(0.5)
            for key in ("Home", "Down", "Down", "Down", "Return"):
                window.key(key)
            window.find("Remove: by file", "push button")
            window.click("Flame Graph")
            self.search("^b.c$")
            self.graph_says("b.c, total 40")
            self.do("node.focus")
            chip = "Remove: focus: b.c"
            window.find(chip, "push button")
            self.graph_says("b.c, total 100")
            self.close()
            window = self.open(path, keep_settings=True)
            window.find(chip, "push button")
            self.graph_says("b.c, total 100")

    def memory(self):
        """MB of its own."""
        text = pathlib.Path(f"/proc/{self.window.process.pid}/status").read_text()
        return next(int(line.split()[1]) / 1024 for line in text.splitlines()
                    if line.startswith("RssAnon:"))

    def show_tab(self, number):
        subprocess.run(
            ["gdbus", "call", "--session", "--dest", "dev.flambeau.Flambeau",
             "--object-path", "/dev/flambeau/Flambeau",
             "--method", "org.gtk.Actions.Activate", "show-tab", f"[<uint32 {number}>]", "{}"],
            check=True, stdout=subprocess.DEVNULL)

    def open_and_close(self, folder, numbers):
        """More tabs, which are seen one after the other, and closed except for
        the last; the memory with all opened, and with all seen."""
        window = self.window
        paths = [pathlib.Path(folder, f"{i}.flambeau") for i in numbers]
        for path in paths:
            shutil.copy(EXAMPLE, path)
        subprocess.run([BUILD / "app/ui/flambeau", *paths], check=True)
        window.find(paths[-1].name, "frame")
        time.sleep(2)
        opened = self.memory()
        for i, path in zip(numbers, paths):
            self.show_tab(i)
            window.find(path.name, "frame")
            window.wait_label(lambda text: text.startswith("total "))
        seen = self.memory()
        window.action("win.close-other-tabs")
        time.sleep(5)
        return opened, seen

    def test_memory_of_tabs(self):
        """A tab that was not seen takes little memory, one that is not in front
        has no picture, and closed ones give all of it back."""
        with tempfile.TemporaryDirectory() as folder:
            # It would fill memory that is not used.
            self.open(EXAMPLE, env={"MALLOC_PERTURB_": "0"})
            self.open_and_close(folder, range(2, 5))
            few = self.memory()
            opened, seen = self.open_and_close(folder, range(5, 29))
            self.assertLess((opened - few) / 24, 1.4)
            self.assertLess((seen - few) / 24, 6)
            wait_for("the memory back", lambda: self.memory() < few + 20)

    def test_cache(self):
        """A capture that was slow to read is read from the cache the next time."""
        cache = pathlib.Path(os.environ["XDG_CACHE_HOME"], "flambeau/captures")
        shutil.rmtree(cache, ignore_errors=True)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "slow.folded.gz")
            with gzip.open(path, "wb", compresslevel=1) as packed:
                for _ in range(300):
                    packed.write(b"main;lex 2\nmain;parse;reduce 3\n" * 32768)
            total = "total 49"
            window = self.open(path)
            window.wait_label(lambda text: text.startswith(total))
            wait_for("the image", lambda: list(cache.glob("*.image")))
            image = next(cache.glob("*.image"))
            self.assertEqual(image.stat().st_mode & 0o777, 0o600)
            os.utime(image, (1, 1))
            self.close()
            window = self.open(path, keep_settings=True)
            window.wait_label(lambda text: text.startswith(total))
            self.assertGreater(image.stat().st_mtime, 1)

    def test_another_content(self):
        """Another file at the same path starts afresh."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a.folded")
            path.write_text("main;lex 20\nmain;old 40\n")
            window = self.open(path)
            window.wait_label(lambda text: text.startswith("total 60"))
            self.search("^lex$")
            self.graph_says("lex")
            self.do("node.focus")
            window.find("Remove: focus: lex", "push button")
            self.close()
            window = self.open(path, keep_settings=True)
            window.find("Remove: focus: lex", "push button")
            self.close()
            path.write_text("main;lex 20\nmain;old 41\n")
            window = self.open(path, keep_settings=True)
            window.wait_label(lambda text: text.startswith("total 61"))
            self.assertFalse(window.seen("Remove: focus: lex"))

    def test_without_baseline(self):
        """The state of a comparison is not restored without its baseline."""
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder, name) for name in ("a.folded", "b.folded")]
            for path in paths:
                path.write_text("main;lex 20\nmain;old 40\n")
            window = self.open(paths[0])
            window.wait_label(lambda text: text.startswith("total 60"))
            self.search("^lex$")
            self.do("node.focus")
            window.find("Remove: focus: lex", "push button")
            window.action("win.compare-file")
            window.choose_file(paths[1])
            window.find("Remove: compared with: b.folded", "push button")
            wait_for("it to be kept", lambda: any(
                "Compared=true" in path.read_text() for path in self.kept()), 10)
            self.close()
            window = self.open(paths[0], keep_settings=True)
            window.wait_label(lambda text: text.startswith("total 60"))
            self.assertFalse(window.seen("Remove: focus: lex"))

    def test_not_wanted(self):
        """Switched off, nothing is read and nothing is written."""
        self.leave()
        before = self.kept()[0].read_bytes()
        window = self.open_example(
            settings={"remember-captures": "false"}, keep_state=True
        )
        self.assertFalse(window.seen("Remove: only through: paint_row"))
        window.click("Functions")
        time.sleep(2)
        self.assertEqual([path.read_bytes() for path in self.kept()], [before])

    def test_notes(self):
        """Notes on a function and on a range: they are in the list and in the
        graph's texts, and are there again the next time; they can be opened and
        removed."""
        window = self.open_example()
        self.search("^paint_row$")
        self.graph_says("paint_row")
        window.action("win.notes")
        window.find("paint_row", "label")
        window.write("Too slow: cache it")
        window.key("Return")
        window.find("Too slow: cache it", "label")
        window.key("Escape")
        self.graph_says("paint_row, total ")
        wait_for(
            "the note in the graph",
            lambda: self.graph().name.endswith("note: Too slow: cache it"),
        )
        self.close()
        window = self.open(EXAMPLE, keep_settings=True)
        wait_for(
            "the note again",
            lambda: self.graph().name.endswith("note: Too slow: cache it"),
        )
        self.search("^escape_time$")
        self.graph_says("escape_time")
        window.action("win.notes")
        window.find("Too slow: cache it", "list item")
        window.key("Tab")
        window.key("Return")
        self.graph_says("paint_row")
        window.action("win.notes")
        window.click("Remove This Note")
        wait_for(
            "an empty list",
            lambda: not window.seen("Too slow: cache it", "list item"),
        )
        window.key("Escape")
        wait_for("a graph without it", lambda: "note:" not in self.graph().name)

    def tabs(self, *names):
        """Goes from the first capture to the last, and no further."""
        window = self.window
        for place, name in enumerate(names, 1):
            window.key(f"alt+{place}")
            wait_for(name, lambda name=name: window.title() == name)
        # Newer releases of libadwaita continue from the last to the first.
        window.key("ctrl+Page_Down")
        time.sleep(0.5)
        self.assertIn(window.title(), (names[0], names[-1]))

    def test_reopen(self):
        """The tabs of the last window are offered, and are not opened before a
        file from the command line."""
        kitchen = SOURCE / "tests/captures/flambeau/kitchen.flambeau"
        window = self.open(EXAMPLE, kitchen)
        window.wait_label(lambda text: text.startswith("total 3.19"))
        self.tabs("example.flambeau", "kitchen.flambeau")
        self.close()
        window = self.open(kitchen, keep_settings=True)
        window.wait_label(lambda text: text.startswith("total 3.19"))
        self.tabs("kitchen.flambeau")
        window.process.kill()
        window.process.wait()
        window = self.open(keep_settings=True)
        window.click(lambda name: name.endswith("Reopen Last Session"), "push button")
        window.wait_label(lambda text: text.startswith("total 3.19"))
        self.tabs("example.flambeau", "kitchen.flambeau")
        self.close()
        window = self.open(keep_settings=True)
        window.find(lambda name: name.endswith("Reopen Last Session"), "push button")
        window.key("ctrl+comma")
        window.click(lambda name: name.endswith("Forget"), "push button")
        wait_for("nothing", lambda: not list(STATE.rglob("*.ini")))


if __name__ == "__main__":
    unittest.main(verbosity=2)
