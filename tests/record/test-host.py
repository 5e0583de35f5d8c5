#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recording on another machine: an sshd of the test's own on loopback, clients of
containers that run their command here, and machines that answer anything.

  test-host.py [Ssh|Containers|Hostile][.test_NAME]..."""

import contextlib
import getpass
import json
import os
import pathlib
import pty
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from ground_truth import ask, build, cli, traced, wait_until  # noqa: E402

SSHD = shutil.which("sshd") or "/usr/sbin/sshd"

# Prints its process, copies a line, computes, and prints its own CPU time.
PROGRAM = """
import os, sys, time
print(os.getpid(), flush=True)
print(sys.stdin.readline().strip()[::-1], file=sys.stderr, flush=True)
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    sum(range(1000))
print(time.process_time())
sys.exit(7)
"""
# It ends with 5 on SIGINT and with 6 on SIGTERM; never by a closed pipe.
PATIENT = """
import os, signal, sys, time
signal.signal(signal.SIGINT, lambda *_: sys.exit(5))
signal.signal(signal.SIGTERM, lambda *_: sys.exit(6))
open(sys.argv[1], "w").write(str(os.getpid()))
end = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    print(sum(range(1000)), flush=True)
    time.sleep(0.001)
open(sys.argv[1], "a").write(" whole")
"""


def free_port():
    with contextlib.closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Case(unittest.TestCase):
    THERE = "there"

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="flam-host.")
        self.addCleanup(folder.cleanup)
        self.scratch = pathlib.Path(folder.name)
        self.there = self.scratch / self.THERE
        self.there.mkdir()
        self.bin = self.scratch / "bin"
        self.bin.mkdir()
        self.environment = dict(os.environ, PATH=f"{self.bin}:{os.environ['PATH']}")
        self.out = self.scratch / "out.flambeau"

    def script(self, name, text):
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def words(self, host, *words):
        return [cli, "record", "--host", host, "--output", self.out, *words]

    def record(self, host, *words, **options):
        return subprocess.run(
            self.words(host, *words), env=self.environment, capture_output=True,
            text=True, timeout=60, **{"stdin": subprocess.DEVNULL, **options})

    def info(self, capture=None):
        return ask("info", capture or self.out)

    def hold_program(self, host):
        """The program's own input, output, error and status; its CPU time; names."""
        done = self.record(host, "--", sys.executable, "-c", PROGRAM, "0.6",
                           stdin=None, input="desserts\n")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual(done.stderr, "stressed\n")
        pid, own = done.stdout.split()
        info = self.info()
        self.assertTrue(info["complete"])
        self.assertEqual(info["processes"][0]["pid"], int(pid))
        measured = next(one for one in info["measures"] if one["id"] == "cpu-time")
        self.assertAlmostEqual(measured["total"] / 1e9, float(own), delta=0.15 * float(own))
        rows = ask("top", self.out)["rows"]
        self.assertTrue([row for row in rows if row["function"] == "<module>"], rows)
        self.assertEqual(list((self.there / "flambeau/recordings").iterdir()), [])

    def sentence(self, done):
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertFalse(self.out.exists())
        return done.stderr.rstrip("\n")


@unittest.skipUnless(os.access(SSHD, os.X_OK), "openssh-server is not installed")
class Ssh(Case):
    @classmethod
    def setUpClass(cls):
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", 0o755, exist_ok=True)
        folder = tempfile.TemporaryDirectory(prefix="flam-sshd.")
        cls.addClassCleanup(folder.cleanup)
        cls.keys = pathlib.Path(folder.name)
        for name in "server", "user", "stranger":
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", cls.keys / name],
                           check=True)
        cls.server = (cls.keys / "server.pub").read_text()

    def setUp(self):
        super().setUp()
        self.port = free_port()
        shutil.copy(self.keys / "user.pub", self.scratch / "allowed")
        config = self.scratch / "sshd_config"
        config.write_text(f"""
ListenAddress 127.0.0.1
Port {self.port}
HostKey {self.keys}/server
AuthorizedKeysFile {self.scratch}/allowed
PidFile none
StrictModes no
UsePAM no
PermitRootLogin yes
SetEnv "XDG_CACHE_HOME={self.there}"
""")
        daemon = subprocess.Popen([SSHD, "-D", "-e", "-f", config], stderr=subprocess.DEVNULL)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.terminate)
        self.host = f"ssh://{getpass.getuser()}@127.0.0.1:{self.port}"
        (self.scratch / "known").write_text(f"[127.0.0.1]:{self.port} {self.server}")
        self.client("user", "known")

        def answers():
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port)).close()
                return True
            return daemon.poll() is not None

        wait_until(answers, "sshd does not begin")

    def client(self, key, known):
        """The system's ssh, with the test's keys and none of the user's settings."""
        self.script("ssh", f"""echo $$ >{self.scratch}/client
exec /usr/bin/ssh -F none -i {self.keys}/{key} -o IdentitiesOnly=yes -o BatchMode=yes \
  -o UserKnownHostsFile={self.scratch}/{known} -o GlobalKnownHostsFile=none "$@" """)

    def begin(self, *words, seconds="30"):
        """A program that is recorded and runs; the client's process, and it."""
        said = self.scratch / "said"
        client = subprocess.Popen(
            self.words(self.host, *words, "--", sys.executable, "-c", PATIENT, said, seconds),
            env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(client.stderr.close)
        self.addCleanup(client.wait)
        self.addCleanup(client.kill)
        wait_until(lambda: said.exists() and said.read_text() or client.poll() is not None,
                   "the program does not begin")
        self.assertIsNone(client.poll())
        pid = int(said.read_text())
        self.addCleanup(self.end, pid)
        return client, pid

    @staticmethod
    def end(pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def test_program(self):
        self.hold_program(self.host)
        folder = next((self.there / "flambeau").glob("recorder-*"))
        before = (folder / "whole").stat().st_mtime_ns
        # Without the sanitizers' libraries.
        carried = [one for one in folder.iterdir() if "san.so" not in one.name]
        if len(carried) == len(list(folder.iterdir())):
            self.assertLess(sum(one.stat().st_size for one in carried), 24 << 20)
        # The recorder that was copied once is used again.
        self.out.unlink()
        self.assertEqual(self.record(self.host, "--", "true").returncode, 0)
        self.assertEqual((folder / "whole").stat().st_mtime_ns, before)
        done = self.record(self.host, "--remove-recorder")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertFalse(folder.exists())

    def test_arguments(self):
        target = build / "tests/record/given"
        words = ["two words", "two\nlines", "", b"\xff\xfe not UTF-8", "$HOME", "`id` ; 'a\"b",
                 "--output", "*"]
        done = self.record(self.host, "--", target, "arguments", *words)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_environment(self):
        names = ("import os; print(sorted(n for n in os.environ if 'FLAM' in n or 'GIO' in n), "
                 "os.environ['GIVEN'])")
        done = self.record(self.host, "--env", "GIVEN=a b", "--mode", "alloc", "--exact", "--",
                           sys.executable, "-c", names)
        self.assertEqual(done.stdout, "[] a b\n", done.stderr)
        allocated = [one for one in self.info()["measures"] if one["id"] == "allocations"]
        self.assertGreater(allocated[0]["total"], 1000)

    def test_live(self):
        """The recording arrives here while the program runs."""
        self.begin()
        wait_until(lambda: self.out.exists() and self.samples() > 100, "nothing arrives")

    def samples(self):
        done = subprocess.run([cli, "info", self.out, "--json"], capture_output=True, text=True)
        return json.loads(done.stdout)["samples"] if done.returncode == 0 else 0

    def test_attach(self):
        with subprocess.Popen(["sleep", "30"]) as target:
            self.addCleanup(target.kill)
            done = self.record(self.host, "--pid", str(target.pid), "--duration", "0.5",
                               "--mode", "wall")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIsNone(target.poll())
            self.assertEqual(self.info()["processes"][0]["pid"], target.pid)
            target.kill()

    def test_interrupt(self):
        """Ctrl+C of the terminal here reaches the program there."""
        said = self.scratch / "said"
        words = self.words(self.host, "--", sys.executable, "-c", PATIENT, said, "30")
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(words[0], [str(word) for word in words], self.environment)
        self.addCleanup(os.close, terminal)
        wait_until(lambda: said.exists() and said.read_text(), "the program does not begin")
        self.addCleanup(self.end, int(said.read_text()))
        os.write(terminal, b"\x03")
        with contextlib.suppress(OSError):
            while os.read(terminal, 65536):
                pass
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 5)
        self.assertTrue(self.info()["complete"])

    def test_terminate(self):
        client, pid = self.begin()
        client.terminate()
        self.assertEqual(client.wait(timeout=30), 128 + signal.SIGTERM)
        wait_until(lambda: not pathlib.Path(f"/proc/{pid}").exists(), "the program goes on")
        self.assertTrue(self.info()["complete"])

    def test_broken_line(self):
        """The program goes on, unharmed by its closed output, and both captures
        are intact: the received part here, and the whole one there."""
        client, pid = self.begin(seconds="3")
        wait_until(lambda: self.out.exists() and self.samples() > 0, "nothing arrives")
        os.kill(int((self.scratch / "client").read_text()), signal.SIGKILL)
        self.assertEqual(client.wait(timeout=30), 1)
        told = client.stderr.read()
        there = next((self.there / "flambeau/recordings").iterdir())
        self.assertIn(f"the whole capture in {there} there", told)
        self.assertIn(f"what was received is in {self.out}", told)
        wait_until(lambda: not traced(pid), "it is still traced")
        wait_until(lambda: (self.scratch / "said").read_text() == f"{pid} whole",
                   "the program was ended")
        wait_until(lambda: self.info(there)["complete"], "the capture there is not completed")
        self.assertGreater(self.info()["samples"], 0)

    def test_not_found(self):
        told = self.sentence(self.record(self.host, "--", "/nonexistent/program"))
        self.assertEqual(
            told, f"flambeau-cli: {self.host}: /nonexistent/program: no such program")

    def test_stranger(self):
        self.client("stranger", "known")
        told = self.sentence(self.record(self.host, "--", "true"))
        self.assertRegex(told, r": the recorder cannot be started there: .*Permission denied")

    def test_other_key(self):
        other = (self.keys / "stranger.pub").read_text()
        (self.scratch / "wrong").write_text(f"[127.0.0.1]:{self.port} {other}")
        self.client("user", "wrong")
        told = self.sentence(self.record(self.host, "--", "true"))
        self.assertTrue(told.endswith("Host key verification failed."), told)

    def test_nobody_there(self):
        told = self.sentence(self.record(f"ssh://127.0.0.1:{free_port()}", "--", "true"))
        self.assertIn("Connection refused", told)

    def test_no_room(self):
        (self.there / "flambeau").write_text("a file where the folder was to be")
        told = self.sentence(self.record(self.host, "--", "true"))
        self.assertRegex(told, r": the recorder cannot be (started|copied) there: mkdir: ")


class Containers(Case):
    THERE = "a cache"
    # The words with which each client is started, before the command.
    CLIENTS = {
        "podman:box": ["podman", "exec", "-i", "box"],
        "docker:box": ["docker", "exec", "-i", "box"],
        "machine:box": ["systemd-run", "--machine=box", "--pipe", "--wait", "--quiet",
                        "--collect", "--"],
        "pod/box": ["kubectl", "exec", "--stdin", "pod/box", "--"],
    }

    def hold(self, host):
        name, *words = self.CLIENTS[host]
        checks = "\n".join(f"test \"$1\" = '{word}' || exit 90; shift" for word in words)
        # systemd replaces $$ by $.
        run = ("exec sh -c \"$(printf %s \"$3\" | sed 's/\\$\\$/$/g')\"" if name == "systemd-run"
               else 'exec "$@"')
        self.script(name, f"{checks}\nexport XDG_CACHE_HOME='{self.there}'\n{run}")
        self.hold_program(host)

    def test_podman(self):
        self.hold("podman:box")

    def test_docker(self):
        self.hold("docker:box")

    def test_machine(self):
        self.hold("machine:box")

    def test_pod(self):
        self.hold("pod/box")


class Hostile(Case):
    """A client that prints anything in place of the recorder's answers."""

    def answer(self, text):
        self.script("podman", text)
        done = self.record("podman:box", "--", "true")
        return self.sentence(done)

    def test_silent(self):
        self.assertEqual(self.answer("exit 0"),
                         "flambeau-cli: podman:box: the recorder cannot be started there")

    def test_error(self):
        told = self.answer("printf 'no such container\\033[2J\\n' >&2; exit 125")
        self.assertTrue(told.endswith(": no such container [2J"), told)

    def test_banners(self):
        told = self.answer("exec yes")
        self.assertIn("prints something else", told)

    def test_long_line(self):
        told = self.answer("exec cat /dev/zero")
        self.assertIn("cannot be started there", told)

    def test_machine(self):
        told = self.answer("echo flambeau-recorder: machine riscv64")
        self.assertTrue(told.endswith("is a riscv64; the recorder runs on x86_64 alone"), told)

    def test_garbage(self):
        told = self.answer("echo flambeau-recorder: begin; exec yes")
        self.assertIn("does not come from the recorder", told)

    def test_large_message(self):
        told = self.answer("echo flambeau-recorder: begin; printf 'D\\377\\377\\377\\377'")
        self.assertIn("does not come from the recorder", told)

    def test_nothing(self):
        told = self.answer("echo flambeau-recorder: begin")
        self.assertIn("the line broke", told)

    def test_refuses_parcel(self):
        told = self.answer("echo flambeau-recorder: send; echo no space >&2; exit 1")
        self.assertTrue(told.endswith("there: no space"), told)

    def test_end_without_capture(self):
        self.script("podman", "echo flambeau-recorder: begin; printf 'X\\014\\0\\0\\0'; "
                    "printf '\\003\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0'")
        done = self.record("podman:box", "--", "true")
        self.assertEqual((done.returncode, self.out.exists()), (3, False), done.stderr)

    def test_not_installed(self):
        self.environment["PATH"] = str(self.bin)
        told = self.sentence(self.record("docker:box", "--", "true"))
        self.assertEqual(told, "flambeau-cli: docker:box: docker is not installed here")

    def test_names(self):
        for host in "-oProxyCommand=x", "docker:", "docker:-x", "pod/-x", "a b", "":
            done = self.record(host, "--", "true")
            self.assertEqual(done.returncode, 2, host)
            self.assertIn("expected a host of ssh", done.stderr)


if __name__ == "__main__":
    unittest.main()
