#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recording from the window."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from flamwindow import BUILD, ITEMS_SPEAK, LIMIT, wait_for  # noqa: E402
from windowtest import RECORDER, WindowTest as Base  # noqa: E402


class RecordTest(Base):
    def test_record_and_stop(self):
        if not pathlib.Path(RECORDER).is_file():
            raise unittest.SkipTest(f"{RECORDER or 'the recorder'} is not here")
        busy = (
            "import time\n"
            "def few(): sum(range(9999))\n"
            "def many():\n"
            "    for i in range(9): sum(range(9999))\n"
            "e = time.time() + 90\nwhile time.time() < e: few(); many()"
        )
        self.addCleanup(end_children_of_the_recorder, busy)
        window = self.open("--record", "--", sys.executable, "-c", busy)
        window.wait_label(lambda text: text.startswith("Recording "))
        window.wait_label(
            lambda text: text.endswith(" samples") and text != "0 samples"
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
        # The boxes stay where they were while they grew: by name, not by size.
        self.search("^many$")
        self.graph_says("many")
        window.focus(self.graph())
        self.press_until("Left", lambda: self.graph().name.startswith("few"))

    def test_close(self):
        """Closing asks for confirmation during a recording; the recorded part
        is among the recent captures."""
        if not pathlib.Path(RECORDER).is_file():
            raise unittest.SkipTest(f"{RECORDER or 'the recorder'} is not here")
        busy = "import time; e = time.time() + 91\nwhile time.time() < e: sum(range(99))"
        self.addCleanup(end_children_of_the_recorder, busy)
        window = self.open("--record", "--", sys.executable, "-c", busy)
        window.wait_label(lambda text: text.startswith("total "))
        window.action("win.close-tab")
        window.find("Stop Recording?", "label")
        window.click(lambda name: name.endswith("Keep Recording"), "push button")
        # GTK holds a button down for a quarter of a second before it acts, and there is
        # no second question about a tab while the first one is open.
        wait_for("the end of the question",
                 lambda: not window.seen("Stop Recording?", "label"))
        window.find(lambda name: name.startswith("Recording "), "label")
        window.action("win.close-tab")
        window.find("Stop Recording?", "label")
        window.click(lambda name: name.endswith("Stop and Close"), "push button")
        self.assertEqual(window.process.wait(LIMIT), 0)
        self.ended()
        recent = pathlib.Path(os.environ["XDG_DATA_HOME"], "recently-used.xbel")
        captures = list(pathlib.Path(
            os.environ["XDG_DATA_HOME"], "flambeau/recordings").glob("*.flambeau"))
        newest = max(captures, key=lambda path: path.stat().st_mtime)
        self.assertIn(urllib.parse.quote(newest.name), recent.read_text())

    def test_quit(self):
        """Quitting the program asks as well, and quits if the user agrees."""
        if not pathlib.Path(RECORDER).is_file():
            raise unittest.SkipTest(f"{RECORDER or 'the recorder'} is not here")
        busy = "import time; e = time.time() + 93\nwhile time.time() < e: sum(range(99))"
        self.addCleanup(end_children_of_the_recorder, busy)
        window = self.open("--record", "--", sys.executable, "-c", busy)
        window.wait_label(lambda text: text.startswith("total "))
        for answer in "Keep Recording", "Stop and Close":
            self.press_until(
                "ctrl+q", lambda: window.seen("Stop Recording?", "label"))
            window.click(lambda name, answer=answer: name.endswith(answer), "push button")
            if answer == "Keep Recording":
                wait_for("the end of the question",
                         lambda: not window.seen("Stop Recording?", "label"))
                window.find(lambda name: name.startswith("Recording "), "label")
        self.assertEqual(window.process.wait(LIMIT), 0)
        self.ended()

    def test_daemon(self):
        """A program that leaves daemons behind is reported, and the daemons can
        be recorded."""
        if not pathlib.Path(RECORDER).is_file():
            raise unittest.SkipTest(f"{RECORDER or 'the recorder'} is not here")
        program = (
            "import os, sys, time\n"
            "e = time.time() + 1\nwhile time.time() < e: sum(range(99))\n"
            "if os.fork() == 0 or os.fork() == 0:\n"
            "    os.setsid()\n"
            "    e = time.time() + 92\n"
            "    while time.time() < e: sum(range(99))\n"
            "    sys.exit()\n"
            "sys.exit(3)\n"
        )
        self.addCleanup(end_children_of_the_recorder, program)
        window = self.open("--record", "--", "/usr/bin/python3", "-c", program)
        window.wait_label(lambda text: text.startswith(
            "python3 ended with exit status 3. 2 processes that it started are still running, such as "
            "python3 (process "))
        window.click(lambda name: name.endswith("Attach to Remaining Processes"), "push button")
        window.wait_label(lambda text: text.startswith("Recording python3"))
        window.click(lambda name: name.endswith("Stop"), "push button")
        window.wait_label(lambda text: text.startswith("Recorded python3"))
        # Both were running.
        newest = max(pathlib.Path(os.environ["XDG_DATA_HOME"], "flambeau/recordings").glob(
            "*.flambeau"), key=lambda path: path.stat().st_mtime)
        info = json.loads(subprocess.run(
            [BUILD / "app/cli/flambeau-cli", "info", "--json", newest], check=True,
            capture_output=True).stdout)
        self.assertEqual(len(info["processes"]), 2)

    @staticmethod
    def press_record(window):
        """The button of the dialog, which is a window beside the one with
        another such button."""
        dialog = window.find("Record", ("filler", "frame", "dialog"))
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

    def test_printed_is_bounded(self):
        """A program that prints much, and continues after the recording, does
        not fill the disk; the end of its output is shown, with a note that
        there was more."""
        if not pathlib.Path(RECORDER).is_file():
            raise unittest.SkipTest(f"{RECORDER or 'the recorder'} is not here")
        program = (
            "import os, time\n"
            "def say(text):\n"
            "    while text: text = text[os.write(1, text):]\n"
            "def flood():\n"
            "    for i in range(30): say(b'much\\n' * (400 << 10)); time.sleep(.1)\n"
            "say(b'first\\n'); time.sleep(4); flood(); say(b'last\\n')\n"
            "if os.fork() == 0: time.sleep(5); flood(); time.sleep(9)\n"
            "else: time.sleep(2)"
        )
        window = self.open("--record", "--", "/usr/bin/python3", "-c", program)
        window.click(lambda name: name.endswith("Output"), "push button")
        output = window.find("Output of python3", "text")

        def printed():
            for fd in pathlib.Path(f"/proc/{window.process.pid}/fd").iterdir():
                if "/output-" in os.readlink(fd):
                    return os.stat(fd).st_blocks << 9
            return 0

        highest = 0

        def is_there():
            nonlocal highest
            highest = max(highest, printed())
            return output.text().endswith("last\n")

        # With sanitizers on a busy machine, 60 MB take long.
        wait_for("the end", is_there, 3 * LIMIT)
        window.find("The beginning is left out", "label")
        self.assertGreater(highest, 0)
        self.assertLess(highest, 40 << 20)
        window.wait_label(
            lambda text: text.startswith("python3 ended without an error. A process that it started is still running: ")
        )
        highest, end = 0, time.monotonic() + 8
        while time.monotonic() < end:
            highest = max(highest, printed())
            time.sleep(.1)
        self.assertGreater(highest, 0)
        self.assertLess(highest, 40 << 20)

    def test_stripped(self):
        """A program that exists but has no symbols is not reported as missing."""
        if not pathlib.Path(RECORDER).is_file():
            raise unittest.SkipTest(f"{RECORDER or 'the recorder'} is not here")
        source = (
            "#include <time.h>\n"
            "static volatile long sum;\n"
            "static __attribute__ ((noinline)) void hot (void)\n"
            "{ for (long i = 0; i < 100000; i++) sum += i * i; }\n"
            "int main (void)\n"
            "{ time_t end = time (NULL) + 2; while (time (NULL) < end) hot (); }\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "hot")
            subprocess.run(
                ["cc", "-O1", "-s", "-x", "c", "-", "-o", program],
                input=source, text=True, check=True,
            )
            window = self.open("--record", "--", program)
            window.wait_label(
                lambda text: text.endswith(
                    f": the debug symbols of {program} are missing"
                )
            )

    def test_unreadable_runtime(self):
        """A program whose functions cannot be read is recorded again with the variable
        by which it names them; the dialog offers it for this program alone."""
        if not pathlib.Path(RECORDER).is_file():
            raise unittest.SkipTest(f"{RECORDER or 'the recorder'} is not here")
        program = BUILD / "tests/record/beam.smp"
        window = self.open("--record", "--", program, "2")
        window.wait_label(lambda text: text.startswith("The functions of Erlang 26 cannot be read."))
        window.wait_label(lambda text: text == "beam.smp ended without an error")
        window.action("win.record")
        command = window.find(lambda name: name.startswith("Command Line"), "text")
        window.type(command, f"{program} 3")
        window.find("Let the Program Name Its Functions", "label")
        window.type(command, "ls")
        wait_for("the end of the offer", lambda: not window.seen(
            "Let the Program Name Its Functions", "label"))
        window.key("Escape")
        window.click(lambda name: name.endswith("Record Again with Names"), "push button")
        # The target does so if it has flags.
        window.wait_label(lambda text: text == "beam.smp ended with exit status 7")

    def test_record_dialog(self):
        window = self.open()
        window.find("See Where Time and Memory Go", "label")
        window.action("win.record")
        command = window.find(lambda name: name.startswith("Command Line"), "text")
        window.type(command, "/there/is/nothing --here 'two words'")
        self.press_record(window)
        window.wait_label(lambda text: "does not exist" in text)
        window.type(command, "/etc/passwd")
        self.press_record(window)
        window.wait_label(lambda text: text.startswith("“/etc/passwd” is not executable"))
        self.assertFalse(window.seen("Run in a Shell", "label"))
        window.type(command, "echo 'a|b' \"c>d\"")
        self.assertFalse(window.seen("Run in a Shell", "label"))
        window.type(command, "sort /etc/passwd | cat")
        window.wait_label(lambda text: text == "Otherwise “|” is passed to the program as it is")

    def test_host(self):
        """A program on another machine: its output, its capture while it runs, and
        Stop; the host is offered the next time."""
        if not pathlib.Path(RECORDER).is_file():
            raise unittest.SkipTest(f"{RECORDER or 'the recorder'} is not here")
        with tempfile.TemporaryDirectory() as folder:
            client = pathlib.Path(folder, "podman")
            client.write_text(
                f"#!/bin/sh\nshift 3\nexport XDG_CACHE_HOME={folder}/there\nexec \"$@\"\n")
            client.chmod(0o755)
            program = pathlib.Path(folder, "busy.py")
            program.write_text("import time\nprint('there', flush=True)\n"
                               "e = time.time() + 94\nwhile time.time() < e: sum(range(99))\n")
            self.addCleanup(end_children_of_the_recorder, str(program))
            path = os.environ["PATH"]
            os.environ["PATH"] = f"{folder}:{path}"
            self.addCleanup(os.environ.update, PATH=path)
            window = self.open()
            window.find("See Where Time and Memory Go", "label")
            window.action("win.record")
            window.type(
                window.find(lambda name: name.startswith("Command Line"), "text"),
                f"/usr/bin/python3 {program}")
            window.mouse(window.find("Options", "label"))
            host = window.find(lambda name: name == "Host", "text")
            window.type(host, "podman:-x")
            self.press_record(window)
            window.wait_label(lambda text: "expected an SSH host" in text)
            window.type(host, "podman:box")
            self.press_record(window)
            window.wait_label(lambda text: text.startswith("total "))
            window.click("Output")
            output = window.find(lambda name: name.startswith("Output of python3"), "text")
            wait_for("the output", lambda: output.text() == "there\n")
            window.click(lambda name: name.endswith("Stop"), "push button")
            window.wait_label(lambda text: text.startswith("Recording saved. "))
            window.action("win.record")
            window.mouse(window.find("Options", "label"))
            if ITEMS_SPEAK:
                window.click("Choose a host")
                window.find("podman:box", "menu item")

    def test_input(self):
        """A program that waits for a line gets a field for it."""
        if not pathlib.Path(RECORDER).is_file():
            raise unittest.SkipTest(f"{RECORDER or 'the recorder'} is not here")
        program = (
            "import getpass, sys\n"
            "print('Hello', input('Name? '), sys.stdin.isatty(), flush=True)\n"
            "print(len(getpass.getpass('Secret? ', sys.stdout)), flush=True)\n"
            "print('rest:', sys.stdin.read(), end='', flush=True)\n"
        )
        window = self.open("--record", "--", "/usr/bin/python3", "-c", program)
        field = window.find("Input for the program", "text")
        output = window.find("Output of python3", "text")
        wait_for("the question", lambda: output.text() == "Name? ")
        wait_for("the focus", lambda: field.has_state("FOCUSED"))
        window.write("Ada")
        window.key("Return")
        wait_for("the answer", lambda: "Hello Ada True\n" in output.text())
        wait_for("the second question", lambda: output.text().endswith("Secret? "))
        window.write("tree")
        window.key("Return")
        wait_for("its length", lambda: output.text().endswith("Secret? \n4\n"))
        window.click("End Input", "push button")
        wait_for("the end", lambda: output.text().endswith("rest: "))

    def test_choices(self):
        """The choices are whole in their list: the last one ends with its cost."""
        window = self.open()
        window.find("See Where Time and Memory Go", "label")
        window.action("win.record")
        window.mouse(window.find("Options", "label"))
        time.sleep(1)
        window.mouse(window.find("Sampling Rate", "label"))
        last = window.find(lambda name: name.startswith("Very High: "), "label")
        self.assertTrue(last.name.endswith(", slower"), last.name)
        self.assertGreater(window.extents(last)[2], 48 * 5)

    def test_typed_duration(self):
        """A typed number applies, even if nothing confirmed it."""
        if not pathlib.Path(RECORDER).is_file():
            raise unittest.SkipTest(f"{RECORDER or 'the recorder'} is not here")
        window = self.open()
        window.find("See Where Time and Memory Go", "label")
        window.action("win.record")
        window.type(
            window.find(lambda name: name.startswith("Command Line"), "text"),
            "/bin/sleep 600",
        )
        self.addCleanup(end_children_of_the_recorder, "600")
        window.mouse(window.find("Options", "label"))
        duration = window.find(
            lambda name: name.startswith("Duration"), "spin button")
        time.sleep(1)
        dialog = window.find("Record", ("filler", "frame", "dialog"))
        for _ in range(30):
            window.mouse(dialog, 0.3, 0.8, "b5c")
        time.sleep(1)
        window.mouse(duration, 0.15)
        window.key("ctrl+a")
        window.write("1")
        time.sleep(1)
        self.press_record(window)
        window.wait_label(lambda text: text == "Recording saved. sleep is still running.")

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
            # The current text with one more letter is in the message.
            window.key("BackSpace")
            window.key("x")
            self.press_record(window)
            window.wait_label(
                lambda text: f"The program “{folder}/a programx” does not exist" in text
            )

    def search_processes(self, window, text):
        """The page has been chosen: the field takes the focus when it shows."""
        field = window.find("Search processes")
        wait_for("focus in the field", lambda: field.has_state("FOCUSED"))
        window.key("ctrl+a")
        window.write(text)

    def test_attach_page(self):
        window = self.open()
        window.find("See Where Time and Memory Go", "label")
        window.action("win.record")
        window.click("Attach")
        self.search_processes(window, "test-window")
        wait_for(
            "this very test in the list",
            lambda: any("test-window" in text for text in window.labels()),
        )

    def test_attach_enter(self):
        """Of several that match, Enter selects the first, and then takes it."""
        sleepers = [subprocess.Popen(["/bin/sleep", "86411"]) for _ in range(2)]
        for one in sleepers:
            self.addCleanup(one.wait)
            self.addCleanup(one.kill)
        window = self.open()
        window.find("See Where Time and Memory Go", "label")
        window.action("win.record")
        window.click("Attach")
        self.search_processes(window, "no such process")
        window.wait_label(lambda text: text.startswith("No process matches"))
        self.search_processes(window, "86411")

        def found():
            rows = [node if node.role == "list item" else node.get_parent()
                    for node in window.find_all(
                        lambda name: name.startswith("sleep") and ", process " in name
                        and "86411" in name)]
            return rows if len(rows) == 2 else None

        rows = wait_for("both", found)
        self.assertFalse(any(row.has_state("SELECTED") for row in rows))
        window.key("Return")
        wait_for("the first selected", lambda: rows[0].has_state("SELECTED"))
        self.assertFalse(rows[1].has_state("SELECTED"))
        window.key("Return")
        window.wait_label(lambda text: text.startswith("Recording"))

    def rows_of(self, window, text):
        return list(window.find_all(
            lambda name: ", process " in name and text in name))

    def start_tree(self, line):
        """A process and two children in a session of their own, with a command
        line of several lines."""
        script = f"import os, time\nos.fork() and os.fork()\n# {line}\ntime.sleep(600)"
        tree = subprocess.Popen([sys.executable, "-c", script], start_new_session=True)
        self.addCleanup(tree.wait)
        self.addCleanup(end_session, tree.pid)
        return tree

    def test_attach_tree(self):
        """Children are below their parent, and recorded with it; the list
        follows processes that start and end."""
        window = self.open()
        window.find("See Where Time and Memory Go", "label")
        window.action("win.record")
        window.click("Attach")
        self.search_processes(window, "fl-tree")
        window.wait_label(lambda text: text.startswith("No process matches"))
        tree = self.start_tree("fl-tree")
        rows = wait_for("three rows", lambda: (
            found := self.rows_of(window, "fl-tree")) and len(found) == 3 and found)
        self.assertIn(f", process {tree.pid},", rows[0].name)
        heights = {window.extents(row)[3] for row in rows}
        self.assertEqual(len(heights), 1)
        self.assertLess(heights.pop(), 60)
        window.key("Return")
        window.find("Also record its 2 child processes", "check box")
        end_session(tree.pid)
        tree.wait()
        window.wait_label(lambda text: text.startswith("No process matches"))
        self.start_tree("fl-tree")
        wait_for("the rows of the next one",
                 lambda: len(self.rows_of(window, "fl-tree")) == 3)

    def test_attach_only_match(self):
        """One match and Enter: it is recorded."""
        sleeper = subprocess.Popen(["/bin/sleep", "86413"])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        window = self.open()
        window.find("See Where Time and Memory Go", "label")
        window.action("win.record")
        window.click("Attach")
        wait_for("the list", lambda: self.rows_of(window, ""))
        self.search_processes(window, "86413")
        window.key("Return")
        window.wait_label(lambda text: text.startswith("Recording"))


def end_session(leader):
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass


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
