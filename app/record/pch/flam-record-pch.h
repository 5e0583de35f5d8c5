/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Precompiled for the recorder. Sources still include what they use. */
#include "flam-core-profile.h"
#include <gio/gio.h>
#include <string.h>
