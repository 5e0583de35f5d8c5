/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Precompiled for the command line. Sources still include what they use. */
#include <gio/gio.h>
#include <json-glib/json-glib.h>
#include <string.h>
