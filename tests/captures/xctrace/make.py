#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Captures in the form in which `xctrace export` writes the tables time-profile
(Xcode 14.3 and later), cpu-profile, and time-sample or what came before:

time     two threads of two processes, elements referred to by id, a frame
         without a name, a line of source, the kernel, a row without a stack,
         blocked and running, entities in names, a row of another table
cycles   weights of cycles, frames right below the tagged backtrace
old      addresses without names
beyond   a weight below zero, one that no integer holds, a row without a time
none     the answer to a path that matches nothing"""

import pathlib
from xml.sax.saxutils import quoteattr

here = pathlib.Path(__file__).parent
ids = {}


def once(name, key, attributes, inner):
    """An element as xctrace writes it: the second time it is a reference."""
    if (name, key) in ids:
        return f'<{name} ref="{ids[name, key]}"/>'
    body = inner() if callable(inner) else inner
    ids[name, key] = number = len(ids) + 1
    text = " ".join(f"{k}={quoteattr(v)}" for k, v in attributes.items())
    head = f'<{name} id="{number}"' + (f" {text}" if text else "")
    return f"{head}>{body}</{name}>" if body else f"{head}/>"


def process(name, pid):
    return once("process", pid, {"fmt": f"{name} ({pid})"}, lambda: once(
        "pid", pid, {"fmt": str(pid)}, str(pid)) + once(
        "device-session", "device", {"fmt": "device"}, "device"))


def thread(name, tid, program, pid):
    return once("thread", tid, {"fmt": f"{name} 0x{tid:x} ({program}, pid: {pid})"},
                lambda: once("tid", tid, {"fmt": f"0x{tid:x}"}, str(tid))
                + process(program, pid))


BINARIES = {
    "cook": ("/Users/cook/soup.app/cook", "0x100000000",
             "0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0"),
    "libsystem_c.dylib": ("/usr/lib/system/libsystem_c.dylib", "0x1a0241000",
                          "E5D90565-FA1A-3112-B048-59E321191677"),
    "kernel": ("/System/Library/Kernels/kernel.release.t6000", "0xfffffe0007004000",
               "11111111-2222-3333-4444-555555555555"),
}


def binary(name):
    path, load, uuid = BINARIES[name]
    return once("binary", name, {"name": name, "UUID": uuid, "arch": "arm64e",
                                 "load-addr": load, "path": path}, "")


def frame(name, address, of, source=None):
    def inner():
        text = binary(of)
        if source:
            path, line = source
            text += f'<source line="{line}">' + once("path", path, {}, path) + "</source>"
        return text
    return once("frame", (name, address), {"name": name, "addr": address}, inner)


BOIL = ("boil", "0x100000454", "cook", ("/Users/cook/soup.c", 39))
STIR = ("stir<int, char>(int&)", "0x100000554", "cook", ("/Users/cook/soup.c", 45))
MAIN = ("main", "0x100000654", "cook", ("/Users/cook/soup.c", 60))
COPY = ("memmove", "0x1a0241c35", "libsystem_c.dylib")
BARE = ("0x1a0254360", "0x1a0254360", "libsystem_c.dylib")
TRAP = ("mach_msg_trap", "0xfffffe0007004100", "kernel")


def backtrace(frames, tagged=True, inner=True):
    def text():
        return "".join(frame(*f) for f in frames)
    title = {"fmt": f"{frames[0][0]} ← ({len(frames) - 1} other frames)"}
    if not tagged:
        return once("backtrace", str(frames), title, text)
    if not inner:
        return once("tagged-backtrace", str(frames), title, text)
    return once("tagged-backtrace", str(frames), title,
                lambda: once("backtrace", str(frames), {}, text))


def row(time, who, state, weight, stack):
    seconds = time / 1e9
    return ("<row>" + once("sample-time", time, {"fmt": f"00:{seconds:06.3f}"}, str(time))
            + thread(*who) + process(*who[2:])
            + once("core", 0, {"fmt": "CPU 0 (E Core)"}, "0")
            + once("thread-state", state, {"fmt": state}, state) + weight
            + (stack() if callable(stack) else stack) + "</row>\n")


def ms(n):
    return once("weight", n, {"fmt": f"{n / 1e6:.2f} ms"}, str(n))


def schema(name):
    columns = "".join(f"<col><mnemonic>{m}</mnemonic><name>{m}</name></col>" for m in
                      ("time", "thread", "process", "core", "thread-state", "weight", "stack"))
    return f'<schema name="{name}">{columns}</schema>'


def write(name, *tables):
    nodes = "".join(f"<node xpath='//trace-toc[1]/run[1]/data[1]/table[{13 + i}]'>"
                    f"{schema(table)}{rows}</node>\n"
                    for i, (table, rows) in enumerate(tables))
    (here / name).write_text(f'<?xml version="1.0"?>\n<trace-query-result>\n{nodes}'
                             "</trace-query-result>\n")
    ids.clear()


SOUP = ("Main Thread", 0x12aa, "cook", 581)
POOL = ("worker & Co.", 0x12ab, "cook", 581)
OTHER = ("Main Thread", 0x30, "WindowServer (x)", 90)
write("time.xml", ("time-profile", "".join([
    row(300613208, SOUP, "Running", ms(1000000), backtrace([COPY, BOIL, MAIN])),
    row(301613208, SOUP, "Running", ms(1000000), backtrace([COPY, BOIL, MAIN])),
    row(302613208, SOUP, "Running", ms(1000000), backtrace([STIR, BOIL, MAIN])),
    row(302713208, POOL, "Running", ms(2000000), backtrace([BARE, STIR])),
    row(303613208, POOL, "Blocked", ms(1000000), backtrace([TRAP, BARE, STIR])),
    row(303713208, OTHER, "Running", ms(1000000), "<sentinel/>"),
])), ("tick", "<row>" + once("sample-time", 5, {"fmt": "00:00.000"}, "5") + "</row>\n"))
write("cycles.xml", ("cpu-profile", "".join(
    row(time, SOUP, "Running",
        once("cycle-weight", n, {"fmt": f"{n / 1e6:.2f} Mc"}, str(n)),
        backtrace(stack, inner=False))
    for time, n, stack in ((1000, 1033234, [BOIL, MAIN]), (2000, 1000000, [BOIL, MAIN]),
                           (3000, 900000, [MAIN])))))
write("old.xml", ("time-sample", row(
    39455000, SOUP, "Running", ms(1000000),
    lambda: '<backtrace id="123" fmt="boil ← (1 other frame)">' + process("cook", 581)
    + '<text-addresses id="124" fmt="frag 1">4294968404 4294968916</text-addresses>'
    "</backtrace>")))
write("beyond.xml", ("time-profile", "".join([
    row(1000, SOUP, "Running", ms(1000000), backtrace([BOIL, MAIN])),
    row(2000, SOUP, "Running", ms(-7), backtrace([BOIL, MAIN])),
    row(3000, SOUP, "Running", ms(10**30), backtrace([BOIL, MAIN])),
    "<row><sentinel/>" + thread(*SOUP) + ms(2000000) + backtrace([MAIN]) + "</row>\n",
])))
write("none.xml")
