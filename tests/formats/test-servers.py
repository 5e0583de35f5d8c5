#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Captures from servers and to servers: the requests, the results of the answers, and
the messages about servers that misbehave."""

import base64
import email
import gzip
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import zlib

from server import Server, build, captures, cli, make_certificate, wait_for
from protobuf import fields, varint

PPROF = captures / "pprof/cpu.pb"
SECOND = captures / "pprof/order-late.pb"
TRACE = captures / "go-trace/go119.trace"


def run(*words, **environment):
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith("FLAMBEAU_TOKEN") and not name.endswith("_proxy")}
    return subprocess.run([cli, *words], capture_output=True, text=True, timeout=60,
                          env={**clean, "DBUS_SESSION_BUS_ADDRESS": "disabled:", **environment})


def top(*words):
    return run("top", "--json", *words)


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="flam-net.")
        self.addCleanup(folder.cleanup)
        self.scratch = pathlib.Path(folder.name)
        self.server = self.serve()

    def serve(self, certificate=None):
        server = Server(certificate)
        self.addCleanup(server.close)
        return server

    def url(self, path="/", scheme="http"):
        return f"{scheme}://127.0.0.1:{self.server.port}{path}"

    def good(self, done):
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 0)
        return done.stdout

    def refused(self, url, *words, shown=None, **environment):
        """The error message, without the URL."""
        done = run("info", url, *words, **environment)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(done.stdout, "")
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        start = f"flambeau-cli: {shown or url}: "
        self.assertTrue(lines[0].startswith(start), lines[0])
        return lines[0][len(start):]


class Get(Case):
    def test_document(self):
        here = self.good(top(PPROF))
        self.server.answers["/debug/pprof/heap"] = PPROF.read_bytes()
        self.server.answers["/debug/pprof/packed"] = gzip.compress(PPROF.read_bytes())
        for name in "heap", "packed":
            with self.subTest(name):
                self.assertEqual(self.good(top(self.url("/debug/pprof/" + name))), here)
        self.assertEqual(self.server.requests[0].method, "GET")
        self.assertIsNone(self.server.requests[0].headers["Authorization"])

    def test_index(self):
        self.server.answers["/debug/pprof/profile"] = PPROF.read_bytes()
        self.good(top(self.url("/debug/pprof/?seconds=3")))
        self.assertEqual(self.server.requests[0].path, "/debug/pprof/profile?seconds=3")

    def test_two(self):
        self.server.answers["/old"] = PPROF.read_bytes()
        self.server.answers["/new"] = SECOND.read_bytes()
        self.assertEqual(self.good(run("diff", "--json", self.url("/old"), self.url("/new"))),
                         self.good(run("diff", "--json", PPROF, SECOND)))

    def test_both_at_once(self):
        """Each of the two waits until the other one is asked as well."""
        both = threading.Barrier(2, timeout=20)

        def answer(handler):
            both.wait()
            handler.send(200, PPROF.read_bytes())

        self.server.answers["/old"] = self.server.answers["/new"] = answer
        self.good(run("diff", self.url("/old"), self.url("/new")))

    def test_execution_trace(self):
        self.server.answers["/debug/pprof/trace"] = TRACE.read_bytes()
        self.assertEqual(self.good(top(self.url("/debug/pprof/trace"))),
                         self.good(top(TRACE)))

    def test_seconds_of_silence(self):
        """A server that records for a second does not count as slow."""
        def record(handler):
            time.sleep(1.5)
            handler.send(200, PPROF.read_bytes())

        self.server.answers["/debug/pprof/profile"] = record
        self.good(top(self.url("/debug/pprof/profile?seconds=20"), "--timeout", "1"))


class Stores(Case):
    def test_pyroscope(self):
        here = self.good(top(PPROF))
        asked = "/querier.v1.QuerierService/SelectMergeProfile"
        self.server.answers[asked] = PPROF.read_bytes()
        url = self.url("/?service=shop&region=e%22u&tenant=we&from=1700000000&to=1700000600",
                       "pyroscope+http")
        self.assertEqual(self.good(top(url)), here)
        request = self.server.requests[0]
        self.assertEqual(request.method, "POST")
        self.assertEqual(request.headers["Content-Type"], "application/proto")
        self.assertEqual(request.headers["X-Scope-OrgID"], "we")
        self.assertEqual(dict(fields(request.body)), {
            1: b"process_cpu:cpu:nanoseconds:cpu:nanoseconds",
            2: b'{service_name="shop",region="e\\"u"}',
            3: 1700000000000, 4: 1700000600000})

    def test_pyroscope_query(self):
        asked = "/base/querier.v1.QuerierService/SelectMergeProfile"
        self.server.answers[asked] = PPROF.read_bytes()
        before = time.time()
        self.good(top(self.url('/base/?query=memory:inuse_space:bytes:space:bytes{pod="a"}'
                               "&from=now-2h&to=-30m", "pyroscope+http")))
        said = dict(fields(self.server.requests[0].body))
        self.assertEqual(said[1], b"memory:inuse_space:bytes:space:bytes")
        self.assertEqual(said[2], b'{pod="a"}')
        self.assertLess(abs(said[3] / 1000 - (before - 7200)), 30)
        self.assertEqual(said[4] - said[3], 90 * 60 * 1000)

    def test_pyroscope_page(self):
        """The answer of older servers' render API."""
        path = captures / "pyroscope/single.json"
        self.server.answers["/pyroscope/render"] = path.read_bytes()
        self.assertEqual(
            self.good(top(self.url("/pyroscope/render?query=a.cpu&from=now-1h&until=now"))),
            self.good(top(path)))

    def test_parca(self):
        here = self.good(top(PPROF))
        packed = base64.b64encode(gzip.compress(PPROF.read_bytes())).decode()
        self.server.answers["/api/profiles/query"] = json.dumps(
            {"total": "30", "filtered": "0", "pprof": packed}).encode()
        url = self.url("/?service=shop&type=memory&from=1700000000&to=1700000060.5", "parca+http")
        self.assertIn("expected a time", self.refused(url))
        url = url.replace("60.5", "60")
        self.assertEqual(self.good(top(url)), here)
        self.assertEqual(
            self.server.requests[0].path,
            "/api/profiles/query?mode=MODE_MERGE"
            "&merge.query=memory%3Ainuse_space%3Abytes%3Aspace%3Abytes%7Bjob%3D%22shop%22%7D"
            "&merge.start=2023-11-14T22%3A13%3A20.000Z&merge.end=2023-11-14T22%3A14%3A20.000Z"
            "&report_type=REPORT_TYPE_PPROF")

    def test_none(self):
        """Pyroscope answers with nothing, or with one nameless sample type, a period type,
        an empty string, and the time and length of the range."""
        asked = "/querier.v1.QuerierService/SelectMergeProfile"
        empty = (b"\x0a\x00\x32\x00\x48" + varint(1700000600 * 10 ** 9) +
                 b"\x50" + varint(600 * 10 ** 9) + b"\x5a\x00")
        for answer in b"", empty:
            self.server.answers[asked] = answer
            self.assertEqual(self.refused(self.url("/?service=x", "pyroscope+http")),
                             "the server has no such profile in this range")
        packed = base64.b64encode(gzip.compress(empty)).decode()
        self.assertEqual(self.parca(json.dumps({"pprof": packed}).encode()),
                         "the server has no such profile in this range")

    def test_words(self):
        for words, why in {
                "type=gpu": "type=gpu is unknown",
                "from=noon": "from=noon: expected a time",
                "from=now&to=-1h": "the time range ends before it begins",
                "%zz": "KEY=VALUE",
        }.items():
            with self.subTest(words):
                self.assertIn(why, self.refused(self.url("/?" + words, "pyroscope+http")))
        self.assertIn("none can be read back from them", self.refused(self.url("/", "otlp+http")))
        self.assertIn("the answer is not in Parca's format", self.parca(b"[1"))
        self.assertIn("the answer is not in Parca's format", self.parca(b"{}"))
        self.assertEqual(self.server.requests[:-2], [])

    def parca(self, answer):
        self.server.answers["/api/profiles/query"] = answer
        return self.refused(self.url("/?service=x", "parca+http"))


class Refused(Case):
    def test_status(self):
        self.server.answers.update({
            "/lost": (404, b"404 page not found\nand more"),
            "/page": (500, b"<html><body>Oops</body></html>"),
            "/json": (400, b'{"code":"invalid_argument","message":"no such\\u001b[31mtype"}'),
            "/secret": (401, b"who are you?"),
        })
        self.assertEqual(self.refused(self.url("/lost")),
                         "the server answers with error 404: 404 page not found")
        self.assertEqual(self.refused(self.url("/page")), "the server answers with error 500")
        self.assertEqual(self.refused(self.url("/json")),
                         r"the server answers with error 400: no such\x1b[31mtype")
        self.assertEqual(self.refused(self.url("/secret")),
                         "the server refuses access (401: who are you?); provide a token with "
                         "--token-file, $FLAMBEAU_TOKEN or the keyring")

    def test_garbage(self):
        self.server.answers.update({"/empty": b"", "/noise": bytes(range(256)) * 64})
        self.assertEqual(self.refused(self.url("/empty")), "the answer is empty")
        self.assertEqual(self.refused(self.url("/noise")),
                         "this is not a capture that Flambeau can open")

    def test_not_http(self):
        def other(handler):
            handler.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
            handler.close_connection = True

        def continues(handler):
            while True:
                handler.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")

        self.server.answers.update({"/other": other, "/continues": continues})
        for path in "/other", "/continues":
            with self.subTest(path):
                self.assertEqual(self.refused(self.url(path)),
                                 "the server does not use HTTP")

    def test_huge(self):
        def huge(handler):
            handler.send_response(200)
            handler.send_header("Content-Length", str(4 << 30))
            handler.end_headers()
            handler.wfile.write(bytes(1 << 16))
            time.sleep(30)

        self.server.answers["/huge"] = huge
        self.assertEqual(self.refused(self.url("/huge")),
                         "the server sends more data than a capture may contain")

    def test_cut(self):
        def cut(handler):
            handler.send_response(200)
            handler.send_header("Content-Length", "5000")
            handler.end_headers()
            handler.wfile.write(bytes(100))
            handler.close_connection = True

        self.server.answers["/cut"] = cut
        self.assertEqual(self.refused(self.url("/cut")),
                         "the server closed the connection in the middle of its answer")

    def test_half(self):
        """A whole answer with half a document: what it has is shown."""
        whole = (captures / "flambeau/family.flambeau").read_bytes()
        self.server.answers["/half"] = whole[:len(whole) // 2]
        info = json.loads(self.good(run("info", "--json", self.url("/half"))))
        self.assertFalse(info["complete"])
        self.server.answers["/half.pb"] = PPROF.read_bytes()[:300]
        info = json.loads(self.good(run("info", "--json", self.url("/half.pb"))))
        self.assertFalse(info["complete"])

    @unittest.skipUnless(os.environ.get("FLAM_TEST_ALL"), "it takes seconds")
    def test_bomb(self):
        """4 MB that unpack to 4 GB."""
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        packed = b"".join(packer.compress(bytes(1 << 24)) for _ in range(256)) + packer.flush()
        self.server.answers["/bomb"] = lambda handler: handler.send(
            200, packed, Content_Encoding="gzip")
        self.assertEqual(self.refused(self.url("/bomb")),
                         "the server sends more data than a capture may contain")

    def test_silent(self):
        def silent(handler):
            time.sleep(30)

        def stalls(handler):
            handler.send_response(200)
            handler.send_header("Content-Length", "5000")
            handler.end_headers()
            handler.wfile.write(bytes(100))
            handler.wfile.flush()
            time.sleep(30)

        def drips(handler):
            handler.send_response(200)
            handler.end_headers()
            for _ in range(300):
                handler.wfile.write(b"\n")
                handler.wfile.flush()
                time.sleep(0.1)

        self.server.answers.update({"/silent": silent, "/stalls": stalls, "/drips": drips})
        self.assertEqual(self.refused(self.url("/drips"), "--timeout", "1"),
                         "the server sends less than 1 kB per second")
        for path in "/silent", "/stalls":
            with self.subTest(path):
                self.assertEqual(self.refused(self.url(path), "--timeout", "1"),
                                 "the server does not answer")

    def test_nobody(self):
        self.server.close()
        self.assertIn("Connection refused", self.refused(self.url("/")))

    def test_busy(self):
        self.server.answers["/busy"] = [(503, b""), (429, b""), PPROF.read_bytes()]
        self.good(top(self.url("/busy")))
        self.assertEqual(len(self.server.requests), 3)
        self.server.answers["/always"] = (503, b"later")
        self.assertEqual(self.refused(self.url("/always")),
                         "the server answers with error 503: later")
        self.assertEqual(len(self.server.requests), 6)

    def test_busy_for_long(self):
        """All tries share the time of one, also those of a push: a server that takes it
        to refuse is not tried again."""
        def refuse(handler):
            time.sleep(0.9)
            handler.send(503, b"later")

        self.server.answers["/ingest"] = [refuse, b""]
        slow = run("push", captures / "flambeau/family.flambeau", "--timeout", "1", "--to",
                   f"pyroscope+http://127.0.0.1:{self.server.port}/?service=shop")
        self.assertEqual(slow.returncode, 1, slow.stderr)
        self.assertEqual([request.path.split("?")[0] for request in self.server.requests],
                         ["/ingest"])

    def test_addresses(self):
        self.assertIn("no host", self.refused("http:///x"))
        self.assertEqual(run("info", "ftp://127.0.0.1/x").returncode, 1)


class Secrets(Case):
    def test_tokens(self):
        file = self.scratch / "token"
        file.write_text("from-file\n")
        self.server.answers["/x"] = PPROF.read_bytes()
        plain = self.url("/x")
        user = plain.replace("//", "//me@")
        both = plain.replace("//", "//me:own@")
        basic = base64.b64encode(b"me:from-variable").decode()
        own = base64.b64encode(b"me:own").decode()
        for words, variables, header in (
                ([plain], {"FLAMBEAU_TOKEN": "from-variable"}, "Bearer from-variable"),
                ([plain], {"FLAMBEAU_TOKEN": "no", "FLAMBEAU_TOKEN_FILE": str(file)},
                 "Bearer from-file"),
                ([plain, "--token-file", file], {"FLAMBEAU_TOKEN": "no"}, "Bearer from-file"),
                ([user], {"FLAMBEAU_TOKEN": "from-variable"}, "Basic " + basic),
                ([both], {"FLAMBEAU_TOKEN": "no"}, "Basic " + own)):
            with self.subTest(words[0]):
                self.good(run("info", "--json", *words, **variables))
                self.assertEqual(self.server.requests[-1].headers["Authorization"], header)

    def test_hidden(self):
        self.server.answers["/x"] = (500, b"")
        self.refused(self.url("/x").replace("//", "//me:own@"),
                     shown=self.url("/x").replace("//", "//me@"))

    def test_line_break(self):
        self.assertIn("characters that tokens cannot have",
                      self.refused(self.url("/x"), FLAMBEAU_TOKEN="a\r\nHost: evil"))
        self.assertEqual(self.server.requests, [])

    def test_redirection(self):
        """Another server gets the request, but not the token; a loop ends."""
        other = self.serve()
        other.answers["/y"] = PPROF.read_bytes()
        self.server.answers["/x"] = lambda handler: handler.send(
            302, Location=f"http://127.0.0.1:{other.port}/y")
        self.server.answers["/loop"] = lambda handler: handler.send(302, Location="/loop")
        self.good(run("info", "--json", self.url("/x"), FLAMBEAU_TOKEN="secret"))
        self.assertEqual(self.server.requests[0].headers["Authorization"], "Bearer secret")
        self.assertIsNone(other.requests[0].headers["Authorization"])
        self.assertEqual(self.refused(self.url("/loop")),
                         "the server redirects too often")

    def test_proxy(self):
        """libproxy, which newer GLibs ask, leaks; only whole stacks show that it does."""
        self.server.answers["http://example.invalid/x"] = PPROF.read_bytes()
        sanitizer = os.environ.get("ASAN_OPTIONS", "")
        self.good(run("info", "--json", "http://example.invalid/x",
                      http_proxy=f"http://127.0.0.1:{self.server.port}",
                      ASAN_OPTIONS=f"{sanitizer}:fast_unwind_on_malloc=0"))


class Tls(Case):
    def setUp(self):
        super().setUp()
        self.certificate = make_certificate(self.scratch)
        if self.certificate is None:
            self.skipTest("openssl is not installed")
        self.server = self.serve(self.certificate)
        self.server.answers["/x"] = PPROF.read_bytes()

    def test_trusted(self):
        url = f"https://localhost:{self.server.port}/x"
        self.good(run("info", "--json", url, SSL_CERT_FILE=str(self.certificate)))

    def test_unknown(self):
        url = f"https://localhost:{self.server.port}/x"
        self.assertEqual(self.refused(url), "its certificate was not issued by an authority that this "
                                            "system trusts")
        self.assertEqual(self.server.requests, [])

    def test_other_host(self):
        url = f"https://127.0.0.1:{self.server.port}/x"
        self.assertEqual(self.refused(url, SSL_CERT_FILE=str(self.certificate)),
                         "its certificate is for another host")


    def test_downgrade(self):
        """A token for a server with TLS is not sent on without it."""
        other = self.serve()
        other.answers["/y"] = PPROF.read_bytes()
        self.server.answers["/x"] = lambda handler: handler.send(
            302, Location=f"http://localhost:{other.port}/y")
        run("info", f"https://localhost:{self.server.port}/x", FLAMBEAU_TOKEN="secret",
            SSL_CERT_FILE=str(self.certificate))
        self.assertEqual(self.server.requests[0].headers["Authorization"], "Bearer secret")
        self.assertEqual([one.headers["Authorization"] for one in other.requests if
                          one.headers["Authorization"]], [])

    def test_mistaken(self):
        """TLS to a server that has none, and none to one that has."""
        other = self.serve()
        self.assertEqual(self.refused(f"https://localhost:{other.port}/x"),
                         "the server does not use TLS (https)")
        self.assertEqual(self.refused(f"http://localhost:{self.server.port}/x"),
                         "the server closed the connection without an answer")


class ClickHouse(Case):
    """What is not one."""

    def answer(self, *answers):
        self.server.answers["/"] = list(answers)
        return self.refused(self.url("/db?service=x", "clickhouse"))

    def test_answers(self):
        good = [b"cpu\tnanoseconds\n", b"0\t7\t5\n", b"7\t['main\\t\\t\\t0']\n"]
        wrong = "the answer is not one of ClickHouse's"
        self.assertEqual(self.answer(b""), "the server has no such profile in this range")
        self.assertEqual(self.answer(b"<html>"), wrong)
        self.assertEqual(self.answer(b"\t\n" * 100), wrong)
        self.assertEqual(self.answer(b"".join(b"m%d\tcount\n" % i for i in range(5000))), wrong)
        for rows in (b"0\t7\n", b"0\t7\t", b"1\t7\t5\n", b"-1\t7\t5\n", b"0\t7\t-5\n", b"x",
                     b"0\t7\t5\nCode: 241, e.displayText() = DB::Exception: Memory limit\n"):
            self.assertEqual(self.answer(good[0], rows, good[2]), wrong, rows)
        self.assertEqual(self.answer(good[0], (500, b"Code: 241, e.displayText()\nmore")),
                         "the server answers with error 500: Code: 241, e.displayText()")
        # Frames that are missing or damaged leave the sums as they are.
        for frames in good[2], b"", b"7\t['main", b"7", b"\xff\x00\n\n", b"['a']\n" * 9:
            self.server.answers["/"] = [good[0], good[1], frames]
            shown = json.loads(self.good(top(self.url("/db?service=x", "clickhouse"))))
            self.assertEqual(shown["total"], 5, frames)


def part(request, name):
    """A field of a form."""
    head = f"Content-Type: {request.headers['Content-Type']}\r\n\r\n".encode()
    for one in email.message_from_bytes(head + request.body).get_payload():
        if one.get_param("name", header="content-disposition") == name:
            return one.get_payload(decode=True)
    return None


class Push(Case):
    capture = captures / "flambeau/family.flambeau"

    def totals(self, path):
        info = json.loads(self.good(run("info", "--json", path)))
        return {row["id"]: row["total"] for row in info["measures"]}

    def test_pyroscope(self):
        self.server.answers["/ingest"] = b""
        self.good(run("push", self.capture, "--to",
                      self.url("/?service=shop&region=eu", "pyroscope+http")))
        request = self.server.requests[0]
        self.assertRegex(request.path, r"^/ingest\?name=shop%7Bregion%3Deu%7D&from=\d+&until=\d+"
                                       r"&spyName=flambeau$")
        sent = self.scratch / "sent.pb"
        sent.write_bytes(gzip.decompress(part(request, "profile")))
        before, after = self.totals(self.capture), self.totals(sent)
        self.assertEqual(after["cpu"], before["cpu-time"])
        self.assertEqual(set(json.loads(part(request, "sample_type_config"))), set(after))
        start, end = (int(n) for n in re.findall(r"(?:from|until)=(\d+)", request.path))
        info = json.loads(self.good(run("info", "--json", self.capture)))
        self.assertAlmostEqual(end - start, info["duration_ns"] / 1e9, delta=2)

    def test_otlp(self):
        self.server.answers["/v1development/profiles"] = b""
        self.good(run("push", self.capture, "--to",
                      self.url("/?service=shop&region=eu", "otlp+http")))
        request = self.server.requests[0]
        self.assertEqual(request.headers["Content-Type"], "application/x-protobuf")
        self.assertEqual(request.headers["Content-Encoding"], "gzip")
        sent = self.scratch / "sent.otlp"
        sent.write_bytes(gzip.decompress(request.body))
        before, after = self.totals(self.capture), self.totals(sent)
        self.assertEqual(after["cpu"], before["cpu-time"])
        shop = json.loads(self.good(top(sent, "--label", "region=eu", "--label",
                                        "service.name=shop", "--measure", "cpu")))
        self.assertEqual(shop["total"], after["cpu"])

    def test_otlp_partly(self):
        said = b"\x08\x02" + b"\x12" + varint(9) + b"too large"
        self.server.answers["/v1development/profiles"] = b"\x0a" + varint(len(said)) + said
        done = run("push", self.capture, "--to", self.url("/v1development/profiles"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("the server rejected 2 profiles: too large", done.stderr)

    def test_several(self):
        """A capture that cannot be read does not prevent the others from being
        sent."""
        self.server.answers["/ingest"] = b""
        done = run("push", self.capture, self.scratch / "none", PPROF, "--to",
                   self.url("/ingest"))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertEqual(len(self.server.requests), 2)

    def test_wrong(self):
        self.assertEqual(run("push", self.capture).returncode, 2)
        for url in "x", self.url("/other"):
            done = run("push", self.capture, "--to", url)
            self.assertEqual(done.returncode, 2, done.stderr)
        self.server.answers["/ingest"] = (422, b"failed to parse")
        # A proxy's page in place of ClickHouse's answer: nothing is in the store.
        self.server.answers["/"] = b"<html>Welcome</html>"
        done = run("push", self.capture, "--to", f"clickhouse://127.0.0.1:{self.server.port}/db")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertIn("the answer is not one of ClickHouse's", done.stderr)
        done = run("push", self.capture, "--to", self.url("/ingest"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("error 422: failed to parse", done.stderr)
        # Status 200 alone does not mean that a profile server took it.
        for path, answer, why in (
                ("/ingest", b"\n<!DOCTYPE html><title>Log in</title>", "the answer is a web page"),
                ("/v1development/profiles", b"<html>Log in</html>", "not an OTLP server's"),
                ("/v1development/profiles", b"OK", "not an OTLP server's")):
            self.server.answers[path] = answer
            done = run("push", self.capture, "--to", self.url(path))
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
            self.assertIn(why, done.stderr)


class Rounds(Case):
    """record --push: the recorder's own figures are tested elsewhere."""

    def start(self, *words):
        target = subprocess.Popen(
            ["python3", "-c", "while True: sum(range(1000))"], stdout=subprocess.DEVNULL)
        self.addCleanup(target.wait)
        self.addCleanup(target.kill)
        recorder = subprocess.Popen(
            [cli, "record", "--pid", str(target.pid), *words], stderr=subprocess.PIPE, text=True,
            env={**os.environ, "TMPDIR": str(self.scratch)})
        self.addCleanup(recorder.stderr.close)
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        return target, recorder

    def samples(self, path):
        """Of a capture that grows."""
        done = run("info", "--json", path)
        return done.returncode == 0 and json.loads(done.stdout)["samples"]

    def test_every(self):
        """Captures come one after the other, until the process ends; a server that refuses
        one gets the next."""
        self.server.answers["/ingest"] = [(500, b"full"), b""]
        target, recorder = self.start("--every", "1", "--for", "0.3", "--push",
                                      self.url("/?service=busy", "pyroscope+http"))
        wait_for(lambda: len(self.server.requests) >= 3)
        target.kill()
        target.wait()
        self.assertEqual(recorder.wait(timeout=30), 0)
        self.assertIn("error 500: full", recorder.stderr.read())
        self.assertEqual(list(self.scratch.iterdir()), [])
        starts = [int(re.search(r"from=(\d+)", request.path)[1])
                  for request in self.server.requests]
        self.assertEqual(starts, sorted(starts))
        sent = self.scratch / "sent.pb"
        sent.write_bytes(gzip.decompress(part(self.server.requests[1], "profile")))
        rows = json.loads(self.good(top(sent)))["rows"]
        self.assertIn("<module>", {row["function"] for row in rows})

    def test_interrupted(self):
        """The part that was recorded before Ctrl+C is sent."""
        self.server.answers["/v1development/profiles"] = b""
        target, recorder = self.start("--every", "100", "--for", "90", "--push",
                                      self.url("/", "otlp+http"))
        wait_for(lambda: any(self.samples(path) for path in self.scratch.glob("*/*")))
        recorder.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(timeout=30), 0)
        self.assertEqual(len(self.server.requests), 1)
        self.assertIsNone(target.poll())
        self.assertEqual(list(self.scratch.iterdir()), [])

    def test_options(self):
        for words in (["--every", "5", "--for", "1"], ["--every", "1", "--for", "5", "--push", "x"],
                      ["--push", "x"], ["--every", "5", "--push", "otlp+http://localhost"]):
            with self.subTest(words):
                self.assertEqual(run("record", "--pid", "1", *words).returncode, 2)


if __name__ == "__main__":
    os.environ.setdefault("FLAM_BUILD_ROOT", str(build))
    unittest.main(verbosity=2)
