# SPDX-License-Identifier: GPL-3.0-or-later
"""A desktop's org.freedesktop.Notifications on the session bus: keeps the
notifications that it gets, and clicks on them."""

import threading

from gi.repository import Gio, GLib

PATH, NAME = "/org/freedesktop/Notifications", "org.freedesktop.Notifications"
INTERFACE = Gio.DBusNodeInfo.new_for_xml(f"""
<node><interface name="{NAME}">
  <method name="Notify">
    <arg type="s"/><arg type="u"/><arg type="s"/><arg type="s"/><arg type="s"/>
    <arg type="as"/><arg type="a{{sv}}"/><arg type="i"/>
    <arg type="u" direction="out"/>
  </method>
  <method name="CloseNotification"><arg type="u"/></method>
  <method name="GetCapabilities"><arg type="as" direction="out"/></method>
  <signal name="ActionInvoked"><arg type="u"/><arg type="s"/></signal>
</interface></node>""").interfaces[0]


class Desktop:
    def __init__(self):
        self.told = []  # (title, body)
        self.closed = []  # numbers in `told`, starting at 1
        context = GLib.MainContext()
        ready = threading.Event()
        threading.Thread(
            target=self._run, args=(context, ready), daemon=True).start()
        ready.wait()

    def _run(self, context, ready):
        context.push_thread_default()
        self.bus = Gio.DBusConnection.new_for_address_sync(
            Gio.dbus_address_get_for_bus_sync(Gio.BusType.SESSION, None),
            Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
            | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)
        self.bus.register_object(PATH, INTERFACE, self._called, None, None)
        self.bus.call_sync(
            "org.freedesktop.DBus", "/org/freedesktop/DBus",
            "org.freedesktop.DBus", "RequestName",
            GLib.Variant("(su)", (NAME, 0)), None, 0, -1, None)
        ready.set()
        GLib.MainLoop(context).run()

    def _called(self, _bus, _sender, _path, _interface, method, arguments, call):
        if method == "Notify":
            self.told.append(tuple(arguments.unpack()[3:5]))
            call.return_value(GLib.Variant("(u)", (len(self.told),)))
        elif method == "CloseNotification":
            self.closed.append(arguments.unpack()[0])
            call.return_value(None)
        else:
            call.return_value(GLib.Variant("(as)", (["body", "actions"],)))

    def click(self, number):
        self.bus.emit_signal(
            None, PATH, NAME, "ActionInvoked",
            GLib.Variant("(us)", (number, "default")))
