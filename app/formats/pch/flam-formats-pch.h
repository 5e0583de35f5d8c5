/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Precompiled for the importers and exporters. Sources still include what they
 * use. */
#include <gio/gio.h>
#include <string.h>
