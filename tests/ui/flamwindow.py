# SPDX-License-Identifier: GPL-3.0-or-later
"""Drives Flambeau's window through its accessibility tree.

Everything waits for a condition with a generous limit, so that a loaded
machine makes a test slow and never wrong. Runs below with-display, which gives
it an X server, a session bus and settings of its own."""

import os
import pathlib
import subprocess
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402

LIMIT = float(os.environ.get("FLAM_UI_LIMIT", "60"))
BUILD = pathlib.Path(os.environ["FLAM_BUILD_ROOT"])
SOURCE = pathlib.Path(os.environ["FLAM_SOURCE_ROOT"])
CAPTURES = pathlib.Path(os.environ.get("FLAM_CAPTURES", ""))
# Without a window manager the window's invisible border is at the corner.
BORDER = 5


class NotSeen(AssertionError):
    pass


def wait_for(what, condition, limit=LIMIT):
    """The first true value of condition(); NotSeen after `limit` seconds."""
    end = time.monotonic() + limit
    while True:
        try:
            value = condition()
        except GLib.Error:
            value = None
        if value:
            return value
        if time.monotonic() > end:
            raise NotSeen(f"not seen in {limit:.0f} s: {what}")
        time.sleep(0.05)


# What newer releases of AT-SPI call otherwise.
ROLES = {"button": "push button", "toggle button": "push button"}


def role_of(node):
    name = node.get_role_name()
    return ROLES.get(name, name)


def children(node):
    # Names and positions change without an event that the cache would hear.
    node.clear_cache()
    for i in range(node.get_child_count()):
        child = node.get_child_at_index(i)
        if child is not None:
            yield child


def walk(node):
    todo = [node]
    while todo:
        one = todo.pop()
        yield one
        todo.extend(reversed(list(children(one))))


class Window:
    """A running Flambeau; `with Window("FILE") as window:`."""

    def __init__(self, *arguments, env=None, settings=None, keep_settings=False):
        keyfile = pathlib.Path(
            os.environ["XDG_CONFIG_HOME"], "glib-2.0/settings/keyfile"
        )
        keyfile.parent.mkdir(parents=True, exist_ok=True)
        lines = [f"{key}={value}" for key, value in (settings or {}).items()]
        if not keep_settings:
            keyfile.write_text("\n".join(["[dev/flambeau/Flambeau]", *lines, ""]))
        self.process = subprocess.Popen(
            [str(BUILD / "app/ui/flambeau"), *map(str, arguments)],
            env={
                **os.environ,
                "GTK_A11Y": "atspi",
                "GSETTINGS_BACKEND": "keyfile",
                **(env or {}),
            },
        )
        self.application = wait_for("the application", self._application)
        # Where the pointer is, is the frame that the status bar speaks of.
        Atspi.generate_mouse_event(0, 0, "abs")

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(LIMIT)

    def _application(self):
        if self.process.poll() is not None:
            raise AssertionError(f"flambeau ended: {self.process.returncode}")
        for one in children(Atspi.get_desktop(0)):
            if one.get_process_id() == self.process.pid:
                return one
        return None

    def find_all(self, name=None, role=None, below=None):
        for node in walk(below or self.application):
            try:
                if name is not None and not self._named(node, name):
                    continue
                if role is not None and role_of(node) not in (role if isinstance(role, tuple) else (role,)):
                    continue
                yield node
            except GLib.Error:
                continue

    @staticmethod
    def _named(node, name):
        text = node.get_name() or ""
        return name(text) if callable(name) else text == name

    def find(self, name=None, role=None, below=None):
        return wait_for(
            f"{role or 'a widget'} {name!r}",
            lambda: next(self.find_all(name, role, below), None),
        )

    def seen(self, name=None, role=None):
        return next(self.find_all(name, role), None) is not None

    def seen_below(self, name, below):
        return next(self.find_all(name, below=below), None) is not None

    # --- what a person does ---------------------------------------------------

    def act(self, node, action="click"):
        """Does one of the node's own actions, or of what it is in: newer GTKs
        leave actions with the widget that they were put on."""
        doer = self.who_can(node, action)
        assert doer, f"{node.get_name()!r} can {self.actions(node)}, not {action}"
        doer.do_action(self.actions(doer).index(action))

    def who_can(self, node, action):
        for _ in range(3):
            if node is None or action in self.actions(node):
                return node
            node = node.get_parent()
        return None

    def click(self, name, role=None):
        """The first of that name that can be clicked: what a menu button is
        made of has its name, too."""
        self.act(
            wait_for(
                f"a way to click {role or 'a widget'} {name!r}",
                lambda: next(
                    (
                        node
                        for node in self.find_all(name, role)
                        if "click" in self.actions(node)
                    ),
                    None,
                ),
            )
        )

    def page(self, title):
        """A view from the menu of those that have no button of their own."""
        menu = self.find("More Views", "push button")
        self.act(next(node for node in walk(menu) if "click" in self.actions(node)))
        self.click(title)

    @staticmethod
    def actions(node):
        return [node.get_action_name(i) for i in range(node.get_n_actions())]

    def action(self, action):
        """An action of the window itself: win.search ..."""
        for node in self.find_all(role="frame"):
            names = self.actions(node)
            if action in names:
                node.do_action(names.index(action))
                return
        raise NotSeen(f"no window can do {action}")

    def type(self, node, text):
        wait_for(
            f"{text!r} in {node.get_name()!r}",
            lambda: Atspi.EditableText.set_text_contents(node, text),
        )

    def extents(self, node):
        box = node.get_extents(Atspi.CoordType.WINDOW)
        return box.x + BORDER, box.y + BORDER, box.width, box.height

    def mouse(self, node, x=0.5, y=0.5, button="b1c"):
        """At a fraction of the node's width and height."""
        left, top, width, height = self.extents(node)
        px, py = int(left + x * width), int(top + y * height)
        Atspi.generate_mouse_event(px, py, "abs")
        Atspi.generate_mouse_event(px, py, button)

    def key(self, name):
        """An X key name."""
        subprocess.run(["xdotool", "key", name], check=True)

    def write(self, text):
        """On the keyboard, to what has the focus."""
        subprocess.run(["xdotool", "type", "--delay", "30", text], check=True)

    # --- what a person sees ---------------------------------------------------

    def title(self):
        return next(self.find_all(role="frame")).get_name()

    def labels(self):
        return [
            node.get_name() or text_of(node)
            for node in self.find_all(role="label")
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


def text_of(node):
    try:
        return Atspi.Text.get_text(node, 0, -1)
    except GLib.Error:
        return ""
