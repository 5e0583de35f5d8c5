#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Captures in the form that the Web Inspector of Safari 13 to 17 exports, with
invented code and times:

cook      scripts, frames of rendering, memory, markers, a request, and samples
          whose durations are those of the inspector: a record's share, or 1 ms
          outside of any
reversed  the members the other way around, one sample more than durations,
          and a capital that is written with \\u"""

import json
import pathlib

here = pathlib.Path(__file__).parent
URL = "file:///x/cook.js"
T = "timeline-record-type-"


def frame(name, line, at, url=URL):
    return {"sourceID": "8", "name": name, "line": line, "column": 15, "url": url,
            "expressionLocation": {"line": at, "column": 9}}


PROGRAM = frame("(program)", 1, 28)
STACKS = [
    [frame("", 2, 34, "__InjectedScript_CommandLineAPIModuleSource.js"),
     frame("injectModule", 109, 111, "__InjectedScript_InjectedScriptSource.js")],
    [frame("stir", 20, 22), frame("soup", 14, 16), frame("cook", 1, 4), PROGRAM],
    [frame("stir", 20, 23), frame("soup", 14, 16), frame("cook", 1, 4), PROGRAM],
    [frame("stir", 20, 22), frame("bread", 8, 10), frame("cook", 1, 3), PROGRAM],
    [{"sourceID": "-1", "name": "sort", "line": -1, "column": -1, "url": ""},
     frame("", 30, 31), frame("cook", 1, 5), PROGRAM],
    [],
]
TIMES = [4.472667262976756, 4.514140182000119, 4.516020926996134, 4.5172975349996705,
         4.518430622003507, 4.798422646999825]
DURATIONS = [0.001, 0.0015, 0.0015, 0.0015, 0.0015, 0.0005174240213818848]

RECORDS = [
    {"type": T + "cpu", "timestamp": 4.174319899990223, "usage": 21.7,
     "threads": [{"name": "Main Thread", "usage": 18.6, "type": "main"}]},
    {"type": T + "network", "archiveStartTime": 1595926028.6345506,
     "entry": {"startedDateTime": "2020-07-28T08:47:13.097Z", "time": 0,
               "request": {"method": "GET", "url": URL}}},
    {"type": T + "rendering-frame", "startTime": 4.467359638976632,
     "endTime": 4.492321582976729},
    {"type": T + "layout", "eventType": "recalculate-styles",
     "startTime": 4.471605148981325, "endTime": 4.471845255000517},
    {"type": T + "script", "eventType": "script-evaluated",
     "startTime": 4.513065324979834, "endTime": 4.519065324979834, "details": "",
     "extraDetails": None},
    {"type": T + "script", "eventType": "event-dispatched", "startTime": 4.6,
     "endTime": 4.601, "details": "click", "extraDetails": {"defaultPrevented": False}},
    {"type": T + "memory", "timestamp": 4.6,
     "categories": [{"type": "javascript", "size": 1048576},
                    {"type": "images", "size": 4096}]},
    {"type": T + "memory", "timestamp": 5.1,
     "categories": [{"type": "javascript", "size": 2097152},
                    {"type": "images", "size": 4096}]},
]


def recording(stacks, times, durations, records):
    return {
        "displayName": "Timeline Recording 1",
        "startTime": 4.163978071999736, "endTime": 6.692470462992787,
        "discontinuities": [],
        "instrumentTypes": [T + "network", T + "layout", T + "script", T + "memory"],
        "records": records,
        "markers": [{"time": 4.545802743989043, "type": "dom-content-event"},
                    {"time": 4.545883116981713, "type": "load-event"}],
        "memoryPressureEvents": [],
        "sampleStackTraces": [{"timestamp": t, "stackFrames": s}
                              for t, s in zip(times, stacks)],
        "sampleDurations": durations}


def turned(value):
    if isinstance(value, dict):
        return {k: turned(value[k]) for k in reversed(value)}
    return [turned(v) for v in value] if isinstance(value, list) else value


def write(name, document):
    (here / name).write_text(json.dumps(document, separators=(",", ":")) + "\n")


write("cook.json", {"version": 1, "recording": recording(STACKS, TIMES, DURATIONS, RECORDS),
                    "overview": {"secondsPerPixel": 0.01, "scrollStartTime": 2.9}})
few = [[frame("\u00c9plucher", 3, 4), PROGRAM], [PROGRAM]]
write("reversed.json", turned(
    {"version": 1, "recording": recording(few, TIMES[1:3], [0.002], RECORDS[-1:])}))
