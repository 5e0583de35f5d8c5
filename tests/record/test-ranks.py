#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A job of ranks: each records itself into run-RANK.flambeau, all are opened as one,
and compared with the ranks' own measurements. The launchers' variables are set here,
as each of them sets them; a job of Open MPI's own mpirun is skipped where it is not
installed."""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from ground_truth import BOUND_WITHOUT_PRIORITY, build, cli  # noqa: E402

program = build / "tests/record/ranks"
MS = 1_000_000
# Of a rank's own CPU time; a sampler on a busy machine.
BOUND = 0.05 + BOUND_WITHOUT_PRIORITY
plain = {name: value for name, value in os.environ.items()
         if not name.startswith(("SLURM_", "OMPI_", "PMI", "PBS_", "PRTE_"))}
# On fewer CPUs than ranks.
MPIRUN = ["mpirun", "--oversubscribe"]
if os.getuid() == 0:
    MPIRUN.insert(1, "--allow-run-as-root")


def ask(*words, **more):
    done = subprocess.run([cli, *words], check=True, capture_output=True, text=True, **more)
    return done.stdout


def need_mpirun(test):
    if not shutil.which("mpirun"):
        test.skipTest("Open MPI's mpirun is not installed")


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
        # By parts of time, the same sum.
        self.assertEqual(sum(one["sum"] for one in balance["columns"]), balance["work"]["sum"])

    def test_as_one(self):
        """A rank selected from the whole equals that rank's file."""
        files = self.files
        whole = json.loads(ask("info", *files, "--json"))
        parts = [json.loads(ask("info", file, "--json")) for file in files]
        self.assertEqual([one["rank"] for one in whole["processes"]], [0, 1, 2, 3])
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
        self.assertLess(info["samples"], 400)


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
        self.assertIn("another job", self.refuse("top", "run-0.flambeau", "run-1.flambeau"))
        self.assertIn("not the capture of a rank",
                      self.refuse("top", "plain.flambeau", "run-1.flambeau"))
        self.assertIn("no ranks", self.refuse("balance", "plain.flambeau"))
        self.assertIn("no file with a number", self.refuse("top", "none-%r.flambeau"))
        self.assertEqual(sorted(file.name for file in self.scratch.iterdir()),
                         ["plain.flambeau", "run-0.flambeau", "run-1.flambeau"])

    def mpirun(self, n, *words, **more):
        return subprocess.run([*MPIRUN, "-n", str(n), *words], cwd=self.scratch, env=plain,
                              capture_output=True, text=True, timeout=120, **more)

    def test_mpi(self):
        """A job of eight ranks, folded by a job of three: by pattern and by list."""
        need_mpirun(self)
        done = self.mpirun(8, cli, "record", "--output", "run-%r.flambeau", "--", program, "40", "20")
        self.assertEqual(done.returncode, 0, done.stderr)
        files = sorted(self.scratch.glob("run-*.flambeau"))
        self.assertEqual(len(files), 8)
        balance = json.loads(ask("balance", *files, "--json"))
        self.assertEqual([one["rank"] for one in balance["ranks"]], list(range(8)))
        ask("merge", *files, "--fold", "--output", self.scratch / "one.flambeau")
        wanted = ask("export", self.scratch / "one.flambeau", "--to", "folded")
        for n, words in [(3, ["run-%r.flambeau"]), (8, [file.name for file in files]), (1, files)]:
            done = self.mpirun(n, cli, "merge", "--mpi", "--force", "--output", "all.flambeau", *words)
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            self.assertEqual(ask("export", self.scratch / "all.flambeau", "--to", "folded"), wanted)
        # One that cannot be read: nothing is written, and nobody waits for ever.
        files[5].write_bytes(b"")
        os.remove(self.scratch / "all.flambeau")
        done = self.mpirun(4, cli, "merge", "--mpi", "--output", "all.flambeau", *files)
        self.assertEqual(done.returncode, 1)
        self.assertIn("run-5.flambeau: the file is empty", done.stderr)
        self.assertFalse((self.scratch / "all.flambeau").exists())


if __name__ == "__main__":
    unittest.main()
