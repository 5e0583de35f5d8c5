#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A store of captures in a ClickHouse of its own: it adds pushed captures up to the
figures of `flambeau-cli merge`."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
import urllib.parse
import urllib.request

from server import captures, cli, wait_for

SERVER = shutil.which("clickhouse-server", path=os.environ.get("PATH", "") + ":/usr/sbin")

CONFIG = """<yandex>
<logger><level>warning</level><console>1</console></logger>
<http_port>{port}</http_port><listen_host>127.0.0.1</listen_host>
<path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path>
<users_config>{folder}/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>67108864</mark_cache_size>
</yandex>
"""
USERS = """<yandex><profiles><default><max_threads>2</max_threads></default></profiles>
<users><default><password>secret</password><networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></default></users>
<quotas><default/></quotas></yandex>
"""
ONE = captures / "flambeau/family.flambeau"
TWO = captures / "flambeau/kitchen.flambeau"


def run(*words, code=0):
    done = subprocess.run(
        [cli, *words], capture_output=True, text=True, timeout=60,
        env={**os.environ, "FLAMBEAU_TOKEN": "secret", "DBUS_SESSION_BUS_ADDRESS": "disabled:"})
    if done.returncode != code:
        raise AssertionError(f"{words}: {done.returncode}: {done.stderr}")
    return done.stderr if code else done.stdout


def top(*words):
    rows = json.loads(run("top", "--json", *words))
    return rows["total"], {(row["function"], row["file"], row["line"]): (row["self"], row["total"])
                           for row in rows["rows"]}


@unittest.skipUnless(SERVER, "ClickHouse is not installed")
class ClickHouse(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="flam-clickhouse.")
        folder = pathlib.Path(cls.folder.name)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            cls.port = probe.getsockname()[1]
        (folder / "config.xml").write_text(CONFIG.format(port=cls.port, folder=folder))
        (folder / "users.xml").write_text(USERS)
        cls.log = open(folder / "log", "wb")
        cls.process = subprocess.Popen([SERVER, f"--config-file={folder}/config.xml"],
                                       cwd=folder, stdout=cls.log, stderr=cls.log)
        try:
            wait_for(lambda: cls.ask("SELECT 1") == "1\n")
        except AssertionError:
            cls.tearDownClass()
            raise unittest.SkipTest("ClickHouse does not start here") from None
        for name in "one", "labels", "again":
            cls.ask(f"CREATE DATABASE {name}", post=True)

    @classmethod
    def tearDownClass(cls):
        cls.process.send_signal(signal.SIGKILL)
        cls.process.wait()
        cls.log.close()
        cls.folder.cleanup()

    @classmethod
    def ask(cls, statement, post=False):
        url = f"http://127.0.0.1:{cls.port}/?password=secret&query={urllib.parse.quote(statement)}"
        try:
            return urllib.request.urlopen(url, data=b"" if post else None).read().decode()
        except OSError:
            return None

    def url(self, database, words=""):
        return f"clickhouse://default@127.0.0.1:{self.port}/{database}?from=0100000000&{words}"

    def test_added_up(self):
        """Functions, files and lines with their self and total costs."""
        run("push", ONE, TWO, "--to", self.url("one", "service=shop"))
        with tempfile.TemporaryDirectory() as folder:
            both = pathlib.Path(folder, "both.flambeau")
            run("merge", ONE, TWO, "--output", both)
            for ours, theirs in (("cpu", "cpu-time"), ("wall", "wall-time")):
                with self.subTest(ours):
                    self.assertEqual(
                        top(self.url("one", "service=shop"), "--measure", ours),
                        top(both, "--measure", theirs))
        self.assertIn("no such profile", run("info", self.url("one", "service=other"), code=1))
        self.assertEqual(self.ask("SELECT count(), uniq(service) FROM one.run"), "2\t1\n")

    def test_labels(self):
        """Two commits are kept apart, and can be compared."""
        for capture, commit in ((ONE, "a'b\\"), (TWO, "b")):
            run("push", capture, "--to",
                self.url("labels", "service=shop&commit=" + urllib.parse.quote(commit)))
        one, two = (self.url("labels", "type=cpu&commit=" + urllib.parse.quote(commit))
                    for commit in ("a'b\\", "b"))
        self.assertEqual(top(one), top(ONE, "--measure", "cpu-time"))
        self.assertEqual(top(two), top(TWO, "--measure", "cpu-time"))
        self.assertEqual(
            json.loads(run("diff", "--json", one, two))["rows"],
            json.loads(run("diff", "--json", ONE, TWO, "--measure", "cpu-time"))["rows"])

    def test_again(self):
        """A capture that is in the store already is not added again."""
        run("push", ONE, "--to", self.url("again"))
        self.assertIn("the capture is there already",
                      run("push", ONE, "--to", self.url("again"), code=1))
        # Nor is one whose push failed before its run, or that two pushed at the same time.
        self.ask("INSERT INTO again.sample SELECT bitXor(run, 1), service, time, measure, unit,"
                 " stack, value FROM again.sample", post=True)
        before = top(ONE, "--measure", "cpu-time")
        self.assertEqual(top(self.url("again", "type=cpu")), before)
        self.ask("INSERT INTO again.run SELECT bitXor(id, 1), capture, time, duration, service,"
                 " host, command, keys, values FROM again.run", post=True)
        self.assertEqual(self.ask("SELECT count(), uniq(capture) FROM again.run"), "2\t1\n")
        self.assertEqual(top(self.url("again", "type=cpu")), before)

    def test_refused(self):
        self.assertIn("error 404", run("info", self.url("nowhere"), code=1))


if __name__ == "__main__":
    result = unittest.main(verbosity=2, exit=False).result
    reasons = {why for _, why in result.skipped}
    for why in reasons:
        print("ok 1 clickhouse # SKIP", why)
    sys.exit(not result.wasSuccessful() or (77 if reasons else 0))
