# SPDX-License-Identifier: GPL-3.0-or-later
"""The accessibility tree of one program, as messages of its own.

libatspi asks for each child, each name and each role by itself and waits for
each answer: several seconds a look at a window with a table in it, in which a
notification has come and gone. Here a look is one message, GetItems, which
returns all widgets that the program has reported so far, and one more for each
widget whose children have changed since, sent together."""

import collections
import functools
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, Gio, GLib  # noqa: E402

TIMEOUT = 20000
ACCESSIBLE = "org.a11y.atspi.Accessible"
CACHE = ("/org/a11y/atspi/cache", "org.a11y.atspi.Cache")
ITEM, ITEM_ALIGNMENT = "((so)(so)(so)iiassusau)", 4
REGISTRY = ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")

# Calls that newer releases of AT-SPI have renamed.
ROLES = {
    "button": "push button", "toggle button": "push button",
    "switch": "check box",
}


@functools.cache
def connection():
    session = Gio.bus_get_sync(Gio.BusType.SESSION)
    (address,) = session.call_sync(
        "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress",
        None, None, Gio.DBusCallFlags.NONE, TIMEOUT, None,
    ).unpack()
    return Gio.DBusConnection.new_for_address_sync(
        address,
        Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
        | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION,
        None, None,
    )


def ask(bus, path, interface, method, signature=None, *arguments):
    return connection().call_sync(
        bus, path, interface, method,
        GLib.Variant(signature, arguments) if signature else None, None,
        Gio.DBusCallFlags.NONE, TIMEOUT, None,
    )


def call(*message):
    answer = ask(*message).unpack()
    return answer[0] if len(answer) == 1 else answer


@functools.cache
def role_name(number):
    name = Atspi.role_get_name(Atspi.Role(number))
    return ROLES.get(name, name)


class Node:
    """A widget. `name`, `role` and `focused` are from the reading of the window
    that found it; the methods query the program."""

    def __init__(self, bus, path, name="", role=0, description="", focused=False):
        self.bus, self.path, self.name = bus, path, name
        self.description = description
        self.focused = focused
        self.role = role_name(role)
        self.parent = None

    def __eq__(self, other):
        return (self.bus, self.path) == (other.bus, other.path)

    def __hash__(self):
        return hash((self.bus, self.path))

    def is_called(self, name):
        """Newer GTKs name a drop-down after the chosen item, and its name is
        the description; a button with a picture only has its tooltip as a
        description."""
        return self.name == name or (
            (self.role == "combo box" or not self.name) and self.description == name)

    def _call(self, interface, method, signature=None, *arguments):
        return call(
            self.bus, self.path, f"org.a11y.atspi.{interface}", method,
            signature, *arguments)

    def _property(self, name):
        return call(
            self.bus, self.path, "org.freedesktop.DBus.Properties", "Get",
            "(ss)", ACCESSIBLE, name)

    def get_name(self):
        return self._property("Name")

    def get_description(self):
        return self._property("Description")

    def get_parent(self):
        if self.parent is None:
            bus, path = self._property("Parent")
            if not bus:
                return None
            self.parent = Node(
                bus, path, role=call(bus, path, ACCESSIBLE, "GetRole"))
            self.parent.name = self.parent.get_name()
        return self.parent

    def has_state(self, state):
        """"SENSITIVE", "SELECTED" ...: Atspi.StateType."""
        number = int(getattr(Atspi.StateType, state))
        words = self._call("Accessible", "GetState")
        return bool(words[number // 32] >> number % 32 & 1)

    def actions(self):
        try:
            return [
                self._call("Action", "GetName", "(i)", i)
                for i in range(
                    call(self.bus, self.path, "org.freedesktop.DBus.Properties",
                         "Get", "(ss)", "org.a11y.atspi.Action", "NActions"))
            ]
        except GLib.Error:
            return []

    def do_action(self, number):
        self._call("Action", "DoAction", "(i)", number)

    def text(self):
        try:
            return self._call("Text", "GetText", "(ii)", 0, -1)
        except GLib.Error:
            return ""

    def value(self):
        return call(
            self.bus, self.path, "org.freedesktop.DBus.Properties", "Get",
            "(ss)", "org.a11y.atspi.Value", "CurrentValue")

    def set_text(self, text):
        return self._call("EditableText", "SetTextContents", "(s)", text)

    def extents(self):
        """x, y, width and height in its window."""
        return self._call(
            "Component", "GetExtents", "(u)", int(Atspi.CoordType.WINDOW))


def application(pid):
    """The program of that process, if it is on the bus already."""
    for bus, path in call(*REGISTRY, ACCESSIBLE, "GetChildren"):
        try:
            if call("org.freedesktop.DBus", "/org/freedesktop/DBus",
                    "org.freedesktop.DBus", "GetConnectionUnixProcessID",
                    "(s)", bus) == pid:
                return Node(bus, path)
        except GLib.Error:
            continue
    return None


def call_all(interface, method, widgets):
    """The answer of each (bus, path), None without an answer: all are
    requested before the first has answered."""
    answers = {}
    context = GLib.MainContext.new()
    context.push_thread_default()

    def answered(bus, result, path):
        try:
            (answers[path],) = bus.call_finish(result).unpack()
        except GLib.Error:
            answers[path] = None

    for bus, path in widgets:
        connection().call(
            bus, path, interface, method, None, None, Gio.DBusCallFlags.NONE,
            TIMEOUT, None, answered, path)
    while len(answers) < len(widgets):
        context.iteration(True)
    context.pop_thread_default()
    return answers


class Look:
    """All widgets of a program, at one time."""

    # The widgets whose children are known, with the number of children and the
    # child at each place.
    answered = {}
    parsed = {}

    def __init__(self, application):
        self.bus = application.bus
        self.children = {}
        below = {}
        while True:
            self._read()
            new = [path for path in self.said if path not in self.children]
            if not new:
                break
            unknown = [path for path in new if self.said[path] not in self.answered]
            self._ask_below(
                [path for path in unknown if not self._agrees(path, below)], below)
            for path in unknown:
                self.answered[self.said[path]] = below[path]
            for path in new:
                self.children[path] = self.answered[self.said[path]]
            # An unknown widget does not report its removal.
            for path in unknown:
                if not self._is_known(*self.said[path]):
                    del self.answered[self.said[path]]
            # Nothing to read again for.
            if all(child in self.nodes for path in new for child in self.children[path]):
                break
        for path, children in self.children.items():
            for child in children:
                if child in self.nodes:
                    self.nodes[child].parent = self.nodes.get(path)

    def _ask_below(self, paths, below):
        """Reads the children of these, and of those children that no answer of
        GetItems contained yet: reading level by level would return all the others
        again."""
        while paths:
            for path, children in call_all(
                ACCESSIBLE, "GetChildren", [(self.bus, path) for path in paths]
            ).items():
                below[path] = [child for _, child in children or []]
            paths = [
                child for path in paths for child in below[path]
                if child not in self.nodes and child not in below]

    def _agrees(self, path, below):
        """Whether the children that were read before are the same as in this
        reading."""
        _, count, *places = self.said[path]
        return below.get(path) == [child for _, child in places] and len(places) == count

    @staticmethod
    def _is_known(_path, count, *places):
        return [place for place, _ in places] == list(range(count))

    def _items(self):
        """A program is known once it has announced itself, which is before it
        answers GetItems."""
        end = time.monotonic() + TIMEOUT / 1000
        while True:
            try:
                return ask(self.bus, *CACHE, "GetItems").get_child_value(0)
            except GLib.Error as error:
                if (
                    not error.matches(Gio.dbus_error_quark(), Gio.DBusError.UNKNOWN_METHOD)
                    or time.monotonic() > end
                ):
                    raise
            time.sleep(0.02)

    @staticmethod
    def _split(items):
        """The bytes of each item. The serialized form of GVariant has the end of each
        item after the last one, in as few bytes as the length of the whole needs."""
        data = items.get_data_as_bytes().get_data()
        if not data:
            return
        width = next(n for n in (1, 2, 4, 8) if len(data) < 1 << 8 * n)
        table = int.from_bytes(data[-width:], "little")
        start = 0
        for at in range(table, len(data), width):
            end = int.from_bytes(data[at:at + width], "little")
            yield data[start:end]
            start = end + -end % ITEM_ALIGNMENT

    @staticmethod
    def _parse(data):
        """The widget, its application, its parent, its place there, its number of
        children, interfaces, name, role, description, states. Unpacking all of it in
        Python would take longer than the reply took."""
        item = GLib.Variant.new_from_bytes(
            GLib.VariantType.new(ITEM), GLib.Bytes.new(data), True)
        return (
            item.get_child_value(0).get_child_value(1).get_string(),
            item.get_child_value(2).get_child_value(1).get_string(),
            item.get_child_value(3).get_int32(),
            item.get_child_value(4).get_int32(),
            item.get_child_value(6).get_string(),
            item.get_child_value(7).get_uint32(),
            item.get_child_value(8).get_string(),
            bool(item.get_child_value(9).get_child_value(0).get_uint32()
                 >> int(Atspi.StateType.FOCUSED) & 1))

    def _read(self):
        self.nodes, counts, places = {}, {}, collections.defaultdict(list)
        for data in self._split(self._items()):
            # Most widgets are unchanged since the last reading.
            if data not in self.parsed:
                self.parsed[data] = self._parse(data)
            path, parent, place, count, *words = self.parsed[data]
            self.nodes[path] = Node(self.bus, path, *words)
            counts[path] = count
            places[parent].append((place, path))
        # These are not the children yet: a hidden one reports the place of the visible
        # one behind it, which may not be here.
        self.said = {
            path: (path, count, *sorted(places[path]))
            for path, count in counts.items()
            if count > 0 or places[path]
        }

    def walk(self, top):
        todo = [top.path]
        while todo:
            path = todo.pop()
            if path in self.nodes:
                yield self.nodes[path]
                todo.extend(reversed(self.children.get(path, ())))
