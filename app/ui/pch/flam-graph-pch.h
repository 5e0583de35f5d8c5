/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Precompiled for the views that draw. Sources still include what they use. */
#include <adwaita.h>
#include <glib/gi18n.h>
#include <string.h>
