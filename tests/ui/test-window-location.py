#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Open Location: a capture of a server, and servers that misbehave."""

import pathlib
import re
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "formats"))
from flamwindow import wait_for  # noqa: E402
from server import Server, captures  # noqa: E402
from windowtest import WindowTest as Base, total_of  # noqa: E402

PPROF = captures / "pprof/cpu.pb"
CAPTURE = captures / "flambeau/family.flambeau"
# What a ClickHouse answered: two runs, and their functions by self and by total.
RUN = (b"%d\t%d\t0\t0\tshop\t\t\t\t%s\t\tfolded\t-1\t0\t['samples']\t['count']\t[%d]\t[0]\t[0]"
       b"\t['commit']\t['%s']\n")
RUNS = (RUN % (15387233371880912377, 1793620800, b"two.folded", 159, b"c2")
        + RUN % (16012751369274086202, 1793534400, b"one.folded", 120, b"c1"))
FUNCTIONS = b"".join(
    b"%d\t%d\t%s\t%d\t%d\t0\t0\t0\t0\n" % (part, run, name, own, total)
    for run, costs in ((15387233371880912377, ((b"fresh", 9, 9), (b"lex", 20, 20),
                                               (b"main", 0, 159), (b"parse", 130, 130))),
                       (16012751369274086202, ((b"lex", 20, 20), (b"main", 0, 120),
                                               (b"parse", 100, 100))))
    for name, own, total in costs for part in (0, 1))
ASKED = "/querier.v1.QuerierService/SelectMergeProfile"


class LocationTest(Base):
    def setUp(self):
        super().setUp()
        self.server = Server()
        self.addCleanup(self.server.close)
        self.url = f"pyroscope+http://127.0.0.1:{self.server.port}/?service=shop&region=eu"

    def enter(self, url):
        window = self.open(settings={"remember-captures": "true"})
        window.find("See Where Time and Memory Go")
        window.action("win.open-location")
        self.submit(window.find("Address", "text"), url)
        return window

    def submit(self, address, url):
        """By the keyboard: the window has an Open, too."""
        self.window.type(address, url)
        self.window.take_keyboard(newest=True)
        self.press_until("Return", lambda: self.server.requests)

    def test_open(self):
        """The figures are those of the document, and nothing is sent before the
        address is opened."""
        self.server.answers[ASKED] = PPROF.read_bytes()
        window = self.open()
        window.find("See Where Time and Memory Go")
        window.action("win.open-location")
        address = window.find("Address", "text")
        window.type(address, self.url)
        time.sleep(0.3)
        self.assertEqual(self.server.requests, [])
        window.type(window.find("Token, If the Server Needs One", "text"), "secret")
        self.submit(address, self.url)
        window.wait_label(lambda text: text == f"total {total_of(PPROF)}")
        wait_for("what was asked for, in the title", lambda: re.match(
            r"shop region=eu \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d – ", window.title()))
        (request,) = self.server.requests
        self.assertEqual(request.headers["Authorization"], "Bearer secret")

    def test_refused(self):
        """The dialog stays, shows the reason, and can be used again."""
        self.server.answers[ASKED] = [(400, b'{"message":"no such service"}'), PPROF.read_bytes()]
        window = self.enter(self.url)
        window.wait_label(lambda text: text == f"{self.url}: the server answers with error 400: "
                                               "no such service")
        window.key("Return")
        window.wait_label(lambda text: text == f"total {total_of(PPROF)}")

    def test_token(self):
        """The dialog asks for what it has a field for."""
        self.server.answers[ASKED] = [(401, b"who are you?"), PPROF.read_bytes()]
        window = self.enter(self.url)
        window.wait_label(lambda text: text == f"{self.url}: the server refuses access (401: "
                                               "who are you?); enter its token")
        window.type(window.find("Token, If the Server Needs One", "text"), "secret")
        window.key("Return")
        window.wait_label(lambda text: text == f"total {total_of(PPROF)}")
        self.assertEqual(self.server.requests[-1].headers["Authorization"], "Bearer secret")

    def test_history(self):
        """The runs of a ClickHouse, as those of a store in a file; other servers have
        no such button."""
        self.server.answers["/"] = [
            (401, b"Code: 193, e.displayText() = DB::Exception: Wrong password for user x, "
                  b"e.what() = DB::Exception"), RUNS, FUNCTIONS]
        window = self.open()
        window.find("See Where Time and Memory Go")
        window.action("win.open-location")
        address = window.find("Address", "text")
        window.type(address, self.url)
        self.assertFalse(window.seen("History", "push button"))
        window.type(address, f"clickhouse://127.0.0.1:{self.server.port}/db?service=shop")
        window.click("History", "push button")
        window.wait_label(lambda text: text.endswith(
            "the server refuses access (401: Wrong password for user x); enter its token"))
        window.click("History", "push button")
        window.wait_label(lambda text: text == "two.folded")
        self.assertRegex(window.title(), r"^shop \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d\.sqlite$")
        self.assertIn("+39 (+32.5 %)", " ".join(window.labels()).replace("\u00a0", " "))
        window.click("Function: All functions")
        window.find("parse", "label")

    def test_document(self):
        """The dialog tells what it waits for; the title tells where the capture is from."""
        answer = threading.Event()

        def record(handler):
            answer.wait(60)
            handler.send(200, PPROF.read_bytes())

        self.server.answers["/debug/pprof/profile"] = record
        window = self.enter(f"http://127.0.0.1:{self.server.port}/debug/pprof/profile?seconds=7")
        window.wait_label(lambda text: text == "The server records for 7 seconds.")
        answer.set()
        wait_for("a title", lambda: window.title().startswith(
            f"profile 127.0.0.1:{self.server.port} 20"))

    def test_send(self):
        """What is shown goes to the server when the user sends it, and not before; a
        refusal is one sentence, and the dialog can be used again."""
        self.server.answers["/ingest"] = [(401, b"who are you?"), b""]
        window = self.open(CAPTURE)
        window.wait_label(lambda text: text == f"total {total_of(CAPTURE)}")
        window.action("win.export")
        window.focus(window.find("Send to a Server…", "list item"))
        window.key("space")
        url = f"pyroscope+http://127.0.0.1:{self.server.port}/?service=shop&commit=4a5b"
        address = window.find("Address", "text")
        window.type(address, url)
        time.sleep(0.3)
        self.assertEqual(self.server.requests, [])
        self.submit(address, url)
        window.wait_label(lambda text: text == f"{url}: the server refuses access (401: "
                                               "who are you?); enter its token")
        window.type(window.find("Token, If the Server Needs One", "text"), "secret")
        window.key("Return")
        window.wait_label(lambda text: text == f"Sent to 127.0.0.1:{self.server.port}")
        request = self.server.requests[-1]
        self.assertEqual(request.headers["Authorization"], "Bearer secret")
        self.assertIn("name=shop%7Bcommit%3D4a5b%7D", request.path)
        self.assertIn(b'name="profile"', request.body)


if __name__ == "__main__":
    unittest.main(verbosity=2)
