#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables and search: columns that fit, their order, the number of the match;
and changes."""

import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from flamwindow import BUILD, ROWS_BY_NAME, SOURCE, is_row_of, plain, wait_for  # noqa: E402
from windowtest import WindowTest as Base, total_of  # noqa: E402

KITCHEN = SOURCE / "tests/captures/flambeau/kitchen.flambeau"
CLI = BUILD / "app/cli/flambeau-cli"
HEAP = SOURCE / "tests/captures/heaptrack/v3.heaptrack"


class TablesTest(Base):
    def cells(self, name):
        return [
            node.get_parent()
            for node in self.window.find_all(name, "label")
            if node.get_parent().role == "table cell"
            and self.is_seen(node)
        ]

    def is_seen(self, node):
        """Pages that are not shown have no place."""
        _, top, width, _ = node.extents()
        return width > 0 and top > 55

    def header(self, name):
        return wait_for(
            f"the title {name}",
            lambda: [
                node
                for node in self.window.find_all(name, "label")
                if node.get_parent().role != "table cell"
                and self.is_seen(node)
            ],
        )[0]

    def test_narrow(self):
        """At 360 pixels the names keep 200 of them, and all of it fits."""
        window = self.open_example(
            settings={"window-width": 360, "window-height": 640}
        )
        window.key("ctrl+3")
        cell = wait_for("a row", lambda: self.cells("escape_time"))[0]

        def fits():
            left, _, width, _ = window.extents(cell)
            frame = window.extents(window.find("example.flambeau", "frame"))
            return width >= 185 and left + width <= frame[2] + 15

        wait_for("a name with room", fits)
        self.assertFalse(self.cells("libm.so.6"))

    def test_keyboard(self):
        """Arrows walk in a table, Tab leaves it from any row; the name of a row
        is its function and its figures, and no cell is named by its type."""
        window = self.open_example()
        window.key("ctrl+3")
        row = lambda name: wait_for(
            f"the row of {name}",
            lambda: [node for node in window.find_all(role="table row")
                     if is_row_of(node, name)])[0]
        self.assertRegex(
            plain(row("escape_time").name),
            r"^escape_time [\d.]+ s 49\.\d % [\d.]+ s [\d.]+ %$" if ROWS_BY_NAME
            else r"^[\d.]+ s 49\.\d % [\d.]+ s (?:[\d.]+ % )?escape_time$")
        for key, name in ("Down", "sort_sparks"), ("Down", "blend"):
            self.press_until(key, lambda name=name: row(name).has_state("FOCUSED"))
        # Through the page, the source beside it, and back.
        stops = ["Functions", "Table", "Places", "Graph", "Callers", "Callees", "This function",
                 "Open in editor", "Hide source", "Source"]
        self.assertEqual(self.stops("Tab", "Source"), stops[1:])
        self.assertEqual(self.stops("shift+Tab", "Functions"), stops[-2::-1])
        wait_for("the row that it left", lambda: row("blend").has_state("FOCUSED"))
        # The lanes above the page are one stop, from which arrows go on.
        above = self.stops("shift+Tab", "Overview, whole time")
        self.assertEqual(above[:3], [
            "Copy the rows as text", "Group by" if ROWS_BY_NAME else "Function", "Display"])
        self.assertEqual(above[-3:], ["All", "Threads over time", "Overview, whole time"])
        self.assertEqual(self.stops("F6", "This function"), ["Functions", "Table", "This function"])
        self.assertFalse([
            node.name for node in window.find_all(role="label")
            if node.name.startswith("Gtk") and node.get_parent().role == "table cell"])
        # A row of the call tree is folded and unfolded by arrows.
        window.key("ctrl+2")
        tree = window.find("Call tree", "tree table")
        self.press_until("Home", lambda: "clone3" in self.selected_row("Call tree"))
        wait_for("figures of the row with the keyboard", lambda: any(
            "total " in node.get_description() for node in window.find_all() if node.focused))
        for key, seen in ("Left", False), ("Right", True):
            window.key(key)
            wait_for(f"what {key} does", lambda seen=seen: seen == any(
                is_row_of(node, "start_thread") and min(node.extents()[2:]) > 0
                for node in window.find_all(role="table row", below=tree)))

    def test_order_and_search(self):
        window = self.open_example()
        window.key("ctrl+3")
        wait_for("a row", lambda: self.cells("escape_time"))

        def height_of(name):
            cells = self.cells(name)
            return window.extents(cells[0])[1] if cells else 10**6

        window.mouse(self.header("Total"))
        wait_for(
            "the largest on top",
            lambda: height_of("clone3") < height_of("escape_time"),
        )
        # The next click reverses the order.
        window.mouse(self.header("Total"))
        wait_for(
            "the smallest on top",
            # The C library has debug symbols, or not.
            lambda: self.cells("IO_validate_vtable") or self.cells("_dl_start"),
        )
        self.search("SPARKS")
        window.wait_label(lambda text: ", 1 of " in text)
        window.action("win.search-next")
        window.wait_label(lambda text: ", 2 of " in text)
        window.toggle("Match Case")
        window.wait_label(lambda text: text == "no match")
        window.type(window.find("Search functions"), "sort_.*s")
        window.wait_label(lambda text: text.startswith("matched "))
        # A regex that would take years on one name ends at once, and the table is
        # shown.
        window.type(window.find("Search functions"), "^(((\\w+)*)*)*[!?]")
        window.wait_label(lambda text: text == "takes too long")
        window.find("The regular expression takes too long.", "label")
        window.type(window.find("Search functions"), "sort_.*s")
        window.wait_label(lambda text: text.startswith("matched "))
        window.toggle("Regular Expression")
        window.wait_label(lambda text: text == "no match")
        window.find("No function matches the search.", "label")

    def test_whole_figures(self):
        """A figure of 19 digits is whole in its column, with its share; a
        function chosen from a list has the list's figures below; and a row far
        down is in view when the list is shown for the first time."""
        most, rest = 5 * 10**18, 4 * 10**18 + 1
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder, "a.folded")
            lines = [f"main;one;twice {most}", f"main;two;twice {rest}"]
            lines += [f"main;f{i:05} 1" for i in range(20000)]
            text.write_text("\n".join(lines) + "\n")
            window = self.open(text)
            window.wait_label(lambda text: text.startswith("total 9"))
            self.search("^f19990$")
            self.graph_says("f19990")
            window.type(window.find("Search functions"), "")
            time.sleep(0.5)
            window.key("ctrl+3")
            self.wait_row("Functions", "f19990")
            wait_for("a table full of rows", lambda: len(self.cells(
                lambda name: name.startswith("f199"))) > 8)
            self.search("^twice$")
            cell = wait_for("its row", lambda: self.cells("twice"))[0]
            window.mouse(cell)
            whole = "9 000 000 000 000 000 001"
            for place in range(2):
                figure = [node for node in window.find_all(
                    lambda name: plain(name) == whole, "label")
                    if node.get_parent().get_parent().role == "table cell"
                    and self.is_seen(node)][place]
                left, _, width, _ = window.extents(figure)
                outer, _, room, _ = window.extents(figure.get_parent().get_parent())
                self.assertGreater(width, 25 * 6)
                self.assertGreaterEqual(left, outer)
                self.assertLessEqual(left + width, outer + room)
            figures = f"self {whole} (100.0 %)   total {whole} (100.0 %)"
            window.wait_label(lambda text: plain(text) == f"{figures} in all stacks")
            # So has the first sentence; and in the inverted graph, it is one box.
            window.key("ctrl+1")
            window.action("win.search-next")
            window.wait_label(lambda text: plain(text).startswith("self 4 000 "))
            window.mouse(window.find(lambda name: name.startswith("\u2068twice\u2069"), "label"), 0.1)
            window.wait_label(lambda text: plain(text) == f"{figures} in all stacks")
            window.key("i")
            window.wait_label(lambda text: plain(text) == figures)

    def test_no_stack(self):
        """The rows sum to the total: samples without a stack have one, with its
        figures below. A caller and a callee have theirs in the calls that are shown,
        not those of one of their paths."""
        with tempfile.TemporaryDirectory() as folder:
            text, capture = f"{folder}/a.folded", f"{folder}/a.flambeau"
            pathlib.Path(text).write_text(
                "main;parse;read 6\nmain;parse 2\nmain;eval;parse;read 4\nmain;read 3\nmain 5\n")
            subprocess.run([CLI, "export", text, "--hide", "^main$", "--to", "flambeau",
                            "--output", capture], check=True, stderr=subprocess.DEVNULL)
            window = self.open(capture)
            window.key("ctrl+3")
            wait_for("a row", lambda: self.cells("[no stack]"))
            window.wait_label(lambda text: plain(text).startswith("total 20"))
            wait_for("a function", lambda: self.cells("parse"))
            window.mouse(self.cells("parse")[0])
            window.wait_label(lambda text: text == "parse")
            window.mouse(self.cells("[no stack]")[0])
            window.wait_label(lambda text: plain(text) == "self 5 (25.0 %)   total 5 (25.0 %)")
            self.assertEqual(window.labels().count("[no stack]"), 2)
            # The callers are not those of the function before.
            wait_for("no name above the callers", lambda: window.labels().count("parse") == 1)
            window.find(lambda name: name.startswith("The chosen row has no stacks"))
            window.mouse(self.cells("parse")[0])
            wait_for("its callers", lambda: window.labels().count("parse") > 2)
            window.toggle("Table")
            for table, name, figures in (
                    ("Callees", "read", "self 10 (50.0 %)   total 10 (50.0 %) in calls from parse"),
                    ("Callers", "eval", "total 4 (20.0 %) in calls to parse")):
                below = window.find(table, ("table", "tree table"))
                window.mouse(wait_for(name, lambda: [
                    node for node in window.find_all(name, "label", below)
                    if self.is_seen(node)])[0])
                window.wait_label(lambda text: plain(text) == figures)

    def compare_with(self, path):
        self.window.action("win.compare-file")
        self.window.choose_file(path)

    def says(self, text):
        self.window.wait_label(lambda label: text in plain(label).split("\n"))

    def test_difference(self):
        """Two captures: what changed in words, as a graph, as a table; and
        captures without a common unit are refused."""
        with tempfile.TemporaryDirectory() as folder:
            before = pathlib.Path(folder, "before.folded")
            now = pathlib.Path(folder, "now.folded")
            before.write_text("main;parse;lex 20\nmain;old 40\nmain 5\n")
            now.write_text("main;parse;lex 35\nmain;fresh 12\nmain 5\n")
            window = self.open(now)
            self.says("total 52 samples")
            self.compare_with(before)
            self.says("Before: before.folded, 65. Now: now.folded, 52: −13 (−20.0 %).")
        self.says(
            "Gone: frames with 40 (61.5 %) of the baseline. New: frames with 12 (23.1 %) of the current total."
        )
        # The graph's text has the meaning of the color, too.
        window.key("Down")
        window.find(lambda name: name.endswith("change −13"), "image")
        self.press_until(
            "Up", lambda: window.seen(lambda name: name.startswith("main, "), "image")
        )
        window.click("Table")
        # The graph's frame is the session's, and therefore the table's.
        self.wait_row("What changed", "main")
        for text in ("−40", "gone", "+15", "+75.0 %", "new"):
            wait_for(text, lambda text=text: self.cells(lambda name: plain(name) == text))
        heights = [
            window.extents(self.cells(name)[0])[1] for name in ("old", "main", "fresh")
        ]
        self.assertEqual(heights, sorted(heights))
        window.click("Remove: compared with: before.folded")
        window.find("Nothing to Compare With")
        self.compare_with(HEAP)
        window.wait_label(lambda text: "have different units" in text)

    def drag(self, node, start, end):
        left, top, width, height = self.window.extents(node)
        places = [
            ["mousemove", str(int(left + 1 + x * (width - 2))), str(top + height // 2)]
            for x in (start, end)
        ]
        for step in (places[0], ["mousedown", "1"], places[1], ["mouseup", "1"]):
            subprocess.run(["xdotool", *step, "sleep", "0.2"], check=True)

    def test_ranges(self):
        """A range is the baseline, and another one is compared with it."""
        window = self.open(KITCHEN)
        total = total_of(KITCHEN)
        window.wait_label(lambda text: text == f"total {total}")
        overview = window.find(lambda name: name.startswith("Overview"))
        self.drag(overview, 0.02, 0.5)
        window.find(lambda name: name.startswith("Remove: time: "))
        window.key("ctrl+b")
        window.wait_label(
            lambda text: text.startswith("This time range is the baseline")
        )
        self.drag(overview, 0.6, 0.9)
        window.wait_label(lambda text: "baseline is multiplied by 0.6" in text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
