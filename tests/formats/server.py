# SPDX-License-Identifier: GPL-3.0-or-later
"""A server on loopback that gives the answers that a test sets, and keeps the
requests."""

import http.server
import os
import pathlib
import shutil
import ssl
import subprocess
import threading
import time
import types

root = pathlib.Path(__file__).resolve().parent.parent.parent
build = pathlib.Path(os.environ.get("FLAM_BUILD_ROOT", root / "_test"))
cli = build / "app/cli/flambeau-cli"
captures = root / "tests/captures"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.requests.append(types.SimpleNamespace(
            method=self.command, path=self.path, headers=self.headers, body=body))
        path = self.path.split("?")[0]
        said = self.server.answers[path]
        if isinstance(said, list):
            said = said.pop(0) if len(said) > 1 else said[0]
        try:
            if callable(said):
                said(self)
            elif isinstance(said, tuple):
                self.send(*said)
            else:
                self.send(200, said)
        except (BrokenPipeError, ConnectionResetError):
            pass

    do_GET = do_POST = answer

    def send(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in {"Content-Length": len(body), **headers}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    # A thread that waits on purpose is not waited for.
    block_on_close = False

    def __init__(self, certificate=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.requests = {}, []
        self.port = self.server_address[1]
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(
                self.socket, server_side=True, do_handshake_on_connect=False)
        # shutdown() takes as long as one of its turns.
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def handle_error(self, request, client_address):
        pass  # a client that goes away, or does not trust us

    def close(self):
        self.shutdown()
        self.server_close()


def make_certificate(folder):
    """A certificate for a server that is its own authority; None: openssl is
    not installed."""
    if not shutil.which("openssl"):
        return None
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
         "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
        check=True, capture_output=True)
    certificate.write_bytes(certificate.read_bytes() + key.read_bytes())
    return certificate


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it did not happen in time")
        time.sleep(0.02)
