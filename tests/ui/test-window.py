#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole window, as a person who cannot see it uses it."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from flamwindow import (  # noqa: E402
    BUILD,
    CAPTURES,
    SOURCE,
    wait_for,
)
from windowtest import (  # noqa: E402
    EXAMPLE,
    RECORDER,
    WindowTest as Base,
    capture,
)

# Of memray-html/peak.html: import machinery, and the interpreter's own.
IRRELEVANT = {"_find", "_run_code"}


class WindowTest(Base):
    # --- open -----------------------------------------------------------------

    def test_start_page(self):
        window = self.open()
        window.find("See Where Time and Memory Go", "label")
        sentence = window.wait_label(lambda text: "open or drop" in text)
        self.assertIn("Folded stacks", sentence)

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

    # --- see ------------------------------------------------------------------

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
        window.type(window.find("Search functions"), "nothing is called this")
        window.wait_label(lambda text: text == "no match")
        window.click("Functions")
        window.find("No Matching Functions", "label")

    def test_click_to_source(self):
        window = self.open_example()
        window.wait_label(lambda text: text == "flambeau-example.c")
        window.action("win.search")
        window.type(window.find("Search functions"), "^paint_row$")
        window.wait_label(lambda text: text.startswith("matched "))
        window.action("win.search-next")
        self.graph_says("paint_row")
        window.wait_label(lambda text: text == "line 70")
        source = window.find("Source", "text")
        wait_for(
            "the text", lambda: "escape_time (cx, cy)" in source.text()
        )

    def test_source_not_found(self):
        window = self.open(capture("perf/nest-dwarf.srcline.script.txt"))
        window.action("win.search")
        window.type(window.find("Search functions"), "spin_heavy")
        window.wait_label(lambda text: text.startswith("matched "))
        window.action("win.search-next")
        window.wait_label(
            lambda text: text in ("Source Not Found", "No Source Known", "nest.c")
        )

    def test_editor(self):
        """The editor of the preferences gets the file and the line; one that
        is not there is said, and where to name another."""
        with tempfile.TemporaryDirectory() as folder:
            says = pathlib.Path(folder, "says")
            window = self.open_example(settings={
                "editor": f"'sh -c \"echo %f:%l >{says}\" --'",
            })
            self.search("^fill_pixels$|^paint_row$")
            window.find(lambda name: re.match(r"line \d+$", name), "label")
            line = window.wait_label(lambda text: re.match(r"line \d+$", text))
            window.click("Open in editor")
            wait_for("the editor", says.exists)
            said = wait_for("what it got", says.read_text)
            self.assertEqual(said.strip().rsplit(":", 1)[1], line.split()[1])
            keyfile = pathlib.Path(
                os.environ["XDG_CONFIG_HOME"], "glib-2.0/settings/keyfile"
            )
            keyfile.write_text("[dev/flambeau/Flambeau]\neditor='/not/there'\n")
            time.sleep(1)
            window.click("Open in editor")
            window.wait_label(lambda text: text == "No Editor Answered")

    def test_call_tree_and_functions(self):
        window = self.open_example()
        window.click("Call Tree")
        wait_for(
            "the hottest path unfolded",
            lambda: "start_thread" in window.labels(),
        )
        window.click("Functions")
        wait_for(
            "the hottest function", lambda: "escape_time" in window.labels()
        )

    def test_callers(self):
        """The current frame's callers and callees, as tables; activating one
        makes it the middle."""
        window = self.open_example()
        window.action("win.search")
        window.type(window.find("Search functions"), "^paint_row$")
        window.wait_label(lambda text: text.startswith("matched "))
        window.action("win.search-next")
        self.graph_says("paint_row")
        view = next(
            node
            for node in window.find_all()
            if "node.callers" in node.actions()
        )
        window.act(view, "node.callers")
        window.click("Table")
        callers = window.find("Callers", ("table", "tree table"))
        wait_for(
            "its caller",
            lambda: window.seen_below("painter", callers),
        )
        callees = window.find("Callees", ("table", "tree table"))
        wait_for(
            "what it calls",
            lambda: window.seen_below("escape_time", callees),
        )

    def test_machine_code(self):
        """A function's instructions beside its source; why there are none."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "shares.flambeau")
            subprocess.run(
                [BUILD / "app/cli/flambeau-cli", "record", "--output", path, "--",
                 BUILD / "tests/record/shares", "100"],
                check=True, capture_output=True,
            )
            window = self.open(path)
            window.page("Machine Code")
            window.find("Instructions", ("table", "tree table"))
            window.wait_label(lambda text: text.startswith("imul "))
            window.wait_label(lambda text: text.startswith("shares.c:"))
            window.click("AT&T")
            window.wait_label(lambda text: text.startswith("imulq "))

    def test_chart(self):
        """A call and how long it was; all calls of its function."""
        window = self.open_example()
        window.key("ctrl+6")
        chart = window.find("Flame chart", "image")
        for key in ("Down", "Down", "Down"):
            window.key(key)
        wait_for("a call", lambda: ", from " in chart.get_name())
        window.wait_label(lambda text: " calls seen: median " in text)
        window.click("Calls")
        window.find("The Longest Calls", "list")

    def test_export(self):
        """Every exporter, of what is selected; the size is known before."""
        window = self.open_example()
        window.key("ctrl+e")
        window.find("Format", "label")
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

    def test_group_by(self):
        """Rows are modules, everywhere; the chip takes it back."""
        window = self.open_example()
        window.click("Functions")
        window.mouse(window.find("Group by", "combo box"))
        time.sleep(0.5)
        for key in ("Down", "Down", "Return"):
            window.key(key)
            time.sleep(0.3)
        window.find("Remove: by module", "push button")
        wait_for("a module", lambda: "libm.so.6" in window.labels())
        window.click("Remove: by module")
        wait_for("functions again", lambda: "escape_time" in window.labels())

    def test_heat_map(self):
        """Two cells, and the time between them is the range."""
        window = self.open_example()
        window.key("ctrl+7")
        window.find("Heat map", "image")
        for key in ("Up", "Up", "Return", "Up", "Up", "space"):
            window.key(key)
        window.find(lambda name: name.startswith("Remove: time: 20"), "push button")
        window.key("Escape")
        wait_for(
            "all of the time",
            lambda: not window.seen(lambda name: name.startswith("Remove: time")),
        )

    def test_no_machine_code(self):
        window = self.open(SOURCE / "tests/captures/folded/annotated.folded")
        window.wait_label(lambda text: text.startswith("total "))
        window.page("Machine Code")
        window.find("No Machine Code", "label")

    def test_states(self):
        """A capture with waiting: running, waiting, or some of it."""
        window = self.open(SOURCE / "tests/captures/flambeau/kitchen.flambeau")
        window.wait_label(lambda text: text.startswith("total 3.19"))
        window.wait_label(lambda text: text == "Waiting for a lock")
        window.click("What threads were doing")
        window.click("Running", "push button")
        window.wait_label(lambda text: text.startswith("total 393"))
        window.click("Waiting", "push button")
        window.wait_label(lambda text: text.startswith("total 2.80"))
        # A check box has no action of its own; the keyboard goes there, past
        # the three buttons and the three boxes before it.
        for _ in range(6):
            window.key("Tab")
        window.key("space")
        window.wait_label(lambda text: text.startswith("total 1.00"))
        window.find("Some states", "label")
        window.click("Both", "push button")
        window.wait_label(lambda text: text.startswith("total 3.19"))

    def test_no_states(self):
        window = self.open_example()
        self.assertFalse(
            any(
                node.has_state("SHOWING")
                for node in window.find_all("What threads were doing")
            )
        )

    def test_processes(self):
        """Processes below the ones that started them, threads below those."""
        window = self.open(SOURCE / "tests/captures/flambeau/family.flambeau")
        window.wait_label(lambda text: text.startswith("total "))
        window.click("Threads")
        cooks = lambda: sum(t.startswith("cook (") for t in window.labels())
        wait_for("both cooks", lambda: cooks() == 2)
        window.key("Tab")
        window.key("Left")
        wait_for("a folded tree", lambda: cooks() == 0)
        window.key("Right")
        wait_for("an unfolded tree", lambda: cooks() == 2)
        # A process stands for all that it started, also what is a child's.
        row = next(
            node
            for node in window.find_all("kitchen (18377)")
            if window.who_can(node, "thread.toggle")
        )
        root = next(
            node
            for node in window.find_all("family.sh (18374)")
            if window.who_can(node, "thread.toggle")
        )
        self.assertEqual(root.get_description(), "100.0\u00a0%")
        window.act(row, "thread.toggle")
        window.wait_label(lambda text: text == "3 threads")
        window.wait_label(lambda text: text.startswith("total 3.96"))
        # The last one taken away leaves none, and the way back.
        window.act(row, "thread.toggle")
        window.wait_label(lambda text: text == "No threads")
        window.find("No thread is selected.", "label")
        window.click(lambda name: name.endswith("Reset"), "push button")
        window.wait_label(lambda text: text == "All threads")
        # One of them was called sh before: it is found by that.
        window.type(window.find("Search threads"), "sh until")
        wait_for("the one that was sh", lambda: cooks() == 1)

    def test_threads(self):
        window = self.open(capture("perf/threads-dwarf.script.txt"))
        window.wait_label(lambda text: text.startswith("total 1.3"))
        window.click("Threads")
        row = wait_for(
            "worker-3 in the list",
            lambda: next(
                (
                    node
                    for node in window.find_all(
                        lambda name: name.startswith("worker-3")
                    )
                    if window.who_can(node, "thread.toggle")
                ),
                None,
            ),
        )
        window.act(row, "thread.toggle")
        window.wait_label(
            lambda text: text.startswith("worker-3 (") and text.endswith(")")
        )
        window.wait_label(lambda text: text.startswith("total 5"))
        window.click(lambda name: name.endswith("Reset"), "push button")
        window.wait_label(lambda text: text.startswith("total 1.3"))

    def test_transform_and_undo(self):
        window = self.open_example()
        window.mouse(self.graph(), 0.2, 0.90)
        wait_for("a current frame", lambda: ", total " in self.graph().name)
        view = next(
            node
            for node in window.find_all()
            if "node.focus" in node.actions()
        )
        window.act(view, "node.focus")
        window.find(lambda name: name.startswith("Remove: focus"), "push button")
        window.click("Undo")
        wait_for(
            "the chip gone",
            lambda: not window.seen(lambda name: name.startswith("Remove: ")),
        )

    def test_allocation_side(self):
        window = self.open(capture("heaptrack/alloc.zst"))
        window.wait_label(lambda text: text.startswith("total 33.7"))
        window.find("Peak memory", "label")
        cpu = window.find("CPU", "push button")
        self.assertFalse(cpu.has_state("SENSITIVE"))
        self.assertIn("no CPU samples", cpu.get_description() or "")

    def test_allocation_toggle(self):
        window = self.open_example()
        window.find("CPU time", "label")
        window.click("Memory")
        window.find("Peak memory", "label")
        window.click("CPU")
        window.find("CPU time", "label")

    def test_toggle_keeps_the_selection(self):
        """Thread, range, search, transforms and zoom outlive CPU / Memory."""
        window = self.open_example()
        window.action("win.search")
        window.type(window.find("Search functions"), "^main$")
        window.wait_label(lambda text: text.startswith("matched "))
        window.action("win.search-next")
        view = next(
            node
            for node in window.find_all()
            if "node.filter" in node.actions()
        )
        window.act(view, "node.zoom")
        window.act(view, "node.filter")
        window.find("Remove: only through: main", "push button")
        window.find("main", "push button")
        for side, measure in ("Memory", "Peak memory"), ("CPU", "CPU time"):
            window.click(side)
            window.find(measure, "label")
            window.find("Remove: only through: main", "push button")
            window.wait_label(lambda text: text.startswith("matched "))
            self.graph_says("main")
            window.find("main", "push button")

    def test_memory_summary(self):
        window = self.open(capture("heaptrack/alloc.zst"))
        window.click("Summary")
        window.wait_label(lambda text: text.startswith("204\u202f051 blocks"))
        chart = window.find(lambda name: name.startswith("Sizes of blocks; "))
        self.assertIn("64 KiB to less than 128 KiB: 33.6", chart.get_name())
        # A part is a measure, and so is the unit.
        window.click("Not Freed")
        window.find("Leaked memory", "label")
        window.click("Blocks")
        window.find("Leaked blocks", "label")
        window.wait_label(lambda text: text.startswith("total 1"))

    def test_memory_pages_are_for_memory(self):
        window = self.open_example()
        self.assertFalse(window.seen("Allocations", "radio button"))
        window.click("Memory")
        window.click("Allocations")
        window.find("Functions that allocate")
        window.click("CPU")
        wait_for(
            "the flame graph", lambda: window.seen("Flame graph") or self.graph()
        )

    def test_allocation_sites(self):
        window = self.open(capture("heaptrack/alloc.zst"))
        window.click("Allocations")
        wait_for("a site", lambda: "hold_peak()" in window.labels())
        self.assertNotIn("_start", window.labels())
        window.click("With Callees")
        wait_for("its callers", lambda: "_start" in window.labels())

    def test_allocators(self):
        """Pages are beside the heap, and count when they are switched on."""
        window = self.open(SOURCE / "tests/captures/memray/v12.bin")
        window.wait_label(lambda text: text.startswith("total 9.26\u00a0kB"))
        window.click("Summary")
        window.mouse(window.find("mmap", "check box"), 0.1)
        window.wait_label(lambda text: text.startswith("total 1.06\u00a0kB"))

    def test_weights_of_a_text(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "out.malloc.folded")
            path.write_text("main;grow 4096\nmain 100\n")
            window = self.open(path)
            window.find("Allocated", "label")
            window.wait_label(lambda text: text.startswith("total 4.20"))
            self.assertFalse(window.find("CPU", "push button").has_state("SENSITIVE"))
            # By keys: newer GTKs give the items of menus no names.
            window.click("Main menu")
            time.sleep(0.5)
            for key in ("w", "Down", "Down", "Return"):
                window.key(key)
                time.sleep(0.3)
            window.find("Samples", "label")
            window.wait_label(lambda text: text.startswith("total 4\u202f196 "))

    def test_growth(self):
        """Between two moments; from the start to the end it is the leaks."""
        window = self.open(capture("heaptrack/alloc.zst"))
        window.wait_label(lambda text: text.startswith("total 33.7"))
        window.action("win.growth")
        window.find("Growth Between Two Moments", "label")
        window.click(lambda name: name.endswith("Show Growth"), "push button")
        window.find("Growth", "label")
        window.find(lambda name: name.startswith("Remove: time: "), "push button")
        window.wait_label(lambda text: text.startswith("total 189"))

    def test_leak_suppressions(self):
        """A file of rules is chosen, counts in the next capture, too, and is
        forgotten in the preferences."""
        path = capture("heaptrack/alloc.zst")
        with tempfile.TemporaryDirectory() as folder:
            rules = pathlib.Path(folder, "known.supp")
            rules.write_text("# known\nleak:leak_small\n")
            window = self.open(path)
            window.wait_label(lambda text: text.startswith("total 33.7"))
            window.click("Summary")
            window.click("Not Freed")
            window.wait_label(lambda text: text.startswith("total 189"))
            window.action("win.suppressions")
            dialog = window.find("Leak Suppressions", ("filler", "dialog"))
            window.key("ctrl+l")
            entry = window.find(
                lambda name: name in ("GtkFileChooserEntry", ""), "text", dialog
            )
            wait_for("the focus", lambda: entry.has_state("FOCUSED"))
            window.write(str(rules))
            choose = window.find(
                lambda name: name.endswith("Open"), "push button", dialog
            )
            wait_for("the path", lambda: choose.has_state("SENSITIVE"))
            window.key("Return")
            window.find("Remove: leaks: 1 suppression", "push button")
            window.wait_label(lambda text: text.startswith("total 165"))
            window.__exit__()

            window = self.open(path, keep_settings=True)
            window.find("Remove: leaks: 1 suppression", "push button")
            window.find("Peak memory", "label")
            window.key("ctrl+comma")
            window.find(str(rules), "label")
            window.click("Forget", "push button")
            wait_for(
                "the rules gone",
                lambda: not window.seen(lambda name: name.startswith("Remove: leaks")),
            )

    def test_peak(self):
        window = self.open(capture("heaptrack/alloc.zst"))
        window.wait_label(lambda text: text.startswith("total 33.7"))
        window.click("Summary")
        window.click("Allocated")
        window.wait_label(lambda text: text.startswith("total 65.7"))
        window.action("win.show-peak")
        window.wait_label(lambda text: text.startswith("total 33.7"))

    def test_frames_of_no_interest(self):
        """Hidden at first, remembered, and their cost with their callers."""
        path = SOURCE / "tests/captures/memray-html/peak.html"
        window = self.open(path)
        total = window.wait_label(lambda text: text.startswith("total "))
        window.click("Functions")
        wait_for("a function", lambda: "load" in window.labels())
        self.assertFalse(IRRELEVANT & set(window.labels()))
        window.action("win.show-irrelevant")
        window.action("win.show-imports")
        wait_for("the rest", lambda: IRRELEVANT <= set(window.labels()))
        self.assertIn(total, window.labels())

    def test_source_in_a_moved_folder(self):
        source = capture("src/nest.c")
        window = self.open(
            capture("perf/nest-dwarf.srcline.script.txt"),
            settings={"path-mappings": f"[('nest.c', '{source}')]"},
        )
        window.action("win.search")
        window.type(window.find("Search functions"), "spin_heavy")
        window.wait_label(lambda text: text.startswith("matched "))
        window.action("win.search-next")
        view = window.find("Source", "text")
        wait_for("the moved source", lambda: "leaf_work" in view.text())

    def test_names_from_a_folder_of_binaries(self):
        window = self.open(
            capture("perf/nest-dwarf.perf.data"),
            settings={"binaries-folders": f"['{CAPTURES / 'bin'}']"},
        )
        window.click("Functions")
        wait_for("a name", lambda: "spin_heavy" in window.labels())

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
        """Everything that was opened is let go of without a complaint."""
        window = self.open_example(env={"G_DEBUG": "fatal-criticals"})
        window.click("Call Tree")
        window.click("Functions")
        window.click("Threads")
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
        self.window = None

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

    # --- launch ---------------------------------------------------------------

    def test_record_and_stop(self):
        if not pathlib.Path(RECORDER).is_file():
            raise unittest.SkipTest(f"{RECORDER or 'the recorder'} is not here")
        busy = "import time; e = time.time() + 90\nwhile time.time() < e: sum(range(99))"
        self.addCleanup(end_children_of_the_recorder, busy)
        window = self.open("--record", "--", sys.executable, "-c", busy)
        window.wait_label(lambda text: text.startswith("Recording "))
        window.wait_label(
            lambda text: "samples" in text and " 0 samples" not in text
        )
        window.wait_label(lambda text: text.startswith("total "))
        window.click(lambda name: name.endswith("Stop"), "push button")
        record = window.find(
            lambda name: name == "Record" or name.startswith("Record a program"),
            "push button",
        )
        wait_for("the end of the recording", lambda: record.has_state("SENSITIVE"))
        folder = pathlib.Path(os.environ["XDG_DATA_HOME"], "flambeau/recordings")
        captures = wait_for("a capture", lambda: list(folder.glob("*.flambeau")))
        info = subprocess.run(
            [BUILD / "app/cli/flambeau-cli", "info", captures[0]],
            check=True,
            capture_output=True,
            text=True,
        )
        self.assertIn("cpu", info.stdout)

    @staticmethod
    def press_record(window):
        """The dialog's own: it is a window beside the one with another."""
        dialog = window.find("Record", ("filler", "frame"))
        window.act(
            wait_for(
                "a button in the dialog",
                lambda: next(
                    (
                        node
                        for node in window.find_all(
                            lambda name: name.endswith("Record"), "push button", dialog
                        )
                        if "click" in node.actions()
                    ),
                    None,
                ),
            )
        )

    def test_record_dialog(self):
        window = self.open()
        window.find("See Where Time and Memory Go", "label")
        window.action("win.record")
        command = window.find(lambda name: name.startswith("Command Line"), "text")
        window.type(command, "/there/is/nothing --here 'two words'")
        self.press_record(window)
        window.wait_label(lambda text: "There is no program" in text)

    def test_completion(self):
        """The tab key completes paths, as a shell does; then it goes on."""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "a program")
            program.write_text("#!/bin/sh\n")
            program.chmod(0o755)
            window = self.open()
            window.find("See Where Time and Memory Go", "label")
            window.action("win.record")
            command = window.find(
                lambda name: name.startswith("Command Line"), "text"
            )
            window.type(command, f"{folder}/a")
            window.key("End")
            window.key("Tab")
            # What is now there, with one letter more, is in the complaint.
            window.key("BackSpace")
            window.key("x")
            self.press_record(window)
            window.wait_label(
                lambda text: f"There is no program “{folder}/a programx”" in text
            )

    def test_attach_page(self):
        window = self.open()
        window.find("See Where Time and Memory Go", "label")
        window.action("win.record")
        window.click("Attach")
        window.find("Search processes")
        window.write("test-window")
        wait_for(
            "this very test in the list",
            lambda: any("test-window" in text for text in window.labels()),
        )


def end_children_of_the_recorder(command):
    """The target outlives its recorder; this one never ends by itself."""
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue
        if command.encode() in words and b"flambeau" not in words[0]:
            os.kill(int(entry.parent.name), signal.SIGKILL)


if __name__ == "__main__":
    unittest.main(verbosity=2)
