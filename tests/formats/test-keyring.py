#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tokens in a keyring: GNOME's own, on a session bus and in a home of its own."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from server import Server, build, captures, cli, wait_for

PPROF = captures / "pprof/cpu.pb"
NEEDED = ["gnome-keyring-daemon", "dbus-run-session", "gdbus"]


class Keyring(unittest.TestCase):
    def setUp(self):
        """Within the session: a keyring that is open."""
        self.environment = dict(os.environ)
        daemon = subprocess.Popen(
            ["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"],
            env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        daemon.stdin.write(b"a password")
        daemon.stdin.close()
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.terminate)
        # A question would start another one.
        wait_for(lambda: "true" in subprocess.run(
            ["gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path",
             "/", "--method", "org.freedesktop.DBus.NameHasOwner", "org.freedesktop.secrets"],
            capture_output=True, text=True).stdout)
        self.server = Server()
        self.addCleanup(self.server.close)
        self.server.answers["/debug/pprof/profile"] = PPROF.read_bytes()
        self.url = f"http://127.0.0.1:{self.server.port}/debug/pprof/profile"

    def ask(self, method, *words):
        return subprocess.run(
            ["gdbus", "call", "--session", "--dest", "org.freedesktop.secrets",
             "--object-path", "/org/freedesktop/secrets",
             "--method", f"org.freedesktop.Secret.Service.{method}", *words],
            env=self.environment, capture_output=True, text=True)

    def token_sent(self):
        done = subprocess.run([cli, "info", self.url], env=self.environment, timeout=60,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.server.requests[-1].headers["Authorization"]

    def test_token(self):
        self.assertIsNone(self.token_sent())
        keep = [build / "tests/formats/keep-token", self.url]
        done = subprocess.run([*keep, "abc-123"], env=self.environment, timeout=60,
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        # The service itself has it, under the server's name.
        found = self.ask("SearchItems", f"{{'server': '127.0.0.1:{self.server.port}'}}").stdout
        self.assertIn("/org/freedesktop/secrets/collection/login/", found)
        self.assertEqual(self.token_sent(), "Bearer abc-123")
        # Another one replaces it.
        subprocess.run([*keep, "def-456"], env=self.environment, check=True, timeout=60)
        self.assertEqual(self.token_sent(), "Bearer def-456")
        # It is that server's alone.
        other = Server()
        self.addCleanup(other.close)
        other.answers["/debug/pprof/profile"] = PPROF.read_bytes()
        self.url = f"http://127.0.0.1:{other.port}/debug/pprof/profile"
        self.server = other
        self.assertIsNone(self.token_sent())
        # What the person gives counts more.
        self.environment["FLAMBEAU_TOKEN"] = "mine"
        self.assertEqual(self.token_sent(), "Bearer mine")


if __name__ == "__main__":
    missing = [name for name in NEEDED if not shutil.which(name)]
    if missing:
        print("not installed:", *missing)
        sys.exit(77)
    if len(sys.argv) > 1:
        unittest.main(argv=sys.argv[:1])
    with tempfile.TemporaryDirectory(prefix="flam-keyring.") as home:
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("FLAMBEAU_TOKEN")}
        sys.exit(subprocess.run(
            ["dbus-run-session", "--", sys.executable, pathlib.Path(__file__).resolve(), "inside"],
            env={**environment, "HOME": home, "XDG_RUNTIME_DIR": home,
                 "XDG_DATA_HOME": f"{home}/data", "XDG_CACHE_HOME": f"{home}/cache"}).returncode)
