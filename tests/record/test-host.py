#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recording on another machine: an sshd of the test's own on loopback, clients of
containers that run their command here, and machines that answer anything.

  test-host.py [Ssh|Containers|Hostile][.test_NAME]..."""

import contextlib
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from ground_truth import ask, build, cli, recorder, traced, wait_until  # noqa: E402
import sshd  # noqa: E402

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
# Prints lines with their numbers and computes, about a minute or until it reads a
# line; at the end, its own CPU time.
COUNTING = """
import os, select, sys, time
print(os.getpid(), flush=True)
n = 0
while n < 60000 and not select.select([0], [], [], 0)[0]:
    sum(range(20000))
    print(n, "x" * 80, flush=True)
    n += 1
print(sys.stdin.readline().strip()[::-1])
print(time.process_time())
"""
# Prints that many MiB while a file exists.
LOUD = """
import os, sys, time
print("begins", flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
left = int(sys.argv[2]) << 20
while left > 0:
    left -= os.write(1, b"x" * min(left, 1 << 20))
os.rename(sys.argv[1], sys.argv[1] + ".printed")
time.sleep(1)
"""
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
        sshd.write_script(self.bin / name, text)

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


@unittest.skipUnless(sshd.IS_HERE, "openssh-server is not installed")
class Ssh(Case):
    def setUp(self):
        super().setUp()
        self.daemon = sshd.Sshd(self.scratch, self.there, self.bin)
        self.addCleanup(self.daemon.close)
        self.host = self.daemon.host
        wait_until(self.daemon.answers, "sshd does not begin")

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
        before = (folder / ".whole").stat().st_mtime_ns
        # Without the sanitizers' libraries.
        carried = [one for one in folder.iterdir() if "san.so" not in one.name]
        if len(carried) == len(list(folder.iterdir())):
            self.assertLess(sum(one.stat().st_size for one in carried), 24 << 20)
        # The recorder that was copied once is used again.
        self.out.unlink()
        self.assertEqual(self.record(self.host, "--", "true").returncode, 0)
        self.assertEqual((folder / ".whole").stat().st_mtime_ns, before)
        # A damaged one is replaced.
        library = folder / "libflambeau-alloc.so"
        content = library.read_bytes()
        library.write_bytes(content[:1000] + b"x" + content[1001:])
        (folder / "flambeau-recorder").write_bytes(b"")
        self.out.unlink()
        self.assertEqual(self.record(self.host, "--", "true").returncode, 0)
        self.assertEqual(library.read_bytes(), content)
        self.assertEqual([one.name for one in folder.parent.iterdir() if one != folder],
                         ["recordings"])
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

    def stream(self, *words, **options):
        """What ssh receives during a recording of a second and a half."""
        stream = self.scratch / "stream"
        self.daemon.client("user", "known", after=f"| tee {stream}")
        done = self.record(self.host, *words, "--duration", "1.5", "--mode", "wall", "--",
                           "sleep", "1.5", **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return stream.read_bytes()

    def test_status(self):
        """The recorder's status is sent only where somebody reads it."""
        self.assertNotIn(b"status ", self.stream())
        ours, theirs = socket.socketpair()
        with ours, theirs:
            self.assertIn(b"status ", self.stream(
                "--force", "--control-fd", str(theirs.fileno()), pass_fds=[theirs.fileno()]))
            self.assertIn(b"\nstatus ", ours.recv(1 << 16))

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
        self.interrupt()

    def test_stopped_client(self):
        """The same if somebody has stopped ssh."""
        self.interrupt(lambda: os.kill(self.daemon.client_process(), signal.SIGSTOP))

    def interrupt(self, before=lambda: None):
        said = self.scratch / "said"
        words = self.words(self.host, "--", sys.executable, "-c", PATIENT, said, "30")
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(words[0], [str(word) for word in words], self.environment)
        self.addCleanup(os.close, terminal)
        wait_until(lambda: said.exists() and said.read_text(), "the program does not begin")
        self.addCleanup(self.end, int(said.read_text()))
        before()
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

    def kill_ssh(self):
        """The newest one, which may not have begun yet."""
        def killed():
            with contextlib.suppress(ProcessLookupError, ValueError):
                os.kill(self.daemon.client_process(), signal.SIGKILL)
                return True
            return False

        wait_until(killed, "there is no ssh")

    def test_reconnect(self):
        """The connection is lost three times: the capture has the whole life of the program,
        its output arrives once and in order, and its input too."""
        printed = self.scratch / "printed"
        with printed.open("w") as output:
            client = subprocess.Popen(
                self.words(self.host, "--", sys.executable, "-c", COUNTING),
                env=self.environment, stdin=subprocess.PIPE, stdout=output,
                stderr=subprocess.PIPE, text=True)
        self.addCleanup(client.stderr.close)
        self.addCleanup(client.wait)
        self.addCleanup(client.kill)
        for _ in range(3):
            size = printed.stat().st_size
            wait_until(lambda size=size: printed.stat().st_size > size + 50000,
                       "nothing is printed")
            self.kill_ssh()
        client.stdin.write("desserts\n")
        client.stdin.flush()
        self.assertEqual(client.wait(timeout=30), 0)
        client.stdin.close()
        self.assertEqual(client.stderr.read(), "")
        pid, *lines, turned, own = printed.read_text().splitlines()
        self.assertEqual(turned, "stressed")
        self.assertEqual([int(line.split()[0]) for line in lines], list(range(len(lines))))
        info = self.info()
        self.assertTrue(info["complete"])
        self.assertEqual(info["processes"][0]["pid"], int(pid))
        measured = next(one for one in info["measures"] if one["id"] == "cpu-time")
        self.assertAlmostEqual(measured["total"] / 1e9, float(own), delta=0.15 * float(own))
        wait_until(lambda: not list((self.there / "flambeau/recordings").iterdir()),
                   "the capture there remains")

    def print_while_broken(self, size):
        """Bytes that arrive, and the client's messages, of a program that prints so many
        MiB while no connection is possible; it never waits for one."""
        printed, loud = self.scratch / "printed", self.scratch / f"loud-{size}"
        ssh = (self.bin / "ssh").read_text()
        with printed.open("w") as output:
            client = subprocess.Popen(
                [*self.words(self.host, "--force", "--", sys.executable, "-c", LOUD, loud, str(size))],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.PIPE, text=True)
        self.addCleanup(client.stderr.close)
        self.addCleanup(client.wait)
        self.addCleanup(client.kill)
        wait_until(lambda: printed.stat().st_size > 0, "nothing is printed")
        self.script("ssh", "exit 1")
        self.kill_ssh()
        loud.touch()
        wait_until(lambda: not loud.exists(), "the program waits")
        (self.bin / "ssh").write_text(ssh)
        self.assertEqual(client.wait(timeout=60), 0)
        self.assertTrue(self.info()["complete"])
        return printed.stat().st_size - len("begins\n"), client.stderr.read()

    def test_loud_while_broken(self):
        """Output of up to 16 MiB is kept; how much of more is missing is told."""
        self.assertEqual(self.print_while_broken(8), (8 << 20, ""))
        arrived, told = self.print_while_broken(40)
        missing = re.fullmatch(r"\S+: (\d+) bytes of the program's output are missing: it printed "
                               r"them while the connection was lost\n", told)
        self.assertIsNotNone(missing, told)
        self.assertEqual(arrived + int(missing[1]), 40 << 20)
        self.assertGreater(arrived, 15 << 20)

    def test_stays_broken(self):
        """Who cannot connect again is told where both captures are, in bounded time;
        Ctrl+C ends the wait."""
        client, pid = self.begin("--reconnect", "1", seconds="3")
        wait_until(lambda: self.out.exists() and self.samples() > 0, "nothing arrives")
        self.daemon.client("stranger", "known")
        self.kill_ssh()
        self.assertEqual(client.wait(timeout=30), 1)
        told = client.stderr.read()
        there = next((self.there / "flambeau/recordings").iterdir())
        self.assertRegex(told, r": the connection was lost; the program keeps running: .*Permission denied")
        self.assertIn(f"the whole capture is in {there} on that host", told)
        wait_until(lambda: self.info(there)["complete"], "the capture there is not completed")
        self.assertEqual((self.scratch / "said").read_text(), f"{pid} whole")

    def test_stopped_while_broken(self):
        client, _ = self.begin(seconds="3")
        wait_until(lambda: self.out.exists() and self.samples() > 0, "nothing arrives")
        self.script("ssh", "exit 1")
        self.kill_ssh()
        time.sleep(0.5)
        self.assertIsNone(client.poll())
        client.terminate()
        self.assertEqual(client.wait(timeout=30), 128 + signal.SIGTERM)

    def of_recorder(self):
        """The processes of what was copied there."""
        found = []
        for one in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if str(self.there).encode() in one.read_bytes():
                    found.append(one.parent.name)
        return found

    def test_killed_here(self):
        """Nobody can connect again: the recording there ends at once, the program goes
        on, and nothing of the recorder remains after it."""
        client, pid = self.begin(seconds="120")
        wait_until(lambda: self.out.exists() and self.samples() > 0, "nothing arrives")
        there = next((self.there / "flambeau/recordings").iterdir())
        client.kill()
        wait_until(lambda: self.info(there)["complete"], "the capture there is not completed")
        wait_until(lambda: not traced(pid), "it is still traced")
        os.kill(pid, signal.SIGINT)
        wait_until(lambda: not pathlib.Path(f"/proc/{pid}").exists(), "it does not end")
        wait_until(lambda: not self.of_recorder(), "the recorder still runs")

    @unittest.skipUnless(os.geteuid() == 0, "only root can mount a small disk")
    def test_full_disk_here(self):
        """The program goes on to its end, the capture remains there, and nothing waits
        for somebody who asks for it again."""
        folder = self.scratch / "small"
        folder.mkdir()
        self.out = folder / "out.flambeau"
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c",
             'mount -t tmpfs -o size=4k none "$0"; exec "$@"', folder,
             *self.words(self.host, "--", sys.executable, "-c", PROGRAM, "1")],
            env=self.environment, capture_output=True, text=True, timeout=60, input="desserts\n")
        self.assertEqual(done.returncode, 1, done.stderr)
        pid = done.stdout.split()[0]
        wait_until(lambda: not pathlib.Path(f"/proc/{pid}").exists(), "the program does not end")
        there = next((self.there / "flambeau/recordings").iterdir())
        self.assertIn(f"{self.out}: cannot be written: No space left on device; the capture "
                      f"remains on {self.host}: {there}\n", done.stderr)
        wait_until(lambda: self.info(there)["complete"], "the capture there is not completed")
        wait_until(lambda: not self.of_recorder(), "the recorder still runs")

    def test_gone(self):
        """The relay was killed: there is nothing to connect to."""
        client, pid = self.begin()
        wait_until(lambda: self.out.exists() and self.samples() > 0, "nothing arrives")
        os.kill(self.parent(self.parent(pid)), signal.SIGKILL)
        self.assertEqual(client.wait(timeout=30), 1)
        self.assertIn(": the connection was lost, and the recording on that host has ended", client.stderr.read())

    @staticmethod
    def parent(pid):
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        return int(status.split("PPid:")[1].split()[0])

    def test_list(self):
        with (subprocess.Popen(["sleep", "86417"]) as target,
              subprocess.Popen(["true"], stdout=subprocess.PIPE) as ended):
            self.addCleanup(target.kill)
            ended.stdout.read()
            wait_until(lambda: "State:\tZ" in
                       pathlib.Path(f"/proc/{ended.pid}/status").read_text(), "it has not ended")
            done = self.record(self.host, "--list")
            target.kill()
        self.assertEqual(done.returncode, 0, done.stderr)
        titles, *rows = [line.split("\t") for line in done.stdout.splitlines()]
        self.assertEqual(titles, ["PID", "PARENT", "SESSION", "BEGAN", "CPU%", "NAME",
                                  "COMMAND", "OBSTACLE"])
        row = next(row for row in rows if row[0] == str(target.pid))
        self.assertNotIn(str(ended.pid), [row[0] for row in rows])
        self.assertEqual(row[1], str(os.getpid()))
        self.assertEqual(row[5:7], ["sleep", "sleep 86417"])
        self.assertEqual({len(row) for row in rows}, {8})

    def fetch(self, path):
        return subprocess.run(
            [recorder, "--host", self.host, "--fetch", path, "--output", self.scratch / "a/b/c"],
            env=self.environment, capture_output=True, text=True, timeout=60)

    def test_fetch(self):
        source = self.scratch / "two $words' `id`.c"
        source.write_bytes(b"int\0 main\xff\n" * 1000)
        done = self.fetch(source)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual((self.scratch / "a/b/c").read_bytes(), source.read_bytes())
        (self.scratch / "a/b/c").unlink()
        os.mkfifo(self.scratch / "pipe")
        with (self.scratch / "large").open("wb") as large:
            large.truncate((16 << 20) + 1)
        for name, why in (("none", "no such file"),
                          ("pipe", "it is not a file that you may read"),
                          ("there", "it is not a file that you may read"),
                          ("large", "it is larger than 16 MiB")):
            done = self.fetch(self.scratch / name)
            self.assertEqual((done.returncode, done.stderr), (
                1, f"flambeau-recorder: {self.host}: {self.scratch / name}: {why}\n"))
        for name in "relative", "/a\nb":
            self.assertEqual(self.fetch(name).returncode, 1)
        self.assertFalse((self.scratch / "a/b/c").exists())

    def test_lost_connection(self):
        """Without reconnecting, the program goes on, unharmed by its closed output, and
        both captures are whole: what arrived here, and all of it there."""
        client, pid = self.begin("--reconnect", "0", seconds="3")
        wait_until(lambda: self.out.exists() and self.samples() > 0, "nothing arrives")
        self.kill_ssh()
        self.assertEqual(client.wait(timeout=30), 1)
        told = client.stderr.read()
        there = next((self.there / "flambeau/recordings").iterdir())
        self.assertIn(f"the whole capture is in {there} on that host", told)
        self.assertIn(f"the data received is in {self.out}", told)
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
        self.daemon.client("stranger", "known")
        told = self.sentence(self.record(self.host, "--", "true"))
        self.assertRegex(told, r": the recorder cannot be started there: .*Permission denied")

    def test_other_key(self):
        self.daemon.trust("wrong", "stranger")
        self.daemon.client("user", "wrong")
        told = self.sentence(self.record(self.host, "--", "true"))
        self.assertTrue(told.endswith("Host key verification failed."), told)

    def test_nobody_there(self):
        told = self.sentence(self.record(f"ssh://127.0.0.1:{sshd.free_port()}", "--", "true"))
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
        "adb:box": ["adb", "-s", "box", "shell", "-T"],
        "pod/box": ["kubectl", "exec", "--stdin", "pod/box", "--"],
    }

    def hold(self, host):
        name, *words = self.CLIENTS[host]
        checks = "\n".join(f"test \"$1\" = '{word}' || exit 90; shift" for word in words)
        # systemd replaces $$ by $.
        run = ("exec sh -c \"$(printf %s \"$3\" | sed 's/\\$\\$/$/g')\"" if name == "systemd-run"
               else 'exec sh -c "$*"' if name == "adb" else 'exec "$@"')
        self.script(name, f"{checks}\nexport XDG_CACHE_HOME='{self.there}'\n{run}")
        self.hold_program(host)

    def test_podman(self):
        self.hold("podman:box")

    def test_docker(self):
        self.hold("docker:box")

    def test_machine(self):
        self.hold("machine:box")

    def test_adb(self):
        self.hold("adb:box")

    def test_pod(self):
        self.hold("pod/box")

    def box(self, before):
        """A container in which these commands run first."""
        self.script("podman", f"shift 3\nexport XDG_CACHE_HOME='{self.there}'\n{before}")

    @unittest.skipUnless(os.geteuid() == 0, "only root can become somebody else")
    def test_not_permitted(self):
        """To attach to root's processes, there."""
        for path in self.scratch, self.there:
            path.chmod(0o755)
        os.chown(self.there, 65534, 65534)
        self.box('exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"')
        with subprocess.Popen(["sleep", "30"]) as target:
            self.addCleanup(target.kill)
            told = self.sentence(self.record("podman:box", "--pid", str(target.pid)))
            self.assertRegex(told, f"^flambeau-cli: podman:box: .*{target.pid}.*")
            self.assertIsNone(target.poll())
            listed = self.record("podman:box", "--list").stdout.splitlines()
            row = next(row for row in listed if row.startswith(f"{target.pid}\t"))
            self.assertTrue(row.endswith("\tBelongs to root"), row)
            target.kill()

    @unittest.skipUnless(os.geteuid() == 0, "only root can mount")
    def test_full_disk(self):
        """There: the program goes on to its end, and what was written is here."""
        folder = self.there / "flambeau/recordings"
        folder.mkdir(parents=True)
        self.box(f"""exec unshare --mount sh -c 'mount -t tmpfs -o size=8k none "$0"; exec "$@"' \
  '{folder}' "$@" """)
        done = self.record("podman:box", "--rate", "5000", "--", sys.executable, "-c",
                           PROGRAM, "2", stdin=None, input="desserts\n")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn(f"podman:box: the recorded data is in {self.out}: the capture cannot be "
                      "written: the disk is full", done.stderr)
        self.assertFalse(self.info()["complete"])

    @unittest.skipUnless(os.geteuid() == 0, "only root can mount")
    def test_full_disk_from_the_first_byte(self):
        """If no capture could be written there or here, no message names one."""
        folder = self.there / "flambeau/recordings"
        folder.mkdir(parents=True)
        self.box(f"""exec unshare --mount sh -c 'mount -t tmpfs -o size=4k none "$0"
  echo >"$0/other"; exec "$@"' '{folder}' "$@" """)
        done = self.record("podman:box", "--", sys.executable, "-c", PROGRAM, "0.1",
                           stdin=None, input="desserts\n")
        self.assertEqual((done.returncode, self.out.exists()), (7, False), done.stderr)
        self.assertEqual(done.stderr.replace("stressed\n", ""),
                         "flambeau-cli: podman:box: the capture cannot be written: the disk is "
                         "full: free some space, or write to another one\n")

    @unittest.skipUnless(os.geteuid() == 0, "only root can mount a small disk")
    def test_full_disk_at_first(self):
        """The recorder has no room: tar's last line is not the reason."""
        self.box(f"""exec unshare --mount sh -c 'mount -t tmpfs -o size=64k none "$0"; exec "$@"' \
  '{self.there}' "$@" """)
        told = self.sentence(self.record("podman:box", "--", "true"))
        self.assertIn("cannot be started there: tar: ", told)
        self.assertTrue(told.endswith("No space left on device"), told)

    def test_no_folder(self):
        """The name of what cannot be written is the one there."""
        (self.there / "flambeau").mkdir()
        (self.there / "flambeau/recordings").touch()
        self.box('exec "$@"')
        told = self.sentence(self.record("podman:box", "--", "true"))
        self.assertRegex(told, f"podman:box: {self.there}/flambeau/recordings/.*: cannot be written: Not a directory")

    @unittest.skipUnless(os.geteuid() == 0, "only root can change the root folder")
    @unittest.skipUnless(os.access("/bin/busybox", os.X_OK), "busybox is not installed")
    def test_no_library(self):
        """A system without any C library: what was carried there is sufficient."""
        root = self.there
        for name in "bin", "proc", "dev", "dev/shm", "tmp", "cache":
            (root / name).mkdir()
        shutil.copy("/bin/busybox", root / "bin")
        for name in "sh", "uname", "mkdir", "mktemp", "head", "tar", "gzip", "touch", "mv", "rm":
            (root / "bin" / name).symlink_to("busybox")
        (root / "dev/null").touch()
        self.script("podman", f"""shift 3
exec unshare --mount sh -c 'mount --bind /proc "$0/proc"; mount --bind /dev/null "$0/dev/null"
  exec chroot "$0" /bin/busybox env -i PATH=/bin XDG_CACHE_HOME=/cache "$@"' '{root}' "$@" """)
        done = self.record("podman:box", "--", "/bin/busybox", "sh", "-c",
                           "i=0; while test $i -lt 300000; do i=$((i+1)); done; exit 9")
        self.assertEqual((done.returncode, done.stderr), (9, ""))
        info = self.info()
        self.assertTrue(info["complete"])
        self.assertGreater(info["samples"], 50)
        done = self.record("podman:box", "--mode", "alloc", "--force", "--", "/bin/busybox", "true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("so its allocations cannot be recorded", done.stderr)


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
        self.assertIn("unexpected output while starting the recorder", told)

    def test_long_line(self):
        told = self.answer("exec cat /dev/zero")
        self.assertIn("cannot be started there", told)

    def test_machine(self):
        told = self.answer("echo flambeau-recorder: machine riscv64")
        self.assertTrue(told.endswith("the machine is riscv64, and the recorders here are only for x86_64"),
                        told)

    def test_garbage(self):
        told = self.answer("echo flambeau-recorder: begin; exec yes")
        self.assertIn("in place of a message of the recorder", told)

    def test_large_message(self):
        told = self.answer("echo flambeau-recorder: begin; printf 'D\\377\\377\\377\\377'")
        self.assertIn("in place of a message of the recorder", told)

    def test_nothing(self):
        told = self.answer("echo flambeau-recorder: begin")
        self.assertTrue(told.endswith("the recorder cannot be started there"), told)

    def test_not_executed(self):
        """As on a disk that is mounted with noexec."""
        told = self.answer("echo flambeau-recorder: begin; echo 'exec: Permission denied' >&2; exit 126")
        self.assertTrue(told.endswith("the recorder cannot be started there: exec: Permission denied"), told)

    def test_refuses_parcel(self):
        told = self.answer("echo flambeau-recorder: send $(uname -m); echo no space >&2; exit 1")
        self.assertTrue(told.endswith("there: no space"), told)

    def test_end_without_capture(self):
        self.script("podman", "echo flambeau-recorder: begin; printf 'X\\014'; "
                    "printf '\\003\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0'")
        done = self.record("podman:box", "--", "true")
        self.assertEqual((done.returncode, self.out.exists()), (3, False), done.stderr)

    def test_half_a_capture(self):
        """It has fewer bytes than it is said to have."""
        self.script("podman", "echo flambeau-recorder: begin; printf 'D\\3abc'; "
                    "printf 'X\\014\\0\\0\\0\\0\\5\\0\\0\\0\\0\\0\\0\\0'")
        done = self.record("podman:box", "--", "true")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "flambeau-cli: podman:box: only 3 of the capture's 5 bytes "
                         f"arrived, and are in {self.out}\n")

    @unittest.skipUnless(os.geteuid() == 0, "only root can mount a small disk")
    def test_endless_capture(self):
        """The disk here becomes full, and the other side goes on to send."""
        folder = self.scratch / "small"
        folder.mkdir()
        self.script("podman", "echo flambeau-recorder: begin; "
                    "yes $(printf 'D\\200\\001%0127d' 0) </dev/null")
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c",
             'mount -t tmpfs -o size=64k none "$0"; exec "$@"', folder,
             cli, "record", "--host", "podman:box", "--output", folder / "out", "--", "true"],
            env=self.environment, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (
            1, f"flambeau-cli: {folder}/out: cannot be written: No space left on device\n"))

    def test_stubborn(self):
        """It does not end at SIGTERM."""
        self.script("podman", "trap '' TERM; echo flambeau-recorder: begin; echo garbage; "
                    "exec sleep 60")
        self.assertIn("in place of a message", self.sentence(self.record("podman:box", "--", "true")))

    def test_names_of_theirs(self):
        """A name with a terminal's commands in it is text."""
        self.script("podman", "echo flambeau-recorder: begin; "
                    "printf 'F\\010/a\\033[2J\\rb'; printf 'D\\3abc'")
        done = self.record("podman:box", "--reconnect", "0", "--", "true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the whole capture is in /a [2J b on that host", done.stderr)
        self.assertNotIn("\033", done.stderr)

    def test_list_of_theirs(self):
        self.script("podman", "echo flambeau-recorder: begin; printf '1\\t\\033]0;x\\007\\377\\n'")
        done = self.record("podman:box", "--list")
        self.assertEqual((done.returncode, done.stdout), (0, "1\t ]0;x \ufffd\n"))

    def test_file_of_theirs(self):
        """Nothing is written of a file that does not arrive whole, or is endless."""
        for text in ("echo flambeau-recorder: file 5; echo abc",
                     "echo flambeau-recorder: file 99999999999; exec cat /dev/zero",
                     "echo flambeau-recorder: file -1", "exec cat /dev/zero",
                     "echo flambeau-recorder: link /etc/passwd"):
            self.script("podman", text)
            done = subprocess.run(
                [recorder, "--host", "podman:box", "--fetch", "/a", "--output", self.out],
                env=self.environment, capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), text)
            self.assertFalse(self.out.exists())

    def test_not_installed(self):
        self.environment["PATH"] = str(self.bin)
        told = self.sentence(self.record("docker:box", "--", "true"))
        self.assertEqual(told, "flambeau-cli: docker:box: docker is not installed here")

    def test_names(self):
        for host in "-oProxyCommand=x", "docker:", "docker:-x", "pod/-x", "a b", "":
            done = self.record(host, "--", "true")
            self.assertEqual(done.returncode, 2, host)
            self.assertIn("expected an SSH host", done.stderr)


if __name__ == "__main__":
    unittest.main()
