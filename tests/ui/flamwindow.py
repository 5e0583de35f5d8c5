# SPDX-License-Identifier: GPL-3.0-or-later
"""Drives Flambeau's window through its accessibility tree.

Everything waits for a condition with a generous limit, so that a loaded
machine makes a test slow and never wrong. Runs below with-display, which gives
it an X server, a session bus and settings of its own."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from accessible import Atspi, GLib, Look, application

LIMIT = float(os.environ.get("FLAM_UI_LIMIT", "60"))
BUILD = pathlib.Path(os.environ["FLAM_BUILD_ROOT"])
SOURCE = pathlib.Path(os.environ["FLAM_SOURCE_ROOT"])
CAPTURES = pathlib.Path(os.environ.get("FLAM_CAPTURES", ""))
# Without a window manager, the window's invisible border is at the corner.
BORDER = 5

GTK = subprocess.run(
    ["pkg-config", "--modversion", "gtk4"], capture_output=True, text=True, check=True
).stdout
# The items of menus are GTK's own, which have no names from 4.10 on.
ITEMS_SPEAK = tuple(map(int, GTK.split(".")[:2])) < (4, 10)
# From then on GTK also names a row of a table by what its cells show, in their order;
# before, the name of a row begins with its function.
ROWS_BY_NAME = ITEMS_SPEAK


def has_library(name, version):
    """Whether it has at least that version."""
    return subprocess.run(
        ["pkg-config", f"--atleast-version={version}", name], check=False
    ).returncode == 0


def plain(text):
    """Without the narrow and the non-breaking spaces of figures."""
    return re.sub("[\u202f\u00a0]", " ", text)


def is_row_of(node, name):
    """Whether a row of a table is that of the function."""
    if ROWS_BY_NAME:
        return node.name.startswith(f"{name} ")
    return f" {name} " in f" {plain(node.name)} "


class NotSeen(AssertionError):
    pass


def wait_for(what, condition, limit=LIMIT):
    """The first true value of condition(); NotSeen after `limit` seconds. A
    widget that vanishes meanwhile, or a next() that finds none, counts as
    false."""
    end = time.monotonic() + limit
    while True:
        try:
            value = condition()
        except (GLib.Error, StopIteration):
            value = None
        if value:
            return value
        if time.monotonic() > end:
            raise NotSeen(f"not seen in {limit:.0f} s: {what}")
        time.sleep(0.05)


def warnings_in(text, pid):
    """The warnings of GLib, GTK and other libraries about that process, in GLib's
    format: "(flambeau:12): Gtk-WARNING **: 10:11:12.345: words". Some are left out:
    with-display has no desktop that takes notifications; on a busy machine, GTK may
    draw a frame before a changed page is laid out again, which the next frame
    corrects; GDK 4.8 queries the monitor of a popup that is on none yet; GTK takes the
    window for its tooltip if its place in its surface changes while the tooltip is
    shown; libadwaita 1.7 first measures the heading of an alert for the least width of
    alerts, of which 274 pixels are left for it; and GTK 4.24 complains about its own
    timings."""
    said = re.findall(
        rf"^(?:\*\* )?\([^\n]+:{pid}\): (?:\S+-)?(?:WARNING|CRITICAL|ERROR) \*\*: .*",
        text, re.M)
    not_ours = ("unable to send notifications",
                "gdk_monitor_get_geometry", "to 'GtkTooltipWindow'", "gdk_frame_timings_submitted",
                " for width of 274, but it needs ")
    return [line for line in said if not any(words in line for words in not_ours)]


class Window:
    """A running Flambeau; `with Window("FILE") as window:`. A warning of a
    library on its standard error is a failure when it ends."""

    def __init__(self, *arguments, env=None, settings=None, keep_settings=False,
                 keep_state=False, program=BUILD / "app/ui/flambeau"):
        keyfile = pathlib.Path(
            os.environ["XDG_CONFIG_HOME"], "glib-2.0/settings/keyfile"
        )
        keyfile.parent.mkdir(parents=True, exist_ok=True)
        settings = {"tips": "[]", **(settings or {})}
        lines = [f"{key}={value}" for key, value in settings.items()]
        if not keep_settings:
            keyfile.write_text("\n".join(["[dev/flambeau/Flambeau]", *lines, ""]))
            # State kept of the captures that an earlier test opened.
            if not keep_state:
                state = pathlib.Path(os.environ["XDG_STATE_HOME"], "flambeau")
                shutil.rmtree(state, ignore_errors=True)
        # Not a pipe: programs that it starts may outlive it and keep a pipe open.
        self.errors = tempfile.NamedTemporaryFile(prefix="flam-errors-")
        self.read = 0
        self.process = subprocess.Popen(
            [str(program), *map(str, arguments)],
            stderr=self.errors,
            env={
                **os.environ,
                "GTK_A11Y": "atspi",
                "GSETTINGS_BACKEND": "keyfile",
                **(env or {}),
            },
        )
        self.top = wait_for("the application", self._application)
        # The status bar describes the frame under the pointer.
        Atspi.generate_mouse_event(0, 0, "abs")

    def __enter__(self):
        return self

    def __exit__(self, kind=None, *_exception):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(LIMIT)
        said = pathlib.Path(self.errors.name).read_text(errors="replace")[self.read:]
        self.read += len(said)
        sys.stderr.write(said)
        warnings = warnings_in(said, self.process.pid)
        if warnings and kind is None:
            raise AssertionError("flambeau warned:\n" + "\n".join(warnings))

    def _application(self):
        if self.process.poll() is not None:
            said = pathlib.Path(self.errors.name).read_text(errors="replace")
            raise AssertionError(f"flambeau ended: {self.process.returncode}\n{said}")
        return application(self.process.pid)

    def find_all(self, name=None, role=None, below=None):
        """As they are now; a name may be a test of names, roles several."""
        roles = (role,) if isinstance(role, str) else role
        for node in Look(self.top).walk(below or self.top):
            if roles is not None and node.role not in roles:
                continue
            if name is None or (name(node.name) if callable(name) else node.is_called(name)):
                yield node

    def find(self, name=None, role=None, below=None):
        return wait_for(
            f"{role or 'a widget'} {name!r}",
            lambda: next(self.find_all(name, role, below), None),
        )

    def seen(self, name=None, role=None):
        return next(self.find_all(name, role), None) is not None

    def seen_below(self, name, below):
        return next(self.find_all(name, below=below), None) is not None

    # --- a user's actions ---------------------------------------------------

    def act(self, node, action="click"):
        """Performs an action of the node or of one of its containers: in newer
        GTKs, actions belong to the widget that defines them."""
        doer = self.who_can(node, action)
        assert doer, f"{node.name!r} can {node.actions()}, not {action}"
        doer.do_action(doer.actions().index(action))

    def who_can(self, node, action):
        for _ in range(3):
            if node is None or action in node.actions():
                return node
            node = node.get_parent()
        return None

    def click(self, name, role=None):
        """The first of that name that can be clicked, is laid out and sensitive: GTK
        accepts a click on a button that cannot be pressed yet, and does nothing. The
        parts of a menu button have its name, too."""
        self.act(
            wait_for(
                f"a way to click {role or 'a widget'} {name!r}",
                lambda: next(
                    (
                        node
                        for node in self.find_all(name, role)
                        if "click" in node.actions()
                        and min(node.extents()[2:]) > 0
                        and node.has_state("SENSITIVE")
                    ),
                    None,
                ),
            )
        )

    def page(self, title):
        """A view from the menu of those that have no button of their own."""
        menu = self.find("More Views", "push button")
        self.act(
            next(
                node
                for node in self.find_all(below=menu)
                if "click" in node.actions()
            )
        )
        self.click(title)

    def action(self, action):
        """An action of the window itself: win.search ..."""
        for node in self.find_all(role="frame"):
            names = node.actions()
            if action in names:
                node.do_action(names.index(action))
                return
        raise NotSeen(f"no window can do {action}")

    def type(self, node, text):
        wait_for(f"{text!r} in {node.name!r}", lambda: node.set_text(text))

    def to_origin(self):
        """Without a window manager, newer GTKs put windows anywhere. Windows of
        menus have no name, and stay."""
        subprocess.run(
            ["xdotool", "search", "--all", "--onlyvisible", "--pid",
             str(self.process.pid), "--name", ".+", "windowmove", "%@", "0", "0"],
            check=False, capture_output=True)

    def extents(self, node):
        """The place of the node, once it has been laid out and stays there."""
        self.to_origin()
        last = None

        def settled():
            nonlocal last
            before, last = last, node.extents()
            return last == before and min(last[2:]) > 0

        wait_for(f"a place for {node.name!r}", settled)
        x, y, width, height = last
        return x + BORDER, y + BORDER, width, height

    def mouse(self, node, x=0.5, y=0.5, button="b1c"):
        """At a fraction of the node's width and height."""
        left, top, width, height = self.extents(node)
        px, py = int(left + x * width), int(top + y * height)
        Atspi.generate_mouse_event(px, py, "abs")
        Atspi.generate_mouse_event(px, py, button)

    def key(self, name):
        """An X key name. Newer keymaps have function keys on a level of Alt's,
        too, which xdotool takes for the name: those go by their codes."""
        name = re.sub(r"\bF(10|[1-9])\b", lambda key: str(66 + int(key[1])), name)
        subprocess.run(["xdotool", "key", name], check=True)

    def take_keyboard(self, newest=False):
        """Without a window manager nothing gives the keyboard back to a window
        when another one of its program has gone. The keys still arrive, but
        newer GTKs report that nothing in such a window has the focus. And on a
        busy machine the `newest` one may be shown too late to get it."""
        def ask(*words):
            return subprocess.run(
                ["xdotool", *words], check=False, capture_output=True, text=True
            ).stdout.split()

        windows = ask("search", "--all", "--onlyvisible", "--pid",
                      str(self.process.pid), "--name", ".+")
        has_it = set(windows[-1:] if newest else windows)
        if windows and not set(ask("getwindowfocus")) & has_it:
            ask("windowfocus", windows[-1])

    def focus(self, node):
        """By the keyboard: newer GTKs report the positions of widgets without
        the padding of their containers."""
        self.take_keyboard()
        for _ in range(60):
            if node.has_state("FOCUSED"):
                return
            self.key("Tab")
            time.sleep(0.1)
        raise NotSeen(f"no way to {node.name!r} by the tab key")

    def toggle(self, name, role=None):
        """Check boxes have no action of their own."""
        self.focus(self.find(name, role))
        self.key("space")

    def write(self, text):
        """Types on the keyboard, into the focused widget."""
        subprocess.run(["xdotool", "type", "--delay", "30", text], check=True)

    def choose_file(self, path):
        """In the file chooser, on the keyboard."""
        # Open also belongs to the window, and so does a Cancel that is not visible yet.
        wait_for("the file chooser", lambda: any(
            min(button.extents()[2:]) > 0 for button in
            self.find_all(lambda name: name.endswith("Cancel"), "push button")))
        self.key("ctrl+l")
        time.sleep(0.5)
        self.write(str(path))
        # Completions come late, and are inserted after the typed text.
        time.sleep(1)
        self.key("shift+End")
        self.key("Delete")
        self.key("Return")

    # --- what a user sees ---------------------------------------------------

    def title(self):
        return next(self.find_all(role="frame")).name

    def find_all_but_lanes(self, name=None, role=None):
        """The lanes above the graph name threads as well."""
        for node in self.find_all(name, role):
            above = node
            while above is not None and above.name != "Threads over time":
                above = above.parent
            if above is None:
                yield node

    def labels(self):
        return [
            node.name or node.text() for node in self.find_all(role="label")
        ]

    def wait_label(self, test):
        return wait_for(
            "a label", lambda: next(filter(test, self.labels()), None)
        )

    def screenshot(self, path):
        pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [str(SOURCE / "tests/ui/shoot"), str(path)], check=True
        )
