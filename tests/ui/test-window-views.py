#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each view of a capture, and the source beside it."""

import json
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
from flamwindow import (  # noqa: E402
    BUILD, CAPTURES, ITEMS_SPEAK, SOURCE, is_row_of, plain, wait_for,
)
from windowtest import EXAMPLE, WindowTest as Base, capture  # noqa: E402

# In memray-html/peak.html: import machinery, and the interpreter's own.
IRRELEVANT = {"_find", "_run_code"}


class ViewsTest(Base):
    def test_colors(self):
        """The legend shows the palette that the user chose."""
        for colors, says in (("language", "C"), ("self", "Much self cost")):
            if self.window:
                self.window.__exit__()
            window = self.open_example(settings={"graph-colors": f"'{colors}'"})
            window.wait_label(lambda text: text == says)

    def test_legend(self):
        """The places of the legend's colors, and of the text about boxes too
        small to draw beside them."""
        window = self.open_example()

        def shown():
            return {
                what for what, name, role in (
                    ("colors", "Colors", "list"),
                    ("small", lambda name: name.endswith("too small to draw"), "label"),
                )
                if any(min(node.extents()[2:]) > 0 for node in window.find_all(name, role))
            }

        for key, says in (
            ("ctrl+1", {"colors", "small"}), ("ctrl+2", set()), ("ctrl+3", set()),
            ("ctrl+4", set()), ("ctrl+5", set()), ("ctrl+6", set()),
            ("ctrl+7", set()), ("ctrl+8", set()), ("ctrl+1", {"colors", "small"}),
        ):
            window.key(key)
            try:
                wait_for(key, lambda: shown() == says)
            except AssertionError:
                self.fail(f"{key}: {shown()}, not {says}")

    def test_costs(self):
        """The text of a frame is whole, however much room the legend needs; 44
        letters here."""
        window = self.open_example(settings={"window-width": 900})
        self.search("^escape_time$")
        costs = window.find(lambda name: name.startswith("self 1.5"), "label")
        self.assertGreater(window.extents(costs)[2], 44 * 5)

    def test_small_window(self):
        """Every page fits, and the source pane stays where it is."""
        window = self.open_example(
            settings={"window-width": 800, "window-height": 600})
        frame = window.find("example.flambeau", "frame")
        pane = window.find("flambeau-example.c", "label")
        window.key("ctrl+2")
        before = window.extents(frame), window.extents(pane)
        for page in range(3, 8):
            window.key(f"ctrl+{page}")
            time.sleep(0.5)
            for form in ("Places", "Graph", "Table") if page == 3 else ():
                window.click(form)
                time.sleep(0.5)
                self.assertEqual(
                    (window.extents(frame), window.extents(pane)), before, form)
            self.assertEqual(
                (window.extents(frame), window.extents(pane)), before, page)

    def test_large_text(self):
        """No page is larger than the window, and no choice is cut: measure and threads
        have a line of their own."""
        config = pathlib.Path(os.environ["XDG_CONFIG_HOME"], "gtk-4.0/settings.ini")
        config.parent.mkdir(exist_ok=True)
        config.write_text("[Settings]\ngtk-font-name=Sans 17\n")
        self.addCleanup(config.unlink)
        widths = []
        for width, height in (1600, 900), (800, 600):
            if self.window:
                self.window.__exit__()
            window = self.open_example(
                settings={"window-width": width, "window-height": height})
            window.click("Memory")
            window.find("Peak memory", "label")
            widths.append([window.extents(window.find(name, "label"))[2]
                           for name in ("Peak memory", "All threads")])
        self.assertEqual(*widths)
        frame = window.find("example.flambeau", "frame")
        for page in range(1, 11):
            window.key(f"ctrl+{page % 10}")
            time.sleep(0.5)
            self.assertLessEqual(window.extents(frame)[3], 600, page)

    def test_narrow_legend(self):
        """The legend has a line of its own where the window is narrow."""
        for width, height in (1280, 800), (800, 600), (360, 720):
            if self.window:
                self.window.__exit__()
            window = self.open_example(
                settings={"window-width": width, "window-height": height})
            legend = window.find("Colors", "list")
            name = window.find("flambeau-example", "label", legend)
            total = window.find(lambda text: text.startswith("total "), "label")
            left, top, wide, high = window.extents(name)
            self.assertGreaterEqual(left, 0)
            self.assertLessEqual(left + wide, width)
            _, line, _, _ = window.extents(total)
            self.assertEqual(top > line + high / 2, width < 860, width)

    def test_callers_legend(self):
        """The graphs of callers and callees have their own legends: a function that
        calls nothing has callers in two modules."""
        window = self.open_example()
        window.key("ctrl+3")
        window.click("Graph")
        wait_for("a legend of the callers", lambda: any(
            window.seen_below("libc.so.6", legend) and min(legend.extents()[2:]) > 0
            for legend in window.find_all("Colors", "list")))

    def test_right_to_left(self):
        """The layout is mirrored, and code is not: its scroll bar and the strip of its
        hot places are to its right. The legend begins at the right."""
        window = self.open_example(env={"LANGUAGE": "he"})
        graph = window.extents(self.graph())
        code = window.extents(window.find("Source", "text"))
        strip = window.extents(window.find("Hot places of the file", "image"))
        self.assertGreaterEqual(graph[0], code[0] + code[2])
        self.assertGreater(strip[0], code[0] + code[2])
        legend = window.find("Colors", "list")
        first, second = (window.extents(window.find(name, "label", legend))
                         for name in ("flambeau-example", "libm.so.6"))
        self.assertGreater(first[0], second[0] + second[2])

    def test_callers_between(self):
        """The button for the callers that the path leaves out has a name."""
        self.open_example()
        self.search("^sinf_poly$")
        self.window.key("Return")
        self.window.find("Callers between", "push button")

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

    def test_backwards(self):
        """Shift+Tab leaves a page for the widget before it."""
        window = self.open_example()
        # The button, and its inner widgets.
        window.find("Threads: All threads", "push button")
        threads = list(window.find_all("Threads: All threads", "push button"))
        for page in "ctrl+1", "ctrl+2", "ctrl+3", "ctrl+6":
            window.key(page)
            time.sleep(0.5)
            for _ in range(20):
                window.key("shift+Tab")
                time.sleep(0.2)
                if any(node.has_state("FOCUSED") for node in threads):
                    break
            else:
                self.fail(f"the keyboard stays in the page of {page}")

    def names_below(self, table, start):
        """The labels in a table that begin with this, from top to bottom."""
        below = self.window.find(table, ("table", "tree table"))
        return [node.name for node in self.window.find_all(
            lambda name: name.startswith(start), "label", below)]

    def click_cell(self, table, name, button="b1c"):
        below = self.window.find(table, ("table", "tree table"))
        self.window.mouse(wait_for(
            f"{name} in {table}",
            lambda: [node for node in self.window.find_all(name, "label", below)
                     if node.get_parent().role == "table cell"])[0], button=button)

    def test_callers(self):
        """The current frame's callers and callees beside the list; selecting one shows
        its source and keeps the function, activating one makes it the middle and
        selects it in the list."""
        window = self.open_example()
        self.search("^paint_row$")
        self.graph_says("paint_row")
        view = next(
            node
            for node in window.find_all()
            if "node.callers" in node.actions()
        )
        window.act(view, "node.callers")
        callers = window.find("Callers", ("table", "tree table"))
        wait_for("its caller", lambda: window.seen_below("painter", callers))
        callees = window.find("Callees", ("table", "tree table"))
        wait_for("what it calls", lambda: window.seen_below("escape_time", callees))
        window.type(window.find("Search functions"), "")
        self.wait_row("Functions", "paint_row")
        self.click_cell("Callees", "escape_time")
        window.wait_label(lambda text: text == "escape_time")
        self.wait_row("Functions", "paint_row")
        self.assertTrue(window.seen_below("painter", callers))
        self.click_cell("Callees", "escape_time", "b1d")
        wait_for("the caller of escape_time",
                 lambda: window.seen_below("paint_row", callers))
        self.wait_row("Functions", "escape_time")

    def test_places(self):
        """A function's source lines sum to its self; one of them is shown. The
        figures are the command line's."""
        window = self.open_example()
        window.key("ctrl+3")
        wait_for("a row", lambda: "escape_time" in window.labels())
        self.search("^escape_time$")
        self.wait_row("Functions", "escape_time")
        window.click("Places")
        says = json.loads(subprocess.run(
            [BUILD / "app/cli/flambeau-cli", "top", EXAMPLE, "--by", "line",
             "--sort", "total", "--json"],
            check=True, capture_output=True, text=True).stdout)["rows"]
        lines = [f"flambeau-example.c:{row['line']}" for row in says
                 if row["function"] == "escape_time"]
        self.assertGreater(len(lines), 3)

        wait_for("its lines", lambda: self.names_below(
            "Places", "flambeau-example.c:")[:3] == lines[:3])
        self.click_cell("Places", lines[1])
        window.wait_label(lambda text: text == f"line {lines[1].split(':')[1]}")
        self.wait_row("Functions", "escape_time")

    def test_calls(self):
        """How often a function was called, and the cost of a call: as pstats has
        them. Only where a capture counts calls."""
        window = self.open(SOURCE / "tests/captures/pstats/cprofile.prof")
        window.key("ctrl+3")
        for title in "Calls", "Per Call":
            window.find(title, "label")
        wait_for("the calls of chop", lambda: [
            node for node in window.find_all(role="table row")
            if is_row_of(node, "chop")
            and " 15 11.0 ms" in plain(node.name)])
        window.__exit__()
        window = self.open_example()
        window.key("ctrl+3")
        wait_for("a row", lambda: "escape_time" in window.labels())
        self.assertFalse(window.seen("Per Call", "label"))

    def test_lanes(self):
        """Counters and marks are below the overview; a text counts those that
        are not shown."""
        window = self.open(SOURCE / "tests/captures/sysprof/counters.syscap")
        for text in "Memory: Used, up to 8 192", "CPU Percent: Total, up to 99.6", "2 marks":
            window.wait_label(lambda label, text=text:
                plain(label) == text)

    def test_thread_lanes(self):
        """A lane for each thread or CPU: a click selects it, and another one
        all again."""
        window = self.open(SOURCE / "tests/captures/perf-data/sched@little-endian.perf.data")
        window.find("sleeper (7)", "list item")
        window.mouse(window.find("reader (9)", "list item"))
        window.find("Threads: reader (9)", "push button")
        time.sleep(1)  # The second click of two in quick succession does not count.
        window.mouse(window.find("reader (9)", "list item"))
        window.find("Threads: All threads", "push button")
        window.click("CPUs")
        window.find("CPU 0", "list item")
        window.mouse(window.find("CPU 1", "list item"))
        window.find("Remove: cpu=1", "push button")
        time.sleep(1)
        window.mouse(window.find("CPU 1", "list item"))
        wait_for("all CPUs", lambda: not window.seen("Remove: cpu=1", "push button"))

    def test_group_by(self):
        """Rows are modules on every page; removing the chip restores functions."""
        window = self.open_example()
        window.click("Functions")
        window.mouse(window.find("Group by", "combo box"))
        time.sleep(0.5)
        for key in ("Down", "Down", "Return"):
            window.key(key)
            time.sleep(0.3)
        window.find("Remove: by module", "push button")
        wait_for("a module", lambda: "libm.so.6" in window.labels())
        if ITEMS_SPEAK:
            window.mouse(window.find("libm.so.6", "label"), button="b3c")
            window.find("Focus on This Module", "menu item")
            self.assertFalse(window.seen("Focus on This Function"))
            window.key("Escape")
            time.sleep(0.3)
        window.click("Remove: by module")
        wait_for("functions again", lambda: "escape_time" in window.labels())
        # Threads have no module to name.
        window.mouse(window.find("Group by", "combo box"))
        time.sleep(0.5)
        for key in ("End", "Up", "Up", "Return"):
            window.key(key)
            time.sleep(0.3)
        window.find("Remove: by thread", "push button")
        wait_for("a thread", lambda: "flambeau-exampl" in window.labels())
        # Rows of one function differ by their addresses.
        window.mouse(window.find("Group by", "combo box"))
        time.sleep(0.5)
        for key in ("Down", "Return"):
            window.key(key)
            time.sleep(0.3)
        window.find("Remove: by address", "push button")
        window.wait_label(lambda text: re.fullmatch("escape_time@0x[0-9a-f]+", text))

    def test_processes(self):
        """A capture of many programs begins with them; one of them is chosen, and the
        chip leads to the functions of all."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "many.json")
            path.write_text(json.dumps(
                [{"ph": "M", "pid": pid, "name": "process_name", "args": {"name": name}}
                 for pid, name in enumerate(("web", "database", "mail", "log"), 1)]
                + [{"ph": "X", "pid": pid, "tid": tid, "ts": 0, "dur": 100 * pid,
                    "name": "serve"} for pid in range(1, 5) for tid in (10, 11)]))
            window = self.open(path)
            window.find("Remove: by process", "push button")
            window.key("ctrl+3")
            wait_for("its programs", lambda: {"web (1)", "database (2)", "mail (3)", "log (4)"}
                     <= set(window.labels()))
            self.click_cell("Functions", "database (2)")
            self.wait_row("Functions", "database (2)")
            self.do("node.filter")
            window.find("Threads: database (2)", "push button")
            window.click("Remove: by process")
            wait_for("functions", lambda: "serve" in window.labels())

    def test_labels(self):
        """The values of a label are rows and roots; one of them is chosen."""
        window = self.open(SOURCE / "tests/captures/peers/pprof/go-cpu.pb.gz")
        window.wait_label(lambda text: text.startswith("total "))
        window.click("Functions")
        window.mouse(window.find("Group by", "combo box"))
        time.sleep(0.5)
        for key in ("End", "Up", "Return"):
            window.key(key)
            time.sleep(0.3)
        window.find("Remove: by label: tenant", "push button")
        wait_for("the values", lambda: {"red", "green"} <= set(window.labels()))
        red = wait_for(
            "its row",
            lambda: [
                node
                for node in window.find_all("red", "label")
                if node.get_parent().role == "table cell"
            ],
        )
        window.mouse(red[0])
        self.wait_row("Functions", "red")
        self.do("node.filter")
        window.find("Remove: tenant=red", "push button")
        window.wait_label(lambda text: "total 1.08" in text)

    def test_frames_of_no_interest(self):
        """They are hidden at first, the choice is remembered, and their cost
        belongs to their callers."""
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

    def test_display_menu(self):
        """Only choices that apply are offered: a capture of C code has inlined
        functions, and no interpreter's code. Hidden kinds of frames are in the path,
        and can be restored there."""
        window = self.open_example()
        window.click("Display")
        time.sleep(0.5)
        # By keys: newer GTKs give the items of menus no names.
        window.key("l")
        window.find("Remove: inlined functions hidden", "push button")
        self.graph_says(("Flame", "all"))
        window.click("Remove: inlined functions hidden")
        wait_for("the chip gone", lambda: not window.seen("Remove: inlined functions hidden"))

    def test_pages_of_a_sunburst(self):
        """Functions without room, page by page, by the mouse; a text gives the
        range in view, and "all" leads back."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "crowd.folded")
            path.write_text("heavy 1000000\n" + "".join(
                f"f{i:05} {30000 // (i + 1) + 1}\n" for i in range(30000)))
            window = self.open(path, settings={"graph-shape": "'sunburst'"})
            window.wait_label(lambda text: text.startswith("total "))
            window.wait_label(lambda text: re.match(r"29.\d{3} more$", text))
            back = window.find("Previous Page", "push button")
            self.assertFalse(back.has_state("SENSITIVE"))
            ranges = []
            for button in "Next Page", "Next Page", "Previous Page":
                window.mouse(window.find(button, "push button"))
                said = window.wait_label(
                    lambda text: text.endswith(" of 30\u202f001")
                    and "–" in text and text not in ranges[-1:])
                ranges.append(said)
            ends = [
                [int(re.sub(r"\D", "", end)) for end in said.split(" of ")[0].split("–")]
                for said in ranges
            ]
            self.assertAlmostEqual(ends[1][0], ends[0][1], delta=2)
            self.assertAlmostEqual(ends[2][1], ends[1][0], delta=2)
            window.key("Escape")
            window.wait_label(lambda text: text.endswith(" more"))

    def test_chart(self):
        """A call and its duration; all calls of its function."""
        window = self.open_example()
        window.key("ctrl+5")
        chart = window.find("Chart", "image")
        for key in ("Down", "Down", "Down"):
            window.key(key)
        wait_for("a call", lambda: ", from " in chart.get_name())
        window.wait_label(lambda text: " calls seen: median " in text)
        window.click("Calls")
        window.find("The Longest Calls", "list")

    def test_chart_in_order(self):
        """Lines of folded stacks have no times, but follow one another."""
        with tempfile.NamedTemporaryFile("w", suffix=".folded") as file:
            file.write("main;parse;read 40\nmain;parse;scan 30\nmain;parse;read 20\nmain;emit 50\n")
            file.flush()
            window = self.open(file.name)
            window.wait_label(lambda text: text == "total 140 samples")
            window.key("ctrl+5")
            chart = window.find("Chart", "image")
            window.wait_label(lambda text: text == "In the order of the lines, without times")
            for key, function, figures in (
                ("Down", "main", (140, 0)),
                ("Down", "parse", (90, 0)),
                ("Down", "read", (40, 0)),
                ("Right", "scan", (30, 40)),
                ("Right", "read", (20, 70)),
            ):
                window.key(key)
                wait_for(function, lambda function=function, figures=figures: re.match(
                    r"%s, %s\b.*, from %s\b" % (function, *figures), chart.get_name()))

    def test_chart_path(self):
        """The status bar is about the path of the call, although its function
        has a heavier one."""
        spans = (("light", 0, 3000), ("gc", 500, 2000), ("heavy", 4000, 6000), ("gc", 4000, 5500))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "paths.json")
            path.write_text(json.dumps([
                {"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": duration}
                for name, start, duration in spans]), encoding="utf-8")
            window = self.open(path)
            window.wait_label(lambda text: text.startswith("total "))
            window.key("ctrl+5")
            chart = window.find("Chart", "image")
            for _ in range(2):
                window.key("Down")
            wait_for("the call", lambda: chart.get_name().startswith("gc, 2.00"))
            window.wait_label(lambda text: re.fullmatch(
                r"self 2.00\sms \(22.2\s%\) +total 2.00\sms \(22.2\s%\)", text))

    def test_no_chart(self):
        """Captures without samples, and with samples without times."""
        for path, says in (
            ("speedscope/empty.speedscope.json", "This capture has no samples."),
            ("jlprof/plain.jlprof",
             "The samples of this capture have no times."),
        ):
            if self.window:
                self.window.__exit__()
            window = self.open(SOURCE / "tests/captures" / path)
            window.wait_label(lambda text: text.startswith("total "))
            window.key("ctrl+5")
            # The flame graph has a similar text on its page.
            none = window.find("No Chart", "label").get_parent()
            wait_for(says, lambda: window.seen_below(says, none))

    def test_heat_map(self):
        """Two cells, and the time between them is the range."""
        window = self.open_example()
        window.key("ctrl+6")
        window.find("Heat map", "image")
        for key in ("Up", "Up", "Return", "Up", "Up", "space"):
            window.key(key)
        # It began at 04:07:01.359272 UTC; cells of 20 ms are those of the clock.
        window.find(lambda name: name.startswith("Remove: time: 728\u00a0µs"), "push button")
        window.key("Escape")
        wait_for(
            "all of the time",
            lambda: not window.seen(lambda name: name.startswith("Remove: time")),
        )

    @staticmethod
    def record_ranks(folder, n):
        for rank in range(n):
            subprocess.run(
                [BUILD / "app/cli/flambeau-cli", "record", "--output",
                 pathlib.Path(folder, "run-%r.flambeau"), "--",
                 BUILD / "tests/record/ranks", "150" if rank == 1 else "100", "10"],
                env=dict(os.environ, PMI_RANK=str(rank), PMI_JOBID="j"),
                check=True, capture_output=True,
            )
        return [pathlib.Path(folder, f"run-{rank}.flambeau") for rank in range(n)]

    def test_ranks(self):
        """The captures of a job's ranks, named together: one capture, with the ranks
        above the threads, and their balance."""
        with tempfile.TemporaryDirectory() as folder:
            window = self.open(*self.record_ranks(folder, 3))
            wait_for("the title", lambda: "run-%r.flambeau" in window.title())
            window.wait_label(lambda text: re.search("Rank \u20681\u2069 works ", text))
            # The rank is the fourth link of the sentence.
            window.focus(window.find(lambda name: "\u2068" in name, "label"))
            for key in ("Tab", "Tab", "Tab", "Return"):
                window.key(key)
            window.find(lambda name: re.fullmatch("Threads: ranks \\(\\d+\\)", name))
            window.action("win.undo")
            window.click(lambda name: name.startswith("Threads: "))
            wait_for("the ranks", lambda: [
                text for text in window.labels() if text.startswith("Rank ")
            ] == ["Rank 0", "Rank 1", "Rank 2"])
            self.assertFalse(any(text.startswith("ranks (") for text in window.labels()))
            window.find(lambda name: name.startswith("rank 1: ranks ("), "label")
            row = next(node for node in window.find_all("Rank 1")
                       if window.who_can(node, "thread.toggle"))
            window.act(row, "thread.toggle")
            window.wait_label(lambda text: text.startswith("ranks ("))
            window.key("Escape")
            # A busy machine may still be closing the popover.
            self.press_until("ctrl+8", lambda: window.seen("Balance of the ranks", "image"))
            balance = window.find("Balance of the ranks", "image")
            window.key("Up")
            wait_for("the rank", lambda: balance.get_name().startswith("Balance of the ranks: Rank 1"))

    def test_some_ranks(self):
        """Some of them are captures of their own."""
        with tempfile.TemporaryDirectory() as folder:
            window = self.open(*self.record_ranks(folder, 3)[1:])
            window.wait_label(lambda text: text.startswith("These are 2 of the 3 captures of a job."))
            self.assertNotIn("%r", window.title())

    def test_no_ranks(self):
        window = self.open_example()
        window.key("ctrl+8")
        window.find("No Ranks", "label")

    def test_machine_code(self):
        """A function's instructions beside its source; or why there are none."""
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

    def test_moved_program(self):
        """Machine code of a program that is elsewhere now, once its folder is chosen."""
        with tempfile.TemporaryDirectory() as folder:
            here, there = (pathlib.Path(folder, name) for name in ("here", "there"))
            path = pathlib.Path(folder, "shares.flambeau")
            here.mkdir()
            shutil.copy2(BUILD / "tests/record/shares", here)
            subprocess.run(
                [BUILD / "app/cli/flambeau-cli", "record", "--output", path, "--",
                 here / "shares", "100"],
                check=True, capture_output=True,
            )
            here.rename(there)
            window = self.open(path)
            window.page("Machine Code")
            window.wait_label(lambda text: text == f"File not found: {here}/shares")
            window.click("Choose Folder…", "push button")
            window.choose_file(there)
            window.wait_label(lambda text: text.startswith("imul "))

    def test_no_machine_code(self):
        window = self.open(SOURCE / "tests/captures/folded/annotated.folded")
        window.wait_label(lambda text: text.startswith("total "))
        window.page("Machine Code")
        window.find("No Machine Code", "label")

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

    def test_no_source_yet(self):
        """Where the cost is, and what to do for its source, before anything is chosen."""
        window = self.open(SOURCE / "tests/captures/jlprof/status.jlprof")
        window.find("Source Not Found", "label")
        window.find("kitchen.jl", "label")
        window.find("line 30", "label")
        window.find("Choose Folder…", "push button")

    def test_source_not_found(self):
        """Of the user's own files, the heaviest that is here is shown, and the one
        that has more of the cost is named, and found in a folder."""
        with tempfile.TemporaryDirectory() as folder:
            here = pathlib.Path(folder, "here.c")
            here.write_text("int\nmain (void)\n{\n  return 4242;\n}\n")
            moved = pathlib.Path(folder, "src/lib/heavy.c")
            moved.parent.mkdir(parents=True)
            moved.write_text("int\nwork (void)\n{\n  return 1717;\n}\n")
            document = pathlib.Path(folder, "one.speedscope.json")
            document.write_text(json.dumps({
                "$schema": "https://www.speedscope.app/file-format-schema.json",
                "shared": {"frames": [
                    {"name": "main", "file": str(here), "line": 4},
                    {"name": "work", "file": "/gone/lib/heavy.c", "line": 4}]},
                "profiles": [{
                    "type": "sampled", "name": "t", "unit": "milliseconds",
                    "startValue": 0, "endValue": 10, "samples": [[0], [0, 1]],
                    "weights": [1, 9]}]}))
            window = self.open(document)
            window.wait_label(lambda text: re.match(
                r"heavy\.c, with 90\.0\s% of the total, was not found\.$", text))
            view = window.find("Source", "text")
            wait_for("the other source", lambda: "return 4242" in view.text())
            window.find("line 4", "label")
            self.search("^work$")
            window.find("Source Not Found", "label")
            window.wait_label(lambda text: re.match(
                r"heavy\.c, with 90\.0\s% of the total, was not found\.\n", text))
            window.click("Choose Folder…", "push button")
            window.choose_file(pathlib.Path(folder, "src"))
            wait_for("the moved source", lambda: "return 1717" in view.text())

    def test_small_source(self):
        """A header with less than 1 % is not shown in place of the missing file."""
        window = self.open(SOURCE / "tests/captures/peers/valgrind/callgrind.nest.out")
        window.wait_label(lambda text: text.startswith("total "))
        window.find("Source Not Found", "label")
        window.find("nest.c", "label")

    def test_start_code(self):
        """The C library's start code is not what a stripped program's reader misses."""
        with tempfile.TemporaryDirectory() as folder:
            document = pathlib.Path(folder, "stripped.speedscope.json")
            document.write_text(json.dumps({
                "$schema": "https://www.speedscope.app/file-format-schema.json",
                "shared": {"frames": [
                    {"name": "__libc_start_call_main", "line": 58,
                     "file": "sysdeps/nptl/libc_start_call_main.h"},
                    {"name": "app+0x11c0"}]},
                "profiles": [{
                    "type": "sampled", "name": "t", "unit": "milliseconds",
                    "startValue": 0, "endValue": 10, "samples": [[0, 1]], "weights": [10]}]}))
            window = self.open(document)
            window.wait_label(lambda text: text.startswith("Select a function to see where"))

    def test_small_header_beside_a_missing_file(self):
        with tempfile.TemporaryDirectory() as folder:
            header = pathlib.Path(folder, "small.h")
            header.write_text("int small;\n", encoding="utf-8")
            path = pathlib.Path(folder, "callgrind.out.1")
            path.write_text("events: Ir\nfl=/gone/main.c\nfn=main\n1 1999\n"
                            f"fl={header}\nfn=small\n1 1\n", encoding="utf-8")
            window = self.open(path)
            window.wait_label(lambda text: text.startswith("total "))
            window.find("Source Not Found", "label")
            window.find("main.c", "label")

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

    def test_editor(self):
        """The editor of the preferences gets the file and the line; if it does
        not exist, a message describes where to set another."""
        with tempfile.TemporaryDirectory() as folder:
            says = pathlib.Path(folder, "says")
            window = self.open_example(settings={
                "editor": f"'sh -c \"echo %f:%l >{says}\" --'",
            })
            self.search("^fill_pixels$|^paint_row$")
            window.wait_label(lambda text: text == "line 70")
            window.click("Open in editor")
            wait_for("the editor", says.exists)
            said = wait_for("what it got", says.read_text)
            self.assertEqual(said.strip().rsplit(":", 1)[1], "70")
            keyfile = pathlib.Path(
                os.environ["XDG_CONFIG_HOME"], "glib-2.0/settings/keyfile"
            )
            keyfile.write_text("[dev/flambeau/Flambeau]\neditor='/not/there'\n")
            time.sleep(1)
            window.click("Open in editor")
            window.wait_label(lambda text: text == "No Editor Could Be Opened")


if __name__ == "__main__":
    unittest.main(verbosity=2)
