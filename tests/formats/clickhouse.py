# SPDX-License-Identifier: GPL-3.0-or-later
"""A ClickHouse of one's own on loopback, in a temporary folder."""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import urllib.parse
import urllib.request

from server import wait_for

PROGRAM = shutil.which("clickhouse-server", path=os.environ.get("PATH", "") + ":/usr/sbin")
TOKEN = "secret"

CONFIG = """<yandex>
<logger><level>warning</level><console>1</console></logger>
<http_port>{port}</http_port><listen_host>127.0.0.1</listen_host>
<path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path>
<users_config>{folder}/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>67108864</mark_cache_size>
</yandex>
"""
USERS = """<yandex><profiles><default><max_threads>2</max_threads></default></profiles>
<users><default><password>{token}</password><networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></default></users>
<quotas><default/></quotas></yandex>
"""


class ClickHouse:
    """Raises AssertionError if it does not start."""

    def __init__(self, parent=None):
        self.kept = tempfile.TemporaryDirectory(prefix="flam-clickhouse.", dir=parent)
        self.folder = pathlib.Path(self.kept.name)
        self.log = ""  # once it has been stopped
        (self.folder / "users.xml").write_text(USERS.format(token=TOKEN))
        # Another test may take the port before it does: it ends then, or the other answers.
        for _ in range(3):
            self.start()
            with contextlib.suppress(AssertionError):
                wait_for(lambda: self.ask("SELECT 1") == "1\n" or self.process.poll() is not None)
            if self.process.poll() is None and self.ask("SELECT 1") == "1\n":
                return
            self.end()
        self.stop()
        raise AssertionError(self.log[-1000:])

    def start(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        (self.folder / "config.xml").write_text(CONFIG.format(port=self.port, folder=self.folder))
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [PROGRAM, f"--config-file={self.folder}/config.xml"],
                cwd=self.folder, stdout=log, stderr=log)

    def end(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.end()
        self.log = (self.folder / "log").read_text(errors="replace")
        self.kept.cleanup()

    def ask(self, statement, post=False):
        """Its answer; None: it refuses."""
        url = (f"http://127.0.0.1:{self.port}/?password={TOKEN}"
               f"&query={urllib.parse.quote(statement)}")
        try:
            return urllib.request.urlopen(url, data=b"" if post else None).read().decode()
        except OSError:
            return None

    def url(self, database, words=""):
        return f"clickhouse://default@127.0.0.1:{self.port}/{database}?from=0100000000&{words}"
