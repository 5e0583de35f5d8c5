# SPDX-License-Identifier: GPL-3.0-or-later
"""An sshd of the tests' own on loopback, and a client that uses none of the user's
settings."""

import contextlib
import getpass
import os
import pathlib
import shutil
import socket
import stat
import subprocess

SSHD = shutil.which("sshd") or "/usr/sbin/sshd"
IS_HERE = os.access(SSHD, os.X_OK) and shutil.which("ssh") is not None


def free_port():
    with contextlib.closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def write_script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


class Sshd:
    """Its files are in `scratch`; the recorder goes into `cache`. The client `ssh` of
    `binaries` reaches it as `host`, and as tests-own."""

    def __init__(self, scratch, cache, binaries):
        self.scratch, self.binaries = scratch, binaries
        self.port = free_port()
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", 0o755, exist_ok=True)
        for name in "server", "user", "stranger":
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", scratch / name],
                           check=True)
        shutil.copy(scratch / "user.pub", scratch / "allowed")
        config = scratch / "sshd_config"
        config.write_text(f"""
ListenAddress 127.0.0.1
Port {self.port}
HostKey {scratch}/server
AuthorizedKeysFile {scratch}/allowed
PidFile none
StrictModes no
UsePAM no
PermitRootLogin yes
SetEnv "XDG_CACHE_HOME={cache}"
""")
        self.daemon = subprocess.Popen([SSHD, "-D", "-e", "-f", config], stderr=subprocess.DEVNULL)
        self.host = f"ssh://{getpass.getuser()}@127.0.0.1:{self.port}"
        # As a person has it, with a name.
        (scratch / "config").write_text(f"""
Host tests-own
  HostName 127.0.0.1
  Port {self.port}
  User {getpass.getuser()}
""")
        self.trust("known", "server")
        self.client("user", "known")

    def trust(self, known, key):
        """A file of known hosts in which this is the server's key."""
        text = (self.scratch / f"{key}.pub").read_text()
        (self.scratch / known).write_text(f"[127.0.0.1]:{self.port} {text}")

    def client(self, key, known, after=""):
        """Its process is in the file `client`."""
        write_script(self.binaries / "ssh", f"""echo $$ >{self.scratch}/client
exec /usr/bin/ssh -F {self.scratch}/config -i {self.scratch}/{key} -o IdentitiesOnly=yes -o BatchMode=yes \
  -o UserKnownHostsFile={self.scratch}/{known} -o GlobalKnownHostsFile=none "$@" {after}""")

    def client_process(self):
        return int((self.scratch / "client").read_text())

    def answers(self):
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port)).close()
            return True
        return self.daemon.poll() is not None

    def close(self):
        self.daemon.terminate()
        self.daemon.wait()
