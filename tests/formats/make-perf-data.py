#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the fixtures of captures/perf-data/, record by record.

  tests/formats/make-perf-data.py tests/captures/perf-data

They are committed; run it again only to change them, and then the goldens
(FLAM_UPDATE_GOLDEN=1)."""

import pathlib
import struct
import subprocess
import sys

IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU = (1 << i for i in range(8))
PERIOD, RAW, BRANCHES, REGS, STACK, IDENTIFIER = 1 << 8, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 16
BRANCH_USER, BRANCH_CALL_STACK, BRANCH_INDEX, BRANCH_COUNTERS = 1, 1 << 11, 1 << 17, 1 << 19
FREQ, ID_ALL, SWITCHES = 1 << 10, 1 << 18, 1 << 26
KERNEL, USER = 1, 2
CONTEXT_KERNEL, CONTEXT_USER = 2**64 - 128, 2**64 - 512
EXEC, DATA, HAS_ID = 1 << 13, 1 << 13, 1 << 14


ORDER = "<"  # of bytes; ">" as a big-endian machine writes them


def pack(kinds, *values):
    return struct.pack(ORDER + kinds, *values)


def magic():
    return b"PERFILE2" if ORDER == "<" else b"2ELIFREP"


def flags(bits):
    """Bit fields begin with the lowest bit of each byte, or with the highest."""
    if ORDER == "<":
        return struct.pack("<Q", bits)
    return bytes(int(f"{byte:08b}"[::-1], 2) for byte in struct.pack("<Q", bits))


class Event:
    def __init__(self, kind, config, sample_type, flags=ID_ALL | FREQ, period=1000,
                 ids=(), read_format=4, regs=0, stack=0, branches=0):
        self.kind, self.config, self.sample_type = kind, config, sample_type
        self.flags, self.period, self.ids = flags, period, list(ids)
        self.read_format, self.regs, self.stack = read_format, regs, stack
        self.branches = branches

    def attr(self):
        head = pack("IIQQQQ", self.kind, 128, self.config, self.period,
                    self.sample_type, self.read_format) + flags(self.flags)
        rest = pack("QQI", self.branches, self.regs, self.stack)
        return (head + bytes(24) + rest).ljust(128, b"\0")


def record(kind, body, misc=USER):
    body += bytes(-len(body) % 8)
    return pack("IHH", kind, misc, 8 + len(body)) + body


def tail(event, pid, tid, time):
    """sample_id, behind the kernel's records."""
    out, kind = b"", event.sample_type
    if kind & TID:
        out += pack("ii", pid, tid)
    if kind & TIME:
        out += pack("Q", time)
    if kind & ID:
        out += pack("Q", event.ids[0])
    if kind & CPU:
        out += pack("II", 0, 0)
    if kind & IDENTIFIER:
        out += pack("Q", event.ids[0])
    return out


def text(s):
    raw = s.encode() + b"\0"
    return raw + bytes(-len(raw) % 8)


def comm(e, pid, tid, name, time=0, exec=False):
    return record(3, pack("ii", pid, tid) + text(name) + tail(e, pid, tid, time),
                  EXEC if exec else 0)


def fork(e, pid, ppid, tid, ptid, time):
    return record(7, pack("iiiiQ", pid, ppid, tid, ptid, time) + tail(e, pid, tid, time), 0)


def exit_(e, pid, tid, time):
    return record(4, pack("iiiiQ", pid, pid, tid, tid, time) + tail(e, pid, tid, time), 0)


def mmap2(e, pid, start, size, offset, path, time=0, protection=5, build_id=None):
    identity, misc = bytes(24), USER
    if build_id:
        identity, misc = pack("BBH", 20, 0, 0) + build_id, USER | HAS_ID
    return record(10, pack("iiQQQ", pid, pid, start, size, offset) + identity
                  + pack("II", protection, 2) + text(path) + tail(e, pid, pid, time), misc)


def mmap(e, pid, start, size, offset, path, time=0, misc=USER):
    return record(1, pack("iiQQQ", pid, pid, start, size, offset) + text(path)
                  + tail(e, pid, pid, time), misc)


def lost(e, n, time):
    return record(2, pack("QQ", 0, n) + tail(e, 0, 0, time), 0)


def sample(e, ip, pid, tid, time, period, chain=(), mode=USER, read=b"", regs=None, stack=b"",
           branches=(), cpu=0, raw=b""):
    kind, out = e.sample_type, b""
    if kind & IDENTIFIER:
        out += pack("Q", e.ids[0])
    if kind & IP:
        out += pack("Q", ip)
    if kind & TID:
        out += pack("ii", pid, tid)
    if kind & TIME:
        out += pack("Q", time)
    if kind & ADDR:
        out += bytes(8)
    if kind & ID:
        out += pack("Q", e.ids[0])
    if kind & CPU:
        out += pack("II", cpu, 0)
    if kind & PERIOD:
        out += pack("Q", period)
    out += read
    if kind & CALLCHAIN:
        out += pack("Q", len(chain)) + b"".join(pack("Q", a) for a in chain)
    if kind & RAW:
        out += pack("I", len(raw)) + raw
    if kind & BRANCHES:
        out += pack("Q", len(branches))
        if e.branches & BRANCH_INDEX:
            out += bytes(8)
        out += b"".join(pack("QQQ", *b, 0) for b in branches)
        if e.branches & BRANCH_COUNTERS:
            out += bytes(8 * len(branches))
    if kind & REGS:
        out += pack("Q", 2 if regs else 0) + b"".join(pack("Q", r) for r in regs or ())
    if kind & STACK:
        out += pack("Q", len(stack)) + stack + (pack("Q", len(stack)) if stack else b"")
    return record(9, out, mode)


def finished_round():
    return record(68, b"", 0)


def string(s):
    raw = text(s)
    return pack("I", len(raw)) + raw


def build_id(path, id, pid=-1):
    size = bytes([len(id), 0, 0, 0])
    return record(67, pack("i", pid) + id.ljust(20, b"\xee") + size + text(path), (1 << 15) | USER)


def command(*words):
    return pack("I", len(words)) + b"".join(string(w) for w in words)


def description(events, names):
    out = pack("II", len(events), 128)
    for e, name in zip(events, names):
        out += e.attr() + pack("I", len(e.ids)) + string(name)
        out += b"".join(pack("Q", i) for i in e.ids)
    return out


def file_mode(events, records, features=None):
    features = features or {}
    ids = [b"".join(pack("Q", i) for i in e.ids) for e in events]
    at, table, ids_at = 104, b"", 104 + 144 * len(events)
    for e, raw in zip(events, ids):
        table += e.attr() + pack("QQ", ids_at, len(raw))
        ids_at += len(raw)
    data = b"".join(records)
    bits = sum(1 << bit for bit in features)
    out = magic() + pack("QQQQQQQQ", 104, 144, at, len(table), ids_at, len(data), 0, 0)
    out += pack("QQQQ", *(bits >> 64 * i & 2**64 - 1 for i in range(4))) + table + b"".join(ids) + data
    where = len(out) + 16 * len(features)
    sections, bodies = b"", b""
    for bit in sorted(features):
        sections += pack("QQ", where + len(bodies), len(features[bit]))
        bodies += features[bit]
    return out + sections + bodies


def pipe_mode(records):
    return magic() + pack("Q", 16) + b"".join(records)


def header_attr(e):
    return record(64, e.attr() + b"".join(pack("Q", i) for i in e.ids), 0)


def event_name(e, name):
    return record(78, pack("QQ", 2, e.ids[0]) + text(name), 0)


def compressed(payload):
    packed = subprocess.run(["zstd", "-q", "-c"], input=payload, stdout=subprocess.PIPE, check=True).stdout
    return pack("IHH", 81, 0, 8 + len(packed)) + packed


K, PROG, LIB = 0xffffffff81000000, 0x400000, 0x7f0000000000
ID_A, ID_B = bytes(range(20)), bytes(range(20, 40))


def shapes():
    """Processes, threads, exec, kernel, two events, build ids, order, losses."""
    kind = IP | TID | TIME | CALLCHAIN | ID | PERIOD
    clock = Event(1, 0, kind, ids=[11, 12])
    faults = Event(1, 2, kind, ids=[21])
    u, k = CONTEXT_USER, CONTEXT_KERNEL
    return file_mode([clock, faults], [
        mmap(clock, -1, K, 0x1000000, K, "[kernel.kallsyms]_text", misc=KERNEL),
        comm(clock, 100, 100, "shell"),
        mmap2(clock, 100, 0x10000, 0x1000, 0, "/bin/shell"),
        # Two processors: the second round has samples that are older than the first's.
        sample(clock, 0x10010, 100, 100, 1000, 10, [u, 0x10010]),
        fork(clock, 101, 100, 101, 100, 1100),
        sample(clock, 0x10020, 101, 101, 1200, 10, [u, 0x10020]),
        comm(clock, 101, 101, "prog", 1300, exec=True),
        mmap2(clock, 101, PROG, 0x3000, 0x1000, "/bin/prog", 1310, build_id=ID_A),
        mmap2(clock, 101, LIB, 0x2000, 0x5000, "/lib/libx.so", 1320),
        sample(clock, PROG + 0x10, 101, 101, 1900, 10, [u, PROG + 0x10, PROG + 0x101]),
        finished_round(),
        sample(clock, LIB + 0x20, 101, 101, 1400, 20, [u, LIB + 0x20, PROG + 0x101, PROG + 0x201]),
        sample(clock, K + 0x30, 101, 101, 1500, 30,
               [k, K + 0x30, K + 0x41, u, LIB + 0x20, PROG + 0x101], KERNEL),
        fork(clock, 101, 101, 102, 101, 1600),
        comm(clock, 101, 102, "worker", 1610),
        sample(clock, PROG + 0x11, 101, 102, 1700, 40, [u, PROG + 0x11, 0x1f0f0000000000, 0x77]),
        sample(faults, PROG + 0x12, 101, 102, 1710, 3, [u, PROG + 0x12]),
        # A mapping of data over a part of the library: no code is left there.
        mmap2(clock, 101, LIB + 0x1000, 0x1000, 0, "//anon", 1720, protection=3),
        sample(clock, LIB + 0x1010, 101, 101, 1730, 50, [u, LIB + 0x1010, PROG + 0x101]),
        mmap2(clock, 101, 0x20000, 0x1000, 0, "//anon", 1740, protection=7),
        sample(clock, 0x20044, 101, 101, 1750, 60, [u, 0x20044, PROG + 0x101]),
        finished_round(),
        lost(clock, 7, 1800),
        record(13, pack("Q", 5) + tail(clock, 0, 0, 1801), 0),
        record(5, pack("QQQ", 1802, 11, 11) + tail(clock, 0, 0, 1802), 0),
        exit_(clock, 101, 101, 1950),
        # The same number, another process.
        fork(clock, 101, 100, 101, 100, 2000),
        sample(clock, 0x10020, 101, 101, 2100, 70, [u, 0x10020]),
        finished_round(),
    ], {
        2: build_id("/lib/libx.so", ID_B),
        11: command("perf", "record", "-g", "--", "prog"),
        12: description([clock, faults], ["cpu-clock:u", "page-faults"]),
        29: pack("IIQQ", 1, 1, 1700000000 * 10**9, 500),
    })


def pipe():
    """All through a pipe, a part of it compressed and cut within a record."""
    kind = IDENTIFIER | IP | TID | TIME | CPU
    cycles = Event(0, 0, kind, flags=ID_ALL, period=5000, ids=[1])
    misses = Event(0, 3, kind, flags=ID_ALL, period=100, ids=[2])
    inner = b"".join([
        comm(cycles, 7, 7, "prog"),
        mmap(cycles, 7, PROG, 0x1000, 0, "/bin/prog"),
        mmap(cycles, 7, 0x600000, 0x1000, 0, "/bin/prog", misc=USER | DATA),
    ] + [sample(cycles if i % 3 else misses, PROG + 16 * (i % 5), 7, 7, 100 + i, 0) for i in range(40)]
        + [sample(cycles, 0x600010, 7, 7, 200, 0), sample(cycles, K + 16, 7, 7, 201, 0, mode=KERNEL)])
    whole = subprocess.run(["zstd", "-q", "-c"], input=inner, stdout=subprocess.PIPE, check=True).stdout
    half = len(whole) // 2
    return pipe_mode([
        header_attr(cycles), header_attr(misses), event_name(cycles, "cycles:u"),
        record(80, pack("Q", 11) + command("perf", "record", "-o", "-"), 0),
        pack("IHH", 81, 0, 8 + half) + whole[:half],
        pack("IHH", 81, 0, 8 + len(whole) - half) + whole[half:],
        finished_round(),
        build_id("/bin/prog", ID_A),
    ])


def group():
    """-e '{cycles,instructions}:S': one sample has the counts of both."""
    kind = IP | TID | TIME | READ | ID | PERIOD
    cycles = Event(0, 0, kind, ids=[5], read_format=4 | 8 | 16)
    instructions = Event(0, 1, kind, ids=[6], read_format=4 | 8 | 16)

    def read(c, i):
        return pack("QQQQQQQ", 2, c, 5, 0, i, 6, 0)

    return file_mode([cycles, instructions], [
        comm(cycles, 7, 7, "prog"),
        mmap2(cycles, 7, PROG, 0x1000, 0, "/bin/prog"),
        sample(cycles, PROG + 1, 7, 7, 10, 1, read=read(100, 50)),
        sample(cycles, PROG + 2, 7, 7, 20, 1, read=read(300, 50)),
        sample(cycles, PROG + 3, 7, 7, 30, 1, read=read(600, 950)),
    ])


def copied():
    """Copied stacks of a program that is missing here: only frame pointers lead
    on."""
    mask = 0xff0fff
    kind = IP | TID | TIME | CALLCHAIN | PERIOD | REGS | STACK
    clock = Event(1, 0, kind, regs=mask, stack=64)
    sp = 0x7ffc00000000

    def regs(ip, bp):
        by_bit = {6: bp, 7: sp, 8: ip}
        return [by_bit.get(bit, 0) for bit in range(24) if mask >> bit & 1]

    def words(*w):
        return b"".join(pack("Q", x) for x in w)

    whole = words(9, sp + 24, PROG + 0x101, 0, PROG + 0x201, 0, 0, 0)
    root = words(9, sp + 24, PROG + 0x101, 0, 0, 0, 0, 0)
    cut = words(9, sp + 0x400, PROG + 0x101, 9, 9, 9, 9, 9)
    return file_mode([clock], [
        comm(clock, 7, 7, "prog"),
        mmap2(clock, 7, PROG, 0x1000, 0, "/nonexistent/prog"),
        mmap2(clock, 7, 0x20000, 0x1000, 0, "//anon"),
        sample(clock, PROG + 0x10, 7, 7, 10, 1, regs=regs(PROG + 0x10, sp + 8), stack=whole),
        sample(clock, PROG + 0x10, 7, 7, 20, 1, regs=regs(PROG + 0x10, sp + 8), stack=root),
        sample(clock, PROG + 0x10, 7, 7, 30, 1, regs=regs(PROG + 0x10, sp + 8), stack=cut),
        sample(clock, 0x20010, 7, 7, 40, 1, regs=regs(0x20010, 3), stack=root),
        sample(clock, K + 0x10, 7, 7, 50, 1, [CONTEXT_KERNEL, K + 0x10, K + 0x21], KERNEL,
               regs=regs(PROG + 0x30, sp + 8), stack=root),
        sample(clock, K + 0x10, 0, 0, 60, 1, [CONTEXT_KERNEL, K + 0x10], KERNEL),
    ], {6: string("x86_64")})


def filled():
    """Copied stacks of which a part was filled, as the kernel does where the stack
    ends, or of a 32-bit program: the bytes beyond are not part of it."""
    mask = 0xff0fff
    kind = IP | TID | TIME | CALLCHAIN | PERIOD | REGS | STACK
    clock = Event(1, 0, kind, regs=mask, stack=64)
    sp = 0x7ffc00000000
    by_bit = {6: sp + 8, 7: sp, 8: PROG + 0x10}
    regs = [by_bit.get(bit, 0) for bit in range(24) if mask >> bit & 1]
    stack = b"".join(pack("Q", x) for x in (
        9, sp + 24, PROG + 0x101, sp + 40, PROG + 0x201, 0, PROG + 0x301, 0))

    def one(time, filled, abi=2):
        out = pack("QiiQQQ", PROG + 0x10, 7, 7, time, 1, 0)
        out += pack("Q", abi) + b"".join(pack("Q", r) for r in regs)
        out += pack("Q", 64) + stack + pack("Q", filled)
        return record(9, out, USER)

    return file_mode([clock], [
        comm(clock, 7, 7, "prog"),
        mmap2(clock, 7, PROG, 0x1000, 0, "/nonexistent/prog"),
        one(10, 64), one(20, 40), one(30, 24), one(40, 0), one(50, 64, abi=1),
    ], {6: string("x86_64")})


def strangers():
    """Samples of an event that the file does not list; other records refer to it,
    too. The build id has 16 bytes of 20."""
    kind = IP | TID | TIME | ID | PERIOD
    clock = Event(1, 0, kind, ids=[11])
    faults = Event(1, 2, kind, ids=[21])
    unknown = Event(1, 3, kind, ids=[999])
    return file_mode([clock, faults], [
        comm(unknown, 7, 7, "prog", 5),
        mmap2(clock, 7, PROG, 0x1000, 0, "/bin/prog", 6),
        sample(clock, PROG + 0x10, 7, 7, 10, 3),
        sample(unknown, PROG + 0x20, 7, 7, 20, 100),
        sample(faults, PROG + 0x30, 7, 7, 30, 5),
    ], {2: build_id("/bin/prog", bytes(range(16)))})


def tracing():
    """A pipe with data of tracepoints, 13 bytes and 3 of padding."""
    kind = IDENTIFIER | IP | TID | TIME | CPU
    cycles = Event(0, 0, kind, flags=ID_ALL, period=5000, ids=[1])
    return pipe_mode([
        header_attr(cycles),
        pack("IHHII", 66, 0, 16, 13, 0) + b"\xff" * 13 + bytes(3),
        comm(cycles, 7, 7, "prog"),
        mmap(cycles, 7, PROG, 0x1000, 0, "/bin/prog"),
        sample(cycles, PROG + 16, 7, 7, 100, 0),
    ])


def tracepoint(name, number, fields):
    """Its text in the feature with the layout of tracepoints."""
    out = f"name: {name}\nID: {number}\nformat:\n"
    at = 0
    for size, field in [(2, "unsigned short common_type"), (1, "unsigned char common_flags"),
                        (1, "unsigned char common_preempt_count"), (4, "int common_pid"), *fields]:
        out += f"\tfield:{field};\toffset:{at};\tsize:{size};\tsigned:0;\n"
        at += size
        out += "\n" if at == 8 else ""
    raw = (out + '\nprint fmt: "%d", REC->common_pid\n').encode()
    return pack("Q", len(raw)) + raw


def layout_of(system, *texts):
    """The feature with the layout of tracepoints."""
    page = b"".join(b"\tfield: %s;\toffset:%d;\tsize:%d;\tsigned:%d;\n" % row for row in [
        (b"u64 timestamp", 0, 8, 0), (b"local_t commit", 8, 8, 1),
        (b"int overwrite", 8, 1, 1), (b"char data", 16, 4080, 0)])
    layout = b"\x17\x08\x44tracing0.6\0" + bytes([ORDER == ">", 8]) + pack("I", 4096)
    for name in b"header_page", b"header_event":
        layout += name + b"\0" + pack("Q", len(page)) + page
    layout += pack("I", 0) + pack("I", 1) + system + b"\0"
    layout += pack("I", len(texts)) + b"".join(texts)
    return layout + pack("II", 0, 0) + pack("Q", 0)


def allocations(piped=False):
    """perf record -e kmem:kmalloc -e kmem:kmem_cache_alloc -e kmem:kfree: the bytes that were
    given are 4096 + 64 and 192, as "perf kmem stat" has them (4,352), whatever the period."""
    kind = IDENTIFIER | IP | TID | TIME | CPU | PERIOD | RAW
    kmalloc, cache, free = [Event(2, n, kind, flags=ID_ALL, period=1, ids=[n]) for n in (507, 508, 509)]
    words = [(8, "unsigned long call_site"), (8, "const void * ptr")]
    given = words + [(8, "size_t bytes_req"), (8, "size_t bytes_alloc"), (8, "unsigned long gfp_flags"),
                     (8, "int node")]
    texts = [tracepoint("kmalloc", 507, given), tracepoint("kmem_cache_alloc", 508, given),
             tracepoint("kfree", 509, words)]
    layout = layout_of(b"kmem", *texts)

    def allocated(e, time, *values):
        raw = pack("HBBi", e.config, 0, 0, 7) + b"".join(pack("Q", v) for v in values)
        raw += bytes((4 - len(raw)) % 8)
        return record(9, pack("QQiiQQQ", e.ids[0], PROG + 16, 7, 7, time, 0, 1)
                      + pack("I", len(raw)) + raw)

    events, names = [kmalloc, cache, free], ["kmem:kmalloc", "kmem:kmem_cache_alloc", "kmem:kfree"]
    records = [
        comm(kmalloc, 7, 7, "prog"),
        mmap(kmalloc, 7, PROG, 0x1000, 0, "/bin/prog"),
        allocated(kmalloc, 100, K, 0x1000, 4000, 4096, 0, 0),
        allocated(cache, 110, K, 0x2000, 190, 192, 0, 0),
        allocated(kmalloc, 120, K, 0x3000, 33, 64, 0, 0),
        allocated(free, 130, K, 0x1000),
    ]
    if piped:
        layout += bytes(-len(layout) % 8)
        return pipe_mode([
            *map(header_attr, events), *map(event_name, events, names),
            record(80, pack("Q", 3) + string("host"), 0),
            pack("IHHI", 66, 0, 12, len(layout)) + layout, *records])
    return file_mode(events, records, {
        1: layout, 3: string("host"), 12: description(events, names)})


def kernel():
    """perf record --buildid-mmap: the record of the kernel's code has its build id, that of
    an invented kernel; the table of build ids is missing."""
    kind = IP | TID | TIME | CALLCHAIN | PERIOD
    clock = Event(1, 0, kind)
    identity = bytes([20, 0, 0, 0]) + ID_A
    code = pack("iiQQQ", -1, 0, K, 0x1000000, K) + identity + pack("II", 5, 0)
    return file_mode([clock], [
        record(10, code + text("[kernel.kallsyms]_text") + tail(clock, 0, 0, 1), KERNEL | HAS_ID),
        comm(clock, 7, 7, "prog"),
        mmap2(clock, 7, PROG, 0x1000, 0, "/bin/prog", 2, build_id=ID_B),
        sample(clock, K + 0x30, 7, 7, 10, 5,
               [CONTEXT_KERNEL, K + 0x30, K + 0x41, CONTEXT_USER, PROG + 0x10], KERNEL),
    ], {4: string("6.1.0-fixture")})


def overwrite():
    """perf record --overwrite: names and mappings, which have no time, follow the samples."""
    kind = IP | TID | TIME | CALLCHAIN | PERIOD
    clock = Event(1, 0, kind)
    k, u = CONTEXT_KERNEL, CONTEXT_USER
    return file_mode([clock], [
        sample(clock, PROG + 0x10, 7, 7, 10, 5, [u, PROG + 0x10, PROG + 0x21]),
        sample(clock, K + 0x30, 7, 7, 20, 6, [k, K + 0x30, K + 0x41, u, PROG + 0x10], KERNEL),
        comm(clock, 7, 7, "prog"),
        mmap(clock, -1, K, 0x1000000, K, "[kernel.kallsyms]_text", misc=KERNEL),
        mmap2(clock, 7, PROG, 0x1000, 0, "/bin/prog"),
        finished_round(),
    ], {4: string("6.1.0-fixture")})


def off_cpu():
    """perf record -e cpu-clock -e sched:sched_switch --switch-events: thread 7 is off its CPU for
    30 and then for 4000 ns; 8 does not come back; 0 is each CPU's idle thread."""
    kind = IP | TID | TIME | CALLCHAIN | PERIOD | IDENTIFIER
    clock = Event(1, 0, kind, flags=ID_ALL | SWITCHES, ids=[1])
    leave = Event(2, 372, kind, flags=ID_ALL, ids=[2])
    k, u = CONTEXT_KERNEL, CONTEXT_USER

    def switch(tid, time, out, wide=False):
        body = pack("ii", 0, 0) if wide else b""
        return record(15 if wide else 14, body + tail(clock, 7, tid, time), out << 13)

    def leaving(tid, time, at):
        return sample(leave, K + 0x30, min(tid, 7), tid, time, 1,
                      [k, K + 0x30, u, PROG + at] if tid else [k, K + 0x30], KERNEL)

    return file_mode([clock, leave], [
        comm(clock, 7, 7, "prog"),
        mmap2(clock, 7, PROG, 0x1000, 0, "/bin/prog"),
        sample(clock, PROG + 0x10, 7, 7, 1000, 50, [u, PROG + 0x10]),
        leaving(7, 1010, 0x20), switch(7, 1015, 1), switch(7, 1045, 0),
        leaving(7, 1100, 0x30), switch(7, 1110, 1, wide=True),
        leaving(8, 1200, 0x40), switch(8, 1210, 1),
        leaving(0, 1300, 0), switch(0, 1310, 1), switch(0, 1350, 0),
        switch(7, 5110, 0, wide=True),
        sample(clock, PROG + 0x10, 7, 7, 5200, 50, [u, PROG + 0x10]),
        finished_round(),
    ], {12: description([clock, leave], ["cpu-clock", "sched:sched_switch"])})


def switches():
    """perf record --switch-events: thread 7 waits for 30 ns and is preempted for 500, 8 waits for
    90 until the end of the file; where they wait is not recorded."""
    clock = Event(0, 0, IP | TID | TIME | CALLCHAIN | PERIOD, flags=ID_ALL | SWITCHES)
    u = CONTEXT_USER

    def switch(tid, time, out, preempted=0):
        return record(14, tail(clock, 7, tid, time), out << 13 | preempted << 14)

    return file_mode([clock], [
        comm(clock, 7, 7, "prog"),
        mmap2(clock, 7, PROG, 0x1000, 0, "/bin/prog"),
        switch(7, 990, 0),
        sample(clock, PROG + 0x10, 7, 7, 1000, 50, [u, PROG + 0x10]),
        switch(7, 1015, 1), switch(7, 1045, 0),
        switch(8, 1050, 1), switch(8, 1140, 0),
        switch(7, 1100, 1, 1), switch(7, 1600, 0),
        switch(8, 1700, 1),
        sample(clock, PROG + 0x20, 7, 7, 2000, 70, [u, PROG + 0x20]),
    ])


def sched():
    """perf sched record -g: two CPUs, whose threads are 7 and 9 of two processes.
    Their wait times (ms) in perf sched timehist: 7 60 (it sleeps), 9 100 (for a disk)
    and 20 (preempted). At last 9 leaves and does not return; 5 leaves twice."""
    kind = IDENTIFIER | IP | TID | TIME | CPU | PERIOD | CALLCHAIN | RAW
    leave = Event(2, 372, kind, flags=ID_ALL, period=1, ids=[1])
    fields = [(16, "char prev_comm[16]"), (4, "pid_t prev_pid"), (4, "int prev_prio"),
              (8, "long prev_state"), (16, "char next_comm[16]"), (4, "pid_t next_pid"),
              (4, "int next_prio")]

    def switch(time, cpu, before, state, after, at):
        raw = pack("HBBi", 372, 0, 0, before) + b"a".ljust(16, b"\0") + pack("iiq", before, 120, state)
        raw += b"b".ljust(16, b"\0") + pack("ii", after, 120)
        raw += bytes((4 - len(raw)) % 8)
        return sample(leave, K + 0x30, before, before, 1000000 * time, 1,
                      [CONTEXT_KERNEL, K + 0x30, CONTEXT_USER, PROG + at] if before else
                      [CONTEXT_KERNEL, K + 0x30], KERNEL, cpu=cpu, raw=raw)

    return file_mode([leave], [
        *(comm(leave, pid, pid, name) for pid, name in [(5, "once"), (7, "sleeper"), (9, "reader")]),
        *(mmap2(leave, pid, PROG, 0x1000, 0, "/bin/prog") for pid in (5, 7, 9)),
        switch(1000, 0, 7, 1, 0, 0x10),
        switch(1010, 1, 9, 2, 0, 0x20),
        switch(1060, 0, 0, 0, 7, 0),
        switch(1110, 1, 0, 0, 9, 0),
        switch(1120, 1, 9, 0x100, 5, 0x30),
        switch(1140, 1, 5, 1, 9, 0x40),
        switch(1150, 1, 9, 1, 0, 0x20),
        switch(1160, 1, 5, 1, 0, 0x40),
        finished_round(),
    ], {1: layout_of(b"sched", tracepoint("sched_switch", 372, fields)),
        12: description([leave], ["sched:sched_switch"])})


def branches(kind):
    """perf record --call-graph lbr; not recorded, but read by perf script."""
    clock = Event(1, 0, IP | TID | TIME | CALLCHAIN | PERIOD | BRANCHES, branches=BRANCH_USER | kind)
    u, k = CONTEXT_USER, CONTEXT_KERNEL
    calls = [(PROG + 0x110, PROG + 0x500), (PROG + 0x210, PROG + 0x100), (LIB + 0x30, PROG + 0x200)]
    return file_mode([clock], [
        comm(clock, 7, 7, "prog"),
        mmap2(clock, 7, PROG, 0x1000, 0, "/nonexistent/prog"),
        mmap2(clock, 7, LIB, 0x1000, 0, "/nonexistent/libx.so"),
        sample(clock, PROG + 0x508, 7, 7, 10, 1, [u, PROG + 0x508, PROG + 0x115], branches=calls),
        sample(clock, K + 0x10, 7, 7, 20, 1, [k, K + 0x10, K + 0x21, u, PROG + 0x508], KERNEL, branches=calls),
        sample(clock, K + 0x10, 7, 7, 30, 1, [k, K + 0x10, K + 0x21], KERNEL, branches=calls),
        sample(clock, PROG + 0x508, 7, 7, 40, 1, [u, PROG + 0x508, PROG + 0x115]),
    ], {6: string("x86_64")})


def threads():
    """The folder that --threads writes: one file per thread, each in its own order."""
    clock = Event(1, 0, IP | TID | TIME | CALLCHAIN | ID | PERIOD, ids=[11])
    u = CONTEXT_USER
    return {
        "data": file_mode([clock], [
            comm(clock, 7, 7, "prog"),
            mmap2(clock, 7, PROG, 0x3000, 0x1000, "/bin/prog"),
        ], {24: pack("Q", 1)}),
        "data.0": b"".join([
            sample(clock, PROG + 0x10, 7, 7, 100, 5, [u, PROG + 0x10]),
            sample(clock, LIB + 0x20, 7, 7, 400, 6, [u, LIB + 0x20, PROG + 0x101]),
            finished_round(),
            sample(clock, PROG + 0x10, 7, 7, 700, 5, [u, PROG + 0x10]),
        ]),
        "data.1": b"".join([
            compressed(mmap2(clock, 7, LIB, 0x2000, 0x5000, "/lib/libx.so", 300)
                       + fork(clock, 7, 7, 8, 7, 310)),
            finished_round(),
            sample(clock, LIB + 0x30, 7, 8, 350, 20, [u, LIB + 0x30]),
        ]),
    }


# Written in both orders of bytes: each pair is one profile.
BOTH = {"off-cpu": off_cpu, "sched": sched, "shapes": shapes, "pipe": pipe, "group": group, "allocations": allocations,
        "calls": lambda: branches(BRANCH_CALL_STACK | BRANCH_INDEX)}


def narrow(raw):
    """As a 32-bit machine writes the bits of the features."""
    halves = [raw[at:at + 4] for at in range(72, 104, 4)]
    swapped = [halves[i ^ 1] for i in range(len(halves))]
    return raw[:72] + b"".join(swapped) + raw[104:]


def in_both_orders():
    global ORDER
    for ORDER, order in (">", "big"), ("<", "little"):
        for name, make in BOTH.items():
            yield f"{name}@{order}-endian", make()
        if order == "big":
            yield "copied-elsewhere", copied()
            yield "allocations@big-endian-32-bit", narrow(allocations())


def main():
    folder = pathlib.Path(sys.argv[1])
    whole = shapes()
    for name, raw in {
        **dict(in_both_orders()),
        "copied": copied(),
        "filled": filled(),
        "strangers": strangers(),
        "tracing": tracing(),
        "kernel-id": kernel(),
        "overwrite": overwrite(),
        "switches": switches(),
        "calls-counted": branches(BRANCH_CALL_STACK | BRANCH_COUNTERS),
        "branches": branches(0),
        "cut-off": whole[:1500],
        "no-end": whole[:48] + bytes(8) + whole[56:1500],
        "no-samples": whole[:500],
        "allocations@pipe": allocations(piped=True),
        "version-1": b"PERFFILE" + bytes(96),
        "header-alone": whole[:60],
        "header-alone-big-endian": b"2ELIFREP" + bytes(96),
    }.items():
        (folder / f"{name}.perf.data").write_bytes(raw)
    for name, raw in threads().items():
        (folder / "threads.perf.data").mkdir(exist_ok=True)
        (folder / "threads.perf.data" / name).write_bytes(raw)
    (folder / "folder-alone.perf.data").write_bytes(threads()["data"])


main()
