#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory: its measures, its pages, growth and leaks."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from flamwindow import BUILD, LIMIT, SOURCE, is_row_of, plain, wait_for  # noqa: E402
from windowtest import WindowTest as Base, capture  # noqa: E402


class MemoryTest(Base):
    def test_allocation_side(self):
        window = self.open(capture("heaptrack/alloc.zst"))
        window.wait_label(lambda text: text.startswith("total 33.7"))
        window.find("Peak memory", "label")
        self.assertFalse(
            [node for node in window.find_all("CPU", "push button")
             if node.has_state("SHOWING")])

    def test_allocation_toggle(self):
        window = self.open_example()
        window.find("CPU time", "label")
        window.click("Memory")
        window.find("Peak memory", "label")
        window.click("CPU")
        window.find("CPU time", "label")

    def test_choose_measure(self):
        """In the list, by the keyboard."""
        window = self.open(SOURCE / "tests/captures/heaptrack/v3.heaptrack")
        window.find("Peak memory", "label")
        window.click("Measure: Peak memory")
        time.sleep(0.5)
        for key in ("Home", "Down", "Down", "Down", "Down", "Return"):
            window.key(key)
            time.sleep(0.3)
        window.wait_label(
            lambda text: text.startswith("total 3 (Temporary allocations)"))

    def test_long_measure(self):
        """An event that is the only measure: its name is with the total."""
        event = "mem_load_retired.l3_miss"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "miss.script")
            path.write_text(
                f"prog 10 [000] 1.000000: 100 {event}:u: \n\t    1000 main (/bin/prog)\n\n")
            window = self.open(path, settings={"window-width": 1600})
            # The only one: there is nothing to choose.
            window.wait_label(lambda text: text.replace("\u00a0", " ") == f"total 100 ({event}:u)")
            self.assertFalse(
                [node for node in window.find_all(lambda name: name.startswith("Measure: "))
                 if node.has_state("SHOWING")])

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
        self.assertIn("64\u00a0KiB to less than 128\u00a0KiB: 33.6", chart.get_name())
        # A part is a measure, and so is the unit.
        window.click("Leaked")
        window.find("Leaked memory", "label")
        window.click("Blocks")
        window.find("Leaked blocks", "label")
        window.wait_label(lambda text: text.startswith("total 1"))

    def test_what_snapshots_hold(self):
        """massif's files contain only the bytes at the peak: nothing else is
        shown."""
        window = self.open(capture("valgrind/massif.alloc.out"))
        window.wait_label(lambda text: text == "total 33.7\u00a0MB")
        window.click("Summary")
        window.find("At the Peak")
        window.wait_label(lambda text: text.replace("\u00a0", " ") == "at 36.8 M instructions")
        for name in "Allocated", "Temporary", "Leaked", "Blocks", "Sizes of Blocks":
            self.assertFalse(window.seen(name), name)
        window.click("Functions")
        wait_for("a function", lambda: "hold_peak()" in window.labels())
        for name in "Allocated", "Temporary", "Leaked", "Blocks":
            self.assertFalse(window.seen(name), name)

    def test_estimates(self):
        """Sampled allocations: each figure has its error, or is marked as based
        on few samples: 400 and 4 times the distance between samples."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "big.heap")
            path.write_text(
                "--- symbol\n0x1000 keep\n0x2000 main\n0x3000 once\n---\n--- profile\n"
                "heap profile: 5: 211812352 [5: 211812352] @ heap_v2/524288\n"
                "4: 209715200 [4: 209715200] @ 0x1001 0x2001\n"
                "1: 2097152 [1: 2097152] @ 0x3001 0x2001\n\nMAPPED_LIBRARIES:\n")
            window = self.open(path, settings={"window-width": 1600})
            window.wait_label(lambda text: text == "total 212\u00a0MB ± 21.7\u00a0MB")
            window.click("Call Tree")
            wait_for("the error", lambda: "212\u00a0MB ± 21.7\u00a0MB" in window.labels())
            window.click("Functions")
            for text in "210\u00a0MB ± 21.6\u00a0MB", "2.14\u00a0MB (4 samples)":
                wait_for(text, lambda text=text: text in window.labels())
            window.click("Flame Graph")
            window.action("win.search")
            window.type(window.find("Search functions"), "^once$")
            window.wait_label(lambda text: text.startswith("matched "))
            window.action("win.search-next")
            window.wait_label(
                lambda text: text.startswith("self 2.14\u00a0MB (4 samples) (1.0\u00a0%)"))

    def test_memory_pages_are_for_memory(self):
        window = self.open_example()
        self.assertFalse(window.seen("Summary", "radio button"))
        window.click("Memory")
        window.click("Summary")
        window.find("Sizes of Blocks")
        window.click("CPU")
        wait_for(
            "the flame graph", lambda: window.seen("Flame graph") or self.graph()
        )

    def test_allocation_columns(self):
        """All of a function's memory beside the selected measure, itself or with its
        callees, as heaptrack_print sums it; also of functions that have nothing
        of the measure."""
        window = self.open(capture("heaptrack/alloc.zst"),
                           settings={"window-width": 1600, "source-pane-shown": "false"})
        window.wait_label(lambda text: text.startswith("total 33.7"))
        window.click("Functions")

        def row(name):
            return next((plain(node.name)
                         for node in window.find_all(role="table row")
                         if is_row_of(node, name)), "")

        says = {
            one["function"]: one for one in json.loads(subprocess.run(
                [BUILD / "app/cli/flambeau-cli", "memory", "--json",
                 capture("heaptrack/alloc.zst")],
                check=True, capture_output=True, text=True).stdout)["functions"]}
        churn = says["temp_churn(long)"]["self"]
        self.assertEqual(churn["peak"]["bytes"], 0)
        self.assertEqual(churn["allocated"]["blocks"], 205000)
        self.assertEqual(churn["temporary"]["blocks"], 204049)
        wait_for("a function without peak memory",
                 lambda: " 205 000 99.5 %" in row("temp_churn(long)"))
        wait_for("leaks", lambda: " 24.0 kB" in row("leak_small(int)"))
        self.assertNotIn("205 000", row("main"))
        window.click("With Callees")
        whole = f"{says['main']['total']['allocated']['blocks']:,}".replace(",", " ")
        self.assertGreater(len(whole), 6)
        wait_for("its callers", lambda: f" {whole} " in row("main"))

    def test_top_lists(self):
        """The summary is first for memory alone: the functions with most of
        each part, in heaptrack_print's order, lead into the graph."""
        window = self.open(capture("heaptrack/alloc.zst"))
        window.find("Sizes of Blocks", "label")
        tops = wait_for("its lists", lambda: [
            plain(node.name)
            for node in window.find_all(
                lambda name: re.match(r".*, .*%$", name), "push button")])
        for one in ("hold_peak(), 33.6 MB, 99.7 %", "leak_thread(), 164 kB, 86.6 %",
                    "temp_churn(long), 205 000 blocks, 88.5 %",
                    "temp_churn(long), 204 049 blocks, 100.0 %"):
            self.assertIn(one, tops)
        window.click(lambda name: name.startswith("leak_thread(), "), "push button")
        window.find("Leaked memory", "label")
        self.graph_says("leak_thread()")

    def test_allocators(self):
        """Pages are beside the heap, and count when they are switched on."""
        window = self.open(SOURCE / "tests/captures/memray/v12.bin")
        window.wait_label(lambda text: text.startswith("total 9.26\u00a0kB"))
        window.click("Summary")
        window.toggle("mmap", "check box")
        window.wait_label(lambda text: text.startswith("total 1.06\u00a0kB"))

    def test_weights_of_a_text(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "out.malloc.folded")
            path.write_text("main;grow 4096\nmain 100\n")
            window = self.open(path)
            window.find("Allocated", "label")
            window.wait_label(lambda text: text.startswith("total 4.20"))
            # By keys: newer GTKs give the items of menus no names.
            window.click("Measure: Allocated")
            time.sleep(0.5)
            for key in ("Home", "Down", "Down", "Return"):
                window.key(key)
                time.sleep(0.3)
            window.find("Samples", "label")
            window.wait_label(lambda text: text.startswith("total 4\u202f196 "))

    def test_growth(self):
        """Between two moments; from the start to the end it is the leaks."""
        window = self.open(capture("heaptrack/alloc.zst"))
        window.wait_label(lambda text: text.startswith("total 33.7"))
        window.action("win.growth")
        window.find("From, in Seconds", "spin button")
        window.click(lambda name: name.endswith("Show Growth"), "push button")
        window.find("Growth", "label")
        window.find(lambda name: name.startswith("Remove: time: "), "push button")
        window.wait_label(lambda text: text.startswith("total 189"))

    def growth_dialog(self):
        """The numbers of its two ends, as they are shown. The dialog before it may
        take a moment to close."""
        window = self.window
        wait_for("no dialog", lambda: not window.seen("From, in Seconds", "spin button"))
        window.action("win.growth")
        window.find("From, in Seconds", "spin button")
        return [
            window.find(f"{end}, in Seconds", "spin button") for end in ("From", "To")
        ]

    def growth_shown(self, start, end):
        """The total is the command line's."""
        says = subprocess.run(
            [BUILD / "app/cli/flambeau-cli", "memory", "--growth",
             f"{start}..{end}", capture("heaptrack/alloc.zst")],
            check=True, capture_output=True, text=True,
        ).stdout
        total = re.search(r"^leaked +(\S+)\s(\S+) in ", says, re.M)
        self.window.wait_label(lambda text: text.startswith(f"total {total[1]}\u00a0{total[2]}"))

    def test_growth_at_any_time(self):
        """It begins with the selected range; a number is used unchanged, and
        one that reads like a moment is that moment."""
        window = self.open(capture("heaptrack/alloc.zst"))
        window.wait_label(lambda text: text.startswith("total 33.7"))
        start, end = self.growth_dialog()
        self.assertEqual([start.value(), end.value()], [0, 0.317])
        for node, text in (start, "0.1504"), (end, "0.2804"):
            self.type_number(node, text)
        window.find("Another Time", "label")
        window.act(self.show_growth())
        self.growth_shown("0.1504", "0.2804")
        # It begins with the range; the Return key is an answer, too.
        start, end = self.growth_dialog()
        self.assertEqual([start.value(), end.value()], [0.1504, 0.2804])
        window.find(lambda name: name.startswith("Range Start ("), "label")
        self.type_number(start, "0.1003")
        window.key("Return")
        self.growth_shown("0.1003", "0.2804")
        # Nothing is between a moment and an earlier one.
        start, end = self.growth_dialog()
        self.type_number(start, "0.3")
        show = self.show_growth()
        wait_for("no answer", lambda: not show.has_state("SENSITIVE"))
        self.type_number(start, "0")
        wait_for("an answer", lambda: show.has_state("SENSITIVE"))
        window.find(lambda name: name.startswith("Start ("), "label")

    def show_growth(self):
        return self.window.find(
            lambda name: name.endswith("Show Growth"), "push button")

    def type_number(self, node, text):
        """Replaces the text, without confirming it."""
        self.window.focus(node)
        self.window.key("ctrl+a")
        self.window.write(text)

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
            window.click("Leaked")
            window.wait_label(lambda text: text.startswith("total 189"))
            window.action("win.suppressions")
            window.choose_file(rules)
            window.find("Remove: leaks: 1 suppression", "push button")
            window.wait_label(lambda text: text.startswith("total 165"))
            window.action("win.suppressions")
            window.wait_label(lambda text: text.startswith("1 rule; hidden: 24"))
            window.key("Escape")
            window.__exit__()

            window = self.open(path, keep_settings=True)
            window.find("Remove: leaks: 1 suppression", "push button")
            # The measure is kept with the capture.
            window.find("Leaked memory", "label")
            # So is the wish to count all leaks of this one.
            window.click("Remove: leaks: 1 suppression", "push button")
            window.wait_label(lambda text: text.startswith("total 189"))
            window.key("ctrl+q")
            window.process.wait(LIMIT)
            window.__exit__()

            window = self.open(path, keep_settings=True)
            window.wait_label(lambda text: text.startswith("total 189"))
            window.key("ctrl+comma")
            window.find(str(rules), "label")
            window.key("Escape")
            window.action("win.suppressions")
            window.click("Remove These Rules", "push button")
            wait_for("the rules gone", lambda: not window.seen("Remove These Rules"))

    def test_peak(self):
        window = self.open(capture("heaptrack/alloc.zst"))
        window.wait_label(lambda text: text.startswith("total 33.7"))
        window.click("Summary")
        window.click("Allocated")
        window.wait_label(lambda text: text.startswith("total 65.7"))
        window.action("win.show-peak")
        window.wait_label(lambda text: text.startswith("total 33.7"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
