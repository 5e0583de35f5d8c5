# SPDX-License-Identifier: GPL-3.0-or-later
# What tests/captures/flambeau/menu.flambeau is a recording of.
import time


class Menu:
    def __init__(self):
        self.dishes = []

    def add(self, size):
        self.dishes.append(bytearray(size))


def cook(menu, until):
    while time.monotonic() < until:
        menu.add(400_000)
        sum(i * i for i in range(9_000))


menu = Menu()
cook(menu, time.monotonic() + 0.04)
del menu.dishes[::2]
