#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A job of ranks: each records itself into run-RANK.flambeau, all are opened as
one, and compared with the ranks' own measurements. The launchers'
variables are set here, as each of them sets them; then by the launchers themselves, as
far as they are installed: Open MPI, MPICH, and a Slurm of this machine alone."""

import collections
import contextlib
import json
import os
import pathlib
import pwd
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from ground_truth import BOUND_WITHOUT_PRIORITY, build, cli  # noqa: E402

program = build / "tests/record/ranks"
MS = 1_000_000
# Of a rank's own CPU time; a sampler on a busy machine.
BOUND = 0.05 + BOUND_WITHOUT_PRIORITY
plain = {name: value for name, value in os.environ.items()
         if not name.startswith(("SLURM_", "OMPI_", "PMI", "PBS_", "PRTE_"))}
# MPI's libraries keep memory to the end.
if "ASAN_OPTIONS" in plain:
    plain["ASAN_OPTIONS"] += ":detect_leaks=0"


def ask(*words, **more):
    done = subprocess.run([cli, *words], check=True, capture_output=True, text=True, **more)
    return done.stdout


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it did not happen in time")
        time.sleep(0.02)


def record(folder, variables, work, wait, output="run-%r.flambeau"):
    """The rank's own measurements, by function."""
    done = subprocess.run(
        [cli, "record", "--output", output, "--", program, str(work), str(wait)],
        cwd=folder, env=plain | variables, check=True, capture_output=True, text=True)
    _, compute, _, waited = done.stdout.split()
    return {"compute": int(compute), "MPI_Allreduce": int(waited)}


class Job(unittest.TestCase):
    """Four ranks on one host, of which rank 2 works twice as long as the others."""

    @classmethod
    def setUpClass(cls):
        cls.maxDiff = None
        folder = tempfile.TemporaryDirectory(prefix="flam-ranks.")
        cls.addClassCleanup(folder.cleanup)
        cls.scratch = pathlib.Path(folder.name)
        cls.truth = []
        for rank in range(4):
            work = 400 if rank == 2 else 200
            cls.truth.append(record(
                cls.scratch, {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "4",
                              "SLURM_JOB_ID": "77"}, work, 440 - work))
        cls.files = sorted(cls.scratch.glob("run-*.flambeau"))

    def hold(self, measured, found, whole):
        self.assertLess(abs(measured - found), max(BOUND * whole, 20 * MS), (measured, found))

    def test_balance(self):
        truth, files = self.truth, self.files
        self.assertEqual([file.name for file in files], [f"run-{i}.flambeau" for i in range(4)])
        balance = json.loads(ask("balance", *files, "--json"))
        by_pattern = json.loads(ask("balance", self.scratch / "run-%r.flambeau", "--json"))
        self.assertEqual(balance, by_pattern)
        self.assertEqual([one["rank"] for one in balance["ranks"]], [0, 1, 2, 3])
        for one, measured in zip(balance["ranks"], truth):
            self.assertEqual(one["host"], os.uname().nodename)
            self.hold(measured["compute"], one["work"], sum(measured.values()))
            self.hold(measured["MPI_Allreduce"], one["waits"], sum(measured.values()))
        self.assertEqual(balance["work"]["slowest_rank"], 2)
        totals = json.loads(ask("balance", *files, "--json", "--sort", "total"))["functions"]
        compute = next(one for one in totals if one["function"] == "compute")
        self.assertEqual(compute["slowest_rank"], 2)
        self.hold(sorted(one["compute"] for one in truth)[1], compute["median"], 440 * MS)
        self.hold(truth[2]["compute"], compute["slowest"], 440 * MS)
        self.assertNotIn("MPI_Allreduce", [one["function"] for one in totals])
        # By time slices, the same sum.
        self.assertEqual(sum(one["sum"] for one in balance["columns"]), balance["work"]["sum"])

    def test_as_one(self):
        """A rank selected from the whole equals that rank's file."""
        files = self.files
        whole = json.loads(ask("info", *files, "--json"))
        parts = [json.loads(ask("info", file, "--json")) for file in files]
        self.assertEqual([one["rank"] for one in whole["processes"]], [0, 1, 2, 3])
        # In whichever order they are given.
        turned = json.loads(ask("info", *files[::-1], "--json"))
        self.assertEqual([one["rank"] for one in turned["processes"]], [0, 1, 2, 3])
        threads = ask("tree", *files, "--by", "thread", "--depth", "1")
        self.assertEqual(sorted(re.findall(r"^  (rank \d): ", threads, re.M)),
                         [f"rank {rank}" for rank in range(4)])
        self.assertEqual(whole["samples"], sum(one["samples"] for one in parts))
        for rank, part in enumerate(parts):
            self.assertEqual(part["processes"][0]["rank"], rank)
            chosen = json.loads(ask("info", *files, "--json", "--rank", str(rank)))
            self.assertEqual(chosen["samples"], part["samples"])
            self.assertEqual(ask("export", *files, "--to", "folded", "--rank", str(rank)),
                             ask("export", files[rank], "--to", "folded"))
        # They ran one after the other, also in the whole.
        starts, length = [], sum(one["duration_ns"] for one in parts)
        for rank in range(4):
            chart = ask("dump", *files, "--stage", "chart", "--rank", str(rank))
            starts.append(min(map(int, re.findall(r" (\d+)\.\.\d+$", chart, re.M))))
        self.assertEqual(starts, sorted(starts))
        self.assertGreaterEqual(whole["duration_ns"], length)
        # Waits are a state of their own, also of one rank's file.
        top = json.loads(ask("top", files[0], "--json", "--states", "mpi", "--sort", "total"))
        self.assertIn("MPI_Allreduce", [row["function"] for row in top["rows"]])
        self.assertNotIn("compute", [row["function"] for row in top["rows"]])

    def test_fold(self):
        """Folded in any order and in pairs, the sums are those of all captures."""
        files = self.files
        sums = collections.Counter()
        for file in files:
            for line in ask("export", file, "--to", "folded").splitlines():
                stack, weight = line.rsplit(" ", 1)
                sums[stack] += int(weight)
        a, b, all_ = (self.scratch / name for name in ["a", "b", "all.flambeau"])
        ask("merge", files[3], files[1], "--fold", "--output", a)
        ask("merge", files[0], files[2], "--fold", "--output", b)
        ask("merge", a, b, "--fold", "--output", all_)
        folded = dict(line.rsplit(" ", 1) for line in ask("export", all_, "--to", "folded").splitlines())
        self.assertEqual({stack: int(weight) for stack, weight in folded.items()}, sums)
        info = json.loads(ask("info", all_, "--json"))
        self.assertEqual([one["name"] for one in info["processes"]], ["ranks"])
        self.assertEqual(info["samples"],
                         sum(json.loads(ask("info", file, "--json"))["samples"] for file in files))
        rows = re.findall(r"^  sample ", ask("dump", all_, "--stage", "profile"), re.M)
        self.assertLess(len(rows), 400)


class Launchers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="flam-ranks.")
        self.addCleanup(folder.cleanup)
        self.scratch = pathlib.Path(folder.name)

    def record(self, *words):
        return record(self.scratch, *words)

    def refuse(self, *words, **more):
        done = subprocess.run([cli, *words], capture_output=True, text=True, cwd=self.scratch,
                              env=more.get("env", plain))
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        return done.stderr

    def test_launchers(self):
        """Each launcher's variables, and the name of the capture."""
        for variables, name in [
            ({"PMIX_RANK": "3", "PMIX_NAMESPACE": "n.1/2"}, "3-n.1-2.flambeau"),
            ({"PMI_RANK": "12", "PMI_SIZE": "16", "PMI_JOBID": "kvs"}, "12-kvs.flambeau"),
            ({"SLURM_PROCID": "0", "SLURM_NTASKS": "1", "SLURM_JOB_ID": "9"}, "0-9.flambeau"),
            ({"OMPI_COMM_WORLD_RANK": "1", "SLURM_PROCID": "0", "SLURM_JOB_ID": "8"}, "1-8.flambeau"),
        ]:
            self.record(variables, 5, 5, "%r-%j.flambeau")
            info = json.loads(ask("info", self.scratch / name, "--json"))
            self.assertEqual(info["processes"][0]["rank"], int(name.split("-")[0]))

    def test_refused(self):
        self.record({}, 5, 5, "plain.flambeau")
        self.record({"PMI_RANK": "0", "PMI_JOBID": "a"}, 5, 5)
        self.record({"PMI_RANK": "1", "PMI_JOBID": "b"}, 5, 5)
        self.assertIn("this process has none", self.refuse(
            "record", "--output", "x-%r.flambeau", "--", program, "5", "5"))
        self.assertIn("a different job", self.refuse("top", "run-0.flambeau", "run-1.flambeau"))
        self.assertIn("not the capture of a rank",
                      self.refuse("top", "plain.flambeau", "run-1.flambeau"))
        self.assertIn("not the capture of a parallel job", self.refuse("balance", "plain.flambeau"))
        self.assertIn("no file has a number", self.refuse("top", "none-%r.flambeau"))
        (self.scratch / "cut.flambeau").write_bytes(
            (self.scratch / "run-1.flambeau").read_bytes()[:400])
        self.assertIn("cut off before its rank",
                      self.refuse("balance", "cut.flambeau", "run-0.flambeau"))
        (self.scratch / "cut.flambeau").unlink()
        self.assertEqual(sorted(file.name for file in self.scratch.iterdir()),
                         ["plain.flambeau", "run-0.flambeau", "run-1.flambeau"])


class Launched:
    """A job whose ranks a launcher starts."""
    NAME = None  # of what is missing
    environment = plain

    def setUp(self):
        if not self.is_there():
            self.skipTest(f"{self.NAME} is not installed")
        folder = tempfile.TemporaryDirectory(prefix="flam-ranks.")
        self.addCleanup(folder.cleanup)
        self.scratch = pathlib.Path(folder.name)

    def start(self, n, *words):
        return subprocess.run([*self.launcher(n), *words], cwd=self.scratch, env=self.environment,
                              capture_output=True, text=True, timeout=120)

    def good(self, n, *words):
        done = self.start(n, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def record(self, n, output):
        """The captures, in the order of the ranks."""
        truth = self.good(n, cli, "record", "--output", output, "--", program, "40", "20")
        files = list(self.scratch.glob("*.flambeau"))
        self.assertEqual(len(files), n)
        self.assertEqual(truth.count("compute"), n)
        balance = json.loads(ask("balance", *files, "--json"))
        self.assertEqual([one["rank"] for one in balance["ranks"]], list(range(n)))
        self.assertEqual({one["host"] for one in balance["ranks"]}, {os.uname().nodename})
        return sorted(files, key=lambda file: int(re.search(r"\d+", file.name)[0]))

    def hold_merge(self, files):
        """Folded by jobs of several sizes, by pattern and by list."""
        ask("merge", *files, "--fold", "--output", self.scratch / "one.flambeau")
        wanted = ask("export", self.scratch / "one.flambeau", "--to", "folded")
        for n, words in [(3, ["run-%r.flambeau"]), (len(files), [file.name for file in files]),
                         (1, files)]:
            self.assertEqual("", self.good(n, cli, "merge", "--mpi", "--force", "--output",
                                           "all.flambeau", *words))
            self.assertEqual(ask("export", self.scratch / "all.flambeau", "--to", "folded"), wanted)
        # One that cannot be read: nothing is written, and nobody waits for ever.
        files[-1].write_bytes(b"")
        os.remove(self.scratch / "all.flambeau")
        done = self.start(3, cli, "merge", "--mpi", "--output", "all.flambeau", *files)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"{files[-1].name}: the file is empty", done.stderr)
        self.assertFalse((self.scratch / "all.flambeau").exists())
        # None of the processes has any.
        done = self.start(3, cli, "merge", "--mpi", "--output", "all.flambeau", "other-%r.flambeau")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("other-%r.flambeau: has no captures", done.stderr)
        self.assertFalse((self.scratch / "all.flambeau").exists())


class OpenMpi(Launched, unittest.TestCase):
    NAME = "Open MPI (openmpi-bin)"

    def is_there(self):
        return shutil.which("mpirun.openmpi")

    def launcher(self, n):
        # On fewer CPUs than ranks.
        as_root = ["--allow-run-as-root"] if os.getuid() == 0 else []
        return ["mpirun.openmpi", *as_root, "--oversubscribe", "-n", str(n)]

    def test_job(self):
        self.hold_merge(self.record(8, "run-%r.flambeau"))


class Mpich(Launched, unittest.TestCase):
    NAME = "MPICH (mpich)"

    def is_there(self):
        return shutil.which("mpiexec.mpich")

    def launcher(self, n):
        return ["mpiexec.mpich", "-n", str(n)]

    def test_job(self):
        self.hold_merge(self.record(4, "run-%r.flambeau"))

    def test_alone(self):
        """A process that does not find the others does not write what is theirs."""
        files = self.record(2, "run-%r.flambeau")
        done = subprocess.run(
            [cli, "merge", "--mpi", "--output", "all.flambeau", *files], cwd=self.scratch,
            env=plain | {"PMI_RANK": "0", "PMI_SIZE": "2"}, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertIn("the job has 2 processes, but MPI finds only this one", done.stderr)
        self.assertFalse((self.scratch / "all.flambeau").exists())


SLURM = """ClusterName=flambeau
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
PlugStackConfig={folder}/plugins
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SwitchType=switch/none
MpiDefault=none
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=4
PartitionName=test Nodes=ALL Default=YES State=UP
"""
DAEMONS = {name: shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin")
           for name in ["munged", "slurmctld", "slurmd"]}


class Slurm(Launched, unittest.TestCase):
    """Of this machine alone, with its own configuration, keys and ports."""
    NAME = "Slurm (slurmctld, slurmd, slurm-client, munge)"

    @classmethod
    def is_there(cls):
        return all(DAEMONS.values()) and shutil.which("srun")

    @classmethod
    def setUpClass(cls):
        if not cls.is_there():
            return
        folder = tempfile.TemporaryDirectory(prefix="flam-slurm.")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        for name in "state", "spool":
            (cls.folder / name).mkdir()
        (cls.folder / "plugins").touch()
        key = cls.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        ports = []
        with contextlib.ExitStack() as probes:
            for _ in range(2):
                probe = probes.enter_context(socket.socket())
                probe.bind(("127.0.0.1", 0))
                ports.append(probe.getsockname()[1])
        config = cls.folder / "slurm.conf"
        config.write_text(SLURM.format(folder=cls.folder, host=os.uname().nodename, ports=ports,
                                       user=pwd.getpwuid(os.getuid()).pw_name))
        cls.environment = plain | {"SLURM_CONF": str(config)}
        # The socket's folder is nobody else's, which it warns about.
        cls.spawn("munged", "--foreground", "--force", "--num-threads=2", f"--key-file={key}",
                  *(f"--{name}={cls.folder}/munge.{name.split('-')[0]}"
                    for name in ["socket", "pid-file", "log-file", "seed-file"]))
        wait_for(lambda: (cls.folder / "munge.socket").exists())
        cls.spawn("slurmctld", "-D")
        cls.spawn("slurmd", "-D")
        try:
            wait_for(lambda: cls.ask_state() == "idle")
        except AssertionError:
            log = (cls.folder / "log").read_text(errors="replace")
            raise unittest.SkipTest("Slurm does not start here: " + log[-400:]) from None

    @classmethod
    def spawn(cls, name, *words):
        with open(cls.folder / "log", "ab") as log:
            process = subprocess.Popen([DAEMONS[name], *words], cwd=cls.folder, stdout=log,
                                       stderr=log, env=cls.environment)
        cls.addClassCleanup(process.wait)
        cls.addClassCleanup(process.kill)

    @classmethod
    def ask_state(cls):
        done = subprocess.run(["sinfo", "--noheader", "--format", "%T"], capture_output=True,
                              text=True, env=cls.environment)
        return done.stdout.strip()

    def launcher(self, n):
        return ["srun", "--overcommit", "-n", str(n)]

    def test_job(self):
        """The name has the rank, the job's number and the host; so has the capture."""
        files = self.record(4, "%r-%j-%h.flambeau")
        job = files[0].name.split("-")[1]
        self.assertRegex(job, r"^\d+$")
        self.assertEqual([file.name for file in files],
                         [f"{i}-{job}-{os.uname().nodename}.flambeau" for i in range(4)])
        self.assertEqual(json.loads(ask("info", *files, "--json"))["job"], job)
        self.assertRegex(ask("info", files[2]), rf"(?m)^job +{job}$")
        self.good(1, cli, "record", "--output", "next.flambeau", "--", program, "5", "5")
        done = subprocess.run([cli, "top", files[1], self.scratch / "next.flambeau"],
                              capture_output=True, text=True)
        self.assertIn("a different job", done.stderr)

    @unittest.skipUnless(shutil.which("mpiexec.mpich"), "MPICH (mpich) is not installed")
    def test_fold(self):
        """Slurm introduces the processes to each other, as MPICH expects it."""
        files = self.record(4, "run-%r.flambeau")
        ask("merge", *files, "--fold", "--output", self.scratch / "one.flambeau")
        done = subprocess.run(
            ["srun", "--mpi=pmi2", "--overcommit", "-n", "3", cli, "merge", "--mpi", "--output",
             "all.flambeau", "run-%r.flambeau"],
            cwd=self.scratch, env=self.environment, capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertEqual(*(ask("export", self.scratch / name, "--to", "folded")
                           for name in ["one.flambeau", "all.flambeau"]))


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    for number, why in enumerate(sorted({why for _, why in result.skipped}), 1):
        print(f"ok {number} ranks # SKIP", why)
    sys.exit(not result.wasSuccessful())
