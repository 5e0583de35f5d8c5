# SPDX-License-Identifier: GPL-3.0-or-later
"""dropbox.py text|files|picture: a window of another program, onto which things
are dropped. It prints the dropped data as a line of JSON: the text, the names
and the contents of the files, the picture's size. dropbox.py source PATH: one
from which a file is dragged."""

import json
import pathlib
import sys

import gi

gi.require_version("Gdk", "4.0")
gi.require_version("Gtk", "4.0")
from gi.repository import Gdk, Gio, GLib, GObject, Gtk  # noqa: E402

KINDS = {
    "text": (GObject.TYPE_STRING, lambda text: text),
    "files": (
        Gdk.FileList,
        lambda files: [
            [one.get_path(), pathlib.Path(one.get_path()).read_bytes().hex()]
            for one in files.get_files()
        ],
    ),
    "picture": (Gdk.Texture, lambda it: [it.get_width(), it.get_height()]),
}


def add_source(window, path):
    source = Gtk.DragSource()
    files = Gdk.FileList.new_from_list([Gio.File.new_for_path(path)])
    source.set_content(Gdk.ContentProvider.new_for_value(
        GObject.Value(Gdk.FileList, files)))
    window.add_controller(source)


def add_target(window, kind, describe):
    target = Gtk.DropTarget.new(kind, Gdk.DragAction.COPY)

    def on_drop(_target, value, _x, _y):
        print(json.dumps(describe(value)), flush=True)
        return True

    target.connect("drop", on_drop)
    window.add_controller(target)


def main():
    loop = GLib.MainLoop()
    Gtk.init()
    window = Gtk.Window(title="Dropbox", default_width=200, default_height=200)
    if sys.argv[1] == "source":
        add_source(window, sys.argv[2])
    else:
        add_target(window, *KINDS[sys.argv[1]])
    window.connect("close-request", lambda _window: loop.quit())
    window.present()
    loop.run()


main()
