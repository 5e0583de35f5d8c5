# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings compared with the recorded program's own measurements: the programs of
targets/ground-truth read their threads' CPU clocks around each of their parts, and
print the time of each at their end (truth.h).

measure() runs one of them under a condition and returns its figures, ours, and those
of perf's cpu-clock for the same run. Used by test-ground-truth.py and by
tests/bench/bench-shares."""

import atexit
import collections
import contextlib
import dataclasses
import functools
import json
import math
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import dotnets

# When started manually, it uses the build of tests/run.
root = pathlib.Path(__file__).resolve().parent.parent.parent
build = pathlib.Path(os.environ.get("FLAM_BUILD_ROOT", root / "_test"))
os.environ.setdefault("FLAMBEAU_ALLOC_LIB", str(build / "app/record/preload/libflambeau-alloc.so"))
recorder = os.environ.get("FLAMBEAU_RECORDER", str(build / "app/record/flambeau-recorder"))
cli = os.environ.get("FLAM_CLI", str(build / "app/cli/flambeau-cli"))
scripts = pathlib.Path(__file__).resolve().parent / "targets/ground-truth"

C_PROGRAMS = ["burst", "calls", "echo", "forking", "piped", "pool", "remap", "requests", "ticks", "server", "squeeze",
              "uneven"]
PROGRAMS = C_PROGRAMS + ["burst.py", "burst.js", "burst.java", "kinds.java", "burst.cs", "burst.rb",
                         "burst.php", "burst.pl", "burst.lua", "burst.erl", "burst.scm"]
MODES = ["cpu", "both", "wall"]
RATES = [100, 997, 5000]
# The allowed error of a function's share; with others that use the CPU.
BOUND, BOUND_LOADED = 0.03, 0.05
# Without real-time priority the recorder cannot take the CPU from the program at a
# random moment: the first part of short lives has up to 9 points too few.
# recording.c has the same.
BOUND_WITHOUT_PRIORITY = 0.1
# A machine is loaded if others use this share of its CPUs, or if the program waited
# for a CPU for this part of the time it ran.
MUCH = 0.1
# A function with less than this is not checked.
LEAST = 0.05
# Functions whose CPU time is the kernel's, on the way into waits and back.
WAITS = {"ask_all", "await", "await_job", "await_tick", "feed", "fetch", "main::rest", "post_jobs",
         "read_request", "respond", "rest", "store", "write_answer"}

# linux/capability.h.
CAP_SYS_ADMIN, CAP_BPF = 21, 39

# The interpreters of programs by suffix: names of commands.
INTERPRETERS = {
    ".cs": ["dotnet"],
    ".erl": ["erl"],
    ".java": ["java"],
    ".js": ["node"],
    ".lua": ["lua5.4", "lua5.3", "lua5.2", "lua5.1", "luajit"],
    ".php": ["php"],
    ".pl": ["perl"],
    ".py": [sys.executable],
    ".rb": ["ruby"],
    ".scm": ["guile"],
}
COMPILERS = {".erl": ["erlc", "-o"], ".java": ["javac", "-d"], ".scm": ["guild", "compile", "-o"]}
# The only thread with work of Erlang is a scheduler that sleeps when it has none.
ERLANG = ["-noshell", "+S", "1:1", "+sbwt", "none", "+sbwtdcpu", "none", "+sbwtdio", "none"]


def interpreters(suffix):
    """The installed ones."""
    return list(filter(None, map(shutil.which, INTERPRETERS[suffix])))


def interpreter(suffix):
    """None: it is not installed."""
    own = os.environ.get("FLAM_NODE") if suffix == ".js" else None
    return own or next(iter(interpreters(suffix)), None)


@functools.cache
def compiled(source):
    """A folder with the compiled program; None without a compiler."""
    words = COMPILERS[source.suffix]
    if not shutil.which(words[0]):
        return None
    folder = tempfile.TemporaryDirectory(prefix="flam-compiled.")
    atexit.register(folder.cleanup)
    made = f"{folder.name}/{source.stem}.go" if source.suffix == ".scm" else folder.name
    subprocess.run([*words, made, source], check=True, stdout=subprocess.DEVNULL,
                   env=dict(os.environ, GUILE_AUTO_COMPILE="0"))
    return folder.name


def script_command(script, runs=None, flags=()):
    """`runs`: the interpreter; None: that of PATH. Returns None if it, or the
    compiler, is not installed."""
    runs = shutil.which(runs) if runs else interpreter(script.suffix)
    if script.suffix == ".cs":
        return runs and dotnets.program(script, runs)
    folder = compiled(script) if script.suffix in COMPILERS else ""
    if not runs or folder is None:
        return None
    if script.suffix == ".java":
        return [runs, "-XX:CompileCommand=quiet", "-XX:CompileCommand=exclude,Kinds::descend",
                "-cp", folder, script.stem.capitalize()]
    if script.suffix == ".erl":
        return [runs, *ERLANG, "-pa", folder, "-run", script.stem, "start"]
    if script.suffix == ".scm":
        return [runs, "--no-auto-compile", "-c", f'(load-compiled "{folder}/{script.stem}.go")']
    return [runs, *flags, script]


@functools.cache
def haskell_program(source):
    """The program as compiled by ghc; None without ghc."""
    if not shutil.which("ghc"):
        return None
    folder = tempfile.TemporaryDirectory(prefix="flam-haskell.")
    atexit.register(folder.cleanup)
    made = pathlib.Path(folder.name) / "burst"
    subprocess.run(["ghc", "-v0", "-O1", "-outputdir", folder.name, "-o", made, source], check=True)
    return made


def command(program, seconds, with_perf=False, runs=None):
    """None: its interpreter is not installed. perf needs a map of V8's code."""
    if program.endswith(".hs"):
        made = haskell_program(scripts / program)
        return made and [made, str(seconds)]
    if pathlib.Path(program).suffix in INTERPRETERS:
        v8 = with_perf and program.endswith(".js")
        flags = ["--perf-basic-prof", "--no-logfile-per-isolate"] if v8 else []
        words = script_command(scripts / program, runs, flags)
        return words and [*words, str(seconds)]
    return [build / "tests/record" / f"truth-{program}", str(seconds)]


@dataclasses.dataclass
class Condition:
    program: str
    mode: str = "cpu"
    rate: int = 997
    attached: bool = False
    _: dataclasses.KW_ONLY
    busy: int = 0  # number of competing loops
    engine: str = "ptrace"
    # A real-time program takes its only CPU for 60 ms of every 68.
    taken: bool = False
    runs: str = None  # the interpreter; None: that of PATH
    seconds: float = 2

    def __str__(self):
        how = "attached" if self.attached else "launched"
        beside = f", {self.busy} busy loops" if self.busy else ""
        beside += ", its CPU taken" if self.taken else ""
        beside += f", {self.runs}" if self.runs else ""
        beside += ", perf" if self.engine == "perf" else ""
        return f"{self.program}, {how}, {self.mode}, {self.rate} Hz{beside}"

    def selection(self):
        """The part of the capture that is CPU time."""
        if self.mode == "wall":
            return ["--measure", "wall-time", "--states", "running"]
        return ["--measure", "cpu-time"]


Thread = collections.namedtuple("Thread", "name tid cpu waited lasted")


@dataclasses.dataclass
class Truth:
    """Times in seconds: a function's name to its CPU time in the work, and
    before it; the threads; the process's CPU time before the work began, and at
    its end."""
    parts: dict
    early: dict
    threads: list
    before: float
    cpu: float

    @classmethod
    def read(cls, path):
        truth = cls({}, {}, [], 0, 0)
        for line in path.read_text().splitlines():
            kind, *words = line.split("\t")
            if kind == "part":
                truth.parts[words[0]] = float(words[1])
            elif kind == "early":
                truth.early[words[0]] = float(words[1])
            elif kind == "thread":
                truth.threads.append(Thread(words[0], words[1], *map(float, words[2:])))
            else:
                truth.before, truth.cpu = map(float, words)
        return truth


@dataclasses.dataclass
class Share:
    """For a function: the program's own figure; ours, and its possible
    error; perf's and the program's for the time since perf began."""
    function: str
    truth: float
    ours: float
    bound: float
    perf: float = None
    perf_truth: float = None
    noise: float = 0  # three standard errors of that many samples

    def __str__(self):
        return (f"{self.function}: truth {self.truth:.1%}, ours {self.ours:.1%}, "
                f"may be wrong by {self.bound:.1%}")

    def error(self):
        return abs(self.ours - self.truth)

    def perf_error(self):
        return abs(self.perf - self.perf_truth)


@dataclasses.dataclass
class Measured:
    condition: Condition
    rows: list  # of top
    truth: Truth
    capture: pathlib.Path
    shares: list
    bound: float  # allowed_error()
    spent: float  # CPU time within the recording, as measured by the program
    total: float  # the recording's figure
    said: str  # output of the recorder and the program on stderr
    disturbed: bool  # programs unrelated to the condition used the CPU
    unsteady: bool  # a recorder without priority competed for its CPU

    def faults(self):
        return [share for share in self.shares if share.error() > share.bound]

    def work_faults(self):
        """Only the program's computation, without its waits."""
        work = [share for share in self.shares if share.function not in WAITS]
        truth = sum(share.truth for share in work)
        ours = max(sum(share.ours for share in work), 1e-9)
        scaled = [
            dataclasses.replace(
                share, truth=share.truth / truth, ours=share.ours / ours,
                bound=share.bound / truth)
            for share in work
        ]
        return [share for share in scaled if share.error() > share.bound]


def missed(measured):
    """The share of the CPU time that the functions which wait have too little."""
    return sum(share.truth - share.ours for share in measured.shares if share.function in WAITS)


def unseen(measured):
    """The recorder's bound for it."""
    info = ask("info", measured.capture)
    return info.get("unseen_cpu_ns", 0) / info["charged_cpu_ns"]


def percent(value):
    return "-" if value is None else f"{value:.1%}"


COLUMNS = "{:46} {:16} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}"
HEADING = COLUMNS.format("recorded", "function", "truth", "ours", "error", "bound", "perf", "error")


def lines(condition, shares):
    """The rows of the table of truths, with perf's share of the same run beside ours."""
    return [
        COLUMNS.format(
            str(condition), share.function, percent(share.truth), percent(share.ours),
            percent(share.error()), percent(share.bound), percent(share.perf),
            percent(None if share.perf is None else share.perf_error()),
        ) + ("  WRONG" if share.error() > share.bound else "")
        for share in shares
    ]


def ask(*words):
    done = subprocess.run([cli, *words, "--json"], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout)


def top(file, *selection):
    return ask("top", file, "--sort", "total", "--limit", "100000", *selection)


def found(program, answer, functions):
    """The share that each of them has in an answer of top's."""
    sums = dict.fromkeys(functions, 0)
    stem, suffix = os.path.splitext(program)
    prefix = f"{stem.capitalize()}." if suffix in (".cs", ".java") else ""
    for row in answer["rows"]:
        for name in functions:
            # In V8's map: "*heavyWork /a/b.js:1:2".
            v8 = program.endswith(".js") and name in row["function"]
            if v8 or row["function"] == prefix + name:
                sums[name] += row["total"]
    return {name: value / max(answer["total"], 1) for name, value in sums.items()}


@contextlib.contextmanager
def busy_loops(n):
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(n)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


# How long a real-time program uses a CPU, in seconds, and how long it then leaves
# it to others.
TURN, REST = 0.06, 0.008
TAKER = f"""
import os, time
os.sched_setaffinity(0, {{min(os.sched_getaffinity(0))}})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
while True:
    end = time.monotonic() + {TURN}
    while time.monotonic() < end:
        pass
    time.sleep({REST})
"""


def may_take_a_cpu():
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        return False
    os.sched_setscheduler(0, *before)
    return True


def allowed_error(loaded, engine="ptrace"):
    """The allowed error of a share, without the noise of few samples."""
    if not may_take_a_cpu() and engine == "ptrace":
        return BOUND_WITHOUT_PRIORITY
    return BOUND_LOADED if loaded else BOUND


@functools.cache
def may_use_perf():
    with tempfile.TemporaryDirectory() as folder:
        words = [recorder, "--engine", "perf", "--output", f"{folder}/true.flambeau", "--", "true"]
        return subprocess.run(words, stderr=subprocess.DEVNULL).returncode == 0


def may_copy():
    """Whether the kernel may copy the data of an interpreter at a sample (bpf)."""
    status = pathlib.Path("/proc/self/status").read_text()
    capabilities = int(re.search(r"^CapEff:\s*(\w+)", status, re.MULTILINE)[1], 16)
    return any(capabilities >> one & 1 for one in (CAP_SYS_ADMIN, CAP_BPF))


@contextlib.contextmanager
def taken_cpu():
    taker = subprocess.Popen([sys.executable, "-c", TAKER])
    try:
        yield ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
    finally:
        taker.kill()
        taker.wait()


def wait_until(test, what):
    end = time.monotonic() + 30
    while not test():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.005)


class Gate:
    """The FIFO that a program waits at."""

    def __init__(self, path):
        self.path = path
        self.fd = None
        path.unlink(missing_ok=True)
        os.mkfifo(path)

    def reached(self):
        with contextlib.suppress(OSError):
            self.fd = os.open(self.path, os.O_WRONLY | os.O_NONBLOCK)
        return self.fd is not None

    def open(self):
        os.write(self.fd, b"\n")
        os.close(self.fd)


class Others:
    """The CPU time used by programs other than our children, and by the host of
    a virtual machine: proc_stat(5)."""

    def __init__(self):
        self.began, self.before = time.monotonic(), self.used()

    @staticmethod
    def used():
        line = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0]
        user, nice, system, _, _, irq, softirq, steal = map(int, line.split()[1:9])
        all_cpus = (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
        ours = resource.getrusage(resource.RUSAGE_CHILDREN)
        return all_cpus - ours.ru_utime - ours.ru_stime

    def share(self):
        lasted = time.monotonic() - self.began
        return (self.used() - self.before) / (lasted * os.cpu_count())


def counts(pid):
    """Whether a recorder has events of the kernel open."""
    try:
        return any("perf_event" in os.readlink(fd) for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False


def traced(pid):
    try:
        return all(
            "\nTracerPid:\t0\n" not in (task / "status").read_text()
            for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
        )
    except OSError:
        return False


def child_of(pid):
    text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return int(text.split()[0])


class Perf:
    """perf's recording of a process that waits."""

    def __init__(self, scratch, pid, rate):
        self.data = scratch / "perf.data"
        control, answer = scratch / "control", scratch / "answer"
        for path in (control, answer):
            path.unlink(missing_ok=True)
            os.mkfifo(path)
        self.process = subprocess.Popen(
            ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(rate), "-D", "-1",
             "--control", f"fifo:{control},{answer}", "--call-graph", "dwarf,8192",
             "-o", self.data, "-p", str(pid)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(control, "wb") as say, open(answer, "rb") as hear:
            say.write(b"enable\n")
            say.flush()
            hear.read(3)

    def end(self):
        self.process.wait(timeout=60)
        return self.data


def run(condition, scratch, with_perf):
    """Returns the capture, the truth, perf's data, and the output."""
    capture, truth = scratch / "ours.flambeau", scratch / "truth"
    for path in (capture, truth):
        path.unlink(missing_ok=True)
    words = command(condition.program, condition.seconds, with_perf, condition.runs)
    waits = condition.attached or with_perf
    gate = Gate(scratch / "go") if waits else None
    environment = dict(os.environ, TRUTH=str(truth), **({"TRUTH_GO": str(gate.path)} if gate else {}))
    record = [recorder, "--output", capture, "--rate", str(condition.rate),
              "--mode", condition.mode, "--engine", condition.engine]
    quiet = {"cwd": scratch, "env": environment, "stdout": subprocess.DEVNULL}
    target, perf = None, None
    with contextlib.ExitStack() as started:
        def start(arguments, stderr):
            process = started.enter_context(subprocess.Popen(arguments, stderr=stderr, **quiet))
            started.callback(process.kill)
            return process

        if condition.attached:
            target = start(words, subprocess.DEVNULL)
            wait_until(gate.reached, "the program did not begin")
            ours = start(record + ["--pid", str(target.pid)], subprocess.PIPE)
            begun = (lambda: counts(ours.pid)) if condition.engine == "perf" else (lambda: traced(target.pid))
            wait_until(lambda: begun() or ours.poll() is not None, "it is not traced")
            time.sleep(0.1)
        else:
            if condition.taken:
                words = started.enter_context(taken_cpu()) + words
            ours = start(record + ["--", *words], subprocess.PIPE)
            if gate:
                wait_until(gate.reached, "the program did not begin")
        if with_perf:
            pid = target.pid if target else child_of(ours.pid)
            perf = Perf(scratch, pid, condition.rate)
        with busy_loops(condition.busy):
            if gate:
                gate.open()
            said = ours.communicate(timeout=120)[1].decode("utf-8", "replace")
        if target:
            target.wait(timeout=60)
    if ours.returncode != 0 or not truth.exists():
        raise RuntimeError(f"{condition}: status {ours.returncode}: {said}")
    return capture, Truth.read(truth), perf and perf.end(), said


def maps():
    return set(pathlib.Path("/tmp").glob("perf-*.map"))


def independent(capture):
    """How many samples of the same weight would tell as much as these. A sample stands for
    half of the time since the one before and half of that until the next, and ticks come
    at random, so the weights differ: with those of a Poisson process, it is 2/3 of the
    number of samples. Other events are what no sample has seen."""
    text = subprocess.run([cli, "dump", capture, "--stage", "profile"], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8").stdout
    weights = [int(weight) for weight in
               re.findall(r"^ *sample (?!.* event=[1-9]).* cpu-time=(\d+)", text, re.M)]
    return sum(weights) ** 2 / max(sum(weight ** 2 for weight in weights), 1)


def measure(condition, scratch, with_perf=False):
    before = maps()
    others = Others()
    capture, truth, perf_data, said = run(condition, scratch, with_perf)
    crowded = others.share() > MUCH
    selection = condition.selection()
    ours = top(capture, *selection)
    samples = independent(capture)
    since = truth.cpu - truth.before
    spent = since if condition.attached else truth.cpu
    waited = sum(thread.waited for thread in truth.threads)
    crowded = crowded or waited > MUCH * truth.cpu
    loaded = bool(condition.busy or crowded)
    bound = allowed_error(loaded, condition.engine)
    shares = found(condition.program, ours, truth.parts)
    # perf names functions of compiled programs, and by a map those of V8.
    named = perf_data and pathlib.Path(condition.program).suffix in ("", ".js")
    perf = found(condition.program, top(perf_data), truth.parts) if named else {}
    measured = Measured(
        condition, ours["rows"], truth, capture, [], bound, spent, ours["total"] / 1e9, said,
        crowded and not condition.busy, loaded and not may_take_a_cpu())
    for name, seconds in truth.parts.items():
        early = 0 if condition.attached else truth.early.get(name, 0)
        share = (seconds + early) / spent
        if share >= LEAST:
            noise = 3 * math.sqrt(share * (1 - share) / max(samples, 1))
            measured.shares.append(Share(
                name, share, shares[name], max(bound, noise),
                perf.get(name), seconds / since, noise))
    if condition.program.endswith(".js"):
        for path in maps() - before:
            path.unlink(missing_ok=True)
    return measured


# With FLAM_TEST_ALL, perf records beside us, where it is installed.
BESIDE_PERF = bool(os.environ.get("FLAM_TEST_ALL") and shutil.which("perf"))


def hold(case, condition, scratch, wrong):
    """Prints the rows of the table of truths, and asserts that wrong(measured) finds
    nothing. An error beyond three standard errors that is due to chance, or to others
    on the CPU, does not repeat itself when measured three times as long."""
    for attempt in range(3):
        measured = measure(condition, scratch, BESIDE_PERF)
        print("\n".join(lines(condition, measured.shares)), file=sys.stderr, flush=True)
        faults = wrong(measured)
        if not faults:
            return
        if attempt == 0:
            condition = dataclasses.replace(condition, seconds=3 * condition.seconds)
    # When it competes for its CPU without priority, a recorder gets it when the
    # scheduler takes it from the program, which is not a random moment.
    if measured.unsteady:
        case.skipTest(f"needs real-time priority or an idle machine: {faults}")
    case.fail(f"{condition}: {faults}")
